"""What a learned policy does: the parent answers, and the networks replace its answer where another action is worth clearly more.

All open actions of the learned heads are compared with the parent's own answer on one scale, the chance to win. The parent finds the
offers that come into question. The networks decide whether they are made, at which price, and which ones are accepted.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from agents.networks.forward import forward
from agents.networks.learned.bargaining import bargain
from agents.networks.learned.networks import ENCODED, FEATURES, MOST_PLAYERS, NAMES, NETWORK_OF, OUTPUT, OUTPUTS, STARTS
from agents.players.expert.parameters import AT
from agents.players.expert.parameters import NAMES as PARAMETERS
from agents.players.expert.play import answer, worth_of
from agents.players.expert.trading import SLOT, judge
from agents.players.expert.values import fill_strengths, turns_left
from agents.players.vocabulary.offers import planned
from agents.players.vocabulary.reading import asked_lot, price
from monopoly_env.actions import A_ASK, A_CASH, A_REPLY, A_TRADE, CASH_CANCEL, HEAD_OF, NUM_ACTIONS
from monopoly_env.board import NUM_LOTS
from monopoly_env.encoding import standard
from monopoly_env.engine import agenda
from monopoly_env.engine.legal import is_legal
from monopoly_env.engine.players import solvent_seats
from monopoly_env.engine.sets import size
from monopoly_env.engine.trade import COUNTER
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import Mask, Row, policy_kernel

# The row: the parent's parameters at tables of 2, of 3, and of more; the parameters of the model of partners; then these; then the
# networks.
SIZES: Final = (2, 3, 4)
PARENT: Final = len(PARAMETERS)
MODEL: Final = len(SIZES) * PARENT
BARGAINS: Final = MODEL + PARENT  # 1: prices are set by the model of partners; 0: as the parent does
LEARNED: Final = BARGAINS + 1  # the learned heads, a bit each
TABLES: Final = LEARNED + 1  # the numbers of players at which the networks were taught, a bit each; at others the parent plays alone
MARGINS: Final = TABLES + 1  # of each network: by how much an action must be worth more than the parent's (chance to win)
WEIGHTS: Final = MARGINS + len(NAMES)

_SHARES, _GAIN, _THEIRS = ENCODED, ENCODED + MOST_PLAYERS, ENCODED + MOST_PLAYERS + 1


@kernel
def parent_of(game: Game, params: Row) -> Row:
    """The parent's parameters for tables of this size."""
    row = min(int(game.num_players), SIZES[-1]) - SIZES[0]
    return params[row * PARENT : (row + 1) * PARENT]


@kernel
def first_answer(game: Game, params: Row, memory: Row) -> int:
    """What the policy does where no network chooses: the parent's answer, at prices that the model of partners has set.

    Where two players are left, what one gains the other loses, so that neither agrees: the parent then answers alone.
    """
    parent = parent_of(game, params)
    if params[BARGAINS] == 0 or size(solvent_seats(game)) == 2:
        return answer(game, parent, parent, memory)
    model = params[MODEL:BARGAINS]
    return bargain(game, answer(game, parent, model, memory), parent, model, memory)


