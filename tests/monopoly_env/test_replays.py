"""Recorded games: they play back to the same records.

Files of other versions or with holes are refused.
"""

from __future__ import annotations

import dataclasses
import json
import tracemalloc
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
import monopoly_env as me
from monopoly_bench import talk
from monopoly_env import core, replays, saves
from monopoly_env.replays import Replay
from monopoly_env.replays.messages import Message
from monopoly_env.rules import RULES_VERSION
from tests import golden


@cache
def recorded(
    names: tuple[str, ...] = ("algorithmic", "random"),
    rules: str = "official",
    seed: int = 3,
    reseeds: tuple[tuple[int, int], ...] = (),
) -> tuple[Replay, list[Any]]:
    """A game between policies and its record after each action."""
    policies = [agents.make(name) for name in names]
    game = me.new_game(len(names), rules, seed)
    memory = np.zeros((len(names), 1, agents.MEMORY))
    actions, records = [], []
    while not me.is_over(game):
        for _, drawn in (one for one in reseeds if one[0] == len(actions)):
            me.reseed(game, drawn, shuffle=True)
        seat = int(game.player)
        actions.append(
            int(policies[seat].act(agents.Decisions(core.batch_of(game), memory[seat]))[0])
        )
        me.step(game, actions[-1])
        records.append(me.clone(game))
    return (
        Replay(me.Rules.preset(rules), seed, len(names), names, np.array(actions), reseeds=reseeds),
        records,
    )


def without_draws(game: Any) -> bytes:
    """All of a record but what policies drew from their own stream."""
    batch = core.batch_of(game).copy()
    batch["policy_draws"] = 0
    return batch.tobytes()


@pytest.mark.parametrize("rules", ["official", "ocnaru", "short", "pring"])
def test_a_game_plays_back_to_the_same_records_from_its_file(rules: str, tmp_path: Path) -> None:
    replay, records = recorded(rules=rules)
    replays.save(tmp_path / "one.replay", [replay])
    loaded = replays.load(tmp_path / "one.replay")
    assert loaded == [replay]
    assert (loaded[0].rules, loaded[0].seed, loaded[0].names) == (
        me.Rules.preset(rules),
        3,
        ("algorithmic", "random"),
    )
    assert loaded[0].actions.dtype == np.uint8
    assert [without_draws(game) for game in replays.games(loaded[0])] == [
        without_draws(game) for game in records
    ]
    assert me.winner(replays.final(loaded[0])) == me.winner(records[-1])
    assert me.digest(replays.start(loaded[0])) == me.digest(me.new_game(2, rules, 3))


def test_a_game_whose_dice_were_drawn_anew_plays_back(tmp_path: Path) -> None:
    replay, records = recorded(reseeds=((0, 5), (30, 6), (30, 7), (31, 2**64 - 1)))
    (again,) = replays.load(replays.save(tmp_path / "one.replay", [replay]))
    assert again == replay != dataclasses.replace(replay, reseeds=())
    assert [without_draws(game) for game in replays.games(again)][31:] == [
        without_draws(game) for game in records
    ][31:]
    assert without_draws(replays.final(again)) == without_draws(records[-1])
    assert len(list(replays.narrated(again))) > 30
    for wrong in (
        [[1, 2, 3]], [[0.5, 1]], [["x", 1]], [[10**6, 1]], [[2, 1], [1, 1]], [[0, 2**64]], [1], 1,
    ):  # fmt: skip
        with pytest.raises(me.FormatError, match="no recorded game"):
            replays.from_dict(replays.to_dict(replay) | {"reseeds": wrong})


def test_golden_games_play_back_to_their_digests() -> None:
    for preset in me.Rules.presets():
        told = golden.load(preset)
        players = told["num_players"]
        replay = Replay(
            me.Rules.preset(preset),
            told["seed"],
            players,
            ("random",) * players,
            np.array(told["actions"]),
        )
        assert [me.digest(game)[:8] for game in replays.games(replay)] == told["digests"]


