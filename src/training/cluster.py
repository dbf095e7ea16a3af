"""Games on a Ray cluster: they are cut into pieces, which the nodes play.

    with cluster.joined("auto") as place:
        # whole games, as the arena plays them
        runner = place.runner(policies, rules, turn_limit)
        # and as a learner learns from them
        choices = place.play_games(policies, seats, recorded, rules=rules)
        # a generation of players of Pente
        scores = place.evaluate(rows, like, experiment)

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
from dataclasses import fields
from functools import cache
from typing import Any, Final, NamedTuple, NoReturn, Protocol, Self
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from agents.arena.batch import GameBatch
from agents.arena.runner import Runner
from monopoly_env.cli.extras import extra
from monopoly_env.errors import ConfigurationError, MonopolyError
from monopoly_env.kernels.sources import source_hash
from monopoly_env.policy.loop import OUTSIDE
from monopoly_env.policy.protocol import CompiledPolicy, Policy
from monopoly_env.rules import Rules
from pente_env.fitness import Experiment, Scores, evaluate
from pente_env.player import Player
from training.experience.choices import SLICE, TURN_LIMIT, Choices, play_games

LOCAL: Final = "local"
AUTO: Final = "auto"

# arrays of `GameBatch`, a row a game
RESULTS: Final = ("place", "first", "capped", "seat_counts", "game_counts", "owned", "score")
_SCORES: Final = tuple(field.name for field in fields(Scores))
_LONGEST: Final = 1024  # games of a piece: about a second of one core
# the same, where choices come back: their observations are large
_LONGEST_CHOICES: Final = 4 * SLICE
_LONGEST_ROWS: Final = 16 * _LONGEST  # the same of Pente, whose games are short
_COMPILED: Final = (
    "agents.arena.runner",
    "agents.registry",
    "training.experience.choices",
    "pente_env.fitness",
    "agents.networks.pente",
)
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


class Evaluate(Protocol):
    """`pente_env.fitness.evaluate`, or what does the same elsewhere."""

    def __call__(
        self, rows: NDArray[np.float64], like: Player, experiment: Experiment, seed: int = 0, *,
        paired: bool = True,
        threads: int | None = None,
    ) -> Scores:  # fmt: skip
        """Let rows of numbers play Pente."""
        ...


class Place(NamedTuple):
    """Where games are played.

    Attributes:
        runner: Plays whole games.
        play_games: Plays games and returns the choices made in them.
        evaluate: Plays whole games of Pente.
    """

    runner: type[Runner] = Runner
    play_games: PlayGames = play_games
    evaluate: Evaluate = evaluate


HERE: Final = Place()


# --- whole games


class ClusterRunner(Runner):
    """A runner whose games are played on the cluster that was `joined`.

    Where a batched policy sits they are played here: the last bits of a network depend on how many
    decisions it is asked at once. So are games whose luck is measured.
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
        """Play all games of a batch and fill in its results.

        Raises:
            ConfigurationError: The cluster, or the code on one of its nodes, failed.
            MonopolyError: What `Runner.play` raises.
        """
        if self.value is not None or (self.row_of == OUTSIDE).any():
            super().play(batch, done)
            return
        import ray

        with _explained():
            runner = ray.put(self.description())
            parts = _parts(len(batch.seats), _LONGEST)
            recorded = [
                frozenset(
                    number - part.start
                    for number in batch.recorded
                    if part.start <= number < part.stop
                )
                for part in parts
            ]
            pieces = [
                (runner, batch.seeds[part], batch.seats[part], kept)
                for part, kept in zip(parts, recorded, strict=True)
            ]
            for number, (values, actions) in _played(play_piece, pieces):
                part = parts[number]
                for name, value in zip(RESULTS, values, strict=True):
                    getattr(batch, name)[part] = value
                batch.actions |= {part.start + game: played for game, played in actions.items()}
                done(part.stop - part.start)

    def description(self) -> tuple[Any, ...]:
        """What a node makes the same runner of: names of kernels, and numbers."""
        players = [
            _bare(player) for player in (self.policies if self.rows is None else self.policies[:1])
        ]
        return _version(), players, self.rows, self.rules, self.turn_limit


def play_piece(
    description: tuple[Any, ...],
    seeds: NDArray[np.uint64],
    seats: NDArray[np.int16],
    recorded: frozenset[int] = frozenset(),
) -> tuple[tuple[NDArray[Any], ...], dict[int, Any]]:
    """Play some games of a batch on one core of a node; kernels come from the node's own cache.

    Args:
        description: Of a `ClusterRunner`.
        seeds: (G,) of the games.
        seats: (G, P), the numbers of the players.
        recorded: The numbers of the games whose actions are recorded.

    Returns:
        The `RESULTS` of the games, and `GameBatch.actions`.
    """
    version, players, rows, rules, turn_limit = description
    _check_version(version)
    if rows is None:
        here = Runner(players, rules, turn_limit, threads=1)
    else:  # copied: arrays from Ray's store are read-only, which to Numba is another type
        here = Runner.of_population(players[0], rows.copy(), rules, turn_limit, threads=1)
    batch = GameBatch(seeds, seats, recorded)
    here.play(batch)
    return tuple(getattr(batch, name) for name in RESULTS), batch.actions


# --- choices


# policies that are in Ray's store: most play in many blocks of games
_sent: WeakKeyDictionary[Policy, Any] = WeakKeyDictionary()