@kernel
def observe(game: Game, base: int, params: Row, memory: Row, seen: Any) -> None:
    """Write the observation of the player who decides: the encoding `standard`, then the parent's estimates.

    If the parent is about to begin an offer, the observation shows the offer as if it were made already. The estimates are the share
    of each player in all strength, and what an offer, or the lot at stake, is worth to the player and to its partner.

    Args:
        game: It waits for a decision.
        base: The parent's answer.
        params: The row.
        memory: The parent's, after its answer.
        seen: (FEATURES,) float32, filled.
    """
    seat, players = int(game.player), int(game.num_players)
    standard.write(game, seat, seen)
    parent, scratch = parent_of(game, params), memory.copy()
    turns = turns_left(game, parent)
    total = fill_strengths(game, turns, parent, scratch[SLOT.strengths :])
    for offset in range(players):
        seen[_SHARES + offset] = scratch[SLOT.strengths + (seat + offset) % players] ** parent[AT.contrast] / total
    if A_TRADE <= base < A_ASK:
        ask, give, cash = planned(memory)
        standard.write_goods(ask, give, cash, seen)
        partner = (seat + base - A_TRADE + 1) % players
        seen[_GAIN] = judge(game, seat, partner, ask, give, float(cash), total, turns, parent, scratch)
        seen[_THEIRS] = judge(game, partner, seat, give, ask, -float(cash), total, turns, parent, scratch)
    elif game.decision == agenda.REPLY:
        partner, get, give, paid = int(game.offer_from), int(game.offer_give), int(game.offer_ask), -float(game.offer_cash)
        seen[_GAIN] = judge(game, seat, partner, get, give, paid, total, turns, parent, scratch)
        seen[_THEIRS] = judge(game, partner, seat, give, get, -paid, total, turns, parent, scratch)
    elif game.decision == agenda.BUY or (game.decision == agenda.BID and game.auction_lot < NUM_LOTS):
        lot = asked_lot(game) if game.decision == agenda.BUY else int(game.auction_lot)
        seen[_GAIN] = worth_of(game, seat, lot, -1, parent, scratch) / price(game, lot) - 1


@kernel
def may_choose(game: Game, network: int, action: int, learned: int) -> bool:
    """Whether an action may replace the parent's: it is legal, in a learned head, and neither begins nor cancels an offer."""
    if OUTPUT[network, action] < 0 or not learned >> int(HEAD_OF[action]) & 1 or not is_legal(game, action):
        return False
    if A_TRADE <= action < A_ASK or action == A_REPLY + COUNTER:
        return False
    return not A_CASH < action <= A_CASH + CASH_CANCEL


@kernel
def weigh(game: Game, base: int, learned: int, params: Row, memory: Row, seen: Any, values: Row) -> bool:
    """Value the parent's answer and all actions that may replace it; the others become minus infinity.

    Args:
        game: It waits for a decision.
        base: The parent's answer.
        learned: The learned heads, a bit each.
        params: The row.
        memory: The parent's, after its answer.
        seen: (FEATURES,) float32, filled: the observation.
        values: (205,) filled: chances to win.

    Returns:
        False: there is nothing to choose, and nothing was observed.
    """
    network = int(NETWORK_OF[game.decision])
    if network < 0 or not int(params[TABLES]) >> int(game.num_players) & 1 or OUTPUT[network, base] < 0:
        return False
    some = False
    for action in range(NUM_ACTIONS):
        other = action != base and may_choose(game, network, action, learned)
        values[action] = 0.0 if other or action == base else -np.inf
        some = some or other
    if some:
        observe(game, base, params, memory, seen)
        _fill(network, params, seen, values)
    return some


@kernel
def _fill(network: int, params: Row, seen: Any, values: Row) -> None:
    """Replace the zeros by values."""
    weights, outputs = params[WEIGHTS:].view(np.float32), np.empty(OUTPUTS[network], np.float32)
    forward(weights[STARTS[network] : STARTS[network + 1]], seen, 0, outputs)
    for action in range(NUM_ACTIONS):
        if values[action] == 0.0:
            values[action] = outputs[0] + outputs[OUTPUT[network, action]]


@kernel
def preferred(game: Game, base: int, params: Row, values: Row) -> int:
    """The action of the learned heads that is worth most, if it beats the parent's by more than the margin; else the parent's."""
    learned, best = int(params[LEARNED]), base
    bar = values[base] + params[MARGINS + int(NETWORK_OF[game.decision])]
    for action in range(NUM_ACTIONS):
        if values[action] > bar and learned >> int(HEAD_OF[action]) & 1:
            best, bar = action, values[action]
    return best


@policy_kernel
def play(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    """Choose the parent's answer, or an action that is worth more than that by the margin."""
    learned = int(params[LEARNED])
    if learned == 0:
        return first_answer(game, params, memory)
    before = memory.copy()
    base = first_answer(game, params, memory)
    values, seen = np.empty(NUM_ACTIONS), np.zeros(FEATURES, np.float32)
    if not weigh(game, base, learned, params, memory, seen, values):
        return base
    best = preferred(game, base, params, values)
    if best != base:
        memory[:] = before  # the parent's plan is not carried out
    return best
