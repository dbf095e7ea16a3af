"""Actions compared by playouts: paired, by sequential halving, and reproducible."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
import monopoly_env as me
from monopoly_env import replays
from monopoly_env.actions import A_BUY, DECISION_NAMES
from monopoly_env.analyse.__main__ import main
from monopoly_env.analyse.actions import compare_actions
from monopoly_env.analyse.history import history
from monopoly_env.analyse.playouts import rollout

BUY, DECLINE = A_BUY + 1, A_BUY


def at_the_sale() -> Any:
    """Player 0 owns Park Place, is rich, and stands on Boardwalk, which is for sale."""
    game = me.position(2, lots={0: ["Park Place"]}, cash={0: 3000, 1: 1500}, positions={0: 35}, throws=[(1, 3)])
    while game.decision != DECISION_NAMES.index("buy"):
        me.step(game, me.actions.parse("go on"))
    return game


def test_the_better_action_is_found_and_its_lead_is_paired() -> None:
    compared = compare_actions(at_the_sale(), policies="algorithmic", n=600)
    assert compared.decision == "buy"
    assert compared.best.action == BUY
    assert compared.best.difference == 0
    other = compared.of(DECLINE)
    assert other.difference < 0
    assert other.difference_high < 0
    # Over the same dice the difference is known better than from two shares that have nothing in common.
    apart = (other.high - other.low) / 2 * np.sqrt(2)
    assert (other.difference_high - other.difference_low) / 2 < apart


def test_half_of_the_actions_are_dropped_in_each_round() -> None:
    game = me.position(2, lots={0: ["Reading Railroad", "Park Place", "Oriental Avenue", "Water Works"]})
    legal = me.legal_actions(game)
    compared = compare_actions(game, policies="random", n=64)
    counts = [one.playouts for one in compared.candidates]
    assert sorted(one.action for one in compared.candidates) == legal.tolist()
    assert len(legal) > 4
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == 64
    assert counts[-1] < 64
    assert sum(count == 64 for count in counts) <= max(2, len(legal) // 2)


def test_an_action_is_worth_what_its_playouts_say() -> None:
    game = at_the_sale()
    compared = compare_actions(game, [0, 1], "algorithmic", n=50, seed=3)
    for one in compared.candidates:
        played = rollout(game, "algorithmic", 50, actions=one.action, seed=3)
        assert one.shares == pytest.approx(played.share.tolist())
        assert one.share == pytest.approx(played.share[0])


def test_a_comparison_is_reproducible_and_stops_early() -> None:
    game = at_the_sale()
    assert compare_actions(game, policies="random", n=40, threads=1) == compare_actions(game, policies="random", n=40, threads=2)
    many = me.position(2, lots={0: ["Reading Railroad", "Park Place", "Oriental Avenue", "Water Works"]})
    for stopped in (
        compare_actions(many, policies="random", n=512, until=0.9),
        compare_actions(many, policies="random", n=512, seconds=0.0),
    ):
        assert stopped.best.playouts < 512


def test_wrong_comparisons_are_refused() -> None:
    game = at_the_sale()
    for arguments, error, message in (
        ({"actions": []}, me.ConfigurationError, "actions is empty"),
        ({"actions": [204]}, me.IllegalActionError, "illegal"),
        ({"n": 0}, me.ConfigurationError, "n=0"),
        ({"policies": "randm"}, me.ConfigurationError, "random"),
    ):
        with pytest.raises(error, match=message):
            compare_actions(game, **arguments)
    with pytest.raises(me.ConfigurationError, match="is not among the compared ones"):
        compare_actions(game, [0], "random", n=2).of(1)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    results = agents.arena.play(["algorithmic", "random"], games=2, rules=me.Rules(max_turns=24), record=2)
    path = tmp_path_factory.mktemp("analyse") / "games.replay"
    replays.save(path, results.replays)
    return path


def test_luck_and_choices_add_up_to_the_course_of_the_game(recorded: Path) -> None:
    replay = replays.load(recorded)[0]
    told = history(replay, "algorithmic", 20)
    assert told.before.shape == told.after.shape == (len(replay.actions), 2)
    assert (told.luck + told.choice).sum(axis=0) == pytest.approx(told.final - told.before[0])
    assert told.before.sum(axis=1) == pytest.approx(np.ones(len(replay.actions)))
    assert sorted(told.final) == [0, 1]
    axes = told.plot(replay.names).axes[0]
    assert [line.get_ydata()[-1] for line in axes.lines] == told.final.tolist()
    assert [text.get_text() for text in axes.get_legend().get_texts()] == list(replay.names)
    worst = told.costly(3)
    assert told.own[worst[0]] == told.own.min()


def test_the_command_analyses_saved_games_and_recorded_ones(recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    me.save(at_the_sale(), tmp_path / "game")
    assert main([str(tmp_path / "game"), "--policies", "random", "--playouts", "20", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert sum(row["share"] for row in told["shares"]) == pytest.approx(1)
    assert {row["text"] for row in told["decision"]["actions"]} >= {"buy", "decline"}
    assert main([str(recorded), "--policies", "random", "--playouts", "4", "--costly", "2", "--game", "2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told["costly"]) == 2
    assert sum(row["final_share"] for row in told["players"]) == pytest.approx(1)
    for row in told["players"]:
        assert row["first_share"] + row["luck"] + row["own_choices"] + row["choices_of_others"] == pytest.approx(row["final_share"])
    for line in ([str(tmp_path / "game")], [str(recorded), "--costly", "1"]):
        assert main([*line, "--policies", "random", "--playouts", "4"]) == 0
        shown = capsys.readouterr().out
        assert "Shares of the win" in shown
        assert "buy" in shown or "regret" in shown


def test_the_command_refuses_what_it_cannot_analyse(recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for line, message in (
        ([str(tmp_path / "none")], "Cannot read"),
        ([str(recorded), "--game", "9"], "--game 9 does not exist"),
        ([str(recorded), "--costly", "-1"], "must not be negative"),
        ([str(recorded), "--policies", "randm"], "Did you mean 'random'"),
    ):
        assert main(line) == 2
        assert message in capsys.readouterr().err
