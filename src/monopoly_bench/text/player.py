"""What players of text have in common: what they missed, and the conversation of their table."""

from __future__ import annotations

from monopoly_bench.talk import Talk
from monopoly_bench.text.history import History
from monopoly_env.policy.protocol import BatchedPolicy


class TextPlayer(BatchedPolicy):
    """A player that is shown decisions as text or JSON.

    Attributes:
        talk: The conversation of the game that is played, which it sees and joins; None: players do
            not talk. `text.play` sets it.
    """

    talk: Talk | None = None

    def __init__(self) -> None:
        """Nothing has happened yet."""
        self._history = History()

    def begin(self, talk: Talk | None) -> None:
        """Forget what happened before.

        A game begins, perhaps one with the same seed as the last.
        """
        self.talk, self._history = talk, History()
