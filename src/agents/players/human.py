"""A person at the terminal, as a policy like any other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from monopoly_env import actions, core, saves
from monopoly_env.cli.terminal import QuitError
from monopoly_env.errors import ConfigurationError, MonopolyError
from monopoly_env.game import Game
from monopoly_env.policy.protocol import BatchedPolicy, Decisions
from monopoly_env.render import words
from monopoly_env.render.text import PLAYERS, board

HELP = """Answer with the number of an action or with its text, such as: build Boardwalk
  b       show the board        s FILE  save the game
  ?       this help             q       quit"""


class Human(BatchedPolicy):
    """A person who sees each decision on a console and types the answer."""

    def __init__(self, name: str = "human", console: Console | None = None) -> None:
        """Seat a person at a console.

        Args:
            name: What tables and messages call this player.
            console: Where decisions are shown and answers are read; the terminal by default.
        """
        self.name = name
        self.console = console or Console()

    @property
    def kind(self) -> str:
        """The registered name."""
        return "human"

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """Ask about the decisions one after another.

        Raises:
            QuitError: The person quits, or there is no more input.
        """
        return np.array([self._ask(game) for game in decisions.games], np.int64)

    def _ask(self, game: Game) -> int:
        legal = core.legal_actions(game)
        self._show(game, legal)
        while True:
            try:
                text = self.console.input(f"{PLAYERS[game.player]}> ").strip()
            except EOFError:
                self.console.print()
                raise QuitError(
                    "No more input: the game is left unfinished.", on_purpose=False
                ) from None
            try:
                action = self._understand(text, game, legal)
            except QuitError:
                raise
            except MonopolyError as error:
                self._say(str(error))
                continue
            if action is not None:
                return action

    def _show(self, game: Game, legal: NDArray[np.int64]) -> None:
        decision = actions.DECISION_NAMES[game.decision]
        cash = f"${game.cash[game.player]:,}"
        about = f" {words.subject(game, PLAYERS)}".rstrip()
        self._say(
            f"{PLAYERS[game.player]} ({self.name}), {cash}: {actions.DECISIONS[decision]}.{about} ?"
            " for help."
        )
        for number, action in enumerate(legal, start=1):
            self._say(f"  {number:3} {actions.describe(action, game)}")

    def _understand(self, text: str, game: Game, legal: NDArray[np.int64]) -> int | None:
        """Find the action that an answer means; None if the answer was a command.

        Raises:
            ConfigurationError: The answer is neither an action nor a command.
            QuitError: The answer is `q`.
        """
        command, _, rest = text.partition(" ")
        if command == "q":
            raise QuitError("You left the table.", on_purpose=True)
        if command == "s" and rest:
            saves.save(game, Path(rest).expanduser())
            self._say(f"Saved to {rest}.")
        elif text == "b":
            self.console.print(
                board(game, colour=self.console.is_terminal), markup=False, highlight=False
            )
        elif text in ("?", ""):
            self._say(HELP)
        elif text.isdecimal():
            if not 1 <= int(text) <= len(legal):
                raise ConfigurationError(f"{text} is not in the list: 1 to {len(legal)}.")
            return int(legal[int(text) - 1])
        else:
            return _named(text, game, legal)
        return None

    def _say(self, text: str) -> None:
        self.console.print(text, markup=False, highlight=False)


def _named(text: str, game: Game, legal: NDArray[np.int64]) -> int:
    """The legal action with this text."""
    for action in legal:
        if actions.describe(action, game).casefold() == text.casefold():
            return int(action)
    action = actions.parse(text, game)
    raise ConfigurationError(f"{actions.describe(action, game)!r} is not legal now.")
