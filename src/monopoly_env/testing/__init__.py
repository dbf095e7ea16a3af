"""Checks of a custom policy, encoding, reward or set of rules; the library's tests run them too.

    >>> from monopoly_env.testing import check_policy
    >>> check_policy("expert", rules=["official"], num_players=[2], games=1)

A check returns nothing. If the contract is broken it raises `CheckError` with the expectation, the
event, the game (rules, number of players, seed) and the decision, so that the game can be played
again.
"""

from monopoly_env.testing.encodings import check_encoding
from monopoly_env.testing.games import CheckError
from monopoly_env.testing.policies import check_policy
from monopoly_env.testing.rewards import check_reward
from monopoly_env.testing.rules import check_rules

__all__ = ["CheckError", "check_encoding", "check_policy", "check_reward", "check_rules"]