def test_many_games_of_different_rules_lie_in_one_small_file(tmp_path: Path) -> None:
    rules = ("official", "ocnaru", "uk", "mukhar") * 5
    games = [
        recorded(("algorithmic", "algorithmic"), name, seed)[0] for seed, name in enumerate(rules)
    ]
    path = replays.save(tmp_path / "many.replay", games)
    assert replays.load(path) == games
    assert path.stat().st_size / len(games) < 400
    assert [file.name for file in tmp_path.iterdir()] == ["many.replay"]


def test_no_games_are_a_file_too(tmp_path: Path) -> None:
    assert replays.load(replays.save(tmp_path / "none.replay", [])) == []


def test_a_game_stopped_by_the_arena_ends_by_score() -> None:
    replay, _ = recorded()
    limit = 4
    actions = []
    game = replays.start(replay)
    for action in replay.actions:
        actions.append(action)
        me.step(game, int(action))
        if game.turns > 2 * limit:
            break
    end = replays.final(dataclasses.replace(replay, actions=np.array(actions), turn_limit=limit))
    assert me.is_over(end)
    assert int(end.turns) == 2 * limit
    assert sorted(end.place[:2].tolist()) == [1, 2]
    assert me.worth(end)[end.place[:2].argmin()] >= me.worth(end).min()
    with pytest.raises(
        me.FormatError,
        match=rf"Action {len(actions) + 1} of {len(replay.actions)}.*The game is over",
    ):
        replays.final(dataclasses.replace(replay, turn_limit=limit))


def talking(replay: Replay) -> Replay:
    said = (
        talk.message("Leave it to me.", "no bid on orange for 3 rounds"),
        talk.message("<b>x</b> & y"),
        talk.message("", "no building on red for 2 rounds"),
    )
    return dataclasses.replace(replay, talk=tuple(zip((0, 4, 9), said, strict=True)))


def test_what_players_said_is_kept_and_told(tmp_path: Path) -> None:
    silent, _ = recorded()
    replay = talking(silent)
    assert replays.load(replays.save(tmp_path / "one.replay", [replay, silent])) == [replay, silent]
    assert replays.from_dict(json.loads(json.dumps(replays.to_dict(replay)))) == replay != silent
    assert "talk" not in replays.to_dict(silent)
    told = [sentence for _, sentences in replays.narrated(replay) for sentence in sentences]
    assert told[0].startswith("Turn 1: A (algorithmic)")
    assert " throws " in told[1]
    assert told[2] == 'A (algorithmic) says: "Leave it to me."'
    assert told[3] == "A (algorithmic) promises: no bid on orange for 3 rounds."
    assert [sentence for _, sentences in replays.narrated(silent) for sentence in sentences] == [
        one for one in told if " says: " not in one and " promises: " not in one
    ]
    assert "<b>x</b>" not in replays.to_html(replay)
    said = talk.conversation(replay)
    assert [given.state for given in said.given] == ["kept", "the offer was not accepted"]


def test_the_most_talk_fits_into_a_file(tmp_path: Path) -> None:
    silent, _ = recorded(seed=2)
    count = min(500, len(silent.actions))
    replay = dataclasses.replace(
        silent, talk=tuple((at, Message("\U0001f600" * 200)) for at in range(count))
    )
    assert replays.load(replays.save(tmp_path / "one.replay", [replay] * 3)) == [replay] * 3


@pytest.mark.parametrize(
    "said",
    [
        7, [7], [{"at": 0}], [{"at": "0", "text": "x"}], [{"at": True, "text": "x"}],
        [{"at": -1, "text": "x"}],
        [{"at": 10**9, "text": "x"}], [{"at": 1, "text": "x"}, {"at": 1, "text": "y"}],
        [{"at": 2, "text": "x"}, {"at": 1, "text": "y"}],
        [{"at": 0, "text": "x" * 201}],
        [{"at": 0, "text": "\x1b[2J"}],
        {"at": 0}, [{"at": at, "text": "x"} for at in range(501)],
    ],
)  # fmt: skip
def test_loaded_messages_are_not_trusted(said: Any) -> None:
    replay, _ = recorded()
    with pytest.raises(me.FormatError):
        replays.from_dict(replays.to_dict(replay) | {"talk": said})


