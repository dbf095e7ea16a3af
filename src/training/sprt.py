"""Test whether one player is stronger than another: games are played until it is clear.

# their shares of the win differ by 0, or by a hundredth
python -m training.sprt runs/ppo/agent.safetensors ppo/best/two
# in the same seats against others
python -m training.sprt runs/ppo/agent.safetensors ppo/best/two --against expert strangers/choose

The sequential probability ratio test of Wald, "Sequential tests of statistical hypotheses" (1945).
Each seed gives one difference of shares, over all orders of seats: luck of the dice cancels. The
likelihoods are those of a normal distribution of unknown variance.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from operator import index
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import numpy as np
import tyro
from numpy.typing import NDArray
from rich.console import Console

from agents import arena, strangers
from agents.arena.evaluation import Seating, Wins
from agents.arena.runner import reported
from monopoly_env.cli import command
from monopoly_env.cli.command import Command
from monopoly_env.errors import ConfigurationError
from monopoly_env.files import read_file, read_json, understood, write_atomically
from monopoly_env.game import MAX_PLAYERS, MIN_PLAYERS
from monopoly_env.policy.names import resolve_all
from monopoly_env.policy.protocol import Policy
from monopoly_env.rules import Rules
from training.run.options import FREE, RulesName, check_ranges, digests_of, result_settings

_BLOCKS: Final = 1 << 16  # seeds of blocks: each has one of its own
_Z: Final = 1.96  # of the interval that is shown
_MOST_FILE: Final = 1 << 20  # bytes
_Player = Annotated[str, tyro.conf.Positional]


class Tally(NamedTuple):
    """Sums over the differences of N seeds."""

    seeds: int = 0
    total: float = 0.0
    squares: float = 0.0

    def plus(self, differences: NDArray[np.float64]) -> Tally:
        """With more seeds."""
        return Tally(
            self.seeds + len(differences),
            self.total + float(differences.sum()),
            self.squares + float((differences**2).sum()),
        )

    def about(self, value: float) -> float:
        """The sum of squared deviations from a value.

        One seed to each side is added: else a few seeds that end alike would look certain.
        """
        return self.squares + 2 - 2 * value * self.total + (self.seeds + 2) * value**2

    @property
    def interval(self) -> tuple[float, float, float]:
        """Mean, lower and upper bound; the stop makes the mean a little too extreme."""
        mean = self.total / max(self.seeds, 1)
        half = _Z * math.sqrt(self.about(mean)) / max(self.seeds, 1)
        return mean, mean - half, mean + half


class Claims(NamedTuple):
    """Two claims on the mean difference, and how often each may be rejected wrongly."""

    low: float = 0.0
    high: float = 0.01
    alpha: float = 0.05
    beta: float = 0.05

    @property
    def bounds(self) -> tuple[float, float]:
        """The log-likelihood ratios at which `low` and `high` are accepted."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def ratio(self, tally: Tally) -> float:
        """The log-likelihood ratio of `high` to `low`, each with its likeliest variance."""
        return tally.seeds / 2 * math.log(tally.about(self.low) / tally.about(self.high))

    def verdict(self, tally: Tally) -> str:
        """`low`, `high`, or nothing yet."""
        ratio, (low, high) = self.ratio(tally), self.bounds
        return "high" if ratio >= high else "low" if ratio <= low else ""


@dataclass(frozen=True)
class SprtOptions:
    """Play two players until one of two claims on the difference of their shares is accepted.

    The difference is the share of the win of a seat of FIRST minus that of a seat of SECOND: with
    each other, one against copies of the other and the other way round; or each against the same
    opponents. Exit status 0: --high is accepted, FIRST is stronger. 1: --low is, or nothing.
    """

    first: _Player = tyro.MISSING
    """The player that may be stronger: a name or a saved policy."""
    second: _Player = tyro.MISSING
    """Another."""
    against: tuple[str, ...] = ()
    """Opponents, each in all other seats; `strangers/choose` stands for all of that name. Default:
    the two play each other."""
    low: float = 0.0
    """Difference of the first claim: no gain."""
    high: float = 0.01
    """Difference of the second claim: a gain."""
    alpha: float = 0.05
    """How often the second is accepted where the first is true."""
    beta: float = 0.05
    """How often the first is accepted where the second is true."""
    rules: RulesName = "official"
    num_players: int = 2
    """Seats at a table."""
    games: int = 1_000_000
    """Most games in all; the test usually ends earlier."""
    block: int = 1000
    """Games between two looks at the claims, about."""
    turn_limit: int = 1000
    """Turns of each player after which the score decides a game."""
    seed: int = 0
    """Seed of the games: the same seed gives the same result."""
    threads: int | None = None
    """Threads that play; default: one per core. The results are the same."""
    out: Path | None = None
    """A JSON file with the state, written after each block."""
    resume: bool = False
    """Go on with the test in --out."""
    json: bool = False
    """Print one JSON object at the end."""
    progress: bool = True
    """Show a bar with games a second and the time left, on stderr."""

    @property
    def claims(self) -> Claims:
        """The two claims."""
        return Claims(self.low, self.high, self.alpha, self.beta)

    def check(self) -> None:
        """Raise ConfigurationError on wrong numbers."""
        check_ranges(self, _RANGES)
        if self.low >= self.high:
            raise ConfigurationError(f"--low {self.low} must be less than --high {self.high}.")
        if self.resume and not self.out:
            raise ConfigurationError("--resume needs a file: --out FILE.json.")
        Rules.preset(self.rules)


