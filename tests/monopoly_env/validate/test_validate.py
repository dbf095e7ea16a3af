"""`python -m monopoly_env.validate`: landing odds, the fuzzer, its bookkeeper and the invariants.

Each must also find what is wrong.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import monopoly_env as me
from monopoly_env import actions, core
from monopoly_env.engine import agenda, invariants
from monopoly_env.game import BANK, POT
from monopoly_env.positions import position
from monopoly_env.validate import __main__ as command
from monopoly_env.validate import fuzz, landing, ledger

THROWS = 800 * landing.GAMES


@pytest.fixture(scope="module")
def measured() -> dict[str, landing.Landing]:
    """Landing odds of the US board for every behaviour in jail."""
    return {
        jail: landing.measure("us", jail, THROWS, seed=1, threads=2)
        for jail in ("leave", "stay", "stay_reroll")
    }


# --- landing


def test_leaving_at_once_agrees_with_the_exact_odds(measured: dict[str, landing.Landing]) -> None:
    """Row by row within 5.6 standard deviations of a binomial share.

    Of 41 rows one strays by chance in 10^-6 of all seeds.

    Successive throws of a token are correlated negatively (it cannot come back at once), so a
    binomial is the wide side.
    """
    found = measured["leave"]
    assert found.exact is not None
    share = found.exact / 100
    allowed = 5.6 * 100 * np.sqrt(share * (1 - share) / found.throws)
    assert (np.abs(found.percent - found.exact) <= allowed + 1e-9).all()
    assert found.difference is not None
    assert found.difference <= found.tolerance < 0.25
    assert math.isclose(found.exact.sum(), 100, abs_tol=0.01)


@pytest.mark.parametrize("jail", ["stay", "stay_reroll"])
def test_staying_agrees_with_the_published_share_of_in_jail(
    measured: dict[str, landing.Landing], jail: str
) -> None:
    """A stay rests in jail N = 1, 2 or 3 times (5/6 each time).

    So the variance is at most E[N^2] / E[N] = 2.75 times that of independent throws; 5 such
    standard deviations are passed by chance in 6 of 10^7 seeds.
    """
    found = measured[jail]
    published = landing.IN_JAIL_PUBLISHED["us", jail] / 100
    allowed = 5 * 100 * math.sqrt(2.75 * published / found.throws)
    assert found.percent[landing.IN_JAIL] == pytest.approx(100 * published, abs=allowed)
    assert found.difference == abs(found.percent[landing.IN_JAIL] - 100 * published)


def test_staying_differs_from_leaving(measured: dict[str, landing.Landing]) -> None:
    assert (
        measured["stay"].percent[landing.IN_JAIL] > 2 * measured["leave"].percent[landing.IN_JAIL]
    )
    assert measured["stay"].percent.tolist() != measured["stay_reroll"].percent.tolist()


def test_every_table_is_a_distribution(measured: dict[str, landing.Landing]) -> None:
    for found in measured.values():
        assert found.throws == THROWS
        assert found.percent.shape == (41,)
        assert math.isclose(found.percent.sum(), 100)
        assert found.percent[30] == 0  # nobody rests on Go To Jail
        assert (np.delete(found.percent, 30) > 0).all()


def test_odds_depend_on_the_seed_and_not_on_threads() -> None:
    one = landing.measure("uk", "stay", 20_000, seed=4, threads=1)
    assert (
        landing.measure("uk", "stay", 20_000, seed=4, threads=3).percent.tolist()
        == one.percent.tolist()
    )
    assert (
        landing.measure("uk", "stay", 20_000, seed=90, threads=1).percent.tolist()
        != one.percent.tolist()
    )


def test_boards_differ_where_their_decks_do() -> None:
    us, uk = (landing.measure(name, "leave", 100_000, seed=2).percent for name in ("us", "uk"))
    # three cards lead to Reading Railroad, two of them also to other railroads
    assert us[5] > uk[5] + 0.5
    assert uk[1] > us[1] + 0.2  # a UK card leads back to Old Kent Road


def test_what_is_not_known_is_not_compared() -> None:
    found = landing.measure("uk", "leave", 1)
    assert (found.exact, found.difference) == (None, None)


@pytest.mark.parametrize(
    ("throws", "counted"),
    [(1, landing.GAMES), (landing.GAMES, landing.GAMES), (landing.GAMES + 1, 2 * landing.GAMES)],
)
def test_throws_are_rounded_up(throws: int, counted: int) -> None:
    assert landing.measure(throws=throws).throws == counted


@pytest.mark.parametrize("throws", [0, -5])
def test_no_throw_at_all(throws: int) -> None:
    with pytest.raises(me.ConfigurationError, match=f"throws={throws}"):
        landing.measure(throws=throws)


def test_the_tolerance_shrinks_with_the_root_of_the_throws() -> None:
    found = landing.Landing("us", "leave", np.zeros(41), 20_000_000, np.zeros(41))
    assert found.tolerance == landing.TOLERANCE == 0.03
    assert dataclasses.replace(found, throws=200_000).tolerance == pytest.approx(0.3)
    assert dataclasses.replace(found, throws=2_000_000_000).tolerance == 0.03


def test_a_wrong_table_differs(measured: dict[str, landing.Landing]) -> None:
    found = measured["leave"]
    shifted = dataclasses.replace(found, percent=np.roll(found.percent, 1))
    assert shifted.difference is not None
    assert shifted.difference > shifted.tolerance
    alone = dataclasses.replace(measured["stay"], percent=measured["leave"].percent)
    assert alone.difference is not None
    assert alone.difference > alone.tolerance


# --- the command


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """The exit status of the command line."""
    monkeypatch.setattr(sys, "argv", ["validate", *arguments])
    return command.main()


def test_landing_prints_json_and_writes_csv(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "new" / "odds.csv"
    arguments = (
        f"landing --board us --jail leave --throws {20 * landing.GAMES} --threads 1 --json --csv"
    ).split()
    assert call(monkeypatch, *arguments, str(target)) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["board"], told["jail"], told["throws"], told["agrees"]) == (
        "us",
        "leave",
        20 * landing.GAMES,
        True,
    )
    assert 0 < told["difference"] <= told["tolerance"]
    rows = list(csv.DictReader(io.StringIO(target.read_text())))
    assert list(rows[0]) == ["index", "percent"]
    assert [int(row["index"]) for row in rows] == list(range(41))
    assert [float(row["percent"]) for row in rows] == told["percent"]
    assert sum(told["percent"]) == pytest.approx(100, abs=1e-4)


def test_landing_prints_a_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, "landing", "--throws", "20000") == 0
    shown = capsys.readouterr().out
    assert "largest difference from the exact odds" in shown
    assert all(name in shown for name in ("Boardwalk", "In Jail", "agrees"))
    assert call(monkeypatch, "landing", "--throws", "20000", "--board", "uk") == 0
    assert "nothing to compare with" in capsys.readouterr().out.replace("\n", " ")
    assert call(monkeypatch, "landing", "--throws", "20000", "--jail", "stay") == 0
    assert "published In Jail" in capsys.readouterr().out


def test_landing_fails_where_the_engine_disagrees(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    true = landing.measure("us", "leave", 20_000)
    monkeypatch.setattr(
        landing, "measure", lambda *_: dataclasses.replace(true, percent=np.roll(true.percent, 1))
    )
    assert call(monkeypatch, "landing") == 1
    assert "DISAGREES" in capsys.readouterr().out
    assert call(monkeypatch, "landing", "--json") == 1
    assert json.loads(capsys.readouterr().out)["agrees"] is False


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["landing", "--throws", "0"], "--throws 0 must be a whole number from 1"),
        (["landing", "--throws", "1", "--seed", "-1"], "--seed -1"),
        (["landing", "--throws", "1", "--threads", "0"], "threads"),
        (
            ["landing", "--throws", "1", "--csv", "/dev/null/odds.csv"],
            "Cannot write '/dev/null/odds.csv'",
        ),
        (["fuzz", "--games", "0"], "games"),
        (["fuzz", "--games", "4", "--threads", "0"], "threads"),
        (["fuzz", "--games", "4", "--seed", "-1"], "seed"),
        (["fuzz", "--case", "-1"], "case"),
    ],
)
def test_wrong_arguments_of_the_command(
    arguments: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert call(monkeypatch, *arguments) == 2
    shown = capsys.readouterr().err
    assert message.lower() in shown.lower()
    assert shown.strip().splitlines()[-1].startswith("error: ")


def test_fuzz_prints_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        call(monkeypatch, "fuzz", "--games", "70", "--seed", "5", "--max-decisions", "50", "--json")
        == 0
    )
    told = json.loads(capsys.readouterr().out)
    assert (told["games"], told["refused"], told["failures"]) == (70, 210, [])
    assert told["decisions"] > 1000


def test_fuzz_plays_one_case_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, "fuzz", "--seed", "5", "--case", "31") == 0
    shown = capsys.readouterr().out
    assert shown.startswith(me.to_text(fuzz.case(5, 31)))
    assert "1 games, " in shown
    assert "0 violations" in shown


def test_fuzz_says_how_a_failing_case_is_played_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plant(monkeypatch, 3, lambda game: break_field(game, "cash", 0, -1_000_000))
    assert call(monkeypatch, "fuzz", "--games", "5", "--seed", "2") == 1
    shown = capsys.readouterr().out
    assert "1 violations" in shown
    assert (
        "case 3: a player's cash is negative. To repeat: python -m monopoly_env.validate fuzz"
        " --seed 2 --case 3" in shown
    )


# --- the fuzzer


def test_the_fuzzer_finds_nothing() -> None:
    totals = list(fuzz.run(300, seed=11, most=2000, threads=2))
    assert [total.games for total in (totals[0], totals[-1])] in ([300, 300], [64, 300])
    assert totals[-1].failures == []
    assert totals[-1].refused == 900
    assert totals[-1].decisions > 100_000
    assert totals[-1].finished > 30


def test_cases_depend_on_seed_and_number_alone() -> None:
    whole = list(fuzz.run(130, seed=3, most=60))[-1]
    parts = [
        list(fuzz.run(count, seed=3, most=60, threads=2, first=first))[-1]
        for first, count in ((0, 50), (50, 80))
    ]
    assert whole.decisions == sum(part.decisions for part in parts)
    assert whole.finished == sum(part.finished for part in parts)
    assert fuzz.case(3, 7).tobytes() == fuzz.case(3, 7).tobytes()
    assert (
        len({fuzz.case(3, number).tobytes() for number in range(20)} | {fuzz.case(4, 7).tobytes()})
        == 21
    )


def test_cases_cover_the_options() -> None:
    """Every value of every named option, both sides of every switch, every number of players.

    New games and positions, too.
    """
    games = [fuzz.case(1, number) for number in range(200)]
    rules = [me.Rules.from_record(game.rules) for game in games]
    for option in dataclasses.fields(me.Rules):
        seen = {getattr(one, option.name) for one in rules}
        if choices := option.metadata.get("choices"):
            assert seen == set(choices), option.name
        elif isinstance(option.default, bool):
            assert seen == {False, True} or option.name == "ocnaru_quirks", option.name
        else:
            assert len(seen) > 3 or option.metadata["range"][1] < 10, option.name
    assert {int(game.num_players) for game in games} == set(range(2, 9))
    assert any(game.level.any() for game in games)
    assert any(game.jail.any() for game in games)
    assert any(game.mortgaged for game in games)


def plant(monkeypatch: pytest.MonkeyPatch, number: int, damage: Callable[[Any], None]) -> None:
    """Give the fuzzer a record that the engine would never make."""
    true = fuzz.case

    def damaged(seed: int, case: int) -> Any:
        game = true(seed, case)
        if case == number:
            damage(game)
        return game

    monkeypatch.setattr(fuzz, "case", damaged)


def break_field(game: Any, field: str, *path: Any) -> None:
    """Set a field, or an element of it; the value comes last."""
    *places, value = path
    if places:
        game[field][tuple(places)] = value
    else:
        game[field] = value


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        (("deck", 0, slice(2), 3), "a deck does not hold its cards once each"),
        (("cash", 1, -1_000_000), "a player's cash is negative"),
        (("fault", 3), "the engine reported a fault"),
        (("num_refused", -1), "a seat, lot, die or counter is out of range"),
    ],
)
def test_the_fuzzer_finds_a_damaged_game(
    damage: tuple[Any, ...], what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, 9, lambda game: break_field(game, *damage))
    assert fuzz.play_cases(7, range(8, 12), 200).failures == [(9, what)]


@pytest.mark.parametrize(
    ("creditor", "failures"), [(1, []), (BANK, []), (5, [(0, "money appeared or vanished")])]
)
def test_the_fuzzer_finds_money_that_vanishes(
    creditor: int, failures: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A debt to a seat that nobody sits in: the debtor pays, and none of the players gets it."""
    game = position(2, lots={0: ["Boardwalk"], 1: ["Park Place"]})
    game.agenda[:2] = (agenda.END_TURN, 0, 0, 0), (agenda.CHARGE, 0, 60, creditor)
    game.depth = 2
    monkeypatch.setattr(fuzz, "case", lambda *_: game)
    assert fuzz.play_cases(0, range(1), 5).failures == failures


