"""Monopoly for TextArena: `pip install 'monopoly-env[textarena]'`.

Importing this registers the game.

    env = textarena.make("Monopoly-v0", talk=True)
    env.reset(num_players=3, seed=7)

A player sees the instructions and its decision (`monopoly_bench.prompts`), and answers with a last
line `ACTION: ...`. An unreadable answer gets one retry with the reason; after a second one the game
is over, and its player has lost. Other players do not see answers. With `talk`, a line `SAY: ...`
above the action is a message to the table.
"""

from __future__ import annotations

import secrets
from typing import Any, Final

from monopoly_bench import prompts, talk
from monopoly_env import core
from monopoly_env.cli.extras import extra
from monopoly_env.errors import MonopolyError
from monopoly_env.game import Game
from monopoly_env.policy.loop import NO_LIMIT
from monopoly_env.policy.match import Match
from monopoly_env.rules import Rules

with extra("textarena"):
    import textarena as ta
    from textarena.wrappers import GameBoardObservationWrapper

__all__ = ["NAME", "MonopolyTextEnv"]

NAME: Final = "Monopoly-v0"
_SENTENCES: Final = 60  # of history shown with a decision


class MonopolyTextEnv(ta.Env):  # type: ignore[misc]  # untyped
    """A game of 2 to 8 players: reward 1 for the winner, -1 for the others, 0 for a draw."""

    def __init__(self, rules: str = "official", turn_limit: int = 200, talk: bool = False) -> None:
        """Choose a preset of rules, the turns of each player (0: no limit), and table talk."""
        self._rules, self._turn_limit, self._talks = Rules.preset(rules), turn_limit, talk

    @property
    def game(self) -> Game:
        """The record."""
        return self._match.game

    def reset(self, num_players: int, seed: int | None = None) -> None:
        """Begin `monopoly_env.new_game(num_players, rules, seed)`; by default any seed."""
        seed = secrets.randbits(32) if seed is None else seed
        names = [f"player {seat}" for seat in range(num_players)]
        limit = self._turn_limit * num_players or NO_LIMIT
        game = core.new_game(num_players, self._rules, seed)
        self._match = Match(game, [None] * num_players, names=names, turn_limit=limit)
        self._talk = talk.Talk() if self._talks else None
        self._history: list[list[str]] = [[] for _ in names]
        # Without a seed, which would seed Python's random numbers
        self.state = ta.FFAMultiPlayerState(num_players)
        self.state.reset(
            player_prompt_function=lambda player_id, game_state: prompts.system(self._talk)
        )
        self._show()

    def step(self, action: str) -> tuple[bool, dict[str, Any]]:
        """Carry out an answer; returns whether the game is over, and TextArena's infos."""
        seat, state = int(self.game.player), self.state
        state.add_observation(action, ta.ObservationType.PLAYER_ACTION, from_id=seat, to_id=seat)
        try:
            number = prompts.read(action, self.game)
            if self._talk is not None:
                self._talk.say(talk.read(action), self.game)
        except MonopolyError as error:
            if state.set_invalid_move(str(error)):
                lost = {other: -int(other == seat) for other in range(state.num_players)}
                state.set_game_outcome(lost, str(error))
            else:
                self._show(f"Your answer was not understood. {error}")
        else:
            self._carry_out(number, seat)
        done, info = state.step(rotate_player=False)
        return bool(done), info

    def _carry_out(self, action: int, seat: int) -> None:
        if self._talk is not None:
            self._talk.step(self.game, action)
        events = self._match.step(action)
        self._history[seat] = []
        for history in self._history:
            history.extend(events)
            del history[:-_SENTENCES]
        if not core.is_over(self.game):
            self._show()
        elif (winner := core.winner(self.game)) is None:
            self.state.set_draw("It is a draw.")
        else:
            self.state.set_winners([winner], f"Player {winner} has won.")

    def _show(self, first: str = "") -> None:
        """Show the player to move its decision."""
        seat = int(self.game.player)
        self.state.manually_set_current_player_id(seat)
        shown = prompts.prompt(self.game, self._history[seat], talk=self._talk)
        text = f"{first}\n{shown}" if first else shown
        self.state.add_observation(text, ta.ObservationType.GAME_BOARD, to_id=seat)


if NAME not in ta.envs.registration.ENV_REGISTRY:
    ta.register(NAME, f"{__name__}:MonopolyTextEnv", default_wrappers=[GameBoardObservationWrapper])
