"""Measure the speed: `make bench`, or `python benchmarks/run.py --help`.

python benchmarks/run.py                          # everything, with a report in benchmarks/results
python benchmarks/run.py --only random vector     # some parts; nothing is written

CPU time is measured on one thread, wall time on all cores. Every figure is the median of several
repetitions. Choosing actions is never timed: where Python chooses them, a game is played once, and
then its recorded actions are repeated and timed.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table

import agents
import monopoly_env as me
from agents.networks.forward import evaluate as evaluate_network
from agents.networks.layout import Architecture
from agents.players.genetic import GenomeKind, kind_of
from monopoly_env import encoding, monopoly_v0
from monopoly_env.actions import NUM_ACTIONS
from monopoly_env.cli import command
from monopoly_env.cli.command import Command
from monopoly_env.engine.legal import count_legal, nth_legal
from monopoly_env.engine.randomness import policy_draw
from monopoly_env.envs.gym import DEFAULT_OPPONENTS, MonopolyEnv
from monopoly_env.errors import ConfigurationError, nearest
from monopoly_env.files import write_atomically
from monopoly_env.game import Games
from monopoly_env.kernels import entry, library
from training.evolution.generations import Play, Reproduction, breed, evaluate

RESULTS: Final = Path(__file__).parent / "results"
SPEED_PAGE: Final = Path(__file__).parents[1] / "docs" / "speed.md"
MARKS: Final = ("<!-- speed -->\n", "<!-- /speed -->")  # around the report in SPEED_PAGE
SMALL: Final = 0.02  # share of the full size, for warming up and for --quick

Clock: TypeAlias = Literal["cpu", "wall"]


class Target(NamedTuple):
    """A target for a figure, by CPU or wall time."""

    value: float
    clock: Clock = "cpu"


@dataclass(frozen=True)
class Figure:
    """A row of the report.

    Attributes:
        what: What is measured.
        unit: The unit of the number. Higher is better for a rate, lower for everything else.
        accepted: The minimum target.
        aimed: The intended target.
    """

    what: str
    unit: str
    accepted: Target | None = None
    aimed: Target | None = None

    @property
    def is_rate(self) -> bool:
        """Whether higher is better."""
        return self.unit.endswith("/s")

    def reaches(self, target: Target, sample: Sample) -> bool:
        """Whether a measured value is as good as a target."""
        value = getattr(sample, target.clock)
        return bool(
            value is not None and (value >= target.value if self.is_rate else value <= target.value)
        )


class Sample(NamedTuple):
    """A value by CPU time on one thread and by wall time on all cores; None without meaning."""

    cpu: float | None = None
    wall: float | None = None


# who compiles what a first game needs, and the target of the time
WAYS: Final = {
    "library": ("with the compiled library", Target(1, "wall")),
    "cold": ("with Numba, which compiles", Target(60, "wall")),
    "warm": ("with Numba's code from disk", Target(3, "wall")),
}

FIGURES: Final[dict[str, Figure]] = {
    "random/decisions": Figure(
        "random legal play, 4 players", "decisions/s", Target(3e6), Target(5e6)
    ),
    "random/games": Figure("random legal play, 4 players", "games/s"),
    "scripted/algorithmic/2/games": Figure(
        "algorithmic play, 2 players", "games/s", Target(3000), Target(6000)
    ),
    "scripted/algorithmic/2/decisions": Figure("algorithmic play, 2 players", "decisions/s"),
    "scripted/algorithmic/4/games": Figure("algorithmic play, 4 players", "games/s"),
    "scripted/algorithmic/4/decisions": Figure("algorithmic play, 4 players", "decisions/s"),
    "scripted/strategic/2/games": Figure(
        "strategic play, 2 players, rules ocnaru", "games/s", Target(3000), Target(6000)
    ),
    "scripted/strategic/2/decisions": Figure(
        "strategic play, 2 players, rules ocnaru", "decisions/s"
    ),
    "scripted/expert/4/games": Figure(
        "expert play, 4 players", "games/s", Target(500), Target(1500)
    ),
    "scripted/expert/4/decisions": Figure("expert play, 4 players", "decisions/s"),
    "vector/1": Figure("vector step, 1 game", "decisions/s"),
    "vector/64": Figure("vector step, 64 games", "decisions/s"),
    "vector/4096": Figure(
        "vector step, 4,096 games", "decisions/s", Target(1e6), Target(2e6, "wall")
    ),
    "aec": Figure("AEC: last and step", "µs", Target(25), Target(15)),
    "gym": Figure("Gymnasium step against 3 algorithmic", "µs"),
    "gym/sb3": Figure("the same in MonopolyVecEnv for Stable-Baselines3, 256 games", "µs"),
    "encode/standard": Figure("one observation, standard, 4 players", "ns"),
    "encode/ocnaru100": Figure("one observation, ocnaru100, 2 players", "ns"),
    "network/1": Figure("forward pass of a network 602-256-128-205, one observation", "µs"),
    "network/64": Figure("the same for a batch of 64, each observation", "µs"),
    "evolution/generation": Figure(
        "a generation of 1,000 genomes rga: 25,000 games of 4, rules mukhar",
        "s",
        Target(10, "wall"),
        Target(5, "wall"),
    ),
    "evolution/operators": Figure(
        "the next generation of 1,000 genomes of 4,256 genes", "ms", Target(50)
    ),
    "record": Figure("a game", "bytes"),
}
for _name, _what in (
    ("python", "first finished game, from Python"),
    ("arena", "first game in the arena"),
    ("aec", "first finished AEC game"),
    ("vector", "first vector step"),
):
    for _way, (_how, _target) in WAYS.items():
        _words = f"start of the process to {_what}" if _way == "library" else "the same"
        FIGURES[f"compile/{_name}/{_way}"] = Figure(f"{_words}, {_how}", "s", _target, _target)

Samples: TypeAlias = dict[str, Sample]


# --- compiled games


def random_play(size: float) -> Samples:
    """Four random players at one table."""
    decisions, games = _arena(["random"] * 4, round(3000 * size))
    return {"random/decisions": decisions, "random/games": games}


# Policy, number of players, rules, number of games.
SCRIPTED: Final = (
    ("algorithmic", 2, "official", 12_000),
    ("algorithmic", 4, "official", 8_000),
    ("strategic", 2, "ocnaru", 8_000),
    ("expert", 4, "official", 4_000),
)


def scripted_play(size: float) -> Samples:
    """Tables of one scripted policy."""
    samples: Samples = {}
    for policy, players, rules, count in SCRIPTED:
        decisions, games = _arena([policy] * players, round(count * size), rules)
        samples |= {
            f"scripted/{policy}/{players}/decisions": decisions,
            f"scripted/{policy}/{players}/games": games,
        }
    return samples


def _arena(players: Sequence[str], games: int, rules: str = "official") -> tuple[Sample, Sample]:
    """Decisions per second and games per second."""
    cpu, results = _timed(time.process_time, agents.arena.play, players, games, rules, threads=1)
    wall, _ = _timed(time.perf_counter, agents.arena.play, players, games, rules, threads=_cores())
    return Sample(results.decisions / cpu, results.decisions / wall), Sample(
        games / cpu, games / wall
    )


# --- environments


def vector_step(size: float) -> Samples:
    """`VectorMonopoly.step` with masks and observations, in self-play of four."""
    samples: Samples = {}
    for games, steps in ((1, 100_000), (64, 10_000), (4096, 300)):
        vec = me.VectorMonopoly(games, num_players=4, threads=1)
        actions = _record_vector(vec, max(2, round(steps * size)))
        cpu, _ = _timed(time.process_time, _replay_vector, vec, actions)
        wall, _ = _timed(
            time.perf_counter, _replay_vector, me.VectorMonopoly(games, num_players=4), actions
        )
        samples[f"vector/{games}"] = Sample(actions.size / cpu, actions.size / wall)
    return samples


def _record_vector(vec: me.VectorMonopoly, steps: int) -> NDArray[np.int64]:
    actions = np.zeros((steps, vec.num_games), np.int64)
    vec.reset()
    for row in actions:
        _choose(vec.games, row)
        vec.step(row)
    return actions


def _replay_vector(vec: me.VectorMonopoly, actions: NDArray[np.int64]) -> None:
    vec.reset()
    for row in actions:
        vec.step(row)


def aec_step(size: float) -> Samples:
    """`last` and `step` of the PettingZoo environment, four random players."""
    env = monopoly_v0.env(num_players=4)
    actions: list[int | None] = []
    env.reset(seed=0)
    while env.agents and len(actions) < 100_000 * size:
        gone = env.terminations[env.agent_selection] or env.truncations[env.agent_selection]
        actions.append(None if gone else _choose_one(env._games))
        env.step(actions[-1])

    def replay() -> None:
        env.reset(seed=0)
        for action in actions:
            env.last()
            env.step(action)

    cpu, _ = _timed(time.process_time, replay)
    return {"aec": Sample(1e6 * cpu / len(actions))}


def gym_step(size: float) -> Samples:
    """`step` of the Gymnasium environment, with the opponents' moves and new games."""
    env = MonopolyEnv()
    games: list[list[int]] = []
    while sum(map(len, games)) < 20_000 * size:
        env.reset(seed=len(games))
        games.append([])
        over = False
        while not over:
            games[-1].append(_choose_one(env.table.games))
            _, _, terminated, truncated, _ = env.step(games[-1][-1])
            over = terminated or truncated

    def replay() -> None:
        for seed, actions in enumerate(games):
            env.reset(seed=seed)
            for action in actions:
                env.step(action)

    cpu, _ = _timed(time.process_time, replay)
    return {
        "gym": Sample(1e6 * cpu / sum(map(len, games))),
        "gym/sb3": _vector_of_learners(int(100 * size) + 2),
    }


