"""S12: dice that depend on the seed alone, and the random numbers behind them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import monopoly_env as me
from monopoly_env import events
from monopoly_env.engine.decks import shuffle_unseen
from monopoly_env.engine.randomness import POLICIES, policy_draw
from monopoly_env.facts.cards import CHANCE_DECK, DECK_SIZE
from monopoly_env.kernels.philox import philox
from monopoly_env.rules import Rules
from tests.play import land


def choose(legal: Any, key: int, number: int) -> int:
    """A random legal action: a function of (key, number) and of what is legal."""
    return int(legal[philox(number, POLICIES, 0, 0, key, 0) % len(legal)])


def throws_of(
    game: Any, pick: Callable[[Any, int], int], decisions: int
) -> tuple[dict[int, list[Any]], list[Any]]:
    """The movement throws of every seat and the utility throws of a game, told task by task."""
    movement: dict[int, list[Any]] = {seat: [] for seat in range(game.num_players)}
    utility: list[Any] = []
    for number in range(decisions):
        if me.is_over(game):
            break
        for kind, seat, *dice in events.play(game, pick(me.legal_actions(game), number)):
            if kind == events.THROW:
                movement[seat].append(tuple(dice[:2]))
            elif kind == events.UTILITY_THROW:
                utility.append(tuple(dice[:2]))
    return movement, utility


PICKS: dict[str, Callable[[Any, int], int]] = {
    "first": lambda legal, _: int(legal[0]),  # declines, folds, goes on
    "second": lambda legal, _: int(legal[1]),  # buys
    "random": lambda legal, number: choose(legal, 1, number),
    "random again": lambda legal, number: choose(legal, 2, number),
}


@pytest.mark.parametrize(
    "rules",
    [Rules(), Rules(utility_dice="fresh", trade="none")],
    ids=["official", "fresh utility throws"],
)
def test_s12_the_throws_of_a_seat_do_not_depend_on_who_plays(rules: Rules) -> None:
    told = {
        name: throws_of(me.new_game(4, rules, seed=12), pick, 700) for name, pick in PICKS.items()
    }
    for seat in range(4):
        sequences = [movement[seat] for movement, _ in told.values()]
        longest = max(sequences, key=len)
        assert len(longest) > 10
        assert all(sequence == longest[: len(sequence)] for sequence in sequences)
    utility = [throws for _, throws in told.values()]
    assert all(throws == max(utility, key=len)[: len(throws)] for throws in utility)
    if rules.utility_dice == "fresh":
        assert sum(map(bool, utility)) > 1
    seats = [tuple(told["first"][0][seat][:10]) for seat in range(4)]
    assert len(set(seats)) == 4  # each has a stream of its own


def test_policies_draw_from_a_stream_of_their_own() -> None:
    """Random numbers that a policy draws move no dice and no card."""
    plain, drawing = me.new_game(2, seed=3), me.new_game(2, seed=3)
    drawing.policy_draws[:2] = 1000
    for number in range(200):
        action = choose(me.legal_actions(plain), 3, number)
        me.step(plain, action)
        me.step(drawing, action)
    drawing.policy_draws[:2] = plain.policy_draws[:2]
    assert plain.tobytes() == drawing.tobytes()


def test_reseed_changes_the_future_and_not_the_past() -> None:
    game = me.new_game(3, seed=3)
    for number in range(100):
        me.step(game, choose(me.legal_actions(game), 3, number))
    futures = {}
    for seed in (None, 3, 4, 5):
        other = me.clone(game)
        if seed is not None:
            me.reseed(other, seed)
        # the past, and the decks
        assert all(
            np.array_equal(other[name], game[name]) for name in me.GAME.names if name != "seed"
        )
        futures[seed] = throws_of(other, PICKS["first"], 60)[0]
    assert futures[None] == futures[3]
    assert futures[3] != futures[4] != futures[5]


@pytest.mark.parametrize(
    ("counter", "key", "word"),
    [
        ((0, 0, 0, 0), (0, 0), 0x6627E8D5),
        ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, 0x408F276D),
        ((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0), 0xD16CFE09),
    ],
)
def test_philox_gives_the_known_answers(
    counter: tuple[int, ...], key: tuple[int, ...], word: int
) -> None:
    """Known-answer vectors of Random123 for philox4x32-10; the first of four words."""
    assert philox(*counter, *key) == word


def test_philox_follows_the_paper() -> None:
    """At many counters and keys, against a second way to write it."""
    generator = np.random.default_rng(1)
    for _ in range(200):
        counter = [int(word) for word in generator.integers(0, 2**32, 4)]
        key = [int(word) for word in generator.integers(0, 2**32, 2)]
        assert philox(*counter, *key) == philox_by_the_paper(counter, key)


def philox_by_the_paper(counter: list[int], key: list[int]) -> int:
    """Philox4x32-10 as the paper draws it.

    Two Feistel pairs (left, right) that swap their right sides in every round.
    """
    pairs = [[counter[1], counter[0]], [counter[3], counter[2]]]
    for number in range(10):
        weyl = [(key[0] + number * 0x9E3779B9) % 2**32, (key[1] + number * 0xBB67AE85) % 2**32]
        products = [
            divmod(0xD2511F53 * pairs[0][1], 2**32),
            divmod(0xCD9E8D57 * pairs[1][1], 2**32),
        ]
        pairs = [
            [products[1][1], products[1][0] ^ pairs[0][0] ^ weyl[0]],
            [products[0][1], products[0][0] ^ pairs[1][0] ^ weyl[1]],
        ]
    return pairs[0][1]


@pytest.mark.parametrize("bound", [2, 6, 36])
def test_throws_are_uniform(bound: int) -> None:
    """Chi squared of 36,000 draws of one stream.

    The seed is fixed, the limit is 10 standard deviations of the statistic.
    """
    counts = np.bincount(
        [philox(count, 0, 0, 0, 5, 0) * bound >> 32 for count in range(36_000)], minlength=bound
    )
    expected = 36_000 / bound
    assert ((counts - expected) ** 2 / expected).sum() < bound - 1 + 10 * (2 * (bound - 1)) ** 0.5


def test_random_numbers_overflow_no_word_of_64_bits() -> None:
    """An overflow is undefined in compiled code, which may then leave out what follows."""
    function = getattr(philox, "py_func", philox)
    for word in (0, 1, 0x9BCCC000, 0xFFFFFFFF):
        wide = np.int64(word)
        with np.errstate(over="raise"):
            found = function(wide, wide, wide, wide, wide, wide)
        assert found == function(word, word, word, word, word, word)
        assert 0 <= found <= 0xFFFFFFFF


def test_held_jail_cards_stay_out_of_a_shuffled_deck() -> None:
    game = me.position(2, jail_cards={0: ["chance"]})
    before = game.deck[0, : game.deck_size[0]].tolist()
    shuffle_unseen(game, 0)
    assert game.deck_size[0] == DECK_SIZE - 1
    assert sorted(game.deck[0, : game.deck_size[0]].tolist()) == sorted(before)


def test_draws_of_a_policy_are_below_their_bound_and_never_repeat_a_number() -> None:
    game = me.new_game(2, seed=4)
    drawn = [policy_draw(game, 1, 1 << 30) for _ in range(50)]
    assert len(set(drawn)) == 50
    assert min(drawn) >= 0
    assert max(drawn) < 1 << 30
    assert game.policy_draws[:2].tolist() == [0, 50]
    assert {policy_draw(game, 0, 3) for _ in range(50)} == {0, 1, 2}


def test_cards_to_come_are_shuffled_among_themselves() -> None:
    game = land(7, chance=["chairman"])
    drawn = int(game.deck_next[CHANCE_DECK])
    orders = set()
    for seed in range(40):
        other = me.reseed(me.clone(game), seed, shuffle=True)
        before, after = (each.deck[CHANCE_DECK].tolist() for each in (game, other))
        assert after[:drawn] == before[:drawn]
        assert sorted(after) == sorted(before)
        orders.add(tuple(after))
    assert drawn > 0
    assert len(orders) == 40
