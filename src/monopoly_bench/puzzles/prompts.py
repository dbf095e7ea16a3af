"""Puzzles as a file of prompts for language models, and the score of their answers.

A line of the file is a JSON object: `id`, `kind`, `prompt`, and `answers`, which holds the number,
the text and the regret of each answer. Regret is the share of the win that an answer gives away: 0
for the solution. Send `prompt` alone, or the labels leak.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from monopoly_bench import prompts
from monopoly_bench.puzzles import DIGITS, Puzzle
from monopoly_env.errors import FormatError, MonopolyError, shortened
from monopoly_env.files import read_file, read_json, write_atomically
from monopoly_env.intervals import mean_interval

_MOST_BYTES: Final = 1 << 26


def entries(puzzles: Sequence[Puzzle]) -> list[dict[str, Any]]:
    """Each puzzle as a prompt with the regret of each answer, in order of the answers' numbers."""
    found = []
    for number, puzzle in enumerate(puzzles, 1):
        candidates = sorted(puzzle.candidates, key=lambda candidate: candidate.action)
        position = prompts.prompt(puzzle.game).partition("\nLegal actions:")[0]
        menu = [f"{one.action}: {one.text}" for one in candidates]
        question = "\n".join([position, "Choose one of these actions:", *menu])
        answers = [
            {"action": one.action, "text": one.text, "regret": round(-one.difference, DIGITS)}
            for one in candidates
        ]
        asked = f"{prompts.SYSTEM}\n\n{question}"
        found.append({"id": number, "kind": puzzle.kind, "prompt": asked, "answers": answers})
    return found


def write(path: str | os.PathLike[str], puzzles: Sequence[Puzzle]) -> Path:
    """Write the file of prompts, atomically.

    Raises:
        ConfigurationError: The file can't be written.
    """
    lines = "".join(json.dumps(entry) + "\n" for entry in entries(puzzles))
    return write_atomically(path, lines.encode())


def score(puzzles: Sequence[Puzzle], answers: Mapping[int, str]) -> dict[str, Any]:
    """The regret of answers to puzzles.

    Args:
        puzzles: As they were written.
        answers: By `id`, what the model wrote: its last line is `ACTION: <number or text>`. An
            answer that is missing, unreadable or not in the menu has the regret of the worst
            answer.

    Returns:
        `regret` with its 95% interval `low` and `high`, `solved` (the share of puzzles whose
        solution was found), `unreadable` (the share without a valid answer), and `kinds`: the mean
        regret by kind.

    Raises:
        FormatError: There is an answer to a puzzle that does not exist, or there are no puzzles.
    """
    if not puzzles:
        raise FormatError("There are no puzzles.")
    if unknown := sorted(set(answers) - set(range(1, len(puzzles) + 1))):
        raise FormatError(
            f"There are {len(puzzles)} puzzles; {unknown[:3]} are none of their numbers."
        )
    regrets, kinds, unreadable = [], defaultdict(list), 0
    for number, puzzle in enumerate(puzzles, 1):
        try:
            chosen = puzzle.of(prompts.read(answers.get(number, ""), puzzle.game))
        except MonopolyError:
            unreadable += 1
            chosen = min(puzzle.candidates, key=lambda candidate: candidate.difference)
        regrets.append(-chosen.difference)
        kinds[puzzle.kind].append(-chosen.difference)
    mean, low, high = mean_interval(np.array(regrets))
    return {
        "puzzles": len(puzzles), "regret": mean, "low": low, "high": high,
        "solved": sum(regret <= 0 for regret in regrets) / len(regrets),
        "unreadable": unreadable / len(regrets),
        "kinds": {kind: sum(found) / len(found) for kind, found in sorted(kinds.items())},
    }  # fmt: skip


def read(path: str | os.PathLike[str]) -> dict[int, str]:
    """The answers of a file: a JSON object a line, with `id` and `answer`.

    Raises:
        ConfigurationError: The file does not exist. FormatError: A line is something else, or
            answers a puzzle again.
    """
    answers: dict[int, str] = {}
    for line in read_file(path, _MOST_BYTES).decode(errors="replace").splitlines():
        if not line.strip():
            continue
        data = read_json(line.encode())
        given = data if isinstance(data, dict) else {}
        number, answer = given.get("id"), given.get("answer")
        if not isinstance(number, int) or not isinstance(answer, str) or number in answers:
            raise FormatError(
                f'{os.fspath(path)!r}: a line must be like {{"id": 1, "answer": "ACTION: buy"}},'
                f" each id once, not {shortened(line)}."
            )
        answers[number] = answer
    return answers
