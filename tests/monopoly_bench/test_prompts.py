"""Decisions as text and JSON: complete, short, and read back as models write."""

from __future__ import annotations

import json

import pytest

import monopoly_env as me
from monopoly_bench import prompts
from monopoly_env import actions, core
from monopoly_env.errors import ConfigurationError, FormatError, IllegalActionError
from tests.play import randomly

GAME = me.position(
    3,
    seed=4,
    turn=1,
    lots={1: ["Boardwalk", "Park Place"], 0: ["Reading Railroad"]},
    buildings={"Boardwalk": 1},
)


def games(count: int) -> list[me.Game]:
    """The positions of a random game, four players."""
    return [me.clone(game) for game in randomly(me.new_game(4, seed=9), most=count)]


def test_a_prompt_shows_the_position_and_every_legal_action() -> None:
    text = prompts.prompt(GAME, ["player 0 pays $50."])
    assert "You are player 1. Clockwise from you, player 2 is +1, player 0 is +2." in text
    assert "Boardwalk 1 house" in text
    assert "- player 0 pays $50." in text
    for action in me.legal_actions(GAME):
        assert f"\n{action}: {actions.describe(action, GAME)}" in text


def test_without_a_menu_only_the_kinds_are_named() -> None:
    text = prompts.prompt(GAME, menu=False)
    assert "- build: 'build' followed by" in text
    assert "build Park Place" not in text
    for head in actions.HEADS:
        assert head in prompts.FORMS


@pytest.mark.parametrize("menu", [True, False])
def test_prompts_are_short(menu: bool) -> None:
    sizes = [
        prompts.tokens(prompts.SYSTEM + prompts.prompt(game, menu=menu)) for game in games(300)
    ]
    assert max(sizes) < 1500


def test_the_situation_is_json_that_says_the_same() -> None:
    told = json.loads(json.dumps(prompts.situation(GAME, ["a", "b"])))
    assert told["you"] == 1
    assert told["history"] == ["a", "b"]
    assert {"name": "Boardwalk", "level": 1, "mortgaged": False} in told["players"][1]["lots"]
    assert [one["action"] for one in told["legal"]] == me.legal_actions(GAME).tolist()
    assert [player["cash"] for player in told["players"]] == GAME.cash[:3].tolist()


def test_every_legal_action_is_read_back_by_number_and_by_text() -> None:
    for game in games(200):
        for action in me.legal_actions(game):
            assert prompts.read(f"Because.\nACTION: {action}\n\n", game) == action
            assert prompts.read(f"action:  {actions.describe(action, game)}", game) == action


@pytest.mark.parametrize(
    "line",
    [
        "**ACTION: {}**", "**ACTION:** {}", "- **Action**: `{}`", "> ACTION: {}", "## ACTION: {}",
        "```\nACTION: {}\n```",
        'ACTION: "{}"', "ACTION: <{}>", "ACTION: [{}].", "ACTION: “{}”", "ACTION: {}<|im_end|>",
        "ACTION: {}</s>",
        "ACTION: {}. It completes the group.", "ACTION: {} because I must", "ACTION: {} (2 houses)",
        "ACTION: {} - why not?",
        "ACTION: {}, as it is cheap", "ACTION: {}\n\nGood luck to all of you!",
        "ACTION: fly\nNo:\nACTION: {}",
    ],
)  # fmt: skip
def test_answers_are_read_as_models_write_them(line: str) -> None:
    for action in me.legal_actions(GAME).tolist():
        text = actions.describe(action, GAME)
        for name in (str(action), text, f"{action}: {text}"):
            assert prompts.read(f"I think.\n{line.format(name)}", GAME) == action


@pytest.mark.parametrize(
    ("answer", "error", "says"),
    [
        ("", FormatError, "last line"),
        ("go on", FormatError, "ACTION:"),
        ("I would say ACTION: go on", FormatError, "I would say"),
        ("ACTION: 1: decline", FormatError, "names two actions, 'buy' and 'decline'"),
        ("ACTION: build Boardwalk, build Park Place", FormatError, "two actions"),
        ("ACTION: 1 or 2", ConfigurationError, "'1 or 2'"),
        ("ACTION: go on or build", ConfigurationError, "go on"),
        ("ACTION: " + "1" * 5000, ConfigurationError, "Unknown"),
        ("ACTION: go onn", ConfigurationError, "'go on'"),
        ("ACTION: 999", ConfigurationError, "999"),
        ("ACTION: build Park Plaze", ConfigurationError, "build park place"),
        ("ACTION: sell Park Place", IllegalActionError, "not legal"),
    ],
)
def test_anything_else_is_refused(answer: str, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        prompts.read(answer, GAME)


def test_changes_tell_what_a_player_missed() -> None:
    after = core.clone(GAME)
    after.cash[0] -= 300
    after.lots[2] |= 1 << 3
    after.level[21] += 2
    told = prompts.changes(GAME, after)
    assert told[0].startswith("player 2 gets")
    assert "player 0 has $300 less than before." in told
    assert any("now has 3 houses" in sentence for sentence in told) == (after.level[21] == 3)
    assert prompts.changes(GAME, GAME) == []
    with pytest.raises(ConfigurationError, match="one game"):
        prompts.changes(GAME, me.new_game(3, seed=77))
