"""Deep Q-learning with a network for each kind of decision, and an expert that is watched first.

python -m training.dqn                                     # two players, rules `ocnaru`: minutes on two cores
python -m training.dqn --steps 50000000 --out runs/long    # a night
python -m training.dqn --resume                            # continue a run that was stopped
python -m training.dqn --rules official --num-players 4    # another game
python -m training.dqn --expert none                       # without an expert
python -m training.dqn --start ppo/best/ocnaru                  # continue from the agent that comes with the library
python -m training.dqn --preset ocnaru --budget 0.01       # the agent of Ocnaru's thesis, with a hundredth of its games

`training.presets` is the table of the presets; `--preset NAME --help` explains the options of one of them.

Q(s, a) = V(s) + A(s, a) is a player's chance to win. One network gives V, the network of the decision gives A (the dueling form), so all
choices of all networks are on one scale. The agent plays argmax_a Q(s, a); while it learns it draws choices by exp(Q / temperature).

- Watching: V learns the outcomes of the expert's games. A learns to draw the expert's choices at the temperature (cross-entropy), with
  A of the expert's choice near 0.
- Own games: Q(s, a) of the choices made learns what they led to, the multi-step return R of TD(lambda). Its estimates come from the
  networks that played the block, which stay as they are while it is learned from: they are the target networks. V learns R; A learns
  R - V.

Sources:

- Q-learning with networks and target networks: Mnih et al., "Human-level control through deep reinforcement learning" (Nature 2015).
- Dueling networks: Wang et al. (ICML 2016). Watching an expert first: Hester et al., "Deep Q-learning from demonstrations" (AAAI 2018).
- Multi-step returns for Q-learning without replay: Gallici et al., "Simplifying deep temporal difference learning" (ICLR 2025).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

from rich.console import Console
from torch import Tensor

from training import learner, phases, presets
from training.learner import ChoiceLearner, LearnerOptions, Part, agreement, cross_entropy
from training.run.options import Ranges


@dataclass(frozen=True)
class DQNOptions(LearnerOptions):
    """Deep Q-learning, one network per kind of decision, from an expert's games and then from own games in a league."""

    out: Path = Path("runs/dqn")
    temperature: float = 0.03
    """In own games choices are drawn by exp(Q / temperature): those that are worth much less than the best are seldom tried."""


_RANGES: Final[Ranges] = {"temperature": (1e-6, 10)}


class DQN(ChoiceLearner):
    """The Q-learner."""

    name: ClassVar[str] = "dqn"

    @property
    def temperature(self) -> float:
        """At which choices are drawn in own games."""
        return float(self.options.temperature)

    def watching(self, batch: Part, scores: Tensor) -> tuple[Tensor, Mapping[str, Tensor]]:
        """The cross-entropy of the expert's choices at the temperature, and A^2 of them."""
        imitation = cross_entropy(scores, batch.choice, self.temperature)
        loss = imitation + self.score(scores, batch.choice) ** 2
        return loss, {"watching/entropy": imitation, "watching/agreement": agreement(batch, scores)}

    def learning(self, batch: Part, scores: Tensor) -> tuple[Tensor, Mapping[str, Tensor]]:
        """(A - (R - V))^2 of the choices made."""
        loss = (self.score(scores, batch.choice) - batch.advantage) ** 2
        return loss, {"loss/advantage": loss, "greedy": agreement(batch, scores)}

    def score(self, scores: Tensor, choice: Tensor) -> Tensor:
        """(M,) A(s, a)."""
        return scores.gather(1, choice[:, None])[:, 0]


def execute(options: DQNOptions, console: Console) -> dict[str, Any]:
    """Train from the beginning or from a checkpoint, and measure.

    Raises:
        MonopolyError: Wrong options, a folder that can't be used, a checkpoint that is missing or damaged, a loss that is not finite.
    """
    return phases.execute(options, DQN, learner.check(options, _RANGES), console)


main = presets.main  # `python -m training.dqn` is the command of all presets

if __name__ == "__main__":
    sys.exit(main())
