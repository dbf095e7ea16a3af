"""The kinds of genomes: number and meaning of genes, the row of a kernel, the players."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
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
Rows: TypeAlias = NDArray[np.float64]  # (N, L), what kernels read
Coding: TypeAlias = Callable[[NDArray[Any]], NDArray[Any]]

PREFIX: Final = "genetic/"
BITS: Final = 6  # of a gene of `sga`, the most significant first
LEVELS: Final = 1 << BITS


@dataclass(frozen=True, eq=False)
class GenomeKind:
    """A kind of genome; genes, as they evolve, are numbers from 0 to 1, or bits.

    Attributes:
        name: Its players are `genetic/` and this name.
        kernel: Plays by a row of L numbers: D decoded genes, then those of `scripted`.
        names: (G,) what each gene means, in the form in which it evolves.
        number_names: (D,) what each decoded gene means.
        least: (D,) float64, the lowest value of each decoded gene, in its own unit.
        most: (D,) float64, the highest.
        decode: (N, G) genes to (N, D) float64 numbers.
        encode: The inverse, (N, D) to (N, G).
        bits: Whether genes are zeros and ones.
        parts: Strings of genes that a crossover treats separately; together they are all genes.
        scripted: The parameters of what is not in the genes, if the kernel reads any.
        given: Those of them that differ from their defaults, by name.
    """

    name: str
    kernel: PolicyKernel
    names: tuple[str, ...]
    number_names: tuple[str, ...]
    least: Row
    most: Row
    decode: Coding
    encode: Coding
    bits: bool
    parts: tuple[slice, ...]
    scripted: type[Parameters] | None = None
    given: Mapping[str, Any] = field(default_factory=dict)

    def playing(self, **given: float) -> GenomeKind:
        """The same kind with other scripted numbers; 0 and 1 turn a switch off and on.

        Raises:
            ConfigurationError: A number is unknown or out of range.
        """
        kind = replace(self, given=_switched(self.scripted, given) if self.scripted else given)
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

    def rows(self, population: ArrayLike, **changes: Any) -> Rows:
        """The rows of numbers that the kernel reads.

        Args:
            population: (N, G) genomes.
            **changes: Scripted numbers that differ from their defaults.

        Returns:
            (N, L) float64.

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
        tail = self.scripted.checked(**changes).row()
        return np.hstack([numbers, np.broadcast_to(tail, (len(numbers), len(tail)))])

    def policy(self, genome: ArrayLike, name: str | None = None, **changes: Any) -> GeneticPolicy:
        """The player of a genome.

        Args:
            genome: (G,) genes.
            name: What tables call it; by default the name of its kind.
            **changes: Scripted numbers that differ from their defaults.

        Raises:
            ConfigurationError: The genome does not fit; the message says which gene.
        """
        return GeneticPolicy(self, self.rows(np.asarray(genome)[None], **changes)[0], name)

    def genome(self, row: Row) -> NDArray[Any]:
        """(G,) the genes that a row for the kernel was decoded from."""
        return np.asarray(self.encode(row[None, : len(self.number_names)])[0])

    def fault(self, row: Row) -> str:
        """What is wrong with a row for the kernel; empty if nothing is."""
        numbers = row[: len(self.number_names)]
        wrong = ~((numbers >= self.least) & (numbers <= self.most))
        if wrong.any():
            gene = int(np.flatnonzero(wrong)[0])
            value, low, high = numbers[gene], self.least[gene], self.most[gene]
            return (
                f"gene {gene} ({self.number_names[gene]}) is {value:g}, expected a number from"
                f" {low:g} to {high:g}"
            )
        wrong = (
            self.decode(self.encode(numbers[None]))[0] != numbers
            if self.bits
            else np.zeros(1, np.bool_)
        )
        if wrong.any():
            gene = int(np.flatnonzero(wrong)[0])
            return (
                f"gene {gene} ({self.number_names[gene]}) is {numbers[gene]:g}, expected a whole"
                f" multiple of 1/{LEVELS}"
            )
        return self._fault_of_scripted(row[len(numbers) :])

    def _fault_of_scripted(self, tail: Row) -> str:
        if self.scripted is None:
            return ""
        names = [option.name for option in fields(self.scripted)]
        try:
            self.scripted(**_switched(self.scripted, dict(zip(names, tail.tolist(), strict=True))))
        except ConfigurationError as error:
            return str(error).rstrip(".")
        return ""

    def checked(self, population: ArrayLike) -> Genes:
        """Check genomes that come from outside.

        Returns:
            (N, G) the same genomes as an array.

        Raises:
            ConfigurationError: They are not such an array, or a gene is out of its range; the
                message says what is wrong.
        """
        genes = np.asarray(population)
        if genes.ndim != 2 or genes.dtype.kind not in "fiub":
            raise ConfigurationError(
                f"Genomes are an array of numbers, one genome per row; not {genes.dtype} of shape"
                f" {genes.shape}."
            )
        if genes.shape[1] != self.size:
            alike = [kind.name for kind in KINDS.values() if kind.size == genes.shape[1]]
            hint = f"That is the size of {' and '.join(map(repr, alike))}." if alike else _sizes()
            raise ConfigurationError(
                f"A genome {self.name!r} has {self.size:,} genes, not {genes.shape[1]:,}. {hint}"
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
            row: (L,) float64, what the kernel reads: one of `kind.rows`.
            name: What tables call it; by default `genetic/` and the name of its kind.
        """
        super().__init__(
            name or PREFIX + kind.name, kind.kernel, row, kind=PREFIX + kind.name, reads_mask=False
        )
        self.genome_kind = kind

    @property
    def genome(self) -> NDArray[Any]:
        """(G,) its genes, in the form in which they evolve."""
        return self.genome_kind.genome(self.params)

    def fault_of(self, row: NDArray[np.float64]) -> str:
        """What is wrong with a row from a file: the first gene that is out of its range."""
        return self.genome_kind.fault(row)


# --- codings --------------------------------------------------------------------------------------


def _as_they_are(genes: NDArray[Any]) -> NDArray[Any]:
    return np.array(genes, np.float64)


def _of_bits(genes: NDArray[Any]) -> NDArray[Any]:
    """Strings of bits as chances k / 64: the share of draws from 0 to 63 that are below k."""
    bits = np.asarray(genes, np.float64).reshape(len(genes), -1, BITS)
    return np.asarray(bits @ (1 << np.arange(BITS - 1, -1, -1)) / LEVELS)


def _to_bits(numbers: NDArray[Any]) -> NDArray[Any]:
    """Chances, rounded to k / 64, as strings of bits."""
    whole = np.clip(np.rint(np.asarray(numbers) * LEVELS), 0, LEVELS - 1).astype(np.int64)
    bits = whole[..., None] >> np.arange(BITS - 1, -1, -1) & 1
    return bits.reshape(len(whole), -1).astype(np.uint8)


class _Parameters:
    """A scripted family as a genome: genes are places in ranges; switches keep their defaults."""

    def __init__(self, kind: type[Parameters]) -> None:
        options = fields(kind)
        self.names = tuple(option.name for option in options)
        self.defaults = kind().row()
        ranges = np.array([option.metadata.get("range", (0, 1)) for option in options], np.float64)
        self.least, self.most = ranges[:, 0].copy(), ranges[:, 1].copy()
        evolved = kind.quantities()
        self.evolved = np.array(list(evolved.values()))
        self.gene_names = tuple(evolved)

    def decode(self, genes: NDArray[Any]) -> NDArray[Any]:
        rows = np.tile(self.defaults, (len(genes), 1))
        low, high = self.least[self.evolved], self.most[self.evolved]
        rows[:, self.evolved] = np.clip(
            low + np.asarray(genes, np.float64) * (high - low), low, high
        )
        return rows

    def encode(self, numbers: NDArray[Any]) -> NDArray[Any]:
        low, high = self.least[self.evolved], self.most[self.evolved]
        return np.asarray(np.clip((numbers[:, self.evolved] - low) / (high - low), 0.0, 1.0))


# --- the table ------------------------------------------------------------------------------------


def _buy_names() -> list[str]:
    names = []
    for situation in mukhar.SITUATIONS:
        for square in range(NUM_SQUARES):
            unused = "" if SQUARE_LOT[0, square] >= 0 else " (unused)"
            names.append(f"buy square {square}, {SQUARE_NAME[0][square]}{unused}: {situation}")
    return names


def _jail_names(states: int) -> list[str]:
    pair = "streets" if states == mukhar.WIDE else "groups"
    digits = states.bit_length() - 1
    return [
        f"leave jail: opponents' {pair} west {west:0{digits}b}, north {north:0{digits}b}"
        for west in range(states)
        for north in range(states)
    ]


def _of_chances(name: str, states: int) -> GenomeKind:
    names = (*_buy_names(), *_jail_names(states))
    parts = (*_strings(NUM_SQUARES), slice(mukhar.BUY_GENES, len(names)))
    ends = np.zeros(len(names)), np.ones(len(names))
    return GenomeKind(
        name,
        mukhar.play,
        names,
        names,
        *ends,
        _as_they_are,
        _as_they_are,
        bits=False,
        parts=parts,
        scripted=mukhar.Scripted,
    )


def _strings(length: int) -> list[slice]:
    return [slice(length * row, length * (row + 1)) for row in range(len(mukhar.SITUATIONS))]


def _sga() -> GenomeKind:
    numbers = (*_buy_names(), *_jail_names(mukhar.NARROW))
    names = tuple(f"{name}, bit {1 << bit}" for name in numbers for bit in range(BITS - 1, -1, -1))
    parts = (*_strings(NUM_SQUARES * BITS), slice(mukhar.BUY_GENES * BITS, len(names)))
    ends = np.zeros(len(numbers)), np.full(len(numbers), (LEVELS - 1) / LEVELS)
    return GenomeKind(
        "sga", mukhar.play, names, numbers, *ends, _of_bits, _to_bits, bits=True, parts=parts,
        scripted=mukhar.Scripted
    )  # fmt: skip


def _pring() -> GenomeKind:
    names = tuple(f"preference of {LOT_NAME[0][lot]}" for lot in range(NUM_LOTS))
    ends = np.zeros(NUM_LOTS), np.ones(NUM_LOTS)
    return GenomeKind(
        "pring", pring.play, names, names, *ends, _as_they_are, _as_they_are, bits=False,
        parts=(slice(0, NUM_LOTS),)
    )  # fmt: skip


def _family(name: str, kernel: PolicyKernel, coding: _Parameters) -> GenomeKind:
    return GenomeKind(
        name, kernel, coding.gene_names, coding.names, coding.least, coding.most, coding.decode,
        coding.encode,
        bits=False, parts=(slice(0, len(coding.gene_names)),),
    )  # fmt: skip


def _kernel_of(factory: Callable[..., CompiledPolicy]) -> PolicyKernel:
    """The kernel of a scripted family."""
    return factory().kernel


_ALL: Final = (
    _of_chances("rga", mukhar.WIDE),
    _of_chances("tga", mukhar.NARROW),
    _sga(),
    _pring(),
    _family("strategic", _kernel_of(strategic.POLICIES["strategic"]), _Parameters(Strategic)),
    _family("expert", _kernel_of(expert.POLICIES["expert"]), _Parameters(Expert)),
)

KINDS: Final[Mapping[str, GenomeKind]] = {kind.name: kind for kind in _ALL}


def _switched(kind: type[Parameters], numbers: Mapping[str, float]) -> dict[str, float]:
    """The parameters of a scripted family, with switches as False and True."""
    switches = {option.name for option in fields(kind) if option.metadata["unit"] == "switch"}
    return {name: bool(x) if name in switches and x in (0, 1) else x for name, x in numbers.items()}


def _sizes() -> str:
    return (
        "Genes by kind: " + ", ".join(f"{kind.name} {kind.size:,}" for kind in KINDS.values()) + "."
    )


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
        if genes is not None:
            return kind.policy(genes, **scripted)
        return kind.policy(
            kind.random(1, np.random.default_rng(whole_number("seed", seed, 0)))[0], **scripted
        )

    return make


POLICIES: Final[dict[str, Callable[..., GeneticPolicy]]] = {
    PREFIX + kind.name: _factory(kind) for kind in KINDS.values()
}
