"""The rewards of annex A of Ocnaru's thesis (Bucharest, 2025) for decisions of its seven networks.

A reward is a function of the state before and after a decision, both `Quantities`, and of whether
the network acted (paid, used a card, sold ...). `variant="thesis"` is the annex,
`variant="program"` the published program, whose terms differ. With W for worth and C for cash
before, W' and C' after, dW = clip((W' - W) / 200, -1, 1).

The annex leaves thresholds and moments open. Our choices, where the program does not answer:

- A purchase or a house pays off only in rents, so W' is read later than all other quantities, which
  are those right after the decision: when the player's next turn begins (`round`), or when the same
  network is next asked (`asked`); at the latest when the game ends. With `asked`, which is closer
  to the program, a player that declines lots is asked more often and paid more often.
- Worth is cash, printed prices of lots, the mortgaged ones at half, and purchase prices of the
  player's own buildings.
- Buildings are counted as the rules of the thesis build them, in whole groups: a level of a group
  is one house.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from monopoly_env.core import check_ranges
from monopoly_env.engine.building import COLOURS, lowest_level
from monopoly_env.engine.players import buildings_worth
from monopoly_env.engine.rent import ordinary_rent
from monopoly_env.engine.sets import has, size
from monopoly_env.errors import ConfigurationError, nearest
from monopoly_env.facts.board import (
    GROUP_LOTS,
    GROUP_OF,
    HOTEL,
    MORTGAGE,
    NUM_LOTS,
    NUM_SQUARES,
    PRICE,
    RAILROADS,
    SQUARE_LOT,
    UTILITIES,
)
from monopoly_env.facts.board import GROUPS as GROUP_NAMES
from monopoly_env.game import Game, Games
from monopoly_env.kernels import entry, kernel
from monopoly_env.kernels.signatures import Array1, Array2

Variant: TypeAlias = Literal["thesis", "program"]
Moment: TypeAlias = Literal["round", "asked"]
Values: TypeAlias = NDArray[np.float64]

VARIANTS: Final = ("thesis", "program")
SCALE: Final = 200.0  # dollars of worth that count as 1

# dollars of cash, thresholds of the program
_EMERGENCY, _LOW, _MIDDLE, _RICH = 200.0, 300.0, 500.0, 800.0
_DANGEROUS: Final = 0.6
_ILLIQUID: Final = 0.1  # share of cash in worth
_AVERAGE_THROW: Final = 7
# chances of a throw of two dice
_THROWS: Final = np.array([0, 0, 1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1]) / 36
_AHEAD: Final = 10  # squares that the program looks ahead
_EYED: Final = tuple(GROUP_NAMES.index(name) for name in ("orange", "red"))
_DEAR: Final = tuple(GROUP_NAMES.index(name) for name in ("green", "dark_blue"))


class Quantities(NamedTuple):
    """The quantities of a game that rewards read, for one player: (N,) float64 each.

    Attributes:
        worth: Dollars: cash, lots (mortgaged ones at half), own buildings.
        cash: Dollars.
        monopolies: Complete colour groups.
        whole: Complete colour groups without a mortgage.
        houses: Levels of the own groups, at most four in each.
        hotels: Own groups with hotels.
        eyed_levels: Levels of orange and red; a hotel is the fifth.
        dear_levels: Levels of green and dark blue.
        eyed_lots: Own lots of orange and red without a mortgage.
        dear_lots: Own lots of green and dark blue without a mortgage.
        railroads: Own railroads without a mortgage.
        utilities: Own utilities without a mortgage.
        income: Dollars: of own lots without a mortgage, a tenth of a street's rent, 0.08 of a
            railroad's, 1.75 of a utility.
        cards: Jail cards.
        danger: D = sum over throws k = 2..12 of P(k) min(rent_k / C, 1), from the player's square;
            rents of lots that owe one, a utility's at a throw of seven.
        flat_danger: The program's: the mean over the next ten squares of min(rent / C, 1), by flat
            rents of 100 for a street, 100 for a railroad, 70 for a utility.
    """

    worth: Values
    cash: Values
    monopolies: Values
    whole: Values
    houses: Values
    hotels: Values
    eyed_levels: Values
    dear_levels: Values
    eyed_lots: Values
    dear_lots: Values
    railroads: Values
    utilities: Values
    income: Values
    cards: Values
    danger: Values
    flat_danger: Values

    @classmethod
    def of_rows(cls, rows: Values) -> Quantities:
        """From (N, `NUM_QUANTITIES`) as `write_quantities` fills them."""
        return cls(*rows.T)

    @property
    def liquidity(self) -> Values:
        """Cash as a share of worth; a worth below a dollar counts as one."""
        return self.cash / np.maximum(self.worth, 1.0)


NUM_QUANTITIES: Final = len(Quantities._fields)
(
    WORTH, CASH, MONOPOLIES, WHOLE, HOUSES, HOTELS, EYED_LEVELS, DEAR_LEVELS, EYED_LOTS, DEAR_LOTS,
    OWN_RAILROADS, OWN_UTILITIES, INCOME,
    CARDS, DANGER, FLAT_DANGER,
) = range(NUM_QUANTITIES)  # fmt: skip


# --- the annex


def worth_gained(before: Quantities, after: Quantities) -> Values:
    """DW = clip((W' - W) / 200, -1, 1), the term that all heads share."""
    return np.clip((after.worth - before.worth) / SCALE, -1.0, 1.0)


def buy(
    before: Quantities, after: Quantities, acted: NDArray[np.bool_], variant: Variant = "thesis"
) -> Values:
    """DW + 0.3 if there are more complete groups."""
    return worth_gained(before, after) + 0.3 * (after.monopolies > before.monopolies)


def upgrade(
    before: Quantities, after: Quantities, acted: NDArray[np.bool_], variant: Variant = "thesis"
) -> Values:
    """1.5 dW + 0.15 levels of houses gained + 0.3 groups with hotels gained - 0.2 if C'/W' < 0.1.

    The step to a hotel is no level of houses. Program: the last term only if C'/W' fell as well.
    C'/W' is that at once after building: a building bought at its price leaves the worth as it was.
    """
    liquidity = after.cash / np.maximum(before.worth, 1.0)
    illiquid = liquidity < _ILLIQUID
    if variant == "program":
        illiquid &= liquidity < before.liquidity
    built = 0.15 * (after.houses - before.houses) + 0.3 * (after.hotels - before.hotels)
    return 1.5 * worth_gained(before, after) + built - 0.2 * illiquid


def downgrade(
    before: Quantities, after: Quantities, acted: NDArray[np.bool_], variant: Variant = "thesis"
) -> Values:
    """0.8 dW; of a sale also emergency + min((C' - C) / 500, 0.2) - 0.1 a valuable group hit.

    Emergency: 0.3 for C < 200, 0.15 for C < 500, else -0.1. Valuable: orange and red. Program: the
    cash only if more than 100 came in; -0.08 for green and dark blue; 0.2 if C/W rose from below
    0.15.
    """
    raised = after.cash - before.cash
    urgency = np.select([before.cash < _EMERGENCY, before.cash < _MIDDLE], [0.3, 0.15], -0.1)
    cash = np.minimum(raised / 500.0, 0.2)
    hits = -0.1 * np.maximum(before.eyed_levels - after.eyed_levels, 0.0)
    if variant == "program":
        cash = np.where(raised > 100.0, cash, 0.0)
        hits -= 0.08 * np.maximum(before.dear_levels - after.dear_levels, 0.0)
        relieved = after.cash / np.maximum(before.worth, 1.0) > before.liquidity
        hits += 0.2 * (relieved & (before.liquidity < 0.15))
    return 0.8 * worth_gained(before, after) + np.where(acted, urgency + cash + hits, 0.0)


def fine(
    before: Quantities, after: Quantities, acted: NDArray[np.bool_], variant: Variant = "thesis"
) -> Values:
    """DW + payment + 0.2 if paid and W' > W + danger.

    Payment: paid 0.1 for C > 500, else -0.1; stayed 0.15 for C < 300, -0.1 for C > 800. Danger:
    beyond 0.6, staying 0.1, paying -0.1; the annex goes by the dice (`danger`), the program by flat
    rents (`flat_danger`).
    """
    paid = np.where(before.cash > _MIDDLE, 0.1, -0.1)
    stayed = np.select([before.cash < _LOW, before.cash > _RICH], [0.15, -0.1], 0.0)
    danger = before.danger if variant == "thesis" else before.flat_danger
    profitable = 0.2 * (after.worth > before.worth)
    shy = np.where(danger > _DANGEROUS, 0.1, 0.0)
    return worth_gained(before, after) + np.where(acted, paid + profitable - shy, stayed + shy)


def card(
    before: Quantities, after: Quantities, acted: NDArray[np.bool_], variant: Variant = "thesis"
) -> Values:
    """DW, and what a card that is used or kept earns.

    Used: 0.05 with another card to spare, else 0.15 if W' - W > 50, else -0.05; and 0.2 for C <
    300. Kept with one to spare: -0.05. Program: used, 0.1 if W' > W; kept, 0.1 if the danger by
    flat rents is beyond 0.6, whatever is to spare.
    """
    spare = before.cards > 1
    gained = after.worth - before.worth
    used = np.select([spare, gained > 50.0], [0.05, 0.15], -0.05) + 0.2 * (before.cash < _LOW)
    kept = np.where(spare, -0.05, 0.0)
    if variant == "program":
        used = used + 0.1 * (gained > 0)
        kept = np.where(before.flat_danger > _DANGEROUS, 0.1, kept)
    return worth_gained(before, after) + np.where(acted, used, kept)


def mortgage(
    before: Quantities, after: Quantities, acted: NDArray[np.bool_], variant: Variant = "thesis"
) -> Values:
    """DW: the annex does not mention this head, and the program has no other term."""
    return worth_gained(before, after)


def unmortgage(
    before: Quantities, after: Quantities, acted: NDArray[np.bool_], variant: Variant = "thesis"
) -> Values:
    """1.1 dW; of a lifted mortgage also cash, value, 0.25 a group whole again, income.

    Income: min(gained / 50, 0.2). Cash: 0.3 for C > 800, 0.2 for C > 500, 0.1 for C > 300, else
    -0.1. Value of each lot: 0.12 orange or red, 0.1 green or dark blue. Program: also 0.08 for a
    railroad and 0.05 for a utility; -0.15 if more than 60% of the cash is spent, -0.08 beyond 40%;
    0.1 if C' > 500, -0.2 if C' < 200.
    """
    rich = np.select(
        [before.cash > _RICH, before.cash > _MIDDLE, before.cash > _LOW], [0.3, 0.2, 0.1], -0.1
    )
    value = 0.12 * (after.eyed_lots - before.eyed_lots) + 0.1 * (after.dear_lots - before.dear_lots)
    income = np.minimum((after.income - before.income) / 50.0, 0.2)
    value = value + 0.25 * (after.whole - before.whole) + income
    if variant == "program":
        spent = (before.cash - after.cash) / np.maximum(before.cash, 1.0)
        utilities = 0.05 * (after.utilities - before.utilities)
        value += 0.08 * (after.railroads - before.railroads) + utilities
        value += np.select([spent > 0.6, spent > 0.4], [-0.15, -0.08], 0.0)
        value += np.select([after.cash > _MIDDLE, after.cash < _EMERGENCY], [0.1, -0.2], 0.0)
    return 1.1 * worth_gained(before, after) + np.where(acted, rich + value, 0.0)


def terminal(won: NDArray[np.bool_], bankrupt: NDArray[np.bool_]) -> Values:
    """Pay for the last decision beside its reward: 1 won, -1 bankrupt, 0 lost at the cap."""
    return np.where(won, 1.0, np.where(bankrupt, -1.0, 0.0))


Rule: TypeAlias = Callable[[Quantities, Quantities, NDArray[np.bool_], Variant], Values]

# By the networks of `agents.networks.ocnaru`.
REWARDS: Final[dict[str, Rule]] = {
    rule.__name__: rule for rule in (buy, upgrade, downgrade, mortgage, unmortgage, fine, card)
}


def reward(
    head: str, before: Quantities, after: Quantities, acted: NDArray[np.bool_],
    variant: Variant = "thesis",
) -> Values:  # fmt: skip
    """The rewards (N,) of a head by name.

    Raises:
        ConfigurationError: An unknown head or variant.
    """
    if head not in REWARDS:
        raise ConfigurationError(f"Unknown head {head!r}. {nearest(head, REWARDS)}")
    if variant not in VARIANTS:
        raise ConfigurationError(f"Unknown variant {variant!r}. {nearest(variant, VARIANTS)}")
    return REWARDS[head](before, after, acted, variant)


# --- reading them from games


def read(games: Games, seats: NDArray[np.int64]) -> Quantities:
    """The quantities of the (N,) `seats` of N records, one each.

    Raises:
        ConfigurationError: Not one valid seat for each game.
        PositionError: A number of a record is out of its range.
    """
    games, numbers = check_ranges(games), np.require(seats, np.int64, ("C", "A", "W"))
    if numbers.shape != (len(games),) or ((numbers < 0) | (numbers >= games["num_players"])).any():
        raise ConfigurationError(
            f"Seats must be {len(games)} numbers, each a seat of its game, not {seats!r:.80}."
        )
    rows = np.zeros((len(games), NUM_QUANTITIES))
    _write_all(games, numbers, rows)
    return Quantities.of_rows(rows)


@entry
def _write_all(games: Games, seats: Array1[np.int64], rows: Array2[np.float64]) -> None:
    for i in range(len(games)):
        write_quantities(games[i], seats[i], rows[i])


@kernel
def own_worth(game: Game, seat: int) -> float:
    """Cash, lots (mortgaged ones at half) and own buildings of a seat, in dollars."""
    board, worth = int(game.rules.board), int(game.cash[seat])
    for lot in range(NUM_LOTS):
        if has(game.lots[seat], lot):
            worth += (
                int(MORTGAGE[board, lot]) if has(game.mortgaged, lot) else int(PRICE[board, lot])
            )
    return float(worth + buildings_worth(game, seat))


@kernel
def write_quantities(game: Game, seat: int, row: Any) -> None:
    """Fill a row of `NUM_QUANTITIES` float64, in the order of `Quantities`."""
    row[:] = 0.0
    row[WORTH] = own_worth(game, seat)
    row[CASH] = int(game.cash[seat])
    row[CARDS] = size(game.jail_cards[seat])
    for group in range(COLOURS):
        _write_group(game, seat, group, row)
    _write_lots(game, seat, row)
    _write_danger(game, seat, row)


@kernel
def _write_group(game: Game, seat: int, group: int, row: Any) -> None:
    members = int(GROUP_LOTS[group])
    if int(game.lots[seat]) & members != members:
        return
    level = lowest_level(game, group)
    row[MONOPOLIES] += 1.0
    row[WHOLE] += 1.0 if int(game.mortgaged) & members == 0 else 0.0
    row[HOUSES] += min(level, HOTEL - 1)
    row[HOTELS] += 1.0 if level == HOTEL else 0.0
    if group == _EYED[0] or group == _EYED[1]:
        row[EYED_LEVELS] += level
    elif group == _DEAR[0] or group == _DEAR[1]:
        row[DEAR_LEVELS] += level


@kernel
def _write_lots(game: Game, seat: int, row: Any) -> None:
    for lot in range(NUM_LOTS):
        if not has(game.lots[seat], lot) or has(game.mortgaged, lot):
            continue
        group = int(GROUP_OF[lot])
        if group == UTILITIES:
            row[OWN_UTILITIES] += 1.0
            row[INCOME] += 1.75
        elif group == RAILROADS:
            row[OWN_RAILROADS] += 1.0
            row[INCOME] += 0.08 * ordinary_rent(game, seat, lot, _AVERAGE_THROW)
        else:
            row[INCOME] += 0.1 * ordinary_rent(game, seat, lot, _AVERAGE_THROW)
        if group == _EYED[0] or group == _EYED[1]:
            row[EYED_LOTS] += 1.0
        elif group == _DEAR[0] or group == _DEAR[1]:
            row[DEAR_LOTS] += 1.0


@kernel
def _write_danger(game: Game, seat: int, row: Any) -> None:
    cash, board = max(1.0, float(game.cash[seat])), int(game.rules.board)
    for steps in range(1, 13):
        lot = int(SQUARE_LOT[board, (int(game.position[seat]) + steps) % NUM_SQUARES])
        owner = -1
        if lot >= 0 and not has(game.mortgaged, lot):
            for other in range(game.num_players):
                if other != seat and has(game.lots[other], lot):
                    owner = other
        if owner >= 0:
            row[DANGER] += _THROWS[steps] * min(
                ordinary_rent(game, owner, lot, _AVERAGE_THROW) / cash, 1.0
            )
            if steps <= _AHEAD:
                flat = 70.0 if GROUP_OF[lot] == UTILITIES else 100.0
                row[FLAT_DANGER] += min(flat / cash, 1.0) / _AHEAD
