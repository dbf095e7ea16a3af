"""Playouts: exact where the answer is known, the same for any number of threads, and over cards that nobody has seen."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import agents
import monopoly_env as me
from monopoly_env import actions, core
from monopoly_env.analyse import Value
from monopoly_env.analyse.playouts import rollout
from monopoly_env.cards import DECK_SIZE
from monopoly_env.engine.decks import shuffle_unseen
from monopoly_env.rules import PRESETS
from tests.monopoly_env.endgames import LEADER_WINS, last_throw

EXACT = float(LEADER_WINS)


def random_position(seed: int, decisions: int, num_players: int = 4, rules: me.Rules | str = "official") -> Any:
    game, rng = me.new_game(num_players, rules, seed), np.random.default_rng(seed)
    for _ in range(decisions):
        if me.is_over(game):
            return me.new_game(num_players, rules, seed)
        me.step(game, int(rng.choice(me.legal_actions(game))))
    return me.new_game(num_players, rules, seed) if me.is_over(game) else game


def test_a_position_whose_odds_are_known() -> None:
    played = rollout(last_throw(), "friedman", 20_000)
    assert abs(played.share[0] - EXACT) < 5 * np.sqrt(EXACT * (1 - EXACT) / 20_000)
    assert np.allclose(played.share.sum(), 1)


def test_intervals_cover_as_often_as_they_say() -> None:
    covered = 0
    for seed in range(500):
        low, high = rollout(last_throw(), "friedman", 60, seed=seed).interval
        covered += low[0] <= EXACT <= high[0]
    assert 450 <= covered <= 495  # 95% of 500 within five standard deviations


@pytest.mark.parametrize("preset", PRESETS)
def test_shares_add_up_to_one_under_all_rules(preset: str) -> None:
    for players in (2, 8) if preset == "official" else (3,):
        game = random_position(5, 60, players, preset)
        before = game.tobytes()
        for turns in (None, 3):
            played = rollout(game, "algorithmic", 6, turns=turns)
            assert np.allclose(played.shares.sum(axis=-1), 1, atol=1e-6)
            assert ((played.shares >= 0) & (played.shares <= 1)).all()
            assert played.place.mean() == pytest.approx((players + 1) / 2)
        assert game.tobytes() == before


def test_the_result_does_not_depend_on_threads_nor_on_how_it_is_cut_up() -> None:
    game = random_position(1, 80)
    policies = ["algorithmic", ["random", "algorithmic"], "random", "algorithmic"]
    whole = rollout(game, policies, 300, threads=1)
    for other in (
        rollout(game, policies, 300, threads=2).shares,
        np.concatenate([rollout(game, policies, 100, first=start).shares for start in (0, 100, 200)]),
    ):
        assert np.array_equal(whole.shares, other)
    assert not np.array_equal(whole.shares, rollout(game, policies, 300, seed=1).shares)


def test_a_batch_is_its_positions_one_by_one() -> None:
    games = np.concatenate([core.batch_of(random_position(seed, 50)) for seed in range(3)])
    together = rollout(games, "algorithmic", 40)
    assert together.share.shape == (3, 4)
    for game, shares in zip(games, together.shares, strict=True):
        assert np.array_equal(rollout(game, "algorithmic", 40).shares, shares)


def test_the_first_action_is_carried_out() -> None:
    game = random_position(3, 40)
    legal = me.legal_actions(game)
    for action in legal[:3]:
        stepped = me.step(me.clone(game), int(action))
        expected = rollout(stepped, "algorithmic", 30, shuffle=False).shares
        assert np.array_equal(rollout(game, "algorithmic", 30, actions=int(action), shuffle=False).shares, expected)


def test_each_playout_draws_one_policy_of_a_mixture() -> None:
    game = random_position(2, 30, 2)
    one, other = (rollout(game, [policy, "random"], 200).shares for policy in ("algorithmic", "random"))
    mixed = rollout(game, [["algorithmic", "random"], "random"], 200).shares
    as_one, as_other = (mixed == one).all(axis=1), (mixed == other).all(axis=1)
    assert (as_one | as_other).all()
    assert (as_one & ~as_other).any()
    assert (as_other & ~as_one).any()


def test_the_policies_of_a_mixture_are_drawn_by_their_weights() -> None:
    game = random_position(2, 30, 2)
    one, even = (rollout(game, [seat, "random"], 4000).shares for seat in ("algorithmic", ["algorithmic", "random"]))
    for weights, expected in (({"algorithmic": 1, "random": 0}, one), ({"algorithmic": 0.2, "random": 0.2}, even)):
        assert np.array_equal(rollout(game, [weights, "random"], 4000).shares, expected)
    other = rollout(game, ["random", "random"], 4000).shares
    differs = (one != other).any(axis=1)
    drawn = rollout(game, [{"random": 3, "algorithmic": 1}, "random"], 4000).shares
    share = (drawn == one).all(axis=1)[differs].mean()
    assert differs.sum() > 500
    assert abs(share - 0.25) < 5 * np.sqrt(0.25 * 0.75 / differs.sum())


@pytest.mark.parametrize("weights", [{}, {"random": 0}, {"random": -1, "expert": 2}, {"random": float("nan")}, {"random": "often"}])
def test_weights_that_are_none_are_refused(weights: dict[str, float]) -> None:
    with pytest.raises(me.ConfigurationError, match="mixture"):
        rollout(me.new_game(2), [weights, "random"], 4)


def test_unseen_cards_are_in_any_order_and_the_seen_ones_stay() -> None:
    game = me.new_game(2, seed=4)
    game.deck_next[:] = 5, 0
    seen, unseen = game.deck[0, :5].tolist(), sorted(game.deck[0, 5:].tolist())
    count, first, last = 5500, Counter(), Counter()
    for seed in range(count):
        other = me.reseed(me.clone(game), seed, shuffle=True)
        assert other.deck[0, :5].tolist() == seen
        assert sorted(other.deck[0, 5:].tolist()) == unseen
        first[int(other.deck[0, 5])] += 1
        last[int(other.deck[0, DECK_SIZE - 1])] += 1
    expected = count / len(unseen)
    for drawn in (first, last):
        assert sum((drawn[card] - expected) ** 2 / expected for card in unseen) < 50  # chi-square of 10: beyond it with 3e-7
    assert me.reseed(me.clone(game), 9).deck.tolist() == game.deck.tolist()


def test_held_jail_cards_stay_out_of_the_decks() -> None:
    game = me.position(2, jail_cards={0: ["chance"]})
    before = game.deck[0, : game.deck_size[0]].tolist()
    shuffle_unseen(game, 0)
    assert game.deck_size[0] == DECK_SIZE - 1
    assert sorted(game.deck[0, : game.deck_size[0]].tolist()) == sorted(before)


def ones(game: Any, params: Any, shares: Any) -> None:
    shares[:] = 0.0
    shares[int(params[0])] = 1.0


def test_a_playout_that_is_cut_off_takes_the_value() -> None:
    game = me.new_game(3, seed=1)
    played = rollout(game, "algorithmic", 50, turns=2, value=Value("the last one", ones, np.array([2], np.float32)))
    assert played.cut.all()
    assert played.share.tolist() == [0, 0, 1]
    assert (played.turns <= 3 * 3).all()
    by_worth = rollout(game, "algorithmic", 200, turns=2)
    assert abs(by_worth.share - 1 / 3).max() < 0.05  # after two rounds nobody is far ahead
    assert not rollout(game, "algorithmic", 5).cut.any()


def test_a_game_that_ends_in_time_is_not_cut_off() -> None:
    whole = rollout(last_throw(), "friedman", 1000)
    cut = rollout(last_throw(), "friedman", 1000, turns=1, value=Value("wrong", ones))
    assert np.array_equal(whole.shares, cut.shares)
    assert not cut.cut.any()


@agents.policy_kernel
def breaks_rules(game: Any, mask: Any, params: Any, memory: Any) -> int:
    return actions.A_BUY


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n": 0}, me.ConfigurationError, "n=0 must be a whole number from 1"),
        ({"turns": 0}, me.ConfigurationError, "turns=0"),
        ({"threads": 0}, me.ConfigurationError, "threads=0"),
        ({"seed": -1}, me.ConfigurationError, "Seed -1"),
        ({"value": "worht"}, me.ConfigurationError, "Unknown value 'worht'.*worth"),
        ({"policies": ["random"]}, me.ConfigurationError, "1 policies are given for 4 seats"),
        ({"policies": ["random", [], "random", "random"]}, me.ConfigurationError, "one is empty"),
        ({"policies": "randm"}, me.ConfigurationError, "Did you mean 'random'"),
        ({"actions": 204}, me.IllegalActionError, "illegal at the decision"),
        ({"actions": [0, 0]}, me.ConfigurationError, "actions must be 1 whole numbers"),
        ({"policies": agents.CompiledPolicy("rude", breaks_rules)}, me.IllegalActionError, "Policy 'rude' in the game of seed"),
        ({"policies": agents.make("human")}, me.ConfigurationError, "Policy 'human' is not compiled"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        rollout(me.new_game(4, seed=0), **({"policies": "random", "n": 20} | arguments))


def test_games_that_cannot_be_played_on_are_refused() -> None:
    game = random_position(0, 0)
    over = me.clone(game)
    while not me.is_over(over):
        me.step(over, int(me.legal_actions(over)[-1]))
    for given, error, message in (
        (over, me.GameOverError, "is over"),
        (np.concatenate([core.batch_of(me.new_game(n)) for n in (2, 3)]), me.ConfigurationError, "same number of players"),
        (np.zeros(3), me.ConfigurationError, "array of games"),
        (5, me.ConfigurationError, "Expected a game"),
    ):
        with pytest.raises(error, match=message):
            rollout(given, "random", 2)
    game.position[0] = 77
    with pytest.raises(me.PositionError, match="No game can reach"):
        rollout(game, "random", 2)
