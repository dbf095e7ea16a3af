"""Positions set up by hand: for tests, puzzles and search."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from monopoly_env.core import batch_of, check_players, first_violation, in_range, settle
from monopoly_env.engine import agenda, building, decks, invariants, setup
from monopoly_env.errors import PositionError, nearest, shortened, whole_number
from monopoly_env.facts import board, cards
from monopoly_env.game import MAX_FORCED, Game, Games, empty_games
from monopoly_env.kernels import entry
from monopoly_env.kernels.philox import split_seeds
from monopoly_env.rules import Rules

Lot = int | str
_LAST_LEVEL: Final = board.HOTEL
_MOST_DOLLARS: Final = 10**9


@entry
def _prepare(games: Games, num_players: int, seed_low: int, seed_high: int) -> None:
    setup.prepare(games[0], num_players, seed_low, seed_high)


@entry
def _count_buildings(games: Games) -> None:
    """Take the buildings on the board from the bank."""
    game = games[0]
    if game.rules.building_limit != building.UNLIMITED:
        for lot in range(board.NUM_STREETS):
            if game.level[lot] == board.HOTEL:
                game.hotels -= 1
            else:
                game.houses -= game.level[lot]


@entry
def _hold_card(games: Games, deck: int) -> None:
    """Take a jail card that a player holds out of its deck."""
    game, left = games[0], 0
    for i in range(game.deck_size[deck]):
        card = game.deck[deck, i]
        game.deck[deck, i] = 0
        if card != cards.JAIL_CARD_NUMBER[game.rules.board, deck]:
            game.deck[deck, left] = card
            left += 1
    game.deck_size[deck] = left


@entry
def _begin_turn(games: Games, moment: Games, turn: int, streak: int) -> int:
    """Begin a turn, to be settled; returns the first broken invariant, 0 if all hold.

    Args:
        games: A position without a turn.
        moment: Room for the moment before it: a window with placeholder answers.
        turn: The seat on turn.
        streak: Doubles already thrown.
    """
    game = games[0]
    game.first, game.turn, game.turns, game.streak = turn, turn, 1, streak
    agenda.push(game, agenda.WINDOW, turn, 0, 0)
    game.decision, game.player, game.legal[0] = agenda.WINDOW, turn, 3
    moment[0] = game
    broken = invariants.violation(game)
    agenda.pop(game)
    agenda.push(game, agenda.BEFORE_THROW_TASK, turn, 0, 0)
    return int(broken)


def lot_number(lot: Lot, edition: int = 0) -> int:
    """The number of a lot, given by number or by its name on any board, in any case.

    Raises:
        PositionError: There is no such lot.
    """
    whole = isinstance(lot, (int, np.integer)) and not isinstance(lot, bool)
    if whole and 0 <= lot < board.NUM_LOTS:  # type: ignore[operator]  # a whole number
        return int(lot)
    if isinstance(lot, str):
        for names in (board.LOT_NAME[edition], *board.LOT_NAME):
            folded = [name.casefold() for name in names]
            if lot.casefold() in folded:
                return folded.index(lot.casefold())
    raise PositionError(f"Unknown lot {lot!r}. {nearest(lot, board.LOT_NAME[edition])}")


def position(  # noqa: PLR0913 - everything that a position may hold, by name
    num_players: int = 4,
    rules: Rules | str = "official",
    seed: int = 0,
    *,
    turn: int = 0,
    cash: Mapping[int, int] | Sequence[int] | None = None,
    lots: Mapping[int, Iterable[Lot]] | None = None,
    mortgaged: Iterable[Lot] = (),
    buildings: Mapping[Lot, int] | None = None,
    positions: Mapping[int, int] | Sequence[int] | None = None,
    jail: Mapping[int, int] | None = None,
    jail_cards: Mapping[int, Collection[str]] | None = None,
    bankrupt: Iterable[int] = (),
    throws: Sequence[tuple[int, int]] = (),
    chance: Sequence[str] = (),
    community_chest: Sequence[str] = (),
    pot: int | None = None,
    streak: int = 0,
    settled: bool = True,
) -> Game:
    """Set up a game in any consistent position, at the moment before a seat's throw.

    The game is then settled up to the first real choice: the window before the throw or, if that
    window offers no choice, whatever follows the throw.

    Examples:
        >>> import monopoly_env as me
        >>> lots, houses = {0: ["Park Place", "Boardwalk"]}, {"Park Place": 3, "Boardwalk": 3}
        >>> game = me.position(
        ...     2, turn=1, lots=lots, buildings=houses, positions={1: 34}, throws=[(2, 3)]
        ... )
        >>> game = me.step(game, me.actions.parse("go on"))  # player 1 pays the rent of Boardwalk
        >>> game.cash[:2].tolist()
        [2900, 100]

    Args:
        num_players: 2 to 8.
        rules: Rules, or the name of a preset.
        seed: Of everything that is not forced.
        turn: The seat on turn.
        cash: Dollars per seat; by default the start cash.
        lots: Owned lots per seat, by name or number. All others belong to the bank.
        mortgaged: Mortgaged lots.
        buildings: Levels by street: 1 to 4 houses, 5 a hotel.
        positions: Squares per seat, 0 to 39. Jailed tokens are put on the jail square.
        jail: Seats in jail, with their failed throws so far.
        jail_cards: Jail cards held, per seat: "chance", "community_chest".
        bankrupt: Seats that have left the game, in the order in which they left.
        throws: The next throws, of any player and for any reason.
        chance: Ids of the next Chance cards (see data/cards.csv).
        community_chest: Ids of the next Community Chest cards.
        pot: Dollars on Free Parking.
        streak: Doubles already thrown this turn.
        settled: False: the moment itself, in a window with placeholder answers, to be shown.

    Raises:
        PositionError: The position is inconsistent; the message explains it.
    """
    rules = Rules.coerce(rules)
    games = empty_games(1)
    games["rules"] = rules.to_record()
    low, high = split_seeds([seed])[0]
    _prepare(games, check_players(num_players), low, high)
    game = games[0]
    seats = _Seats(game)
    for seat, dollars in seats.items(cash, "cash"):
        game.cash[seat] = _whole("cash", dollars, 0, _MOST_DOLLARS)
    for seat, square in seats.items(positions, "positions"):
        game.position[seat] = _whole("positions", square, 0, board.NUM_SQUARES - 1)
    _set_lots(game, seats, lots or {}, mortgaged, buildings or {})
    _set_jail(game, seats, jail or {}, jail_cards or {})
    _set_bankrupt(game, seats, _listed("bankrupt", bankrupt))
    if pot is not None:
        game.pot = _whole("pot", pot, 0, _MOST_DOLLARS)
    _stack(game, cards.CHANCE_DECK, chance)
    _stack(game, cards.CHEST_DECK, community_chest)
    _set_throws(game, throws)
    moment = _set_turn(game, seats.check(turn, "turn"), _whole("streak", streak, 0, 2))
    settle(game)
    _refuse(first_violation(batch_of(game)))
    return game if settled else moment


def force(
    game: Game,
    *,
    throws: Sequence[tuple[int, int]] = (),
    chance: Sequence[str] = (),
    community_chest: Sequence[str] = (),
) -> Game:
    """Copy a game and force its next throws and cards.

    Examples:
        >>> import monopoly_env as me
        >>> game = me.force(me.new_game(2, seed=7), throws=[(6, 5)])

    Args:
        game: A record; it is not changed.
        throws: The next throws, of any player and for any reason.
        chance: Ids of the next Chance cards.
        community_chest: Ids of the next Community Chest cards.

    Returns:
        The copy.

    Raises:
        PositionError: A throw is impossible, a card is unknown or not in its deck, or a number of
            the record is out of its range.
    """
    copy = in_range(game).copy()[0]
    _set_throws(copy, throws)
    _stack(copy, cards.CHANCE_DECK, chance)
    _stack(copy, cards.CHEST_DECK, community_chest)
    return copy


class _Seats:
    """Values per seat, given as a mapping or as a sequence with one value for each seat."""

    def __init__(self, game: Game) -> None:
        self.count = int(game.num_players)

    def check(self, seat: object, name: str) -> int:
        return _whole(f"{name}: seat", seat, 0, self.count - 1)

    def items(
        self, values: Mapping[int, Any] | Sequence[Any] | None, name: str
    ) -> list[tuple[int, Any]]:
        if values is None:
            return []
        if isinstance(values, Mapping):
            return [(self.check(seat, name), value) for seat, value in values.items()]
        listed = _listed(name, values)
        if len(listed) != self.count:
            raise PositionError(f"{name} has {len(listed)} values for {self.count} players.")
        return list(enumerate(listed))


def _listed(name: str, values: Any) -> list[Any]:
    """Several values as a list; a string is refused."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise PositionError(f"{name} must be a list, not {shortened(values)}.")
    return list(values)


