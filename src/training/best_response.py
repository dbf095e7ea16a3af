"""How much a fresh learner wins against a player that stays as it is.

The command is `python -m training.exploit AGENT --learner ppo`.

New networks watch the player play itself, then play and learn against nobody else. What they win in
fresh games is a lower bound of what can be won against the player. `training.exploit` without
`--learner` searches the numbers of `expert` instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

import tyro
from rich.console import Console

from agents.learned.answers import MOST_PLAYERS
from monopoly_env.cli.extras import lazily
from monopoly_env.game import MIN_PLAYERS
from training.learner_options import DQNOptions, LearnerOptions, PPOOptions
from training.run.options import ClusterName, Device, Ranges, RulesName, RunOptions, check_ranges

OptionsT = TypeVar("OptionsT", bound=LearnerOptions)


@dataclass(frozen=True)
class ResponseOptions(RunOptions):
    """Let a fresh learner look for a best response to a player.

    The player stays as it is, and sits in all other seats.

    The folder of the run is that of `training.ppo` or `training.dqn`: the best response
    (agent.safetensors, for `agents.load`), its win rates on the way and at the end
    (evaluation.json), curves and checkpoints.
    """

    agent: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="AGENT")] = tyro.MISSING
    """The player: a name (`agents.names()`) or a saved policy (.safetensors)."""
    num_players: int = 2
    """Seats at the table, 2 to 4: one for the best response, the others for copies of the
    player."""
    rules: RulesName = "official"
    watch: int = 1_000_000
    """Choices of the player that are watched first."""
    steps: int = 4_000_000
    """Length of the run: decisions of the learner in its own games."""
    block_games: int = 512
    """Games in a block."""
    hidden: tuple[int, ...] = (128, 64)
    """Units of the hidden layers of each network."""
    final_games: int = 2000
    """Games of the best response at the end; a quarter of them at each evaluation on the way."""
    out: Path = Path("runs/exploit")
    """Folder of the run."""
    device: Device = "cpu"
    threads: int = 2
    """Threads that play. The result does not depend on them."""
    cluster: ClusterName = None

    def of(self, kind: type[OptionsT]) -> OptionsT:
        """The options of a learner."""
        return kind(
            out=self.out, seed=self.seed, resume=self.resume, overwrite=self.overwrite,
            rules=self.rules, num_players=self.num_players,
            expert=self.agent, watch=self.watch, steps=self.steps, opponents=(self.agent,),
            block_games=self.block_games,
            hidden=self.hidden, panel=(self.agent,),
            panel_games=-(-self.final_games // 4), final_games=self.final_games,
            evaluate_every=max(1, self.steps // 8),
            device=self.device, threads=self.threads, cluster=self.cluster,
        )  # fmt: skip


_RANGES: Final[Ranges] = {"num_players": (MIN_PLAYERS, MOST_PLAYERS), "final_games": (1, 1 << 30)}


def execute(
    options: ResponseOptions, console: Console, *, learner: Literal["dqn", "ppo"]
) -> dict[str, Any]:
    """Learn, from the beginning or from a checkpoint, then measure.

    Returns what evaluation.json holds, and whom it was against.

    Raises:
        MonopolyError: Wrong options, a folder in the way, a checkpoint that is missing or damaged,
            a loss that is not finite.
    """
    check_ranges(options, _RANGES)
    learn: Callable[..., dict[str, Any]] = lazily("train", f"training.{learner}:execute")
    results = learn(options.of(DQNOptions if learner == "dqn" else PPOOptions), console)
    return {
        "against": options.agent,
        "num_players": options.num_players,
        "even": 1 / options.num_players,
    } | results


def show(results: Mapping[str, Any]) -> None:
    """Print what the best response wins before and after each phase."""
    lazily("train", "training.phases:show")(dict(results))
    print(f"An even share is {results['even']:.1%}. The best response: {results['agent']}")
