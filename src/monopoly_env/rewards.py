"""Reward functions by name.

All rewards are zero-sum over the seats and lie in [-1, 1] at the end of a game:

- `win` (the default): +1 for the winner; the others share -1. A draw is rewarded like a fair
  lottery among the players who drew.
- `rank`: from +1 for first place to -1 for last place in equal steps. Tied players share the mean
  of their places.
- `net_worth`: the share of total worth at the end, centred and scaled: +1 for all of it, 0 for an
  equal share. If one solvent player is left, this equals `win`; if a cap ends the game, it measures
  how far ahead each player is.

A bankrupt player's reward cannot change any more, so the environments pay it at once, when the
player leaves.

`win_shaped`, `rank_shaped` and `net_worth_shaped` add potential-based shaping at every step: F =
discount * phi(after) - phi(before) (Ng, Harada and Russell, "Policy invariance under reward
transformations", ICML 1999). The potential phi of a seat is its centred share of total worth, and 0
before the first step and after the end. With discount 1 the shaping of a game therefore sums to 0,
and for every discount the optimal policy stays the same.

Worth is cash plus the printed prices of all lots plus the purchase prices of all buildings (rule
51).

`register` adds a reward of your own, which every environment then knows by its name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from monopoly_env.core import in_range
from monopoly_env.engine import agenda
from monopoly_env.engine.players import solvent_seats, total_worth
from monopoly_env.engine.sets import has
from monopoly_env.errors import ConfigurationError, check_array, nearest
from monopoly_env.game import Game, Games
from monopoly_env.kernels import entry, kernel
from monopoly_env.kernels.callbacks import Callback, Caller
from monopoly_env.kernels.signatures import Array1

KINDS: Final = {
    "win": (
        "+1 for the winner, -1/(P-1) for each other player; k players who draw get 1/k -"
        " (k-1)/k/(P-1) each"
    ),
    "rank": "1 - 2 (r-1)/(P-1) for rank r of P players; ties share the mean rank of their places",
    "net_worth": "(P s - 1)/(P-1) for share s of the total worth of P players at the end",
}
SHAPED: Final = "_shaped"

Kernel: TypeAlias = Callable[[Any, int, float, Any, Any], None]
# a reward as kernels take it: handle, discount, each_step
Terms: TypeAlias = tuple[int, float, bool]


class RewardKernel(Callback):
    """A function `reward(game, left, discount, memory, out)`: what each seat earned in a step."""

    WHAT = "kernel of a reward"

    @staticmethod
    def _prototype(
        game: Game, left: int, discount: float, memory: Array1[np.float64], out: Array1[np.float32]
    ) -> None: ...


# pay(handle, game, left, discount, memory, out), in compiled code
pay: Final = Caller(RewardKernel)


@dataclass(frozen=True)
class Reward:
    """A reward, ready for the kernel `write_reward`; `make` makes it.

    Attributes:
        name: Its name.
        kernel: The function that writes it.
        each_step: Whether every step may be rewarded, or a seat only when it leaves the game.
        discount: The learner's discount factor per step, whoever moves; only the shaping uses it.
    """

    name: str
    kernel: RewardKernel = field(repr=False)
    each_step: bool
    discount: float

    @property
    def terms(self) -> Terms:
        """The reward as the kernel `write_reward` takes it."""
        return self.kernel.handle, self.discount, self.each_step

    def after(self, game: Game, memory: NDArray[np.float64]) -> NDArray[np.float32]:
        """The rewards of the step that led to this state, all final ones at the end: (P,) float32.

        Args:
            game: The game after the step.
            memory: (P,) float64, zeros at the start of a game, updated in place: the potentials of
                shaped rewards.

        Raises:
            ConfigurationError: The memory is of another kind or too short, or the game is none.
            PositionError: A number of the record is out of its range.
        """
        batch, players = in_range(game), int(game.num_players)
        check_array("memory", memory, np.float64, players)
        out, everybody = np.empty(players, np.float32), (1 << players) - 1
        now = 0 if game.decision == agenda.OVER else everybody
        _write_one(self.terms, batch, everybody, now, memory, out)
        return out


class _Kind(NamedTuple):
    kernel: RewardKernel
    each_step: bool


def names() -> tuple[str, ...]:
    """The names of all rewards: the built-in ones, then those added by `register`."""
    return tuple(_REWARDS)


def register(name: str, kernel: Kernel, each_step: bool = False) -> None:
    """Add a reward, which every environment then knows by its name.

    Examples:
        >>> from monopoly_env import monopoly_v0, rewards
        >>> def earned(game, left, discount, memory, out):  # compiled on first use
        ...     for seat in range(game.num_players):  # cash earned since the last step
        ...         out[seat] = (game.cash[seat] - memory[seat]) / 5000
        ...         memory[seat] = game.cash[seat]
        >>> rewards.register("cash", earned, each_step=True)
        >>> env = monopoly_v0.env(reward="cash")
        >>> env.reset(seed=0)
        >>> env.step(env.last()[0]["action_mask"].argmax())

    Args:
        name: Letters, digits and `_`. A name registered earlier is replaced; a built-in name is
            refused.
        kernel: `reward(game, left, discount, memory, out)`, called after a step. It writes what
            each seat has earned to `out`, (P,) float32 of zeros, and only reads the game. `left`
            has the seats that left in this step, one bit each: bankrupt, or all at the end; earlier
            ones are ignored. `memory`, 8 float64 numbers of this game, is zeros at its start.
            `monopoly_env.testing.check_reward` checks the kernel.
        each_step: Whether it pays at every step, or is only called when a seat leaves.

    Raises:
        ConfigurationError: The name is invalid, or the kernel takes other arguments.
    """
    if not isinstance(name, str) or not name.isidentifier():
        raise ConfigurationError(
            f"The name of a reward may only have letters, digits and '_', not {name!r}."
        )
    if name in BUILT_IN:
        raise ConfigurationError(f"The reward {name!r} is built in: choose another name.")
    made = kernel if isinstance(kernel, RewardKernel) else RewardKernel(kernel)
    _REWARDS[name] = _Kind(made, bool(each_step))


def make(name: str = "win", discount: float = 1.0) -> Reward:
    """Make the reward of one of `names()`; only shaped rewards use the discount, per step.

    Raises:
        ConfigurationError: The name is unknown, or the discount is outside (0, 1].
    """
    if name not in _REWARDS:
        raise ConfigurationError(
            f"Unknown reward {name!r}. {nearest(name, names())} rewards.register adds your own."
        )
    if not 0.0 < discount <= 1.0:
        raise ConfigurationError(f"discount={discount!r} must be greater than 0 and at most 1.")
    return Reward(name, *_REWARDS[name], float(discount))


def resolve(reward: str | Reward) -> Reward:
    """A reward, given by name or made already.

    Raises:
        ConfigurationError: The name is unknown, or it is no reward.
    """
    made = make(reward) if isinstance(reward, str) else reward
    if not isinstance(made, Reward):
        raise ConfigurationError(
            f"reward={reward!r:.80} must be a name or a Reward, as rewards.make returns it."
        )
    return made


@kernel
def write_reward(terms: Terms, game: Game, before: int, now: int, memory: Any, out: Any) -> None:
    """Write the rewards of a step; they are zeros for seats that had left before.

    Args:
        terms: `Reward.terms`.
        game: The game after the step.
        before: The seats that had not left before the step, one bit each.
        now: The seats that have still not left (`staying`).
        memory: (8,) float64, zeros when a game starts, otherwise as this kernel left them.
        out: (P,) float32.
    """
    handle, discount, each_step = terms
    out[:] = 0.0
    if each_step or now != before:
        pay(handle, game, before & ~now, discount, memory, out)
        for seat in range(len(out)):
            if not has(before, seat):
                out[seat] = 0.0


@kernel
def staying(game: Game) -> int:
    """The seats that are still playing, one bit each: not bankrupt, and the game is not over."""
    return 0 if game.decision == agenda.OVER else solvent_seats(game)


@kernel
def _tied(game: Game, place: int) -> int:
    """How many players hold a place."""
    count = 0
    for seat in range(game.num_players):
        if game.place[seat] == place:
            count += 1
    return count


@kernel
def _win_of(game: Game, seat: int) -> float:
    loss = 1.0 / (int(game.num_players) - 1)
    if game.place[seat] != 1:
        return -loss
    chance = 1.0 / _tied(game, 1)
    return chance - (1.0 - chance) * loss


@kernel
def _rank_of(game: Game, seat: int) -> float:
    mean = int(game.place[seat]) + (_tied(game, int(game.place[seat])) - 1) / 2.0
    return 1.0 - 2.0 * (mean - 1.0) / (int(game.num_players) - 1)


@kernel
def _worth(game: Game, seat: int) -> int:
    """Total worth; without the negative worth, and buildings of others, of Ocnaru's program."""
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
    """A seat's share of all worth, centred: 1 for all, 0 for an equal share, -1/(P-1) for none."""
    players = int(game.num_players)
    if total == 0:
        return 0.0
    return (players * _worth(game, seat) / total - 1.0) / (players - 1)


