"""The PettingZoo environment. The docstring of `pente_v0` is its user documentation."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from monopoly_env.envs.turns import TurnEnv
from monopoly_env.errors import check_illegal
from monopoly_env.kernels import entry
from monopoly_env.kernels.signatures import Array1
from monopoly_env.render.drawing import check_render_mode
from pente_env import core
from pente_env.game import NOBODY, Games
from pente_env.lines import LEGAL, write_points
from pente_env.loop import FORFEIT, chosen_point
from pente_env.observation import check_encoding, length_of, observe_known
from pente_env.render import render
from pente_env.rules import Rules


@entry
def _write_mask(games: Games, mask: Array1[np.int8]) -> None:
    write_points(games[0], games[0].player, LEGAL, mask)


class PenteAEC(TurnEnv):
    """A PettingZoo environment.

    `pente_v0` documents observations, actions, rewards and arguments.
    """

    metadata = TurnEnv.metadata | {"name": "pente_v0"}

    def __init__(
        self,
        num_players: int = 2,
        rules: Rules | str = "schrum",
        encoding: str = "standard",
        render_mode: str | None = None,
        *,
        illegal: Literal["raise", "penalize", "random"] = "raise",
    ) -> None:
        """Set up a table; `reset` starts the game. The arguments are those of `pente_v0.env`."""
        super().__init__()
        players = core.check_players(num_players)
        self.rules = Rules.coerce(rules)
        self.encoding = check_encoding(encoding)
        self.render_mode = check_render_mode(render_mode)
        self.illegal = check_illegal(illegal)
        seen = spaces.Box(0.0, 1.0, (length_of(encoding, self.rules.size),), np.float32)
        self._seat(players, self.rules.size**2, seen)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a game.

        Args:
            seed: 0 to 2**64 - 1, of the random numbers of players; the rules leave nothing to
                chance.
            options: Ignored, as PettingZoo's own test of environments demands.

        Raises:
            ConfigurationError: The seed is out of range.
        """
        given = int(np.random.default_rng().integers(1 << 63)) if seed is None else seed
        self._games = core.new_games([given], len(self.possible_agents), self.rules)
        self._begin()

    def _act(self, agent: str, action: int | None) -> None:
        game, point = self.game, chosen_point(self._games, action, self.illegal)
        if point == FORFEIT:
            self._forfeit(agent)
            return
        core.step(game, point)
        self._cumulative_rewards[agent] = 0.0
        if core.is_over(game):
            self._end(int(game.winner))
        else:
            self.agent_selection = self.possible_agents[game.player]

    def _end(self, winner: int) -> None:
        """Pay the agents and end the game for all."""
        for agent, seat in self._seat_of.items():
            if winner != NOBODY:
                others = len(self.possible_agents) - 1
                self.rewards[agent] = 1.0 if seat == winner else -1.0 / others
            self._cumulative_rewards[agent] += self.rewards[agent]
            self.terminations[agent] = True
        self._deads_step_first()

    def _mask_of(self, seat: int) -> NDArray[np.int8]:
        mask = np.zeros(self.rules.size**2, np.int8)
        if seat == self.game.player and not self.terminations.get(self.possible_agents[seat], True):
            _write_mask(self._games, mask)
        return mask

    def _see(self, seat: int) -> NDArray[np.float32]:
        return observe_known(self._games, np.array([seat]), self.encoding)[0]

    def render(self) -> Any:
        """The game as `render_mode` says (`monopoly_env.render.drawing.rendered`)."""
        return render(self.game, self.render_mode)
