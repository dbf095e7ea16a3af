"""Reward functions by name.

All rewards are zero-sum over the seats and lie in [-1, 1] at the end of a game:

- `win` (the default): +1 for the winner; the others share -1. A draw is rewarded like a fair lottery among the players who drew.
- `rank`: from +1 for first place to -1 for last place in equal steps. Tied players share the mean of their places.
- `net_worth`: the share of total worth at the end, centred and scaled: +1 for all of it, 0 for an equal share. If one solvent
  player is left, this equals `win`; if a cap ends the game, it measures how far ahead each player is.

A bankrupt player's reward cannot change any more, so the environments pay it at once, when the player leaves.

`win_shaped`, `rank_shaped` and `net_worth_shaped` add potential-based shaping at every step: F = discount * phi(after) - phi(before)
(Ng, Harada and Russell, "Policy invariance under reward transformations", ICML 1999). The potential phi of a seat is its centred
share of total worth, and 0 before the first step and after the end. With discount 1 the shaping of a game therefore sums to 0, and
for every discount the optimal policy stays the same.

Worth is cash plus the printed prices of all lots plus the purchase prices of all buildings (rule 51).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from monopoly_env.core import batch_of
from monopoly_env.engine import agenda
from monopoly_env.engine.players import solvent_seats, total_worth
from monopoly_env.engine.sets import has
from monopoly_env.errors import ConfigurationError, nearest
from monopoly_env.game import Game, Games
from monopoly_env.kernels import entry, kernel

KINDS: Final = {
    "win": "+1 for the winner, -1/(P-1) for each other player; k players who draw get 1/k - (k-1)/k/(P-1) each",
    "rank": "1 - 2 (r-1)/(P-1) for rank r of P players; ties share the mean rank of their places",
    "net_worth": "(P s - 1)/(P-1) for share s of the total worth of P players at the end",
}
WIN, RANK, NET_WORTH = range(len(KINDS))
Terms: TypeAlias = tuple[int, float, float]  # a reward as kernels take it: kind, shaping, discount
SHAPED: Final = "_shaped"


def names() -> tuple[str, ...]:
    """The names of all rewards."""
    return (*KINDS, *(kind + SHAPED for kind in KINDS))


@dataclass(frozen=True)
class Reward:
    """A reward, ready for the kernel `write_reward`.

    Attributes:
        name: One of `names()`.
        kind: The reward at the end of a game: WIN, RANK or NET_WORTH.
        shaping: Weight of the shaping: 1.0, or 0.0 for none.
        discount: The learner's discount factor per step of the game, whoever moves. Only the shaping uses it.
    """

    name: str
    kind: int
    shaping: float
    discount: float

    @property
    def terms(self) -> Terms:
        """The reward as the kernel `write_reward` takes it."""
        return self.kind, self.shaping, self.discount

    def after(self, game: Game, potential: NDArray[np.float64]) -> NDArray[np.float32]:
        """The rewards of the step that led to this state. The final rewards of all seats come at the end of the game.

        The environments pay a bankrupt player when it leaves. Here it is paid at the end, so that the result depends on the state alone.

        Args:
            game: The game after the step.
            potential: (P,) float64, zeros at the start of a game. It is updated in place, and is zeros again after the end.

        Returns:
            (P,) float32, a reward for each seat.
        """
        everybody = (1 << int(game.num_players)) - 1
        out = np.empty(int(game.num_players), np.float32)
        _write_one(self.terms, batch_of(game), everybody, 0 if game.decision == agenda.OVER else everybody, potential, out)
        return out


def make(name: str = "win", discount: float = 1.0) -> Reward:
    """Make a reward by name.

    Args:
        name: One of `names()`.
        discount: The learner's discount factor per step of the game. Only the shaped rewards use it.

    Raises:
        ConfigurationError: The name is unknown, or the discount is outside (0, 1].
    """
    if name not in names():
        raise ConfigurationError(f"Unknown reward {name!r}. {nearest(name, names())}")
    if not 0.0 < discount <= 1.0:
        raise ConfigurationError(f"discount={discount!r} must be greater than 0 and at most 1.")
    kind = tuple(KINDS).index(name.removesuffix(SHAPED))
    return Reward(name, kind, float(name.endswith(SHAPED)), float(discount))


@kernel
def write_reward(terms: Terms, game: Game, before: int, now: int, potential: Any, out: Any) -> None:
    """Write the rewards of a step: the final reward for a seat that left during it, and only shaping for the others.

    Args:
        terms: `Reward.terms`.
        game: The game after the step.
        before: The seats that had not left before the step, one bit each.
        now: The seats that have still not left (`staying`).
        potential: (P,) float64, zeros when a game starts, otherwise as this kernel left them.
        out: (P,) float32.
    """
    kind, shaping, discount = terms
    out[:] = 0.0
    if now != before:
        write_final(kind, game, out)  # a bankrupt player's reward cannot change any more
    total = 0 if now == 0 or shaping == 0.0 else worth_of_all(game)
    for seat in range(len(out)):
        left = has(before, seat) and not has(now, seat)
        if not left:
            out[seat] = 0.0
        if shaping != 0.0 and has(before, seat):
            after = 0.0 if left else worth_lead(game, seat, total)
            out[seat] += shaping * (discount * after - potential[seat])
            potential[seat] = after


@kernel
def staying(game: Game) -> int:
    """The seats that are still playing, one bit each: not bankrupt, and the game is not over."""
    return 0 if game.decision == agenda.OVER else solvent_seats(game)


@kernel
def write_final(kind: int, game: Game, out: Any) -> None:
    """Write the rewards of a finished game, for every seat."""
    total = worth_of_all(game) if kind == NET_WORTH else 0
    for seat in range(game.num_players):
        if kind == WIN:
            out[seat] = _win(game, seat)
        elif kind == RANK:
            out[seat] = _rank(game, seat)
        else:
            out[seat] = worth_lead(game, seat, total)


@kernel
def _tied(game: Game, place: int) -> int:
    """How many players hold a place."""
    count = 0
    for seat in range(game.num_players):
        if game.place[seat] == place:
            count += 1
    return count


@kernel
def _win(game: Game, seat: int) -> float:
    loss = 1.0 / (int(game.num_players) - 1)
    if game.place[seat] != 1:
        return -loss
    chance = 1.0 / _tied(game, 1)
    return chance - (1.0 - chance) * loss


@kernel
def _rank(game: Game, seat: int) -> float:
    mean = int(game.place[seat]) + (_tied(game, int(game.place[seat])) - 1) / 2.0
    return 1.0 - 2.0 * (mean - 1.0) / (int(game.num_players) - 1)


@kernel
def _worth(game: Game, seat: int) -> int:
    """Total worth, without the defects of Ocnaru's program: negative worth, and a bankrupt player credited with others' buildings."""
    return max(0, total_worth(game, seat) if game.lots[seat] != 0 else int(game.cash[seat]))


@kernel
def worth_of_all(game: Game) -> int:
    """The total worth of all players together, in dollars."""
    total = 0
    for seat in range(game.num_players):
        total += _worth(game, seat)
    return total


@kernel
def worth_lead(game: Game, seat: int, total: int) -> float:
    """A seat's share of `worth_of_all`, centred and scaled: 1 for all of it, 0 for an equal share, -1/(P-1) for nothing."""
    players = int(game.num_players)
    if total == 0:
        return 0.0
    return (players * _worth(game, seat) / total - 1.0) / (players - 1)


@entry()
def _write_one(terms: Terms, games: Games, before: int, now: int, potential: Any, out: Any) -> None:
    write_reward(terms, games[0], before, now, potential, out)
