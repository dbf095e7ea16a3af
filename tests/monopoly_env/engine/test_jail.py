"""Rules 43 to 50: jail."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import monopoly_env as me
from monopoly_env import core
from monopoly_env.facts import cards
from tests.play import (
    act,
    asked,
    cash,
    debt,
    end_turn,
    land,
    legal,
    offer,
    owner,
    table,
    texts,
    throw,
)

ORANGE = ["St. James Place", "Tennessee Avenue", "New York Avenue"]
PINK = ["St. Charles Place", "States Avenue", "Virginia Avenue"]
CHANCE, CHEST = 0, 1


def jailed(failed: int = 0, *throws: tuple[int, int], **contents: Any) -> Any:
    """Seat 0 is in jail after some failed throws and at the window before its next one.

    It owns what lies within a throw of it.
    """
    lots = {0: [*PINK, "Electric Company", "Pennsylvania Railroad", *ORANGE]} | contents.pop(
        "lots", {}
    )
    return table(lots=lots, jail={0: failed}, throws=throws, **contents)


@pytest.mark.parametrize(
    "game",
    [
        lambda: land(30),
        lambda: land(22, chance=["go_to_jail"]),
        lambda: land(33, community_chest=["go_to_jail"]),
        lambda: throw(table(positions={0: 20}, streak=2, throws=[(6, 6)])),
    ],
)
def test_rule_43_ways_in(game: Any) -> None:
    game = game()
    assert (game.position[0], game.jail[0]) == (10, 1)
    assert cash(game) == [1500] * 3
    assert end_turn(game).turn == 1


def test_rule_44_just_visiting() -> None:
    game = land(10)
    assert (game.position[0], game.jail[0]) == (10, 0)


@pytest.mark.parametrize("failed", [0, 1, 2])
def test_rule_45_a_card_before_the_throw_then_an_ordinary_turn(failed: int) -> None:
    game = jailed(failed, (2, 2), (1, 4), jail_cards={0: ("chance",)})
    act(game, "use a jail card")
    assert (game.jail[0], game.jail_cards[0]) == (0, 0)
    throw(game)
    assert (game.position[0], game.streak) == (14, 1)
    throw(game)  # a double throws again
    assert game.position[0] == 19
    assert cash(game) == [1500] * 3


def test_rule_45_the_streak_starts_from_nought_after_leaving() -> None:
    game = act(jailed(0, (2, 2), (3, 3), (5, 5), jail_cards={0: ("chance",)}), "use a jail card")
    throw(game)
    assert game.position[0] == 14
    throw(game)
    assert (game.position[0], game.jail[0]) == (20, 0)
    throw(game)
    assert (game.position[0], game.jail[0]) == (10, 1)


@pytest.mark.parametrize(("failed", "offered"), [(0, True), (1, True), (2, False)])
def test_rule_45_paying_on_the_first_or_second_turn(failed: int, offered: bool) -> None:
    game = jailed(failed, (2, 2), (1, 4))
    assert ("pay the fine" in texts(game)) is offered
    if offered:
        act(game, "pay the fine")
        assert (game.jail[0], game.cash[0]) == (0, 1450)
        throw(game)
        assert (game.position[0], game.streak) == (14, 1)
        throw(game)
        assert game.position[0] == 19


@pytest.mark.parametrize("failed", [0, 1, 2])
def test_rule_45_doubles_leave_jail_without_a_further_throw(failed: int) -> None:
    game = throw(jailed(failed, (2, 2), (1, 4)), left=1)
    assert (game.position[0], game.jail[0]) == (14, 0)
    assert cash(game) == [1500] * 3
    end_turn(game)
    assert (game.turn, game.throws[0]) == (1, 1)


@pytest.mark.parametrize("failed", [0, 1])
def test_rule_45_a_failed_throw_stays(failed: int) -> None:
    game = throw(jailed(failed, (1, 2)))
    assert (game.position[0], game.jail[0]) == (10, failed + 2)
    assert cash(game) == [1500] * 3
    assert end_turn(game).turn == 1


def test_rule_45_the_third_failure_pays_and_moves() -> None:
    game = throw(jailed(2, (1, 2)))
    assert (game.position[0], game.jail[0]) == (13, 0)
    assert cash(game) == [1450, 1500, 1500]
    assert end_turn(game).turn == 1


@pytest.mark.parametrize(
    ("answer", "money", "held"), [("pay the fine", 1450, 1), ("use a jail card", 1500, 0)]
)
def test_rule_45_s07_the_third_failure_with_a_card(answer: str, money: int, held: int) -> None:
    game = throw(jailed(2, (1, 2), jail_cards={0: ("chance",)}))
    assert asked(game) == ("jail", 0)
    assert texts(game) == {"pay the fine", "use a jail card"}
    act(game, answer)
    assert (game.position[0], game.jail[0]) == (13, 0)
    assert (game.cash[0], game.jail_cards[0]) == (money, held)


@pytest.mark.parametrize(
    ("turns", "failed", "leaves"),
    [(1, 0, True), (2, 0, False), (2, 1, True), (5, 3, False), (5, 4, True)],
)
def test_rule_46_jail_turns(turns: int, failed: int, leaves: bool) -> None:
    game = throw(jailed(failed, (1, 2), rules=me.Rules(jail_turns=turns)))
    assert game.position[0] == (13 if leaves else 10)
    assert game.cash[0] == (1450 if leaves else 1500)


def test_rule_46_jail_fine() -> None:
    game = act(jailed(rules=me.Rules(jail_fine=200)), "pay the fine")
    assert game.cash[0] == 1300


@pytest.mark.parametrize(("extra", "position"), [(False, 14), (True, 19)])
def test_rule_46_a21_jail_doubles(extra: bool, position: int) -> None:
    game = throw(jailed(0, (2, 2), (1, 4), rules=me.Rules(jail_double_extra_throw=extra)))
    if extra:
        throw(game)
    assert game.position[0] == position
    assert end_turn(game).turn == 1


@pytest.mark.parametrize("allowed", [False, True])
def test_rule_47_a22_paying_before_the_third_throw(allowed: bool) -> None:
    assert ("pay the fine" in texts(jailed(2, rules=me.Rules(jail_pay_turn3=allowed)))) is allowed


@pytest.mark.parametrize(
    ("answer", "position", "money"),
    [("pay the fine", 13, 1450), ("use a jail card", 13, 1500), ("go on", 10, 1500)],
)
def test_rule_47_a22_paying_after_a_failed_throw(answer: str, position: int, money: int) -> None:
    game = jailed(0, (1, 2), jail_cards={0: ("chance",)}, rules=me.Rules(jail_pay_after_throw=True))
    assert not texts(game) & {"pay the fine", "use a jail card"}
    throw(game)
    assert asked(game) == ("jail", 0)
    act(game, answer)
    assert (game.position[0], game.cash[0]) == (position, money)


def test_rule_47_a22_the_last_failure_must_pay_after_the_throw() -> None:
    game = throw(jailed(2, (1, 2), rules=me.Rules(jail_pay_after_throw=True)))
    assert (game.position[0], game.cash[0]) == (13, 1450)


@pytest.mark.parametrize(("answer", "money"), [("pay the fine", 1450), ("use a jail card", 1500)])
def test_rule_47_preset_short_pays_before_the_throw(answer: str, money: int) -> None:
    game = act(jailed(0, (2, 2), (1, 4), jail_cards={0: ("chance",)}, rules="short"), answer)
    throw(game)
    assert (game.position[0], game.jail[0], game.cash[0], game.streak) == (14, 0, money, 1)
    throw(game)  # an ordinary turn: the double throws again
    assert game.position[0] == 19


def test_rule_47_preset_short_or_after_a_failed_throw() -> None:
    game = throw(jailed(0, (1, 2), rules="short"))
    assert (game.position[0], game.jail[0], game.cash[0]) == (13, 0, 1450)


def test_rule_48_the_forced_fine_is_raised() -> None:
    game = table(
        lots={0: ["States Avenue", "Short Line"]},
        jail={0: 2},
        throws=[(1, 2)],
        cash={0: 10},
        anchored=(1, 2),
    )
    throw(game)
    assert (asked(game), debt(game)) == (("debt", 0), 50)
    act(game, "mortgage Short Line")
    assert (game.position[0], game.cash[0], game.jail[0]) == (13, 60, 0)


def test_rule_48_or_the_player_is_bankrupt_to_the_bank() -> None:
    game = table(jail={0: 2}, throws=[(1, 2)], cash={0: 49}, anchored=(1, 2))
    throw(game, left=0)
    assert game.place[0] == 3
    assert cash(game) == [0, 1500, 1500]
    assert asked(game) == ("turn", 1)


def test_rule_49_what_one_may_do_in_jail() -> None:
    game = jailed(
        lots={0: [*ORANGE, "Park Place", "Boardwalk", "Short Line", "Reading Railroad"]},
        buildings={"Boardwalk": 1},
        mortgaged=["Short Line"],
    )
    assert "Park Place" in legal(game, "build")
    assert "Boardwalk" in legal(game, "sell")
    assert "Reading Railroad" in legal(game, "mortgage")
    assert "Short Line" in legal(game, "unmortgage")
    assert legal(game, "trade with player") == {"+1", "+2"}


def test_rule_49_rent_and_bids_in_jail() -> None:
    assert land(39, lots={1: ["Boardwalk"]}, jail={1: 1}).cash[1] == 1550
    game = act(land(39, jail={1: 1}), "decline", "bid +1", "fold", "fold")
    assert owner(game, "Boardwalk") == 1


@pytest.mark.parametrize(
    ("contents", "bit", "deck"),
    [
        ({"square": 7, "chance": ["goojf"]}, 1, CHANCE),
        ({"square": 17, "community_chest": ["goojf"]}, 2, CHEST),
    ],
)
def test_rule_50_a_jail_card_leaves_its_deck(contents: dict[str, Any], bit: int, deck: int) -> None:
    game = land(**contents)
    assert game.jail_cards[0] == bit
    assert game.deck_size[deck] == 15
    assert game.deck_size[1 - deck] == 16


@pytest.mark.parametrize(("name", "deck"), [("chance", CHANCE), ("community_chest", CHEST)])
def test_rule_50_and_returns_to_the_bottom_of_its_own_deck(name: str, deck: int) -> None:
    game = jailed(jail_cards={0: (name,)})
    assert game.deck_size.tolist() == ([15, 16] if deck == CHANCE else [16, 15])
    act(game, "use a jail card")
    assert game.deck_size.tolist() == [16, 16]
    order = coming(game, deck)
    assert order[-1] == goojf(deck)
    assert sorted(order) == list(range(16))


def coming(game: Any, deck: int) -> list[int]:
    """Cards of a cyclic deck in the order in which they come."""
    size, first = int(game.deck_size[deck]), int(game.deck_next[deck])
    cards = [int(card) for card in game.deck[deck][:size]]
    return cards[first:] + cards[:first]


def goojf(deck: int) -> int:
    return cards.CARD_ID[0][deck].index("goojf")


def test_rule_50_its_use_is_never_compulsory() -> None:
    game = jailed(0, (1, 2), jail_cards={0: ("chance",)})
    assert "go on" in texts(game)
    throw(game)
    assert (game.jail_cards[0], game.position[0]) == (1, 10)


def test_rule_50_a_bought_card_may_be_used() -> None:
    game = jailed(jail_cards={1: ("community_chest",)})
    assert "use a jail card" not in texts(game)
    offer(game, 1, ask=["the Community Chest jail card"], cash=30)
    act(game, "accept", "use a jail card")
    assert (game.jail[0], game.jail_cards[0], game.cash[0]) == (0, 0, 1470)


def test_s07_the_chance_card_is_used_first() -> None:
    game = act(jailed(jail_cards={0: ("chance", "community_chest")}), "use a jail card")
    assert game.jail_cards[0] == 2
    assert game.deck_size.tolist() == [16, 15]


def drawn(deck: str, count: int, seed: int) -> list[tuple[int, int, int]]:
    """The effect of each of many Community Chest cards on the player who draws it.

    They are drawn one after another.
    """
    game = table(
        rules=me.Rules(deck=deck), cash=[10**6] * 3, seed=seed, throws=[(1, 2)], positions={0: 14}
    )
    effects = []
    for _ in range(count):
        seat = int(game.turn)
        money, held = int(game.cash[seat]), int(game.jail_cards[seat])
        throw(game)
        effects.append(
            (
                int(game.cash[seat]) - money,
                int(game.position[seat]),
                int(game.jail_cards[seat]) - held,
            )
        )
        end_turn(game)
        seat = int(game.turn)
        game.jail[seat], game.position[seat] = 0, 14
        game = me.force(core.settle(game), throws=[(1, 2)])
    return effects


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_rule_50_a23_cyclic_decks_repeat(seed: int) -> None:
    effects = drawn("cyclic", 46, seed)
    # the jail card is held from its first appearance
    kept = [effect for effect in effects[:16] if effect[2] == 0]
    assert len(kept) == 15
    assert effects[16:31] == effects[31:46] == kept


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_rule_50_a23_reshuffled_when_empty(seed: int) -> None:
    effects = drawn("reshuffle_when_empty", 46, seed)
    kept = [effect for effect in effects[:16] if effect[2] == 0]
    assert len(kept) == 15
    assert sorted(effects[16:31]) == sorted(effects[31:46]) == sorted(kept)
    assert len({tuple(kept), tuple(effects[16:31]), tuple(effects[31:46])}) == 3


def test_rule_50_a23_reshuffled_at_each_draw() -> None:
    effects = drawn("reshuffle_each_draw", 300, 1)
    hospital = (-100, 17, 0)
    assert any(first == second == hospital for first, second in itertools.pairwise(effects))
    assert 5 <= effects.count(hospital) <= 40  # 20 are expected of 15 or 16 cards


def test_rule_45_a14_without_a_window_before_the_throw_only_jail_is_asked_about() -> None:
    game = table(jail={0: 1}, rules=me.Rules(build_window="after_settlement"))
    assert asked(game) == ("jail", 0)
    act(game, "pay the fine")
    assert (int(game.jail[0]), cash(game)[0]) == (0, 1450)


@pytest.mark.parametrize(("money", "pays"), [(49, False), (50, True)])
def test_rule_45_a14_only_who_has_the_fine_may_pay_it(money: int, pays: bool) -> None:
    rules = me.Rules(build_window="after_settlement")
    game = table(jail={0: 1}, jail_cards={0: ("chance",)}, cash={0: money}, rules=rules)
    assert asked(game) == ("jail", 0)
    assert ("pay the fine" in texts(game)) == pays
