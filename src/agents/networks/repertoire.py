"""Which actions networks choose among, and who answers the other decisions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from monopoly_env.actions import A_REPLY, DECISION_NAMES, HEAD_NAMES, HEAD_OF, HEADS, NUM_ACTIONS
from monopoly_env.engine.trade import COUNTER
from monopoly_env.errors import ConfigurationError, nearest

OFFER_HEADS: Final = ("trade", "trade_ask", "trade_give", "trade_cash")  # making offers
RAISING_HEADS: Final = ("sell", "mortgage")
_DEBT: Final = DECISION_NAMES.index("debt")


@dataclass(frozen=True)
class Repertoire:
    """The actions that networks choose among.

    Attributes:
        heads: The heads that have a network.
        raise_freely: Whether to sell and mortgage also where no debt is due.
    """

    heads: tuple[str, ...]
    raise_freely: bool = False

    def __post_init__(self) -> None:
        """Check the heads.

        Raises:
            ConfigurationError: No head, an unknown one, or one twice; or only some of the heads
                that make an offer.
        """
        for head in self.heads:
            if head not in HEADS:
                raise ConfigurationError(f"Unknown head {head!r}. {nearest(head, HEAD_NAMES)}")
        if not self.heads or len(set(self.heads)) != len(self.heads):
            raise ConfigurationError(
                f"Name each head that has a network once, not {', '.join(self.heads) or 'none'}."
            )
        if 0 < len(set(self.heads) & set(OFFER_HEADS)) < len(OFFER_HEADS):
            raise ConfigurationError(
                f"An offer is made by {', '.join(OFFER_HEADS)} together: learn all of them or none."
            )

    @cached_property
    def actions(self) -> NDArray[np.bool_]:
        """(205,) bool, the actions of these heads.

        Counter-offers are among them only if offers are.
        """
        mine = np.isin(HEAD_OF, [HEAD_NAMES.index(head) for head in self.heads])
        if "trade" not in self.heads:
            mine[A_REPLY + COUNTER] = False
        return mine

    def open(self, legal: NDArray[np.bool_], decision: NDArray[np.int16]) -> NDArray[np.bool_]:
        """The legal actions that are in the repertoire.

        Args:
            legal: (B, 205) bool.
            decision: (B,) what is asked, an index into `DECISION_NAMES`.

        Returns:
            (B, 205) bool; a row may be empty.
        """
        mine = legal & self.actions
        if not self.raise_freely:
            calm = decision != _DEBT
            for head in RAISING_HEADS:
                mine[calm, HEADS[head].slice] = False
        return mine

    def needs_parent(self) -> list[str]:
        """The heads that are missing for playing whole games alone. Nobody needs to make offers."""
        return [head for head in HEAD_NAMES if head not in self.heads and head not in OFFER_HEADS]


def fall_back(legal: NDArray[np.bool_]) -> NDArray[np.int64]:
    """(B,) the last legal action of each row.

    Where nothing of the repertoire is open, it cancels an offer that was begun.
    """
    return NUM_ACTIONS - 1 - legal[:, ::-1].argmax(1).astype(np.int64)


def share_out(
    repertoire: Repertoire,
    legal: NDArray[np.bool_],
    decision: NDArray[np.int16],
    by_parent: NDArray[np.int64] | None,
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Split decisions between the networks and their parent.

    With a parent, a decision is the networks' if the parent's own answer lies in one of their
    heads. They then choose among the open actions of their heads, so they act only where the parent
    would have acted with one of these heads. A network of `build` that should decide also *whether*
    to build needs the head `turn` as well.

    Args:
        repertoire: What the networks choose among.
        legal: (B, 205) bool.
        decision: (B,) what is asked.
        by_parent: (B,) the parent's answers; None: there is no parent.

    Returns:
        (B, 205) bool, what the networks choose among, with rows of fewer than two actions emptied;
        and (B,) int64, the answers to the decisions in which they have no choice.
    """
    choices = repertoire.open(legal, decision)
    if by_parent is not None:
        choices[~repertoire.actions[by_parent]] = False
    count = choices.sum(1)
    answers = fall_back(legal) if by_parent is None else by_parent
    answers = np.where(count == 1, choices.argmax(1), answers).astype(np.int64)
    choices[count < 2] = False
    return choices, answers
