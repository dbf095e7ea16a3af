"""Translation of whole offers, bids and typed texts into the engine's single actions."""

from __future__ import annotations

from typing import Any, Final

from monopoly_env import actions, core, offers
from monopoly_env.actions import A_BID, A_TRADE, NOTES, RAISES
from monopoly_env.derived import derive
from monopoly_env.engine import agenda
from monopoly_env.errors import ConfigurationError, nearest
from monopoly_env.game import Game
from monopoly_env.render import words
from monopoly_env.render.words import Names
from monopoly_table.messages import Exchange
from monopoly_table.safety import RefusedError

_TRADED: Final = ("cash", "lots", "jail_cards")  # fields of a record that an exchange changes


def picks(game: Game, offer: Exchange, names: Names) -> list[int]:
    """The successive legal actions that make an offer.

    Raises:
        RefusedError: The offer can't be made now; the message explains it.
    """
    composed = offers.compose(game, *_terms(offer))
    if composed.reason:
        raise RefusedError(_why_not(game, composed, names))
    return composed.picks


def preview(game: Game, offer: Exchange) -> dict[str, Any]:
    """Why an offer can't be made, if it can't, and the possessions and rents after it."""
    terms = _terms(offer)
    _, reason, seat, good = offers.compose(game, *terms)
    answer: dict[str, Any] = {"reason": reason, "seat": seat, "good": good}
    if offer.to >= game.num_players or offer.to == game.player:
        return answer | {"record": None, "derived": None}
    after = offers.exchanged(game, *terms)
    rent = derive(after).rent.tolist()
    record = {name: after[name].tolist() for name in _TRADED}
    return answer | {"record": record, "derived": {"rent": rent}}


def _terms(offer: Exchange) -> tuple[int, int, int, int]:
    """Partner, goods given and asked for, dollars given."""
    give, ask = offer.give, offer.ask
    return offer.to, give.bits, ask.bits, give.dollars - ask.dollars


def _why_not(game: Game, composed: offers.Composed, names: Names) -> str:
    """The reason why an offer can't be made, as a sentence."""
    reason, seat, good = composed.reason, composed.seat, composed.good
    if reason == offers.PARTNER:
        return _no_partner(game, seat, names)
    name = words.goods(game, 1 << good) if good >= 0 else ""
    sentences = {
        offers.NOT_OWNED: f"{names[seat]} does not own {name}.",
        offers.BUILDINGS: f"{name} can't be traded while its group has buildings: sell them first.",
        offers.TRADED: f"{name} has been traded in this turn already.",
        offers.CASH: f"{names[seat]} has ${game.cash[seat]:,}: the offer needs more.",
        offers.TOO_MUCH: f"An offer holds ${offers.MOST_NOTES * NOTES[0]:,} at most.",
        offers.EMPTY: "An offer needs a lot or a card, and by some rules one of each side.",
        offers.REPEATED: (
            "This offer can't be made: it was refused in this turn already, or a side lacks the"
            " cash for it and for the mortgage fees."
        ),
        offers.SUM: "These rules don't allow this sum of cash in an offer.",
        offers.RULES: "These rules don't allow this combination in an offer.",
    }
    return sentences[reason]


def _no_partner(game: Game, to: int, names: Names) -> str:
    if not 0 <= to < game.num_players or to == game.player:
        return "An offer goes to another player of the game."
    partners = _partners(game)
    hint = (
        f"An offer can now go to {' and '.join(names[seat] for seat in partners)}."
        if partners
        else "No offer can be made now: wait for your turn, or its limit is reached."
    )
    return f"No offer to {names[to]}. {hint}"


def _partners(game: Game) -> list[int]:
    """The seats to which the player to move may make an offer."""
    players = int(game.num_players)
    return [
        (int(game.player) + offset) % players
        for offset in range(1, players)
        if _allows(game, A_TRADE + offset - 1)
    ]


def _allows(game: Game, action: int) -> bool:
    return bool(int(game.legal[action >> 5]) >> (action & 31) & 1)


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
    if not so_far <= dollars <= most or dollars // NOTES[0] > offers.MOST_NOTES:
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
    return {int(costs[action]): action for action in raises if _allows(game, action)}


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
