"""Find puzzles in games between policies, and score language models on them.

`python -m monopoly_bench.puzzles --help` lists the options.

python -m monopoly_bench.puzzles --out mine.json              # 50 puzzles
python -m monopoly_bench.puzzles --count 12 --seed 7 --out mine.json --players expert gcp fp/a
python -m monopoly_bench.puzzles prompts --out prompts.jsonl  # the shipped ones as prompts
python -m monopoly_bench.puzzles score answers.jsonl          # the regret of a model's answers

A line of prompts.jsonl is a prompt and its labels.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console
from rich.progress import Progress

from monopoly_bench.puzzles import SHIPPED, Puzzle, load, prompts, save
from monopoly_bench.puzzles.mine import PuzzleSearch, mine
from monopoly_env.cli import command
from monopoly_env.cli.command import Command


@dataclass(frozen=True, kw_only=True)
class SearchOptions(PuzzleSearch):
    """Find positions in which one answer is clearly the best.

    The players play games with each other. Where they disagree, every answer is compared by a few
    playouts, then, if one seems clearly the best, by many with other random numbers. A decision
    that passes becomes a puzzle. The file is saved with each puzzle, so an interrupted search loses
    nothing; `monopoly_bench.puzzles.load` reads it.

    `python -m monopoly_bench.puzzles prompts` writes puzzles as prompts for language models,
    `... score` scores their answers (each has its own --help).
    """

    out: Path
    """The file to write (.json)."""


@dataclass(frozen=True)
class PromptOptions:
    """Write puzzles as prompts for language models.

    Each line is a JSON object: `id`, `kind`, `prompt`, and the regret of each answer.
    """

    out: Path
    """The file to write (.jsonl)."""
    puzzle_file: Path = SHIPPED
    """A file of puzzles; by default those that come with the library."""


@dataclass(frozen=True)
class ScoreOptions:
    """Score the answers of a language model to puzzles by their regret in shares of the win."""

    answers: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="ANSWERS")]
    """The answers: a JSON object a line, {"id": 1, "answer": "... ACTION: buy"}.

    A missing or unreadable answer counts as the worst.
    """
    puzzle_file: Path = SHIPPED
    """The file of puzzles."""
    json: bool = False
    """Print one JSON object."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 if it found all puzzles, or wrote or scored a file."""
    subcommands: dict[str, Command[Any, int]] = {
        "prompts": Command(PromptOptions, _prompts),
        "score": Command(ScoreOptions, _score),
    }
    search = Command(SearchOptions, _search)
    return command.main("monopoly_bench.puzzles", search, arguments, subcommands=subcommands)


def _prompts(options: PromptOptions, _: Console) -> int:
    puzzles = load(options.puzzle_file)
    prompts.write(options.out, puzzles)
    print(f"{len(puzzles)} prompts in {options.out}.")
    return 0


def _score(options: ScoreOptions, _: Console) -> int:
    scored = prompts.score(load(options.puzzle_file), prompts.read(options.answers))
    if options.json:
        print(json.dumps(scored))
        return 0
    print(
        f"Regret {scored['regret']:.4f} ({scored['low']:.4f} to {scored['high']:.4f}) of a win,"
        f" over {scored['puzzles']} puzzles."
    )
    print(f"{scored['solved']:.0%} solved, {scored['unreadable']:.0%} without a valid answer.")
    print(", ".join(f"{kind} {regret:.4f}" for kind, regret in scored["kinds"].items()))
    return 0


def _search(options: SearchOptions, console: Console) -> int:
    found: list[Puzzle] = []
    with Progress(console=console) as bar:
        puzzles = bar.add_task("Puzzles", total=options.count)
        games = bar.add_task("Games", total=options.games)
        for puzzle in mine(options, lambda: bar.advance(games)):
            found.append(puzzle)
            save(options.out, sorted(found, key=lambda one: one.kind))
            bar.advance(puzzles)
    numbers = Counter(puzzle.kind for puzzle in found)
    kinds = ", ".join(f"{number} {kind}" for kind, number in numbers.items())
    if found:
        print(f"{len(found)} puzzles in {options.out}: {kinds}.")
    else:
        print("No puzzle: try more --games, or a smaller --lead.")
    return 0 if len(found) == options.count else 1


if __name__ == "__main__":
    sys.exit(main())
