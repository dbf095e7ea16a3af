"""Genomes: what a vector of numbers means as a player."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import Field, fields
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from agents.networks.learned.play import SIZES
from agents.networks.learned.policy import LearnedPolicy
from agents.players.expert.parameters import Expert
from agents.players.genetic.kinds import KINDS, PREFIX, GeneticPolicy, GenomeKind, kind_of
from agents.players.strategic import Strategic
from agents.players.vocabulary.parameters import SHARE, Parameters
from monopoly_env.errors import ConfigurationError, nearest
from monopoly_env.policy.protocol import CompiledPolicy, Policy, Row
from monopoly_env.policy.resolve import PolicyLike, make, resolve

Vector = NDArray[np.float64]  # (D,), zeros: the player that evolution begins with

_LEAST: Final = 2  # numbers: there are simpler ways to search a line
_FACTOR: Final = 0.3  # 1 in the vector multiplies a parameter by exp(0.3), a third more
_SHARE: Final = 0.1  # or adds a tenth of its range
_EDGE: Final = 0.01  # a gene that begins nearer to 0 or 1 begins here: the logit of these ends is infinite


class Genome(Protocol):
    """A way to make players of vectors.

    Attributes:
        size: D, the length of a vector.
        names: (D,) what its numbers stand for.
    """

    size: int
    names: tuple[str, ...]

    @property
    def origin(self) -> Vector:
        """(D,) zeros, the player that evolution begins with."""
        return np.zeros(self.size)

    def policy(self, vector: Vector, name: str) -> Policy:
        """The player of a vector."""

    def values(self, vector: Vector) -> Vector:
        """(D,) the player's numbers, in their own units."""

    def explain(self, vector: Vector) -> list[dict[str, Any]]:
        """A row for each number: `name`, `before` and `after` evolution, `unit`, `range`, `meaning`."""


LEARNED: Final = "learned"  # the genome of learned policies
BASE: Final = "expert"  # their parents' family
FAMILIES: Final[dict[str, type[Parameters]]] = {"expert": Expert, "strategic": Strategic}


class ScriptedGenome(Genome):
    """The numbers of a scripted family; switches and modes stay as they are.

    A number whose range and start are positive is multiplied, value = start * exp(0.3 z), so that one of 0.05 and one of 300
    are searched alike. One that may be negative, or starts at zero, is moved by tenths of its range. What leaves the range is clipped.

    Attributes:
        family: A key of `FAMILIES`.
        start: (N,) float64, the row that evolution begins with; that of the vector of zeros.
        size: D, how many of the N numbers evolve.
        names: (D,) their names.
    """

    def __init__(self, family: str, start: PolicyLike | None = None, fixed: Sequence[str] = ()) -> None:
        """Make a genome.

        Args:
            family: A key of `FAMILIES`.
            start: A policy of this family that evolution begins with; by default the one that bears its name.
            fixed: Numbers that stay as they are.

        Raises:
            ConfigurationError: An unknown family, a start of another one, an unknown number, or none is left.
        """
        if family not in FAMILIES:
            raise ConfigurationError(f"Unknown genome {family!r}. {nearest(family, FAMILIES)}")
        self.family = family
        self.start = _row(family, start)
        options = fields(FAMILIES[family])
        known = [option.name for option in options]
        self._evolved = _evolving(family, "parameter", known, FAMILIES[family].quantities(), fixed)
        self._options: list[Field[Any]] = [options[n] for n in self._evolved]
        self._low, self._high = np.array([option.metadata["range"] for option in self._options], np.float64).T
        self._multiplied = (self._low >= 0) & (self.start[self._evolved] > 0)
        self.size = len(self._evolved)
        self.names = tuple(option.name for option in self._options)

    def values(self, vector: Vector) -> Vector:
        """(D,) the numbers of a vector, in their own units."""
        start = self.start[self._evolved]
        values = np.where(self._multiplied, start * np.exp(_FACTOR * vector), start + _SHARE * (self._high - self._low) * vector)
        return np.asarray(np.clip(values, self._low, self._high))

    def row(self, vector: Vector) -> Row:
        """(N,) float64, what the kernel reads."""
        row = self.start.copy()
        row[self._evolved] = self.values(vector)
        return row

    def policy(self, vector: Vector, name: str) -> CompiledPolicy:
        """The player of a vector; `agents.load` knows it when it was saved."""
        made = _made(self.family)
        return CompiledPolicy(name, made.kernel, self.row(vector), kind=made.kind, reads_mask=made.reads_mask)

    def explain(self, vector: Vector) -> list[dict[str, Any]]:
        """A row for each number that evolves: `name`, `before`, `after`, `unit`, `range`, `meaning`."""
        return [
            {"name": option.name, "before": float(before), "after": float(after)}
            | {"unit": option.metadata["unit"], "range": list(option.metadata["range"]), "meaning": option.metadata["doc"]}
            for option, before, after in zip(self._options, self.start[self._evolved], self.values(vector), strict=True)
        ]


