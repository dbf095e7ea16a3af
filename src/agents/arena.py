"""Where policies meet: one table (`play`), or every table of a field (`round_robin`).

Comparisons are fair by construction: every seed is played in every order of seats (2 to 4 players) or in all rotations of a random
order (5 to 8), and a seat's dice depend on seed and seat alone. The seed is the unit of statistics.
"""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from agents.policy import Policy
from agents.registry import PolicyLike, resolve_all
from agents.results import Results, merge
from agents.tables import Line, Table
from monopoly_env.errors import ConfigurationError
from monopoly_env.game import MAX_PLAYERS, MIN_PLAYERS
from monopoly_env.rules import PRESETS, Rules

_ALL_ORDERS_UP_TO = 4  # players: 24 orders; with 5 there would be 120
_MAX_SEED = (1 << 32) - 1  # game seeds are 64 bits: the seed above, the number of the unit below


def play(
    policies: Sequence[PolicyLike],
    games: int = 1000,
    rules: Rules | str = "official",
    seed: int = 0,
    threads: int | None = None,
    turn_limit: int = 1000,
    progress: bool | Callable[[int], None] = False,
) -> Results:
    """Play one table.

    Args:
        policies: 2 to 8 names, saved files or policies, one a seat. One that is given twice sits twice and is one row of the results.
        games: Games to play. Each seed takes as many as there are different orders of seats; the last one may be cut short.
        rules: A preset or `Rules`.
        seed: 0 to 2**32 - 1. Unit u of the games is played with the game seed `(seed << 32) + u`.
        threads: Cores to play on, all by default. Results do not depend on it.
        turn_limit: Turns of each player after which the score decides a game.
        progress: True for a bar on stderr; or a function that is called with the number of games that have just ended.

    Returns:
        The results. With compiled policies they are a function of the arguments; a network's last bits may differ by batch size.

    Raises:
        ConfigurationError: A wrong number, name or file; RulesError: wrong rules; FormatError: a file that does not match.
        IllegalActionError: A policy broke the rules; the message says which, where, and what was legal.
    """
    fixed = Rules.coerce(rules)
    players = resolve_all(policies)
    _check_number("policies at a table", len(players), MIN_PLAYERS, MAX_PLAYERS)
    _check_number("games", games, 1, 1 << 31)
    _check_number("seed", seed, 0, _MAX_SEED)
    _check_number("turn_limit", turn_limit, 1, 1 << 24)
    if threads is not None:
        _check_number("threads", threads, 1, 1024)
    field = list(dict.fromkeys(players))
    sitting = np.array([field.index(policy) for policy in players], np.int16)
    seats, unit = arrangements(sitting, games, seed)
    line = Line([(seed << 32) + int(u) for u in unit], seats)
    table = Table(field, fixed, turn_limit, threads)
    began = time.perf_counter()
    with _progress(progress, games) as done:
        table.play(line, done)
    seconds = time.perf_counter() - began
    return Results(
        tuple(unique_names(field)), _title(rules), seed, turn_limit, seats, line.place, unit, line.first, line.turns, line.decisions,
        line.capped, seconds,
    )  # fmt: skip


def round_robin(
    policies: Sequence[PolicyLike],
    games: int = 1000,
    table_size: int = 2,
    rules: Rules | str = "official",
    seed: int = 0,
    threads: int | None = None,
    turn_limit: int = 1000,
    progress: bool | Callable[[int], None] = False,
) -> Results:
    """Play every table of `table_size` different policies out of a field, each with the same seeds.

    Args:
        policies: At least `table_size` names, saved files or policies.
        games: Games of each table.
        table_size: Seats at a table, 2 to 8.
        rules: As in `play`.
        seed: As in `play`.
        threads: As in `play`.
        turn_limit: As in `play`.
        progress: As in `play`.

    Returns:
        The results of all tables together.

    Raises:
        ConfigurationError: Too few policies for a table; and what `play` raises.
    """
    _check_number("table_size", table_size, MIN_PLAYERS, MAX_PLAYERS)
    players = resolve_all(policies)
    if len(players) < table_size:
        raise ConfigurationError(f"A table of {table_size} needs as many policies; {len(players)} were given.")
    combinations = list(itertools.combinations(players, table_size))
    field = list(dict.fromkeys(players))
    names = unique_names(field)
    parts = []
    with _progress(progress, games * len(combinations)) as done:
        for table in combinations:
            part = play(table, games, rules, seed, threads, turn_limit, done)
            part.names = tuple(names[field.index(policy)] for policy in dict.fromkeys(table))
            parts.append(part)
    return merge(parts, names)


