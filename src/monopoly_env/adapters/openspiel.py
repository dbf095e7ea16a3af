"""Monopoly for OpenSpiel: `pip install 'monopoly-env[openspiel]'`.

Importing this registers the game.

    game = pyspiel.load_game("python_monopoly", {"players": 2, "rules": "official"})
    state = game.new_initial_state()

A record determines its future dice, which a search must not know. So a move that throws dice is
followed by a chance node: it draws one of `futures` equally likely seeds, by which the game
continues, with the unseen cards reshuffled. Moves without dice have no chance node. A game ends
without a winner after `turns` turns.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from monopoly_env import encoding
from monopoly_env.actions import NUM_ACTIONS, describe
from monopoly_env.cli.extras import extra
from monopoly_env.core import clone, is_over, legal_actions, new_game, reseed, step, winner
from monopoly_env.render.description import to_text

with extra("openspiel"):
    import pyspiel

__all__ = ["MonopolyGame", "MonopolyState"]

_PARAMETERS: Final[dict[str, Any]] = {
    "players": 2,
    "rules": "official",
    "seed": 0,
    "futures": 36,
    "turns": 1000,
}
_DECISIONS_A_TURN: Final = 100  # above the mean of any game
_TYPE: Final = pyspiel.GameType(
    short_name="python_monopoly",
    long_name="Monopoly",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.PERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=8,
    min_num_players=2,
    provides_information_state_string=True,
    provides_information_state_tensor=False,
    provides_observation_string=True,
    provides_observation_tensor=True,
    parameter_specification=_PARAMETERS,
)


class MonopolyGame(pyspiel.Game):  # type: ignore[misc]  # OpenSpiel has no types
    """The game; its parameters are `players`, `rules` (a preset), `seed`, `futures` and `turns`."""

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        self.options = _PARAMETERS | (params or {})
        players, turns = self.options["players"], self.options["turns"]
        info = pyspiel.GameInfo(
            NUM_ACTIONS, self.options["futures"], players, -1.0, 1.0, 0.0, turns * _DECISIONS_A_TURN
        )
        super().__init__(_TYPE, info, self.options)

    def new_initial_state(self, state: Any = None) -> MonopolyState:
        """A new game."""
        return MonopolyState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> MonopolyObserver:
        """The observer of the encoding `standard`."""
        return MonopolyObserver(self.options["players"])


class MonopolyState(pyspiel.State):  # type: ignore[misc]
    """A position.

    Attributes:
        record: The game.
        chosen: An action whose dice are still to be drawn, or None.
    """

    def __init__(self, game: MonopolyGame) -> None:
        super().__init__(game)
        self.options = game.options
        self.seed = int(self.options["seed"])
        self.record = new_game(self.options["players"], self.options["rules"], self.seed)
        self.chosen: int | None = None

    def current_player(self) -> int:
        """The seat to move, or OpenSpiel's constant for chance or the end."""
        if self.is_terminal():
            return int(pyspiel.PlayerId.TERMINAL)
        return int(pyspiel.PlayerId.CHANCE) if self.chosen is not None else int(self.record.player)

    def is_terminal(self) -> bool:
        """Whether the game has ended, or was cut off."""
        return is_over(self.record) or int(self.record.turns) >= self.options["turns"]

    def returns(self) -> list[float]:
        """1 for the winner, -1 / (players - 1) for each other; 0 for all without a winner."""
        first = winner(self.record)
        others = -1.0 / (self.options["players"] - 1)
        return [
            0.0 if first is None else 1.0 if seat == first else others
            for seat in range(self.options["players"])
        ]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """The futures, all equally likely."""
        return [(future, 1 / self.options["futures"]) for future in range(self.options["futures"])]

    def _legal_actions(self, player: int) -> list[int]:
        return [int(action) for action in legal_actions(self.record)]

    def _apply_action(self, action: int) -> None:
        if self.chosen is not None:
            self.seed = (
                self.seed * 6364136223846793005 + action + 1
            ) % 2**63  # another for each history
            step(reseed(self.record, self.seed, shuffle=True), self.chosen)
            self.chosen = None
            return
        after = step(clone(self.record), action)
        if _thrown(after) == _thrown(self.record):
            self.record = after
        else:
            self.chosen = action

    def _action_to_string(self, player: int, action: int) -> str:
        return (
            f"future {action}"
            if player == pyspiel.PlayerId.CHANCE
            else describe(action, self.record)
        )

    def __str__(self) -> str:
        return to_text(self.record)


class MonopolyObserver:
    """An observation as a tensor: the encoding `standard`."""

    def __init__(self, players: int) -> None:
        self.tensor = np.zeros(encoding.size("standard", players), np.float32)
        self.dict = {"observation": self.tensor}

    def set_from(self, state: MonopolyState, player: int) -> None:
        """Write the observation of a player."""
        self.tensor[:] = encoding.observe(state.record, "standard", player)

    def string_from(self, state: MonopolyState, player: int) -> str:
        """The position in words."""
        return str(state)


def _thrown(record: Any) -> bytes:
    return bytes(record.throws.tobytes() + record.utility_throws.tobytes())


pyspiel.register_game(_TYPE, MonopolyGame)
