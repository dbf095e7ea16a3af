"""Income tax (51)."""

from __future__ import annotations

from monopoly_env.engine import agenda
from monopoly_env.engine.players import total_worth
from monopoly_env.game import POT, Game
from monopoly_env.kernels import kernel
from monopoly_env.rules import number

FLAT_TAX = 200  # dollars
FLAT, TENTH = 0, 1  # the two answers to the question

_BY_CHOICE = number("income_tax", "choice")
_LESSER = number("income_tax", "min")
_TENTH_ALWAYS = number("income_tax", "pct10")


@kernel
def income_tax(game: Game, seat: int) -> None:
    """Charge the tax, or ask which one. Players choose before their worth is computed (51)."""
    rule = game.rules.income_tax
    if rule == _BY_CHOICE:
        agenda.push(game, agenda.TAX, seat, 0, 0)
    elif rule == _TENTH_ALWAYS or (rule == _LESSER and tenth(game, seat) < FLAT_TAX):
        charge_tax(game, seat, TENTH)
    else:
        charge_tax(game, seat, FLAT)


@kernel
def tenth(game: Game, seat: int) -> int:
    """A tenth of the total worth, rounded down to dollars (S14); 0 if negative (a quirk)."""
    return max(0, total_worth(game, seat) // 10)


@kernel
def charge_tax(game: Game, seat: int, answer: int) -> None:
    """Charge the tax that the player chose."""
    agenda.push(game, agenda.CHARGE, seat, tenth(game, seat) if answer == TENTH else FLAT_TAX, POT)
