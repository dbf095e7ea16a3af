"""The Gymnasium environment with the action space of a learned agent.

An offer takes a few choices, and forced actions are played automatically.

    env = ChoiceEnv(MonopolyEnv(["expert"], rules="ocnaru", encoding="compact"))
    model = MaskablePPO("MlpPolicy", env)

Most decisions of a game are picks that compose an offer, or have one legal action. Any trainer with
masks learns from the rest. In the encoding `compact` the learner also sees its partners' answers.
"""

from __future__ import annotations

from typing import Any, Final

import gymnasium
import numpy as np
from numpy.typing import NDArray

from agents.learned.action_space import NO_CHOICE, NUM_CHOICES, is_asked, only_open, write_open
from agents.learned.agent import first_action
from agents.learned.answers import note_answer
from agents.learned.compact import NAME, write_memory
from agents.learned.menus import new_menus, write_menus
from agents.players.vocabulary.offers import compose
from monopoly_env.engine import agenda
from monopoly_env.envs.gym import MonopolyEnv
from monopoly_env.errors import GameOverError, IllegalActionError
from monopoly_env.game import Games
from monopoly_env.kernels import entry
from monopoly_env.kernels.signatures import Array1
from monopoly_env.policy.protocol import MEMORY

SEVERAL: Final = -1  # no action: several choices are open


class ChoiceEnv(gymnasium.Wrapper[NDArray[np.float32], np.int64, NDArray[np.float32], np.int64]):
    """One learner against policies; each step is a choice between several.

    Actions are the `NUM_CHOICES` choices of `agents.learned.action_space`. Rewards of actions
    played automatically are added up. `action_masks()` and `info["action_mask"]` (int8) mark the
    open choices: two or more, none after the game. All else is as in `MonopolyEnv`.
    """

    env: MonopolyEnv

    def __init__(self, env: MonopolyEnv) -> None:
        """Wrap an environment."""
        super().__init__(env)
        self.action_space = gymnasium.spaces.Discrete(NUM_CHOICES)
        self._open = np.zeros(NUM_CHOICES, np.bool_)
        self._memory = np.zeros(MEMORY)
        self._over = True

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Start a game, and play until the learner has a choice."""
        self.action_space.seed(seed)
        while True:
            observation, info = self.env.reset(seed=seed, options=options)
            self._memory[:] = 0.0
            action = next_action(self.env.table.games, NO_CHOICE, self._open, self._memory)
            if action == SEVERAL:
                break
            observation, _, terminated, truncated, info = self._play(action)
            if not (terminated or truncated):
                break
            seed = None  # the learner never had a choice: play the next game
        self._over = False
        return self._seen(observation), self._with_mask(info)

    def step(
        self, action: np.int64
    ) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Carry out a choice, and play until the learner has another.

        Raises:
            GameOverError: The game has ended, or `reset` was never called.
            IllegalActionError: The choice is not open; nothing has changed.
        """
        if self._over:
            raise GameOverError("No game is running: call reset().")
        if not 0 <= int(action) < NUM_CHOICES or not self._open[action]:
            raise IllegalActionError(
                f"Choice {action!r} is not open. Open: {np.flatnonzero(self._open).tolist()}."
            )
        observation, reward, terminated, truncated, info = self._play(
            next_action(self.env.table.games, int(action), self._open, self._memory)
        )
        self._over = terminated or truncated
        return self._seen(observation), reward, terminated, truncated, self._with_mask(info)

    def action_masks(self) -> NDArray[np.bool_]:
        """The open choices: (NUM_CHOICES,) bool, a copy."""
        return self._open.copy()

    def _play(self, action: int) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Play an action and the forced ones after it."""
        total = 0.0
        while True:
            observation, reward, terminated, truncated, info = self.env.step(action)
            total += reward
            if terminated or truncated:
                self._open[:] = False
                break
            action = next_action(self.env.table.games, NO_CHOICE, self._open, self._memory)
            if action == SEVERAL:
                break
        return observation, total, terminated, truncated, info

    def _seen(self, observation: NDArray[np.float32]) -> NDArray[np.float32]:
        """The observation with the learner's memory."""
        if self.env.table.encoding.name != NAME or self._over:
            return observation
        seen = observation.copy()
        write_own_memory(self.env.table.games, self._memory, seen)
        return seen

    def _with_mask(self, info: dict[str, Any]) -> dict[str, Any]:
        return info | {"action_mask": self._open.astype(np.int8)}


@entry
def write_own_memory(games: Games, memory: Array1[np.float64], seen: Array1[np.float32]) -> None:
    """Write what the player to move remembers into its observation."""
    write_memory(games[0], int(games[0].player), memory, seen)


@entry
def next_action(
    games: Games, choice: int, open_: Array1[np.bool_], memory: Array1[np.float64]
) -> int:
    """The action of a choice, or the forced one; `SEVERAL` and the open choices if none is."""
    game, menus = games[0], new_menus()
    note_answer(game, int(game.player), memory)
    if choice == NO_CHOICE and not is_asked(game):
        return int(compose(game, memory))
    if agenda.ASK <= game.decision <= agenda.CASH:  # elsewhere only observations need menus
        write_menus(game, int(game.player), menus)
    if choice == NO_CHOICE:
        count = write_open(game, menus, open_)
        if count > 1:
            return SEVERAL
        choice = only_open(open_)
    return int(first_action(game, choice, menus, memory))
