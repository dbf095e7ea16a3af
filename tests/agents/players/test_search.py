"""The player that searches: without playouts its base policy, with them the same at any batch size, and stronger."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agents
import monopoly_env as me
from monopoly_env.actions import HEADS
from monopoly_env.policy import names
from monopoly_env.policy.protocol import MEMORY, Decisions
from monopoly_env.rules import Rules

SHORT = Rules(max_turns=60)
REJECT, ACCEPT = (HEADS["reply"].start + place for place in range(2))


@agents.policy_kernel
def _yielding(game: Any, mask: Any, params: Any, memory: Any) -> int:
    """Accepts every offer, and otherwise takes the first legal action."""
    if mask[ACCEPT]:
        return ACCEPT
    action = 0
    while not mask[action]:
        action += 1
    return action


@pytest.fixture(autouse=True)
def _registered() -> None:
    names.register("yielding", lambda: agents.CompiledPolicy("yielding", _yielding))


def open_decisions(count: int) -> Decisions:
    """Decisions in the middle of games between scripted players."""
    vec = me.VectorMonopoly(count, 2, seed=3, threads=1)
    player = agents.make("algorithmic")
    vec.reset()
    for _ in range(40):
        vec.step(player.act(Decisions(vec.games.copy())))
    return Decisions(vec.games.copy())


def test_without_playouts_it_is_its_base_policy() -> None:
    played = agents.arena.play([agents.make("search", base="algorithmic", playouts=0), "random"], games=40, rules=SHORT, record=40)
    plain = agents.arena.play(["algorithmic", "random"], games=40, rules=SHORT, record=40)
    assert [replay.actions.tolist() for replay in played.replays] == [replay.actions.tolist() for replay in plain.replays]


def test_its_answers_depend_neither_on_the_batch_nor_on_threads() -> None:
    decisions = open_decisions(24)
    searching = agents.make("search", base="random", playouts=8, advisers=["algorithmic"])
    together = searching.act(Decisions(decisions.games.copy(), np.zeros((24, MEMORY)), decisions.key))
    assert searching.searched > 5
    alone = agents.make("search", base="random", playouts=8, advisers=["algorithmic"], threads=1)
    for number in range(24):
        one = slice(number, number + 1)
        assert alone.act(Decisions(decisions.games[one].copy(), np.zeros((1, MEMORY)), decisions.key[one]))[0] == together[number]


def test_it_takes_the_better_advice() -> None:
    """`random` with the advice of `algorithmic` wins more than `random`; both sit at the same tables."""
    searching = agents.make("search", base="random/no_trades", playouts=6, advisers=["algorithmic"], margin=0.0, turns=12)
    results = agents.arena.play([searching, "random/no_trades"], games=40, rules=Rules(max_turns=40, auction="none", trade="none"))
    row = next(row for row in results.rows() if row["name"] == searching.name)
    assert row["win_rate"] > 0.65


def test_a_thorough_player_plays_out_what_all_agree_on() -> None:
    """Everybody would let an opponent complete a group for a dollar; played on, that loses."""
    game = me.position(
        2,
        lots={0: ["St. James Place", "Tennessee Avenue"], 1: ["New York Avenue", "Reading Railroad"]},
        cash={0: 1500, 1: 200},
        positions={0: 0, 1: 20},
    )
    for text in ("trade with player +1", "ask for New York Avenue", "ask: done", "give: done", "give $1", "cash: done"):
        me.step(game, me.actions.parse(text))
    options: dict[str, Any] = {"base": "yielding", "advisers": [], "playouts": 60, "turns": 20, "value": "best", "others": ["algorithmic"]}
    decisions = Decisions(me.core.batch_of(game).copy())
    assert agents.make("search", **options).act(decisions)[0] == ACCEPT
    searching = agents.make("search", thorough=True, **options)
    assert searching.act(decisions)[0] == REJECT
    assert searching.searched == 1


def test_it_is_saved_as_its_options(tmp_path: Any) -> None:
    searching = agents.make("search", base="algorithmic", playouts=3, advisers=["random"], turns=5)
    searching.save(tmp_path / "search.safetensors")
    loaded = agents.load(tmp_path / "search.safetensors")
    assert loaded.options() == searching.options()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"playouts": -1}, "playouts=-1"),
        ({"margin": -0.5}, "margin=-0.5"),
        ({"base": "randm"}, "Did you mean 'random'"),
        ({"value": "bets"}, "Did you mean 'best'"),
        ({"others": ["algoritmic"]}, "Did you mean 'algorithmic'"),
        ({"seconds": 0.0}, "seconds=0.0 must be positive"),
        ({"base": "human"}, "is not compiled"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(me.ConfigurationError, match=message):
        agents.make("search", **options)
