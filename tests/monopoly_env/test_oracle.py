"""Quantities of the rules against brute force at random positions.

Rent, building moves, mortgages, liquidation value, worth and score.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import settings

import monopoly_env as me
from monopoly_env import actions
from monopoly_env.engine.auction import piece_funds
from monopoly_env.engine.liquidation import raisable
from monopoly_env.engine.mortgage import lifting_cost
from monopoly_env.engine.players import score
from monopoly_env.facts import board
from monopoly_env.game import MAX_PLAYERS
from tests.monopoly_env import oracle

POSITIONS = 2 * settings().max_examples  # of each preset
GO_ON = actions.HEADS["turn"].start
VISITING = (4, 6)  # from GO to Just Visiting, where nothing happens
CHANCE_SQUARES = (7, 22, 36)
NEAREST = {"railroad": "nearest_railroad_a", "utility": "nearest_utility"}

# What may differ from the preset; None leaves it as it is.
VARIED: dict[str, tuple[Any, ...]] = {
    "even_build": (None, None, "free"),
    "hotel_after": (None, None, 3),
    "hotel_breakdown": (None, "needs_four", "unlimited"),
    "building_limit": (None, None, "unlimited"),
    "building_shortage": (None, "first_come"),
    "piece_limit": (None, "raisable"),
    "double_rent_if_group_mortgaged": (None, True, False),
    "count_mortgaged_rr_ut": (None, False),
    "utility_dice": (None, "fresh"),
    "card_utility_pays_when_mortgaged": (None, True),
    "rent_in_jail": (None, True, False),
    "interest_rounding": (None, "down", "nearest"),
    "interest_base": (None, "price"),
    "unmortgage_price": (None, "ten_percent"),
    "score": (None, "tax_worth", "cash"),
}


@pytest.fixture(scope="module", params=me.Rules.presets())
def positions(request: pytest.FixtureRequest) -> list[dict[str, Any]]:
    """Arguments of `position` for the positions of a preset."""
    rng = random.Random(f"oracle {request.param}")
    return [random_position(rng, request.param) for _ in range(POSITIONS)]


def test_moves_and_values(positions: list[dict[str, Any]]) -> None:
    for contents in positions:
        _compare_window(contents)


def test_rent(positions: list[dict[str, Any]]) -> None:
    rng = random.Random("rent")
    for contents in positions:
        _compare_rent(contents, rng)


def random_position(rng: random.Random, preset: str) -> dict[str, Any]:
    """Arguments of `position`: anything consistent.

    The player on turn is free and owns a lot that he may mortgage.
    """
    num_players = rng.randint(2, MAX_PLAYERS)
    turn = rng.randrange(num_players)
    options = {name: rng.choice(values) for name, values in VARIED.items()}
    if preset == "ocnaru":
        options = {
            name: value
            for name, value in options.items()
            if name not in ("even_build", "building_limit")
        }
    if me.Rules.preset(preset).liquidation not in ("agent", "one_request"):  # contradictions
        options |= {"piece_limit": None} | (
            {"hotel_breakdown": None} if options["hotel_breakdown"] == "needs_four" else {}
        )
    rules = me.Rules.preset(
        preset, **{name: value for name, value in options.items() if value is not None}
    )
    anchor = rng.randrange(28)
    lots: dict[int, list[int]] = {seat: [] for seat in range(num_players)}
    buildings: dict[int, int] = {}
    mortgaged: list[int] = []
    for group in range(board.NUM_GROUPS):
        members = [lot for lot in range(28) if board.GROUP_OF[lot] == group]
        owners = (
            [rng.choice([None, *lots]) for _ in members]
            if rng.random() < 0.4
            else [rng.randrange(num_players)] * len(members)
        )
        if anchor in members:
            owners[members.index(anchor)] = turn
        for lot, seat in zip(members, owners, strict=True):
            if seat is not None:
                lots[seat].append(lot)
        if (
            len(set(owners)) == 1
            and owners[0] is not None
            and group < 8
            and anchor not in members
            and rng.random() < 0.7
        ):
            buildings |= dict(zip(members, _levels(rng, rules, len(members)), strict=True))
        else:
            owned = [lot for lot, seat in zip(members, owners, strict=True) if seat is not None]
            mortgaged += [lot for lot in owned if lot != anchor and rng.random() < 0.25]
    houses = sum(level for level in buildings.values() if level < 5)
    hotels = sum(level == 5 for level in buildings.values())
    scarce = {
        "houses": min(88, houses + rng.choice((0, 1, 3, 5, 12, 32))),
        "hotels": min(22, hotels + rng.choice((0, 1, 12))),
    }
    return {
        "num_players": num_players,
        "rules": me.Rules(**{**_as_dict(rules), **scarce}),
        "turn": turn,
        "cash": [
            rng.choice((0, 40, 50, 99, 100, 150, 200, 450, rng.randint(0, 2_000)))
            for _ in range(num_players)
        ],
        "lots": lots,
        "buildings": buildings,
        "mortgaged": mortgaged,
        "jail": {
            seat: rng.randrange(rules.jail_turns)
            for seat in range(num_players)
            if seat != turn and rng.random() < 0.3
        },
    }


def _as_dict(rules: Any) -> dict[str, Any]:
    return {name: getattr(rules, name) for name in rules.__dataclass_fields__}


def _levels(rng: random.Random, rules: Any, count: int) -> list[int]:
    """Levels that a group may have: even, all alike, or free.

    If free, a hotel still needed its houses everywhere.
    """
    top = rules.hotel_after + 1
    if rules.even_build == "free":
        low = rng.choice((0, rules.hotel_after))
        steps = [rng.randint(low, top if low else rules.hotel_after) for _ in range(count)]
    else:
        base = rng.randint(0, top)
        spread = 0 if rules.even_build == "whole_group" or base == top else 1
        steps = [base + rng.randint(0, spread) for _ in range(count)]
    return [5 if step == top else step for step in steps]


def _compare_window(contents: dict[str, Any]) -> None:
    """At the first window of the player on turn: the masks, what a sale does, and all values."""
    seat = contents["turn"]
    game = me.position(**contents, positions={seat: 0}, throws=[VISITING])
    if contents["rules"].build_window != "after_settlement":
        assert game.num_forced == 1, contents
    assert actions.DECISION_NAMES[game.decision] == "turn", contents
    assert game.player == seat, contents
    state = oracle.read(game)
    mask = me.action_mask(game)
    assert _open(mask, "build") == oracle.buildable(state, seat), contents
    assert _open(mask, "sell") == oracle.sellable(state, seat), contents
    assert _open(mask, "mortgage") == oracle.mortgageable(state, seat), contents
    assert _open(mask, "unmortgage") == oracle.liftable(state, seat), contents
    for other in oracle.seats(state):
        assert me.worth(game, other) == oracle.worth(state, other), (contents, other)
        assert score(game, other) == oracle.score(state, other), (contents, other)
        assert raisable(game, other) == oracle.raisable(state, other), (contents, other)
        assert piece_funds(game, other) == oracle.piece_funds(state, other), (contents, other)
    for lot in state.mortgaged:
        assert lifting_cost(game, lot) == oracle.lifting_cost(state, lot), (contents, lot)
    if state.rules.even_build == "even" and state.rules.hotel_breakdown != "unlimited":
        for lot in sorted(_open(mask, "sell")):
            _compare_sale(me.clone(game), state, seat, lot)


def _compare_sale(game: Any, state: oracle.State, seat: int, lot: int) -> None:
    me.step(game, actions.HEADS["sell"].start + lot)
    group = state.group(lot)
    before = [state.steps(state.level[other]) for other in group]
    after = [state.steps(int(game.level[other])) for other in group]
    assert tuple(after) in oracle.best_breakdowns(state, lot), (state, lot, after)
    refund = (sum(before) - sum(after)) * state.deeds[lot].house_price // 2
    assert game.cash[seat] == state.cash[seat] + refund, (state, lot)


def _compare_rent(contents: dict[str, Any], rng: random.Random) -> None:
    """A throw, or a throw and a 'nearest' card, brings the player on turn to a lot.

    Who pays whom how much.
    """
    seat, rules = contents["turn"], contents["rules"]
    cash = [
        dollars + (5_000 if other == seat else 0) for other, dollars in enumerate(contents["cash"])
    ]
    first, second = rng.sample(range(1, 7), 2)  # no double: the turn ends in a window
    dice, fresh = (first, second), (rng.randint(1, 6), rng.randint(1, 6))
    lot = rng.randrange(28)
    deed = oracle.DEEDS[rules.board][lot]
    card = deed.group in NEAREST and rules.board != "uk" and rng.random() < 0.5
    squares = (
        [
            chance
            for chance in CHANCE_SQUARES
            if _nearest(rules.board, chance, deed.group) == deed.square
        ]
        if card
        else [deed.square]
    )
    card = card and bool(squares)
    square = rng.choice(squares) if squares else deed.square
    start = (square - sum(dice)) % 40
    game = me.position(
        **(contents | {"cash": cash}),
        positions={seat: start},
        throws=[dice, fresh],
        chance=[NEAREST[deed.group]] if card else [],
    )
    while game.num_forced == 2:
        me.step(game, GO_ON)
    state = oracle.read(game)
    due = oracle.rent(state, lot, seat, sum(dice), sum(fresh), card)
    expected = list(cash)
    expected[seat] += rules.go_salary * ((start > square) + (card and square > deed.square)) - due
    if due:
        expected[state.owner[lot]] += due
    assert state.cash == expected, (contents, lot, dice, fresh, card, start)
    assert game.position[seat] == deed.square, (contents, lot)
    wanted = "turn" if lot in state.owner else "buy"
    assert actions.DECISION_NAMES[game.decision] == wanted, (contents, lot)


def _nearest(edition: str, square: int, group: str) -> int:
    """The next square forward that belongs to a group (20)."""
    squares = {deed.square for deed in oracle.DEEDS[edition] if deed.group == group}
    return next((square + steps) % 40 for steps in range(1, 40) if (square + steps) % 40 in squares)


def _open(mask: Any, head: str) -> set[int]:
    """Indices of a head's legal actions."""
    return {int(index) for index in mask[actions.HEADS[head].slice].nonzero()[0]}