@pytest.mark.parametrize(
    ("promise", "why"),
    [
        ("sell Boardwalk to player 1 for $1 within 1 round", "not yours"),
        ("sell Boardwalk to player 5 for $1 within 1 round", "Nobody can sell to player 5"),
        ("peace", "promise"),
    ],
)
def test_a_promise_that_nobody_could_keep_is_found_on_playback(promise: str, why: str) -> None:
    replay, _ = recorded()
    wrong = dataclasses.replace(replay, talk=((0, Message("", promise)),))
    with pytest.raises(me.FormatError, match=f"Action 1 of .*{why}"):
        talk.conversation(wrong)


def test_an_illegal_action_is_named_by_its_number(tmp_path: Path) -> None:
    replay, records = recorded()
    number = 20
    before = records[number - 1]
    illegal = next(action for action in range(205) if action not in me.legal_actions(before))
    actions = replay.actions.copy()
    actions[number] = illegal
    broken = dataclasses.replace(replay, actions=actions)
    with pytest.raises(
        me.FormatError,
        match=(
            rf"Action 21 of {len(actions)} in the recorded game of seed 3 cannot be played back:"
            r" .*Legal"
        ),
    ):
        list(replays.games(broken))
    with pytest.raises(me.FormatError, match="Action 21"):
        replays.save(tmp_path / "broken.replay", [broken])
    assert list(tmp_path.iterdir()) == []


def test_actions_after_the_end_are_refused() -> None:
    replay, _ = recorded()
    longer = dataclasses.replace(replay, actions=np.append(replay.actions, 0))
    with pytest.raises(
        me.FormatError, match=rf"Action {len(longer.actions)} of .*The game is over"
    ):
        replays.final(longer)


def test_another_end_than_recorded_is_noticed(tmp_path: Path) -> None:
    replay, _ = recorded()
    loaded = replays.load(replays.save(tmp_path / "one.replay", [replay]))[0]
    assert loaded.digest == replays.digest(replays.final(replay)) != ""
    shorter = dataclasses.replace(loaded, actions=loaded.actions[:-1])
    for play_back in (replays.final, lambda replay: list(replays.games(replay))):
        with pytest.raises(me.FormatError, match="leads to another position"):
            play_back(shorter)


def write(path: Path, header: Any, block: bytes) -> None:
    path.write_bytes(json.dumps(header).encode() + b"\n" + zlib.compress(block))


