"""The policy protocol: whoever chooses actions, in one of two forms behind one surface.

A *compiled* policy is a Numba function `policy(game, mask, params, memory) -> action`: the arena plays whole games of such
policies on all cores without coming back to Python. A *batched* policy is Python: `act(decisions) -> actions` for many
decisions at once (networks, people, remote players). Every policy, compiled ones too, has `name`, `act` and `save`.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final, TypeAlias

import numba
import numpy as np
from numpy.typing import ArrayLike, NDArray

from monopoly_env.actions import NUM_ACTIONS
from monopoly_env.engine.randomness import POLICIES, draw
from monopoly_env.engine.step import write_mask
from monopoly_env.errors import ConfigurationError, FormatError, nearest
from monopoly_env.game import GAME, Games
from monopoly_env.kernels import entry
from monopoly_env.policy import files
from monopoly_env.policy import names as catalogue

MEMORY: Final = 64  # float64 numbers that a compiled policy may keep for each game and seat, zeros at the start of a game

# What a compiled policy is called with and returns.
SIGNATURE: Final = numba.int64(numba.from_dtype(GAME), numba.boolean[::1], numba.float64[::1], numba.float64[::1])

Mask: TypeAlias = NDArray[np.bool_]  # (205,)
Row: TypeAlias = NDArray[np.float64]
Kernel: TypeAlias = Callable[[Any, Mask, Row, Row], int]


class Decisions:
    """Open decisions, one of each of several games.

    Attributes:
        games: (B,) records. They may be copies: read them, but do not step them.
        memory: (B, 64) float64, what a compiled policy remembers of each of these games and seats; its own rows, to write into.
        key: (B,) uint64, a random number a decision, a function of the game's seed, its seat and a counter alone. Policies
            that take their randomness from it play the same games whatever the batch.
    """

    def __init__(self, games: Games, memory: NDArray[np.float64] | None = None, key: NDArray[np.uint64] | None = None) -> None:
        """Wrap games that wait for a decision.

        Args:
            games: (B,) records. Without `key`, a key is drawn from each: that moves the game's policy counter on.
            memory: (B, 64) float64; without it, zeros that are forgotten afterwards.
            key: (B,) uint64, where the keys were drawn already.

        Raises:
            ConfigurationError: The games are no array of records, or one of them has ended.
        """
        if getattr(games, "dtype", None) != GAME or games.ndim != 1:
            given = f"{getattr(games, 'dtype', type(games).__name__)} of shape {np.shape(games)}"
            raise ConfigurationError(f"Decisions are made of a 1-d array of game records, not of {given:.80}.")
        if (games["decision"] == 0).any():
            ended = int(np.flatnonzero(games["decision"] == 0)[0])
            raise ConfigurationError(f"Game {ended} of {len(games)} has ended: it has no open decision.")
        self.games = games
        self.memory = np.zeros((len(games), MEMORY)) if memory is None else memory
        self.key = draw_keys(games) if key is None else key

    def __len__(self) -> int:
        return len(self.games)

    @property
    def player(self) -> NDArray[np.int16]:
        """(B,) int16, the seat that decides."""
        return self.games["player"]

    @property
    def decision(self) -> NDArray[np.int16]:
        """(B,) int16, what is asked: an index into `monopoly_env.actions.DECISION_NAMES`."""
        return self.games["decision"]

    @cached_property
    def mask(self) -> NDArray[np.bool_]:
        """(B, 205) bool, the legal actions."""
        mask = np.zeros((len(self.games), NUM_ACTIONS), np.bool_)
        _write_masks(self.games, mask)
        return mask

    def observation(self, encoding: str = "standard", pad_to: int | None = None) -> NDArray[np.float32]:
        """What the deciding players see, made when it is asked for.

        Args:
            encoding: Name of an encoding of `monopoly_env.encoding`.
            pad_to: Number of players whose length the observation gets; absent ones are zeros.

        Returns:
            (B, D) float32.
        """
        from monopoly_env import encoding as encodings  # an arena of compiled policies needs none

        return encodings.observe_all(self.games, encoding, pad_to=pad_to)


@entry()
def _write_masks(games: Games, masks: NDArray[np.bool_]) -> None:
    for i in range(len(games)):
        write_mask(games[i], masks[i])


@entry()
def _draw_keys(games: Games, keys: NDArray[np.uint64]) -> None:
    for i in range(len(games)):
        game = games[i]
        seat = int(game.player)
        count = int(game.policy_draws[seat])
        high = draw(game, POLICIES, seat, count)
        low = draw(game, POLICIES, seat, count + 1)
        game.policy_draws[seat] = (count + 2) & 0x7FFFFFFF
        keys[i] = (np.uint64(high) << np.uint64(32)) | np.uint64(low)


def draw_keys(games: Games) -> NDArray[np.uint64]:
    """A random key for the open decision of each game; moves the policy counters of the games on.

    Args:
        games: (B,) records.

    Returns:
        (B,) uint64.
    """
    keys = np.zeros(len(games), np.uint64)
    _draw_keys(games, keys)
    return keys


class Policy(ABC):
    """Whoever chooses actions.

    Attributes:
        name: What tables and messages call it.
    """

    name: str

    @abstractmethod
    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """Choose.

        Args:
            decisions: (B,) open decisions.

        Returns:
            (B,) int64, a legal action for each.
        """

    @property
    def kind(self) -> str:
        """The registered name whose factory rebuilds this policy."""
        return self.name

    def options(self) -> dict[str, Any]:
        """What the factory is called with when the policy is loaded: JSON values by name."""
        return {}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The policy's numbers, by name; saved beside the options."""
        return {}

    def set_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over numbers that `arrays` of such a policy returned.

        Raises:
            FormatError: They do not fit; the message says what differs.
        """
        differences = array_differences(self.arrays(), arrays)
        if differences:
            raise FormatError(f"Policy {self.name!r}: {differences}.")

    def encoding(self) -> str | None:
        """The encoding of the observations that the policy reads, if it reads any."""
        return None

    def save(self, path: str | Path) -> None:
        """Write the policy to a `.safetensors` file: numbers and JSON, no code.

        Raises:
            ConfigurationError: Its kind is not registered, or the file can't be written.
        """
        catalogue.check(self.kind)
        about = {"kind": self.kind, "name": self.name, "options": self.options(), "encoding": self.encoding()}
        files.write(path, about, self.arrays())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


class BatchedPolicy(Policy):
    """Base of policies that answer many decisions in one call: give it a `name` and `act(decisions)`."""


class PolicyKernel:
    """A function of the compiled form, compiled on first use. Made by `policy_kernel`."""

    def __init__(self, function: Kernel) -> None:
        """Keep the function; nothing is compiled yet."""
        self.function = function
        self.__name__: str = function.__name__
        self.__module__ = function.__module__
        self.__doc__ = function.__doc__

    def __reduce__(self) -> str:
        """Another process finds it by its module and name, like any function: no code is sent."""
        return self.__name__

    @cached_property
    def compiled(self) -> Kernel:
        """The machine code, kept on disk where the function lies in a file.

        Raises:
            ConfigurationError: It takes other arguments, or does not compile; the message says why.
        """
        parameters = list(inspect.signature(self.function).parameters)
        if len(parameters) != 4:
            raise ConfigurationError(
                f"A policy kernel takes (game, mask, params, memory); {self.__name__} takes ({', '.join(parameters)})."
            )
        if numba.config.DISABLE_JIT:
            return self.function
        try:
            if hasattr(inspect.getmodule(self.function), "__file__"):
                return entry(SIGNATURE)(self.function)
            return numba.njit(SIGNATURE, nogil=True, error_model="numpy")(self.function)  # typed at a prompt: nothing to keep
        except numba.core.errors.NumbaError as error:
            raise ConfigurationError(f"The policy kernel {self.__name__} does not compile: {error}") from error

    def __call__(self, game: Any, mask: Mask, params: Row, memory: Row) -> int:
        """Choose for one game, a record."""
        return self.compiled(game, mask, params, memory)


def policy_kernel(function: Kernel) -> PolicyKernel:
    """Decorate `function(game, mask, params, memory) -> action` to make it the kernel of a compiled policy.

    The function sees the record and must not write into it; `game.player` is the seat that decides, `mask` (205,) bool its
    legal actions, `params` the policy's float64 row, `memory` 64 float64 numbers of this game and seat, zeros at the start of
    a game. Its only source of chance is `monopoly_env.engine.randomness.policy_draw(game, seat, bound)`.
    """
    return PolicyKernel(function)


class CompiledPolicy(Policy):
    """A kernel with its row of parameters."""

    def __init__(
        self, name: str, kernel: PolicyKernel, params: ArrayLike = (), *, kind: str | None = None, reads_mask: bool = True
    ) -> None:
        """Make a compiled policy.

        Args:
            name: What tables and messages call it.
            kernel: A function decorated by `policy_kernel`.
            params: Its row of numbers, made float64.
            kind: The registered name of its factory; the name itself if not given.
            reads_mask: Whether the kernel reads `mask`. One that reads `game.legal` itself saves the writing of it.

        Raises:
            ConfigurationError: The kernel is not decorated, or the parameters are no row of finite numbers.
        """
        if not isinstance(kernel, PolicyKernel):
            raise ConfigurationError(f"Policy {name!r}: decorate {kernel!r} with agents.policy_kernel.")
        row = np.array(params, np.float64)
        if row.ndim != 1 or not np.isfinite(row).all():
            raise ConfigurationError(f"Policy {name!r}: parameters are one row of finite numbers, not {params!r:.80}.")
        self.name = name
        self.kernel = kernel
        self.params = row
        self.reads_mask = reads_mask
        self._kind = kind or name

    @property
    def kind(self) -> str:
        """The registered name whose factory rebuilds this policy."""
        return self._kind

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """Choose for every decision; draws from the policy streams of `decisions.games` and writes into `decisions.memory`."""
        actions = np.zeros(len(decisions), np.int64)
        _act_all(decisions.games, decisions.mask, kernel_list([self]), self.params, decisions.memory, actions)
        return actions

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The parameter row."""
        return {"params": self.params}

    def set_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take over a parameter row of the same length."""
        super().set_arrays(arrays)
        self.params = np.array(arrays["params"], np.float64)


@entry()
def _act_all(
    games: Games,
    masks: NDArray[np.bool_],
    kernels: Any,
    params: NDArray[np.float64],
    memory: NDArray[np.float64],
    actions: NDArray[np.int64],
) -> None:
    kernel = kernels[0]
    for i in range(len(games)):
        actions[i] = kernel(games[i], masks[i], params, memory[i])


def kernel_list(policies: Sequence[CompiledPolicy]) -> Any:
    """The kernels of compiled policies as a list that compiled loops can call from."""
    if numba.config.DISABLE_JIT:
        return [policy.kernel.compiled for policy in policies]
    kernels = numba.typed.List.empty_list(numba.types.FunctionType(SIGNATURE))
    for policy in policies:
        kernels.append(policy.kernel.compiled)
    return kernels


def padded_rows(policies: Sequence[CompiledPolicy]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The parameter rows of policies as one array (K, L), L at least 1, and their lengths (K,)."""
    lengths = np.array([len(policy.params) for policy in policies], np.int64)
    padded = np.zeros((len(policies), max([1, *lengths.tolist()])))
    for row, policy in zip(padded, policies, strict=True):
        row[: len(policy.params)] = policy.params
    return padded, lengths


def array_differences(expected: Mapping[str, NDArray[Any]], given: Mapping[str, NDArray[Any]]) -> str:
    """What differs between two sets of arrays in names, shapes and types; empty if nothing does."""
    unknown = [f"unknown array {name!r} ({nearest(name, expected)})" for name in given if name not in expected]
    missing = [f"array {name!r} is missing" for name in expected if name not in given]
    others = [
        f"array {name!r} is {given[name].dtype} {given[name].shape}, expected {array.dtype} {array.shape}"
        for name, array in expected.items()
        if name in given and (given[name].shape != array.shape or given[name].dtype != array.dtype)
    ]
    return "; ".join(unknown + missing + others)
