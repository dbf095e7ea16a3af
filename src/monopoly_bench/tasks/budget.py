"""The time of a decision: a limit for each.

It is measured how long an agent takes; where it takes too long, another policy decides.

Code can't be stopped in the middle of a decision without ending its process. So an agent that is
too slow takes its time; its answer is then thrown away, and the fallback's is taken.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from monopoly_bench.playouts import choice
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
        seconds: What each decision took.
        late: How many took too long, so that the fallback decided.
    """

    def __init__(self, agent: Policy, milliseconds: float, fallback: Policy) -> None:
        """Time an agent.

        Args:
            agent: The agent.
            milliseconds: For a decision.
            fallback: Who decides where the agent is late.
        """
        self.agent, self.fallback, self.name = agent, fallback, agent.name
        self.num_players, self.fewest_players = agent.num_players, agent.fewest_players
        self.reads_history = agent.reads_history
        self.seconds: list[float] = []
        self.late = 0
        self._most = milliseconds / 1000

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

    def watch(self, games: Games, seats: NDArray[np.int64], memory: NDArray[np.float64]) -> None:
        """Let the agent look; this is not timed."""
        self.agent.watch(games, seats, memory)

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """Ask about one decision after another."""
        chosen = np.zeros(len(decisions), np.int64)
        for number in range(len(decisions)):
            one = slice(number, number + 1)
            history = None if decisions.history is None else decisions.history[one]
            alone = Decisions(
                decisions.games[one], decisions.memory[one], decisions.key[one], history
            )
            began = time.perf_counter()
            action = answers(self.agent, alone)[0]
            self.seconds.append(time.perf_counter() - began)
            if self.seconds[-1] > self._most:
                self.late += 1
                action = answers(
                    self.fallback, Decisions(decisions.games[one].copy(), key=decisions.key[one])
                )[0]
            chosen[number] = action
        return chosen


def timed(
    agent: Policy, milliseconds: float, fallback: str, positions: Sequence[Game]
) -> tuple[Policy, Timed]:
    """An agent within a budget: who is to play, and the watch that its time is read from.

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
    choice(agent, fitting[0])
    if isinstance(agent, CompiledPolicy):
        for game in fitting:
            choice(watch, game)
        if not watch.late:
            return agent, watch
        watch = Timed(agent, milliseconds, watch.fallback)
    return watch, watch


def about(player: Policy, watch: Timed, milliseconds: float) -> dict[str, Any]:
    """What the result says of the budget."""
    seconds = np.array(watch.seconds or [0.0])
    every = player is watch
    return {
        "ms": milliseconds, "within": watch.late == 0, "late": watch.late,
        "decisions": len(watch.seconds),
        "measured": "every decision" if every else "the suite's puzzles; it plays in compiled code",
        "fallback": watch.fallback.name,
        "mean_ms": 1000 * float(seconds.mean()), "slowest_ms": 1000 * float(seconds.max()),
    }  # fmt: skip
