"""The options of environments, checked in one place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from monopoly_env import encoding as encodings
from monopoly_env import rewards
from monopoly_env.core import check_players
from monopoly_env.encoding import Encoding
from monopoly_env.errors import ConfigurationError, check_illegal, whole_number
from monopoly_env.policy.names import PolicyLike, resolve_all
from monopoly_env.policy.protocol import Policy
from monopoly_env.rewards import Reward
from monopoly_env.rules import Rules


class TableSetup(NamedTuple):
    """The options of every environment."""

    num_players: int
    rules: Rules
    encoding: Encoding
    reward: Reward
    turn_limit: int
    illegal: str


def check_table(
    num_players: int,
    rules: Rules | str,
    encoding: str | Encoding,
    reward: str | Reward,
    turn_limit: int,
    illegal: str,
) -> TableSetup:
    """Check the options of a table and make its rules, encoding and reward."""
    players = check_players(num_players)
    return TableSetup(
        players,
        Rules.coerce(rules),
        encodings.fitting(encoding, players),
        rewards.resolve(reward),
        check_count("turn_limit", turn_limit),
        check_illegal(illegal),
    )


def check_count(name: str, value: object) -> int:
    """A positive whole number as an int, or ConfigurationError."""
    return whole_number(name, value, 1, (1 << 24) - 1)


def check_autoreset(mode: object) -> bool | Literal["next_step"]:
    """The autoreset mode: True, False or "next_step"; ConfigurationError otherwise."""
    if not isinstance(mode, bool) and mode != "next_step":
        raise ConfigurationError(f"autoreset={mode!r} must be True, False or 'next_step'.")
    return mode if isinstance(mode, bool) else "next_step"


def check_opponents(opponents: Sequence[PolicyLike] | None) -> tuple[Policy, ...]:
    """The policies of a list, none for None; ConfigurationError if one is unknown."""
    if opponents is None or (not isinstance(opponents, str) and not len(opponents)):
        return ()
    if isinstance(opponents, str):
        wanted = f"a list, one policy a seat: [{opponents!r}] is a table of two"
        raise ConfigurationError(f"opponents={opponents!r} must be {wanted}.")
    return tuple(resolve_all(opponents))
