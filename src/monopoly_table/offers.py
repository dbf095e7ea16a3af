"""Translation of whole offers, bids and typed texts into the engine's single actions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from monopoly_env import actions, core
from monopoly_env.actions import (
    A_ASK,
    A_BID,
    A_CASH,
    A_GIVE,
    A_REPLY,
    A_TRADE,
    GOODS_DONE,
    NOTES,
    RAISES,
)
from monopoly_env.derived import derive
from monopoly_env.engine import agenda
from monopoly_env.engine.trade import COUNTER
from monopoly_env.errors import ConfigurationError, nearest
from monopoly_env.facts import board
from monopoly_env.facts.cards import DECKS
from monopoly_env.game import CHANCE_GOOD, Game
from monopoly_env.render.words import Names
from monopoly_table.messages import Exchange, Goods
from monopoly_table.safety import RefusedError

_MOST_NOTES: Final = 1000  # in an offer or a sealed bid
_USUAL_THROW: Final = 7


def picks(game: Game, offer: Exchange, names: Names) -> list[int]:
    """The successive legal actions that make an offer.

    Raises:
        RefusedError: The offer can't be made now; the message explains it.
    """
    to, player = offer.to, int(game.player)
    _check_partner(game, to, names)
    _check_goods(game, player, offer.give, names)
    _check_goods(game, to, offer.ask, names)
    dollars = offer.give.dollars - offer.ask.dollars
    payer = player if dollars > 0 else to
    if abs(dollars) > game.cash[payer]:
        raise RefusedError(
            f"{names[payer]} has ${game.cash[payer]:,}: ${abs(dollars):,} can't be part of the"
            " offer."
        )
    partner = (to - player) % int(game.num_players)
    opening = A_REPLY + COUNTER if game.decision == agenda.REPLY else A_TRADE + partner - 1
    goods = (*_goods(A_ASK, offer.ask), *_goods(A_GIVE, offer.give))
    made = [opening, *goods, *_cash(dollars), A_CASH]
    trial = core.clone(game)
    for action in made:
        if not allows(trial, action):
            raise RefusedError(_why_not(trial, action))
        core.step(trial, action)
    return made


def allows(game: Game, action: int) -> bool:
    """Whether an action is legal now."""
    return bool(int(game.legal[action >> 5]) >> (action & 31) & 1)


def may_offer(game: Game) -> list[int]:
    """The seats to which the player to move may make an offer or a counter-offer now."""
    if game.decision == agenda.REPLY:
        return [int(game.offer_from)] if allows(game, A_REPLY + COUNTER) else []
    players = int(game.num_players)
    return [
        (int(game.player) + offset) % players
        for offset in range(1, players)
        if allows(game, A_TRADE + offset - 1)
    ]


def _check_partner(game: Game, to: int, names: Names) -> None:
    partners = may_offer(game)
    if to in partners:
        return
    if not 0 <= to < game.num_players or to == game.player:
        raise RefusedError("An offer goes to another player of the game.")
    possible = " and ".join(names[seat] for seat in partners)
    hint = (
        f"An offer can now go to {possible}."
        if partners
        else "No offer can be made now: wait for your turn, or its limit is reached."
    )
    raise RefusedError(f"No offer to {names[to]}. {hint}")


def _check_goods(game: Game, seat: int, side: Goods, names: Names) -> None:
    for lot in side.lots:
        name = board.LOT_NAME[int(game.rules.board)][lot]
        if not int(game.lots[seat]) >> lot & 1:
            raise RefusedError(f"{names[seat]} does not own {name}.")
        group = int(board.GROUP_LOTS[board.GROUP_OF[lot]])
        if any(game.level[other] for other in board.lots_of(group) if other < board.NUM_STREETS):
            raise RefusedError(
                f"{name} can't be traded while its group has buildings: sell them first."
            )
        if int(game.traded) >> lot & 1:
            raise RefusedError(f"{name} has been traded in this turn already.")
    for card in side.cards:
        if not int(game.jail_cards[seat]) >> DECKS.index(card) & 1:
            raise RefusedError(
                f"{names[seat]} has no jail card of {card.replace('_', ' ').title()}."
            )


def _goods(head: int, side: Goods) -> Iterator[int]:
    """Picks in ascending order, then done."""
    yield from sorted(
        {head + lot for lot in side.lots}
        | {head + CHANCE_GOOD + DECKS.index(card) for card in side.cards}
    )
    yield head + GOODS_DONE


def _cash(dollars: int) -> Iterator[int]:
    """Notes in descending order: given, or asked for if the sum is negative."""
    left = abs(dollars)
    if left // NOTES[0] > _MOST_NOTES:
        raise RefusedError(
            f"${left:,} is too much for an offer: ${_MOST_NOTES * NOTES[0]:,} at most."
        )
    for number, note in enumerate(NOTES):
        count, left = divmod(left, note)
        yield from [A_CASH + 1 + number + (0 if dollars > 0 else len(NOTES))] * count


def _why_not(game: Game, action: int) -> str:
    """The reason why a pick is illegal, phrased for a whole offer."""
    if action == A_CASH:
        return (
            "This offer can't be made: it was refused in this turn already, or a side lacks the"
            " cash for it and for the mortgage fees."
        )
    if action == A_ASK + GOODS_DONE or action == A_GIVE + GOODS_DONE:
        return "An offer needs a lot or a card, and by these rules perhaps one of each side."
    if action > A_CASH and game.decision == agenda.CASH:
        return "These rules don't allow this sum of cash in an offer."
    return "These rules don't allow this combination in an offer."


def bids(game: Game, dollars: int) -> list[int]:
    """The actions of a bid: one raise in an open auction; notes and done in a sealed one.

    Raises:
        RefusedError: No auction is running, or the bid is impossible; the message names possible
            ones.
    """
    if game.decision == agenda.BID:
        totals = _open_bids(game)
        if dollars not in totals:
            raise RefusedError(
                f"A bid of ${dollars:,} can't be made now. {_nearest(dollars, list(totals))}"
            )
        return [totals[dollars]]
    if game.decision != agenda.SEALED_BID:
        raise RefusedError("There is no auction now.")
    so_far, most = int(game.sealed[game.player]), int(derive(game).bid_limit)
    if not so_far <= dollars <= most or dollars // NOTES[0] > _MOST_NOTES:
        raise RefusedError(
            f"Your maximum can be ${so_far:,} to ${max(so_far, most):,}, not ${dollars:,}."
        )
    made, left = [], dollars - so_far
    for number, note in enumerate(NOTES):
        count, left = divmod(left, note)
        made += [A_BID + len(RAISES) - number] * count
    return [*made, A_BID]


def _nearest(dollars: int, totals: list[int]) -> str:
    """The nearest possible bids, and all of them."""
    if not totals:
        return "You can only fold."
    sums = [f"${total:,}" for total in totals]
    place = sum(total < dollars for total in totals)
    near = sums[max(0, place - 1) : place + 1]
    return (
        f"The nearest {'is' if len(near) == 1 else 'are'} {' and '.join(near)}; possible:"
        f" {', '.join(sums)}."
    )


def _open_bids(game: Game) -> dict[int, int]:
    """The possible bids in an open auction: total in dollars -> action."""
    costs, raises = derive(game).cost, range(A_BID + 1, A_BID + 1 + len(RAISES))
    return {int(costs[action]): action for action in raises if allows(game, action)}


def typed(game: Game, text: str) -> int:
    """The action of a typed text, in the words of `monopoly_env.actions`.

    Raises:
        ConfigurationError: The text is unknown.
    """
    try:
        return actions.parse(text, game)
    except ConfigurationError as error:
        texts = [actions.describe(action, game) for action in core.legal_actions(game)]
        raise ConfigurationError(f"Unknown action {text!r}. {nearest(text, texts)}") from error


# --- previews


def preview(game: Game, offer: Exchange, names: Names) -> dict[str, Any]:
    """Whether an offer can be made, and the possessions of both sides after it."""
    try:
        picks(game, offer, names)
        error = None
    except RefusedError as refusal:
        error = str(refusal)
    answer: dict[str, Any] = {"legal": error is None, "error": error, "sides": []}
    if offer.to < game.num_players and offer.to != game.player:
        after = _exchanged(game, offer)
        answer["sides"] = [_side(game, after, seat) for seat in (int(game.player), offer.to)]
    return answer


def _exchanged(game: Game, offer: Exchange) -> Game:
    """A copy in which only the goods have changed hands, for display only."""
    after, giver = core.clone(game), int(game.player)
    for side, source, target in ((offer.give, giver, offer.to), (offer.ask, offer.to, giver)):
        lots = sum(1 << lot for lot in set(side.lots)) & int(game.lots[source])
        after.lots[source] = int(after.lots[source]) & ~lots
        after.lots[target] = int(after.lots[target]) | lots
        dollars = min(side.dollars, int(game.cash[source]))
        after.cash[source] -= dollars
        after.cash[target] += dollars
    return after


def _side(before: Game, after: Game, seat: int) -> dict[str, Any]:
    had, has = _complete(before, seat), _complete(after, seat)
    return {
        "seat": seat,
        "cash": int(after.cash[seat]),
        "completes": [board.GROUPS[group] for group in sorted(has - had)],
        "breaks": [board.GROUPS[group] for group in sorted(had - has)],
        "lots": board.lots_of(after.lots[seat]),
        "rent_before": _visits(before, seat),
        "rent_after": _visits(after, seat),
    }


def _complete(game: Game, seat: int) -> set[int]:
    return {
        group
        for group, lots in enumerate(board.GROUP_LOTS)
        if int(game.lots[seat]) & int(lots) == int(lots)
    }


def _visits(game: Game, seat: int) -> int:
    """The total rent of a seat's lots, with utilities at the most frequent throw."""
    owed = derive(game).rent
    return sum(
        max(0, int(owed[lot])) * (_USUAL_THROW if board.GROUP_OF[lot] == board.UTILITIES else 1)
        for lot in board.lots_of(game.lots[seat])
    )
