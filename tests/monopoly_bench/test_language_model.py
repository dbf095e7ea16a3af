"""A language model at the table, against a server of this machine that answers as it is told."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import agents
import monopoly_env as me
from monopoly_bench import language_model
from monopoly_bench.language_model import Endpoint, LanguageModel, Reply
from monopoly_bench.seats import SeatHistory, play
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
    return Decisions(
        me.core.batch_of(me.position(2, seed=1, positions=[0, 0], throws=[(1, 2)])).copy()
    )


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
        "calls": 1, "prompt_tokens": 100, "completion_tokens": 10, "dollars": pytest.approx(0.0003),
        "retries": 0, "fallbacks": 0,
        "decisions": 1,
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
    stub.answers = [(401, f"\x1b[2J{'x' * 160} wrong key {KEY}".encode()), (200, b"{}")]
    player = model(stub, log=str(tmp_path / "log"))
    player.act(buying())
    player.act(buying())
    log = (tmp_path / "log").read_text()
    assert "401" in log
    assert "no answer in" in log
    assert "wrong key" in log
    assert "sk-" not in log
    assert "u001b" not in log
    assert player.costs["fallbacks"] == 2


def ask(stub: Stub, **options: Any) -> Reply:
    return Endpoint(stub.url, "tiny", **options).chat([{"role": "user", "content": "hello"}])


def sent(content: Any, usage: Any = None) -> tuple[int, bytes]:
    data = {"choices": [{"message": {"content": content}}], "usage": usage}
    return 200, json.dumps(data).encode()


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits, which take no time."""
    found: list[float] = []
    monkeypatch.setattr(language_model.time, "sleep", found.append)
    return found


def test_a_busy_server_is_asked_again(stub: Stub, waits: list[float]) -> None:
    stub.answers = [
        (429, b"", ("Retry-After", "7")),
        (500, b""),
        (503, b"", ("Retry-After", "soon")),
        (529, b""),
        "ACTION: buy",
    ]
    assert ask(stub).text == "ACTION: buy"
    assert waits == [7, 1, 2, 4]
    stub.answers = [(429, b"", ("Retry-After", "9999")), (429, b"too many")]
    with pytest.raises(PolicyError, match=r"429 Too Many Requests. too many"):
        ask(stub, max_retries=1)
    assert waits[4:] == [60]


def test_a_server_that_is_not_there_is_asked_again(waits: list[float]) -> None:
    with pytest.raises(PolicyError, match="refused"):
        Endpoint("http://127.0.0.1:1/v1", "tiny", max_retries=2).chat([])
    assert waits == [0.5, 1]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed(stub: Stub, status: int) -> None:
    with served() as other:
        stub.answers = [(status, b"", ("Location", f"{other.url}/chat/completions"))]
        with pytest.raises(PolicyError, match=other.url):
            ask(stub)
        assert other.keys == []


def drip(start: bytes) -> Callable[[Any], None]:
    """A handler of an answer that never ends."""

    def answer(handler: Any) -> None:
        with contextlib.suppress(OSError):
            handler.wfile.write(start)
            for _ in range(20):
                handler.wfile.write(b" ")
                time.sleep(0.05)

    return answer


@pytest.mark.parametrize("start", [b"HTTP/1.0 200 OK\r\n\r\n", b"HTTP/1.0 200 OK\r\nSlow:"])
def test_the_time_is_that_of_the_whole_answer(stub: Stub, start: bytes) -> None:
    stub.answers = [drip(start)]
    with pytest.raises(PolicyError, match=r"within 0.3 seconds"):
        ask(stub, timeout=0.3)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (lambda handler: handler.wfile.write(b"SSH-2.0\r\n\r\n"), "SSH-2.0"),
        (
            lambda handler: handler.wfile.write(b"HTTP/1.0 200 OK\r\nA:" + b"a" * 70_000),
            "more than 65536 bytes",
        ),
        ((200, b"[" * 100_000), "no answer in"),
        ((200, b'{"choices": NaN}'), "no answer in"),
        ((200, b"[]"), "no answer in"),
        ((200, b"null"), "no answer in"),
        (sent(7), "no answer in"),
        (sent([{"type": "text", "text": "ACTION: 1"}]), "no answer in"),
        ((200, b" " * (1 << 22) + b"{}"), "more than 4,194,304 bytes"),
        ((204, b""), "204"),
    ],
)
def test_what_is_no_answer_is_an_error_of_ours(stub: Stub, answer: Any, says: str) -> None:
    stub.answers = [answer]
    with pytest.raises(PolicyError, match=says):
        ask(stub)


