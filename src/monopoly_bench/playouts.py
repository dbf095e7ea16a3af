"""What actions and positions are worth to every seat, by playouts of scripted players."""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from monopoly_env import core
from monopoly_env.analyse import rollout
from monopoly_env.game import Game, Games
from monopoly_env.policy.loop import answers
from monopoly_env.policy.names import make
from monopoly_env.policy.protocol import Decisions, Policy

CONTINUATION: Final = "expert"  # plays every seat on


@cache
def _silent() -> Policy:
    """`expert`, who finds no trade good enough to offer or to accept."""
    return make(CONTINUATION, margin=1.0, least=1.0)


def shares_of_actions(
    game: Game, actions: list[int], n: int, seed: int, threads: int | None = None
) -> NDArray[np.float64]:
    """(A, P) the share of the win of each seat after each action, over the same luck."""
    return rollout(
        np.repeat(core.batch_of(game), len(actions)),
        CONTINUATION,
        n,
        actions=actions,
        seed=seed,
        threads=threads,
    ).share


def shares_without_trades(
    games: Games, n: int, seed: int, threads: int | None = None
) -> NDArray[np.float64]:
    """(B, P) the share of the win of each seat in each position, if nobody trades any more."""
    return rollout(games, _silent(), n, seed=seed, threads=threads).share


def choice(agent: Policy, game: Game) -> int:
    """What an agent does in a position that it sees for the first time."""
    return int(answers(agent, Decisions(core.batch_of(game).copy()))[0])
