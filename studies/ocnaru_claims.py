"""Claims of Ocnaru's thesis beside the wins of its tournaments and of its networks.

`python -m studies.ocnaru_claims --help`.

python -m studies.ocnaru_claims --only search --out docs/results/ocnaru.md

`averages` are those of its figure 4.2, `search` its search for parameters, `lifting` the price of
lifting a mortgage, `habits` the streets and mortgages of this library's DQN agent, `inputs` phase 1
with raw features and with fewer outputs.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from torch import Tensor
from torch.nn import functional

from agents import arena
from agents.networks.layout import Architecture
from agents.networks.ocnaru import HIDDEN, OcnaruNetworks
from agents.players.strategic import Strategic
from monopoly_env.cli import command
from monopoly_env.cli.command import Command
from monopoly_env.encoding import ocnaru as encoding
from monopoly_env.engine.building import COLOURS
from monopoly_env.errors import ConfigurationError, nearest
from monopoly_env.facts.board import GROUP_SIZE, GROUPS, NUM_STREETS, SQUARE_LOT
from monopoly_env.policy.names import compiled, make
from monopoly_env.policy.protocol import CompiledPolicy
from monopoly_env.rules import Rules
from studies import ocnaru
from studies.ocnaru import KEY, column, decisions, last_of, page, row_of
from studies.pages import Page, Row
from studies.published import MAY, PLAYERS, clustered, sample
from training.experience.recording import Experiences
from training.experience.streams import stream
from training.networks import Network
from training.ocnaru.experts import HEADS, Pool, chosen, targets
from training.ocnaru.learner import HeadLearner
from training.ocnaru.options import OcnaruOptions

Rows: TypeAlias = list[Row]


@dataclass(frozen=True)
class Options:
    """Measure other claims of Ocnaru's thesis."""

    only: str | None = None
    """Run only this section: averages, search, lifting, habits or inputs."""
    out: Path | None = None
    """A page: the rows are stored beside it, in data/; those of other sections stay."""
    games: int = 10_000
    """Games of each match; of the experts in `inputs`, four times as many."""
    seed: int = 11
    """Seed of all dice, cards, parameters and weights."""
    threads: int | None = None
    """Threads that play; default: one per core. The results are the same."""
    json: bool = False
    """Print one JSON object instead of the tables."""


# --- averages at the end of a game

# Figure 4.2, percentages and means of all games times 1.5, to own games.
AVERAGES: Final[dict[str, tuple[float, ...]]] = {
    "ocnaru/random": (7.8, 0.6, 2050.5, -12.0),
    "ocnaru/algorithmic": (13.2, 2.4, 4338.0, 810.0),
    "strategic": (13.65, 1.2, 4948.5, 1641.0),
}
FIGURES: Final = ("lots", "monopolies", "worth", "cash")
_SHARES, _COMPLETE = (
    [column(f"group: {group} {fact}") for group in GROUPS[:COLOURS]]
    for fact in ("own share", "complete")
)
_RAILROADS, _UTILITIES = column("railroads: me"), column("utilities: me")


def averages(options: Options) -> Rows:
    """Each agent of the program of May at its last decision; a bankrupt one owes its last debt.

    The thesis's program stops before the estate is handed over, so the end itself is no measure.
    """
    rules = Rules.preset("ocnaru", ocnaru_quirks=True)
    players = [compiled(make(name, **MAY[name.split("/")[0]])) for name in PLAYERS[:3]]
    found: dict[str, list[NDArray[np.float64]]] = {player.name: [] for player in players}
    for pair in itertools.combinations(players, 2):
        for rows, number in decisions(pair, options.games, options, rules):
            last = last_of(rows)
            for which, player in enumerate(pair):
                found[player.name].append(ends(rows, last[number[last] == which]))
    return [
        row_of("averages", name, "the two others", figure, mean, len(values),
               interval=(mean - half, mean + half), published=published)
        for name, parts in found.items()
        for values in (np.concatenate(parts),)
        for figure, published, mean, half in zip(
            FIGURES, AVERAGES[name], values.mean(0), 1.96 * values.std(0) / len(values) ** 0.5,
            strict=True,
        )
    ]  # fmt: skip


def ends(rows: Experiences, last: NDArray[np.int64]) -> NDArray[np.float64]:
    """(N, 4), the figures of players at these last decisions."""
    seen = rows.observation[last].astype(np.float64)
    lots = np.rint(seen[:, _SHARES] * GROUP_SIZE[:COLOURS]).sum(axis=1)
    lots += np.rint(seen[:, _RAILROADS] * 4) + np.rint(seen[:, _UTILITIES] * 2)
    worth, cash = rows.worth[last].astype(np.float64).T
    left = rows.final_worth[last].astype(np.float64)
    owing = np.where(left < 0, left - cash, 0.0)
    return np.stack([lots, seen[:, _COMPLETE].sum(axis=1), worth + owing, cash + owing], axis=1)


# --- the search for parameters

