"""Whole games in the compiled loop: matches, and the fitness of rows of numbers."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import pente_env as pe
from monopoly_env.errors import ConfigurationError, IllegalActionError
from monopoly_env.intervals import clustered, wilson
from pente_env import core, matches
from pente_env.fitness import EXPERIMENTS, Experiment, Fitness, evaluate
from pente_env.lines import is_empty
from pente_env.loop import Table, play_games
from pente_env.moves import anywhere, draw
from pente_env.player import Player, player_kernel


@player_kernel
def leaning(game: Any, seat: int, params: Any, memory: Any) -> int:
    """Play the legal point nearest to a number of its row, or any: a player whose rows differ."""
    best, point = 1e9, -1
    for candidate in range(49):
        if (
            is_empty(game, candidate // 7, candidate % 7)
            and abs(candidate - params[0]) < best
            and (game.moves > 0 or candidate == 24)
        ):
            best, point = abs(candidate - params[0]), candidate
    return anywhere(game, seat) if draw(game, seat, 4) == 0 else point


@player_kernel
def observing(game: Any, seat: int, params: Any, memory: Any) -> int:
    """Count its calls; its point is their number so far, or the first empty one after it."""
    memory[0] += 1
    point = int(memory[0]) if game.moves else 24
    while not is_empty(game, point // 7, point % 7):
        point += 1
    return point


@player_kernel
def choosy(game: Any, seat: int, params: Any, memory: Any) -> int:
    """Play anywhere, but only from the seats whose number in its row is not 0."""
    return anywhere(game, seat) if params[seat] else -1


@player_kernel
def following(game: Any, seat: int, params: Any, memory: Any) -> int:
    """Play the first empty point from the number of its row on.

    A player without chance whose rows differ.
    """
    point = int(params[0]) if game.moves else 24
    while not is_empty(game, point // 7, point % 7):
        point = (point + 1) % 49
    return point


@player_kernel
def stubborn(game: Any, seat: int, params: Any, memory: Any) -> int:
    """Always choose the centre."""
    return 24


ROWS, LIKE = np.linspace(0, 48, 9)[:, None], Player("leaning", leaning, [0.0])


@pytest.mark.parametrize("players", [["better", "capturer"], ["blocker", "random", "capturer"]])
def test_a_match_plays_every_order_of_seats(players: list[str]) -> None:
    results = matches.play(players, 100, seed=3)
    orders = list(itertools.permutations(range(len(players))))
    assert len(results.games) == -(-100 // len(orders)) * len(orders)
    assert [tuple(order) for order in results.seats[: len(orders)]] == orders
    assert (results.seeds.reshape(-1, len(orders)) == results.seeds[:: len(orders), None]).all()
    wins = [standing.wins for standing in results.standings]
    assert sum(wins) + results.standings[0].draws == len(results.games)
    assert results.by_seat().sum(axis=1).tolist() == wins
    for standing in results.standings:
        assert standing.low < standing.win_rate < standing.high
    first = results.standings[0]
    won = results.games["winner"] == (results.seats == 0).argmax(axis=1)
    assert (first.low, first.high) == clustered(won, results.seeds)
    assert all(name in str(results) for name in players)


def test_games_without_chance_are_worth_as_many_as_differ() -> None:
    builder = pe.make("better", ends="forward", opening_stone="nearest")
    one_game_of_each_order = matches.play(
        [Player("following", following, [30.0]), builder], 1000
    ).standings
    assert {standing.win_rate for standing in one_game_of_each_order} <= {0.0, 0.5, 1.0}
    for standing in one_game_of_each_order:
        expected = (0.5, 0.5) if standing.win_rate == 0.5 else wilson(standing.wins / 2, 500)
        assert (standing.low, standing.high) == pytest.approx(expected)


def test_a_game_of_a_match_is_the_game_of_its_seed() -> None:
    results = matches.play(["capturer", "blocker"], 20, seed=11)
    for number in (0, 7, 19):
        game = pe.new_game(2, seed=int(results.seeds[number]))
        players = [pe.make(results.names[player]) for player in results.seats[number]]
        memory = np.zeros((2, 64))
        while not pe.is_over(game):
            seat = int(game.player)
            pe.step(game, players[seat].act(core.batch_of(game), seat, memory[seat]))
        assert (game.winner, game.ending, game.moves) == tuple(results.games[number])[:3]


@pytest.mark.parametrize(
    "opponents", [["better", "better"], ["better", "simple"], ["better", "blocker"]]
)
def test_a_game_without_chance_is_played_once_for_all_seeds_and_each_is_the_game_of_its_seed(
    opponents: list[str],
) -> None:
    builds = {"ends": "forward", "opening_stone": "nearest"}
    players = [pe.make(name, **(builds if name != "blocker" else {})) for name in opponents]
    rows = Table.of_rows(
        np.linspace(0, 48, 9)[:, None], Player("following", following, [0.0]), players
    )
    seats = np.array(
        [np.roll([row, 9, 10], seat) for row in range(9) for _ in range(5) for seat in range(3)]
    )
    results = play_games(rows, seats, seeds := np.arange(len(seats)), threads=1)
    alone = [play_games(rows, seats[[game]], seeds[[game]]) for game in range(len(seats))]
    assert results.tobytes() == np.concatenate(alone).tobytes()
    drawn = results["draws"].reshape(9, 5, 3)  # rows, matches, seats
    assert ((drawn == 0).all(axis=1) == (drawn == 0).any(axis=1)).all()
    assert (drawn > 0).any()
    assert (drawn == 0).any() == ("blocker" not in opponents)


@pytest.mark.parametrize("threads", [2, 5])
def test_threads_do_not_matter(threads: int) -> None:
    one, several = (
        matches.play(["blocker", "capturer", "random"], 700, seed=1, threads=count)
        for count in (1, threads)
    )
    assert one.games.tobytes() == several.games.tobytes()
    experiment = Experiment.preset("pairs", matches=3)
    first, second = (evaluate(ROWS, LIKE, experiment, 5, threads=count) for count in (1, threads))
    assert first.fitness.tolist() == second.fitness.tolist()
    assert np.array_equal(first.wins, second.wins)


def test_a_player_that_watches_is_called_before_every_stone() -> None:
    opponent, stories = pe.make("better", ends="forward", opening_stone="first"), []
    for observes in (False, True):
        player = Player("observing", observing, observes=observes)
        games, memory, story = core.new_games([0]), np.zeros((2, 64)), []
        while not pe.is_over(games[0]):
            seat = int(games[0].player)
            if observes or seat == 1:
                point = player.act(games, 1, memory[1])
            if seat == 0:
                point = opponent.act(games, 0, memory[0])
            story.append(point)
            pe.step(games[0], point)
        result = play_games(Table.of([player, opponent]), [[1, 0]], [0], threads=1)[0]
        assert (result["point"], result["moves"], result["winner"]) == (
            story[-1],
            len(story),
            games[0].winner,
        )
        stories.append(story)
    assert stories[0] != stories[1]


def test_an_illegal_choice_is_an_error() -> None:
    table = Table.of([Player("stubborn", stubborn), pe.make("random")])
    with pytest.raises(IllegalActionError, match="move 3 chose D4"):
        play_games(table, [[0, 1]], [0])


@pytest.mark.parametrize(
    ("players", "options", "words"),
    [
        (["better"], {}, "has 2 or 3 players, not"),
        (["better"] * 4, {}, "has 2 or 3 players, not"),
        (["better", "bettter"], {}, "'better'"),
        (["better", "random"], {"games": 0}, "from 1 on"),
        (["better", "random"], {"seed": -1}, "seed"),
        (["better", "random"], {"threads": 0}, "threads=0"),
    ],
)
def test_wrong_matches(players: list[str], options: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        matches.play(players, **options)


def test_wrong_seats() -> None:
    table = Table.of([pe.make("random")])
    with pytest.raises(ConfigurationError, match="players 0 to 0"):
        play_games(table, [[0, 1]], [0])
    with pytest.raises(ConfigurationError, match="for the 2 seeds"):
        play_games(table, [[0, 0]], [0, 1])


@pytest.mark.parametrize(
    ("name", "games", "best"), [("two", 100, 5550), ("pairs", 300, 17700), ("better", 30, 1770)]
)
def test_experiments(name: str, games: int, best: float) -> None:
    """The totals are those of the paper's readings: docs/pente.md, P28."""
    experiment = Experiment.preset(name)
    assert (experiment.games, experiment.best) == (games, best)
    points = Experiment.preset(name, fitness=Fitness(moves_max="points"))
    assert points.best == {"two": 3950, "pairs": 10500, "better": 1050}[name]


