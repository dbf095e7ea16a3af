"""Every constant of `expert`, with its reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from agents.players.vocabulary.parameters import Parameters, parameter


@dataclass(frozen=True)
class Expert(Parameters):
    """Parameters of the policy, all of which can be tuned."""

    # What things are worth.
    horizon: float = parameter(60, 1, 200, "rounds")
    """turns of a single opponent whose rents count: about the rest of a game of two"""
    crowd: float = parameter(0.45, 0, 2, "ratio")
    """power of the number of opponents that multiplies it: more visitors, but a shorter game"""
    top: float = parameter(3, 0, 5, "count")
    """most houses on each street that a group's worth assumes: the third pays best"""
    deed: float = parameter(0.6, 0, 3, "share")
    """worth of any lot in list prices: half can be borrowed on it, the rest is hope"""
    third: float = parameter(0.05, 0, 1, "share")
    """share of a group's worth that one of three lots has: two more must be found"""
    half: float = parameter(0.16, 0, 1, "share")
    """the same for one of two"""
    two_thirds: float = parameter(0.29, 0, 1, "share")
    """the same for two of three: one trade away"""
    held: float = parameter(0.4, 0, 2, "ratio")
    """factor on these shares if another player owns a missing lot: it will be expensive"""
    rails: float = parameter(0.15, 0, 1, "share")
    """of what one more railroad or utility would add, counted in advance: it may be found"""
    prospects: float = parameter(370, 0, 5000, "dollars")
    """added to the cash that could go into houses: what the next rounds bring"""
    keep: float = parameter(245, 0, 2000, "dollars")
    """cash that is not counted as money for houses"""
    contrast: float = parameter(2, 0.1, 10, "ratio")
    """players win in proportion to this power of strength: above 1, the leader has more weight"""
    # Money.
    cheap: float = parameter(0.2, 0, 5, "ratio")
    """loss per dollar that mortgages of single lots must raise: interest, and a little rent"""
    dear: float = parameter(1.2, 0, 5, "ratio")
    """loss per dollar that houses must raise: they sell for half, and their rent is gone"""
    ruin: float = parameter(1.0, 0, 10, "ratio")
    """loss, in the player's strength, if nothing can raise the sum: the game is over"""
    missed: float = parameter(0.1, 0, 5, "ratio")
    """loss per dollar missing for a lot that could be bought on the next throw"""
    counted: float = parameter(0.3, 0, 2, "share")
    """of the rents expected before the player's next throw, counted as cash when building"""
    lift: float = parameter(15, 0, 200, "rounds")
    """turns of each opponent within which lifting a mortgage must earn back its interest"""
    # Buildings.
    patience: float = parameter(3, 0, 20, "ratio")
    """how many times the next round's rent a house may cost in risk: it stays for later rounds"""
    partly: float = parameter(0.7, 0, 1, "share")
    """of its part of the gain that a level brings if not all of it can be paid: the last house
    brings most"""
    scarce: float = parameter(8, 0, 32, "count")
    """houses that must be in the bank for building hotels while a rival lacks houses"""
    piece: float = parameter(1.5, 0, 10, "ratio")
    """highest bid for a scarce building, in list prices"""
    # Auctions and jail.
    eager: float = parameter(1, 0.1, 5, "ratio")
    """limit up to which a lot is bought and bid for, as a multiple of its worth"""
    thrift: float = parameter(1.1, 0, 10, "share")
    """of a list price; a lot is left to an auction if nobody else has that much cash"""
    pawned: float = parameter(0.5, 0, 1, "share")
    """of what mortgages of single lots bring, counted as money for a bid"""
    step: float = parameter(0.15, 0.01, 1, "share")
    """of the room below its limit that a bid takes: small steps win cheaply"""
    motion: float = parameter(35, 0, 500, "dollars")
    """earnings of a throw: salary and cards"""
    bargain: float = parameter(0.5, 0, 5, "share")
    """of an unowned lot's list price, its worth to a player that may leave jail and land on it"""
    fine: float = parameter(0.5, 0, 2, "share")
    """of the jail fine that waiting saves: often it falls due in the end"""
    # Trades.
    margin: float = parameter(0.04, 0, 1, "share")
    """least relative rise of the player's share of all strength by a good trade"""
    naive: float = parameter(0.8, 0.01, 0.99, "share")
    """chance that an unknown partner goes by list prices: its answers soon tell"""
    markup: float = parameter(1.1, 0, 10, "ratio")
    """list prices that such a partner wants for a plain lot"""
    closing: float = parameter(2.2, 0, 20, "ratio")
    """list prices that it pays or wants for a lot that closes a group"""
    greed: float = parameter(0.4, -1, 3, "ratio")
    """how far below its limit the first offer goes, in list prices of the package"""
    bolder: float = parameter(0.5, 0, 2, "ratio")
    """increase of `greed` after an acceptance"""
    milder: float = parameter(0.15, 0, 2, "ratio")
    """decrease of `greed` after a refusal"""
    doubt: float = parameter(0.2, 0.01, 5, "ratio")
    """uncertainty of the limit of a partner that judges like this policy, in values at stake"""
    unsure: float = parameter(0.25, 0.01, 5, "ratio")
    """the same for one that goes by list prices, in list prices of the package"""
    haste: float = parameter(1.0, -5, 5, "ratio")
    """uncertainties above the estimated limit that are offered: a turn allows few offers"""
    least: float = parameter(0.05, 0, 1, "share")
    """chance of acceptance below which no offer is made"""
    purse: float = parameter(0.2, 0, 1, "share")
    """of the cash, at most offered: what is bought must be built on"""
    tiring: float = parameter(4, 0.1, 1000, "count")
    """refusals in a row that make the pause twice as long: the answer would be the same"""
    pause: float = parameter(4, 1, 100, "rounds")
    """between two searches for a trade with a partner while no new group can be closed with it"""


AT: Final = Expert.columns()
NAMES: Final[tuple[str, ...]] = AT._fields
