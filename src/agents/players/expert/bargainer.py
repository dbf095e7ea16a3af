"""Bargainers: `expert` with numbers by table size, and a model of partners for prices."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.players.expert.bargaining import bargain
from agents.players.expert.parameters import NAMES, Expert
from agents.players.expert.play import answer
from monopoly_env.engine.players import solvent_seats
from monopoly_env.engine.sets import size
from monopoly_env.errors import ConfigurationError
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import CompiledPolicy, Mask, Row, policy_kernel

KIND: Final = "bargainer"

# The row: the parameters at tables of 2, of 3, of more, of the model; whether the model is used.
SIZES: Final = (2, 3, 4)
WIDTH: Final = len(NAMES)
MODEL: Final = len(SIZES) * WIDTH
BARGAINS: Final = MODEL + WIDTH


@kernel
def at_this_table(game: Game, params: Row) -> Row:
    """The parameters for tables of this size."""
    place = min(int(game.num_players), SIZES[-1]) - SIZES[0]
    return params[place * WIDTH : (place + 1) * WIDTH]


@kernel
def play(game: Game, params: Row, memory: Row) -> int:
    """Answer as `expert`, at prices that the model of partners has set.

    Where two players are left, a gain of one is a loss of the other and neither agrees: `expert`
    then answers alone.
    """
    own = at_this_table(game, params)
    if params[BARGAINS] == 0 or size(solvent_seats(game)) == 2:
        return answer(game, own, own, memory)
    model = params[MODEL:BARGAINS]
    return bargain(game, answer(game, own, model, memory), own, model, memory)


@policy_kernel
def _play(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    return play(game, params, memory)


class Bargainer(CompiledPolicy):
    """`expert` with parameters for each table size, and a model of its partners."""

    def __init__(
        self,
        tables: Sequence[Mapping[str, float]] = ({},),
        model: Mapping[str, float] | None = None,
        bargains: bool = True,
        name: str = KIND,
    ) -> None:
        """Make one; parameters that are not named are those of `expert`.

        Args:
            tables: Its parameters by name at tables of 2, of 3, and of 4 and more players; the last
                ones hold for all that are missing.
            model: The parameters by which it believes its partners judge trades.
            bargains: Whether the model sets the prices of trades.
            name: What tables call it.

        Raises:
            ConfigurationError: A parameter is unknown or out of its range, or there are not 1 to 3
                tables.
        """
        if not 1 <= len(tables) <= len(SIZES):
            raise ConfigurationError(
                f"A bargainer has parameters for 1 to {len(SIZES)} sizes of tables, not for"
                f" {len(tables)}."
            )
        filled = [*tables, *[tables[-1]] * (len(SIZES) - len(tables))]
        rows = [Expert.checked(**numbers).row() for numbers in (*filled, model or {})]
        super().__init__(
            name, _play, np.concatenate([*rows, [bool(bargains)]]), kind=KIND, reads_mask=False
        )

    @property
    def bargains(self) -> bool:
        """Whether its model of partners sets the prices of trades."""
        return bool(self.params[BARGAINS])

    def at(self, players: int) -> Row:
        """(P,) float64, its parameters at a table of this size: a view of its row."""
        place = min(players, SIZES[-1]) - SIZES[0]
        return self.params[place * WIDTH : (place + 1) * WIDTH]

    def copy(self, name: str) -> Bargainer:
        """Another one with the same numbers."""
        other = Bargainer(name=name)
        other.params = self.params.copy()
        return other

    def fault_of(self, row: NDArray[np.float64]) -> str:
        """The first number of a row from a file that is out of its range."""
        faults = [
            Expert.fault_of(row[start : start + WIDTH]) for start in range(0, BARGAINS, WIDTH)
        ]
        if row[BARGAINS] not in (0, 1):
            faults.append(f"Whether it bargains must be 0 or 1, not {row[BARGAINS]:g}")
        return next(filter(None, faults), "")


# By name
NUMBERS: Final[dict[str, dict[str, Any]]] = json.loads(
    Path(__file__).with_name("bargaining.json").read_text()
)


def _factory(name: str) -> Callable[..., Bargainer]:
    def make(bargains: bool | None = None) -> Bargainer:
        """The player of a name; `bargains=False` makes it play without its model of partners."""
        numbers = NUMBERS[name]
        models = numbers["bargains"] if bargains is None else bargains
        return Bargainer(numbers["tables"], bargains=models, name=name)

    return make


POLICIES: Final = {name: _factory(name) for name in NUMBERS}
