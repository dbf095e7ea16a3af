"""Options of runs: those of every command, those of training, and which decide the result."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Generic, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np
import tyro
from numpy.typing import NDArray

from agents.networks.repertoire import OFFER_HEADS
from monopoly_env import encoding, rewards
from monopoly_env.actions import HEAD_NAMES
from monopoly_env.errors import ConfigurationError
from monopoly_env.files import read_file
from monopoly_env.policy.names import file_of, resolve
from monopoly_env.policy.protocol import Policy
from monopoly_env.rules import PRESETS, RULES_VERSION, Rules

AgentT = TypeVar("AgentT", bound=Policy)

# options that do not change the result: where it goes and how it is printed
FREE: Final = ("out", "resume", "overwrite", "json")
NONE: Final = "none"  # in place of a policy's name
LEARNED: Final = tuple(head for head in HEAD_NAMES if head not in OFFER_HEADS)

# Options whose help lists what is valid.
RulesName: TypeAlias = Annotated[str, tyro.conf.arg(help=f"Preset of rules: {', '.join(PRESETS)}.")]
EncodingName: TypeAlias = Annotated[
    str, tyro.conf.arg(help=f"What is observed: {', '.join(encoding.NAMES)} (docs/observation.md).")
]
_REWARDS: Final = (
    f"What is learned: {', '.join(rewards.KINDS)}. With the suffix {rewards.SHAPED}, changes in the"
    " share of worth are paid"
)
RewardName: TypeAlias = Annotated[
    str, tyro.conf.arg(help=f"{_REWARDS} at once (they cancel out by the end).")
]
Device: TypeAlias = Annotated[
    Literal["auto", "cpu", "cuda"],
    tyro.conf.arg(help="Where networks are trained; auto: a GPU if there is one."),
]


_CLUSTER: Final = (
    "local (one is started here), auto (the one that runs here), host:port or ray://host:port"
)
ClusterName: TypeAlias = Annotated[
    str | None, tyro.conf.arg(help=f"Play on a Ray cluster: {_CLUSTER}. The results are the same.")
]


@dataclass(frozen=True)
class RunOptions:
    """What every run has."""

    out: Path = Path("runs")
    """Folder of the run: settings, checkpoints, curves for TensorBoard, the agent (`agents.load`
    plays it) and its win rates."""
    seed: int = 0
    """Seed of everything random: dice, exploration, weights. On one machine, the same seed gives
    the same agent."""
    resume: bool = False
    """Continue the run in --out where it stopped. All options that decide the result must be the
    same."""
    overwrite: bool = False
    """Delete the run of this command in --out and start again."""
    json: bool = False
    """Print one JSON object at the end instead of a table."""


@dataclass(frozen=True)
class TrainingOptions(RunOptions):
    """Train an agent by MaskablePPO against other policies, and measure it.

    It is measured against a panel of policies.
    """

    out: Path = Path("runs/maskable_ppo")
    steps: int = 2_000_000
    """Length of the run: decisions of the learner in its own games, including those without a
    choice."""
    rules: RulesName = "ocnaru"
    num_players: int = 2
    """Seats at the table. Copies of one opponent fill the other seats."""
    encoding: EncodingName = "standard"
    reward: RewardName = "win_shaped"
    opponents: tuple[str, ...] = ("strategic", "algorithmic")
    """Opponents, each in an equal share of the games: names of policies, or files."""
    parallel_games: int = 256
    """Games played at the same time, over all opponents."""
    heads: tuple[str, ...] = LEARNED
    """Heads whose actions are learned. With a parent, any heads; without one, all but those that
    make offers."""
    parent: str = NONE
    """Policy that plays the other heads; the learner decides where the parent would act with one of
    the learned heads. `none`: no offers are made."""
    raise_freely: bool = False
    """Let the learner sell and mortgage also where no debt is due. Such choices are many and seldom
    matter."""
    hidden: tuple[int, ...] = (128, 64)
    """Units of the hidden layers of each network."""

    rollout: int = 128
    """Decisions of each game between two updates."""
    batch: int = 1024
    """Maximum size of a minibatch."""
    epochs: int = 4
    """Passes over a rollout."""
    learning_rate: float = 5e-4
    """Learning rate of Adam at the start; it falls linearly to 0."""
    discount: float = 0.999
    """Weight of what comes one decision of the learner later."""
    gae_lambda: float = 0.98
    """Lambda of generalized advantage estimation: 0 takes the next value only, 1 the return
    only."""
    clip: float = 0.2
    """How much an update may change the probability of an action, relative."""
    entropy_weight: float = 0.005
    """Weight of the entropy in the loss: a higher one explores more."""
    value_weight: float = 0.5
    """Weight of the critic's loss."""
    sample: bool = False
    """Let the agent that is measured and saved draw its actions; otherwise it plays the most likely
    one."""

    panel: tuple[str, ...] = ("random", "random/no_trades", "algorithmic", "strategic")
    """Policies that the agent is measured against."""
    panel_games: int = 1000
    """Games against each of them at each evaluation during training; the best agent so far is
    kept."""
    final_games: tuple[int, ...] = (2000, 1000, 1000, 1000)
    """Games against each of them at the end, with other seeds."""
    evaluate_every: int = 500_000
    """Steps between two evaluations."""
    checkpoint_every: int = 250_000
    """Steps between two checkpoints."""
    device: Device = "auto"
    torch_threads: int = 1
    """Threads of the networks. With 1, results repeat to the bit; more help only on idle machines
    with large batches."""


