"""Returns and losses as pure functions, a paper's equation each, in its symbols.

Arrays have a row per decision: s a state, a the action taken, f(s, a) the scores of a network (M,
outputs) with very low numbers for illegal actions, T a temperature, pi(a|s) = softmax(f(s, .) / T).
Losses are (M,), to be averaged by the caller. Nothing here imports PyTorch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from monopoly_env.kernels import entry
from monopoly_env.kernels.signatures import Array1

if TYPE_CHECKING:
    from torch import Tensor

ILLEGAL: Final = -1e9  # the score of an illegal action


def log_policy(f: Tensor, T: float = 1.0) -> Tensor:
    """(M, outputs) log pi(.|s)."""
    return (f / T).log_softmax(1)


def of_action(values: Tensor, a: Tensor) -> Tensor:
    """The column a of each row of (M, outputs)."""
    return values.gather(1, a[:, None])[:, 0]


def log_probability(f: Tensor, a: Tensor, T: float = 1.0) -> Tensor:
    """The logarithm of pi(a|s)."""
    return of_action(log_policy(f, T), a)


def agreement(f: Tensor, a: Tensor) -> Tensor:
    """1 where a is the best action, argmax f(s, .)."""
    return (f.argmax(1) == a).float()


def cross_entropy(f: Tensor, a: Tensor, T: float = 1.0) -> Tensor:
    """Behaviour cloning: -log pi(a|s) of an expert's action (Hester et al., AAAI 2018)."""
    return -log_probability(f, a, T)


def soft_advantage(f: Tensor, a: Tensor, T: float) -> Tensor:
    """A(s, a) = T log pi(a|s), so that exp(A / T) sum to 1 (Nachum et al., NeurIPS 2017)."""
    return T * log_probability(f, a, T)


def munchausen_target(advantage: Tensor, old: Tensor, m: float) -> Tensor:
    """(R - V) + m A' with the old advantage A' (Vieillard et al., NeurIPS 2020).

    Repeated, A becomes the sum of what many rollouts say: 1 / (1 - m) times the advantage.
    """
    return advantage + m * old


def q_learning_target(r: Tensor, last: Tensor, q: Tensor, discount: float) -> Tensor:
    """R + discount max_a q(s', a), or r after the last action (Mnih et al., Nature 2015).

    Args:
        r: (M,) rewards.
        last: (M,) bool, whether the game ended.
        q: (M, outputs) of the target network for the next state, -inf where illegal.
        discount: Weight of the next state.
    """
    return r + (discount * q.max(1).values).masked_fill(last, 0.0)


def squared_error(value: Tensor, target: Tensor) -> Tensor:
    """(value - target)^2."""
    return (value - target) ** 2


def ppo_clip(log_pi: Tensor, old_log_pi: Tensor, advantage: Tensor, epsilon: float) -> Tensor:
    """-min(r A, clip(r, 1 - eps, 1 + eps) A), r = pi / pi_old (Schulman et al., 2017, eq. 7)."""
    r = (log_pi - old_log_pi).exp()
    return -(r * advantage).minimum(r.clamp(1 - epsilon, 1 + epsilon) * advantage)


def entropy(log_pi: Tensor, legal: Tensor) -> Tensor:
    """H(pi(.|s)) = -sum_a pi(a|s) log pi(a|s) over legal actions, from (M, outputs)."""
    return -(log_pi.exp() * log_pi.masked_fill(~legal, 0.0)).sum(1)


def lambda_returns(
    values: NDArray[np.float32],
    outcome: NDArray[np.float32],
    game: NDArray[np.int32],
    player: NDArray[np.int8],
    lambda_: float,
) -> NDArray[np.float32]:
    """R_t = (1 - lambda) V(s_t+1) + lambda R_t+1, the outcome after a player's last decision.

    TD(lambda) without discount (Sutton and Barto, 2018, 12.1); R - V is the generalized
    advantage estimate (Schulman et al., ICLR 2016).

    Args:
        values: (N,) V of the state of each decision.
        outcome: (N,) of the player's game.
        game: (N,) in rising order.
        player: (N,) the seat.
        lambda_: 1 takes the outcome alone.

    Returns:
        (N,).
    """
    returns = np.zeros(len(values), np.float32)
    _lambda_returns(values, outcome, game, player, lambda_, returns)
    return returns


@entry
def _lambda_returns(
    values: Array1[np.float32], outcome: Array1[np.float32], game: Array1[np.int32],
    player: Array1[np.int8], lambda_: float,
    returns: Array1[np.float32],
) -> None:  # fmt: skip
    later, value = np.full(8, np.nan, np.float64), np.zeros(8, np.float64)
    for row in range(len(values) - 1, -1, -1):
        if row + 1 < len(values) and game[row + 1] != game[row]:
            later[:] = np.nan
        seat = int(player[row])
        if np.isnan(later[seat]):
            later[seat] = outcome[row]
        else:
            later[seat] = (1.0 - lambda_) * value[seat] + lambda_ * later[seat]
        value[seat] = values[row]
        returns[row] = later[seat]
