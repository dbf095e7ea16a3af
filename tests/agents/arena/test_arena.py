"""The arena: seats, seeds, statistics, and results that depend on nothing else."""

from __future__ import annotations

import hashlib
import itertools
import json
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas
import pytest
from numpy.typing import NDArray

import agents
import monopoly_env as me
from agents import arena
from agents.arena import result_files, runner
from agents.arena.games import ARRAYS, GameBatch, arrangements
from agents.arena.results import Results, merge
from agents.arena.statistics import seat_effect
from monopoly_env import actions, replays
from monopoly_env.cli.terminal import QuitError
from monopoly_env.core import batch_of
from tests.policies import (
    NEVER_ENDS,
    WRONG_ANSWERS,
    Acting,
    Historian,
    blind,
    restless,
    rich,
    seeing,
)
from tests.programs import python

mpl.use("Agg")


def by_key(decisions: agents.Decisions) -> NDArray[np.int64]:
    nth = decisions.key % decisions.mask.sum(axis=1).astype(np.uint64)
    return (decisions.mask.cumsum(axis=1) > nth[:, None]).argmax(axis=1)


def trajectories(found: Results) -> list[Any]:
    return [getattr(found, name).tobytes() for name in ARRAYS]


# --- seats and seeds


@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_seed_is_played_in_every_order(players: int) -> None:
    orders = len(list(itertools.permutations(range(players))))
    seats, seeds = arrangements(np.arange(players, dtype=np.int16), 2 * orders, 0)
    assert Counter(seeds.tolist()) == {0: orders, 1: orders}
    assert len({tuple(row) for row in seats[seeds == 0]}) == orders
    assert (seats[seeds == 0] == seats[seeds == 1]).all()


def test_a_large_table_rotates_random_orders() -> None:
    seats, seeds = arrangements(np.arange(6, dtype=np.int16), 60, 3)
    for number in range(10):
        rows = seats[seeds == (3 << 32) + number]
        assert all(sorted(column) == list(range(6)) for column in rows.T)
    assert len({tuple(row) for row in seats[::6]}) > 5


def test_equal_policies_are_not_swapped() -> None:
    seats, seeds = arrangements(np.array([0, 0, 1], np.int16), 6, 0)
    assert sorted(map(tuple, seats[seeds == 0].tolist())) == [(0, 0, 1), (0, 1, 0), (1, 0, 0)]


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


# --- the same whatever the way


def test_threads_and_slices_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    players = ["algorithmic", "random", "random/no_trades"]
    expected = trajectories(arena.play(players, 60, threads=1))
    assert trajectories(arena.play(players, 60, threads=3)) == expected
    monkeypatch.setattr(runner, "_SLICE", 7)
    assert trajectories(arena.play(players, 60, threads=2)) == expected


def test_a_policy_that_is_asked_plays_like_the_compiled_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiled = trajectories(arena.play(["algorithmic", "random/no_trades"], 40, seed=2))
    asked = Acting("algorithmic")
    # The asked policy's keys move its own counter on; the algorithmic one draws nothing, so the
    # games are the same.
    assert trajectories(arena.play([asked, "random/no_trades"], 40, seed=2)) == compiled
    assert len(asked.batches) < 2000  # many decisions a call
    monkeypatch.setattr(runner, "_WINDOW", 9)
    monkeypatch.setattr(runner, "_SLICE", 4)
    assert (
        trajectories(arena.play([Acting("algorithmic"), "random/no_trades"], 40, seed=2))
        == compiled
    )


def test_keys_make_asked_policies_independent_of_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = trajectories(arena.play([Acting(by_key), "random"], 15))
    monkeypatch.setattr(runner, "_WINDOW", 7)
    assert trajectories(arena.play([Acting(by_key), "random"], 15, threads=1)) == expected


