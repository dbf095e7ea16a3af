"""Properties of all games: random options, random positions, random legal play.

Hypothesis draws the numbers of a case of the fuzzer (`monopoly_env.validate.fuzz`), so a failing
example names a case that `python -m monopoly_env.validate fuzz --seed S --case N` shows.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import monopoly_env as me
from monopoly_env import actions, encoding
from monopoly_env.engine.randomness import POLICIES
from monopoly_env.kernels.philox import philox
from monopoly_env.validate import fuzz

CASES = st.builds(fuzz.case, st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
KEYS = st.integers(0, 2**32 - 1)
STEPS = 100


def choose(game: Any, key: int, number: int) -> int:
    """A random legal action."""
    legal = me.legal_actions(game)
    return int(legal[philox(number, POLICIES, 0, 0, key, 0) % len(legal)])


def play(game: Any, key: int, steps: int) -> Any:
    """Play on at random."""
    for number in range(steps):
        if me.is_over(game):
            break
        me.step(game, choose(game, key, number))
    return game


@settings(max_examples=400)
@given(CASES, KEYS)
def test_every_invariant_holds_after_every_step(game: Any, key: int) -> None:
    me.check(game)
    for number in range(STEPS):
        if me.is_over(game):
            break
        me.step(game, choose(game, key, number))
        me.check(game)
        assert len(me.legal_actions(game)) != 1  # a choice with one answer is never asked
        assert me.is_over(game) == (len(me.legal_actions(game)) == 0)


@settings(max_examples=100)
@given(CASES, KEYS, st.integers(0, STEPS))
def test_every_action_outside_the_mask_is_refused_without_a_trace(
    game: Any, key: int, steps: int
) -> None:
    play(game, key, steps)
    before, mask = game.tobytes(), me.action_mask(game)
    error = me.GameOverError if me.is_over(game) else me.IllegalActionError
    for action in np.flatnonzero(~mask):
        with pytest.raises(error):
            me.step(game, action)
    assert game.tobytes() == before
    for action in np.flatnonzero(mask):
        after = me.step(me.clone(game), action)
        assert after.tobytes() != before
    assert game.tobytes() == before


@settings(max_examples=200)
@given(CASES, KEYS, st.integers(0, STEPS))
def test_a_clone_goes_its_own_way(game: Any, key: int, steps: int) -> None:
    play(game, key, steps)
    before, twin = game.tobytes(), me.clone(game)
    assert twin.tobytes() == before
    story = play(twin, key + 1, STEPS).tobytes()
    assert game.tobytes() == before
    assert play(me.clone(game), key + 1, STEPS).tobytes() == story


@settings(max_examples=200)
@given(CASES, KEYS, st.integers(0, STEPS))
def test_a_saved_game_comes_back_and_goes_on_alike(game: Any, key: int, steps: int) -> None:
    play(game, key, steps)
    with tempfile.TemporaryDirectory() as folder:
        loaded = me.load(me.save(game, Path(folder) / "game"))
    assert loaded.tobytes() == game.tobytes()
    assert me.digest(loaded) == me.digest(game)
    assert play(loaded, key, 20).tobytes() == play(game, key, 20).tobytes()


@settings(max_examples=100)
@given(CASES, KEYS, st.integers(0, STEPS))
def test_words_lead_back_to_actions(game: Any, key: int, steps: int) -> None:
    play(game, key, steps)
    text = me.to_text(game)
    meanings = {}
    for action in range(actions.NUM_ACTIONS):
        said = actions.describe(action, game)
        assert meanings.setdefault(said, action) == action
        if said == "done":  # what `fold` is called in a sealed auction
            assert action == actions.parse("fold")
        elif action < actions.A_CHOICE or said.startswith("choose"):
            assert actions.parse(said) == action
    for action in me.legal_actions(game):
        assert f"{action} {actions.describe(action, game)}" in text


@settings(max_examples=100)
@given(CASES, KEYS, st.integers(0, STEPS))
def test_looking_changes_nothing(game: Any, key: int, steps: int) -> None:
    play(game, key, steps)
    before = game.tobytes()
    me.legal_actions(game)
    me.to_text(game)
    me.worth(game)
    me.check(game)
    me.winner(game)
    observations = [encoding.observe(game, "standard", seat) for seat in range(game.num_players)]
    assert all(np.abs(row).max() <= 1 for row in observations)
    me.force(game, throws=[(1, 2)])
    assert game.tobytes() == before


@settings(max_examples=100)
@given(CASES, KEYS, KEYS)
def test_another_seed_is_another_future_of_the_same_past(game: Any, key: int, seed: int) -> None:
    other = me.reseed(me.clone(game), seed)
    assert all(np.array_equal(other[name], game[name]) for name in me.GAME.names if name != "seed")
    me.check(play(other, key, STEPS))


@settings(max_examples=200)
@given(st.integers(0, 2**32 - 1))
def test_rules_survive_their_record(seed: int) -> None:
    rules = fuzz.random_rules(np.random.default_rng(seed))
    game = me.new_game(2, rules, seed)
    assert me.Rules.from_record(game.rules) == rules
    assert me.Rules.from_dict(rules.changed()) == rules
    assert eval(repr(rules), {"Rules": me.Rules}) == rules


@settings(max_examples=200)
@given(CASES, st.integers(0, 2), st.data())
def test_forced_throws_and_cards_come(game: Any, count: int, data: st.DataObject) -> None:
    dice = st.tuples(st.integers(1, 6), st.integers(1, 6))
    throws = data.draw(st.lists(dice, min_size=count, max_size=count))
    forced = me.force(game, throws=throws)
    assert forced.num_forced == count + (0 if count else game.num_forced)
    assert [divmod(int(throw), 10) for throw in forced.forced_throws[:count]] == throws
    me.check(play(forced, 1, STEPS))


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), KEYS, st.sampled_from(me.Rules.presets()), st.integers(2, 8))
def test_money_and_lots_of_the_presets_are_kept(
    seed: int, key: int, preset: str, players: int
) -> None:
    """Lots never multiply and bankrupt players never come back.

    That is seen by looking at the records from outside.
    """
    game, gone = me.new_game(players, preset, seed), set()
    for number in range(300):
        if me.is_over(game):
            break
        me.step(game, choose(game, key, number))
        lots = [int(bits) for bits in game.lots[:players]]
        assert sum(lots) == int(np.bitwise_or.reduce(lots))
        out = {seat for seat in range(players) if game.place[seat]}
        assert gone <= out
        if not me.is_over(game):
            gone = out
            assert all(not lots[seat] and not game.jail_cards[seat] for seat in gone)
            assert int(game.player) not in gone
            assert sorted(int(game.place[seat]) for seat in gone) == list(
                range(players - len(gone) + 1, players + 1)
            )