def edited(path: Path, change: Callable[[dict[str, Any], list[Any]], None]) -> None:
    """Rewrite a file after a change of its header or of what it says of its games."""
    line, _, block = path.read_bytes().partition(b"\n")
    header = json.loads(line)
    text, _, actions = zlib.decompress(block).partition(b"\n")
    about = json.loads(text)
    change(header, about)
    text = json.dumps(about).encode()
    write(path, header | {"bytes": len(text) + 1 + len(actions)}, text + b"\n" + actions)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda header, about: header.update(rules_version=RULES_VERSION + 1),
            rf"rules_version is {RULES_VERSION + 1}, expected",
        ),
        (lambda header, about: header.update(record_version=0), "record_version is 0, expected"),
        (lambda header, about: header.update(format_version=99), "format_version is 99, expected"),
        (lambda header, about: header["heads"].update(buy=99), "heads is"),
        (lambda header, about: header.update(format="monopoly-results"), "holds no recorded games"),
        (lambda header, about: header.update(games=2), "does not match its header"),
        (lambda header, about: about[0].update(decisions=3), "does not match its header"),
        (lambda header, about: about[0].update(decisions="3"), "truncated or corrupt"),
        (lambda header, about: about[0].update(seed=-1), "seed=-1 must be"),
        (lambda header, about: about[0].update(seed="7"), "seed='7' must be"),
        (lambda header, about: about[0].update(names=["a"]), "num_players=1"),
        (lambda header, about: about[0].update(names=[1, 2]), "A name is not a string"),
        (lambda header, about: about[0].update(turn_limit=-1), "turn_limit=-1"),
        (
            lambda header, about: about[0].update(tables="0"),
            "another version of the board 'us_2008'",
        ),
        (
            lambda header, about: about[0]["rules"].update(auktion="none"),
            "Unknown option 'auktion'",
        ),
        (lambda header, about: about[0].update(rules=[]), "truncated or corrupt"),
        (lambda header, about: about[0].pop("digest"), "truncated or corrupt"),
    ],
)
def test_files_that_do_not_match_say_what_differs(
    change: Callable[..., None], message: str, tmp_path: Path
) -> None:
    path = replays.save(tmp_path / "one.replay", [recorded()[0]])
    edited(path, lambda header, about: None)
    assert len(replays.load(path)) == 1  # the editing itself breaks nothing
    edited(path, change)
    with pytest.raises(me.FormatError, match=message) as raised:
        replays.load(path)
    assert str(path) in str(raised.value)


def test_corrupt_and_foreign_files_are_refused(tmp_path: Path) -> None:
    path = replays.save(tmp_path / "one.replay", [recorded()[0]])
    whole = path.read_bytes()
    for size in range(0, len(whole), 7):
        path.write_bytes(whole[:size])
        with pytest.raises(me.FormatError):
            replays.load(path)
    header = whole.index(b"\n") + 1
    for at in range(header, len(whole), 5):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        with pytest.raises(me.FormatError):
            replays.load(path)
    path.write_bytes(whole + b"more")
    with pytest.raises(me.FormatError, match="does not match its header"):
        replays.load(path)
    for foreign in (b"", b"[1]\n", b"{}\n", b"\x93NUMPY", b"[" * 100_000):
        path.write_bytes(foreign)
        with pytest.raises(me.FormatError, match="holds no recorded games"):
            replays.load(path)
    with pytest.raises(me.ConfigurationError, match="Cannot read"):
        replays.load(tmp_path / "missing.replay")
    with pytest.raises(me.ConfigurationError, match="Cannot read"):
        replays.load(tmp_path)


def test_a_file_that_unfolds_without_end_is_refused(tmp_path: Path) -> None:
    replays.save(tmp_path / "one.replay", [])
    header = json.loads((tmp_path / "one.replay").read_bytes().partition(b"\n")[0])
    for size in (100, 1 << 60, -1, 0):
        write(tmp_path / "bomb.replay", header | {"bytes": size}, b" " * 50_000_000)
        with pytest.raises(me.FormatError, match="truncated or corrupt"):
            replays.load(tmp_path / "bomb.replay")


def test_claims_are_refused_before_they_fill_the_memory(tmp_path: Path) -> None:
    """Each of these files is small, and would take a gigabyte if all of it were read."""
    path = tmp_path / "claims.replay"
    header = json.loads(replays.save(path, []).read_bytes().partition(b"\n")[0])
    game = (
        b'{"names":["a","b"],"seed":1,"rules":{},"tables":"%s","turn_limit":0,"decisions":0,"digest":""}'
        % saves.table_hash("us_2008").encode()
    )
    blocks = {
        "empty lists": b"[" + b"[]," * 20_000_000 + b"[]]\n",
        "nested lists": b"[" * 5_000 + b"]" * 5_000 + b"\n",
        "one huge game": b'[{"names":[' + b'"a",' * 10_000_000 + b'"b"]}]\n',
        "many games": b"[" + (game + b",") * 400_000 + game + b"]\n",
        "many decisions": (
            b"["
            + game.replace(b'"decisions":0', b'"decisions":30000000')
            + b"]\n"
            + bytes(30_000_000)
        ),
    }
    for block in blocks.values():
        for games in (1, 400_001):
            write(path, header | {"bytes": len(block), "games": games}, block)
            tracemalloc.start()
            with pytest.raises(me.FormatError, match="truncated or corrupt"):
                replays.load(path)
            assert tracemalloc.get_traced_memory()[1] < 1 << 27
            tracemalloc.stop()


