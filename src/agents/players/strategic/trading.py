"""The worth of goods in a trade to the strategic agent, and the offers that it accepts.

There are three sets of rules. The later published ones ("HEAD") are the default, `legacy_trades`
selects those of May 2025, and `complete` the later ones as they seem to be meant.
"""

from __future__ import annotations

from typing import Final

from agents.players.strategic.parameters import AT
from agents.players.strategic.values import SLOT, danger, look, seen_value, value
from agents.players.vocabulary import groups
from agents.players.vocabulary.reading import of_opponents, price, total_price
from monopoly_env.engine import building, players, randomness
from monopoly_env.engine.sets import each, has, size
from monopoly_env.facts.board import ALL_LOTS, GROUP_LOTS, GROUP_OF, GROUP_SIZE
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Row

_FRACTION: Final = 1 << 20  # steps of a uniform number
_CARD, _CARD_IN_MAY = 75, 50  # dollars that a jail card is worth
_ACCEPTED, _NOISE = 0.1, 0.025  # least score, and how far chance moves it


@kernel
def missing(group: int, own: int) -> int:
    """The number of lots of a group that are not in the set `own`."""
    return GROUP_SIZE[group] - size(own & GROUP_LOTS[group])


@kernel
def whole_of_one(game: Game, group: int) -> bool:
    """Whether one player owns a whole group."""
    for seat in range(game.num_players):
        if players.owns_group(game, seat, group):
            return True
    return False


@kernel
def pack_value(game: Game, lots: int, own: int, others: int, params: Row, memory: Row) -> float:
    """The worth of the lots of one side of an offer (dollars)."""
    worth = 0.0
    for lot in each(lots):
        group = GROUP_OF[lot]
        weight, bonus = 1.0, 0.0
        if group < building.COLOURS:
            members = GROUP_LOTS[group]
            completes = missing(group, own) == 1 and not has(own, lot)
            if params[AT.complete] != 0:
                counts = completes or own & members == members
                bonus = params[AT.trade_monopoly_bonus] if counts else 0.0
            elif missing(group, own) == 1 and others & members == 0:
                weight = 2.5
            elif own & members == 0 and whole_of_one(game, group):
                weight = 1.8
        worth += weight * value(game, lot, own, others, params, memory) + bonus
    return worth


@kernel
def wanted_in_may(game: Game, lot: int, params: Row, memory: Row) -> float:
    """The value of a lot to be received, by the rules of May, with a bonus for a last lot."""
    group = GROUP_OF[lot]
    completes = group < building.COLOURS and missing(group, int(memory[SLOT.own_seen])) == 1
    bonus = params[AT.trade_monopoly_bonus] if completes else 0.0
    return seen_value(game, lot, params, memory) + bonus


# --- answers --------------------------------------------------------------------------------------


@kernel
def accepts(game: Game, seat: int, params: Row, memory: Row) -> bool:
    """Whether to accept the offer at hand; the thesis has no counter-offers."""
    look(game, seat, params, memory)
    if params[AT.legacy_trades] != 0:
        return _accepts_in_may(game, seat, params, memory)
    if _refuses(game, seat, params, memory):
        return False
    score = _score(game, seat, params, memory)
    if abs(score - _ACCEPTED) <= _NOISE:
        score += _NOISE * (2.0 * randomness.policy_draw(game, seat, _FRACTION) / _FRACTION - 1.0)
    return score > _ACCEPTED


@kernel
def _seen(game: Game, seat: int, params: Row, memory: Row) -> tuple[int, int]:
    """The agent's lots and its opponents' at the last look; now for a complete agent."""
    if params[AT.complete] != 0:
        return int(game.lots[seat]), of_opponents(game, seat)
    return int(memory[SLOT.own_seen]), int(memory[SLOT.others_seen])


