"""Where policies meet: one table, two policies, a whole field.

`play` is for one table, `duel` and `compare` for two policies, `round_robin` for a whole field.

Comparisons are fair by construction: every seed is played in every order of seats (2 to 4 players)
or in all rotations of a random order (5 to 8), and a seat's dice depend on seed and seat alone. All
tables play the same seeds. The seed is the unit of statistics.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from agents.arena.match import Match
from agents.arena.progress import Progress
from agents.arena.results import Results
from agents.arena.statistics import Difference
from agents.arena.table import Table
from monopoly_env.analyse.values import Value
from monopoly_env.errors import ConfigurationError, whole_number
from monopoly_env.game import MAX_PLAYERS, MIN_PLAYERS
from monopoly_env.policy.names import PolicyLike, make, resolve_all
from monopoly_env.policy.protocol import Policy
from monopoly_env.rules import Rules


def play(
    policies: Sequence[PolicyLike],
    games: int = 1000,
    rules: Rules | str = "official",
    seed: int = 0,
    threads: int | None = None,
    turn_limit: int = 1000,
    progress: Progress = False,
    *,
    until: float | None = None,
    record: int | Sequence[int] = 0,
    adjust: str | Value | None = None,
    table_type: type[Table] = Table,
) -> Results:
    """Play one table.

    Args:
        policies: 2 to 8 names, saved files or policies, one a seat. One that is given twice sits
            twice and is one row of the results.
        games: Games to play. Each seed takes as many as there are different orders of seats; the
            last one may be cut short.
        rules: A preset or `Rules`.
        seed: 0 to 2**32 - 1. Unit u of the games is played with the game seed `(seed << 32) + u`.
        threads: Cores to play on, all by default. Results do not depend on it.
        turn_limit: Turns of each player after which the score decides a game.
        progress: True for a bar on stderr; or a function that is called with the number of games
            that have just ended.
        until: Stop as soon as the interval of every policy's win rate (the adjusted one if there is
            one), taken between seeds, reaches no further than this to either side; `games` is then
            the most that are played.
        record: The first so many games, or the games of these numbers, are kept in
            `Results.replays`.
        adjust: Also measure the luck of the dice, and adjust the win rates for it: they keep their
            means and lose variance (`Results.adjusted`). By "value", the best value of states;
            "worth"; or a `monopoly_env.analyse.Value`. Games take longer.
        table_type: Plays the games, which a subclass of `Table` may do on other machines.

    Returns:
        The results. With compiled policies they are a function of the arguments; a network's last
        bits may differ by batch size.

    Raises:
        ConfigurationError: A wrong number, name or file; RulesError: wrong rules; FormatError: a
            file that does not match.
        IllegalActionError: A policy broke the rules; the message says which, where, and what was
            legal.
    """
    players = resolve_all(policies)
    whole_number("policies at a table:", len(players), MIN_PLAYERS, MAX_PLAYERS)
    field = list(dict.fromkeys(players))
    tables = [[field.index(policy) for policy in players]]
    match = Match(
        field, tables, games, rules, seed, threads, turn_limit, progress, record, adjust, table_type
    )
    return match.play() if until is None else match.play_until(until)


def duel(
    first: PolicyLike,
    second: PolicyLike,
    games: int = 1000,
    table_size: int = 2,
    rules: Rules | str = "official",
    seed: int = 0,
    threads: int | None = None,
    turn_limit: int = 1000,
    progress: Progress = False,
    *,
    record: int | Sequence[int] = 0,
    adjust: str | Value | None = None,
) -> Results:
    """Two policies against each other.

    At larger tables, each of them sits alone among seats of the other.

    Whether one gains by joining a table of others, and whether it can be gained upon, are different
    questions: `difference` takes both together, a seat of the first against a seat of the second.

    Args:
        first: A name, saved file or policy.
        second: Another.
        games: Games of each table: one table of two, else two.
        table_size: Seats at a table, 2 to 8.
        rules: As in `play`.
        seed: As in `play`.
        threads: As in `play`.
        turn_limit: As in `play`.
        progress: As in `play`.
        record: The first so many games of each table, or the games of these numbers (the first
            table's come first).
        adjust: As in `play`.

    Returns:
        The results; `results.difference(*results.names)` is the paired difference.

    Raises:
        ConfigurationError: And the others that `play` raises.
    """
    whole_number("table_size", table_size, MIN_PLAYERS, MAX_PLAYERS)
    field = resolve_all([first, second])
    tables = [[0] + [1] * (table_size - 1)]
    if table_size > MIN_PLAYERS:
        tables.append([1] + [0] * (table_size - 1))
    return Match(
        field, tables, games, rules, seed, threads, turn_limit, progress, record, adjust
    ).play()


def compare(
    first: PolicyLike,
    second: PolicyLike,
    against: Sequence[PolicyLike],
    games: int = 1000,
    table_size: int = 2,
    rules: Rules | str = "official",
    seed: int = 0,
    threads: int | None = None,
    turn_limit: int = 1000,
    progress: Progress = False,
) -> Difference:
    """Which of two policies does better against others.

    Both play the same seats and seeds against the same opponents.

    Args:
        first: A name, saved file or policy.
        second: What it is measured by.
        against: The opponents: every choice of `table_size - 1` of them makes a table. One that is
            given several times may sit several times. One that is itself `first` or `second` counts
            as another policy here.
        games: Games of each of the two at each table.
        table_size: Seats at a table, 2 to 8.
        rules: As in `play`.
        seed: As in `play`.
        threads: As in `play`.
        turn_limit: As in `play`.
        progress: As in `play`.

    Returns:
        The difference of their shares of the win, paired by seed; its `results` hold the games.

    Raises:
        ConfigurationError: Too few opponents for a table; and what `play` raises.
    """
    whole_number("table_size", table_size, MIN_PLAYERS, MAX_PLAYERS)
    others = resolve_all(against)
    if len(others) < table_size - 1:
        raise ConfigurationError(
            f"A table of {table_size} needs {table_size - 1} opponents; {len(others)} were given."
        )
    distinct = list(dict.fromkeys(others))
    field = [*resolve_all([first, second]), *distinct]
    numbers = sorted(2 + distinct.index(policy) for policy in others)
    choices = dict.fromkeys(itertools.combinations(numbers, table_size - 1))
    tables = [[compared, *choice] for choice in choices for compared in (0, 1)]
    results = Match(field, tables, games, rules, seed, threads, turn_limit, progress).play()
    return dataclasses.replace(
        results.difference(results.names[0], results.names[1]), results=results
    )


def round_robin(
    policies: Sequence[PolicyLike],
    games: int = 1000,
    table_size: int = 2,
    rules: Rules | str = "official",
    seed: int = 0,
    threads: int | None = None,
    turn_limit: int = 1000,
    progress: Progress = False,
    *,
    record: int | Sequence[int] = 0,
    adjust: str | Value | None = None,
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
        record: The first so many games of each table, or the games of these numbers.
        adjust: As in `play`.

    Returns:
        The results of all tables together.

    Raises:
        ConfigurationError: Too few policies for a table; and what `play` raises.
    """
    whole_number("table_size", table_size, MIN_PLAYERS, MAX_PLAYERS)
    players = resolve_all(policies)
    if len(players) < table_size:
        raise ConfigurationError(
            f"A table of {table_size} needs as many policies; {len(players)} were given."
        )
    field = list(dict.fromkeys(players))
    tables = [
        [field.index(policy) for policy in table]
        for table in itertools.combinations(players, table_size)
    ]
    return Match(
        field, tables, games, rules, seed, threads, turn_limit, progress, record, adjust
    ).play()


def play_again(results: Results, threads: int | None = None, progress: Progress = False) -> Results:
    """Play the games of results once more, from what was saved with them.

    Args:
        results: With scripted policies: of a learned one, the results hold only the hash.
        threads: As in `play`.
        progress: As in `play`.

    Raises:
        ConfigurationError: A policy can't be made again, or the results do not say how they were
            made.
    """
    setup = results.setup
    if not setup:
        raise ConfigurationError("These results do not say how they were made.")
    field = [_made_again(about) for about in setup["policies"]]
    for number in itertools.chain.from_iterable(setup["tables"]):
        whole_number("the number of a policy at a table,", number, 0, len(field) - 1)
    match = Match(
        field, setup["tables"], setup["games"], Rules.from_dict(setup["rules"]), setup["seed"],
        threads, setup["turn_limit"], progress,
        adjust=setup.get("adjust"),
    )  # fmt: skip
    match.title = results.rules
    return match.play()


def _made_again(about: dict[str, Any]) -> Policy:
    if "params" not in about:
        raise ConfigurationError(
            f"The policy {about['name']!r} is not scripted: play it from its own file."
        )
    policy = make(about["kind"], **about["options"])
    policy.set_arrays({"params": np.array(about["params"], np.float64)})
    policy.name = about["name"]
    return policy
