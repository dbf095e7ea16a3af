"""Genomes: what a vector of numbers means as a player."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from agents.players.expert import Bargainer
from agents.players.expert.parameters import NAMES, Expert
from agents.players.genetic.kinds import KINDS, PREFIX, GeneticPolicy, GenomeKind, kind_of
from agents.players.strategic import Strategic
from agents.players.vocabulary.parameters import Parameters
from monopoly_env.errors import ConfigurationError, nearest
from monopoly_env.policy.names import PolicyLike, make, resolve
from monopoly_env.policy.protocol import CompiledPolicy, Policy, Row

Vector = NDArray[np.float64]  # (D,), zeros: the player that evolution begins with

_LEAST: Final = 2  # numbers: there are simpler ways to search a line
_FACTOR: Final = 0.3  # 1 in the vector multiplies a parameter by exp(0.3), a third more
_SHARE: Final = 0.1  # or adds a tenth of its range
# a gene that begins nearer to 0 or 1 begins here: the logit of these ends is infinite
_EDGE: Final = 0.01


class Genome(ABC):
    """A way to make players of vectors.

    Every kind is made of a `start`, the player that evolution begins with, and of `fixed`, the
    names of numbers that stay as they are. A start of another kind, an unknown name, or fewer than
    two numbers that are left is a ConfigurationError.

    Attributes:
        names: (D,) what the numbers of a vector stand for.
        about: (D,) `unit`, `range` and `meaning` of each.
    """

    names: tuple[str, ...]
    about: list[dict[str, Any]]

    @property
    def size(self) -> int:
        """D, the length of a vector."""
        return len(self.names)

    @property
    def origin(self) -> Vector:
        """(D,) zeros, the player that evolution begins with."""
        return np.zeros(self.size)

    @abstractmethod
    def policy(self, vector: Vector, name: str) -> Policy:
        """The player of a vector; `agents.load` knows it when it was saved."""

    @abstractmethod
    def values(self, vector: Vector) -> Vector:
        """(D,) the player's numbers, in their own units."""

    def explain(self, vector: Vector) -> list[dict[str, Any]]:
        """A row a number: `name`, `before` and `after` evolution, `unit`, `range`, `meaning`."""
        before, after = (self.values(numbers).tolist() for numbers in (self.origin, vector))
        return [
            {"name": name, "before": first, "after": last} | about
            for name, first, last, about in zip(self.names, before, after, self.about, strict=True)
        ]


BARGAINING: Final = "bargaining"  # the genome of bargainers
BASE: Final = "expert"  # the family of a bargainer's numbers
FAMILIES: Final[dict[str, type[Parameters]]] = {"expert": Expert, "strategic": Strategic}


class ScriptedGenome(Genome):
    """The numbers of a scripted family; switches and modes stay as they are.

    A number whose range and start are positive is multiplied, value = start * exp(0.3 z), so that
    one of 0.05 and one of 300 are searched alike. One that may be negative, or starts at zero, is
    moved by tenths of its range. What leaves the range is clipped.

    Attributes:
        family: A key of `FAMILIES`.
        start: (N,) float64, the row that evolution begins with; that of the vector of zeros.
    """

    def __init__(
        self, family: str, start: PolicyLike | None = None, fixed: Sequence[str] = ()
    ) -> None:
        """Take a key of `FAMILIES`; the start is by default the policy of that name."""
        if family not in FAMILIES:
            raise ConfigurationError(f"Unknown genome {family!r}. {nearest(family, FAMILIES)}")
        self.family = family
        self.start = _row(family, start)
        options = fields(FAMILIES[family])
        known = [option.name for option in options]
        self._evolved = _evolving(family, "parameter", known, FAMILIES[family].quantities(), fixed)
        evolved = [options[place] for place in self._evolved]
        ranges = [option.metadata["range"] for option in evolved]
        self._low, self._high = np.array(ranges, np.float64).T
        self._multiplied = (self._low >= 0) & (self.start[self._evolved] > 0)
        self.names = tuple(option.name for option in evolved)
        units, meanings = ([o.metadata["unit"] for o in evolved]), FAMILIES[family].meanings()
        self.about = [
            {"unit": unit, "range": list(ends), "meaning": meanings[name]}
            for unit, ends, name in zip(units, ranges, self.names, strict=True)
        ]

    def values(self, vector: Vector) -> Vector:
        """(D,) the numbers of a vector, in their own units."""
        start = self.start[self._evolved]
        moved = start + _SHARE * (self._high - self._low) * vector
        values = np.where(self._multiplied, start * np.exp(_FACTOR * vector), moved)
        return np.asarray(np.clip(values, self._low, self._high))

    def row(self, vector: Vector) -> Row:
        """(N,) float64, what the kernel reads."""
        row = self.start.copy()
        row[self._evolved] = self.values(vector)
        return row

    def policy(self, vector: Vector, name: str) -> CompiledPolicy:
        """The player of a vector."""
        made, row = _made(self.family), self.row(vector)
        return CompiledPolicy(name, made.kernel, row, kind=made.kind, reads_mask=made.reads_mask)


