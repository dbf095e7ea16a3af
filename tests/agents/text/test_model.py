"""A language model at the table, against a server of this machine that answers as it is told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import agents
import monopoly_env as me
from agents.text import Endpoint, LanguageModel, play
from agents.text.history import History
from monopoly_env.errors import ConfigurationError, FormatError, PolicyError
from monopoly_env.policy.protocol import Decisions
from tests.chat import Stub, served

KEY = "sk-very-secret"


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with served() as stub:
        yield stub


def buying() -> Decisions:
    """One decision: buy, or decline."""
    return Decisions(me.core.batch_of(me.position(2, seed=1, positions=[0, 0], throws=[(1, 2)])).copy())


def model(stub: Stub, **options: Any) -> LanguageModel:
    player = agents.make("language_model:tiny", url=stub.url, **options)
    assert isinstance(player, LanguageModel)
    return player


def test_an_answer_is_carried_out_logged_and_counted(stub: Stub, tmp_path: Path) -> None:
    stub.answers = ["It completes a group.\nACTION: buy"]
    player = model(stub, log=str(tmp_path / "calls.jsonl"), prices=(2.0, 10.0), temperature=0.5)
    assert player.act(buying()).tolist() == [me.actions.parse("buy")]
    request = stub.requests[0]
    assert (request["model"], request["temperature"]) == ("tiny", 0.5)
    assert "Baltic Avenue" in request["messages"][1]["content"]
    assert stub.keys == [f"Bearer {KEY}"]
    assert player.costs == {
        "calls": 1, "prompt_tokens": 100, "completion_tokens": 10, "dollars": pytest.approx(0.0003), "retries": 0, "fallbacks": 0,
    }  # fmt: skip
    log = (tmp_path / "calls.jsonl").read_text()
    entry = json.loads(log)
    assert (entry["outcome"], entry["action_text"], entry["counted"]) == ("answered", "buy", True)
    assert KEY not in log


def test_a_wrong_answer_is_told_why_once(stub: Stub) -> None:
    stub.answers = ["I would like to buy it.", "ACTION: decline"]
    player = model(stub)
    assert player.act(buying()).tolist() == [me.actions.parse("decline")]
    assert "The last line of the answer must be" in stub.requests[1]["messages"][-1]["content"]
    assert (player.costs["retries"], player.costs["fallbacks"]) == (1, 0)


def test_after_two_wrong_answers_the_fallback_decides(stub: Stub, tmp_path: Path) -> None:
    stub.answers = ["no", "ACTION: fly"]
    decisions, player = buying(), model(stub, fallback="expert", log=str(tmp_path / "log"))
    assert player.act(decisions).tolist() == agents.make("expert").act(buying()).tolist()
    assert (player.costs["calls"], player.costs["fallbacks"]) == (2, 1)
    outcomes = [json.loads(line)["outcome"] for line in (tmp_path / "log").read_text().splitlines()]
    assert outcomes == ["unreadable", "unreadable", "fallback"]


def test_a_server_that_fails_is_told_without_the_key(stub: Stub, tmp_path: Path) -> None:
    stub.answers = [(401, f"wrong key {KEY}".encode()), (200, b"{}")]
    player = model(stub, log=str(tmp_path / "log"))
    player.act(buying())
    player.act(buying())
    log = (tmp_path / "log").read_text()
    assert "401" in log
    assert "no answer in" in log
    assert KEY not in log
    assert player.costs["fallbacks"] == 2
    with pytest.raises(PolicyError, match="refused"):
        Endpoint("http://127.0.0.1:1/v1", "tiny").chat([{"role": "user", "content": "hello"}])


def test_it_plays_at_a_table(stub: Stub) -> None:
    stub.answers = ["ACTION: 999"] * 2000
    player = model(stub, fallback="random/no_trades", menu=False)
    results = agents.arena.play([player, "random/no_trades"], games=1, turn_limit=3, threads=1)
    assert results.games == 1
    assert player.costs["fallbacks"] > 0


def test_models_talk(stub: Stub, tmp_path: Path) -> None:
    stub.answers = [
        "SAY: Peace?\nPROMISE: no bid on red for 2 rounds\nACTION: decline",
        "PROMISE: peace\nACTION: fold",
        *["ACTION: go on"] * 2000,
    ]
    player, other = (model(stub, log=str(tmp_path / "log"), name=name) for name in ("first", "second"))
    played = play([player, other], seed=1, talk=True, turn_limit=2)
    assert "SAY: <at most 200" in stub.requests[0]["messages"][0]["content"]
    heard = stub.requests[1]["messages"][1]["content"]
    assert 'player 1, round 1: "Peace?"' in heard
    assert "- player 1: no bid on red for 2 rounds, through round 3: kept so far" in heard
    assert "A promise must have one of the forms" in stub.requests[2]["messages"][-1]["content"]
    first, second, *_ = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert first["said"] == {"text": "Peace?", "promise": "no bid on red for 2 rounds"}
    assert second["outcome"] == "unreadable"
    assert [(at, str(message.promise)) for at, message in played.replay.talk] == [(0, "no bid on red for 2 rounds")]
    stub.requests.clear()
    play([player, other], seed=1, turn_limit=1)
    assert all("SAY:" not in message["content"] for request in stub.requests for message in request["messages"])


def test_options_are_checked_and_kept(stub: Stub, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="http://"):
        LanguageModel("tiny", "localhost")
    with pytest.raises(ConfigurationError, match="prices"):
        LanguageModel("tiny", prices=(1.0,))  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="model is empty"):
        LanguageModel("")
    path = tmp_path / "model.safetensors"
    model(stub, menu=False).save(path)
    assert KEY.encode() not in path.read_bytes()
    with pytest.raises(FormatError, match="made by its name"):  # a file could send the key to a server of its choice
        agents.load(path)


def test_history_is_what_changed_since_the_same_seat_decided() -> None:
    history, game = History(), me.position(2, seed=1, throws=[(1, 2), (2, 3), (1, 2)])
    assert history.since(game) == []
    me.step(game, me.actions.parse("buy"))
    assert history.since(game) == ["player 0 gets Baltic Avenue and has $60 less than before."]
    assert history.since(me.position(2, seed=2)) == []
