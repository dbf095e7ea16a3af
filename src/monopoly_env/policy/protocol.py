"""The policy protocol: a policy chooses actions. It has one of two forms behind one interface.

A *compiled* policy is a Numba function `policy(game, mask, params, memory) -> action`: the arena
plays whole games between such policies on all cores without returning to Python. A *batched* policy
is Python: `act(decisions) -> actions` for many decisions at once (networks, people, remote
players). Every policy, compiled or batched, has `name`, `act` and `save`.

A compiled policy may have a second function, `observe(game, seat, params, memory)`. Every loop
calls it before the first decision of a turn, whoever's turn it is, so that a player remembers the
others before it is asked itself. It only writes to memory. A turn in which nobody has a choice is
not seen.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from monopoly_env.actions import NUM_ACTIONS
from monopoly_env.core import check_ranges, check_sound
from monopoly_env.engine.randomness import POLICIES, draw
from monopoly_env.engine.step import write_mask
from monopoly_env.errors import (
    ConfigurationError,
    FormatError,
    check_array,
    check_seats,
    nearest,
    shortened,
)
from monopoly_env.game import GAME, Game, Games
from monopoly_env.kernels import entry
from monopoly_env.kernels.callbacks import Callback, Caller
from monopoly_env.kernels.records import check_games
from monopoly_env.kernels.signatures import Array1, Array2
from monopoly_env.policy import files

# float64 numbers of a compiled policy's memory per game and seat, zeros at the start of a game
MEMORY: Final = 64
_SHOWN: Final = 3  # differences between arrays that an error names

Mask: TypeAlias = Array1[np.bool_]  # (NUM_ACTIONS,)
Row: TypeAlias = Array1[np.float64]
Kernel: TypeAlias = Callable[[Any, Mask, Row, Row], int]
Observe: TypeAlias = Callable[[Any, int, Row, Row], None]
Factory: TypeAlias = Callable[..., "Policy"]

# The kinds of policies that can be loaded: their factories by name. `policy.names` fills it.
FACTORIES: Final[dict[str, Factory]] = {}


class Decisions:
    """Open decisions of several games, one per game.

    Attributes:
        games: (B,) records. They may be copies: read them, but do not step them.
        memory: (B, 64) float64, a compiled policy's memory for each of these games and seats, to
            read and write.
        key: (B,) uint64, one random number per decision. It depends only on the game's seed, the
            seat and a counter. A policy that takes its randomness from it plays the same games at
            any batch size.
        history: B rows of whole numbers, the actions of everybody from the start of each game; None
            where the loop does not keep them.

    Examples:
        >>> import agents, monopoly_env as me
        >>> decisions = agents.Decisions(me.new_games(range(3)))
        >>> agents.make("expert").act(decisions).shape  # as a loop asks a policy
        (3,)
    """

    def __init__(
        self,
        games: Games,
        memory: NDArray[np.float64] | None = None,
        key: NDArray[np.uint64] | None = None,
        history: Sequence[ArrayLike] | None = None,
    ) -> None:
        """Wrap games that wait for a decision.

        Without `memory` it is zeros and is lost. Without `key` one is drawn from each game, which
        advances its policy counter; with it the games are trusted.

        Raises:
            ConfigurationError: `games` is not an array of records that may be written, a game has
                ended, or `memory`, `key` or `history` do not fit.
            PositionError: A record is invalid.
        """
        check_games(games, GAME, "monopoly_env", write=True)  # a policy draws from its game
        if key is None:
            check_sound(games)
        for name, rows, dtype, shape in (
            ("memory", memory, np.float64, (len(games), MEMORY)),
            ("key", key, np.uint64, (len(games),)),
        ):
            if rows is not None:
                check_array(f"{name} of decisions", rows, dtype, shape)
        if (games["decision"] == 0).any():
            ended = int(np.flatnonzero(games["decision"] == 0)[0])
            raise ConfigurationError(
                f"Game {ended} of {len(games)} has ended: it has no open decision."
            )
        self.games = games
        self.memory = np.zeros((len(games), MEMORY)) if memory is None else memory
        self.key = draw_keys(games) if key is None else key
        if history is not None and len(history) != len(games):
            raise ConfigurationError(
                f"The history of {len(games)} decisions must have a row for each, not"
                f" {len(history)}."
            )
        self.history = history

    def __len__(self) -> int:
        return len(self.games)

    @property
    def player(self) -> NDArray[np.int16]:
        """The seats that decide: (B,) int16."""
        return self.games["player"]

    @property
    def decision(self) -> NDArray[np.int16]:
        """The kinds of decision: (B,) int16, indices into `monopoly_env.actions.DECISION_NAMES`."""
        return self.games["decision"]

    @cached_property
    def mask(self) -> NDArray[np.bool_]:
        """The legal actions: (B, NUM_ACTIONS) bool."""
        mask = np.zeros((len(self.games), NUM_ACTIONS), np.bool_)
        _write_masks(self.games, mask)
        return mask

    def observation(
        self, encoding: str = "standard", pad_to: int | None = None
    ) -> NDArray[np.float32]:
        """The observations of the deciding players, computed on each call.

        Args:
            encoding: The name of an encoding (`monopoly_env.encoding`).
            pad_to: Make rows as long as for this many players. Absent players are zeros.

        Returns:
            (B, D) float32.
        """
        from monopoly_env import encoding as encodings  # compiled policies do without

        return encodings.observe_known(
            self.games, encoding, self.games["player"].astype(np.int64), pad_to
        )


@entry
def _write_masks(games: Games, masks: Array2[np.bool_]) -> None:
    for i in range(len(games)):
        write_mask(games[i], masks[i])


@entry
def _draw_keys(games: Games, keys: Array1[np.uint64]) -> None:
    for i in range(len(games)):
        game = games[i]
        seat = int(game.player)
        count = int(game.policy_draws[seat])
        high = draw(game, POLICIES, seat, count)
        low = draw(game, POLICIES, seat, count + 1)
        game.policy_draws[seat] = (count + 2) & 0x7FFFFFFF
        keys[i] = (np.uint64(high) << np.uint64(32)) | np.uint64(low)


def draw_keys(games: Games) -> NDArray[np.uint64]:
    """Draw a key for the open decision of each of B games, (B,) uint64; advances their counters."""
    keys = np.zeros(len(games), np.uint64)
    _draw_keys(games, keys)
    return keys


class Policy(ABC):
    """Base class of policies: it chooses actions.

    Attributes:
        name: The name shown in tables and messages.
        num_players: The size of the tables at which it plays, or of the largest; None: any.
        fewest_players: The size of the smallest, if it plays at smaller ones, too.
        reads_history: Whether it reads `Decisions.history`, which the arena keeps for such policies
            alone.
        costs: What a policy that asks others has spent so far, such as `decisions`, and
            `fallbacks`, the decisions made in its place. Results tell it; most policies count
            nothing.
    """

    name: str
    num_players: int | None = None
    fewest_players: int | None = None
    reads_history: bool = False
    costs: Mapping[str, float] = MappingProxyType({})

    @abstractmethod
    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """Choose an action for each decision.

        Args:
            decisions: B open decisions.

        Returns:
            (B,) int64, legal actions.
        """

    def observe(self, games: Games, seats: NDArray[np.int64], memory: NDArray[np.float64]) -> None:  # noqa: B027
        """Observe games at the first decision of a turn of anybody; loops call it for each seat.

        Args:
            games: (B,) records, which it must not change.
            seats: (B,) its own seat in each.
            memory: (B, 64) float64, the memory of that seat, to read and write.
        """

    def plays_at(self, num_players: int) -> bool:
        """Whether it plays at tables of this size."""
        return (
            self.num_players is None
            or (self.fewest_players or self.num_players) <= num_players <= self.num_players
        )

    def check_table(self, num_players: int) -> None:
        """Raise ConfigurationError if it does not play at tables of this size."""
        if not self.plays_at(num_players):
            several = self.fewest_players not in (None, self.num_players)
            fewer = f"{self.fewest_players} to " if several else ""
            raise ConfigurationError(
                f"Policy {self.name!r} plays at tables of {fewer}{self.num_players}, not of"
                f" {num_players}."
            )

    @property
    def kind(self) -> str:
        """The registered name whose factory rebuilds this policy when it is loaded."""
        return self.name

    def options(self) -> dict[str, Any]:
        """The arguments of the factory when the policy is loaded: JSON values by name."""
        return {}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The policy's numbers by name. They are saved beside the options."""
        return {}

    def set_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Set the policy's numbers to those that `arrays` of a policy of the same kind returned.

        Raises:
            FormatError: They do not fit. The message says what differs.
        """
        differences = array_differences(self.arrays(), arrays)
        if differences:
            raise FormatError(f"Policy {self.name!r}: {differences}.")

    def encoding(self) -> str | None:
        """The name of the encoding that the policy reads, or None if it reads no observations."""
        return None

    def save(self, path: str | Path) -> None:
        """Write the policy to a `.safetensors` file: numbers and JSON, no code.

        Raises:
            ConfigurationError: The policy's kind is not registered, or the file cannot be written.
        """
        if self.kind not in FACTORIES:
            raise ConfigurationError(
                f"Policy {self.name!r} could not be loaded: its kind {shortened(self.kind)} is not"
                " registered (agents.register)."
            )
        files.write(path, self.header(), self.arrays())

    def header(self) -> dict[str, Any]:
        """The JSON of a saved file: kind, name, options and encoding."""
        return {
            "kind": self.kind,
            "name": self.name,
            "options": self.options(),
            "encoding": self.encoding(),
        }

    def shown(self) -> Mapping[str, Any]:
        """The content of `repr` beside the name: by default the options."""
        return self.options()

    def __repr__(self) -> str:
        given = [
            repr(self.name),
            *(f"{key}={shortened(value)}" for key, value in self.shown().items()),
        ]
        return f"{type(self).__name__}({', '.join(given)})"


class BatchedPolicy(Policy):
    """Base class of policies that answer many decisions per call.

    A subclass needs a `name` and `act(decisions)`.

    Examples:
        >>> import agents
        >>> class First(agents.BatchedPolicy):
        ...     name = "first"
        ...     def act(self, decisions):
        ...         return decisions.mask.argmax(axis=1)  # the first legal action of each game
        >>> agents.arena.play([First(), "random"], games=2).games
        2
    """


class PolicyKernel(Callback):
    """The function of a compiled policy; `policy_kernel` makes it."""

    WHAT = "policy kernel"

    @staticmethod
    def _prototype(game: Game, mask: Mask, params: Row, memory: Row) -> int: ...  # type: ignore[empty-body]


# call(handle, game, mask, params, memory) -> action, in compiled code
call: Final = Caller(PolicyKernel)


class ObserveKernel(Callback):
    """The second function of a compiled policy; `observe_kernel` makes it."""

    WHAT = "observe kernel"

    @staticmethod
    def _prototype(game: Game, seat: int, params: Row, memory: Row) -> None: ...


# call_observe(handle, game, seat, params, memory), in compiled code
call_observe: Final = Caller(ObserveKernel)


def policy_kernel(function: Kernel) -> PolicyKernel:
    """Decorator that makes a function the kernel of a compiled policy.

    The function is `function(game, mask, params, memory) -> action`.

    `game` is the record, which the function must not change; `game.player` is the seat that
    decides. `mask` is (NUM_ACTIONS,) bool, the legal actions. `params` is the policy's float64 row
    of parameters. `memory` is 64 float64 numbers for this game and seat, zeros at the start of a
    game. The only source of randomness is `monopoly_env.engine.randomness.policy_draw(game, seat,
    bound)`.

    Examples:
        >>> import agents, numpy as np
        >>> @agents.policy_kernel
        ... def first(game, mask, params, memory):
        ...     return np.argmax(mask)
        >>> agents.arena.play([agents.CompiledPolicy("first", first), "random"], games=2).games
        2
    """
    return PolicyKernel(function)


def observe_kernel(function: Observe) -> ObserveKernel:
    """Decorator that makes a function the `observe` of a compiled policy.

    The function is `function(game, seat, params, memory)`.

    `seat` is the policy's own; `game.player` is the seat that is about to decide. The function
    writes to `memory`, which is that of `policy_kernel`. It must not change the game, nor draw
    random numbers.
    """
    return ObserveKernel(function)


class CompiledPolicy(Policy):
    """A kernel with its row of parameters, and perhaps one that observes."""

    def __init__(
        self,
        name: str,
        kernel: PolicyKernel,
        params: ArrayLike = (),
        *,
        kind: str | None = None,
        reads_mask: bool = True,
        observe: ObserveKernel | None = None,
    ) -> None:
        """Make a compiled policy.

        Args:
            name: The name shown in tables and messages.
            kernel: A function decorated with `policy_kernel`.
            params: Its parameters, converted to a float64 row.
            kind: The registered name of its factory; by default `name`.
            reads_mask: Whether the kernel reads `mask`. If it reads `game.legal` instead, the mask
                is not written, which saves time.
            observe: A function decorated with `observe_kernel`, if it looks at the turns of others,
                too.

        Raises:
            ConfigurationError: A kernel is not decorated, or the parameters are not a row of finite
                numbers.
        """
        if not isinstance(kernel, PolicyKernel):
            raise ConfigurationError(
                f"Policy {name!r}: the kernel {kernel!r} must be decorated with"
                " agents.policy_kernel."
            )
        if not isinstance(observe, ObserveKernel | None):
            raise ConfigurationError(
                f"Policy {name!r}: observe={observe!r} must be decorated with"
                " agents.observe_kernel."
            )
        row = np.array(params, np.float64)
        if row.ndim != 1 or not np.isfinite(row).all():
            raise ConfigurationError(
                f"Policy {name!r}: parameters must be one row of finite numbers, not"
                f" {params!r:.80}."
            )
        self.name = name
        self.kernel = kernel
        self.params = row
        self.reads_mask = reads_mask
        self.observer = observe
        self._kind = kind or name

    @property
    def kind(self) -> str:
        """The registered name whose factory rebuilds this policy when it is loaded."""
        return self._kind

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """Choose an action for each decision.

        Draws from the games' policy streams and writes to `decisions.memory`.
        """
        actions = np.zeros(len(decisions), np.int64)
        _act_all(
            decisions.games,
            decisions.mask,
            self.kernel.handle,
            self.params,
            decisions.memory,
            actions,
        )
        return actions

    def observe(self, games: Games, seats: NDArray[np.int64], memory: NDArray[np.float64]) -> None:
        """Look at games at the first decision of a turn, if it has a kernel for it."""
        if self.observer is not None:
            games = check_ranges(games)
            check_array("memory of decisions", memory, np.float64, (len(games), MEMORY))
            _observe_all(
                games, check_seats(games, seats), self.observer.handle, self.params, memory
            )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The row of parameters."""
        return {"params": self.params}

    def set_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Replace the row of parameters by a saved one.

        Raises:
            FormatError: It has another length, or a number that is none or out of its range; the
                message says which.
        """
        super().set_arrays(arrays)
        row = np.array(arrays["params"], np.float64)
        fault = self.fault_of(row) or (
            "" if np.isfinite(row).all() else "a parameter is not finite"
        )
        if fault:
            raise FormatError(f"Policy {self.name!r}: {fault}.")
        self.params = row

    def shown(self) -> Mapping[str, Any]:
        """The options, and the parameters if they are few."""
        return {
            **self.options(),
            **({"params": self.params.tolist()} if 0 < self.params.size <= MEMORY else {}),
        }

    def fault_of(self, row: NDArray[np.float64]) -> str:
        """The fault of a row from a file, or an empty text: kernels use numbers as indices."""
        del row
        return ""


@entry
def _act_all(
    games: Games,
    masks: Array2[np.bool_],
    kernel: int,
    params: Array1[np.float64],
    memory: Array2[np.float64],
    actions: Array1[np.int64],
) -> None:
    for i in range(len(games)):
        actions[i] = call(kernel, games[i], masks[i], params, memory[i])


@entry
def _observe_all(
    games: Games,
    seats: Array1[np.int64],
    observe: int,
    params: Array1[np.float64],
    memory: Array2[np.float64],
) -> None:
    for i in range(len(games)):
        call_observe(observe, games[i], seats[i], params, memory[i])


def array_differences(
    expected: Mapping[str, NDArray[Any]], given: Mapping[str, NDArray[Any]]
) -> str:
    """The first differences of two sets of arrays in names, shapes and types, or an empty text."""
    unknown = [
        f"unknown array {name!r} ({nearest(name, expected)})"
        for name in given
        if name not in expected
    ]
    missing = [f"array {name!r} is missing" for name in expected if name not in given]
    others = [
        f"array {name!r} is {given[name].dtype} {given[name].shape}, expected {array.dtype}"
        f" {array.shape}"
        for name, array in expected.items()
        if name in given and (given[name].shape != array.shape or given[name].dtype != array.dtype)
    ]
    found = unknown + missing + others
    return "; ".join(found[:_SHOWN]) + (
        f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    )
