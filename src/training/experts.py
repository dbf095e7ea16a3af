r"""Write experts' games to disk, for offline reinforcement learning.

The options are explained by `python -m training.experts --help`.

# the thesis's experts, two players
python -m training.experts --games 100000
# only decisions with a lot for sale
python -m training.experts --encoding ocnaru100 --heads buy --out runs/buy
python -m training.experts --rules official --players fp/a fp/b fp/c landlord/balanced \
    --num-players 4 --out runs/four
# continue a run that was stopped
python -m training.experts --games 100000 --resume

The learners of this library take the same games from `training.experience.streams`, without the
disk.
"""

from __future__ import annotations

import inspect
import itertools
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from rich.console import Console

from monopoly_env import encoding as encodings
from monopoly_env.actions import HEADS, NUM_ACTIONS
from monopoly_env.cli import command
from monopoly_env.errors import ConfigurationError
from monopoly_env.kernels import clock
from monopoly_env.policy.names import resolve_all
from monopoly_env.policy.protocol import CompiledPolicy, Policy
from monopoly_env.rules import RULES_VERSION, Rules
from training.experience import datasets
from training.experience.recording import Experiences
from training.experience.streams import MAX_GAMES, MAX_SEED, seatings, stream
from training.run.options import (
    FREE,
    EncodingName,
    RulesName,
    RunOptions,
    check_ranges,
    result_settings,
)
from training.run.session import Session

_BATCH: Final = 32  # games that a shard grows by
_MEGABYTE: Final = 1_000_000
_FREE: Final = (*FREE, "threads")  # options that do not change the data
_RANGES: Final = {
    "games": (1, MAX_GAMES),
    "seed": (0, MAX_SEED),
    "shard_size": (1, 2000),
    "threads": (1, 1024),
}


@dataclass(frozen=True)
class ExpertOptions(RunOptions):
    """Write decisions of experts, and how their games ended, as a data set.

    It is one of parquet or npz shards.

    The folder holds the shards, _dataset.json (schema, versions, seats, command), _README.md (a
    card for readers) and _config.json. The same options write the same bytes, with any number of
    threads and however often the run was stopped.
    """

    players: tuple[str, ...] = ("strategic", "strategic/late_game", "strategic/cautious")
    """Players: scripted policies by name. All tables that they make are used in turn, including
    those of one policy alone."""
    games: int = 10_000
    """Games to play."""
    rules: RulesName = "ocnaru"
    encoding: EncodingName = "standard"
    num_players: int = 2
    """Seats at a table, 2 to 8."""
    heads: tuple[str, ...] = ()
    """Only decisions in which an action of one of these heads is legal (docs/actions.md). Default:
    all decisions."""
    format: Literal["parquet", "npz"] = "parquet"
    """parquet is smaller and made for pandas, npz is faster and needs NumPy only."""
    out: Path = Path("runs/experts")
    """Folder of the data set."""
    seed: int = 0
    """Seed of all dice, cards and random decisions."""
    shard_size: int = 100
    """Megabytes of a shard in memory; on disk it is 6 to 30 times smaller. A shard has at least 32
    games."""
    threads: int | None = None
    """Threads to play on; default: one per core. The data do not depend on it."""


def check(options: ExpertOptions) -> list[Policy]:
    """Check the options without compiling, and find the policies they name.

    Raises:
        MonopolyError: A number is out of range, a name is unknown, a policy is not compiled, or a
            library is missing.
    """
    check_ranges(options, _RANGES)
    if not options.players:
        raise ConfigurationError("--players must name a policy.")
    for head in options.heads:
        HEADS[head]  # an unknown one is an error
    datasets.check_format(options.format)
    Rules.preset(options.rules)
    encodings.make(options.encoding, options.num_players)
    policies = resolve_all(options.players)
    seatings(tables_of(policies, options.num_players))  # checks that they are compiled
    return policies


