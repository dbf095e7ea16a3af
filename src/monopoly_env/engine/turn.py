"""The course of a turn and of the game (3, 7-9, 30, 61-64, S1, S9, S13)."""

from __future__ import annotations

from monopoly_env.engine import agenda
from monopoly_env.engine.debt import bankrupt
from monopoly_env.engine.players import finish, next_solvent, seat_after
from monopoly_env.engine.trade import forget_turn
from monopoly_env.game import BANK, BY_CAP, BY_CASH, Game
from monopoly_env.kernels import kernel
from monopoly_env.rules import number

EVERY_PLAYER = number("build_window", "before_each_throw")
AFTER_SETTLEMENT = number("build_window", "after_settlement")


@kernel
def begin_turn(game: Game, seat: int) -> None:
    """Pass the dice to a seat."""
    game.turn = seat
    game.turns += 1
    game.streak = 0
    game.again = 0
    forget_turn(game)
    agenda.push(game, agenda.BEFORE_THROW_TASK, seat, 0, 0)
    # possible only under `ocnaru_quirks`: checked here, as the program does
    if game.cash[seat] < 0:
        bankrupt(game, seat, BANK)


@kernel
def before_throw(game: Game, seat: int, passes: int, acted: int) -> None:
    """Open the windows before a throw, once more if somebody acted; then throw and go on (S1)."""
    if passes == 0:
        agenda.push(game, agenda.AFTER_THROW_TASK, seat, 0, 0)
    if game.place[seat] != 0:
        return
    opens = passes == 0 or acted == 1
    if opens and passes + 1 < game.rules.window_passes:
        agenda.push(game, agenda.BEFORE_THROW_TASK, seat, passes + 1, 0)
    else:
        agenda.push(game, agenda.THROW, seat, 0, 0)
    if not opens:
        return
    if game.rules.build_window == EVERY_PLAYER:
        for offset in range(int(game.num_players) - 1, 0, -1):
            agenda.push(game, agenda.WINDOW, seat_after(game, seat, offset), agenda.OUT_OF_TURN, 0)
    if game.rules.build_window != AFTER_SETTLEMENT:
        agenda.push(game, agenda.WINDOW, seat, agenda.BEFORE_THROW, 0)
    elif game.jail[seat] > 0 and not game.rules.jail_pay_after_throw:
        agenda.push(game, agenda.JAIL, seat, 0, 0)


@kernel
def note_action(game: Game) -> None:
    """Mark that somebody acted in this pass of windows (S1)."""
    for i in range(game.depth):
        if game.agenda[i, 0] == agenda.BEFORE_THROW_TASK:
            game.agenda[i, 3] = 1


@kernel
def after_throw(game: Game, seat: int) -> None:
    """Throw again, or open the last window and end the turn (3, 8, S1, S8)."""
    alive = game.place[seat] == 0
    if alive and game.again:
        agenda.push(game, agenda.BEFORE_THROW_TASK, seat, 0, 0)
        window = game.rules.build_window == AFTER_SETTLEMENT
    else:
        agenda.push(game, agenda.END_TURN, seat, 0, 0)
        window = game.rules.build_window != EVERY_PLAYER
    if alive and window:
        agenda.push(game, agenda.WINDOW, seat, agenda.AFTER_THROW, 0)


@kernel
def end_turn(game: Game, seat: int) -> None:
    """End the game if a cap is reached, otherwise pass the dice (S9, S13)."""
    following = next_solvent(game, seat)
    if _order(game, following) <= _order(game, seat):
        game.rounds += 1
    if game.rules.win_cash > 0 and _richest(game) >= game.rules.win_cash:
        finish(game, BY_CASH)
    elif 0 < game.rules.max_turns <= game.turns or 0 < game.rules.max_rounds <= game.rounds:
        finish(game, BY_CAP)
    else:
        agenda.push(game, agenda.BEGIN_TURN, following, 0, 0)


@kernel
def _order(game: Game, seat: int) -> int:
    """A seat's place in a round, counted from the seat that started the game."""
    return (seat - int(game.first)) % int(game.num_players)


@kernel
def _richest(game: Game) -> int:
    most = 0
    for seat in range(game.num_players):
        if game.place[seat] == 0:
            most = max(most, int(game.cash[seat]))
    return most
