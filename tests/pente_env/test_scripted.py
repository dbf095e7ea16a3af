"""The scripted players: shares of their games, their options, and what a rung allows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pente_env as pe
from monopoly_env.errors import ConfigurationError
from pente_env import core, scripted
from pente_env.fitness import opponents_of
from pente_env.loop import Table, play_games

DATA = json.loads((Path(__file__).parent / "positions.json").read_text(encoding="utf-8"))
OPTIONS = {
    "blocker": ["ties"],
    "capturer": ["ties"],
    "simple": ["ends"],
    "better": ["ends"],
    "random": [],
}


def seated(case: dict[str, Any]) -> Table:
    return Table.of(
        [
            pe.make(name, **{option: case[option] for option in OPTIONS[name]})
            for name in case["seats"]
        ]
    )


@pytest.mark.parametrize(
    "case", DATA["games"], ids=lambda case: "-".join([*case["seats"], case["ties"], case["ends"]])
)
def test_shares_of_games(case: dict[str, Any]) -> None:
    """Within four standard errors of the shares of another program, of which there are 250.

    They are those of 100,000 games.
    """
    players, games = len(case["seats"]), 4000
    results = play_games(
        seated(case), np.tile(np.arange(players), (games, 1)), np.arange(games), threads=1
    )
    found = [
        *((results["winner"] == seat).mean() for seat in range(players)),
        (results["winner"] < 0).mean(),
    ]
    found.append(np.isin(results["ending"], [2, 3]).mean())
    for share, expected in zip(
        found, [*case["wins"], case["draws"], case["by_pairs"]], strict=True
    ):
        error = np.sqrt(max(expected * (1 - expected), 1e-4) * (1 / games + 1 / 100_000))
        assert abs(share - expected) < 4 * error + 1e-4
    for values, expected in (
        (results["moves"], case["moves"]),
        (results["captured"].sum(axis=1) / 2, case["pairs"]),
    ):
        error = values.std() * np.sqrt(1 / games + 1 / 100_000)
        assert abs(values.mean() - expected) < 4 * error + 0.01


def points_chosen(player: Any, game: Any, seeds: int = 60) -> set[int]:
    """All points that a player chooses with some seed."""
    chosen = set()
    for seed in range(seeds):
        games = core.batch_of(pe.clone(game))
        games["seed"] = seed, 0
        chosen.add(player.act(games, int(game.player), np.zeros(64)))
    return chosen


def test_ties() -> None:
    game = pe.position(
        ["2.2....", "2.2....", "2.2....", ".......", "1......", ".......", "......."]
    )
    first, *others = pe.points(game, 0, "threes").tolist()
    assert others
    assert points_chosen(pe.make("blocker"), game) == {first}
    assert points_chosen(pe.make("blocker", ties="random"), game) == {first, *others}


def test_the_capturer_may_take_most() -> None:
    game = pe.position(
        ["...1...", "...2...", "...2...", "122....", ".......", ".......", "122...."]
    )
    assert {
        int(point): pe.takes(game, 0, int(point)) for point in pe.points(game, 0, "captures")
    } == {24: 4, 45: 2}
    for ties in ("first", "random"):
        assert points_chosen(pe.make("capturer", captures="most", ties=ties), game) == {24}
    assert points_chosen(pe.make("capturer", ties="random"), game) == {24, 45}
    equal = pe.position(
        ["122....", ".......", ".......", "122....", ".......", ".......", "122...."]
    )
    assert points_chosen(pe.make("capturer", captures="most", ties="random"), equal) == {3, 24, 45}
    assert points_chosen(pe.make("capturer", captures="most"), equal) == {3}


def test_the_capturer_may_prepare_around_pairs() -> None:
    game = pe.position(
        [".......", ".......", ".......", "1......", ".......", "..22...", "......."]
    )
    single, both = (
        set(pe.points(game, 0, what).tolist()) for what in ("preparations", "prospects")
    )
    assert both - single == {36, 39}
    assert points_chosen(pe.make("capturer", ties="random"), game, 200) == single
    assert points_chosen(pe.make("capturer", prepares="pairs", ties="random"), game, 200) == both


def test_opening_stones() -> None:
    game = pe.new_game()
    pe.step(game, 24)
    assert points_chosen(pe.make("simple", opening_stone="nearest"), game) == {17}
    assert points_chosen(pe.make("better", opening_stone="first"), game) == {0}
    assert len(points_chosen(pe.make("simple"), game, 400)) == 48
    assert points_chosen(pe.make("simple"), pe.new_game()) == {24}


def test_ends() -> None:
    game = pe.new_game()
    memory = np.zeros(64)
    memory[scripted.SEED] = 24 + 1
    for point in (24, 0):
        pe.step(game, point)
    games = core.batch_of(game)
    assert {pe.make("simple", ends="forward").act(games, 0, memory.copy()) for _ in range(20)} == {
        25
    }
    assert {pe.make("simple").act(games, 0, memory.copy()) for _ in range(20)} == {23, 25}


def test_a_builder_blocks_whom_it_should() -> None:
    """A run of three of the next seat, one of four of the seat after, each with one open end."""
    board = [".1....1", ".......", "222....", ".......", "3333...", ".......", "1.2...1"]
    games, memory = core.batch_of(pe.position(board, num_players=3)), np.zeros(64)
    chosen = {
        blocks: pe.name_of(
            pe.make("better", blocks=blocks, opening_stone="nearest").act(games, 0, memory.copy()),
            7,
        )
        for blocks in ("none", "next", "after", "all")
    }
    assert chosen == {"none": "D4", "next": "D5", "after": "E3", "all": "E3"}
    assert memory.any() == 0


def test_those_who_collude_spare_each_other() -> None:
    first, second = opponents_of("colluders")[0]
    results = play_games(
        Table.of([pe.make("random"), first, second]),
        np.tile([0, 1, 2], (400, 1)),
        np.arange(400),
        threads=1,
    )
    spared = np.isin(results["winner"], [1, 2]).mean()
    guards = [pe.make("better", blocks="all")] * 2
    results = play_games(
        Table.of([pe.make("random"), *guards]),
        np.tile([0, 1, 2], (400, 1)),
        np.arange(400),
        threads=1,
    )
    assert spared > np.isin(results["winner"], [1, 2]).mean() + 0.1
    assert [player.params.tolist() for player in (first, second)] == [[0, 0, 3], [0, 0, 2]]
    assert len(opponents_of("lot")) == 4


def test_scripted_players_keep_the_opening_rule() -> None:
    rules = pe.Rules(opening="tournament")
    for name in pe.names():
        table = Table.of([pe.make(name), pe.make("random")])
        results = play_games(table, np.tile([0, 1], (50, 1)), np.arange(50), rules, threads=1)
        assert (results["ending"] > 0).all()


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("beter", {}, ["'beter'", "'better'", "capturer"]),
        (7, {}, ["7", "random"]),
        ("better", {"end": "forward"}, ["'end'", "'ends'"]),
        ("better", {"ends": "forwards"}, ["'forwards'", "'forward'", "random"]),
        ("random", {"ties": "first"}, ["'ties'", "none"]),
        ("capturer", {"captures": None}, ["None", "any, most"]),
    ],
)
def test_unknown_players_and_options(name: Any, options: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(ConfigurationError) as raised:
        pe.make(name, **options)
    assert [word for word in words if word not in str(raised.value)] == []


def test_every_option_is_explained() -> None:
    assert set(scripted.options_of("better")) == {"ends", "opening_stone", "blocks"}
    assert set(scripted.options_of("capturer")) == {"ties", "captures", "prepares"}
    assert scripted.options_of("random") == {}
