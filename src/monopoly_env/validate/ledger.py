"""An independent account of the money in a game, for the fuzzer.

The money in a game is the players' cash plus the pot on Free Parking. For every task and every
answer, this file states by how much that sum may change, from the rulebook's payments to and from
the bank. Any other change is a leak.
"""

from __future__ import annotations

from monopoly_env.actions import H_BUILD, H_BUY, H_CHOICE, H_MORTGAGE, H_SELL, H_UNMORTGAGE
from monopoly_env.engine import agenda, mortgage
from monopoly_env.engine.building import liquidation_of_buildings
from monopoly_env.engine.liquidation import debtor_chooses
from monopoly_env.engine.movement import POT_BONUS
from monopoly_env.facts import cards
from monopoly_env.facts.board import MORTGAGE, PRICE
from monopoly_env.game import BANK, POT, Game
from monopoly_env.kernels import kernel


@kernel
def money(game: Game) -> int:
    """The money in a game, in dollars: all cash and the pot."""
    total = int(game.pot)
    for seat in range(game.num_players):
        total += int(game.cash[seat])
    return total


@kernel
def task_flow_is_sound(before: Game, after: Game) -> bool:
    """Whether settling the top task of `before` only moved money as the rules allow."""
    top = int(before.depth) - 1
    task, seat = int(before.agenda[top, 0]), int(before.agenda[top, 1])
    amount, creditor = int(before.agenda[top, 2]), int(before.agenda[top, 3])
    flow = money(after) - money(before)
    if before.place[seat] == 0 and after.place[seat] != 0 and task != agenda.END_TURN:
        return _ruin_is_sound(before, after, seat, flow)
    if task == agenda.CHARGE or task == agenda.TAKE:
        return _payment_is_sound(before, after, seat, amount, creditor, flow)
    if task == agenda.THROW or task == agenda.LEAVE_JAIL:
        return _is_salary(before, flow)
    if task == agenda.CARD:
        return _is_salary(before, flow) or _is_bank_card(before, amount, flow)
    if task == agenda.SETTLE:
        return flow == 0 or (flow == POT_BONUS and before.rules.free_parking_pot > 1)
    return flow == 0


@kernel
def _is_salary(game: Game, flow: int) -> bool:
    salary = int(game.rules.go_salary)
    return flow == 0 or flow == salary or (flow == 2 * salary and bool(game.rules.double_go))


@kernel
def _is_bank_card(game: Game, deck: int, flow: int) -> bool:
    for card in range(cards.DECK_SIZE):
        effect = cards.CARD[game.rules.board, deck, card]
        if effect[0] == cards.BANK_PAYS and effect[1] == flow:
            return True
    return False


@kernel
def _payment_is_sound(
    before: Game, after: Game, seat: int, amount: int, creditor: int, flow: int
) -> bool:
    """Whether a debt moved money as allowed; fixed-order debtors may also have sold to the bank."""
    if before.place[seat] != 0 or amount <= 0 or after.decision == agenda.OVER:
        return flow == 0
    if after.depth == before.depth and after.agenda[int(after.depth) - 1, 0] == agenda.DEBT:
        return flow == 0
    # in the pot, or by players
    kept = before.rules.free_parking_pot != 0 if creditor == POT else creditor != BANK
    paid = 0 if kept else -amount
    return flow == paid if debtor_chooses(before) else flow >= paid


@kernel
def _ruin_is_sound(before: Game, after: Game, seat: int, flow: int) -> bool:
    """Whether cash stayed with players or went to the bank, which pays for the buildings."""
    buildings = liquidation_of_buildings(before, seat, int(before.rules.bankrupt_sell_ratio))
    if not debtor_chooses(before):
        ratio = int(before.rules.sell_ratio)
        buildings += _all_mortgages(before, seat) + liquidation_of_buildings(before, seat, ratio)
    cash = int(before.cash[seat])
    return after.cash[seat] == 0 and -max(0, cash) <= flow <= max(0, buildings - min(0, cash))


@kernel
def _all_mortgages(game: Game, seat: int) -> int:
    value = 0
    for lot in range(28):
        if (int(game.lots[seat]) >> lot) & 1:
            value += int(MORTGAGE[game.rules.board, lot])
    return value


@kernel
def answer_flow_is_sound(before: Game, after: Game, action: int, head: int, start: int) -> bool:
    """Whether carrying out an action only moved money as the rules allow."""
    top = int(before.depth) - 1
    question, seat = int(before.agenda[top, 0]), int(before.agenda[top, 1])
    first = int(before.agenda[top, 2])
    flow, index, board = money(after) - money(before), action - start, int(before.rules.board)
    if after.place[seat] != 0:
        return _ruin_is_sound(before, after, seat, flow)
    if head == H_BUY:
        return flow == (-int(PRICE[board, first]) if index == 1 else 0)
    if head == H_MORTGAGE:
        return flow == int(MORTGAGE[board, index])
    if head == H_UNMORTGAGE:
        return flow == -mortgage.lifting_cost(before, index)
    if head == H_SELL:
        ratio = int(before.rules.sell_ratio)
        left = liquidation_of_buildings(after, seat, ratio)
        return flow == liquidation_of_buildings(before, seat, ratio) - left
    if head == H_BUILD:
        whole = 100  # percent: the list price of what was built
        had = liquidation_of_buildings(before, seat, whole)
        built = liquidation_of_buildings(after, seat, whole) - had
        return flow == 0 if question == agenda.PLACE or built == 0 else flow == -built
    if head == H_CHOICE and question == agenda.TAKEOVER:
        return flow == (-mortgage.principal(before, first) if index == mortgage.LIFT else 0)
    return flow == 0
