"""The inputs of the networks of `genetic/esp`, from 0 to 1: 15 for the table, 16 or 22 for a lot.

Each `write_*` fills a row in the order of the names in its table.
"""

from __future__ import annotations

from typing import Any, Final

from agents.players.expert import money, odds
from agents.players.vocabulary import groups
from agents.players.vocabulary.reading import AVERAGE_THROW, unowned
from monopoly_env.engine import building, mortgage, players, rent
from monopoly_env.engine.sets import has, lowest, size
from monopoly_env.facts.board import (
    GROUP_LOTS,
    GROUP_OF,
    GROUP_SIZE,
    GROUPS,
    HOUSE_PRICE,
    MORTGAGE,
    NUM_GROUPS,
    NUM_LOTS,
    PRICE,
    RAILROADS,
    RENT,
)
from monopoly_env.game import MAX_PLAYERS, Game
from monopoly_env.kernels import kernel

TABLE: Final = (
    "own cash", "cash of the richest rival", "own share of all worth", "highest rent ahead of me",
    "expected rent of my next turn",
    "highest rent ahead of the others", "expected rent of their next turns", "lots unsold",
    "houses in the bank", "hotels in the bank",
    "players left", "turn", "in jail", "own complete groups", "complete groups of rivals",
)  # fmt: skip
LOT: Final = (
    *(f"group: {name}" for name in GROUPS), "price", "rent now", "share of the group that is mine",
    "best rival's share", "nobody's share",
    "completes my group", "completes a rival's group", "visits of the others in their next turns",
    "my visits in the next turn",
    "visits in the long run", "mortgaged", "buildings",
)  # fmt: skip
STREET: Final = (
    *(f"group: {name}" for name in GROUPS[:RAILROADS]), "buildings", "buildings on its group",
    "price of a house", "rent now",
    "rent after", "visits of the others in their next turns",
    "share of the group that is mortgaged", "cash left after",
)  # fmt: skip
DEED: Final = (
    *(f"group: {name}" for name in GROUPS), "mortgage value", "rent",
    "share of the group that is mine", "group complete",
    "visits of the others in their next turns", "cost of lifting",
)  # fmt: skip

# Dollars that are scaled to 0.5.
_CASH, _RENT, _EXPECTED = 1000.0, 200.0, 50.0
_LONG: Final = 20.0  # the odds of a lot in the long run are about 1 in 40
_TURNS: Final = 100.0
_HOUSES, _HOTELS = 32.0, 12.0


@kernel
def _part(value: float, half: float) -> float:
    """Scale a number from [0, infinity) to [0, 1); `half` becomes 0.5."""
    return max(value, 0.0) / (max(value, 0.0) + half)


@kernel
def write_table(game: Game, seat: int, out: Any) -> None:
    """Write `TABLE` from a seat's side."""
    own, total, richest, theirs = 0.0, 0.0, 0.0, 0
    for other in range(game.num_players):
        if game.place[other] == 0:
            worth = float(players.total_worth(game, other))
            total += worth
            if other == seat:
                own = worth
            else:
                richest = max(richest, float(game.cash[other]))
                theirs += _complete(game, other)
    ahead, behind = _highest_rents(game, seat)
    out[0] = _part(float(game.cash[seat]), _CASH)
    out[1] = _part(richest, _CASH)
    out[2] = own / max(total, 1.0)
    out[3] = _part(ahead, _RENT)
    out[4] = _part(money.rents_due(game, seat, money.row_of(game, seat)), _EXPECTED)
    out[5], out[6] = _part(behind, _RENT), _part(money.rents_coming(game, seat), _EXPECTED)
    out[7] = unowned(game) / NUM_LOTS
    out[8] = min(game.houses / _HOUSES, 1.0)
    out[9] = min(game.hotels / _HOTELS, 1.0)
    out[10] = size(players.solvent_seats(game)) / MAX_PLAYERS
    out[11] = _part(float(game.turns), _TURNS)
    out[12] = 1.0 if game.jail[seat] > 0 else 0.0
    out[13], out[14] = _complete(game, seat) / NUM_GROUPS, theirs / NUM_GROUPS


@kernel
def _complete(game: Game, seat: int) -> int:
    count = 0
    for group in range(NUM_GROUPS):
        if players.owns_group(game, seat, group):
            count += 1
    return count


