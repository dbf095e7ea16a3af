"""The time of a decision: a limit for each; where an agent takes longer, another policy decides.

Code can't be stopped in the middle of a decision without ending its process. So an agent that is
too slow takes its time; its answer is then thrown away, and the fallback's is taken.
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
    """An agent that is asked one decision at a time, against the clock.

    In tables and hashes it is the agent itself.

    Attributes:
        seconds: The time of each decision.
        late: How many took too long, so that the fallback decided.
    """

    def __init__(self, agent: Policy, milliseconds: float, fallback: Policy) -> None:
        """Time an agent, with milliseconds for a decision, and the policy that decides if late."""
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
        """Let the agent look; this is not timed."""
        self.agent.observe(games, seats, memory)

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """Ask about one decision after another."""
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
        """The budget in the result of the policy that plays: this one, or the agent itself."""
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
    """The policy that plays for an agent within a budget, and the one that has measured its time.

    A compiled agent that decides every one of the positions in time plays on in compiled code,
    where no clock is. All others are asked one decision at a time.

    Args:
        agent: The agent.
        milliseconds: For a decision.
        fallback: The policy that decides where the agent is late.
        positions: Some decisions. The first one is not timed: it may compile, or start a server.

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
