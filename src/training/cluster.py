"""Games on a Ray cluster: they are cut into pieces, which the nodes play.

`joined` connects to the cluster and yields a `Place`: `runner` plays whole games, `play_games`
records choices, and `spread` calls a function of yours for each piece.

Every game has a seed of its own, so neither the number of nodes nor how games are cut changes a
result; a piece whose node died is played again, by another one. Only nodes with other processors
may differ in the last bits of a network.
"""

from __future__ import annotations

import logging
import os
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from functools import cache
from typing import Any, Final, NamedTuple, NoReturn, Protocol, Self
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from agents.arena.games import GameBatch
from agents.arena.runner import Runner
from agents.strangers import MixedPolicy
from monopoly_env.cli.extras import extra
from monopoly_env.errors import ConfigurationError, MonopolyError
from monopoly_env.kernels.sources import source_hash
from monopoly_env.policy.loop import OUTSIDE
from monopoly_env.policy.protocol import CompiledPolicy, Policy
from monopoly_env.rules import Rules
from training.experience.choices import SLICE, TURN_LIMIT, Choices, play_games

LOCAL: Final = "local"
AUTO: Final = "auto"

# arrays of `GameBatch`, a row a game
RESULTS: Final = ("place", "first", "capped", "seat_counts", "game_counts", "owned", "score")
_LONGEST: Final = 1024  # games of a piece: about a second of one core
# the same, where choices come back: their observations are large
_LONGEST_CHOICES: Final = 4 * SLICE
_ALWAYS_COMPILED: Final = "agents.registry"  # beside the module of the function
# deaths that a piece survives: more than a cluster of borrowed machines deals out
_RETRIES: Final = 10
_PATIENCE: Final = 5.0  # seconds that the port of a cluster has to answer in


class PlayGames(Protocol):
    """`training.experience.choices.play_games`, or what does the same elsewhere."""

    def __call__(
        self,
        policies: Sequence[CompiledPolicy],
        seats: NDArray[np.int64],
        recorded: NDArray[np.bool_],
        *,
        rules: Rules,
        seed: int = 0,
        first: int = 0,
        threads: int | None = None,
        turn_limit: int = TURN_LIMIT,
    ) -> Choices:
        """Play games and record choices."""
        ...


class Spread(Protocol):
    """A function called for each of many pieces on the cores of a cluster."""

    def __call__(
        self, function: Callable[..., Any], shared: Any, pieces: Sequence[tuple[Any, ...]]
    ) -> Iterator[tuple[int, Any]]:
        """Yield the number and the result `function(shared, *piece)` of each as it comes in."""
        ...


class Place(NamedTuple):
    """Where games are played: whole ones, recorded ones, and (None here) pieces of other work."""

    runner: type[Runner] = Runner
    play_games: PlayGames = play_games
    spread: Spread | None = None


HERE: Final = Place()


# --- whole games


class ClusterRunner(Runner):
    """A runner whose games are played on the cluster that was `joined`.

    Games of batched policies, whose last bits depend on the batch, and those whose luck is
    measured are played here.
    """

    rows: NDArray[np.float64] | None = None  # of a population

    @classmethod
    def of_population(
        cls,
        player: CompiledPolicy,
        rows: NDArray[np.float64],
        rules: Rules,
        turn_limit: int,
        threads: int | None = None,
    ) -> Self:
        """A population: players of one kernel that differ in their rows."""
        runner = super().of_population(player, rows, rules, turn_limit, threads)
        runner.rows = rows
        return runner

    def play(self, batch: GameBatch, done: Callable[[int], None] = lambda games: None) -> None:
        """Play all games of a batch and fill in its results; errors are those of `Runner.play`.

        Raises:
            ConfigurationError: The cluster, or the code on one of its nodes, failed.
        """
        if self.value is not None or (self.row_of == OUTSIDE).any():
            super().play(batch, done)
            return
        with _explained():
            description, pieces = self.description(), []
            parts = parts_of(len(batch.seats), _LONGEST)
            for part in parts:
                here = range(part.start, part.stop)
                kept = frozenset(number - part.start for number in batch.recorded if number in here)
                pieces.append((batch.seeds[part], batch.seats[part], kept))
            for number, (values, actions) in spread(play_piece, description, pieces):
                part = parts[number]
                for name, value in zip(RESULTS, values, strict=True):
                    getattr(batch, name)[part] = value
                batch.actions |= {part.start + game: played for game, played in actions.items()}
                done(part.stop - part.start)

    def description(self) -> tuple[Any, ...]:
        """Names of kernels, and numbers, from which a node makes the same runner."""
        different = self.policies if self.rows is None else self.policies[:1]
        return [_bare(player) for player in different], self.rows, self.rules, self.turn_limit


