"""ESP: its operators against loops from the definitions, credit, and runs that repeat.

Credit is tested on a fitness that tells neurons apart.
"""

from __future__ import annotations

import dataclasses
from typing import Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from agents.networks import pente
from agents.networks.forward import step
from agents.networks.layout import Architecture
from monopoly_env.errors import ConfigurationError
from training.evolution import esp
from training.evolution.esp import ESP, Neurons, Recipe


def draws(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def squares(rows: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Highest at 1, 1, 1, ..."""
    del seed
    return np.asarray(-((rows - 1) ** 2).sum(axis=1))


def test_balanced_draws_use_every_neuron_equally_often() -> None:
    picks = esp.draw(7, 3, Recipe(trials=4), draws())
    assert picks.shape == (28, 3)
    assert all(
        sorted(picks[7 * trial : 7 * trial + 7, s].tolist()) == list(range(7))
        for trial in range(4)
        for s in range(3)
    )
    # the sub-populations are shuffled apart
    assert len({tuple(row) for row in picks.tolist()}) > 20
    random = esp.draw(7, 3, Recipe(trials=4, draws="random"), draws())
    assert random.shape == (28, 3)
    assert len(set(np.bincount(random[:, 0]).tolist())) > 1


def test_networks_and_credit_are_those_of_plain_loops() -> None:
    population = draws().normal(size=(3, 5, 2))
    picks = draws(1).integers(0, 5, (12, 3))
    networks = esp.assemble(population, picks)
    for row, network in zip(picks, networks, strict=True):
        assert network.tolist() == [
            gene for s, neuron in enumerate(row) for gene in population[s, neuron]
        ]
    fitness = draws(2).normal(size=12)
    scores = esp.credit(fitness, picks, 5)
    for s in range(3):
        for neuron in range(5):
            mine = fitness[picks[:, s] == neuron]
            assert scores[s, neuron] == pytest.approx(mine.mean() if len(mine) else 0)


def test_credit_is_exact_where_neurons_add_up() -> None:
    population = draws().normal(size=(3, 4, 2))
    every = np.stack(np.meshgrid(*[np.arange(4)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    worth = population.sum(axis=2)
    scores = esp.credit(esp.assemble(population, every).sum(axis=1), every, 4)
    others = worth.mean(axis=1).sum() - worth.mean(axis=1)
    np.testing.assert_allclose(scores, worth + others[:, None])
    ordered = esp.ranked(population, scores)
    assert (np.diff(ordered.sum(axis=2), axis=1) <= 0).all()


@pytest.mark.parametrize("mate", ["better", "any"])
def test_children_are_two_complements_of_a_parent_and_a_mate(mate: str) -> None:
    parents = np.arange(2 * 5 * 6, dtype=float).reshape(2, 5, 6)  # every gene says whose it is
    mates = set()
    for seed in range(60):
        children = esp.recombine(parents, mate, draws(seed))
        assert children.shape == (2, 10, 6)
        for s in range(2):
            for rank in range(5):
                first, second = children[s, 2 * rank], children[s, 2 * rank + 1]
                point = int((first == parents[s, rank]).sum())
                other = int(first[-1] // 6) % 5
                mates.add((rank, other))
                assert other < max(rank, 1) or rank == 0 or mate == "any"
                assert first.tolist() == [*parents[s, rank, :point], *parents[s, other, point:]]
                if point < 6:
                    assert second.tolist() == [
                        *parents[s, other, :point],
                        *parents[s, rank, point:],
                    ]
    assert len(mates) == (5 + 1 + 2 + 3 + 4 if mate == "better" else 25)


def test_mutation_moves_one_weight_of_as_many_neurons_as_it_should() -> None:
    population = np.zeros((4, 500, 6))
    changed = esp.mutate(population, 0.4, 0.3, draws())
    counts = (changed != 0).sum(axis=2)
    assert set(counts.ravel().tolist()) == {0, 1}
    assert counts.mean() == pytest.approx(0.4, abs=0.04)
    sizes = np.abs(changed[changed != 0])
    assert sizes.max() <= esp.LONGEST_STEP
    # half of a Cauchy distribution lies within its scale
    assert (sizes <= 0.3).mean() == pytest.approx(0.5, abs=0.06)
    assert not esp.mutate(population, 0.0, 0.3, draws()).any()


@pytest.mark.parametrize("sizes", [None, [6, 2, 4]])
def test_mutation_and_bursts_are_those_of_plain_loops(sizes: list[int] | None) -> None:
    population, generator = draws(1).normal(size=(3, 50, 6)), draws(2)
    given = None if sizes is None else np.array(sizes)
    where = generator.integers(0, 6 if given is None else given[:, None, None], (3, 50, 1))[:, :, 0]
    chosen, steps = (
        generator.random((3, 50)) < 0.4,
        far_steps_again(0.3 * generator.standard_cauchy((3, 50)), 0.3, generator),
    )
    expected = population.copy()
    for s in range(3):
        for neuron in range(50):
            if chosen[s, neuron]:
                expected[s, neuron, where[s, neuron]] += steps[s, neuron]
    assert esp.mutate(population, 0.4, 0.3, draws(2), given).tolist() == expected.tolist()
    generator = draws(3)
    steps = far_steps_again(0.3 * generator.standard_cauchy((3, 50, 6)), 0.3, generator)
    for spares in (True, False):
        around = esp.burst(population[:, 0], 50, 0.3, spares, draws(3))
        for s in range(3):
            for neuron in range(50):
                by = np.zeros(6) if spares and neuron == 0 else steps[s, neuron]
                assert around[s, neuron].tolist() == [
                    gene + moved for gene, moved in zip(population[s, 0], by, strict=True)
                ]


def far_steps_again(
    steps: NDArray[np.float64], scale: float, generator: np.random.Generator
) -> NDArray[np.float64]:
    """Draw those that are too long again, one after another, until none is."""
    flat = steps.ravel()
    while far := [n for n in range(len(flat)) if abs(flat[n]) > esp.LONGEST_STEP]:
        for n in far:
            flat[n] = scale * generator.standard_cauchy()
    return steps


@pytest.mark.parametrize("children", ["replace", "compete"])
def test_breeding_is_that_of_a_plain_loop(children: Literal["replace", "compete"]) -> None:
    ordered, recipe = draws(1).normal(size=(2, 12, 5)), Recipe(neurons=12, children=children)
    generator = draws(2)
    crossed = esp.recombine(ordered[:, :3], "better", generator)
    expected = []
    for s in range(2):
        elders = list(ordered[s, : 6 if children == "replace" else 12])
        expected.append([*elders, *crossed[s]])
    lower = np.array([neurons[6:] for neurons in expected])
    changed = esp.mutate(lower, recipe.mutation_rate, recipe.mutation_size, generator)
    following = esp.breed(ordered, recipe, draws(2))
    assert following[:, :6].tolist() == ordered[:, :6].tolist()
    assert following[:, 6:].tolist() == changed.tolist()


def test_a_burst_surrounds_the_best_network() -> None:
    best = np.arange(6.0).reshape(2, 3)
    around = esp.burst(best, 400, 0.3, True, draws())
    assert around[:, 0].tolist() == best.tolist()
    assert (around[:, 1:] != best[:, None]).all()
    np.testing.assert_allclose(np.median(around, axis=1), best, atol=0.08)
    assert not (esp.burst(best, 400, 0.3, False, draws())[:, 0] == best).any()


@pytest.mark.parametrize("recurrent", [False, True])
def test_a_unit_that_nobody_sees_changes_nothing_and_can_go_again(recurrent: bool) -> None:
    neurons = Neurons(pente.architecture(3, recurrent=recurrent), bias=True)
    network = draws().normal(size=(3, neurons.genes))
    grown = esp.with_one_more(network, neurons.states)
    assert grown.shape == (4, neurons.genes + recurrent)
    assert esp.without(grown, 3, neurons.states).tolist() == network.tolist()
    seen = esp.with_one_more(network, neurons.states, 1.0)
    others = (
        np.array([[gene == 147 + 3 for gene in range(seen.shape[1])]] * 3)
        if recurrent
        else np.zeros_like(seen[:3], bool)
    )
    assert ((seen != grown)[:3] == others).all()
    assert (seen[3] == 0).all()
    assert (seen[:3][others] == 1).all()
    fewer = esp.without(network, 1, neurons.states)
    kept = [gene for gene in range(neurons.genes) if not (recurrent and gene == 147 + 1)]
    assert fewer.tolist() == network[[0, 2]][:, kept].tolist()
    for changed in (grown, fewer):
        assert neurons.of_length(changed.size).sub_populations == len(changed)
    with pytest.raises(ConfigurationError, match="No number of neurons"):
        neurons.of_length(network.size + 1)
    wider, out = neurons.of_length(grown.size), []
    for form, genes in ((neurons, network), (wider, grown)):
        seen = np.eye(147, dtype=np.float32)[5]
        state, found = (
            np.zeros(max(form.architecture.units, 1), np.float32),
            np.zeros(49, np.float32),
        )
        for _ in range(3):
            step(form.pack(genes.reshape(1, -1))[0], seen, state, 0, found)
        out.append(found)
    np.testing.assert_allclose(out[0], out[1], rtol=1e-5)


@pytest.mark.parametrize("states", [None, 1])
def test_ablation_takes_units_that_are_not_needed_and_adds_where_all_are(
    states: int | None,
) -> None:
    recipe = Recipe(neurons=8, stagnation=2, ablation=0.9)

    def sizes(fitness: esp.Fitness) -> list[int]:
        found = esp.evolve(
            fitness,
            sub_populations=3,
            genes=4,
            recipe=recipe,
            generations=12,
            seed=1,
            states=states,
        )
        return [len(state.best) for state in found]

    assert sizes(lambda rows, seed: np.ones(len(rows))) == [3] * 5 + [2] * 3 + [1] * 3 + [
        2
    ]  # the first phase is successful; one unit has to stay
    assert sizes(lambda rows, seed: np.full(len(rows), float(rows.shape[1])))[-1] > 3
    limited = esp.begin(3, 4, recipe, 1)
    for _ in range(12):
        limited = esp.advance(
            limited,
            lambda rows, seed: np.full(len(rows), float(rows.shape[1])),
            recipe,
            1,
            most_units=3,
        ).state
    assert (len(limited.best), len(limited.population), limited.bursts) == (3, 3, 4)
    asked: list[int] = []

    def count(rows: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
        if len(rows) == 1:
            asked.append(rows.size)
        return np.full(len(rows), float(rows.shape[1]))

    judged = dataclasses.replace(recipe, ablation_evaluations=4, challenge=0)
    list(esp.evolve(count, sub_populations=3, genes=4, recipe=judged, generations=6, seed=1))
    # one unsuccessful phase: the whole network, then without each of its three units
    assert asked == [12] * 4 + [8] * 12
    steady = esp.evolve(
        lambda rows, seed: np.ones(len(rows)),
        sub_populations=3,
        genes=4,
        recipe=Recipe(neurons=8, stagnation=2),
        generations=8,
    )
    assert {len(state.best) for state in steady} == {3}


def test_a_phase_succeeds_if_it_finds_a_new_best_or_comes_higher_than_the_one_before() -> None:
    """Fitness by generation.

    The second phase finds no best network, but comes higher than the first one did at its end.
    """

    def sizes(success: Literal["best", "phase"], heights: list[float]) -> list[int]:
        generation = iter(heights)
        recipe = Recipe(
            neurons=8,
            stagnation=2,
            ablation=0.5,
            ablation_evaluations=1,
            challenge=0,
            success=success,
        )

        def fitness(rows: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
            return np.full(len(rows), next(generation) if len(rows) > 1 else 1.0)

        return [
            len(state.best)
            for state in esp.evolve(
                fitness, sub_populations=3, genes=2, recipe=recipe, generations=len(heights)
            )
        ]

    # phases come to 5, 3 and 4: the third is higher than the second, and no best
    rising = [5.0, 5, 5, 3, 3, 3, 4, 4, 4]
    assert sizes("best", rising) == [3, 3, 3, 3, 3, 2, 2, 2, 1]
    assert sizes("phase", rising) == [3, 3, 3, 3, 3, 2, 2, 2, 2]


def test_breeding_keeps_the_better_half_and_one_neuron_is_a_fixed_point() -> None:
    ordered = draws().normal(size=(2, 8, 3))
    following = esp.breed(ordered, Recipe(neurons=8, mutation_rate=0.0), draws())
    assert following.shape == ordered.shape
    assert following[:, :4].tolist() == ordered[:, :4].tolist()
    genes = {float(gene) for gene in ordered[:, :2].ravel()}
    assert {float(gene) for gene in following[:, 4:].ravel()} <= genes
    competing = esp.breed(
        ordered, Recipe(neurons=8, mutation_rate=0.0, children="compete"), draws()
    )
    assert competing.shape == (2, 12, 3)
    assert competing[:, :8].tolist() == ordered.tolist()
    alone = Recipe(neurons=1, mutation_rate=0.0, stagnation=0)
    state = esp.begin(2, 3, alone, 0)
    assert (
        esp.advance(state, squares, alone, 0).state.population.tolist() == state.population.tolist()
    )


@pytest.mark.parametrize("name", ESP)
def test_every_program_finds_the_top_of_a_smooth_hill_and_repeats(name: str) -> None:
    recipe = dataclasses.replace(ESP[name], neurons=20)
    states = list(
        esp.evolve(squares, sub_populations=3, genes=4, recipe=recipe, generations=60, seed=3)
    )
    assert states[-1].best_fitness > -5 > states[0].best_fitness
    assert states[-1].best_fitness == pytest.approx(squares(states[-1].best.reshape(1, -1), 0)[0])
    assert [state.best_fitness for state in states] == sorted(
        state.best_fitness for state in states
    )
    again = list(
        esp.evolve(squares, sub_populations=3, genes=4, recipe=recipe, generations=60, seed=3)
    )
    assert again[-1].population.tobytes() == states[-1].population.tobytes()
    sizes = 200 if name != "esp/3.0" else 300  # the children of 3.0 are evaluated beside the others
    challenged = states[2].evaluations - states[1].evaluations - sizes
    assert challenged == (2 + 1) * recipe.challenge if recipe.challenge else challenged == 0


def test_stagnation_ends_in_a_burst_around_the_best() -> None:
    recipe = Recipe(neurons=8, stagnation=3, challenge=0)
    flat = list(
        esp.evolve(
            lambda rows, seed: np.zeros(len(rows)),
            sub_populations=2,
            genes=3,
            recipe=recipe,
            generations=8,
            seed=0,
        )
    )
    assert [state.bursts for state in flat] == [0, 0, 0, 1, 1, 1, 1, 2]
    assert flat[3].population[:, 0].tolist() == flat[3].best.tolist()


def test_a_lucky_network_is_not_believed() -> None:
    def luck(rows: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
        """Noise a hundred times as wide as what counts.

        It is the same for every row of a seed but for the generation's champion.
        """
        noise = np.random.default_rng(seed).normal(0, 100, len(rows)) if len(rows) > 3 else 0.0
        return squares(rows, seed) + noise

    careful = list(
        esp.evolve(
            luck, sub_populations=2, genes=2, recipe=Recipe(neurons=8), generations=20, seed=0
        )
    )
    believed = [float(squares(state.best.reshape(1, -1), 0)[0]) for state in careful]
    assert believed == sorted(believed)
    careless = list(
        esp.evolve(
            luck,
            sub_populations=2,
            genes=2,
            recipe=Recipe(neurons=8, challenge=0),
            generations=20,
            seed=0,
        )
    )
    trusted = [float(squares(state.best.reshape(1, -1), 0)[0]) for state in careless]
    assert trusted != sorted(trusted)


@pytest.mark.parametrize("recurrent", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_genes_are_the_weights_of_a_hidden_unit(recurrent: bool, bias: bool) -> None:
    network = pente.architecture(3, recurrent=recurrent)
    neurons = Neurons(network, bias=bias)
    assert neurons.genes == 147 + 3 * recurrent + 49 + bias
    genes = draws().normal(size=(2, 3, neurons.genes)).astype(np.float32)
    for rows, packed in zip(genes, neurons.pack(genes.reshape(2, -1).astype(float)), strict=True):
        arrays = network.unpack(packed)
        into, out = ("cell.weight_ih", "0.weight") if recurrent else ("0.weight", "1.weight")
        for unit, mine in enumerate(rows):
            parts = [
                arrays[into][unit],
                arrays["cell.weight_hh"][unit] if recurrent else [],
                arrays[out][:, unit],
            ]
            parts.append([arrays["cell.bias_ih" if recurrent else "0.bias"][unit]] if bias else [])
            assert mine.tolist() == np.concatenate(parts).tolist()
        assert not arrays["0.bias" if recurrent else "1.bias"].any()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"neurons": 0}, "neurons=0"),
        ({"neurons": 2.5}, "neurons=2.5 must be a whole number"),
        ({"parents": 0.6}, "two children"),
        ({"mate": "best"}, "mate"),
        ({"mutation_rate": 2.0}, "share"),
        ({"mutation_size": np.inf}, "mutation_size=inf must be a number from 0 to 10"),
        ({"weights": np.nan}, "weights=nan must be a number from 0 to 1000"),
        ({"new_weight": np.inf}, "new_weight=inf must be a number from -1000 to 1000"),
        ({"ablation_evaluations": 0}, "ablation_evaluations=0 must be a whole number from 1"),
        ({"success": "never"}, "Unknown success='never'"),
        ({"trials": 0}, "trials=0 must be a whole number from 1"),
    ],
)
def test_impossible_recipes_are_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        esp.begin(2, 3, dataclasses.replace(Recipe(), **changes), 0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sizes", "message"),
    [((0, 3, 0), "sub_populations=0"), ((2, 2.5, 0), "genes=2.5"), ((2, 3, -1), "seed=-1")],
)
def test_impossible_sizes_are_refused(sizes: tuple[int, int, int], message: str) -> None:
    sub_populations, genes, seed = sizes
    with pytest.raises(ConfigurationError, match=f"{message} must be a whole number"):
        esp.begin(sub_populations, genes, Recipe(), seed)


def test_a_state_of_another_run_is_refused() -> None:
    recipe = Recipe(neurons=8, children="compete", challenge=0)
    like = esp.begin(2, 3, recipe, 0)
    arrays, counts = esp.advance(like, squares, recipe, 0).state.saved()
    assert like.restored(arrays, counts, 1, recipe).population.shape == (2, 12, 3)
    with pytest.raises(ValueError, match="of 12 neurons, not of 8"):
        like.restored(arrays, counts, 1, dataclasses.replace(recipe, children="replace"))
    with pytest.raises(ValueError, match="not finite"):
        like.restored(arrays | {"best": np.full((2, 3), np.nan)}, counts, 1, recipe)


def test_other_networks_and_a_fitness_that_is_no_number_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="one hidden layer"):
        Neurons(Architecture(4, (3, 3), (("out", 2),)))
    with pytest.raises(ConfigurationError, match="finite number for each of 400"):
        next(
            esp.evolve(
                lambda rows, seed: rows[:, 0] * np.nan,
                sub_populations=1,
                genes=1,
                recipe=Recipe(),
                generations=1,
            )
        )
