"""What ESP is compared with.

Each on as many networks, each repeats, and mating of whole networks is as a plain loop has it.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from numpy.typing import NDArray
from studies.searches import Algorithm, Control

from studies import searches
from training.evolution import esp
from training.evolution.esp import EspState, Recipe

RECIPE = Recipe(neurons=10, trials=4, challenge=1)


def hill(rows: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Highest at 1, 1, 1, ..."""
    del seed
    return np.asarray(-((rows - 1) ** 2).sum(axis=1))


def run(algorithm: Algorithm, generations: int, seed: int = 0) -> list[EspState]:
    control = Control.of(algorithm, 3, 2, RECIPE, seed)
    states = [control.begin(3, 2)]
    for _ in range(generations):
        states.append(control.advance(states[-1], hill).state)
    return states[1:]


@pytest.mark.parametrize("algorithm", ["genetic", "cmaes", "random"])
def test_controls_climb_and_repeat_on_as_many_networks(algorithm: Algorithm) -> None:
    states = run(algorithm, 20)
    bests = [state.best_fitness for state in states]
    assert bests == sorted(bests)
    assert bests[-1] > bests[0]
    assert bests[-1] == pytest.approx(hill(states[-1].best.reshape(1, -1), 0)[0])
    esp_states = list(esp.evolve(hill, sub_populations=3, genes=2, recipe=RECIPE, generations=20))
    # challenges of rivals, which begin later after a burst
    assert abs(states[-1].evaluations - esp_states[-1].evaluations) <= 20
    again = run(algorithm, 20)
    assert again[-1].population.tobytes() == states[-1].population.tobytes()
    assert run(algorithm, 1, seed=1)[0].best_fitness != states[0].best_fitness
    competing = Control.of(
        algorithm, 3, 2, dataclasses.replace(RECIPE, children="compete", challenge=0), 0
    )
    played = competing.advance(competing.begin(3, 2), hill).state.evaluations
    assert (
        played
        == esp.networks_of(dataclasses.replace(RECIPE, children="compete"))
        > esp.networks_of(RECIPE)
    )
    if algorithm == "cmaes":
        assert bests[-1] > -0.01
        np.testing.assert_allclose(states[-1].population.ravel(), 1, atol=0.3)


def test_the_plain_algorithm_crosses_whole_networks() -> None:
    recipe = dataclasses.replace(RECIPE, mutation_rate=0.0)
    control = Control.of("genetic", 3, 2, recipe, 0)
    begun = control.begin(3, 2)
    assert begun.population.shape == (3, 40, 2)
    before = searches.rows(begun.population)
    assert before[7].tolist() == begun.population[:, 7].ravel().tolist()
    after = searches.rows(control.advance(begun, hill).state.population)
    order = np.argsort(-hill(before, 0), kind="stable")
    assert after[:20].tolist() == before[order[:20]].tolist()
    parents = before[order[:10]]
    for child in after[20:]:  # one point divides the genes of one parent from those of another
        sources = [
            {n for n, parent in enumerate(parents) if parent[gene] == child[gene]}
            for gene in range(6)
        ]
        assert all(len(source) == 1 for source in sources)
        assert sum(sources[gene] != sources[gene + 1] for gene in range(5)) <= 1


def test_random_rows_do_not_depend_on_what_was_found() -> None:
    control, seen = Control.of("random", 3, 2, RECIPE, 4), []

    def fitness(rows: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
        seen.append(rows)
        return hill(rows, seed)

    state = control.begin(3, 2)
    for _ in range(2):
        state = control.advance(state, fitness).state
    first, second = (rows for rows in seen if len(rows) == 40)
    assert np.abs(np.concatenate([first, second])).max() <= RECIPE.weights
    assert not np.isin(first, second).any()
