"""Proximal policy optimization, a network per kind of decision, after imitation of an expert.

# two players, rules `ocnaru`: minutes on two cores
python -m training.ppo
# half an hour or more
python -m training.ppo --steps 50000000 --out runs/ppo
# continue a run that was stopped
python -m training.ppo --resume
# from nothing, by self-play alone
python -m training.ppo --expert none --opponents self

The networks give log pi(a|s) up to a constant; one more network gives V(s), the chance to win. The
agent plays the likeliest action; in self-play it draws actions by their probability.

- Imitation: cross-entropy of the expert's actions; V learns the outcomes.
- Self-play: the clipped objective of Schulman et al., "Proximal policy optimization algorithms"
  (2017), with the advantages of Schulman et al., "High-dimensional continuous control using
  generalized advantage estimation" (ICLR 2016), without discount.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from rich.console import Console

from monopoly_env.cli import command
from monopoly_env.cli.command import CHECKPOINT, Command
from monopoly_env.cli.extras import lazily
from training import losses
from training.options import PPOOptions
from training.run.session import show_stages

if TYPE_CHECKING:  # PyTorch is imported when a run begins: --help is quick, and works without it
    from torch import Tensor

    from training.experience.choices import Choices
    from training.learner import Learner
    from training.model import Minibatch


def execute(options: PPOOptions, console: Console) -> dict[str, Any]:
    """Train from the beginning or from a checkpoint; returns what evaluation.json holds.

    Raises:
        MonopolyError: Wrong options, a folder that can't be used, a checkpoint that is missing or
            damaged, a loss that is not finite, a cluster that fails.
    """
    with lazily("train", "training.learner:opened")(options, console) as (learner, session):
        clock = session.report.clock
        learner.imitate(session)
        while learner.step < options.steps:
            before = learner.step
            with clock("playing"):
                rollout = learner.play()  # games in the league
            with clock("learning"):
                session.report.log(update(learner, rollout))
            learner.after_update(update, before, session)  # exploiters, evaluation, checkpoint
            del rollout  # before the next one is played: it may take a gigabyte
        return dict(learner.finish(session))


def update(learner: Learner, rollout: Choices) -> dict[str, float]:
    """One training step: advantages of a rollout, then gradient steps on minibatches."""
    model, options = learner.model, cast(PPOOptions, learner.options)
    optimizer = options.optimizer
    V = model.values(rollout.observation)
    of_games = rollout.outcome, rollout.game, rollout.player
    R = losses.lambda_returns(V, *of_games, optimizer.td_lambda)
    V_target = losses.lambda_returns(V, *of_games, optimizer.value_lambda)
    scale = max(1e-6, float((R - V).std()))
    entropy_weight = options.entropy_weight * learner.left

    def loss(batch: Minibatch, scores: Tensor) -> tuple[Tensor, Mapping[str, Tensor]]:
        log_policy = losses.log_policy(scores)
        log_pi = losses.of_action(log_policy, batch.action)
        policy = losses.ppo_clip(log_pi, batch.old_log_pi, batch.advantage / scale, options.clip)
        entropy = losses.entropy(log_policy, batch.legal)
        clipped = ((log_pi - batch.old_log_pi).exp() - 1).abs() > options.clip
        return policy - entropy_weight * entropy, {
            "loss/policy": policy,
            "entropy": entropy,
            "clipped": clipped.float(),
            "greedy": losses.agreement(scores, batch.action),
        }

    batches = model.compared(rollout, V_target, R - V, learner.played_by, 1.0)
    metrics = model.fit(
        batches, loss, rollout.observation, V_target,
        size=optimizer.batch, learning_rate=learner.learning_rate,
    )  # fmt: skip
    learner.step += rollout.size
    return metrics | {"won": float(rollout.outcome.mean())}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 only if training and measuring went through."""
    task = Command(PPOOptions(), execute, show_stages)
    return command.main("training.ppo", task, arguments, resume_from=CHECKPOINT)


if __name__ == "__main__":
    sys.exit(main())
