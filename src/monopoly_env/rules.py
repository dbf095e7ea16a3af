"""`Rules`: the options of the rulebook, presets, and the numeric form in every record.

Each field of `Rules` is one option. Its metadata (valid values, rule, description) is the source of
error messages, of docs/options.md and of the numeric form.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

import numpy as np

from monopoly_env.errors import RulesError, nearest, shortened
from monopoly_env.facts.board import PRICE
from monopoly_env.facts.editions import EDITION_NAMES, OWN_NAMES

RULES_VERSION: Final = 3  # raised when the same seed and actions may lead to a different game

_HIGHEST_PRICE: Final = int(PRICE.max())
_FIXED_ORDERS: Final = ["houses_then_mortgages", "mortgages_hotels_houses"]  # of liquidation


def _choice(rule: str, choices: str, doc: str) -> Any:
    """An option with named values, the default first; the record holds the number of the value."""
    names = tuple(choices.split())
    return field(default=names[0], metadata={"rule": rule, "doc": doc, "choices": names})


def _switch(rule: str, default: bool, doc: str) -> Any:
    return field(default=default, metadata={"rule": rule, "doc": doc})


def _number(rule: str, default: int, bounds: tuple[int, int], doc: str) -> Any:
    return field(default=default, metadata={"rule": rule, "doc": doc, "range": bounds})


def _ratio(rule: str, default: float, doc: str) -> Any:
    """A share between 0 and 1; the record holds it in whole percent."""
    return field(default=default, metadata={"rule": rule, "doc": doc, "range": (0.0, 1.0)})


@dataclass(frozen=True)
class Rules:
    """The rules of a game. Every field defaults to its value in the preset `official`.

    Examples:
        >>> from monopoly_env import Rules
        >>> Rules(auction="none", houses=20).changed()
        {'auction': 'none', 'houses': 20}

    Raises:
        RulesError: A value is unknown, out of range, or contradicts another option.
    """

    # Setup and turn
    board: str = _choice("1", " ".join(EDITION_NAMES), "edition of the board and both decks")
    start_cash: int = _number(
        "1", 1500, (0, 1_000_000), "each player's cash at the start, in dollars"
    )
    first_player: str = _choice(
        "2 A1",
        "random throw fixed",
        "who starts: a seat drawn from the seed, the highest throw, or seat 0",
    )
    start_lots: int = _number("62 63", 0, (0, 3), "lots dealt to each player before the start")
    start_lots_paid: bool = _switch("63", False, "players pay for the lots dealt to them")
    bank_cash: str = _choice("5", "unlimited", "the bank never runs out of money")
    # Doubles and GO
    doubles_again: bool = _switch("9", True, "a double gives another throw")
    go_salary: int = _number("10 12", 200, (0, 10_000), "dollars for passing or reaching GO")
    double_go: bool = _switch("12 A2", False, "landing exactly on GO pays twice (house rule)")
    # Buying and auctions
    buy_with_raised_cash: bool = _switch(
        "13", True, "a buyer may first sell and mortgage to raise the price"
    )
    auction: str = _choice(
        "14 A3",
        "english sealed_second_price none others_only",
        "what happens to a declined lot; others_only: an English auction without the player who "
        "declined",
    )
    auction_start: int = _number("15 A4", 1, (1, 500), "lowest opening bid in dollars")
    auction_step: int = _number("15 A4", 1, (1, 500), "lowest raise in dollars")
    auction_limit: str = _choice(
        "16 A5", "raisable cash", "highest bid: what could be raised, or cash in hand"
    )
    sealed_increment: int = _number(
        "14",
        0,
        (0, 500),
        "dollars that the winner of a sealed auction pays above the second bid (Mukhar: 5)",
    )
    # Rent
    double_rent_if_group_mortgaged: bool = _switch(
        "17 A6", True, "a full group doubles its rent even if one of its lots is mortgaged"
    )
    count_mortgaged_rr_ut: bool = _switch(
        "18 A7", True, "mortgaged railroads and utilities count towards the rent of the others"
    )
    utility_dice: str = _choice(
        "19 A8",
        "landing fresh",
        "the throw that sets utility rent: the one that landed there, or a fresh one",
    )
    card_utility_pays_when_mortgaged: bool = _switch(
        "21 A9", False, "a card's utility amount is due even on a mortgaged utility"
    )
    rent_in_jail: bool = _switch("22 A10", True, "an owner in jail collects rent")
    rent_claim: str = _choice("23", "auto", "rent is collected automatically")
    # Buildings
    even_build: str = _choice(
        "26 A11",
        "even free whole_group",
        "how evenly a group is built; whole_group: all its lots at once",
    )
    hotel_after: int = _number("27 62", 4, (3, 4), "houses needed on each lot before a hotel")
    hotel_direct: bool = _switch(
        "27",
        False,
        "if the bank has no house, the last house and the hotel may be bought in one step",
    )
    building_limit: str = _choice("28 A12", "limited unlimited", "supply of buildings")
    houses: int = _number("28", 32, (0, 88), "houses in the box")
    hotels: int = _number("28", 12, (0, 22), "hotels in the box")
    building_shortage: str = _choice("29 A13", "auction first_come", "who gets the last pieces")
    shortage_floor: str = _choice(
        "29 A13",
        "own_price cheapest_price ten",
        "lowest bid for a scarce building: own price, cheapest price on the table, or 10",
    )
    piece_limit: str = _choice(
        "29 A13 S3",
        "cash raisable",
        "highest bid for a scarce building: cash in hand; or also what mortgages would bring, "
        "but not those of streets in colours that the bidder owns whole",
    )
    build_window: str = _choice(
        "30 41 A14 S1",
        "own_turn before_each_throw after_settlement",
        "when to build, mortgage and trade: before each own throw and after the last one; all "
        "players before each throw; after each own throw",
    )
    window_passes: int = _number(
        "30 41 A14 S1",
        1,
        (1, 8),
        "how often the windows of all players may go round before each throw: again, as long as "
        "somebody acts",
    )
    sell_ratio: float = _ratio("31", 0.5, "share of a building's price that the bank pays back")
    hotel_breakdown: str = _choice(
        "32 A15",
        "vector needs_four unlimited",
        "selling a hotel when the bank lacks four houses: the group goes down as far as needed; "
        "the hotel cannot be sold; the bank lends houses",
    )
    # Mortgages
    interest_rounding: str = _choice(
        "34 A16", "up down nearest", "rounding of the 10% to whole dollars"
    )
    interest_base: str = _choice(
        "35 A17", "mortgage price", "what the 10% is computed on: the mortgage value or the price"
    )
    mortgage_transfer_fee: str = _choice(
        "36-38 A18", "official none", "10% due when a mortgaged lot changes hands"
    )
    trade_mortgaged: bool = _switch("39", True, "mortgaged lots may be traded")
    unmortgage_price: str = _choice(
        "39",
        "full ten_percent",
        "price of lifting a mortgage: value plus 10%; or the 10% alone, and a lot is mortgaged "
        "only once",
    )
    # Trading
    trade: str = _choice(
        "40 41 A19", "official one_for_one one_for_one_cash none", "what may be exchanged"
    )
    trade_limit: int = _number("41 A19", 4, (0, 10), "offers per player and turn")
    debt_trade: bool = _switch("42 A20", False, "a debtor may trade to raise cash")
    # Jail
    jail_turns: int = _number(
        "45 46", 3, (1, 10), "failed throws after which the fine must be paid"
    )
    jail_fine: int = _number("46", 50, (0, 1000), "price of leaving jail, in dollars")
    jail_double_extra_throw: bool = _switch(
        "46 A21", False, "a double that leaves jail gives another throw"
    )
    jail_pay_turn3: bool = _switch(
        "47 A22", False, "the fine may also be paid before the last throw"
    )
    jail_pay_after_throw: bool = _switch(
        "47 A22", False, "fine and card are offered after a failed throw instead of before it"
    )
    deck: str = _choice(
        "50 A23", "cyclic reshuffle_each_draw reshuffle_when_empty", "what happens to drawn cards"
    )
    # Taxes and Free Parking
    income_tax: str = _choice(
        "51 A24",
        "flat200 choice min pct10",
        "200; a choice of 200 or 10% of worth; the lesser of the two; 10%",
    )
    luxury_tax: int = _number("52", 100, (0, 1000), "dollars")
    free_parking_pot: str = _choice(
        "53 A25",
        "none fines fines_plus_500",
        "money on Free Parking: none; taxes and fines; the same plus 500 at the start and after "
        "each time it is won",
    )
    # Debts and bankruptcy
    liquidation: str = _choice(
        "55 A26",
        "agent houses_then_mortgages mortgages_hotels_houses one_request",
        "how a debtor raises cash: by choice; in a fixed order; or by choice, and may give up",
    )
    bankrupt_sell_ratio: float = _ratio(
        "56", 0.5, "share of the price paid for a bankrupt player's buildings (Mukhar's code: 1)"
    )
    bank_bankruptcy: str = _choice(
        "57 A27",
        "auction_clear auction_mortgaged to_bank_unowned game_over",
        "lots of a player bankrupted by the bank: auctioned free of mortgages; auctioned as they "
        "are; returned to the bank; the game ends",
    )
    multi_creditor: str = _choice(
        "58 A28",
        "seat_order bank split",
        "who is paid when a debt to every player cannot be met: in turn order; nobody; all equally",
    )
    # End and scoring
    end_at_first_bankruptcy: bool = _switch(
        "62", False, "the first bankruptcy ends the game by score"
    )
    win_cash: int = _number(
        "S9", 0, (0, 10_000_000), "cash that wins at the end of a turn; 0: never"
    )
    max_turns: int = _number(
        "S13",
        0,
        (0, 10_000_000),
        "turns of all players together after which the score decides; 0: no cap",
    )
    max_rounds: int = _number(
        "64 S13", 0, (0, 1_000_000), "rounds after which the score decides; 0: no cap"
    )
    score: str = _choice(
        "64 A29",
        "short_game tax_worth cash",
        "how the score values a player: mortgaged lots at half price; all lots at full price; "
        "cash alone",
    )
    # A published program, including its defects
    ocnaru_quirks: bool = _switch("S15", False, "the defects of Ocnaru's program that affect play")

    def __new__(cls, *_: Any, **options: Any) -> Self:
        """Refuse unknown options with a RulesError before the fields are set."""
        known = [option.name for option in dataclasses.fields(cls)]
        for name in options:
            if name not in known:
                raise RulesError(f"Unknown option {name!r}. {nearest(name, known)}")
        return super().__new__(cls)

    def __post_init__(self) -> None:
        for option in dataclasses.fields(self):
            _check_value(option, getattr(self, option.name))
        for values, reason in CONTRADICTIONS:
            if all(_meets(getattr(self, name), wrong) for name, wrong in values.items()):
                raise RulesError(f"Contradictory options: {reason.format(**vars(self))}.")

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Rules:
        """The rules of one of `presets()`, with changes to some options.

        Examples:
            >>> from monopoly_env import Rules
            >>> Rules.preset("ocnaru", max_turns=300).max_turns
            300

        Raises:
            RulesError: The preset or an option is unknown.
        """
        if not isinstance(name, str) or name not in PRESETS:
            raise RulesError(f"Unknown preset {name!r}. {nearest(name, PRESETS)}")
        return cls.from_dict(PRESETS[name] | changes)

    @classmethod
    def presets(cls) -> tuple[str, ...]:
        """The names of all presets.

        Examples:
            >>> import monopoly_env as me
            >>> "official" in me.Rules.presets()
            True
        """
        return tuple(PRESETS)

    @classmethod
    def from_dict(cls, options: Mapping[str, Any]) -> Rules:
        """Make rules from options by name. Missing ones take their default.

        Examples:
            >>> import monopoly_env as me
            >>> me.Rules.from_dict({"auction": "none"}).changed()
            {'auction': 'none'}

        Raises:
            RulesError: It is no dictionary of options, an option is unknown, or a value is wrong.
        """
        if not isinstance(options, Mapping) or not all(isinstance(name, str) for name in options):
            raise RulesError(
                "Options of the rules must be a dictionary with their names, not"
                f" {shortened(options)}."
            )
        return cls(**options)

    @classmethod
    def coerce(cls, rules: Rules | str | Mapping[str, Any]) -> Rules:
        """Return rules unchanged, look up a preset by its name, or make rules from options of JSON.

        Examples:
            >>> import monopoly_env as me
            >>> me.Rules.coerce("official") == me.Rules()
            True

        Raises:
            RulesError: They are none of these, or an option is wrong.
        """
        if isinstance(rules, cls):
            return rules
        if isinstance(rules, str):
            return cls.preset(rules)
        if isinstance(rules, Mapping):
            return cls.from_dict(rules)
        raise RulesError(
            "Rules must be a Rules object, the name of a preset or a dictionary of options, not"
            f" {shortened(rules)}. {nearest(rules, PRESETS)}"
        )

    @classmethod
    def from_record(cls, block: np.record) -> Rules:
        """The rules that a record's numbers stand for.

        Raises:
            RulesError: A number stands for no value of its option.
        """
        options: dict[str, Any] = {}
        for option in dataclasses.fields(cls):
            value = int(block[option.name])
            if choices := option.metadata.get("choices"):
                if not 0 <= value < len(choices):
                    raise RulesError(f"Option {option.name!r} has no value number {value}.")
                options[option.name] = choices[value]
            elif isinstance(option.default, bool):
                options[option.name] = bool(value)
            else:
                options[option.name] = value / 100 if isinstance(option.default, float) else value
        return cls(**options)

    def to_record(self) -> tuple[int, ...]:
        """The rules as the numbers stored in a record, in the order of `RULES`."""
        return tuple(
            _number_of(option, getattr(self, option.name)) for option in dataclasses.fields(self)
        )

    def changed(self) -> dict[str, Any]:
        """The options that differ from the default.

        Examples:
            >>> import monopoly_env as me
            >>> me.Rules(auction="none").changed()
            {'auction': 'none'}
        """
        given = ((option, getattr(self, option.name)) for option in dataclasses.fields(self))
        return {option.name: value for option, value in given if value != option.default}


def _check_value(option: dataclasses.Field[Any], value: object) -> None:
    name, default, choices = option.name, option.default, option.metadata.get("choices")
    if choices:
        if not isinstance(value, str) or value not in choices:
            raise RulesError(
                f"Option {name}={shortened(value)} is unknown. {nearest(shortened(value), choices)}"
            )
        return
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise RulesError(f"Option {name}={shortened(value)} must be True or False.")
        return
    whole = isinstance(default, int)
    wanted: tuple[type, ...] = (int,) if whole else (int, float)
    low, high = option.metadata["range"]
    if isinstance(value, bool) or not isinstance(value, wanted) or not low <= value <= high:
        kind = "a whole number" if whole else "a number"
        raise RulesError(f"Option {name}={shortened(value)} must be {kind} from {low} to {high}.")
    if not whole and abs(value * 100 - round(value * 100)) > 1e-9:  # type: ignore[operator]
        raise RulesError(f"Option {name}={value!r} must be a whole number of percent.")


# Values of options that do not fit together, and the reason, with the values in braces. A pair is
# the bounds of a number. It is data, so that pages without Python check the same rules.
CONTRADICTIONS: Final[tuple[tuple[dict[str, Any], str], ...]] = (
    (
        {"even_build": ["whole_group"], "building_limit": ["limited"]},
        "even_build='whole_group' builds a group at a time and needs building_limit='unlimited'",
    ),
    (
        {"ocnaru_quirks": [True], "even_build": ["even", "free"]},
        "ocnaru_quirks=True reproduces a program that builds whole groups: use"
        " even_build='whole_group'",
    ),
    (
        {"hotel_direct": [True], "even_build": ["whole_group"]},
        "hotel_direct=True has no effect with even_build='whole_group', where houses never run out",
    ),
    *(
        (
            {"start_lots_paid": [True], "start_lots": (lots, lots), "start_cash": (0, dearest - 1)},
            f"start_lots_paid=True may cost {dearest} dollars, more than start_cash={{start_cash}}",
        )
        for lots, dearest in ((lots, _HIGHEST_PRICE * lots) for lots in (1, 2, 3))
    ),
    (
        {"window_passes": (2, 8), "build_window": ["own_turn", "after_settlement"]},
        "window_passes={window_passes} repeats the windows of all players: use"
        " build_window='before_each_throw'",
    ),
    (
        {"piece_limit": ["raisable"], "liquidation": _FIXED_ORDERS},
        "piece_limit='raisable' needs a winner who chooses what to mortgage: liquidation='agent',"
        " not '{liquidation}'",
    ),
    (
        {"hotel_breakdown": ["needs_four"], "liquidation": _FIXED_ORDERS},
        "liquidation='{liquidation}' sells in a fixed order, which hotel_breakdown='needs_four' may"
        " block forever",
    ),
    (
        {"debt_trade": [True], "liquidation": _FIXED_ORDERS},
        "debt_trade=True needs a debtor who chooses: liquidation='agent', not '{liquidation}'",
    ),
    (
        {"jail_pay_turn3": [True], "jail_pay_after_throw": [True]},
        "jail_pay_turn3 pays before the throw, jail_pay_after_throw after it: choose one",
    ),
)


def _meets(value: Any, values: list[Any] | tuple[int, int]) -> bool:
    return value in values if isinstance(values, list) else values[0] <= value <= values[1]


def _number_of(option: dataclasses.Field[Any], value: Any) -> int:
    choices = option.metadata.get("choices")
    if choices:
        return int(choices.index(value))
    return round(value * 100) if isinstance(option.default, float) else int(value)


# The rules inside a record: a 32-bit number per option (shares in percent), with its name.
_NUMBERS: Final = [(option.name, np.int32) for option in dataclasses.fields(Rules)]
RULES: Final = np.dtype((np.record, _NUMBERS))


def choices(option: str) -> tuple[str, ...]:
    """The named values of an option; the index of a value is its number in a record."""
    return tuple(Rules.__dataclass_fields__[option].metadata["choices"])


_MUKHAR: Final = {
    "auction": "sealed_second_price", "sealed_increment": 5, "income_tax": "min",
    "building_shortage": "first_come", "trade": "none", "multi_creditor": "bank",
    "liquidation": "mortgages_hotels_houses", "bankrupt_sell_ratio": 1.0, "max_turns": 400,
}  # fmt: skip
_OCNARU: Final = {
    "auction": "none", "even_build": "whole_group", "building_limit": "unlimited",
    "build_window": "after_settlement", "trade_mortgaged": False, "jail_double_extra_throw": True,
    "jail_pay_after_throw": True, "deck": "reshuffle_when_empty", "liquidation": "one_request",
    "bank_bankruptcy": "game_over", "max_turns": 1000, "buy_with_raised_cash": False,
}  # fmt: skip
_UK: Final = {"board": "uk", "double_rent_if_group_mortgaged": False}

# The options of each preset that differ from the default (sources: the editions' booklets, and the
# papers and programs of the systems).
PRESETS: Final[dict[str, dict[str, Any]]] = {
    "official": {},
    "any_time": {"build_window": "before_each_throw"},
    "modern": {"auction_start": 10},
    "short": {
        "start_lots": 3, "hotel_after": 3, "jail_turns": 1, "jail_pay_turn3": True,
        "end_at_first_bankruptcy": True,
    },
    "classic": {"board": "us_pre2008", "income_tax": "choice", "luxury_tax": 75},
    "uk": _UK,
    "ocnaru": _OCNARU,
    "mukhar": _MUKHAR,
    "pring": _UK
    | {
        "auction": "none", "rent_in_jail": False, "jail_pay_after_throw": True,
        "trade": "one_for_one", "trade_limit": 1,
        "liquidation": "houses_then_mortgages", "win_cash": 20_000,
    },
    "frayn": {},
    "mukhar_trading": _MUKHAR | {"trade": "official"},
    "mukhar_thesis": _MUKHAR | {"max_turns": 500},
}  # fmt: skip
# an edition of the user's is a preset too: its board, and the official rules
for _name in OWN_NAMES:
    if _name in PRESETS:
        raise RulesError(
            f"The edition {_name!r} has the name of a preset. Taken: {', '.join(PRESETS)}."
        )
    PRESETS[_name] = {"board": _name}


def number(option: str, value: str) -> int:
    """The number of a named value in a record, for kernels: `number("auction", "none")`."""
    return choices(option).index(value)
