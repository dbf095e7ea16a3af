"""Write games of experts to disk, for offline reinforcement learning: `python -m training.experts --help`.

python -m training.experts --games 100000                                       # the thesis's experts, two players
python -m training.experts --encoding ocnaru100 --heads buy --out runs/buy      # only decisions in which there is a lot for sale
python -m training.experts --rules official --policies fp/a fp/b fp/c landlord/balanced --num-players 4 --out runs/four
python -m training.experts --games 100000 --resume                              # go on with a run that was stopped

Training of this library takes the same games without the disk, from `training.experience.streams`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import tyro
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from monopoly_env import encoding as encodings
from monopoly_env.actions import HEADS
from monopoly_env.errors import ConfigurationError, MonopolyError
from monopoly_env.policy.protocol import CompiledPolicy
from monopoly_env.policy.resolve import resolve_all
from monopoly_env.rules import RULES_VERSION, Rules
from training.experience import datasets
from training.experience.recording import Experiences
from training.experience.streams import MAX_GAMES, MAX_SEED, seatings, stream
from training.run.folder import CONFIG, Run, exclusive
from training.run.options import check_ranges, shaping

_BLOCK: Final = 32  # games that a shard grows by
_MEGABYTE: Final = 1_000_000
_FREE: Final = ("out", "threads", "resume", "overwrite", "json")  # options that do not shape the data
# What numbers may be: from, to; both are allowed.
_RANGES: Final = {"games": (1, MAX_GAMES), "seed": (0, MAX_SEED), "shard_size": (1, 2000), "threads": (1, 1024)}


@dataclass(frozen=True)
class Options:
    """Write decisions of experts, with what came of them, as a data set of parquet or npz shards.

    The folder holds the shards, dataset.json (schema, versions, seats, command), README.md (a card for its readers) and config.json.
    The same options write the same bytes, whatever the threads and however often the run was stopped.
    """

    policies: tuple[str, ...] = ("strategic", "strategic/late_game", "strategic/cautious")
    """Who plays: scripted policies by name. All tables that they make are used in turn, those of one policy alone included."""
    games: int = 10_000
    """Games to play."""
    rules: str = "ocnaru"
    """A preset of rules: official, any_time, modern, short, classic, uk, ocnaru, mukhar, pring, frayn, mukhar_trading,
    mukhar_thesis."""
    encoding: str = "standard"
    """What is observed: standard, ocnaru100, ocnaru100+ (docs/observation.md)."""
    num_players: int = 2
    """Seats at a table, 2 to 8."""
    heads: tuple[str, ...] = ()
    """Only decisions in which an action of one of these heads is legal (docs/actions.md). Default: all decisions."""
    format: Literal["parquet", "npz"] = "parquet"
    """parquet is smaller and for pandas, npz is faster and needs NumPy only."""
    out: Path = Path("runs/experts")
    """Folder of the data set."""
    seed: int = 0
    """Decides all dice, cards and draws of policies."""
    shard_size: int = 100
    """Megabytes of a shard in memory; on the disk it is 6 to 30 times smaller. A shard has 32 games at least."""
    threads: int | None = None
    """Threads to play on; default: all cores. The data are the same."""
    resume: bool = False
    """Go on with the data set that was begun in --out. All options that shape it must be the same."""
    overwrite: bool = False
    """Remove the data set that is in --out and begin anew."""
    json: bool = False
    """Print one JSON object at the end instead of a line."""


def check(options: Options) -> None:
    """Check all that can be checked without compiling anything.

    Raises:
        MonopolyError: A number out of range, an unknown name, a policy that is not compiled, or a library that is missing.
    """
    check_ranges(options, _RANGES)
    if not options.policies:
        raise ConfigurationError("--policies must name somebody to play.")
    for head in options.heads:
        HEADS[head]  # an unknown one is an error
    datasets.check_format(options.format)
    Rules.preset(options.rules)
    encodings.make(options.encoding, options.num_players)
    seatings(tables(options))


def tables(options: Options) -> list[tuple[str, ...]]:
    """All tables of the policies, those at which one sits several times included."""
    return list(itertools.combinations_with_replacement(options.policies, options.num_players))


def settings(options: Options) -> dict[str, Any]:
    """What shapes the data, as JSON has it: a run that goes on must have the same."""
    return shaping(options, _FREE, dataset=_described(options))


def _described(options: Options) -> list[dict[str, Any]]:
    """The policies with their numbers."""
    field = resolve_all(options.policies)
    return [{"name": policy.name, "params": policy.params.tolist()} for policy in field if isinstance(policy, CompiledPolicy)]


def command(options: Options) -> str:
    """The command that writes this data set."""
    words = ["python", "-m", "training.experts"]
    for name, value in dataclasses.asdict(options).items():
        if name not in _FREE and value != ():
            words += [f"--{name.replace('_', '-')}", *(map(str, value) if isinstance(value, tuple) else [str(value)])]
    return shlex.join(words)


@exclusive
def execute(options: Options, console: Console) -> dict[str, Any]:
    """Write the data set, or the rest of it.

    Raises:
        MonopolyError: Wrong options, a folder in the way, a full disk, a policy that breaks the rules.
    """
    check(options)
    if options.overwrite and not options.resume:
        _clear(options.out)
    Run.open(options.out, settings(options), resume=options.resume, overwrite=options.overwrite)
    writer = datasets.Writer(options.out, _about(options), encodings.make(options.encoding, options.num_players), options.format)
    began, before = time.perf_counter(), writer.total("experiences")
    with _bar(options.games, writer.total("games"), console) as done:
        parts = datasets.gather(_blocks(options, writer.total("games"), done), options.shard_size * _MEGABYTE)
        for shard in datasets.encode(parts, options.format, options.threads or os.cpu_count() or 1):
            writer.add(shard)
    writer.finish(card(options, writer))
    totals = {what: writer.total(what) for what in ("games", "experiences", "bytes")}
    seconds = time.perf_counter() - began
    speed = (totals["experiences"] - before) / seconds
    return {"folder": str(options.out), "shards": len(writer.shards), **totals, "seconds": seconds, "experiences_per_second": speed}


def _clear(folder: Path) -> None:
    """Remove a data set before another one takes its place.

    Raises:
        ConfigurationError: What is there is no data set.
    """
    path = folder / CONFIG
    if not path.exists():
        return  # empty, or nothing of ours: `Run.open` says so
    try:
        begun = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        begun = None
    if not isinstance(begun, dict) or "dataset" not in begun:
        raise ConfigurationError(f"{str(folder)!r} holds another kind of run: choose another --out.")
    datasets.clear(folder)


def _blocks(options: Options, first: int, done: Callable[[int, int], None]) -> Iterator[tuple[Experiences, int]]:
    """The experiences of block after block, and of how many games they are."""
    played = first
    blocks = stream(
        tables(options), options.games, rules=options.rules, encoding=options.encoding, heads=options.heads or None,
        seed=options.seed, threads=options.threads, block=_BLOCK, first=first,
    )  # fmt: skip
    for experiences in blocks:
        games = min(_BLOCK, options.games - played)
        played += games
        yield experiences, games
        done(games, experiences.size)


def _about(options: Options) -> dict[str, Any]:
    """What dataset.json says of how the data are made."""
    names, seats = seatings(tables(options))
    return {
        "command": command(options),
        "encoding": options.encoding,
        "num_players": options.num_players,
        "games": options.games,
        "seed": options.seed,
        "rules": options.rules,
        "rules_differ_from_official": Rules.preset(options.rules).changed(),
        "heads_wanted": list(options.heads),
        "policies": list(names),
        "seats": seats.tolist(),
        "seats_meaning": "the policy in each seat, a number of policies: game g is seated as row g mod len(seats) says",
    }


def card(options: Options, writer: datasets.Writer) -> str:
    """README.md of the folder."""
    players = ", ".join(f"`{name}`" for name in options.policies)
    asked = f"in which an action of {', '.join(options.heads)} is legal" if options.heads else "with two legal actions or more"
    reading = _READING[options.format]
    return _CARD.format(
        players=players, asked=asked, reading=reading, columns="\n".join(datasets.schema_rows()), command=command(options),
        games=writer.total("games"), experiences=writer.total("experiences"), shards=len(writer.shards),
        megabytes=writer.total("bytes") / _MEGABYTE,
        seats=options.num_players, rules=options.rules, rules_version=RULES_VERSION, encoding=options.encoding,
    )  # fmt: skip


_READING: Final = {
    "parquet": """\
