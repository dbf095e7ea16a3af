"""Matches between players.

Every seed is played in every order of seats, and the result has intervals.

    >>> from pente_env.matches import play
    >>> results = play(["better", "capturer"], games=100, seed=0)
    >>> [(row.name, row.wins) for row in results.standings]
    [('better', 90), ('capturer', 10)]

A player is a `Player`, the name of a scripted one, or the path of a file: network.npz of a run of
`studies.pente_esp`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from monopoly_env.errors import ConfigurationError, shortened, whole_number
from monopoly_env.files import sources
from monopoly_env.files.sources import load_entry
from monopoly_env.intervals import clustered
from monopoly_env.kernels.philox import MAX_SEED
from pente_env.game import ENDINGS, FULL, MAX_PLAYERS, MIN_PLAYERS
from pente_env.loop import Table, play_games
from pente_env.player import Player, PlayerKernel
from pente_env.rules import Rules
from pente_env.scripted import make, names

PlayerLike: TypeAlias = Player | str
FILES: Final = "pente_env.players"  # entry points: what makes a player of a file, by its suffix


@dataclass(frozen=True)
class Standing:
    """A row of a match.

    Attributes:
        name: The player.
        games: Games played.
        wins: Games won.
        draws: Games that nobody won.
        win_rate: The share of games won.
        low: Lower bound of the 95% interval of that share, from the variance between seeds: without
            chance, the games of all seeds are the same.
        high: Its upper bound.
        pairs: Pairs taken in a game, on average.
    """

    name: str
    games: int
    wins: int
    draws: int
    win_rate: float
    low: float
    high: float
    pairs: float


@dataclass(frozen=True)
class MatchResult:
    """The games of a match.

    Attributes:
        names: The players.
        seats: (G, P), the number of the player in each seat.
        seeds: (G,) uint64.
        games: (G,) RESULT of `pente_env.loop`.
    """

    names: tuple[str, ...]
    seats: NDArray[np.int64]
    seeds: NDArray[np.uint64]
    games: NDArray[Any]

    @property
    def standings(self) -> list[Standing]:
        """A row a player, in the order of the names."""
        return [self._standing(number) for number in range(len(self.names))]

    def _standing(self, number: int) -> Standing:
        games, draws = len(self.games), int((self.games["winner"] < 0).sum())
        here = self.seats == number
        won = here.argmax(axis=1) == self.games["winner"]
        low, high = clustered(won, self.seeds)
        wins = int(won.sum())
        pairs = float(self.games["captured"][:, : here.shape[1]][here].mean() / 2)
        return Standing(self.names[number], games, wins, draws, wins / games, low, high, pairs)

    def by_seat(self) -> NDArray[np.int64]:
        """(K, P) games won by each player in each seat."""
        won = self.games["winner"] >= 0
        wins = np.zeros((len(self.names), self.seats.shape[1]), np.int64)
        winners = self.games["winner"][won]
        np.add.at(wins, (self.seats[won, winners], winners), 1)
        return wins

    def __str__(self) -> str:
        """A table, and how the games ended."""
        width = max(len(name) for name in self.names)
        rows = [f"{'player':{width}}   games    wins   95% interval    pairs"]
        rows += [
            f"{s.name:{width}} {s.games:7,} {s.win_rate:7.1%}  {s.low:6.1%} -{s.high:6.1%}"
            f" {s.pairs:8.2f}"
            for s in self.standings
        ]
        counts = np.bincount(self.games["ending"], minlength=FULL + 1) / len(self.games)
        shares = [f"{name} {n:.1%}" for name, n in zip(ENDINGS, counts, strict=True) if n]
        moves = self.games["moves"].mean()
        return "\n".join([*rows, f"Endings: {', '.join(shares)}. Moves: {moves:.1f}."])


def play(
    players: Sequence[PlayerLike],
    games: int = 1000,
    rules: Rules | str = "schrum",
    seed: int = 0,
    threads: int | None = None,
) -> MatchResult:
    """Play a match.

    Examples:
        >>> from pente_env.matches import play
        >>> results = play(["better", "blocker", "random"], games=60)  # a table of three
        >>> results.by_seat().shape  # games won by each player from each seat
        (3, 3)

    Args:
        players: Two or three players, names of scripted ones, or paths of files. A name may occur
            twice.
        games: At least so many; the number is rounded up, so that every seed is played in every
            order of seats.
        rules: Rules, or the name of a preset.
        seed: 0 to 2**64 - 1: games of consecutive seeds from this one on.
        threads: Number of threads; by default one per core. The results do not depend on it.

    Raises:
        ConfigurationError: A player, the number of players or of games is none, or a player cannot
            play on this board.
        RulesError: The rules are unknown.
        IllegalActionError: A player chose a point that is not legal.
    """
    seated, rules = [coerce(player) for player in players], Rules.coerce(rules)
    check_table(seated, rules)
    whole_number("games", games, 1)
    orders = np.array(list(itertools.permutations(range(len(seated)))))
    units = math.ceil(games / len(orders))
    whole_number("seed", seed, 0, MAX_SEED + 1 - units)
    seeds = np.repeat(np.uint64(seed) + np.arange(units, dtype=np.uint64), len(orders))
    seats = np.tile(orders, (units, 1))
    played = play_games(Table.of(seated), seats, seeds, rules, threads)
    return MatchResult(tuple(player.name for player in seated), seats, seeds, played)


def check_table(players: Sequence[Player | None], rules: Rules) -> None:
    """Make sure that these players, None for somebody from outside, make a table.

    Raises:
        ConfigurationError: They are too few or too many, or one of them plays on boards of another
            size only.
    """
    if not MIN_PLAYERS <= len(players) <= MAX_PLAYERS:
        raise ConfigurationError(
            f"A table of Pente has {MIN_PLAYERS} or {MAX_PLAYERS} players, not {len(players)}."
        )
    for player in players:
        if player:
            player.check_board(rules.size)


def coerce(player: PlayerLike) -> Player:
    """The player of a name, a file, or `my_file.py:Orange`; a player is returned unchanged.

    Raises:
        MonopolyError: There is no such player, or the file holds none.
    """
    if isinstance(player, Player):
        return player
    if isinstance(player, str) and sources.is_named(player):
        made = sources.make(player, Player, PlayerKernel)
        return Player(made.__name__, made) if isinstance(made, PlayerKernel) else made
    suffix = Path(player).suffix[1:] if isinstance(player, str) else ""
    if not suffix:  # names have none: nothing is loaded for them
        if isinstance(player, str) and player not in names() and Path(player).is_dir():
            raise ConfigurationError(
                f"{shortened(player)} is a folder. A player is a file in it, such as network.npz of"
                " a run."
            )
        return make(player)
    loaders = entry_points(group=FILES, name=suffix)
    if not loaders:
        known = ", ".join(f".{loader.name}" for loader in entry_points(group=FILES))
        raise ConfigurationError(
            f"No player is made of a file such as {shortened(player)}. Valid suffixes:"
            f" {known or 'none'}."
        )
    if not Path(player).is_file():
        raise ConfigurationError(f"There is no file {shortened(player)}.")
    loaded: Player = load_entry(next(iter(loaders)))(player)
    return loaded
