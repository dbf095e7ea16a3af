"""Task 8, table talk: the same games with and without messages between players that read text."""

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
from monopoly_bench.bot import Bot
from monopoly_bench.language_model import KIND as MODEL
from monopoly_bench.result import ResultOptions
from monopoly_bench.seats import TalkedGame, play
from monopoly_bench.task import TaskScore
from monopoly_env import actions, core, replays
from monopoly_env.cli.terminal import TextTable
from monopoly_env.errors import ConfigurationError
from monopoly_env.intervals import clustered, half_width
from monopoly_env.policy.names import make
from monopoly_env.policy.protocol import Policy
from monopoly_env.replays import Replay
from training.run.options import RulesName, find_policy

NAME: Final = "talk"
METRIC: Final = "share of the win at the table that talks"
NUMBER: Final = 8
_ACCEPT: Final = actions.parse("accept")
_TOKENS: Final = ("prompt_tokens", "completion_tokens", "dollars")


@dataclass(frozen=True)
class TalkOptions(ResultOptions):
    """Play the same games with and without messages: wins, kept promises, deals and costs.

    Every seed is played in every rotation of the seats, at a table that talks and at one that does
    not.
    """

    players: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="PLAYER")]
    """2 to 8 players: `language_model:NAME`, `"bot:COMMAND"`, or other policies, which do not
    talk."""
    seeds: int = 4
    """Seeds. Each is played in two games per player."""
    rules: RulesName = "official"
    turn_limit: int = 30
    """Turns of each player after which the score decides."""
    url: str = "http://localhost:8000/v1"
    """The server of the language models."""
    log: Path | None = None
    """A file to which every call of a language model is appended."""
    record_file: Path | None = None
    """Write the recorded games with messages to this file (.replay).

    If a player fails, only finished games are written.
    """


class PlayerGames(NamedTuple):
    """The games of one player at one kind of table.

    Attributes:
        won: (G,) its share of the win.
        deals: (G,) its deals.
        spent: (G, 3) tokens read, tokens written, dollars; zeros without a language model.
        kept: (G,) its kept promises.
        broken: (G,) its broken promises.
        messages: (G,) its messages.
    """

    won: NDArray[np.float64]
    deals: NDArray[np.float64]
    spent: NDArray[np.float64]
    kept: NDArray[np.float64]
    broken: NDArray[np.float64]
    messages: NDArray[np.float64]


def run(options: TalkOptions, report: Callable[[str], None]) -> dict[str, Any]:
    """Play all games; returns the JSON result.

    Raises:
        MonopolyError: The options are wrong, or a player fails.
    """
    if not 2 <= len(options.players) <= 8 or options.seeds < 1:
        raise ConfigurationError("Table talk needs 2 to 8 players, and --seeds of 1 or more.")
    chosen = suite.load(options.suite)
    players = [_player(name, options) for name in options.players]
    began, saved = time.monotonic(), list[Replay]()
    rows: dict[bool, list[list[tuple[Any, ...]]]] = {False: [], True: []}
    seeds = chosen.generator(NUMBER).integers(1 << 32, size=options.seeds).tolist()
    try:
        for seed in seeds:
            for first in range(len(players)):
                for talk in (False, True):
                    how = f"{'with' if talk else 'without'} messages"
                    report(f"seed {seed}, rotation {first + 1} of {len(players)}, {how}")
                    rows[talk].append(_game(players, first, seed, talk, options, saved))
    finally:  # a player's failure ends the run; finished games are saved
        for player in players:
            if isinstance(player, Bot):
                player.close()
        if options.record_file is not None and saved:
            replays.save(options.record_file, saved)
    of_seed, seconds = np.repeat(np.arange(len(seeds)), len(players)), time.monotonic() - began
    agents = []
    for number, player in enumerate(players):
        silent, talking = (_joined(rows[talk], number) for talk in (False, True))
        row = result.row(NAME, METRIC, _score(silent, talking, of_seed), seconds)
        agents.append({**result.described(player), "tasks": [row]})
    table = {"rules": options.rules, "turn_limit": options.turn_limit, "seeds": options.seeds}
    return {**result.document(chosen, agents), "table": table}


