"""Setting up a game (1, 2, 62, 63)."""

from __future__ import annotations

from monopoly_env.engine import agenda, decks
from monopoly_env.engine.movement import POT_BONUS
from monopoly_env.engine.randomness import START, below
from monopoly_env.engine.sets import each, lowest, nth, size
from monopoly_env.engine.step import settle
from monopoly_env.engine.trade import close_offer
from monopoly_env.facts.board import ALL_LOTS, PRICE
from monopoly_env.game import NOBODY, Game
from monopoly_env.kernels import kernel
from monopoly_env.rules import number

BY_THROW = number("first_player", "throw")
_FIXED = number("first_player", "fixed")
_POT_500 = number("free_parking_pot", "fines_plus_500")


@kernel
def start(game: Game, num_players: int, seed_low: int, seed_high: int) -> None:
    """Start a game in a zeroed record that holds its rules, up to the first decision."""
    begin(game, num_players, seed_low, seed_high)
    settle(game)


@kernel
def begin(game: Game, num_players: int, seed_low: int, seed_high: int) -> None:
    """Start a game in a zeroed record that holds its rules, up to the first turn."""
    prepare(game, num_players, seed_low, seed_high)
    game.first = _first_seat(game)
    _deal(game)
    agenda.push(game, agenda.BEGIN_TURN, int(game.first), 0, 0)


@kernel
def prepare(game: Game, num_players: int, seed_low: int, seed_high: int) -> None:
    """Set up the money, buildings and decks of a new game. No player is on turn yet."""
    game.num_players = num_players
    game.seed[0] = seed_low
    game.seed[1] = seed_high
    game.houses = game.rules.houses
    game.hotels = game.rules.hotels
    for seat in range(num_players):
        game.cash[seat] = game.rules.start_cash
    game.pot = POT_BONUS if game.rules.free_parking_pot == _POT_500 else 0
    decks.fill(game, 0)
    decks.fill(game, 1)
    game.auction_lot = NOBODY
    game.auction_leader = NOBODY
    game.auction_asked = NOBODY
    close_offer(game)


@kernel
def drawn(game: Game, draw: int, bound: int) -> int:
    """The result of a draw before the first turn, by its number from 0."""
    return below(game, START, 0, draw, bound)


@kernel
def _draw(game: Game, bound: int) -> int:
    game.start_draws += 1
    return drawn(game, int(game.start_draws) - 1, bound)


@kernel
def _first_seat(game: Game) -> int:
    """The first seat: seat 0, one drawn from the seed, or the highest throw; ties repeat (2)."""
    if game.rules.first_player == _FIXED:
        return 0
    if game.rules.first_player != BY_THROW:
        return _draw(game, int(game.num_players))
    contenders = (1 << int(game.num_players)) - 1
    while size(contenders) > 1:
        contenders = throw_off(game, contenders)
    return lowest(contenders)


@kernel
def throw_off(game: Game, contenders: int) -> int:
    """Let seats throw for the first turn: one after the other; returns those with the most (2)."""
    best, leaders = 0, 0
    for seat in each(contenders):
        total = _draw(game, 6) + _draw(game, 6) + 2
        if total > best:
            best, leaders = total, 0
        if total == best:
            leaders |= 1 << seat
    return leaders


@kernel
def _deal(game: Game) -> None:
    """Deal title deeds one at a time from the first seat on, for short and timed games (62, 63)."""
    undealt = ALL_LOTS
    for i in range(int(game.rules.start_lots) * int(game.num_players)):
        seat = (int(game.first) + i) % int(game.num_players)
        lot = nth(undealt, _draw(game, size(undealt)))
        undealt &= ~(1 << lot)
        game.lots[seat] = int(game.lots[seat]) | 1 << lot
        if game.rules.start_lots_paid:
            game.cash[seat] -= int(PRICE[game.rules.board, lot])
