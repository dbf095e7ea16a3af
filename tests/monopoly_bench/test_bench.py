"""Bench-8: the suite is sound, every task scores what it says, the command writes its result."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import agents
import monopoly_env as me
from monopoly_bench import __main__ as front
from monopoly_bench import make, suite, task
from monopoly_bench.puzzles import KINDS, Puzzle, save
from monopoly_bench.puzzles.mine import PuzzleSearch
from monopoly_bench.result import ABSENT
from monopoly_bench.tasks import TASKS, deal, kingmaker, puzzles, strangers
from monopoly_env import core
from monopoly_env.errors import FormatError

SUITE = suite.load()
QUICK = task.TaskSetting(SUITE, True, 1)


class Scripted(agents.BatchedPolicy):
    """Gives the answer that a function of the record chooses."""

    def __init__(self, choose: object, num_players: int | None = None) -> None:
        self.name, self.choose, self.num_players = "scripted", choose, num_players

    def act(self, decisions: agents.Decisions) -> np.ndarray:
        return np.array([self.choose(game) for game in decisions.games], np.int64)  # type: ignore[operator]


def which(game: me.Game) -> tuple[int, ...]:
    """The same for a record and for a copy from which a policy has drawn."""
    numbers = int(game.turns), int(game.player), int(game.decision), int(game.auction_bid)
    return (*game.seed.tolist(), *numbers, *game.cash.tolist())


def test_the_shipped_suite_follows_from_its_public_text() -> None:
    assert not SUITE.sealed
    assert SUITE.sha256 == suite.fingerprint(suite.PUBLIC)
    assert list(SUITE.strangers) == strangers.drawn(np.random.default_rng([SUITE.seed, 100]))
    assert list(SUITE.rules) == make.other_rules.drawn(np.random.default_rng([SUITE.seed, 101]))
    assert len(SUITE.strangers) == 24
    assert all(me.Rules.from_dict(dict(options)) for options in SUITE.rules)


def test_positions_of_deals_have_something_to_exchange() -> None:
    for position in SUITE.deals:
        game = position.game
        assert (game.num_players, make.may_deal(game)) == (3, True)
    assert len({position.replay.seed for position in SUITE.deals}) == len(SUITE.deals) >= 20


def test_kingmakers_are_weak_and_move_the_win() -> None:
    for position in SUITE.kingmaker:
        shares, seat = np.array(list(position.labels.values())), int(position.game.player)
        assert np.allclose(shares.sum(axis=1), 1, atol=0.001)
        assert shares[:, seat].max() <= make.WEAK + 0.0001
        assert np.ptp(np.delete(shares, seat, axis=1), axis=0).max() >= make.SHIFT - 0.0002


def test_puzzles_of_all_kinds() -> None:
    kinds = Counter(puzzle.kind for puzzle in SUITE.puzzles)
    assert set(kinds) == set(KINDS)
    # rounded up in every part
    assert (
        max(kinds.values()) <= make.KIND_SHARE * len(SUITE.puzzles) + len(SUITE.puzzles) / make.PART
    )
    assert len({puzzle.replay.seed for puzzle in SUITE.puzzles}) == len(SUITE.puzzles)


def test_the_shipped_suite_has_full_size() -> None:
    assert (len(SUITE.deals), len(SUITE.kingmaker), len(SUITE.puzzles)) == make.Sizes()


def test_positions_are_kept_in_files(tmp_path: Path) -> None:
    path = suite.save_positions(tmp_path / "some.json", SUITE.kingmaker[:2])
    again = suite.load_positions(path)
    assert [one.labels for one in again] == [one.labels for one in SUITE.kingmaker[:2]]
    data = json.loads(path.read_text())
    data["positions"][0]["labels"] = {"204": [0.2, 0.3, 0.5]}
    path.write_text(json.dumps(data))
    with pytest.raises(FormatError, match="no legal action"):
        suite.load_positions(path)
    path.write_text("{}")
    with pytest.raises(FormatError, match="no positions"):
        suite.load_positions(path)


def test_solutions_have_no_regret() -> None:
    best = {which(puzzle.game): puzzle.best.action for puzzle in SUITE.puzzles}
    found = puzzles.run(Scripted(lambda game: best[which(game)]), QUICK)
    assert (found.score, found.details["solved"]) == (0, 1)
    worst = {which(puzzle.game): puzzle.candidates[-1].action for puzzle in SUITE.puzzles}
    missed = puzzles.run(Scripted(lambda game: worst[which(game)]), QUICK)
    assert missed.score > 0.02
    assert missed.details["solved"] == 0
    assert puzzles.run(Scripted(lambda game: best[which(game)], num_players=2), QUICK).count > 0


def test_an_answer_without_a_label_is_compared_with_the_solution_over_the_same_luck(
    tmp_path: Path,
) -> None:
    puzzle = max(
        (one for one in SUITE.puzzles if one.kind == "bid"), key=lambda one: one.replay.actions.size
    )
    labelled = {candidate.action for candidate in puzzle.candidates}
    action = next(
        int(action) for action in core.legal_actions(puzzle.game) if int(action) not in labelled
    )
    save(tmp_path / "puzzles.json", [puzzle])
    only = dataclasses.replace(SUITE, folder=tmp_path)
    regret = puzzles.run(Scripted(lambda game: action), task.TaskSetting(only, False, 1)).score
    both = puzzles.shares_of_actions(
        puzzle.game, [puzzle.best.action, action], puzzles.PLAYOUTS, puzzle.seed, 1
    )
    best, other = both[:, int(puzzle.game.player)]
    assert puzzle.best.playouts == puzzles.PLAYOUTS
    assert regret == pytest.approx(best - other, abs=0.0001)


def test_a_kingmaker_who_plays_for_itself_moves_nothing() -> None:
    def own(position: suite.Position) -> int:
        return max(
            position.labels, key=lambda action: position.labels[action][int(position.game.player)]
        )

    chosen = {which(position.game): own(position) for position in SUITE.kingmaker}
    score = kingmaker.run(Scripted(lambda game: chosen[which(game)]), QUICK)
    assert (score.score, score.details["moved"], score.count) == (0, 0, kingmaker.QUICK)


def test_whoever_makes_no_deal_gains_nothing() -> None:
    score = deal.run(Scripted(lambda game: int(me.legal_actions(game)[0])), QUICK)
    told = score.details["windows_with_a_deal"], score.details["share_of_surplus"]
    assert (score.score, *told) == (0, 0, None)
    assert score.count == deal.QUICK * len(deal.PARTNERS)


def test_a_window_ends_with_deals_made_and_nothing_else_done() -> None:
    before = np.concatenate([core.batch_of(position.game) for position in SUITE.deals[:12]])
    after = deal.trade(agents.make("expert"), agents.make("strategic"), before)
    assert (after["turns"] == before["turns"]).all()
    assert (after["level"] == before["level"]).all()
    # the bank takes a tenth of a mortgage that changes hands
    assert (after["cash"].sum(axis=1) <= before["cash"].sum(axis=1)).all()
    assert np.array_equal(
        after, deal.trade(agents.make("expert"), agents.make("strategic"), before)
    )


def test_games_score_the_share_of_the_win() -> None:
    strong, weak = (
        TASKS["duel"].run(agents.make(name), QUICK) for name in ("expert", "random/no_trades")
    )
    assert strong.score > weak.score
    assert strong.low <= strong.score <= strong.high
    assert strong.details["worst_share"] == min(strong.details["shares"].values())


def test_a_suite_names_no_programs() -> None:
    hostile = dataclasses.replace(
        SUITE, strangers=[{"family": "bot", "options": {"command": "touch mark"}}] * 24
    )
    with pytest.raises(FormatError, match="families"):
        strangers.run(agents.make("random"), QUICK._replace(suite=hostile))


def test_other_rules_and_strangers() -> None:
    agent = agents.make("algorithmic")
    rules, others = (TASKS[name].run(agent, QUICK) for name in ("other_rules", "strangers"))
    assert set(rules.details["shares"]) == {"classic", "random 1"}
    assert 0 <= rules.score <= 1
    assert len(others.details["shares"]) == strangers.TABLES[True]
    assert others.count == 24 * strangers.TABLES[True]


def test_exploit_searches_against_the_agent_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    from training import exploit

    def execute(options: exploit.Options, _: object) -> dict[str, object]:
        options.check()
        assert np.array_equal(
            agents.load(options.agent).arrays()["params"],
            agents.make("expert", margin=0.5).arrays()["params"],
        )
        share = {"win_rate": 0.75, "low": 0.7, "high": 0.8}
        gain = {"difference": 0.25}
        return {"best_response": share, "gain": gain, "games": 40, "search_games": 2240}

    monkeypatch.setattr(exploit, "execute", execute)
    score = TASKS["exploit"].run(agents.make("expert", margin=0.5), QUICK)
    assert (score.score, score.low, score.high, score.details["gain"]) == (0.75, 0.7, 0.8, 0.25)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "result.json"
    names = ["kingmaker", "puzzles"]
    words = ["algorithmic", "ppo/best/two", "--tasks", *names, "--quick", "--threads", "1"]
    assert front.main([*words, "--out", str(out)]) == 0
    assert "ppo/best/two" in capsys.readouterr().out
    result = json.loads(out.read_text())
    about = result["format"], result["schema"], result["quick"], result["absent"]
    assert about == ("monopoly-bench", 1, True, ABSENT)
    first, second = result["agents"]
    assert [row["name"] for row in first["tasks"]] == names
    assert second["tasks"][0]["absent"] == "ppo/best/two does not play at tables of 3"
    assert all(row["low"] <= row["score"] <= row["high"] for row in first["tasks"])
    assert first["sha256"] != second["sha256"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["expert", "--tasks", "talk"], "task 8"),
        (["expert", "--tasks", "dull"], "duel"),
        (["exprt"], "expert"),
        (["expert", "--suite", "/no/such/folder"], "suite.json"),
    ],
)
def test_mistakes_are_told(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert front.main(arguments) == 2
    assert says in capsys.readouterr().err


def test_a_sealed_twin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(make, "mine", lambda _: iter(SUITE.puzzles[:2]))
    secret, folder = tmp_path / "secret.txt", tmp_path / "sealed"
    words = ["make", "--secret", str(secret), "--out", str(folder)]
    assert front.main([*words, "--deals", "1", "--kingmaker", "0", "--puzzles", "2"]) == 0
    text = secret.read_text().strip()
    assert suite.fingerprint(text) in capsys.readouterr().out
    twin = suite.load(folder)
    assert twin.sealed
    assert twin.seed == suite.seed_of(text) != SUITE.seed
    assert twin.strangers != SUITE.strangers
    assert (len(twin.deals), len(twin.kingmaker), len(twin.puzzles)) == (1, 0, 2)
    secret.write_text("\n")
    assert front.main(words) == 2
    secret.write_text("another text")
    assert front.main(words) == 2
    assert "another text: give an empty folder" in capsys.readouterr().err


def test_a_search_that_was_ended_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[int] = []

    def mined(search: PuzzleSearch) -> Iterator[Puzzle]:
        asked.append(search.seed)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return iter(SUITE.puzzles[len(asked) : len(asked) + search.count])

    monkeypatch.setattr(make, "mine", mined)
    monkeypatch.setattr(make, "PART", 2)
    (tmp_path / "secret.txt").write_text("a text")
    arguments = ["make", "--secret", str(tmp_path / "secret.txt"), "--out", str(tmp_path / "suite")]
    arguments += ["--deals", "1", "--kingmaker", "0", "--puzzles", "5"]
    assert front.main(arguments) == 130
    assert {path.name for path in (tmp_path / "suite").iterdir()} >= {
        "deal.json",
        "puzzles-part-000.json",
    }
    capsys.readouterr()
    assert front.main(arguments) == 0
    assert "deal.json: 1, found before" in capsys.readouterr().out
    assert len(asked) == 4  # the first part once, the second twice, the third once
    assert asked[1] == asked[2]
    assert len(set(asked)) == 3
    assert len(suite.load(tmp_path / "suite").puzzles) == 5
    assert not list((tmp_path / "suite").glob("*part*"))