def test_the_fuzzer_notices_an_illegal_action_that_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core, "step", lambda game, action: game)
    with pytest.raises(
        AssertionError, match=r"case 5 of seed 1: illegal action .* was not refused cleanly"
    ):
        fuzz.play_cases(1, range(5, 6), 1)


def test_the_fuzzer_notices_a_refusal_that_leaves_a_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(game: Any, action: int) -> None:
        game.turns += 1
        raise me.IllegalActionError(f"{action}")

    monkeypatch.setattr(core, "step", careless)
    with pytest.raises(AssertionError, match="was not refused cleanly"):
        fuzz.play_cases(1, range(1), 1)


# --- invariants


def sound() -> Any:
    """A game with something of everything.

    Buildings, a mortgage, a jailed player, a held card, a player who has left.
    """
    return position(
        4, lots={0: [0, 1, 22], 1: [2, 3, 4], 2: [21]}, buildings={0: 5, 1: 4, 2: 1},
        mortgaged=[22], jail={1: 1},
        jail_cards={2: ["chance"]}, bankrupt=[3], seed=1,
    )  # fmt: skip


def ask(game: Any, seat: int) -> None:
    """Put the open question to another seat."""
    game.player = game.agenda[game.depth - 1, 1] = seat


def leave(game: Any) -> None:
    """Everybody leaves."""
    game.place[:4] = 1
    game.mortgaged, game.houses, game.hotels = 0, game.rules.houses, game.rules.hotels
    for name in ("cash", "lots", "level", "jail", "jail_cards"):
        break_field(game, name, slice(None), 0)


