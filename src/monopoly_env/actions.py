"""The action space: one `Discrete(205)`, cut into heads.

Only this file defines what an action means.

A head is a contiguous slice of actions of one kind. The space is the same for any number of
players, any rules and any board. The legal actions of a decision may lie in several heads at once.
docs/actions.md is generated from the tables here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from monopoly_env.errors import ConfigurationError, PositionError, integer, near, nearest, shortened
from monopoly_env.facts.board import LOT_NAME, NUM_EDITIONS, NUM_LOTS, NUM_STREETS

if TYPE_CHECKING:
    from monopoly_env.game import Game

# dollars: the denominations of the game's money, used by offers too
RAISES: Final = (1, 5, 10, 20, 50, 100, 500)
NOTES: Final = RAISES[::-1]

# The decisions by number, and what each one asks. The numbers are also those of the first tasks of
# the agenda.
DECISIONS: Final = {
    "over": "the game has ended",
    "buy": "an unowned lot for sale at its printed price",
    "bid": "English auction: raise the standing bid, or fold and leave the auction",
    "sealed_bid": "sealed auction: add to your own maximum bid, or finish",
    "place": "a scarce building was won: name the street it goes to",
    "turn": "a window of the turn: build, sell, mortgage, trade, leave jail, or go on",
    "jail": "after a failed throw in jail: pay, hand in a card, or (where allowed) stay",
    "trade_ask": "composing an offer: what to ask for, one item at a time, in rising order",
    "trade_give": "composing an offer: what to give, in the same way",
    "trade_cash": "composing an offer: cash, note by note, largest first",
    "reply": "an offer was received",
    "debt": "raise cash for a payment that is due",
    "tax": "income tax: 200 dollars or a tenth of the total worth",
    "fine_or_chance": "a card: pay the fine or draw a Chance card",
    "takeover": "a mortgaged lot was received: keep the mortgage or lift it at once",
}
DECISION_NAMES: Final = tuple(DECISIONS)
# the decisions in which an offer is composed
OFFER_STEPS: Final = ("trade_ask", "trade_give", "trade_cash")
OFFERING: Final = tuple(DECISION_NAMES.index(name) for name in OFFER_STEPS)

# The two answers of `choice`, by decision.
CHOICES: Final = {
    "tax": ("pay $200", "pay 10% of total worth"),
    "fine_or_chance": ("pay the fine", "draw a Chance card"),
    "takeover": ("keep the mortgage", "lift the mortgage"),
}


@dataclass(frozen=True)
class Head:
    """A slice of the action space.

    Attributes:
        name: The head's name.
        start: Its first action.
        size: How many actions it has.
        doc: What index i means.
        labels: A phrase for each action. `{0}` stands for the name of lot 0 on the board in use,
            and so on.

    Examples:
        >>> from monopoly_env.actions import HEADS
        >>> HEADS["bid"].slice, HEADS["bid"].labels[1]
        (slice(2, 10, None), 'bid +1')
    """

    name: str
    start: int
    size: int
    doc: str
    labels: tuple[str, ...]

    @property
    def stop(self) -> int:
        """One past its last action."""
        return self.start + self.size

    @property
    def slice(self) -> slice:
        """The head's place in a mask or in a vector of action values."""
        return slice(self.start, self.stop)


def _lots(verb: str, count: int = NUM_LOTS) -> tuple[str, ...]:
    return tuple(f"{verb} {{{lot}}}" for lot in range(count))


def _goods(verb: str, head: str) -> tuple[str, ...]:
    cards = (f"{verb} the Chance jail card", f"{verb} the Community Chest jail card")
    return (*_lots(verb), *cards, f"{head}: done", f"{head}: cancel")


_HEADS: Final = (
    ("buy", "0 decline, 1 buy", ("decline", "buy")),
    (
        "bid",
        "0 fold (English) or done (sealed), then raise by 1, 5, 10, 20, 50, 100, 500",
        ("fold", *(f"bid +{r}" for r in RAISES)),
    ),
    (
        "turn",
        "0 go on: throw, end the turn, or give up a debt where the rules allow it",
        ("go on",),
    ),
    ("jail", "0 pay the fine, 1 hand in a card", ("pay the fine", "use a jail card")),
    ("build", "the street", _lots("build", NUM_STREETS)),
    ("sell", "the street", _lots("sell", NUM_STREETS)),
    ("mortgage", "the lot", _lots("mortgage")),
    ("unmortgage", "the lot", _lots("unmortgage")),
    (
        "trade",
        "i: make an offer to the player i + 1 seats away, clockwise",
        tuple(f"trade with player +{i}" for i in range(1, 8)),
    ),
    (
        "trade_ask",
        "28 lots, the Chance and the Community Chest jail card, done, cancel",
        _goods("ask for", "ask"),
    ),
    ("trade_give", "the same", _goods("give", "give")),
    (
        "trade_cash",
        "0 done, give 500, 100, 50, 20, 10, 5, 1, ask for the same, cancel",
        (
            "cash: done",
            *(f"give ${n}" for n in NOTES),
            *(f"ask for ${n}" for n in NOTES),
            "cash: cancel",
        ),
    ),
    ("reply", "0 reject, 1 accept, 2 counter", ("reject", "accept", "counter")),
    (
        "choice",
        "the first or the second answer of `CHOICES`",
        ("choose the first", "choose the second"),
    ),
)


