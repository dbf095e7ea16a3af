"""Policies that behave badly, or that look closely, for every place where policies play."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import agents
import monopoly_env as me
from monopoly_env.actions import HEADS, NUM_ACTIONS, parse
from monopoly_env.engine.legal import count_legal, is_legal, nth_legal
from monopoly_env.engine.randomness import policy_draw
from monopoly_env.engine.sets import has
from monopoly_env.facts.board import SQUARE_LOT
from monopoly_env.kernels import kernel

# rules under which `restless` can go on for long
RICH: Final = {"auction": "none", "trade": "none", "start_cash": 1_000_000}
NEVER_ENDS: Final = r"Policy 'restless' in the game of seed \d+: .* never came to an end"

_BUY: Final = parse("buy")
_START, _STOP = HEADS["mortgage"].start, HEADS["unmortgage"].stop


@agents.policy_kernel
def _restless(game: Any, mask: Any, params: Any, memory: Any) -> int:
    """Buys everything, mortgages all it has, lifts the mortgages again, and never goes on.

    With params[0], only if an opponent declined.
    """
    if is_legal(game, _BUY):
        return _BUY
    if params[0] == 0 or _somebody_declined(game):
        for action in range(_START, _STOP):
            if is_legal(game, action):
                return action
    return nth_legal(game, 0)


@agents.policy_kernel
def _blind(game: Any, mask: Any, params: Any, memory: Any) -> int:
    """A random legal action; an illegal one if somebody has written the mask."""
    for action in range(NUM_ACTIONS):
        if mask[action]:
            return -1
    return nth_legal(game, policy_draw(game, int(game.player), count_legal(game)))


@agents.policy_kernel
def _seeing(game: Any, mask: Any, params: Any, memory: Any) -> int:
    """A random legal action; an illegal one if the mask is not right."""
    for action in range(NUM_ACTIONS):
        if mask[action] != is_legal(game, action):
            return -1
    return nth_legal(game, policy_draw(game, int(game.player), count_legal(game)))


@kernel
def _somebody_declined(game: Any) -> bool:
    """Whether another player stands on a lot that nobody owns."""
    owned = 0
    for seat in range(game.num_players):
        owned |= int(game.lots[seat])
    for seat in range(game.num_players):
        lot = int(SQUARE_LOT[game.rules.board, game.position[seat]])
        if seat != game.player and lot >= 0 and not has(owned, lot):
            return True
    return False


class Acting(agents.BatchedPolicy):
    """Acts by a function of the decisions, or as another policy, but asked in Python.

    Attributes:
        batches: The number of decisions of each call.
    """

    def __init__(self, answer: Callable[[agents.Decisions], Any] | str | agents.Policy) -> None:
        self.name, self.answer, self.batches = "acting", answer, []
        if not callable(answer):
            policy = agents.resolve(answer)
            self.name, self.answer = policy.name, policy.act

    def act(self, decisions: agents.Decisions) -> Any:
        self.batches.append(len(decisions))
        return self.answer(decisions)


def first(decisions: agents.Decisions) -> NDArray[np.int64]:
    """The first legal actions."""
    return decisions.mask.argmax(axis=1)


# Answers of a batched policy that are wrong, the error, and the end of what it says.
WRONG_ANSWERS: Final[list[tuple[Any, type[me.MonopolyError], str]]] = [
    (lambda decisions: np.full(len(decisions), 204), me.IllegalActionError, "illegal.*Legal: "),
    (lambda decisions: np.full(len(decisions), 999), me.IllegalActionError, "999 must be an int"),
    (lambda decisions: np.zeros(len(decisions)), me.ConfigurationError, "must return integers"),
    (lambda decisions: [0.5] * len(decisions), me.ConfigurationError, "must return integers"),
    (lambda decisions: np.zeros((len(decisions), 1), int), me.ConfigurationError, r"\(\d+, 1\)"),
    (lambda decisions: None, me.ConfigurationError, "must return integers"),
]


def restless(*, declined: bool = False) -> agents.CompiledPolicy:
    """It never ends its turn, under the rules `RICH`.

    Or only while an opponent stands on a lot that it could have bought.
    """
    return agents.CompiledPolicy("restless", _restless, [declined], reads_mask=False)


def blind() -> agents.CompiledPolicy:
    """It plays as long as no mask is written at its table."""
    return agents.CompiledPolicy("blind", _blind, reads_mask=False)


def seeing() -> agents.CompiledPolicy:
    """It plays as long as its masks are right."""
    return agents.CompiledPolicy("seeing", _seeing)


def rich(preset: str = "official") -> me.Rules:
    """A preset with the options `RICH`."""
    return me.Rules.preset(preset, **RICH)


class Historian(agents.BatchedPolicy):
    """Plays like another policy, and plays the history of its games again.

    Attributes:
        longest: The actions of the longest history that it was told.
        untold: Decisions without a history.
        wrong: Histories that do not lead to the open decision.
    """

    reads_history = True

    def __init__(self, inner: str) -> None:
        self.inner = agents.make(inner)
        self.name = inner
        self.longest, self.untold, self.wrong = 0, 0, 0

    def act(self, decisions: agents.Decisions) -> NDArray[np.int64]:
        self.untold += len(decisions) if decisions.history is None else 0
        for game, made in zip(
            decisions.games, decisions.history or (), strict=decisions.history is not None
        ):
            again = me.core.restarted(game)
            for action in np.asarray(made).tolist():
                me.step(again, action)
            # they count what policies drew, not what they did
            again["policy_draws"] = game["policy_draws"]
            self.wrong += again.tobytes() != game.tobytes()
            self.longest = max(self.longest, len(np.asarray(made)))
        return self.inner.act(decisions)
