"""ESP: Enforced Sub-Populations (Gomez & Miikkulainen 1997).

A network is a neuron of each sub-population; neurons mate only inside theirs.

    >>> from training.evolution.esp import ESP, evolve
    >>> def fitness(rows, seed):
    ...     return -(rows**2).sum(axis=1)
    >>> sizes = {"sub_populations": 2, "genes": 3}
    >>> for state in evolve(fitness, **sizes, recipe=ESP["schrum"], generations=2):
    ...     print(state.generation, state.best.shape)
    1 (2, 3)
    2 (2, 3)

`fitness(rows, seed)` takes (N, S * G) networks, the genes of neuron 0 first, and returns (N,): more
is better. A game with chance plays the games of the seed; seeds are practically unique.

A generation draws networks, credits every neuron with the mean fitness of its networks, keeps the
best network, and breeds. If no better network is found for a while, all neurons are drawn anew
around the best one (burst mutation); the time between two bursts is a phase. S sub-populations have
N neurons of G genes each. Differences of the published programs are options of `Recipe`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from agents.networks.layout import Architecture
from monopoly_env.errors import ConfigurationError, nearest, shortened, whole_number

Genes: TypeAlias = NDArray[np.float64]  # (S, N, G) neurons, or (S, G) one network
Sizes: TypeAlias = NDArray[np.int64] | None
Fitness: TypeAlias = Callable[[Genes, int], NDArray[np.float64]]

LONGEST_STEP: Final = 10.0  # Cauchy draws that are larger are drawn again
HEAVIEST: Final = 1000.0  # of a first weight
_NONE: Final = -np.inf  # fitness of a network that is not there
_RANGES: Final = {
    "weights": (0, HEAVIEST),
    "mutation_size": (0, LONGEST_STEP),
    "burst_size": (0, LONGEST_STEP),
    "new_weight": (-HEAVIEST, HEAVIEST),
}
_CHOICES: Final = {
    "draws": ("balanced", "random"),
    "mate": ("better", "any"),
    "children": ("replace", "compete"),
    "success": ("best", "phase"),
}


# --- settings


@dataclass(frozen=True)
class Recipe:
    """How ESP evolves. The defaults are ours."""

    neurons: int = 40
    """Neurons of a sub-population."""
    trials: int = 10
    """Networks of a generation for each neuron of a sub-population."""
    draws: Literal["balanced", "random"] = "balanced"
    """How networks are drawn. balanced: each neuron is in exactly `trials` of them; random: with
    replacement."""
    weights: float = 6.0
    """First weights are uniform from minus this to this."""
    parents: float = 0.25
    """Share of a sub-population whose neurons are crossed, the best first."""
    mate: Literal["better", "any"] = "better"
    """Mate of a parent. better: one of better rank (the best one: any parent); any: any parent."""
    children: Literal["replace", "compete"] = "replace"
    """replace: they take the places of the worst half; compete: all are evaluated, then the worst
    go."""
    mutation_rate: float = 0.4
    """Probability that one weight of a neuron below the upper half changes, of a child too."""
    mutation_size: float = 0.3
    """Scale of the Cauchy distribution of that change."""
    stagnation: int = 20
    """Generations without a better network before a burst; 0: there are no bursts."""
    burst_size: float = 0.3
    """Scale of the Cauchy distribution of a burst, on every weight."""
    burst_spares: bool = True
    """Whether a burst leaves the best network itself in the population."""
    ablation: float = 0.0
    """Share of its fitness that the best network must keep without a hidden unit for that unit to
    go, after an unsuccessful phase; if it keeps less whichever goes, a unit is added. 0: units
    stay. For a fitness that is never negative."""
    ablation_evaluations: int = 6
    """Evaluations over fresh seeds that judge the best network without a unit."""
    success: Literal["best", "phase"] = "best"
    """What makes a phase successful. best: a new best network; phase: a higher fitness than the
    phase before it."""
    new_weight: float = 0.0
    """Weight of an added unit's state in all other units, if networks are recurrent; 0: the network
    plays as before."""
    challenge: int = 5
    """Evaluations over fresh seeds in which a better network must prove to be better; 0: the
    evaluation that found it is believed."""

    def check(self) -> None:
        """Raise ConfigurationError if a number is out of its range; the message says which."""
        for name, least in (
            ("neurons", 1),
            ("trials", 1),
            ("stagnation", 0),
            ("ablation_evaluations", 1),
            ("challenge", 0),
        ):
            whole_number(name, getattr(self, name), least)
        for name, (low, high) in _RANGES.items():
            if not low <= getattr(self, name) <= high:
                raise ConfigurationError(
                    f"{name}={getattr(self, name)} must be a number from {low:g} to {high:g}."
                )
        for name in ("parents", "mutation_rate", "ablation"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigurationError(
                    f"{name}={getattr(self, name)} must be a share from 0 to 1."
                )
        for name, valid in _CHOICES.items():
            given = getattr(self, name)
            if given not in valid:
                raise ConfigurationError(
                    f"Unknown {name}={shortened(given)}. {nearest(shortened(given), valid)}"
                )
        if 2 * parents_of(self) > self.neurons:
            raise ConfigurationError(
                f"neurons={self.neurons} have no room for two children of each of"
                f" {parents_of(self)} parents."
            )


def parents_of(recipe: Recipe) -> int:
    """How many neurons of a sub-population are crossed."""
    return int(recipe.parents * recipe.neurons)


# Two published programs, and ours with Schrum's setting.
_PROGRAM: Final = Recipe(
    draws="random", burst_spares=False, success="phase", new_weight=1.0, challenge=0
)
ESP: Final = {
    "schrum": Recipe(),
    "esp/2.9": replace(_PROGRAM, mate="any", ablation_evaluations=20),
    "esp/3.0": replace(_PROGRAM, children="compete", ablation_evaluations=1),
}


# --- operators: arrays and a generator in, arrays out


def draw(
    neurons: int, sub_populations: int, recipe: Recipe, generator: np.random.Generator
) -> NDArray[np.int64]:
    """(T, S) neurons: `trials` networks for each of them, a neuron of every sub-population."""
    shape = (recipe.trials * neurons, sub_populations)
    if recipe.draws == "random":
        return generator.integers(0, neurons, shape)
    rounds = np.broadcast_to(np.arange(neurons)[:, None], (recipe.trials, neurons, sub_populations))
    return generator.permuted(rounds, axis=1).reshape(shape)


def assemble(population: Genes, picks: NDArray[np.int64]) -> Genes:
    """The (T, S * G) networks of (T, S) picks from (S, N, G) neurons."""
    return population[np.arange(len(population)), picks].reshape(len(picks), -1)


def credit(
    fitness: NDArray[np.float64], picks: NDArray[np.int64], neurons: int
) -> NDArray[np.float64]:
    """The (S, N) mean fitness of the networks that each neuron was in; 0 if in none."""
    sub_populations = picks.shape[1]
    places = (picks + neurons * np.arange(sub_populations)).ravel()
    size = neurons * sub_populations
    total = np.bincount(places, np.repeat(fitness, sub_populations), size)
    return (total / np.maximum(np.bincount(places, minlength=size), 1)).reshape(
        sub_populations, neurons
    )


def ranked(population: Genes, scores: NDArray[np.float64]) -> Genes:
    """The neurons of each sub-population, the best first; of equal ones the earlier."""
    order = np.argsort(-scores, axis=1, kind="stable")
    return np.take_along_axis(population, order[:, :, None], axis=1)


def recombine(
    parents: Genes, mate: str, generator: np.random.Generator, sizes: Sizes = None
) -> Genes:
    """(S, 2 P, G) children of (S, P, G) parents, the best first, crossed with mates at one point.

    `mate` as in `Recipe`, `sizes` as in `advance`. Point 0 makes copies.
    """
    sub_populations, count, genes = parents.shape
    choices = np.arange(count) if mate == "better" else np.full(count, count)
    choices[:1] = count  # none is better than the best
    mates = np.take_along_axis(
        parents, generator.integers(0, choices, (sub_populations, count))[:, :, None], axis=1
    )
    points = generator.integers(0, _ends(genes, sizes), (sub_populations, count, 1))
    first = np.arange(genes) < points
    children = np.stack([np.where(first, parents, mates), np.where(first, mates, parents)], axis=2)
    return children.reshape(sub_populations, 2 * count, genes)


def _ends(genes: int, sizes: Sizes) -> Any:
    return genes if sizes is None else sizes[:, None, None]


def cauchy(
    size: tuple[int, ...], scale: float, generator: np.random.Generator
) -> NDArray[np.float64]:
    """Cauchy draws, drawn again while they are longer than `LONGEST_STEP`."""
    drawn = scale * generator.standard_cauchy(size)
    while (far := np.abs(drawn) > LONGEST_STEP).any():
        drawn[far] = scale * generator.standard_cauchy(int(far.sum()))
    return drawn


def mutate(
    population: Genes,
    rate: float,
    scale: float,
    generator: np.random.Generator,
    sizes: Sizes = None,
) -> Genes:
    """Add a Cauchy draw to one weight of each neuron, by chance `rate`; `sizes` as in `advance`."""
    sub_populations, neurons, genes = population.shape
    where = np.arange(genes) == generator.integers(
        0, _ends(genes, sizes), (sub_populations, neurons, 1)
    )
    chosen = generator.random((sub_populations, neurons, 1)) < rate
    return population + np.where(
        where & chosen, cauchy((sub_populations, neurons, 1), scale, generator), 0.0
    )


def burst(
    best: Genes, neurons: int, scale: float, spares: bool, generator: np.random.Generator
) -> Genes:
    """New (S, N, G) neurons around those of an (S, G) network, itself among them if `spares`."""
    steps = cauchy((len(best), neurons, best.shape[1]), scale, generator)
    if spares:
        steps[:, 0] = 0.0
    return best[:, None] + steps


def without(network: Genes, unit: int, states: int | None) -> Genes:
    """An (S, G) network without a unit; `states` is the first gene that weighs states, if any."""
    rest = np.delete(network, unit, axis=0)
    return rest if states is None else np.delete(rest, states + unit, axis=1)


def with_one_more(network: Genes, states: int | None, seen: float = 0.0) -> Genes:
    """An (S, G) network with a unit more: weights of 0, its state is weighed by `seen`."""
    grown = network if states is None else np.insert(network, states + len(network), seen, axis=1)
    return np.concatenate([grown, np.zeros((1, grown.shape[1]))])


def breed(
    ordered: Genes, recipe: Recipe, generator: np.random.Generator, sizes: Sizes = None
) -> Genes:
    """The next generation of (S, N or more, G) neurons, the best first; `sizes` as in `advance`."""
    half = (
        recipe.neurons - 2 * parents_of(recipe) if recipe.children == "replace" else recipe.neurons
    )
    children = recombine(ordered[:, : parents_of(recipe)], recipe.mate, generator, sizes)
    following = np.concatenate([ordered[:, :half], children], axis=1)
    spared = recipe.neurons // 2
    changed = mutate(
        following[:, spared:], recipe.mutation_rate, recipe.mutation_size, generator, sizes
    )
    return np.concatenate([following[:, :spared], changed], axis=1)


# --- a generation


@dataclass(frozen=True)
class EspState:
    """State of the evolution.

    Attributes:
        population: (S, N, G) the neurons of the next generation; more than `Recipe.neurons` where
            children compete.
        best: (S, G) the best network so far.
        phase_best: (S, G) the best network of this phase.
        best_fitness: Fitness of the best network in the evaluation that found it.
        phase_fitness: The same of the best network of this phase.
        before_fitness: The same of the phase before it.
        stale: Generations since a better network of this phase was found.
        bursts: Bursts so far.
        new_best: Whether this phase has found a new best network.
        generation: Generations that were evaluated.
        evaluations: Networks that were evaluated, challenges included.
    """

    population: Genes
    best: Genes
    phase_best: Genes
    best_fitness: float = _NONE
    phase_fitness: float = _NONE
    before_fitness: float = _NONE
    stale: int = 0
    bursts: int = 0
    new_best: bool = True
    generation: int = 0
    evaluations: int = 0

    def saved(self) -> tuple[dict[str, NDArray[Any]], dict[str, int]]:
        """Arrays and JSON values of a checkpoint; `restored` reads them."""
        arrays = {
            "population": self.population,
            "best": self.best,
            "phase_best": self.phase_best,
            "fitness": np.array([self.best_fitness, self.phase_fitness, self.before_fitness]),
        }
        counts = ("stale", "bursts", "new_best", "evaluations")
        return arrays, {name: int(getattr(self, name)) for name in counts}

    def restored(
        self,
        arrays: Mapping[str, NDArray[Any]],
        values: Mapping[str, Any],
        generation: int,
        recipe: Recipe,
    ) -> EspState:
        """The state of a checkpoint of the run that this one began.

        With `ablation` the networks may have other numbers of units by now.

        Raises:
            ValueError: Arrays of other shapes, numbers that are not finite.
        """
        population, best, phase_best = arrays["population"], arrays["best"], arrays["phase_best"]
        changes = recipe.ablation and best.ndim == self.best.ndim
        shape = best.shape if changes else self.best.shape
        sizes = {self.population.shape[1], self.population.shape[1] + _competing(recipe)}
        if not all(np.isfinite(array).all() for array in (population, best, phase_best)):
            raise ValueError("neurons with numbers that are not finite")
        if population.ndim != 3 or {population.shape[::2], best.shape, phase_best.shape} != {shape}:
            raise ValueError(
                f"neurons of the shape {population.shape} and a best network of {best.shape}, not"
                f" of {shape}"
            )
        if population.shape[1] not in sizes:
            raise ValueError(
                f"sub-populations of {population.shape[1]} neurons, not of"
                f" {' or '.join(map(str, sorted(sizes)))}"
            )
        best_fitness, phase_fitness, before_fitness = arrays["fitness"].tolist()
        return EspState(
            population, best, phase_best, best_fitness, phase_fitness, before_fitness,
            stale=int(values["stale"]),
            bursts=int(values["bursts"]), new_best=bool(values["new_best"]), generation=generation,
            evaluations=int(values["evaluations"]),
        )  # fmt: skip


class Generation(NamedTuple):
    """A generation that was evaluated: (T,) fitness of its networks, and which was fittest."""

    state: EspState
    fitness: NDArray[np.float64]
    champion: int


def _competing(recipe: Recipe) -> int:
    """Children of a sub-population that are evaluated beside their parents."""
    return 2 * parents_of(recipe) if recipe.children == "compete" else 0


def networks_of(recipe: Recipe) -> int:
    """Networks of a generation; where children compete, the first and those after bursts fewer."""
    return recipe.trials * (recipe.neurons + _competing(recipe))


def most_evaluations(recipe: Recipe) -> int:
    """The most evaluations of a generation without `ablation`; a challenge has three rivals."""
    return networks_of(recipe) + 3 * recipe.challenge


def begin(sub_populations: int, genes: int, recipe: Recipe, seed: int) -> EspState:
    """The initial population.

    Raises:
        ConfigurationError: A recipe or sizes that are impossible.
    """
    recipe.check()
    for name, number in (("sub_populations", sub_populations), ("genes", genes), ("seed", seed)):
        whole_number(name, number, int(name != "seed"))
    drawn = generator_of(seed, 0).uniform(
        -recipe.weights, recipe.weights, (sub_populations, recipe.neurons, genes)
    )
    none = np.zeros((sub_populations, genes))
    return EspState(drawn, none, none)


def advance(
    state: EspState,
    fitness: Fitness,
    recipe: Recipe,
    seed: int,
    *,
    states: int | None = None,
    sizes: Sizes = None,
    most_units: int | None = None,
) -> Generation:
    """Evaluate a generation and breed the next one; chance depends on seed and generation alone.

    Args:
        state: State of the evolution.
        fitness: Of networks.
        recipe: How they evolve.
        seed: Of the run.
        states: The first gene that weighs the state of a unit, in recurrent networks; for
            `ablation` only.
        sizes: (S,) how many of its G genes a neuron of each sub-population has, if they differ; the
            others are never read. Not with `ablation`.
        most_units: Of a network, if there is a limit: `ablation` adds none beyond it.
    """
    generator, population = generator_of(seed, state.generation + 1), state.population
    neurons = population.shape[1]
    picks = draw(neurons, len(population), recipe, generator)
    networks = assemble(population, picks)
    found = judge(state, networks, fitness, recipe, seed)
    ordered = ranked(population, credit(found.fitness, picks, neurons))[:, : recipe.neurons]
    state = found.state
    if recipe.stagnation and state.stale >= recipe.stagnation:
        if recipe.ablation and not _succeeded(state, recipe):
            state = _resized(state, fitness, recipe, seed, states, most_units)
        state = _begin_phase(state, recipe, generator)
    else:
        state = replace(state, population=breed(ordered, recipe, generator, sizes))
    return found._replace(state=state)


def judge(
    state: EspState, networks: Genes, fitness: Fitness, recipe: Recipe, seed: int
) -> Generation:
    """Evaluate the (T, S * G) networks of a generation, and keep the best one."""
    found = _evaluated(fitness, networks, _seed(seed, state.generation, 0))
    champion = int(np.argmax(found))
    state = replace(
        state, generation=state.generation + 1, stale=state.stale + 1,
        evaluations=state.evaluations + len(networks),
    )  # fmt: skip
    network, best = networks[champion].reshape(state.best.shape), float(found[champion])
    return Generation(_believe(state, network, best, fitness, recipe, seed), found, champion)


def evolve(
    fitness: Fitness,
    *,
    sub_populations: int,
    genes: int,
    recipe: Recipe,
    generations: int,
    seed: int = 0,
    states: int | None = None,
) -> Iterator[EspState]:
    """Evolve networks; yields the state after every generation.

    With `ablation` networks grow and shrink; `states` is as for `advance`.

    Raises:
        ConfigurationError: A recipe, sizes or a fitness that is impossible.
    """
    state = begin(sub_populations, genes, recipe, seed)
    for _ in range(generations):
        state = advance(state, fitness, recipe, seed, states=states).state
        yield state


def _believe(
    state: EspState, champion: Genes, found: float, fitness: Fitness, recipe: Recipe, seed: int
) -> EspState:
    """Take the (S, G) champion of a generation as the best of its phase and run, where better."""
    rates = np.array([found, state.phase_fitness, state.best_fitness])
    there = np.isfinite(rates)
    if recipe.challenge and there.any():  # on the same fresh games, so luck does not count
        networks = np.stack([champion, state.phase_best, state.best])[there]
        rivals, generation = networks.reshape(len(networks), -1), state.generation - 1
        seeds = [_seed(seed, generation, 1 + number) for number in range(recipe.challenge)]
        rates[there] = sum(_evaluated(fitness, rivals, number) for number in seeds)
        state = replace(state, evaluations=state.evaluations + recipe.challenge * len(rivals))
    if rates[0] > rates[1]:
        state = replace(state, phase_best=champion, phase_fitness=found, stale=0)
    if rates[0] > rates[2]:
        state = replace(state, best=champion, best_fitness=found, new_best=True)
    return state


def _begin_phase(state: EspState, recipe: Recipe, generator: np.random.Generator) -> EspState:
    """Draw the neurons anew around the best network, which may have another number of units."""
    units = len(state.population)
    around = burst(state.best, recipe.neurons, recipe.burst_size, recipe.burst_spares, generator)
    if len(state.best) > units:  # a new unit begins as all did
        shape = around[units, 1:].shape
        around[units, 1:] = generator.uniform(-recipe.weights, recipe.weights, shape)
    return replace(
        state, population=around, before_fitness=state.phase_fitness, phase_fitness=_NONE, stale=0,
        new_best=False, bursts=state.bursts + 1,
    )  # fmt: skip


def _succeeded(state: EspState, recipe: Recipe) -> bool:
    """Whether the phase that ends was successful; the first one always is."""
    if recipe.success == "best":
        return state.new_best
    return state.phase_fitness > state.before_fitness


def _resized(
    state: EspState,
    fitness: Fitness,
    recipe: Recipe,
    seed: int,
    states: int | None,
    most_units: int | None,
) -> EspState:
    """Take the unit from the best network that it misses least, or give it one more."""
    first = 1 + recipe.challenge
    seeds = [
        _seed(seed, state.generation - 1, number)
        for number in range(first, first + recipe.ablation_evaluations)
    ]
    units = range(len(state.best)) if len(state.best) > 1 else ()
    ablated = [without(state.best, unit, states) for unit in units]
    whole, *rates = [
        float(sum(_evaluated(fitness, network.reshape(1, -1), number)[0] for number in seeds))
        for network in (state.best, *ablated)
    ]
    if rates and max(rates) >= recipe.ablation * whole:
        best = ablated[int(np.argmax(rates))]
    elif len(state.best) != most_units:
        best = with_one_more(state.best, states, recipe.new_weight)
    else:
        best = state.best
    evaluations = state.evaluations + len(seeds) * (1 + len(ablated))
    return replace(state, best=best, phase_best=best, evaluations=evaluations)


def _evaluated(fitness: Fitness, networks: Genes, seed: int) -> NDArray[np.float64]:
    found = np.asarray(fitness(networks, seed), np.float64)
    if found.shape != (len(networks),) or not np.isfinite(found).all():
        raise ConfigurationError(
            f"A fitness must return a finite number for each of {len(networks)} rows, not"
            f" {shortened(found)}."
        )
    return found


def generator_of(seed: int, generation: int) -> np.random.Generator:
    """Random generator of one generation; 0 is that of the initial population."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence((seed, generation))))


