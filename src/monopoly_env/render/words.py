"""Goods, offers, auctions and debts in words, for all texts and pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from monopoly_env.actions import DECISION_NAMES, OFFER_STEPS
from monopoly_env.engine.building import HOTEL_LOT, HOUSE_LOT
from monopoly_env.facts.board import LOT_NAME, NUM_LOTS, PRICE
from monopoly_env.game import ALL_OTHERS, CHANCE_GOOD, CHEST_GOOD, NOBODY, POT, Game
from monopoly_env.rules import number

Names: TypeAlias = Sequence[str]  # of the players, by seat

JAIL_CARDS: Final = {
    CHANCE_GOOD: "the Chance jail card", CHEST_GOOD: "the Community Chest jail card",
}  # fmt: skip
_PIECES: Final = {HOUSE_LOT: "a house", HOTEL_LOT: "a hotel"}
_NO_POT: Final = number("free_parking_pot", "none")


def joined(parts: Sequence[str]) -> str:
    """A list in words: `a, b and c`."""
    return " and ".join(part for part in (", ".join(parts[:-1]), *parts[-1:]) if part)


def lot_name(game: Game, lot: int) -> str:
    """A lot by its name on the game's board; in an auction also a house or a hotel."""
    return _PIECES.get(lot) or LOT_NAME[int(game.rules.board)][lot]


def goods(game: Game, bits: int, dollars: int = 0) -> str:
    """Lots, jail cards and cash by name: `Park Place and $100`; `nothing` if there are none."""
    names = [lot_name(game, lot) for lot in range(NUM_LOTS) if int(bits) >> lot & 1]
    names += [card for good, card in JAIL_CARDS.items() if int(bits) >> good & 1]
    return joined(names + [f"${dollars:,}"] * (dollars > 0)) or "nothing"


def debt(game: Game, dollars: int, creditor: int, names: Names) -> str:
    """A sum and its payee: `$50 to the bank`."""
    return f"${dollars:,} to {payee(game, creditor, names)}"


def payee(game: Game, creditor: int, names: Names) -> str:
    """The receiver of a payment."""
    if creditor >= 0:
        return names[creditor]
    if creditor == POT and game.rules.free_parking_pot != _NO_POT:
        return "Free Parking"
    return "the others" if creditor == ALL_OTHERS else "the bank"


def subject(game: Game, names: Names) -> str:
    """A sentence on the lot, auction, offer or debt of the open decision; empty for others."""
    name = DECISION_NAMES[game.decision]
    return _SUBJECTS[name](game, names) if name in _SUBJECTS else ""


def _first(game: Game) -> int:
    """The first argument of the open question."""
    return int(game.agenda[game.depth - 1, 2])


def _sale(game: Game, _: Names) -> str:
    lot = _first(game)
    return f"{lot_name(game, lot)} is for sale at ${PRICE[game.rules.board, lot]}."


def _auction(game: Game, names: Names) -> str:
    bid = "no bid yet"
    if game.auction_leader != NOBODY:
        bid = f"{names[game.auction_leader]} has bid ${game.auction_bid:,}"
    return f"Auction of {lot_name(game, int(game.auction_lot))}: {bid}."


def _sealed_auction(game: Game, names: Names) -> str:
    name, written = names[game.player], int(game.sealed[game.player])
    state = f"the maximum of {name} is ${written:,} so far"
    if not written:
        state = f"{name} writes a sealed bid"
    return f"Auction of {lot_name(game, int(game.auction_lot))}: {state}."


def _piece(game: Game, names: Names) -> str:
    return f"{names[game.player]} has won {lot_name(game, _first(game))} at auction."


def _offer(game: Game, names: Names) -> str:
    """The offer, complete or half composed."""
    cash = int(game.offer_cash)
    given, asked = goods(game, game.offer_give, cash), goods(game, game.offer_ask, -cash)
    counter = ", a counter-offer" if game.offer_counter else ""
    so_far = ", so far" if DECISION_NAMES[game.decision] in OFFER_STEPS else ""
    maker, partner = names[game.offer_from], names[game.offer_to]
    return f"{maker} offers {partner} {given} for {asked}{counter}{so_far}."


def _owed(game: Game, names: Names) -> str:
    first, creditor = (int(word) for word in game.agenda[game.depth - 1, 2:])
    return f"{names[game.player]} owes {debt(game, first, creditor, names)}."


def _fine(game: Game, _: Names) -> str:
    return f"The fine is ${_first(game):,}."


def _takeover(game: Game, _: Names) -> str:
    return f"{lot_name(game, _first(game))} is mortgaged."


_SUBJECTS: Final[dict[str, Callable[[Game, Names], str]]] = {
    "buy": _sale, "bid": _auction, "sealed_bid": _sealed_auction, "place": _piece, "reply": _offer,
    "debt": _owed,
    "fine_or_chance": _fine, "takeover": _takeover, **dict.fromkeys(OFFER_STEPS, _offer),
}  # fmt: skip
