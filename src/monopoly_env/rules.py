"""The options of the rulebook.

`Rules`, its presets, and their numeric form, which is part of every record.

Each field of `Rules` is one option. Its metadata holds the valid values, the rule that it belongs
to and what it does. Error messages, the documentation (docs/options.md) and the numeric form are
all built from that.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

import numpy as np

from monopoly_env.errors import RulesError, nearest, shortened
from monopoly_env.facts.board import PRICE
from monopoly_env.facts.editions import EDITION_NAMES, OWN_NAMES

RULES_VERSION: Final = 3  # raised when the same seed and actions may lead to a different game

_HIGHEST_PRICE: Final = int(PRICE.max())


def _choice(rule: str, doc: str, *choices: str) -> Any:
    """An option with named values; the first is the default.

    The record holds the number of the value.
    """
    return field(default=choices[0], metadata={"rule": rule, "doc": doc, "choices": choices})


def _switch(rule: str, doc: str, default: bool) -> Any:
    return field(default=default, metadata={"rule": rule, "doc": doc})


def _number(rule: str, doc: str, default: int, low: int, high: int) -> Any:
    return field(default=default, metadata={"rule": rule, "doc": doc, "range": (low, high)})


def _ratio(rule: str, doc: str, default: float) -> Any:
    """A share between 0 and 1; the record holds it in whole percent."""
    return field(default=default, metadata={"rule": rule, "doc": doc, "range": (0.0, 1.0)})


@dataclass(frozen=True)
class Rules:
    """The rules of a game. Every field defaults to its value in the preset `official`.

    Raises:
        RulesError: A value is unknown, out of range, or contradicts another option.
    """

    # Setup and turn
    board: str = _choice("1", "edition of the board and both decks", *EDITION_NAMES)
    start_cash: int = _number(
        "1", "each player's cash at the start, in dollars", 1500, 0, 1_000_000
    )
    first_player: str = _choice(
        "2 A1",
        "who starts: a seat drawn from the seed, the highest throw, or seat 0",
        "random",
        "throw",
        "fixed",
    )
    start_lots: int = _number("62 63", "lots dealt to each player before the start", 0, 0, 3)
    start_lots_paid: bool = _switch("63", "players pay for the lots dealt to them", False)
    bank_cash: str = _choice("5", "the bank never runs out of money", "unlimited")
    # Doubles and GO
    doubles_again: bool = _switch("9", "a double gives another throw", True)
    go_salary: int = _number("10 12", "dollars for passing or reaching GO", 200, 0, 10_000)
    double_go: bool = _switch("12 A2", "landing exactly on GO pays twice (house rule)", False)
    # Buying and auctions
    buy_with_raised_cash: bool = _switch(
        "13", "a buyer may first sell and mortgage to raise the price", True
    )
    auction: str = _choice(
        "14 A3",
        (
            "what happens to a declined lot; others_only: an English auction without the player "
            "who declined"
        ),
        "english",
        "sealed_second_price",
        "none",
        "others_only",
    )
    auction_start: int = _number("15 A4", "lowest opening bid in dollars", 1, 1, 500)
    auction_step: int = _number("15 A4", "lowest raise in dollars", 1, 1, 500)
    auction_limit: str = _choice(
        "16 A5", "highest bid: what could be raised, or cash in hand", "raisable", "cash"
    )
    sealed_increment: int = _number(
        "14",
        "dollars that the winner of a sealed auction pays above the second bid (Mukhar: 5)",
        0,
        0,
        500,
    )
    # Rent
    double_rent_if_group_mortgaged: bool = _switch(
        "17 A6", "a full group doubles its rent even if one of its lots is mortgaged", True
    )
    count_mortgaged_rr_ut: bool = _switch(
        "18 A7", "mortgaged railroads and utilities count towards the rent of the others", True
    )
    utility_dice: str = _choice(
        "19 A8",
        "the throw that sets utility rent: the one that landed there, or a fresh one",
        "landing",
        "fresh",
    )
    card_utility_pays_when_mortgaged: bool = _switch(
        "21 A9", "a card's utility amount is due even on a mortgaged utility", False
    )
    rent_in_jail: bool = _switch("22 A10", "an owner in jail collects rent", True)
    rent_claim: str = _choice("23", "rent is collected automatically", "auto")
    # Buildings
    even_build: str = _choice(
        "26 A11",
        "how evenly a group is built; whole_group: all its lots at once",
        "even",
        "free",
        "whole_group",
    )
    hotel_after: int = _number("27 62", "houses needed on each lot before a hotel", 4, 3, 4)
    hotel_direct: bool = _switch(
        "27",
        "if the bank has no house, the last house and the hotel may be bought in one step",
        False,
    )
    building_limit: str = _choice("28 A12", "supply of buildings", "limited", "unlimited")
    houses: int = _number("28", "houses in the box", 32, 0, 88)
    hotels: int = _number("28", "hotels in the box", 12, 0, 22)
    building_shortage: str = _choice("29 A13", "who gets the last pieces", "auction", "first_come")
    shortage_floor: str = _choice(
        "29 A13",
        "lowest bid for a scarce building: own price, cheapest price on the table, or 10",
        "own_price",
        "cheapest_price",
        "ten",
    )
    piece_limit: str = _choice(
        "29 A13 S3",
        (
            "highest bid for a scarce building: cash in hand; or also what mortgages would bring, "
            "but not those of streets in colours that the bidder owns whole"
        ),
        "cash",
        "raisable",
    )
    build_window: str = _choice(
        "30 41 A14 S1",
        "when to build, mortgage and trade: before each own throw and after the last one; "
        "all players before each throw; after each own throw",
        "own_turn",
        "before_each_throw",
        "after_settlement",
    )
    window_passes: int = _number(
        "30 41 A14 S1",
        "how often the windows of all players may go round before each throw: again, as long as "
        "somebody acts",
        1,
        1,
        8,
    )
    sell_ratio: float = _ratio("31", "share of a building's price that the bank pays back", 0.5)
    hotel_breakdown: str = _choice(
        "32 A15",
        "selling a hotel when the bank lacks four houses: the group goes down as far as needed; "
        "the hotel cannot be sold; the bank lends houses",
        "vector",
        "needs_four",
        "unlimited",
    )
    # Mortgages
    interest_rounding: str = _choice(
        "34 A16", "rounding of the 10% to whole dollars", "up", "down", "nearest"
    )
    interest_base: str = _choice(
        "35 A17",
        "what the 10% is computed on: the mortgage value or the price",
        "mortgage",
        "price",
    )
    mortgage_transfer_fee: str = _choice(
        "36-38 A18", "10% due when a mortgaged lot changes hands", "official", "none"
    )
    trade_mortgaged: bool = _switch("39", "mortgaged lots may be traded", True)
    unmortgage_price: str = _choice(
        "39",
        (
            "price of lifting a mortgage: value plus 10%; or the 10% alone, and a lot is mortgaged "
            "only once"
        ),
        "full",
        "ten_percent",
    )
    # Trading
    trade: str = _choice(
        "40 41 A19", "what may be exchanged", "official", "one_for_one", "one_for_one_cash", "none"
    )
    trade_limit: int = _number("41 A19", "offers per player and turn", 4, 0, 10)
    debt_trade: bool = _switch("42 A20", "a debtor may trade to raise cash", False)
    # Jail
    jail_turns: int = _number("45 46", "failed throws after which the fine must be paid", 3, 1, 10)
    jail_fine: int = _number("46", "price of leaving jail, in dollars", 50, 0, 1000)
    jail_double_extra_throw: bool = _switch(
        "46 A21", "a double that leaves jail gives another throw", False
    )
    jail_pay_turn3: bool = _switch(
        "47 A22", "the fine may also be paid before the last throw", False
    )
    jail_pay_after_throw: bool = _switch(
        "47 A22", "fine and card are offered after a failed throw instead of before it", False
    )
    deck: str = _choice(
        "50 A23",
        "what happens to drawn cards",
        "cyclic",
        "reshuffle_each_draw",
        "reshuffle_when_empty",
    )
    # Taxes and Free Parking
    income_tax: str = _choice(
        "51 A24",
        "200; a choice of 200 or 10% of worth; the lesser of the two; 10%",
        "flat200",
        "choice",
        "min",
        "pct10",
    )
    luxury_tax: int = _number("52", "dollars", 100, 0, 1000)
    free_parking_pot: str = _choice(
        "53 A25",
        "money on Free Parking: none; taxes and fines; the same plus 500 at the start and after "
        "each time it is won",
        "none",
        "fines",
        "fines_plus_500",
    )
    # Debts and bankruptcy
    liquidation: str = _choice(
        "55 A26",
        "how a debtor raises cash: by choice; in a fixed order; or by choice, and may give up",
        "agent",
        "houses_then_mortgages",
        "mortgages_hotels_houses",
        "one_request",
    )
    bankrupt_sell_ratio: float = _ratio(
        "56", "share of the price paid for a bankrupt player's buildings (Mukhar's code: 1)", 0.5
    )
    bank_bankruptcy: str = _choice(
        "57 A27",
        "lots of a player bankrupted by the bank: auctioned free of mortgages; auctioned as they "
        "are; returned to the bank; the game ends",
        "auction_clear",
        "auction_mortgaged",
        "to_bank_unowned",
        "game_over",
    )
    multi_creditor: str = _choice(
        "58 A28",
        "who is paid when a debt to every player cannot be met: in turn order; nobody; all equally",
        "seat_order",
        "bank",
        "split",
    )
    # End and scoring
    end_at_first_bankruptcy: bool = _switch(
        "62", "the first bankruptcy ends the game by score", False
    )
    win_cash: int = _number("S9", "cash that wins at the end of a turn; 0: never", 0, 0, 10_000_000)
    max_turns: int = _number(
        "S13",
        "turns of all players together after which the score decides; 0: no cap",
        0,
        0,
        10_000_000,
    )
    max_rounds: int = _number(
        "64 S13", "rounds after which the score decides; 0: no cap", 0, 0, 1_000_000
    )
    score: str = _choice(
        "64 A29",
        (
            "how the score values a player: mortgaged lots at half price; all lots at full price; "
            "cash alone"
        ),
        "short_game",
        "tax_worth",
        "cash",
    )
    # A published program, including its defects
    ocnaru_quirks: bool = _switch("S15", "the defects of Ocnaru's program that affect play", False)

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
        for contradictory, message in _contradictions(self):
            if contradictory:
                raise RulesError(f"Contradictory options: {message}.")

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Rules:
        """The rules of a published edition or system.

        Args:
            name: One of `Rules.presets()`.
            **changes: Options to change.

        Raises:
            RulesError: The preset or an option is unknown.
        """
        if not isinstance(name, str) or name not in PRESETS:
            raise RulesError(f"Unknown preset {name!r}. {nearest(name, PRESETS)}")
        return cls.from_dict(PRESETS[name] | changes)

    @classmethod
    def presets(cls) -> tuple[str, ...]:
        """The names of all presets."""
        return tuple(PRESETS)

    @classmethod
    def from_dict(cls, options: Mapping[str, Any]) -> Rules:
        """Make rules from options by name. Missing ones take their default.

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
        """Return rules unchanged, look up the preset of a name, or make rules from options.

        The options are as they come out of JSON.

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
        """The options that differ from the default."""
        return {
            o.name: getattr(self, o.name)
            for o in dataclasses.fields(self)
            if getattr(self, o.name) != o.default
        }


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


def _contradictions(rules: Rules) -> Iterator[tuple[bool, str]]:
    """Pairs of options that do not fit: whether these rules have them, and why they do not."""
    whole_groups, chosen = rules.even_build == "whole_group", ("agent", "one_request")
    yield (
        whole_groups and rules.building_limit == "limited",
        "even_build='whole_group' builds a group at a time and needs building_limit='unlimited'",
    )
    yield (
        rules.ocnaru_quirks and not whole_groups,
        "ocnaru_quirks=True reproduces a program that builds whole groups: use"
        " even_build='whole_group'",
    )
    yield (
        rules.hotel_direct and whole_groups,
        "hotel_direct=True has no effect with even_build='whole_group', where houses never run out",
    )
    dearest = _HIGHEST_PRICE * rules.start_lots
    yield (
        rules.start_lots_paid and rules.start_cash < dearest,
        f"start_lots_paid=True may cost {dearest} dollars, more than start_cash={rules.start_cash}",
    )
    yield (
        rules.window_passes > 1 and rules.build_window != "before_each_throw",
        f"window_passes={rules.window_passes} repeats the windows of all players: use"
        " build_window='before_each_throw'",
    )
    yield (
        rules.piece_limit == "raisable" and rules.liquidation not in chosen,
        "piece_limit='raisable' needs a winner who chooses what to mortgage: liquidation='agent',"
        f" not {rules.liquidation!r}",
    )
    yield (
        rules.hotel_breakdown == "needs_four"
        and rules.liquidation.endswith(("mortgages", "houses")),
        f"liquidation={rules.liquidation!r} sells in a fixed order, which"
        " hotel_breakdown='needs_four' may block forever",
    )
    yield (
        rules.debt_trade and rules.liquidation not in chosen,
        "debt_trade=True needs a debtor who chooses: liquidation='agent', not"
        f" {rules.liquidation!r}",
    )
    yield (
        rules.jail_pay_turn3 and rules.jail_pay_after_throw,
        "jail_pay_turn3 pays before the throw, jail_pay_after_throw after it: choose one",
    )


def _number_of(option: dataclasses.Field[Any], value: Any) -> int:
    choices = option.metadata.get("choices")
    if choices:
        return int(choices.index(value))
    return round(value * 100) if isinstance(option.default, float) else int(value)


# The rules inside a record: one 32-bit number per option (shares in percent), with the options'
# names.
RULES: Final = np.dtype(
    (np.record, [(option.name, np.int32) for option in dataclasses.fields(Rules)])
)


def choices(option: str) -> tuple[str, ...]:
    """The named values of an option; the index of a value is its number in a record."""
    return tuple(Rules.__dataclass_fields__[option].metadata["choices"])


_MUKHAR: Final = {
    "auction": "sealed_second_price", "sealed_increment": 5, "income_tax": "min",
    "building_shortage": "first_come", "trade": "none",
    "multi_creditor": "bank", "liquidation": "mortgages_hotels_houses", "bankrupt_sell_ratio": 1.0,
    "max_turns": 400,
}  # fmt: skip
_OCNARU: Final = {
    "auction": "none", "even_build": "whole_group", "building_limit": "unlimited",
    "build_window": "after_settlement",
    "trade_mortgaged": False, "jail_double_extra_throw": True, "jail_pay_after_throw": True,
    "deck": "reshuffle_when_empty",
    "liquidation": "one_request", "bank_bankruptcy": "game_over", "max_turns": 1000,
    "buy_with_raised_cash": False,
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
        "rent_in_jail": False, "trade": "one_for_one", "trade_limit": 1,
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
    """The number by which a record stores a named value, for kernels.

    For example `number("auction", "none")`.
    """
    return choices(option).index(value)