def _seed(seed: int, generation: int, number: int) -> int:
    """Seed of an evaluation: the generation's own is number 0, challenges follow."""
    return int(np.random.SeedSequence((seed, generation, number)).generate_state(1)[0])


# --- networks of the project's layer


class Neurons:
    """The genes of a network with one hidden layer or one Elman cell.

    A neuron has all weights into and out of one hidden unit.

    Attributes:
        architecture: The network.
        sub_populations: Its hidden units.
        genes: Of a neuron: its inputs, the states that it sees if it is recurrent, its outputs, and
            with `bias` its own bias.
        states: The first of the genes that weigh states; None if the network is not recurrent.
        bias: Whether a neuron has a bias.
    """

    def __init__(self, architecture: Architecture, *, bias: bool = False) -> None:
        """Work out which gene is which weight.

        Raises:
            ConfigurationError: A network of another form.
        """
        one_layer = len(architecture.hidden) == 1 and architecture.cell == "none"
        if not one_layer and (architecture.hidden or architecture.cell != "elman"):
            raise ConfigurationError(
                f"ESP evolves networks with one hidden layer or one Elman cell, not {architecture}."
            )
        self.architecture = architecture
        self.sub_populations = units = architecture.units or architecture.hidden[0]
        self.genes = architecture.inputs + architecture.units + architecture.outputs + bias
        self.states = architecture.inputs if architecture.units else None
        self.bias = bias
        # of all genes; exact as float32
        numbers = 1 + np.arange(units * self.genes).reshape(units, self.genes)
        arrays: dict[str, NDArray[Any]] = {
            name: np.zeros(shape) for name, shape in architecture.shapes().items()
        }
        recurrent, at = architecture.units > 0, architecture.inputs
        prefix, hidden, output = ("cell.", "_ih", 0) if recurrent else ("0.", "", 1)
        arrays[f"{prefix}weight{hidden}"] = numbers[:, :at]
        if recurrent:
            arrays["cell.weight_hh"] = numbers[:, at : at + units]
        at += architecture.units
        arrays[f"{output}.weight"] = numbers[:, at : at + architecture.outputs].T
        if bias:
            arrays[f"{prefix}bias{hidden}"] = numbers[:, -1]
        blank = {name: np.zeros(shape) for name, shape in architecture.shapes().items()}
        self._blank = architecture.pack(blank)
        source = (architecture.pack(arrays) - self._blank).astype(np.int64)
        self._weights = np.flatnonzero(source)
        self._source = source[self._weights] - 1

    def of_length(self, length: int) -> Neurons:
        """The genes of the network with as many hidden units as make rows of that length.

        Raises:
            ConfigurationError: No number of units makes such rows.
        """
        seen = self.architecture.units  # every unit is a gene of every other one if it is seen
        others = self.genes - seen
        units = (
            round((math.sqrt(others**2 + 4 * length) - others) / 2) if seen else length // others
        )
        if units < 1 or units * (others + (units if seen else 0)) != length:
            raise ConfigurationError(
                f"No number of neurons of {self.genes} genes makes rows of {length}."
            )
        if units == self.sub_populations:
            return self
        form: dict[str, Any] = {"units": units} if seen else {"hidden": (units,)}
        return Neurons(replace(self.architecture, **form), bias=self.bias)

    def pack(self, networks: Genes) -> NDArray[np.float32]:
        """The rows of weights of (N, S * G) networks, as `Architecture.pack` makes them."""
        rows = np.tile(self._blank, (len(networks), 1))
        rows[:, self._weights] = networks[:, self._source]
        return rows