def arrangements(sitting: NDArray[np.int16], games: int, seed: int) -> tuple[NDArray[np.int16], NDArray[np.int32]]:
    """Who sits where in each game.

    Args:
        sitting: (P,) the policies of the table, by number.
        games: Games to play.
        seed: Of the random orders of large tables.

    Returns:
        (G, P) policies by seat, (G,) units: games of a unit share their seed.
    """
    if len(sitting) <= _ALL_ORDERS_UP_TO:
        orders = _different(np.array(sorted(itertools.permutations(sitting), key=_rotation_class)))
        unit = np.arange(games) // len(orders)
        return orders[np.arange(games) % len(orders)].astype(np.int16), unit.astype(np.int32)
    generator = np.random.Generator(np.random.Philox(seed))
    seats: list[NDArray[np.int16]] = []
    unit_of: list[int] = []
    for number in itertools.count():
        order = generator.permutation(sitting)
        rotations = _different(np.array([np.roll(order, shift) for shift in range(len(order))]))
        seats.extend(rotations)
        unit_of.extend([number] * len(rotations))
        if len(seats) >= games:
            break
    return np.array(seats[:games], np.int16), np.array(unit_of[:games], np.int32)


def _different(orders: NDArray[np.int16]) -> NDArray[np.int16]:
    """The orders without repetitions, as they come: equal policies in swapped seats would play the same game again."""
    return np.array(list(dict.fromkeys(map(tuple, orders.tolist()))), np.int16)


def _rotation_class(order: tuple[int, ...]) -> tuple[tuple[int, ...], int]:
    """Sorts rotations of an order side by side, so that a set that is cut short is still balanced."""
    rotations = [order[shift:] + order[:shift] for shift in range(len(order))]
    return min(rotations), rotations.index(min(rotations))


def unique_names(policies: Sequence[Policy]) -> list[str]:
    """The policies' names; those of one name are numbered."""
    names: list[str] = []
    for policy in policies:
        name, number = policy.name, 1
        while name in names:
            number += 1
            name = f"{policy.name} ({number})"
        names.append(name)
    return names


def _title(rules: Rules | str) -> str:
    if isinstance(rules, str):
        return rules
    for preset in PRESETS:
        if Rules.preset(preset) == rules:
            return preset
    official = Rules()
    return ", ".join(f"{name}={value}" for name, value in vars(rules).items() if value != getattr(official, name))


def _check_number(what: str, given: object, low: int, high: int) -> None:
    if isinstance(given, bool) or not isinstance(given, (int, np.integer)) or not low <= given <= high:
        raise ConfigurationError(f"{what} must be a whole number from {low} to {high}, not {given!r}.")


@contextlib.contextmanager
def _progress(progress: bool | Callable[[int], None], games: int) -> Iterator[Callable[[int], None]]:
    """What is called with the games that have just ended: nothing, a bar on stderr, or the caller's own function."""
    if callable(progress):
        yield progress
    elif not progress:
        yield lambda count: None
    else:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("games"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[speed]}"), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True)) as bar:
            task = bar.add_task("games", total=games, speed="")
            began = time.perf_counter()

            def done(count: int) -> None:
                bar.advance(task, count)
                speed = bar.tasks[0].completed / max(time.perf_counter() - began, 1e-9)
                bar.update(task, speed=f"{speed:,.0f}/s")

            yield done
