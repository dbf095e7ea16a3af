"""The accuracy of the value network (docs/results/values.md): `python -m studies.values --help`.

# 6,000 positions, 200 playouts each; then the page
python -m studies.values
# with the learning curve of the network's run
python -m studies.values --run runs/values

Each position is a decision of another held-out game: between policies of the training, between
unseen families, and between unseen families from a random position. The network's forecast, and
the shares of playouts from the same position, are compared with the outcome of the game.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import Progress

from agents import values
from agents.values.features import MOST_PLAYERS
from agents.values.network import ARCHITECTURE
from monopoly_env.analyse import Value, rollout
from monopoly_env.analyse.values import resolve
from monopoly_env.cli import command
from monopoly_env.cli.command import Command
from monopoly_env.errors import FormatError
from monopoly_env.files import read_file, read_json
from monopoly_env.game import Games
from monopoly_env.intervals import mean_interval
from monopoly_env.reference import table as markdown
from studies.pages import Page, Row, measured, write_rows
from training.run.options import check_ranges
from training.values.options import UNKNOWN
from training.values.sampling import play
from training.values.tables import BATCH, HELD_OUT, SETTINGS, Mixture
from training.values.train import brier

# The players, and the kind of their games (`training.values.sampling.KINDS`).
POOLS: Final[dict[str, tuple[Callable[[], Mixture], str]]] = {
    "Training policies": (Mixture.training, "ordinary"),
    "Held-out policies": (Mixture.held_out, "ordinary"),
    "Held-out policies, games begun in the middle": (Mixture.held_out, "generated"),
}
FIRST: Final = UNKNOWN + (UNKNOWN >> 1)  # batch; `training.values` measures on those before it
STAGES: Final = {
    "rounds 0 to 9": (0, 10),
    "rounds 10 to 24": (10, 25),
    "rounds 25 to 49": (25, 50),
    "rounds 50 and on": (50, 1 << 30),
}
HEADINGS: Final = (
    "games of", "playouts by", "positions", "network", "playouts", "network less playouts", "worth",
)  # fmt: skip
TEMPLATE: Final = "# How good is the network of values?\n"
_MEASURED: Final = ("training", "held out")  # by `training.values` during training
_REPEATS: Final = 5  # of the measurement of speed


@dataclass(frozen=True)
class Options:
    """Compare forecasts of a value network, and playouts, with the outcomes of games."""

    value: str = "best"
    """The value network: a name (`agents.values.names()`) or a file."""
    positions: int = 2000
    """Positions of each pool, each of another game."""
    playouts: int = 200
    """Playouts of each position."""
    policy: str = "algorithmic"
    """The policy of playouts, in all seats."""
    actual: int = 0
    """Positions of each pool that also get playouts by the policies of their game."""
    run: Path | None = None
    """Folder of the network's run of `training.values`: its curve is stored too."""
    seed: int = 0
    """Seed of games and playouts."""
    threads: int | None = None
    """Threads that play; default: one per core. The results are the same."""
    out: Path = Path("docs/results/values.md")
    """The page."""
    json: bool = False
    """Print one JSON object instead of tables."""


class Positions(NamedTuple):
    """N positions of one pool, each of another game.

    Attributes:
        games: (N,) records.
        outcome: (N, 4) the share of the win of each seat at the end of the game.
        seated: (N, 4) the number of the policy in each seat, or -1.
        rules: (N,) the names of their rules.
        policies: The policies of the pool.
    """

    games: Games
    outcome: NDArray[np.float64]
    seated: NDArray[np.int64]
    rules: NDArray[np.str_]
    policies: Sequence[Any]


# --- measuring


