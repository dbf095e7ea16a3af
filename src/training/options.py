"""Options of `training.dqn` and `training.ppo` in groups, and the policies that they name.

Importing this does not import PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.learned.action_space import SIMILAR
from agents.learned.agent import LearnedAgent
from agents.learned.answers import MOST_PLAYERS
from agents.learned.architectures import CHOICES, architectures
from agents.networks.layout import Architecture
from agents.networks.policy import NetworkPolicy
from monopoly_env.errors import ConfigurationError
from monopoly_env.game import MIN_PLAYERS
from monopoly_env.policy.names import compiled
from monopoly_env.policy.protocol import CompiledPolicy, Policy
from monopoly_env.rules import Rules
from training.cluster import PlayGames
from training.experience.choices import TURN_LIMIT, Choices
from training.league import WORDS
from training.run.devices import device_of
from training.run.options import (
    NONE,
    ClusterName,
    Device,
    Ranges,
    RulesName,
    RunOptions,
    check_ranges,
    find_policy,
    settings_of,
)

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class AgentSpec:
    """A kind of agent in training.

    Attributes:
        blank: An agent of this kind, of zeros.
        architectures: Its networks by name, the one of states last. The first output of the others
            is the value of the state.
        actions: [network][output, not counting the value] -> the action.
        weights: The agent's arrays, from those of the networks.
        similar: By action, one that is much alike.
        play_games: Plays league games and records decisions; None: those of `LearnedAgent`, here or
            on a cluster.
        demonstrate: Records an expert's games against itself, (expert, games, rules, seed, threads,
            turn_limit); None: by `play_games`.
    """

    blank: NetworkPolicy
    architectures: Mapping[str, Architecture]
    actions: Sequence[NDArray[np.int64]]
    weights: Callable[[dict[str, NDArray[Any]]], dict[str, NDArray[Any]]] = dict
    similar: Mapping[int, int] = field(default_factory=dict)
    play_games: PlayGames | None = None
    demonstrate: Callable[[CompiledPolicy, range, Rules, int, int, int], Choices] | None = None

    @property
    def deciding(self) -> tuple[str, ...]:
        """The networks that choose actions."""
        return tuple(self.architectures)[:-1]

    @property
    def num_actions(self) -> int:
        """Actions of all networks."""
        return 1 + max(int(actions.max()) for actions in self.actions)


@dataclass(frozen=True)
class Imitation:
    """Behaviour cloning before self-play."""

    expert: str = "expert"
    """Policy that is imitated first, in games against itself; `none`: no imitation."""
    imitation_steps: int = 1_000_000
    """Decisions of the expert to imitate, rounded up to whole rollouts of `rollout_games`."""


@dataclass(frozen=True)
class LeagueOptions:
    """Games that are learned from."""

    opponents: tuple[str, ...] = ("expert", "expert", "expert", "algorithmic", "strategic")
    """Opponents, each in an equal share of the games, so that a name given three times has three
    shares: names of policies, files, `self` (all seats), `past` (earlier copies), `exploiters`
    (copies that were trained to beat the learner) or `strangers/train` (variants and mixtures of
    scripts, drawn anew for each rollout)."""
    parameter_noise: float = 0.0
    """In every other rollout, scripted opponents play by other numbers: each is multiplied by
    exp(NOISE z), z drawn from a standard normal, so that the agent learns to play against more
    than those that have names. 0.3 moves most numbers by less than a third."""
    past: int = 8
    """Earlier copies of the learner that stay as opponents; as many exploiters."""
    past_every: int = 10
    """Rollouts between two copies."""
    exploiter_every: int = 5_000_000
    """Own decisions between two exploiters: a copy of the learner learns to beat the learner as it
    is then, and joins its opponents. Only with `exploiters` among --opponents."""
    exploiter_steps: int = 1_000_000
    """Decisions that an exploiter learns from."""
    rollout_games: int = 512
    """Games of a rollout: played, then learned from."""
    turn_limit: int = TURN_LIMIT
    """Turns of each player after which the score decides a game that is learned from. Lower it at
    tables of four against opponents who hardly trade: their games go on for thousands of
    decisions, and most of what is learned would come from few games."""


@dataclass(frozen=True)
class OptimizerOptions:
    """Targets and gradient steps."""

    learning_rate: float = 3e-4
    """Learning rate of Adam in self-play; it falls linearly to a fiftieth. In imitation it is three
    times as high."""
    batch: int = 4096
    """Size of a minibatch in self-play; in imitation it is a quarter of that."""
    epochs: int = 2
    """Passes over each rollout."""
    td_lambda: float = 0.95
    """Lambda of the returns that advantages are computed from, as in TD(lambda): weight of what
    comes later against the networks' own estimate of it; 1: the outcome alone."""
    value_lambda: float = 0.99
    """Lambda of the targets of values. A larger one: value errors bias every advantage."""
    value_weight: float = 0.5
    """Weight of the squared error of the value that every network learns beside its actions."""
    value_share: float = 1.0
    """Share of the decisions whose states the network of values learns from."""
    sure_share: float = 0.5
    """Share of the decisions drawn with a probability above 0.99 that are learned from: most
    decisions are such, and they teach little."""