def tables_of(policies: Sequence[Policy], num_players: int) -> list[tuple[Policy, ...]]:
    """All tables of some policies, including those at which one sits several times."""
    return list(itertools.combinations_with_replacement(policies, num_players))


def settings(options: ExpertOptions, policies: Sequence[Policy]) -> dict[str, Any]:
    """Settings that decide the data, as JSON values: a resumed run must have the same."""
    dataset = [
        {"name": policy.name, "params": policy.params.tolist()}
        for policy in policies
        if isinstance(policy, CompiledPolicy)
    ]
    return result_settings(options, _FREE, dataset=dataset)


def command_of(options: ExpertOptions) -> str:
    """The command that writes this data set."""
    words = ["python", "-m", "training.experts"]
    for name in inspect.get_annotations(ExpertOptions):
        value = getattr(options, name)
        if name not in _FREE and value != ():
            values = map(str, value) if isinstance(value, tuple) else [str(value)]
            words += [f"--{name.replace('_', '-')}", *values]
    return shlex.join(words)


def execute(options: ExpertOptions, console: Console) -> dict[str, Any]:
    """Write the data set, or the rest of it.

    Raises:
        MonopolyError: Wrong options, a folder that can't be used, a full disk, a policy that breaks
            the rules.
    """
    policies = check(options)
    tables = tables_of(policies, options.num_players)
    with Session.open(
        options, settings(options, policies), console, f"{options.games:,} games",
        files=datasets.FILES, config=datasets.CONFIG,
    ) as session:  # fmt: skip
        encoding = encodings.make(options.encoding, options.num_players)
        writer = datasets.Writer(options.out, _about(options, tables), encoding, options.format)
        began, before = clock(), writer.total("experiences")
        session.report.begin(options.games, writer.total("games"), "games")
        batches = _batches(options, tables, writer.total("games"), session.report.advance)
        parts = datasets.gather(batches, options.shard_size * _MEGABYTE)
        threads = options.threads or os.cpu_count() or 1
        for shard in datasets.encode(parts, options.format, writer.about, threads):
            writer.add(shard)
        writer.finish(card(options, writer))
    totals = {what: writer.total(what) for what in ("games", "experiences", "bytes")}
    seconds = clock() - began
    speed = (totals["experiences"] - before) / seconds
    folder, shards = str(options.out), len(writer.shards)
    speeds = {"seconds": seconds, "experiences_per_second": speed}
    return {"folder": folder, "shards": shards, **totals, **speeds}


def _batches(
    options: ExpertOptions,
    tables: Sequence[Sequence[Policy]],
    first: int,
    advance: Callable[[int, str], None],
) -> Iterator[tuple[Experiences, int]]:
    """The experiences of one batch after another, and the number of its games."""
    played, experienced, began = first, 0, clock()
    batches = stream(
        tables, options.games, rules=options.rules, encoding=options.encoding,
        heads=options.heads or None,
        seed=options.seed, threads=options.threads, batch=_BATCH, first=first,
    )  # fmt: skip
    for experiences in batches:
        games = min(_BATCH, options.games - played)
        played += games
        yield experiences, games
        experienced += experiences.size
        advance(played, f"{experienced / (clock() - began):,.0f} experiences/s")


def _about(options: ExpertOptions, tables: Sequence[Sequence[Policy]]) -> dict[str, Any]:
    """The part of _dataset.json that says how the data are made."""
    names, seats = seatings(tables)
    same = ("encoding", "num_players", "games", "seed", "rules")
    return {
        "command": command_of(options),
        **{name: getattr(options, name) for name in same},
        "rules_differ_from_official": Rules.preset(options.rules).changed(),
        "heads_wanted": list(options.heads), "policies": list(names), "seats": seats.tolist(),
        "seats_meaning": (
            "the policy in each seat, an index into policies: row g mod len(seats) is the seating"
            " of game g"
        ),
    }  # fmt: skip


