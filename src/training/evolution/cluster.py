"""Games on a Ray cluster: a batch is cut into pieces, which the nodes play.

Every game has a seed of its own, so neither the number of nodes nor how a batch is cut changes a result; a piece whose node died is played
again, by another one.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Final, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from agents.arena.batch import GameBatch
from agents.arena.table import Table
from monopoly_env.errors import ConfigurationError, MonopolyError
from monopoly_env.kernels import source_hash
from monopoly_env.policy.loop import OUTSIDE
from monopoly_env.policy.protocol import CompiledPolicy
from monopoly_env.rules import Rules

LOCAL: Final = "local"
AUTO: Final = "auto"

RESULTS: Final = ("place", "first", "capped", "seat_counts", "game_counts", "owned", "score")  # arrays of `GameBatch`, a row a game
_LONGEST: Final = 1024  # games of a piece: about a second of one core
_RETRIES: Final = 10  # deaths that a piece survives: more than a cluster of borrowed machines deals out
_PATIENCE: Final = 5.0  # seconds that the port of a cluster has to answer in


class ClusterTable(Table):
    """A table whose games are played on the cluster that was `joined`.

    Where a batched policy sits they are played here: the last bits of a network depend on how many decisions it is asked at once.
    """

    rows: NDArray[np.float64] | None = None  # of a population

    @classmethod
    def of_population(
        cls, player: CompiledPolicy, rows: NDArray[np.float64], rules: Rules, turn_limit: int, threads: int | None = None
    ) -> Self:
        """A population: players of one kernel that differ in their rows."""
        table = super().of_population(player, rows, rules, turn_limit, threads)
        table.rows = rows
        return table

    def play(self, batch: GameBatch, done: Callable[[int], None] = lambda games: None) -> None:
        """Play all games of a batch and fill in its results.

        Raises:
            ConfigurationError: The cluster, or the code on one of its nodes, failed.
            MonopolyError: What `Table.play` raises.
        """
        if batch.recorded or (self.row_of == OUTSIDE).any():
            super().play(batch, done)
            return
        import ray

        try:
            waiting = self._hand_out(batch)
            while waiting:
                _check_head()
                ended, _ = ray.wait(list(waiting), timeout=_PATIENCE)
                for piece in ended:
                    part = waiting.pop(piece)
                    for name, values in zip(RESULTS, ray.get(piece), strict=True):
                        getattr(batch, name)[part] = values
                    done(part.stop - part.start)
        except (ray.exceptions.RayError, ConnectionError) as error:
            _explain(error)

    def description(self) -> tuple[Any, ...]:
        """What a node makes the same table of: names of kernels, and numbers."""
        players = [
            CompiledPolicy(player.name, player.kernel, player.params, reads_mask=player.reads_mask)
            for player in (self.policies if self.rows is None else self.policies[:1])
            if isinstance(player, CompiledPolicy)
        ]
        return _version(), players, self.rows, self.rules, self.turn_limit

    def _hand_out(self, batch: GameBatch) -> dict[Any, slice]:
        """Tasks that play the batch, with the games of each: enough of them that no core is idle for long."""
        import ray

        table = ray.put(self.description())
        games, cores = len(batch.seats), max(1, int(ray.cluster_resources().get("CPU", 1)))
        size = max(1, min(_LONGEST, -(-games // (4 * cores))))
        parts = [slice(start, min(start + size, games)) for start in range(0, games, size)]
        task = ray.remote(num_cpus=1, max_retries=_RETRIES)(play_piece)
        return {task.remote(table, batch.seeds[part], batch.seats[part]): part for part in parts}


def play_piece(description: tuple[Any, ...], seeds: NDArray[np.uint64], seats: NDArray[np.int16]) -> tuple[NDArray[Any], ...]:
    """Play some games of a batch on one core of a node; kernels come from the node's own cache.

    Args:
        description: Of a `ClusterTable`.
        seeds: (G,) of the games.
        seats: (G, P), the numbers of the players.

    Returns:
        The `RESULTS` of the games.
    """
    version, players, rows, rules, turn_limit = description
    if version != _version():
        raise ConfigurationError(f"Node {socket.gethostname()} has other sources or another Numba: install the same version on all nodes.")
    if rows is None:
        here = Table(players, rules, turn_limit, threads=1)
    else:  # copied: arrays from Ray's store are read-only, which to Numba is another type
        here = Table.of_population(players[0], rows.copy(), rules, turn_limit, threads=1)
    batch = GameBatch(seeds, seats)
    here.play(batch)
    return tuple(getattr(batch, name) for name in RESULTS)


@cache
def _version() -> str:
    """A hash of all that decides how games go."""
    return source_hash("agents.arena.table") + source_hash("agents.registry")


@contextmanager
def joined(address: str | None, threads: int | None = None) -> Iterator[type[Table]]:
    """Join a cluster, and leave it at the end.

    Args:
        address: `local` starts one on this machine, `auto` joins the one that runs here; else `host:port` or `ray://host:port`.
            None: games are played by this process.
        threads: Cores of a local one; all by default.

    Yields:
        The kind of tables to play at.

    Raises:
        ConfigurationError: Ray is not installed, or the cluster can't be reached.
    """
    if address is None:
        yield Table
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # as Ray will do it by itself one day; else it warns
    try:
        import ray
    except ImportError as error:
        raise ConfigurationError("--cluster needs Ray: pip install 'monopoly-env[cluster]'.") from error
    _check_port(address)
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    own = {"num_cpus": threads, "include_dashboard": False} if address == LOCAL else {}
    try:
        ray.init(address, **quiet, **own)
    except Exception as error:
        raise _unreachable(address, str(error)) from error
    try:
        yield ClusterTable
    finally:
        ray.shutdown()


def _check_port(address: str) -> None:
    """Raise unless the port of an address answers: Ray itself would try for minutes."""
    if address in (LOCAL, AUTO):
        return
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 1 << 16:
        raise ConfigurationError(
            f"--cluster {address!r} is no address: use {LOCAL}, {AUTO}, host:port such as 10.0.0.1:6379, or ray://host:port."
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), _PATIENCE).close()
    except OSError as error:
        raise _unreachable(address, error.strerror or str(error)) from error


def _check_head() -> None:
    """Raise if the head of the cluster is gone: a minute later Ray would end this process without a word of ours."""
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
        f"--cluster {address}: no Ray cluster can be reached there ({first}). Start one by 'ray start --head', or play on this machine "
        "without --cluster: the results are the same."
    )


def _explain(error: Exception) -> NoReturn:
    """Raise an error of a task as it was raised there, and what befell the cluster as an error of ours."""
    cause = getattr(error, "cause", None)
    if isinstance(cause, MonopolyError):
        raise cause from error
    reason = str(cause or error).strip().partition("\n")[0].rstrip(".")
    raise ConfigurationError(
        f"The cluster failed: {reason}. The last checkpoint is kept: go on with --resume, with or without --cluster."
    ) from error
