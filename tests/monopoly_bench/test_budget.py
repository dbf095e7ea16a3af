"""The time of a decision: late answers are replaced, fast compiled agents play as they are."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import agents
import monopoly_env as me
from monopoly_bench import __main__ as front
from monopoly_bench import budget, suite
from monopoly_bench.result import fingerprint
from monopoly_bench.task import action_of
from monopoly_env.errors import ConfigurationError

GAMES = [puzzle.game for puzzle in suite.load().puzzles[::40]]


class Clock:
    """A clock that advances by a step at every look."""

    def __init__(self, step: float) -> None:
        self.now, self.step = 0.0, step

    def perf_counter(self) -> float:
        self.now += self.step
        return self.now


class Last(agents.BatchedPolicy):
    name = "last"

    def act(self, decisions: agents.Decisions) -> np.ndarray:
        return 204 - decisions.mask[:, ::-1].argmax(axis=1)


def test_a_late_answer_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    for step, late in ((0.049, 0), (0.051, 1)):
        monkeypatch.setattr(budget, "time", Clock(step))
        player, watch = budget.timed(Last(), 50, "expert", GAMES)
        assert player is watch
        expected = agents.make("expert") if late else Last()
        assert action_of(player, GAMES[0]) == action_of(expected, GAMES[0])
        told = watch.about(player)
        assert (told["late"], told["within"], told["decisions"]) == (late, not late, 1)
        assert told["slowest_ms"] == pytest.approx(1000 * step)
        assert (told["measured"], told["fallback"]) == ("every decision", "expert")


def test_compiled_agents_play_as_they_are_while_they_are_fast(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    agent = agents.make("algorithmic")
    monkeypatch.setattr(budget, "time", Clock(0.001))
    player, watch = budget.timed(agent, 50, budget.FALLBACK, GAMES)
    assert player is agent
    assert watch.about(player)["within"]
    assert watch.about(player)["decisions"] == len(GAMES)
    monkeypatch.setattr(budget, "time", Clock(0.1))
    player, watch = budget.timed(agent, 50, budget.FALLBACK, GAMES)
    assert player is watch
    assert fingerprint(player) == fingerprint(agent)
    results = agents.arena.play(
        [player, "random/no_trades"], games=2, turn_limit=5, threads=1, seed=1
    )
    assert results.rows()[0]["name"] == "algorithmic"
    told = watch.about(player)
    assert told["late"] == told["decisions"] > 0


def test_the_same_games_with_time_enough() -> None:
    timed = budget.Timed(Last(), 1e9, agents.make("random"))
    tables = [
        agents.arena.play(
            [player, "random/no_trades"], games=4, record=4, turn_limit=8, threads=1, seed=1
        )
        for player in (Last(), timed)
    ]
    assert [replay.actions.tolist() for replay in tables[0].replays] == [
        replay.actions.tolist() for replay in tables[1].replays
    ]


def test_the_result_says_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "result.json"
    words = f"random --tasks puzzles --quick --threads 1 --budget-ms 1e9 --out {out}".split()
    assert front.main(words) == 0
    result = json.loads(out.read_text())
    assert result["budget"] == "1e+09 ms a decision"
    assert result["agents"][0]["budget"]["within"]
    assert front.main(["expert", "--budget-ms", "0"]) == 2
    assert "positive" in capsys.readouterr().err
    with pytest.raises(ConfigurationError):
        budget.timed(agents.make("random"), 50, "nobody", [me.new_game(2)])
