"""The strength and the habits of a trained player of the thesis, beside the thesis's figures.

`python -m studies.ocnaru --help`.

python -m studies.ocnaru runs/ocnaru/agent.safetensors --out docs/results/ocnaru.md

Most of the thesis's figures come from a program that reuses its players from game to game. From the
second game on, a player of the strategic family looks up values of the previous game's lots, finds
none, and practically never buys: 0.04 deeds at the end of a game. `stale` is such a player. The
player is measured against fresh opponents and against stale ones.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import tyro
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

from agents import arena
from agents.arena.evaluation import Seating
from agents.networks.ocnaru import OcnaruNetworks
from agents.players.strategic import POLICIES
from agents.players.strategic.play import play as play_strategic
from monopoly_env.actions import A_BUY, A_MORTGAGE, A_TURN, A_UNMORTGAGE, HEAD_NAMES, HEAD_OF
from monopoly_env.cli import command
from monopoly_env.cli.command import Command
from monopoly_env.encoding import ocnaru as encoding
from monopoly_env.engine import agenda
from monopoly_env.engine.building import COLOURS
from monopoly_env.errors import ConfigurationError
from monopoly_env.facts.board import GROUP_SIZE, GROUPS
from monopoly_env.game import Game
from monopoly_env.intervals import half_width
from monopoly_env.kernels import kernel
from monopoly_env.policy.names import compiled, load, make
from monopoly_env.policy.protocol import CompiledPolicy, Mask, Policy, Row, policy_kernel
from monopoly_env.reference import table as markdown
from monopoly_env.rules import Rules
from studies import pages
from studies.published import PLAYERS
from training.experience.recording import Experiences
from training.experience.streams import seatings, stream
from training.ocnaru.train import AFTER_EXPERTS

_ask_fresh: Final = kernel(play_strategic.function)

# The thesis's matrix by opponent, and wins in games of its shipped networks, measured again with
# the programs of July / May 2025: with fresh opponents, and with reused ones.
CLAIMED: Final = {
    "ocnaru/random": "0.87; its networks 287 of 300 / 261 of 298",
    "ocnaru/algorithmic": "0.52; its networks 84 of 300 / 195 of 300",
    "strategic": "0.89; its networks 62 of 300 / 103 of 300",
}
REUSED: Final = "299 of 300 / 288 of 300"
# the thesis's shares times 6.5, to own games
ROBIN: Final = {"win rate": 0.86, "bankrupt": 0.13, "worth": 2321, "cash": 1865}
# of the streets that its DQN owns
OWNED: Final = {"green": 0.30, "yellow": 0.22, "dark_blue": 0.18}


@dataclass(frozen=True)
class Options:
    """Measure a trained player of the thesis beside the thesis's figures."""

    agent: tyro.conf.Positional[Path]
    """A file of `training.dqn --preset ocnaru` or `--preset thesis`."""
    out: Path | None = None
    """A page: the rows are stored beside it, in data/; those of other agents stay."""
    games: int = 10_000
    """Games of each match; every seed is played from both seats."""
    robin_games: int = 1000
    """Games of each pair of the round robin of 13, of which 12 are the agent's."""
    seed: int = 11
    """Seed of all dice and cards."""
    threads: int | None = None
    """Threads that play; default: one per core. The results are the same."""
    json: bool = False
    """Print one JSON object instead of the tables."""


# --- opponents that are reused from game to game


@policy_kernel
def _play_stale(game: Game, mask: Mask, params: Row, memory: Row) -> int:
    """The strategic agent without purchases."""
    action = _ask_fresh(game, mask, params, memory)
    return A_BUY if action == A_BUY + 1 else action


def stale(name: str) -> CompiledPolicy:
    """A reused player of the strategic family, with values of the previous game.

    Args:
        name: `strategic` or a preset of it.

    Raises:
        ConfigurationError: The name is of another family.
    """
    if name not in POLICIES:
        raise ConfigurationError(
            f"Only the family strategic has values that go stale, not {name!r}."
        )
    return CompiledPolicy(f"{name}, stale", _play_stale, POLICIES[name]().params, reads_mask=False)


# --- measuring

KEY: Final = ("section", "player", "against", "figure")


