"""Golden games: recorded games that any change of a rule must explain.

`python -m tests.golden` records them anew, one file a preset: seed, actions, and the digest of the
record after every decision.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import monopoly_env as me
from monopoly_env.engine.randomness import POLICIES
from monopoly_env.kernels.philox import philox
from monopoly_env.rules import PRESETS

FOLDER = Path(__file__).parent / "golden"
DECISIONS = 300
PLAYERS = {"ocnaru": 2, "pring": 3, "short": 8}  # others: 4


def choose(game: Any, count: int) -> int:
    """A random legal action, the same on every platform."""
    legal = me.legal_actions(game)
    return int(
        legal[philox(count, POLICIES, 0, 0, int(game.seed[0]), int(game.seed[1])) % len(legal)]
    )


def played(game: Any) -> list[int]:
    """The actions of a game that is played at random to its end."""
    actions: list[int] = []
    while not me.is_over(game):
        actions.append(choose(game, len(actions)))
        me.step(game, actions[-1])
    return actions


def record(preset: str, seed: int) -> dict[str, Any]:
    """Play a game at random and note its actions and digests."""
    players = PLAYERS.get(preset, 4)
    game = me.new_game(players, preset, seed)
    actions, digests = [], []
    while not me.is_over(game) and len(actions) < DECISIONS:
        actions.append(choose(game, len(actions)))
        me.step(game, actions[-1])
        digests.append(me.digest(game)[:8])
    return {
        "preset": preset,
        "num_players": players,
        "seed": seed,
        "actions": actions,
        "digests": digests,
    }


def replay(golden: dict[str, Any]) -> list[str]:
    """The digests that the engine gives for a recorded game today."""
    game = me.new_game(golden["num_players"], golden["preset"], golden["seed"])
    return [me.digest(me.step(game, action))[:8] for action in golden["actions"]]


def load(preset: str) -> dict[str, Any]:
    """A recorded game."""
    loaded: dict[str, Any] = json.loads((FOLDER / f"{preset}.json").read_text())
    return loaded


def main() -> None:
    """Record all golden games."""
    FOLDER.mkdir(exist_ok=True)
    for number, preset in enumerate(PRESETS):
        (FOLDER / f"{preset}.json").write_text(json.dumps(record(preset, 100 + number)) + "\n")


if __name__ == "__main__":
    main()