BREAKS: dict[str, Callable[[Any], None]] = {
    "the engine reported a fault": lambda game: break_field(game, "fault", 1),
    "a lot has two owners": lambda game: break_field(game, "lots", 2, 1),
    "a player who left the game owns something": lambda game: break_field(game, "lots", 3, 1 << 25),
    "a lot of the bank is mortgaged": lambda game: break_field(
        game, "mortgaged", 1 << 22 | 1 << 20
    ),
    "a group is mortgaged and built at once": lambda game: break_field(
        game, "mortgaged", 1 << 22 | 1 << 3
    ),
    "a building stands on a group that nobody owns whole": lambda game: break_field(
        game, "level", 21, 1
    ),
    "a group is built unevenly": lambda game: break_field(game, "level", 1, 3),
    "houses are not conserved": lambda game: break_field(game, "houses", int(game.houses) + 1),
    "hotels are not conserved": lambda game: break_field(game, "hotels", int(game.hotels) - 1),
    "a player's cash is negative": lambda game: break_field(game, "cash", 0, -1),
    "a jail card is in two places": lambda game: break_field(game, "jail_cards", 0, 1),
    "a deck does not hold its cards once each": lambda game: break_field(
        game, "deck", 1, 0, int(game.deck[1, 1])
    ),
    "a jailed player is not on the jail square": lambda game: break_field(game, "position", 1, 11),
    "a decision has no legal action": lambda game: break_field(game, "legal", slice(None), 0),
    "a player who left the game is asked": lambda game: ask(game, 3),
    "the game is over but a player has no place": lambda game: break_field(
        game, "decision", agenda.OVER
    ),
    "an absent seat has belongings": lambda game: break_field(game, "cash", 6, 1),
    "a seat, lot, die or counter is out of range": lambda game: break_field(game, "turn", 4),
    "the agenda holds an impossible task": lambda game: break_field(game, "agenda", 0, 0, 99),
    "nobody is left in the game": leave,
    "the legal actions are not those of the rules": lambda game: break_field(game, "legal", 0, 3),
}


