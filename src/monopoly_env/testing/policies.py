"""The contract of a policy."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from monopoly_env.actions import describe
from monopoly_env.core import check_players
from monopoly_env.policy import files, names
from monopoly_env.policy.protocol import CompiledPolicy, Policy
from monopoly_env.policy.resolve import PolicyLike, load, resolve_all
from monopoly_env.rules import PRESETS, Rules
from monopoly_env.testing.games import CheckError, Start, Table, play

_SAMPLE: Final = 200  # decisions of a game that is played again


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
    """Check that a policy keeps its contract, by playing whole games.

    - Its actions are legal, one for each decision, and its turns end.
    - It leaves the games as they are; it only draws from the stream of its own seat.
    - It plays the same game again if the seed is the same: in another batch, and on several threads if it is compiled.
    - Its parameters (`arrays()`) stay the same while it plays.
    - A saved and loaded copy, and a pickled copy, play the same moves.

    Example:
        >>> import agents
        >>> from monopoly_env.testing import check_policy
        >>> check_policy(agents.make("algorithmic", reserve=300.0), rules=["official"], num_players=[2], games=1)

    Args:
        policy: A policy, a name or a saved file.
        opponents: They sit at the table with it: the seats are filled with the policy, then the opponents, again and again.
        rules: Presets or `Rules`; all presets by default.
        num_players: Sizes of tables, each 2 to 8.
        games: Games for each rules and each size of table; the seats are rotated from game to game.
        seed: The seed of the first of these games; the next game has the next seed.
        turn_limit: Turns per player after which a game is left as it stands.
        any_batch: Whether the policy promises the same moves whatever the batch. False for networks whose last bits differ.
        saved: Whether to check `save` and `load`; its kind must be registered (`agents.register`).
        pickled: Whether to check pickling, which worker processes need.

    Raises:
        CheckError: The contract is broken.
        ConfigurationError: A wrong argument; RulesError: unknown rules; FormatError: a file that does not match.
    """
    checked, *others = resolve_all([policy, *opponents])
    if not isinstance(checked.name, str) or not checked.name:
        raise CheckError(f"A policy needs a name, not {checked.name!r}.")
    before = _numbers(checked)
    for size in num_players:
        table = _table(checked, others, rules, check_players(size), games, seed)
        told = play(table, turn_limit)
        _check_again(table, told, turn_limit, any_batch)
        for how, copy in _copies(checked, saved and size == num_players[0], pickled and size == num_players[0]):
            policies = [copy if one is checked else one for one in table.policies]
            _compare(table, told, play(Table(policies, table.starts, table.seats), turn_limit, _SAMPLE), how)
    if before != _numbers(checked):
        raise CheckError(f"Policy {checked.name!r} changed its arrays while it played: expected the same numbers before and after.")


def _table(checked: Policy, others: Sequence[Policy], rules: Sequence[Rules | str], size: int, games: int, seed: int) -> Table:
    """Games of all rules at tables of one size; the seats rotate from game to game."""
    field = list(dict.fromkeys([checked, *others]))
    order = [field.index(policy) for policy in [checked, *others]]
    seated = np.array([order[seat % len(order)] for seat in range(size)])
    starts = [Start(size, one, seed + number) for one in rules for number in range(games)]
    return Table(field, starts, np.array([np.roll(seated, number % games) for number in range(len(starts))]))


def _numbers(policy: Policy) -> dict[str, bytes]:
    return {name: np.ascontiguousarray(array).tobytes() for name, array in policy.arrays().items()}


def _check_again(table: Table, told: list[NDArray[np.int64]], turn_limit: int, any_batch: bool) -> None:
    """The beginning of the same games, all at once again, or in two batches and the first game alone."""
    whole = np.arange(len(told))
    parts = [whole[::2], whole[1::2], whole[:1]] if any_batch else [whole]
    compiled = all(isinstance(policy, CompiledPolicy) for policy in table.policies)
    with ThreadPoolExecutor(len(parts) if compiled else 1) as pool:
        stories = list(pool.map(lambda part: play(table.part(part), turn_limit, _SAMPLE), [part for part in parts if len(part)]))
    for part, story in zip([part for part in parts if len(part)], stories, strict=True):
        how = "in another batch or on another thread" if any_batch else "when it was asked again"
        _compare(table.part(part), [told[number] for number in part], story, how)


def _copies(policy: Policy, saved: bool, pickled: bool) -> list[tuple[str, Policy]]:
    """Copies of a policy that must play as it does, and how they were made."""
    copies: list[tuple[str, Policy]] = []
    if saved:
        if not names.knows(policy.kind):
            raise CheckError(
                f"Policy {policy.name!r} can't be saved: no factory is registered as {policy.kind!r}. Register it with agents.register, or "
                "check the policy with saved=False."
            )
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"policy{files.SUFFIX}"
            policy.save(path)
            copies.append(("after it was saved and loaded", load(path)))
    if pickled:
        copies.append(("after it was pickled", pickle.loads(pickle.dumps(policy))))  # noqa: S301 - made a moment ago
    for how, copy in copies:
        for what in ("name", "kind", "options", "encoding"):
            was, is_ = (getattr(one, what) for one in (policy, copy))
            if (was() if callable(was) else was) != (is_() if callable(is_) else is_):
                raise CheckError(f"Policy {policy.name!r} has another {what} {how}.")
        if _numbers(copy) != _numbers(policy):
            raise CheckError(f"Policy {policy.name!r} has other arrays {how}.")
    return copies


def _compare(table: Table, told: list[NDArray[np.int64]], again: list[NDArray[np.int64]], how: str) -> None:
    """Two plays of the same games, the second perhaps cut short, must consist of the same actions."""
    for start, seats, first, second in zip(table.starts, table.seats, told, again, strict=True):
        different = np.flatnonzero(first[: len(second)] != second)
        if len(different):
            raise CheckError(_difference(table, start, seats, first, int(different[0]), int(second[different[0]]), how))


def _difference(table: Table, start: Start, seats: NDArray[np.int64], actions: NDArray[np.int64], number: int, other: int, how: str) -> str:
    from monopoly_env import core

    game = core.new_game(start.num_players, start.rules, start.seed)
    for action in actions[:number]:
        core.step(game, int(action))
    name, action = table.policies[seats[game.player]].name, int(actions[number])
    return (
        f"Policy {name!r} plays another game {how}: expected the same moves for the same seed. Game {start}, decision {number} of seat "
        f"{game.player}: {describe(action, game)!r} at first, then {describe(other, game)!r}."
    )
