"""The rules of the presets, and the tables of boards and cards."""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from importlib.resources import files


@dataclass(frozen=True)
class Booklet:
    """The rules of a preset, as docs/rules.md gives them; the default is `official`."""

    board: str = "us"
    year: str = "2008"
    window: str = "own"  # own, all, after
    auction: str = "english"  # english, sealed, none
    opening: int = 1
    increment: int = 0
    buy_by_raising: bool = True
    hotel_after: int = 4
    whole_groups: bool = False
    limited: bool = True
    scarce: str = "auction"  # auction, first come
    doubled_if_mortgaged: bool = True
    rent_in_jail: bool = True
    trade: str = "any"  # any, lots, none
    trade_mortgaged: bool = True
    offers: int = 4
    jail_turns: int = 3
    pay_last: bool = False
    pay_after_throw: bool = False
    jail_double_again: bool = False
    reshuffled: bool = False
    tax: str = "flat"  # flat, choice, lesser
    luxury: int = 100
    debtor: str = "chooses"  # chooses, gives up, houses first, mortgages first
    estate_percent: int = 50
    pay_each: str = "in turn"  # in turn, at once
    bank_ends: bool = False
    first_ends: bool = False
    most_turns: int = 0
    win_cash: int = 0


OFFICIAL = Booklet()
UK = Booklet(board="uk", doubled_if_mortgaged=False)
MUKHAR = Booklet(
    auction="sealed", increment=5, tax="lesser", scarce="first come", trade="none",
    pay_each="at once", debtor="mortgages first", estate_percent=100, most_turns=400,
)  # fmt: skip
BOOKLETS = {
    "official": OFFICIAL,
    "any_time": Booklet(window="all"),
    "modern": Booklet(opening=10),
    "short": Booklet(hotel_after=3, jail_turns=1, pay_last=True, first_ends=True),
    "classic": Booklet(year="pre2008", tax="choice", luxury=75),
    "uk": UK,
    "ocnaru": Booklet(
        auction="none", whole_groups=True, limited=False, window="after", trade_mortgaged=False,
        jail_double_again=True, pay_after_throw=True, reshuffled=True, debtor="gives up",
        bank_ends=True, most_turns=1000, buy_by_raising=False,
    ),
    "mukhar": MUKHAR,
    "pring": replace(
        UK, auction="none", rent_in_jail=False, pay_after_throw=True, trade="lots", offers=1,
        debtor="houses first", win_cash=20_000,
    ),
    "frayn": OFFICIAL,
    "mukhar_trading": replace(MUKHAR, trade="any"),
    "mukhar_thesis": replace(MUKHAR, most_turns=500),
}  # fmt: skip


def table(name: str) -> list[dict[str, str]]:
    path = files("monopoly_env") / "facts" / "data" / f"{name}.csv"  # sources: README.md there
    with path.open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))
