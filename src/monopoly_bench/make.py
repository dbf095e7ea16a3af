"""Making a suite from a text: rows, rules and positions.

The shipped one comes from a public text, a sealed twin from a secret one.

Positions are found in parts, each from a seed of its own, and a part that is found is a file. So a
search that was ended goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.random import Generator

from monopoly_bench import positions, puzzles, suite
from monopoly_bench.playouts import shares_of_actions
from monopoly_bench.positions import Position
from monopoly_bench.puzzles import Puzzle
from monopoly_bench.puzzles.mine import asked
from monopoly_bench.tasks import kingmaker, other_rules, strangers
from monopoly_bench.tasks.puzzles import PLAYOUTS
from monopoly_env import core
from monopoly_env.actions import DECISION_NAMES, HEADS
from monopoly_env.analyse.values import resolve as value_of
from monopoly_env.errors import ConfigurationError
from monopoly_env.game import Game
from monopoly_env.policy.match import Match
from monopoly_env.policy.names import resolve
from monopoly_env.replays import Replay
from monopoly_env.rules import Rules

PLAYERS: Final = (
    "expert",
    "algorithmic",
    "gcp",
    "fp/a",
    "strategic",
    "landlord/balanced",
    "yasumura",
)  # of the games that positions come from
SEATS: Final = 3
_TURN: Final = DECISION_NAMES.index("turn")
_MOST_TURNS: Final = 300  # of all players together, after which a game is left
# Of each player in a position for deals: then there is something to exchange
_FEWEST_LOTS: Final = 3
_WEAK: Final = 0.2  # most of the win that a kingmaker may have
_SHIFT: Final = 0.08  # least by which its answers must move the share of a rival
_SCREENING: Final = 48  # playouts of each answer in the first look
_LOOKS: Final = 4  # decisions of a game that are looked at
_ALSO: Final = "algorithmic"  # by whose playouts, too, the solutions of puzzles must be the best
# Most of the puzzles that are of one kind; lower shares wait long for the rare kinds
_KIND_SHARE: Final = 0.35
PART: Final = 50  # positions that are saved at a time


class Sizes(NamedTuple):
    """How many positions a suite has."""

    deals: int = 300
    kingmaker: int = 400
    puzzles: int = 1000


class Kind(NamedTuple):
    """A file of positions, and how it is made."""

    name: str
    total: int
    search: Callable[[int, int], Iterable[Any]]  # of a seed and a number: so many positions
    save: Callable[[Path, Iterable[Any]], Path]
    load: Callable[[Path], Iterable[Any]]


class Seen(NamedTuple):
    """A decision of a game."""

    game: Game
    actions: list[int]  # that led to it


def make(
    folder: Path, text: str, sizes: Sizes, told: Callable[[str], None] = lambda line: None
) -> None:
    """Write a suite, or go on with one.

    Args:
        folder: Where. Parts that were found before are there, and are kept until all is found.
        text: Everything follows from it.
        sizes: How many positions.
        told: Called with a line of progress after each part.

    Raises:
        ConfigurationError: The folder holds the suite of another text.
    """
    if (folder / "suite.json").exists() and suite.load(folder).sha256 != suite.fingerprint(text):
        raise ConfigurationError(
            f"{str(folder)!r} holds the suite of another text: give an empty folder, or that text."
        )
    seed = suite.seed_of(text)
    rows, rules = (np.random.default_rng([seed, 100 + number]) for number in range(2))
    suite.write(folder, text, strangers.drawn(rows), other_rules.drawn(rules))
    told(
        f"suite.json: {len(strangers.FAMILIES) * strangers.OF_EACH} strangers, {other_rules.RANDOM}"
        " rules"
    )
    kinds = (
        Kind("deal", sizes.deals, _several(deals), positions.save, positions.load),
        Kind("kingmaker", sizes.kingmaker, _several(kings), positions.save, positions.load),
        Kind("puzzles", sizes.puzzles, _mined, puzzles.save, puzzles.load),
    )
    for number, kind in enumerate(kinds):
        _find(kind, folder, (seed, 102 + number), told)


def _find(kind: Kind, folder: Path, seed: tuple[int, int], told: Callable[[str], None]) -> None:
    """Find the positions of a file part by part, then write the file and remove the parts.

    Nothing is done if the file is there.
    """
    path, found = folder / f"{kind.name}.json", list[Any]()
    if path.exists() and len(list(kind.load(path))) == kind.total:
        told(f"{path.name}: {kind.total}, found before")
        return
    parts = [
        folder / f"{kind.name}-part-{first // PART:03}.json" for first in range(0, kind.total, PART)
    ]
    for number, part in enumerate(parts):
        if not part.exists():
            kind.save(
                part,
                kind.search(
                    int(np.random.default_rng([*seed, number]).integers(1 << 32)),
                    min(PART, kind.total - len(found)),
                ),
            )
        found.extend(kind.load(part))
        told(f"{path.name}: {len(found)} of {kind.total}")
    kind.save(path, found)
    for part in parts:
        part.unlink()


def _several(
    search: Callable[[Generator], Iterator[Position]],
) -> Callable[[int, int], list[Position]]:
    """The first positions that a search finds from a seed."""
    return lambda seed, count: list(islice(search(np.random.default_rng(seed)), count))


def _mined(seed: int, count: int) -> list[Puzzle]:
    """Puzzles on which two policies agree, by kind."""
    mined = puzzles.mine(
        count, seed=seed, also=_ALSO, playouts=PLAYOUTS, kind_share=_KIND_SHARE, games=1000 * count
    )
    return sorted(mined, key=lambda one: one.kind)


def deals(rng: Generator) -> Iterator[Position]:
    """Windows of a turn in which every player has something to exchange, one a game."""
    while True:
        replay, seen = _game(rng, lambda game: int(game.decision) == _TURN and _may_deal(game))
        if seen:
            yield Position(_until(replay, seen[int(rng.integers(len(seen)))]))


def _may_deal(game: Game) -> bool:
    """Whether the player on turn may make an offer, and all have lots enough."""
    rich = all(int(game.lots[seat]).bit_count() >= _FEWEST_LOTS for seat in range(SEATS))
    return (
        rich
        and int(game.turn) == int(game.player)
        and bool(core.action_mask(game)[HEADS["trade"].slice].any())
    )


def kings(rng: Generator) -> Iterator[Position]:
    """Decisions of a player who can hardly win, by which others win or lose, at most one a game."""
    while True:
        replay, seen = _game(rng, _is_weak)
        rng.shuffle(seen)
        for one in seen[:_LOOKS]:
            seed = int(rng.integers(1 << 31))
            candidates = [candidates for _, candidates in asked(one.game)]
            if (
                candidates
                and _shifts(one.game, list(candidates[0]), _SCREENING, seed + 1) is not None
            ):
                labels = _shifts(one.game, list(candidates[0]), kingmaker.PLAYOUTS, seed)
                if labels is not None:
                    yield Position(_until(replay, one), seed, labels)
                    break


def _is_weak(game: Game) -> bool:
    """Whether a value of states gives the player to move little, and everybody is still there."""
    if any(game.place[:SEATS]) or not any(True for _ in asked(game)):
        return False
    return bool(value_of("best").shares(game)[int(game.player)] < _WEAK)


def _shifts(
    game: Game, candidates: list[int], n: int, seed: int
) -> dict[int, tuple[float, ...]] | None:
    """The shares after each answer, if the player is weak and its answers move a rival's share."""
    shares, seat = shares_of_actions(game, candidates, n, seed), int(game.player)
    rivals = np.delete(shares, seat, axis=1)
    if shares[:, seat].max() > _WEAK or np.ptp(rivals, axis=0).max() < _SHIFT:
        return None
    return {
        action: tuple(float(share) for share in row)
        for action, row in zip(candidates, shares, strict=True)
    }


def _game(rng: Generator, wanted: Callable[[Game], bool]) -> tuple[Replay, list[Seen]]:
    """Play a game of three, and return it with the decisions that are wanted."""
    names = [str(name) for name in rng.choice(PLAYERS, SEATS, replace=False)]
    policies, seed = [resolve(name) for name in names], int(rng.integers(1 << 32))
    match = Match(core.new_game(SEATS, "official", seed), policies)
    seen: list[Seen] = []
    while match.policy and match.game.turns <= _MOST_TURNS:
        if wanted(match.game):
            seen.append(Seen(core.clone(match.game), match.actions.copy()))
        match.step(match.ask())
    return Replay(Rules(), seed, SEATS, tuple(names), np.array(match.actions, np.uint8)), seen


def _until(replay: Replay, seen: Seen) -> Replay:
    """The game up to a decision."""
    return Replay(
        replay.rules,
        replay.seed,
        replay.num_players,
        replay.names,
        np.array(seen.actions, np.uint8),
    )
