"""Trading: composing an offer, answering it, exchanging goods (36, 40-42, S5-S7).

Goods are lots (bits 0 to 27) and the two jail cards (bits 28 and 29).
"""

from __future__ import annotations

from monopoly_env.actions import CASH_CANCEL, GOODS_CANCEL, GOODS_DONE, NOTES
from monopoly_env.engine import agenda, mortgage
from monopoly_env.engine.building import built_groups
from monopoly_env.engine.players import seat_after
from monopoly_env.facts.board import ALL_LOTS
from monopoly_env.game import CHANCE_GOOD, MAX_REFUSED, NOBODY, Game
from monopoly_env.kernels import kernel
from monopoly_env.rules import number

_OFFICIAL = number("trade", "official")
_ONE_FOR_ONE_CASH = number("trade", "one_for_one_cash")
_NONE = number("trade", "none")

REJECT, ACCEPT, COUNTER = range(3)
_ALL_GOODS = (1 << 30) - 1
_CARDS = _ALL_GOODS & ~ALL_LOTS


@kernel
def tradable(game: Game, seat: int) -> int:
    """The goods that a seat may give: no lot of a built group, nothing traded this turn (40)."""
    lots = int(game.lots[seat])
    if not game.rules.trade_mortgaged:
        lots &= ~int(game.mortgaged)
    if lots != 0:
        lots &= ~built_groups(game)
    cards = int(game.jail_cards[seat]) << CHANCE_GOOD if game.rules.trade == _OFFICIAL else 0
    return (lots | cards) & ~int(game.traded)


@kernel
def may_offer(game: Game, seat: int) -> bool:
    """Whether a seat may make one more offer this turn (41)."""
    return (
        game.rules.trade != _NONE
        and game.offers[seat] < game.rules.trade_limit
        and game.num_refused < MAX_REFUSED
    )


@kernel
def partners(game: Game, seat: int) -> int:
    """The players who may get an offer, bit i for the player i + 1 seats away.

    There must be something to exchange.
    """
    if not may_offer(game, seat):
        return 0
    mine, found = tradable(game, seat), 0
    for offset in range(1, int(game.num_players)):
        other = seat_after(game, seat, offset)
        if game.place[other] == 0:
            theirs = tradable(game, other)
            if game.rules.trade == _OFFICIAL:
                possible = mine != 0 or theirs != 0
            else:
                possible = mine != 0 and theirs != 0
            if possible:
                found |= 1 << (offset - 1)
    return found


@kernel
def open_offer(game: Game, seat: int, partner: int) -> None:
    """Start composing an offer."""
    game.offers[seat] += 1
    _start(game, seat, partner)


@kernel
def _start(game: Game, seat: int, partner: int) -> None:
    game.offer_from = seat
    game.offer_to = partner
    game.offer_ask = 0
    game.offer_give = 0
    game.offer_cash = 0
    game.offer_last = NOBODY
    agenda.push(game, agenda.ASK, seat, 0, 0)


@kernel
def close_offer(game: Game) -> None:
    """Clear the current offer."""
    game.offer_from = NOBODY
    game.offer_to = NOBODY
    game.offer_ask = 0
    game.offer_give = 0
    game.offer_cash = 0
    game.offer_last = NOBODY
    game.offer_counter = 0


@kernel
def _after(last: int) -> int:
    """The goods that may follow a pick: in ascending order, so that each set has one sequence."""
    return _ALL_GOODS & ~((1 << (last + 1)) - 1)


@kernel
def legal_goods(game: Game, asking: bool) -> int:
    """The legal actions of picking goods, one bit each: goods that may follow, done, cancel."""
    seat = int(game.offer_to) if asking else int(game.offer_from)
    picked = int(game.offer_ask) if asking else int(game.offer_give)
    actions = tradable(game, seat) & _after(int(game.offer_last))
    if game.rules.trade == _OFFICIAL:
        if asking or (int(game.offer_ask) | picked) != 0:
            actions |= 1 << GOODS_DONE
    elif picked != 0:  # one lot for one lot: one pick, then done
        actions = 1 << GOODS_DONE
    return actions | 1 << GOODS_CANCEL


@kernel
def pick_goods(game: Game, seat: int, action: int, asking: bool) -> None:
    """Carry out a pick: add a good, go to the next step, or cancel."""
    if action == GOODS_CANCEL:
        close_offer(game)
    elif action == GOODS_DONE:
        game.offer_last = NOBODY
        agenda.push(game, agenda.GIVE if asking else agenda.CASH, seat, 0, 0)
    else:
        if asking:
            game.offer_ask |= 1 << action
        else:
            game.offer_give |= 1 << action
        game.offer_last = action
        agenda.push(game, agenda.ASK if asking else agenda.GIVE, seat, 0, 0)


