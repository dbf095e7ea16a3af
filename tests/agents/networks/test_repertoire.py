"""What networks choose among, and which decisions are left to a parent."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from agents.networks.repertoire import Repertoire, share_out
from monopoly_env.actions import DECISION_NAMES, HEAD_NAMES, HEADS, NUM_ACTIONS
from monopoly_env.errors import ConfigurationError

ALONE = tuple(head for head in HEAD_NAMES if not head.startswith("trade"))
TURN, DEBT = DECISION_NAMES.index("turn"), DECISION_NAMES.index("debt")


def mask(*actions: int) -> NDArray[np.bool_]:
    """A (1, 205) mask of some actions."""
    row = np.zeros((1, NUM_ACTIONS), np.bool_)
    row[0, list(actions)] = True
    return row


def test_the_repertoire_leaves_out_offers_and_sales_without_need() -> None:
    repertoire = Repertoire(ALONE)
    go_on, sell, trade, counter = (
        HEADS["turn"].start,
        HEADS["sell"].start,
        HEADS["trade"].start,
        HEADS["reply"].start + 2,
    )
    legal = mask(go_on, sell, trade, counter)
    assert np.flatnonzero(repertoire.open(legal, np.array([TURN], np.int16))).tolist() == [go_on]
    assert np.flatnonzero(repertoire.open(legal, np.array([DEBT], np.int16))).tolist() == [
        go_on,
        sell,
    ]
    assert np.flatnonzero(
        Repertoire(ALONE, True).open(legal, np.array([TURN], np.int16))
    ).tolist() == [go_on, sell]
    assert np.flatnonzero(
        Repertoire(HEAD_NAMES).open(legal, np.array([TURN], np.int16))
    ).tolist() == [go_on, trade, counter]


def test_a_parent_plays_what_the_networks_do_not() -> None:
    repertoire = Repertoire(("build", "turn"))
    go_on, build, lift = HEADS["turn"].start, HEADS["build"].start, HEADS["unmortgage"].start
    legal = mask(go_on, build, build + 1, lift)
    turn = np.array([TURN], np.int16)
    choices, _ = share_out(repertoire, legal, turn, np.array([go_on]))
    assert np.flatnonzero(choices).tolist() == [go_on, build, build + 1]
    choices, answers = share_out(repertoire, legal, turn, np.array([lift]))
    assert not choices.any()
    assert answers.tolist() == [lift]


def test_wrong_heads_are_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"Unknown head 'biuld'\. Did you mean 'build'"):
        Repertoire(("biuld",))
    with pytest.raises(ConfigurationError, match="once"):
        Repertoire(("buy", "buy"))
    with pytest.raises(ConfigurationError, match="learn all of them or none"):
        Repertoire(("buy", "trade_ask"))
