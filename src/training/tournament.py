"""Let policies play each other and print who wins how often.

The options are explained by `python -m training.tournament --help`.

python -m training.tournament --players algorithmic random --games 2000
python -m training.tournament --players algorithmic random random/no_trades --table-size 3 --json
# kept table by table
python -m training.tournament --players 'strategic/*' --games 10000 --out runs/field
# go on where it was stopped
python -m training.tournament --players 'strategic/*' --games 10000 --out runs/field --resume
# on all machines of a Ray cluster
python -m training.tournament --players all --out runs/all --cluster auto
"""

from __future__ import annotations

import contextlib
import fnmatch
import importlib.util
import io
import itertools
import json
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import tyro
from rich.console import Console

from agents import arena
from agents.arena.pictures import decided
from agents.arena.progress import games_bar
from agents.arena.ratings import CrossTable, Ratings, Strengths, cross_table, strengths
from agents.arena.results import Results, merge
from agents.arena.table import Table
from monopoly_env import replays
from monopoly_env.errors import (
    ConfigurationError,
    FormatError,
    MonopolyError,
    nearest,
    whole_number,
)
from monopoly_env.extras import extra, install
from monopoly_env.files import write_atomically
from monopoly_env.game import MAX_PLAYERS, MIN_PLAYERS
from monopoly_env.intervals import CONFIDENCE
from monopoly_env.policy.names import LISTED, make, names, resolve_all
from monopoly_env.policy.protocol import CompiledPolicy, Policy
from monopoly_env.rules import RULES_VERSION, Rules
from monopoly_env.terminal import Table as RichTable
from monopoly_env.terminal import failed
from training import cluster
from training.run.folder import Run, alone
from training.run.options import ClusterName, RulesName, digests_of

GAMES: Final = ".parquet"  # results with every game, which `Results.load` reads
SUFFIXES: Final = (".json", ".csv", GAMES)
LADDER: Final = "ladder.json"  # in the folder of a tournament, as are the next two
PICTURE: Final = "cross_table.png"
ALL_GAMES: Final = "results"
FILES: Final = {
    "tables": "the games of each finished table",
    "replays": "recorded games",
    LADDER: "the ladder",
    PICTURE: "the cross table",
    f"{ALL_GAMES}.*": "all games",
}
ALL: Final = "all"  # in place of names: every compiled policy that is registered
_WIDTH: Final = 200  # characters of a line where there is no terminal


@dataclass(frozen=True)
class Options:
    """Play every table of a field of policies and print the ladder.

    It has win rates and strengths with 95% intervals.

    Each seed is played in every order of seats, so that luck of the dice and of the seat cancels. A
    draw shares the win. Points are Plackett-Luce strengths on the scale of Elo's: 0 is the mean of
    the middle half of the field, 400 more are ten wins for each loss.
    """

    players: tuple[str, ...]
    """Two or more players: names (`agents.names()`), patterns such as 'strategic/*', `all` (all
    compiled ones), saved ones (.safetensors), or your own (my_file.py:Name)."""
    rules: RulesName = "official"
    games: int = 1000
    """Games at each table. 1,000 give a win rate to about 3 percentage points."""
    seed: int = 0
    """Decides all dice and cards, and what random policies do."""
    table_size: int | None = None
    """How many sit at a table, 2 to 8. All tables that the field allows are played. Default: 2, or
    all players if one sits twice."""
    threads: int | None = None
    """Threads that play; default: one per core. The results are the same."""
    cluster: ClusterName = None
    turn_limit: int = 1000
    """Turns of each player after which the score decides a game."""
    details: bool = False
    """Also print what else was counted, a column a policy: rents, trades, buildings, decisions and
    more."""
    json: bool = False
    """Print one JSON object instead of the tables."""
    out: Path | None = None
    """A folder: each finished table is kept in it at once, then the ladder (ladder.json), the cross
    table (cross_table.png) and all games. Or a file for the results alone: .json (what --json
    prints), .csv (a row a policy), .parquet (every game, with a .json)."""
    resume: bool = False
    """Go on with the tournament that was stopped in the folder --out."""
    overwrite: bool = False
    """Replace the tournament that is in the folder --out."""
    record: int = 0
    """Write the first so many games of each table to the folder --out, replays/; `python -m
    monopoly_env.play replay FILE` shows one."""
    ratings: Path | None = None
    """A JSON file of openskill ratings that these games move on; made if it is not there."""
    progress: bool = True
    """Show a bar with games a second and the time left, on stderr."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 only if all games were played."""
    options = tyro.cli(Options, args=arguments, prog="python -m training.tournament")
    try:
        outcome = run(options)
    except MonopolyError as error:
        return failed(error, arguments)
    except KeyboardInterrupt:
        if _folder(options):
            print(
                f"stopped; the finished tables are in {options.out}: go on by --resume.",
                file=sys.stderr,
            )
        return 130
    if options.json:
        print(json.dumps(outcome.summary()))
        if options.progress and outcome.results.speed:
            print(
                f"{outcome.results.seconds:.1f} seconds, {outcome.results.speed}", file=sys.stderr
            )
    else:
        outcome.show(options.details)
    return 0


