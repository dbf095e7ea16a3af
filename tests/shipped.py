"""What the networks that come with the library see and choose, at the positions of recorded games.

A change of a formula, of `bargaining.json` or of the value of states also changes what they see,
and they were trained on what it was. `python -m tests.shipped` records it anew, with `--stamp` it
marks the shipped files as files of this version: of its rules, and of what networks see.
"""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import agents
import monopoly_env as me
from agents.learned import compact
from agents.learned.agent import LearnedAgent
from monopoly_env import encoding
from monopoly_env.actions import DECISION_NAMES
from monopoly_env.policy import files

FILE = Path(__file__).parent / "data" / "shipped.json"
TABLES = {
    2: ("expert/bargaining", "strategic"),
    4: ("expert/bargaining", "strategic", "algorithmic", "expert"),
}
_GAMES, _EVERY = 3, 2  # games of each table; every other decision is a position
_OFFERING = [DECISION_NAMES.index(name) for name in ("trade_ask", "trade_give", "trade_cash")]


@cache
def recorded() -> dict[str, Any]:
    """The file: `games` (seed and actions) and `features` by the number of players, `actions`."""
    loaded: dict[str, Any] = json.loads(FILE.read_text())
    return loaded


def played(players: int) -> list[tuple[int, str]]:
    """Games of a table: their seeds, and their actions as digits."""
    results = agents.arena.play(TABLES[players], games=_GAMES * players, seed=9, record=_GAMES)
    return [
        (replay.seed, np.array(replay.actions, np.uint8).tobytes().hex())
        for replay in results.replays
    ]


def positions(games: list[tuple[int, str]], players: int) -> Any:
    """The positions of games: (B,) records that wait for a decision."""
    found = []
    for seed, digits in games:
        game = me.new_game(players, seed=seed)
        for number, action in enumerate(bytes.fromhex(digits)):
            if number % _EVERY == 0:
                found.append(np.array(me.clone(game)))
            me.step(game, action)
    return np.array(found, me.GAME)


def features(games: Any) -> dict[str, float]:
    """Sums over the blocks of the encoding `compact`, of the means of features by their place."""
    rows = encoding.observe_all(games, compact.NAME).mean(axis=0, dtype=np.float64)
    means: dict[str, list[float]] = {}
    for name, mean in zip(compact.names(int(games[0]["num_players"])), rows, strict=True):
        means.setdefault(name.partition(": ")[0], []).append(float(mean))
    return {
        name: float(np.dot(block, 1.0 + np.arange(len(block)) / len(block)))
        for name, block in means.items()
    }


def actions(name: str, games: dict[str, Any]) -> str:
    """The actions of a policy at positions of tables that it plays at, as digits."""
    policy = agents.make(name)
    players = next(players for players in (4, 2) if policy.plays_at(players))
    asked = positions(games[str(players)], players)
    asked = asked[~np.isin(asked["decision"], _OFFERING)]
    return policy.act(agents.Decisions(asked)).astype(np.uint8).tobytes().hex()


def names() -> list[str]:
    """The policies with networks that come with the library."""
    return [
        name for name in agents.names() if name.startswith(("ppo/", "dqn/", "genetic/esp/"))
    ] + ["expert/value"]


def stamp() -> None:
    """Write the shipped files anew, with the versions and the digest of today's code."""
    for path in sorted(Path(agents.__file__).parent.rglob("data/*.safetensors")):
        about, arrays = files.read_arrays(path, "policy", "a saved policy", {})
        if about["kind"] == "networks":
            agent = LearnedAgent(about["options"]["num_players"])
            about["options"]["features"] = agent.options()["features"]
        kept = {key: about[key] for key in ("kind", "name", "options", "encoding")}
        files.write(path, kept, arrays)


def main() -> None:
    """Record what they see and choose."""
    if "--stamp" in sys.argv:
        stamp()
    games: dict[str, Any] = {str(players): played(players) for players in TABLES}
    seen = {str(players): features(positions(games[str(players)], players)) for players in TABLES}
    acted = {name: actions(name, games) for name in names()}
    FILE.write_text(json.dumps({"games": games, "features": seen, "actions": acted}) + "\n")


if __name__ == "__main__":
    main()
