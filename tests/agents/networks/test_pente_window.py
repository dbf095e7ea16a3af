"""Networks that move a window over a board."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pente_env as pe
from agents.networks import pente, pente_window
from agents.networks.forward import evaluate as outputs_of
from agents.networks.layout import Architecture
from monopoly_env.errors import ConfigurationError, FormatError
from pente_env import core
from pente_env.rules import Rules
from tests.agents.networks.test_pente import weights


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
    network = pente_window.architecture(6, window)
    for seed in range(2):
        row = weights(network, seed)
        me, other = pente_window.player(network, row), pe.make("capturer")
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
    network = pente_window.architecture(4, 5)
    me = pente_window.player(network, weights(network))
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
        pente_window.architecture(4, window)


def test_networks_of_another_form_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="not 147 inputs, 49 outputs"):
        pente_window.like(pente.architecture(4))
    with pytest.raises(ConfigurationError, match="not 36 inputs, 1 outputs and 4 units of a cell"):
        pente_window.like(Architecture(36, (), (("point", 1),), "logistic", "elman", 4))
    with pytest.raises(FormatError):
        pente_window.player(
            pente_window.architecture(4, 5), weights(pente_window.architecture(4, 3))
        )
