"""Double deep Q-learning, from top to bottom: options, loss, learner, training loop. It is `--preset plain` of `training.dqn`.

python -m training.dqn                                     # minutes: networks on top of a scripted parent, from pairs of rollouts
python -m training.dqn --pairs 2000000 --out runs/long     # a larger budget
python -m training.dqn --resume                            # continue a run that was stopped
python -m training.dqn --preset plain                      # this file: two players, minutes
python -m training.dqn --preset plain --expert none --epsilon-start 1   # without an expert
python -m training.dqn --preset ocnaru --budget 0.01       # the agent of Ocnaru's thesis, with a hundredth of its games

`training.presets` is the table of the presets; `--preset NAME --help` explains the options of one of them.

The algorithm is `train`. First an expert is watched: its decisions are learned by a margin, its games by their outcome. Then the
learner plays, against itself and others, and learns from both. There is one network per head; together they value all actions of a
decision on one scale.

- Q-learning with target networks and replay: Mnih et al., "Human-level control through deep reinforcement learning" (Nature 518, 2015).
- Double: van Hasselt, Guez and Silver, "Deep reinforcement learning with double Q-learning" (AAAI 2016).
- Margin: Hester et al., "Deep Q-learning from demonstrations" (AAAI 2018).
"""

from __future__ import annotations

import copy
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from torch import Tensor
from torch.nn import functional

from agents.networks.values import NeuralPolicy
from monopoly_env.actions import HEAD_NAMES, HEAD_OF
from monopoly_env.errors import ConfigurationError
from monopoly_env.policy.protocol import Policy
from monopoly_env.vector import VectorMonopoly
from training import presets
from training.experience.replay import ReplayBuffer, Transitions, unpack
from training.experience.sources import Source, epsilon_greedy
from training.networks import HeadNetworks, optimizer_arrays, set_optimizer_arrays
from training.run.checkpoints import Parts
from training.run.devices import device_of
from training.run.options import NONE, Policies, Ranges, TrainingOptions, check_training, find_policy, new_agent, result_settings
from training.run.session import DivergenceError, Session

SELF: Final = "self"  # among the opponents
_MAX_NORM: Final = 10.0  # gradients are clipped to it


# --- options --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DQNOptions(TrainingOptions):
    """Double deep Q-learning, one network per head, from the learner's own games and those of an expert."""

    out: Path = Path("runs/dqn")
    opponents: tuple[str, ...] = (SELF, "algorithmic")
    """Opponents, each in an equal share of the games: names of policies, files, or `self` for all seats."""
    games: int = 192
    hidden: tuple[int, ...] = (128, 64, 32)

    expert: str = "algorithmic"
    """Policy that is watched first, playing itself; `none`: learn from own games only."""
    expert_fraction: float = 0.25
    """Share of the steps in which the expert is watched."""
    expert_batch: int = 8
    """Transitions of the expert per head in a minibatch, once the learner plays."""
    margin: float = 0.03
    """How much higher than all others the expert's action should be valued, in units of reward."""
    margin_weight: float = 1.0
    """Weight of the margin loss beside the Huber loss; 0: the expert only adds data."""

    batch: int = 64
    """Transitions of each head in a minibatch."""
    n_step: int = 10
    """Own decisions that a transition spans."""
    replay: int = 30_000
    """Size of the replay buffer: transitions of each head."""
    update_every: int = 400
    """Steps per gradient step."""
    target_every: int = 200
    """Gradient steps between two updates of the target networks."""
    epsilon_start: float = 0.3
    """Share of random actions when the learner starts to play."""
    epsilon_end: float = 0.02
    """Share of random actions after exploration."""
    epsilon_fraction: float = 0.5
    """Share of the learner's own steps over which epsilon falls linearly."""


_RANGES: Final[Ranges] = {
    **dict.fromkeys(("n_step", "replay", "update_every", "target_every"), (1, math.inf)),
    **dict.fromkeys(("margin", "margin_weight", "expert_batch"), (0, 1 << 31)),
    **dict.fromkeys(("expert_fraction", "discount", "epsilon_start", "epsilon_end", "epsilon_fraction"), (0, 1)),
}


