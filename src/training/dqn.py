"""Deep Q-learning with a network for each kind of decision, after imitation of an expert.

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

`--preset NAME --help` explains the options of a preset.

Q(s, a) = V(s) + A(s, a). One network gives V, a player's chance to win; the network of the decision
gives A (the dueling form), normalized so that exp(A / T) are probabilities. The agent plays
argmax_a Q(s, a); in self-play it draws actions by those probabilities.

- Imitation: V learns the outcomes of the expert's games, A to draw the expert's actions.
- Self-play: V learns the return R of TD(lambda), and A of the actions taken learns R - V + m A',
  where A' is the old advantage and m the Munchausen weight. The networks just before an update are
  the target networks. One game is mostly luck, and actions differ by little beside it: the last
  term adds up what many rollouts say, so that A becomes 1 / (1 - m) times the advantage.

The plain target, R - V for the actions taken and nothing for the others, does not learn here:
untrained advantages of unseen actions soon dominate (measured: from 45% of games won against
`expert` to 1%).

Sources:

- Q-learning with networks and target networks: Mnih et al., "Human-level control through deep
  reinforcement learning" (Nature 2015).
- Dueling networks: Wang et al. (ICML 2016). Imitation first: Hester et al., "Deep Q-learning from
  demonstrations" (AAAI 2018).
- Normalized advantages: Nachum et al., "Bridging the gap between value and policy based
  reinforcement learning" (NeurIPS 2017).
- The weight m: Vieillard, Pietquin and Geist, "Munchausen reinforcement learning" (NeurIPS 2020).
- Multi-step returns for Q-learning without replay: Gallici et al., "Simplifying deep temporal
  difference learning" (ICLR 2025).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from rich.console import Console

from monopoly_env.cli import command
from monopoly_env.cli.command import Command, Preset
from monopoly_env.cli.extras import lazily
from training import losses
from training.ocnaru.options import OcnaruOptions
from training.options import DQNOptions
from training.run.session import show, show_stages
from training.thesis import ThesisOptions

if TYPE_CHECKING:  # PyTorch is imported when a run begins: --help is quick, and works without it
    from torch import Tensor

    from training.experience.choices import Choices
    from training.learner import Learner
    from training.model import Minibatch


def execute(options: DQNOptions, console: Console) -> dict[str, Any]:
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
    """One training step: targets of a rollout's decisions, then gradient steps on minibatches."""
    model, options = learner.model, cast(DQNOptions, learner.options)
    optimizer = options.optimizer
    T, m = options.temperature, options.munchausen
    V = model.values(rollout.observation)
    of_games = rollout.outcome, rollout.game, rollout.player
    R = losses.lambda_returns(V, *of_games, optimizer.td_lambda)
    V_target = losses.lambda_returns(V, *of_games, optimizer.value_lambda)
    scale = 2 * T * max(1e-6, float((R - V).std()))

    def loss(batch: Minibatch, scores: Tensor) -> tuple[Tensor, Mapping[str, Tensor]]:
        A = losses.soft_advantage(scores, batch.action, T)
        target = losses.munchausen_target(batch.advantage, T * batch.old_log_pi, m)
        error = losses.squared_error(A, target) / scale
        return error, {
            "loss/advantage": error, "greedy": losses.agreement(scores, batch.action),
        }  # fmt: skip

    batches = model.compared(rollout, V_target, R - V, model.networks, T)
    metrics = model.fit(
        batches, loss, rollout.observation, V_target,
        size=optimizer.batch, learning_rate=learner.learning_rate,
    )  # fmt: skip
    learner.step += rollout.size
    return metrics | {"won": float(rollout.outcome.mean())}


DEFAULT: Final = "dqn"
PRESETS: Final = {
    DEFAULT: Preset(
        "deep Q-learning, one network per kind of decision: imitation of an expert, then self-play"
        " in a league",
        lambda: Command(DQNOptions(), execute, show_stages),
    ),
    "ocnaru": Preset(
        "the thesis's hybrid: seven networks, trained one at a time on experts' games, then by"
        " playing",
        lambda: Command(OcnaruOptions(), lazily("train", "training.ocnaru.train:execute"), show),
    ),
    "thesis": Preset(
        "the same seven networks, trained by this library's recipe",
        lambda: Command(ThesisOptions(), execute, show_stages),
    ),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 only if training and measuring went through."""
    return command.main_of_presets("training.dqn", PRESETS, arguments, default=DEFAULT)


if __name__ == "__main__":
    sys.exit(main())
