"""Find puzzles in games between policies, and put them to language models.

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
from typing import Annotated

import tyro
from rich.console import Console
from rich.progress import Progress

from monopoly_bench.puzzles import prompts
from monopoly_bench.puzzles.mine import PLAYERS, mine
from monopoly_bench.puzzles.puzzle import SHIPPED, Puzzle, load, save
from monopoly_env.errors import MonopolyError
from monopoly_env.rules import PRESETS
from monopoly_env.terminal import failed


@dataclass(frozen=True)
class Options:
    """Find positions in which one answer is clearly the best.

    The players play games with each other. Where they disagree, every answer is played on, first a
    few times, then, if one seems to be clearly the best, many times over other luck. What stays so
    becomes a puzzle. The file is written anew with each puzzle, so an interrupted search loses
    nothing; `monopoly_bench.puzzles.load` reads it.

    `python -m monopoly_bench.puzzles prompts` writes puzzles as prompts for language models,
    `... score` scores their answers (each has its own --help).
    """

    out: Path
    """The file to write (.json)."""
    count: int = 50
    """How many puzzles to find: buy, bid, build, jail, trade, money."""
    seed: int = 0
    """The seed of games and playouts: the same seed finds the same puzzles."""
    players: tuple[str, ...] = PLAYERS
    """The players of the games: policies, two to four of them in each."""
    policy: str = "expert"
    """Who plays on, in every seat, when answers are compared.

    The best answer is the best for a player who goes on like this.
    """
    also: str | None = None
    """Another policy by whose playouts the same answer must be clearly the best too.

    Such puzzles depend less on who plays on.
    """
    rules: Annotated[str, tyro.conf.arg(help=f"The preset of rules: {', '.join(PRESETS)}.")] = (
        "official"
    )
    playouts: int = 1000
    """Playouts of the best answers. More find puzzles in which the lead is smaller."""
    lead: float = 0.02
    """By how much of a win the best answer must lead every other one at least, at the near end of
    the 95% interval."""
    kind_share: float = 0.2
    """Of the puzzles that may be of one kind; half of those may have the same solution.

    A low share waits long for the rare kinds.
    """
    games: int = 1000
    """Games to play at most, even if puzzles are missing then."""


@dataclass(frozen=True)
class PromptOptions:
    """Write puzzles as prompts for language models.

    A JSON object a line, with `id`, `kind`, `prompt`, and the regret of each answer.
    """

    out: Path
    """The file to write (.jsonl)."""
    puzzle_file: Path = SHIPPED
    """A file of puzzles; by default those that come with the library."""


@dataclass(frozen=True)
class ScoreOptions:
    """Score the answers of a language model to puzzles by the share of the win they give away."""

    answers: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="ANSWERS")]
    """The answers: a JSON object a line, {"id": 1, "answer": "... ACTION: buy"}.

    One that is missing or unreadable counts as the worst.
    """
    puzzle_file: Path = SHIPPED
    """The puzzles that were put."""
    json: bool = False
    """Print one JSON object."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return the exit status.

    0 if all puzzles were found, or the file was written or scored.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    program = "python -m monopoly_bench.puzzles"
    try:
        if words[:1] == ["prompts"]:
            return _prompts(tyro.cli(PromptOptions, args=words[1:], prog=f"{program} prompts"))
        if words[:1] == ["score"]:
            return _score(tyro.cli(ScoreOptions, args=words[1:], prog=f"{program} score"))
    except MonopolyError as error:
        return failed(error, arguments)
    options = tyro.cli(Options, args=words, prog=program)
    try:
        found = _search(options)
    except MonopolyError as error:
        return failed(error, arguments)
    except KeyboardInterrupt:
        return 130
    kinds = ", ".join(
        f"{count} {kind}" for kind, count in Counter(puzzle.kind for puzzle in found).items()
    )
    print(
        f"{len(found)} puzzles in {options.out}: {kinds}."
        if found
        else "No puzzle: try more --games, or a smaller --lead."
    )
    return 0 if len(found) == options.count else 1


def _prompts(options: PromptOptions) -> int:
    puzzles = load(options.puzzle_file)
    prompts.write(options.out, puzzles)
    print(f"{len(puzzles)} prompts in {options.out}.")
    return 0


def _score(options: ScoreOptions) -> int:
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


def _search(options: Options) -> list[Puzzle]:
    found: list[Puzzle] = []
    with Progress(console=Console(stderr=True)) as bar:
        puzzles, games = (
            bar.add_task("Puzzles", total=options.count),
            bar.add_task("Games", total=options.games),
        )
        for puzzle in mine(
            options.count, seed=options.seed, players=options.players, policy=options.policy,
            also=options.also, rules=options.rules,
            playouts=options.playouts, lead=options.lead, kind_share=options.kind_share,
            games=options.games,
            progress=lambda: bar.advance(games),
        ):  # fmt: skip
            found.append(puzzle)
            save(options.out, sorted(found, key=lambda one: one.kind))
            bar.advance(puzzles)
    return found


if __name__ == "__main__":
    sys.exit(main())