CONFIGURATIONS: Final = 100
LEFT: Final = (10, 5, 3)  # after each round
_FIRST_GAMES: Final = 20  # games of a pair of the first round
BEATS: Final = ("strategic/evolved", "strategic/evolved/two")


def search(options: Options) -> Rows:
    """Random configurations in round robins; the last three against the default, with new dice."""
    rng = np.random.default_rng(options.seed)
    default = make("strategic")
    players = [default, *(_configuration(rng, number) for number in range(CONFIGURATIONS))]
    found: Rows = []
    for stage, (left, games) in enumerate(
        zip(LEFT, (_FIRST_GAMES, options.games // 10, options.games // 4), strict=True)
    ):
        rows = arena.round_robin(
            players, games, 2, "ocnaru", options.seed + stage, options.threads
        ).rows()
        rank = [row["name"] for row in rows].index("strategic") + 1
        found.append(
            row_of("search", "strategic", f"{len(players) - 1} configurations", "rank", rank,
                   rows[0]["games"])
        )  # fmt: skip
        by_name = {player.name: player for player in players}
        best = [row["name"] for row in rows if row["name"] != "strategic"][:left]
        players = [default, *(by_name[name] for name in best)]
    for number, player in enumerate(players[1:], 1):
        player.name = f"configuration {number} of those left"
    for player in (*players[1:], *map(make, BEATS)):
        results = arena.play(
            [player, default], options.games, "ocnaru", options.seed + 9, options.threads
        )
        row = next(row for row in results.rows() if row["name"] == player.name)
        found.append(
            row_of("search", player.name, "strategic", "win rate", row["win_rate"], row["games"],
                   interval=(row["paired_low"], row["paired_high"]))
        )  # fmt: skip
    return found


def _configuration(rng: np.random.Generator, number: int) -> CompiledPolicy:
    """Each of the 28 parameters uniform in its range."""
    ranges = {field.name: field.metadata["range"] for field in fields(Strategic)[:28]
              if "range" in field.metadata}  # fmt: skip
    values = {name: float(rng.uniform(*ends)) for name, ends in ranges.items()}
    player = make("strategic", bankruptcy_mortgage_first=bool(rng.integers(2)), **values)
    player.name = f"configuration {number}"
    return compiled(player)


# --- the price of lifting a mortgage


def lifting(options: Options) -> Rows:
    """Win rates if lifting a mortgage costs 10% of it, as the thesis says, and the differences."""
    rows: Rows = []
    for pair in itertools.combinations(PLAYERS[:3][::-1], 2):
        won = {}
        for price in ("full", "ten_percent"):
            rules = Rules.preset("ocnaru", unmortgage_price=price)
            games = sample(
                arena.play(pair, options.games, rules, options.seed, options.threads), pair[0]
            )
            won[price] = games.won
        for figure, values in (
            ("win rate, ten_percent", won["ten_percent"]),
            ("difference from full", won["ten_percent"] - won["full"]),
        ):
            mean = clustered(values, games.seeds)
            rows.append(
                row_of("lifting", *pair, figure, mean.value, len(values),
                       interval=(mean.low, mean.high))
            )  # fmt: skip
    return rows


# --- streets and mortgages of a trained agent


def habits(options: Options) -> Rows:
    """Those of this library's own DQN agent and of `strategic`, both against `strategic`."""
    against = compiled(make("strategic"))
    players = (compiled(make("dqn/best/ocnaru")), against)
    return [row for player in players for row in ocnaru.habits(player, against, options)]


# --- inputs and outputs of the networks

# Units of the features, by the names of their blocks: what a raw feature is in these.
_UNITS: Final[dict[str, tuple[float, ...]]] = {
    "square": (40,), "cash": (5000,), "jail cards": (2,), "railroads": (4,), "utilities": (2,),
    "lots sold": (28,), "developed groups": (32, 12), "for sale": (40, 400, 1, 1, 1, 2, 5),
    "fine": (5,), "failed throws": (3,),
}  # fmt: skip
_SEEDS: Final = 3  # networks of each kind
_HELD_OUT: Final = 10  # one batch of games in so many is not learned


def raw_units() -> NDArray[np.float32]:
    """(100,), the factors that turn `ocnaru100` into dollars, squares and counts."""
    units = np.ones(encoding.SIZE, np.float32)
    at = 0
    for block in encoding.BLOCKS:
        if block.name == "group":
            units[at : at + block.size] = [
                unit for size in GROUP_SIZE[:COLOURS] for unit in (size, size, 1, 5, 0.5, 3)
            ]
        else:
            units[at : at + block.size] = np.resize(_UNITS.get(block.name, (1,)), block.size)
        at += block.size
    return units


class Regressor(HeadLearner):
    """A network of phase 1 with features in other units, or with other outputs."""

    def __init__(
        self, head: str, outputs: int, units: NDArray[np.float32], options: Options, number: int
    ) -> None:
        torch.manual_seed(options.seed + number)
        super().__init__(head, torch.device("cpu"), OcnaruOptions.learning_rate, 1.0)
        self.units = torch.from_numpy(units)
        self.online = Network(Architecture(encoding.SIZE, HIDDEN, ((head, outputs),)))
        self._optimizer = torch.optim.Adam(
            self.online.parameters(), lr=OcnaruOptions.learning_rate, fused=True
        )
        self.pool = Pool(head, options.seed + number, OcnaruOptions.expert_batch)
        self.losses: list[float] = []

    def regress(self, observation: Tensor, choice: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """As `HeadLearner.regress`, with the features in its units."""
        return super().regress(observation * self.units, choice, target)

    def test(self, seen: Tensor, choice: Tensor, target: Tensor) -> None:
        """Note the loss of experiences that are not learned."""
        with torch.no_grad():
            value = self.online(seen * self.units).gather(1, choice[:, None])[:, 0]
            self.losses.append(float(functional.huber_loss(value, target)))

    def player(self) -> OcnaruNetworks:
        """The network in the units of `ocnaru100`, over the base policy."""
        policy, arrays = OcnaruNetworks((self.head,), name=self.head), self.numbers()
        first = f"{self.head}.0.weight"
        policy.set_arrays(arrays | {first: arrays[first] * self.units.numpy()})
        return policy


def inputs(options: Options) -> Rows:
    """Phase 1 of `buy` with raw features, and of `mortgage` with an output for streets only."""
    torch.set_num_threads(1)
    normal, raw = np.ones(encoding.SIZE, np.float32), raw_units()
    kinds = {
        "buy, normalized": ("buy", 2, normal), "buy, raw": ("buy", 2, raw),
        "mortgage, 40 outputs": ("mortgage", 40, normal),
        "mortgage, 22 outputs": ("mortgage", NUM_STREETS, normal),
    }  # fmt: skip
    learners = {
        name: [Regressor(*kind, options, number) for number in range(_SEEDS)]
        for name, kind in kinds.items()
    }
    rules, experts = Rules.preset("ocnaru"), OcnaruOptions.experts
    games = stream(
        list(itertools.combinations(experts, 2)), 4 * options.games, rules=rules,
        encoding="ocnaru100", heads=HEADS, seed=options.seed, threads=options.threads, batch=512,
    )  # fmt: skip
    for number, experiences in enumerate(games):
        for head in ("buy", "mortgage"):
            rows, choice = chosen(head, experiences, rules)
            asked = experiences.take(rows)
            target = targets(head, asked, choice, rules, "thesis")
            lots = SQUARE_LOT[0, choice] if head == "mortgage" else np.zeros(len(choice), np.int64)
            street = lots < NUM_STREETS
            for learner in (one for some in learners.values() for one in some if one.head == head):
                few = learner.online.architecture.heads[0][1] == NUM_STREETS
                outputs = lots if few else choice
                if number % _HELD_OUT:
                    used = street if few else np.ones_like(street)
                    columns = (asked.observation[used], outputs[used], target[used])
                    learner.pool.add(*columns, learner)
                elif street.any():
                    seen = torch.from_numpy(asked.observation[street]).float()
                    learner.test(
                        seen, torch.from_numpy(outputs[street]), torch.from_numpy(target[street])
                    )
    return [row for name, some in learners.items() for row in _judged(name, some, options)]


def _judged(name: str, learners: list[Regressor], options: Options) -> Rows:
    """The loss on games that are not learned, in their last third; wins where it can play."""
    against, rows = make("strategic"), []
    for number, learner in enumerate(learners):
        player, late = f"{name}, network {number + 1}", learner.losses[-len(learner.losses) // 3 :]
        rows.append(
            row_of("inputs", player, "games of experts", "loss, not learned", float(np.mean(late)),
                   4 * options.games)
        )  # fmt: skip
        if learner.head == "buy":
            results = arena.play(
                [learner.player(), against], options.games, "ocnaru", options.seed, options.threads
            )
            row = next(row for row in results.rows() if row["name"] == learner.head)
            rows.append(
                row_of("inputs", player, against.name, "win rate", row["win_rate"], row["games"],
                       interval=(row["paired_low"], row["paired_high"]))
            )  # fmt: skip
    return rows


# --- the command

SECTIONS: Final[dict[str, Callable[[Options], Rows]]] = {
    section.__name__: section for section in (averages, search, lifting, habits, inputs)
}


def execute(options: Options, console: Console) -> Rows:
    """Run the sections, and store their rows on request.

    Raises:
        ConfigurationError: An unknown section.
    """
    if options.only and options.only not in SECTIONS:
        raise ConfigurationError(
            f"Unknown section {options.only!r}. {nearest(options.only, SECTIONS)}"
        )
    rows: Rows = []
    for name in track([options.only] if options.only else [*SECTIONS], "playing", console=console):
        rows += SECTIONS[name](options)
        if options.out:
            stored = [{"seed": options.seed} | row for row in rows]
            Page(options.out, "").add(stored, KEY, "claims")
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 only if all games were played."""
    measuring = Command(Options(), execute, lambda rows: print(page(rows)))
    return command.main("studies.ocnaru_claims", measuring, arguments)


if __name__ == "__main__":
    sys.exit(main())