class BargainingGenome(Genome):
    """The numbers of a bargainer at tables of one size; its other numbers stay as they are."""

    def __init__(
        self, players: int, start: PolicyLike | None = None, fixed: Sequence[str] = ()
    ) -> None:
        """The start is a bargainer, or of the family `expert`, then with a model of partners."""
        policy = resolve(BASE if start is None else start)
        if not isinstance(policy, Bargainer):
            policy = Bargainer([dict(zip(NAMES, _row(BASE, start).tolist(), strict=True))])
        self._start, self._players = policy, players
        expert = _made(BASE)
        self._own = ScriptedGenome(
            BASE, CompiledPolicy("own", expert.kernel, policy.at(players), kind=expert.kind), fixed
        )
        self.names, self.about = self._own.names, self._own.about

    def values(self, vector: Vector) -> Vector:
        """(D,) the bargainer's numbers, in their own units."""
        return self._own.values(vector)

    def policy(self, vector: Vector, name: str) -> Bargainer:
        """The player of a vector."""
        policy = self._start.copy(name)
        policy.at(self._players)[:] = self._own.row(vector)
        return policy


class GeneticGenome(Genome):
    """The genes of a kind of `agents.genetic`; 1 in the vector adds 1 to the logit of a gene."""

    def __init__(
        self, kind: GenomeKind, start: PolicyLike | None = None, fixed: Sequence[str] = ()
    ) -> None:
        """Take a kind whose genes are numbers; all genes of the default start are a half."""
        if kind.bits:
            raise ConfigurationError(
                f"The genes of {kind.name!r} are bits: evolve them by --preset mukhar2012, or the"
                " numbers of 'tga'."
            )
        policy = resolve(start_of(kind.name) if start is None else start)
        if not isinstance(policy, GeneticPolicy) or policy.genome_kind.name != kind.name:
            raise ConfigurationError(
                f"The start {str(start)!r} is a {policy.kind!r}, no player of the genome"
                f" {kind.name!r}."
            )
        self._kind, self._start, self._row = kind, policy.genome, policy.params
        places = {name: place for place, name in enumerate(kind.names)}
        self._evolved = _evolving(kind.name, "gene", kind.names, places, fixed)
        self.names = tuple(kind.names[place] for place in self._evolved)
        self.about = [{"unit": "share", "range": [0, 1], "meaning": "a gene"}] * len(self.names)

    def values(self, vector: Vector) -> Vector:
        """(D,) the genes that evolve, from 0 to 1."""
        genes = np.clip(self._start[self._evolved], _EDGE, 1 - _EDGE)
        return np.asarray(expit(logit(genes) + vector))

    def policy(self, vector: Vector, name: str) -> GeneticPolicy:
        """The player of a vector."""
        genes, row = self._start.copy(), self._row.copy()
        genes[self._evolved] = self.values(vector)
        # the rest is scripted, as in the start
        row[: len(self._kind.number_names)] = self._kind.decode(genes[None])[0]
        return GeneticPolicy(self._kind, row, name)


def start_of(name: str) -> PolicyLike:
    """The player that evolution of a genome begins with."""
    if name in FAMILIES:
        return name
    if name == BARGAINING:
        return BASE
    kind = kind_of(name)
    return kind.policy(np.full(kind.size, 0.5), f"{PREFIX}{name}, all genes a half")


def genome(name: str, players: int, start: PolicyLike | None, fixed: Sequence[str]) -> Genome:
    """The genome of a name: `BARGAINING`, a key of `FAMILIES`, or of `agents.genetic.KINDS`.

    `players` is the size of tables; `start` and `fixed` are those of `Genome`.

    Raises:
        ConfigurationError: An unknown genome, and what `Genome` names.
    """
    if name == BARGAINING:
        return BargainingGenome(players, start, fixed)
    if name in FAMILIES:  # two of them are kinds of genes, too: those are what populations evolve
        return ScriptedGenome(name, start, fixed)
    if name in KINDS:
        return GeneticGenome(KINDS[name], start, fixed)
    raise ConfigurationError(
        f"Unknown genome {name!r}. {nearest(name, dict.fromkeys((*FAMILIES, *KINDS, BARGAINING)))}"
    )


def _evolving(
    genome: str, word: str, known: Sequence[str], places: Mapping[str, int], fixed: Sequence[str]
) -> NDArray[np.int64]:
    """(D,) the `places` of numbers (genes, parameters: `word`) of a genome that are not `fixed`."""
    for name in fixed:
        if name not in known:
            raise ConfigurationError(
                f"The genome {genome!r} has no {word} {name!r}. {nearest(name, known)}"
            )
    evolved = [place for name, place in places.items() if name not in fixed]
    if len(evolved) < _LEAST:
        raise ConfigurationError(
            f"--fixed leaves {len(evolved)} {word}s of {genome!r} to evolve; it takes {_LEAST} or"
            " more."
        )
    return np.array(evolved, np.int64)


def _made(family: str) -> CompiledPolicy:
    policy = make(family)
    assert isinstance(policy, CompiledPolicy)
    return policy


def _row(family: str, start: PolicyLike | None) -> Row:
    """The row of a policy of the family."""
    policy = resolve(family if start is None else start)
    if not isinstance(policy, CompiledPolicy) or policy.kernel is not _made(family).kernel:
        raise ConfigurationError(
            f"The start {str(start)!r} is a {policy.kind!r}, no player of the genome {family!r}."
        )
    return policy.params.copy()