def _mapped(name: str, values: Any) -> Mapping[Any, Any]:
    if not isinstance(values, Mapping):
        raise PositionError(f"{name} must be a dictionary, not {shortened(values)}.")
    return values


_whole = functools.partial(whole_number, error=PositionError)


def _set_lots(
    game: Game,
    seats: _Seats,
    lots: Mapping[int, Iterable[Lot]],
    mortgaged: Iterable[Lot],
    buildings: Mapping[Lot, int],
) -> None:
    # a field of a record takes a microsecond to read
    edition, owned, levels = int(game.rules.board), game.lots, game.level
    named, owner = board.LOT_NAME[edition], dict[int, int]()
    for seat, names in seats.items(lots, "lots"):
        for name in _listed(f"lots of seat {seat}", names):
            lot = lot_number(name, edition)
            if owner.setdefault(lot, seat) != seat:
                raise PositionError(f"{named[lot]} has two owners: seats {owner[lot]} and {seat}.")
            owned[seat] |= 1 << lot
    for name in _listed("mortgaged", mortgaged):
        lot = lot_number(name, edition)
        if lot not in owner:
            raise PositionError(f"{named[lot]} is mortgaged but belongs to the bank.")
        game.mortgaged |= 1 << lot
    for name, value in _mapped("buildings", buildings).items():
        lot, level = lot_number(name, edition), _whole(f"buildings: {name}", value, 0, _LAST_LEVEL)
        if lot >= board.NUM_STREETS:
            raise PositionError(f"{named[lot]} is not a street: nothing can be built there.")
        if lot not in owner and level:
            raise PositionError(f"{named[lot]} has a building but belongs to the bank.")
        levels[lot] = level
    _count_buildings(batch_of(game))
    if game.houses < 0 or game.hotels < 0:
        left = f"{game.houses} houses and {game.hotels} hotels would be left"
        raise PositionError(f"More buildings than the bank has: {left}.")


