"""Policies, and the arena where they play against each other.

    >>> import agents
    >>> "expert" in agents.names()  # the names of all policies
    True
    >>> results = agents.arena.play(["expert", "random"], games=40)
    >>> results.rows()[0]["name"]  # print(results) shows win rates with confidence intervals
    'expert'

A custom policy is a function (`policy_kernel`, compiled) or a class (`BatchedPolicy`): see
`monopoly_env.policy.protocol`. `monopoly_env.testing.check_policy` checks it.
"""

from monopoly_env.kernels import register_package

register_package(__name__)  # before its kernels are imported

import agents.registry  # noqa: F401 - registers the names
from agents import arena, values
from agents.arena.results import Results
from agents.players import genetic
from agents.players.search.comparison import compare_offers
from monopoly_env.analyse import compare_actions, rollout
from monopoly_env.policy.names import load, make, names, register, resolve
from monopoly_env.policy.protocol import (
    MEMORY,
    BatchedPolicy,
    CompiledPolicy,
    Decisions,
    Policy,
    observe_kernel,
    policy_kernel,
)

__all__ = [
    "MEMORY",
    "BatchedPolicy",
    "CompiledPolicy",
    "Decisions",
    "Policy",
    "Results",
    "arena",
    "compare_actions",
    "compare_offers",
    "genetic",
    "load",
    "make",
    "names",
    "observe_kernel",
    "policy_kernel",
    "register",
    "resolve",
    "rollout",
    "values",
]  # fmt: skip
