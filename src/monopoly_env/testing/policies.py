"""The contract of a policy."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from monopoly_env import core
from monopoly_env.actions import describe
from monopoly_env.errors import MonopolyError
from monopoly_env.policy import files, names
from monopoly_env.policy.names import PolicyLike, load, resolve_all
from monopoly_env.policy.protocol import CompiledPolicy, Policy
from monopoly_env.rules import PRESETS, Rules
from monopoly_env.testing.games import CheckedGames, CheckError, Start, play

_AGAIN: Final = 150  # decisions of a repeated game
_SAME: Final[dict[str, Callable[[Policy], Any]]] = {
    "name": lambda policy: policy.name,
    "kind": lambda policy: policy.kind,
    "options": lambda policy: policy.options(),
    "encoding": lambda policy: policy.encoding(),
    "arrays": lambda policy: {
        name: np.ascontiguousarray(array).tobytes() for name, array in policy.arrays().items()
    },
}  # properties that a copy must share with its policy


def check_policy(  # noqa: PLR0913 - keyword options
    policy: PolicyLike,
    *,
    opponents: Sequence[PolicyLike] = ("random",),
    rules: Sequence[Rules | str] = tuple(PRESETS),
    num_players: Sequence[int] = (2, 3, 8),
    games: int = 2,
    seed: int = 0,
    turn_limit: int = 200,
    any_batch: bool = True,
    saved: bool = True,
    pickled: bool = True,
) -> None:
    """Check the contract of a policy, in whole games.

    - It returns a legal action for each decision, and its turns end.
    - It does not change a game, except by draws from the random stream of its own seat
      (`policy_draws`).
    - It plays the same game from the same seed, in any batch; if compiled, also in the compiled
      loop, through `act` and on several threads.
    - Its arrays (`arrays()`) do not change while it plays.
    - A copy that was saved and loaded, or pickled, plays the same game.

    Examples:
        >>> from monopoly_env.testing import check_policy
        >>> check_policy("algorithmic", rules=["official"], num_players=[2], games=1)

    Args:
        policy: A policy, a name, or a saved file.
        opponents: Policies to play against. The seats are filled with the policy and its opponents
            in turn, until all are taken.
        rules: Presets or `Rules`; all presets by default.
        num_players: Sizes of tables, each 2 to 8.
        games: Games for each rules and size of table. The seats rotate from game to game.
        seed: The seed of the first of these games; the next game has the next seed.
        turn_limit: Turns per player after which the score decides a game.
        any_batch: Whether decisions must not depend on the batch. Networks may differ in the last
            bits.
        saved: Whether to check `save` and `load`; the kind of the policy must be registered
            (`agents.register`).
        pickled: Whether to check pickling, which worker processes need.

    Raises:
        CheckError: The policy breaks its contract.
        ConfigurationError: An argument is wrong.
        FormatError: The file is not a policy.
        RulesError: The rules are unknown.
    """
    table = resolve_all([policy, *opponents])
    checked = table[0]
    if not isinstance(checked.name, str) or not checked.name:
        raise CheckError(f"A policy needs a name, not {checked.name!r}.")
    arrays = _SAME["arrays"](checked)
    copies = _copies(checked, saved, pickled)
    enough = _AGAIN if any_batch else None  # a batch shrinks when one of its games stops
    for size in num_players:
        match = _match(table, rules, core.check_players(size), games, seed)
        actions = play(match, turn_limit)
        if any_batch:
            _check_batches(match, actions, turn_limit)
        else:
            _compare(match, actions, play(match, turn_limit), "")
        for how, copy in copies if size == num_players[0] else ():
            policies = [copy if policy is checked else policy for policy in match.policies]
            _compare(
                match,
                actions,
                play(CheckedGames(policies, match.starts, match.seats), turn_limit, enough),
                how,
            )
    if _SAME["arrays"](checked) != arrays:
        raise CheckError(
            f"Policy {checked.name!r} changed its arrays while it played: expected the same numbers"
            " before and after."
        )


def _match(
    table: Sequence[Policy], rules: Sequence[Rules | str], size: int, games: int, seed: int
) -> CheckedGames:
    """Games by all rules at tables of one size."""
    field = list(dict.fromkeys(table))
    seats = np.array([field.index(table[seat % len(table)]) for seat in range(size)])
    starts = [Start(size, one, seed + number) for one in rules for number in range(games)]
    return CheckedGames(
        field, starts, np.array([np.roll(seats, number % games) for number in range(len(starts))])
    )


def _check_batches(match: CheckedGames, actions: list[NDArray[np.uint8]], turn_limit: int) -> None:
    """Repeat the first decisions through `act`, in two batches and as a single game.

    Each is on its own thread if all policies are compiled.
    """
    every = np.arange(len(actions))
    parts = [part for part in (every[::2], every[1::2], every[:1]) if len(part)]
    compiled = all(isinstance(policy, CompiledPolicy) for policy in match.policies)
    with ThreadPoolExecutor(len(parts) if compiled else 1) as pool:
        again = pool.map(
            lambda part: play(match.part(part), turn_limit, _AGAIN, compiled=False), parts
        )
        for part, played in zip(parts, again, strict=True):
            _compare(
                match.part(part),
                [actions[number] for number in part],
                played,
                f" in a batch of {len(part)} instead of {len(every)}",
            )


def _copies(policy: Policy, saved: bool, pickled: bool) -> list[tuple[str, Policy]]:
    """Copies that must play as the policy does, each with a phrase for messages."""
    copies: list[tuple[str, Policy]] = []
    if saved:
        if not names.knows(policy.kind):
            raise CheckError(
                f"Policy {policy.name!r} cannot be loaded: expected a factory registered as"
                f" {policy.kind!r} (agents.register). Or check it with saved=False."
            )
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"policy{files.SUFFIX}"
            policy.save(path)
            try:
                copies.append((" after it was saved and loaded", load(path)))
            except MonopolyError as error:
                raise CheckError(
                    f"Policy {policy.name!r} cannot be loaded after it was saved: {error}"
                ) from error
    if pickled:
        copies.append((" after it was pickled", pickle.loads(pickle.dumps(policy))))  # noqa: S301
    for how, copy in copies:
        for what, of in _SAME.items():
            if of(copy) != of(policy):
                raise CheckError(
                    f"Policy {policy.name!r} is not the same{how}: expected equal {what}."
                )
    return copies


def _compare(
    match: CheckedGames, actions: list[NDArray[np.uint8]], again: list[NDArray[np.uint8]], how: str
) -> None:
    """Compare the actions of repeated games, as far as they were repeated."""
    for start, seats, first, second in zip(match.starts, match.seats, actions, again, strict=True):
        different = np.flatnonzero(first[: len(second)] != second)
        if len(different):
            number, game = int(different[0]), start.game()
            for action in first[:number]:
                core.step(game, int(action))
            raise CheckError(
                f"Policy {match.policies[seats[game.player]].name!r} does not play the same game"
                f" again{how}. Game: {start}, decision {number} of seat {game.player}:"
                f" {describe(int(first[number]), game)!r}, then"
                f" {describe(int(second[number]), game)!r}."
            )
