"""A player that looks before it acts: where several policies disagree, it plays their answers out and takes the best.

This is policy switching (Chang, Givan and Chong, "Parallel rollout for online solution of partially observable Markov decision
processes", 2004), which Long and Kanagal (2015) used for Monopoly, with paired playouts. Offers are made by the base policy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from monopoly_env.actions import DECISION_NAMES
from monopoly_env.analyse.actions import compare_actions
from monopoly_env.errors import ConfigurationError
from monopoly_env.game import Games
from monopoly_env.policy.protocol import BatchedPolicy, CompiledPolicy, Decisions
from monopoly_env.policy.resolve import resolve

ADVISERS: Final = ("algorithmic", "strategic", "fp/b")
_OFFERING: Final = tuple(DECISION_NAMES.index(name) for name in ("trade_ask", "trade_give", "trade_cash"))
_SEED: Final = np.uint64((1 << 63) - 1)


class SearchPolicy(BatchedPolicy):
    """A base policy, and the advice of others, judged by playouts in which the base policy plays every seat.

    The result depends on the game and the options, not on the clock, the threads or the batch.
    """

    def __init__(
        self,
        base: str = "expert",
        playouts: int = 100,
        advisers: Sequence[str] = ADVISERS,
        margin: float = 1.0,
        turns: int | None = None,
        threads: int | None = None,
        name: str | None = None,
    ) -> None:
        """Make the player.

        Args:
            base: The policy whose answer stands unless another one proves better, and who plays on in the playouts.
            playouts: Playouts of each answer. With 0 the player is its base policy.
            advisers: The policies that are asked too. Their memory is empty at every decision.
            margin: Another answer is taken if its mean lead is more than so many standard errors.
            turns: See `monopoly_env.rollout`.
            threads: Number of threads; by default one per core.
            name: What tables call it.

        Raises:
            ConfigurationError: A policy is unknown or not compiled, or a number is out of range.
        """
        if isinstance(playouts, bool) or not isinstance(playouts, (int, np.integer)) or playouts < 0:
            raise ConfigurationError(f"playouts={playouts!r} must be a whole number, 0 for none.")
        if not margin >= 0:
            raise ConfigurationError(f"margin={margin!r} must not be negative.")
        self.base = _compiled(base)
        self.advisers = [_compiled(adviser) for adviser in advisers]
        self.name = name or f"search/{base}/{playouts}"
        self.searched = 0  # decisions that were played out
        self._options: dict[str, Any] = {
            "base": base, "playouts": int(playouts), "advisers": list(advisers), "margin": float(margin), "turns": turns,
            "threads": threads,
        }  # fmt: skip

    @property
    def kind(self) -> str:
        """`search`."""
        return "search"

    def options(self) -> dict[str, Any]:
        """Everything that the player is made of."""
        return self._options

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """Choose an action for each decision."""
        actions = _answer(self.base, decisions, decisions.memory)
        if self._options["playouts"] == 0 or not len(decisions):
            return actions
        advice = np.stack([actions, *(_answer(adviser, decisions, None) for adviser in self.advisers)])
        contested = (advice != actions).any(axis=0) & ~np.isin(decisions.decision, _OFFERING)
        for number in np.flatnonzero(contested):
            seed = int(decisions.key[number] & _SEED)
            actions[number] = self._best(decisions.games[number : number + 1], dict.fromkeys(advice[:, number].tolist()), seed)
        return actions

    def _best(self, games: Games, candidates: dict[int, None], seed: int) -> int:
        """The answer that does best; the base policy's, which comes first, unless another one is better by the margin."""
        self.searched += 1
        first, *others = candidates
        options = {name: self._options[name] for name in ("turns", "threads")}
        compared = compare_actions(games[0], [first, *others], self.base, self._options["playouts"], seed=seed, **options)
        best = compared.best.action
        if best == first:
            return first
        lead = compared.lead(best, first)
        return best if lead.mean() > self._options["margin"] * lead.std(ddof=1) / np.sqrt(len(lead)) else first


def _compiled(policy: str) -> CompiledPolicy:
    made = resolve(policy)
    if not isinstance(made, CompiledPolicy):
        raise ConfigurationError(f"Policy {made.name!r} is not compiled: playouts run in compiled code.")
    return made


def _answer(policy: CompiledPolicy, decisions: Decisions, memory: NDArray[np.float64] | None) -> NDArray[np.int64]:
    """What a policy would do; it draws from copies, so that asking it does not change the games."""
    return policy.act(Decisions(decisions.games.copy(), memory, decisions.key))
