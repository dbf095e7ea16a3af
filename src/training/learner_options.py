"""The options of `training.dqn` and `training.ppo`, and the policies that they name.

Importing this does not import PyTorch.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, NamedTuple

from agents.learned.agent import LearnedAgent
from agents.learned.answers import MOST_PLAYERS
from agents.networks.ocnaru import GATED, HIDDEN
from monopoly_env.errors import ConfigurationError
from monopoly_env.game import MIN_PLAYERS
from monopoly_env.policy.names import compiled
from monopoly_env.policy.protocol import CompiledPolicy, Policy
from monopoly_env.rules import Rules
from training.experience.choices import TURN_LIMIT
from training.league import PAST, SELF, WORDS
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
)


@dataclass(frozen=True)
class LearnerOptions(RunOptions):
    """What `training.dqn` and `training.ppo` have in common."""

    steps: int = 3_000_000
    """Length of the run: decisions of the learner in its own games."""
    rules: RulesName = "ocnaru"
    num_players: int = 2
    """Seats at the table: 2 to 4."""
    expert: str = "expert"
    """Policy that is watched first, playing itself; `none`: learn from own games only."""
    watch: int = 1_000_000
    """Choices of the expert that are watched."""
    start: str = NONE
    """Agent of this kind to begin with, instead of new networks: a name such as `ppo/best/ocnaru`,
    or a saved agent. Its hidden layers stay, and nothing is watched then."""
    opponents: tuple[str, ...] = ("expert", "expert", "expert", "algorithmic", "strategic")
    """Opponents, each in an equal share of the games, so that a name given three times has three
    shares: names of policies, files, `self` (all seats), `past` (earlier copies) or `exploiters`
    (copies that were trained to beat the learner)."""
    vary: float = 0.0
    """In every other block of games, scripted opponents play by other numbers: each is multiplied
    by exp(VARY z), z drawn from a standard normal, so that the agent learns to play against more
    than those who have names. 0.3 moves most numbers by less than a third."""
    past: int = 8
    """Earlier copies of the learner that are kept as opponents; as many exploiters."""
    past_every: int = 10
    """Blocks of games between two copies."""
    exploit_every: int = 5_000_000
    """Own choices between two exploiters: a copy of the learner learns to beat the learner as it is
    then, and joins its opponents. Only with `exploiters` among --opponents."""
    exploit_steps: int = 1_000_000
    """Choices of an exploiter."""
    block_games: int = 512
    """Games in a block."""
    turn_limit: int = TURN_LIMIT
    """Turns of each player after which the score decides a game that is learned from. Lower it at
    tables of four against opponents who hardly trade: their games go on for thousands of choices,
    and most of what is learned would come from few games."""
    hidden: tuple[int, ...] = (128, 64)
    """Units of the hidden layers of each network."""

    learning_rate: float = 3e-4
    """Learning rate of Adam in the own games; it falls linearly to a fiftieth. While watching it is
    three times as high."""
    batch: int = 4096
    """Size of a minibatch of own games; while watching it is a quarter of that."""
    epochs: int = 2
    """Passes over each block."""
    td_lambda: float = 0.95
    """How far ahead the advantage of a choice looks: the weight of what comes later against the
    networks' own estimate of it, as in TD(lambda); 1: the outcome alone."""
    value_lambda: float = 0.99
    """The same for what the value of a state learns: it looks farther ahead, for its errors would
    stay in every advantage."""
    value_weight: float = 0.5
    """Weight of the squared error of the value that every network learns beside its choices."""
    value_share: float = 1.0
    """Share of the choices whose states the network of values learns from."""
    sure_share: float = 0.5
    """Share of the choices drawn with a probability above 0.99 that are learned from: most choices
    are such, and they teach little."""

    panel: tuple[str, ...] = ("random", "strategic", "expert")
    """Policies that the agent is measured against."""
    panel_games: int = 500
    """Games against each of them at each evaluation during training, and of untrained networks."""
    final_games: int = 2000
    """Games against each of them after watching and at the end, with other seeds."""
    evaluate_every: int = 1_000_000
    """Own choices between two evaluations; a checkpoint is written too."""
    overlap: bool = False
    """Play the next block of games while learning from this one: for a GPU, or cores that do not
    share their units for products. A block is then played by the networks of one block before; none
    is played ahead of a checkpoint."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """Of the hidden layers in gradient steps. bfloat16 takes a fifth to a third less time where the
    processor has it (AVX512-BF16, AMX, or a GPU), and far more where it has not. Weights, outputs
    and games are of float32 in any case."""
    device: Device = "cpu"
    threads: int = 2
    """Threads that play. The result does not depend on them."""
    cluster: ClusterName = None

    @property
    def checkpoint_every(self) -> int:
        """Own choices between two checkpoints."""
        return self.evaluate_every


@dataclass(frozen=True)
class DQNOptions(LearnerOptions):
    """Deep Q-learning, one network per kind of decision.

    It learns from an expert's games and then from own games in a league.
    """

    out: Path = Path("runs/dqn")
    steps: int = 4_000_000
    """Length of the run: decisions of the learner in its own games."""
    block_games: int = 256
    """Games in a block."""
    learning_rate: float = 5e-4
    """Learning rate of Adam in the own games; it falls linearly to a fiftieth. While watching it is
    three times as high."""
    temperature: float = 0.1
    """In own games choices are drawn by exp(A / temperature)."""
    munchausen: float = 1.0
    """How much of what A was stays in what it learns; 0: the plain target."""


@dataclass(frozen=True)
class PPOOptions(LearnerOptions):
    """Proximal policy optimization, one network per kind of decision.

    It learns from an expert's games and then from own games in a league.
    """

    out: Path = Path("runs/ppo")
    clip: float = 0.2
    """How far the probability of a choice may move in one block, as a share of it."""
    entropy_weight: float = 0.0
    """Weight of the entropy of the choices, which keeps others being tried."""


@dataclass(frozen=True)
class ThesisOptions(DQNOptions):
    """The seven networks of Ocnaru's thesis, trained by this library's recipe.

    They watch their parent, then play in a league.
    """

    out: Path = Path("runs/thesis")
    parent: str = "strategic"
    """Policy that plays trades and debts: `strategic` or a preset of it."""
    gated: tuple[str, ...] = GATED
    """Networks that act only where the parent would act with that head."""
    expert: str = "strategic"
    """Policy that is watched first, playing itself; `none`: learn from own games only."""
    watch: int = 1_000_000
    """Choices of the expert that are watched."""
    opponents: tuple[str, ...] = (
        SELF,
        PAST,
        "strategic",
        "strategic/late_game",
        "strategic/cautious",
        "ocnaru/algorithmic",
    )
    """Opponents, each in an equal share of the games: names of policies, files, `self` (all seats)
    or `past` (earlier copies)."""
    block_games: int = 512
    """Games in a block."""
    hidden: tuple[int, ...] = HIDDEN
    """Units of the hidden layers: those of the thesis; there are no others."""
    learning_rate: float = 3e-4
    """Learning rate of Adam in the own games; it falls linearly to a fiftieth. While watching it is
    three times as high."""
    panel: tuple[str, ...] = ("strategic", "ocnaru/algorithmic", "ocnaru/random")
    """Policies that the agent is measured against."""


_RANGES: Final[Ranges] = {
    **dict.fromkeys(("steps", "watch"), (0, float("inf"))),
    **dict.fromkeys(
        (
            "past",
            "past_every",
            "block_games",
            "turn_limit",
            "hidden",
            "batch",
            "epochs",
            "panel_games",
            "final_games",
        ),
        (1, 1 << 30),
    ),
    **dict.fromkeys(
        ("evaluate_every", "threads", "exploit_every", "exploit_steps"), (1, float("inf"))
    ),
    "num_players": (MIN_PLAYERS, MOST_PLAYERS),
    "seed": (0, 1 << 20),
    "learning_rate": (1e-9, 1),
    "vary": (0, 2),
    "value_weight": (0, 1000),
    **dict.fromkeys(("td_lambda", "value_lambda", "value_share", "sure_share"), (0, 1)),
}


class Named(NamedTuple):
    """The policies that the options name."""

    agent: LearnedAgent | None  # to continue from
    expert: CompiledPolicy | None
    opponents: list[CompiledPolicy | str]
    panel: list[Policy]


def check(options: LearnerOptions, ranges: Ranges) -> Named:
    """Check the options, and find the policies that they name.

    Raises:
        MonopolyError: A number is out of range, a name is unknown, a file is missing, or a policy
            is not compiled.
    """
    check_ranges(options, {**_RANGES, **ranges})
    Rules.preset(options.rules)
    device_of(options.device)
    for name, given in (
        ("panel", options.panel),
        ("opponents", options.opponents),
        ("hidden", options.hidden),
    ):
        if not given:
            raise ConfigurationError(f"--{name} must not be empty.")
    agent = None if options.start == NONE else find_policy(options.start, NONE)
    if agent is not None and not isinstance(agent, LearnedAgent):
        raise ConfigurationError(
            f"--start {options.start!r} is no agent whose networks choose every action."
        )
    if agent is not None and agent.num_players != options.num_players:
        raise ConfigurationError(
            f"--start {options.start!r} plays at tables of {agent.num_players}, not of"
            f" {options.num_players}."
        )
    named = Named(
        agent=agent,
        expert=None if options.expert == NONE else compiled(find_policy(options.expert, NONE)),
        opponents=[
            name if name in WORDS else compiled(find_policy(name, *WORDS))
            for name in options.opponents
        ],
        panel=[find_policy(name) for name in options.panel],
    )
    for policy in (named.expert, *named.opponents, *named.panel):
        if isinstance(policy, Policy):
            policy.check_table(options.num_players)
    seats = len(options.opponents) * options.num_players
    if options.block_games < seats:
        raise ConfigurationError(
            f"--block-games {options.block_games}: a block needs {seats} games or more, so that"
            f" each of {len(options.opponents)} opponents is met from each of {options.num_players}"
            " seats."
        )
    return named
