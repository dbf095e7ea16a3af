"""The 28 parameters of the thesis's strategic agent, its ten presets, and how two of them adapt while they play."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

import numpy as np

from agents.players.vocabulary.parameters import COUNT, DOLLARS, RATIO, SHARE, Parameters, parameter, switch

_UNREAD: Final = "the published program never reads it; with `complete`: "

FIXED, LATE, DYNAMIC = range(3)  # what `adaptation` may be


@dataclass(frozen=True)
class Strategic(Parameters):
    """What the agent goes by, in the order of the thesis. Ranges are those of its random search, widened where a preset lies outside."""

    MODES = ("adaptation",)

    min_cash_reserve: float = parameter(150, 50, 500, DOLLARS, "kept when buying, building, lifting and trading: below it he sells")
    property_value_multiplier: float = parameter(1.2, 0.8, 2, RATIO, "after the early game a lot is bought if it is worth this many prices")
    complete_set_bonus: float = parameter(0.4, 0.1, 1, SHARE, "added to the value of a street for a complete group, or for its owned share")
    railway_value_multiplier: float = parameter(1.3, 0.8, 2, RATIO, "times price and ten rents: the value of a railroad")
    utility_value_multiplier: float = parameter(1.1, 0.7, 2, RATIO, "times price and eight rents: the value of a utility")
    first_property_eagerness: float = parameter(0.8, 0.3, 1, RATIO, "times the value of a street of whose group none is owned")
    min_cash_for_houses: float = parameter(400, 150, 800, DOLLARS, "cash below which nothing is built")
    house_build_threshold: float = parameter(
        0.15, 0.05, 0.4, SHARE, _UNREAD + "a level of a group is built only if it costs less than this share of the total worth"
    )
    min_houses_before_hotel: float = parameter(
        3, 1, 4, COUNT, _UNREAD + "no hotel while another complete group has fewer houses on its streets"
    )
    hotel_roi_threshold: float = parameter(1.4, 0.8, 2, RATIO, "rent that a hotel must add for each dollar of its price")
    mortgage_emergency_threshold: float = parameter(150, 50, 300, DOLLARS, "cash below which he sells and mortgages whatever it takes")
    mortgage_property_threshold: float = parameter(
        0.7, 0.4, 0.9, RATIO, "outside an emergency only what scores at most this many averages is sold or mortgaged"
    )
    unmortgage_threshold: float = parameter(500, 200, 1000, DOLLARS, "cash from which on mortgages are lifted")
    unmortgage_roi_threshold: float = parameter(1.2, 0.8, 1.8, RATIO, "value that a lifted lot must have for each dollar of the lifting")
    trade_eagerness: float = parameter(0.5, 0.1, 1, SHARE, "a tenth of what it exceeds one half by is added to the score of an offer")
    trade_profit_threshold: float = parameter(
        1.2, 0.8, 1.8, RATIO, _UNREAD + "an offer is made only if what it brings is worth this many times what it costs"
    )
    trade_monopoly_bonus: float = parameter(
        300, 100, 800, DOLLARS, _UNREAD + "worth of completing or keeping a group in a trade; the trade rules of May read it too"
    )
    jail_stay_threshold: float = parameter(0.6, 0.2, 0.9, RATIO, "danger from which on the fine is not paid")
    use_jail_card_threshold: float = parameter(0.4, 0.1, 0.8, RATIO, "danger from which on a jail card is not used")
    bankruptcy_mortgage_first: bool = switch(True, "a debtor mortgages before he sells buildings")
    bankruptcy_property_value_weight: float = parameter(
        1.3, 0.8, 2, RATIO, _UNREAD + "power of a lot's value in the order of a debtor's mortgages: dear lots go later"
    )
    bankruptcy_group_completion_weight: float = parameter(1.5, 0.8, 2.5, RATIO, "times the value of a street of a complete group in it")
    early_game_turns: float = parameter(15, 5, 30, COUNT, "rounds of purchases in which every lot is bought that leaves the reserve")
    orange_red_property_bonus: float = parameter(1.2, 0.8, 1.8, RATIO, "times the value of orange and red streets")
    green_blue_property_bonus: float = parameter(1.1, 0.8, 1.6, RATIO, "times the value of green and dark blue streets")
    jail_adjacent_bonus: float = parameter(1.15, 0.9, 1.5, RATIO, "times the value of streets six to nine squares past jail")
    risk_tolerance: float = parameter(
        0.6, 0.2, 1, SHARE, _UNREAD + "1 less this share of the highest rent on the board is kept as well when buying, building and lifting"
    )
    danger_zone_weight: float = parameter(1.2, 0.8, 2, RATIO, "times the danger of squares six to nine past jail")
    complete: bool = switch(
        False, "the six parameters that the published program never reads get a meaning, and offers put their money on the right side"
    )
    legacy_trades: bool = switch(False, "trades by the program as it stood in May 2025, with which the thesis's figures were made")
    adaptation: float = parameter(
        0, 0, 2, COUNT, "how parameters change during a game: 0 not at all, 1 as late_game, 2 as adaptive (see `ADJUSTMENTS`)"
    )
    legacy_debts: bool = switch(
        False, "gives up every debt above the cash in hand where the rules let it: the program of May 2025 has no rescue"
    )


(
    RESERVE, VALUE_MULTIPLIER, SET_BONUS, RAILWAY, UTILITY, EAGERNESS, HOUSE_CASH, BUILD_SHARE, HOUSES_FIRST, HOTEL_ROI, EMERGENCY,
    SELL_BELOW, LIFT_CASH, LIFT_ROI, TRADE_EAGERNESS, TRADE_PROFIT, MONOPOLY_BONUS, JAIL_STAY, JAIL_CARD, MORTGAGE_FIRST, VALUE_WEIGHT,
    GROUP_WEIGHT, EARLY, ORANGE_RED, GREEN_BLUE, PAST_JAIL, RISK, DANGER_WEIGHT, COMPLETE, LEGACY, ADAPTATION, LEGACY_DEBTS,
) = range(32)  # fmt: skip
NUM_PARAMETERS: Final = len(fields(Strategic))

# Conditions of an adjustment.
ALWAYS, AHEAD, BEHIND, MORE_BUILT, LESS_BUILT = range(5)

# An adjustment: whose it is, the rounds of purchases in which it is made (first, last), on what condition, which parameter it sets
# to what. It is looked at whenever values are asked for, and what it sets stays set. Fewer than 16 rounds can pass with 28 lots, so
# those after 20 and 25 never come.
_NEVER_ENDS: Final = 99
ADJUSTMENTS: Final = np.array(
    [
        (LATE, 21, _NEVER_ENDS, ALWAYS, HOUSE_CASH, 250),
        (LATE, 21, _NEVER_ENDS, ALWAYS, BUILD_SHARE, 0.2),
        (LATE, 21, _NEVER_ENDS, ALWAYS, HOTEL_ROI, 1.2),
        (LATE, 21, _NEVER_ENDS, ALWAYS, JAIL_STAY, 0.4),
        (LATE, 11, 20, ALWAYS, HOUSE_CASH, 450),
        (LATE, 11, 20, ALWAYS, BUILD_SHARE, 0.15),
        (LATE, 11, 20, ALWAYS, JAIL_STAY, 0.6),
        (DYNAMIC, 0, 10, ALWAYS, VALUE_MULTIPLIER, 1.1),
        (DYNAMIC, 0, 10, ALWAYS, RESERVE, 150),
        (DYNAMIC, 0, 10, ALWAYS, TRADE_EAGERNESS, 0.7),
        (DYNAMIC, 11, 25, AHEAD, HOUSE_CASH, 350),
        (DYNAMIC, 11, 25, AHEAD, BUILD_SHARE, 0.18),
        (DYNAMIC, 11, 25, BEHIND, TRADE_EAGERNESS, 0.9),
        (DYNAMIC, 11, 25, BEHIND, TRADE_PROFIT, 1.0),
        (DYNAMIC, 26, _NEVER_ENDS, MORE_BUILT, RESERVE, 250),
        (DYNAMIC, 26, _NEVER_ENDS, MORE_BUILT, HOTEL_ROI, 1.2),
        (DYNAMIC, 26, _NEVER_ENDS, LESS_BUILT, ORANGE_RED, 1.5),
        (DYNAMIC, 26, _NEVER_ENDS, LESS_BUILT, PAST_JAIL, 1.4),
    ],
    np.float64,
)

# What differs from the defaults, by our names; the thesis's names stand beside them.
PRESETS: Final[dict[str, dict[str, float]]] = {
    "default": {},  # StrategicAgent
    "aggressive": {  # AggressiveInvestor
        "min_cash_reserve": 100, "property_value_multiplier": 1.0, "first_property_eagerness": 1.0, "min_cash_for_houses": 250,
        "house_build_threshold": 0.25, "jail_stay_threshold": 0.3, "use_jail_card_threshold": 0.2, "risk_tolerance": 0.9,
    },
    "cautious": {  # CautiousAccumulator
        "min_cash_reserve": 300, "property_value_multiplier": 1.4, "first_property_eagerness": 0.6, "min_cash_for_houses": 600,
        "house_build_threshold": 0.1, "jail_stay_threshold": 0.8, "use_jail_card_threshold": 0.7, "risk_tolerance": 0.3,
    },
    "completionist": {  # CompletionistBuilder
        "complete_set_bonus": 0.7, "first_property_eagerness": 0.9, "min_cash_for_houses": 300, "house_build_threshold": 0.2,
        "hotel_roi_threshold": 1.2, "trade_eagerness": 0.8, "trade_monopoly_bonus": 500, "mortgage_property_threshold": 0.5,
    },
    "utility_king": {  # UtilityKing
        "railway_value_multiplier": 1.7, "utility_value_multiplier": 1.5, "trade_eagerness": 0.7, "orange_red_property_bonus": 1.1,
    },
    "orange_red": {  # OrangeRedSpecialist
        "orange_red_property_bonus": 1.6, "jail_adjacent_bonus": 1.3, "min_cash_for_houses": 350, "hotel_roi_threshold": 1.3,
        "trade_eagerness": 0.7,
    },
    "late_game": {  # LateGameDeveloper
        "first_property_eagerness": 0.9, "property_value_multiplier": 1.1, "min_cash_for_houses": 650, "house_build_threshold": 0.1,
        "min_cash_reserve": 250, "unmortgage_threshold": 700, "adaptation": LATE,
    },
    "trademaster": {  # Trademaster
        "trade_eagerness": 1.0, "trade_profit_threshold": 0.9, "trade_monopoly_bonus": 600, "complete_set_bonus": 0.6,
        "min_cash_for_houses": 300, "house_build_threshold": 0.18,
    },
    "balanced": {  # BalancedAgent
        "min_cash_reserve": 180, "property_value_multiplier": 1.15, "risk_tolerance": 0.5, "orange_red_property_bonus": 1.25,
    },
    "adaptive": {"min_cash_reserve": 200, "adaptation": DYNAMIC},  # DynamicAdapter
}  # fmt: skip
