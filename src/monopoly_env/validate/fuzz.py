"""Random options, positions and legal play: every invariant and dollar after every step.

A case depends only on (seed, number), so a failing case can be rebuilt from these two.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from monopoly_env import actions, core
from monopoly_env.actions import HEAD_OF, HEADS
from monopoly_env.engine import agenda, invariants
from monopoly_env.engine.legal import ask, count_legal, nth_legal
from monopoly_env.engine.randomness import policy_draw
from monopoly_env.engine.step import answer, settle_one
from monopoly_env.errors import MonopolyError, PositionError, RulesError
from monopoly_env.facts import board, cards
from monopoly_env.game import GAME, Game, Games, empty_games
from monopoly_env.kernels import entry
from monopoly_env.kernels.signatures import Array1
from monopoly_env.positions import position
from monopoly_env.rules import Rules
from monopoly_env.validate.ledger import answer_flow_is_sound, task_flow_is_sound

BATCH: Final = 64  # cases per work package
MONEY_LEAK: Final = len(invariants.VIOLATIONS)
FAILURES: Final = (*invariants.VIOLATIONS, "money appeared or vanished")
_HEAD_START: Final = np.array([head.start for head in HEADS.values()])


@entry
def _play_checked(
    games: Games, scratch: Games, most: int, decisions: Array1[np.int64], failures: Array1[np.int64]
) -> None:
    """Play games at random with every check, until they end or reach `most` decisions."""
    for i in range(len(games)):
        game = games[i]
        while game.decision != agenda.OVER and decisions[i] < most and failures[i] == 0:
            scratch[0] = games[i]
            before = scratch[0]
            task = int(game.agenda[int(game.depth) - 1, 0])
            if task < agenda.FIRST_PROCEDURE:
                top = int(game.depth) - 1
                ask(game, task, game.agenda[top, 1], game.agenda[top, 2], game.agenda[top, 3])
                count = count_legal(game)
                if count == 0:
                    failures[i] = invariants.EMPTY_MASK
                    break
                if count > 1:
                    decisions[i] += 1
                    failures[i] = invariants.violation(game)
                action = nth_legal(game, policy_draw(game, game.player, count))
                answer(game, action)
                head = int(HEAD_OF[action])
                sound = answer_flow_is_sound(before, game, action, head, int(_HEAD_START[head]))
            else:
                settle_one(game)
                sound = task_flow_is_sound(before, game)
            if not sound and failures[i] == 0:
                failures[i] = MONEY_LEAK
        if failures[i] == 0 and game.decision == agenda.OVER:
            failures[i] = invariants.violation(game)


@dataclass
class FuzzResult:
    """The findings of a fuzzing run.

    Attributes:
        games: Number of cases played.
        decisions: Number of decisions checked.
        finished: Number of games that ended.
        refused: Number of illegal actions tried, all of which were refused and changed nothing.
        failures: (case number, broken invariant) for each failing case.
    """

    games: int = 0
    decisions: int = 0
    finished: int = 0
    refused: int = 0
    failures: list[tuple[int, str]] = dataclasses.field(default_factory=list)


def random_rules(rng: np.random.Generator) -> Rules:
    """Rules with about a third of the options drawn at random."""
    while True:
        options: dict[str, Any] = {}
        for option in dataclasses.fields(Rules):
            if rng.random() < (0.08 if option.name in _ENDINGS else 0.35):
                options[option.name] = _random_value(option, rng)
        try:
            return Rules.from_dict(options)
        except RulesError:  # contradictory options: draw again
            continue


# Options that end a game early: drawn rarely, and only from values that leave room for play.
_ENDINGS: Final = {
    "win_cash": (2_500, 20_000),
    "max_turns": (50, 1_000),
    "max_rounds": (20, 300),
    "end_at_first_bankruptcy": (0, 1),
}


def _random_value(option: dataclasses.Field[Any], rng: np.random.Generator) -> Any:
    if choices := option.metadata.get("choices"):
        return str(rng.choice(choices))
    if isinstance(option.default, bool):
        return bool(rng.integers(2))
    if isinstance(option.default, float):
        return round(float(rng.integers(0, 101)) / 100, 2)
    low, high = option.metadata["range"]
    if option.name in _ENDINGS:
        return int(rng.integers(*_ENDINGS[option.name], endpoint=True))
    reachable = max(2 * int(getattr(Rules(), option.name)), 20)  # values that a game can reach
    return int(rng.integers(low, min(high, reachable) + 1))


def random_position(rng: np.random.Generator, rules: Rules, num_players: int, seed: int) -> Game:
    """A random consistent position under these rules."""
    while True:
        try:
            return position(num_players, rules, seed, **_random_contents(rng, rules, num_players))
        except PositionError:  # such as more houses than the bank has: draw again
            continue


def _random_contents(rng: np.random.Generator, rules: Rules, num_players: int) -> dict[str, Any]:
    gone: list[int] = []
    if rng.random() < 0.3:
        gone = list(rng.permutation(num_players)[: int(rng.integers(num_players - 1))])
    seats = [seat for seat in range(num_players) if seat not in gone]
    owners = rng.choice([-1, *seats], board.NUM_LOTS)
    levels: dict[int | str, int] = {}
    mortgaged: list[int | str] = []
    for group in range(board.NUM_GROUPS):
        lots = np.flatnonzero(group == board.GROUP_OF)
        if rng.random() < 0.5:  # by chance alone whole groups are rare
            owners[lots] = rng.choice([-1, *seats])
        whole = owners[lots[0]] >= 0 and len(set(owners[lots].tolist())) == 1
        if group < board.RAILROADS and whole and rng.random() < 0.6:
            for lot, step in zip(lots.tolist(), _random_steps(rng, rules, len(lots)), strict=True):
                levels[lot] = board.HOTEL if step > rules.hotel_after else int(step)
        else:
            mortgaged += [int(lot) for lot in lots if owners[lot] >= 0 and rng.random() < 0.3]
    jailed = {seat: int(rng.integers(rules.jail_turns)) for seat in seats if rng.random() < 0.2}
    return {
        "turn": int(rng.choice(seats)),
        "bankrupt": [int(seat) for seat in gone],
        "cash": [int(rng.integers(0, 2 ** int(rng.integers(3, 13)))) for _ in range(num_players)],
        "lots": {seat: np.flatnonzero(owners == seat).tolist() for seat in range(num_players)},
        "mortgaged": mortgaged,
        "buildings": levels,
        "positions": [int(rng.integers(board.NUM_SQUARES)) for _ in range(num_players)],
        "jail": jailed,
        "jail_cards": _random_cards(rng, seats),
    }


def _random_cards(rng: np.random.Generator, seats: list[int]) -> dict[int, list[str]]:
    held: dict[int, list[str]] = {}
    for deck in cards.DECKS:
        if rng.random() < 0.4:
            held.setdefault(int(rng.choice(seats)), []).append(deck)
    return held


def _random_steps(rng: np.random.Generator, rules: Rules, count: int) -> list[int]:
    highest = rules.hotel_after + 1
    base = int(rng.integers(0, highest + 1))
    if rules.even_build == "whole_group" or base == highest:
        return [base] * count
    return [base + int(rng.integers(2)) for _ in range(count)]


def case(seed: int, number: int) -> Game:
    """The starting game of a case: random rules, and either a new game or a random position."""
    rng = np.random.default_rng([seed, number])
    rules = random_rules(rng)
    num_players = int(rng.integers(2, 9))
    game_seed = int(rng.integers(2**63))
    if rng.random() < 0.5:
        return core.new_game(num_players, rules, game_seed)
    return random_position(rng, rules, num_players, game_seed)


def play_cases(seed: int, numbers: range, most: int) -> FuzzResult:
    """Play cases, for at most `most` decisions each."""
    games: Games = empty_games(len(numbers))
    result = FuzzResult(games=len(numbers))
    for i, number in enumerate(numbers):
        games[i] = case(seed, number)
        result.refused += _refusals(games[i : i + 1].copy(), seed, number)
    decisions, failures = play_checked(games, most)
    result.decisions = int(decisions.sum())
    result.finished = int((games["decision"] == agenda.OVER).sum())
    result.failures = [(numbers[int(i)], FAILURES[failures[i]]) for i in np.flatnonzero(failures)]
    return result


def play_checked(games: Games, most: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Play games at random, with every check after every task.

    Args:
        games: (B,) records; they change.
        most: Decisions after which a game is stopped.

    Returns:
        (B,) the decisions of each game, and (B,) what is broken in it: an index into `FAILURES`, 0
        for nothing.
    """
    decisions, failures = np.zeros(len(games), np.int64), np.zeros(len(games), np.int64)
    _play_checked(games, np.zeros(1, GAME), most, decisions, failures)
    return decisions, failures