def test_a_game_has_an_end() -> None:
    replay, _ = recorded()
    with pytest.raises(me.ConfigurationError, match="1,000,000 decisions at most, not 1,000,001"):
        dataclasses.replace(replay, actions=np.zeros(1_000_001, np.uint8))
    with pytest.raises(
        me.ConfigurationError,
        match="turn_limit=1000000000 must be a whole number from 0 to 16,777,216",
    ):
        dataclasses.replace(replay, turn_limit=10**9)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"actions": np.array([5, 205])}, "Action number 2 is 205"),
        ({"actions": np.array([-1])}, "Action number 1 is -1"),
        ({"actions": np.array([0.5])}, "one row of integers"),
        ({"actions": np.zeros((2, 2), int)}, "one row of integers"),
        ({"num_players": 1}, "num_players=1"),
        ({"seed": 1 << 64}, "seed=18446744073709551616 must be"),
        ({"names": ("a", "b", "c")}, "needs as many names, not 3"),
        ({"turn_limit": 0.5}, "turn_limit=0.5"),
    ],
)
def test_impossible_replays_are_refused(changes: dict[str, Any], message: str) -> None:
    right = {
        "rules": me.Rules(),
        "seed": 0,
        "num_players": 2,
        "names": ("a", "b"),
        "actions": np.array([], np.uint8),
    }
    assert Replay(**right) == Replay(**right)
    with pytest.raises(me.ConfigurationError, match=message):
        Replay(**(right | changes))


def test_replays_are_compared_by_what_was_played() -> None:
    replay, _ = recorded()
    same = dataclasses.replace(replay, digest="known")
    others = [
        dataclasses.replace(replay, **{name: value})
        for name, value in (("seed", 4), ("actions", []), ("names", ("a", "b")))
    ]
    assert replay == same
    assert hash(replay) == hash(same)
    assert replay not in others
    assert replay != "replay"
    with pytest.raises(ValueError, match="read-only"):
        replay.actions[0] = 1


def test_plain_data_and_back() -> None:
    replay, records = recorded()
    data = json.loads(json.dumps(replays.to_dict(replay)))
    again = replays.from_dict(data)
    assert again == replay
    assert again.digest == replays.digest(records[-1])
    assert without_draws(replays.final(again)) == without_draws(records[-1])


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"actions": "no base 64"}, "no recorded game"),
        ({"actions": ""}, "has 0"),
        ({"actions": 3}, "no recorded game"),
        ({"decisions": -1}, "claims -1"),
        ({"rules": {"auction": "none!"}}, "auction"),
        ({"seed": "x"}, "no recorded game"),
        ({"names": []}, "2 to 8"),
        ({"tables": "other"}, "another version of the board"),
    ],
)
def test_damaged_plain_data(change: dict[str, Any], told: str) -> None:
    with pytest.raises(me.FormatError, match=told):
        replays.from_dict(replays.to_dict(recorded()[0]) | change)


@pytest.mark.parametrize("nothing", [{}, [], None, "game"])
def test_what_is_no_plain_data(nothing: Any) -> None:
    with pytest.raises(me.FormatError, match="no recorded game"):
        replays.from_dict(nothing)


@pytest.mark.parametrize("given", ["one.replay", recorded, [1]])
def test_what_is_no_list_of_replays_is_refused(given: Any, tmp_path: Path) -> None:
    with pytest.raises(me.ConfigurationError, match="replays must be a list of recorded games"):
        replays.save(tmp_path / "one.replay", recorded()[0] if callable(given) else given)
