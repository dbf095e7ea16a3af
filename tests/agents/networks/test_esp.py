"""`genetic/esp`: with networks of zeros it is its base policy.

Its inputs, its memory, its files.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
import monopoly_env as me
from agents.arena.evaluation import Seating, against
from agents.networks.esp import FORMS, INPUTS, QUESTIONS, EspPlayer
from agents.networks.esp.inputs import (
    DEED,
    LOT,
    STREET,
    TABLE,
    write_deed,
    write_lot,
    write_street,
    write_table,
)
from agents.networks.esp.kernels import FIRST, STATE
from agents.players.vocabulary.memory import COMPOSING
from monopoly_env import core
from monopoly_env.facts.board import NUM_LOTS, NUM_STREETS
from monopoly_env.kernels import entry
from monopoly_env.policy.protocol import MEMORY, Decisions

GAMES, LIMIT = 8, 60


def evolved(
    form: str, seed: int = 0, networks: tuple[str, ...] = QUESTIONS, scale: float = 1.0
) -> EspPlayer:
    """A player with random weights.

    Networks of the same seed have the same ones, whichever are on.
    """
    player = EspPlayer(form, 4, networks=networks, name="evolved")
    drawn = {}
    for name, array in EspPlayer(form, 4).arrays().items():
        numbers = (
            np.random.default_rng((seed, sum(map(ord, name)))).normal(size=array.shape) * scale
        )
        drawn[name] = numbers.astype(np.float32)
    player.set_arrays({name: drawn[name] for name in player.arrays()})
    return player


def actions_of(policy: agents.Policy, seed: int = 1) -> list[list[int]]:
    results = agents.arena.play(
        [policy, "algorithmic"], games=GAMES, seed=seed, turn_limit=LIMIT, record=GAMES, threads=1
    )
    return [replay.actions.tolist() for replay in results.replays]


@pytest.mark.parametrize("form", FORMS)
def test_networks_of_zeros_play_as_the_base_policy(form: str) -> None:
    assert actions_of(EspPlayer(form)) == actions_of(agents.make("algorithmic"))


def test_so_do_networks_that_are_switched_off() -> None:
    player = evolved("feed_forward")
    assert actions_of(player.without(*QUESTIONS)) == actions_of(agents.make("algorithmic"))
    assert actions_of(player) != actions_of(agents.make("algorithmic"))


@pytest.mark.parametrize("question", ["worth", "building", "cash"])
def test_each_network_alone_changes_the_play(question: str) -> None:
    assert actions_of(evolved("feed_forward", networks=(question,), scale=3.0)) != actions_of(
        agents.make("algorithmic")
    )


def test_a_network_that_always_says_no_buys_nothing() -> None:
    player = EspPlayer("feed_forward", 1, networks=("worth",))
    arrays = player.arrays()
    arrays["worth.1.bias"] = np.array([-9.0], np.float32)
    player.set_arrays(arrays)
    score, base = against(
        [player, "algorithmic"], [Seating(("algorithmic",), turn_limit=LIMIT)], [GAMES], 5, 1
    )
    assert score.results[0].seat_counts["purchases"][score.results[0].seats == 0].sum() == 0
    assert base.results[0].seat_counts["purchases"][base.results[0].seats == 0].sum() > 0


@entry
def write_all(game: Any, seat: int, table: Any, lots: Any, streets: Any, deeds: Any) -> None:
    write_table(game, seat, table)
    for lot in range(NUM_LOTS):
        write_lot(game, seat, lot, lots[lot])
        write_deed(game, seat, lot, deeds[lot])
    for street in range(NUM_STREETS):
        write_street(game, seat, street, streets[street])


@pytest.mark.slow
def test_inputs_lie_between_0_and_1_and_fill_their_rows() -> None:
    generator, seen = np.random.default_rng(0), []
    for seed in range(4):
        game = me.new_game(4, seed=seed)
        for number in range(500):
            me.step(game, int(generator.choice(me.legal_actions(game))))
            if me.is_over(game):
                break
            if number % 10 == 0:
                room = [
                    np.full(shape, np.nan)
                    for shape in (len(TABLE), (28, len(LOT)), (22, len(STREET)), (28, len(DEED)))
                ]
                write_all(game, int(game.player), *room)
                seen.append(np.concatenate([part.ravel() for part in room]))
    found = np.array(seen)
    assert np.isfinite(found).all()
    assert found.min() == 0.0
    assert found.max() == 1.0
    assert {question: len(names) for question, names in INPUTS.items()} == {
        "worth": 37, "building": 31, "mortgage": 31, "cash": 15, "jail": 15,
    }  # fmt: skip
    alike = {name for name, spread in zip(TABLE, found.std(axis=0), strict=False) if spread == 0}
    # random players
    assert alike <= {
        "houses in the bank",
        "hotels in the bank",
        "own complete groups",
        "complete groups of rivals",
    }


def states_after(player: EspPlayer, watched: int, asked: int) -> np.ndarray:
    game, memory = core.batch_of(me.new_game(2, seed=4)), np.zeros((1, MEMORY))
    for _ in range(watched):
        player.observe(game, np.array([0]), memory)
    for _ in range(asked):
        player.act(Decisions(game, memory))
    return memory[0, STATE:COMPOSING]


def test_states_go_on_with_own_decisions_and_those_of_who_watches_with_every_turn() -> None:
    assert not states_after(evolved("feed_forward"), 3, 3).any()
    recurrent, attentive = evolved("recurrent"), evolved("attentive")
    assert not states_after(recurrent, 3, 0).any()
    assert len({states_after(recurrent, 0, asked).tobytes() for asked in range(4)}) == 4
    assert len({states_after(attentive, watched, 0).tobytes() for watched in range(4)}) == 4
    assert actions_of(recurrent) != actions_of(attentive)


def test_a_saved_player_plays_the_same(tmp_path: Path) -> None:
    player = evolved("attentive", networks=("worth", "cash"))
    player.save(tmp_path / "player.safetensors")
    loaded = agents.load(tmp_path / "player.safetensors")
    assert isinstance(loaded, EspPlayer)
    assert loaded.networks == ("worth", "cash")
    assert loaded.observer is player.observer
    assert loaded.params.tobytes() == player.params.tobytes()
    assert actions_of(loaded) == actions_of(player)


@pytest.mark.parametrize("form", FORMS)
def test_those_that_ship(form: str) -> None:
    player = agents.make(f"genetic/esp/{form}")
    assert isinstance(player, EspPlayer)
    assert player.name == f"genetic/esp/{form}"
    assert player.networks == QUESTIONS
    assert (player.observer is not None) == (form == "attentive")
    alone = agents.make(f"genetic/esp/{form}", networks=["cash"])
    assert isinstance(alone, EspPlayer)
    assert np.count_nonzero(alone.params[FIRST : FIRST + 5]) == 1
    with pytest.raises(me.ConfigurationError, match=r"no network 'csah'.*'cash'"):
        agents.make(f"genetic/esp/{form}", networks=["csah"])


def test_wrong_input_is_named() -> None:
    with pytest.raises(me.ConfigurationError, match=r"'recurent'.*recurrent"):
        EspPlayer("recurent")
    with pytest.raises(me.ConfigurationError, match=r"'wroth'.*worth"):
        EspPlayer(networks=["wroth"])
    with pytest.raises(
        me.ConfigurationError,
        match=r"hidden=12: a recurrent network of genetic/esp has 1 to 11 hidden units",
    ):
        EspPlayer("recurrent", 12)
    player = EspPlayer("recurrent", 4)
    with pytest.raises(
        me.FormatError, match=r"worth\.cell\.weight_ih.* expected float32 \(4, 37\)"
    ):
        player.set_arrays(EspPlayer("recurrent", 5).arrays())
    bad = {name: np.full_like(array, np.nan) for name, array in player.arrays().items()}
    with pytest.raises(me.FormatError, match="not finite"):
        player.set_arrays(bad)
