"""A run that evolves the neurons of networks by ESP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from training.cluster import HERE, Place
from training.evolution import esp
from training.evolution.esp import EspState, Fitness, Generation, Recipe, Sizes
from training.evolution.run import EvolutionOptions, Search


@dataclass(frozen=True)
class EspOptions(Recipe, EvolutionOptions):
    """Options of a run that evolves neurons."""

    def check_recipe(self) -> None:
        """Check how neurons evolve: `Recipe.check`."""
        Recipe.check(self)


class EspSearch(Search):
    """Neurons under way.

    Attributes:
        shape: Sub-populations, and genes of a neuron.
        sizes: See `esp.advance`.
        stage: State of the evolution.
    """

    options: EspOptions

    def __init__(
        self, options: EspOptions, shape: tuple[int, int], sizes: Sizes = None, place: Place = HERE
    ) -> None:
        """Begin before the first generation."""
        super().__init__(options, place)
        self.shape, self.sizes = shape, sizes
        self.stage = self.first()

    def first(self) -> EspState:
        """The initial population."""
        return esp.begin(*self.shape, self.options, self.options.seed)

    def following(self, fitness: Fitness, **grow: Any) -> Generation:
        """Evaluate a generation and make the next one; `grow` lets ESP add and remove units."""
        seed = self.options.seed
        return esp.advance(self.stage, fitness, self.options, seed, sizes=self.sizes, **grow)

    def breed(self, fitness: Fitness, **grow: Any) -> Generation:
        """Evaluate a generation and go on to the next one; arguments as for `following`."""
        found = self.following(fitness, **grow)
        self.stage = found.state
        self.step += 1
        return found

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Arrays of a checkpoint."""
        return self.stage.saved()[0]

    def values(self) -> dict[str, Any]:
        """JSON values of a checkpoint."""
        return super().values() | self.stage.saved()[1]

    def restore(self, arrays: Mapping[str, NDArray[Any]], values: Mapping[str, Any]) -> None:
        """Continue from a checkpoint."""
        self.stage = self.stage.restored(arrays, values, self.step, self.options)
