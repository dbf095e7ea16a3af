"""The commands `training.dqn` and `training.ppo`.

PyTorch is imported when a run begins: `--help` is quick, and works without it.

To add a learner to `python -m training.dqn`, add a row to `PRESETS`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from monopoly_env.cli import command
from monopoly_env.cli.command import CHECKPOINT, Command, Preset
from monopoly_env.cli.extras import lazily
from training.learner_options import DQNOptions, PPOOptions, ThesisOptions
from training.ocnaru.options import OcnaruOptions
from training.run.session import show

_show_phases: Final = lazily("train", "training.phases:show")


def _dqn(options: Any, module: str, shown: Any = _show_phases) -> partial[Command[Any, Any]]:
    return partial(Command, options, lazily("train", f"{module}:execute"), shown)


DEFAULT: Final = "dqn"
PRESETS: Final = {
    DEFAULT: Preset(
        "deep Q-learning, one network per kind of decision, that watches an expert and then plays"
        " in a league",
        _dqn(DQNOptions(), "training.dqn"),
    ),
    "ocnaru": Preset(
        "the thesis's hybrid: seven networks, trained one at a time on experts' games and then"
        " their own",
        _dqn(OcnaruOptions(), "training.ocnaru.train", show),
    ),
    "thesis": Preset(
        "the same seven networks, trained by this library's recipe",
        _dqn(ThesisOptions(), "training.thesis"),
    ),
}


def dqn(arguments: Sequence[str] | None = None) -> int:
    """Run `training.dqn`; the exit status is 0 only if training and measuring went through."""
    return command.main_of_presets("training.dqn", PRESETS, arguments, default=DEFAULT)


def ppo(arguments: Sequence[str] | None = None) -> int:
    """Run `training.ppo`."""
    task = Command(PPOOptions(), lazily("train", "training.ppo:execute"), _show_phases)
    return command.main("training.ppo", task, arguments, resume_from=CHECKPOINT)