def measure(options: Options, console: Console) -> list[pages.Row]:
    """Play all games.

    Returns:
        A row for each figure: `section`, `player`, `against`, `figure`, `published`, `value`, its
        95% interval `low` and `high` (empty if it has none), and the number of `games`.

    Raises:
        MonopolyError: The file is no such player, or does not match this version.
    """
    policy = load(options.agent)
    if not isinstance(policy, OcnaruNetworks):
        raise ConfigurationError(
            f"{str(options.agent)!r} is a policy of the kind {policy.kind!r}, not one that --preset"
            " ocnaru has trained."
        )
    base = compiled(make(policy.base_policy))
    mixtures = _mixtures(policy)
    earlier = options.agent.with_name(AFTER_EXPERTS)
    if earlier.is_file() and isinstance(imitated := load(earlier), OcnaruNetworks):
        mixtures["all, after phase 1"] = imitated
    reused: list[tuple[CompiledPolicy, str | None]] = [
        (policy, f"its networks {REUSED}"),
        (base, None),
    ]
    jobs: list[Callable[[], Iterable[pages.Row]]] = [
        *(
            partial(_match, "fresh", policy, make(name), options, claim=claim)
            for name, claim in CLAIMED.items()
        ),
        *(
            partial(_match, "reused", player, stale("strategic"), options, claim=claim)
            for player, claim in reused
        ),
        *(partial(_mixture, name, mixed, base, options) for name, mixed in mixtures.items()),
        partial(_robin, policy, options),
        *(partial(habits, player, base, options) for player, _ in reused),
    ]
    return [row for job in track(jobs, "playing", console=console) for row in job()]


def row_of(
    section: str, player: str, against: str, figure: str, value: float, games: int,
    *, interval: tuple[float, float] | None = None, published: float | str | None = None,
) -> pages.Row:  # fmt: skip
    """A figure as a row of a data file."""
    low, high = interval or (None, None)
    return {
        "section": section, "player": player, "against": against, "figure": figure,
        "published": published, "value": value, "low": low, "high": high, "games": games,
        "date": f"{date.today()}",
    }  # fmt: skip


def _match(
    section: str,
    first: Policy,
    second: Policy,
    options: Options,
    name: str = "",
    claim: str | None = None,
) -> list[pages.Row]:  # fmt: skip
    (score,) = arena.against(
        [first], [Seating((second,), "ocnaru")], [options.games], options.seed, options.threads
    )
    (row,) = score.rows()
    interval = row["paired_low"], row["paired_high"]
    return [
        row_of(section, name or first.name, second.name, "win rate", row["win_rate"], row["games"],
             interval=interval, published=claim)
    ]  # fmt: skip


def _mixtures(policy: OcnaruNetworks) -> dict[str, OcnaruNetworks]:
    """Players with one network, with all but one, and with other gates."""
    heads, gates = policy.heads, policy.base_gated
    mixtures = {f"{head} alone": policy.part((head,), f"{head} alone") for head in heads}
    mixtures |= {
        f"all but {head}": policy.part([h for h in heads if h != head], f"all but {head}")
        for head in heads[:2]
        if len(heads) > 2
    }
    mixtures |= {
        f"{head} alone, no gate": policy.copy("no gate", heads=[head], base_gated=())
        for head in heads
        if head in gates
    }
    if "upgrade" in heads:
        mixtures["all, upgrade gated"] = policy.copy("gated", base_gated=(*gates, "upgrade"))
    return mixtures | {"all, no gates": policy.copy("no gates", base_gated=()), "all": policy}


def _mixture(name: str, player: OcnaruNetworks, base: Policy, options: Options) -> list[pages.Row]:
    """A mixture against the base policy, and its gain over the base policy against others."""
    others, games = ("strategic/late_game", "ocnaru/algorithmic"), options.games // 2
    gain = arena.compare(player, base, others, games, 2, "ocnaru", options.seed, options.threads)
    return [
        *_match("networks", player, base, options, name),
        row_of("networks", name, " and ".join(others), "gain over the base policy", gain.difference,
             2 * games, interval=(gain.low, gain.high)),
    ]  # fmt: skip


def _robin(policy: OcnaruNetworks, options: Options) -> list[pages.Row]:
    field = [policy, *(make(name) for name in PLAYERS)]
    rows = []
    for row in arena.round_robin(
        field, options.robin_games, 2, "ocnaru", options.seed, options.threads
    ).rows():
        values = {"win rate": row["win_rate"]} | {key: row[key] for key in list(ROBIN)[1:]}
        for figure, value in values.items():
            interval = (row["paired_low"], row["paired_high"]) if figure == "win rate" else None
            published = None if row["name"] in PLAYERS else ROBIN[figure]
            rows.append(
                row_of("robin", row["name"], "12 others", figure, value, row["games"],
                     interval=interval, published=published)
            )  # fmt: skip
    return rows


# --- habits


def decisions(
    pair: tuple[CompiledPolicy, CompiledPolicy], games: int, options: Any, rules: Rules | str
) -> Iterable[tuple[Experiences, NDArray[np.int64]]]:
    """All decisions of games of two policies, by game, player and time.

    Yields:
        Decisions of whole games, and (N,) 0 or 1, which of the two policies made each.
    """
    names, seats = seatings([pair])
    for batch in stream(
        [pair], games, rules=rules, encoding="ocnaru100", seed=options.seed,
        threads=options.threads,
    ):  # fmt: skip
        rows = batch.take(np.lexsort((batch.player, batch.game)))
        number = seats[rows.game % len(seats), rows.player].astype(np.int64)
        yield rows, number if len(names) > 1 else np.zeros_like(number)