def test_every_invariant_has_a_record_that_breaks_it() -> None:
    assert set(BREAKS) == set(invariants.VIOLATIONS[1:])


@pytest.mark.parametrize("what", BREAKS)
def test_a_broken_record_is_named(what: str) -> None:
    game = sound()
    me.check(game)
    BREAKS[what](game)
    with pytest.raises(me.EngineError) as raised:
        me.check(game)
    assert str(raised.value) == f"Invariant broken: {what}."
    assert invariants.step_violation(game) == invariants.VIOLATIONS.index(what)


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        (("num_players", 9), "range"),
        (("num_players", 1), "range"),
        (("depth", 33), "range"),
        (("decision", 15), "range"),
        (("first", -1), "range"),
        (("player", 4), "range"),
        (("position", 0, -1), "range"),
        (("place", 0, 9), "range"),
        (("jail", 0, -1), "range"),
        (("forced_throws", 3, 67), "range"),
        (("num_forced", 17), "range"),
        (("num_refused", 11), "range"),
        (("auction_bidders", 1 << 4), "range"),
        (("auction_leader", 4), "range"),
        (("auction_asked", 4), "range"),
        (("auction_lot", -2), "range"),
        (("offer_from", 4), "range"),
        (("offer_to", -2), "range"),
        (("offer_last", 30), "range"),
        (("lots", 0, 1 << 28), "range"),
        (("jail_cards", 0, 4), "range"),
        (("deck", 0, 0, -1), "range"),
        (("deck_size", 1, 15), "deck"),
        (("deck_next", 0, 17), "range"),
        (("level", 0, 6), "range"),
        (("level", 5, -1), "range"),
        (("jail_cards", 3, 2), "left the game owns"),
        (("lots", 7, 1 << 20), "belongings"),
        (("position", 5, 3), "belongings"),
        (("jail", 6, 1), "belongings"),
        (("agenda", 0, 1, 4), "impossible task"),
        (("agenda", 0, 1, -1), "impossible task"),
        (("depth", 0), "impossible task"),
    ],
)
def test_every_number_that_leads_out_of_a_table_is_found(
    damage: tuple[Any, ...], what: str
) -> None:
    game = sound()
    break_field(game, *damage)
    with pytest.raises(me.EngineError, match=what):
        me.check(game)


