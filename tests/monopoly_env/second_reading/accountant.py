"""A second reading of a game by an accountant who knows the booklet and hears the events.

It is slow, plain Python and shares no code with the engine, only the tables of boards and cards. It
keeps a double-entry ledger of the money and books of deeds, buildings, tokens and decks, and it
objects to an event that the booklet does not allow, to a payment without a reason, and to a
reason without a payment. Numbers in parentheses are the rules (docs/rules.md).
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from tests.monopoly_env.second_reading.books import (
    BANK,
    BY_BANKRUPTCY,
    BY_CAP,
    BY_CASH,
    HOTEL,
    HOUSE,
    JAIL,
    NOTES,
    ONE_LEFT,
    TOP,
    Books,
    Event,
    Objection,
    Open,
    bits,
    require,
)


class Accountant(Books):
    """The reader of one game: a method for each kind of event, card and answer."""

    def hear(self, rows: Sequence[Event]) -> None:
        """Read the events of one decision."""
        for _, task in itertools.groupby(rows, key=lambda row: row.task):
            told = list(task)
            try:
                self.hear_task(told)
            except (LookupError, ValueError) as error:
                raise Objection("there is no such thing", told) from error
        require(not any(self.posted[seat] for seat in self.seats), "not paid", self.posted)
        require(not self.expected, "not told", self.expected)

    def hear_task(self, rows: list[Event]) -> None:
        """Read the events of one task, then explain its payments."""
        told = Counter[int]()
        self.heard.update(row.kind for row in rows)
        require(not self.over, "the game is over", rows)
        ruined = [row.seat for row in rows if row.kind == "bankrupt"]
        for seat in ruined:
            self.ruin(seat)
        rows = sorted(rows, key=lambda row: row.kind == "mortgage")  # what is sold, is sold before
        for kind, same in itertools.groupby(rows, key=lambda row: row.kind):
            group = list(same)
            if kind in ("pay", "receive"):
                for row in group:
                    require(row.first > 0, row)
                    told[row.seat] += -row.first if kind == "pay" else row.first
                    if kind == "pay" and row.second != BANK:
                        told[row.second] += row.first
            elif kind == "sell" and not ruined:
                self.sell(group)
            elif kind == "build" and self.booklet.whole_groups:
                self.build(group)
            elif kind not in ("complete", "bankrupt"):
                for row in group:
                    if row[:4] in self.expected:
                        self.expected.remove(row[:4])
                    else:
                        require(hasattr(self, f"on_{kind}"), "unexpected", row)
                        getattr(self, f"on_{kind}")(row)
        if rows[0].kind != "chose":  # the choice is carried out in the next task
            self.explain(told)
            require(not self.expected, "not told", self.expected)
            told_whole = [(row.seat, row.first) for row in rows if row.kind == "complete"]
            whole, self.whole = self.whole, self.complete()
            require(told_whole == sorted(self.whole - whole), "groups", told_whole, self.whole)

    def explain(self, told: Counter[int]) -> None:
        """Compare the payments with the ledger; a debt may be the reason for what is missing."""

        def missing() -> dict[int, int]:
            rest = {seat: told[seat] - self.posted[seat] for seat in self.seats}
            return {seat: dollars for seat, dollars in rest.items() if dollars}

        if missing():
            due = self.top()
            require(due is not None, "a payment without a reason", missing())
            if due.what == "may leave":  # a silent choice: it pays the fine now (47)
                self.open[-1] = Open("leave", due.seat, number=due.number)
                self.owes(due.seat, 50, (), "fine for jail")
                due = self.open[-1]
            require(due.what == "due", "a payment before", due)
            self.open.pop()
            for payee in due.payees or (BANK,):
                self.post(due.seat, payee, due.dollars // max(1, len(due.payees)), due.why)
            require(not missing(), "another payment is due", due, missing())
            require(self.balance[due.seat] >= 0, "paid without the cash", due)
        self.posted.clear()

    # --- turns and throws

    def on_turn(self, row: Event) -> None:
        """Pass the dice (2, 3): everything is settled, and a double was thrown again."""
        self.settled(row)
        require(not self.may_throw, "must throw again", row)
        require(row.first == self.turns + 1, row)
        require(self.turn == BANK or row.seat == self.after(self.turn)[0], "not next", row)
        most, win = self.booklet.most_turns, self.booklet.win_cash
        require(not most or row.first <= most, "the cap", row)
        require(not win or all(self.balance[seat] < win for seat in self.seats), "won", row)
        self.turn, self.turns, self.streak, self.may_throw = row.seat, row.first, 0, True
        self.offered.clear()
        self.refused.clear()
        self.traded, self.countering = 0, None

    def on_throw(self, row: Event) -> None:
        """A throw: the token moves, stays in jail or goes there (7, 45)."""
        self.settled(row)
        seat, dice = row.seat, (row.first, row.second)
        require(seat == self.turn and self.may_throw, "not its throw", row)
        require(all(1 <= die <= 6 for die in dice), row)
        self.steps, double = sum(dice), dice[0] == dice[1]
        self.may_throw = double
        if self.jail[seat]:
            self._throw_in_jail(seat, double)
            return
        self.streak += double
        if self.streak == 3:
            self.open.append(Open("to jail", seat))
        else:
            self._walk(seat, self.steps)

    def _throw_in_jail(self, seat: int, double: bool) -> None:
        if double:
            self.may_throw = self.booklet.jail_double_again
            self.streak += self.may_throw
            self._walk(seat, self.steps)
            self.open.append(Open("free", seat))
        elif self.jail[seat] >= self.booklet.jail_turns:
            self.open.append(Open("leave", seat, number=self.steps))
            self.owes(seat, 50, (), "fine for jail")
        else:
            if self.booklet.pay_after_throw:
                self.open.append(Open("may leave", seat, number=self.steps))
            self.expected.append(("stay_in_jail", seat, 0, 0))
            self.jail[seat] += 1

    def _walk(self, seat: int, steps: int) -> None:
        self.open.append(Open("move", seat, number=(self.square[seat] + steps) % 40, dollars=1))

    def on_go_to_jail(self, row: Event) -> None:
        """By the square, a card or the third double: no salary, and the turn is over (8, 43)."""
        self.close("to jail", row.seat, row)
        self.square[row.seat], self.jail[row.seat] = JAIL, 1
        self.may_throw = False

    def on_leave_jail(self, row: Event) -> None:
        """By a double, after the fine or a card (45)."""
        seat, item = row.seat, self.top()
        require(self.jail[seat] > 0, row)
        if item is not None and item.what == "due" and self.funds(seat) < item.dollars:
            self._hand_in_card(seat)  # the only answer
            self.open.pop()
            item = self.top()
        if item is not None and item.what == "free":
            self.close("free", seat)
        elif item is not None and item.what == "leave":
            self._walk(seat, self.close("leave", seat).number)
        elif item is not None and item.what == "card used":
            self.close("card used", seat)
        else:  # a silent choice: it pays before the throw
            self.settled(row)
            early = self.jail[seat] < self.booklet.jail_turns or self.booklet.pay_last
            require(early and not self.booklet.pay_after_throw, "too late to pay", row)
            require(self.turn == seat and self.may_throw, "not its turn", row)
            self.owes(seat, 50, (), "fine for jail")
        self.jail[seat] = 0

    def _hand_in_card(self, seat: int) -> None:
        require(bool(self.held[seat]), "no jail card", seat)
        deck = min(self.held[seat])
        self.held[seat].remove(deck)
        self.decks[deck].bottom.append(self.decks[deck].jail_card)
        self.reasons["jail card used"] += 1

    def on_move(self, row: Event) -> None:
        """A token arrives: salary if it passed GO, then the square (10, 11)."""
        move = self.close("move", row.seat, row)
        require((row.first, row.second) == (move.number, self.square[row.seat]), move, row)
        self.square[row.seat] = row.first
        if move.dollars and row.first < row.second:  # forward over GO
            self.post(BANK, row.seat, 200, "salary")
        self.arrive(row.seat, row.first, move.why)

    def arrive(self, seat: int, square: int, card: str = "") -> None:
        """Enter what the square that a token reached requires (13, 17 to 22, 43, 51, 52)."""
        kind = self.kind[square]
        if square in self.square_of:
            lot = self.square_of.index(square)
            owner = self.owner.get(lot)
            if owner is None:
                price = self.number(lot, "price")
                self.open.append(Open("sale", seat, number=lot, dollars=price))
            elif owner == seat or lot in self.mortgaged:
                return
            elif self.booklet.rent_in_jail or not self.jail[owner]:
                self._rent(seat, lot, card)
        elif kind in ("chance", "community_chest"):
            self.open.append(Open("card", seat, number=int(kind == "community_chest")))
        elif kind == "income_tax":
            self._tax(seat)
        elif kind == "luxury_tax":
            self.owes(seat, self.booklet.luxury, (), "luxury tax")
        elif kind == "go_to_jail":
            self.open.append(Open("to jail", seat))

    def _rent(self, seat: int, lot: int, card: str) -> None:
        owner = self.owner[lot]
        if card == "utility":
            self.open.append(Open("throw", seat, number=lot))
            return
        dollars, why = self.rent(lot, self.steps)
        if card == "railroad":
            dollars, why = 2 * dollars, "rent of a railroad by card"
        self.owes(seat, dollars, [owner], why)

    def on_utility_throw(self, row: Event) -> None:
        """Ten times a fresh throw (20)."""
        require(1 <= row.first <= 6 and 1 <= row.second <= 6, row)
        throw = self.close("throw", self.turn, row)
        dollars = 10 * (row.first + row.second)
        self.owes(self.turn, dollars, [self.owner[throw.number]], "rent of a utility by card")

    def _tax(self, seat: int) -> None:
        if self.booklet.tax == "choice":
            self.open.append(Open("tax", seat))
        else:
            tenth = self.worth(seat) // 10
            dollars = min(200, tenth) if self.booklet.tax == "lesser" else 200
            self.owes(seat, dollars, (), "income tax")

    # --- cards

    def on_card(self, row: Event) -> None:
        """Draw a card and enter what it says (20, 50, 54, 58)."""
        seat = row.seat
        if (item := self.top()) and item.what == "fine or chance":
            require(self.funds(seat) < item.dollars, "it had a choice", row)
            self._fine_or_chance(seat, draws=True)
        drawn = self.close("card", seat, row)
        require(row.first == drawn.number, "another deck", row)
        card = self.decks[row.first].draw(row.second)
        getattr(self, f"_card_{card['effect']}")(seat, card, row.first)

    def _dollars(self, card: dict[str, str]) -> int:
        return int(card[f"amount_{self.booklet.year}"])

    def _go(self, seat: int, square: int, why: str = "", forward: int = 1) -> None:
        self.open.append(Open("move", seat, number=square % 40, dollars=forward, why=why))

    def _card_move_to(self, seat: int, card: dict[str, str], _: int) -> None:
        self._go(seat, int(card["target_index"]))

    def _card_move_back_to(self, seat: int, card: dict[str, str], _: int) -> None:
        self._go(seat, int(card["target_index"]), forward=0)

    def _card_move_steps(self, seat: int, card: dict[str, str], _: int) -> None:
        self._go(seat, self.square[seat] + int(card["steps"]), forward=0)

    def _card_move_to_nearest(self, seat: int, card: dict[str, str], _: int) -> None:
        group = card["target_group"]
        ahead = (self.square[seat] + steps for steps in range(1, 40))
        self._go(seat, next(square for square in ahead if self.kind[square % 40] == group), group)

    def _card_go_to_jail(self, seat: int, *_: Any) -> None:
        self.open.append(Open("to jail", seat))

    def _card_get_out_of_jail_free(self, seat: int, _: dict[str, str], deck: int) -> None:
        self.held[seat].add(deck)
        self.expected.append(("jail_card", seat, deck, 0))

    def _card_bank_pays(self, seat: int, card: dict[str, str], _: int) -> None:
        self.post(BANK, seat, self._dollars(card), "card of the bank")

    def _card_pay_bank(self, seat: int, card: dict[str, str], _: int) -> None:
        self.owes(seat, self._dollars(card), (), "card to the bank")

    def _card_pay_each(self, seat: int, card: dict[str, str], _: int) -> None:
        others, dollars = self.after(seat), self._dollars(card)
        if self.booklet.pay_each == "at once":
            self.owes(seat, dollars * len(others), others, "to each player")
            return
        for other in reversed(others):
            self.owes(seat, dollars, [other], "to each player")

    def _card_collect_each(self, seat: int, card: dict[str, str], _: int) -> None:
        for other in reversed(self.after(seat)):
            self.owes(other, self._dollars(card), [seat], "from each player")

    def _card_repairs(self, seat: int, card: dict[str, str], _: int) -> None:
        levels = [self.level[lot] for lot in self.owned(seat) if lot in self.streets]
        hotels = levels.count(TOP)
        houses = sum(level for level in levels if level < TOP)
        bill = houses * int(card["per_house"]) + hotels * int(card["per_hotel"])
        self.owes(seat, bill, (), "repairs")

    def _card_pay_or_draw_chance(self, seat: int, card: dict[str, str], _: int) -> None:
        self.open.append(Open("fine or chance", seat, dollars=self._dollars(card)))

    def _fine_or_chance(self, seat: int, draws: bool) -> None:
        fine = self.close("fine or chance", seat)
        if draws:
            self.open.append(Open("card", seat))
        else:
            self.owes(seat, fine.dollars, (), "card to the bank")

    # --- what players chose

    def on_chose(self, row: Event) -> None:
        """An answer that is not told by its effect."""
        reply = row.first in ("accept", "reject", "counter")
        asked = "reply" if reply else self._question(row.first)
        maker = self.offer.seat if reply and self.offer else BANK
        require((row.second, row.third) == (asked, maker), "another question", row, asked)
        getattr(self, "_" + row.first.replace(" ", "_"))(row)

    def _question(self, answer: str) -> str:
        item = self.top()
        if answer == "use a jail card":
            return "turn" if item is None else "jail"
        if item is None:
            return "none"
        if item.what == "running":
            sealed = self.booklet.auction == "sealed" and item.number < HOUSE
            return "sealed_bid" if sealed else "bid"
        return "buy" if item.what == "sale" else item.what.replace(" ", "_")

    def _decline(self, row: Event) -> None:
        sale = self.close("sale", row.seat, row)
        require(self._may_buy(sale), "it had no choice", row)
        if self.booklet.auction != "none":
            self.open.append(Open("auction", BANK, number=sale.number))

    def _fold(self, row: Event) -> None:
        require(self.open[-1].what == "running", "no auction", row)
        require(row.seat not in self.folded and row.seat != self.leader, "cannot fold", row)
        self.folded.add(row.seat)

    def _use_a_jail_card(self, row: Event) -> None:
        seat, item = row.seat, self.top()
        require(self.jail[seat] > 0, row)
        if item is not None and item.what == "due":
            require(item.why == "fine for jail", row)
            self.close("due", seat, row)
        elif item is not None and item.what == "may leave":
            self.open.append(Open("leave", seat, number=self.close("may leave", seat).number))
        else:
            self.settled(row)
            require(self.turn == seat and self.may_throw, "not its turn", row)
            self.open.append(Open("card used", seat))
        self._hand_in_card(seat)

    def _choose_the_first(self, row: Event) -> None:
        self._choose(row, False)

    def _choose_the_second(self, row: Event) -> None:
        self._choose(row, True)

    def _choose(self, row: Event, second: bool) -> None:
        item = self.top()
        require(item is not None and item.seat == row.seat, "no question", row)
        if item.what == "tax":
            self.close("tax", row.seat)
            tenth = self.worth(row.seat) // 10
            self.owes(row.seat, tenth if second else 200, (), "income tax")
        elif item.what == "fine or chance":
            self._fine_or_chance(row.seat, second)
        else:
            require(item.what == "takeover", row)
            lot = item.lots.pop(0)
            if second:
                self.lifting = lot

    def _reject(self, row: Event) -> None:
        offer = self.offer
        require(offer is not None and offer.first == row.seat, "no offer", row)
        self.refused.append(offer[1:6])
        self.offer = self.countering = None

    def _counter(self, row: Event) -> None:
        maker = self.offer.seat if self.offer else BANK
        known = self.booklet.window != "all"  # elsewhere it may be an offer of another window
        require(self.countering is None or not known, "a counter-offer is not countered", row)
        self._reject(row)
        self.countering = row.seat, maker

    def _accept(self, row: Event) -> None:
        offer = self.offer
        require(offer is not None and offer.first == row.seat, "no offer", row)
        giver, taker, give, ask, cash = offer[1:6]
        self.post(giver, taker, cash, "trade")
        for source, target, goods in ((giver, taker, give), (taker, giver, ask)):
            self.expect_goods(target, *self.move_goods(source, target, goods))
        self.traded |= give | ask
        self.fees(taker, bits(give))
        self.fees(giver, bits(ask))
        self.offer = self.countering = None

    def move_goods(self, source: int, target: int, goods: int) -> tuple[int, set[int]]:
        """Give lots and jail cards to another player; returns both."""
        lots = [lot for lot in bits(goods) if lot < 28]
        self.owner.update(dict.fromkeys(lots, target))
        cards = {good - 28 for good in bits(goods) if good >= 28}
        self.held[source] -= cards
        self.held[target] |= cards
        return sum(1 << lot for lot in lots), cards

    def expect_goods(self, seat: int, lots: int, cards: set[int]) -> None:
        """Expect the rows of goods that a player gets."""
        if lots:
            self.expected.append(("get", seat, lots, 0))
        self.expected += [("jail_card", seat, deck, 0) for deck in cards]

    def fees(self, seat: int, lots: Iterable[int]) -> None:
        """Enter a tenth of each mortgage taken over, and the question about it (36, 37)."""
        mortgaged = [lot for lot in self.owned(seat) if lot in self.mortgaged and lot in [*lots]]
        if mortgaged:
            self.open.append(Open("takeover", seat, lots=mortgaged))
            self.owes(seat, sum(map(self.interest, mortgaged)), (), "fee on a mortgage")

    def on_offer(self, row: Event) -> None:
        """Goods that may be traded, and cash for the price and the fees (40 to 42)."""
        self.settled(row)
        require(self.offer is None, "an offer is open", row)
        maker, partner, give, ask, cash = row[1:6]
        counter = self.countering == (maker, partner)
        require(counter or self.booklet.window == "all" or maker == self.turn, "whose turn", row)
        require(maker != partner and partner not in self.out, row)
        require(row[1:6] not in self.refused, "it was refused", row)
        require(not (give | ask) & self.traded, "traded this turn", row)
        require(bool(give | ask), "no goods", row)
        self.offered[maker] += 1
        require(self.offered[maker] <= self.booklet.offers, "too many offers", row)
        if self.booklet.trade == "lots":
            require(len(bits(give)) == len(bits(ask)) == 1 and cash == 0, row)
            require(max(give, ask) < 1 << 28, row)
        require(self.booklet.trade != "none", row)
        for seat, goods, comes, gets in ((maker, give, -cash, ask), (partner, ask, cash, give)):
            for good in bits(goods):
                if good >= 28:
                    require(good - 28 in self.held[seat], "not its card", row)
                    continue
                require(self.owner.get(good) == seat, "not its lot", row)
                require(not self.built(good), "a built group", row)
                require(self.booklet.trade_mortgaged or good not in self.mortgaged, row)
            fees = sum(self.interest(lot) for lot in bits(gets) if lot in self.mortgaged)
            require(self.balance[seat] + comes >= fees, "cannot pay", row)
        self.offer = row
        if not counter:
            self.countering = None

    # --- lots

    def on_get(self, row: Event) -> None:
        """A purchase at the printed price, or a lot won at auction and paid for (13, 16)."""
        lots, item = bits(row.first), self.top()
        require(len(lots) == 1 and item is not None, "no reason to get a lot", row)
        require(lots[0] == item.number and lots[0] not in self.owner, "another lot", row, item)
        if item.what == "sale":
            self.close("sale", row.seat, row)
            require(self.balance[row.seat] >= item.dollars, "not payable", row)
            self.post(row.seat, BANK, item.dollars, "price of a lot")
        else:
            self.close("won", row.seat, row)
        self.owner[lots[0]] = row.seat

    def on_auction(self, row: Event) -> None:
        """An auction of a declined lot, of the next lot of an estate, or of a scarce building."""
        self.bid, self.leader, self.folded = 0, BANK, set()
        self.sealed.clear()
        if row.first >= HOUSE:
            self.settled(row)
            require(self.short_of(row.first), "no shortage", row)
        else:
            item = self.top()
            require(item is not None and self.booklet.auction != "none", "no auction", row)
            if item.what == "estate":
                require(row.first == item.lots.pop(0), "not in board order", row)
            elif item.what == "sale":
                require(row.first == item.number and not self._may_buy(item), "may buy", row)
                self.open.pop()
            else:
                require(row.first == self.close("auction", BANK, row).number, row)
        self.open.append(Open("running", BANK, number=row.first))

    def limit(self, seat: int, lot: int) -> int:
        """The highest bid that a seat could pay: for a scarce building in cash (16, 29)."""
        return self.balance[seat] if lot >= HOUSE else self.funds(seat)

    def lowest(self, seat: int, lot: int) -> float:
        """The lowest bid that a seat may make (15, 29)."""
        least = self.bid + 1 if self.leader != BANK else self.booklet.opening
        if lot >= HOUSE:
            prices = [self.number(place, "house_cost") for place in self.places(seat, lot)]
            return max(least, min(prices, default=math.inf))
        return least

    def on_bid(self, row: Event) -> None:
        """A bid above the last one, by a player who is in the auction and can pay it."""
        require(self.open[-1].what == "running", "no auction", row)
        seat, lot = row.seat, self.open[-1].number
        require(seat not in self.folded | self.out and seat != self.leader, "cannot bid", row)
        lowest, opening = self.lowest(seat, lot), lot >= HOUSE and self.leader == BANK
        require(lowest <= row.first <= self.limit(seat, lot), "amount", row)
        require(opening or row.first - lowest + 1 in NOTES, "no such raise", row)  # S2
        self.bid, self.leader = row.first, seat

    def raise_sealed(self, seat: int, dollars: int) -> None:
        """A sealed maximum is raised: the one choice that no event tells."""
        require(self.booklet.auction == "sealed", "sealed")
        self.sealed[seat] += dollars
        require(self.sealed[seat] <= self.funds(seat), "cannot pay", self.sealed)

    def _open_sealed(self) -> None:
        """The highest maximum wins, the earlier in turn order on a tie (14, S2)."""
        order = [self.turn, *self.after(self.turn)]
        if self.turn in self.out:
            order = order[1:]
        first, *others = sorted(order, key=lambda seat: -self.sealed[seat])
        if self.sealed[first]:
            second = self.sealed[others[0]] if others else 0
            price = max(self.booklet.opening, second + self.booklet.increment)
            self.leader, self.bid = first, min(self.sealed[first], price)

    def on_sold(self, row: Event) -> None:
        """Nobody bids more: the winner pays, then gets the lot or places the building."""
        lot = self._close_auction(row)
        require(self.leader != BANK, "nobody bid", row)
        if lot >= HOUSE:
            self.open.append(Open("place", self.leader, number=lot, dollars=self.bid))
        else:
            self.open.append(Open("won", self.leader, number=lot))
        why = "price of a scarce building" if lot >= HOUSE else "price at auction"
        self.owes(self.leader, self.bid, (), why)

    def on_unsold(self, row: Event) -> None:
        """No bid: the lot stays with the bank (16)."""
        self._close_auction(row)
        require(self.leader == BANK, "somebody bid", row)

    def _close_auction(self, row: Event) -> int:
        lot = self.close("running", BANK, row).number
        if lot < HOUSE and self.booklet.auction == "sealed":
            self._open_sealed()
        else:
            for seat in set(self.seats) - self.folded - self.out - {self.leader}:
                require(self.limit(seat, lot) < self.lowest(seat, lot), "it may bid", seat, row)
        return lot

    # --- mortgages

    def on_mortgage(self, row: Event) -> None:
        """Half the price for lots without buildings in their groups (33)."""
        self._may_manage(row)
        for lot in bits(row.first):
            require(self.owner.get(lot) == row.seat and lot not in self.mortgaged, row)
            require(not self.built(lot), "built", row)
            self.mortgaged.add(lot)
            self.post(BANK, row.seat, self.mortgage_value(lot), "mortgage")
        if self.booklet.debtor == "houses first" and self._is_forced(row):
            require(not self.buildings(row.seat), "buildings are sold first", row)

    def on_lift(self, row: Event) -> None:
        """The mortgage and a tenth; in a takeover, where the tenth is paid, without it (34, 37)."""
        for lot in bits(row.first):
            require(self.owner.get(lot) == row.seat and lot in self.mortgaged, row)
            cost, why = self.mortgage_value(lot), "mortgage lifted at a takeover"
            if lot != self.lifting:
                self.settled(row)
                cost, why = cost + self.interest(lot), "mortgage lifted"
            require(self.balance[row.seat] >= cost, "not payable", row)
            self.lifting = BANK
            self.mortgaged.remove(lot)
            self.post(row.seat, BANK, cost, why)

    def _may_manage(self, row: Event) -> None:
        """Sales and mortgages: between settlements, or to raise cash for what is open."""
        item = self.top()
        raising = item is not None and item.what in ("due", "sale", "takeover")
        require(
            item is None or (raising and item.seat == row.seat) or item.what == "may leave", row
        )

    def _is_forced(self, row: Event) -> bool:
        item = self.top()
        return item is not None and (item.what, item.seat) == ("due", row.seat)

    # --- buildings

    def places(self, seat: int, piece: int) -> list[int]:
        """Streets where a seat may put its next house or hotel (25 to 27)."""
        return [
            lot
            for lot in self.streets
            if self.has_group(seat, lot)
            and not self.mortgaged & set(self.group(lot))
            and self.level[lot] == min(self.level[other] for other in self.group(lot)) < TOP
            and (self.level[lot] == self.booklet.hotel_after) == (piece == HOTEL)
        ]

    def wants(self, seat: int, piece: int) -> int:
        """Pieces that a seat could place and pay: one, or all where everybody has a window (29)."""
        level, cash, count = list(self.level), self.balance[seat], 0
        price = {lot: self.number(lot, "house_cost") for lot in self.streets}
        while places := [lot for lot in self.places(seat, piece) if price[lot] <= cash]:
            lot = min(places, key=price.__getitem__)
            self.level[lot] = TOP if piece == HOTEL else self.level[lot] + 1
            cash, count = cash - price[lot], count + 1
        self.level = level
        return count if self.booklet.window == "all" else min(1, count)

    def short_of(self, piece: int) -> bool:
        """Whether two players or more want more pieces than the bank has (29)."""
        if not self.booklet.limited or self.booklet.scarce != "auction":
            return False
        wanted = [self.wants(seat, piece) for seat in self.seats if seat not in self.out]
        supply = self.hotels if piece == HOTEL else self.houses
        return len(wanted) - wanted.count(0) > 1 and sum(wanted) > supply

    def on_build(self, row: Event) -> None:
        """One building."""
        self.build([row])

    def build(self, rows: list[Event]) -> None:
        """Buy the next building of a street or of a whole group, or place one won at auction."""
        seat, first = rows[0].seat, rows[0].first
        piece = HOTEL if rows[0].second == TOP else HOUSE
        if self.booklet.whole_groups:
            require([row.first for row in rows] == self.group(first), "not the group", rows)
        require(len({row.second for row in rows}) == 1, rows)
        for row in rows:
            level = self.level[row.first]
            following = TOP if level == self.booklet.hotel_after else level + 1
            require(row.second == following and row.first in self.places(seat, piece), row)
        prices = sum(self.number(row.first, "house_cost") for row in rows)
        if (item := self.top()) and item.what == "place":
            require(item.number == piece and item.dollars >= prices, "another piece", rows)
            self.close("place", seat, rows)
        else:
            self.settled(rows)
            require(self.booklet.window == "all" or seat == self.turn, "whose turn", rows)
            require(not self.short_of(piece), "an auction is due", rows)
            require(self.balance[seat] >= prices, "not payable", rows)
            self.post(seat, BANK, prices, "hotel" if piece == HOTEL else "house")
        for row in rows:
            self.set_level(row.first, row.second)
        require(self.houses >= 0, "no house left", rows)

    def set_level(self, lot: int, level: int) -> None:
        """Change a street, and move the pieces from or to the bank (28)."""
        if self.booklet.limited:
            before = self.level[lot]
            self.houses += (before < TOP and before) - (level < TOP and level)
            self.hotels += (before == TOP) - (level == TOP)
            require(self.hotels >= 0, "no hotel left")
        self.level[lot] = level

    def sell(self, rows: list[Event]) -> None:
        """Half the price for each step down; how far, the pieces of the bank decide (31, 32)."""
        self._may_manage(rows[0])
        seat, levels = rows[0].seat, {row.first: row.second for row in rows}
        require(len(levels) == len(rows), "told twice", rows)
        free = self._is_forced(rows[0]) and self.booklet.debtor.endswith("first")
        require(free or len({self.group(lot)[0] for lot in levels}) == 1, "two groups", rows)
        for lot, level in levels.items():
            require(self.owner.get(lot) == seat and level < self.level[lot], rows)
        for lot in {self.group(lot)[0] for lot in levels}:
            group = self.group(lot)
            before = [self.steps_of(self.level[other]) for other in group]
            now = [self.steps_of(levels.get(other, self.level[other])) for other in group]
            require(max(now) - min(now) <= 1, "uneven", rows)
            if not free:
                require(sum(now) == self.best_sale(before), "too many or too few", rows)
            steps = sum(before) - sum(now)
            self.post(BANK, seat, steps * self.number(lot, "house_cost") // 2, "sale of buildings")
        for lot, level in levels.items():
            self.set_level(lot, level)
        require(self.houses >= 0, "no house left", rows)

    def best_sale(self, before: list[int]) -> int:
        """The steps that a group keeps after the smallest sale."""
        after = self.booklet.hotel_after
        if self.booklet.whole_groups:
            return sum(before) - len(before)
        stock = self.houses + sum(steps for steps in before if steps <= after)
        if not self.booklet.limited or max(before) <= after or self.houses >= after:
            return sum(before) - 1
        return max(
            sum(steps)
            for steps in itertools.product(*(range(count + 1) for count in before))
            if max(steps) - min(steps) <= 1
            and sum(count for count in steps if count <= after) <= stock
            and sum(steps) < sum(before)
        )

    # --- debts, bankruptcies, the end

    def on_owe(self, row: Event) -> None:
        """A debt that is above the cash in hand and can be raised (55)."""
        due = self.top()
        require(due is not None and (due.what, due.seat) == ("due", row.seat), "no debt", row)
        require(row.first == due.dollars, "another sum", row)
        heir = self.heir(due)
        require(row.second == heir or (row.second < heir == BANK), "another creditor", row)
        require(self.balance[row.seat] < due.dollars <= self.funds(row.seat), "why", row)
        require(not due.number, "told twice", row)
        due.number = 1

    def heir(self, due: Open) -> int:
        """The creditor of a debt: the bank also where all players are paid at once (58)."""
        at_once = due.why == "to each player" and self.booklet.pay_each == "at once"
        return due.payees[0] if due.payees and not at_once else BANK

    def ruin(self, seat: int) -> None:
        """A player cannot pay: buildings to the bank, all else to the creditor (56, 57)."""
        due = self.top()
        require(due is not None and (due.what, due.seat) == ("due", seat), "no debt", seat)
        payable = self.funds(seat) >= due.dollars and self.booklet.debtor != "gives up"
        require(self.balance[seat] < due.dollars and not payable, "it can pay", seat)
        self.open.pop()
        heir, lots = self.heir(due), self.owned(seat)
        proceeds = self.buildings(seat) * self.booklet.estate_percent // 100
        self.post(BANK, seat, proceeds, "buildings of an estate")
        self.post(seat, heir, self.balance[seat], "cash of an estate")
        for lot in [lot for lot in lots if lot in self.streets and self.level[lot]]:
            self.expected.append(("sell", seat, lot, 0))
            self.set_level(lot, 0)
        if heir == BANK:
            self.expected += [("return", BANK, lot, 0) for lot in lots]
            self.mortgaged -= set(lots)
            for lot in lots:
                del self.owner[lot]
            while self.held[seat]:
                self._hand_in_card(seat)
        else:
            goods = sum(1 << lot for lot in lots) | sum(1 << 28 + deck for deck in self.held[seat])
            self.expect_goods(heir, *self.move_goods(seat, heir, goods))
        self.out.add(seat)
        self.jail[seat] = 0
        if seat == self.turn:
            self.may_throw = False
        self._after_ruin(heir, lots)

    def _after_ruin(self, heir: int, lots: list[int]) -> None:
        if len(self.seats) - len(self.out) == 1:
            self.ending = ONE_LEFT
        elif self.booklet.first_ends or (heir == BANK and self.booklet.bank_ends):
            self.ending = BY_BANKRUPTCY
        elif heir != BANK:
            self.fees(heir, lots)
        elif self.booklet.auction != "none":
            self.open.append(Open("estate", BANK, lots=lots))

    def on_over(self, row: Event) -> None:
        """The end: the last player, the highest score or the most cash wins (61 to 64)."""
        playing = [seat for seat in self.seats if seat not in self.out]
        require(not self.over, "told twice", row)
        self.over = True
        if not self.ending:
            self.settled(row)
            require(not self.may_throw, "in the middle of a turn", row)
            rich = max(self.balance[seat] for seat in playing)
            if self.booklet.win_cash and rich >= self.booklet.win_cash:
                self.ending = BY_CASH
            else:
                require(self.turns == self.booklet.most_turns, "no reason to end", row)
                self.ending = BY_CAP
        require(row.first == self.ending, "another ending", row)
        value = {
            seat: self.balance[seat] if self.ending == BY_CASH else self.worth(seat, 50)
            for seat in playing
        }
        best = max(value.values())
        require(bits(row.second) == [seat for seat in playing if value[seat] == best], row, value)

    def summary(self, rows: Sequence[Event], before: Counter[int]) -> None:
        """Read the differences in cash between two records far apart."""
        self.heard.update(row.kind for row in rows)
        sign = {"more": 1, "less": -1}
        told = {row.seat: row.first * sign[row.kind] for row in rows if row.kind in sign}
        change = {seat: self.balance[seat] - before[seat] for seat in self.seats}
        require(told == {seat: dollars for seat, dollars in change.items() if dollars}, told)
