"""The kinds of genomes: number and meaning of genes, the row of a kernel, the players."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import accumulate, pairwise
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agents.players import expert, strategic
from agents.players.expert.parameters import Expert
from agents.players.genetic import mukhar, pring
from agents.players.strategic import Strategic
from agents.players.vocabulary.parameters import Parameters
from monopoly_env.errors import ConfigurationError, nearest, whole_number
from monopoly_env.facts.board import LOT_NAME, NUM_LOTS, NUM_SQUARES, SQUARE_LOT, SQUARE_NAME
from monopoly_env.policy.protocol import CompiledPolicy, PolicyKernel, Row

Genes: TypeAlias = NDArray[Any]  # (N, G), a genome a row: float64, or uint8 zeros and ones
Rows: TypeAlias = NDArray[np.float64]  # (N, L), read by kernels

PREFIX: Final = "genetic/"
BITS: Final = 6  # of a gene of `sga`, the most significant first
LEVELS: Final = 1 << BITS
_PLACES: Final = np.arange(BITS - 1, -1, -1)


@dataclass(frozen=True, eq=False)
class GenomeKind:
    """A kind of genome; genes, as they evolve, are numbers from 0 to 1, or bits.

    A gene is the place of a number in its range; a number without a gene keeps its default. Bits,
    `BITS` of them a number, are chances k / 64: the share of draws from 0 to 63 that are below k.

    Attributes:
        name: Its players are `genetic/` and this name.
        kernel: Plays by a row of L numbers: D decoded genes, then those of `scripted`.
        names: (G,) meanings of the genes as they evolve.
        number_names: (D,) meanings of the decoded genes.
        defaults: (D,) float64.
        least: (D,) float64, the lowest value of each decoded gene, in its own unit.
        most: (D,) float64, the highest.
        evolved: The numbers that have a gene.
        bits: Whether genes are zeros and ones.
        parts: Strings of genes that a crossover treats separately; together they are all genes.
        scripted: The parameters of what is not in the genes, if the kernel reads any.
        given: Those of them that differ from their defaults, by name.
        shown: How many of the last numbers the others at a table of one population know.
    """

    name: str
    kernel: PolicyKernel
    names: tuple[str, ...]
    number_names: tuple[str, ...]
    defaults: Row
    least: Row
    most: Row
    evolved: Any
    bits: bool
    parts: tuple[slice, ...]
    scripted: type[Parameters] | None = None
    given: Mapping[str, Any] = field(default_factory=dict)
    shown: int = 0

    def playing(self, **given: float) -> GenomeKind:
        """The same kind with other scripted numbers; 0 and 1 turn a switch off and on.

        Raises:
            ConfigurationError: A number is unknown or out of range.
        """
        kind = replace(self, given=given)
        kind.rows(np.zeros((1, self.size)))
        return kind

    @property
    def size(self) -> int:
        """G, the number of genes in the form in which they evolve."""
        return len(self.names)

    def random(self, count: int, generator: np.random.Generator) -> Genes:
        """(count, G) genomes of uniform genes: float64, or uint8 bits."""
        if self.bits:
            return generator.integers(0, 2, (count, self.size), np.uint8)
        return generator.random((count, self.size))

    def decode(self, genes: NDArray[Any]) -> Rows:
        """(N, G) genes to (N, D) numbers."""
        if self.bits:
            bits = np.asarray(genes, np.float64).reshape(len(genes), -1, BITS)
            return np.asarray(bits @ (1 << _PLACES) / LEVELS)
        rows = np.tile(self.defaults, (len(genes), 1))
        low, high = self.least[self.evolved], self.most[self.evolved]
        rows[:, self.evolved] = np.clip(
            low + np.asarray(genes, np.float64) * (high - low), low, high
        )
        return rows

    def encode(self, numbers: NDArray[Any]) -> Genes:
        """The inverse of `decode`, (N, D) to (N, G); bits are rounded to k / 64."""
        if self.bits:
            whole = np.clip(np.rint(np.asarray(numbers) * LEVELS), 0, LEVELS - 1).astype(np.int64)
            return (whole[..., None] >> _PLACES & 1).reshape(len(whole), -1).astype(np.uint8)
        low, high = self.least[self.evolved], self.most[self.evolved]
        return np.asarray(np.clip((numbers[:, self.evolved] - low) / (high - low), 0.0, 1.0))

    def rows(self, population: ArrayLike, **changes: Any) -> Rows:
        """(N, L) float64, the rows that the kernel reads.

        Args:
            population: (N, G) genomes.
            **changes: Scripted numbers that differ from their defaults.

        Raises:
            ConfigurationError: The genomes do not fit, or a scripted number is unknown or out of
                range.
        """
        numbers, changes = self.decode(self.checked(population)), {**self.given, **changes}
        if self.scripted is None:
            if changes:
                raise ConfigurationError(
                    f"Genome {self.name!r} has only genes, and no parameter"
                    f" {next(iter(changes))!r}."
                )
            return numbers
        tail = self.scripted.of_numbers(**changes).row()
        return np.hstack([numbers, np.broadcast_to(tail, (len(numbers), len(tail)))])

    def at_tables(self, population: ArrayLike, players: int) -> Rows:
        """The rows of genomes (N, G), of which each `players` sit at one table, in this order.

        To each row of `rows` is added what the next seats show in turn.
        """
        rows = self.rows(population)
        if not self.shown:
            return rows
        shown = rows[:, -self.shown :].reshape(-1, players, self.shown)
        others = [
            np.roll(shown, -step, axis=1).reshape(len(rows), -1) for step in range(1, players)
        ]
        return np.hstack([rows, *others])

    def policy(self, genome: ArrayLike, name: str | None = None, **changes: Any) -> GeneticPolicy:
        """The player of a genome (G,); the other arguments are those of `GeneticPolicy`, `rows`.

        Raises:
            ConfigurationError: The genome does not fit; the message says which gene.
        """
        return GeneticPolicy(self, self.rows(np.asarray(genome)[None], **changes)[0], name)

    def genome(self, row: Row) -> NDArray[Any]:
        """(G,) the genes that a row for the kernel was decoded from."""
        return np.asarray(self.encode(row[None, : len(self.number_names)])[0])

    def fault(self, row: Row) -> str:
        """The first fault of a row for the kernel; empty: there is none."""
        numbers = row[: len(self.number_names)]
        wrong, expected = ~((numbers >= self.least) & (numbers <= self.most)), ""
        if not wrong.any() and self.bits:
            wrong = self.decode(self.encode(numbers[None]))[0] != numbers
            expected = f"a whole multiple of 1/{LEVELS}"
        if wrong.any():
            gene = int(np.flatnonzero(wrong)[0])
            expected = expected or f"a number from {self.least[gene]:g} to {self.most[gene]:g}"
            name = self.number_names[gene]
            return f"gene {gene} ({name}) is {numbers[gene]:g}, expected {expected}"
        return self.scripted.fault_of(row[len(numbers) :]) if self.scripted else ""

    def checked(self, population: ArrayLike) -> Genes:
        """Genomes that come from outside as an array (N, G).

        Raises:
            ConfigurationError: They are not such an array, or a gene is out of its range.
        """
        genes = np.asarray(population)
        if genes.ndim != 2 or genes.dtype.kind not in "fiub":
            raise ConfigurationError(
                f"Genomes are an array of numbers, one genome per row; not {genes.dtype} of shape"
                f" {genes.shape}."
            )
        if genes.shape[1] != self.size:
            alike = [kind.name for kind in KINDS.values() if kind.size == genes.shape[1]]
            sizes = ", ".join(f"{kind.name} {kind.size:,}" for kind in KINDS.values())
            raise ConfigurationError(
                f"A genome {self.name!r} has {self.size:,} genes, not {genes.shape[1]:,}. "
                + (
                    f"That is the size of {' and '.join(map(repr, alike))}."
                    if alike
                    else f"Genes by kind: {sizes}."
                )
            )
        wrong = ~((genes == 0) | (genes == 1)) if self.bits else ~((genes >= 0) & (genes <= 1))
        if wrong.any():
            number, gene = np.argwhere(wrong)[0]
            expected = "0 or 1" if self.bits else "a number from 0 to 1"
            raise ConfigurationError(
                f"Genome {number} of {len(genes)}: gene {gene} ({self.names[gene]}) is"
                f" {genes[number, gene]:g}, expected {expected}."
            )
        return genes


class GeneticPolicy(CompiledPolicy):
    """A player that plays by a genome: a kernel, and a row that begins with the decoded genes.

    Attributes:
        genome_kind: The kind of its genome.
    """

    def __init__(self, kind: GenomeKind, row: Row, name: str | None = None) -> None:
        """Make a player from a row that fits its kind.

        Args:
            kind: The kind of its genome.
            row: (L,) float64, one of `kind.rows`.
            name: Shown in tables; by default `genetic/` and the name of its kind.
        """
        of_kind = PREFIX + kind.name
        super().__init__(name or of_kind, kind.kernel, row, kind=of_kind, reads_mask=False)
        self.genome_kind = kind

    @property
    def genome(self) -> NDArray[Any]:
        """(G,) its genes, in the form in which they evolve."""
        return self.genome_kind.genome(self.params)

    def fault_of(self, row: NDArray[np.float64]) -> str:
        """The first gene of a row from a file that is out of its range."""
        return self.genome_kind.fault(row)


# --- the table ------------------------------------------------------------------------------------


def _of_shares(
    name: str,
    kernel: PolicyKernel,
    names: Sequence[str],
    lengths: Sequence[int],
    bits: int = 1,
    scripted: type[Parameters] | None = None,
    shown: int = 0,
) -> GenomeKind:
    """A kind with a gene for each number, which is a share from 0 to 1; `lengths` of its parts."""
    genes = [f"{n}, bit {1 << bit}" for n in names for bit in _PLACES] if bits > 1 else names
    ends = accumulate((bits * length for length in lengths), initial=0)
    none, most = np.zeros(len(names)), 1.0 if bits == 1 else (LEVELS - 1) / LEVELS
    return GenomeKind(
        name, kernel, tuple(genes), tuple(names), none, none, np.full(len(names), most),
        slice(None), bits > 1, tuple(slice(*pair) for pair in pairwise(ends)), scripted,
        shown=shown,
    )  # fmt: skip


def _mukhar(name: str, states: int, bits: int = 1) -> GenomeKind:
    """A kind of Mukhar and Kalita, with `states` squared genes for leaving jail."""
    pair, digits = "streets" if states == mukhar.WIDE else "groups", states.bit_length() - 1
    squares = [
        f"buy square {square}, {SQUARE_NAME[0][square]}"
        + ("" if SQUARE_LOT[0, square] >= 0 else " (unused)")
        for square in range(NUM_SQUARES)
    ]
    buy = [f"{square}: {situation}" for situation in mukhar.SITUATIONS for square in squares]
    jail = [
        f"leave jail: opponents' {pair} west {west:0{digits}b}, north {north:0{digits}b}"
        for west in range(states)
        for north in range(states)
    ]
    lengths = [*[NUM_SQUARES] * len(mukhar.SITUATIONS), len(jail)]
    return _of_shares(name, mukhar.play, buy + jail, lengths, bits, mukhar.Scripted)


def _family(name: str, kernel: PolicyKernel, family: type[Parameters]) -> GenomeKind:
    """A scripted family as a genome; its switches and modes keep their defaults."""
    options, genes = fields(family), family.quantities()
    ends = np.array([option.metadata.get("range", (0, 1)) for option in options], np.float64)
    return GenomeKind(
        name, kernel, tuple(genes), tuple(option.name for option in options), family().row(),
        ends[:, 0], ends[:, 1], np.array(list(genes.values())), False, (slice(0, len(genes)),),
    )  # fmt: skip


_PREFERENCES: Final = [f"preference of {lot}" for lot in LOT_NAME[0]]
_BY_USE: Final = [f"{use}: {preference}" for use in pring.USES for preference in _PREFERENCES]
_ALL: Final = (
    _mukhar("rga", mukhar.WIDE),
    _mukhar("tga", mukhar.NARROW),
    _mukhar("sga", mukhar.NARROW, BITS),
    _of_shares("pring", pring.play, _PREFERENCES, [NUM_LOTS], shown=NUM_LOTS),
    _of_shares("pring_by_use", pring.play_by_use, _BY_USE, [len(_BY_USE)], shown=NUM_LOTS),
    _family("strategic", strategic.POLICIES["strategic"]().kernel, Strategic),
    _family("expert", expert.POLICIES["expert"]().kernel, Expert),
)

KINDS: Final[Mapping[str, GenomeKind]] = {kind.name: kind for kind in _ALL}


def kind_of(name: str) -> GenomeKind:
    """A kind by name, with or without `genetic/`.

    Raises:
        ConfigurationError: There is no such kind; the message gives the nearest name.
    """
    plain = name.removeprefix(PREFIX) if isinstance(name, str) else name
    if plain not in KINDS:
        raise ConfigurationError(f"Unknown genome {name!r}. {nearest(plain, KINDS)}")
    return KINDS[plain]


def _factory(kind: GenomeKind) -> Callable[..., GeneticPolicy]:
    def make(seed: int = 0, genes: ArrayLike | None = None, **scripted: Any) -> GeneticPolicy:
        """Make the player of genes (G,), or of random ones by seed, with other parameters."""
        if genes is None:
            genes = kind.random(1, np.random.default_rng(whole_number("seed", seed, 0)))[0]
        return kind.policy(genes, **scripted)

    return make


POLICIES: Final[dict[str, Callable[..., GeneticPolicy]]] = {
    PREFIX + kind.name: _factory(kind) for kind in KINDS.values()
}
