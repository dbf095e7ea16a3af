"""Policies that play, and the arena where they meet.

    import agents

    agents.names()                                     # every policy by name
    results = agents.arena.play(["algorithmic", "random"], games=1000)
    print(results)                                     # win rates with their intervals

A policy of your own is a function (`policy_kernel`, compiled) or a class (`BatchedPolicy`): see `monopoly_env.policy.protocol`.
"""

import agents.registry  # noqa: F401 - enters the names
from agents import arena
from agents.arena.results import Results
from agents.players import genetic
from monopoly_env.policy.names import names, register
from monopoly_env.policy.protocol import MEMORY, BatchedPolicy, CompiledPolicy, Decisions, Policy, policy_kernel
from monopoly_env.policy.resolve import load, make, resolve

__all__ = [
    "MEMORY", "BatchedPolicy", "CompiledPolicy", "Decisions", "Policy", "Results", "arena", "genetic", "load", "make", "names",
    "policy_kernel", "register", "resolve",
]  # fmt: skip