def run(options: Options) -> Outcome:
    """Play the tables, and write what was asked for.

    Raises:
        MonopolyError: Wrong options; a policy that breaks the rules; a file that can't be written.
    """
    _check(options)
    folder = _folder(options)
    with alone(folder) if folder else contextlib.nullcontext():
        return _run(options, folder)


def _run(options: Options, folder: Path | None) -> Outcome:
    tournament = Tournament(options)
    ratings = (
        Ratings.load(options.ratings) if options.ratings and options.ratings.exists() else Ratings()
    )
    kept = _open(folder, tournament, options) if folder else None
    with cluster.joined(options.cluster, options.threads) as place:
        outcome = tournament.play(kept, place.table)
    if options.ratings:
        if not ratings.update(outcome.results):
            print(f"note: {options.ratings} has these games already.", file=sys.stderr)
        ratings.save(options.ratings)
    if kept:
        outcome.keep(kept)
    elif options.out and options.out.suffix == ".json":
        write_atomically(options.out, (json.dumps(outcome.summary(), indent=2) + "\n").encode())
    elif options.out:
        outcome.results.save(options.out)
    return outcome


def _check(options: Options) -> None:
    """Raise on wrong options before anything is written."""
    for name, low in (("games", 1), ("turn_limit", 1), ("record", 0), ("seed", 0), ("threads", 1)):
        value = getattr(options, name)
        if value is not None:
            whole_number(name, value, low)
    if (
        options.out
        and options.out.suffix
        and options.out.suffix not in SUFFIXES
        and not options.out.is_dir()
    ):
        raise ConfigurationError(
            f"--out writes {', '.join(SUFFIXES)} or a folder, not {str(options.out)!r}."
        )
    for name in ("resume", "overwrite", "record"):
        if getattr(options, name) and not _folder(options):
            raise ConfigurationError(f"--{name} needs a folder: --out FOLDER.")
    with extra("results", "choose a .json file"):  # before anything is played
        if _folder(options) or (options.out and options.out.suffix == GAMES):
            import pyarrow  # noqa: F401 - only whether it is there
        elif options.out and options.out.suffix == ".csv":
            import pandas  # noqa: F401
    if options.ratings:
        with extra("results"):
            import openskill  # noqa: F401
    Rules.coerce(options.rules)


def _folder(options: Options) -> Path | None:
    """The folder to keep the tournament in, if `--out` is one."""
    return options.out if options.out and options.out.suffix not in SUFFIXES else None


def _open(folder: Path, tournament: Tournament, options: Options) -> Kept:
    """Take the folder for this tournament.

    Raises:
        ConfigurationError: It holds another one, and what differs; or it can't be written.
    """
    Run.open(
        folder,
        tournament.settings,
        resume=options.resume,
        overwrite=options.overwrite,
        files=FILES,
        kind="tournament",
    )
    return Kept(folder)


def expand(given: Sequence[str]) -> list[str]:
    """Names and paths from what users give.

    Patterns and `all` become the names they match, each once.

    Raises:
        ConfigurationError: A pattern matches nothing.
    """
    known = names()
    found: list[str] = []
    by_pattern: set[str] = set()
    for name in given:
        if name != ALL and not re.search(r"[*?[]", name):
            if name not in by_pattern:
                found.append(name)  # one that is named twice sits twice
            continue
        matches = _compiled(known) if name == ALL else fnmatch.filter(known, name)
        if not matches:
            raise ConfigurationError(f"No policy matches {name!r}. {nearest(name, known, LISTED)}")
        found += [match for match in matches if match not in found]
        by_pattern.update(matches)
    return found


def _compiled(known: Sequence[str]) -> list[str]:
    """The names of compiled policies.

    The others, which look ahead, would take as long as a thousand of them.
    """
    return [name for name in known if isinstance(make(name), CompiledPolicy)]


