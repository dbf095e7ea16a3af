"""Speed of the library for browsers in node, beside Python on one thread, in CPU seconds.

`python benchmarks/browser.py build/browser`, after `python -m monopoly_env.compiled --target
wasm32`. The games are the same ones.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import agents
from monopoly_env import core
from monopoly_env.analyse import playouts
from monopoly_env.policy.loop import NO_LIMIT, Players, Running, play_on
from monopoly_env.rules import Rules

POLICIES = ("random", "algorithmic", "expert", "expert/bargaining")
GAMES, PLAYOUTS, REPEATS = 10, 60, 3
NODE = """
import { readFile } from "node:fs/promises";
const [folder, job] = [process.argv[1], JSON.parse(process.argv[2])];
const { load } = await import(`${folder}/monopoly.js`);
const began = performance.now();
const monopoly = await load((path) => readFile(`${folder}/${path}`));
const start = performance.now() - began;
const timed = (work) => Array.from({ length: job.repeats }, () => {
  const from = process.cpuUsage(), count = work(), { user, system } = process.cpuUsage(from);
  return [count, (user + system) / 1e6];
}).reduce((a, b) => (a[1] < b[1] ? a : b));
const found = {};
for (const name of job.policies) {
  const seats = Array(4).fill(name);
  found[name] = timed(() => {
    let decisions = 0;
    for (let seed = 0; seed < job.games; seed++) {
      decisions += monopoly.newGame({ seed, seats }).play().length;
    }
    return decisions;
  });
}
const game = monopoly.newGame({ seed: 1, seats: Array(4).fill("expert") });
game.play(100);
found.playouts = timed(() => game.rollout({ n: job.playouts, seed: 1 }).turns.length);
console.log(JSON.stringify([start, found]));
"""


def timed(work: Any) -> tuple[int, float]:
    """What work returns, and the CPU seconds of its fastest run."""
    fastest = float("inf")
    work()  # what is compiled
    for _ in range(REPEATS):
        began = time.process_time()
        count = work()
        fastest = min(fastest, time.process_time() - began)
    return count, fastest


def games_of(name: str) -> int:
    """The decisions of whole games."""
    policy, made, decisions = agents.make(name), np.zeros(1 << 16, np.uint8), 0
    players = Players.of([policy])  # type: ignore[list-item]
    for seed in range(GAMES):
        running = Running.begin(
            players, np.zeros((1, 4), np.int64), np.array([seed]), seed=0, rules=Rules(),
            turn_limit=NO_LIMIT // 4,
        )  # fmt: skip
        decisions += play_on(running, made)
    return decisions


def position() -> Any:
    """A game after a hundred decisions of `expert`."""
    policy = agents.make("expert")
    running = Running.begin(
        Players.of([policy]), np.zeros((1, 4), np.int64), np.array([1]), seed=0, rules=Rules(),  # type: ignore[list-item]
        turn_limit=NO_LIMIT // 4,
    )  # fmt: skip
    play_on(running, np.zeros(100, np.uint8))
    return running.games[0]


def main(folder: str) -> None:
    """Measure both, and print a table."""
    path = Path(folder).resolve()
    job = {"policies": POLICIES, "games": GAMES, "playouts": PLAYOUTS, "repeats": REPEATS + 1}
    done = subprocess.run(
        ["node", "--input-type=module", "-e", NODE, str(path), json.dumps(job)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    start, browser = json.loads(done.stdout)
    game = core.clone(position())
    native = {name: timed(lambda name=name: games_of(name)) for name in POLICIES}
    native["playouts"] = timed(
        lambda: playouts.rollout(game, "expert", PLAYOUTS, seed=1, threads=1).count
    )
    print("|  | unit | node | Python, one thread | ratio |\n|---|---|---:|---:|---:|")
    for name, (count, seconds) in browser.items():
        assert count == native[name][0], name
        there, here = count / seconds, native[name][0] / native[name][1]
        unit = "playouts/s" if name == "playouts" else "decisions/s"
        print(f"| {name} | {unit} | {there:,.0f} | {here:,.0f} | {there / here:.2f} |")
    print(f"\nIt starts in {start:.0f} ms. Bytes, and gzipped:")
    for file in sorted(path.rglob("*.*")):
        data = file.read_bytes()
        print(f"{file.relative_to(path)} {len(data):,} {len(gzip.compress(data, 9)):,}")


if __name__ == "__main__":
    main(sys.argv[1])
