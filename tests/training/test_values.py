"""The learner of values.

States of games, targets by hand, and runs that end the same however they were interrupted.
"""

from __future__ import annotations

import dataclasses
import io
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console

import agents
from agents.values.features import FEATURES, MOST_PLAYERS, write
from monopoly_env import core
from monopoly_env.errors import ConfigurationError
from training.run import checkpoints
from training.values import options, tables, train
from training.values.__main__ import main as command
from training.values.options import ValueOptions
from training.values.sampling import KINDS, States, play
from training.values.tables import BATCH, SETTINGS, Mixture
from training.values.train import brier, by_place, by_seat, losses, returns

pytestmark = pytest.mark.usefixtures("one_thread")
SMALL = ValueOptions(games=6 * BATCH, chunk=2 * BATCH, kept=4, batch=32, trace=0.9)
QUICK = {"algorithmic": 2.0, "random/no_trades": 1.0}


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few policies, few games, and only tables of two and three, with a cap."""
    monkeypatch.setattr(tables, "TRAINING", QUICK)
    monkeypatch.setattr(tables, "HELD_OUT", {"algorithmic": 1.0})
    monkeypatch.setattr(tables, "VARIED", {})
    monkeypatch.setattr(tables, "SETTINGS", ((2, "ocnaru"), (3, "mukhar")))
    monkeypatch.setattr(train, "_MEASURED", 2)


def sample(**options: object) -> States:
    return States.joined(
        play(Mixture.of({"algorithmic": 1, "strategic": 1}), range(3), 7, **options)
    )  # type: ignore[arg-type]


def test_states_are_those_of_the_records() -> None:
    states = sample(kept=5, records=True)
    assert states.players.tolist() == [
        SETTINGS[batch][0] for batch in range(3) for _ in range(BATCH)
    ]
    assert states.share.sum(axis=1) == pytest.approx(np.ones(3 * BATCH))
    assert (states.kept[states.players < 4] == 5).mean() > 0.5
    seen, seats = np.zeros(FEATURES, np.float32), np.zeros(MOST_PLAYERS, np.int64)
    for i, k in np.argwhere(states.there)[::7]:
        game = states.games[i, k]
        write(game, seen, seats)
        assert np.array_equal(states.seen[i, k], seen.astype(np.float16))
        assert np.array_equal(states.seats[i, k], seats)
        assert states.rounds[i, k] == game["rounds"]
        assert (np.diff(states.when[i, : states.kept[i]]) > 0).all()


def test_states_do_not_depend_on_threads() -> None:
    for one, other in zip(sample(threads=1), sample(threads=2), strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("kind", KINDS)
def test_games_of_a_kind(kind: str) -> None:
    states = sample(kept=1, kind=kind, records=True, threads=1)
    games = states.games[states.there]
    assert len(games) > 30
    core.check_sound(games)
    for game in games[::5]:
        core.check(game)
    if kind == "generated":  # somebody owns much, and the game has hardly begun
        early = games[games["turns"] <= games["num_players"]]
        assert len(early) > 3
        assert max(int(lots).bit_count() for lots in early["lots"].ravel()) > 6
    else:
        assert sum(int(lots).bit_count() for lots in games["lots"].ravel()) > 0


def test_policies_are_drawn_by_their_weights() -> None:
    mixture = Mixture.of({"algorithmic": 3, "random": 1})
    seats = np.concatenate([mixture.seats(3, 1000, 0, batch) for batch in range(20)])
    assert abs((seats == 0).mean() - 0.75) < 5 * np.sqrt(0.75 * 0.25 / 30_000) * np.sqrt(2)
    alike = (seats == seats[:, :1]).all(axis=1).mean()
    expected = tables.SAME + (1 - tables.SAME) * (0.75**3 + 0.25**3)
    assert abs(alike - expected) < 5 * np.sqrt(expected * (1 - expected) / 20_000)
    trained = {policy.name.split("/")[0] for policy in Mixture.training().policies}
    assert not trained & {policy.name.split("/")[0] for policy in Mixture.held_out().policies}


def test_shares_change_between_seats_and_places() -> None:
    seats = np.array([[2, 0, 1, -1], [1, 3, -1, -1]])
    places = np.array([[0.5, 0.3, 0.2, 0.0], [0.6, 0.4, 0.0, 0.0]])
    shares = by_seat(places, seats)
    assert shares.tolist() == [[0.3, 0.2, 0.5, 0.0], [0.0, 0.6, 0.0, 0.4]]
    assert np.array_equal(by_place(shares, seats), places)


def test_returns_by_hand() -> None:
    values = np.array([[[0.5, 0.5], [0.6, 0.4], [0.1, 0.9]]])
    outcome, count = np.array([[1.0, 0.0]]), np.array([3])
    assert returns(values, outcome, count, 1.0)[0, :, 0].tolist() == [1, 1, 1]
    assert returns(values, outcome, count, 0.0)[0, :, 0].tolist() == [0.6, 0.1, 1]
    last, middle = 1.0, 0.2 * 0.1 + 0.8 * 1.0
    assert returns(values, outcome, count, 0.8)[0, :, 0] == pytest.approx(
        [0.2 * 0.6 + 0.8 * middle, middle, last]
    )
    assert returns(values, outcome, np.array([2]), 0.0)[0, :2, 0].tolist() == [0.6, 1]


def test_the_loss_is_the_cross_entropy_of_the_players_left() -> None:
    logits = torch.tensor([[1.0, 0.0, 9.0, 9.0]])
    goal, there = torch.tensor([[0.7, 0.3, 0.0, 0.0]]), torch.tensor([[True, True, False, False]])
    share = float(torch.sigmoid(torch.tensor(1.0)))
    assert float(losses(logits, goal, there)) == pytest.approx(
        -0.7 * np.log(share) - 0.3 * np.log(1 - share), abs=1e-6
    )
    assert brier(np.array([0.7, 0.3]), np.array([1.0, 0.0])) == pytest.approx(0.18)


@pytest.mark.usefixtures("quick")
def test_a_run_that_was_stopped_ends_in_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = dataclasses.replace(SMALL, out=tmp_path / "whole")
    results = train.execute(whole, Console(file=io.StringIO()))
    assert [row["games"] for row in results["curve"]] == [2 * BATCH, 4 * BATCH, 6 * BATCH]
    assert all(0 < row[name] < 1 for row in results["curve"] for name in ("training", "held out"))
    value = agents.values.make(results["value"])
    assert value.about["policies"] == QUICK
    assert list((tmp_path / "whole" / "curves").iterdir())

    part, learn = dataclasses.replace(SMALL, out=tmp_path / "part"), train.ValueLearner.learn

    def stops(learner: train.ValueLearner, states: States) -> dict[str, float]:
        if learner.games == 4 * BATCH:
            raise KeyboardInterrupt
        return learn(learner, states)

    monkeypatch.setattr(train.ValueLearner, "learn", stops)
    with pytest.raises(KeyboardInterrupt):
        train.execute(part, Console(file=io.StringIO()))
    monkeypatch.setattr(train.ValueLearner, "learn", learn)
    assert len(checkpoints.paths(tmp_path / "part" / "checkpoints")) == 2
    train.execute(dataclasses.replace(part, resume=True), Console(file=io.StringIO()))
    assert (tmp_path / "part" / "value.safetensors").read_bytes() == (
        tmp_path / "whole" / "value.safetensors"
    ).read_bytes()


@pytest.mark.usefixtures("quick")
def test_the_command_prints_its_scores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = [
        "--games",
        str(BATCH),
        "--chunk",
        str(BATCH),
        "--kept",
        "2",
        "--out",
        str(tmp_path / "run"),
    ]
    assert command([*line, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["games"] == BATCH
    assert (tmp_path / "run" / "evaluation.json").exists()
    assert command(line) == 2
    assert "holds a run" in capsys.readouterr().err
    assert command([*line, "--overwrite"]) == 0
    assert "Brier score" in capsys.readouterr().out


def test_wrong_options_are_refused() -> None:
    for changes, message in (
        ({"games": 100}, "--games 100 must be a multiple of 32"),
        ({"chunk": 33}, "--chunk 33 must be a multiple"),
        ({"trace": 1.5}, "--trace must be from 0 to 1"),
        ({"games": 0}, "--games must be from 32"),
    ):
        with pytest.raises(ConfigurationError, match=message):
            options.check(dataclasses.replace(ValueOptions(), **changes))  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="is not compiled"):
        Mixture.of({"search": 1})
