"""One game step by step in Python."""

from __future__ import annotations

import numpy as np
import pytest

import agents
import monopoly_env as me
from monopoly_env.actions import parse
from monopoly_env.policy.loop import NO_LIMIT, Players, Running, play_on
from monopoly_env.policy.match import Match
from monopoly_env.policy.protocol import Decisions
from tests.policies import RICH, restless


class Stubborn(agents.BatchedPolicy):
    """It remembers something, and always gives the same action."""

    name = "stubborn"

    def __init__(self, action: int) -> None:
        self.action = action

    def act(self, decisions: Decisions) -> np.ndarray:
        decisions.memory[:, 0] += 1
        return np.full(len(decisions), self.action)


def play(match: Match) -> list[str]:
    """Let the policies play; what happened in the last step."""
    told: list[str] = []
    while match.policy:
        told = match.step(match.ask())
    return told


def test_it_is_the_game_that_the_compiled_loop_plays() -> None:
    policies = [agents.make(name) for name in ("random", "expert", "genetic/esp/recurrent")]
    match = Match(me.new_game(3, seed=4), policies)
    play(match)
    running = Running.begin(
        Players.of(policies), np.array([[0, 1, 2]]), np.array([4]), seed=0, rules=me.Rules(),  # type: ignore[arg-type]
        turn_limit=NO_LIMIT // 3,
    )  # fmt: skip
    first, rest = np.zeros(100, np.uint8), np.zeros(1 << 16, np.uint8)
    assert play_on(running, first) == 100
    count = play_on(running, rest)
    assert [*first, *rest[:count]] == match.actions
    assert running.games[0] == match.game
    np.testing.assert_array_equal(running.memory[0], match.memory)


def test_policies_play_up_to_a_decision_from_outside() -> None:
    match = Match(me.new_game(3, seed=4), [agents.make("random"), None, agents.make("random")])
    for _ in range(5):
        play(match)
        assert match.game.player == 1
        match.step(int(me.legal_actions(match.game)[0]))
    again = me.new_game(3, seed=4)
    for action in match.actions:
        me.step(again, action)
    again.policy_draws[:] = match.game.policy_draws
    assert again == match.game


def test_the_turn_limit_ends_a_game_and_is_told() -> None:
    policies, names = [agents.make("random"), agents.make("random")], ("Ann", "Bob")
    match = Match(me.new_game(2, seed=4), policies, names=names, turn_limit=6)
    told = play(match)
    assert (match.game.turns, me.is_over(match.game)) == (6, True)
    assert any("wins" in sentence for sentence in told)


def test_an_illegal_action_is_refused_with_the_name_of_its_policy_and_changes_nothing() -> None:
    match = Match(me.new_game(2, seed=4), [Stubborn(parse("mortgage Boardwalk"))] * 2)
    before = me.clone(match.game)
    with pytest.raises(me.IllegalActionError, match=r"Policy 'stubborn': .*'mortgage Boardwalk'"):
        match.ask()
    assert match.game == before
    assert not match.memory.any()
    assert match.actions == []


def test_a_policy_that_never_ends_its_turn_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("monopoly_env.policy.match.PATIENCE", 100)
    rules = me.Rules(**RICH)
    match = Match(me.new_game(2, rules, seed=1), [restless(), agents.make("random")])
    with pytest.raises(me.IllegalActionError, match=r"'restless': .* never came to an end"):
        play(match)


def test_a_policy_for_other_tables_is_refused() -> None:
    with pytest.raises(me.ConfigurationError, match="plays at tables of 2, not of 3"):
        Match(me.new_game(3), [agents.make("ppo/best/two"), None, None])