class Tournament:
    """All tables of a field of policies."""

    def __init__(self, options: Options) -> None:
        """Find the policies.

        Raises:
            MonopolyError: An unknown policy; too few of them for a table.
        """
        self.options = options
        self.given = expand(options.players)
        twice = len(set(self.given)) < len(self.given)
        self.size = (
            (len(self.given) if twice else MIN_PLAYERS)
            if options.table_size is None
            else options.table_size
        )
        whole_number("table_size", self.size, MIN_PLAYERS, MAX_PLAYERS)
        players = resolve_all(self.given)
        if len(players) < self.size:
            raise ConfigurationError(
                f"A table of {self.size} needs as many policies; {len(players)} were given."
            )
        self.tables = list(itertools.combinations(players, self.size))
        self.field = list(dict.fromkeys(players))
        self.names = arena.unique_names(self.field)

    @property
    def settings(self) -> dict[str, Any]:
        """What a tournament that goes on must share with the one that was begun."""
        options = self.options
        return {
            "tournament": [_fingerprint(name) for name in self.given],
            "rules": options.rules,
            "games": options.games,
            "seed": options.seed,
            "table_size": self.size,
            "turn_limit": options.turn_limit,
            "record": options.record,
            "rules_version": RULES_VERSION,
        }

    def play(self, kept: Kept | None, table_type: type[Table] = Table) -> Outcome:
        """Play the tables that are not kept yet.

        Args:
            kept: Where finished tables are, and are put.
            table_type: Plays the games.
        """
        parts = [kept.load(number, self) if kept else None for number in range(len(self.tables))]
        finished = sum(part.games for part in parts if part)
        with self._progress(finished) as done:
            for number, part in enumerate(parts):
                if part is None:
                    parts[number] = self._play_table(number, kept, done, table_type)
        return Outcome.of([part for part in parts if part], self.names)

    def _progress(self, finished: int) -> contextlib.AbstractContextManager[Callable[[int], None]]:
        if self.options.progress:
            return games_bar(self.options.games * len(self.tables), finished)
        return contextlib.nullcontext(lambda count: None)

    def names_of(self, table: Sequence[Policy]) -> tuple[str, ...]:
        """The policies of a table by the names they have in the field, each once."""
        return tuple(self.names[self.field.index(policy)] for policy in dict.fromkeys(table))

    def _play_table(
        self, number: int, kept: Kept | None, done: Callable[[int], None], table_type: type[Table]
    ) -> Results:
        options, table = self.options, self.tables[number]
        part = arena.play(
            table, options.games, options.rules, options.seed, options.threads, options.turn_limit,
            done,
            record=min(options.record, options.games), table_type=table_type,
        )  # fmt: skip
        part.names = self.names_of(table)
        if kept:
            kept.save(number, part)
        return part


def _fingerprint(name: str) -> str:
    """A name, and a hash of the file that it stands for, which may change between two runs."""
    return " ".join((name, *(digest[:16] for digest in digests_of([name]).values())))


@dataclass(frozen=True)
class Kept:
    """The folder of a tournament: finished tables, recorded games, and at the end the ladder."""

    folder: Path

    def load(self, number: int, tournament: Tournament) -> Results | None:
        """A table that was finished before.

        It is None if it was not, or if what is there of it can't be read.
        """
        path = self._table(number)
        if not path.exists():
            return None
        try:
            part = Results.load(path)
        except FormatError as error:
            print(f"note: table {number + 1} is played again: {error}", file=sys.stderr)
            return None
        right = (
            tournament.names_of(tournament.tables[number]),
            tournament.options.games,
            tournament.options.seed,
        )
        return part if (part.names, part.games, part.seed) == right else None

    def save(self, number: int, part: Results) -> None:
        """Keep a finished table.

        The recorded games are kept first, so that a table that is there is whole.
        """
        if part.replays:
            title = re.sub(r"[^\w.-]+", "-", "_".join(part.names))[:100]
            replays.save(
                self.folder / "replays" / f"{number + 1:04d}_{title}{replays.SUFFIX}", part.replays
            )
        part.save(self._table(number))

    def _table(self, number: int) -> Path:
        return self.folder / "tables" / f"{number + 1:04d}{GAMES}"