def positions(pool: str, count: int, seed: int, threads: int | None) -> Positions:
    """Play games of a pool, and take one position of each."""
    who, kind = POOLS[pool]
    mixture, batch = who(), FIRST
    parts: list[Positions] = []
    while sum(len(part.games) for part in parts) < count:
        numbers = range(batch, batch + len(SETTINGS))
        played = play(mixture, numbers, seed, kept=1, kind=kind, records=True, threads=threads)
        for number, states in zip(numbers, played, strict=True):
            there, (players, rules) = states.kept > 0, SETTINGS[number % len(SETTINGS)]
            seated = np.full((BATCH, MOST_PLAYERS), -1)
            seated[:, :players] = mixture.seats(players, BATCH, seed, number)
            parts.append(
                Positions(
                    states.games[there, 0],
                    states.share[there],
                    seated[there],
                    np.full(there.sum(), rules),
                    mixture.policies,
                )
            )
        batch += len(SETTINGS)
    games, outcome, seats, rules_of = (
        np.concatenate(columns) for columns in zip(*(part[:4] for part in parts), strict=True)
    )
    # settings in their proportion
    chosen = np.random.Generator(np.random.PCG64(seed)).permutation(len(games))[:count]
    return Positions(
        games[chosen], outcome[chosen], seats[chosen], rules_of[chosen], mixture.policies
    )


def forecasts(value: Value, games: Games) -> NDArray[np.float64]:
    """(N, 4) the forecast shares of positions at tables of any size."""
    out = np.zeros((len(games), MOST_PLAYERS))
    for players in np.unique(games["num_players"]):
        rows = games["num_players"] == players
        out[rows, :players] = value.shares(games[rows])
    return out


