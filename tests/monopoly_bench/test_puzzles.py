"""Puzzles: those that are shipped are sound, and the search finds what it says.

They hold over other luck, and damaged files are refused.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import pytest

import monopoly_env as me
from monopoly_bench.puzzles import KINDS, SHIPPED, Puzzle, __main__, load, prompts, save
from monopoly_bench.puzzles.mine import PuzzleSearch, asked, mine
from monopoly_env import core, replays
from tests.play import offer

ALL = load()


def test_what_is_shipped() -> None:
    assert len(ALL) == 50
    kinds = Counter(puzzle.kind for puzzle in ALL)
    assert set(kinds) == set(KINDS)
    assert min(kinds.values()) >= 5
    assert len({(puzzle.replay.seed, len(puzzle.replay.actions)) for puzzle in ALL}) == 50
    assert len({puzzle.best.text for puzzle in ALL}) > 12
    assert {puzzle.replay.num_players for puzzle in ALL} == {2, 3, 4}


@pytest.mark.parametrize("number", range(50))
def test_a_puzzle(number: int) -> None:
    puzzle = ALL[number]
    game = puzzle.game
    assert replays.digest(game) == puzzle.replay.digest
    candidates = {candidate.action for candidate in puzzle.candidates}
    assert (puzzle.kind, candidates) in [(kind, set(found)) for kind, found in asked(game)]
    assert puzzle.lead >= 0.02
    assert puzzle.best.difference == 0
    assert puzzle.of(puzzle.best.action) is puzzle.best
    assert all(candidate.text in str(puzzle) for candidate in puzzle.candidates)
    assert puzzle.game is not game  # a record of one's own, to play on


def test_the_numbers_are_those_of_compare_actions() -> None:
    puzzle = min(
        ALL,
        key=lambda puzzle: (
            len(puzzle.candidates),
            puzzle.game.num_players,
            -puzzle.replay.actions.size,
        ),
    )
    actions = sorted(candidate.action for candidate in puzzle.candidates)
    compared = me.compare_actions(
        puzzle.game, actions, puzzle.policies[0], puzzle.best.playouts, seed=puzzle.seed
    )
    assert compared.best.action == puzzle.best.action
    assert compared.best.share == pytest.approx(puzzle.best.share, abs=0.0001)


def test_solutions_hold_over_other_luck() -> None:
    """Those that lead most need few playouts to show it."""
    for puzzle in sorted(ALL, key=lambda puzzle: -puzzle.lead)[:5]:
        second = puzzle.candidates[1]
        shares = [
            me.rollout(
                puzzle.game, puzzle.policies[0], 150, actions=action, seed=puzzle.seed + 99
            ).share[int(puzzle.game.player)]
            for action in (puzzle.best.action, second.action)
        ]
        assert shares[0] > shares[1]


def test_puzzles_are_frozen_and_name_their_answers() -> None:
    with pytest.raises(FrozenInstanceError):
        ALL[0].kind = "bid"  # type: ignore[misc]
    with pytest.raises(me.ConfigurationError, match="204"):
        ALL[0].of(204)


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    assert load(save(tmp_path / "all.json", ALL)) == ALL
    assert (tmp_path / "all.json").read_bytes() == SHIPPED.read_bytes()


def _changed(change: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, Any]], Any]:
    return lambda data: change(data["puzzles"][1])


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda data: data.update(format="other"), "holds no puzzles"),
        (lambda data: data.update(rules_version=-1), "rules_version is -1"),
        (lambda data: data.update(puzzles=3), "list"),
        (
            _changed(lambda one: one.update(kind="byu")),
            r"Puzzle 2 of 50.*'byu'. Did you mean 'buy'",
        ),
        (_changed(lambda one: one.pop("seed")), "Puzzle 2.*KeyError: 'seed'"),
        (_changed(lambda one: one.update(seed=-1)), "Puzzle 2.*2"),
        (_changed(lambda one: one.update(policies=[3])), "policies"),
        (_changed(lambda one: one["replay"].update(actions="??")), "no recorded game"),
        (_changed(lambda one: one["replay"].update(decisions=3)), "claims 3 decisions"),
        (_changed(lambda one: one["replay"].update(seed=1)), "Puzzle 2"),
        (_changed(lambda one: one["candidates"][0].update(action=204)), "204 is not legal"),
        (_changed(lambda one: one["candidates"][0].update(action="2")), "'2' is not legal"),
        (_changed(lambda one: one["candidates"][0].update(share=float("nan"))), "shares"),
        (_changed(lambda one: one["candidates"][0].update(shares=[0.5, 0.1])), "shares"),
        (_changed(lambda one: one["candidates"][0].update(more=1)), "more"),
        (
            _changed(lambda one: one["candidates"].reverse()),
            "not clearly worse|lie in its interval",
        ),
        (_changed(lambda one: one["candidates"].pop(0)), "two answers|not clearly worse"),
    ],
)
def test_damaged_files_are_refused(
    change: Callable[[dict[str, Any]], Any], told: str, tmp_path: Path
) -> None:
    data = json.loads(SHIPPED.read_text(encoding="utf-8"))
    change(data)
    (tmp_path / "bad.json").write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(me.FormatError, match=told):
        load(tmp_path / "bad.json")


def test_what_is_no_file_of_puzzles(tmp_path: Path) -> None:
    with pytest.raises(me.ConfigurationError, match="none"):
        load(tmp_path / "none.json")
    for text in ("", "[]", "{", "null"):
        (tmp_path / "bad.json").write_text(text, encoding="utf-8")
        with pytest.raises(me.FormatError, match="holds no puzzles"):
            load(tmp_path / "bad.json")


def test_questions() -> None:
    """The answers of each kind, and one street for a whole group."""
    greens = ["Pacific Avenue", "North Carolina Avenue", "Pennsylvania Avenue"]
    game = me.position(2, lots={0: greens, 1: ["Boardwalk"]}, cash=[2000, 2000])
    assert [
        (kind, [me.actions.describe(action) for action in found]) for kind, found in asked(game)
    ] == [("build", ["build Pacific Avenue", "go on"])]
    jailed = me.position(2, jail={0: 1}, jail_cards={0: ["chance"]})
    assert [kind for kind, _ in asked(jailed)] == ["jail"]
    offered = me.position(2, lots={0: ["Boardwalk"], 1: ["Park Place"]})
    offer(offered, 1, ask=["Park Place"], give=["Boardwalk"])
    assert [kind for kind, _ in asked(offered)] == ["trade"]
    assert list(asked(me.position(2))) == [("buy", (0, 1))]


QUICK: dict[str, Any] = {"policy": "algorithmic", "playouts": 150, "lead": 0.0}


def search(count: int, opponent: str = "random", **options: Any) -> list[Puzzle]:
    players = ("algorithmic", opponent)
    return list(mine(PuzzleSearch(count, players=players, **{**QUICK, **options})))


def test_the_search_finds_the_same_puzzles_again() -> None:
    found = search(2, seed=3, games=20)
    assert found == search(2, seed=3, games=20)
    assert len(found) == 2
    for puzzle in found:
        assert puzzle.lead > 0
        assert core.legal_actions(puzzle.game).tolist()


def test_a_second_policy_must_agree() -> None:
    """By its playouts, too, the same answer is clearly the best.

    Without it, other puzzles are found.
    """
    found = search(2, "strategic", also="strategic", seed=3, games=12)
    assert found
    for puzzle in found:
        actions = sorted(candidate.action for candidate in puzzle.candidates)
        again = me.compare_actions(puzzle.game, actions, "strategic", 150, seed=puzzle.seed)
        assert again.best.action == puzzle.best.action
        assert max(one.difference_high for one in again.candidates[1:]) < 0
    assert found != search(2, "strategic", seed=3, games=12)


def test_no_kind_has_more_than_its_share() -> None:
    """Two of three at most, of which half, so one, may have the same solution."""
    found = search(3, seed=3, kind_share=0.6, games=30)
    assert len(found) == 3
    assert max(Counter(puzzle.kind for puzzle in found).values()) <= 2
    assert max(Counter((puzzle.kind, puzzle.best.text) for puzzle in found).values()) == 1


@pytest.mark.slow
def test_a_first_look_is_at_more_than_one_question_of_a_kind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With fewer looks, the same games give fewer puzzles."""
    many = len(search(8, seed=5, kind_share=1, games=8))
    monkeypatch.setattr("monopoly_bench.puzzles.mine._LOOKS", 1)
    assert len(search(8, seed=5, kind_share=1, games=8)) < many


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "mine.json")
    quick = "--players algorithmic random --policy algorithmic --playouts 150 --lead 0 --seed 3"
    words = quick.split()
    assert __main__.main(["--out", out, "--count", "1", "--games", "20", *words]) == 0
    assert f"1 puzzles in {out}: 1 " in capsys.readouterr().out
    assert len(load(out)) == 1
    assert __main__.main(["--out", out, "--games", "1", *words[:-1], "4", "--lead", "0.9"]) == 1
    assert "try more --games" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (["--count", "0"], "--count 0"),
        (["--lead", "1"], "--lead 1"),
        (["--kind-share", "0.1"], "--kind-share 0.1 must be from 1/6"),
        (["--players", "expert"], "two policies or more"),
        (["--players", "expert", "exprt"], "'exprt'"),
        (["--policy", "exprt", "--games", "1"], "'exprt'"),
        (["--also", "exprt", "--games", "1"], "'exprt'"),
        (["--rules", "oficial"], "'official'"),
    ],
)
def test_wrong_options(
    wrong: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert __main__.main(["--out", str(tmp_path / "mine.json"), *wrong]) == 2
    assert told in capsys.readouterr().err


def test_the_positions_are_real() -> None:
    """What is forced or set up by hand would show in the record."""
    for puzzle in ALL:
        game = puzzle.game
        core.check(game)
        assert game.num_forced == 0


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
    with pytest.raises(me.FormatError, match="51"):
        prompts.score(ALL, {51: "ACTION: buy"})


def test_the_commands_of_prompts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
