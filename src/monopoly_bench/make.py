"""Construction of a suite from a text: strangers, rules and positions.

The shipped suite comes from a public text, a sealed twin from a secret one. Positions are found in
parts, each with its own seed and file, so that an interrupted search can continue.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.random import Generator

from monopoly_bench import puzzles, suite
from monopoly_bench.puzzles import Puzzle
from monopoly_bench.puzzles.mine import PLAYERS, PuzzleSearch, asked, mine
from monopoly_bench.suite import Position
from monopoly_bench.task import shares_of_actions
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

SEATS: Final = 3
_TURN: Final = DECISION_NAMES.index("turn")
_MOST_TURNS: Final = 300  # of all players together, after which a game is abandoned
_FEWEST_LOTS: Final = 3  # of each player in a position for deals
WEAK: Final = 0.2  # maximum share of the win of a kingmaker
SHIFT: Final = 0.08  # minimum change of a rival's share by its answers
_SCREENING: Final = 48  # playouts of each answer in the screening
_LOOKS: Final = 4  # screened decisions of a game
_ALSO: Final = "algorithmic"  # solutions of puzzles must be the best by its playouts, too
KIND_SHARE: Final = 0.35  # maximum share of one kind of puzzle
PART: Final = 50  # positions that are saved at a time


class Sizes(NamedTuple):
    """The numbers of positions of a suite."""

    deals: int = 300
    kingmaker: int = 400
    puzzles: int = 1000


class Kind(NamedTuple):
    """A file of positions, and its search."""

    name: str
    total: int
    search: Callable[[int, int], Iterable[Any]]  # seed, number -> so many positions
    save: Callable[[Path, Iterable[Any]], Path]
    load: Callable[[Path], Iterable[Any]]


class Seen(NamedTuple):
    """A decision of a game."""

    game: Game
    actions: list[int]  # that led to it


def make(
    folder: Path, text: str, sizes: Sizes, report: Callable[[str], None] = lambda line: None
) -> None:
    """Write a suite, or continue one.

    Args:
        folder: The folder of the suite; it holds finished parts until the suite is complete.
        text: Determines the suite.
        sizes: The numbers of positions.
        report: Called with a line of progress after each part.

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
    report(
        f"suite.json: {len(strangers.FAMILIES) * strangers.OF_EACH} strangers, {other_rules.RANDOM}"
        " rules"
    )
    files = suite.save_positions, suite.load_positions
    kinds = (
        Kind("deal", sizes.deals, _several(deals), *files),
        Kind("kingmaker", sizes.kingmaker, _several(kings), *files),
        Kind("puzzles", sizes.puzzles, _mined, puzzles.save, puzzles.load),
    )
    for number, kind in enumerate(kinds):
        _find(kind, folder, (seed, 102 + number), report)


def _find(kind: Kind, folder: Path, seed: tuple[int, int], report: Callable[[str], None]) -> None:
    """Find the positions of a file part by part, then write it, unless it exists."""
    path, found = folder / f"{kind.name}.json", list[Any]()
    if path.exists() and len(list(kind.load(path))) == kind.total:
        report(f"{path.name}: {kind.total}, found before")
        return
    numbers = range(math.ceil(kind.total / PART))
    parts = [folder / f"{kind.name}-part-{number:03}.json" for number in numbers]
    for number, part in enumerate(parts):
        if not part.exists():
            of_part = int(np.random.default_rng([*seed, number]).integers(1 << 32))
            kind.save(part, kind.search(of_part, min(PART, kind.total - len(found))))
        found.extend(kind.load(part))
        report(f"{path.name}: {len(found)} of {kind.total}")
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
    search = PuzzleSearch(
        count, seed, also=_ALSO, playouts=PLAYOUTS, kind_share=KIND_SHARE, games=1000 * count
    )
    return sorted(mine(search), key=lambda one: one.kind)


def deals(rng: Generator) -> Iterator[Position]:
    """Windows of a turn in which every player has enough lots to trade, one per game."""
    while True:
        game, seen = _game(rng, may_deal)
        if seen:
            yield Position(_until(game, seen[int(rng.integers(len(seen)))]))


def may_deal(game: Game) -> bool:
    """Whether the player on turn may make an offer, and all players have enough lots."""
    rich = all(int(game.lots[seat]).bit_count() >= _FEWEST_LOTS for seat in range(SEATS))
    own = int(game.decision) == _TURN and int(game.turn) == int(game.player)
    return own and rich and bool(core.action_mask(game)[HEADS["trade"].slice].any())


def kings(rng: Generator) -> Iterator[Position]:
    """Decisions of a near-hopeless player that change a rival's chances, at most one per game."""
    while True:
        game, seen = _game(rng, _is_weak)
        rng.shuffle(seen)
        for one in seen[:_LOOKS]:
            seed = int(rng.integers(1 << 31))
            candidates = [list(candidates) for _, candidates in asked(one.game)]
            if candidates and _shifts(one.game, candidates[0], _SCREENING, seed + 1) is not None:
                labels = _shifts(one.game, candidates[0], kingmaker.PLAYOUTS, seed)
                if labels is not None:
                    yield Position(_until(game, one), seed, labels)
                    break


def _is_weak(game: Game) -> bool:
    """Whether the player to move has a low value, and no player is out."""
    if any(game.place[:SEATS]) or not any(True for _ in asked(game)):
        return False
    return bool(value_of("best").shares(game)[int(game.player)] < WEAK)


def _shifts(
    game: Game, candidates: list[int], n: int, seed: int
) -> dict[int, tuple[float, ...]] | None:
    """The shares after each answer, if the player is weak and its answers move a rival's share."""
    shares, seat = shares_of_actions(game, candidates, n, seed), int(game.player)
    rivals = np.delete(shares, seat, axis=1)
    if shares[:, seat].max() > WEAK or np.ptp(rivals, axis=0).max() < SHIFT:
        return None
    return dict(zip(candidates, map(tuple, shares.tolist()), strict=True))


def _game(rng: Generator, wanted: Callable[[Game], bool]) -> tuple[Replay, list[Seen]]:
    """Play a game of three; returns its start, and the wanted decisions."""
    names = [str(name) for name in rng.choice(PLAYERS, SEATS, replace=False)]
    policies, seed = [resolve(name) for name in names], int(rng.integers(1 << 32))
    match = Match(core.new_game(SEATS, "official", seed), policies)
    seen: list[Seen] = []
    while match.policy and match.game.turns <= _MOST_TURNS:
        if wanted(match.game):
            seen.append(Seen(core.clone(match.game), match.actions.copy()))
        match.step(match.ask())
    return Replay(Rules(), seed, SEATS, tuple(names), np.zeros(0, np.uint8)), seen


def _until(begun: Replay, seen: Seen) -> Replay:
    """A game up to a decision."""
    return replace(begun, actions=np.array(seen.actions, np.uint8))