@kernel
def _refuses(game: Game, seat: int, params: Row, memory: Row) -> bool:
    """Whether an offer is out of the question whatever it is worth.

    By the published rule, money received is compared with the lots received and money paid with the
    lots given, so that every plain sale or purchase is refused; a complete agent compares what it
    pays with what it gets.
    """
    cash, net = int(game.cash[seat]), int(game.offer_cash)
    received, given = int(game.offer_give) & ALL_LOTS, int(game.offer_ask) & ALL_LOTS
    poor = cash + net < params[AT.min_cash_reserve]
    if params[AT.complete] != 0:
        if net < 0 and (poor or -net > 2 * total_price(game, received)):
            return True
    elif poor or net > 1.5 * total_price(game, received) or -net > 2 * total_price(game, given):
        return True
    if -net > 0.7 * cash:
        return True
    own, others = _seen(game, seat, params, memory)
    broken = given & groups.complete(own)
    for street in each(broken):
        if GROUP_OF[street] < building.COLOURS:
            worth = pack_value(game, received, own, others, params, memory) + max(0, net)
            if worth < 3 * price(game, street):
                return True
    return False


@kernel
def _score(game: Game, seat: int, params: Row, memory: Row) -> float:
    """The score of an offer without noise; above 0.1 it is accepted."""
    own, others = _seen(game, seat, params, memory)
    net = int(game.offer_cash)
    give, ask = int(game.offer_give), int(game.offer_ask)
    received = pack_value(game, give & ALL_LOTS, own, others, params, memory)
    received = received + max(0, net) + _CARD * size(give & ~ALL_LOTS)
    given = pack_value(game, ask & ALL_LOTS, own, others, params, memory)
    given = given + max(0, -net) + _CARD * size(ask & ~ALL_LOTS)
    ratio = received / max(1.0, given)
    score = 0.3 if ratio > 1.3 else 0.15 if ratio > 1.1 else -0.2 if ratio <= 0.9 else 0.0
    # A complete agent counts every street that completes a group.
    barred = 0 if params[AT.complete] != 0 else others
    score += _progress(give & ALL_LOTS, ask & ALL_LOTS, own, barred)
    after = int(game.cash[seat]) + net
    score += -0.15 if after < 200 else 0.1 if after >= 400 else 0.0
    score += 0.1 if after > 800 else -0.1 if after <= 300 else 0.0
    if net < 0 and danger(game, seat, params) > 0.7:
        score -= 0.1
    return score + 0.1 * (params[AT.trade_eagerness] - 0.5)


@kernel
def _progress(received: int, given: int, own: int, others: int) -> float:
    """The part of a score about groups: 0.4 for completing, less for others, -0.3 for breaking.

    By the published rule, a street completes a group only if no opponent owned a lot of it at the
    last look, as in `pack_value`.
    """
    score = 0.0
    for lot in each(received):
        group = GROUP_OF[lot]
        if group < building.COLOURS:
            count = GROUP_SIZE[group]
            owned = count - missing(group, own)
            completes = owned == count - 1 and others & GROUP_LOTS[group] == 0
            score += 0.4 if completes else 0.2 * (owned + 1) / count
    broken = given & groups.complete(own)
    for lot in each(broken):
        if GROUP_OF[lot] < building.COLOURS:
            score -= 0.3
    return score


@kernel
def _accepts_in_may(game: Game, seat: int, params: Row, memory: Row) -> bool:
    """Accept a gain by the agent's values, and by chance a loss of at most 50 dollars."""
    give, ask = int(game.offer_give), int(game.offer_ask)
    own = int(memory[SLOT.own_seen])
    gain = float(game.offer_cash) + _CARD_IN_MAY * (size(give & ~ALL_LOTS) - size(ask & ~ALL_LOTS))
    for lot in each(give & ALL_LOTS):
        gain += wanted_in_may(game, lot, params, memory)
    for lot in each(ask & ALL_LOTS):
        group = GROUP_OF[lot]
        whole = group < building.COLOURS and missing(group, own) == 0
        bonus = params[AT.trade_monopoly_bonus] if whole else 0.0
        gain -= seen_value(game, lot, params, memory) + bonus
    if gain > 0 or gain < -50:
        return gain > 0
    chance = 0.9 * params[AT.trade_eagerness]
    return randomness.policy_draw(game, seat, _FRACTION) < chance * _FRACTION
