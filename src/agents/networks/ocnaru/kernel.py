"""The compiled kernel of the player of the thesis."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from agents.networks.forward import forward
from agents.networks.ocnaru.table import (
    BUY,
    CARD,
    DOWNGRADE,
    FINE,
    GATES,
    MORTGAGE,
    PLAYS,
    SIZES,
    STARTS,
    TEMPERATURE,
    UNMORTGAGE,
    UPGRADE,
    WEIGHTS,
)  # fmt: skip
from agents.players.strategic.money import streets_at
from agents.players.strategic.parameters import AT, NUM_PARAMETERS
from agents.players.strategic.play import play as play_strategic
from agents.players.strategic.values import SLOT, danger
from agents.players.vocabulary.reading import NO_LOT, legal
from monopoly_env import actions
from monopoly_env.encoding import ocnaru
from monopoly_env.engine import agenda
from monopoly_env.engine.building import highest_level, lowest_level
from monopoly_env.engine.randomness import policy_draw
from monopoly_env.engine.sets import has, lowest
from monopoly_env.facts.board import GROUP_OF, LOT_SQUARE, NUM_LOTS, NUM_STREETS
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import MEMORY, Mask, Row, policy_kernel

# The networks of a window, in the order of the base policy's phases.
_PHASES: Final = np.array([DOWNGRADE, MORTGAGE, UNMORTGAGE, UPGRADE])
# [network] -> the first action of its head, the length of the head, its maximum picks in a window.
_FIRST: Final = np.array(
    [0, actions.A_BUILD, actions.A_SELL, actions.A_MORTGAGE, actions.A_UNMORTGAGE, 0, 0]
)
_COUNT: Final = np.array([0, NUM_STREETS, NUM_STREETS, NUM_LOTS, NUM_LOTS, 0, 0])
_MOST: Final = np.array([1, 1, 1, 3, 2, 1, 1])

# The memory after that of the base policy.
(
    # The network whose decisions are logged below, plus one; 0: none; EVERY: all
    WATCHED,
    EPSILON,  # the share of its decisions that are random
    NOTED,  # the network that has decided, plus one; 0: none
    CHOICE, OPEN,  # its chosen output, and the open ones, a bit each
    # The base policy's action; NO_LOT if it was logged with an earlier pick
    BASE_ACTION,
    _STAMP,  # the current window
    _DONE,  # the networks that have acted in it, a bit each
    _BASE_DONE,  # whether the base policy has closed it
    # The network that picked lots, and its remaining lots
    _NETWORK, _LEFT,
) = range(SLOT.end, SLOT.end + 11)  # fmt: skip
assert _LEFT < MEMORY - 3  # the last three are of `offers`

EVERY: Final = len(SIZES) + 1
_DRAWS: Final = 1 << 20  # values of a random draw

_ask_base: Final = kernel(play_strategic.function)


# --- networks


@kernel
def _plays(params: Row, network: int) -> bool:
    return params[PLAYS + network] != 0


@kernel
def _value(game: Game, seat: int, network: int, params: Row, memory: Row, values: Row) -> None:
    """Fill in the values of all outputs: random to explore, with Gumbel noise at a temperature."""
    if (
        memory[WATCHED] == network + 1
        and policy_draw(game, seat, _DRAWS) < memory[EPSILON] * _DRAWS
    ):
        for output in range(len(values)):
            values[output] = policy_draw(game, seat, _DRAWS)
        return
    seen = np.empty(ocnaru.SIZE, np.float32)
    ocnaru.write(game, seat, seen)
    weights = params[WEIGHTS:].view(np.float32)
    forward(weights[STARTS[network] : STARTS[network + 1]], seen, 0, values)
    if params[TEMPERATURE] > 0.0:
        for output in range(len(values)):
            values[output] -= params[TEMPERATURE] * math.log(
                -math.log((policy_draw(game, seat, _DRAWS) + 0.5) / _DRAWS)
            )


@kernel
def _note(network: int, choice: int, open_: int, by_base: int, memory: Row) -> None:
    if memory[WATCHED] == network + 1 or memory[WATCHED] == EVERY:
        memory[NOTED] = network + 1
        memory[CHOICE] = choice
        memory[OPEN] = open_
        memory[BASE_ACTION] = by_base


@kernel
def _yes(game: Game, seat: int, network: int, by_base: int, params: Row, memory: Row) -> bool:
    """The answer of a network with two outputs."""
    values = np.empty(2)
    _value(game, seat, network, params, memory, values)
    answer = values[1] > values[0]
    _note(network, 1 if answer else 0, 3, by_base, memory)
    return answer


# --- the window of a turn


@kernel
def _output_of(game: Game, network: int, lot: int) -> int:
    """The output of a lot: that of its group, or of its square."""
    return (
        int(GROUP_OF[lot])
        if network == UPGRADE or network == DOWNGRADE
        else int(LOT_SQUARE[game.rules.board, lot])
    )


@kernel
def _open_outputs(game: Game, network: int) -> int:
    """The outputs with a legal action, a bit each."""
    lots, outputs = legal(game, int(_FIRST[network]), int(_COUNT[network])), 0
    while lots:
        outputs |= 1 << _output_of(game, network, lowest(lots))
        lots &= lots - 1
    return outputs


@kernel
def _lots_of(game: Game, network: int, output: int) -> int:
    """The lots of an output, a bit each: lowest or highest streets of a group, or a square."""
    lots, open_ = 0, legal(game, int(_FIRST[network]), int(_COUNT[network]))
    if network == UPGRADE:
        lots = streets_at(game, output, lowest_level(game, output))
    elif network == DOWNGRADE:
        lots = streets_at(game, output, highest_level(game, output))
    else:
        for lot in range(NUM_LOTS):
            if _output_of(game, network, lot) == output:
                lots = 1 << lot
    return lots & open_


@kernel
def _pick(game: Game, seat: int, network: int, params: Row, memory: Row) -> int:
    """The lots that a network acts on in this window, a bit each; may be 0."""
    values = np.empty(SIZES[network])
    _value(game, seat, network, params, memory, values)
    open_ = _open_outputs(game, network)
    total, count = 0.0, 0
    for output in range(len(values)):
        if has(open_, output):
            total += values[output]
            count += 1
    picks = 0
    for _ in range(int(_MOST[network])):
        best = NO_LOT
        for output in range(len(values)):
            if has(open_, output) and (best == NO_LOT or values[output] > values[best]):
                best = output
        if best == NO_LOT or (_MOST[network] > 1 and values[best] <= total / count):
            break
        open_ &= ~(1 << best)
        picks |= _lots_of(game, network, best)
    return picks


@kernel
def _next_pick(game: Game, by_base: int, memory: Row) -> int:
    """The action for the next lot that a network picked, or NO_LOT."""
    network = int(memory[_NETWORK])
    first = int(_FIRST[network])
    lots = int(memory[_LEFT]) & legal(game, first, int(_COUNT[network]))
    memory[_LEFT] = lots & (lots - 1)
    if lots == 0:
        return NO_LOT
    _note(
        network,
        _output_of(game, network, lowest(lots)),
        _open_outputs(game, network),
        by_base,
        memory,
    )
    return first + lowest(lots)


@kernel
def _phase_of(action: int) -> int:
    """The index of a base policy's action in `_PHASES`; -1 before them, their number after."""
    head = int(actions.HEAD_OF[action])
    if head == actions.H_SELL:
        return 0
    if head == actions.H_MORTGAGE:
        return 1
    if head == actions.H_UNMORTGAGE:
        return 2
    if head == actions.H_BUILD:
        return 3
    return 4 if head == actions.H_TURN else -1