class LearnedGenome(Genome):
    """The parent's numbers of a learned policy, at tables of one size; its networks and its model of partners stay as they are.

    Attributes:
        size: D, how many numbers evolve.
        names: (D,) their names.
    """

    def __init__(self, players: int, start: PolicyLike | None = None, fixed: Sequence[str] = ()) -> None:
        """Make a genome.

        Args:
            players: At the tables.
            start: The learned policy that evolution begins with, or one of the family `expert`, whose numbers a new one gets at
                tables of every size; by default `expert`.
            fixed: Numbers that stay as they are.

        Raises:
            ConfigurationError: The start is neither, an unknown number, or none is left.
        """
        learned = resolve(BASE if start is None else start)
        if not isinstance(learned, LearnedPolicy):
            learned = LearnedPolicy(()).changed(parent=np.stack([_row(BASE, start)] * len(SIZES)))
        self._learned, self._place = learned, min(players, SIZES[-1]) - SIZES[0]
        expert = _made(BASE)
        row = learned.arrays()["parent"][self._place]
        self._parent = ScriptedGenome(BASE, CompiledPolicy("parent", expert.kernel, row, kind=expert.kind), fixed)
        self.size, self.names = self._parent.size, self._parent.names

    def values(self, vector: Vector) -> Vector:
        """(D,) the parent's numbers, in their own units."""
        return self._parent.values(vector)

    def policy(self, vector: Vector, name: str) -> LearnedPolicy:
        """The player of a vector."""
        rows = self._learned.arrays()["parent"].copy()
        rows[self._place] = self._parent.row(vector)
        policy = self._learned.changed(parent=rows)
        policy.name = name
        return policy

    def explain(self, vector: Vector) -> list[dict[str, Any]]:
        """A row for each number that evolves: `name`, `before`, `after`, `unit`, `range`, `meaning`."""
        return self._parent.explain(vector)


