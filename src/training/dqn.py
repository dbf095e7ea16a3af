"""Deep Q-learning with a network for each kind of decision, and an expert that is watched first.

# two players, rules `ocnaru`: minutes on two cores
python -m training.dqn
# half an hour or more
python -m training.dqn --steps 50000000 --out runs/long
# continue a run that was stopped
python -m training.dqn --resume
# another game
python -m training.dqn --rules official --num-players 4
# without an expert
python -m training.dqn --expert none
# continue from the agent that comes with the library
python -m training.dqn --start ppo/best/ocnaru
# the seven networks of Ocnaru's thesis, by the same recipe
python -m training.dqn --preset thesis
# the agent of Ocnaru's thesis, with a hundredth of its games
python -m training.dqn --preset ocnaru --budget 0.01

`training.presets` is the table of the presets; `--preset NAME --help` explains the options of one
of them.

Q(s, a) = V(s) + A(s, a). One network gives V, a player's chance to win; the network of the decision
gives A (the dueling form), normalized so that exp(A / temperature) are probabilities. The agent
plays argmax_a Q(s, a); while it learns it draws choices by those probabilities.

- Watching: V learns the outcomes of the expert's games. A learns to draw the expert's choices
  (cross-entropy).
- Own games: Q(s, a) of the choices made learns what they led to, the multi-step return R of
  TD(lambda). Its estimates come from the networks as they are before the block is learned from:
  they are the target networks. V learns R, and A learns R - V + m A', where A' is what it was and m
  the Munchausen weight. One game is mostly luck, and choices differ by little beside it: the last
  term adds up what many blocks say, so that A becomes 1 / (1 - m) times the advantage.

The plain target, R - V for the choices made and nothing for the others, does not learn here: what
the networks make up for choices that are never made soon rules the play (measured: from 45% of
games won against `expert` to 1%).

Sources:

- Q-learning with networks and target networks: Mnih et al., "Human-level control through deep
  reinforcement learning" (Nature 2015).
- Dueling networks: Wang et al. (ICML 2016). Watching an expert first: Hester et al., "Deep
  Q-learning from demonstrations" (AAAI 2018).
- Normalized advantages: Nachum et al., "Bridging the gap between value and policy based
  reinforcement learning" (NeurIPS 2017).
- The weight m: Vieillard, Pietquin and Geist, "Munchausen reinforcement learning" (NeurIPS 2020).
- Multi-step returns for Q-learning without replay: Gallici et al., "Simplifying deep temporal
  difference learning" (ICLR 2025).
"""

from __future__ import annotations

import sys

from training.presets import dqn as main

if __name__ == "__main__":  # before torch is imported: --help is quick, and works without it
    sys.exit(main())

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from rich.console import Console
from torch import Tensor

from training import learner_options, phases
from training.learner import ChoiceLearner, Part, agreement, cross_entropy
from training.learner_options import DQNOptions
from training.networks import Networks
from training.run.options import Ranges

RANGES: Final[Ranges] = {"temperature": (1e-6, 10), "munchausen": (0, 1)}


class DQN(ChoiceLearner):
    """The Q-learner."""

    name: ClassVar[str] = "dqn"

    @property
    def temperature(self) -> float:
        """At which choices are drawn in own games."""
        return float(self.options.temperature)

    @property
    def compared(self) -> Networks:
        """The networks as they are when a block comes to be learned from.

        What they have learned since it was played stays.
        """
        return self.networks

    def watching(self, batch: Part, scores: Tensor) -> tuple[Tensor, Mapping[str, Tensor]]:
        """The cross-entropy of the expert's choices at the temperature."""
        loss = cross_entropy(scores, batch.choice, self.temperature)
        return loss, {"watching/entropy": loss, "watching/agreement": agreement(batch, scores)}

    def learning(self, batch: Part, scores: Tensor) -> tuple[Tensor, Mapping[str, Tensor]]:
        """(A - (R - V + m A'))^2 of the choices made."""
        target = batch.advantage + self.options.munchausen * batch.score
        loss = (self.score(scores, batch.choice) - target) ** 2 / (
            2 * self.temperature * self.spread
        )
        return loss, {"loss/advantage": loss, "greedy": agreement(batch, scores)}

    def score(self, scores: Tensor, choice: Tensor) -> Tensor:
        """(M,) A(s, a): the outputs, shifted so that exp(A / temperature) sum to 1."""
        return -self.temperature * cross_entropy(scores, choice, self.temperature)


def execute(options: DQNOptions, console: Console) -> dict[str, Any]:
    """Train from the beginning or from a checkpoint, and measure.

    Raises:
        MonopolyError: Wrong options, a folder that can't be used, a checkpoint that is missing or
            damaged, a loss that is not finite.
    """
    return phases.execute(options, DQN, learner_options.check(options, RANGES), console)