def play_piece(
    description: tuple[Any, ...],
    seeds: NDArray[np.uint64],
    seats: NDArray[np.int16],
    recorded: frozenset[int] = frozenset(),
) -> tuple[tuple[NDArray[Any], ...], dict[int, Any]]:
    """Play some games of a batch on one core of a node; returns their `RESULTS` and actions.

    Args:
        description: Of a `ClusterRunner`.
        seeds: (G,) of the games.
        seats: (G, P), the numbers of the players.
        recorded: The numbers of the games whose actions are recorded.
    """
    players, rows, rules, turn_limit = description
    if rows is None:
        here = Runner(players, rules, turn_limit, threads=1)
    else:  # copied: arrays from Ray's store are read-only, which to Numba is another type
        here = Runner.of_population(players[0], rows.copy(), rules, turn_limit, threads=1)
    batch = GameBatch(seeds, seats, recorded)
    here.play(batch)
    return tuple(getattr(batch, name) for name in RESULTS), batch.actions


# --- choices


# policies that are in Ray's store: most play in many rollouts
_sent: WeakKeyDictionary[Policy, Any] = WeakKeyDictionary()


def play_choices(
    policies: Sequence[CompiledPolicy], seats: NDArray[np.int64], recorded: NDArray[np.bool_], *,
    first: int = 0,
    threads: int | None = None, **options: Any,
) -> Choices:  # fmt: skip
    """`training.experience.choices.play_games`, on the cluster that was `joined`."""
    del threads
    import ray

    with _explained():
        for policy in policies:
            if policy not in _sent:
                _sent[policy] = ray.put(_bare(policy))
        shared = [_sent[policy] for policy in policies], recorded, options
        parts = parts_of(len(seats), _LONGEST_CHOICES, SLICE)
        pieces = [(seats[part], first + part.start) for part in parts]
        played = dict(spread(choices_of_piece, shared, pieces))
    return Choices.joined([
        played[number]._replace(game=played[number].game + np.int32(part.start))
        for number, part in enumerate(parts)
    ])  # fmt: skip


def choices_of_piece(shared: Any, seats: NDArray[np.int64], first: int) -> Choices:
    """Play games on one core of a node: (G, P) seats, from the game of number `first` on.

    `shared` has references to policies, whose choices are wanted, other arguments of `play_games`.
    """
    import ray

    players, recorded, options = shared
    return play_games(
        ray.get(players), seats.copy(), recorded.copy(), first=first, threads=1, **options
    )


# --- pieces


def _bare(policy: Policy) -> CompiledPolicy:
    """A compiled policy without what only its own class knows: kernels and numbers."""
    assert isinstance(policy, CompiledPolicy)
    if isinstance(policy, MixedPolicy):  # its row has addresses of this process
        return policy
    return CompiledPolicy(
        policy.name, policy.kernel, policy.params,
        reads_mask=policy.reads_mask, observe=policy.observer,
    )  # fmt: skip