@dataclass(frozen=True)
class Evaluation:
    """Games that measure the agent."""

    against: tuple[str, ...] = ("random", "strategic", "expert")
    """Evaluation opponents: the policies that the agent is measured against, each in all other
    seats."""
    evaluation_games: int = 500
    """Games against each of them at each evaluation during training, and of untrained networks."""
    final_games: int = 2000
    """Games against each of them after imitation and at the end, with other seeds."""
    evaluate_every: int = 1_000_000
    """Own decisions between two evaluations; a checkpoint is written too."""


@dataclass(frozen=True)
class Hardware:
    """Where it runs."""

    overlap: bool = False
    """Play the next rollout while learning from this one: for a GPU, or cores that do not share
    their units for products. A rollout is then played by the networks before the last update; none
    is prefetched before a checkpoint."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """Type of hidden layers in gradient steps. bfloat16 takes a fifth to a third less time if the
    processor has it (AVX512-BF16, AMX, or a GPU), and far more where it has not. Weights, outputs
    and games are of float32 in any case."""
    device: Device = "cpu"
    threads: int = 2
    """Threads that play. The result does not depend on them."""
    cluster: ClusterName = None


@dataclass(frozen=True)
class LearnerOptions(RunOptions):
    """Options of `training.dqn` and `training.ppo`."""

    algorithm: ClassVar[str]  # the name of its agents

    steps: int = 3_000_000
    """Length of the run: decisions of the learner in its own games."""
    rules: RulesName = "ocnaru"
    num_players: int = 2
    """Seats at the table: 2 to 4."""
    start: str = NONE
    """Agent of this kind to begin with, instead of new networks: a name such as `ppo/best/ocnaru`,
    or a saved agent. Its hidden layers stay, and nothing is imitated then."""
    hidden: tuple[int, ...] = (128, 64)
    """Units of the hidden layers of each network."""
    network_decisions: tuple[str, ...] = ()
    """Decisions that the networks make, such as `buy bid`; `expert/versatile` makes the others.
    By default all."""
    imitation: Imitation = Imitation()
    league: LeagueOptions = LeagueOptions()
    optimizer: OptimizerOptions = OptimizerOptions()
    evaluation: Evaluation = Evaluation()
    hardware: Hardware = Hardware()

    @property
    def temperature(self) -> float:
        """T of pi(a|s) = softmax(f(s, .) / T), by which actions are drawn in self-play."""
        return 1.0

    def check(self) -> None:
        """Check the options of the algorithm; `Setup.of` checks the others."""

    def agent_spec(self, hidden: tuple[int, ...], rules: Rules) -> AgentSpec:
        """The agent to train, with hidden layers of so many units, for games of these rules."""
        blank = LearnedAgent(
            self.num_players,
            hidden,
            training_temperature=self.temperature,
            decisions=self.network_decisions,
            rules=rules.changed(),
            name=self.algorithm,
        )
        return AgentSpec(blank, architectures(self.num_players, hidden), CHOICES, similar=SIMILAR)


@dataclass(frozen=True)
class DQNOptions(LearnerOptions):
    """Deep Q-learning, one network per kind of decision.

    It imitates an expert, then learns by self-play in a league.
    """

    algorithm: ClassVar[str] = "dqn"

    out: Path = Path("runs/dqn")
    steps: int = 4_000_000
    league: LeagueOptions = LeagueOptions(rollout_games=256)
    optimizer: OptimizerOptions = OptimizerOptions(learning_rate=5e-4)
    temperature: float = 0.1
    """In self-play actions are drawn by exp(A / temperature)."""
    munchausen: float = 1.0
    """Munchausen weight: share of the old advantage kept in the target; 0: the plain target."""

    def check(self) -> None:
        """Check temperature and weight."""
        check_ranges(self, {"temperature": (1e-6, 10), "munchausen": (0, 1)})


@dataclass(frozen=True)
class PPOOptions(LearnerOptions):
    """Proximal policy optimization, one network per kind of decision.

    It imitates an expert, then learns by self-play in a league.
    """

    algorithm: ClassVar[str] = "ppo"

    out: Path = Path("runs/ppo")
    clip: float = 0.2
    """How far the probability of an action may move in an update, as a share of it."""
    entropy_weight: float = 0.0
    """Weight of the entropy of the policy at the start; it falls linearly to zero. A higher one
    explores more."""

    def check(self) -> None:
        """Check clip and weight."""
        check_ranges(self, {"clip": (1e-3, 1), "entropy_weight": (0, 10)})


_RANGES: Final[Ranges] = {
    **dict.fromkeys(("steps", "imitation_steps"), (0, float("inf"))),
    **dict.fromkeys(
        ("past", "past_every", "rollout_games", "turn_limit", "hidden", "batch", "epochs",
         "evaluation_games", "final_games"),
        (1, 1 << 30),
    ),
    **dict.fromkeys(
        ("evaluate_every", "threads", "exploiter_every", "exploiter_steps"), (1, float("inf"))
    ),
    "num_players": (MIN_PLAYERS, MOST_PLAYERS),
    "seed": (0, 1 << 20),
    "learning_rate": (1e-9, 1),
    "parameter_noise": (0, 2),
    "value_weight": (0, 1000),
    **dict.fromkeys(("td_lambda", "value_lambda", "value_share", "sure_share"), (0, 1)),
}  # fmt: skip


class Setup(NamedTuple):
    """Rules, device, agent and policies that options name, each made once."""

    rules: Rules
    device: torch.device
    spec: AgentSpec
    start: LearnedAgent | None
    expert: CompiledPolicy | None
    opponents: Sequence[CompiledPolicy | str]
    against: Sequence[Policy]

    @classmethod
    def of(cls, options: LearnerOptions) -> Setup:
        """Check the options, and make what they name.

        Raises:
            MonopolyError: A number is out of range, a name is unknown, a file is missing, or a
                policy is not compiled.
        """
        expert, names = options.imitation.expert, options.league.opponents
        check_ranges(options, _RANGES)
        options.check()
        for name in ("against", "opponents", "hidden"):
            if not settings_of(options)[name]:
                raise ConfigurationError(f"--{name} must not be empty.")
        rules, start = Rules.preset(options.rules), _start(options)
        setup = cls(
            rules=rules,
            device=device_of(options.hardware.device),
            spec=options.agent_spec(tuple(start.hidden if start else options.hidden), rules),
            start=start,
            expert=None if expert == NONE else compiled(find_policy(expert, NONE)),
            opponents=[
                name if name in WORDS else compiled(find_policy(name, *WORDS)) for name in names
            ],
            against=[find_policy(name) for name in options.evaluation.against],
        )
        for policy in (setup.expert, *setup.opponents, *setup.against):
            if isinstance(policy, Policy):
                policy.check_table(options.num_players)
        seats = len(names) * options.num_players
        if options.league.rollout_games < seats:
            raise ConfigurationError(
                f"--rollout-games {options.league.rollout_games}: a rollout needs {seats} games or"
                f" more, so that each of {len(names)} opponents is met from each of"
                f" {options.num_players} seats."
            )
        return setup


def _start(options: LearnerOptions) -> LearnedAgent | None:
    if options.start == NONE:
        return None
    agent = find_policy(options.start, NONE)
    if not isinstance(agent, LearnedAgent):
        raise ConfigurationError(
            f"--start {options.start!r} is no agent whose networks choose every action."
        )
    if agent.num_players != options.num_players:
        raise ConfigurationError(
            f"--start {options.start!r} plays at tables of {agent.num_players}, not of"
            f" {options.num_players}."
        )
    return agent
