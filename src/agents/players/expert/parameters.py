"""Every constant of `expert`, with its reason."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

from agents.players.vocabulary.parameters import COUNT, DOLLARS, RATIO, ROUNDS, SHARE, Parameters, parameter


@dataclass(frozen=True)
class Expert(Parameters):
    """What the policy goes by; open to tuning, a row of float64 in this order."""

    # What things are worth.
    horizon: float = parameter(60, 1, 200, ROUNDS, "turns of a single opponent whose rents count: about the rest of a game of two")
    crowd: float = parameter(0.45, 0, 2, RATIO, "power by which the number of opponents raises it: more visitors, but a shorter game")
    top: float = parameter(3, 0, 5, COUNT, "houses on each street that a group's worth assumes at most: the third pays best")
    deed: float = parameter(0.6, 0, 3, SHARE, "worth of any lot in list prices: half can be borrowed on it, the rest is hope")
    third: float = parameter(0.05, 0, 1, SHARE, "share of a group's worth that one of three lots has: two more must be found")
    half: float = parameter(0.16, 0, 1, SHARE, "the same for one of two")
    two_thirds: float = parameter(0.29, 0, 1, SHARE, "the same for two of three: one trade away")
    held: float = parameter(0.4, 0, 2, RATIO, "factor on these where another player holds a missing lot: it must be bought dearly")
    rails: float = parameter(0.15, 0, 1, SHARE, "of what one more railroad or utility would add that is counted already: it may be found")
    prospects: float = parameter(370, 0, 5000, DOLLARS, "added to the cash that a group's worth lets be built: what the next rounds bring")
    keep: float = parameter(245, 0, 2000, DOLLARS, "of the cash that is not counted as houses")
    contrast: float = parameter(2, 0.1, 10, RATIO, "power of strength by which players win: above 1 the leader is weighed more")
    # Money.
    cheap: float = parameter(
        0.2, 0, 5, RATIO, "loss for each dollar short that mortgages of single lots raise: interest, and a little rent"
    )
    dear: float = parameter(1.2, 0, 5, RATIO, "loss for each dollar short that houses raise: they sell for half, and their rent is gone")
    ruin: float = parameter(1.0, 0, 10, RATIO, "loss in own strengths where nothing can raise the sum: the game is over")
    missed: float = parameter(0.1, 0, 5, RATIO, "loss for each dollar short of the price of a lot that could be bought on the next throw")
    counted: float = parameter(0.3, 0, 2, SHARE, "of the rents expected before the next own throw that count as cash when building")
    lift: float = parameter(15, 0, 200, ROUNDS, "turns of each opponent within which a lifted mortgage must bring back its interest")
    # Buildings.
    patience: float = parameter(
        3, 0, 20, RATIO, "times the rent of the next round that a house may cost in risk: it stays for later rounds"
    )
    partly: float = parameter(
        0.7, 0, 1, SHARE, "of its part of the gain that a level brings if not all of it can be paid: the last house brings most"
    )
    scarce: float = parameter(8, 0, 32, COUNT, "houses in the bank from which on hotels are built although a rival lacks houses")
    piece: float = parameter(1.5, 0, 10, RATIO, "highest bid for a scarce building, in list prices")
    # Auctions and jail.
    eager: float = parameter(1, 0.1, 5, RATIO, "of the worth of a lot, the limit for which it is bought and bid for")
    thrift: float = parameter(1.1, 0, 10, SHARE, "of a list price: if nobody else has so much cash, an auction costs less")
    pawned: float = parameter(0.5, 0, 1, SHARE, "of what mortgages of single lots bring that a bid may count on")
    step: float = parameter(0.15, 0.01, 1, SHARE, "of the room below its limit that a bid takes: small steps win cheaply")
    motion: float = parameter(35, 0, 500, DOLLARS, "what a throw earns a player on the move: salary and cards")
    bargain: float = parameter(
        0.5, 0, 5, SHARE, "of the list price of an unowned lot that coming to it is worth, in deciding to leave jail"
    )
    fine: float = parameter(0.5, 0, 2, SHARE, "of the jail fine that waiting saves: often enough it falls due in the end")
    # Trades.
    margin: float = parameter(0.04, 0, 1, SHARE, "rise of the own share of all strength, relative, from which on a trade is good")
    naive: float = parameter(0.8, 0.01, 0.99, SHARE, "chance that an unknown partner goes by list prices: answers soon tell")
    markup: float = parameter(1.1, 0, 10, RATIO, "list prices that such a partner wants for a plain lot")
    closing: float = parameter(2.2, 0, 20, RATIO, "list prices that he pays or wants for a lot that closes a group")
    greed: float = parameter(0.4, -1, 3, RATIO, "how far below his limit the first offer goes, in list prices of the package")
    bolder: float = parameter(0.5, 0, 2, RATIO, "an acceptance raises that by this")
    milder: float = parameter(0.15, 0, 2, RATIO, "a refusal lowers it by this")
    doubt: float = parameter(0.2, 0.01, 5, RATIO, "uncertainty of the limit of a partner who judges as we do, in values at stake")
    unsure: float = parameter(0.25, 0.01, 5, RATIO, "the same of one who goes by list prices, in list prices of the package")
    haste: float = parameter(
        1.0, -5, 5, RATIO, "uncertainties above the estimated limit that are offered: few offers are allowed in a turn"
    )
    least: float = parameter(0.05, 0, 1, SHARE, "chance of acceptance below which nothing is offered")
    purse: float = parameter(0.2, 0, 1, SHARE, "of the cash that may be offered: what is bought must be built on")
    tiring: float = parameter(4, 0.1, 1000, COUNT, "refusals in a row that make the pause twice as long: the answer would be the same")
    pause: float = parameter(4, 1, 100, ROUNDS, "between two searches for a trade with a partner while no new group can be closed with him")


NAMES: Final = tuple(option.name for option in fields(Expert))
(
    HORIZON, CROWD, TOP, DEED, THIRD, HALF, TWO_THIRDS, HELD, RAILS, PROSPECTS, KEEP, CONTRAST,
    CHEAP, DEAR, RUIN, MISSED, COUNTED, LIFT,
    PATIENCE, PARTLY, SCARCE, PIECE,
    EAGER, THRIFT, PAWNED, STEP, MOTION, BARGAIN, FINE,
    MARGIN, NAIVE, MARKUP, CLOSING, GREED, BOLDER, MILDER, DOUBT, UNSURE, HASTE, LEAST, PURSE, TIRING, PAUSE,
) = range(len(NAMES))  # fmt: skip
