"""Proximal policy optimization, a network per kind of decision, and an expert watched first.

# two players, rules `ocnaru`: minutes on two cores
python -m training.ppo
# half an hour or more
python -m training.ppo --steps 50000000 --out runs/ppo
# continue a run that was stopped
python -m training.ppo --resume
# from nothing, by self-play alone
python -m training.ppo --expert none --opponents self

The networks give the log-probability of each choice, up to a constant; one more network gives V(s),
the chance to win. The agent plays the likeliest choice; while it learns it draws choices by their
probability.

- Watching: cross-entropy of the expert's choices; V learns the outcomes.
- Own games: the clipped objective of Schulman et al., "Proximal policy optimization algorithms"
  (2017), with the advantages of Schulman et al., "High-dimensional continuous control using
  generalized advantage estimation" (ICLR 2016), without discount.

What it shares with `training.dqn`, league, networks, run folder and report, is in
`training.learner`.
"""

from __future__ import annotations

import sys

from training.presets import ppo as main

if __name__ == "__main__":  # before torch is imported: --help is quick, and works without it
    sys.exit(main())

from collections.abc import Mapping
from typing import Any, ClassVar, Final

import torch
from rich.console import Console
from torch import Tensor

from training import learner_options, phases
from training.learner import ChoiceLearner, Part, agreement, cross_entropy
from training.learner_options import PPOOptions
from training.networks import Networks
from training.run.options import Ranges

_RANGES: Final[Ranges] = {"clip": (1e-3, 1), "entropy_weight": (0, 10)}


class PPO(ChoiceLearner):
    """The policy-gradient learner."""

    name: ClassVar[str] = "ppo"

    @property
    def temperature(self) -> float:
        """1: the scores are log-probabilities, up to a constant."""
        return 1.0

    @property
    def compared(self) -> Networks:
        """The networks that drew the choices.

        The ratio of the objective is to their probabilities.
        """
        return self.players

    def watching(self, batch: Part, scores: Tensor) -> tuple[Tensor, Mapping[str, Tensor]]:
        """The cross-entropy of the expert's choices."""
        loss = cross_entropy(scores, batch.choice)
        return loss, {"watching/entropy": loss, "watching/agreement": agreement(batch, scores)}

    def learning(self, batch: Part, scores: Tensor) -> tuple[Tensor, Mapping[str, Tensor]]:
        """The clipped objective and minus the entropy."""
        clip, logs = self.options.clip, torch.log_softmax(scores, 1)
        ratio = (logs.gather(1, batch.choice[:, None])[:, 0] - batch.score).exp()
        advantage = batch.advantage / self.spread
        policy = -torch.min(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage)
        entropy = -(logs.exp() * logs.masked_fill(~batch.open, 0.0)).sum(1)
        loss = policy - self.options.entropy_weight * entropy
        clipped = ((ratio - 1).abs() > clip).float()
        return loss, {
            "loss/policy": policy,
            "entropy": entropy,
            "clipped": clipped,
            "greedy": agreement(batch, scores),
        }

    def score(self, scores: Tensor, choice: Tensor) -> Tensor:
        """(M,) the log-probability."""
        return -cross_entropy(scores, choice)


def execute(options: PPOOptions, console: Console) -> dict[str, Any]:
    """Train from the beginning or from a checkpoint, and measure.

    Raises:
        MonopolyError: Wrong options, a folder that can't be used, a checkpoint that is missing or
            damaged, a loss that is not finite.
    """
    return phases.execute(options, PPO, learner_options.check(options, _RANGES), console)
