"""Programs as players: they play whole games; whatever they do wrong is told and ends the game."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
import time
import tracemalloc
from pathlib import Path

import pytest

import agents
import monopoly_env as me
from monopoly_bench import talk
from monopoly_bench.bot import Bot
from monopoly_bench.seats import play
from monopoly_env import replays
from monopoly_env.errors import ConfigurationError, FormatError, PolicyError
from monopoly_env.policy.protocol import Decisions

EXAMPLE = Path(__file__).parents[1] / "examples" / "bot.js"


def program(body: str, **options: float) -> Bot:
    """A bot in Python, which is there in any case."""
    code = (
        "import sys, json, time\nfor line in sys.stdin:\n    decision = json.loads(line)\n   "
        f" {body}"
    )
    return Bot(shlex.join([sys.executable, "-u", "-S", "-c", code]), name="test", **options)


def decisions() -> Decisions:
    return Decisions(me.core.batch_of(me.position(2, seed=1, throws=[(1, 2)])).copy())


@pytest.mark.skipif(
    shutil.which("node") is None, reason="NO NODE: the example in JavaScript is not tested"
)
def test_the_example_in_javascript_plays_and_wins() -> None:
    bot = agents.make(f"bot:node {EXAMPLE}", name="example")
    assert isinstance(bot, Bot)
    results = agents.arena.play(
        [bot, "random/no_trades"], games=2, turn_limit=60, threads=1, seed=1
    )
    bot.close()
    assert results.rows()[0]["name"] == "example"
    assert len(EXAMPLE.read_text().splitlines()) <= 30


@pytest.mark.parametrize(
    "answer", ["1", '"buy"', '{"action": 1}', '{"action": "buy", "why": "cheap"}']
)
def test_the_forms_of_an_answer(answer: str) -> None:
    bot = program(f"print({answer!r})")
    assert bot.act(decisions()).tolist() == [1]
    assert bot.act(decisions()).tolist() == [1]
    bot.close()


def test_it_is_shown_the_situation() -> None:
    bot = program(
        "print(json.dumps(decision['legal'][1] if decision['id'] == 1 and decision['you'] == 0 else"
        " None))"
    )
    assert bot.act(decisions()).tolist() == [1]
    bot.close()


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("print('hello')", "'hello'"),
        ("print('[1]')", "must be"),
        ("print('{}')", "an object with 'action'"),
        ("print(json.dumps('byu'))", "Did you mean 'buy'"),
        ("print(json.dumps('go on'))", "not legal"),
        ("raise ValueError('lost my way')", "lost my way"),
        ("sys.exit(3)", "status 3"),
        ("time.sleep(9)", "within 0.5 seconds"),
    ],
)
def test_a_bot_that_fails_is_told(body: str, says: str) -> None:
    bot = program(body, seconds=0.5 if "sleep" in body else 5)
    with pytest.raises(PolicyError, match=says):
        bot.act(decisions())


def test_bots_talk_and_the_recording_keeps_it(tmp_path: Path) -> None:
    talker = program(
        "print(json.dumps({'action': decision['legal'][0]['action'], 'message': 'Hello' + chr(27) +"
        " ' all.', 'promise': 'no bid on red for 1 round'} if not decision['talk']['messages'] else"
        " decision['legal'][0]['action']))"
    )
    listener = program(
        "heard = decision['talk']['messages']; print(json.dumps({'action':"
        " decision['legal'][0]['action'], 'message': heard and 'You said ' + heard[0]['text'] or"
        " None}))"
    )
    played = play([talker, listener, "random/no_trades"], seed=2, talk=True, turn_limit=4)
    silent = play(["random", "random", "random/no_trades"], seed=2, turn_limit=4)
    assert played.talk is not None
    texts = [(one.seat, one.message.text) for one in played.talk.spoken]
    talker.close(), listener.close()
    assert texts[:2] == [(0, "Hello all."), (1, "You said Hello all.")]
    assert [given.seat for given in played.talk.given] == [0]
    assert (talker.talk, silent.talk, silent.replay.talk) == (None, None, ())
    path = replays.save(tmp_path / "talk.replay", [silent.replay, played.replay])
    assert replays.load(path) == [silent.replay, played.replay]
    again = talk.conversation(replays.load(path)[1])
    assert (again.spoken, again.given) == (played.talk.spoken, played.talk.given)


def test_a_second_game_of_the_same_seed_begins_without_history() -> None:
    bot = program(
        "print(json.dumps({'action': decision['legal'][0]['action'], 'message':"
        " str(decision['history'])}))"
    )
    played = [play([bot, "random/no_trades"], seed=2, talk=True, turn_limit=1) for _ in range(2)]
    bot.close()
    first, second = (game.talk.spoken for game in played if game.talk is not None)
    assert first[0].message.text == "[]"
    assert first == second


def test_what_a_bot_can_not_say_is_told() -> None:
    for said, says in (("'message': 7", "texts"), ("'promise': 'peace'", "one of the forms")):
        bot = program("print(json.dumps({'action': decision['legal'][0]['action'], " + said + "}))")
        with pytest.raises(PolicyError, match=says):
            play([bot, "random"], talk=True)
        assert play([bot, "random"], turn_limit=1)  # nobody listens


def ask_often(bot: Bot) -> None:
    for _ in range(9):
        assert bot.act(decisions()).tolist() == [1]
        time.sleep(0.2)  # what it writes unasked comes a little later


def test_a_line_that_nobody_asked_for_is_refused() -> None:
    with pytest.raises(PolicyError, match="one line a decision"):
        ask_often(program("print(1, 1, sep=chr(10))"))


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("while True: sys.stdout.write('x' * 9999)", "more than 65,536 characters"),
        ("while True: print(1)", "one line a decision"),
        ("while True: sys.stderr.write('x' * 9999)", "within 0.5 seconds"),
    ],
)
def test_endless_output_takes_no_memory(body: str, says: str) -> None:
    bot = program(body, seconds=0.5)
    tracemalloc.start()
    with pytest.raises(PolicyError, match=says):
        ask_often(bot)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 23


def test_after_a_failure_it_starts_anew() -> None:
    bot = program("print(1) if decision['id'] == 2 else sys.exit(1)")
    with pytest.raises(PolicyError, match="status 1"):
        bot.act(decisions())
    assert bot.act(decisions()).tolist() == [1]
    bot.close()


def test_commands_are_checked() -> None:
    with pytest.raises(PolicyError, match="can't be started"):
        agents.make("bot:/no/such/program").act(decisions())
    with pytest.raises(ConfigurationError, match="quot"):
        agents.make("bot:node 'x")
    with pytest.raises(ConfigurationError, match="needs a command"):
        Bot("")
    with pytest.raises(ConfigurationError, match="seconds"):
        Bot("node", seconds=0)
    with pytest.raises(ConfigurationError, match="bot"):
        agents.make("bott:node")
    assert (
        json.dumps(Bot("node x.js").options())
        == '{"command": "node x.js", "seconds": 5.0, "name": "node x.js"}'
    )


def test_a_file_starts_no_program(tmp_path: Path) -> None:
    path, mark = tmp_path / "bot.safetensors", tmp_path / "mark"
    Bot(f"touch {mark}").save(path)
    with pytest.raises(FormatError, match="made by its name"):
        agents.arena.play([path, "random"], games=1)
    assert not mark.exists()
