"""What is counted in games, and what is concluded from it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import monopoly_env as me
from agents import arena
from agents.arena import statistics
from agents.arena.counting import COUNTS, GAME_STATISTICS, STATISTICS
from agents.arena.loop import NOT_RECORDED, Recording, play_games
from agents.arena.luck import Luck
from agents.arena.results import Results
from monopoly_env import actions, core, intervals, replays
from monopoly_env.facts import board
from monopoly_env.policy.loop import OUTSIDE, Players, Running

BROWN = ["Mediterranean Avenue", "Baltic Avenue"]
BLUE = ["Park Place", "Boardwalk"]
ORANGE = ["St. James Place", "Tennessee Avenue", "New York Avenue"]


def counted(game: Any, *texts: str) -> Any:
    """The counts while these actions are carried out in the game.

    Then it will "go on" until nothing is forced any more.
    """
    players = int(game.num_players)
    running, counts = Running.room((1, players), Players.of([]), 1000), np.zeros(1, COUNTS)
    running.games[0], running.seats[:] = game, OUTSIDE
    given, luck = list(texts), Luck.of(None, np.zeros((1, players)))
    recording = Recording(np.full(1, NOT_RECORDED), np.zeros(1, np.int64), np.zeros((0, 1), "u1"))
    while running.games["decision"][0] != 0 and (given or int(running.games["num_forced"][0])):
        action = actions.parse(given.pop(0) if given else "go on")
        running.progress["answer"], running.progress["answered"] = action, 1
        play_games(running, counts, recording, luck)
        running.check([])
    play_games(running, counts, recording, luck)
    core.batch_of(game)[0] = running.games[0]
    return counts[0]


def column(counts: Any, name: str, players: int = 2) -> list[int]:
    return counts[name][:players].tolist()


# --- one thing at a time


def test_rent_is_paid_by_one_and_received_by_another() -> None:
    houses = {"Boardwalk": 1, "Park Place": 1}
    game = me.position(
        2,
        lots={0: ["Oriental Avenue"], 1: BLUE},
        positions={0: 36},
        throws=[(1, 2)],
        buildings=houses,
    )
    counts = counted(game)
    assert column(counts, "rent_paid") == [200, 0]
    assert column(counts, "rent_received") == [0, 200]
    assert column(counts, "decisions")[0][actions.HEAD_NAMES.index("turn")] == 1


def test_rent_that_is_raised_first_counts_once() -> None:
    lots = {0: ["Boardwalk", "States Avenue"], 1: ["Baltic Avenue", "Reading Railroad"]}
    game = me.position(2, cash=[10, 0], lots=lots, positions={0: 2}, throws=[(1, 2)])
    counts = counted(game, "go on", "mortgage Boardwalk")
    assert column(counts, "rent_paid") == [25, 0]


def test_rent_that_is_taken_below_zero_counts_whole() -> None:
    rules = me.Rules.preset("ocnaru", ocnaru_quirks=True)
    houses = {"Park Place": 2, "Boardwalk": 2}
    game = me.position(
        2,
        rules,
        cash=[1500, 300],
        lots={0: BLUE},
        buildings=houses,
        positions={0: 0, 1: 36},
        throws=[(1, 2), (1, 2)],
    )
    counts = counted(game, "decline")
    assert column(counts, "rent_paid") == [0, 600]
    assert column(counts, "rent_received") == [600, 0]


@pytest.mark.parametrize(
    ("deck", "card", "square", "cash"),
    [
        ("community_chest", "players_pay", 30, [1520, 1490, 1490]),
        ("chance", "chairman", 4, [1400, 1550, 1550]),
    ],
)
def test_what_cards_make_players_pay_is_no_rent(
    deck: str, card: str, square: int, cash: list[int]
) -> None:
    lots = {0: ["Oriental Avenue"], 1: ["Baltic Avenue"], 2: ["Boardwalk"]}
    contents: dict[str, Any] = {deck: [card]}
    game = me.position(3, lots=lots, positions={0: square}, throws=[(1, 2)], **contents)
    counts = counted(game)
    assert game.cash[:3].tolist() == cash
    assert column(counts, "rent_paid", 3) == column(counts, "rent_received", 3) == [0, 0, 0]


def test_a_ruined_player_pays_no_rent_but_hands_over_his_groups() -> None:
    lots = {0: [*BROWN, "Park Place"], 1: ["Boardwalk", *ORANGE[:2]], 2: ["Reading Railroad"]}
    game = me.position(
        3,
        cash=[1, 500, 500],
        lots=lots,
        mortgaged=[*BROWN, "Park Place"],
        positions={0: 36},
        throws=[(1, 2)],
    )
    counts = counted(game, "trade with player +1", "ask: cancel", "go on")
    assert column(counts, "bankrupt", 3) == [1, 0, 0]
    assert column(counts, "rent_paid", 3) == [0, 0, 0]
    assert column(counts, "groups", 3) == [1, 2, 0]


def test_the_end_of_a_game_is_taken_stock_of() -> None:
    lots = {0: ["Oriental Avenue"], 1: BLUE}
    game = me.position(
        2, cash=[1, 500], lots=lots, mortgaged=["Oriental Avenue"], positions={0: 36},
        throws=[(1, 2)],
        buildings={"Boardwalk": 5, "Park Place": 4},
    )  # fmt: skip
    counts = counted(game, "trade with player +1", "ask: cancel", "go on")
    assert column(counts, "bankrupt") == [1, 0]
    assert column(counts, "cash") == [0, 501]
    assert column(counts, "lots") == [0, 3]
    assert column(counts, "worth") == [0, 501 + 100 + 350 + 400 + 9 * 200]


def test_lots_from_the_bank_count_by_group() -> None:
    bought = me.position(2, lots={0: ["Park Place"]}, positions={0: 36}, throws=[(1, 2)])
    counts = counted(bought, "go on", "buy")
    assert (
        column(counts, "purchases")[0][board.GROUPS.index("dark_blue")]
        == counts["purchases"].sum()
        == 1
    )
    assert column(counts, "groups") == [1, 0]
    auctioned = me.position(2, lots={0: ["Park Place"]}, positions={0: 36}, throws=[(1, 2)])
    counts = counted(auctioned, "go on", "decline", "bid +10", "fold")
    assert (
        column(counts, "purchases")[1][board.GROUPS.index("dark_blue")]
        == counts["purchases"].sum()
        == 1
    )
    assert column(counts, "groups") == [0, 0]


def test_buildings_are_counted_when_they_are_bought() -> None:
    game = me.position(2, lots={0: BROWN})
    counts = counted(
        game, "build Baltic Avenue", "build Mediterranean Avenue", "sell Baltic Avenue"
    )
    assert column(counts, "buildings") == [2, 0]
    whole = me.position(2, "ocnaru", lots={0: ORANGE}, positions={0: 0}, throws=[(1, 2)])
    counts = counted(whole, "buy", "build St. James Place")
    assert column(counts, "buildings") == [3, 0]


def test_offers_trades_and_moves() -> None:
    game = me.position(2, lots={0: ["Park Place"], 1: ["Boardwalk"]}, cash=[1500, 1500])
    begun = counted(me.clone(game), "trade with player +1", "ask: cancel")
    assert column(begun, "offers") == [0, 0]
    offer = ["trade with player +1", "ask for Boardwalk", "ask: done", "give: done"]
    offer += ["give $500", "cash: done"]
    refused = counted(me.clone(game), *offer, "reject")
    assert (column(refused, "offers"), column(refused, "trades")) == ([1, 0], [0, 0])
    assert int(refused["game"]["trades"]) == 0
    agreed = counted(me.clone(game), *offer, "accept")
    assert (column(agreed, "offers"), column(agreed, "trades")) == ([1, 0], [1, 1])
    assert int(agreed["game"]["trades"]) == 1
    assert int(agreed["game"]["lot_moves"]) == 1
    assert column(agreed, "groups") == [1, 0]
    countered = ["counter", "ask: done", "give Boardwalk", "give: done"]
    countered += ["ask for $500", "ask for $100", "cash: done", "accept"]
    answered = counted(me.clone(game), *offer, *countered)
    assert (column(answered, "offers"), column(answered, "trades")) == ([1, 1], [1, 1])
    assert answered["moves"][board.NUM_STREETS - 1] == 1


# --- whole games, against a count of the records


@pytest.fixture(
    scope="module", params=["official", "any_time", "short", "ocnaru", "mukhar", "pring"]
)
def recorded(request: pytest.FixtureRequest) -> Results:
    return arena.play(["algorithmic", "random", "algorithmic"], 6, request.param, seed=3, record=6)


def test_counts_agree_with_the_records(recorded: Results) -> None:
    for number, replay in enumerate(recorded.replays):
        counts, players = recorded.seat_counts[number], replay.num_players
        game = replays.start(replay)
        decisions, purchases = np.zeros((players, 14), int), np.zeros((players, 10), int)
        groups = complete(game)
        for action, after in zip(replay.actions, replays.games(replay), strict=True):
            decisions[int(game.player), actions.HEAD_OF[action]] += 1
            unowned = board.ALL_LOTS & ~int(np.bitwise_or.reduce(game.lots))
            for seat in range(players):
                taken = int(after.lots[seat]) & unowned
                for lot in range(board.NUM_LOTS):
                    purchases[seat, board.GROUP_OF[lot]] += taken >> lot & 1
            groups = np.maximum(groups, complete(after))
            game = after
        assert counts["decisions"].tolist() == decisions.tolist()
        assert counts["purchases"].tolist() == purchases.tolist()
        assert counts["groups"].tolist() == groups.tolist()
        assert counts["cash"].tolist() == game.cash[:players].tolist()
        assert counts["lots"].tolist() == [int(lots).bit_count() for lots in game.lots[:players]]
        assert recorded.game_counts["choices"][number] == len(replay.actions)
        ends_early = ("short", "ocnaru", "mukhar", "pring")
        assert counts["bankrupt"].sum() == players - 1 or recorded.rules in ends_early


def complete(game: Any) -> Any:
    lots = np.array(
        [
            [int(owned) & whole == whole for whole in board.GROUP_LOTS.tolist()]
            for owned in game.lots[: int(game.num_players)]
        ]
    )
    return lots.sum(axis=1)


def test_what_one_pays_another_receives(recorded: Results) -> None:
    counts = recorded.seat_counts
    assert (counts["rent_paid"].sum(axis=1) == counts["rent_received"].sum(axis=1)).all()
    assert counts["rent_paid"].sum() > 0
    assert (counts["trades"].sum(axis=1) == 2 * recorded.game_counts["trades"]).all()
    assert ((recorded.game_counts["lot_moves"] == 0) | (recorded.game_counts["trades"] > 0)).all()
    assert (counts["bankrupt"] <= (recorded.place > 1)).all()


# --- reports


def test_rows_are_means_of_the_counts(recorded: Results) -> None:
    rows = {row["name"]: row for row in recorded.rows()}
    for name, row in rows.items():
        mine = recorded.seat_counts[recorded.seats == recorded.names.index(name)]
        for statistic in STATISTICS:
            means = mine[statistic.name].reshape(len(mine), -1).mean(axis=0)
            assert [row[column] for column in statistic.columns] == pytest.approx(means.tolist())


def test_trades_are_reported(recorded: Results) -> None:
    told, moves = statistics.trades(recorded), recorded.game_counts["lot_moves"]
    assert told["mean"] == recorded.game_counts["trades"].mean()
    assert told["games_with_many_moves"] == (moves > 3).mean()
    assert told["most_moves"] == moves.max()
    assert recorded.summary()["trades"] == told


def test_every_statistic_says_what_it_is() -> None:
    for statistic in (*STATISTICS, *GAME_STATISTICS):
        assert statistic.doc
        assert statistic.unit
    columns = [column for statistic in STATISTICS for column in statistic.columns]
    assert len(set(columns)) == len(columns) == 10 + 10 + 14


# --- intervals


def test_wilson_agrees_with_scipy() -> None:
    for wins, games in ((0, 10), (7, 10), (999, 1000), (50, 50)):
        expected = stats.binomtest(wins, games).proportion_ci(0.95, method="wilson")
        assert intervals.wilson(wins, games) == pytest.approx(
            (expected.low, expected.high), abs=1e-9
        )


def test_the_interval_between_seeds_is_that_of_their_means() -> None:
    won = np.random.default_rng(0).random((40, 6)).round()
    low, high = intervals.clustered(won.ravel(), np.repeat(np.arange(40, dtype=np.int32), 6))
    expected = stats.ttest_1samp(won.mean(axis=1), 0).confidence_interval(0.95)
    assert (low, high) == pytest.approx((expected.low, expected.high))
    assert intervals.clustered(np.ones(6), np.zeros(6, np.int32)) == (0.0, 1.0)


def test_seeds_that_were_all_won_leave_doubt() -> None:
    unit = np.repeat(np.arange(40), 2)
    assert intervals.clustered(np.ones(80), unit) == intervals.wilson(40, 40)
    assert intervals.clustered(np.zeros(80), unit) == intervals.wilson(0, 40)


def test_a_paired_difference_is_a_paired_t_test() -> None:
    generator = np.random.default_rng(1)
    luck = generator.random(50)
    won = [np.round(luck + generator.random(50) * 0.8) for _ in range(2)]
    found = statistics.paired_difference(
        "a", "b", (won[0], won[1]), (np.full(50, 2.0), np.full(50, 2.0))
    )
    expected = stats.ttest_rel(won[0] / 2, won[1] / 2)
    interval = expected.confidence_interval(0.95)
    assert found.p_value == pytest.approx(expected.pvalue)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    assert found.difference == pytest.approx((won[0] - won[1]).mean() / 2)
    assert found.seeds == 50


def test_a_difference_in_every_seed_is_no_certainty() -> None:
    def between(first: float, second: float, units: int) -> statistics.Difference:
        ones = np.ones(units)
        return statistics.paired_difference("a", "b", (first * ones, second * ones), (ones, ones))

    sure = between(1, 0, 10)
    assert sure.p_value == 2.0**-9
    assert (sure.low, sure.high) == (2 * intervals.wilson(10, 10)[0] - 1, 1.0)
    assert between(0, 1, 10).low == -1.0
    assert between(0.5, 0.5, 10).p_value == 1.0
    assert between(1, 0, 1).p_value == 1.0
    assert (between(1, 0, 1).low, between(1, 0, 1).high) == (-1.0, 1.0)


def test_false_alarms_of_a_difference_are_as_rare_as_they_should_be() -> None:
    generator = np.random.default_rng(2)
    found = []
    for _ in range(400):
        won = generator.random((2, 30, 2)).round().sum(axis=2)
        found.append(
            statistics.paired_difference(
                "a", "b", (won[0], won[1]), (np.full(30, 2.0), np.full(30, 2.0))
            ).p_value
        )
    alarms = sum(p < 0.05 for p in found)
    assert stats.binom.cdf(alarms, 400, 0.05) > 1e-7
    assert stats.binom.sf(alarms - 1, 400, 0.05) > 1e-7
