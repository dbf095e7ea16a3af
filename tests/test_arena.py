"""The arena: seats, seeds, statistics, and results that depend on nothing else."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import agents
import monopoly_env as me
from agents import arena, results, tables
from agents.results import Results
from monopoly_env import actions
from monopoly_env.core import batch_of

mpl.use("Agg")


class Asked(agents.BatchedPolicy):
    """A policy whose every decision is asked in Python."""

    def __init__(self, inner: str) -> None:
        self.inner = agents.make(inner)
        self.name = inner
        self.calls = 0

    def act(self, decisions: agents.Decisions) -> NDArray[np.int64]:
        self.calls += 1
        return self.inner.act(decisions)


class ByKey(agents.BatchedPolicy):
    name = "by key"

    def act(self, decisions: agents.Decisions) -> NDArray[np.int64]:
        nth = decisions.key % decisions.mask.sum(axis=1).astype(np.uint64)
        return (decisions.mask.cumsum(axis=1) > nth[:, None]).argmax(axis=1)


class Wrong(agents.BatchedPolicy):
    name = "wrong"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def act(self, decisions: agents.Decisions) -> Any:
        return self.answer(len(decisions))


def trajectories(found: Results) -> list[Any]:
    return [found.place.tolist(), found.turns.tolist(), found.choices.tolist(), found.seats.tolist(), found.capped.tolist()]


# --- seats and seeds ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_seed_is_played_in_every_order(players: int) -> None:
    orders = len(list(itertools.permutations(range(players))))
    seats, unit = arena.arrangements(np.arange(players, dtype=np.int16), 2 * orders, 0)
    assert Counter(unit.tolist()) == {0: orders, 1: orders}
    assert len({tuple(row) for row in seats[unit == 0]}) == orders
    assert (seats[unit == 0] == seats[unit == 1]).all()


def test_a_large_table_rotates_random_orders() -> None:
    seats, unit = arena.arrangements(np.arange(6, dtype=np.int16), 60, 3)
    for number in range(10):
        assert all(sorted(column) == list(range(6)) for column in seats[unit == number].T)
    assert len({tuple(row) for row in seats[::6]}) > 5


def test_equal_policies_are_not_swapped() -> None:
    seats, unit = arena.arrangements(np.array([0, 0, 1], np.int16), 6, 0)
    assert sorted(map(tuple, seats[unit == 0].tolist())) == [(0, 0, 1), (0, 1, 0), (1, 0, 0)]


@pytest.mark.parametrize("games", [1, 5, 7, 30])
def test_as_many_games_as_asked_for(games: int) -> None:
    found = arena.play(["algorithmic", "random", "random/no_trades"], games)
    assert found.games == games == len(found.place)


def test_a_game_of_the_arena_can_be_played_again() -> None:
    found = arena.play(["random", "random"], 3, seed=5)
    game = me.new_game(2, seed=(5 << 32) + 2)
    policy = agents.make("random")
    games = batch_of(game)  # the policy draws from the game itself
    while not me.is_over(game):
        me.step(game, int(policy.act(agents.Decisions(games, key=np.zeros(1, np.uint64)))[0]))
    assert game.turns == found.turns[2]


# --- the same whatever the way ------------------------------------------------------------------------------------------


def test_threads_and_slices_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    players = ["algorithmic", "random", "random/no_trades"]
    expected = trajectories(arena.play(players, 60, threads=1))
    assert trajectories(arena.play(players, 60, threads=3)) == expected
    monkeypatch.setattr(tables, "_SLICE", 7)
    assert trajectories(arena.play(players, 60, threads=2)) == expected


def test_a_policy_that_is_asked_plays_like_the_compiled_one(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = trajectories(arena.play(["algorithmic", "random/no_trades"], 40, seed=2))
    asked = Asked("algorithmic")
    # The asked policy's keys move its own counter on; the algorithmic one draws nothing, so the games are the same.
    assert trajectories(arena.play([asked, "random/no_trades"], 40, seed=2)) == compiled
    assert asked.calls < 2000  # many decisions a call
    monkeypatch.setattr(tables, "_WINDOW", 9)
    monkeypatch.setattr(tables, "_SLICE", 4)
    assert trajectories(arena.play([Asked("algorithmic"), "random/no_trades"], 40, seed=2)) == compiled


def test_keys_make_asked_policies_independent_of_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = trajectories(arena.play([ByKey(), "random"], 30))
    monkeypatch.setattr(tables, "_WINDOW", 7)
    assert trajectories(arena.play([ByKey(), "random"], 30, threads=1)) == expected


def test_uncompiled_games_are_the_same() -> None:
    code = (
        "import agents; found = agents.arena.play(['algorithmic', 'random'], 4, seed=9);"
        "print(found.place.tolist(), found.turns.tolist(), found.choices.tolist())"
    )
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(Path(agents.__file__).parents[1])}
    plain = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True).stdout
    found = arena.play(["algorithmic", "random"], 4, seed=9)
    assert plain.split() == f"{found.place.tolist()} {found.turns.tolist()} {found.choices.tolist()}".split()


# --- wrong policies -----------------------------------------------------------------------------------------------------


def test_a_compiled_policy_that_breaks_the_rules_is_named() -> None:
    @agents.policy_kernel
    def cheat(game, mask, params, memory):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
        return int(params[0])

    policy = agents.CompiledPolicy("cheat", cheat, [actions.parse("accept")])
    with pytest.raises(me.IllegalActionError, match=r"Policy 'cheat', seat \d, decision '\w+': action \d+ \(accept\) is not legal"):
        arena.play([policy, "random"], 2)
    for outside in (205, -1):
        with pytest.raises(me.IllegalActionError, match="which does not exist"):
            arena.play([agents.CompiledPolicy("cheat", cheat, [outside]), "random"], 2)


def test_a_compiled_policy_that_never_goes_on_is_named() -> None:
    buy, start, stop = actions.parse("buy"), actions.HEADS["mortgage"].start, actions.HEADS["unmortgage"].stop

    @agents.policy_kernel
    def restless(game, mask, params, memory):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
        if mask[buy]:
            return buy
        for action in range(start, stop):  # mortgages all it has, then lifts it again
            if mask[action]:
                return action
        return mask.argmax()

    @agents.policy_kernel
    def idle(game, mask, params, memory):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
        return mask.argmax()

    rules = me.Rules(auction="none", start_cash=1_000_000, trade="none")
    with pytest.raises(me.IllegalActionError, match=r"'restless'.*never goes on"):
        arena.play([agents.CompiledPolicy("restless", restless), agents.CompiledPolicy("idle", idle)], 2, rules)


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (lambda count: np.full(count, 204), me.IllegalActionError, "Policy 'wrong'.*is not legal"),
        (lambda count: np.full(count, 999), me.IllegalActionError, "which does not exist"),
        (np.zeros, me.ConfigurationError, "integers"),
        (lambda count: np.zeros((count, 1), int), me.ConfigurationError, r"shape \(\d+, 1\)"),
        (lambda count: None, me.ConfigurationError, "integers"),
    ],
)
def test_a_batched_policy_that_answers_wrong_is_named(answer: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        arena.play([Wrong(answer), "random"], 4)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"policies": ["random"]}, me.ConfigurationError, "policies at a table must be a whole number from 2 to 8, not 1"),
        ({"policies": ["random", "algoritmic"]}, me.ConfigurationError, "Did you mean 'algorithmic'"),
        ({"games": 0}, me.ConfigurationError, "games must be"),
        ({"games": 2.5}, me.ConfigurationError, "games must be"),
        ({"seed": -1}, me.ConfigurationError, "seed must be"),
        ({"threads": 0}, me.ConfigurationError, "threads must be"),
        ({"turn_limit": 0}, me.ConfigurationError, "turn_limit must be"),
        ({"rules": "oficial"}, me.RulesError, "Did you mean 'official'"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        arena.play(**({"policies": ["random", "random"]} | arguments))


# --- results ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def found() -> Results:
    return arena.play(["algorithmic", "random", "random"], 60, seed=4)


def test_a_policy_that_sits_twice_is_one_row(found: Results) -> None:
    rows = {row["name"]: row for row in found.rows()}
    assert set(rows) == {"algorithmic", "random"}
    assert [row["games"] for row in rows.values()] == [60, 60]
    assert sum(row["wins"] for row in rows.values()) == pytest.approx(60)
    assert found.wins.sum() == pytest.approx(60)


def test_policies_of_one_name_are_told_apart() -> None:
    found = arena.play([agents.make("algorithmic"), agents.make("algorithmic", reserve=1000.0)], 10)
    assert sorted(row["name"] for row in found.rows()) == ["algorithmic", "algorithmic (2)"]


def test_capped_games_are_decided_by_score() -> None:
    found = arena.play(["algorithmic", "random"], 20, turn_limit=3)
    assert found.capped.all()
    assert found.capped_share == 1.0
    assert (found.turns == 6).all()
    assert (found.place >= 1).all()


def test_wilson_agrees_with_scipy() -> None:
    for wins, games in ((0, 10), (7, 10), (999, 1000), (50, 50)):
        expected = stats.binomtest(wins, games).proportion_ci(0.95, method="wilson")
        assert results.wilson(wins, games) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_the_interval_between_seeds_is_that_of_their_means() -> None:
    won = np.random.default_rng(0).random((40, 6)).round()
    low, high = results.clustered(won.ravel(), np.repeat(np.arange(40, dtype=np.int32), 6))
    expected = stats.ttest_1samp(won.mean(axis=1), 0).confidence_interval(0.95)
    assert (low, high) == pytest.approx((expected.low, expected.high))
    assert results.clustered(np.ones(6), np.zeros(6, np.int32)) == (0.0, 1.0)


def test_seats_are_worth_what_the_order_of_play_makes_them(found: Results) -> None:
    for by in ("order", "seat"):
        assert found.seat_effect(by).sum() == pytest.approx(1)
    first_won = np.mean([found.wins[game, found.first[game]] for game in range(found.games)])
    assert found.seat_effect("order")[0] == pytest.approx(first_won)
    with pytest.raises(me.ConfigurationError, match="'order' or by 'seat'"):
        found.seat_effect("chair")


def test_results_are_shown_in_every_form(found: Results) -> None:
    assert "algorithmic" in str(found)
    frame = found.to_pandas()
    assert {"name", "games", "wins", "win_rate", "low", "high", "mean_place"} <= set(frame.columns)
    assert len(frame) == 2
    bars = [bar for bar in found.plot().patches if bar.get_width() > 0]
    assert len(bars) >= 1
    assert found.summary()["games"] == 60
    assert found.decisions == found.choices.sum() > 60
    assert found.seconds > 0


def test_saved_results_come_back(found: Results, tmp_path: Path) -> None:
    found.save(tmp_path / "found.npz")
    loaded = Results.load(tmp_path / "found.npz")
    assert loaded.summary() == found.summary()
    assert trajectories(loaded) == trajectories(found)
    found.save(tmp_path / "found.json")
    assert json.loads((tmp_path / "found.json").read_text()) == found.summary()
    found.save(tmp_path / "found.csv")
    assert (tmp_path / "found.csv").read_text().startswith("name,games,wins,win_rate")
    with pytest.raises(me.ConfigurationError, match=r"\.npz, \.csv or \.json"):
        found.save(tmp_path / "found.pkl")


@pytest.mark.parametrize("content", [b"", b"nothing", b"PK\x03\x04 broken"])
def test_foreign_results_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "found.npz").write_bytes(content)
    with pytest.raises(me.FormatError, match="holds no results"):
        Results.load(tmp_path / "found.npz")
    np.savez(tmp_path / "other.npz", about=np.array('{"format": "other"}'))
    with pytest.raises(me.FormatError, match="expected 'monopoly-results'"):
        Results.load(tmp_path / "other.npz")


# --- round robin --------------------------------------------------------------------------------------------------------


def test_a_round_robin_plays_every_table() -> None:
    done: list[int] = []
    found = arena.round_robin(["algorithmic", "random", "random/no_trades"], 20, progress=done.append)
    assert found.games == 60 == sum(done)
    assert {row["name"]: row["games"] for row in found.rows()} == {"algorithmic": 40, "random": 40, "random/no_trades": 40}
    alone = arena.play(["algorithmic", "random/no_trades"], 20)
    pair = ((found.seats == 0) | (found.seats == 2)).all(axis=1)
    assert found.turns[pair].tolist() == alone.turns.tolist()
    assert len(np.unique(found.unit)) == 30


def test_a_table_needs_enough_policies() -> None:
    with pytest.raises(me.ConfigurationError, match="A table of 3 needs as many policies; 2 were given"):
        arena.round_robin(["algorithmic", "random"], table_size=3)
