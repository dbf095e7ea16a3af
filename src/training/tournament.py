"""Let policies play each other and print who wins how often.

The options are explained by `python -m training.tournament --help`.

python -m training.tournament --players algorithmic random --games 2000
python -m training.tournament --players algorithmic random random/no_trades --table-size 3 --json
# saved table by table
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
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from agents import arena
from agents.arena.matches import unique_names
from agents.arena.pictures import speed
from agents.arena.ratings import CrossTable, Ladder, Ratings
from agents.arena.results import Results, merge
from agents.arena.runner import Runner, reported
from monopoly_env import replays
from monopoly_env.cli import command
from monopoly_env.cli.command import Command
from monopoly_env.cli.extras import extra, install
from monopoly_env.errors import ConfigurationError, FormatError, nearest, whole_number
from monopoly_env.files import write_atomically
from monopoly_env.game import MAX_PLAYERS, MIN_PLAYERS
from monopoly_env.policy.names import LISTED, make, names, resolve_all
from monopoly_env.policy.protocol import CompiledPolicy
from monopoly_env.rules import RULES_VERSION, Rules
from training import cluster
from training.run.folder import Run, locked
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
class TournamentOptions:
    """Play every table of the given players; print win rates and strengths with 95% intervals.

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
    """How many sit at a table, 2 to 8. All tables of so many players are played. Default: 2, or
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
    """A folder: each finished table is saved there at once, then the ladder (ladder.json), the
    cross table (cross_table.png) and all games. Or a file for the results alone: .json (what --json
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

    @property
    def folder(self) -> Path | None:
        """The folder to save the tournament in, if `out` is one."""
        return self.out if self.out and self.out.suffix not in SUFFIXES else None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 only if all games were played."""
    return command.main("training.tournament", Command(TournamentOptions, execute), arguments)


def execute(options: TournamentOptions, _: Console) -> int:
    """Play, print the ladder and return the exit status.

    Raises:
        MonopolyError: Wrong options; a policy that breaks the rules; a file that can't be written.
    """
    try:
        ladder = run(options)
    except KeyboardInterrupt:
        if options.folder:
            hint = f"The finished tables are in {options.out}: go on by --resume."
            print(hint, file=sys.stderr)
        raise
    if not options.json:
        show(ladder, options.details)
        return 0
    summary, seconds = ladder.summary(), ladder.results.seconds
    print(json.dumps(summary))
    if options.progress and seconds:
        print(f"{seconds:.1f} seconds, {speed(summary, seconds)}", file=sys.stderr)
    return 0


def run(options: TournamentOptions) -> Ladder:
    """Play the tables, and write what was asked for; raises MonopolyError."""
    _check(options)
    with locked(options.folder) if options.folder else contextlib.nullcontext():
        tournament = Tournament(options)
        rated = options.ratings and options.ratings.exists()
        ratings = Ratings.load(options.ratings) if options.ratings and rated else Ratings()
        saved = TournamentFolder.open(options.folder, tournament) if options.folder else None
        with cluster.joined(options.cluster, options.threads) as place:
            ladder = Ladder(tournament.play(saved, place.runner))
        if options.ratings:
            if not ratings.update(ladder.results):
                print(f"note: {options.ratings} has these games already.", file=sys.stderr)
            ratings.save(options.ratings)
        if saved:
            saved.save_ladder(ladder)
        elif options.out and options.out.suffix == ".json":
            _write_json(options.out, ladder.summary())
        elif options.out:
            ladder.results.save(options.out)
    return ladder


def show(ladder: Ladder, details: bool = False) -> None:
    """Print the ladder, the cross table where it fits, and on request all that was counted."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=_WIDTH)
    console.print(ladder.table())
    crossed = ladder.cross_table.table()
    unbounded = console.options.update(width=1 << 16)
    if console.measure(crossed, options=unbounded).maximum <= console.width:
        console.print(crossed)
    if details:
        console.print(ladder.results.table(details=True))


def _check(options: TournamentOptions) -> None:
    """Raise on wrong options before anything is written."""
    for name, low in (("games", 1), ("turn_limit", 1), ("record", 0), ("seed", 0), ("threads", 1)):
        value = getattr(options, name)
        if value is not None:
            whole_number(name, value, low)
    suffix = options.out.suffix if options.out and not options.out.is_dir() else ""
    if suffix and suffix not in SUFFIXES:
        raise ConfigurationError(
            f"--out writes {', '.join(SUFFIXES)} or a folder, not {str(options.out)!r}."
        )
    for name in ("resume", "overwrite", "record"):
        if getattr(options, name) and not options.folder:
            raise ConfigurationError(f"--{name} needs a folder: --out FOLDER.")
    with extra("results", "choose a .json file"):  # before anything is played
        if options.folder or (options.out and options.out.suffix == GAMES):
            import pyarrow  # noqa: F401 - only whether it is there
        elif options.out and options.out.suffix == ".csv":
            import pandas  # noqa: F401
    if options.ratings:
        with extra("results"):
            import openskill  # noqa: F401
    Rules.coerce(options.rules)


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
    """The names of compiled policies; one of the others takes as long as a thousand of them."""
    return [name for name in known if isinstance(make(name), CompiledPolicy)]


class Tournament:
    """All tables of the players that were given."""

    def __init__(self, options: TournamentOptions) -> None:
        """Find the policies.

        Raises:
            MonopolyError: An unknown policy; too few of them for a table.
        """
        self.options = options
        self.given = expand(options.players)
        twice = len(set(self.given)) < len(self.given)
        self.size = options.table_size
        if self.size is None:
            self.size = len(self.given) if twice else MIN_PLAYERS
        whole_number("table_size", self.size, MIN_PLAYERS, MAX_PLAYERS)
        players = resolve_all(self.given)
        if len(players) < self.size:
            raise ConfigurationError(
                f"A table of {self.size} needs as many policies; {len(players)} were given."
            )
        self.tables = list(itertools.combinations(players, self.size))
        distinct = list(dict.fromkeys(players))
        self._names = dict(zip(distinct, unique_names(distinct), strict=True))

    @property
    def settings(self) -> dict[str, Any]:
        """JSON values that must be the same in a resumed tournament."""
        decisive = ("rules", "games", "seed", "turn_limit", "record")
        return {
            "tournament": [_fingerprint(name) for name in self.given],
            **{name: getattr(self.options, name) for name in decisive},
            "table_size": self.size,
            "rules_version": RULES_VERSION,
        }

    def play(
        self, saved: TournamentFolder | None = None, runner_type: type[Runner] = Runner
    ) -> Results:
        """Play the tables that are not `saved` yet, save them, and put all together."""
        options = self.options
        parts = [saved.load(number, self) if saved else None for number in range(len(self.tables))]
        finished = sum(part.games for part in parts if part)
        with reported(options.progress, options.games * len(parts), finished) as done:
            for number, part in enumerate(parts):
                if part is None:
                    parts[number] = played = self._play_table(number, done, runner_type)
                    if saved:
                        saved.save(number, played)
        return merge([part for part in parts if part], list(self._names.values()))

    def names_of(self, table: int) -> tuple[str, ...]:
        """The policies of a table by the names they have in the tournament, each once."""
        return tuple(self._names[policy] for policy in dict.fromkeys(self.tables[table]))

    def _play_table(
        self, number: int, done: Callable[[int], None], runner_type: type[Runner]
    ) -> Results:
        options = self.options
        part = arena.play(
            self.tables[number], options.games, options.rules, options.seed, options.threads,
            options.turn_limit, done,
            record=min(options.record, options.games), runner_type=runner_type,
        )  # fmt: skip
        return replace(part, names=self.names_of(number))


def _fingerprint(name: str) -> str:
    """A name, and a hash of the file that it stands for, which may change between two runs."""
    return " ".join((name, *(digest[:16] for digest in digests_of([name]).values())))


@dataclass(frozen=True)
class TournamentFolder:
    """The folder of a tournament: finished tables, recorded games, and at the end the ladder."""

    folder: Path

    @classmethod
    def open(cls, folder: Path, tournament: Tournament) -> TournamentFolder:
        """Take the folder for this tournament.

        Raises:
            ConfigurationError: It holds another one, and what differs; or it can't be written.
        """
        options = tournament.options
        Run.open(
            folder, tournament.settings, resume=options.resume, overwrite=options.overwrite,
            files=FILES, kind="tournament",
        )  # fmt: skip
        return cls(folder)

    def load(self, number: int, tournament: Tournament) -> Results | None:
        """A table that was finished before; None if it was not, or can't be read."""
        path = self._table(number)
        if not path.exists():
            return None
        try:
            part = Results.load(path)
        except FormatError as error:
            print(f"note: table {number + 1} is played again: {error}", file=sys.stderr)
            return None
        options = tournament.options
        right = tournament.names_of(number), options.games, options.seed
        return part if (part.names, part.games, part.seed) == right else None

    def save(self, number: int, part: Results) -> None:
        """Save a finished table, its recorded games first: a table that is there is whole."""
        if part.replays:
            title = re.sub(r"[^\w.-]+", "-", "_".join(part.names))[:100]
            file = f"{number + 1:04d}_{title}{replays.SUFFIX}"
            replays.save(self.folder / "replays" / file, part.replays)
        part.save(self._table(number))

    def save_ladder(self, ladder: Ladder) -> None:
        """Write the ladder, the cross table as a picture, and all games."""
        _write_json(self.folder / LADDER, ladder.summary(), indent=1)
        ladder.results.save(self.folder / f"{ALL_GAMES}{GAMES}")
        if importlib.util.find_spec("matplotlib"):
            write_atomically(self.folder / PICTURE, _picture(ladder.cross_table))
        else:
            note = f"note: no picture of the cross table without matplotlib: {install('results')}"
            print(note, file=sys.stderr)

    def _table(self, number: int) -> Path:
        return self.folder / "tables" / f"{number + 1:04d}{GAMES}"


def _write_json(path: Path, value: Any, indent: int = 2) -> None:
    write_atomically(path, (json.dumps(value, indent=indent) + "\n").encode())


def _picture(crossed: CrossTable) -> bytes:
    """The cross table as PNG, drawn without a screen."""
    from matplotlib.figure import Figure

    figure, buffer = Figure(figsize=crossed.size, layout="constrained"), io.BytesIO()
    crossed.plot(figure.subplots())
    figure.savefig(buffer, format="png", dpi=150)
    return buffer.getvalue()


if __name__ == "__main__":
    sys.exit(main())
