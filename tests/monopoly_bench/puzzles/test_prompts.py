"""Puzzles as prompts: the labels are the puzzles' own, and answers are scored by them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from monopoly_bench.puzzles import __main__, load, prompts
from monopoly_env.errors import FormatError

ALL = load()


def test_a_prompt_has_the_labels_beside_it_and_not_in_it() -> None:
    for puzzle, entry in zip(ALL, prompts.entries(ALL), strict=True):
        assert {one["action"]: one["regret"] for one in entry["answers"]} == {
            one.action: -one.difference for one in puzzle.candidates
        }
        assert all(f"{one.action}: {one.text}" in entry["prompt"] for one in puzzle.candidates)
        assert "regret" not in entry["prompt"]
        assert "Legal actions:" not in entry["prompt"]


def test_answers_are_scored_by_their_regret() -> None:
    solved = prompts.score(
        ALL, {number: f"ACTION: {puzzle.best.text}" for number, puzzle in enumerate(ALL, 1)}
    )
    assert (solved["regret"], solved["solved"], solved["unreadable"]) == (0, 1, 0)
    silent = prompts.score(ALL, {1: "buy!"})
    worst = [-min(candidate.difference for candidate in puzzle.candidates) for puzzle in ALL]
    assert silent["unreadable"] == 1
    assert silent["regret"] == pytest.approx(sum(worst) / len(worst))
    with pytest.raises(FormatError, match="51"):
        prompts.score(ALL, {51: "ACTION: buy"})


def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked, answers = tmp_path / "prompts.jsonl", tmp_path / "answers.jsonl"
    assert __main__.main(["prompts", "--out", str(asked)]) == 0
    entries = [json.loads(line) for line in asked.read_text().splitlines()]
    answers.write_text(
        "".join(
            json.dumps({"id": e["id"], "answer": f"ACTION: {e['answers'][0]['action']}"}) + "\n"
            for e in entries
        )
    )
    capsys.readouterr()
    assert __main__.main(["score", str(answers), "--json"]) == 0
    scored = json.loads(capsys.readouterr().out)
    assert scored["puzzles"] == len(entries) == 50
    assert scored["unreadable"] == 0
    assert __main__.main(["score", str(answers)]) == 0
    assert "solved" in capsys.readouterr().out
    answers.write_text('{"id": 1}\n')
    assert __main__.main(["score", str(answers)]) == 2
    assert "each id once" in capsys.readouterr().err