@kernel
def _due(game: Game, by_base: int, params: Row, memory: Row) -> int:
    """The network that acts before or instead of the base policy, or NO_LOT."""
    now = _phase_of(by_base)
    for phase in range(min(now + 1, len(_PHASES))):
        network = int(_PHASES[phase])
        if (
            _plays(params, network)
            and not has(int(memory[_DONE]), network)
            and (phase == now or params[GATES + network] == 0)
            and legal(game, int(_FIRST[network]), int(_COUNT[network])) != 0
        ):
            return network
    return NO_LOT


@kernel
def _window(game: Game, mask: Mask, seat: int, params: Row, memory: Row) -> int:
    """Run the phases of the base policy, with networks acting in theirs."""
    stamp = (
        int(game.turns) * 1024
        + (int(game.throws[game.turn]) & 255) * 4
        + int(game.agenda[game.depth - 1, 2])
    )
    if memory[_STAMP] != stamp:
        memory[_STAMP] = stamp
        memory[_DONE] = 0
        memory[_BASE_DONE] = 0
        memory[_LEFT] = 0
    action = _next_pick(game, NO_LOT, memory)
    while action == NO_LOT:
        # The rest of a debt: the base policy's
        rescuing = memory[SLOT.mortgage_left] + memory[SLOT.sale_left] != 0
        action = (
            actions.A_TURN
            if memory[_BASE_DONE]
            else _ask_base(game, mask, params[:NUM_PARAMETERS], memory)
        )
        # The player has just been sent to jail: its turn is over
        if rescuing or game.jail[seat] == 1:
            return action
        network = _due(game, action, params, memory)
        phase = _phase_of(action)
        if network == NO_LOT:
            if not (0 <= phase < len(_PHASES) and _plays(params, int(_PHASES[phase]))):
                return action
            memory[SLOT.todo] = 0  # a network has acted in this phase
            action = NO_LOT
            continue
        if phase == len(_PHASES):
            memory[_BASE_DONE] = 1
        elif _PHASES[phase] == network:
            memory[SLOT.todo] = 0
        else:
            # The base policy's action is postponed
            memory[SLOT.todo] = int(memory[SLOT.todo]) | 1 << (action - int(_FIRST[_PHASES[phase]]))
        memory[_DONE] = int(memory[_DONE]) | 1 << network
        memory[_NETWORK] = network
        memory[_LEFT] = _pick(game, seat, network, params, memory)
        if network == UPGRADE:
            memory[_BASE_DONE] = 1  # the last phase
        action = _next_pick(game, action, memory)
    return action