def show(found: dict[str, Any]) -> None:
    """Print the details of each player."""
    table = TextTable(
        "player", "share without messages", "promises kept, broken", "messages a game",
        "deals a game, without messages", "tokens a game", title="Table talk",
    )  # fmt: skip
    for agent in found["agents"]:
        details = agent["tasks"][0]["details"]
        cost = details["cost_a_game"]
        table.add_row(
            agent["name"], f"{details['share_without_messages']:.3f}",
            f"{details['promises_kept']}, {details['promises_broken']}",
            f"{details['messages_a_game']:.1f}",
            f"{details['deals_a_game']:.2f}, {details['deals_a_game_without_messages']:.2f}",
            f"{cost['prompt_tokens'] + cost['completion_tokens']:,.0f}",
        )  # fmt: skip
    Console().print(table)


def _player(name: str, options: TalkOptions) -> Policy:
    if name.startswith(f"{MODEL}:"):
        log = None if options.log is None else str(options.log)
        return make(MODEL, model=name.partition(":")[2], url=options.url, log=log, name=name)
    return find_policy(name)


def _game(
    players: Sequence[Policy],
    first: int,
    seed: int,
    talk: bool,
    options: TalkOptions,
    saved: list[Replay],
) -> list[tuple[Any, ...]]:
    """Play and save one game; returns the numbers of `PlayerGames` of each player."""
    count = len(players)
    order = [(first + seat) % count for seat in range(count)]  # the player in each seat
    before = [_spent(player) for player in players]
    seated, limit = [players[number] for number in order], options.turn_limit
    played = play(seated, options.rules, seed, talk=talk, turn_limit=limit)
    saved.append(played.replay)
    deals, rows = _deals(played.replay), []
    for number, player in enumerate(players):
        seat, spent = order.index(number), _spent(player) - before[number]
        rows.append((_share(played, seat), deals[seat], spent, *_said(played, seat)))
    return rows


def _share(played: TalkedGame, seat: int) -> float:
    winner = core.winner(played.game)
    return 1 / played.game.num_players if winner is None else float(winner == seat)


def _spent(player: Policy) -> NDArray[np.float64]:
    return np.array([player.costs.get(name, 0.0) for name in _TOKENS])


def _said(played: TalkedGame, seat: int) -> tuple[int, int, int]:
    """Promises kept, promises broken, messages."""
    if played.talk is None:
        return 0, 0, 0
    kept, broken = played.talk.tally(seat)
    return (kept, broken, sum(bool(s.message.text) for s in played.talk.spoken if s.seat == seat))


def _deals(replay: Replay) -> NDArray[np.int64]:
    """(P,) the deals of each seat."""
    game, found = replays.start(replay), np.zeros(replay.num_players, np.int64)
    for number, action in enumerate(replay.actions):
        if action == _ACCEPT:
            found[[game.offer_from, game.offer_to]] += 1
        replays.step(replay, game, number)
    return found


def _joined(games: list[list[tuple[Any, ...]]], player: int) -> PlayerGames:
    columns = zip(*(game[player] for game in games), strict=True)
    return PlayerGames(*(np.array(column, np.float64) for column in columns))


def _score(silent: PlayerGames, talking: PlayerGames, of_seed: NDArray[np.int64]) -> TaskScore:
    """The wins of a player at the talking table, and other differences from the silent one."""
    low, high = clustered(talking.won, of_seed)
    seeds = int(of_seed.max()) + 1
    change = np.array([(talking.won - silent.won)[of_seed == seed].mean() for seed in range(seeds)])
    half = half_width((change - change.mean()) / seeds) if seeds > 1 else 1.0
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
    return TaskScore(float(talking.won.mean()), low, high, len(talking.won), details)


def _cost(games: PlayerGames) -> dict[str, float]:
    return dict(zip(_TOKENS, games.spent.mean(axis=0).tolist(), strict=True))
