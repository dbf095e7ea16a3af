"""Checks for your own work: a policy, an encoding, a reward or a set of rules.

Our own tests run the same checks.

    from monopoly_env.testing import check_policy

    check_policy(MyPolicy())              # whole games of every preset, at tables of 2, 3 and 8
    check_policy("expert", games=1)       # a name or a saved file will do

A check returns nothing. If the contract is broken it raises `CheckError`, which says what was
expected, what happened, and in which game (rules, number of players, seed) and at which decision,
so that you can play that game again.
"""

from monopoly_env.testing.encodings import check_encoding
from monopoly_env.testing.games import CheckError
from monopoly_env.testing.policies import check_policy
from monopoly_env.testing.rewards import check_reward
from monopoly_env.testing.rules import check_rules

__all__ = ["CheckError", "check_encoding", "check_policy", "check_reward", "check_rules"]
