"""Networks that play Pente."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pente_env as pe
from agents.networks import pente
from agents.networks.forward import evaluate as outputs_of
from agents.networks.layout import Architecture
from monopoly_env.errors import ConfigurationError, FormatError
from pente_env import core
from pente_env.fitness import Experiment, evaluate
from pente_env.observation import observe
from pente_env.rules import Rules
from tests.agents.networks.test_layout import random_arrays


def weights(network: Architecture, seed: int = 0) -> Any:
    generator = np.random.default_rng(seed)
    return network.pack(
        {name: generator.uniform(-6, 6, shape) for name, shape in network.shapes().items()}
    )


def by_formula(row: Any, network: Architecture, games: Any, seat: int, state: Any) -> int:
    """The point that a network should choose, by its outputs in Python."""
    out = outputs_of(row, observe(games, np.array([seat]), "schrum"), states=state)[0]
    fives = pe.points(games[0], seat, "fives")
    points = fives if len(fives) else pe.legal_actions(games[0])
    return int(points[out[points].argmax()])


@pytest.mark.parametrize("players", [2, 3])
@pytest.mark.parametrize(("recurrent", "observes"), [(False, False), (True, False), (True, True)])
def test_it_plays_the_legal_point_with_the_highest_output(
    players: int, recurrent: bool, observes: bool
) -> None:
    network = pente.architecture(10, recurrent=recurrent)
    for seed in range(4):
        row = weights(network, seed)
        me, other = pente.player(network, row, observes=observes), pe.make("capturer")
        games = core.new_games([seed], players)
        memory, state, seat = (
            np.zeros((players, 64)),
            np.zeros((1, network.units), np.float32),
            seed % players,
        )
        while not pe.is_over(games[0]):
            to_move = int(games[0].player)
            if observes and to_move != seat:
                assert me.act(games, seat, memory[seat]) == -1
                by_formula(row, network, games, seat, state)
            if to_move == seat:
                point = me.act(games, seat, memory[seat])
                assert point == by_formula(row, network, games, seat, state)
            else:
                point = other.act(games, to_move, memory[to_move])
            pe.step(games[0], point)
        assert np.array_equal(memory[seat].view(np.float32)[: network.units], state[0])


def test_equal_outputs_and_forced_points() -> None:
    network, memory = pente.architecture(3), np.zeros(64)
    zeros = np.concatenate(
        [network.header, np.zeros(network.length - len(network.header), np.float32)]
    )
    bracket = pe.position([*["......."] * 6, "122...."], 0, [8, 0])
    # the first of equal ones (P10)
    assert pente.player(network, zeros).act(core.batch_of(bracket), 0, memory) == 0
    taking = pente.like(network)
    taking.params = pente.rows(zeros[None], takes_last=True)[0]
    assert taking.act(core.batch_of(bracket), 0, memory) == 45  # the fifth pair (P12)
    # only the first
    assert taking.act(core.batch_of(pe.position([*["......."] * 6, "122...."])), 0, memory) == 0
    four = pe.position(
        [".......", ".......", ".......", ".1111..", ".......", ".......", "122...."], 0, [8, 0]
    )
    arrays = network.unpack(zeros)
    arrays["1.bias"][26] = 1.0
    # the higher of two fives (P11)
    assert pente.player(network, network.pack(arrays)).act(core.batch_of(four), 0, memory) == 26
    assert pente.player(network, zeros).act(core.batch_of(four), 0, memory) == 21


def test_a_network_for_another_board_is_refused() -> None:
    network, rules = pente.architecture(3), pe.Rules(size=11)
    player = pente.player(network, weights(network))
    refused: dict[str, Callable[[], Any]] = {
        "a match": lambda: pe.matches.play([player, "better"], 2, rules),
        "an opponent": lambda: pe.VectorPente(2, opponents=[player], rules=rules),
        "rows": lambda: evaluate(
            player.params[None],
            pente.like(network),
            Experiment.preset("two", matches=1, rules=rules),
        ),
    }
    for call in refused.values():
        with pytest.raises(ConfigurationError, match="plays on 7 x 7 only, not on 11 x 11"):
            call()
    # the kernel itself reads no foreign memory
    assert player.act(core.new_games([1], rules=rules), 0, np.zeros(64)) == -1


def test_rows_play_what_players_play() -> None:
    network = pente.architecture(6, recurrent=True)
    packed = np.stack(
        [
            network.pack(random_arrays(network)) * 3 if seed else weights(network)
            for seed in range(2)
        ]
    )
    packed[:, : len(network.header)] = network.header
    experiment = Experiment.preset("two", matches=1)
    scores = evaluate(pente.rows(packed), pente.like(network), experiment, 3, threads=2)
    for number in range(2):
        alone = evaluate(
            pente.rows(packed[number : number + 1]), pente.like(network), experiment, 3, threads=1
        )
        assert alone.fitness[0] == scores.fitness[number]


def test_networks_of_another_shape() -> None:
    # the last three: boards of 1, 2 and 20 points a side
    shapes = ((602, 205), (147, 36), (3, 1), (12, 4), (1200, 400))
    for wrong in (Architecture(inputs, (8,), (("points", outputs),)) for inputs, outputs in shapes):
        with pytest.raises(ConfigurationError, match="147 and 49"):
            pente.like(wrong)
    cell = Architecture(36, (), (("point", 1),), "logistic", "elman", 4)
    with pytest.raises(ConfigurationError, match="not 36 inputs, 1 outputs and 4 units of a cell"):
        pente.like(cell)
    with pytest.raises(ConfigurationError, match="128 units"):
        pente.like(pente.architecture(129, recurrent=True))
    network = pente.architecture(10)
    with pytest.raises(FormatError, match="does not match"):
        pente.player(network, weights(pente.architecture(11)))
    with pytest.raises(FormatError, match="does not match"):
        pente.player(pente.architecture(4, window=5), weights(pente.architecture(4, window=3)))
    with pytest.raises(ConfigurationError, match="rows of float32"):
        pente.rows(np.zeros((2, 3)))  # type: ignore[arg-type]


def test_a_network_may_see_the_pairs() -> None:
    """A unit that counts pairs speaks for a corner; a bias for another one.

    The unit is on if its player, or a given other one, has taken so many pairs.
    """
    network = pente.architecture(1, captures=True)
    assert network.inputs == 147 + 15
    board = [".1....1", ".......", "..2.2..", ".......", "3.....3", ".......", "......."]
    for number, captured in ((0, [2, 0, 0]), (1, [4, 0, 0]), (5, [0, 2, 0]), (10, [0, 0, 2])):
        arrays = {name: np.zeros(shape, np.float32) for name, shape in network.shapes().items()}
        arrays["0.weight"][0, 147 + number] = 20.0
        arrays["1.weight"][48, 0] = 1.0
        arrays["1.bias"][0] = 0.75
        player = pente.player(network, network.pack(arrays))
        for taken, point in ((captured, 48), ([0, 0, 0], 0)):
            game = pe.position(board, captured=taken, num_players=3)
            assert player.act(core.batch_of(game), 0, np.zeros(64)) == point


# --- a window that is moved over the board


def window_of(game: Any, seat: int, point: int, window: int) -> list[float]:
    """The inputs around a point, written down once more."""
    side, players, board, seen = (
        int(game["rules"]["side"]),
        int(game["num_players"]),
        pe.stones(game),
        [],
    )
    for i in range(window):
        for j in range(window):
            r, c = point // side + i - window // 2, point % side + j - window // 2
            inside = 0 <= r < side and 0 <= c < side
            owner = int(board[r, c]) - 1 if inside else -1
            seen += [
                float(inside and ahead < players and owner == (seat + ahead) % players)
                for ahead in range(3)
            ] + [float(not inside)]
    return seen


@pytest.mark.parametrize(
    ("players", "size", "window"), [(2, 7, 5), (3, 7, 9), (2, 11, 11), (3, 19, 3)]
)
def test_it_plays_the_point_in_the_middle_of_the_best_window(
    players: int, size: int, window: int
) -> None:
    network = pente.architecture(6, window=window)
    for seed in range(2):
        row = weights(network, seed)
        me, other = pente.player(network, row), pe.make("capturer")
        games = core.new_games([seed], players, Rules(size=size))
        memory, seat = np.zeros((players, 64)), seed % players
        while not pe.is_over(games[0]) and games[0]["moves"] < 60:
            to_move = int(games[0].player)
            point = (me if to_move == seat else other).act(games, to_move, memory[to_move])
            if to_move == seat:
                fives = pe.points(games[0], seat, "fives")
                points = fives if len(fives) else pe.legal_actions(games[0])
                outputs = outputs_of(
                    row,
                    np.array([window_of(games[0], seat, at, window) for at in points], np.float32),
                )[:, 0]
                assert point == points[outputs.argmax()]
            pe.step(games[0], point)
        assert not memory[seat].any()


def test_one_network_plays_on_every_board() -> None:
    network = pente.architecture(4, window=5)
    me = pente.player(network, weights(network))
    for size in (5, 7, 13, 19):
        games = core.new_games(range(3), 2, Rules(size=size))
        assert all(
            pe.action_mask(games[n])[me.act(games[n : n + 1], 0, np.zeros(64))] for n in range(3)
        )


@pytest.mark.parametrize("window", [1, 4, 13, True, 5.0])
def test_a_window_has_a_middle_and_fits_the_record(window: Any) -> None:
    with pytest.raises(
        ConfigurationError, match=f"window={window!r} must be an odd number from 3 to 11"
    ):
        pente.architecture(4, window=window)