def _vector_of_learners(steps: int) -> Sample:
    """A step of `MonopolyVecEnv` with 256 games."""
    from monopoly_env.adapters.sb3 import MonopolyVecEnv

    vec = me.VectorMonopoly(256, 4, opponents=DEFAULT_OPPONENTS)
    actions = _record_vector(vec, steps)
    env = MonopolyVecEnv([vec])

    def replay() -> None:
        env.reset()
        for chosen in actions:
            env.step(chosen)

    cpu, wall = _timed(time.process_time, replay), _timed(time.perf_counter, replay)
    return Sample(1e6 * cpu[0] / (256 * steps), 1e6 * wall[0] / (256 * steps))


def encode(size: float) -> Samples:
    """Observations only, of games in progress."""
    samples: Samples = {}
    for name, players in (("standard", 4), ("ocnaru100", 2)):
        vec = me.VectorMonopoly(1024, num_players=players)
        _record_vector(vec, 200)
        rounds = max(1, round(1000 * size))
        cpu, _ = _timed(time.process_time, _observe, vec.games, name, rounds)
        samples[f"encode/{name}"] = Sample(1e9 * cpu / (rounds * vec.num_games))
    return samples


def _observe(games: Games, name: str, rounds: int) -> None:
    for _ in range(rounds):
        encoding.observe_all(games, name)


