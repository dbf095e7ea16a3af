"""The players of a learner's games: itself, its past selves, exploiters and other policies.

    >>> import agents
    >>> from training.league import PAST, SELF, League
    >>> league = League([SELF, PAST, agents.make("expert")], num_players=4, seed=0, size=8)
    >>> learner = agents.make("random")  # in training, a policy of networks
    >>> policies, seats = league.seat(learner, games=512, iteration=7)
    >>> [policy.name for policy in policies], seats.shape  # no past selves yet
    (['random', 'expert'], (512, 4))

Self-play alone fails here: no player makes good offers, so none learns to answer them. Strong
opponents from the start help.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents import strangers
from agents.networks.policy import NetworkPolicy
from agents.players.vocabulary.parameters import ScriptedPolicy
from monopoly_env.policy.protocol import CompiledPolicy

SELF: Final = "self"  # the learner in all seats
PAST: Final = "past"  # copies of the learner as it was
EXPLOITERS: Final = "exploiters"  # agents that were trained to beat the learner as it was
STRANGERS: Final = strangers.TRAIN  # players that are drawn anew for each rollout
WORDS: Final = (SELF, PAST, EXPLOITERS, STRANGERS)
DRAWN: Final = 16  # strangers of a rollout
LEARNER: Final = 0  # its number among the policies of a game
_OTHERS: Final = "others"  # all opponents that are policies


class League:
    """The opponents of a learner, each in an equal share of the games.

    Attributes:
        past: Copies of the learner, the oldest first.
        exploiters: Agents that were trained against it, the oldest first.
    """

    def __init__(
        self,
        opponents: Sequence[CompiledPolicy | str],
        num_players: int,
        seed: int,
        size: int,
        parameter_noise: float = 0,
    ) -> None:
        """Make a league.

        Args:
            opponents: Policies or `WORDS`, for the other seats.
            num_players: Seats at the table.
            seed: Decides who meets whom.
            size: Most copies of the learner, and most exploiters; the oldest leave.
            parameter_noise: Of scripted opponents in every other rollout: `ScriptedPolicy.varied`.
        """
        self.past: list[NetworkPolicy] = []
        self.exploiters: list[NetworkPolicy] = []
        self._opponents = list(opponents)
        self._others = [opponent for opponent in opponents if not isinstance(opponent, str)]
        self._num_players = num_players
        self._seed = seed
        self._size = size
        self._parameter_noise = parameter_noise

    def remember(self, agent: NetworkPolicy) -> None:
        """Add a copy of the learner."""
        self.past = [*self.past, agent][-self._size :]

    def challenge(self, exploiter: NetworkPolicy) -> None:
        """Add an exploiter."""
        self.exploiters = [*self.exploiters, exploiter][-self._size :]

    def seat(
        self, agent: NetworkPolicy, games: int, iteration: int
    ) -> tuple[list[CompiledPolicy], NDArray[np.int64]]:
        """The policies, the learner first, and (games, P) the number of the policy in each seat."""
        generator = np.random.Generator(np.random.PCG64([self._seed, iteration]))
        others = self._others
        if self._parameter_noise and iteration % 2:
            noise = self._parameter_noise
            others = [
                other.varied(noise, generator) if isinstance(other, ScriptedPolicy) else other
                for other in others
            ]
        drawn = range(DRAWN if STRANGERS in self._opponents else 0)
        groups: dict[str, Sequence[CompiledPolicy]] = {
            SELF: [agent], PAST: self.past, EXPLOITERS: self.exploiters,
            STRANGERS: [strangers.draw(generator) for _ in drawn], _OTHERS: others,
        }  # fmt: skip
        policies = [policy for group in groups.values() for policy in group]
        ends = accumulate(len(group) for group in groups.values())
        numbers = {
            word: np.arange(end - len(group), end)
            for (word, group), end in zip(groups.items(), ends, strict=True)
        }
        seats = np.zeros((games, self._num_players), np.int64)
        for game in range(games):
            row = self._row(self._opponents[game % len(self._opponents)], numbers, generator)
            seats[game] = np.roll(row, game // len(self._opponents) % self._num_players)
        return policies, seats

    def _row(
        self,
        opponent: CompiledPolicy | str,
        numbers: Mapping[str, NDArray[np.int64]],
        generator: np.random.Generator,
    ) -> list[int]:
        """The learner and copies of the opponent, or in half of the games any other policies.

        `numbers` are those of the policies that each word stands for.
        """
        rest = self._num_players - 1
        if isinstance(opponent, str):
            known = numbers[opponent]
            if not len(known):
                return [LEARNER] * (1 + rest)
            return [LEARNER, *known[generator.integers(len(known), size=rest)].tolist()]
        others = numbers[_OTHERS]
        number = next(place for place, other in enumerate(self._others) if other is opponent)
        if rest > 1 and generator.random() < 0.5:
            mixed = others[generator.integers(len(others), size=rest - 1)]
            return [LEARNER, int(others[number]), *mixed.tolist()]
        return [LEARNER, *([int(others[number])] * rest)]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The copies of the learner and the exploiters, for a checkpoint."""
        agents = {str(number): agent for number, agent in enumerate(self.past)}
        agents |= {f"{EXPLOITERS} {number}": agent for number, agent in enumerate(self.exploiters)}
        return {
            f"{number}.{name}": array
            for number, agent in agents.items()
            for name, array in agent.arrays().items()
        }

    def set_arrays(self, arrays: Mapping[str, NDArray[Any]], agent: NetworkPolicy) -> None:
        """Take over what `arrays` returned; `agent` is any agent of the same kind."""
        found: dict[str, dict[str, NDArray[Any]]] = {}
        for key, array in arrays.items():
            number, _, name = key.partition(".")
            found.setdefault(number, {})[name] = array
        self.past, self.exploiters = [], []
        for number in sorted(found, key=lambda number: int(number.split()[-1])):
            copy = agent.copy(PAST)
            copy.set_arrays(found[number])
            (self.past if number.isdecimal() else self.exploiters).append(copy)