@kernel
def _highest_rents(game: Game, seat: int) -> tuple[float, float]:
    """The highest rents in the next turn: one that this seat may owe, and one owed to it."""
    edition, row, ahead, behind = int(game.rules.board), money.row_of(game, seat), 0.0, 0.0
    for owner in range(game.num_players):
        lots = int(game.lots[owner]) & ~int(game.mortgaged)
        while lots:
            lot = lowest(lots)
            lots &= lots - 1
            if owner != seat and odds.NEXT_LOT[edition, row, lot] == 0:
                continue
            due = float(rent.ordinary_rent(game, owner, lot, AVERAGE_THROW))
            if owner != seat:
                ahead = max(ahead, due)
            elif due > behind and money.visits(game, seat, lot) > 0:
                behind = due
    return ahead, behind


@kernel
def _share(game: Game, owned: int, group: int) -> float:
    return size(owned & int(GROUP_LOTS[group])) / int(GROUP_SIZE[group])


@kernel
def _write_group(group: int, count: int, out: Any) -> None:
    for other in range(count):
        out[other] = 1.0 if other == group else 0.0


@kernel
def write_lot(game: Game, seat: int, lot: int, out: Any) -> None:
    """Write `LOT`, a lot that is for sale or offered, from a seat's side."""
    edition, group, owner = int(game.rules.board), int(GROUP_OF[lot]), players.owner_of(game, lot)
    _write_group(group, NUM_GROUPS, out)
    best, owned = 0.0, 0.0
    for other in range(game.num_players):
        share = _share(game, int(game.lots[other]), group)
        owned += share
        if other != seat:
            best = max(best, share)
    out[10] = int(PRICE[edition, lot]) / 400
    out[11] = _part(
        float(rent.ordinary_rent(game, seat if owner < 0 else owner, lot, AVERAGE_THROW)), _RENT
    )
    out[12] = _share(game, int(game.lots[seat]), group)
    out[13] = best
    out[14] = max(0.0, 1.0 - owned)
    out[15] = 1.0 if groups.completes(game, seat, lot) else 0.0
    out[16] = 1.0 if groups.blocks(game, seat, lot) else 0.0
    out[17] = min(money.visits(game, seat, lot), 1.0)
    out[18] = min(odds.NEXT_LOT[edition, money.row_of(game, seat), lot], 1.0)
    out[19] = min(_LONG * odds.LATER_LOT[edition, lot], 1.0)
    out[20] = 1.0 if has(game.mortgaged, lot) else 0.0
    out[21] = int(game.level[lot]) / 5 if group < RAILROADS else 0.0


@kernel
def write_street(game: Game, seat: int, street: int, out: Any) -> None:
    """Write `STREET`, a street that can be built on, or whose building can be sold."""
    edition, group, level = int(game.rules.board), int(GROUP_OF[street]), int(game.level[street])
    _write_group(group, RAILROADS, out)
    house = int(HOUSE_PRICE[edition, street])
    out[8] = level / 5
    out[9] = (building.lowest_level(game, group) + building.highest_level(game, group)) / 10
    out[10] = min(house / 200, 1.0)
    out[11] = _part(float(rent.ordinary_rent(game, seat, street, AVERAGE_THROW)), _RENT)
    out[12] = _part(float(RENT[edition, street, min(level + 1, 5)]), _RENT)
    out[13] = min(money.visits(game, seat, street), 1.0)
    out[14] = _share(game, int(game.mortgaged), group)
    out[15] = _part(float(game.cash[seat] - house), _CASH)


@kernel
def write_deed(game: Game, seat: int, lot: int, out: Any) -> None:
    """Write `DEED`, a lot that can be mortgaged, or whose mortgage can be lifted."""
    edition, group = int(game.rules.board), int(GROUP_OF[lot])
    _write_group(group, NUM_GROUPS, out)
    out[10] = min(int(MORTGAGE[edition, lot]) / 200, 1.0)
    out[11] = _part(float(rent.ordinary_rent(game, seat, lot, AVERAGE_THROW)), _RENT)
    out[12] = _share(game, int(game.lots[seat]), group)
    out[13] = 1.0 if players.owns_group(game, seat, group) else 0.0
    out[14] = min(money.visits(game, seat, lot), 1.0)
    out[15] = min(mortgage.lifting_cost(game, lot) / 220, 1.0)
