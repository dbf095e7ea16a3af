"""Jail (8, 44-50)."""

from __future__ import annotations

from monopoly_env.engine import agenda, decks
from monopoly_env.facts.board import JAIL_SQUARE
from monopoly_env.game import POT, Game
from monopoly_env.kernels import kernel

PAY, CARD = 0, 1  # the two actions of the head `jail`


@kernel
def send_to_jail(game: Game, seat: int) -> None:
    """Go directly to jail: no salary, and the turn ends even after a double (8, 11, 43)."""
    game.position[seat] = JAIL_SQUARE
    game.jail[seat] = 1
    game.again = 0


@kernel
def throw_in_jail(game: Game, seat: int, steps: int, double: bool) -> bool:
    """Carry out a throw from jail.

    Returns True if the token leaves with this throw (45c); otherwise tasks on the agenda follow.
    """
    if double:
        game.jail[seat] = 0
        if game.rules.jail_double_extra_throw:  # 46
            game.streak += 1
            game.again = 1
        return True
    failed = int(game.jail[seat])
    if failed >= game.rules.jail_turns:  # 45d: the fine or a card, then move by this throw
        agenda.push(game, agenda.JAIL, seat, steps, 1)
    else:
        game.jail[seat] = failed + 1
        if game.rules.jail_pay_after_throw:  # 47
            agenda.push(game, agenda.JAIL, seat, steps, 0)
    return False


@kernel
def may_pay_before_throw(game: Game, seat: int) -> bool:
    """Whether the fine is offered before the throw; not on the last turn in jail (45b, 47)."""
    return game.jail[seat] < game.rules.jail_turns or game.rules.jail_pay_turn3


@kernel
def leave_before_throw(game: Game, seat: int, how: int) -> None:
    """Pay or use a card before throwing; an ordinary turn follows (45a, 45b)."""
    settle_fine(game, seat, how)
    game.jail[seat] = 0


@kernel
def leave_after_throw(game: Game, seat: int, how: int, steps: int) -> None:
    """Pay or use a card after a failed throw, then move by that throw (45d, 47)."""
    agenda.push(game, agenda.LEAVE_JAIL, seat, steps, 0)
    settle_fine(game, seat, how)


@kernel
def settle_fine(game: Game, seat: int, how: int) -> None:
    """Charge the fine, or return the card to the bottom of its deck (50)."""
    if how == PAY:
        agenda.push(game, agenda.CHARGE, seat, int(game.rules.jail_fine), POT)
    elif how == CARD:
        decks.return_jail_card(game, seat)