def check(options: DQNOptions) -> Policies[NeuralPolicy]:
    """Check the options, as far as that goes without compiling anything, and find the policies that they name.

    Raises:
        MonopolyError: A number is out of range, a name is unknown, a file is missing, or options contradict each other.
    """
    check_training(options, _RANGES)
    if options.replay < max(options.batch, options.expert_batch):
        raise ConfigurationError(f"--replay {options.replay} must hold a batch of {options.batch}.")
    device_of(options.device)
    return Policies(
        agent=new_agent(options, NeuralPolicy, "dqn"),
        opponents=[None if name == SELF else find_policy(name, SELF) for name in options.opponents],
        panel=[find_policy(name) for name in options.panel],
        expert=None if options.expert == NONE else find_policy(options.expert, NONE),
    )


# --- loss -----------------------------------------------------------------------------------------------------------------


class Batch(NamedTuple):
    """N transitions as tensors; the fields are those of `Transitions`, masks are unpacked."""

    observation: Tensor
    choices: Tensor
    action: Tensor
    reward: Tensor
    discount: Tensor
    next_observation: Tensor
    next_choices: Tensor

    @classmethod
    def of(cls, transitions: Transitions, device: torch.device) -> Batch:
        """Transitions on a device."""
        masks = {name: unpack(getattr(transitions, name)) for name in ("choices", "next_choices")}
        columns = {name: torch.from_numpy(column).to(device) for name, column in transitions._replace(**masks)._asdict().items()}
        seen = {name: columns[name].float() for name in ("observation", "next_observation")}
        return cls(**(columns | seen | {"action": columns["action"].long()}))


@torch.no_grad()
def targets(online: HeadNetworks, target: HeadNetworks, batch: Batch) -> Tensor:
    """The n-step targets of double Q-learning, y = R + gamma^n Q_target(s', argmax_a Q_online(s', a)).

    R = r_1 + gamma r_2 + ... + gamma^(n-1) r_n and gamma^n come with the transition; s' is the n-th next decision of the same
    player, and a ranges over the legal actions of all heads. After the end of a game the discount is 0 and y = R.

    Returns:
        (N,) float32.
    """
    goal = batch.reward.clone()
    rows = (batch.discount > 0).nonzero()[:, 0]
    if len(rows):
        observation, choices = batch.next_observation[rows], batch.next_choices[rows]
        best = online.values(observation, choices).argmax(1)
        goal[rows] += batch.discount[rows] * target.chosen(observation, best)
    return goal


def margin_losses(values: Tensor, action: Tensor, margin: float) -> Tensor:
    """The large-margin loss of an expert's decisions, max_a [Q(s, a) + margin * (a != a_E)] - Q(s, a_E).

    Args:
        values: (N, 205) of all legal actions, minus infinity for the others.
        action: (N,) a_E, the expert's.
        margin: In units of value.

    Returns:
        (N,) float32; 0 where the expert's action is ahead of all others by the margin.
    """
    raised = torch.full_like(values, margin).scatter_(1, action[:, None], 0.0) + values
    return raised.max(1).values - values.gather(1, action[:, None])[:, 0]