@dataclass(frozen=True)
class Outcome:
    """What a tournament found.

    Attributes:
        results: All games together.
        strengths: Plackett-Luce strengths; None for a single policy, or without the library choix.
    """

    results: Results
    strengths: Strengths | None

    @classmethod
    def of(cls, parts: Sequence[Results], names: Sequence[str]) -> Outcome:
        """Put tables together.

        Args:
            parts: The results of each table, which all share their seeds.
            names: All policies.
        """
        results = merge(parts, names)
        if len(names) < 2 or not _installed("choix", "strengths"):
            return cls(results, None)
        # a unit is a seed, at all tables
        return cls(results, strengths(names, results.seats, results.place, results.unit))

    @cached_property
    def cross_table(self) -> CrossTable:
        """Who ends before whom, in the order of the ladder."""
        crossed = cross_table(self.results.names, self.results.seats, self.results.place)
        return crossed.sorted([row["name"] for row in self.rows])

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """The rows of the results, most wins first, with `rank` and the strengths of each."""
        known = {row["name"]: row for row in self.strengths.rows()} if self.strengths else {}
        wanted = ("points", "points_low", "points_high", "against_average")
        return [
            row | {"rank": rank} | {key: known[row["name"]][key] for key in wanted if known}
            for rank, row in enumerate(self.results.rows(), 1)
        ]

    def summary(self) -> dict[str, Any]:
        """Everything in one JSON object.

        It has the summary of the results, the ladder as `players`, and `cross_table`.
        """
        return self.results.summary() | {
            "players": self.rows,
            "cross_table": self.cross_table.to_json(),
        }

    def show(self, details: bool = False) -> None:
        """Print the ladder, the cross table where it fits, and on request all that was counted."""
        console = Console()
        if not console.is_terminal:
            console = Console(width=_WIDTH)
        console.print(self.ladder())
        crossed = self.cross_table.table()
        if (
            console.measure(crossed, options=console.options.update(width=1 << 16)).maximum
            <= console.width
        ):
            console.print(crossed)
        if details:
            console.print(self.results.table(details=True))

    def ladder(self) -> RichTable:
        """The rows as a rich table."""
        results, lengths = self.results, self.results.lengths()
        table = RichTable(
            title=f"{results.games:,} games, rules {results.rules}, seed {results.seed}",
            caption=(
                f"{lengths['mean']:.0f} turns a game, {results.capped_share:.1%} hit the limit,"
                f" first to throw wins {results.seat_effect()[0]:.1%},"
                f" {results.trades()['mean']:.1f} trades a game,"
                f" {f'{results.speed}; ' if results.speed else ''}intervals"
                f" {CONFIDENCE:.0%}{decided(results.spent)}"
            ),
        )
        table.add_column("", justify="right")
        table.add_column("policy")
        for heading in (
            "win rate",
            "interval",
            *(("points", "interval") if self.strengths else ()),
        ):
            table.add_column(heading, justify="right", no_wrap=True)
        for row in self.rows:
            rated = (f"{row['points']:+.0f}", _range(row)) if self.strengths else ()
            interval = f"{row['paired_low']:.1%} to {row['paired_high']:.1%}"
            table.add_row(str(row["rank"]), row["name"], f"{row['win_rate']:.1%}", interval, *rated)
        return table

    def keep(self, kept: Kept) -> None:
        """Write the ladder, the cross table as a picture, and all games into the folder."""
        write_atomically(
            kept.folder / LADDER, (json.dumps(self.summary(), indent=1) + "\n").encode()
        )
        self.results.save(kept.folder / f"{ALL_GAMES}{GAMES}")
        if _installed("matplotlib", "picture of the cross table"):
            write_atomically(kept.folder / PICTURE, self._picture())

    def _picture(self) -> bytes:
        """The cross table as PNG, drawn without a screen."""
        with extra("results"):
            from matplotlib.figure import Figure

        side = 2.5 + 0.55 * len(self.results.names)
        figure = Figure(figsize=(side + 1.0, side), layout="constrained")
        self.cross_table.plot(figure.subplots())
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=150)
        return buffer.getvalue()


def _range(row: dict[str, Any]) -> str:
    low, high = row["points_low"], row["points_high"]
    return "unknown" if low is None else f"{low:+.0f} to {high:+.0f}"


def _installed(library: str, what: str) -> bool:
    """Whether an optional library is there; a note if not."""
    there = importlib.util.find_spec(library) is not None
    if not there:
        print(f"note: no {what} without {library}: {install('results')}", file=sys.stderr)
    return there


if __name__ == "__main__":
    sys.exit(main())