def card(options: ExpertOptions, writer: datasets.Writer) -> str:
    """_README.md of the folder."""
    players = ", ".join(f"`{name}`" for name in options.players)
    heads = f"in which an action of {', '.join(options.heads)} is legal"
    asked = heads if options.heads else "with two legal actions or more"
    reading = _READING[options.format]
    return _CARD.format(
        players=players, asked=asked, reading=reading, columns="\n".join(datasets.schema_rows()),
        command=command_of(options),
        games=writer.total("games"), experiences=writer.total("experiences"),
        shards=len(writer.shards),
        megabytes=writer.total("bytes") / _MEGABYTE,
        seats=options.num_players, rules=options.rules, rules_version=RULES_VERSION,
        encoding=options.encoding,
    )  # fmt: skip


_READING: Final = {
    "parquet": (
        f"""\
import json, pathlib, numpy as np, pandas as pd
about = json.loads(pathlib.Path("_dataset.json").read_text())
frame = pd.read_parquet(".")
observation = np.stack(frame.observation)
mask = np.unpackbits(np.stack(frame.choices), axis=1, count={NUM_ACTIONS})
seats = np.array(about["seats"])  # numbers of about["policies"]
policy = seats[frame.game % len(seats), frame.player]"""
    ),
    "npz": (
        f"""\
import json, pathlib, numpy as np
about = json.loads(pathlib.Path("_dataset.json").read_text())
shard = np.load(about["shards"][0]["file"])
observation = shard["observation"]
mask = np.unpackbits(shard["choices"], axis=1, count={NUM_ACTIONS})
seats = np.array(about["seats"])  # numbers of about["policies"]
policy = seats[shard["game"] % len(seats), shard["player"]]"""
    ),
}

_CARD: Final = """\
---
license: mit
tags: [offline-rl, monopoly]
---

# Experts' games of Monopoly

{experiences:,} decisions from {games:,} whole games of {seats} players, rules `{rules}`, in {shards:,} shards ({megabytes:,.1f} MB).
The players are scripted: {players}.
All tables that they make are played in turn, each in all orders of seats; every game has its own dice.
It holds all decisions {asked}.

Made by monopoly-env (rules version {rules_version}, encoding `{encoding}`):

    {command}

## Columns

A row is a decision. Rows are in the order of games and then of time; no game is split between two shards.

{columns}

`_dataset.json` names every feature of `observation` (`feature_names`), every `decision` (`decisions`), the slice of actions of each head
(`heads`), the policy in each seat (`policies`, `seats`), and for each shard its games, rows and SHA-256.

## How to read it

In Python, in this folder:

```python
{reading}
```

With monopoly-env: `for experiences in training.experience.datasets.load(folder)`, which checks versions and shards.

## Caveats

- The players are good, not optimal, and most are deterministic: actions that they never take are not in the data.
- Rows of the same game are not independent samples. Split training and test data by `game`.
- The reward comes at the end: `outcome`. A game that reaches 1,000 turns per player, or the limit of its rules, is decided by worth.
- Observations are rounded to float16: flags are exact, amounts to a part in 2,000. `worth` and `final_worth` are exact.
- Rules and features are those of one version; `training.experience.datasets.load` refuses data from another one.

## Licence

MIT, as the project.
"""  # noqa: E501


def show(written: dict[str, Any]) -> None:
    """Print what was written."""
    print(
        f"{written['experiences']:,} experiences of {written['games']:,} games in"
        f" {written['folder']}: {written['shards']} shards, {written['bytes'] / _MEGABYTE:,.1f} MB,"
        f" {written['experiences_per_second']:,.0f} experiences/s"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 only if the data set is finished."""
    task = command.Command(ExpertOptions(), execute, show)
    return command.main("training.experts", task, arguments, resume_from="the last finished shard")


if __name__ == "__main__":
    sys.exit(main())
