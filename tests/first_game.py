"""A first game and match of an installed wheel without Numba: `python -P` and this file."""

import sys
import time
from importlib.util import find_spec

began, cpu = time.perf_counter(), time.process_time()

import monopoly_env as me  # noqa: E402 - its import is timed

imported = time.process_time() - cpu
assert find_spec("numba") is None, "this environment has Numba"

import numpy as np  # noqa: E402

game, generator = me.new_game(seed=7), np.random.default_rng(0)
while not me.is_over(game):
    me.step(game, int(generator.choice(me.legal_actions(game))))
print(f"{sys.platform}: a game, digest {me.digest(game)}")

import agents  # noqa: E402

print(agents.arena.play(["ppo/best/two", "random"], games=2))
print(f"import: {imported:.2f} CPU s; to the first match: {time.perf_counter() - began:.1f} s")
