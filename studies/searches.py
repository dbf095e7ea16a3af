"""Searches that ESP is compared with.

They evolve the same rows of weights with as many games, and a better network must win the same
challenges. `ComparedOptions` and `ComparedSearch` make a run of `training.evolution` use one.

genetic: a plain genetic algorithm. A member is a whole network: ESP's operators, but it is ranked,
    crossed and replaced as one.
cmaes: separable CMA-ES (Hansen), which moves and scales a normal distribution of rows.
random: rows drawn anew every generation, as the first are.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from monopoly_env.errors import ConfigurationError, nearest
from training.evolution import esp
from training.evolution.cmaes import CMAES
from training.evolution.esp import EspState, Fitness, Generation, Genes, Recipe, Sizes
from training.evolution.esp_search import EspOptions, EspSearch

Algorithm: TypeAlias = Literal["esp", "genetic", "cmaes", "random"]
ALGORITHMS: Final = ("esp", "genetic", "cmaes", "random")


@dataclass(frozen=True)
class Control:
    """A search other than ESP, over S neurons of G genes each.

    Attributes:
        algorithm: Its name.
        recipe: The settings shared with ESP: numbers of networks, operators, challenges. There are
            no bursts.
        seed: The seed of the run.
        optimizer: The distribution of `cmaes`.
        sizes: See `esp.advance`.
    """

    algorithm: Algorithm
    recipe: Recipe
    seed: int
    optimizer: CMAES | None = None
    sizes: Sizes = None

    @classmethod
    def of(
        cls,
        algorithm: Algorithm,
        sub_populations: int,
        genes: int,
        recipe: Recipe,
        seed: int,
        sizes: Sizes = None,
    ) -> Control:
        """A control before its first generation.

        `cmaes` begins with the standard deviation of the others' initial weights.
        """
        if algorithm != "cmaes":
            return cls(algorithm, recipe, seed, sizes=sizes)
        sigma = recipe.weights / np.sqrt(3)
        return cls(
            algorithm,
            recipe,
            seed,
            CMAES(sub_populations * genes, esp.networks_of(recipe), sigma, seed, True),
        )

    def begin(self, sub_populations: int, genes: int) -> EspState:
        """The initial population (S, N, G), where network n is neuron n of each sub-population.

        For `cmaes` it is the mean, for `random` a placeholder.
        """
        self.recipe.check()
        none = np.zeros((sub_populations, genes))
        if self.algorithm != "genetic":
            return EspState(none[:, None], none, none)
        return EspState(self._drawn(none, 0), none, none)

    def advance(self, state: EspState, fitness: Fitness) -> Generation:
        """Evaluate a generation and make the next one."""
        if self.optimizer is not None:
            with _quietly():
                networks = self.optimizer.ask()
        else:
            random = self.algorithm == "random"
            networks = rows(
                self._drawn(state.best, state.generation + 1) if random else state.population
            )
        found = esp.judge(state, networks, fitness, self.recipe, self.seed)
        if self.optimizer is not None:
            with _quietly():
                self.optimizer.tell(found.fitness)
            return found._replace(
                state=replace(
                    found.state, population=self.optimizer.mean.reshape(state.best.shape)[:, None]
                )
            )
        if self.algorithm == "genetic":
            return found._replace(
                state=replace(found.state, population=self._bred(state.population, found))
            )
        return found

    def _drawn(self, like: Genes, generation: int) -> Genes:
        shape = (len(like), esp.networks_of(self.recipe), like.shape[1])
        return esp.generator_of(self.seed, generation).uniform(
            -self.recipe.weights, self.recipe.weights, shape
        )

    def _bred(self, population: Genes, found: Generation) -> Genes:
        whole = rows(population)[None]
        recipe = replace(self.recipe, neurons=whole.shape[1], children="replace")
        ordered = esp.ranked(whole, found.fitness[None])
        generator = esp.generator_of(self.seed, found.state.generation)
        children = esp.recombine(ordered[:, : esp.parents_of(recipe)], recipe.mate, generator)
        following = np.concatenate(
            [ordered[:, : whole.shape[1] - children.shape[1]], children], axis=1
        )
        neurons, spared = members(following[0], len(population)), whole.shape[1] // 2
        # As many weights change as by ESP.
        changed = esp.mutate(
            neurons[:, spared:], recipe.mutation_rate, recipe.mutation_size, generator, self.sizes
        )
        return np.concatenate([neurons[:, :spared], changed], axis=1)


@contextmanager
def _quietly() -> Iterator[None]:
    """Suppress pycma's warnings of large weights: the scale of outputs has no effect."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def rows(population: Genes) -> Genes:
    """The (N, S * G) networks of (S, N, G) neurons, where network n is neuron n of each."""
    return np.ascontiguousarray(population.swapaxes(0, 1)).reshape(population.shape[1], -1)


def members(networks: Genes, sub_populations: int) -> Genes:
    """The (S, N, G) neurons of (N, S * G) networks."""
    return networks.reshape(len(networks), sub_populations, -1).swapaxes(0, 1)


# --- a run


@dataclass(frozen=True)
class ComparedOptions(EspOptions):
    """Options of a run by ESP or another search."""

    algorithm: Algorithm = "esp"
    """esp, or for comparison: genetic (whole networks mate), cmaes (separable CMA-ES), random (new
    random rows every generation)."""

    def check_recipe(self) -> None:
        """Check the recipe.

        Raises:
            ConfigurationError: The algorithm is unknown or incompatible, or a number is out of
                range.
        """
        if self.algorithm not in ALGORITHMS:
            raise ConfigurationError(
                f"Unknown --algorithm {self.algorithm!r}. {nearest(self.algorithm, ALGORITHMS)}"
            )
        super().check_recipe()
        if self.ablation and self.algorithm != "esp":
            raise ConfigurationError(
                f"--ablation adds and removes sub-populations, which --algorithm {self.algorithm}"
                " does not have: leave it out."
            )


class ComparedSearch(EspSearch):
    """A run of one of `ALGORITHMS`.

    Attributes:
        control: The search that replaces ESP, or None.
    """

    options: ComparedOptions

    def first(self) -> EspState:
        """The initial population."""
        options = self.options
        self.control = (
            Control.of(options.algorithm, *self.shape, options, options.seed, self.sizes)
            if options.algorithm != "esp"
            else None
        )
        return self.control.begin(*self.shape) if self.control else super().first()

    def following(self, fitness: Fitness, **grow: Any) -> Generation:
        """Evaluate a generation and make the next one."""
        if self.control:
            return self.control.advance(self.stage, fitness)
        return super().following(fitness, **grow)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays of a checkpoint."""
        optimizer = self.control and self.control.optimizer
        history = {"history": np.array(optimizer.history)} if optimizer else {}
        return super().arrays() | history

    def restore(self, arrays: Mapping[str, NDArray[Any]], values: Mapping[str, Any]) -> None:
        """Continue from a checkpoint."""
        super().restore(arrays, values)
        if self.control and self.control.optimizer:
            self.control.optimizer.tell_again(arrays["history"], arrays["population"].ravel())