class Heads(dict[str, Head]):
    """The heads by name.

    An unknown name raises a ConfigurationError that suggests the nearest one.
    """

    def __missing__(self, name: str) -> Head:
        raise ConfigurationError(f"Unknown head {name!r}. {nearest(name, self)}")


def _build() -> Heads:
    heads = Heads()
    start = 0
    for name, doc, labels in _HEADS:
        heads[name] = Head(name, start, len(labels), doc, labels)
        start += len(labels)
    return heads


HEADS: Final = _build()
HEAD_NAMES: Final = tuple(HEADS)
NUM_ACTIONS: Final = sum(head.size for head in HEADS.values())
# [action] -> the number of its head
HEAD_OF: Final = np.repeat(np.arange(len(HEADS)), [head.size for head in HEADS.values()])

# Heads and first actions as numbers, for kernels.
(
    H_BUY, H_BID, H_TURN, H_JAIL, H_BUILD, H_SELL, H_MORTGAGE, H_UNMORTGAGE,
    H_TRADE, H_ASK, H_GIVE, H_CASH, H_REPLY, H_CHOICE,
) = range(len(HEADS))  # fmt: skip
(
    A_BUY, A_BID, A_TURN, A_JAIL, A_BUILD, A_SELL, A_MORTGAGE, A_UNMORTGAGE,
    A_TRADE, A_ASK, A_GIVE, A_CASH, A_REPLY, A_CHOICE,
) = (head.start for head in HEADS.values())  # fmt: skip
GOODS_DONE: Final = NUM_LOTS + 2
GOODS_CANCEL: Final = NUM_LOTS + 3
CASH_CANCEL: Final = 2 * len(NOTES) + 1


def describe(action: int, game: Game | None = None) -> str:
    """An action in words.

    Examples:
        >>> from monopoly_env import actions
        >>> actions.describe(1)
        'buy'

    Args:
        action: 0 to 204.
        game: The game in which the action is taken. Its board gives the lot names, its open
            decision the meaning of `choice` and of fold. Without it, the names are those of the US
            board.

    Raises:
        ConfigurationError: No such action.
    """
    number = check(action)
    decision, edition = ("", 0) if game is None else _asked(game)
    return text_of(number, decision, edition)


def text_of(action: int, decision: str = "", edition: int = 0) -> str:
    """A valid action in words, by the name of the open decision and the board."""
    text = _BY_DECISION.get(decision, {}).get(action)
    head = HEADS[HEAD_NAMES[HEAD_OF[action]]]
    return text or head.labels[action - head.start].format(*LOT_NAME[edition])


def parse(text: str | int, game: Game | None = None) -> int:
    """The action of this text, or of this number: the inverse of `describe`.

    Letter case does not matter, and the lot names of any edition are accepted.

    Examples:
        >>> from monopoly_env import actions
        >>> actions.parse("mortgage Boardwalk") == actions.parse("MORTGAGE BOARDWALK")
        True

    Args:
        text: What `describe` returns, or a number from 0 to 204, also as text.
        game: The game in which the action is taken. It is needed for the fine of a card, which is
            paid by another action than the fine in jail.

    Raises:
        ConfigurationError: There is no such action. The message suggests the nearest one.
    """
    if not isinstance(text, str):
        return check(text)
    wanted = " ".join(text.split()).casefold()
    if wanted.isdecimal() and len(wanted) <= len(str(NUM_ACTIONS)):
        return check(int(wanted))
    decision = "" if game is None else _asked(game)[0]
    here = {text.casefold(): action for action, text in _BY_DECISION.get(decision, {}).items()}
    answer = here.get(wanted, _BY_TEXT.get(wanted))
    if answer is None:
        raise ConfigurationError(
            f"Unknown action {shortened(text)}. {near(wanted, _BY_TEXT)}Give a text of"
            " monopoly_env.actions.describe, such as 'buy' or 'go on', or a number from 0 to"
            f" {NUM_ACTIONS - 1}."
        )
    return answer


def _asked(game: Game) -> tuple[str, int]:
    """The open decision and the edition of the board.

    Raises:
        PositionError: The record has no such decision or board.
    """
    decision, edition = int(game.decision), int(game.rules.board)
    if not (0 <= decision < len(DECISION_NAMES) and 0 <= edition < NUM_EDITIONS):
        raise PositionError(f"Invalid record: decision {decision}, board {edition}.")
    return DECISION_NAMES[decision], edition


def check(action: object) -> int:
    """Validate an action, an integer or an array of one, and return it as an int.

    Raises:
        ConfigurationError: It is not an integer from 0 to 204.
    """
    number = integer(action)
    if number is None or not 0 <= number < NUM_ACTIONS:
        raise ConfigurationError(
            f"Action {shortened(action)} must be an integer from 0 to {NUM_ACTIONS - 1}."
        )
    return number


# The actions whose text depends on the decision: decision -> action -> text.
_BY_DECISION: Final[dict[str, dict[int, str]]] = {
    **{
        decision: {A_CHOICE: first, A_CHOICE + 1: second}
        for decision, (first, second) in CHOICES.items()
    },
    "sealed_bid": {A_BID: "done"},
}


def _texts() -> dict[str, int]:
    # the heads below prevail
    texts = {
        text.casefold(): action for known in _BY_DECISION.values() for action, text in known.items()
    }
    for edition in reversed(range(NUM_EDITIONS)):
        for head in HEADS.values():
            for index, label in enumerate(head.labels):
                texts[label.format(*LOT_NAME[edition]).casefold()] = head.start + index
    return texts


_BY_TEXT: Final = _texts()