def last_of(rows: Experiences) -> NDArray[np.int64]:
    """The number of the last decision of each player in each game, of rows in that order."""
    key = rows.game.astype(np.int64) * 2 + rows.player
    return np.flatnonzero(np.append(key[1:] != key[:-1], True))


def column(feature: str) -> int:
    """The number of a feature of `ocnaru100`."""
    return encoding.names(plus=False).index(feature)


_SHARES: Final = [column(f"group: {group} own share") for group in GROUPS[:COLOURS]]


def habits(player: CompiledPolicy, base: CompiledPolicy, options: Any) -> list[pages.Row]:
    """The streets that a player owns when games end, and the course of its mortgages."""
    streets: list[NDArray[np.float64]] = []  # by game, of each group
    windows, built = 0, 0
    then_built: list[bool] = []
    waited: list[int] = []
    for rows, number in decisions((player, base), options.games, options, "ocnaru"):
        mine = number == 0
        last = last_of(rows)
        last = last[mine[last]]
        shares = rows.observation[last][:, _SHARES].astype(np.float64)
        streets.append(np.rint(shares * GROUP_SIZE[:COLOURS]))
        ends = rows.action == A_TURN
        turn = np.cumsum(ends) - ends  # the same number in all decisions of a window
        building = set(turn[mine & (HEAD_OF[rows.action] == HEAD_NAMES.index("build"))].tolist())
        windows, built = windows + int((ends & mine).sum()), built + len(building)
        pledged: dict[tuple[int, int, int], int] = {}
        for at in np.flatnonzero(mine & (rows.decision == agenda.WINDOW)).tolist():
            action, game = int(rows.action[at]), (int(rows.game[at]), int(rows.player[at]))
            head = HEAD_NAMES[HEAD_OF[action]]
            if head == "mortgage":
                pledged[*game, action - A_MORTGAGE] = int(turn[at])
                then_built.append(bool(building & {int(turn[at]), int(turn[at]) + 1}))
            elif head == "unmortgage" and (lot := (*game, action - A_UNMORTGAGE)) in pledged:
                waited.append(int(turn[at]) - pledged.pop(lot))
    pledges, played = max(len(then_built), 1), sum(map(len, streets))
    figures = {
        "mortgages a game, without a debt": len(then_built) / played,
        "of these, it builds in this or the next window": sum(then_built) / pledges,
        "of these, lifted later": len(waited) / pledges,
        "windows until then, median": float(np.median(waited)) if waited else 0.0,
        "windows in which it builds": built / max(windows, 1),
    }
    habit = partial(row_of, "habits", player.name, base.name)
    owned = [
        habit(f"owned: {name}", share, played, interval=(share - half, share + half),
                published=OWNED.get(name) if player is not base else None)
        for name, share, half in zip(GROUPS, *_parts(np.concatenate(streets)), strict=False)
    ]  # fmt: skip
    return [*owned, *(habit(figure, value, played) for figure, value in figures.items())]


def _parts(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """(2, K), each column's part of the sum of (G, K) counts, and half its interval."""
    total = max(counts.sum(), 1.0)
    parts = counts.sum(axis=0) / total
    residuals = (counts - parts * counts.sum(axis=1, keepdims=True)) / total
    return np.array([parts, [half_width(column) for column in residuals.T]])


# --- output


def page(rows: list[pages.Row]) -> str:
    """The rows in Markdown, a table for each section."""
    parts = []
    for section in dict.fromkeys(row["section"] for row in rows):
        chosen = [_cells(row) for row in rows if row["section"] == section]
        parts += [f"## {section}", markdown([*rows[0]][1:-1], chosen)]
    return "\n\n".join(parts) + "\n"


def _cells(row: pages.Row) -> list[str]:
    """The cells of a row without its section and its date."""
    values = [*row.values()][1:-1]
    return [f"{value:.4g}" if isinstance(value, float) else f"{value or ''}" for value in values]


def execute(options: Options, console: Console) -> list[pages.Row]:
    """Play all games, and store the rows on request."""
    rows = measure(options, console)
    if options.out:
        agent = {"agent": str(options.agent.with_suffix("")), "seed": options.seed}
        pages.Page(options.out, "").add([agent | row for row in rows], ("agent", *KEY), "networks")
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 only if all games were played."""
    measuring = Command(Options(tyro.MISSING), execute, lambda rows: print(page(rows)))
    return command.main("studies.ocnaru", measuring, arguments)


if __name__ == "__main__":
    sys.exit(main())
