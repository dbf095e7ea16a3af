"""A player that looks one action ahead, by a value of states.

It is the plain reference for players that search: no playouts, and nothing scripted but the offers.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from monopoly_env.actions import DECISION_NAMES, HEADS, OFFERING
from monopoly_env.analyse import values
from monopoly_env.analyse.values import write_shares
from monopoly_env.engine.decks import shuffle_unseen
from monopoly_env.engine.step import apply
from monopoly_env.errors import whole_number
from monopoly_env.game import Games, empty_games
from monopoly_env.kernels import borrowed, entry
from monopoly_env.kernels.philox import philox
from monopoly_env.kernels.signatures import Array1
from monopoly_env.policy.names import compiled, resolve
from monopoly_env.policy.protocol import BatchedPolicy, Decisions

_WORD: Final = 0xFFFFFFFF
_LUCK: Final = 22  # a random stream that the engine does not use
_TURN: Final = DECISION_NAMES.index("turn")
_TRADES: Final = HEADS["trade"].slice
# Left out in a turn: raising cash pays more than one action later, and could be undone for ever.
_RAISING: Final = tuple(
    action for head in ("sell", "mortgage") for action in range(HEADS[head].start, HEADS[head].stop)
)


class OnePlyPolicy(BatchedPolicy):
    """A player that takes the action with the highest mean value of the next state."""

    def __init__(
        self, value: str = "best", draws: int = 8, base: str = "expert", name: str | None = None
    ) -> None:
        """Make the player.

        Args:
            value: The name of the value of states: `best` for a network (tables of 2 to 4), or
                `worth`.
            draws: How often the dice and cards that follow an action at once are drawn.
            base: The compiled policy that makes the offers.
            name: What tables call it.

        Raises:
            ConfigurationError: The value or the policy is unknown, the policy is not compiled, or
                `draws` is not 1 or more.
        """
        whole_number("draws", draws, 1)
        self.base = compiled(resolve(base))
        self.name = name or f"one_ply/{value}"
        self._value = values.resolve(value)
        self._options: dict[str, Any] = {"value": value, "draws": int(draws), "base": base}

    @property
    def kind(self) -> str:
        """`one_ply`."""
        return "one_ply"

    def options(self) -> dict[str, Any]:
        """Everything that the player is made of."""
        return self._options

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """Choose an action for each decision."""
        actions = self.base.act(Decisions(decisions.games.copy(), decisions.memory, decisions.key))
        mine = ~np.isin(decisions.decision, OFFERING) & (
            (actions < _TRADES.start) | (actions >= _TRADES.stop)
        )
        for number in np.flatnonzero(mine):
            game = decisions.games[number : number + 1]
            mask = decisions.mask[number].astype(np.bool_)
            self._value.check_players(int(game["num_players"][0]))
            mask[_TRADES] = False
            if game["decision"][0] == _TURN:
                mask[list(_RAISING)] = False
            key, shares = int(decisions.key[number]), np.zeros(int(game["num_players"][0]))
            actions[number] = _best(
                game, mask, self._value.kernel.handle, self._value.params, self._options["draws"],
                key & _WORD, key >> 32, empty_games(1), shares,
            )  # fmt: skip
        return actions


@entry
def _best(
    games: Games, mask: Array1[np.bool_], value: int, params: Array1[np.float32], draws: int,
    key_low: int, key_high: int, scratch: Games,
    shares: Array1[np.float64],
) -> int:  # fmt: skip
    """The open action with the highest mean value; all actions meet the same luck."""
    mask, params, shares = borrowed(mask), borrowed(params), borrowed(shares)
    seat = int(games[0].player)
    best, highest = -1, -1.0
    for action in range(len(mask)):
        if mask[action]:
            total = 0.0
            for draw in range(draws):
                scratch[0] = games[0]
                game = scratch[0]
                game.seed[0] = philox(draw, 0, 0, _LUCK, key_low, key_high)
                game.seed[1] = philox(draw, 1, 0, _LUCK, key_low, key_high)
                shuffle_unseen(game, 0)
                shuffle_unseen(game, 1)
                apply(game, action)
                write_shares(value, game, params, shares)
                total += shares[seat]
            if total > highest:
                best, highest = action, total
    return best
