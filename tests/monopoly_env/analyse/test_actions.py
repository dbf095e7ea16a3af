"""Actions compared by playouts: paired, by sequential halving, and reproducible."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
import monopoly_env as me
from monopoly_env import replays
from monopoly_env.actions import A_BUY, A_REPLY, A_TRADE, A_TURN, DECISION_NAMES, OFFERING
from monopoly_env.analyse.__main__ import actions_table, main
from monopoly_env.analyse.actions import WholeOffer, compare_actions
from monopoly_env.analyse.history import history
from monopoly_env.analyse.playouts import rollout
from monopoly_env.policy import names

BUY, DECLINE, TRADE, GO_ON = A_BUY + 1, A_BUY, A_TRADE, A_TURN


@agents.policy_kernel
def _yielding(game: Any, mask: Any, params: Any, memory: Any) -> int:
    """Accepts every offer, and otherwise takes the first legal action."""
    if mask[A_REPLY + 1]:
        return A_REPLY + 1
    action = 0
    while not mask[action]:
        action += 1
    return action


@pytest.fixture(autouse=True)
def _registered() -> None:
    names.register("yielding", lambda: agents.CompiledPolicy("yielding", _yielding))


def at_the_sale(cash: int = 3000) -> Any:
    """Player 0 owns Park Place, is rich, and stands on Boardwalk, which is for sale."""
    game = me.position(
        2, lots={0: ["Park Place"]}, cash={0: cash, 1: 1500}, positions={0: 35}, throws=[(1, 3)]
    )
    while game.decision != DECISION_NAMES.index("buy"):
        me.step(game, me.actions.parse("go on"))
    return game


def test_the_better_action_is_found_and_its_lead_is_paired() -> None:
    compared = compare_actions(at_the_sale(1200), policies="algorithmic", n=600)
    assert compared.decision == "buy"
    assert compared.best.action == BUY
    assert compared.best.difference == 0
    other = compared.of(DECLINE)
    assert other.difference < 0
    assert other.difference_high < 0
    # Over the same dice the difference is known better than from two shares that have nothing in
    # common.
    apart = (other.high - other.low) / 2 * np.sqrt(2)
    assert (other.difference_high - other.difference_low) / 2 < apart


def test_half_of_the_actions_are_dropped_in_each_round() -> None:
    game = me.position(
        2, lots={0: ["Reading Railroad", "Park Place", "Oriental Avenue", "Water Works"]}
    )
    legal = [action for action in me.legal_actions(game).tolist() if action != TRADE]
    compared = compare_actions(game, policies="random", n=64)
    counts = [one.playouts for one in compared.candidates]
    assert sorted(one.action for one in compared.candidates) == legal
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


def test_a_dropped_action_shows_no_share_of_its_luckier_playouts() -> None:
    """Its share over a few playouts is not to be read beside that of the best over many."""
    game = me.position(
        2, lots={0: ["Reading Railroad", "Park Place", "Oriental Avenue", "Water Works"]}
    )
    compared = compare_actions(game, policies="random", n=64)
    best, *others = compared.candidates
    assert any(one.share > best.share for one in others if one.playouts < best.playouts), (
        "or this test says nothing"
    )
    title, first, *rows, verdict = str(compared).splitlines()
    assert title == "Player 0, turn:"
    assert first.split("(")[0].strip() == f"{best.share:.3f}"
    assert [row.split("(")[0].strip() for row in rows] == [
        f"{one.difference:+.3f}" for one in others
    ]
    assert verdict == compared.verdict
    table = actions_table(compared, "")
    shares, differences = (list(column.cells) for column in table.columns[:2])
    assert shares == [f"{best.share:.3f}", *[""] * len(others)]
    assert differences == ["", *(f"{one.difference:+.3f}" for one in others)]
    assert table.caption == verdict


def test_the_verdict_names_all_that_may_be_best() -> None:
    game = at_the_sale(1200)
    assert compare_actions(game, [BUY, DECLINE], "algorithmic", 600).verdict == "best: buy"
    assert compare_actions(game, [DECLINE], "random", 2).verdict == "best: decline"
    assert compare_actions(game, [BUY, DECLINE], "random", 4).verdict.startswith(
        "too close to call: "
    )
    many = me.position(
        2, lots={0: ["Reading Railroad", "Park Place", "Oriental Avenue", "Water Works"]}
    )
    assert re.fullmatch(
        r"too close to call: [^,]+(, [^,]+){3} and \d+ more",
        compare_actions(many, policies="random", n=2).verdict,
    )


def test_a_comparison_is_reproducible_and_stops_early() -> None:
    game = at_the_sale()
    assert compare_actions(game, policies="random", n=40, threads=1) == compare_actions(
        game, policies="random", n=40, threads=2
    )
    many = me.position(
        2, lots={0: ["Reading Railroad", "Park Place", "Oriental Avenue", "Water Works"]}
    )
    for stopped in (
        compare_actions(many, policies="random", n=512, until=0.9),
        compare_actions(many, policies="random", n=512, seconds=0.0),
    ):
        assert stopped.best.playouts < 512


def test_two_candidates_stop_when_their_difference_is_known() -> None:
    game = at_the_sale()
    whole = compare_actions(game, [BUY, DECLINE], "random", 600)
    stopped = compare_actions(game, [BUY, DECLINE], "random", 600, until=0.1)
    counts = {one.playouts for one in stopped.candidates}
    assert len(counts) == 1
    assert 8 < counts.pop() < 600
    for action in (BUY, DECLINE):  # what was played is the beginning of the same playouts
        assert (
            stopped.outcomes[action].tolist()
            == whole.outcomes[action][: len(stopped.outcomes[action])].tolist()
        )
    half = (stopped.candidates[1].difference_high - stopped.candidates[1].difference_low) / 2
    assert half < 0.11  # the precision, less the two playouts that the rule adds for safety
    alike = compare_actions(game, [DECLINE, DECLINE], "random", 40, until=0.5)
    assert alike.best.playouts == 40  # one candidate leads nobody


def test_wrong_comparisons_are_refused() -> None:
    game = at_the_sale()
    wrong: tuple[tuple[dict[str, Any], str], ...] = (
        ({"actions": []}, "actions is empty"),
        ({"actions": 3}, "actions=3 must be a list of legal actions"),
        ({"actions": "buy"}, "actions='buy' must be a list of legal actions"),
        ({"actions": ["go on"]}, "'go on' must be a number: monopoly_env.actions.parse"),
        ({"actions": [0.5]}, "0.5 must be an integer from 0 to 204"),
        ({"actions": [(0, 1)]}, r"\(0, 1\) are no whole offer"),
        ({"n": 0}, "n=0"),
        ({"n": "x"}, "n='x' must be a whole number from 1"),
        ({"n": 2**40}, "n=1099511627776 must be a whole number from 1 to 16,777,216"),
        ({"first": 3}, "compare_actions takes no first=3"),
        ({"baseline": 204}, "baseline=204 is not among"),
        ({"seconds": "x"}, "seconds='x' must be a number from 0"),
        ({"seconds": -1}, "seconds=-1 must be a number from 0"),
        ({"until": math.nan}, "until=nan must be a number from 0"),
        ({"until": -0.1}, "until=-0.1 must be a number from 0"),
        ({"until": True}, "until=True must be a number from 0"),
        ({"policies": "randm"}, "random"),
    )
    for arguments, message in wrong:
        with pytest.raises(me.ConfigurationError, match=message):
            compare_actions(game, **arguments)
    with pytest.raises(me.IllegalActionError, match="illegal"):
        compare_actions(game, actions=[204])
    with pytest.raises(me.ConfigurationError, match="is not among the compared ones"):
        compare_actions(game, [0], "random", n=2).of(1)


def test_offers_are_compared_as_a_whole_and_their_steps_are_refused() -> None:
    game = me.position(
        2, lots={0: ["Park Place"], 1: ["Boardwalk", "Reading Railroad"]}, cash={0: 1500, 1: 1500}
    )
    texts = "trade with player +1, ask for Boardwalk, ask: done, give: done, give $500, cash: done"
    offer = tuple(me.actions.parse(text) for text in texts.split(", "))
    assert TRADE in me.legal_actions(game)
    assert TRADE not in [
        one.action for one in compare_actions(game, policies="random", n=2).candidates
    ]
    with pytest.raises(
        me.ConfigurationError,
        match=r"'trade with player [+]1' only begins an offer.*compare_offers",
    ):
        compare_actions(game, [TRADE])
    with pytest.raises(me.ConfigurationError, match="no whole offer"):
        compare_actions(game, [offer[:-1]])
    compared = compare_actions(game, [offer, GO_ON], ["algorithmic", "yielding"], 60, turns=30)
    assert compared.best == compared.of(offer)
    assert isinstance(compared.best, WholeOffer)
    assert compared.best.text == "offer player 1 $500 for Boardwalk"
    assert compared.lead(offer, GO_ON).mean() == pytest.approx(-compared.of(GO_ON).difference)
    for action in offer[:-1]:
        me.step(game, action)
    assert compared.best.shares == pytest.approx(
        rollout(game, ["algorithmic", "yielding"], 60, actions=offer[-1], turns=30).share.tolist()
    )
    with pytest.raises(
        me.ConfigurationError, match=r"composes an offer [(]trade_cash[)].*compare_offers"
    ):
        compare_actions(game)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    results = agents.arena.play(
        ["algorithmic", "random"], games=2, rules=me.Rules(max_turns=24), record=2
    )
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
    costs = [
        told.own[number : number + (len(move) if isinstance(move, tuple) else 1)].sum()
        for number, move in told.moves.items()
    ]
    assert told.own[worst[0] : worst[0] + 1].sum() == pytest.approx(min(costs))
    steps = np.flatnonzero(np.isin(told.games["decision"], OFFERING))
    assert not set(steps) & (set(told.moves) | set(worst))
    assert sorted([*steps, *told.moves]) == list(range(len(told.actions)))
    offers = [move for move in told.moves.values() if isinstance(move, tuple)]
    assert offers
    assert sum(len(move) - 1 for move in offers) == len(steps)


def test_the_command_analyses_saved_games_and_recorded_ones(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    me.save(at_the_sale(), tmp_path / "game")
    assert main([str(tmp_path / "game"), "--policies", "random", "--playouts", "20", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert sum(row["share"] for row in told["shares"]) == pytest.approx(1)
    assert {row["text"] for row in told["decision"]["actions"]} >= {"buy", "decline"}
    assert told["decision"]["verdict"].startswith(("best: ", "too close to call: "))
    assert told["offers"] is None  # none can be made before the decision is taken
    assert (
        main(f"{recorded} --policies random --playouts 4 --costly 2 --game 2 --json".split()) == 0
    )
    told = json.loads(capsys.readouterr().out)
    assert len(told["costly"]) == 2
    assert sum(row["final_share"] for row in told["players"]) == pytest.approx(1)
    for row in told["players"]:
        assert row["first_share"] + row["luck"] + row["own_choices"] + row[
            "choices_of_others"
        ] == pytest.approx(row["final_share"])
    for line in ([str(tmp_path / "game")], [str(recorded), "--costly", "1"]):
        assert main([*line, "--policies", "random", "--playouts", "4"]) == 0
        shown = capsys.readouterr().out
        assert "Shares of the win" in shown
        assert "buy" in shown or "regret" in shown


def test_the_command_shows_offers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    game = me.position(
        2, lots={0: ["Park Place"], 1: ["Boardwalk", "Reading Railroad"]}, cash={0: 1500, 1: 1500}
    )
    me.save(game, tmp_path / "game")
    line = f"{tmp_path / 'game'} --policies random yielding --playouts 4 --turns 2".split()
    assert main([*line, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert TRADE not in [row["action"] for row in told["decision"]["actions"]]
    offered = {row["text"]: row for row in told["offers"]["actions"] if "steps" in row}
    assert all(
        text.startswith("offer player 1 ") and row["steps"][0] == TRADE
        for text, row in offered.items()
    )
    assert any("Boardwalk" in text for text in offered)
    assert len(told["offers"]["actions"]) == len(offered) + 1
    assert main(line) == 0
    assert "Offers, beside none" in capsys.readouterr().out
    me.step(game, TRADE)
    me.save(game, tmp_path / "game")
    assert main(line) == 2
    assert "composes an offer" in capsys.readouterr().err


def test_the_command_judges_every_decision(
    recorded: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    line = f"{recorded} --policies random --playouts 40 --turns 1 --costly all".split()
    assert main([*line, "--until", "0.4", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    steps = [row for row in told["decisions"] if row["kind"].startswith("trade_")]
    judged = [row for row in told["decisions"] if row not in steps]
    assert steps
    assert all(row["regret"] is None for row in steps)
    assert [row["decision"] for row in told["costly"]] == [row["decision"] for row in judged]
    for row, looked in zip(judged, told["costly"], strict=True):
        assert row["regret_low"] <= row["regret"] <= row["regret_high"]
        assert looked["actions"][0]["text"] == row["best_text"]
        assert max(one["playouts"] for one in looked["actions"]) < 40 or len(looked["actions"]) != 2
        if row["best_action"] == row["action"] and not row["text"].startswith(
            ("offer", "begin", "counter")
        ):
            assert row["regret"] == 0
    monkeypatch.setenv("COLUMNS", "220")
    assert main([*line, "--seconds", "0"]) == 0
    shown = capsys.readouterr().out
    assert "Every decision" in shown
    assert all(f" {row['text'][:20]}" in shown for row in judged)
    assert "begin an offer to player" in shown


def test_the_command_refuses_what_it_cannot_analyse(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    me.save(at_the_sale(), tmp_path / "saved")
    for line, message in (
        ([str(tmp_path / "none")], "Cannot read"),
        ([str(recorded), "--game", "9"], "--game 9 does not exist"),
        ([str(recorded), "--costly", "-1"], "must not be negative"),
        ([str(recorded), "--until", "-1"], "--until -1.0 must be a number from 0"),
        ([str(recorded), "--until", "2"], "--until 2.0 must be a number from 0 to 1"),
        ([str(tmp_path / "saved"), "--until", "2"], "--until 2.0 must be a number from 0 to 1"),
        ([str(tmp_path / "saved"), "--game", "3"], "--game 3 is of recorded games"),
        ([str(tmp_path / "saved"), "--costly", "all"], "--costly all is of recorded games"),
        ([str(recorded), "--seconds", "nan"], "--seconds nan must be a number from 0"),
        ([str(recorded), "--policies", "randm"], "Did you mean 'random'"),
    ):
        assert main(line) == 2
        assert message in capsys.readouterr().err