def parts_of(games: int, longest: int, whole: int = 1) -> list[slice]:
    """Games cut into pieces of a multiple of `whole`, enough that no core is idle for long."""
    import ray

    cores = max(1, int(ray.cluster_resources().get("CPU", 1)))
    size = max(1, min(longest, -(-games // (4 * cores))) // whole) * whole
    return [slice(start, min(start + size, games)) for start in range(0, games, size)]


def spread(
    function: Callable[..., Any], shared: Any, pieces: Sequence[tuple[Any, ...]]
) -> Iterator[tuple[int, Any]]:
    """Call `function(shared, *piece)` on all cores; yields the number and the result of each piece.

    Raises:
        ConfigurationError: The cluster, or the code on one of its nodes, failed.
        MonopolyError: What the function raises.
    """
    import ray

    with _explained():
        version, given = _version(function.__module__), ray.put(shared)
        remote = ray.remote(num_cpus=1, max_retries=_RETRIES)(on_node)
        waiting = {
            remote.remote(version, function, given, piece): number
            for number, piece in enumerate(pieces)
        }
        while waiting:
            _check_head()
            ended, _ = ray.wait(list(waiting), timeout=_PATIENCE)
            for piece in ended:
                yield waiting.pop(piece), ray.get(piece)


def on_node(version: str, function: Callable[..., Any], shared: Any, piece: tuple[Any, ...]) -> Any:
    """Call a function on one core of a node, if its sources are those of this version."""
    if version != _version(function.__module__):
        raise ConfigurationError(
            f"Node {socket.gethostname()} has other sources or another Numba: install the same"
            " version on all nodes."
        )
    return function(shared, *piece)


@cache
def _version(module: str) -> str:
    """A hash of the code that decides the results of a module's functions."""
    return source_hash(module) + source_hash(_ALWAYS_COMPILED)


@contextmanager
def _explained() -> Iterator[None]:
    """Raise errors of the cluster as errors of ours."""
    import ray

    try:
        yield
    except (ray.exceptions.RayError, ConnectionError) as error:
        _explain(error)


# --- the cluster


@contextmanager
def joined(address: str | None, threads: int | None = None) -> Iterator[Place]:
    """Join a cluster, and leave it at the end; yields where to play.

    Args:
        address: `local` starts one on this machine, `auto` joins the one that runs here; else
            `host:port` or `ray://host:port`. None: games are played by this process.
        threads: Cores of a local one; all by default.

    Raises:
        ConfigurationError: Ray is not installed, or the cluster can't be reached.
    """
    if address is None:
        yield HERE
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # as Ray will do it by itself one day; else it warns
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    with extra("cluster"):
        import ray
    _check_port(address)
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    own = {"num_cpus": threads, "include_dashboard": False} if address == LOCAL else {}
    with redirect_stdout(sys.stderr):  # Ray prints which node died; stdout is for results
        try:
            ray.init(address, **quiet, **own)
        except Exception as error:
            raise _unreachable(address, str(error)) from error
        try:
            yield Place(ClusterRunner, play_choices, spread)
        finally:
            _sent.clear()
            ray.shutdown()


def _check_port(address: str) -> None:
    """Raise unless the port of an address answers: Ray itself would try for minutes."""
    if address in (LOCAL, AUTO):
        return
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 1 << 16:
        raise ConfigurationError(
            f"--cluster {address!r} is no address: use {LOCAL}, {AUTO}, host:port such as"
            " 10.0.0.1:6379, or ray://host:port."
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), _PATIENCE).close()
    except OSError as error:
        raise _unreachable(address, error.strerror or str(error)) from error


def _check_head() -> None:
    """Raise if the head of the cluster is gone; a minute later Ray would end this process."""
    import ray

    if not ray.util.client.ray.is_connected():  # through ray:// it raises ConnectionError by itself
        host, _, port = ray.get_runtime_context().gcs_address.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), _PATIENCE).close()
        except OSError as error:
            raise ConnectionError(f"its head at {host}:{port} is gone") from error


def _unreachable(address: str, reason: str) -> ConfigurationError:
    first = reason.strip().partition("\n")[0].rstrip(".")
    return ConfigurationError(
        f"--cluster {address}: no Ray cluster can be reached there ({first}). Start one by 'ray"
        " start --head', or play on this machine without --cluster: the results are the same."
    )


def _explain(error: Exception) -> NoReturn:
    """Raise an error of a task as it was raised there, one of the cluster as an error of ours."""
    cause = getattr(error, "cause", None)
    if isinstance(cause, MonopolyError):
        raise cause from error
    reason = str(cause or error).strip().partition("\n")[0].rstrip(".")
    raise ConfigurationError(
        f"The cluster failed: {reason}. What was saved on the way is kept: go on with --resume,"
        " with or without --cluster."
    ) from error