def test_uncompiled_games_are_the_same() -> None:
    code = (
        "import agents; found = agents.arena.play(['algorithmic', 'random'], 4, seed=9);"
        "print(found.place.tolist(), found.turns.tolist(), found.decisions)"
    )
    source = Path(agents.__file__).parents[1]
    plain = python("-c", code, NUMBA_DISABLE_JIT=1, PYTHONPATH=source).stdout
    found = arena.play(["algorithmic", "random"], 4, seed=9)
    assert (
        plain.split() == f"{found.place.tolist()} {found.turns.tolist()} {found.decisions}".split()
    )


# --- wrong policies


def test_a_compiled_policy_that_breaks_the_rules_is_named() -> None:
    @agents.policy_kernel
    def cheat(game, mask, params, memory):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
        return int(params[0])

    policy = agents.CompiledPolicy("cheat", cheat, [actions.parse("accept")])
    with pytest.raises(
        me.IllegalActionError,
        match=(
            r"Policy 'cheat' in the game of seed \d+: Action \d+ \('accept'\) of player \d is"
            r" illegal at the decision '\w+'"
        ),
    ):
        arena.play([policy, "random"], 2)
    for outside in (205, -1):
        with pytest.raises(
            me.IllegalActionError,
            match=f"Policy 'cheat' .* action {outside} must be an integer from 0 to 204",
        ):
            arena.play([agents.CompiledPolicy("cheat", cheat, [outside]), "random"], 2)


def quit_at_once(_: Any) -> Any:
    sys.exit(3)


def fail(_: Any) -> Any:
    raise KeyError("no such lot")


def enrich(decisions: agents.Decisions) -> Any:
    decisions.games["cash"][0] += 1
    return decisions.mask.argmax(axis=1)


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (fail, r"Policy 'acting' raised KeyError: 'no such lot'"),
        (quit_at_once, r"Policy 'acting' exited"),
        (enrich, r"Policy 'acting' changed a game: expected it only to read"),
    ],
)
def test_a_batched_policy_that_fails_is_named(act: Any, message: str) -> None:
    asked = (
        r"It was asked for (\d+ decisions, the first in )?the game of seed \d+, turn \d+, '\w+' of"
        r" player \d\."
    )
    with pytest.raises(me.PolicyError, match=rf"{message}.*{asked}") as raised:
        arena.play([Acting(act), "random"], 4)
    assert (raised.value.__cause__ is None) == (act is enrich)


def test_errors_of_the_library_pass_through_a_policy() -> None:
    def leave(_: agents.Decisions) -> Any:
        raise QuitError("enough", on_purpose=True)

    with pytest.raises(QuitError, match="enough"):
        arena.play([Acting(leave), "random"], 4)


def test_a_batched_policy_may_draw_and_overwrite_its_mask() -> None:
    parent = agents.make("random")

    def scribble(decisions: agents.Decisions) -> Any:
        actions = parent.act(decisions)
        decisions.mask[:] = True
        return actions

    assert arena.play([Acting(scribble), "random"], 4).games == 4


def test_a_compiled_policy_that_raises_is_named() -> None:
    @agents.policy_kernel
    def fragile(game, mask, params, memory):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
        if game.turns > 3:
            raise ValueError("no idea")
        return mask.argmax()

    policy = agents.CompiledPolicy("fragile", fragile)
    for table in ([policy, "random"], [policy, Acting("random")]):
        with pytest.raises(
            me.PolicyError,
            match=(
                r"Policy 'fragile' raised ValueError: no idea. .*the game of seed \d+, turn [45],"
                r" '\w+' of"
            ),
        ):
            arena.play(table, 4)


@pytest.mark.parametrize("policy", [restless(), Acting(restless())], ids=["compiled", "batched"])
@pytest.mark.parametrize("record", [0, 2])
def test_a_policy_that_never_ends_its_turn_is_named(
    policy: agents.Policy, record: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "_RECORDED", 64)
    with pytest.raises(me.IllegalActionError, match=NEVER_ENDS):
        arena.play([policy, "random"], 2, rich(), record=record)


