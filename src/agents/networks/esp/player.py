"""Players with small networks, one for each kind of question, over a scripted base policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from agents.networks.esp.inputs import DEED, LOT, STREET, TABLE
from agents.networks.esp.kernels import COUNT, FIRST, MOST_UNITS, NETWORKS, observe, play
from agents.networks.layout import Architecture, zeros
from agents.networks.policy import NetworkPolicy
from agents.players.algorithmic import Algorithmic
from monopoly_env.errors import ConfigurationError, nearest

KIND: Final = "genetic/esp"
FORMS: Final = ("feed_forward", "recurrent", "attentive")
# The inputs of each network, in the order of the kernel; it has one output.
INPUTS: Final = {
    "worth": (*TABLE, *LOT), "building": (*TABLE, *STREET), "mortgage": (*TABLE, *DEED),
    "cash": TABLE, "jail": TABLE,
}  # fmt: skip
QUESTIONS: Final = tuple(INPUTS)
_MOST_HIDDEN: Final = 64

assert len(QUESTIONS) == COUNT


def architecture(question: str, form: str, hidden: int) -> Architecture:
    """The network for a kind of question.

    Args:
        question: One of `QUESTIONS`.
        form: One of `FORMS`.
        hidden: Units of its only layer, or of its cell.

    Raises:
        ConfigurationError: An unknown question or form, or an impossible size.
    """
    for given, known in ((question, QUESTIONS), (form, FORMS)):
        if given not in known:
            raise ConfigurationError(f"Unknown part of {KIND}: {given!r}. {nearest(given, known)}")
    most = _MOST_HIDDEN if form == FORMS[0] else MOST_UNITS
    if isinstance(hidden, bool) or not isinstance(hidden, int) or not 1 <= hidden <= most:
        raise ConfigurationError(
            f"hidden={hidden!r}: a {form} network of {KIND} has 1 to {most} hidden units."
        )
    inputs, heads = len(INPUTS[question]), ((question, 1),)
    if form == FORMS[0]:
        return Architecture(inputs, (hidden,), heads, "tanh")
    return Architecture(inputs, (), heads, "tanh", "elman", hidden)


def row(packed: Mapping[str, NDArray[np.float32]]) -> NDArray[np.float64]:
    """The row of the kernel, from the rows of weights of the networks that are on."""
    return rows({question: weights[None] for question, weights in packed.items()})[0]


def rows(packed: Mapping[str, NDArray[np.float32]]) -> NDArray[np.float64]:
    """The rows of N players, from (N, length) weights of each network that is on."""
    count = len(next(iter(packed.values()))) if packed else 1
    parts, start = [np.tile(Algorithmic().row(), (count, 1)), np.zeros((count, COUNT))], NETWORKS
    for number, question in enumerate(QUESTIONS):
        if question in packed:
            parts[1][:, number] = start
            parts.append(np.ascontiguousarray(packed[question], np.float32).view(np.float64))
            start += parts[-1].shape[1]
    assert parts[0].shape[1] == FIRST
    return np.hstack(parts)


class EspPlayer(NetworkPolicy):
    """`algorithmic` with numbers scaled by small networks.

    Attributes:
        form: `feed_forward`, `recurrent` or `attentive`.
        hidden: Units of each network.
        networks: The questions whose networks are on; for the others it plays as its base policy.
    """

    def __init__(
        self,
        form: str = "feed_forward",
        hidden: int = 8,
        *,
        networks: Sequence[str] = QUESTIONS,
        name: str | None = None,
    ) -> None:
        """Create networks of zeros, with factors of 1; `set_arrays` fills them.

        Args:
            form: `feed_forward`; `recurrent`: a network keeps a state between its decisions;
                `attentive`: the state also advances at the start of every player's turn.
            hidden: Units of each network.
            networks: The questions that have a network; the others are switched off.
            name: Its name in results and messages.

        Raises:
            ConfigurationError: An unknown form or network, or an impossible size.
        """
        self.form, self.hidden = form, hidden
        self.networks = tuple(question for question in QUESTIONS if question in networks)
        self._architectures = {
            question: architecture(question, form, hidden)
            for question in dict.fromkeys((*networks, *self.networks))
        }
        observes = observe if form == FORMS[2] else None
        super().__init__(
            name or f"{KIND}/{form}", play, zeros(self._architectures), kind=KIND, observe=observes
        )

    def _row(self) -> NDArray[np.float64]:
        return row(
            {
                question: network.pack(self._arrays, question)
                for question, network in self._architectures.items()
            }
        )

    def options(self) -> dict[str, Any]:
        """The arguments of the constructor, as JSON values."""
        return {"form": self.form, "hidden": self.hidden, "networks": list(self.networks)}

    def without(self, *networks: str) -> EspPlayer:
        """The same player with some networks switched off.

        Raises:
            ConfigurationError: It has no such network.
        """
        for name in networks:
            if name not in self.networks:
                raise ConfigurationError(
                    f"{self.name!r} has no network {name!r}. {nearest(name, self.networks)}"
                )
        kept = [name for name in self.networks if name not in networks]
        return self.copy(f"{self.name} without {', '.join(networks)}", networks=kept)
