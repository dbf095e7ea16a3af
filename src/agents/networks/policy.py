"""The base of batched policies whose networks choose among the actions of a repertoire.

A parent may play the rest.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.networks.layout import Architecture, zeros
from agents.networks.repertoire import Repertoire, share_out
from agents.networks.saved import check_arrays, features_digest
from monopoly_env import encoding as encodings
from monopoly_env.errors import ConfigurationError, FormatError
from monopoly_env.policy import names as catalogue
from monopoly_env.policy.protocol import BatchedPolicy, Decisions, Policy


class NetworkPolicy(BatchedPolicy):
    """Base of policies whose networks choose among the actions of a repertoire.

    A subclass says which networks there are, and what they choose.

    Attributes:
        name: What tables and messages call it.
        repertoire: What the networks choose among.
        parent: The policy that plays the rest; or None.
        rows: The row of each network (see `agents.networks.layout`), by its name.
    """

    def __init__(
        self,
        heads: Sequence[str],
        hidden: Sequence[int],
        *,
        encoding: str = "standard",
        num_players: int = 2,
        raise_freely: bool = False,
        parent: str | None = None,
        rules: Mapping[str, Any] | None = None,
        features: str | None = None,
        name: str | None = None,
    ) -> None:
        """Create networks of zeros; `set_arrays` fills them.

        Args:
            heads: The heads whose actions the networks choose among.
            hidden: Units of the hidden layers.
            encoding: What the networks see.
            num_players: The size of the tables that they play at.
            raise_freely: See `Repertoire`.
            parent: Name of the policy that plays the rest.
            rules: The options in which the rules of training differ from the official ones; kept
                for the reader.
            features: The digest of the encoding's features in a saved file; it is compared with
                this version's.
            name: What tables call it; by default its kind.

        Raises:
            ConfigurationError: An unknown head, encoding or parent; or a head that must be played
                has neither network nor parent.
            FormatError: The features are not those of this version.
        """
        self.name = name or self.kind
        self.repertoire = Repertoire(tuple(heads), raise_freely)
        missing = self.repertoire.needs_parent()
        if parent is None and missing:
            raise ConfigurationError(
                f"No network plays the heads {', '.join(missing)}: name a parent that does."
            )
        self._encoding = encodings.make(encoding, num_players)
        if features not in (None, features_digest(self._encoding)):
            raise FormatError(
                f"it was trained on other features than this version's encoding {encoding!r} for"
                f" {num_players} players"
            )
        self.num_players: int = num_players
        self._rules = dict(rules or {})
        self._hidden = tuple(hidden)
        self._parent_name = parent
        self.parent: Policy | None = None if parent is None else catalogue.make(parent)
        self._architectures = self._networks()
        self._take(zeros(self._architectures))

    def _take(self, arrays: dict[str, NDArray[Any]]) -> None:
        self._arrays = arrays
        self.rows = {
            name: network.pack(arrays, name) for name, network in self._architectures.items()
        }

    @abstractmethod
    def _networks(self) -> dict[str, Architecture]:
        """The networks by name."""

    @abstractmethod
    def choose(
        self, observation: NDArray[np.float32], choices: NDArray[np.bool_], key: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """Choose among open actions.

        Args:
            observation: (B, D) float32.
            choices: (B, 205) bool, one action or more in each row.
            key: (B,) uint64, the random number of each decision.

        Returns:
            (B,) int64.
        """

    def encoding(self) -> str:
        """The encoding of the observations that the networks see."""
        return self._encoding.name

    def options(self) -> dict[str, Any]:
        """What the networks are and what they were trained for."""
        return {
            "heads": list(self.repertoire.heads),
            "hidden": list(self._hidden),
            "encoding": self._encoding.name,
            "num_players": self.num_players,
            "raise_freely": self.repertoire.raise_freely,
            "parent": self._parent_name,
            "rules": self._rules,
            "features": features_digest(self._encoding),
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Weights (out, in) and biases (out,)."""
        return self._arrays

    def set_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over weights and biases.

        Raises:
            FormatError: Other names, shapes or types, or a number that is not finite.
        """
        check_arrays(self.name, self._arrays, arrays)
        self._take({name: np.array(arrays[name], np.float32) for name in self._arrays})

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """Answer by the networks, or by the parent.

        Raises:
            ConfigurationError: The table has another number of players.
        """
        for seated in set(decisions.games["num_players"].tolist()):
            self.check_table(seated)
        by_parent = None if self.parent is None else self.parent.act(decisions)
        choices, actions = share_out(self.repertoire, decisions.mask, decisions.decision, by_parent)
        mine = np.flatnonzero(choices.any(1))
        if len(mine):
            every = len(mine) == len(actions)
            seen = (
                decisions.observation(self.encoding())
                if every
                else encodings.observe_all(decisions.games[mine], self.encoding())
            )
            actions[mine] = self.choose(seen, choices[mine], decisions.key[mine])
        return actions
