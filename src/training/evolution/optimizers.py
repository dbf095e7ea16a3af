"""Optimizers: who proposes the vectors of the next generation."""

from __future__ import annotations

import importlib
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from monopoly_env.errors import ConfigurationError, FormatError

SEPARABLE_FROM = 31  # numbers: a covariance of so many takes more generations to learn than there are


class Optimizer(Protocol):
    """Proposes populations and learns from their fitness.

    Attributes:
        history: The fitness of all generations so far, (L,) each.
    """

    history: list[NDArray[np.float64]]

    def ask(self) -> NDArray[np.float64]:
        """(L, D) the vectors of the next generation."""

    def tell(self, fitness: NDArray[np.float64]) -> None:
        """(L,) how good those that were asked for are; more is better."""

    @property
    def mean(self) -> NDArray[np.float64]:
        """(D,) the vector in the middle of what is searched."""

    @property
    def spread(self) -> float:
        """How widely it is searched, in units of the vector."""


class CMAES:
    """The covariance matrix adaptation evolution strategy (Hansen 2016, arXiv:1604.00772), as pycma has it.

    What it does is a function of its settings and of the fitness that it was told, and it is restored by being told again.
    """

    def __init__(self, size: int, population: int, sigma: float, seed: int, diagonal: bool) -> None:
        """Begin at zeros.

        Args:
            size: D, numbers of a vector.
            population: L, vectors of a generation.
            sigma: Standard deviation of the first generation.
            seed: Of its random numbers.
            diagonal: Only the scale of each number is learned, not how they go together (separable CMA-ES).

        Raises:
            ConfigurationError: pycma is not installed.
        """
        try:
            cma: Any = importlib.import_module("cma")
        except ImportError as error:
            raise ConfigurationError("CMA-ES needs pycma: pip install 'monopoly-env[evolve]', or cma alone.") from error
        generator = np.random.Generator(np.random.PCG64(seed))
        # NumPy's common generator is left alone: `seed` says so, `randn` is what is used in its place.
        options: dict[str, Any] = {"popsize": population, "CMA_diagonal": diagonal, "verbose": -9, "seed": np.nan}
        options["randn"] = lambda *shape: generator.standard_normal(shape)
        self._strategy = cma.CMAEvolutionStrategy(np.zeros(size), sigma, options)
        self._asked: list[NDArray[np.float64]] = []
        self.history: list[NDArray[np.float64]] = []

    def ask(self) -> NDArray[np.float64]:
        """(L, D) the vectors of the next generation."""
        self._asked = self._strategy.ask()
        return np.array(self._asked)

    def tell(self, fitness: NDArray[np.float64]) -> None:
        """(L,) how good those that were asked for are; more is better."""
        self._strategy.tell(self._asked, (-fitness).tolist())
        self.history.append(fitness)

    @property
    def mean(self) -> NDArray[np.float64]:
        """(D,) the vector in the middle of what is searched."""
        return np.array(self._strategy.result.xfavorite)

    @property
    def spread(self) -> float:
        """How widely it is searched, in units of the vector: the mean standard deviation of a number."""
        return float(np.mean(self._strategy.result.stds))


def check_restored(optimizer: Optimizer, mean: NDArray[np.float64]) -> None:
    """Check that an optimizer which was told its history anew is where it was.

    Args:
        optimizer: That one.
        mean: (D,) its mean when the history was saved.

    Raises:
        FormatError: It is somewhere else.
    """
    if not np.allclose(optimizer.mean, mean, rtol=1e-6, atol=1e-9):
        raise FormatError(
            f"Replayed, the search is at another place than the checkpoint says (by {np.abs(optimizer.mean - mean).max():.2g}): it was "
            "begun with another version of pycma. Resume with that one, or start anew from best.safetensors by --start."
        )
