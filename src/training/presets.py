"""The learners behind `python -m training.dqn`, by name. To add one, add a row to `PRESETS`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from training.run import command
from training.run.command import Command, Preset
from training.run.session import show


def _dqn() -> Command[Any, Any]:
    from training import dqn, phases

    return Command(dqn.DQNOptions(), dqn.execute, phases.show)


def _ocnaru() -> Command[Any, Any]:
    from training.ocnaru import options, train

    return Command(options.OcnaruOptions(), train.execute, show)


def _thesis() -> Command[Any, Any]:
    from training import phases, thesis

    return Command(thesis.ThesisOptions(), thesis.execute, phases.show)


DEFAULT: Final = "dqn"
PRESETS: Final = {
    DEFAULT: Preset("deep Q-learning, one network per kind of decision, that watches an expert and then plays in a league", _dqn),
    "ocnaru": Preset("the thesis's hybrid: seven networks, trained one at a time on experts' games and then their own", _ocnaru),
    "thesis": Preset("the same seven networks, trained by this library's recipe", _thesis),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 only if training and measuring went through."""
    return command.main("training.dqn", PRESETS, arguments, default=DEFAULT)
