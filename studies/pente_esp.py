"""Networks for Pente, evolved by ESP: `python -m studies.pente_esp --help`.

    # Schrum's experiment 5.3
    python -m studies.pente_esp --experiment better --network recurrent --out runs/better
    # 5.2, by the ESP program of 2000
    python -m studies.pente_esp --preset esp/2.9 --experiment pairs --out runs/pairs

The experiments are those of Schrum's 'Neuro-Evolution in Multi-Player Pente'.

The fitness of a network is the number and speed of its wins against scripted players
(`pente_env.fitness`): against each of the five in games of two (5.1), against each pair of
different ones in games of three (5.2), or against two Better (5.3). The text leaves much open;
points known to matter are options, cited as `E` and `P` with a number.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal

import numpy as np
import tyro
from numpy.typing import NDArray
from rich.console import Console

from agents.networks import pente
from agents.networks.layout import Architecture
from monopoly_env.cli import command
from monopoly_env.cli.command import Command, Preset
from monopoly_env.errors import ConfigurationError, nearest
from monopoly_env.files.arrays import write_arrays
from monopoly_env.intervals import clustered
from pente_env.fitness import EXPERIMENTS, Experiment, Fitness, Scores, evaluate, opponents_of
from pente_env.player import Player
from pente_env.rules import MAX_SIZE, MIN_SIZE, Rules
from studies.searches import ComparedOptions, ComparedSearch
from training.cluster import HERE, Place, parts_of
from training.evolution import esp
from training.evolution.esp import ESP, Neurons
from training.evolution.run import execute, result_table
from training.run.folder import Run
from training.run.options import check_ranges, result_settings

# Lengths of the runs by experiment: the paper's, then ours.
GENERATIONS: Final = {"two": 2000, "pairs": 900, "better": 2000} | {
    "colluders": 300,
    "lot": 300,
    "hall": 2000,
    "gomoku": 2000,
}
_LONGEST_PIECE: Final = 16_384  # games on one core of a cluster at a time
NETWORKS: Final = ("feed_forward", "recurrent", "attentive")
NETWORK: Final = "network.npz"
BY_CHANCE: Final[dict[str, Any]] = {"ends": "random", "opening_stone": "random"}  # of builders
FINAL: Final = 1 << 20  # in the seed of the games at the end: no run has so many generations


# --- settings


@dataclass(frozen=True)
class Schrum(ComparedOptions):
    """Evolve a network for Pente by ESP, as Schrum did: docs/esp.md.

    The folder of a run holds config.json, curves (TensorBoard, and curves.csv), checkpoints,
    network.npz (the best network, for `agents.networks.pente.load`) and evaluation.json. A stopped
    run continues with --resume and the same settings.
    """

    out: Path = Path("runs/esp")
    """Folder of the run."""
    experiment: Literal["two", "pairs", "better", "colluders", "lot", "hall", "gomoku"] = "two"
    """two: each of the five scripted players; pairs: each pair of different ones; better: two
    Better. Ours: colluders: two Better that block the network and spare each other; lot: two
    Better, in all four ways to block one other seat each; hall: games of two against networks that
    were the best once, and the five scripted players only at the end; gomoku: two Better, and
    nothing is captured."""
    network: Literal["feed_forward", "recurrent", "attentive"] = "feed_forward"
    """attentive: recurrent, with an observation before every stone, not only before its own."""
    hidden: int = 10
    """Hidden units, each with a sub-population (E1)."""
    bias: bool = False
    """Whether a hidden unit has a bias (E7)."""
    generations: int = 0
    """Length of the run; may be raised on --resume. 0: 900 (pairs), 300 (colluders and lot) or
    2,000."""
    size: int = 7
    """Points along a side of the board."""
    window: int | None = None
    """Side of a window that is moved over the board, odd, 3 to 11: the network rates its middle.
    Only feed_forward. Default: the network sees the whole board, with an output for each point."""
    captures: Annotated[bool, tyro.conf.arg(name="sees-captures")] = False
    """Whether the network sees the captured pairs of each player."""
    inputs: Literal[2, 3] = 3
    """Inputs of a point. 3: in a game of two, an enemy stone is seen twice. 2: once."""
    seat: int | None = None
    """The only seat that the network plays from, 1 for the first: a specialist. Default: every
    seat."""
    matches: int = 10
    """Matches of each player in a test, a game from every seat each."""
    paired: bool = True
    """Whether all networks of a generation play the same seeds (E12), as in challenges."""
    moves_max: Literal["moves", "points"] = "moves"
    """A won game pays this minus its moves (P28). moves: the maximum of a game; points: the number
    of points of the board."""
    factor: float = 0.5
    """The reward of a move in a game that is not won."""
    wins_alone: bool = False
    """A won game pays 1, any other 0, regardless of moves."""
    ties: Literal["first", "random"] = "first"
    """Which of several good points Blocker and Capturer play (P14)."""
    ends: Literal["random", "forward"] = "random"
    """Which free end of their row Simple and Better play (P20)."""
    opening_stone: Literal["random", "nearest", "first"] = "random"
    """Where Simple and Better put their first stone (P21)."""
    final_matches: int = 100
    """Matches of each test at the end, with fresh seeds."""

    @property
    def length(self) -> int:
        """Generations of the run."""
        return self.generations or GENERATIONS[self.experiment]

    @cached_property
    def neurons_of(self) -> Neurons:
        """The genes of a network."""
        return Neurons(self.architecture, bias=self.bias)

    @property
    def architecture(self) -> Architecture:
        """The network."""
        return pente.architecture(
            self.hidden,
            self.rules,
            recurrent=self.network != "feed_forward",
            captures=self.captures,
            window=self.window or 0,
        )

    @property
    def rules(self) -> Rules:
        """Of all games."""
        captures = "none" if self.experiment == "gomoku" else "pairs"
        return Rules(size=self.size, captures=captures)

    @property
    def measured_by(self) -> str:
        """The experiment whose scripted players measure the best network; unseen ones for hall."""
        return {"hall": "two", "gomoku": "better"}.get(self.experiment, self.experiment)

    def games_of(self, matches: int) -> Experiment:
        """The tests, with a number of matches each."""
        builds: dict[str, str] = {"ends": self.ends, "opening_stone": self.opening_stone}
        ties: dict[str, str] = {"ties": self.ties}
        options = {"blocker": ties, "capturer": ties, "simple": builds, "better": builds}
        tests = opponents_of(self.measured_by, options)
        fitness = Fitness(self.moves_max, factor=self.factor, wins_alone=self.wins_alone)
        return Experiment(
            tests,
            matches,
            rules=self.rules,
            fitness=fitness,
            seats=() if self.seat is None else (self.seat - 1,),
        )

    def check(self) -> None:
        """Check the options."""
        for name, valid in (("experiment", GENERATIONS), ("network", NETWORKS)):
            if getattr(self, name) not in valid:
                raise ConfigurationError(
                    f"Unknown --{name} {getattr(self, name)!r}."
                    f" {nearest(getattr(self, name), valid)}"
                )
        check_ranges(
            self,
            {"hidden": (1, pente.MOST_UNITS), "matches": (1, 1000), "final_matches": (1, 10_000)},
        )
        check_ranges(
            self, {"generations": (0, np.inf), "threads": (1, np.inf), "seed": (0, 1 << 31)}
        )
        self.check_recipe()
        if self.experiment == "hall" and (self.ablation or not self.challenge):
            raise ConfigurationError(
                "--experiment hall needs networks of one size, so no --ablation, and --challenge 1"
                " or more, since the opponents change."
            )
        if self.window is not None and (self.network != "feed_forward" or self.captures):
            raise ConfigurationError(
                "--window is of a network that has no memory and sees no captures: --network"
                " feed_forward, no --sees-captures."
            )
        if self.inputs == 2 and (
            len(EXPERIMENTS[self.measured_by][0]) > 1 or self.window is not None
        ):
            raise ConfigurationError(
                "--inputs 2 is of games of two, --experiment two or hall, without a --window."
            )
        check_ranges(self, {"size": (MIN_SIZE, MAX_SIZE)})
        check_ranges(self, {"seat": (1, len(EXPERIMENTS[self.measured_by][0]) + 1)})
        self.games_of(self.matches)
        _ = self.architecture

    def search(self, place: Place = HERE) -> PenteSearch:
        """The first neurons."""
        return PenteSearch(self, place)


SCHRUM: Final = Schrum(**asdict(ESP["schrum"]))
# Differences of the published programs; their networks play games with different seeds.
PROGRAMS: Final[dict[str, dict[str, Any]]] = {
    name: asdict(ESP[name]) | {"paired": False} for name in ("esp/2.9", "esp/3.0")
}
ESP29: Final = Schrum(**PROGRAMS["esp/2.9"])
ESP30: Final = Schrum(**PROGRAMS["esp/3.0"])


# --- a hall of fame

INITIAL_MEMBERS: Final = 10


@dataclass(frozen=True)
class HallOfFame:
    """Former champions as opponents (Rosin and Belew 1997).

    Co-evolution against the last generation only forgets earlier skills: so opponents are drawn
    from all members, with as many games as the fixed tests. Networks are deterministic, so a match
    has one game from each seat, a member drawn twice counts twice, and fresh games are games
    against newly drawn members. The first members have random weights.

    Attributes:
        members: (N, S * G) their genes, the oldest first.
        like: A player with their kernel.
        pack: Makes rows of the kernel from genes.
    """

    members: NDArray[np.float64]
    like: Player
    pack: Callable[[NDArray[np.float64]], NDArray[np.float64]]

    def joined(self, network: NDArray[np.float64]) -> HallOfFame:
        """A hall with one more member, unless it equals the last one."""
        return (
            self
            if np.array_equal(self.members[-1], network)
            else self.of(np.concatenate([self.members, network[None]]))
        )

    def of(self, members: NDArray[np.float64]) -> HallOfFame:
        """A hall of other members.

        Raises:
            ValueError: The genes have another shape.
        """
        if (
            members.ndim != 2
            or members.shape[1] != self.members.shape[1]
            or len(members) < INITIAL_MEMBERS
        ):
            raise ValueError(
                f"members of the hall of the shape {members.shape}, not of ({INITIAL_MEMBERS} or"
                f" more, {self.members.shape[1]})"
            )
        return replace(self, members=members)

    def tests(self, experiment: Experiment, seed: int) -> Experiment:
        """As many games as an experiment, one match against each of some randomly drawn members."""
        generator = np.random.Generator(np.random.PCG64(seed))
        drawn = generator.integers(
            0,
            len(self.members),
            (len(experiment.tests) * experiment.matches, experiment.players - 1),
        )
        numbers = np.unique(drawn)
        players = {
            number: self.like.with_params(row, f"member {number}")
            for number, row in zip(numbers.tolist(), self.pack(self.members[numbers]), strict=True)
        }
        tests = tuple(tuple(players[number] for number in test) for test in drawn.tolist())
        return replace(experiment, tests=tests, matches=1)


# --- a run


def scores_of_piece(
    shared: tuple[Player, Experiment, int, bool], rows: NDArray[np.float64], first: int
) -> Scores:
    """The scores of some rows, on one core of a cluster's node."""
    like, experiment, seed, paired = shared
    return evaluate(rows, like, experiment, seed, paired=paired, first=first, threads=1)