Ranges: TypeAlias = Mapping[str, tuple[float, float]]

_RANGES: Final[Ranges] = {
    **dict.fromkeys(
        ("steps", "parallel_games", "hidden", "batch", "panel_games", "final_games"), (1, math.inf)
    ),
    **dict.fromkeys(("evaluate_every", "checkpoint_every", "torch_threads"), (1, math.inf)),
    **dict.fromkeys(("rollout", "epochs"), (1, math.inf)),
    **dict.fromkeys(("entropy_weight", "value_weight"), (0, 1 << 31)),
    **dict.fromkeys(("discount", "clip"), (1e-9, 1)),
    "gae_lambda": (0, 1),
    "seed": (0, 1 << 31),
    "learning_rate": (1e-9, 1),
}


def check_ranges(options: Any, ranges: Ranges) -> None:
    """Raise ConfigurationError if a number of a dataclass of options is out of its range.

    Args:
        options: Its fields are numbers, tuples of numbers, or None, which stands for a default.
        ranges: Lowest and highest valid number, by the name of the field.
    """
    for name, (low, high) in ranges.items():
        given = getattr(options, name)
        numbers = given if isinstance(given, tuple) else () if given is None else (given,)
        if not all(low <= value <= high for value in numbers):
            wanted = f"{low:,} or more" if high == math.inf else f"from {low:,} to {high:,}"
            raise ConfigurationError(f"--{name.replace('_', '-')} must be {wanted}, not {given}.")


def check_training(options: TrainingOptions) -> None:
    """Check what `TrainingOptions` say, except for names of policies.

    Raises:
        MonopolyError: A number is out of range, rules or reward are unknown, or options contradict
            each other.
    """
    check_ranges(options, _RANGES)
    for broken, message in (
        (
            len(options.final_games) != len(options.panel),
            f"--final-games {options.final_games} needs one number per policy of the panel.",
        ),
        (not options.panel, "--panel must name a policy to measure the agent against."),
        (not options.opponents, "--opponents must name a policy to play against."),
        (
            options.rollout * options.parallel_games < 2,
            "--rollout and --parallel-games must make two decisions or more.",
        ),
        (
            options.parallel_games < len(options.opponents),
            f"--parallel-games {options.parallel_games} must be at least one per opponent.",
        ),
        (not options.hidden, "--hidden must list the units of one layer or more."),
    ):
        if broken:
            raise ConfigurationError(message)
    Rules.preset(options.rules)
    rewards.make(options.reward)


class Policies(NamedTuple, Generic[AgentT]):
    """The policies that training options name, each made or loaded once.

    Attributes:
        agent: The policy to train, with all weights zero.
        opponents: None stands for the learner itself.
        panel: The policies that the agent is measured against.
        expert: The policy that is watched, if any.
    """

    agent: AgentT
    opponents: Sequence[Policy | None]
    panel: Sequence[Policy]
    expert: Policy | None = None


def find_policy(name: str, *words: str) -> Policy:
    """The policy of a name or a saved file; tables call it what the user called it.

    Args:
        name: As given.
        *words: Other words that the option takes; the error suggests them too.

    Raises:
        MonopolyError: The name is unknown, or the file is missing, damaged or of another version.
    """
    policy = resolve(name, *words)
    policy.name = name
    return policy


def new_agent(
    options: TrainingOptions, kind: Callable[..., AgentT], name: str, **more: Any
) -> AgentT:
    """The policy to train, with all weights zero.

    Its class takes what `NetworkPolicy` does and `more`.

    Raises:
        ConfigurationError: An unknown head, encoding or parent, or heads that need a parent.
    """
    return kind(
        options.heads, options.hidden, encoding=options.encoding, num_players=options.num_players,
        raise_freely=options.raise_freely,
        parent=None if options.parent == NONE else options.parent,
        rules=Rules.preset(options.rules).changed(), name=name, **more,
    )  # fmt: skip


def digest(numbers: NDArray[Any]) -> str:
    """A short hash that stands for an array among the settings: 16 hexadecimal digits."""
    return hashlib.sha256(np.ascontiguousarray(numbers).tobytes()).hexdigest()[:16]


def digests_of(names: Iterable[str]) -> dict[str, str]:
    """The SHA-256 of each file among these names, of a saved policy or of code.

    A resumed run must meet the same.
    """
    found = {name: file_of(name) for name in sorted(set(names))}
    return {
        name: hashlib.sha256(read_file(file)).hexdigest() for name, file in found.items() if file
    }


def result_settings(options: Any, free: Sequence[str] = FREE, **more: Any) -> dict[str, Any]:
    """The settings that decide the result of a run, as JSON values.

    A resumed run must have the same.

    Args:
        options: A dataclass.
        free: Names of its fields that do not change the result.
        **more: Whatever else decides it.
    """
    values = {
        name: value for name, value in dataclasses.asdict(options).items() if name not in free
    }
    return dict(json.loads(json.dumps(values | {"rules_version": RULES_VERSION} | more)))