@kernel
def legal_cash(game: Game) -> int:
    """The legal actions of the cash step, one bit each (S5).

    Done, notes given, notes asked for (descending), cancel.
    """
    actions = 1 << CASH_CANCEL
    if is_sound(game) and not was_refused(game):
        actions |= 1
    if game.rules.trade != _OFFICIAL and game.rules.trade != _ONE_FOR_ONE_CASH:
        return actions
    cash, last = int(game.offer_cash), int(game.offer_last)
    for i in range(len(NOTES)):
        if cash >= 0 and i >= last and cash + NOTES[i] <= game.cash[game.offer_from]:
            actions |= 1 << (1 + i)
        if cash <= 0 and i >= last and NOTES[i] - cash <= game.cash[game.offer_to]:
            actions |= 1 << (1 + len(NOTES) + i)
    return actions


@kernel
def pick_cash(game: Game, seat: int, action: int) -> None:
    """Carry out a pick of the cash step: add a note, finish the offer, or cancel."""
    if action == CASH_CANCEL:
        close_offer(game)
    elif action == 0:
        game.offer_last = NOBODY
        agenda.push(game, agenda.REPLY, int(game.offer_to), 0, 0)
    else:
        note = (action - 1) % len(NOTES)
        game.offer_cash += NOTES[note] if action <= len(NOTES) else -NOTES[note]
        game.offer_last = note
        agenda.push(game, agenda.CASH, seat, 0, 0)


@kernel
def is_sound(game: Game) -> bool:
    """Whether both sides can pay the price, and then the fees on mortgages (36, 38, S5)."""
    giver, taker, cash = int(game.offer_from), int(game.offer_to), int(game.offer_cash)
    giver_fees = mortgage.transfer_fees(game, int(game.offer_ask) & ALL_LOTS)
    taker_fees = mortgage.transfer_fees(game, int(game.offer_give) & ALL_LOTS)
    return int(game.cash[giver]) - cash >= giver_fees and int(game.cash[taker]) + cash >= taker_fees


@kernel
def was_refused(game: Game) -> bool:
    """Whether the same offer was already refused this turn."""
    for i in range(game.num_refused):
        if (
            game.refused_from[i] == game.offer_from
            and game.refused_to[i] == game.offer_to
            and game.refused_ask[i] == game.offer_ask
            and game.refused_give[i] == game.offer_give
            and game.refused_cash[i] == game.offer_cash
        ):
            return True
    return False


@kernel
def may_counter(game: Game, seat: int) -> bool:
    """Whether the partner may make a counter-offer: once, and as one of its own offers (S6)."""
    # Refusing the current offer takes one of the record's places for refused offers.
    return game.offer_counter == 0 and may_offer(game, seat) and game.num_refused + 1 < MAX_REFUSED


@kernel
def reply(game: Game, seat: int, answer: int) -> None:
    """Carry out an answer to an offer: reject, accept or counter."""
    if answer == ACCEPT:
        exchange(game)
        return
    _remember_refusal(game)
    if answer == COUNTER:
        proposer = int(game.offer_from)
        game.offer_counter = 1
        open_offer(game, seat, proposer)
    else:
        close_offer(game)


@kernel
def _remember_refusal(game: Game) -> None:
    i = int(game.num_refused)
    if i < MAX_REFUSED:
        game.refused_from[i] = game.offer_from
        game.refused_to[i] = game.offer_to
        game.refused_ask[i] = game.offer_ask
        game.refused_give[i] = game.offer_give
        game.refused_cash[i] = game.offer_cash
        game.num_refused = i + 1


@kernel
def exchange(game: Game) -> None:
    """Exchange goods and cash. Each receiver of mortgaged lots then pays their fees (36)."""
    giver, taker = int(game.offer_from), int(game.offer_to)
    give, ask = int(game.offer_give), int(game.offer_ask)
    game.cash[giver] -= game.offer_cash
    game.cash[taker] += game.offer_cash
    _move(game, giver, taker, give)
    _move(game, taker, giver, ask)
    game.traded |= give | ask
    close_offer(game)
    mortgage.take_over(game, taker, give & ALL_LOTS)
    mortgage.take_over(game, giver, ask & ALL_LOTS)


@kernel
def _move(game: Game, source: int, target: int, goods: int) -> None:
    lots, cards = goods & ALL_LOTS, (goods & _CARDS) >> CHANCE_GOOD
    game.lots[source] = int(game.lots[source]) & ~lots
    game.lots[target] = int(game.lots[target]) | lots
    game.jail_cards[source] = int(game.jail_cards[source]) & ~cards
    game.jail_cards[target] = int(game.jail_cards[target]) | cards


@kernel
def forget_turn(game: Game) -> None:
    """Clear offers, refusals and the marks on traded goods at the start of a turn (41)."""
    for seat in range(game.num_players):
        game.offers[seat] = 0
    for i in range(int(game.num_refused)):
        game.refused_from[i] = 0
        game.refused_to[i] = 0
        game.refused_ask[i] = 0
        game.refused_give[i] = 0
        game.refused_cash[i] = 0
    game.num_refused = 0
    game.traded = 0
    game.fresh_sales = 0
    mortgage.forget_turn(game)
