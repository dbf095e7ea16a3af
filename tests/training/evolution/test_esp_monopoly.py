"""ESP in Monopoly: several networks as one array, runs that repeat to the bit, clear refusals.

The array is one of neurons.
"""

from __future__ import annotations

import dataclasses
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from studies.esp_searches import ComparedMonopoly

import agents
from agents.networks.esp import QUESTIONS, EspPlayer
from monopoly_env.errors import ConfigurationError
from training.evolution import esp
from training.evolution.esp_monopoly import BEST, EspMonopoly, PlayerNeurons, measure
from training.evolution.fitness import Matchup
from training.evolution.run import execute
from training.evolve import main
from training.run import checkpoints

SMALL: dict[str, Any] = {
    "network": "attentive", "hidden": 2, "neurons": 4, "trials": 1, "parents": 0.25,
    "candidate_games": 8, "final_games": 8, "tables": "two", "generations": 3, "challenge": 1,
    "stagnation": 2, "threads": 1, "seed": 3,
}  # fmt: skip


def quietly() -> Console:
    return Console(file=io.StringIO())


def test_a_neuron_has_the_weights_of_its_own_unit() -> None:
    neurons = PlayerNeurons(("jail", "worth"), "recurrent", 3)
    assert neurons.sizes.tolist() == [37 + 3 + 1 + 1] * 3 + [15 + 3 + 1 + 1] * 3
    genes = np.zeros((6, neurons.genes))
    genes[1, :42] = np.arange(1, 43)  # the second unit of `worth`
    genes[5, 18] = 7.0  # the weight from the third unit of `jail` to its output
    arrays = neurons.player(genes, "neurons").arrays()
    assert arrays["worth.cell.weight_ih"][1].tolist() == list(range(1, 38))
    assert arrays["worth.cell.weight_hh"][1].tolist() == [38, 39, 40]
    assert arrays["worth.0.weight"][0].tolist() == [0, 41, 0]
    assert arrays["worth.cell.bias_ih"].tolist() == [0, 42, 0]
    assert arrays["jail.0.weight"][0].tolist() == [0, 0, 7]
    assert np.count_nonzero(arrays["jail.cell.weight_ih"]) == 0


def test_players_of_a_generation_play_as_the_saved_ones_do() -> None:
    neurons = PlayerNeurons(QUESTIONS, "feed_forward", 2)
    genes = np.random.default_rng(0).normal(size=(3, len(neurons.sizes) * neurons.genes))
    for policy, one in zip(neurons.policies(genes), genes, strict=True):
        assert policy.params.tobytes() == neurons.player(one, "one").params.tobytes()


def test_genes_that_a_neuron_has_not_never_change() -> None:
    sizes = np.array([5, 3])
    generator = np.random.default_rng(1)
    population = generator.normal(size=(2, 20, 5))
    changed = esp.mutate(population, 1.0, 0.3, generator, sizes)
    assert np.array_equal(changed[1, :, 3:], population[1, :, 3:])
    assert ((changed != population).sum(axis=2) == 1).all()
    points = set()
    for _ in range(50):
        children = esp.recombine(
            np.stack([np.zeros((2, 5)), np.ones((2, 5))], axis=1), "any", generator, sizes
        )
        points |= {int(child[:3].sum()) for child in children[1] if 0 < child.sum() < 5}
        assert all(child[3] == child[4] for child in children[1])
    assert points == {1, 2}


def test_a_fitness_that_knows_the_best_player_finds_it() -> None:
    neurons = PlayerNeurons(("cash", "worth"), "feed_forward", 2)
    used = (np.arange(neurons.genes) < neurons.sizes[:, None]).ravel()

    def fitness(players: np.ndarray, seed: int) -> np.ndarray:
        return np.asarray(-np.abs(players[:, used] - 1.0).mean(axis=1))

    recipe = esp.Recipe(neurons=20, trials=4, weights=2.0, challenge=0)
    state = esp.begin(4, neurons.genes, recipe, 0)
    first = esp.advance(state, fitness, recipe, 0, sizes=neurons.sizes).state
    state = first
    for _ in range(80):
        state = esp.advance(state, fitness, recipe, 0, sizes=neurons.sizes).state
    assert state.best_fitness > 0.5 * first.best_fitness


@pytest.mark.parametrize(
    "options",
    [EspMonopoly(), *(ComparedMonopoly(algorithm=name) for name in ("genetic", "cmaes", "random"))],
    ids=["esp", "genetic", "cmaes", "random"],
)
def test_a_run_that_was_stopped_ends_like_one_that_was_not(
    options: EspMonopoly, tmp_path: Path
) -> None:
    tiny = dataclasses.replace(options, **SMALL)
    whole, cut = (
        dataclasses.replace(tiny, out=tmp_path / "whole"),
        dataclasses.replace(tiny, out=tmp_path / "cut", threads=2),
    )
    results = execute(whole, quietly())
    execute(dataclasses.replace(cut, generations=1), quietly())
    resumed = execute(dataclasses.replace(cut, resume=True), quietly())
    assert resumed | {"agent": ""} == results | {"agent": ""}
    assert (whole.out / "curves.csv").read_text() == (cut.out / "curves.csv").read_text()
    first, second = (checkpoints.read_last(run.out / "checkpoints") for run in (whole, cut))
    assert all(
        np.array_equal(array, second[0]["search"][part])
        for part, array in first[0]["search"].items()
    )
    player = agents.load(whole.out / BEST)
    assert isinstance(player, EspPlayer)
    assert player.form == "attentive"
    assert player.observer is not None
    again = measure(player, (Matchup(("yasumura",), turn_limit=120),), 8, 1, 1)
    assert again["games"] == 8
    with pytest.raises(ConfigurationError, match="begun with other settings: hidden is 3, was 2"):
        execute(dataclasses.replace(cut, resume=True, hidden=3), quietly())


def test_the_command_says_what_it_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "--preset",
        "esp/monopoly",
        "--networks",
        "cash",
        "jail",
        "--hidden",
        "2",
        "--neurons",
        "4",
        "--trials",
        "1",
        "--candidate-games",
        "8",
    ]
    words += [
        "--tables",
        "two",
        "--final-games",
        "8",
        "--generations",
        "1",
        "--challenge",
        "0",
        "--threads",
        "1",
        "--out",
        str(tmp_path / "run"),
    ]
    assert main([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == json.loads((tmp_path / "run" / "evaluation.json").read_text())
    assert [row["families"] for row in told["measured"]] == ["known", "unknown"]
    assert all(row["low"] <= row["difference"] <= row["high"] for row in told["measured"])
    player = agents.load(tmp_path / "run" / BEST)
    assert isinstance(player, EspPlayer)
    assert player.networks == ("cash", "jail")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"network": "recurent"}, "Unknown --network 'recurent'. Did you mean 'recurrent'"),
        ({"tables": "tow"}, "Unknown --tables 'tow'. Did you mean 'two'"),
        (
            {"networks": ("cash", "wroth")},
            "Unknown part of genetic/esp: 'wroth'. Did you mean 'worth'",
        ),
        ({"networks": ("cash", "cash")}, "each once, of worth, building"),
        ({"networks": ()}, "needs one question or more"),
        ({"candidate_games": 10}, "10 games do not split evenly"),
        ({"network": "attentive", "hidden": 12}, "has 1 to 11 hidden units"),
        ({"neurons": 1, "parents": 1.0}, "no room for two children"),
    ],
)
def test_wrong_settings_are_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        dataclasses.replace(EspMonopoly(), **changes).check()  # type: ignore[arg-type]