class PenteSearch(ComparedSearch):
    """Networks under way."""

    files: ClassVar[dict[str, str]] = ComparedSearch.files | {NETWORK: "the best network"}
    options: Schrum

    def __init__(self, options: Schrum, place: Place = HERE) -> None:
        """Create the search before its first generation."""
        self.neurons, self.experiment = options.neurons_of, options.games_of(options.matches)
        self.like = pente.like(self.neurons.architecture, observes=options.network == "attentive")
        shape = self.neurons.sub_populations, self.neurons.genes
        super().__init__(options, shape, place=place)
        self.hall: HallOfFame | None = None
        if options.experiment == "hall":
            members = esp.generator_of(options.seed, FINAL).uniform(
                -options.weights, options.weights, (INITIAL_MEMBERS, shape[0] * shape[1])
            )
            self.hall = HallOfFame(members, self.like, self.packed)

    def packed(self, networks: NDArray[np.float64]) -> NDArray[np.float64]:
        """The rows of the kernel, from (N, S * G) genes."""
        neurons = self.neurons.of_length(networks.shape[1])
        return pente.rows(neurons.pack(self.seen(networks, neurons.genes)))

    def seen(self, networks: NDArray[np.float64], genes: int) -> NDArray[np.float64]:
        """Networks (N, S * G) with weights of zero for inputs that they do not have."""
        if self.options.inputs == 3:
            return networks
        neurons = networks.reshape(len(networks), -1, genes).copy()
        neurons[:, :, 2 : 3 * self.options.size**2 : 3] = 0
        return neurons.reshape(networks.shape)

    def evaluate(
        self,
        networks: NDArray[np.float64],
        experiment: Experiment,
        seed: int,
        *,
        paired: bool = True,
    ) -> Scores:
        """Evaluate (N, S * G) networks by the tests."""
        rows, spread = self.packed(networks), self.place.spread
        if not spread:
            threads = self.options.threads
            return evaluate(rows, self.like, experiment, seed, paired=paired, threads=threads)
        parts = parts_of(len(rows), max(1, _LONGEST_PIECE // experiment.games))
        pieces = [(rows[part], part.start) for part in parts]
        played = dict(spread(scores_of_piece, (self.like, experiment, seed, paired), pieces))
        scores = [played[number] for number in range(len(parts))]
        return Scores(
            *(
                np.concatenate([getattr(part, field.name) for part in scores])
                for field in fields(Scores)
            )
        )

    def settings(self) -> dict[str, Any]:
        """The settings that determine the result, as JSON values."""
        settings = result_settings(self.options, self.options.free, game="pente")
        del settings["rules_version"]  # Monopoly's
        return settings

    def about(self, length: int) -> str:
        """A short description of a run of a given length."""
        return (
            f"{length:,} generations of {self.options.neurons * self.options.trials:,} networks or"
            " more"
        )

    def games(self, generations: int) -> int:
        """The maximum of games in a number of generations."""
        return generations * self.experiment.games * esp.most_evaluations(self.options)

    def final_games(self, length: int) -> int:
        """Games at the end."""
        del length
        return self.options.games_of(self.options.final_matches).games

    def advance(self) -> None:
        """Play a generation; the curves show its champion in its own evaluation, too."""
        played: list[Scores] = []

        def fitness(networks: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
            experiment = self.hall.tests(self.experiment, seed) if self.hall else self.experiment
            paired = self.options.paired or bool(played)  # rivals of a challenge always
            played.append(self.evaluate(networks, experiment, seed, paired=paired))
            return played[-1].fitness

        found = self.breed(fitness, states=self.neurons.states, most_units=pente.MOST_UNITS)
        wins = played[0].wins[found.champion].sum(axis=1)
        if self.hall:
            champion = {"champion/hall": float(wins.sum() / self.experiment.games)}
            self.hall = self.hall.joined(self.stage.best.ravel())
        else:
            rates = wins / (self.experiment.games / len(self.experiment.tests))
            champion = {
                f"champion/{name}": float(rate)
                for name, rate in zip(self.names, rates, strict=True)
            }
        changes = {"bursts": float(self.stage.bursts), "units": float(len(self.stage.best))}
        self.add_row(found.fitness, {}, {"best": self.stage.best_fitness, **changes, **champion})
        self.played(self.games(self.step) - self.games_played)

    @property
    def names(self) -> list[str]:
        """Of the tests."""
        return ["-".join(test) for test in EXPERIMENTS[self.options.measured_by]]

    def finish(self, run: Run) -> dict[str, Any]:
        """Save the best network and measure it in fresh games; returns evaluation.json."""
        options, best = self.options, self.stage.best.reshape(1, -1)
        neurons = self.neurons.of_length(best.shape[1])
        form = {
            "hidden": neurons.sub_populations,
            "size": options.size,
            "window": options.window or 0,
        }
        described = form | {
            "captures": options.captures,
            "recurrent": options.network != "feed_forward",
            "observes": self.like.observes,
        }
        saved = {"weights": neurons.pack(self.seen(best, neurons.genes))[0]} | {
            name: np.array(value) for name, value in described.items()
        }
        write_arrays(run.folder / NETWORK, saved)
        experiment = options.games_of(options.final_matches)
        scores = self.evaluate(best, experiment, self.game_seed(FINAL))
        by_chance = replace(options, **BY_CHANCE)
        others = by_chance.games_of(options.final_matches)
        return {
            "agent": str(run.folder / NETWORK), "experiment": options.experiment,
            "network": options.network, "generations": self.step,
            "evaluations": self.stage.evaluations, "bursts": self.stage.bursts,
            "fitness": float(scores.fitness[0]) / options.final_matches,
            "quickest_wins": experiment.best / options.final_matches,
            "tests": self._rates(scores),
            "by_chance": []
            if by_chance == options
            else self._rates(self.evaluate(best, others, self.game_seed(FINAL))),
        }  # fmt: skip

    def _rates(self, scores: Scores) -> list[dict[str, Any]]:
        """Win rates of one network by test, with 95% intervals, and its wins by seat."""
        tests = []
        for name, won in zip(self.names, scores.won[0], strict=True):
            # a deterministic opponent plays one match
            low, high = clustered(won.ravel(), np.repeat(np.arange(len(won)), won.shape[1]))
            rate = {"win_rate": float(won.mean()), "low": low, "high": high}
            seats = {"wins_by_seat": won.sum(axis=0).tolist()}
            tests.append({"opponents": name, "games": won.size} | rate | seats)
        return tests

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays of a checkpoint."""
        return super().arrays() | ({"hall": self.hall.members} if self.hall else {})

    def restore(self, arrays: Mapping[str, NDArray[Any]], values: Mapping[str, Any]) -> None:
        """Continue from a checkpoint."""
        super().restore(arrays, values)
        if self.hall:
            self.hall = self.hall.of(arrays["hall"])


def show(results: Mapping[str, Any]) -> None:
    """Print the wins of the best network in fresh games."""
    found = (
        f"{results['generations']:,} generations, {results['evaluations']:,} evaluations,"
        f" {results['bursts']} bursts"
    )
    title = f"{results['agent']} after {found}"
    pays = (
        f"{results['fitness']:.1f}; {results['quickest_wins']:.1f} if all are won as quickly as"
        " possible"
    )
    caption = f"Fresh games, 95% intervals. A match of all tests pays {pays}."
    rows = [
        (
            row["opponents"], f"{row['games']:,}", f"{row['win_rate']:.1%}",
            f"{100 * row['low']:.1f} to {100 * row['high']:.1f}",
            " ".join(f"{wins:,}" for wins in row["wins_by_seat"]),
        )
        for row in results["tests"]
    ]  # fmt: skip
    heads = ("against", "games", "wins", "interval", "wins by seat")
    Console().print(result_table(title, heads, rows, caption))


PRESETS: Final = {
    "schrum": Preset(
        "ESP with balanced draws, paired games and challenges",
        partial(Command, SCHRUM, execute, show),
    ),
    "esp/2.9": Preset("the ESP program of 2000", partial(Command, ESP29, execute, show)),
    "esp/3.0": Preset(
        "the ESP program of 2007: children compete", partial(Command, ESP30, execute, show)
    ),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 only if evolution and measuring went through."""
    return command.main_of_presets(
        "studies.pente_esp", PRESETS, arguments, default="schrum", resume_from="the last generation"
    )


if __name__ == "__main__":
    sys.exit(main())