# --- all decisions


@kernel
def _jail(game: Game, seat: int, by_base: int, params: Row, memory: Row) -> int:
    """Ask about a card first, then about the fine."""
    if not legal(game, actions.A_TURN, 1):
        return by_base
    uses = by_base == actions.A_JAIL + 1
    if _plays(params, CARD) and legal(game, actions.A_JAIL + 1, 1):
        uses = _yes(game, seat, CARD, by_base, params, memory)
    if uses:
        return actions.A_JAIL + 1
    if not legal(game, actions.A_JAIL, 1):
        return actions.A_TURN
    pays = by_base == actions.A_JAIL
    if (
        by_base == actions.A_JAIL + 1
    ):  # the base policy was not asked about the fine: its rule for it
        pays = (
            danger(game, seat, params) < params[AT.jail_stay_threshold]
            and game.cash[seat] >= 1.5 * params[AT.min_cash_reserve]
        )
    if _plays(params, FINE):
        pays = _yes(game, seat, FINE, actions.A_JAIL if pays else actions.A_TURN, params, memory)
    return actions.A_JAIL if pays else actions.A_TURN


@policy_kernel
def play(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    """Choose by the network of the decision, else by the base policy."""
    seat, decision = int(game.player), int(game.decision)
    if decision == agenda.WINDOW and game.num_players == ocnaru.NUM_PLAYERS:
        return _window(game, mask, seat, params, memory)
    action = _ask_base(game, mask, params[:NUM_PARAMETERS], memory)
    if game.num_players != ocnaru.NUM_PLAYERS:
        return action
    if decision == agenda.BUY and _plays(params, BUY) and legal(game, actions.A_BUY + 1, 1):
        return actions.A_BUY + 1 if _yes(game, seat, BUY, action, params, memory) else actions.A_BUY
    if decision == agenda.JAIL:
        return _jail(game, seat, action, params, memory)
    return action
