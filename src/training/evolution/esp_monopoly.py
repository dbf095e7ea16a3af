"""ESP in Monopoly: the networks of `agents.networks.esp`, evolved.

A player has several networks, one for each kind of question, and every hidden unit of each has a
sub-population of its own. A trial draws one neuron of each; all of them get what the player wins at
tables of scripted players, paired by seed with all others of its generation. At the tables
`changing` the opponents are of another family from game to game.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from agents.arena.evaluation import Wins, against
from agents.networks.esp import FORMS, QUESTIONS, EspPlayer, architecture, rows
from monopoly_env.errors import ConfigurationError, nearest
from monopoly_env.policy.protocol import CompiledPolicy
from training.cluster import HERE, Place
from training.evolution import esp
from training.evolution.esp import Neurons
from training.evolution.esp_search import EspOptions, EspSearch
from training.evolution.fitness import Matchup, play, split
from training.evolution.run import result_table
from training.run.folder import Run
from training.run.options import check_ranges, result_settings

BASE: Final = "algorithmic"
BEST: Final = "best.safetensors"
_LIMIT: Final = 120  # turns of each player: friedman and gcp hardly trade, and would drag games on
_SHARES: Final = {"algorithmic": 0.5, "gcp": 0.25, "friedman": 0.25}
# families that evolution never meets
_UNMET: Final = ("yasumura", "landlord/balanced", "fp/b/guarded")
_FINAL: Final = 1 << 20  # in the seed of the games at the end: no run has so many generations


def _alike(name: str, seats: int, weight: float = 1.0) -> Matchup:
    """A table at which all opponents are of one family."""
    return Matchup((name,) * (seats - 1), "official", _LIMIT, weight)


# What evolution plays, and what it is measured by besides.
TABLES: Final = {
    "changing": tuple(_alike(name, 4, share) for name, share in _SHARES.items()),
    "fixed": (_alike(BASE, 4),),
    "two": tuple(_alike(name, 2, share) for name, share in _SHARES.items()),
}


def unmet(tables: str) -> tuple[Matchup, ...]:
    """Tables of the same size with families that evolution never meets."""
    seats = 1 + len(TABLES[tables][0].opponents)
    return tuple(_alike(name, seats) for name in _UNMET)


# --- settings


@dataclass(frozen=True)
class EspMonopoly(EspOptions):
    """Evolve the networks of a Monopoly player by ESP: docs/esp.md.

    The folder of a run holds config.json, curves (TensorBoard, and curves.csv), checkpoints,
    best.safetensors (the best player, for `agents.load`) and evaluation.json. A run that was
    stopped goes on with --resume and the same settings.
    """

    out: Path = Path("runs/esp_monopoly")
    """Folder of the run."""
    neurons: int = 20
    trials: int = 4
    weights: float = 1.0
    challenge: int = 6
    network: Literal["feed_forward", "recurrent", "attentive"] = "feed_forward"
    """recurrent: networks see their own last state; attentive: they also look at the table at the
    start of everybody's turn."""
    networks: tuple[str, ...] = QUESTIONS
    """Questions that have a network; `algorithmic` answers the others."""
    hidden: int = 8
    """Hidden units of each network, each with a sub-population."""
    tables: Literal["changing", "fixed", "two"] = "changing"
    """changing: tables of four whose opponents are of another family from game to game; fixed:
    three `algorithmic`; two: games of two."""
    candidate_games: int = 16
    """Games of a network in a generation; the same for all of its networks."""
    worth: float = 0.1
    """Reward for the share of all worth at the end; a won game pays 1."""
    generations: int = 200
    final_games: int = 1600
    """Games against each group of families at the end, of seeds that nothing was learned from."""

    @cached_property
    def player_neurons(self) -> PlayerNeurons:
        """The genes of a player."""
        return PlayerNeurons(self.networks, self.network, self.hidden)

    def check(self) -> None:
        """Check all that can be checked without playing."""
        for name, valid in (("network", FORMS), ("tables", tuple(TABLES))):
            if getattr(self, name) not in valid:
                raise ConfigurationError(
                    f"Unknown --{name} {getattr(self, name)!r}."
                    f" {nearest(getattr(self, name), valid)}"
                )
        if not self.networks or len(set(self.networks)) < len(self.networks):
            raise ConfigurationError(
                f"--networks needs one question or more, each once, of {', '.join(QUESTIONS)}; not"
                f" {self.networks}."
            )
        check_ranges(self, _RANGES)
        self.check_recipe()
        if self.ablation:
            raise ConfigurationError(
                f"--ablation {self.ablation:g}: several networks keep their units, so it must be 0"
                " here."
            )
        _ = self.player_neurons
        split(TABLES[self.tables], self.candidate_games)
        split(TABLES[self.tables], self.final_games)

    def search(self, place: Place = HERE) -> MonopolySearch:
        """The first neurons."""
        return MonopolySearch(self, place)


