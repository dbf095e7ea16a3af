"""Playouts: exact where the answer is known, and over cards that nobody has seen.

They are the same for any number of threads.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, chisquare

import agents
import monopoly_env as me
from monopoly_env import actions, core
from monopoly_env.actions import A_TURN
from monopoly_env.analyse import Value
from monopoly_env.analyse.playouts import rollout
from monopoly_env.engine.agenda import SEALED_BID
from monopoly_env.facts.cards import DECK_SIZE, JAIL_CARD_NUMBER
from monopoly_env.intervals import wilson
from monopoly_env.rules import PRESETS
from tests.monopoly_env.endgames import (
    FOLLOWER_WINS,
    GOES_ON,
    GREEN,
    LEADER_WINS,
    ORANGE,
    RED,
    YELLOW,
    exact_share,
    last_throw,
    last_two_throws,
)
from tests.play import randomly

FALSE_ALARM = 4.9  # standard errors: fewer than 1e-6 of all true hypotheses are that far off


def random_position(
    seed: int, decisions: int, num_players: int = 4, rules: me.Rules | str = "official"
) -> Any:
    *_, game = randomly(me.new_game(num_players, rules, seed), seed, decisions + 1)
    return me.new_game(num_players, rules, seed) if me.is_over(game) else game


@pytest.mark.parametrize(
    ("game", "policy", "exact"),
    [(last_throw(), "friedman", 1 - LEADER_WINS), (last_two_throws(), GOES_ON, FOLLOWER_WINS)],
)
def test_a_position_whose_odds_are_known(game: Any, policy: Any, exact: Fraction) -> None:
    """By hand, for one throw and for two."""
    played, share = rollout(game, policy, 20_000), float(exact)
    assert abs(played.share[1] - share) < FALSE_ALARM * np.sqrt(share * (1 - share) / 20_000)
    assert np.allclose(played.share.sum(), 1)


@pytest.mark.slow
def test_intervals_cover_as_often_as_they_say() -> None:
    """At 500 end-games, whose exact shares are known.

    Wilson's interval covers a share as often as the binomial distribution says.
    """
    assert exact_share(last_throw()) == LEADER_WINS
    rng, n, covered, rates = np.random.default_rng(0), 60, 0, list[float]()
    outcomes = np.arange(n + 1)
    lows, highs = wilson(outcomes, n)
    for seed in range(500):
        streets, level = (ORANGE, RED, YELLOW, GREEN)[rng.integers(4)], int(rng.integers(1, 6))
        game = last_throw(
            int(rng.integers(1, 20)) * 5 + 3, int(rng.integers(10, 24)), streets, level
        )
        share = float(exact_share(game))
        low, high = rollout(game, GOES_ON, n, seed=seed).interval
        covered += low[0] <= share <= high[0]
        rates.append(binom.pmf(outcomes, n, share)[(lows <= share) & (share <= highs)].sum())
    spread = np.sqrt(sum(rate * (1 - rate) for rate in rates))
    assert 0.94 < np.mean(rates) < 0.97
    assert abs(covered - sum(rates)) < FALSE_ALARM * spread


@pytest.mark.parametrize("preset", PRESETS)
def test_shares_add_up_to_one_under_all_rules(preset: str) -> None:
    for players in (2, 8) if preset == "official" else (3,):
        game = random_position(5, 60, players, preset)
        before = game.tobytes()
        for turns in (None, 3):
            played = rollout(game, "algorithmic", 6, turns=turns)
            assert np.allclose(played.shares.sum(axis=-1), 1, atol=1e-6)
            assert ((played.shares >= 0) & (played.shares <= 1)).all()
            assert played.places.sum(axis=-1).tolist() == [players * (players + 1) / 2] * 6
            assert (played.places[played.shares == 1] == 1).all()
        assert game.tobytes() == before


def test_the_result_does_not_depend_on_threads_nor_on_how_it_is_cut_up() -> None:
    game = random_position(1, 80)
    policies = ["algorithmic", ["random", "algorithmic"], "random", "algorithmic"]
    whole = rollout(game, policies, 300, threads=1)
    for other in (
        rollout(game, policies, 300, threads=2).shares,
        np.concatenate(
            [rollout(game, policies, 100, first=start).shares for start in (0, 100, 200)]
        ),
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
        assert np.array_equal(
            rollout(game, "algorithmic", 30, actions=int(action), shuffle=False).shares, expected
        )


def test_each_playout_draws_one_policy_of_a_mixture() -> None:
    game = random_position(2, 30, 2)
    one, other = (
        rollout(game, [policy, "random"], 200).shares for policy in ("algorithmic", "random")
    )
    mixed = rollout(game, [["algorithmic", "random"], "random"], 200).shares
    as_one, as_other = (mixed == one).all(axis=1), (mixed == other).all(axis=1)
    assert (as_one | as_other).all()
    assert (as_one & ~as_other).any()
    assert (as_other & ~as_one).any()


@pytest.mark.slow
def test_the_policies_of_a_mixture_are_drawn_by_their_weights() -> None:
    game = random_position(2, 30, 2)
    one, even = (
        rollout(game, [seat, "random"], 4000).shares
        for seat in ("algorithmic", ["algorithmic", "random"])
    )
    for weights, expected in (
        ({"algorithmic": 1, "random": 0}, one),
        ({"algorithmic": 0.2, "random": 0.2}, even),
    ):
        assert np.array_equal(rollout(game, [weights, "random"], 4000).shares, expected)
    other = rollout(game, ["random", "random"], 4000).shares
    differs = (one != other).any(axis=1)
    drawn = rollout(game, [{"random": 3, "algorithmic": 1}, "random"], 4000).shares
    share = (drawn == one).all(axis=1)[differs].mean()
    assert differs.sum() > 500
    assert abs(share - 0.25) < 5 * np.sqrt(0.25 * 0.75 / differs.sum())


@pytest.mark.parametrize(
    "weights",
    [{}, {"random": 0}, {"random": -1, "expert": 2}, {"random": float("nan")}, {"random": "often"}],
)
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
        # chi-square of 10: beyond it with 3e-7
        assert sum((drawn[card] - expected) ** 2 / expected for card in unseen) < 50
    assert me.reseed(me.clone(game), 9).deck.tolist() == game.deck.tolist()


def ones(game: Any, params: Any, shares: Any) -> None:
    shares[:] = 0.0
    shares[int(params[0])] = 1.0


def test_a_playout_that_is_cut_off_takes_the_value() -> None:
    game = me.new_game(3, seed=1)
    played = rollout(
        game,
        "algorithmic",
        50,
        turns=2,
        value=Value("the last one", ones, np.array([2], np.float32)),
    )
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


# --- places


def test_places_are_those_of_the_game() -> None:
    """Who is ruined first is last, at the end as well as where a playout is cut off."""
    game = me.position(4, turn=1, bankrupt=[2, 0], cash={1: 900, 3: 4000}, seed=3)
    for turns in (None, 1):
        played = rollout(game, "algorithmic", 200, turns=turns)
        assert played.cut.all() == (turns is not None)
        assert (played.places[:, [2, 0]] == [4, 3]).all()
        assert set(played.places[:, 1]) <= {1, 2}
        assert played.place.tolist() == pytest.approx(
            [3, *played.place[[1]], 4, 3 - played.place[1]]
        )
        if turns is None:
            assert (played.places[:, 1] == 2 - played.shares[:, 1]).all()


def test_losers_are_placed_in_the_order_in_which_they_leave() -> None:
    game = me.position(
        3,
        me.Rules(max_turns=1, score="tax_worth"),
        cash=[5000, 4000, 1000],
        lots={0: ["Boardwalk"]},
    )
    assert rollout(game, GOES_ON, 50).place.tolist() == [1, 2, 3]
    game = me.position(
        3,
        cash=[3000, 3000, 20],
        lots={0: ["Boardwalk", "Park Place"]},
        buildings={"Boardwalk": 5, "Park Place": 5},
    )
    ranks = rollout(game, "algorithmic", 200).place
    # the poor one leaves first: the mean of the losers would be the same for both
    assert ranks[1] + 0.5 < ranks[2]


def test_where_it_is_cut_off_the_value_places_and_those_who_tie_share() -> None:
    played = rollout(
        me.new_game(4, seed=1),
        "algorithmic",
        20,
        turns=1,
        value=Value("the last one", ones, np.array([3], np.float32)),
    )
    assert played.cut.all()
    assert played.place.tolist() == [3, 3, 3, 1]
    draw = me.position(
        2,
        me.Rules(max_turns=1, score="tax_worth"),
        positions=[0, 0],
        throws=[(4, 6)],
        lots={0: [0], 1: [1]},
    )
    assert rollout(draw, GOES_ON, 2).places.tolist() == [[1.5, 1.5]] * 2


# --- what is hidden


def next_cards(game: Any, params: Any, shares: Any) -> None:
    for deck in range(2):
        shares[deck] = game.deck[deck, game.deck_next[deck]]


def test_the_next_card_is_any_of_those_that_nobody_has_seen() -> None:
    """After five Chance cards were drawn, while a player holds the jail card of the other deck.

    No card is drawn in the round.
    """
    game = me.position(
        2, positions=[0, 0], throws=[(4, 6), (4, 6)], jail_cards={0: ["community_chest"]}
    )
    assert game.num_forced == 2
    game.deck_next[0] = 5
    count = 6000
    played = rollout(game, GOES_ON, count, turns=1, value=Value("next cards", next_cards))
    assert played.cut.all()
    for deck, held in ((0, []), (1, [int(JAIL_CARD_NUMBER[0, 1])])):
        unseen = game.deck[deck, game.deck_next[deck] : game.deck_size[deck]].tolist()
        assert len(unseen) == (11, 15)[deck]
        assert not set(unseen) & set(held)
        found = Counter(played.shares[:, deck].astype(int).tolist())
        assert set(found) <= set(unseen)
        assert chisquare([found[card] for card in unseen]).pvalue > 1e-7
    kept = rollout(game, GOES_ON, 20, turns=1, value=Value("next cards", next_cards), shuffle=False)
    assert (kept.shares == [game.deck[0, 5], game.deck[1, 0]]).all()


MUKHAR = me.Rules.preset("mukhar")
SHUT, OFFERED = actions.parse("fold"), actions.parse("bid +100")


@agents.policy_kernel
def _writes_a_hundred(game: Any, mask: Any, params: Any, memory: Any) -> int:
    if game.decision == SEALED_BID and game.sealed[game.player] < 100:
        return OFFERED
    action = A_TURN
    if not mask[A_TURN]:
        action = mask.argmax()
    return action


WRITES_A_HUNDRED = agents.CompiledPolicy("writes a hundred", _writes_a_hundred)


def owner(game: Any, params: Any, shares: Any) -> None:
    for seat in range(game.num_players):
        shares[seat] = game.lots[seat] >> int(params[0]) & 1


def sealed_auction(*hidden: str, players: int = 3) -> Any:
    """Player 0 has declined a lot and written these bids; player 1 is asked."""
    game = me.position(players, MUKHAR, positions={0: 2}, throws=[(1, 2)], seed=2)
    for action in ("decline", *hidden, "fold"):
        me.step(game, actions.parse(action))
    assert (actions.DECISION_NAMES[game.decision], game.player) == ("sealed_bid", 1)
    return game


def test_a_sealed_bid_is_not_known_to_the_player_that_is_asked_after_it() -> None:
    none, much = sealed_auction(), sealed_auction("bid +500", "bid +100")
    before = much.tobytes()
    for action in (None, SHUT, OFFERED):
        for policies in ("algorithmic", ["expert", "algorithmic", {"random": 1, "friedman": 2}]):
            one, other = (
                rollout(game, policies, 40, actions=action, turns=5) for game in (none, much)
            )
            assert np.array_equal(one.shares, other.shares)
            assert np.array_equal(one.turns, other.turns)
    assert much.tobytes() == before
    one, other = (
        rollout(game, "algorithmic", 40, actions=OFFERED, turns=5, shuffle=False)
        for game in (none, much)
    )
    assert not np.array_equal(one.shares, other.shares)


@pytest.mark.parametrize(
    ("own", "winner"), [((), 0), (("bid +50",), 0), (("bid +100", "bid +10"), 1)]
)
def test_the_others_write_their_sealed_bids_again(own: tuple[str, ...], winner: int) -> None:
    """Player 0 writes $100 in every playout, whatever it wrote before.

    What player 1 has written stays.
    """
    for hidden in ((), ("bid +500",)):
        game = sealed_auction(*hidden)
        for action in own:
            me.step(game, actions.parse(action))
        lot = Value("owner", owner, np.array([game.auction_lot], np.float32))
        played = rollout(
            game, [WRITES_A_HUNDRED, GOES_ON, GOES_ON], 5, actions=SHUT, turns=1, value=lot
        )
        assert played.share.tolist() == [seat == winner for seat in range(3)]
        mixed = rollout(
            game,
            [[WRITES_A_HUNDRED, GOES_ON], GOES_ON, GOES_ON],
            60,
            actions=SHUT,
            turns=1,
            value=lot,
        )
        assert 0 < mixed.share[0] < 1 if winner == 0 else mixed.share[1] == 1


def test_an_open_auction_goes_on_as_it_stands() -> None:
    game = me.position(3, positions={0: 2}, throws=[(1, 2)])
    for action in ("decline", "fold", "bid +50"):  # player 1 folds, player 2 leads
        me.step(game, actions.parse(action))
    assert (actions.DECISION_NAMES[game.decision], game.player) == ("bid", 0)
    lot = Value("owner", owner, np.array([game.auction_lot], np.float32))
    assert rollout(game, GOES_ON, 5, actions=SHUT, turns=1, value=lot).share.tolist() == [0, 0, 1]
    for action in me.legal_actions(game).tolist():
        once, again = (
            rollout(game, "expert", 20, actions=action, turns=2, shuffle=shuffle).shares
            for shuffle in (False, True)
        )
        stepped = rollout(
            me.step(me.clone(game), action), "expert", 20, turns=2, shuffle=False
        ).shares
        assert np.array_equal(once, stepped)
        assert once.shape == again.shape


@agents.policy_kernel
def breaks_rules(game: Any, mask: Any, params: Any, memory: Any) -> int:
    return actions.A_BUY


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n": 0}, me.ConfigurationError, "n=0 must be a whole number from 1"),
        ({"n": None}, me.ConfigurationError, "n=None must be a whole number from 1"),
        ({"shuffle": "no"}, me.ConfigurationError, "shuffle='no' must be True or False"),
        ({"turns": 0}, me.ConfigurationError, "turns=0"),
        ({"threads": 0}, me.ConfigurationError, "threads=0"),
        ({"seed": -1}, me.ConfigurationError, "seed=-1"),
        ({"value": "worht"}, me.ConfigurationError, "Unknown value 'worht'.*worth"),
        ({"policies": ["random"]}, me.ConfigurationError, "1 policies are given for 4 seats"),
        ({"policies": ["random", [], "random", "random"]}, me.ConfigurationError, "one is empty"),
        ({"policies": "randm"}, me.ConfigurationError, "Did you mean 'random'"),
        ({"actions": 204}, me.IllegalActionError, "illegal at the decision"),
        ({"actions": [0, 0]}, me.ConfigurationError, "actions must be 1 whole numbers"),
        ({"policies": agents.CompiledPolicy("rude", breaks_rules)},
         me.IllegalActionError, "Policy 'rude' in the game of seed"),
        ({"policies": agents.make("human")},
         me.ConfigurationError, "Policy 'human' is not compiled"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        rollout(me.new_game(4, seed=0), **({"policies": "random", "n": 20} | arguments))


def test_games_that_cannot_be_played_on_are_refused() -> None:
    game = random_position(0, 0)
    over = me.clone(game)
    while not me.is_over(over):
        me.step(over, int(me.legal_actions(over)[-1]))
    for given, error, message in (
        (over, me.GameOverError, "is over"),
        (
            np.concatenate([core.batch_of(me.new_game(n)) for n in (2, 3)]),
            me.ConfigurationError,
            "same number of players",
        ),
        (np.zeros(3), me.ConfigurationError, "array of games"),
        (5, me.ConfigurationError, "Expected a game"),
    ):
        with pytest.raises(error, match=message):
            rollout(given, "random", 2)
    game.position[0] = 77
    with pytest.raises(me.PositionError, match="Invalid record"):
        rollout(game, "random", 2)
