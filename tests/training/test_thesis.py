"""The thesis's networks by this library's recipe.

What is recorded, what is drawn, and runs that can be resumed.
"""

from __future__ import annotations

import io
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import agents
from agents.networks.forward import evaluate
from agents.networks.ocnaru import ARCHITECTURES, NAMES, OcnaruNetworks
from monopoly_env.errors import ConfigurationError
from monopoly_env.rules import Rules
from training import dqn
from training.experience.choices import Choices
from training.ocnaru.choices import CHOICES, NUM_CHOICES, demonstrations, play_games
from training.run.options import replaced
from training.run.session import Session
from training.thesis import ThesisOptions

pytestmark = pytest.mark.usefixtures("one_thread")
RULES = Rules.preset("ocnaru")
TINY = replaced(
    ThesisOptions(), imitation_steps=3000, steps=4000, rollout_games=24, batch=1024, past=2,
    past_every=1, against=("ocnaru/random",), evaluation_games=4, final_games=4,
    evaluate_every=2000, opponents=("self", "past", "exploiters", "strategic"),
    exploiter_every=2000, exploiter_steps=500, seed=3,
)  # fmt: skip


def player(temperature: float = 0.0) -> OcnaruNetworks:
    """A player of random numbers."""
    made = OcnaruNetworks(temperature=temperature)
    generator = np.random.default_rng(0)
    made.set_arrays(
        {
            name: generator.normal(0, 0.2, array.shape).astype(np.float32)
            for name, array in made.arrays().items()
        }
    )
    return made


def recorded(policy: OcnaruNetworks, games: int = 24, **options: Any) -> Choices:
    seats = np.array([[0, 1], [1, 0]] * (games // 2))
    return play_games(
        [policy, agents.make("strategic")], seats, np.array([True, False]), rules=RULES, **options
    )


def scores(
    policy: OcnaruNetworks, choices: Choices, name: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of a network, its values for them, and the outputs that were chosen.

    Values are very low where closed.
    """
    number = NAMES.index(name)
    rows = np.flatnonzero(choices.network == number)
    open_ = np.unpackbits(choices.open[rows], axis=1, count=NUM_CHOICES)[:, CHOICES[number]].astype(
        np.bool_
    )
    values = evaluate(
        ARCHITECTURES[name].pack(policy.arrays(), name),
        choices.observation[rows].astype(np.float32),
    )
    assert (open_.sum(axis=1) > 1).all()
    return rows, np.where(open_, values, -1e9), choices.choice[rows] - CHOICES[number][0]


@pytest.mark.parametrize("name", ["buy", "upgrade", "fine", "card"])
def test_the_recorded_choice_is_the_highest_value(name: str) -> None:
    policy = player()
    rows, values, chosen = scores(policy, recorded(policy, 60), name)
    assert len(rows) > 2
    assert (values.argmax(axis=1) == chosen).mean() > 0.99  # float16 may change near ties


def test_at_a_temperature_choices_are_drawn_by_their_values() -> None:
    heat = 0.5
    policy = player(heat)
    _, values, chosen = scores(policy, recorded(policy, 120), "buy")
    likely = np.exp(values / heat) / np.exp(values / heat).sum(axis=1, keepdims=True)
    spread = np.sqrt((likely[:, 1] * (1 - likely[:, 1])).sum())
    assert spread > 10
    assert abs((chosen == 1).sum() - likely[:, 1].sum()) < 4 * spread
    cold = policy.drawing(0.0)
    assert cold.temperature == 0
    assert all(
        np.array_equal(cold.arrays()[name], array) for name, array in policy.arrays().items()
    )


def test_threads_and_blocks_do_not_matter_and_both_seats_are_recorded() -> None:
    policy, seats = player(0.5), np.zeros((16, 2), np.int64)
    one = play_games([policy], seats, np.array([True]), rules=RULES, seed=5, threads=1)
    first, second = (
        play_games(
            [policy], seats[:8], np.array([True]), rules=RULES, seed=5, first=first, threads=2
        )
        for first in (0, 8)
    )
    joined = Choices.joined([first, second._replace(game=second.game + np.int32(8))])
    assert all(np.array_equal(a, b) for a, b in zip(one, joined, strict=True))
    for game in range(16):
        mine = one.game == game
        outcome = dict(zip(one.player[mine].tolist(), one.outcome[mine].tolist(), strict=True))
        assert set(outcome) == {0, 1}
        assert sum(outcome.values()) == 1


def test_an_expert_is_watched_where_a_network_would_be_asked() -> None:
    watched = demonstrations(agents.make("strategic"), range(8, 40), RULES, 7, 2)
    assert set(watched.network.tolist()) >= {
        NAMES.index(name) for name in ("buy", "upgrade", "mortgage", "fine")
    }
    open_ = np.unpackbits(watched.open, axis=1, count=NUM_CHOICES).astype(np.bool_)
    assert open_[np.arange(watched.size), watched.choice].all()
    for number, choices in enumerate(CHOICES):
        assert not open_[watched.network == number][
            :, np.setdiff1d(np.arange(NUM_CHOICES), choices)
        ].any()
    assert 0.3 < watched.outcome.mean() < 0.7
    assert (watched.choice[watched.network == 0] == 1).mean() > 0.5  # it buys most lots


class KilledError(Exception):
    """The process was killed."""


def test_a_run_that_was_killed_and_resumed_ends_in_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, parts = (replaced(TINY, out=tmp_path / name) for name in ("whole", "parts"))
    results = dqn.execute(whole, Console(file=io.StringIO()))
    assert [row["title"] for row in results["stages"]] == [
        "untrained",
        "after imitating strategic",
        "after self-play",
    ]
    saved, save = itertools.count(1), Session.save

    def killed(session: Any, *arguments: Any) -> None:
        save(session, *arguments)
        if next(saved) == 3:
            raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(Session, "save", killed)
        with pytest.raises(KilledError):
            dqn.execute(parts, Console(file=io.StringIO()))
    dqn.execute(replaced(parts, resume=True, threads=1), Console(file=io.StringIO()))
    files = [(tmp_path / name / "agent.safetensors").read_bytes() for name in ("whole", "parts")]
    assert files[0] == files[1]
    agent = agents.load(tmp_path / "whole" / "agent.safetensors")
    assert isinstance(agent, OcnaruNetworks)
    assert agent.temperature == 0
    assert agents.arena.play([agent, "strategic"], games=2, rules="ocnaru").games == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"num_players": 3}, "--num-players 3: --preset thesis knows 2 only"),
        ({"hidden": (8,)}, "--hidden"),
        ({"start": "expert"}, "--start expert: --preset thesis knows none only"),
        ({"cluster": "local"}, "--cluster local: --preset thesis knows none only"),
        ({"base_policy": "expert"}, "of the family strategic"),
    ],
)
def test_wrong_options_are_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        dqn.execute(replaced(TINY, **change), Console(file=io.StringIO()))