# --- the built-in rewards


@kernel
def _write_wins(game: Game, left: int, out: Any) -> None:
    for seat in range(len(out)):
        if has(left, seat):
            out[seat] = _win_of(game, seat)


@kernel
def _write_ranks(game: Game, left: int, out: Any) -> None:
    for seat in range(len(out)):
        if has(left, seat):
            out[seat] = _rank_of(game, seat)


@kernel
def _write_leads(game: Game, left: int, out: Any) -> None:
    total = worth_of_all(game)
    for seat in range(len(out)):
        if has(left, seat):
            out[seat] = worth_lead(game, seat, total)


@kernel
def _add_shaping(game: Game, left: int, discount: float, potential: Any, out: Any) -> None:
    total = worth_of_all(game)
    for seat in range(len(out)):
        after = 0.0 if has(left, seat) else worth_lead(game, seat, total)
        out[seat] += discount * after - potential[seat]
        potential[seat] = after


@RewardKernel
def _win(game: Game, left: int, discount: float, memory: Any, out: Any) -> None:
    _write_wins(game, left, out)


@RewardKernel
def _rank(game: Game, left: int, discount: float, memory: Any, out: Any) -> None:
    _write_ranks(game, left, out)


@RewardKernel
def _net_worth(game: Game, left: int, discount: float, memory: Any, out: Any) -> None:
    _write_leads(game, left, out)