def network(size: float) -> Samples:
    """The compiled forward pass on observations of games in progress, most of them zeros."""
    vec = me.VectorMonopoly(64, num_players=2)
    _record_vector(vec, 200)
    seen = encoding.observe_all(vec.games)
    architecture = Architecture(seen.shape[1], (256, 128), (("actions", NUM_ACTIONS),))
    generator = np.random.Generator(np.random.PCG64(0))
    row = architecture.pack(
        {name: generator.normal(0, 0.1, shape) for name, shape in architecture.shapes().items()}
    )
    rounds = max(1, round(300 * size))
    samples: Samples = {}
    for batch in (1, 64):
        cpu, _ = _timed(time.process_time, _evaluate, row, np.split(seen, 64 // batch), rounds)
        samples[f"network/{batch}"] = Sample(1e6 * cpu / (rounds * 64))
    return samples


def _evaluate(
    row: NDArray[np.float32], batches: Sequence[NDArray[np.float32]], rounds: int
) -> None:
    for _ in range(rounds):
        for batch in batches:
            evaluate_network(row, batch)


def evolution(size: float) -> Samples:
    """A generation of a genetic algorithm: its games, and operators on the longest genomes."""
    kind, matches = kind_of("rga"), max(1, round(100 * size))
    population = kind.random(1000, np.random.Generator(np.random.PCG64(0)))
    seconds = []
    for clock, threads in ((time.process_time, 1), (time.perf_counter, _cores())):
        play = Play(matches=matches, threads=threads)
        taken, _ = _timed(
            clock, evaluate, kind, population, play, 0, np.random.Generator(np.random.PCG64(0))
        )
        seconds.append(taken * 100 / matches)
    rounds = max(1, round(20 * size))
    cpu, _ = _timed(time.process_time, _breed, kind, population, rounds)
    return {
        "evolution/generation": Sample(*seconds),
        "evolution/operators": Sample(1e3 * cpu / rounds),
    }


def _breed(kind: GenomeKind, population: NDArray[Any], rounds: int) -> None:
    """Breed generations with random fitness, each from the one before."""
    generator = np.random.Generator(np.random.PCG64(0))
    fitness = generator.random(len(population))
    for _ in range(rounds):
        population = breed(kind, population, fitness, Reproduction(), generator)


def record(size: float) -> Samples:
    """The memory of a game."""
    del size  # not needed
    return {"record": Sample(float(me.GAME.itemsize))}


@entry
def _choose(games: Games, actions: NDArray[np.int64]) -> None:
    """A random legal action for each game."""
    for i in range(len(games)):
        game = games[i]
        actions[i] = nth_legal(game, policy_draw(game, int(game.player), count_legal(game)))


def _choose_one(games: Games) -> int:
    action = np.zeros(1, np.int64)
    _choose(games, action)
    return int(action[0])


# --- compilation

# What a new user runs first, each in a fresh process.
FIRST_GAMES: Final = {
    "python": (
        """
import numpy as np
import monopoly_env as me
game, generator = me.new_game(), np.random.default_rng(0)
while not me.is_over(game):
    me.step(game, generator.choice(me.legal_actions(game)))
"""
    ),
    "arena": (
        """
import agents
agents.arena.play(["algorithmic", "random"], games=1)
"""
    ),
    "aec": (
        """
from monopoly_env import monopoly_v0
env = monopoly_v0.env(num_players=2)
env.reset(seed=0)
for agent in env.agent_iter():
    observation, reward, terminated, truncated, info = env.last()
    over = terminated or truncated
    env.step(None if over else env.action_space(agent).sample(observation["action_mask"]))
"""
    ),
    "vector": (
        """
import monopoly_env as me
vec = me.VectorMonopoly(64)
batch = vec.reset()
vec.step(batch.action_mask.argmax(axis=1))
"""
    ),
}


def compile_times(size: float) -> Samples:
    """Whole processes: with the library if it is compiled; with Numba, first without a cache."""
    samples: Samples = {}
    compiled_ahead = library.number("monopoly_env.core._apply") is not None
    ways = [way for way in WAYS if way != "library" or compiled_ahead]
    for name, program in FIRST_GAMES.items():
        if size <= SMALL and name != "python":
            continue
        with tempfile.TemporaryDirectory() as folder:
            for way in ways:
                before, compiled = _children(), way == "library"
                wall, _ = _timed(time.perf_counter, run_program, program, folder, compiled)
                samples[f"compile/{name}/{way}"] = Sample(_children() - before, wall)
    return samples


def _children() -> float:
    """CPU seconds of all child processes so far."""
    times = os.times()
    return times.children_user + times.children_system


def run_program(program: str, cache: str, compiled: bool = True) -> None:
    """Run one of `FIRST_GAMES` in a fresh process with a cache folder of its own."""
    environment = os.environ | {
        "MONOPOLY_ENV_CACHE": cache,
        "MONOPOLY_ENV_COMPILED": str(int(compiled)),
    }
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ConfigurationError(f"A first game failed:\n{done.stderr}")


# --- the report

SUITES: Final[dict[str, Callable[[float], Samples]]] = {
    "random": random_play,
    "scripted": scripted_play,
    "vector": vector_step,
    "aec": aec_step,
    "gym": gym_step,
    "encode": encode,
    "network": network,
    "evolution": evolution,
    "record": record,
    "compile": compile_times,
}
_NO_WARM_UP: Final = ("record", "compile")
_PAGE: Final = 140  # characters per line if the output is not a terminal


@dataclass(frozen=True)
class Options:
    """Measure the speed and print it beside the targets.

    A full run takes several minutes and writes speed.json and speed.md. Do not measure on a machine
    that is doing other work.
    """

    only: tuple[str, ...] = ()
    """Parts to measure: random, scripted, vector, aec, gym, encode, network, evolution, record,
    compile. Default: all."""
    repeats: int = 3
    """Number of repetitions; the median is reported."""
    quick: bool = False
    """Do a fiftieth of the work, once, to see that everything runs. The figures mean little."""
    out: Path | None = None
    """Folder of the report. Default: benchmarks/results for a full run, none for --only and
    --quick."""
    readme: bool = False
    """Also update the table in docs/speed.md."""
    json: bool = False
    """Print the report as JSON instead of the table."""

    def __post_init__(self) -> None:
        """Check the options."""
        for name in self.only:
            if name not in SUITES:
                raise ConfigurationError(f"Unknown part {name!r}. {nearest(name, SUITES)}")
        if self.repeats < 1:
            raise ConfigurationError(f"--repeats must be 1 or more, not {self.repeats}.")


def measure(options: Options, console: Console) -> dict[str, list[Sample]]:
    """The samples of all requested figures, by name."""
    size, repeats = (SMALL, 1) if options.quick else (1.0, options.repeats)
    samples: dict[str, list[Sample]] = {}
    for name in track(options.only or tuple(SUITES), "measuring", console=console):
        if name not in _NO_WARM_UP:
            SUITES[name](SMALL)  # compiles
        for _ in range(repeats):
            for figure, sample in SUITES[name](size).items():
                samples.setdefault(figure, []).append(sample)
    return samples


def report(samples: dict[str, list[Sample]], about: dict[str, Any]) -> dict[str, Any]:
    """The report, as written to speed.json."""
    return about | {"figures": [_row(name, samples[name]) for name in FIGURES if name in samples]}


def _row(name: str, samples: list[Sample]) -> dict[str, Any]:
    figure = FIGURES[name]
    middle = Sample(
        _median(sample.cpu for sample in samples), _median(sample.wall for sample in samples)
    )
    row = {
        "name": name,
        "what": figure.what,
        "unit": figure.unit,
        "cpu_one_thread": middle.cpu,
        "wall_all_cores": middle.wall,
    }
    for word, target in (("accepted", figure.accepted), ("aimed", figure.aimed)):
        row[word] = None if target is None else target.value
        row[f"{word}_met"] = None if target is None else figure.reaches(target, middle)
    return row | {"samples": [sample._asdict() for sample in samples]}


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def machine() -> dict[str, Any]:
    """The machine, the versions, the command and the date."""
    return {
        "machine": f"{_cores()} cores of {_processor()}",
        "system": f"{platform.system()} {platform.machine()}",
        "load_before": round(os.getloadavg()[0], 2),
        "versions": (
            {"python": platform.python_version()}
            | {name: version(name) for name in ("monopoly-env", "numba", "numpy")}
        ),
        "command": " ".join(["python", *sys.argv]),
        "date": f"{datetime.now(UTC):%Y-%m-%d %H:%M}",
    }


def _processor() -> str:
    """The model of the processor (Linux)."""
    path = Path("/proc/cpuinfo")
    found = (
        dict(line.split(":", 1) for line in path.read_text().splitlines() if ":" in line)
        if path.is_file()
        else {}
    )
    cpu = {name.strip(): value.strip() for name, value in found.items()}
    if "model name" not in cpu:
        return platform.processor() or platform.machine()
    return (
        f"{cpu['model name']} at {float(cpu['cpu MHz']) / 1000:.1f} GHz"
        if "cpu MHz" in cpu
        else cpu["model name"]
    )


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


COLUMNS: Final = ("", "unit", "one thread (CPU)", "all cores (wall)", "accepted", "aimed at")


def cells(row: dict[str, Any]) -> tuple[str, ...]:
    """A row of the report as text, under `COLUMNS`."""
    targets = [_verdict(row, "accepted"), _verdict(row, "aimed")]
    return (
        row["what"],
        row["unit"],
        number(row["cpu_one_thread"]),
        number(row["wall_all_cores"]),
        *targets,
    )


def _verdict(row: dict[str, Any], word: str) -> str:
    if row[word] is None:
        return ""
    return f"{number(row[word])} {'met' if row[f'{word}_met'] else 'missed'}"


def number(value: float | None) -> str:
    """A number with three significant digits and thousands separators; empty for None."""
    if value is None:
        return ""
    if value == int(value):
        return f"{int(value):,}"
    digits = max(0, 2 - int(np.floor(np.log10(abs(value)))))
    rounded = round(value, 2 - int(np.floor(np.log10(abs(value)))))
    return f"{rounded:,.{digits}f}"


def selected(results: dict[str, Any]) -> dict[str, Any]:
    """The part of a report that docs/speed.md shows: figures with a target, and vector steps.

    How long a first start takes has a section of its own there.
    """
    rows = [
        row
        for row in results["figures"]
        if row["name"].startswith("vector/")
        or (row["accepted"] is not None and not row["name"].startswith("compile/"))
    ]
    return results | {"figures": rows}


def markdown(results: dict[str, Any]) -> str:
    """The report as Markdown."""
    versions = ", ".join(f"{name} {number}" for name, number in results["versions"].items())
    lines = [
        (
            f"`{results['command']}` on {results['machine']}, {results['system']}; {versions};"
            f" {results['date']} UTC; load before: {results['load_before']}; medians of"
            f" {results['repeats']}."
        ),
        "",
        "| " + " | ".join(COLUMNS) + " |",
        "|---|---|" + "---:|" * (len(COLUMNS) - 2),
        *("| " + " | ".join(cells(row)) + " |" for row in results["figures"]),
    ]
    return "\n".join(lines) + "\n"


def put_into(path: Path, text: str) -> None:
    """Replace the text between the marks of a page.

    Raises:
        ConfigurationError: The page has no marks.
    """
    page = path.read_text(encoding="utf-8")
    begin, end = page.find(MARKS[0]), page.find(MARKS[1])
    if not 0 <= begin < end:
        raise ConfigurationError(
            f"{path} must contain {MARKS[0].strip()} and {MARKS[1]} around the place of the report."
        )
    write_atomically(path, (page[: begin + len(MARKS[0])] + text + page[end:]).encode())


def show(results: dict[str, Any]) -> None:
    """Print the report as a table."""
    table = Table(title=f"{results['machine']}, {results['date']}")
    for position, column in enumerate(COLUMNS):
        table.add_column(column, justify="left" if position < 2 else "right")
    for row in results["figures"]:
        table.add_row(*cells(row))
    console = Console()
    Console(width=console.width if console.is_terminal else _PAGE).print(table)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    The exit status is 0 if everything was measured, whether or not targets are met.
    """
    return command.main("benchmarks/run.py", Command(Options, execute, show), arguments)


def execute(options: Options, console: Console) -> dict[str, Any]:
    """Measure, and write the requested files."""
    about = machine()
    results = report(
        measure(options, console), about | {"repeats": 1 if options.quick else options.repeats}
    )
    out = options.out or (None if options.only or options.quick else RESULTS)
    if out is not None:
        write_atomically(out / "speed.json", (json.dumps(results, indent=1) + "\n").encode())
        write_atomically(out / "speed.md", markdown(results).encode())
    if options.readme:
        put_into(SPEED_PAGE, markdown(selected(results)))
    return results


def _timed(
    clock: Callable[[], float], run: Callable[..., Any], *arguments: Any, **options: Any
) -> tuple[float, Any]:
    """The seconds that a call takes by a clock, and the result of the call."""
    began = clock()
    result = run(*arguments, **options)
    return clock() - began, result


if __name__ == "__main__":
    sys.exit(main())
