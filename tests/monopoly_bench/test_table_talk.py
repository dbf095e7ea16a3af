"""Task 8, table talk: the same luck with and without messages.

Wins, promises, deals and costs are counted.
"""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from monopoly_bench import __main__ as front
from monopoly_env import replays
from tests.chat import served

SAYS = (
    "promise = 'no bid on red for 1 round' if d['round'] == 1 else None;"
    " print(json.dumps({'action': d['legal'][0]['action'], 'message': 'Hello', 'promise':"
    " promise}), flush=True)"
)
CODE = f"import sys, json\nfor line in sys.stdin:\n    d = json.loads(line)\n    {SAYS}"
BOT = "bot:" + shlex.join([sys.executable, "-S", "-c", CODE])


def test_players_at_one_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, log, record = tmp_path / "talk.json", tmp_path / "log", tmp_path / "talk.replay"
    with served() as stub:
        stub.answers = ["SAY: Hm.\nPROMISE: no building on red for 1 round\nACTION: 999"] * 9000
        files = ["--log", str(log), "--record-file", str(record), "--out", str(out)]
        options = ["--url", stub.url, *files, "--seeds", "1", "--turn-limit", "4"]
        assert front.main(["talk", "language_model:tiny", BOT, "expert", *options]) == 0
    shown = capsys.readouterr().out
    assert "8 talk" in shown
    assert "promises" in shown
    assert "of them by its fallback" in shown
    result = json.loads(out.read_text())
    costs = [agent.get("costs") for agent in result["agents"]]
    assert 0 < costs[0]["decisions"] == costs[0]["fallbacks"]
    assert costs[1:] == [None, None]
    assert result["format"] == "monopoly-bench"
    assert result["table"] == {"rules": "official", "turn_limit": 4, "seeds": 1}
    rows = [agent["tasks"][0] for agent in result["agents"]]
    model, bot, expert = [row["details"] for row in rows]
    assert sum(row["score"] for row in rows) == pytest.approx(1)
    silent = [details["share_without_messages"] for details in (model, bot, expert)]
    assert sum(silent) == pytest.approx(1)
    assert all(row["count"] == 3 and row["low"] <= row["score"] <= row["high"] for row in rows)
    assert expert["share_of_promises_kept"] is None
    assert (bot["share_of_promises_kept"], bot["promises_broken"]) == (1, 0)
    assert bot["messages_a_game"] > 0
    assert model["messages_a_game"] == 0  # what can't be read is not said
    assert model["cost_a_game"]["prompt_tokens"] > 0
    assert bot["cost_a_game"] == {"prompt_tokens": 0, "completion_tokens": 0, "dollars": 0}
    games = replays.load(record)
    assert [bool(game.talk) for game in games] == [False, True] * 3
    assert [game.seed for game in games[::2]] == [game.seed for game in games[1::2]]
    assert len({game.names for game in games}) == 3
    assert log.exists()


def test_the_same_players_without_words_play_the_same_games(tmp_path: Path) -> None:
    out = tmp_path / "talk.json"
    words = ["talk", "expert", "algorithmic", "--seeds", "2", "--json", "--out"]
    assert front.main([*words, str(out)]) == 0
    for agent in json.loads(out.read_text())["agents"]:
        details = agent["tasks"][0]["details"]
        assert details["change"] == 0
        assert details["deals_a_game"] == details["deals_a_game_without_messages"]


def test_games_before_a_failure_are_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    leaves_the_second_game = """import sys, json
last = 0
for line in sys.stdin:
    d = json.loads(line)
    if d["round"] < last:
        sys.exit()
    last = d["round"]
    print(json.dumps(d["legal"][0]["action"]), flush=True)
"""
    bot = "bot:" + shlex.join([sys.executable, "-S", "-c", leaves_the_second_game])
    record = tmp_path / "talk.replay"
    words = ["talk", bot, "expert", "--seeds", "1", "--turn-limit", "4", "--record-file"]
    assert front.main([*words, str(record)]) == 2
    assert "has exited" in capsys.readouterr().err
    assert len(replays.load(record)) == 1


def test_mistakes_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    for words, says in (
        (["expert"], "2 to 8 players"),
        (["expert", "exprt"], "expert"),
        (["expert"] * 2 + ["--seeds", "0"], "--seeds"),
    ):
        assert front.main(["talk", *words]) == 2
        assert says in capsys.readouterr().err