_RANGES: Final[dict[str, tuple[float, float]]] = {
    "low": (-0.5, 0.5), "high": (-0.5, 0.5), "alpha": (0.001, 0.5), "beta": (0.001, 0.5),
    "num_players": (MIN_PLAYERS, MAX_PLAYERS), "games": (1, 1 << 31), "block": (1, 1 << 20),
    "turn_limit": (1, 1 << 24), "seed": (0, _BLOCKS - 1), "threads": (1, 1024),
}  # fmt: skip


def play_block(
    options: SprtOptions, players: Sequence[Policy], number: int
) -> tuple[NDArray[np.float64], int]:
    """Play a block of games.

    Args:
        options: Rules, seats and size of blocks.
        players: FIRST, SECOND and their opponents, if any.
        number: The number of the block.

    Returns:
        (S,) the difference of shares with each seed, and the number of games.
    """
    first, second, *others = players
    rest, seed = options.num_players - 1, options.seed * _BLOCKS + number

    def wins(tested: Sequence[Policy], opponents: Sequence[Policy]) -> list[Wins]:
        seatings = [Seating((one,) * rest, options.rules, options.turn_limit) for one in opponents]
        seeds = max(1, options.block // (len(tested) * len(seatings) * seatings[0].orders))
        games = [seeds * seating.orders for seating in seatings]
        return arena.against(tested, seatings, games, seed, options.threads, same_seeds=False)

    if others:
        played = wins([first, second], others)
    else:
        played = wins([first], [second]) + (wins([second], [first]) if rest > 1 else [])
    shares = [won / games for won, games in (one.by_seed for one in played)]
    other = shares[1] if len(shares) > 1 else 1 - shares[0]
    return shares[0] - other, sum(len(one.won) for one in played)


def players_of(options: SprtOptions) -> list[Policy]:
    """FIRST, SECOND and their opponents.

    Raises:
        MonopolyError: One is unknown, or does not play at this table.
    """
    opponents: list[Any] = []
    for name in options.against:
        split = name.removeprefix(strangers.PREFIX)
        found = (
            strangers.listed(split, options.num_players) if split in strangers.SPLITS else [name]
        )
        opponents += found
    players = resolve_all([options.first, options.second, *opponents])
    for policy in players:
        policy.check_table(options.num_players)
    return players


def execute(options: SprtOptions, _: Console) -> dict[str, Any]:
    """Play until a claim is accepted or --games are played; returns what --json prints.

    Raises:
        MonopolyError: Wrong options, an unknown player, a file that is not of this test.
    """
    options.check()
    players = players_of(options)
    names = options.first, options.second, *options.against
    settings = result_settings(
        options, (*FREE, "threads", "games", "progress"), files=digests_of(names)
    )
    blocks, games, tally = _resumed(options, settings)
    with reported(options.progress, options.games, games) as done:
        while not options.claims.verdict(tally) and games < options.games and blocks < _BLOCKS:
            differences, played = play_block(options, players, blocks)
            tally, blocks, games = tally.plus(differences), blocks + 1, games + played
            done(played)
            if options.out:
                state = {"settings": settings, "state": [blocks, games, *tally]}
                write_atomically(options.out, (json.dumps(state) + "\n").encode())
    mean, low, high = tally.interval
    return {
        "first": options.first, "second": options.second, "against": list(options.against),
        "accepted": options.claims.verdict(tally) or None, "difference": mean, "low": low,
        "high": high, "ratio": options.claims.ratio(tally), "bounds": list(options.claims.bounds),
        "claims": [options.low, options.high], "seeds": tally.seeds, "games": games,
    }  # fmt: skip


def _resumed(options: SprtOptions, settings: dict[str, Any]) -> tuple[int, int, Tally]:
    """Blocks, games and sums so far.

    Raises:
        ConfigurationError: The file is in the way, or of another test.
        FormatError: The file is damaged.
    """
    if not options.out or not (options.resume or options.out.exists()):
        return 0, 0, Tally()
    if not options.resume:
        raise ConfigurationError(
            f"{str(options.out)!r} exists: go on with --resume, or name another file."
        )
    found = read_json(read_file(options.out, _MOST_FILE))
    if not isinstance(found, dict) or found.get("settings") != settings:
        raise ConfigurationError(
            f"{str(options.out)!r} holds no test with the same players and options."
        )
    with understood(options.out):
        blocks, games, seeds = map(index, found["state"][:3])
        tally = Tally(seeds, *map(float, found["state"][3:]))
        if min(blocks, games, seeds) < 0 or not math.isfinite(options.claims.ratio(tally)):
            raise ValueError(f"state={found['state']}")
    return blocks, games, tally


def show(results: dict[str, Any]) -> None:
    """Print which claim is accepted, and the difference."""
    claims = dict(zip(("low", "high"), results["claims"], strict=True))
    accepted = results["accepted"]
    where = f" against {', '.join(results['against'])}" if results["against"] else ""
    print(
        f"{results['first']} minus {results['second']}{where}: {results['difference']:+.4f}"
        f" ({results['low']:+.4f} to {results['high']:+.4f}, {results['seeds']:,} seeds,"
        f" {results['games']:,} games)"
    )
    low, high = results["bounds"]
    print(
        f"accepted: {f'a difference of {claims[accepted]:+.3f}' if accepted else 'neither claim'}"
        f" (log-likelihood ratio {results['ratio']:.2f}, bounds {low:.2f} and {high:.2f})"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 only if the claim of a gain is accepted."""
    task = Command(
        SprtOptions, execute, show, lambda results: 0 if results["accepted"] == "high" else 1
    )
    return command.main("training.sprt", task, arguments, resume_from="the last block")


if __name__ == "__main__":
    sys.exit(main())
