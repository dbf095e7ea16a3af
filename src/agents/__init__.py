"""Policies that play, and the arena where they meet.

    import agents

    agents.names()                                     # every policy by name
    results = agents.arena.play(["algorithmic", "random"], games=1000)
    print(results)                                     # win rates with their intervals

A policy of your own is a function (`policy_kernel`, compiled) or a class (`BatchedPolicy`): see `agents.policy`.
"""

from agents import arena
from agents.policy import MEMORY, BatchedPolicy, CompiledPolicy, Decisions, Policy, policy_kernel
from agents.registry import load, make, names, register, resolve
from agents.results import Results

__all__ = [
    "MEMORY", "BatchedPolicy", "CompiledPolicy", "Decisions", "Policy", "Results", "arena", "load", "make", "names", "policy_kernel",
    "register", "resolve",
]  # fmt: skip
