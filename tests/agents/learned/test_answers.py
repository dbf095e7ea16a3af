"""What a learned agent remembers of its partners' answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agents
import monopoly_env as me
from agents.learned import compact
from agents.learned.agent import LearnedAgent
from agents.learned.answers import ANSWERS, SLOT, note_answer, note_offer, nothing, write_answers
from agents.learned.menus import menus_of
from monopoly_env import actions
from monopoly_env.core import batch_of
from monopoly_env.encoding.table import LOTS, total
from monopoly_env.policy.protocol import MEMORY, Decisions
from training.experience.choices import play_games

NAMES = [name for block in ANSWERS for name in block.names]


@pytest.fixture
def trading() -> Any:
    """Player 0 is on turn with two oranges; player 1 has the third one (printed price $200)."""
    lots = {
        0: ["St. James Place", "Tennessee Avenue", "Reading Railroad"],
        1: ["New York Avenue", "Park Place", "Boardwalk"],
    }
    return me.position(2, lots=lots, cash={0: 1400, 1: 500})


def remembered(memory: Any, partner: int = 1) -> dict[str, float]:
    row = np.zeros(total(ANSWERS))
    write_answers(partner, memory, row)
    return dict(zip(NAMES, row.tolist(), strict=True))


def offer(game: Any, cash: int, limits: tuple[float, float], memory: Any, taken: bool) -> None:
    """Ask for New York Avenue for so many dollars, and be answered."""
    game.offer_from, game.offer_to, game.offer_give = 0, 1, 0
    game.offer_ask = 1 << LOTS.index("New York Avenue")
    note_offer(game, cash, np.array(limits), memory)
    if taken:
        game.lots[0] |= game.offer_ask
        game.lots[1] &= ~game.offer_ask
    note_answer(game, 0, memory)


def test_answers_are_added_up_for_each_partner(trading: Any) -> None:
    memory = nothing()
    assert set(remembered(memory).values()) == {0.0}
    offer(trading, 150, (400.0, np.inf), memory, taken=False)
    told = remembered(memory)
    assert told["refused"] == pytest.approx(1 / 5)
    assert told["refused: in a row"] == pytest.approx(1 / 5)
    assert told["most refused"] == pytest.approx(-50 / 350)
    assert told["took"] == told["refused at the limit: of expert"] == 0.0
    offer(trading, 500, (400.0, 450.0), memory, taken=False)
    told = remembered(memory)
    assert told["refused"] == pytest.approx(2 / 6)
    assert told["most refused"] == pytest.approx(300 / 600)
    assert (
        told["refused at the limit: of expert"]
        == told["refused at the limit: of a bargainer"]
        == pytest.approx(1 / 3)
    )
    offer(trading, 300, (400.0, np.inf), memory, taken=True)
    told = remembered(memory)
    assert told["took"] == told["took below the limit"] == pytest.approx(1 / 3)
    assert told["least taken"] == pytest.approx(100 / 400)
    assert told["refused: in a row"] == 0.0
    assert told["refused"] == pytest.approx(2 / 6)
    assert set(remembered(memory, 2).values()) == {0.0}  # another partner
    before = memory.copy()
    note_answer(trading, 0, memory)
    assert memory.tolist() == before.tolist()  # it has been noted


def test_an_answer_is_noted_when_the_maker_is_asked_again(trading: Any) -> None:
    """Not while the offer is composed: nobody has answered yet."""
    memory = nothing()
    me.step(trading, actions.parse("trade with player +1"))
    memory[SLOT.partner] = 2
    note_answer(trading, 0, memory)
    assert memory[SLOT.partner] == 2


def test_an_agent_sees_what_it_remembers(trading: Any) -> None:
    """Its memory is all that differs, and the record alone tells nothing."""
    memory = nothing()
    memory[SLOT.refused + 1] = 3.0
    rows = np.zeros((2, compact.length(2)), np.float32)
    compact.write(trading, 0, menus_of(trading, 0), nothing(), rows[0])
    compact.write(trading, 0, menus_of(trading, 0), memory, rows[1])
    names = compact.names(2)
    assert [names[i] for i in np.flatnonzero(rows[0] != rows[1])] == ["player +1 refused"]
    assert me.encoding.observe(trading, "compact", 0).tolist() == rows[0].tolist()


def test_a_network_notes_its_own_offers() -> None:
    """Played by the arena's loop with random weights.

    What it offers is pending until it is asked again, and then counted.
    """
    agent = LearnedAgent(2, (8,))
    generator = np.random.default_rng(0)
    agent.set_arrays(
        {
            name: generator.normal(0, 0.5, array.shape).astype(np.float32)
            for name, array in agent.arrays().items()
        }
    )
    memory, answers = np.zeros((2, MEMORY)), 0
    for seed in range(3):
        game = me.new_game(2, seed=seed)
        memory[:] = 0.0
        for _ in range(2000):
            if me.is_over(game):
                break
            seat, offered = int(game.player), int(game.offer_from)
            games = batch_of(game)
            me.step(game, int(agent.act(Decisions(games.copy(), memory[seat : seat + 1]))[0]))
            if offered >= 0:
                assert memory[offered, SLOT.partner] in {0.0, float(2 - offered)}
        answers += int(memory[:, [SLOT.took, SLOT.took + 1, SLOT.refused, SLOT.refused + 1]].sum())
    assert answers > 10


def test_watched_scripts_remember_as_networks_would() -> None:
    """`expert` offers often.

    What is recorded of its choices shows how it was answered, from nothing on in each game.
    """
    table, recorded = [agents.make("expert"), agents.make("algorithmic")], np.array([True, False])
    played = play_games(table, np.array([[0, 1], [1, 0]] * 4), recorded, rules=me.Rules(), seed=2)
    names = list(compact.names(2))
    took, refused = (
        played.observation[:, names.index(f"player +1 {name}")] for name in ("took", "refused")
    )
    assert took.max() > 0
    assert refused.max() > 0.3
    for game in range(8):
        mine = played.game == game
        assert refused[mine][0] == took[mine][0] == 0
        assert (np.diff(refused[mine].astype(np.float32)) >= 0).all()
        assert (np.diff(took[mine].astype(np.float32)) >= 0).all()