@pytest.mark.parametrize(
    "usage",
    [7, [], {"prompt_tokens": float("nan"), "completion_tokens": 1}, {"prompt_tokens": -1},
     {"prompt_tokens": 10**400}],
)  # fmt: skip
def test_tokens_that_are_no_counts_are_estimated(stub: Stub, usage: Any) -> None:
    stub.answers = [sent(None, usage)]
    reply = ask(stub)
    told = reply.text, reply.prompt_tokens, reply.completion_tokens, reply.counted
    assert told == ("", 2, 0, False)


def test_a_key_that_no_header_can_hold_is_not_told(
    stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret\nkey")
    with pytest.raises(PolicyError, match="OPENAI_API_KEY") as caught:
        ask(stub)
    assert "secret" not in str(caught.value)


def test_the_first_fallback_is_said_aloud(stub: Stub, capsys: pytest.CaptureFixture[str]) -> None:
    stub.answers = [(401, b"who are you?")] * 2
    player = model(stub)
    player.act(buying())
    said = capsys.readouterr().err
    assert "tiny" in said
    assert "401" in said
    assert "'random/no_trades' decides" in said
    player.act(buying())
    assert capsys.readouterr().err == ""
    assert (player.costs["decisions"], player.costs["fallbacks"]) == (2, 2)


@pytest.mark.parametrize("answers", [[(401, b"who are you?")], ["no", "ACTION: fly"]])
def test_without_a_fallback_the_game_ends(stub: Stub, answers: list[Any]) -> None:
    stub.answers = list(answers)
    player = model(stub, fallback="raise")
    with pytest.raises(
        PolicyError, match=r"401|No action in 2 answers of 'tiny'. Unknown action 'fly'"
    ):
        agents.arena.play([player, "random"], games=1)
    assert not stub.answers


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
    player, other = (
        model(stub, log=str(tmp_path / "log"), name=name) for name in ("first", "second")
    )
    played = play([player, other], seed=1, talk=True, turn_limit=2)
    assert "SAY: <at most 200" in stub.requests[0]["messages"][0]["content"]
    heard = stub.requests[1]["messages"][1]["content"]
    assert 'player 1, round 1: "Peace?"' in heard
    assert "- player 1: no bid on red for 2 rounds, through round 3: kept so far" in heard
    assert "A promise must have one of the forms" in stub.requests[2]["messages"][-1]["content"]
    first, second, *_ = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert first["said"] == {"text": "Peace?", "promise": "no bid on red for 2 rounds"}
    assert second["outcome"] == "unreadable"
    assert [(at, str(message.promise)) for at, message in played.replay.talk] == [
        (0, "no bid on red for 2 rounds")
    ]
    stub.requests.clear()
    play([player, other], seed=1, turn_limit=1)
    assert all(
        "SAY:" not in message["content"]
        for request in stub.requests
        for message in request["messages"]
    )


def test_options_are_checked_and_kept(stub: Stub, tmp_path: Path) -> None:
    for url in ("localhost", "http://", "http://[", "http://host:port", "ftp://host"):
        with pytest.raises(ConfigurationError, match="http://"):
            LanguageModel("tiny", url)
    for wrong in ({"timeout": float("inf")}, {"max_retries": -1}, {"max_retries": 0.5}):
        with pytest.raises(ConfigurationError, match=next(iter(wrong))):
            LanguageModel("tiny", **wrong)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="prices"):
        LanguageModel("tiny", prices=(1.0,))  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="model is empty"):
        LanguageModel("")
    path = tmp_path / "model.safetensors"
    model(stub, menu=False).save(path)
    assert KEY.encode() not in path.read_bytes()
    # a file could send the key to a server of its choice
    with pytest.raises(FormatError, match="made by its name"):
        agents.load(path)


def test_history_is_what_changed_since_the_same_seat_decided() -> None:
    history, game = SeatHistory(), me.position(2, seed=1, throws=[(1, 2), (2, 3), (1, 2)])
    assert history.since(game) == []
    me.step(game, me.actions.parse("buy"))
    assert history.since(game) == ["player 0 gets Baltic Avenue and has $60 less than before."]
    assert history.since(me.position(2, seed=2)) == []
