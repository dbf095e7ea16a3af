"""The settings of `--preset ocnaru`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from agents.networks.ocnaru import GATED, NAMES, OcnaruNetworks
from monopoly_env.errors import ConfigurationError
from monopoly_env.policy.protocol import CompiledPolicy
from monopoly_env.policy.resolve import resolve_all
from monopoly_env.rules import Rules
from training.ocnaru.rewards import Moment, Variant
from training.run.devices import device_of
from training.run.options import FREE, check_ranges, shaping

BLOCK: Final = 40  # own games that are played by the same numbers while the network learns from the 40 before
EXPERT_BLOCK: Final = 512

# Own games of each network at budget 1: 20,000 (buy) and 50,000 (card) are the thesis's; the others in the program's proportions, but
# not below the thesis's least.
OWN_GAMES: Final = {
    "buy": 20_000,
    "upgrade": 20_000,
    "downgrade": 20_000,
    "mortgage": 20_000,
    "unmortgage": 20_000,
    "fine": 40_000,
    "card": 50_000,
}


@dataclass(frozen=True)
class Options:
    """Train the seven networks of Ocnaru's thesis as it describes it: experts' games first, then games of their own.

    The folder of a run holds config.json, curves for TensorBoard, checkpoints, the agent (`agents.load` plays it) and its win
    rates. A run that was stopped goes on with --resume and the same settings.
    """

    budget: float = 1.0
    """Share of the thesis's numbers of games, in both phases."""
    out: Path = Path("runs/ocnaru")
    """Folder of the run."""
    seed: int = 0
    """Decides everything: dice, exploration, numbers at the start. On one machine, the same seed gives the same agent."""
    resume: bool = False
    """Go on from the last checkpoint of the run in --out. All settings that shape the result must be the same."""
    overwrite: bool = False
    """Remove the run that is in --out and begin anew."""
    json: bool = False
    """Print one JSON object at the end instead of the table."""

    heads: tuple[str, ...] = NAMES
    """Networks, in the order in which they play games of their own; those already trained play along."""
    parent: str = "strategic"
    """Policy that plays what no network plays: `strategic` or a preset of it."""
    gated: tuple[str, ...] = GATED
    """Networks that act only where the parent would act with that head."""
    rules: str = "ocnaru"
    """A preset of rules."""
    variant: Variant = "thesis"
    """Rewards of the thesis's annex, or of its program."""
    moment: Moment = "round"
    """When rewards look at the worth that a decision has led to: after a round, or when the same network is next asked."""
    stale_previous: bool = False
    """Reproduce a defect of the program: the state before is the state now, so that rewards are 0."""

    experts: tuple[str, ...] = ("strategic", "strategic/late_game", "strategic/cautious")
    """Phase 1: whose games are watched, every pair in turn."""
    expert_games: int = 1_500_000
    """Their games at budget 1: 61 million decisions to buy."""
    expert_batch: int = 8192
    """Experiences in a gradient step of phase 1."""

    opponents: tuple[str, ...] = ("strategic", "strategic/late_game", "strategic/cautious")
    """Phase 2: against whom the networks play, in turn, each game with fresh ones."""
    discount: float = 0.99
    """Weight of what comes one decision of the network later."""
    learning_rate: float = 1e-3
    """Adam's, in both phases."""
    batch: int = 64
    """Transitions in a gradient step of phase 2; there is one for each decision."""
    replay: int = 10_000
    """Transitions kept."""
    target_every: int = 10
    """Games between two copies to the target network."""
    epsilon_end: float = 0.1
    """The share of random decisions falls from 1 to this."""
    epsilon_decay: float = 0.995
    """Factor of that share from game to game."""
    exploitation: float = 0.25
    """Share of the games at the end in which nothing is left to chance."""

    panel: tuple[str, ...] = ("strategic", "strategic/late_game", "strategic/cautious")
    """Whom the agent is measured against on the way."""
    panel_games: int = 2000
    """Games against each of them, ten times a network."""
    final_panel: tuple[str, ...] = ("strategic", "ocnaru/algorithmic", "ocnaru/random")
    """Whom the agent is measured against at the end."""
    final_games: int = 10_000
    """Games against each of them."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where the networks learn: a GPU if there is one, or as said. Games are played on the processor."""
    threads: int = 2
    """Threads that play games. Results do not depend on it."""


# What numbers may be: from, to; both are allowed.
_RANGES: Final[dict[str, tuple[float, float]]] = {
    **dict.fromkeys(("batch", "expert_batch", "replay", "target_every", "panel_games", "final_games", "threads"), (1, math.inf)),
    **dict.fromkeys(("discount", "epsilon_end", "epsilon_decay", "exploitation"), (0, 1)),
    "budget": (1e-6, 100),
    "expert_games": (0, 1 << 30),
    "seed": (0, (1 << 32) - 16),
    "learning_rate": (1e-9, 1),
}


def check(options: Options) -> None:
    """Check all that can be checked without compiling anything.

    Raises:
        MonopolyError: A number out of range, an unknown name, or settings that do not go together.
    """
    check_ranges(options, _RANGES)
    Rules.preset(options.rules)
    OcnaruNetworks(options.heads, parent=options.parent, gated=options.gated)
    if not options.heads or len(set(options.heads)) != len(options.heads):
        raise ConfigurationError(f"--heads must name each network that is trained once, not {', '.join(options.heads) or 'none'}.")
    for setting in ("experts", "opponents", "panel", "final_panel"):
        named = getattr(options, setting)
        if not named:
            raise ConfigurationError(f"--{setting.replace('_', '-')} must name somebody.")
        policies = resolve_all(named)
        if setting in ("experts", "opponents"):
            for policy in policies:
                if not isinstance(policy, CompiledPolicy):
                    raise ConfigurationError(f"--{setting}: {policy.name!r} is no compiled policy; only such ones play here.")
    device_of(options.device)


def settings(options: Options) -> dict[str, Any]:
    """The settings that shape the result, as JSON has them, and the version of the rules: a resumed run must have the same."""
    return shaping(options, (*FREE, "threads"), preset="ocnaru")


def expert_games(options: Options) -> int:
    """Games of phase 1, whole blocks of them."""
    return round(options.expert_games * options.budget / EXPERT_BLOCK + 0.49) * EXPERT_BLOCK if options.expert_games else 0


def own_games(options: Options, head: str) -> int:
    """Games of phase 2 for a network, whole blocks of them."""
    return max(1, round(OWN_GAMES[head] * options.budget / BLOCK)) * BLOCK


def epsilon(options: Options, head: str, number: int) -> float:
    """The share of a network's decisions that is left to chance in its game of this number."""
    if number >= own_games(options, head) * (1.0 - options.exploitation):
        return 0.0
    return float(max(options.epsilon_end, options.epsilon_decay**number))
