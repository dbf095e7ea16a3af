"""Every constant of `expert`, with its reason."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

from agents.scripted.parameters import COUNT, DOLLARS, RATIO, ROUNDS, SHARE, Parameters, parameter


@dataclass(frozen=True)
class Expert(Parameters):
    """What the policy goes by; open to tuning, a row of float64 in this order."""

    # What things are worth.
    horizon: float = parameter(40, 1, 200, ROUNDS, "turns of a single opponent whose rents count: about the rest of a game of two")
    crowd: float = parameter(0.3, 0, 2, RATIO, "power by which the number of opponents raises it: more visitors, but a shorter game")
    deed: float = parameter(0.7, 0, 3, SHARE, "worth of any lot in list prices: half can be borrowed on it, the rest is hope")
    third: float = parameter(0.06, 0, 1, SHARE, "share of a group's worth that one of three lots has: two more must be found")
    half: float = parameter(0.18, 0, 1, SHARE, "the same for one of two")
    two_thirds: float = parameter(0.36, 0, 1, SHARE, "the same for two of three: one trade away")
    held: float = parameter(0.6, 0, 2, RATIO, "factor on these where another player holds a missing lot: it must be bought dearly")
    prospects: float = parameter(300, 0, 5000, DOLLARS, "added to the cash that a group's worth lets be built: what the next rounds bring")
    keep: float = parameter(100, 0, 2000, DOLLARS, "of the cash that is not counted as houses")
    chip: float = parameter(0.15, 0, 2, SHARE, "of what a lot would bring an opponent whose group it completes: he has to pay for it")
    contrast: float = parameter(1.0, 0.1, 10, RATIO, "power of strength by which players win: above 1 the leader is weighed more")
    # Money.
    cheap: float = parameter(0.2, 0, 5, RATIO, "loss for each dollar short that mortgages of single lots raise: interest, and a little rent")
    dear: float = parameter(1.2, 0, 5, RATIO, "loss for each dollar short that houses raise: they sell for half, and their rent is gone")
    ruin: float = parameter(1.0, 0, 10, RATIO, "loss in own strengths where nothing can raise the sum: the game is over")
    missed: float = parameter(0.3, 0, 5, RATIO, "loss for each dollar short of the price of a lot that could be bought on the next throw")
    counted: float = parameter(0.3, 0, 2, SHARE, "of the rents expected before the next own throw that count as cash when building")
    lift: float = parameter(15, 0, 200, ROUNDS, "turns of each opponent within which a lifted mortgage must bring back its interest")
    # Buildings.
    patience: float = parameter(2, 0, 20, RATIO, "times the rent of the next round that a house may cost in risk: it stays for later rounds")
    scarce: float = parameter(8, 0, 32, COUNT, "houses in the bank from which on hotels are built although a rival lacks houses")
    piece: float = parameter(1.5, 0, 10, RATIO, "highest bid for a scarce building, in list prices")
    # Auctions and jail.
    step: float = parameter(0.25, 0.01, 1, SHARE, "of the room below its limit that a bid takes: small steps win cheaply")
    motion: float = parameter(35, 0, 500, DOLLARS, "what a throw earns a player on the move: salary and cards")
    bargain: float = parameter(0.5, 0, 5, SHARE, "of the list price of an unowned lot that coming to it is worth, in deciding to leave jail")
    fine: float = parameter(0.5, 0, 2, SHARE, "of the jail fine that waiting saves: often enough it falls due in the end")
    # Trades.
    margin: float = parameter(0.01, 0, 1, SHARE, "rise of the own share of all strength, relative, from which on a trade is good")
    greed: float = parameter(0.6, -1, 3, RATIO, "how far below a partner's estimated limit the first offer goes, in values at stake")
    bolder: float = parameter(0.15, 0, 2, RATIO, "an acceptance raises that by this")
    milder: float = parameter(0.25, 0, 2, RATIO, "a refusal lowers it by this")
    doubt: float = parameter(0.5, 0.01, 5, RATIO, "uncertainty of a partner's limit, in values at stake: what is likely accepted is offered first")
    least: float = parameter(0.15, 0, 1, SHARE, "chance of acceptance below which nothing is offered")
    pause: float = parameter(4, 0, 100, ROUNDS, "between two searches for a trade while no lot has changed hands: only cash is different then")
    split: float = parameter(0.3, 0, 1, SHARE, "of the surplus left to the partner by a counter-offer")


NAMES: Final = tuple(option.name for option in fields(Expert))
(
    HORIZON, CROWD, DEED, THIRD, HALF, TWO_THIRDS, HELD, PROSPECTS, KEEP, CHIP, CONTRAST,
    CHEAP, DEAR, RUIN, MISSED, COUNTED, LIFT,
    PATIENCE, SCARCE, PIECE,
    STEP, MOTION, BARGAIN, FINE,
    MARGIN, GREED, BOLDER, MILDER, DOUBT, LEAST, PAUSE, SPLIT,
) = range(len(NAMES))  # fmt: skip