UNBOUNDED = {("spare", min), ("spare", max), ("policy_draws", max)}  # any number will do


@pytest.mark.parametrize("extreme", [min, max])
@pytest.mark.parametrize("field", me.GAME.names or ())
def test_every_field_has_a_range(field: str, extreme: Callable[..., Any]) -> None:
    games = core.batch_of(sound())
    numbers = games[field].view(np.int32) if field == "rules" else games[field]
    limits = np.iinfo(numbers.dtype)
    numbers[...] = extreme(limits.min, limits.max)
    if (field, extreme) in UNBOUNDED:
        core.check_ranges(games)
    else:
        with pytest.raises(me.PositionError, match="Invalid record"):
            core.check_ranges(games)


@pytest.mark.parametrize(("at", "number"), [(2, 2), (2, -1), (3, 2)])
def test_a_pass_of_windows_that_the_rules_do_not_allow_is_found(at: int, number: int) -> None:
    game = position(2, me.Rules.preset("any_time", window_passes=2), lots={0: [0], 1: [1]})
    (row,) = np.flatnonzero(game.agenda[:, 0] == agenda.BEFORE_THROW_TASK)
    break_field(game, "agenda", row, at, number)
    with pytest.raises(me.EngineError, match="impossible task"):
        me.check(game)


def test_quirks_alone_may_take_cash_below_zero() -> None:
    game = position(
        2, me.Rules.preset("ocnaru", ocnaru_quirks=True), positions=[2, 0], throws=[(1, 2)]
    )
    game.cash[0] = -5
    me.check(core.settle(game))


