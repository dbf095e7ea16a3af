"""A time limit for decisions; when an agent is late, a fallback policy decides.

Code can't be interrupted in the middle of a decision without ending its process. So a late answer
is awaited and discarded, and the fallback's is used.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from monopoly_bench.task import action_of
from monopoly_env.errors import ConfigurationError
from monopoly_env.game import Game, Games
from monopoly_env.policy.loop import answers
from monopoly_env.policy.names import resolve
from monopoly_env.policy.protocol import BatchedPolicy, CompiledPolicy, Decisions, Policy

FALLBACK: Final = "random/no_trades"


class Timed(BatchedPolicy):
    """An agent with a clock, one decision at a time; in results and hashes it is the agent itself.

    Attributes:
        seconds: The time of each decision.
        late: The number of late decisions, which the fallback made.
    """

    def __init__(self, agent: Policy, milliseconds: float, fallback: Policy) -> None:
        """Time an agent, with a limit per decision and the policy that decides if it is late."""
        self.agent, self.fallback, self.name = agent, fallback, agent.name
        self.num_players, self.fewest_players = agent.num_players, agent.fewest_players
        self.reads_history = agent.reads_history
        self.seconds: list[float] = []
        self.late = 0
        self._milliseconds = milliseconds

    @property
    def kind(self) -> str:
        """The agent's."""
        return self.agent.kind

    def options(self) -> dict[str, Any]:
        """The agent's."""
        return self.agent.options()

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The agent's."""
        return self.agent.arrays()

    def set_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Set the agent's."""
        self.agent.set_arrays(arrays)

    def encoding(self) -> str | None:
        """The agent's."""
        return self.agent.encoding()

    def observe(self, games: Games, seats: NDArray[np.int64], memory: NDArray[np.float64]) -> None:
        """Let the agent observe; this is not timed."""
        self.agent.observe(games, seats, memory)

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """Answer the decisions in sequence."""
        chosen = np.zeros(len(decisions), np.int64)
        for number in range(len(decisions)):
            one = slice(number, number + 1)
            games, key = decisions.games[one], decisions.key[one]
            history = None if decisions.history is None else decisions.history[one]
            alone = Decisions(games, decisions.memory[one], key, history)
            began = time.perf_counter()
            action = answers(self.agent, alone)[0]
            self.seconds.append(time.perf_counter() - began)
            if 1000 * self.seconds[-1] > self._milliseconds:
                self.late += 1
                action = answers(self.fallback, Decisions(games.copy(), key=key))[0]
            chosen[number] = action
        return chosen

    def about(self, player: Policy) -> dict[str, Any]:
        """The budget in the result of `player`: this policy, or the agent itself."""
        seconds = np.array(self.seconds or [0.0])
        how = "every decision"
        if player is not self:
            how = "the suite's puzzles; it plays in compiled code"
        return {
            "ms": self._milliseconds, "within": self.late == 0, "late": self.late,
            "decisions": len(self.seconds),
            "measured": how, "fallback": self.fallback.name,
            "mean_ms": 1000 * float(seconds.mean()), "slowest_ms": 1000 * float(seconds.max()),
        }  # fmt: skip


def timed(
    agent: Policy, milliseconds: float, fallback: str, positions: Sequence[Game]
) -> tuple[Policy, Timed]:
    """The policy that plays for an agent within a budget, and the one that measured its time.

    A compiled agent that decides all positions in time plays in compiled code without a clock. All
    other agents are timed decision by decision.

    Args:
        agent: The agent.
        milliseconds: Limit of a decision.
        fallback: The policy that decides when the agent is late.
        positions: Trial decisions. The first one is not timed: it may compile, or start a server.

    Raises:
        ConfigurationError: The budget is not positive, or the fallback is unknown.
    """
    if not milliseconds > 0:
        raise ConfigurationError(f"--budget-ms {milliseconds} must be positive.")
    fitting = [game for game in positions if agent.plays_at(int(game.num_players))]
    watch = Timed(agent, milliseconds, resolve(fallback))
    if not fitting:
        return watch, watch
    action_of(agent, fitting[0])
    if isinstance(agent, CompiledPolicy):
        for game in fitting:
            action_of(watch, game)
        if not watch.late:
            return agent, watch
        watch = Timed(agent, milliseconds, watch.fallback)
    return watch, watch