def _set_jail(
    game: Game, seats: _Seats, jail: Mapping[int, int], jail_cards: Mapping[int, Collection[str]]
) -> None:
    for seat, failed in seats.items(jail, "jail"):
        most = int(game.rules.jail_turns) - 1
        game.jail[seat] = _whole("jail: failed throws", failed, 0, most) + 1
        game.position[seat] = board.JAIL_SQUARE
    for seat, names in seats.items(jail_cards, "jail_cards"):
        listed = [names] if isinstance(names, str) else names
        for name in _listed(f"jail_cards of seat {seat}", listed):
            if name not in cards.DECKS:
                hint = nearest(name, cards.DECKS)
                raise PositionError(f"jail_cards: unknown deck {name!r}. {hint}")
            deck = cards.DECKS.index(name)
            if any(int(bits) >> deck & 1 for bits in game.jail_cards):
                raise PositionError(f"The jail card of the {name} deck is held twice.")
            game.jail_cards[seat] |= 1 << deck
            _hold_card(batch_of(game), deck)


def _set_bankrupt(game: Game, seats: _Seats, bankrupt: list[int]) -> None:
    for order, value in enumerate(bankrupt):
        seat = seats.check(value, "bankrupt")
        if game.lots[seat] or game.jail_cards[seat]:
            raise PositionError(f"Seat {seat} has left the game but owns something.")
        if game.place[seat]:
            raise PositionError(f"Seat {seat} is listed twice as bankrupt.")
        game.place[seat], game.cash[seat], game.jail[seat] = seats.count - order, 0, 0
    if seats.count - len(bankrupt) < 2:
        raise PositionError("Fewer than two players are left: the game would be over.")


def _set_throws(game: Game, throws: Sequence[tuple[int, int]]) -> None:
    throws = _listed("throws", throws)
    if len(throws) > MAX_FORCED:
        most = f"a record holds at most {MAX_FORCED}"
        raise PositionError(f"{len(throws)} throws are forced; {most}.")
    if throws:
        game.forced_throws[:] = 0
        game.num_forced = len(throws)
    for i, throw in enumerate(throws):
        if not isinstance(throw, Sequence) or len(throw) != 2:
            raise PositionError(f"A throw is two dice, not {throw!r}.")
        first, second = (_whole("throw: die", die, 1, 6) for die in throw)
        game.forced_throws[i] = 10 * first + second


def _upcoming(game: Game, deck: int) -> list[int]:
    """The cards in a deck, the next one first."""
    size, following = int(game.deck_size[deck]), int(game.deck_next[deck])
    order = [int(card) for card in game.deck[deck, :size]]
    return order[following:] + order[:following]


def _set_deck(game: Game, deck: int, order: list[int]) -> None:
    game.deck[deck] = 0
    game.deck[deck, : len(order)] = order
    game.deck_size[deck], game.deck_next[deck] = len(order), 0


def _stack(game: Game, deck: int, ids: Sequence[str]) -> None:
    """Put cards on top of a deck, in this order."""
    ids = _listed(cards.DECKS[deck], ids)
    if not ids:
        return
    if game.rules.deck == decks.EACH_DRAW:
        which = "deck='reshuffle_each_draw', which shuffles before each draw"
        raise PositionError(f"Cards cannot be forced with {which}.")
    known, order = cards.CARD_ID[game.rules.board][deck], _upcoming(game, deck)
    top, kind = list[int](), cards.DECKS[deck]
    for name in ids:
        if name not in known:
            raise PositionError(f"The {kind} deck has no card {name!r}. {nearest(name, known)}")
        top.append(known.index(name))
        if top[-1] not in order:
            raise PositionError(f"The card {name!r} is forced twice or held by a player.")
        order.remove(top[-1])
    _set_deck(game, deck, top + order)


def _set_turn(game: Game, turn: int, streak: int) -> Game:
    """Begin a turn, to be settled; returns a copy in a window before it."""
    if game.place[turn]:
        raise PositionError(f"Seat {turn} is on turn but has left the game.")
    batch = batch_of(game)
    moment = batch.copy()
    # the engine only runs on valid records: check it with a placeholder window of two answers
    _refuse(_begin_turn(batch, moment, turn, streak))
    return moment[0]


def _refuse(broken: int) -> None:
    if broken:
        raise PositionError(f"Inconsistent position: {invariants.VIOLATIONS[broken]}.")
