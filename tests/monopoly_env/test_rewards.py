"""Rewards: zero-sum, as defined, and a shaping that comes to nothing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import monopoly_env as me
from monopoly_env import rewards
from monopoly_env.engine import agenda
from monopoly_env.errors import ConfigurationError
from tests.play import randomly

CAPPED = me.Rules.preset("official", max_turns=60)
RUINED = me.Rules.preset("official", start_cash=150, start_lots=3, go_salary=0, trade="none")


def ended(places: list[int], worths: list[int]) -> np.record:
    """A finished game with these places, and worths in cash."""
    game = me.new_game(len(places), seed=1)
    game.decision = agenda.OVER
    game.place[: len(places)] = places
    game.cash[: len(places)] = worths
    game.lots[:] = 0
    return game


def final(name: str, game: np.record) -> np.ndarray:
    return rewards.make(name).after(game, np.zeros(game.num_players))


def play(
    num_players: int, rules: me.Rules, seed: int, name: str, discount: float = 1.0
) -> tuple[np.record, np.ndarray, np.ndarray]:
    """A game of random legal play: how it ended, and its rewards.

    Those of every step (T, P), and the caller's potential after it.
    """
    positions = randomly(me.new_game(num_players, rules, seed), seed)
    game, reward, potential = next(positions), rewards.make(name, discount), np.zeros(num_players)
    rows = [reward.after(game, potential) for _ in positions]
    return game, np.array(rows, np.float64), potential


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ([1, 2], [1, -1]),
        ([2, 3, 1, 4], [-1 / 3, -1 / 3, 1, -1 / 3]),
        ([1, 1], [0, 0]),
        ([1, 1, 3], [1 / 4, 1 / 4, -1 / 2]),
        ([1, 1, 1, 4], [1 / 3 - 2 / 9, 1 / 3 - 2 / 9, 1 / 3 - 2 / 9, -1 / 3]),
        ([1] * 8, [0] * 8),
    ],
)
def test_win(places: list[int], expected: list[float]) -> None:
    assert final("win", ended(places, [0] * len(places))) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ([2, 1], [-1, 1]),
        ([4, 3, 2, 1], [-1, -1 / 3, 1 / 3, 1]),
        ([1, 1, 3], [1 / 2, 1 / 2, -1]),
        ([1, 2, 2, 4], [1, 0, 0, -1]),
        ([1, 1, 1], [0, 0, 0]),
    ],
)
def test_rank(places: list[int], expected: list[float]) -> None:
    assert final("rank", ended(places, [0] * len(places))) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("worths", "expected"),
    [
        ([3000, 0], [1, -1]),
        ([500, 500, 500], [0, 0, 0]),
        ([600, 300, 100], [0.4, -0.05, -0.35]),
        ([0, 0], [0, 0]),
        ([-50, 100], [-1, 1]),
    ],
)
def test_net_worth(worths: list[int], expected: list[float]) -> None:
    assert final("net_worth", ended([1] * len(worths), worths)) == pytest.approx(expected)


def test_net_worth_counts_lots_and_buildings() -> None:
    game = ended([1, 2], [100, 400])
    game.lots[0] = 0b11
    game.mortgaged = 0
    game.level[:2] = [1, 2]
    assert final("net_worth", game) == pytest.approx([(2 * 370 - 770) / 770, (2 * 400 - 770) / 770])


@pytest.mark.parametrize("name", rewards.names())
@pytest.mark.parametrize(("num_players", "rules"), [(2, CAPPED), (4, CAPPED), (3, RUINED)])
def test_zero_sum_and_only_at_the_end(name: str, num_players: int, rules: me.Rules) -> None:
    game, rows, potential = play(num_players, rules, 3, name)
    assert rows.dtype == np.float64
    assert rows.shape[1] == num_players
    assert rows.sum(axis=1) == pytest.approx(np.zeros(len(rows)), abs=1e-6)
    if name.endswith(rewards.SHAPED):
        assert np.count_nonzero(np.abs(rows[:-1]).sum(axis=1)) > 5
    else:
        assert not rows[:-1].any()
    assert not potential.any()
    assert me.is_over(game)


@pytest.mark.parametrize("kind", rewards.KINDS)
def test_shaping_comes_to_nothing(kind: str) -> None:
    _, plain, _ = play(3, CAPPED, 8, kind)
    _, shaped, _ = play(3, CAPPED, 8, kind + rewards.SHAPED)
    assert shaped.sum(axis=0) == pytest.approx(plain.sum(axis=0), abs=1e-5)
    _, discounted, _ = play(3, CAPPED, 8, kind + rewards.SHAPED, discount=0.97)
    weights = 0.97 ** np.arange(len(discounted))
    assert weights @ (discounted - plain) == pytest.approx(np.zeros(3), abs=1e-5)


def test_shaping_is_the_change_of_the_centred_share_of_worth() -> None:
    game = me.new_game(2, seed=4)
    reward, potential = rewards.make("win_shaped", discount=0.9), np.zeros(2)
    assert reward.after(game, potential) == pytest.approx([0, 0])
    game.cash[:2] = [3000, 1000]
    assert reward.after(game, potential) == pytest.approx([0.45, -0.45])
    assert potential == pytest.approx([0.5, -0.5])
    game.cash[:2] = [1000, 3000]
    assert reward.after(game, potential) == pytest.approx([-0.95, 0.95])


def test_last_solvent_player_takes_all() -> None:
    game, rows, _ = play(3, RUINED, 2, "net_worth")
    assert np.count_nonzero(game.place[:3] == 1) == 1
    assert sorted(game.place[:3]) == [1, 2, 3]
    assert rows[-1] == pytest.approx(final("win", game))
    assert rows[-1][me.winner(game)] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rewards.make("winn"), "Unknown reward 'winn'. Did you mean 'win'"),
        (lambda: rewards.make("networth"), "Did you mean 'net_worth'"),
        (lambda: rewards.make("win_shaped", discount=0.0), "discount=0.0"),
        (lambda: rewards.make("win_shaped", discount=1.5), "discount=1.5"),
    ],
)
def test_wrong_arguments_are_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        call()