def test_houses_may_run_short_where_they_are_found_anyway() -> None:
    for breakdown, sound_then in (("unlimited", True), ("vector", False)):
        game = position(
            2,
            me.Rules(hotel_breakdown=breakdown, houses=2),
            lots={0: [0, 1]},
            buildings={0: 1, 1: 1},
            positions=[10, 10],
        )
        game.level[:2], game.houses = 2, -2
        assert (invariants.violation(game) == 0) is sound_then


# --- the bookkeeper


def task(name: str, seat: int = 0, first: int = 0, second: int = 0, **options: Any) -> Any:
    """A game with a task on top of its agenda."""
    game = position(
        3,
        me.Rules(**options),
        lots={0: [0, 1, 21, 22], 1: [2, 3, 4]},
        cash=[500, 400, 300],
        positions=[10, 10, 10],
    )
    game.agenda[int(game.depth)] = agenda.TASK_NAMES.index(name), seat, first, second
    game.depth += 1
    return game


def flow(before: Any, pot: int = 0, **cash: int) -> Any:
    """The game after the top task was taken off and money moved."""
    after = me.clone(before)
    after.depth -= 1
    after.agenda[after.depth] = 0
    after.pot += pot
    for seat, dollars in cash.items():
        after.cash[int(seat[1:])] += dollars
    return after


TASKS: list[tuple[Any, dict[str, int], bool]] = [
    (("begin_turn",), {}, True),
    (("begin_turn",), {"_0": 1}, False),
    (("begin_turn",), {"_0": 5, "_1": -5}, True),  # the sum is what is kept
    (("before_throw",), {"_2": -1}, False),
    (("after_throw",), {"_0": 200}, False),
    (("end_turn",), {"_0": 200}, False),
    (("throw",), {"_0": 200}, True),
    (("throw",), {"_0": 400}, False),
    (("throw",), {"_0": 199}, False),
    (("throw",), {"_0": -200}, False),
    (("leave_jail", 0, 5), {"_0": 200}, True),
    (("leave_jail", 0, 5), {"_0": 50}, False),
    (("card", 0, 0), {"_0": 150}, True),
    (("card", 0, 1), {"_0": 150}, False),  # of the other deck
    (("card", 0, 1), {"_0": 20}, True),
    (("card", 0, 0), {"_0": -15}, False),  # paid by a task of its own
    (("charge", 0, 60, BANK), {"_0": -60}, True),
    (("charge", 0, 60, BANK), {"_0": -59}, False),
    (("charge", 0, 60, BANK), {"_0": -60, "_1": 60}, False),
    (("charge", 0, 60, 1), {"_0": -60, "_1": 60}, True),
    (("charge", 0, 60, 1), {"_0": -60}, False),
    (("charge", 0, 60, 1), {"_1": 60}, False),
    (("charge", 0, 60, POT), {"_0": -60}, True),
    (("charge", 0, 60, POT), {"_0": -60, "pot": 60}, False),  # these rules have no pot
    (("charge", 0, 0, BANK), {}, True),
    (("charge", 0, 0, BANK), {"_0": -1}, False),
    (("take", 0, 900, 1), {"_0": -900, "_1": 900}, True),
    (("take", 0, 900, 1), {"_0": -500, "_1": 900}, False),
    (("settle", 0), {}, True),
    (("settle", 0), {"_0": 500}, False),
    (("pay_each", 0, 50, 1), {"_0": -50}, False),
    (("collect_each", 0, 10, 1), {"_0": 10}, False),
    (("auction", 0, 5), {"_0": -1}, False),
    (("takeovers", 0), {"_1": 1}, False),
]


@pytest.mark.parametrize(
    ("what", "moved", "is_sound"), TASKS, ids=[f"{t[0][0]} {t[1]}" for t in TASKS]
)
def test_money_that_a_task_moves(
    what: tuple[Any, ...], moved: dict[str, int], is_sound: bool
) -> None:
    before = task(*what)
    assert bool(ledger.task_flow_is_sound(before, flow(before, **moved))) is is_sound


def test_money_on_free_parking() -> None:
    paid = task("charge", 0, 60, POT, free_parking_pot="fines")
    assert ledger.task_flow_is_sound(paid, flow(paid, pot=60, _0=-60))
    assert not ledger.task_flow_is_sound(paid, flow(paid, _0=-60))
    won = task("settle", 0, free_parking_pot="fines_plus_500")
    assert ledger.task_flow_is_sound(won, flow(won, _0=500))
    assert not ledger.task_flow_is_sound(won, flow(won, _0=501))


