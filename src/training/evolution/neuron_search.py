"""A run that evolves the neurons of networks.

It does so by ESP, or by one of the searches that ESP is compared with (`controls`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from monopoly_env.errors import ConfigurationError, nearest
from training.cluster import HERE, Place
from training.evolution import esp
from training.evolution.controls import ALGORITHMS, Algorithm, Control
from training.evolution.esp import Fitness, Generation, Recipe, Sizes
from training.evolution.run import EvolutionOptions, Search


@dataclass(frozen=True)
class NeuronOptions(Recipe, EvolutionOptions):
    """The options of such a run."""

    algorithm: Algorithm = "esp"
    """esp; or what it is compared with on as many games: genetic (whole networks mate), cmaes
    (separable CMA-ES), random (rows drawn anew every generation)."""

    def check_recipe(self) -> None:
        """Check how neurons evolve.

        Raises:
            ConfigurationError: An algorithm that is unknown, or does not fit; a number out of its
                range.
        """
        if self.algorithm not in ALGORITHMS:
            raise ConfigurationError(
                f"Unknown --algorithm {self.algorithm!r}. {nearest(self.algorithm, ALGORITHMS)}"
            )
        Recipe.check(self)
        if self.lesion and self.algorithm != "esp":
            raise ConfigurationError(
                f"--lesion adds and removes sub-populations, which --algorithm {self.algorithm}"
                " does not have: leave it out."
            )


class NeuronSearch(Search):
    """Neurons under way.

    Attributes:
        stage: Where the search has come to.
        control: What evolves them in place of ESP, if anything does.
    """

    options: NeuronOptions

    def __init__(
        self,
        options: NeuronOptions,
        shape: tuple[int, int],
        sizes: Sizes = None,
        place: Place = HERE,
    ) -> None:
        """Begin before the first generation.

        Args:
            options: Of the run.
            shape: Sub-populations, and genes of a neuron.
            sizes: See `esp.advance`.
            place: Where games are played.
        """
        super().__init__(options, place)
        self._sizes = sizes
        self.control = (
            Control.of(options.algorithm, *shape, options, options.seed, sizes)
            if options.algorithm != "esp"
            else None
        )
        self.stage = (
            self.control.begin(*shape) if self.control else esp.begin(*shape, options, options.seed)
        )

    def breed(self, fitness: Fitness, **grow: Any) -> Generation:
        """Evaluate a generation and make the next one.

        `grow` is what ESP needs to add and remove units.
        """
        if self.control:
            found = self.control.advance(self.stage, fitness)
        else:
            found = esp.advance(
                self.stage, fitness, self.options, self.options.seed, sizes=self._sizes, **grow
            )
        self.stage = found.state
        self.step += 1
        return found

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What a checkpoint holds as arrays."""
        arrays, _ = esp.saved(self.stage)
        optimizer = self.control and self.control.optimizer
        return arrays | ({"history": np.array(optimizer.history)} if optimizer else {})

    def values(self) -> dict[str, Any]:
        """What a checkpoint holds as JSON."""
        return super().values() | esp.saved(self.stage)[1]

    def restore(self, arrays: Mapping[str, NDArray[Any]], values: Mapping[str, Any]) -> None:
        """Continue from a checkpoint."""
        self.stage = esp.restored(self.stage, arrays, values, self.step, self.options)
        if self.control and self.control.optimizer:
            self.control.optimizer.tell_again(arrays["history"], arrays["population"].ravel())