_RANGES: Final = {
    "candidate_games": (1, 100_000), "final_games": (1, 1_000_000), "worth": (0, 10),
    "generations": (1, np.inf), "threads": (1, np.inf), "seed": (0, 1 << 31),
}  # fmt: skip


class PlayerNeurons:
    """Sub-populations of all networks of one player, as one array.

    Attributes:
        sizes: (S,) the genes of a neuron of each sub-population.
        genes: The most of them, G.
    """

    def __init__(self, networks: Sequence[str], form: str, hidden: int) -> None:
        """Take the questions that have a network, their form and their hidden units."""
        self.networks = tuple(question for question in QUESTIONS if question in networks)
        parts = {
            question: Neurons(architecture(question, form, hidden), bias=True)
            for question in dict.fromkeys((*networks, *self.networks))
        }
        self._parts = {question: parts[question] for question in self.networks}
        sizes = [part.genes for part in self._parts.values()]
        self.sizes = np.repeat(sizes, hidden).astype(np.int64)
        self.genes = int(self.sizes.max())
        self._like = EspPlayer(form, hidden, networks=self.networks)

    def pack(self, players: NDArray[np.float64]) -> dict[str, NDArray[np.float32]]:
        """The weights of each network of (N, S * G) players."""
        genes, packed, start = players.reshape(len(players), len(self.sizes), self.genes), {}, 0
        for question, part in self._parts.items():
            stop = start + part.sub_populations
            own = genes[:, start:stop, : part.genes]
            packed[question], start = part.pack(own.reshape(len(players), -1)), stop
        return packed

    def policies(self, players: NDArray[np.float64]) -> list[CompiledPolicy]:
        """Players that share a kernel."""
        like = self._like
        return [
            CompiledPolicy(
                f"network {number}", like.kernel, row, kind=like.kind, reads_mask=False,
                observe=like.observer,
            )
            for number, row in enumerate(rows(self.pack(players)))
        ]  # fmt: skip

    def player(self, genes: NDArray[np.float64], name: str) -> EspPlayer:
        """One player that can be saved."""
        packed, like = self.pack(genes.reshape(1, -1)), self._like
        player = EspPlayer(like.form, like.hidden, networks=self.networks, name=name)
        arrays: dict[str, NDArray[Any]] = {}
        for question, part in self._parts.items():
            arrays |= part.architecture.unpack(packed[question][0], question)
        player.set_arrays(arrays)
        return player


def paid(score: Wins, worth: float) -> float:
    """The share that a player won, and `worth` times its mean share of all worth at the end."""
    shares = []
    for results in score.results:
        held = np.clip(results.seat_counts["worth"].astype(np.float64), 0, None)
        shares.append((held / np.maximum(held.sum(axis=1, keepdims=True), 1.0))[results.seats == 0])
    return float(score.won.mean() + worth * np.concatenate(shares).mean())


# --- a run