import json, pathlib, numpy as np, pandas as pd
about = json.loads(pathlib.Path("dataset.json").read_text())
frame = pd.concat(pd.read_parquet(shard["file"]) for shard in about["shards"])
observation, mask = np.stack(frame.observation), np.unpackbits(np.stack(frame.choices), axis=1, count=205)
policy = np.array(about["seats"])[frame.game % len(about["seats"]), frame.player]  # numbers of about["policies"]""",
    "npz": """\
import json, pathlib, numpy as np
about = json.loads(pathlib.Path("dataset.json").read_text())
shard = np.load(about["shards"][0]["file"])
observation, mask = shard["observation"], np.unpackbits(shard["choices"], axis=1, count=205)
policy = np.array(about["seats"])[shard["game"] % len(about["seats"]), shard["player"]]  # numbers of about["policies"]""",
}

_CARD: Final = """\
---
license: mit
tags: [offline-rl, monopoly]
---

# Experts' games of Monopoly

{experiences:,} decisions out of {games:,} whole games of {seats} players, rules `{rules}`, in {shards:,} shards ({megabytes:,.1f} MB).
The players are scripted: {players}.
All tables that they make are played in turn, each in all orders of seats; every game has dice of its own.
Kept are all decisions {asked}.

Made by monopoly-env (rules version {rules_version}, encoding `{encoding}`):

    {command}

## Columns

A row is a decision. Rows are in the order of games and then of time; a game is never cut by the end of a shard.

{columns}

`dataset.json` names every feature of `observation` (`feature_names`), every `decision` (`decisions`), the slice of actions of each head
(`heads`), who sat where (`policies`, `seats`), and of each shard its games, rows and SHA-256.

## How to read it

In Python, in this folder:

```python
{reading}
```

With monopoly-env: `for experiences in training.experience.datasets.load(folder)`, which checks versions and shards.

## Caveats

- The players are good, not optimal, and most of them do the same in the same position: what they never do is not in the data.
- Rows of a game are no independent samples. Split training and test data by `game`.
- The reward is at the end: `outcome`. A game that reaches the limit of 1,000 turns a player, or that of its rules, is decided by worth.
- Observations are rounded to float16: flags are exact, amounts to a part in 2,000. `worth` and `final_worth` are exact.
- Rules and features are those of one version; `training.experience.datasets.load` refuses data of another one.

## Licence

MIT, as the project.
"""