def play_choices(
    policies: Sequence[CompiledPolicy], seats: NDArray[np.int64], recorded: NDArray[np.bool_], *,
    first: int = 0,
    threads: int | None = None, **options: Any,
) -> Choices:  # fmt: skip
    """Play what `training.experience.choices.play_games` does, on the cluster that was `joined`.

    The choices are the same, in the same order.

    Raises:
        ConfigurationError: The cluster, or the code on one of its nodes, failed.
        IllegalActionError: A policy chose an illegal action, or never ended its turn.
    """
    del threads
    import ray

    with _explained():
        for policy in policies:
            if policy not in _sent:
                _sent[policy] = ray.put(_bare(policy))
        players = [_sent[policy] for policy in policies]
        parts = _parts(len(seats), _LONGEST_CHOICES, SLICE)
        pieces = [
            (_version(), players, seats[part], recorded, {"first": first + part.start, **options})
            for part in parts
        ]
        played = dict(_played(choices_of_piece, pieces))
    return Choices.joined(
        [
            played[number]._replace(game=played[number].game + np.int32(part.start))
            for number, part in enumerate(parts)
        ]
    )


def choices_of_piece(
    version: str,
    players: Sequence[Any],
    seats: NDArray[np.int64],
    recorded: NDArray[np.bool_],
    options: dict[str, Any],
) -> Choices:
    """Play some games on one core of a node.

    Args:
        version: Of the code that asks.
        players: References to the policies.
        seats: (G, P), the numbers of the policies.
        recorded: (K,), whose choices are wanted.
        options: Other arguments of `play_games`.
    """
    import ray

    _check_version(version)
    return play_games(ray.get(list(players)), seats.copy(), recorded.copy(), threads=1, **options)


# --- Pente


def evaluate_rows(
    rows: NDArray[np.float64],
    like: Player,
    experiment: Experiment,
    seed: int = 0,
    *,
    paired: bool = True,
    threads: int | None = None,
) -> Scores:
    """What `pente_env.fitness.evaluate` does, on the cluster that was `joined`: the same scores.

    Raises:
        ConfigurationError: The cluster, or the code on one of its nodes, failed.
        IllegalActionError: A row chose a point that is not legal.
    """
    del threads
    import ray

    with _explained():
        parts, table = (
            _parts(len(rows), max(1, _LONGEST_ROWS // experiment.games)),
            ray.put((like, experiment)),
        )
        pieces = [
            (_version(), table, rows[part], {"seed": seed, "paired": paired, "first": part.start})
            for part in parts
        ]
        played = dict(_played(scores_of_piece, pieces))
    return Scores(
        *(
            np.concatenate([getattr(played[number], name) for number in range(len(parts))])
            for name in _SCORES
        )
    )


def scores_of_piece(
    version: str,
    table: tuple[Player, Experiment],
    rows: NDArray[np.float64],
    options: dict[str, Any],
) -> Scores:
    """Let some rows play on one core of a node.

    Args:
        version: Of the code that asks.
        table: Who has the kernel of the rows, and the tests.
        rows: (N, L) float64.
        options: Other arguments of `evaluate`.
    """
    _check_version(version)
    return evaluate(rows, *table, threads=1, **options)


# --- pieces


def _bare(policy: Policy) -> CompiledPolicy:
    """A compiled policy without what only its own class knows: kernels and numbers."""
    assert isinstance(policy, CompiledPolicy)
    return CompiledPolicy(
        policy.name,
        policy.kernel,
        policy.params,
        reads_mask=policy.reads_mask,
        watch=policy.watcher,
    )


def _parts(games: int, longest: int, whole: int = 1) -> list[slice]:
    """Games cut into pieces of a multiple of `whole`.

    There are enough of them that no core is idle for long.
    """
    import ray

    cores = max(1, int(ray.cluster_resources().get("CPU", 1)))
    size = max(1, min(longest, -(-games // (4 * cores))) // whole) * whole
    return [slice(start, min(start + size, games)) for start in range(0, games, size)]


def _played(
    task: Callable[..., Any], pieces: Sequence[tuple[Any, ...]]
) -> Iterator[tuple[int, Any]]:
    """Hand pieces out to all cores; yields the number and the result of each as it comes in."""
    import ray

    remote = ray.remote(num_cpus=1, max_retries=_RETRIES)(task)
    waiting = {remote.remote(*piece): number for number, piece in enumerate(pieces)}
    while waiting:
        _check_head()
        ended, _ = ray.wait(list(waiting), timeout=_PATIENCE)
        for piece in ended:
            yield waiting.pop(piece), ray.get(piece)


@contextmanager
def _explained() -> Iterator[None]:
    """Raise errors of the cluster as errors of ours."""
    import ray

    try:
        yield
    except (ray.exceptions.RayError, ConnectionError) as error:
        _explain(error)


@cache
def _version() -> str:
    """A hash of all that decides how games go."""
    return "".join(source_hash(name) for name in _COMPILED)


def _check_version(version: str) -> None:
    if version != _version():
        raise ConfigurationError(
            f"Node {socket.gethostname()} has other sources or another Numba: install the same"
            " version on all nodes."
        )


# --- the cluster


@contextmanager
def joined(address: str | None, threads: int | None = None) -> Iterator[Place]:
    """Join a cluster, and leave it at the end.

    Args:
        address: `local` starts one on this machine, `auto` joins the one that runs here; else
            `host:port` or `ray://host:port`. None: games are played by this process.
        threads: Cores of a local one; all by default.

    Yields:
        Where to play.

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
            yield Place(ClusterRunner, play_choices, evaluate_rows)
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
    """Raise if the head of the cluster is gone.

    A minute later Ray would end this process without a word of ours.
    """
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
