"""Random games of every preset, in words, as a story, and in the PettingZoo environment."""

from __future__ import annotations

import numpy as np
import pytest

import monopoly_env as me
from monopoly_env import actions, monopoly_v0
from monopoly_env.render import narrate
from tests import play


@pytest.mark.parametrize("preset", me.Rules.presets())
def test_whole_games(preset: str) -> None:
    """Texts name everything and lead back to actions; all ways in play the same game."""
    random, asked, sentences = np.random.default_rng(3), set(), []
    env = monopoly_v0.env(3, preset)
    for seed in range(2):
        game, told = (me.new_game(3, preset, seed) for _ in range(2))
        env.reset(seed=seed)
        for _ in range(400):
            text = me.to_text(game)
            assert all(f"Player {seat}" in text for seat in range(3))
            if me.is_over(game):
                break
            assert actions.DECISIONS[play.asked(game)[0]] in text
            legal = me.legal_actions(game).tolist()
            texts = [actions.describe(action, game) for action in legal]
            assert [actions.parse(text, game) for text in texts] == legal
            asked.add(int(game.decision))
            while env.terminations[env.agent_selection]:
                env.step(None)
            assert env.last()[0]["action_mask"].nonzero()[0].tolist() == legal
            action = int(random.choice(legal))
            me.step(game, action)
            sentences += narrate.step(told, action)
            env.step(action)
            assert me.digest(game) == me.digest(told) == me.digest(env.game)
    assert len(asked) >= 3
    assert len(sentences) > 200
    assert all(sentence.endswith((".", "!")) for sentence in sentences)
    assert any("throws" in sentence for sentence in sentences)
