"""The 28 parameters of the thesis's agent, its presets, and how two of them adapt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from agents.players.vocabulary.parameters import Parameters, parameter, switch

FIXED, LATE, DYNAMIC = range(3)  # values of `adaptation`


@dataclass(frozen=True)
class Strategic(Parameters):
    """Parameters in the order of the thesis; ranges are those of its search, or wider."""

    MODES = ("adaptation",)

    min_cash_reserve: float = parameter(150, 50, 500, "dollars")
    """kept when buying, building, lifting mortgages and trading; below it the agent sells"""
    property_value_multiplier: float = parameter(1.2, 0.8, 2, "ratio")
    """after the early game, a lot is bought if it is worth this many times its price"""
    complete_set_bonus: float = parameter(0.4, 0.1, 1, "share")
    """added to a street's value for a complete group, or the owned share of it"""
    railway_value_multiplier: float = parameter(1.3, 0.8, 2, "ratio")
    """value of a railroad as a multiple of its price and ten rents"""
    utility_value_multiplier: float = parameter(1.1, 0.7, 2, "ratio")
    """value of a utility as a multiple of its price and eight rents"""
    first_property_eagerness: float = parameter(0.8, 0.3, 1, "ratio")
    """the value of a street is multiplied by this if none of its group is owned"""
    min_cash_for_houses: float = parameter(400, 150, 800, "dollars")
    """cash below which the agent does not build"""
    house_build_threshold: float = parameter(0.15, 0.05, 0.4, "share")
    """with `complete`, a group is raised by a level only if that costs less than this share of the
    total worth"""
    min_houses_before_hotel: float = parameter(3, 1, 4, "count")
    """with `complete`, no hotel while another complete group has fewer houses on its streets"""
    hotel_roi_threshold: float = parameter(1.4, 0.8, 2, "ratio")
    """rent that a hotel must add for each dollar of its price"""
    mortgage_emergency_threshold: float = parameter(150, 50, 300, "dollars")
    """cash below which the agent sells and mortgages as much as it takes"""
    mortgage_property_threshold: float = parameter(0.7, 0.4, 0.9, "ratio")
    """outside an emergency, only things that score at most this many times the average are sold or
    mortgaged"""
    unmortgage_threshold: float = parameter(500, 200, 1000, "dollars")
    """cash at or above which mortgages are lifted"""
    unmortgage_roi_threshold: float = parameter(1.2, 0.8, 1.8, "ratio")
    """value that a lot must have for each dollar that lifting its mortgage costs"""
    trade_eagerness: float = parameter(0.5, 0.1, 1, "share")
    """a tenth of the amount by which it exceeds one half is added to the score of an offer"""
    trade_profit_threshold: float = parameter(1.2, 0.8, 1.8, "ratio")
    """with `complete`, an offer is made only if it brings this many times its cost"""
    trade_monopoly_bonus: float = parameter(300, 100, 800, "dollars")
    """with `complete` or `legacy_trades`, worth of completing or keeping a group in a trade"""
    jail_stay_threshold: float = parameter(0.6, 0.2, 0.9, "ratio")
    """danger at or above which the fine is not paid"""
    use_jail_card_threshold: float = parameter(0.4, 0.1, 0.8, "ratio")
    """danger at or above which a jail card is not used"""
    bankruptcy_mortgage_first: bool = switch(True)
    """for a debt, lots are mortgaged before buildings are sold"""
    bankruptcy_property_value_weight: float = parameter(1.3, 0.8, 2, "ratio")
    """with `complete`, power of a lot's value in the order of mortgages for a debt: dear lots go
    later"""
    bankruptcy_group_completion_weight: float = parameter(1.5, 0.8, 2.5, "ratio")
    """in that order, the value of a street of a complete group is multiplied by this"""
    early_game_turns: float = parameter(15, 5, 30, "count")
    """rounds of purchases in which every lot is bought that leaves the reserve"""
    orange_red_property_bonus: float = parameter(1.2, 0.8, 1.8, "ratio")
    """the value of orange and red streets is multiplied by this"""
    green_blue_property_bonus: float = parameter(1.1, 0.8, 1.6, "ratio")
    """the value of green and dark blue streets is multiplied by this"""
    jail_adjacent_bonus: float = parameter(1.15, 0.9, 1.5, "ratio")
    """the value of streets six to nine squares past jail is multiplied by this"""
    risk_tolerance: float = parameter(0.6, 0.2, 1, "share")
    """with `complete`, 1 minus this, times the highest rent on the board, is kept as well when
    buying, building and lifting"""
    danger_zone_weight: float = parameter(1.2, 0.8, 2, "ratio")
    """the danger of squares six to nine past jail is multiplied by this"""
    complete: bool = switch(False)
    """use the six parameters that the published program never reads, and put the money of offers on
    the right side"""
    legacy_trades: bool = switch(False)
    """trade like the program of May 2025, which produced the thesis's figures"""
    adaptation: float = parameter(0, 0, 2, "count")
    """changes during a game (0 none, 1 as late_game, 2 as adaptive; see `ADJUSTMENTS`)"""
    legacy_debts: bool = switch(False)
    """gives up every debt above the cash in hand if the rules let it: the program of May 2025 never
    raises cash for a debt"""


AT: Final = Strategic.columns()
NUM_PARAMETERS: Final = len(AT)

