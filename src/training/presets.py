"""The learners behind `python -m training.dqn`, by name. To add one, add a row to `PRESETS`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from training.run import command
from training.run.command import Command, Preset
from training.run.session import show


def _rollouts() -> Command[Any, Any]:
    from training.rollouts import learner

    return Command(learner.RolloutOptions(), learner.execute, show)


def _plain() -> Command[Any, Any]:
    from training import dqn

    return Command(dqn.DQNOptions(), dqn.execute, show)


def _ocnaru() -> Command[Any, Any]:
    from training.ocnaru import options, train

    return Command(options.OcnaruOptions(), train.execute, show)


DEFAULT: Final = "rollouts"
PRESETS: Final = {
    DEFAULT: Preset("networks on top of a scripted parent, trained on pairs of games that differ in one action", _rollouts),
    "plain": Preset("double deep Q-learning with replay, from the learner's own games and an expert's; 2 players", _plain),
    "ocnaru": Preset("the thesis's hybrid: seven networks, trained one at a time on experts' games and then their own", _ocnaru),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 only if training and measuring went through."""
    return command.main("training.dqn", PRESETS, arguments, default=DEFAULT)
