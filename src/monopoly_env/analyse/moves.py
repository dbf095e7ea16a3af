"""Moves at a decision that can be compared: actions, and offers as a whole.

Policies begin a playout with an empty memory, in which the plan of an offer is lost. So an offer is
one move: the action that begins it, all of its steps, and 'cash: done'. Playouts begin at the last
of these actions.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from monopoly_env import core
from monopoly_env.actions import A_CASH, A_REPLY, DECISION_NAMES, HEADS, OFFERING, check, describe
from monopoly_env.engine.trade import COUNTER
from monopoly_env.errors import ConfigurationError, GameOverError, shortened
from monopoly_env.game import Game, Games
from monopoly_env.render import words

Move: TypeAlias = int | tuple[int, ...]  # an action, or all actions of an offer

TRADES: Final = range(HEADS["trade"].start, HEADS["trade"].stop)
_COUNTER: Final = A_REPLY + COUNTER
_BEGINS: Final = (*TRADES, _COUNTER)


def moves_of(game: Game, actions: Any = None) -> list[Move]:
    """The moves to compare at a decision.

    Args:
        game: A record that waits for a decision.
        actions: Actions, and sequences of the actions of an offer; by default all legal actions but
            those that begin an offer.

    Returns:
        The moves, each once. Whether they are legal is not checked.

    Raises:
        ConfigurationError: They are none, or the game waits for a step of an offer.
        GameOverError: The game is over.
    """
    legal = core.legal_actions(game).tolist()
    if not legal:
        raise GameOverError("The game is over: there is no action to compare.")
    if game.decision in OFFERING:
        raise ConfigurationError(
            f"Player {game.player} composes an offer ({DECISION_NAMES[game.decision]}), and"
            " playouts begin with an empty memory, in which its plan is lost. Compare whole offers"
            " at the decision before it: agents.compare_offers(game)."
        )
    if actions is None:
        moves: list[Move] = [action for action in legal if action not in _BEGINS]
    elif isinstance(actions, str) or not hasattr(actions, "__len__"):
        wanted = "a list of legal actions, such as [0, 1], or None for all"
        raise ConfigurationError(f"actions={shortened(actions)} must be {wanted}.")
    else:
        moves = list(dict.fromkeys(_move(given) for given in actions))
    if not moves:
        raise ConfigurationError("actions is empty: give one or more, or None for all legal ones.")
    return moves


def _move(given: Any) -> Move:
    """A move as it was given, checked as far as that needs no game."""
    if isinstance(given, str):
        advice = "monopoly_env.actions.parse gives that of a text"
        raise ConfigurationError(f"Action {shortened(given)} must be a number: {advice}.")
    if not isinstance(given, (list, tuple)):
        return check(given)
    steps = tuple(check(action) for action in given)
    if len(steps) < 2 or steps[0] not in _BEGINS:
        raise _no_offer(given)
    return steps


def _no_offer(steps: Any) -> ConfigurationError:
    return ConfigurationError(
        f"The actions {shortened(steps)} are no whole offer: it begins with an action such as"
        " 'trade with player +1' and ends with 'cash: done'."
    )


def start_of(game: Game, move: Move) -> tuple[Games, int]:
    """Where the playouts of a move begin.

    Returns:
        (1,) a copy of the game before the last action of the move, and that action.

    Raises:
        ConfigurationError: It is a part of an offer.
        IllegalActionError: An action is not legal.
    """
    start, last = _composed(game, move)
    batch, action = core.check_step(start, last)
    if action in TRADES:
        raise ConfigurationError(
            f"'{describe(action, game)}' only begins an offer, and playouts begin with an empty"
            " memory, in which its plan is lost. Give the whole offer, as the tuple of its actions"
            " up to 'cash: done', or call agents.compare_offers(game)."
        )
    if isinstance(move, tuple) and (start.decision not in OFFERING or not _ends(start, action)):
        raise _no_offer(move)
    return batch, action


def _composed(game: Game, move: Move) -> tuple[Game, int]:
    """A copy of the game before the last action of a move, and that action."""
    *steps, last = move if isinstance(move, tuple) else (move,)
    composed = core.clone(game)
    for action in steps:
        core.step(composed, action)
    return composed, last


def _ends(composed: Game, action: int) -> bool:
    """Whether an action ends an offer: 'cash: done', or one that makes the engine cancel it."""
    return core.step(core.clone(composed), action).decision not in OFFERING


def in_words(game: Game, move: Move) -> str:
    """An action or a whole offer: `offer player 1 Virginia Avenue and $40 for Boardwalk`."""
    if not isinstance(move, tuple):
        return describe(move, game)
    composed, last = _composed(game, move)
    is_counter, partner = move[0] == _COUNTER, f"player {composed.offer_to}"
    cash = int(composed.offer_cash)
    if last != A_CASH:
        return f"begin {'a counter-offer' if is_counter else 'an offer'} to {partner} and cancel it"
    given = words.goods(composed, composed.offer_give, cash)
    asked = words.goods(composed, composed.offer_ask, -cash)
    to = f"counter-offer to {partner}:" if is_counter else f"offer {partner}"
    return f"{to} {given} for {asked}"


def move_at(games: Games, actions: NDArray[np.int64], number: int) -> Move | None:
    """The move of a recorded game: an action, or the whole offer if the action begins one.

    Args:
        games: (D,) records, the game before each decision.
        actions: (D,) the actions.
        number: The decision.

    Returns:
        The move; None for a step of an offer, or the beginning of an unfinished one.
    """
    if games["decision"][number] in OFFERING:
        return None
    end = number + 1
    while end < len(games) and games["decision"][end] in OFFERING:
        end += 1
    steps = tuple(int(action) for action in actions[number:end])
    if steps[0] not in _BEGINS:
        return steps[0]
    finished = len(steps) > 1 and (end < len(games) or _ends(games[end - 1], steps[-1]))
    return steps if finished else None