def playouts(found: Positions, options: Options, bar: Progress) -> NDArray[np.float64]:
    """(N, 4) the shares of playouts by one policy in every seat."""
    out = np.zeros_like(found.outcome)
    for players in bar.track(
        np.unique(found.games["num_players"]).tolist(), description=f"Playouts by {options.policy}"
    ):
        rows = np.flatnonzero(found.games["num_players"] == players)
        for part in np.array_split(rows, max(1, len(rows) // 100)):
            played = rollout(
                found.games[part],
                options.policy,
                options.playouts,
                seed=options.seed,
                threads=options.threads,
            )
            out[part, :players] = played.share
    return out


def actual_playouts(found: Positions, options: Options, bar: Progress) -> NDArray[np.float64]:
    """The shares of playouts by the policies of each game, for the first `actual` positions."""
    out = np.zeros_like(found.outcome[: options.actual])
    for row in bar.track(range(len(out)), description="Playouts by the real players"):
        players = int(found.games["num_players"][row])
        seated = [found.policies[number] for number in found.seated[row, :players]]
        played = rollout(
            found.games[row], seated, options.playouts, seed=options.seed, threads=options.threads
        )
        out[row, :players] = played.share
    return out


def compared(
    name: str,
    by: dict[str, NDArray[np.float64]],
    outcome: NDArray[np.float64],
    rows: NDArray[np.bool_],
) -> Row:
    """A row of the table, over some positions: Brier scores, paired difference, distance."""
    scores = {who: brier(shares[rows], outcome[rows]) for who, shares in by.items()}
    mean, low, high = mean_interval(scores["network"] - scores["playouts"])
    distance = float(np.sqrt(((by["network"] - by["playouts"])[rows] ** 2).sum(1).mean()))
    return {
        "positions": name, "count": int(rows.sum()),
        **{who: float(score.mean()) for who, score in scores.items()},
        "difference": mean, "low": low, "high": high, "distance": distance,
    }  # fmt: skip


def judged(found: Positions, by: dict[str, NDArray[np.float64]]) -> list[Row]:
    """Rows for all positions, and by players, rules and stage of the game."""
    count = len(by["network"])
    games, rules = found.games[:count], found.rules[:count]
    parts = {"all": np.ones(count, bool)}
    parts |= {f"{players} players": games["num_players"] == players for players in (2, 3, 4)}
    parts |= {
        f"rules {name}": rules == name for name in dict.fromkeys(rule for _, rule in SETTINGS)
    }
    parts |= {
        stage: (games["rounds"] >= low) & (games["rounds"] < high)
        for stage, (low, high) in STAGES.items()
    }
    return [
        compared(name, by, found.outcome[:count], rows)
        for name, rows in parts.items()
        if rows.sum() > 1
    ]


def speed(value: Value, games: Games) -> float:
    """Values a second on one core, features included: the fastest of several passes."""
    batch = np.resize(games[games["num_players"] == 4], 20_000)
    value.shares(batch[:10])
    times = []
    for _ in range(_REPEATS):
        began = time.perf_counter()
        value.shares(batch)
        times.append(time.perf_counter() - began)
    return len(batch) / min(times)


def curve(folder: Path) -> list[dict[str, float]]:
    """The measurements of a run of `training.values`."""
    results = read_json(read_file(folder / "evaluation.json"))
    if not isinstance(results, dict) or not results.get("curve"):
        raise FormatError(f"{str(folder)!r} holds no finished run of training.values.")
    rows: list[dict[str, float]] = results["curve"]
    return rows


# --- the page


def section(rows: Sequence[Row]) -> str:
    """The table in Markdown: all positions of each pool."""
    lines = [
        (
            row["pool"], row["playouts_by"], f"{row['count']:,}", f"{row['network']:.3f}",
            f"{row['playouts']:.3f}",
            f"**{row['difference']:+.3f}** ({row['low']:+.3f} to {row['high']:+.3f})",
            f"{row['worth']:.3f}",
        )
        for row in rows
        if row["positions"] == "all"
    ]  # fmt: skip
    return f"{measured(rows)}\n\n{markdown(HEADINGS, lines)}"


def card(about: Mapping[str, Any], fast: float) -> str:
    """The network in Markdown, from what its file says."""
    weights = sum(math.prod(shape) for shape in ARCHITECTURE.shapes().values())
    sizes = "-".join(map(str, ARCHITECTURE.sizes))
    return (
        f"The network has the layers {sizes} ({weights:,} weights), ReLU, and a softmax over the"
        f" players left. It gives {fast:,.0f} values a second on one core at tables of four,"
        f" features included. It learned from {about['games']:,} games, {about['states']} states of"
        f" each, at tables of {', '.join(map(str, about['players']))} by the rules"
        f" {', '.join(about['rules'])}. The held-out policies are"
        f" {', '.join(f'`{name}`' for name in HELD_OUT)}."
    )


# --- the command


def execute(options: Options, console: Console) -> dict[str, Any]:
    """Play, measure, and write the page."""
    check_ranges(
        options,
        {
            "positions": (10, 1 << 20),
            "playouts": (1, 1 << 20),
            "actual": (0, options.positions),
            "seed": (0, 1 << 31),
        },
    )
    value, worth = values.make(options.value), resolve("worth")
    page = Page(options.out, TEMPLATE)
    for name in ("judged", "card"):
        page.check(name)
    if options.run:
        write_rows(page.data("curve"), curve(options.run))
    rows: list[Row] = []
    fast = 0.0
    with Progress(console=console) as bar:
        for pool in POOLS:
            found = positions(pool, options.positions, options.seed, options.threads)
            by = {
                "network": forecasts(value, found.games),
                "worth": forecasts(worth, found.games),
                "playouts": playouts(found, options, bar),
            }
            judgements = {options.policy: judged(found, by)}
            if options.actual:
                some = {who: shares[: options.actual] for who, shares in by.items()}
                some["playouts"] = actual_playouts(found, options, bar)
                judgements["the policies of the game"] = judged(found, some)
            rows += [
                {"pool": pool, "playouts_by": policy}
                | row
                | {"playouts_each": options.playouts, "seed": options.seed}
                | {"date": f"{date.today()}"}
                for policy, judgement in judgements.items()
                for row in judgement
            ]
            fast = max(fast, speed(value, found.games))
    page.write("card", card(value.about, fast))
    page.write("judged", section(page.add(rows, ("pool", "playouts_by", "positions"))))
    return {"rows": rows, "speed": fast}


def show(results: dict[str, Any]) -> None:
    """Print the table."""
    print(section(results["rows"]))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 only if all games were played."""
    return command.main("studies.values", Command(Options(), execute, show), arguments)


if __name__ == "__main__":
    sys.exit(main())