@pytest.mark.parametrize("captures", ["pairs", "keryo", "none"])
def test_no_game_has_more_moves_than_a_win_is_counted_from(captures: str) -> None:
    rules = pe.Rules(size=5, captures=captures)
    limit = Fitness().limit(rules, 2)
    assert limit == 25 + {"pairs": 16, "keryo": 28, "none": 0}[captures]
    moves = matches.play([pe.make("capturer", ties="random"), "random"], 4000, rules).games["moves"]
    assert 25 <= moves.max() <= limit
    assert captures != "keryo" or moves.max() > 25 + 16


@pytest.mark.parametrize("seats", [(0,), (2,), (1, 2)])
def test_a_player_sits_only_where_it_is_told_to(seats: tuple[int, ...]) -> None:
    experiment = Experiment((("random", "random"),), matches=2, seats=seats)
    allowed = np.isin(np.arange(3), seats).astype(float)
    assert evaluate(allowed[None], Player("choosy", choosy), experiment).wins.shape == (
        1,
        1,
        len(seats),
    )
    for seat in seats:
        with pytest.raises(IllegalActionError):
            evaluate(
                np.where(np.arange(3) == seat, 0, allowed)[None],
                Player("choosy", choosy),
                experiment,
            )


@pytest.mark.parametrize("name", EXPERIMENTS)
@pytest.mark.parametrize(
    "fitness", [Fitness(), Fitness("points", "own", 0.25), Fitness(wins_alone=True)], ids=str
)
def test_fitness_adds_up(name: str, fitness: Fitness) -> None:
    """Against games that are played one by one."""
    experiment = Experiment.preset(name, matches=2, fitness=fitness)
    scores = evaluate(ROWS, LIKE, experiment, seed=9, threads=1)
    players, row = experiment.players, 4
    seeds = np.random.Generator(np.random.Philox(9)).integers(
        0, 1 << 64, (1, experiment.games), np.uint64
    )[0]
    me, total, wins, number = (
        Player("leaning", leaning, ROWS[row]),
        0.0,
        np.zeros_like(scores.wins[row]),
        0,
    )
    for test, opponents in enumerate(experiment.tests):
        for _, seat in itertools.product(range(2), range(players)):
            seated = [me, *opponents]
            order = [(place - seat) % players for place in range(players)]
            result = play_games(Table.of(seated), [order], seeds[number : number + 1], threads=1)[0]
            moves = (
                result["moves"]
                if fitness.counted == "every"
                else len(range(seat, result["moves"], players))
            )
            won = result["winner"] == seat
            if fitness.wins_alone:
                total += won
            else:
                total += (
                    fitness.limit(experiment.rules, players) - moves
                    if won
                    else fitness.factor * moves
                )
            wins[test, seat] += won
            number += 1
    assert scores.fitness[row] == pytest.approx(total)
    assert np.array_equal(scores.wins[row], wins)
    assert scores.moves.shape == (9, len(experiment.tests))


