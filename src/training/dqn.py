"""Train a Monopoly agent, and measure it: `python -m training.dqn --help`.

python -m training.dqn                                     # minutes: networks over a scripted parent, from pairs of rollouts
python -m training.dqn --pairs 2000000 --out runs/long     # a larger budget
python -m training.dqn --resume                            # go on with a run that was stopped
python -m training.dqn --preset plain                      # deep Q-learning from games of its own
python -m training.dqn --preset ocnaru --budget 0.01       # the agent of Ocnaru's thesis, at a hundredth of its games

`--preset NAME --help` explains the settings of a preset, a line each.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Sequence
from typing import Any, Final

import tyro
from rich.console import Console

from training.run import command as commands
from training.run import panel as evaluation
from training.run.command import resumable

DEFAULT: Final = "rollouts"
# Each: the module with its Options and `execute`, and what it is.
PRESETS: Final = {
    "rollouts": ("training.rollouts.learner", "networks over a scripted parent, taught by pairs of games that differ in one action"),
    "plain": ("training.plain", "double deep Q-learning with replay, from games of one's own and of a watched expert; 2 players"),
    "ocnaru": ("training.ocnaru", "the thesis's hybrid: seven networks, taught one at a time by experts' games and own ones"),
}  # fmt: skip


def chosen(arguments: Sequence[str]) -> tuple[str, list[str]]:
    """The preset that a command line names, and the rest of the line.

    Raises:
        ConfigurationError: An unknown preset, or no name after `--preset`.
    """
    return commands.chosen(arguments, PRESETS, DEFAULT)


def run(name: str, arguments: Sequence[str], console: Console) -> tuple[Any, dict[str, Any]]:
    """Read the settings of a preset and carry it out."""
    preset: Any = importlib.import_module(PRESETS[name][0])
    about = commands.preset_help(name, PRESETS, preset.Options.__doc__ or "")
    options = tyro.cli(preset.Options, args=list(arguments), prog="python -m training.dqn", description=about)
    return options, preset.execute(options, console)


@resumable("the last checkpoint")
def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; the exit status is 0 only if training and measuring went through."""
    name, rest = chosen(sys.argv[1:] if arguments is None else arguments)
    options, results = run(name, rest, Console(stderr=True))
    if options.json:
        print(json.dumps(results))
    else:
        title = f"{results['agent']} after {results['steps']:,} {results.get('unit', 'steps')}"
        Console().print(evaluation.table(results["opponents"], title))


if __name__ == "__main__":
    sys.exit(main())
