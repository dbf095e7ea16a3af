"""Task 8, table talk: players of text at one table, with messages and without.

Both are played over the same luck and in the same seats.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import numpy as np
import tyro
from numpy.typing import NDArray
from rich.console import Console

from monopoly_bench import result, suite
from monopoly_bench.talk import BROKEN, KEPT
from monopoly_bench.task import Score
from monopoly_bench.text import Bot, Played, play
from monopoly_bench.text.model import KIND as MODEL
from monopoly_env import actions, core, replays
from monopoly_env.errors import ConfigurationError
from monopoly_env.intervals import CONFIDENCE, clustered, half_width
from monopoly_env.policy.names import make
from monopoly_env.policy.protocol import Policy
from monopoly_env.replays import Replay
from monopoly_env.terminal import Table
from training.run.options import RulesName, find_policy

NAME: Final = "talk"
METRIC: Final = "share of the win at the table that talks"
NUMBER: Final = 8
_ACCEPT: Final = actions.parse("accept")
_TOKENS: Final = ("prompt_tokens", "completion_tokens", "dollars")


@dataclass(frozen=True)
class Options:
    """Seat players at one table, with messages and without.

    The result says who wins, who keeps promises, who makes deals, and what it costs.

    Every seed is played in every rotation of the seats, at a table that talks and at one that does
    not.
    """

    players: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="PLAYER")]
    """2 to 8 players: `language_model:NAME`, `"bot:COMMAND"`, or other policies, who neither hear
    nor speak."""
    seeds: int = 4
    """Seeds. Each is twice as many games as there are players."""
    rules: RulesName = "official"
    turn_limit: int = 30
    """Turns of each player after which the score decides."""
    url: str = "http://localhost:8000/v1"
    """The server of the language models."""
    log: Path | None = None
    """A file to which every call of a language model is added."""
    record_file: Path | None = None
    """Write the recorded games, with what was said, to this file (.replay).

    If a player fails, they are those that were played to their end.
    """
    suite: Path = suite.SHIPPED
    """The folder of the suite, whose text decides the seeds."""
    out: Path | None = None
    """Also write the result, one JSON object, to this file."""
    json: bool = False
    """Print the JSON object instead of a table."""


class Sides(NamedTuple):
    """What one player did in all games at one kind of table: an entry for each game.

    Attributes:
        won: (G,) its share of the win.
        deals: (G,) the deals that it took part in.
        spent: (G, 3) tokens read, tokens written, dollars; zeros for players that are no language
            models.
        kept: (G,) promises that it kept.
        broken: (G,) promises that it broke.
        messages: (G,) messages that it sent.
    """

    won: NDArray[np.float64]
    deals: NDArray[np.float64]
    spent: NDArray[np.float64]
    kept: NDArray[np.float64]
    broken: NDArray[np.float64]
    messages: NDArray[np.float64]


def run(options: Options, told: Callable[[str], None]) -> dict[str, Any]:
    """Play all games; returns the JSON result.

    Raises:
        MonopolyError: The options are wrong, or a player fails.
    """
    if not 2 <= len(options.players) <= 8 or options.seeds < 1:
        raise ConfigurationError("Table talk needs 2 to 8 players, and --seeds of 1 or more.")
    chosen, players = (
        suite.load(options.suite),
        [_player(name, options) for name in options.players],
    )
    began, kept = time.monotonic(), list[Replay]()
    rng = chosen.generator(NUMBER)
    rows: dict[bool, list[list[tuple[Any, ...]]]] = {False: [], True: []}
    try:
        for seed in rng.integers(1 << 32, size=options.seeds).tolist():
            for first in range(len(players)):
                for talk in (False, True):
                    told(
                        f"seed {seed}, rotation {first + 1} of {len(players)},"
                        f" {'with' if talk else 'without'} messages"
                    )
                    rows[talk].append(_game(players, first, seed, talk, options, kept))
    finally:  # a player that fails ends the run; the games before that are kept
        for player in players:
            if isinstance(player, Bot):
                player.close()
        if options.record_file is not None and kept:
            replays.save(options.record_file, kept)
    sides = {
        talk: [_side(games, number) for number in range(len(players))]
        for talk, games in rows.items()
    }
    unit, seconds = np.repeat(np.arange(options.seeds), len(players)), time.monotonic() - began
    agents = [
        {
            **result.described(player),
            "tasks": [
                result.row(
                    NAME, METRIC, _score(sides[False][number], sides[True][number], unit), seconds
                )
            ],
        }
        for number, player in enumerate(players)
    ]
    return {
        **result.document(chosen, agents),
        "table": {"rules": options.rules, "turn_limit": options.turn_limit, "seeds": options.seeds},
    }


def show(found: dict[str, Any]) -> None:
    """Print what else the result says of each player."""
    heads = (
        "player",
        "share without messages",
        "promises kept, broken",
        "messages a game",
        "deals a game, without messages",
        "tokens a game",
    )
    table = Table(*heads, title="Table talk")
    for agent in found["agents"]:
        told = agent["tasks"][0]["details"]
        cost = told["cost_a_game"]
        table.add_row(
            agent["name"], f"{told['share_without_messages']:.3f}",
            f"{told['promises_kept']}, {told['promises_broken']}",
            f"{told['messages_a_game']:.1f}",
            f"{told['deals_a_game']:.2f}, {told['deals_a_game_without_messages']:.2f}",
            f"{cost['prompt_tokens'] + cost['completion_tokens']:,.0f}",
        )  # fmt: skip
    Console().print(table)


def _player(name: str, options: Options) -> Policy:
    if name.startswith(f"{MODEL}:"):
        log = None if options.log is None else str(options.log)
        return make(MODEL, model=name.partition(":")[2], url=options.url, log=log, name=name)
    return find_policy(name)


def _game(
    players: Sequence[Policy],
    first: int,
    seed: int,
    talk: bool,
    options: Options,
    kept: list[Replay],
) -> list[tuple[Any, ...]]:
    """One game, which is also kept: for each player the numbers of `Sides`."""
    count = len(players)
    order = [(first + seat) % count for seat in range(count)]  # the player in each seat
    before = [_spent(player) for player in players]
    played = play(
        [players[number] for number in order],
        options.rules,
        seed,
        talk=talk,
        turn_limit=options.turn_limit,
    )
    kept.append(played.replay)
    deals, places = _deals(played.replay), order.index
    return [
        (
            _share(played, places(number)),
            deals[places(number)],
            _spent(player) - before[number],
            *_said(played, places(number)),
        )
        for number, player in enumerate(players)
    ]


def _share(played: Played, seat: int) -> float:
    winner = core.winner(played.game)
    return 1 / played.game.num_players if winner is None else float(winner == seat)


def _spent(player: Policy) -> NDArray[np.float64]:
    return np.array([player.costs.get(name, 0.0) for name in _TOKENS])


def _said(played: Played, seat: int) -> tuple[int, int, int]:
    if played.talk is None:
        return 0, 0, 0
    states = [given.state for given in played.talk.given if given.seat == seat]
    return (
        states.count(KEPT),
        states.count(BROKEN),
        sum(bool(one.message.text) for one in played.talk.spoken if one.seat == seat),
    )


def _deals(replay: Replay) -> NDArray[np.int64]:
    """(P,) the deals that each seat took part in."""
    game, found = replays.start(replay), np.zeros(replay.num_players, np.int64)
    for number, action in enumerate(replay.actions):
        if action == _ACCEPT:
            found[[game.offer_from, game.offer_to]] += 1
        replays.step(replay, game, number)
    return found


def _side(games: list[list[tuple[Any, ...]]], player: int) -> Sides:
    return Sides(
        *(
            np.array(column, np.float64)
            for column in zip(*(game[player] for game in games), strict=True)
        )
    )


def _score(silent: Sides, talking: Sides, unit: NDArray[np.int64]) -> Score:
    """The wins of a player where players talk, and what else differs from the silent table."""
    low, high = clustered(talking.won, unit)
    seeds = int(unit.max()) + 1
    change = np.array([(talking.won - silent.won)[unit == seed].mean() for seed in range(seeds)])
    half = half_width((change - change.mean()) / seeds, CONFIDENCE) if seeds > 1 else 1.0
    kept, broken = int(talking.kept.sum()), int(talking.broken.sum())
    details = {
        "share_without_messages": float(silent.won.mean()),
        "change": float(change.mean()), "change_low": float(change.mean() - half),
        "change_high": float(change.mean() + half),
        "promises_kept": kept, "promises_broken": broken,
        "share_of_promises_kept": kept / (kept + broken) if kept + broken else None,
        "messages_a_game": float(talking.messages.mean()),
        "deals_a_game": float(talking.deals.mean()),
        "deals_a_game_without_messages": float(silent.deals.mean()),
        "cost_a_game": _cost(talking), "cost_a_game_without_messages": _cost(silent),
    }  # fmt: skip
    return Score(float(talking.won.mean()), low, high, len(talking.won), details)


def _cost(side: Sides) -> dict[str, float]:
    return dict(zip(_TOKENS, side.spent.mean(axis=0).tolist(), strict=True))