def test_a_mask_is_written_for_those_that_read_it() -> None:
    """Both policies check it, and break the rules where it is wrong."""
    assert arena.play([blind(), "random"], 4).turns.min() > 1
    assert arena.play([seeing(), "random"], 4).turns.min() > 1


@pytest.mark.parametrize(("answer", "error", "message"), WRONG_ANSWERS)
def test_a_batched_policy_that_answers_wrong_is_named(
    answer: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=f"'acting'.*{message}"):
        arena.play([Acting(answer), "random"], 4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"games": 0}, "games=0 must be"),
        ({"games": 2.5}, "games=2.5 must be"),
        ({"seed": -1}, "seed=-1 must be"),
        ({"threads": 0}, "threads=0 must be"),
        ({"turn_limit": 0}, "turn_limit=0 must be"),
        ({"until": 0}, "until must be a number between 0 and 1, not 0"),
        ({"until": "narrow"}, "until must be"),
        ({"record": 1001}, "record=1001 must be a whole number from 0 to 1,000"),
        ({"record": [0, 1000]}, "number of a recorded game: 1000 must be a whole .* 0 to 999"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    """Wrong names and tables are in `test_bad_input`."""
    with pytest.raises(me.ConfigurationError, match=message):
        arena.play(**({"policies": ["random", "random"]} | arguments))


# --- results


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
    assert (found.turns == 6).all()
    assert (found.place >= 1).all()


def test_seats_are_worth_what_the_order_of_play_makes_them(found: Results) -> None:
    for by in ("order", "seat"):
        assert seat_effect(found, by).sum() == pytest.approx(1)
    first_won = np.mean([found.wins[game, found.first[game]] for game in range(found.games)])
    assert seat_effect(found, "order")[0] == pytest.approx(first_won)
    with pytest.raises(me.ConfigurationError, match="'order' or by 'seat'"):
        seat_effect(found, "chair")


def test_results_are_shown_in_every_form(found: Results) -> None:
    assert "algorithmic" in str(found)
    details = found.table(details=True)
    assert len(details.columns) == 3
    assert {"rent paid", "purchases orange", "decisions build", "decided by a cap"} <= set(
        details.columns[0].cells
    )
    frame = found.to_pandas()
    assert {"name", "games", "wins", "win_rate", "low", "high", "mean_place"} <= set(frame.columns)
    assert len(frame) == 2
    bars = [bar for bar in found.plot().patches if bar.get_width() > 0]
    assert len(bars) >= 1
    squares = [text.get_text() for text in found.plot("groups").texts]
    assert squares == [
        f"{row[name]:.1f}" for row in found.rows() for name in row if name.startswith("purchases_")
    ]
    assert sum(bar.get_height() for bar in found.plot("length").patches) == found.games
    with pytest.raises(me.ConfigurationError, match="Did you mean 'length'"):
        found.plot("lenght")
    assert found.summary()["games"] == 60
    assert found.decisions == found.game_counts["choices"].sum() > 60
    assert found.seconds > 0


@pytest.mark.parametrize("name", ["found", "found.parquet"])
def test_saved_results_come_back(found: Results, tmp_path: Path, name: str) -> None:
    found.save(tmp_path / name)
    assert {path.name for path in tmp_path.iterdir()} == {"found.parquet", "found.json"}
    for written in ("found", "found.parquet", "found.json"):
        loaded = Results.load(tmp_path / written)
        assert loaded.summary() == found.summary()
        assert trajectories(loaded) == trajectories(found)
        assert loaded.setup == found.setup
        for array in ARRAYS:
            assert getattr(loaded, array).dtype == getattr(found, array).dtype
    told = json.loads((tmp_path / "found.json").read_text())
    assert found.summary().items() <= told.items()


def test_saved_games_are_a_plain_table(found: Results, tmp_path: Path) -> None:
    found.save(tmp_path / "found")
    frame = pandas.read_parquet(tmp_path / "found.parquet")
    assert len(frame) == found.games * 3
    rows = {row["name"]: row for row in found.rows()}
    for name, means in (
        frame.groupby("policy", observed=True)[
            ["cash", "rent_paid", "purchases_orange", "decisions_build"]
        ]
        .mean()
        .iterrows()
    ):
        assert all(rows[name][column] == pytest.approx(mean) for column, mean in means.items())
    assert frame.game_turns[::3].tolist() == found.turns.tolist()


def test_large_results_are_written_in_parts(
    found: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(result_files, "_ROW_GROUP", 7)
    found.save(tmp_path / "found")
    assert trajectories(Results.load(tmp_path / "found")) == trajectories(found)


def test_equal_games_make_equal_files(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        arena.play(["algorithmic", "random"], 8, seed=4).save(tmp_path / folder / "found")
    for name in ("found.json", "found.parquet"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    loaded = Results.load(tmp_path / "one" / "found")
    assert loaded.seconds == 0.0
    assert "games/s" not in str(loaded)


def test_less_is_saved_to_a_single_file(found: Results, tmp_path: Path) -> None:
    found.save(tmp_path / "found.json")
    assert json.loads((tmp_path / "found.json").read_text()) == found.summary()
    with pytest.raises(me.FormatError, match="a summary that was saved alone"):
        Results.load(tmp_path / "found.json")
    found.save(tmp_path / "found.csv")
    assert (tmp_path / "found.csv").read_text().startswith("name,games,wins,win_rate")
    assert len(list(tmp_path.iterdir())) == 2
    with pytest.raises(
        me.ConfigurationError, match=r"\.parquet \(with a \.json beside it\), \.json or \.csv"
    ):
        found.save(tmp_path / "found.pkl")


def changed(path: Path, **values: Any) -> None:
    """Change or, with None, remove entries of an object in JSON."""
    content = json.loads(path.read_text()) | values
    path.write_text(
        json.dumps({name: value for name, value in content.items() if value is not None})
    )


# What is said of a file of results that is missing (None), of other bytes, or changed in its JSON.
FOREIGN: list[tuple[str, str, bytes | dict[str, Any] | None]] = [
    ("holds no results", "found.json", b""),
    ("it is not an object in JSON", "found.json", b"[]"),
    ("it is not an object in JSON", "found.json", b"[" * 900 + b"]" * 900),
    ("has no games", "found.json", b"{}"),
    ("No such file", "found.json", None),
    ("No such file", "found.parquet", None),
    ("do not belong together", "found.parquet", b"PAR1"),
    ("format is 'other', expected 'monopoly-results'", "found.json", {"format": "other"}),
    ("format_version is 1, expected 3", "found.json", {"format_version": 1}),
    ("rules_version is -1, expected", "found.json", {"rules_version": -1}),
    ("a policy is missing from the names in the JSON", "found.json", {"names": ["a", "b"]}),
    (r"holds no results \(KeyError: 'setup'", "found.json", {"setup": None}),
    (r"holds no results \(ValueError: setup is \[1\]", "found.json", {"setup": [1]}),
]


@pytest.mark.parametrize(("message", "name", "content"), FOREIGN)
def test_foreign_results_are_refused(
    found: Results, tmp_path: Path, message: str, name: str, content: Any
) -> None:
    found.save(tmp_path / "found")
    if content is None:
        (tmp_path / name).unlink()
    elif isinstance(content, bytes):
        (tmp_path / name).write_bytes(content)
    else:
        changed(tmp_path / name, **content)
    with pytest.raises(me.FormatError, match=message):
        Results.load(tmp_path / "found")


def with_table(folder: Path, data: bytes) -> None:
    (folder / "found.parquet").write_bytes(data)
    changed(folder / "found.json", games_sha256=hashlib.sha256(data).hexdigest())


def test_a_foreign_table_is_refused(found: Results, tmp_path: Path) -> None:
    found.save(tmp_path / "found")
    frame = pandas.read_parquet(tmp_path / "found.parquet")
    with_table(tmp_path, frame.drop(columns="cash").assign(gold=1).to_parquet())
    with pytest.raises(
        me.FormatError, match=r"missing columns \['cash'\], unknown columns \['gold'\]"
    ):
        Results.load(tmp_path / "found")
    for column, number in (("seed", -1), ("place", 0), ("first", 3), ("seat", 100)):
        with_table(tmp_path, frame.assign(**{column: np.int32(number)}).to_parquet())
        with pytest.raises(
            me.FormatError,
            match=r"holds no results \(.*(out of range|Cannot cast|180 rows of 101 players)",
        ):
            Results.load(tmp_path / "found")
    # a small file, since all rows are equal
    with_table(tmp_path, frame.iloc[np.zeros(100_000, int)].reset_index(drop=True).to_parquet())
    with pytest.raises(me.FormatError, match="it claims 100000 rows"):
        Results.load(tmp_path / "found")
    with_table(tmp_path, b"nothing of the kind")
    with pytest.raises(me.FormatError, match="holds no results"):
        Results.load(tmp_path / "found")
    with_table(tmp_path, frame.iloc[:-1].to_parquet())
    with pytest.raises(me.FormatError, match="holds no results"):
        Results.load(tmp_path / "found")


def test_two_results_do_not_mix(found: Results, tmp_path: Path) -> None:
    found.save(tmp_path / "found")
    about = (tmp_path / "found.json").read_bytes()
    arena.play(["algorithmic", "random"], 4).save(tmp_path / "found")
    (tmp_path / "found.json").write_bytes(about)
    with pytest.raises(me.FormatError, match="do not belong together"):
        Results.load(tmp_path / "found")


def test_results_say_how_to_play_them_again(tmp_path: Path) -> None:
    players = [agents.make("algorithmic", reserve=900.0), "algorithmic", "random"]
    found = arena.round_robin(players, 12, rules=me.Rules(start_cash=700), seed=6, turn_limit=40)
    found.save(tmp_path / "found")
    again = arena.play_again(Results.load(tmp_path / "found"))
    assert trajectories(again) == trajectories(found)
    assert again.summary() == found.summary()
    assert again.setup == found.setup
    asked = arena.play([Acting("algorithmic"), "random"], 2)
    with pytest.raises(me.ConfigurationError, match="not scripted"):
        arena.play_again(asked)
    with pytest.raises(me.ConfigurationError, match="do not say how"):
        arena.play_again(replace(asked, setup={}))


# --- recorded games


@pytest.mark.parametrize("batched", [False, True])
def test_recorded_games_play_back(batched: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_RECORDED", 16)  # many a time full
    players = [Acting("algorithmic") if batched else "algorithmic", "random", "random/no_trades"]
    found = arena.play(players, 12, "uk", seed=3, record=[0, 7, 11], turn_limit=30)
    assert trajectories(arena.play(players, 12, "uk", seed=3, turn_limit=30)) == trajectories(found)
    assert [replay.seed for replay in found.replays] == [(3 << 32) + unit for unit in (0, 1, 1)]
    for replay, number in zip(found.replays, (0, 7, 11), strict=True):
        game = replays.final(replay)  # checks the record against that of the arena
        assert replay.digest
        assert me.is_over(game)
        assert game.place[:3].tolist() == found.place[number].tolist()
        assert len(replay.actions) == found.game_counts["choices"][number]
        assert replay.names == tuple(found.names[policy] for policy in found.seats[number])
        assert replay.rules == me.Rules.preset("uk")


def test_a_recorded_round_robin_keeps_games_of_each_table(tmp_path: Path) -> None:
    found = arena.round_robin(["algorithmic", "random", "random/no_trades"], 4, record=1)
    assert [sorted(replay.names) for replay in found.replays] == [
        ["algorithmic", "random"], ["algorithmic", "random/no_trades"],
        ["random", "random/no_trades"],
    ]  # fmt: skip
    replays.save(tmp_path / "games.replay", found.replays)
    assert replays.load(tmp_path / "games.replay") == found.replays


# --- two policies


def test_a_duel_is_a_table_of_two() -> None:
    found = arena.duel("algorithmic", "random", 20, seed=2)
    assert trajectories(found) == trajectories(arena.play(["algorithmic", "random"], 20, seed=2))
    difference = found.difference("algorithmic", "random")
    rates = {row["name"]: row["win_rate"] for row in found.rows()}
    assert difference.rates == (rates["algorithmic"], rates["random"])
    assert difference.seeds == 10


def test_a_large_duel_has_each_alone_among_the_other() -> None:
    found = arena.duel("algorithmic", "random", 8, table_size=4)
    assert Counter(found.seats.sum(axis=1).tolist()) == {3: 8, 1: 8}
    difference = found.difference("algorithmic", "random")
    won = [found.wins[found.seats == policy].mean() for policy in range(2)]
    assert difference.difference == pytest.approx(won[0] - won[1])
    assert difference.seeds == 2
    assert "algorithmic" in str(difference)


def test_a_difference_takes_two_policies(found: Results) -> None:
    with pytest.raises(me.ConfigurationError, match="not 'random' twice"):
        found.difference("random", "random")
    with pytest.raises(me.ConfigurationError, match="Did you mean 'algorithmic'"):
        found.difference("random", "algoritmic")


def test_a_comparison_shares_seats_seeds_and_opponents() -> None:
    found = arena.compare(
        "algorithmic", "random", ["random/no_trades", "algorithmic"], 24, table_size=3, seed=4
    )
    games = found.results
    assert games is not None
    assert games.names == ("algorithmic", "random", "random/no_trades", "algorithmic (2)")
    first, second = np.split(games.seats, 2)
    assert (np.where(first == 0, 1, first) == second).all()
    assert (games.seeds[:24] == games.seeds[24:]).all()
    assert (found.first, found.second, found.seeds) == ("algorithmic", "random", 4)
    won = [games.wins[games.seats == policy].mean() for policy in range(2)]
    assert found.rates == pytest.approx(won)
    assert found.difference > 0


def test_equal_policies_do_not_differ() -> None:
    found = arena.compare("algorithmic", agents.make("algorithmic"), ["random", "algorithmic"], 20)
    assert (found.difference, found.p_value) == (0.0, 1.0)
    assert (found.low, found.high) == (0.0, 0.0)  # they played the very same games


def test_a_comparison_needs_opponents() -> None:
    with pytest.raises(me.ConfigurationError, match="A table of 4 needs 3 opponents; 1 were given"):
        arena.compare("algorithmic", "random", ["random"], table_size=4)


# --- until it is known


def half_widths(found: Results) -> list[float]:
    return [
        max(row["win_rate"] - row["paired_low"], row["paired_high"] - row["win_rate"])
        for row in found.rows()
    ]


def test_play_stops_when_the_interval_is_narrow_enough() -> None:
    players = [agents.make("algorithmic"), agents.make("algorithmic", reserve=400.0)]
    wide, narrow = (arena.play(players, 100_000, until=width, seed=1) for width in (0.05, 0.025))
    assert max(half_widths(wide)) <= 0.05
    assert max(half_widths(narrow)) <= 0.025
    assert wide.games < narrow.games < 10_000
    assert trajectories(wide) == trajectories(arena.play(players, wide.games, seed=1))
    assert trajectories(wide) == trajectories(
        arena.play(players, 100_000, until=0.05, seed=1, threads=1)
    )
    assert wide.setup["games"] == wide.games


def test_play_stops_at_the_most_games() -> None:
    found = arena.play(
        ["algorithmic", agents.make("algorithmic", reserve=400.0)], 301, until=0.001, record=[300]
    )
    assert found.games == 301
    assert [replay.seed for replay in found.replays] == [150]


# --- round robin


def test_a_round_robin_plays_every_table() -> None:
    done: list[int] = []
    found = arena.round_robin(
        ["algorithmic", "random", "random/no_trades"], 20, progress=done.append
    )
    assert found.games == 60 == sum(done)
    assert {row["name"]: row["games"] for row in found.rows()} == {
        "algorithmic": 40,
        "random": 40,
        "random/no_trades": 40,
    }
    alone = arena.play(["algorithmic", "random/no_trades"], 20)
    pair = ((found.seats == 0) | (found.seats == 2)).all(axis=1)
    assert found.turns[pair].tolist() == alone.turns.tolist()
    assert len(np.unique(found.seeds)) == 10  # the tables share their seeds


def test_a_table_needs_enough_policies() -> None:
    with pytest.raises(
        me.ConfigurationError, match="A table of 3 needs as many policies; 2 were given"
    ):
        arena.round_robin(["algorithmic", "random"], table_size=3)


def test_tables_played_apart_are_put_together() -> None:
    players = ["algorithmic", "random", "random/no_trades"]
    whole = arena.round_robin(players, 6, seed=3)
    parts = [arena.play(pair, 6, seed=3) for pair in itertools.combinations(players, 2)]
    merged = merge(parts, players)
    assert trajectories(merged) == trajectories(whole)
    assert merged.setup == whole.setup
    assert merged.difference("algorithmic", "random") == whole.difference("algorithmic", "random")
    other = merge([parts[0], arena.play(players[:2], 6, seed=4)], players[:2])
    seeds = [(seed << 32) + number for seed in (3, 4) for number in (0, 0, 1, 1, 2, 2)]
    assert other.seeds.tolist() == seeds
    assert other.setup == {}


def test_compiled_and_asked_policies_meet_in_one_field() -> None:
    field = ["algorithmic", "random/no_trades", Acting("algorithmic")]
    found = arena.round_robin(field, 12, seed=1)
    compiled = arena.play(["algorithmic", "random/no_trades"], 12, seed=1)
    asked = ((found.seats == 2) | (found.seats == 1)).all(axis=1)
    alone = ((found.seats == 0) | (found.seats == 1)).all(axis=1)
    assert found.place[alone].tolist() == compiled.place.tolist()
    assert found.turns[alone].tolist() == compiled.turns.tolist()
    assert sorted(found.turns[asked].tolist()) == sorted(compiled.turns.tolist())


def test_a_batch_has_the_score_that_decides_capped_games() -> None:
    """Mortgaged lots count half, unlike in the worth; who has most is first."""
    policies = [agents.make(name) for name in ("algorithmic", "random", "random", "random")]
    batch = GameBatch(
        np.arange(200, dtype=np.uint64), np.tile(np.arange(4, dtype=np.int16), (200, 1))
    )
    runner.Runner(policies, me.Rules.preset("mukhar"), 20, 1).play(batch)
    capped = batch.capped
    assert capped.sum() > 20
    assert (batch.score <= batch.seat_counts["worth"]).all()
    assert (batch.score < batch.seat_counts["worth"]).any()
    for score, place in zip(batch.score[capped], batch.place[capped], strict=True):
        best = place == 1
        assert (score[best] == score[best].max()).all()
        assert score[best].max() >= score[~best].max(initial=-1)


def test_the_arena_tells_the_history_of_a_game_to_who_reads_it() -> None:
    rules = me.Rules(max_turns=30)
    historian, plain = Historian("algorithmic"), Acting("algorithmic")
    told = arena.play([historian, "expert", plain], games=4, rules=rules, record=2)
    assert historian.longest > 100
    assert not historian.wrong
    assert trajectories(told) == trajectories(
        arena.play([Acting("algorithmic"), "expert", plain], games=4, rules=rules, record=2)
    )
    assert len(told.replays) == 2
    assert arena.play([plain, "expert"], games=2, rules=rules).replays == []


def test_long_histories_are_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_RECORDED", 50)  # actions that the compiled loop records at a time
    historian = Historian("algorithmic")
    arena.play([historian, "random"], games=2, rules=me.Rules(max_turns=30))
    assert historian.longest > 100
    assert not historian.wrong