class MonopolySearch(EspSearch):
    """Players under way."""

    files: ClassVar[dict[str, str]] = EspSearch.files | {BEST: "the best player"}
    options: EspMonopoly

    def __init__(self, options: EspMonopoly, place: Place = HERE) -> None:
        """Begin before the first generation."""
        self.player_neurons = options.player_neurons
        sizes, genes = self.player_neurons.sizes, self.player_neurons.genes
        super().__init__(options, (len(sizes), genes), sizes, place)

    def evaluate(self, players: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
        """(N,) what players are paid for the games of a seed."""
        options = self.options
        policies, tables = self.player_neurons.policies(players), TABLES[options.tables]
        games, threads, runner = options.candidate_games, options.threads, self.place.runner
        scores = play(policies, tables, games, seed, threads, runner_type=runner)
        return np.array([paid(score, options.worth) for score in scores])

    def settings(self) -> dict[str, Any]:
        """The settings that decide the result, as JSON has them."""
        return result_settings(self.options, self.options.free, game="monopoly")

    def about(self, length: int) -> str:
        """A run of so many generations, in a few words."""
        return (
            f"{length:,} generations of {self.options.neurons * self.options.trials:,} players or"
            " more"
        )

    def games(self, generations: int) -> int:
        """Games of so many generations, at most."""
        return generations * self.options.candidate_games * esp.most_evaluations(self.options)

    def final_games(self, length: int) -> int:
        """Games of the player and its base policy at the end, at known tables and others."""
        del length
        return 2 * 2 * self.options.final_games

    def advance(self) -> None:
        """Play a generation."""
        found = self.breed(self.evaluate)
        best = {"best": self.stage.best_fitness, "bursts": float(self.stage.bursts)}
        self.add_row(found.fitness, {}, best)
        self.played(self.games(self.step) - self.games_played)

    def finish(self, run: Run) -> dict[str, Any]:
        """Save the best player and let it and its base policy play fresh games: evaluation.json."""
        options, path = self.options, run.folder / BEST
        name = f"genetic/esp/{options.network}, evolved"
        player = self.player_neurons.player(self.stage.best, name)
        player.save(path)
        kinds = (("known", TABLES[options.tables]), ("unknown", unmet(options.tables)))
        seed, games = self.game_seed(_FINAL), options.final_games
        measured = [
            measure(player, tables, games, seed, options.threads) | {"families": kind}
            for kind, tables in kinds
        ]
        return {
            "agent": str(path), "network": options.network, "tables": options.tables,
            "generations": self.step,
            "evaluations": self.stage.evaluations, "bursts": self.stage.bursts, "base": BASE,
            "measured": measured,
        }  # fmt: skip


def measure(
    player: CompiledPolicy,
    settings: Sequence[Matchup],
    games: int,
    seed: int,
    threads: int | None = None,
) -> dict[str, Any]:
    """Win rates of a player and its base policy in the same games, and their difference."""
    shares = [setting.weight for setting in settings]
    counts = [
        round(games * share / sum(shares) / setting.orders) * setting.orders
        for share, setting in zip(shares, settings, strict=True)
    ]
    own, base = against([player, BASE], settings, counts, seed, threads, same_seeds=False)
    less = own.difference(base)
    return {
        "against": ", ".join(map(str, settings)), "games": sum(counts), "win_rate": own.rate,
        "base_win_rate": base.rate,
        "difference": less.difference, "low": less.low, "high": less.high,
    }  # fmt: skip


def show(results: Mapping[str, Any]) -> None:
    """Print what the best player wins in fresh games, beside its base policy."""
    found = (
        f"{results['generations']:,} generations, {results['evaluations']:,} evaluations,"
        f" {results['bursts']} bursts"
    )
    caption = (
        f"Fresh games; differences to {results['base']} are paired by seed, with 95% intervals."
    )
    rows = [
        (
            row["families"], row["against"], f"{row['games']:,}", f"{row['win_rate']:.1%}",
            f"{row['base_win_rate']:.1%}", f"{100 * row['difference']:+.1f}",
            f"{100 * row['low']:+.1f} to {100 * row['high']:+.1f}",
        )
        for row in results["measured"]
    ]  # fmt: skip
    heads = ("families", "against", "games", "wins", "base", "difference", "interval")
    title = f"{results['agent']} after {found}"
    Console().print(result_table(title, heads, rows, caption, texts=2))
