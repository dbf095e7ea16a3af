"""The options of `--preset ocnaru`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from agents.networks.ocnaru import BASE_GATED, NAMES, OcnaruNetworks
from monopoly_env.errors import ConfigurationError
from monopoly_env.policy.names import compiled
from monopoly_env.policy.protocol import CompiledPolicy, Policy
from monopoly_env.rules import Rules
from training.ocnaru.rewards import Moment, Variant
from training.run.devices import device_of
from training.run.options import (
    FREE,
    Device,
    RulesName,
    RunOptions,
    check_ranges,
    find_policy,
    result_settings,
)

# training games played with the same weights while the network learns from the 40 before
ROLLOUT: Final = 40
EXPERT_ROLLOUT: Final = 512

# Games of phase 2 of each network at budget 1: 20,000 (buy) and 50,000 (card) are the thesis's; the
# others in the program's proportions, but not below the thesis's least.
TRAINING_GAMES: Final = {
    "buy": 20_000, "upgrade": 20_000, "downgrade": 20_000, "mortgage": 20_000,
    "unmortgage": 20_000, "fine": 40_000, "card": 50_000,
}  # fmt: skip


@dataclass(frozen=True)
class OcnaruOptions(RunOptions):
    """Train the seven networks of Ocnaru's thesis as it describes.

    They are trained on experts' games first, then in games against scripted opponents.
    """

    budget: float = 1.0
    """Share of the thesis's numbers of games, in both phases."""
    out: Path = Path("runs/ocnaru")

    heads: tuple[str, ...] = NAMES
    """Heads with a network, in the order in which they play training games; those that are
    already trained play along."""
    base_policy: str = "strategic"
    """Policy that plays what no network plays: `strategic` or a preset of it."""
    base_gated: tuple[str, ...] = BASE_GATED
    """Networks that act only where the base policy would act with that head."""
    rules: RulesName = "ocnaru"
    variant: Variant = "thesis"
    """Rewards of the thesis's annex, or of its program."""
    moment: Moment = "round"
    """When rewards look at the worth that a decision has led to: after a round, or when the same
    network is next asked."""
    stale_previous: bool = False
    """Reproduce a defect of the program: the state before is the state now, so all rewards are
    0."""

    experts: tuple[str, ...] = ("strategic", "strategic/late_game", "strategic/cautious")
    """Phase 1: policies whose games are learned from, every pair in turn."""
    expert_games: int = 1_500_000
    """Their games at budget 1: 61 million decisions to buy."""
    expert_batch: int = 8192
    """Size of a minibatch in phase 1."""

    opponents: tuple[str, ...] = ("strategic", "strategic/late_game", "strategic/cautious")
    """Phase 2: opponents of the networks, in turn."""
    discount: float = 0.99
    """Weight of what comes one decision of the network later."""
    learning_rate: float = 1e-3
    """Learning rate of Adam, in both phases."""
    batch: int = 64
    """Size of a minibatch in phase 2; there is one for each decision."""
    replay: int = 10_000
    """Size of the replay buffer."""
    target_every: int = 10
    """Games between two updates of the target network."""
    epsilon_end: float = 0.1
    """The share of random decisions falls from 1 to this."""
    epsilon_decay: float = 0.995
    """Factor of that share from game to game."""
    exploitation: float = 0.25
    """Share of the games, at the end, without random decisions."""

    against: tuple[str, ...] = ("strategic", "strategic/late_game", "strategic/cautious")
    """Evaluation opponents during training."""
    evaluation_games: int = 2000
    """Games against each of them, ten times per network."""
    final_against: tuple[str, ...] = ("strategic", "ocnaru/algorithmic", "ocnaru/random")
    """Evaluation opponents at the end."""
    final_games: int = 10_000
    """Games against each of them at the end."""
    device: Device = "auto"
    threads: int = 2
    """Threads that play games. Results do not depend on it."""


_RANGES: Final[dict[str, tuple[float, float]]] = {
    **dict.fromkeys(
        ("batch", "expert_batch", "replay", "target_every", "evaluation_games", "final_games",
         "threads"),
        (1, math.inf),
    ),
    **dict.fromkeys(("discount", "epsilon_end", "epsilon_decay", "exploitation"), (0, 1)),
    "budget": (1e-6, 100), "expert_games": (0, 1 << 30), "seed": (0, (1 << 32) - 16),
    "learning_rate": (1e-9, 1),
}  # fmt: skip


class OcnaruPolicies(NamedTuple):
    """The policies that the options of these names list, each made once."""

    experts: list[CompiledPolicy]
    opponents: list[CompiledPolicy]
    against: list[Policy]
    final_against: list[Policy]


def check(options: OcnaruOptions) -> OcnaruPolicies:
    """Check the options without compiling, and find the policies they name.

    Raises:
        MonopolyError: A number is out of range, a name is unknown, options contradict each other.
    """
    check_ranges(options, _RANGES)
    Rules.preset(options.rules)
    OcnaruNetworks(options.heads, base_policy=options.base_policy, base_gated=options.base_gated)
    if not options.heads or len(set(options.heads)) != len(options.heads):
        raise ConfigurationError(
            "--heads must name each network that is trained once, not"
            f" {', '.join(options.heads) or 'none'}."
        )
    for setting in ("experts", "opponents", "against", "final_against"):
        if not getattr(options, setting):
            raise ConfigurationError(f"--{setting.replace('_', '-')} must name a policy.")
    device_of(options.device)
    return OcnaruPolicies(
        [compiled(find_policy(name)) for name in options.experts],
        [compiled(find_policy(name)) for name in options.opponents],
        [find_policy(name) for name in options.against],
        [find_policy(name) for name in options.final_against],
    )


def settings(options: OcnaruOptions) -> dict[str, Any]:
    """The settings that decide the result; see `result_settings`."""
    device = device_of(options.device).type
    return result_settings(options, (*FREE, "threads", "device"), preset="ocnaru", device=device)


def expert_games(options: OcnaruOptions) -> int:
    """Games of phase 1, in whole rollouts."""
    if not options.expert_games:
        return 0
    return round(options.expert_games * options.budget / EXPERT_ROLLOUT + 0.49) * EXPERT_ROLLOUT


def training_games(options: OcnaruOptions, head: str) -> int:
    """Games of phase 2 of a network, in whole rollouts."""
    return max(1, round(TRAINING_GAMES[head] * options.budget / ROLLOUT)) * ROLLOUT


def epsilon(options: OcnaruOptions, head: str, number: int) -> float:
    """The share of random decisions of a network in one of its games, by number."""
    if number >= training_games(options, head) * (1.0 - options.exploitation):
        return 0.0
    return float(max(options.epsilon_end, options.epsilon_decay**number))