class GeneticGenome(Genome):
    """The genes of a kind of `agents.genetic`: 1 in the vector adds 1 to the logit of a gene, a half becomes .73, and that .88.

    Attributes:
        size: D, the genes that evolve.
        names: (D,) their names.
    """

    def __init__(self, kind: GenomeKind, start: PolicyLike | None = None, fixed: Sequence[str] = ()) -> None:
        """Make a genome.

        Args:
            kind: Of genes that are numbers.
            start: A player of this kind that evolution begins with; by default all genes are a half.
            fixed: Genes that stay as they are.

        Raises:
            ConfigurationError: Genes that are bits, a start of another kind, an unknown gene, or too few are left.
        """
        if kind.bits:
            raise ConfigurationError(f"The genes of {kind.name!r} are bits: evolve them by --preset mukhar2012, or the numbers of 'tga'.")
        policy = resolve(start_of(kind.name) if start is None else start)
        if not isinstance(policy, GeneticPolicy) or policy.genome_kind.name != kind.name:
            raise ConfigurationError(f"The start {str(start)!r} is a {policy.kind!r}, no player of the genome {kind.name!r}.")
        self._kind, self._start, self._row = kind, policy.genome, policy.params
        places = {name: place for place, name in enumerate(kind.names)}
        self._evolved = _evolving(kind.name, "gene", kind.names, places, fixed)
        self.size, self.names = len(self._evolved), tuple(kind.names[place] for place in self._evolved)

    def values(self, vector: Vector) -> Vector:
        """(D,) the genes that evolve, from 0 to 1."""
        return np.asarray(expit(logit(np.clip(self._start[self._evolved], _EDGE, 1 - _EDGE)) + vector))

    def policy(self, vector: Vector, name: str) -> GeneticPolicy:
        """The player of a vector."""
        genes, row = self._start.copy(), self._row.copy()
        genes[self._evolved] = self.values(vector)
        row[: len(self._kind.number_names)] = self._kind.decode(genes[None])[0]  # the rest is scripted, as in the start
        return GeneticPolicy(self._kind, row, name)

    def explain(self, vector: Vector) -> list[dict[str, Any]]:
        """A row for each gene that evolves: `name`, `before`, `after`, `unit`, `range`, `meaning`."""
        pairs = zip(self.names, self.values(self.origin).tolist(), self.values(vector).tolist(), strict=True)
        return [{"name": n, "before": b, "after": a, "unit": SHARE, "range": [0, 1], "meaning": "a gene"} for n, b, a in pairs]


def start_of(name: str) -> PolicyLike:
    """The player that evolution of a genome begins with."""
    if name in FAMILIES:
        return name
    if name == LEARNED:
        return BASE
    kind = kind_of(name)
    return kind.policy(np.full(kind.size, 0.5), f"{PREFIX}{name}, all genes a half")


def genome(name: str, players: int, start: PolicyLike | None, fixed: Sequence[str]) -> Genome:
    """The genome of a name.

    Args:
        name: `LEARNED`, a key of `FAMILIES`, or of `agents.genetic.KINDS`.
        players: At the tables that evolution plays at.
        start: The player that it begins with; by default one of that genome's name.
        fixed: Numbers that stay as they are.

    Raises:
        ConfigurationError: An unknown genome, a start of another one, an unknown number, or none is left.
    """
    if name == LEARNED:
        return LearnedGenome(players, start, fixed)
    if name in FAMILIES:  # two of them are kinds of genes, too: those are what populations evolve
        return ScriptedGenome(name, start, fixed)
    if name in KINDS:
        return GeneticGenome(KINDS[name], start, fixed)
    raise ConfigurationError(f"Unknown genome {name!r}. {nearest(name, dict.fromkeys((*FAMILIES, *KINDS, LEARNED)))}")


def _evolving(genome: str, word: str, known: Sequence[str], places: Mapping[str, int], fixed: Sequence[str]) -> NDArray[np.int64]:
    """(D,) the places of the numbers that evolve.

    Args:
        genome: Its name.
        word: What it calls a number.
        known: Names that may be fixed.
        places: Of those that evolve unless they are fixed.
        fixed: Names of those that stay as they are.

    Raises:
        ConfigurationError: An unknown one is fixed, or too few are left.
    """
    for name in fixed:
        if name not in known:
            raise ConfigurationError(f"The genome {genome!r} has no {word} {name!r}. {nearest(name, known)}")
    evolved = [place for name, place in places.items() if name not in fixed]
    if len(evolved) < _LEAST:
        raise ConfigurationError(f"--fixed leaves {len(evolved)} {word}s of {genome!r} to evolve; it takes {_LEAST} or more.")
    return np.array(evolved, np.int64)


def _made(family: str) -> CompiledPolicy:
    policy = make(family)
    assert isinstance(policy, CompiledPolicy)
    return policy


def _row(family: str, start: PolicyLike | None) -> Row:
    """The row of a policy of the family."""
    policy = resolve(family if start is None else start)
    if not isinstance(policy, CompiledPolicy) or policy.kernel is not _made(family).kernel:
        raise ConfigurationError(f"The start {str(start)!r} is a {policy.kind!r}, no player of the genome {family!r}.")
    return policy.params.copy()