def test_a_double_salary_only_where_the_rules_have_it() -> None:
    for double_go in (False, True):
        game = task("throw", double_go=double_go)
        assert bool(ledger.task_flow_is_sound(game, flow(game, _0=400))) is double_go


def test_a_ruined_player_takes_no_money_along() -> None:
    before = task("charge", 0, 900, 1)
    after = flow(before, _0=-500, _1=500)
    after.place[0], after.lots[0] = 3, 0
    assert ledger.task_flow_is_sound(before, after)
    for leak in ({"_0": -500, "_1": 501}, {"_0": -499, "_1": 499}, {"_0": -500, "_2": -1}):
        after = flow(before, **leak)
        after.place[0] = 3
        assert not ledger.task_flow_is_sound(before, after)


# Prices are those of the board: Park Place 350, Boardwalk 400, its mortgage 200 and 20 to lift it,
# houses of the light blues 50.
ANSWERS: list[tuple[tuple[Any, ...], str, dict[str, int], bool]] = [
    (("buy", 2, 20), "buy", {"_2": -350}, True),
    (("buy", 2, 20), "buy", {"_2": -349}, False),
    (("buy", 2, 20), "buy", {}, False),
    (("buy", 2, 20), "decline", {}, True),
    (("buy", 2, 20), "decline", {"_2": -350}, False),
    (("turn", 0), "mortgage Boardwalk", {"_0": 200}, True),
    (("turn", 0), "mortgage Boardwalk", {"_0": 201}, False),
    (("turn", 0), "unmortgage Boardwalk", {"_0": -220}, True),
    (("turn", 0), "unmortgage Boardwalk", {"_0": -200}, False),
    (("turn", 0), "go on", {}, True),
    (("turn", 0), "go on", {"_0": 1}, False),
    (("reply", 1), "accept", {"_0": 40, "_1": -40}, True),
    (("reply", 1), "accept", {"_0": 40, "_1": -41}, False),
    (("jail", 0), "pay the fine", {"_0": -50}, False),  # charged by a task
    (("takeover", 0, 21), "choose the second", {"_0": -200}, True),
    (("takeover", 0, 21), "choose the second", {"_0": -220}, False),
    (("takeover", 0, 21), "choose the first", {"_0": -1}, False),
]


@pytest.mark.parametrize(
    ("question", "answer", "moved", "is_sound"), ANSWERS, ids=[f"{a[1]} {a[2]}" for a in ANSWERS]
)
def test_money_that_an_answer_moves(
    question: tuple[Any, ...], answer: str, moved: dict[str, int], is_sound: bool
) -> None:
    before = task(*question)
    action = actions.parse(answer)
    assert answer_is_sound(before, flow(before, **moved), action) is is_sound


def answer_is_sound(before: Any, after: Any, action: int) -> bool:
    head = int(actions.HEAD_OF[action])
    return bool(
        ledger.answer_flow_is_sound(
            before, after, action, head, actions.HEADS[actions.HEAD_NAMES[head]].start
        )
    )


@pytest.mark.parametrize(
    ("built", "paid", "is_sound"),
    [(1, -50, True), (1, -49, False), (0, 0, True), (0, -50, False), (1, 0, False)],
)
def test_money_for_a_building(built: int, paid: int, is_sound: bool) -> None:
    before = task("turn", 1)
    after = flow(before, _1=paid)
    after.level[2] = built
    assert answer_is_sound(before, after, actions.parse("build Oriental Avenue")) is is_sound


@pytest.mark.parametrize(
    ("left", "paid", "is_sound"),
    [(1, 25, True), (1, 50, False), (2, 25, False), (0, 50, True), (0, 25, False)],
)
def test_money_for_a_sale(left: int, paid: int, is_sound: bool) -> None:
    before = task("turn", 1)
    before.level[2:5] = 2
    after = flow(before, _1=paid)
    after.level[2] = left
    assert answer_is_sound(before, after, actions.parse("sell Oriental Avenue")) is is_sound


def test_money_counts_players_and_the_pot() -> None:
    game = task("turn")
    game.pot = 7
    assert ledger.money(game) == 500 + 400 + 300 + 7