def test_rows_play_the_same_games_if_they_are_paired() -> None:
    same = np.repeat(ROWS[4:5], 6, axis=0)
    experiment = Experiment.preset("two", matches=2)
    assert len(set(evaluate(same, LIKE, experiment, 1).fitness)) == 1
    assert len(set(evaluate(same, LIKE, experiment, 1, paired=False).fitness)) > 1
    assert (
        evaluate(same, LIKE, experiment, 1).fitness[0]
        != evaluate(same, LIKE, experiment, 2).fitness[0]
    )


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Experiment.preset("three"), "'three'"),
        (lambda: Experiment(()), "one or more"),
        (lambda: Experiment((("random",), ("random", "better"))), "equally many"),
        (lambda: Experiment((("random",) * 3,)), "whole number from 2 to 3"),
        (lambda: Experiment.preset("two", matches=0), "matches=0"),
        (lambda: Experiment((("bloker",),)), "blocker"),
        (lambda: Experiment(((Player("x", leaning, size=9),),)), "9 x 9"),
        (lambda: Fitness(moves_max="49"), "Valid: moves, points"),
        (lambda: Fitness(factor=float("nan")), "factor"),
        (lambda: evaluate(np.zeros(3), LIKE, Experiment.preset("two")), "Rows"),
        (lambda: evaluate(ROWS, LIKE, Experiment.preset("two"), seed=-1), "seed=-1"),
        (lambda: Player("x", lambda game: 0), "player_kernel"),  # type: ignore[arg-type]
        (lambda: Player("x", leaning, np.zeros((2, 2))), "one row"),
    ],
)
def test_what_is_no_experiment(make: Any, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        make()
