"""Streams of experiences.

Against the same games in plain Python, and the same whatever the threads and batches.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import agents
import monopoly_env as me
from monopoly_env import actions, core
from monopoly_env import encoding as encodings
from monopoly_env.errors import ConfigurationError, IllegalActionError, RulesError
from monopoly_env.facts import board
from monopoly_env.policy.protocol import MEMORY, Decisions
from tests.policies import NEVER_ENDS, blind, restless, seeing
from training.experience import recording, streams
from training.experience.masks import unpack
from training.experience.recording import Experiences, write_halves
from training.experience.streams import seatings, stream

PAIRS = list(
    itertools.combinations_with_replacement(("strategic", "random", "strategic/late_game"), 2)
)
THREE = [("fp/a", "random", "landlord/balanced")]


def everything(*args: Any, **options: Any) -> Experiences:
    return Experiences.joined(list(stream(*args, **options)))


def assert_same(found: Experiences, expected: Experiences) -> None:
    for name, column, other in zip(Experiences._fields, found, expected, strict=True):
        assert column.dtype == other.dtype, name
        np.testing.assert_array_equal(column, other, err_msg=name)


# --- against plain Python


def net_worth(game: Any, seat: int) -> int:
    """Cash, printed prices of the lots, purchase prices of the own buildings."""
    lots = [lot for lot in range(board.NUM_LOTS) if int(game.lots[seat]) >> lot & 1]
    buildings = sum(
        int(game.level[lot]) * int(board.HOUSE_PRICE[0, lot])
        for lot in lots
        if lot < board.NUM_STREETS
    )
    return int(game.cash[seat]) + sum(int(board.PRICE[0, lot]) for lot in lots) + buildings


def played(
    tables: Sequence[Sequence[str]], number: int, rules: str, encoding: str, seed: int
) -> Iterator[dict[str, Any]]:
    """The decisions of a game of a stream, played by `step` and `act`.

    What its end brings is filled in afterwards.
    """
    table = tables[number % len(tables)]
    orders = list(dict.fromkeys(itertools.permutations(table)))
    names, seats = seatings(tables)
    sitting = [names[policy] for policy in seats[number % len(seats)]]
    assert tuple(sitting) in orders
    policies = [agents.make(name) for name in sitting]
    memory = np.zeros((len(table), MEMORY))
    game = me.new_game(len(table), rules, (seed << 32) + number)
    rows = []
    while not core.is_over(game):
        seat = int(game.player)
        decisions = Decisions(
            core.batch_of(game), memory[seat : seat + 1], key=np.zeros(1, np.uint64)
        )
        row = {
            "observation": encodings.observe(game, encoding).astype(np.float16),
            "choices": core.action_mask(game),
            "decision": game.decision.item(),
            "player": seat,
            "game": number,
            "worth": (net_worth(game, seat), int(game.cash[seat])),
        }
        row["action"] = int(policies[seat].act(decisions)[0])
        rows.append(row)
        core.step(game, row["action"])
    winners = np.flatnonzero(game.place[: len(table)] == 1)
    for row in rows:
        assert len(winners) == 1
        row["outcome"] = 1.0 if row["player"] == winners[0] else -1.0 / (len(table) - 1)
        row["final_worth"] = net_worth(game, row["player"]) if row["player"] == winners[0] else None
        yield row


@pytest.mark.parametrize(
    ("tables", "games", "rules", "encoding"),
    [
        (PAIRS[:3], 3, "ocnaru", "ocnaru100"),
        (PAIRS[:1], 1, "official", "standard"),
        (THREE, 1, "official", "standard"),
    ],
)
def test_a_stream_is_what_plain_python_sees(
    tables: Any, games: int, rules: str, encoding: str
) -> None:
    found = everything(tables, games, rules=rules, encoding=encoding, seed=3, threads=2)
    expected = [
        row for number in range(games) for row in played(tables, number, rules, encoding, 3)
    ]
    assert found.size == len(expected) > 100
    assert (unpack(found.choices).sum(1) >= 2).all()
    np.testing.assert_array_equal(unpack(found.choices), [row["choices"] for row in expected])
    for name in ("observation", "action", "decision", "player", "game", "outcome", "worth"):
        np.testing.assert_array_equal(
            getattr(found, name),
            np.array([row[name] for row in expected], getattr(found, name).dtype),
        )
    won = np.array([row["final_worth"] is not None for row in expected])
    np.testing.assert_array_equal(
        found.final_worth[won],
        [row["final_worth"] for row in expected if row["final_worth"] is not None],
    )
    assert (found.final_worth[~won] < 0).all()  # all games ended by bankruptcy
    assert 0 < won.sum() < len(won)


def test_a_game_that_is_cut_off_is_decided_by_worth() -> None:
    rules = me.Rules.preset("ocnaru", score="tax_worth")
    found = everything(PAIRS, 12, rules=rules, encoding="ocnaru100", turn_limit=15)
    cut_off = 0
    for number in range(12):
        game = found.take(found.game == number)
        worths = [int(game.final_worth[game.player == seat][0]) for seat in range(2)]
        if min(worths) > 0:
            cut_off += 1
            outcomes = [float(game.outcome[game.player == seat][0]) for seat in range(2)]
            assert outcomes == ([1.0, -1.0] if worths[0] > worths[1] else [-1.0, 1.0])
    assert cut_off >= 10


def test_other_outcomes() -> None:
    by_rank = everything(THREE, 2, rules="official", encoding="standard", reward="rank")
    assert set(by_rank.outcome.tolist()) == {1.0, 0.0, -1.0}
    by_worth = everything(
        PAIRS, 2, rules="ocnaru", encoding="ocnaru100", turn_limit=15, reward="net_worth"
    )
    assert (np.abs(by_worth.outcome) < 1).all()
    sums = [
        sum(
            by_worth.outcome[(by_worth.game == game) & (by_worth.player == seat)][0]
            for seat in (0, 1)
        )
        for game in (0, 1)
    ]
    assert sums == pytest.approx([0, 0], abs=1e-6)


# --- debts


def short_after(game: Any, action: str) -> list[int]:
    """Cash less the debt of each seat that an action ruins."""
    shortfall = np.zeros(game.num_players, np.int64)
    recording.step_noting_shortfall(game, actions.parse(action), shortfall)
    return shortfall.tolist()  # type: ignore[no-any-return]


def test_a_bankrupt_is_worth_his_cash_less_the_rent() -> None:
    lots: dict[int, list[int | str]] = {
        0: ["Oriental Avenue"],
        1: ["Mediterranean Avenue", "Baltic Avenue"],
    }
    built: dict[int | str, int] = {"Mediterranean Avenue": 4, "Baltic Avenue": 5}
    game = me.position(2, cash={0: 10}, lots=lots, buildings=built, throws=[(1, 2)])
    assert short_after(game, "go on") == [10 - 450, 0]
    assert core.winner(game) == 1


def test_a_bankrupt_who_gives_up_is_worth_his_cash_less_the_debt() -> None:
    lots: dict[int, list[int | str]] = {
        0: ["Oriental Avenue"],
        1: ["Mediterranean Avenue", "Baltic Avenue"],
    }
    built: dict[int | str, int] = {"Mediterranean Avenue": 4, "Baltic Avenue": 5}
    rules = me.Rules(liquidation="one_request")
    game = me.position(2, rules, cash={0: 430}, lots=lots, buildings=built, throws=[(1, 2)])
    assert short_after(game, "go on") == [0, 0]
    assert actions.DECISION_NAMES[game.decision] == "debt"
    assert short_after(game, "go on") == [430 - 450, 0]


@pytest.mark.parametrize(("multi_creditor", "due"), [("seat_order", 50), ("bank", 100)])
def test_a_bankrupt_by_a_card_is_worth_his_cash_less_all_that_it_asks(
    multi_creditor: str, due: int
) -> None:
    rules = me.Rules(multi_creditor=multi_creditor)
    game = me.position(
        3,
        rules,
        cash={0: 20},
        lots={0: ["Oriental Avenue"]},
        mortgaged=["Oriental Avenue"],
        jail_cards={0: ["chance"]},
        positions={0: 4},
        throws=[(1, 2)],
        chance=["chairman"],
    )
    while actions.DECISION_NAMES[game.decision] != "turn" or game.player != 0:
        core.step(game, int(core.legal_actions(game)[-1]))
    assert short_after(game, "go on")[0] == 20 - due
    assert game.place[0] == 3


# --- the same whatever the way


@pytest.mark.parametrize(
    ("tables", "encoding"),
    [(PAIRS, "ocnaru100"), ([("fp/a", *["fp/b"] * 4), ("fp/b",) * 5], "standard")],
)
def test_threads_and_batches_change_nothing(tables: Any, encoding: str) -> None:
    options = {"rules": "ocnaru", "encoding": encoding, "seed": 9, "turn_limit": 10}
    whole = everything(tables, 40, threads=1, **options)
    assert_same(everything(tables, 40, threads=4, batch=7, **options), whole)
    first, second = (
        everything(tables, 21, threads=3, batch=3, **options),
        everything(tables, 40, threads=1, first=21, batch=50, **options),
    )
    assert_same(Experiences.joined([first, second]), whole)
    other = everything(tables, 40, **(options | {"seed": 8}))
    assert other.size != whole.size or (other.action != whole.action).any()


def test_a_full_page_is_no_seam(monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"rules": "ocnaru", "encoding": "ocnaru100", "threads": 1}
    whole = everything(PAIRS, 6, **options)
    for rows in (64, 1, int((whole.game == 0).sum())):
        monkeypatch.setattr(streams, "_ROWS", rows)
        assert_same(everything(PAIRS, 6, **options), whole)


def test_plain_python_streams_the_same() -> None:
    program = (
        "import hashlib; from training.experience.streams import *;parts = stream([('strategic',"
        " 'random')], 2, rules='ocnaru', encoding='ocnaru100', turn_limit=8,"
        " threads=1);print(hashlib.sha256(b''.join(column.tobytes() for column in"
        " next(parts))).hexdigest())"
    )
    plain = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    compiled = everything(
        [("strategic", "random")], 2, rules="ocnaru", encoding="ocnaru100", turn_limit=8, threads=1
    )
    assert compiled.size > 50
    assert (
        plain.stdout.strip()
        == hashlib.sha256(b"".join(column.tobytes() for column in compiled)).hexdigest()
    )


def test_batches_are_whole_games_in_their_order() -> None:
    batches = list(
        stream(PAIRS, 11, rules="ocnaru", encoding="ocnaru100", heads=("jail",), batch=4, threads=3)
    )
    assert [sorted(set(batch.game.tolist())) for batch in batches] == [
        [0, 1, 2, 3],
        [4, 5, 6, 7],
        [8, 9, 10],
    ]
    game = np.concatenate([batch.game for batch in batches])
    assert (np.diff(game) >= 0).all()


def test_heads_choose_decisions_by_what_is_legal() -> None:
    options = {"rules": "ocnaru", "encoding": "ocnaru100", "seed": 1}
    everyone = everything(PAIRS, 8, **options)
    legal = unpack(everyone.choices)
    for heads in (("buy",), ("build", "jail"), ("sell",)):
        open_ = np.any([legal[:, actions.HEADS[head].slice].any(1) for head in heads], axis=0)
        assert 0 < open_.sum() < everyone.size
        assert_same(everything(PAIRS, 8, heads=heads, **options), everyone.take(open_))
    nothing = everything(PAIRS, 8, heads=("bid",), **options)  # these rules know no auctions
    assert nothing.size == 0
    assert nothing.observation.shape == (0, 100)


def test_every_order_of_seats_comes_in_turn() -> None:
    names, seats = seatings([("random", "strategic"), ("random", "random")])
    assert names == ("random", "strategic")
    assert seats.tolist() == [[0, 1], [0, 0], [1, 0], [0, 0]]
    names, seats = seatings([("random", "strategic", "fp/a")])
    assert Counter(map(tuple, seats.tolist())) == Counter(itertools.permutations(range(3)))
    _, seats = seatings([("random",) * 4 + ("strategic",)])
    assert sorted(seats.argmax(1).tolist()) == [0, 1, 2, 3, 4]


# --- numbers


def test_halves_are_rounded_as_numpy_does() -> None:
    generator = np.random.default_rng(0)
    values = generator.normal(size=100_000) * 10.0 ** generator.integers(-9, 5, 100_000)
    edges = [
        0.0,
        -0.0,
        1.0,
        65504.0,
        65519.0,
        2.0**-14,
        2.0**-24,
        2.0**-25,
        1.0001 * 2.0**-25,
        3 * 2.0**-25,
        1 + 2.0**-11,
        1 + 3 * 2.0**-11,
    ]
    row = np.array(
        [*values[np.abs(values) < 65_000], *edges, *(-edge for edge in edges)], np.float32
    )
    halves = np.zeros(len(row), np.uint16)
    write_halves(row, row.view(np.int32), halves)
    np.testing.assert_array_equal(halves, row.astype(np.float16).view(np.uint16))


# --- leaving, and what goes wrong


def at_work() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("stream")]


def test_leaving_early_stops_the_threads() -> None:
    batches = stream(PAIRS, 10_000, rules="ocnaru", encoding="ocnaru100", batch=16, threads=2)
    assert next(batches).game.max() == 15
    assert at_work()
    batches.close()  # type: ignore[attr-defined]
    assert not at_work()
    for _ in stream(PAIRS, 10_000, rules="ocnaru", encoding="ocnaru100", batch=16, threads=2):
        break
    assert not at_work()


@agents.policy_kernel
def cheat(game, mask, params, memory):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN201
    """The first legal action; after so many turns, what it was told."""
    return int(params[0]) if game.turns > params[1] else mask.argmax()


def test_a_policy_that_breaks_the_rules_is_named() -> None:
    rules = me.Rules(auction="none", start_cash=1_000_000, trade="none")
    for action, reason in (
        (actions.parse("accept"), r"'accept'.* is illegal at the decision"),
        (205, "0 to 204"),
        (-1, "0 to 204"),
    ):
        policy = agents.CompiledPolicy("cheat", cheat, [action, 60])
        with pytest.raises(
            IllegalActionError, match=rf"Policy 'cheat' in the game of seed \d+: .*{reason}"
        ):
            everything([(policy, "random")], 40, rules=rules, encoding="ocnaru100", batch=4)
        assert not at_work()
    with pytest.raises(IllegalActionError, match=NEVER_ENDS):
        everything([(restless(), "random")], 2, rules=rules, encoding="ocnaru100")


def test_a_mask_is_written_for_those_that_read_it() -> None:
    """Both policies check it, and break the rules where it is wrong."""
    for policy in (blind(), seeing()):
        assert everything([(policy, "random")], 4, rules="official", encoding="standard").size > 100


@pytest.mark.parametrize(
    ("tables", "changes", "reason"),
    [
        ([], {}, "must be seatings"),
        (["strategic", "random"], {}, "must be seatings"),
        ([("strategic",)], {}, "the same number of players, 2 to 8, not 1"),
        ([("strategic", "random"), ("random",) * 3], {}, "not 2 and 3"),
        ([("strategc", "random")], {}, "Did you mean 'strategic'"),
        ([("one_ply", "random")], {}, "Policy 'one_ply.*' is not compiled"),
        (PAIRS, {"heads": ("byu",)}, "Unknown head 'byu'. Did you mean 'buy'"),
        (PAIRS, {"heads": "buy"}, "heads='buy' must name heads"),
        (PAIRS, {"heads": ()}, r"heads=\(\) must name heads"),
        (PAIRS, {"encoding": "ocnaru"}, "Unknown encoding 'ocnaru'"),
        (THREE, {"encoding": "ocnaru100"}, "for 2 players"),
        (THREE, {"encoding": encodings.make("standard", 2)}, "no room for 3 players"),
        (
            PAIRS,
            {"reward": "win_shaped"},
            "Reward 'win_shaped' is paid at every step.*Valid: win, rank, net_worth",
        ),
        (PAIRS, {"games": 0}, "games=0 must be a whole number from 1"),
        (PAIRS, {"seed": -1}, "seed=-1 must be a whole number from 0"),
        (PAIRS, {"batch": 0}, "batch=0 must be a whole number from 1"),
        (PAIRS, {"first": 11}, "first=11 must be a whole number from 0 to 10"),
        (PAIRS, {"threads": 0}, "threads=0 must be a whole number from 1"),
        (PAIRS, {"turn_limit": 2.5}, "turn_limit=2.5 must be a whole number"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_is_played(
    tables: Any, changes: dict[str, Any], reason: str
) -> None:
    options = {"games": 10, "rules": "ocnaru", "encoding": "standard"} | changes
    with pytest.raises(ConfigurationError, match=reason):
        stream(tables, **options)


def test_unknown_rules_are_refused() -> None:
    with pytest.raises(RulesError, match="Did you mean 'ocnaru'"):
        stream(PAIRS, 1, rules="ocnar", encoding="standard")
