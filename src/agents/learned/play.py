"""The kernel of a learned agent.

The network of the decision scores the open choices, and the best one is played, or one is drawn.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from agents.learned.answers import MOST_PLAYERS, note_answer, note_offer
from agents.learned.choices import (
    NO_CHOICE,
    NUM_CHOICES,
    PACKAGE,
    PRICE,
    is_asked,
    only_open,
    write_open,
)
from agents.learned.networks import NAMES, NETWORK_OF, OUTPUT
from agents.learned.observation import length, write
from agents.learned.options import Options, forget, new_options, work_out
from agents.learned.packages import ASKED, LENT
from agents.networks.forward import forward
from agents.networks.layout import AT_LAYERS, SIZES
from agents.players.vocabulary.offers import compose, plan
from monopoly_env.engine import agenda
from monopoly_env.engine.legal import nth_legal
from monopoly_env.engine.randomness import policy_draw
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Mask, Row, policy_kernel

# The row: the most players; the temperature (0: the best choice; else a choice is drawn by
# exp(score / temperature)); where the row of each network begins among all in float32 numbers, and
# where the last one ends; then the networks.
PLAYERS: Final = 0
TEMPERATURE: Final = 1
STARTS: Final = 2
WEIGHTS: Final = STARTS + len(NAMES) + 1

_LONGEST: Final = length(MOST_PLAYERS)
_DRAWS: Final = 1 << 30
ILLEGAL: Final = -1


@kernel
def score(game: Game, params: Row, seen: Any, outputs: Any) -> int:
    """Compute all outputs of the network that answers the open decision.

    Args:
        game: It waits for a decision.
        params: The row.
        seen: (features,) float32, the observation.
        outputs: (NUM_CHOICES,) float32, receives the scores.

    Returns:
        The number of the network.
    """
    number = int(NETWORK_OF[game.decision])
    weights = params[WEIGHTS:].view(np.float32)
    row = weights[int(params[STARTS + number]) : int(params[STARTS + number + 1])]
    count = int(row[SIZES + int(row[AT_LAYERS])])
    forward(row, seen[: int(row[SIZES])], 0, outputs[:count])
    return number


@kernel
def look(game: Game, options: Options, memory: Row, open_: Any, seen: Any) -> int:
    """Work out what is open, and if that is more than one choice what its player sees.

    Returns how many are open.

    `memory` is that of the player, which remembers how its last offer was answered.
    """
    seat, offering = int(game.player), agenda.ASK <= game.decision <= agenda.CASH
    note_answer(game, seat, memory)
    if offering:
        work_out(game, seat, options)
    count = write_open(game, options, open_)
    if count > 1:
        if not offering:
            work_out(game, seat, options)
        write(game, seat, options, memory, seen)
    elif not offering:
        forget(options)
    return count


@kernel
def _best(game: Game, params: Row, open_: Any, seen: Any, outputs: Any) -> int:
    """Score all choices; returns the open one of the highest score."""
    number, table = score(game, params, seen, outputs), OUTPUT
    best, high = NO_CHOICE, -math.inf
    for choice in range(NUM_CHOICES):
        if open_[choice] and outputs[table[number, choice]] > high:
            best, high = choice, float(outputs[table[number, choice]])
    return best


@kernel
def choose(game: Game, params: Row, count: int, open_: Any, seen: Any, outputs: Any) -> int:
    """The open choice of the highest score, or one drawn by the scores; NO_CHOICE if none is open.

    `count` is how many a `look` has found before.
    """
    if count < 2:
        return only_open(open_)
    best, heat = _best(game, params, open_, seen, outputs), params[TEMPERATURE]
    if heat <= 0.0:
        return best
    number, table = NETWORK_OF[game.decision], OUTPUT
    high = float(outputs[table[number, best]])
    total = 0.0
    for choice in range(NUM_CHOICES):
        if open_[choice]:
            total += math.exp((float(outputs[table[number, choice]]) - high) / heat)
    left = total * policy_draw(game, int(game.player), _DRAWS) / _DRAWS
    for choice in range(NUM_CHOICES):
        if open_[choice]:
            left -= math.exp((float(outputs[table[number, choice]]) - high) / heat)
            if left < 0.0:
                return choice
    return best


@kernel
def write_probabilities(
    game: Game, params: Row, count: int, open_: Any, seen: Any, outputs: Any, probabilities: Any
) -> None:
    """Write how likely each choice is if one is drawn by exp(score), (NUM_CHOICES,).

    `count` is how many a `look` has found before.
    """
    probabilities[:] = open_
    if count < 2:
        return
    best = _best(game, params, open_, seen, outputs)
    number, table = NETWORK_OF[game.decision], OUTPUT
    high = float(outputs[table[number, best]])
    for choice in range(NUM_CHOICES):
        if open_[choice]:
            probabilities[choice] = math.exp(float(outputs[table[number, choice]]) - high)
    probabilities /= probabilities.sum()


@policy_kernel
def play(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    """Play the choice, and the picks that follow from it.

    At a larger table than its own no action is legal: ILLEGAL.
    """
    if game.num_players > params[PLAYERS]:
        return ILLEGAL
    if not is_asked(game):
        return compose(game, memory)
    options, open_, outputs = (
        new_options(),
        np.empty(NUM_CHOICES, np.bool_),
        np.empty(NUM_CHOICES, np.float32),
    )
    seen = np.empty(_LONGEST, np.float32)[: length(int(params[PLAYERS]))]
    count = look(game, options, memory, open_, seen)
    return first_action(game, choose(game, params, count, open_, seen, outputs), options, memory)


@kernel
def first_action(game: Game, choice: int, options: Options, memory: Row) -> int:
    """The action with which a choice begins; `compose` tells the picks that follow."""
    if 0 <= choice < PACKAGE:
        return choice
    if choice == NO_CHOICE and game.decision != agenda.ASK:  # a debtor who could only trade
        return nth_legal(game, 0)
    _plan(game, choice, options, memory)
    return compose(game, memory)


@kernel
def _plan(game: Game, choice: int, options: Options, memory: Row) -> None:
    """Go on with an offer: with the package or the price; without a choice it ends in nothing."""
    ask, give, cash = int(game.offer_ask), int(game.offer_give), 0
    if choice >= PRICE:
        cash = int(options.prices[choice - PRICE])
        note_offer(game, cash, options.limits, memory)
    elif choice >= PACKAGE:
        package = options.menus[int(game.offer_to), choice - PACKAGE]
        ask, give = int(package[ASKED]), int(package[LENT])
    plan(ask, give, cash, memory)