class QLearner:
    """Online and target networks and the optimizer.

    Attributes:
        online: The networks that play and learn.
        target: The copy that values what comes next.
        updates: Gradient steps so far.
    """

    def __init__(self, networks: HeadNetworks, options: DQNOptions) -> None:
        """Start with networks as they are initialized."""
        self.device = device_of(options.device)
        self.online = networks.to(self.device)
        self.target = copy.deepcopy(self.online).requires_grad_(False)
        self.updates = 0
        self._options = options
        self._optimizer = torch.optim.Adam(self.online.parameters(), lr=options.learning_rate, fused=True)

    @torch.no_grad()
    def best(self, observation: NDArray[np.float32], choices: NDArray[np.bool_]) -> NDArray[np.int64]:
        """(N,) the legal action of the highest value, over all heads, for (N, D) observations and (N, 205) legal actions."""
        seen, legal = torch.from_numpy(observation).to(self.device), torch.from_numpy(choices).to(self.device)
        return np.asarray(self.online.values(seen, legal).argmax(1).cpu().numpy())

    def update(self, own: Transitions | None, expert: Transitions | None) -> dict[str, float]:
        """A gradient step on transitions of the learner's own games and the expert's.

        The loss is the sum over heads of the mean Huber loss, plus the margin loss of the expert's decisions.

        Returns:
            `loss/<head>`, `q/<head>` (mean value of the actions taken), `loss/margin`, and `agreement` (share of the expert's
            decisions that the networks would take too).

        Raises:
            DivergenceError: The loss is not finite. The networks are left as they were.
        """
        metrics: dict[str, float] = {}
        losses = []
        if own is not None:
            batch = Batch.of(own, self.device)
            losses.append(self._huber(batch, self.online.chosen(batch.observation, batch.action), metrics))
        if expert is not None:
            batch = Batch.of(expert, self.device)
            values = self.online.values(batch.observation, batch.choices)
            losses.append(self._huber(batch, values.gather(1, batch.action[:, None])[:, 0], metrics))
            margin = margin_losses(values, batch.action, self._options.margin).mean()
            losses.append(self._options.margin_weight * margin)
            metrics |= {"loss/margin": margin.item(), "agreement": (values.argmax(1) == batch.action).float().mean().item()}
        self._descend(sum(losses, torch.zeros((), device=self.device)), metrics)
        return metrics

    def _huber(self, batch: Batch, value: Tensor, metrics: dict[str, float]) -> Tensor:
        """The sum over heads of the mean Huber loss of Q(s, a) - y."""
        loss = functional.huber_loss(value, targets(self.online, self.target, batch), reduction="none")
        head_of = torch.as_tensor(HEAD_OF, device=self.device)[batch.action]
        total = loss.new_zeros(())
        for head in self.online.heads:
            mine = head_of == HEAD_NAMES.index(head)
            if mine.any():
                mean = loss[mine].mean()
                total = total + mean
                metrics |= {f"loss/{head}": mean.item(), f"q/{head}": value[mine].mean().item()}
        return total

    def _descend(self, loss: Tensor, metrics: Mapping[str, float]) -> None:
        if not torch.isfinite(loss):
            parts = ", ".join(f"{name} {value:.3g}" for name, value in metrics.items())
            raise DivergenceError(f"The loss is {loss.item()} at update {self.updates + 1} ({parts}). Try a lower learning rate.")
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.online.parameters(), _MAX_NORM)
        self._optimizer.step()
        self.updates += 1
        if self.updates % self._options.target_every == 0:
            self.target.load_state_dict(self.online.state_dict())

    def arrays(self) -> dict[str, dict[str, NDArray[Any]]]:
        """Parts of a checkpoint: `online`, `target` and `optimizer`."""
        return {"online": self.online.arrays(), "target": self.target.arrays(), "optimizer": optimizer_arrays(self._optimizer)}

    def set_arrays(self, parts: Mapping[str, Mapping[str, NDArray[Any]]], updates: int) -> None:
        """Continue where `arrays` was called, after `updates` gradient steps."""
        self.online.set_arrays(parts["online"])
        self.target.set_arrays(parts["target"])
        set_optimizer_arrays(self._optimizer, parts["optimizer"])
        self.updates = updates


# --- training -------------------------------------------------------------------------------------------------------------