@contextlib.contextmanager
def _bar(games: int, finished: int, console: Console) -> Iterator[Callable[[int, int], None]]:
    """A bar with experiences a second and the time left.

    Yields:
        What is to be called with the games and the experiences that were written or are about to be.
    """
    columns = (TextColumn("games"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[speed]}"), TimeRemainingColumn())
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("games", total=games, completed=finished, speed="")
        began, experiences = time.perf_counter(), 0

        def done(count: int, size: int) -> None:
            nonlocal experiences
            experiences += size
            speed = experiences / max(time.perf_counter() - began, 1e-9)
            bar.update(task, advance=count, speed=f"{speed:,.0f} experiences/s")

        yield done


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 only if the data set is finished."""
    try:
        options = tyro.cli(Options, args=arguments, prog="python -m training.experts")
        written = execute(options, Console(stderr=True))
    except MonopolyError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Stopped. Go on with the same command and --resume: the finished shards are kept.", file=sys.stderr)
        return 130
    if options.json:
        print(json.dumps(written))
    else:
        print(
            f"{written['experiences']:,} experiences of {written['games']:,} games in {written['folder']}: {written['shards']} shards, "
            f"{written['bytes'] / _MEGABYTE:,.1f} MB, {written['experiences_per_second']:,.0f} experiences/s"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