def _refusals(batch: Games, seed: int, number: int) -> int:
    """Try illegal actions on a game and return how many were tried."""
    tried, passed = try_illegal(batch, np.random.default_rng([seed, number, 1]))
    if passed is not None:
        what = f"illegal action {actions.describe(passed)!r} was not refused cleanly"
        raise AssertionError(f"case {number} of seed {seed}: {what}")
    return tried


def try_illegal(batch: Games, rng: np.random.Generator) -> tuple[int, int | None]:
    """Try up to three illegal actions on a game. Each must raise and leave every byte unchanged.

    Args:
        batch: (1,) records.
        rng: Draws the actions.

    Returns:
        The number of tries, and the first action that did not raise or left a trace, or None.
    """
    game, before = batch[0], batch.tobytes()
    try:
        illegal = np.flatnonzero(~core.action_mask(game))
    except PositionError:  # a broken game: what is broken is found when it is played
        return 0, None
    tried = rng.choice(illegal, min(3, len(illegal)), replace=False)
    for action in tried.tolist():
        try:
            core.step(game, action)
        except MonopolyError:
            if batch.tobytes() == before:
                continue
        return len(tried), action
    return len(tried), None


def run(
    num_games: int, seed: int = 0, most: int = 2000, threads: int = 1, first: int = 0
) -> Iterator[FuzzResult]:
    """Play cases from `first` on, and yield the running total after each batch of them."""
    total = FuzzResult()
    end = first + num_games
    packages = [range(at, min(at + BATCH, end)) for at in range(first, end, BATCH)]
    with ThreadPoolExecutor(threads) as pool:
        for part in pool.map(lambda numbers: play_cases(seed, numbers, most), packages):
            for field in dataclasses.fields(FuzzResult):
                added = getattr(total, field.name) + getattr(part, field.name)
                setattr(total, field.name, added)
            yield total