# Conditions of an adjustment.
ALWAYS, AHEAD, BEHIND, MORE_BUILT, LESS_BUILT = range(5)

# An adjustment: the adaptation that makes it, its rounds of purchases (first, last), the condition,
# the parameter that it sets, and the value. It is tested whenever values are needed, and what it
# sets stays set. With 28 lots there are fewer than 16
# rounds, so adjustments after rounds 20 and 25 never happen.
_NEVER_ENDS: Final = 99
ADJUSTMENTS: Final = np.array(
    [
        (LATE, 21, _NEVER_ENDS, ALWAYS, AT.min_cash_for_houses, 250),
        (LATE, 21, _NEVER_ENDS, ALWAYS, AT.house_build_threshold, 0.2),
        (LATE, 21, _NEVER_ENDS, ALWAYS, AT.hotel_roi_threshold, 1.2),
        (LATE, 21, _NEVER_ENDS, ALWAYS, AT.jail_stay_threshold, 0.4),
        (LATE, 11, 20, ALWAYS, AT.min_cash_for_houses, 450),
        (LATE, 11, 20, ALWAYS, AT.house_build_threshold, 0.15),
        (LATE, 11, 20, ALWAYS, AT.jail_stay_threshold, 0.6),
        (DYNAMIC, 0, 10, ALWAYS, AT.property_value_multiplier, 1.1),
        (DYNAMIC, 0, 10, ALWAYS, AT.min_cash_reserve, 150),
        (DYNAMIC, 0, 10, ALWAYS, AT.trade_eagerness, 0.7),
        (DYNAMIC, 11, 25, AHEAD, AT.min_cash_for_houses, 350),
        (DYNAMIC, 11, 25, AHEAD, AT.house_build_threshold, 0.18),
        (DYNAMIC, 11, 25, BEHIND, AT.trade_eagerness, 0.9),
        (DYNAMIC, 11, 25, BEHIND, AT.trade_profit_threshold, 1.0),
        (DYNAMIC, 26, _NEVER_ENDS, MORE_BUILT, AT.min_cash_reserve, 250),
        (DYNAMIC, 26, _NEVER_ENDS, MORE_BUILT, AT.hotel_roi_threshold, 1.2),
        (DYNAMIC, 26, _NEVER_ENDS, LESS_BUILT, AT.orange_red_property_bonus, 1.5),
        (DYNAMIC, 26, _NEVER_ENDS, LESS_BUILT, AT.jail_adjacent_bonus, 1.4),
    ],
    np.float64,
)

# What differs from the defaults by preset, with the thesis's names in the comments.
PRESETS: Final[dict[str, dict[str, float]]] = {
    "default": {},  # StrategicAgent
    "aggressive": {  # AggressiveInvestor
        "min_cash_reserve": 100, "property_value_multiplier": 1.0, "first_property_eagerness": 1.0,
        "min_cash_for_houses": 250,
        "house_build_threshold": 0.25, "jail_stay_threshold": 0.3, "use_jail_card_threshold": 0.2,
        "risk_tolerance": 0.9,
    },
    "cautious": {  # CautiousAccumulator
        "min_cash_reserve": 300, "property_value_multiplier": 1.4, "first_property_eagerness": 0.6,
        "min_cash_for_houses": 600,
        "house_build_threshold": 0.1, "jail_stay_threshold": 0.8, "use_jail_card_threshold": 0.7,
        "risk_tolerance": 0.3,
    },
    "completionist": {  # CompletionistBuilder
        "complete_set_bonus": 0.7, "first_property_eagerness": 0.9, "min_cash_for_houses": 300,
        "house_build_threshold": 0.2,
        "hotel_roi_threshold": 1.2, "trade_eagerness": 0.8, "trade_monopoly_bonus": 500,
        "mortgage_property_threshold": 0.5,
    },
    "utility_king": {  # UtilityKing
        "railway_value_multiplier": 1.7, "utility_value_multiplier": 1.5, "trade_eagerness": 0.7,
        "orange_red_property_bonus": 1.1,
    },
    "orange_red": {  # OrangeRedSpecialist
        "orange_red_property_bonus": 1.6, "jail_adjacent_bonus": 1.3, "min_cash_for_houses": 350,
        "hotel_roi_threshold": 1.3,
        "trade_eagerness": 0.7,
    },
    "late_game": {  # LateGameDeveloper
        "first_property_eagerness": 0.9, "property_value_multiplier": 1.1,
        "min_cash_for_houses": 650, "house_build_threshold": 0.1,
        "min_cash_reserve": 250, "unmortgage_threshold": 700, "adaptation": LATE,
    },
    "trademaster": {  # Trademaster
        "trade_eagerness": 1.0, "trade_profit_threshold": 0.9, "trade_monopoly_bonus": 600,
        "complete_set_bonus": 0.6,
        "min_cash_for_houses": 300, "house_build_threshold": 0.18,
    },
    "balanced": {  # BalancedAgent
        "min_cash_reserve": 180, "property_value_multiplier": 1.15, "risk_tolerance": 0.5,
        "orange_red_property_bonus": 1.25,
    },
    "adaptive": {"min_cash_reserve": 200, "adaptation": DYNAMIC},  # DynamicAdapter
}  # fmt: skip
