"""The wins of a fresh learner against a player that does not change.

The command is `python -m training.exploit AGENT --learner ppo`.

New networks imitate the player, then learn in games against it alone. Their wins in fresh games
are a lower bound of what can be won against the player. `training.exploit` without
`--learner` searches the numbers of `expert` instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

import tyro
from rich.console import Console

from agents.learned.answers import MOST_PLAYERS
from monopoly_env.game import MIN_PLAYERS
from training import dqn, ppo
from training.options import DQNOptions, LearnerOptions, PPOOptions
from training.run.options import (
    ClusterName,
    Device,
    Ranges,
    RulesName,
    RunOptions,
    check_ranges,
    replaced,
    settings_of,
)
from training.run.session import show_stages

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
    imitation_steps: int = 1_000_000
    """Decisions of the player to imitate first, rounded up to whole rollouts."""
    steps: int = 4_000_000
    """Length of the run: decisions of the learner in its own games."""
    rollout_games: int = 512
    """Games of a rollout: played, then learned from."""
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
        same = {name: value for name, value in settings_of(self).items() if name != "agent"}
        return replaced(
            kind(), **same, expert=self.agent, opponents=(self.agent,), against=(self.agent,),
            evaluation_games=-(-self.final_games // 4), evaluate_every=max(1, self.steps // 8),
        )  # fmt: skip


_RANGES: Final[Ranges] = {"num_players": (MIN_PLAYERS, MOST_PLAYERS), "final_games": (1, 1 << 30)}


def execute(
    options: ResponseOptions, console: Console, *, learner: Literal["dqn", "ppo"]
) -> dict[str, Any]:
    """Learn, from the beginning or from a checkpoint, then measure; returns evaluation.json.

    Raises:
        MonopolyError: Wrong options, a folder in the way, a checkpoint that is missing or damaged,
            a loss that is not finite.
    """
    check_ranges(options, _RANGES)
    if learner == "dqn":
        results = dqn.execute(options.of(DQNOptions), console)
    else:
        results = ppo.execute(options.of(PPOOptions), console)
    players = options.num_players
    return {"against": options.agent, "num_players": players, "even": 1 / players} | results


def show(results: Mapping[str, Any]) -> None:
    """Print what the best response wins before and after each phase."""
    show_stages(dict(results))
    print(f"An even share is {results['even']:.1%}. The best response: {results['agent']}")