@RewardKernel
def _win_shaped(game: Game, left: int, discount: float, memory: Any, out: Any) -> None:
    _write_wins(game, left, out)
    _add_shaping(game, left, discount, memory, out)


@RewardKernel
def _rank_shaped(game: Game, left: int, discount: float, memory: Any, out: Any) -> None:
    _write_ranks(game, left, out)
    _add_shaping(game, left, discount, memory, out)


@RewardKernel
def _net_worth_shaped(game: Game, left: int, discount: float, memory: Any, out: Any) -> None:
    _write_leads(game, left, out)
    _add_shaping(game, left, discount, memory, out)


_REWARDS: Final[dict[str, _Kind]] = {
    "win": _Kind(_win, False),
    "rank": _Kind(_rank, False),
    "net_worth": _Kind(_net_worth, False),
    "win_shaped": _Kind(_win_shaped, True),
    "rank_shaped": _Kind(_rank_shaped, True),
    "net_worth_shaped": _Kind(_net_worth_shaped, True),
}
BUILT_IN: Final = tuple(_REWARDS)


@entry
def _write_one(
    terms: Terms,
    games: Games,
    before: int,
    now: int,
    memory: Array1[np.float64],
    out: Array1[np.float32],
) -> None:
    write_reward(terms, games[0], before, now, memory, out)
