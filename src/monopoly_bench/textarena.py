"""Monopoly for TextArena: `pip install 'monopoly-env[textarena]'`.

Importing this registers the game.

    env = textarena.make("Monopoly-v0", talk=True)
    env.reset(num_players=3, seed=7)

A player sees the instructions and its decision (`monopoly_bench.prompts`), and answers with a last
line `ACTION: ...`. An answer that can't be read is told why once; after a second one the game is
over, and its player has lost. Answers are shown to nobody else: what is said to the table is the
line `SAY: ...` above the action, where `talk` is on.
"""

from __future__ import annotations

import secrets
from typing import Any, Final

import numpy as np

from monopoly_bench import prompts, talk
from monopoly_env import core, replays
from monopoly_env.errors import MonopolyError
from monopoly_env.extras import extra
from monopoly_env.render import narrate
from monopoly_env.rules import Rules

with extra("textarena"):
    import textarena as ta
    from textarena.wrappers import GameBoardObservationWrapper

__all__ = ["NAME", "MonopolyTextEnv"]

NAME: Final = "Monopoly-v0"
_TOLD: Final = 60  # sentences of history that a decision shows


class MonopolyTextEnv(ta.Env):  # type: ignore[misc]  # untyped
    """A game of 2 to 8 players of text. The winner gets 1 and the others -1.

    A draw is 0 for all.
    """

    def __init__(self, rules: str = "official", turn_limit: int = 200, talk: bool = False) -> None:
        """Choose the rules.

        Args:
            rules: A preset.
            turn_limit: Turns of each player after which the score decides; 0 for none.
            talk: Whether players may talk and give promises.
        """
        self._rules, self._turn_limit, self._talks = Rules.preset(rules), turn_limit, talk

    def reset(self, num_players: int, seed: int | None = None) -> None:
        """Begin the game that `monopoly_env.new_game(num_players, rules, seed)` begins.

        Without a seed, any game.
        """
        seed = secrets.randbits(32) if seed is None else seed
        names = tuple(f"player {seat}" for seat in range(num_players))
        self._recorded = replays.Replay(
            self._rules, seed, num_players, names, np.zeros(0, np.uint8), self._turn_limit
        )
        self.game, self._talk = replays.start(self._recorded), talk.Talk() if self._talks else None
        self._history: list[list[str]] = [[] for _ in names]
        # No seed: it would seed Python's own random numbers
        self.state = ta.FFAMultiPlayerState(num_players)
        self.state.reset(
            player_prompt_function=lambda player_id, game_state: prompts.system(self._talk)
        )
        self._show()

    def step(self, action: str) -> tuple[bool, dict[str, Any]]:
        """Carry out an answer; whether the game is over, and TextArena's infos."""
        seat, state = int(self.game.player), self.state
        state.add_observation(action, ta.ObservationType.PLAYER_ACTION, from_id=seat, to_id=seat)
        try:
            number = prompts.read(action, self.game)
            if self._talk is not None:
                self._talk.say(talk.read(action), self.game)
        except MonopolyError as error:
            if state.set_invalid_move(str(error)):
                state.set_game_outcome(
                    {other: -int(other == seat) for other in range(state.num_players)}, str(error)
                )
            else:
                self._show(f"Your answer was not understood. {error}")
        else:
            self._carry_out(number, seat)
        done, info = state.step(rotate_player=False)
        return bool(done), info

    def _carry_out(self, action: int, seat: int) -> None:
        before = core.clone(self.game)
        told = narrate.step(self.game, action, self._recorded.names)
        replays.settle(self._recorded, self.game, 0)  # the turn limit
        if self._talk is not None:
            self._talk.step(before, action)
        self._history[seat] = []
        for history in self._history:
            history.extend(told)
            del history[:-_TOLD]
        if core.is_over(self.game):
            winner = core.winner(self.game)
            why = "It is a draw." if winner is None else f"Player {winner} has won."
            self.state.set_draw(why) if winner is None else self.state.set_winners([winner], why)
        else:
            self._show()

    def _show(self, first: str = "") -> None:
        """Show the player to move its decision."""
        seat = int(self.game.player)
        self.state.manually_set_current_player_id(seat)
        shown = prompts.prompt(self.game, self._history[seat], talk=self._talk)
        self.state.add_observation(
            "\n".join(filter(None, [first, shown])), ta.ObservationType.GAME_BOARD, to_id=seat
        )


if NAME not in ta.envs.registration.ENV_REGISTRY:
    ta.register(NAME, f"{__name__}:MonopolyTextEnv", default_wrappers=[GameBoardObservationWrapper])
