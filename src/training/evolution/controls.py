"""The searches that ESP is compared with.

They have the same rows of weights, judged by as many games, and the best of them is believed in the
same way.

genetic: a plain genetic algorithm. A member is a whole network: ESP's operators, but it is ranked,
    crossed and replaced as one.
cmaes: separable CMA-ES (Hansen), which moves and scales a normal distribution of rows.
random: rows drawn anew every generation, as the first are.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

import numpy as np

from training.evolution import esp
from training.evolution.cmaes import CMAES
from training.evolution.esp import Fitness, Generation, Genes, Recipe, Sizes, State

Algorithm: TypeAlias = Literal["esp", "genetic", "cmaes", "random"]
ALGORITHMS: Final = ("esp", "genetic", "cmaes", "random")


@dataclass(frozen=True)
class Control:
    """A search that is not ESP, over the genes of S neurons of G each.

    Attributes:
        algorithm: Which.
        recipe: What it has in common with ESP: numbers of networks, operators, challenges. There
            are no bursts.
        seed: Of the run.
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

        `cmaes` begins with the spread of the first weights of the others.
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

    def begin(self, sub_populations: int, genes: int) -> State:
        """The first population: (S, N, G), where network n is neuron n of each.

        The middle of `cmaes` and nothing of `random` are one.
        """
        self.recipe.check()
        none = np.zeros((sub_populations, genes))
        if self.algorithm != "genetic":
            return State(none[:, None], none, none)
        return State(self._drawn(none, 0), none, none)

    def advance(self, state: State, fitness: Fitness) -> Generation:
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
    """Without pycma's warnings of large weights.

    Where only the order of outputs counts, their scale may grow without end.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def rows(population: Genes) -> Genes:
    """The (N, S * G) networks of (S, N, G) neurons, where network n is neuron n of each."""
    return np.ascontiguousarray(population.swapaxes(0, 1)).reshape(population.shape[1], -1)


def members(networks: Genes, sub_populations: int) -> Genes:
    """The (S, N, G) neurons of (N, S * G) networks."""
    return networks.reshape(len(networks), sub_populations, -1).swapaxes(0, 1)
