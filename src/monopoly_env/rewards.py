"""What a player is rewarded for, by name.

All rewards are zero-sum over the seats and lie in [-1, 1] at the end of a game:

- `win` (the default): +1 for the winner, the others share -1. A draw is a fair lottery among those who drew.
- `rank`: from +1 for the first place to -1 for the last in equal steps; ties share the mean of their places.
- `net_worth`: the share of total worth at the end, centred and scaled: +1 for all of it, 0 for an equal share. A game that
  ends with one solvent player is rewarded as by `win`; one that ends by a cap, by how far ahead each player is.

What a bankrupt player gets cannot change any more: the environments give it to him at once, when he leaves.

`win_shaped`, `rank_shaped` and `net_worth_shaped` add, at every step, the potential-based shaping of Ng, Harada and Russell,
"Policy invariance under reward transformations" (ICML 1999), F = discount * phi(after) - phi(before). The potential phi of a
seat is its centred share of total worth; it is 0 before the first step and after the end, so that with discount 1 the
shaping of a game sums to nothing, and the best policy stays the best for every discount.

Worth is cash, printed prices of all lots, and purchase prices of buildings (rule 51).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from monopoly_env.core import batch_of
from monopoly_env.engine import agenda
from monopoly_env.engine.players import total_worth
from monopoly_env.errors import ConfigurationError, nearest
from monopoly_env.game import Game, Games
from monopoly_env.kernels import entry, kernel

KINDS: Final = {
    "win": "+1 to the winner, -1/(P-1) to each other; k players who drew get 1/k - (k-1)/k/(P-1) each",
    "rank": "1 - 2 (r-1)/(P-1) for rank r of P players; ties share the mean rank of their places",
    "net_worth": "(P s - 1)/(P-1) for share s of the total worth of P players at the end",
}
WIN, RANK, NET_WORTH = range(len(KINDS))
SHAPED: Final = "_shaped"


def names() -> tuple[str, ...]:
    """The names of all rewards."""
    return (*KINDS, *(kind + SHAPED for kind in KINDS))


@dataclass(frozen=True)
class Reward:
    """A reward, ready for the kernel `write_reward`.

    Attributes:
        name: One of `names()`.
        kind: Number of the reward at the end: WIN, RANK or NET_WORTH.
        shaping: Weight of the shaping: 1.0, or 0.0 for none.
        discount: The learner's discount factor for a step of the game, whoever moves; only the shaping uses it.
    """

    name: str
    kind: int
    shaping: float
    discount: float

    def after(self, game: Game, potential: NDArray[np.float64]) -> NDArray[np.float32]:
        """The rewards of the step that led to this state.

        Args:
            game: The game after the step.
            potential: (P,) float64, zeros at the start of a game; kept up to date. After the end of a game it is zeros again.

        Returns:
            (P,) float32, a reward for each seat.
        """
        out = np.empty(int(game.num_players), np.float32)
        _write_all(self.kind, self.shaping, self.discount, batch_of(game), potential[None], out[None])
        return out


def make(name: str = "win", discount: float = 1.0) -> Reward:
    """A reward by name.

    Args:
        name: One of `names()`.
        discount: The learner's discount factor for a step of the game; only the shaped rewards use it.

    Raises:
        ConfigurationError: An unknown name, or a discount outside (0, 1].
    """
    if name not in names():
        raise ConfigurationError(f"Unknown reward {name!r}. {nearest(name, names())}")
    if not 0.0 < discount <= 1.0:
        raise ConfigurationError(f"discount={discount!r} must be greater than 0 and at most 1.")
    kind = tuple(KINDS).index(name.removesuffix(SHAPED))
    return Reward(name, kind, float(name.endswith(SHAPED)), float(discount))


@kernel
def write_reward(kind: int, shaping: float, discount: float, game: Game, potential: Any, out: Any) -> None:
    """Write the rewards of the step that led to this state, for every seat.

    Args:
        kind: `Reward.kind`.
        shaping: `Reward.shaping`.
        discount: `Reward.discount`.
        game: The game after the step.
        potential: (P,) floats of the caller: zeros when a game begins (or is cut off by a limit of the environment), else as
            this kernel left them.
        out: (P,) floats; seats beyond the game's players become 0.
    """
    out[:] = 0.0
    if game.decision == agenda.OVER:
        write_final(kind, game, out)
    if shaping != 0.0:
        _add_shaping(shaping, discount, game, potential, out)


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
    """Total worth. Defects of Ocnaru's program do not count: worth below zero, and buildings of others in the hands of the bankrupt."""
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


@kernel
def _add_shaping(shaping: float, discount: float, game: Game, potential: Any, out: Any) -> None:
    over = game.decision == agenda.OVER
    total = 0 if over else worth_of_all(game)
    for seat in range(game.num_players):
        after = 0.0 if over else worth_lead(game, seat, total)
        out[seat] += shaping * (discount * after - potential[seat])
        potential[seat] = after


@entry()
def _write_all(kind: int, shaping: float, discount: float, games: Games, potential: Any, out: Any) -> None:
    for i in range(len(games)):
        write_reward(kind, shaping, discount, games[i], potential[i], out[i])
