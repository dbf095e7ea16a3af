"""The action space: heads tile it, every action has words, and the words lead back."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import monopoly_env as me
from monopoly_env import actions
from monopoly_env.engine import agenda
from monopoly_env.errors import ConfigurationError, MonopolyError
from monopoly_env.facts import board

SIZES = {
    "buy": 2, "bid": 8, "turn": 1, "jail": 2, "build": 22, "sell": 22, "mortgage": 28,
    "unmortgage": 28, "trade": 7,
    "trade_ask": 32, "trade_give": 32, "trade_cash": 16, "reply": 3, "choice": 2,
}  # fmt: skip


def test_heads_tile_the_space() -> None:
    heads = list(actions.HEADS.values())
    assert {head.name: head.size for head in heads} == SIZES
    assert actions.NUM_ACTIONS == sum(SIZES.values()) == 205
    assert heads[0].start == 0
    assert all(first.stop == second.start for first, second in pairwise(heads))
    assert heads[-1].stop == actions.NUM_ACTIONS
    marks = np.zeros(actions.NUM_ACTIONS, int)
    for number, head in enumerate(heads):
        assert len(head.labels) == head.size
        assert (actions.HEAD_OF[head.slice] == number).all()
        marks[head.slice] += 1
    assert (marks == 1).all()


def test_numbers_for_kernels_match_the_heads() -> None:
    starts = (
        actions.A_BUY, actions.A_BID, actions.A_TURN, actions.A_JAIL, actions.A_BUILD,
        actions.A_SELL, actions.A_MORTGAGE,
        actions.A_UNMORTGAGE, actions.A_TRADE, actions.A_ASK, actions.A_GIVE, actions.A_CASH,
        actions.A_REPLY, actions.A_CHOICE,
    )  # fmt: skip
    assert starts == tuple(head.start for head in actions.HEADS.values())
    assert actions.describe(actions.A_ASK + actions.GOODS_DONE) == "ask: done"
    assert actions.describe(actions.A_GIVE + actions.GOODS_CANCEL) == "give: cancel"
    assert actions.describe(actions.A_CASH + actions.CASH_CANCEL) == "cash: cancel"


def test_questions_of_the_agenda_are_the_decisions() -> None:
    assert agenda.TASK_NAMES[: agenda.FIRST_PROCEDURE] == actions.DECISION_NAMES
    assert actions.DECISION_NAMES[agenda.TAKEOVER] == "takeover"
    assert actions.DECISION_NAMES[agenda.WINDOW] == "turn"
    assert set(actions.CHOICES) <= set(actions.DECISIONS)


@pytest.mark.parametrize("preset", ["official", "uk", "classic"])
def test_parse_undoes_describe(preset: str) -> None:
    game = me.new_game(3, preset)
    texts = [actions.describe(action, game) for action in range(actions.NUM_ACTIONS)]
    assert len(set(texts)) == actions.NUM_ACTIONS
    assert [actions.parse(text) for text in texts] == list(range(actions.NUM_ACTIONS))
    assert [actions.parse(f"  {text.upper()} ".replace(" ", "  ")) for text in texts] == list(
        range(actions.NUM_ACTIONS)
    )


@pytest.mark.parametrize("decision", [*actions.CHOICES, "sealed_bid"])
def test_parse_undoes_describe_where_words_depend_on_the_decision(decision: str) -> None:
    game = me.new_game(2)
    game.decision = actions.DECISION_NAMES.index(decision)
    open_ = [
        *range(*actions.HEADS["choice"].slice.indices(205)),
        *range(*actions.HEADS["bid"].slice.indices(205)),
    ]
    assert [
        actions.parse(actions.describe(action, game).upper(), game) for action in open_
    ] == open_


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("done", actions.A_BID), ("pay $200", actions.A_CHOICE),
        ("pay 10% of total worth", actions.A_CHOICE + 1),
        ("draw a Chance card", actions.A_CHOICE + 1), ("keep the mortgage", actions.A_CHOICE),
        ("lift the mortgage", actions.A_CHOICE + 1),
        ("pay the fine", actions.A_JAIL), ("1", 1), ("204", 204), (17, 17), (np.int8(7), 7),
    ],
)  # fmt: skip
def test_answers_are_understood_without_a_game(text: str | int, action: int) -> None:
    assert actions.parse(text) == action


@pytest.mark.parametrize("text", ["205", "9" * 5000, "xyzzy", "", "-1", 205, None, 1.5, True])
def test_what_is_no_action_gets_a_short_answer(text: object) -> None:
    with pytest.raises(ConfigurationError, match="from 0 to 204") as raised:
        actions.parse(text)  # type: ignore[arg-type]
    assert len(str(raised.value)) < 300


def test_lots_are_named_by_the_board() -> None:
    uk = me.new_game(2, "uk")
    last_street = actions.HEADS["build"].start + 21
    assert actions.describe(last_street) == "build Boardwalk"
    assert actions.describe(last_street, uk) == "build Mayfair"
    assert actions.parse("build Mayfair") == actions.parse("build Boardwalk") == last_street
    assert (
        actions.describe(actions.A_MORTGAGE + 27, uk)
        == f"mortgage {board.LOT_NAME[int(uk.rules.board)][27]}"
    )


@pytest.mark.parametrize(("decision", "answers"), actions.CHOICES.items())
def test_choices_are_named_by_the_decision(decision: str, answers: tuple[str, str]) -> None:
    game = me.new_game(2)
    game.decision = actions.DECISION_NAMES.index(decision)
    assert tuple(actions.describe(actions.A_CHOICE + i, game) for i in range(2)) == answers


def test_fold_is_done_in_a_sealed_auction() -> None:
    game = me.new_game(2)
    game.decision = actions.DECISION_NAMES.index("sealed_bid")
    assert actions.describe(actions.A_BID, game) == "done"
    assert actions.describe(actions.A_BID) == "fold"


@pytest.mark.parametrize("action", [-1, 205, 1.0, "7", None, True, np.bool_(False), [3]])
def test_no_such_action(action: object) -> None:
    with pytest.raises(ConfigurationError, match="from 0 to 204"):
        actions.check(action)


@pytest.mark.parametrize("action", [7, np.int8(7), np.uint32(7), np.array(7)])
def test_any_integer_is_an_action(action: object) -> None:
    assert actions.check(action) == 7


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("build Bordwalk", "build boardwalk"),
        ("fould", "fold"),
        ("use jail card", "use a jail card"),
    ],
)
def test_unknown_words_name_the_nearest(text: str, hint: str) -> None:
    with pytest.raises(ConfigurationError, match=f"Did you mean '{hint}'"):
        actions.parse(text)


def test_describe_refuses_what_is_no_action() -> None:
    with pytest.raises(MonopolyError, match="205"):
        actions.describe(205)
