"""`expert/value`: `expert/bargaining` with offers chosen by the value network.

Of the packages that promise most by `expert`'s formulas it offers the one that raises its own share
of the win most (`agents.learned.valued`), at the lowest price that `expert` would take in the
partner's place. It searches every third round, for the first offer of a turn.

All other decisions, bids and answers included, are those of `expert/bargaining`: chosen by the
value network, with no margin for its errors, they lose.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.learned.packages import ASKED, FIELDS, LENT, RATED_AT, WINS
from agents.learned.valued import is_asked_now, share_without, write_valued
from agents.players.expert import bargainer
from agents.players.vocabulary import offers
from agents.values.saved import make
from monopoly_env.actions import A_ASK, A_TRADE
from monopoly_env.engine import agenda
from monopoly_env.errors import ConfigurationError, nearest, shortened
from monopoly_env.game import Game
from monopoly_env.kernels import kernel
from monopoly_env.policy.protocol import CompiledPolicy, Mask, Policy, Row, policy_kernel

KIND: Final = "trader"
NAME: Final = "expert/value"

_LEAST: Final = 0.002  # minimal rise of the own share of the win
# In the row: the bargainer, then the network, as pairs of float32 numbers
_NETWORK: Final = bargainer.BARGAINS + 1


@policy_kernel
def _play(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    action = int(bargainer.play(game, params[:_NETWORK], memory))
    if (
        game.decision != agenda.WINDOW
        or A_TRADE <= action < A_ASK
        or not is_asked_now(game, int(game.player))
    ):
        return action
    return _offer(game, int(game.player), action, params[_NETWORK:].view(np.float32), memory)


@kernel
def _offer(game: Game, seat: int, action: int, network: Any, memory: Row) -> int:
    """Begin the offer that raises the own share most, or return the action."""
    table, best = np.empty((1, FIELDS)), np.zeros(4, np.int64)
    high, without = _LEAST, share_without(game, seat, network)
    for partner in range(game.num_players):
        if (
            partner != seat
            and game.place[partner] == 0
            and offers.may_offer_to(game, seat, partner)
        ):
            write_valued(game, seat, partner, network, without, table)
            row = table[0]
            if row[WINS] > high:
                high = row[WINS]
                best[0] = partner
                best[1] = int(row[ASKED])
                best[2] = int(row[LENT])
                best[3] = int(row[RATED_AT])
    if best[1] | best[2] == 0:
        return action
    return int(offers.begin(game, int(best[0]), int(best[1]), int(best[2]), int(best[3]), memory))


class Trader(CompiledPolicy):
    """A bargainer with offers chosen by the value network."""

    def __init__(
        self, base: str = "expert/bargaining", value: str = "best", name: str = KIND
    ) -> None:
        """Make one.

        Args:
            base: The bargainer that makes all other decisions.
            value: The value network that chooses offers, at tables of 2 to 4.
            name: Its name in results and messages.

        Raises:
            ConfigurationError: Bargainer or network is unknown.
        """
        if base not in bargainer.POLICIES:
            raise ConfigurationError(
                f"base={shortened(base)} must be a bargainer. {nearest(base, bargainer.POLICIES)}"
            )
        weights = make(value).params
        padded = np.concatenate([weights, np.zeros(len(weights) % 2, np.float32)])
        self._options = {"base": base, "value": value}
        super().__init__(
            name,
            _play,
            np.concatenate([bargainer.POLICIES[base]().params, padded.view(np.float64)]),
            kind=KIND,
            reads_mask=False,
        )

    def options(self) -> dict[str, Any]:
        """The names of its parts."""
        return self._options

    def arrays(self) -> dict[str, NDArray[Any]]:
        """No arrays: its parameters are those of its parts."""
        return {}

    def set_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Check that there are none."""
        Policy.set_arrays(self, arrays)


def _make() -> Trader:
    return Trader(name=NAME)


POLICIES: Final = {NAME: _make}
