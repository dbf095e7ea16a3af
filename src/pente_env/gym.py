"""Pente for Gymnasium: one learner, players in the other seats.

    >>> import gymnasium, pente_env
    >>> env = gymnasium.make("pente_env/Pente-v0", opponents=["better"])
    >>> observation, info = env.reset(seed=0)
    >>> terminated = truncated = False
    >>> while not (terminated or truncated):
    ...     action = env.action_space.sample(info["action_mask"])
    ...     observation, reward, terminated, truncated, info = env.step(action)

- Observation: (D,) float32 in [0, 1], the board as the learner sees it; `pente_v0` lists the
  numbers.
- Action: a point, size * row + column. What an illegal one does, the argument `illegal` says.
- Reward: at the end 1 if the learner has won; the losers share -1; 0 for all if the board is full.
- `info`: `action_mask` (size * size,) int8, a copy; `seat`, the learner's seat. sb3-contrib reads
  the mask from `env.unwrapped.action_masks()`.
- Seeds: `reset(seed=7)` begins the game of seed 7 and draws the learner's seat from it. Later games
  that are begun without a seed follow from it.

`VectorPente` plays many games at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from monopoly_env.errors import (
    ConfigurationError,
    GameOverError,
    check_illegal,
    check_seat,
    shortened,
    whole_number,
)
from monopoly_env.kernels.philox import MAX_SEED
from monopoly_env.render.drawing import INSTALLED_MODES, check_render_mode
from pente_env import core
from pente_env.game import Game
from pente_env.loop import FORFEIT, chosen_point
from pente_env.matches import PlayerLike, check_table, coerce
from pente_env.observation import check_encoding, length_of, observe_known
from pente_env.player import MEMORY, Player
from pente_env.render import render
from pente_env.rules import Rules

Observation: TypeAlias = NDArray[np.float32]


class PenteEnv(gymnasium.Env[Observation, np.int64]):
    """One learner against players; see the module's docstring."""

    metadata: dict[str, Any] = {"render_modes": list(INSTALLED_MODES), "render_fps": 2}  # noqa: RUF012

    def __init__(
        self,
        opponents: Sequence[PlayerLike] = ("better",),
        seat: int | Literal["random"] = "random",
        rules: Rules | str | Mapping[str, Any] = "schrum",
        encoding: str = "standard",
        render_mode: str | None = None,
        *,
        illegal: Literal["raise", "penalize", "random"] = "raise",
    ) -> None:
        """Set up a table; `reset` starts the game.

        Args:
            opponents: 1 or 2 players, or names of scripted ones. They sit clockwise from the
                learner.
            seat: The learner's seat, counted from 0, or "random" for a new one every game.
            rules: Rules, the name of a preset, or a dictionary of options.
            encoding: `standard` or `schrum`.
            render_mode: `ansi`, `human`, `svg`, `rgb_array` or None.
            illegal: What an illegal point does. "raise": an error. "penalize": the game ends, with
                a reward of -1. "random": a random legal one is taken instead, drawn from the game's
                own stream.

        Raises:
            ConfigurationError: An argument is invalid. The message names what was given and what is
                valid.
            RulesError: The rules are unknown.
        """
        if isinstance(opponents, (str, Player)) or not len(opponents):
            raise ConfigurationError(
                f"opponents={shortened(opponents)} must be a list of 1 or 2 players, one per seat."
            )
        self.rules = Rules.coerce(rules)
        self.opponents = tuple(coerce(player) for player in opponents)
        check_table([None, *self.opponents], self.rules)
        self.num_players = len(self.opponents) + 1
        self.encoding = check_encoding(encoding)
        self.render_mode = check_render_mode(render_mode)
        self.illegal = check_illegal(illegal)
        self._wanted_seat = check_seat(seat, self.num_players)
        length = length_of(encoding, self.rules.size)
        self.observation_space = spaces.Box(0.0, 1.0, (length,), np.float32)
        self.action_space = spaces.Discrete(self.rules.size**2)
        self._over = True

    @property
    def game(self) -> Game:
        """The record of the game. Changing it changes the game."""
        return self._games[0]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start a game and let the opponents play until the learner is to move.

        Args:
            seed: 0 to 2**64 - 1: the game's seed, as in `new_game`. Later games that are started
                without a seed follow from it.
            options: There are none.

        Raises:
            ConfigurationError: A seed out of range, or an option.
            IllegalActionError: An opponent chose a point that is not legal.
        """
        if options:
            raise ConfigurationError(
                f"reset has no options: options={shortened(options)} must be None."
            )
        if seed is not None:
            whole_number("seed", seed, 0, MAX_SEED)
        super().reset(seed=seed)
        own = int(self.np_random.integers(1 << 63)) if seed is None else seed
        self._games = core.new_games([own], self.num_players, self.rules)
        self._seat = self._wanted_seat
        if self._seat < 0:
            self._seat = int(self.np_random.integers(self.num_players))
        others = enumerate(self.opponents, self._seat + 1)
        self._seated = {seat % self.num_players: player for seat, player in others}
        self._memory = np.zeros((self.num_players, MEMORY))
        self._over = False
        self._let_opponents_play()
        return self._observation(), self._info()

    def step(self, action: int | np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Put the learner's stone and let the opponents play until it is to move again.

        Raises:
            IllegalActionError: The point is not legal; nothing has changed. Or an opponent chose
                such a point.
            ConfigurationError: The action is not an integer, or an array of one.
            GameOverError: The game has ended, or `reset` was never called.
        """
        if self._over:
            raise GameOverError("No game is running: call reset().")
        point, reward = chosen_point(self._games, action, self.illegal), 0.0
        if point == FORFEIT:
            self._over, reward = True, -1.0
        else:
            self._ask()
            core.step(self.game, point)
            self._let_opponents_play()
            self._over, winner = core.is_over(self.game), core.winner(self.game)
            if winner is not None:
                reward = 1.0 if winner == self._seat else -1.0 / len(self.opponents)
        return self._observation(), reward, self._over, False, self._info()

    def _let_opponents_play(self) -> None:
        while not core.is_over(self.game) and self.game.player != self._seat:
            core.step(self.game, self._ask())

    def _ask(self) -> int:
        """The point of the opponent to move, if one is; those that observe do so, too."""
        mover, chosen = int(self.game.player), -1
        for seat, player in self._seated.items():
            if seat == mover or player.observes:
                point = player.act(self._games, seat, self._memory[seat])
                chosen = point if seat == mover else chosen
        return chosen

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal points: (size * size,) bool. None is legal once the game is over."""
        return core.action_mask(self.game) & (not self._over)

    def render(self) -> Any:
        """The game as `render_mode` says (`monopoly_env.render.drawing.rendered`)."""
        return render(self.game, self.render_mode)

    def _observation(self) -> Observation:
        return observe_known(self._games, np.array([self._seat]), self.encoding)[0]

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.action_masks().astype(np.int8), "seat": self._seat}