class DQN:
    """Everything that changes during a run.

    Attributes:
        options: Its options.
        panel: The policies that the agent is measured against.
        step: Decisions answered so far.
        learner: The networks.
        sources: The games that are played, by phase.
        replay: A replay buffer for each phase.
        generator: All chance of the learner.
    """

    def __init__(self, options: DQNOptions, policies: Policies[NeuralPolicy]) -> None:
        """Start at step 0, with the policies that `check` found."""
        torch.set_num_threads(options.threads)
        torch.manual_seed(options.seed)
        self.options = options
        self.panel = policies.panel
        self.step = 0
        self.generator = np.random.Generator(np.random.PCG64(options.seed))
        self.sources = sources_of(options, policies)
        features = self.sources["own"][0].vec.encoding.size
        self.learner = QLearner(HeadNetworks(features, options.heads, options.hidden), options)
        self.replay = {phase: ReplayBuffer(options.heads, options.replay, features) for phase in self.sources}
        self._agent = policies.agent

    @property
    def expert_steps(self) -> int:
        """The step at which the learner starts to play."""
        return round(self.options.steps * self.options.expert_fraction) if "expert" in self.sources else 0

    @property
    def phase(self) -> str:
        """`expert` or `own`."""
        return "expert" if self.step < self.expert_steps else "own"

    @property
    def epsilon(self) -> float:
        """The share of random actions now."""
        options = self.options
        falling = max(1.0, options.epsilon_fraction * (options.steps - self.expert_steps))
        done = min(1.0, max(0.0, (self.step - self.expert_steps) / falling))
        return options.epsilon_start + done * (options.epsilon_end - options.epsilon_start)

    @property
    def games(self) -> int:
        """Games finished so far."""
        return sum(source.finished for sources in self.sources.values() for source in sources)

    def sample(self) -> tuple[Transitions | None, Transitions | None]:
        """A minibatch of the learner's own transitions and one of the expert's."""
        options, replay = self.options, self.replay
        if self.phase == "expert":
            return None, replay["expert"].sample(self.generator, options.batch)
        expert = replay["expert"].sample(self.generator, options.expert_batch) if "expert" in replay and options.expert_batch else None
        return replay["own"].sample(self.generator, options.batch), expert

    def agent(self) -> NeuralPolicy:
        """The networks as they are now, as a policy."""
        agent = copy.copy(self._agent)
        agent.set_arrays(self.learner.online.arrays())
        return agent

    def state(self) -> tuple[Parts, dict[str, Any]]:
        """What a checkpoint holds."""
        parts: dict[str, Any] = self.learner.arrays()
        for phase, sources in self.sources.items():
            parts |= {f"{phase}-{number}": source.arrays() for number, source in enumerate(sources)}
            parts[f"replay-{phase}"] = self.replay[phase].arrays()
        return parts, {"step": self.step, "updates": self.learner.updates, "generator": self.generator.bit_generator.state}

    def set_state(self, parts: Parts, values: Mapping[str, Any]) -> None:
        """Continue from a checkpoint."""
        self.step = values["step"]
        self.generator.bit_generator.state = values["generator"]
        self.learner.set_arrays(parts, values["updates"])
        for phase, sources in self.sources.items():
            for number, source in enumerate(sources):
                source.set_arrays(parts[f"{phase}-{number}"])
            self.replay[phase].set_arrays(parts[f"replay-{phase}"])


def sources_of(options: DQNOptions, policies: Policies[NeuralPolicy]) -> dict[str, list[Source]]:
    """Where experience comes from, by phase: the learner's own games, and the expert's."""

    def source(number: int, opponent: Policy | None, games: int, parent: Policy | None) -> Source:
        opponents = None if opponent is None else [opponent] * (options.num_players - 1)
        vec = VectorMonopoly(
            games, options.num_players, options.rules, options.encoding, opponents, options.seed * 1000 + number, reward=options.reward
        )  # fmt: skip
        return Source(vec, policies.agent.repertoire, options.n_step, options.discount, parent)

    share = options.games // len(policies.opponents)
    phases = {"own": [source(1 + n, opponent, share, policies.agent.parent) for n, opponent in enumerate(policies.opponents)]}
    if policies.expert is not None:
        phases["expert"] = [source(0, None, options.games, policies.expert)]
    return phases


def train(dqn: DQN, session: Session) -> None:
    """The training loop."""
    options, report = dqn.options, session.report
    while dqn.step < options.steps:
        before, phase = dqn.step, dqn.phase
        # Play: one decision in every game.
        select = epsilon_greedy(report.clock.timed("network", dqn.learner.best), dqn.epsilon, dqn.generator) if phase == "own" else None
        for source in dqn.sources[phase]:
            with report.clock("engine"):
                dqn.replay[phase].add(source.play(select))
            dqn.step += source.vec.num_games
        # Learn: a gradient step for every `update_every` decisions.
        for _ in range(dqn.step // options.update_every - before // options.update_every):
            with report.clock("training"):
                own, expert = dqn.sample()
                if own is not None or expert is not None:
                    report.log(dqn.learner.update(own, expert))
        # Report, evaluate, save.
        doing, epsilon = ("watching the expert", 0.0) if phase == "expert" else ("playing", dqn.epsilon)
        session.after_iteration(dqn, before, doing, dqn.games, {"epsilon": epsilon})


def execute(options: DQNOptions, console: Console) -> dict[str, Any]:
    """Train from the beginning or from a checkpoint, then measure the best agent.

    Raises:
        MonopolyError: Wrong options, a folder that can't be used, a checkpoint that is missing or damaged, a loss that is not finite.
    """
    policies = check(options)
    with Session.open(options, result_settings(options), console, f"{options.steps:,} steps") as session:
        dqn = DQN(options, policies)
        if options.resume:
            session.restore(dqn)
        session.report.begin(options.steps, dqn.step)
        train(dqn, session)
        return session.finish_best(dqn)


main = presets.main  # `python -m training.dqn` is the command of all presets

if __name__ == "__main__":
    sys.exit(main())
