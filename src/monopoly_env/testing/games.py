"""Whole games between policies, with a check of every decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from monopoly_env import core
from monopoly_env.actions import DECISION_NAMES
from monopoly_env.engine.agenda import FAULTS
from monopoly_env.engine.step import apply
from monopoly_env.errors import EngineError, MonopolyError
from monopoly_env.game import GAME, Games
from monopoly_env.kernels import borrowed, entry, kernel
from monopoly_env.kernels.signatures import Array1, Array2
from monopoly_env.policy.loop import (
    BROKEN,
    ILLEGAL,
    OUTSIDE,
    PATIENCE,
    STUCK,
    WAITING,
    Players,
    Running,
    next_of,
    refusal,
)
from monopoly_env.policy.protocol import CompiledPolicy, Decisions, Policy
from monopoly_env.rules import Rules

_CHUNK: Final = 4096  # actions of a game that are collected at a time
# The word of the record where `policy_draws` begins
_DRAWS: Final = np.dtype(GAME).fields["policy_draws"][1] // 4  # type: ignore[index]


class CheckError(MonopolyError, AssertionError):
    """A broken contract. The message names the expectation and the game."""


@dataclass(frozen=True)
class Start:
    """The start of a game: the arguments of `core.new_game`."""

    num_players: int
    rules: Rules | str
    seed: int

    def __str__(self) -> str:
        rules = self.rules if isinstance(self.rules, str) else self.rules.changed()
        return f"new_game({self.num_players}, {rules!r}, seed={self.seed})"

    def game(self) -> Any:
        """The game at its first decision."""
        return core.new_game(self.num_players, self.rules, self.seed)


@dataclass(frozen=True)
class CheckedGames:
    """B games at tables of one size, with their policies.

    Attributes:
        policies: The policies.
        starts: The start of each game.
        seats: (B, P) int, the index of the policy in each seat of each game.
    """

    policies: Sequence[Policy]
    starts: Sequence[Start]
    seats: NDArray[np.int64]

    def part(self, numbers: NDArray[np.int64]) -> CheckedGames:
        """Some of the games."""
        return CheckedGames(
            self.policies, [self.starts[number] for number in numbers], self.seats[numbers]
        )


def play(
    match: CheckedGames, turn_limit: int, decisions: int | None = None, compiled: bool = True
) -> list[NDArray[np.uint8]]:
    """Play games and check every decision.

    Args:
        match: The games.
        turn_limit: Turns per player after which the score decides a game.
        decisions: Stop each game after so many decisions; None plays it to its end.
        compiled: False: compiled policies play through `act`, like batched ones.

    Returns:
        The actions of each game, in order.

    Raises:
        CheckError: A policy returned anything but a legal action for each decision, changed a game,
            or never ended its turn.
        EngineError: The engine broke one of its own invariants.
    """
    return _Play(match, turn_limit, decisions, compiled).run()


class _Checked(NamedTuple):
    """Running games, and the same records as numbers."""

    running: Running
    words: Array2[np.int32]  # (B, W), the records as numbers
    before: Array2[np.int32]  # (B, W), before the last decision
    actions: Array2[np.uint8]  # (B, L)
    lengths: Array1[np.int64]  # (B,), of the rows of actions


@entry
def _advance(state: _Checked) -> int:
    """Play games until each has stopped or filled its row of actions.

    Returns the index of a game that a policy has changed, or -1.
    """
    state = borrowed(state)
    running, words, before, lengths = state.running, state.words, state.before, state.lengths
    for i in range(len(running.games)):
        game = running.games[i]
        while lengths[i] < state.actions.shape[1]:
            own = _DRAWS + int(game.player)  # a policy may draw from its own stream
            _copy(words[i], before[i])
            action = next_of(running, i)
            if action < 0:
                break
            before[i, own] = words[i, own]
            if _differ(words[i], before[i]):
                return i
            state.actions[i, lengths[i]] = action
            lengths[i] += 1
            apply(game, action)
    return -1


@kernel
def _copy(source: Any, target: Any) -> None:
    for word in range(len(source)):
        target[word] = source[word]


@kernel
def _differ(first: Any, second: Any) -> bool:
    different = 0
    for word in range(len(first)):
        different |= first[word] ^ second[word]
    return different != 0


class _Play:
    """Games under way."""

    def __init__(
        self, match: CheckedGames, turn_limit: int, decisions: int | None, compiled: bool
    ) -> None:
        self.match = match
        self.decisions = decisions
        inside = [
            policy for policy in match.policies if compiled and isinstance(policy, CompiledPolicy)
        ]
        numbers = {id(policy): number for number, policy in enumerate(inside)}
        seats = np.array([numbers.get(id(policy), OUTSIDE) for policy in match.policies])[
            match.seats
        ]
        self.games = np.concatenate(
            [core.new_games([start.seed], start.num_players, start.rules) for start in match.starts]
        )
        words, count = _words(self.games), len(self.games)
        self.running = Running.room(seats.shape, Players.of(inside), turn_limit)._replace(
            games=self.games, seats=seats
        )
        self.state = _Checked(
            self.running, words, words.copy(),
            np.zeros((count, decisions or _CHUNK), np.uint8), np.zeros(count, np.int64),
        )  # fmt: skip
        # turns that policies asked through `act` have seen
        self.observed = None if compiled else np.zeros(count, np.int64)
        # actions, but for those in `state`
        self.made: list[list[NDArray[np.uint8]]] = [[] for _ in self.games]

    def run(self) -> list[NDArray[np.uint8]]:
        actions, lengths = self.state.actions, self.state.lengths
        while True:
            self._check(_advance(self.state))
            full = lengths == actions.shape[1]
            waiting = np.flatnonzero((self.running.progress["stop"] == WAITING) & ~full)
            if len(waiting):
                self._ask_all(waiting)
            elif self.decisions or not full.any():
                return [
                    np.concatenate([*made, row[:length]])
                    for made, row, length in zip(self.made, actions, lengths, strict=True)
                ]
            for number in np.flatnonzero(full) if not self.decisions else ():
                self.made[number].append(actions[number].copy())
                lengths[number] = 0

    def _check(self, changed: int) -> None:
        """Raise the error of the compiled loop."""
        state = self.state
        if changed >= 0:
            self._refuse_change(changed, state.before[changed], state.words[changed])
        for number in np.flatnonzero(self.running.progress["stop"] <= ILLEGAL).tolist():
            game, stop, who, where = (
                self.games[number],
                self.running.progress["stop"][number],
                self._who(number),
                self._where(number),
            )
            if stop == BROKEN:
                raise EngineError(
                    f"The engine broke an invariant: {FAULTS[game.fault]}. {where} Please"
                    " report it."
                )
            if stop == STUCK:
                raise CheckError(
                    f"{who} made {PATIENCE} decisions in one turn: expected an end of the turn."
                    f" {where}"
                )
            raise CheckError(
                f"{refusal(who, game, int(self.running.progress['answer'][number]))} {where}"
            )

    def _refuse_change(
        self, number: int, before: NDArray[np.int32], after: NDArray[np.int32]
    ) -> NoReturn:
        was, is_ = before.view(GAME), after.view(GAME)
        fields = ", ".join(
            repr(name) for name in GAME.names or () if (was[name] != is_[name]).any()
        )
        raise CheckError(
            f"{self._who(number)} changed {fields} of a game: expected it only to read the game."
            f" {self._where(number)}"
        )

    def _ask_all(self, waiting: NDArray[np.int64]) -> None:
        """Get all decisions of each policy outside the compiled loop."""
        if self.observed is not None:
            new = waiting[self.games["turns"][waiting] != self.observed[waiting]]
            self.observed[new] = self.games["turns"][new]
            self._let_observe(new)
        who = self.match.seats[waiting, self.games["player"][waiting]]
        for number in np.unique(who):
            asked = waiting[who == number]
            self.running.progress["answer"][asked] = self._ask(self.match.policies[number], asked)
            self.running.progress["answered"][asked] = 1

    def _let_observe(self, numbers: NDArray[np.int64]) -> None:
        """Let all policies observe the turns that have begun in these games."""
        for seat in range(self.match.seats.shape[1]):
            there = numbers[self.games["place"][numbers, seat] == 0]
            for policy in np.unique(self.match.seats[there, seat]):
                seeing = there[self.match.seats[there, seat] == policy]
                memory = self.running.memory[seeing, seat]
                self.match.policies[policy].observe(
                    self.games[seeing], np.full(len(seeing), seat), memory
                )
                self.running.memory[seeing, seat] = memory

    def _ask(self, policy: Policy, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        games, first = self.state.words[numbers].view(GAME).reshape(-1), int(numbers[0])
        seats = games["player"].astype(np.int64)
        # it draws for itself; others get a key
        key = np.zeros(len(games), np.uint64) if isinstance(policy, CompiledPolicy) else None
        decisions = Decisions(games, self.running.memory[numbers, seats], key)
        before = _words(games).copy()
        try:
            given = np.asarray(policy.act(decisions))
        except Exception as error:
            error.add_note(
                f"{self._who(first)} was asked for {len(numbers)} decisions. The first:"
                f" {self._where(first)}"
            )
            raise
        if given.shape != numbers.shape or given.dtype.kind not in "iu":
            raise CheckError(
                f"{self._who(first)} returned {given.dtype} of shape {given.shape}: expected"
                f" {numbers.shape} integers, one for each decision. The first: {self._where(first)}"
            )
        after, own = _words(games), (np.arange(len(games)), _DRAWS + seats)
        before[own] = after[own]  # a policy may draw from its own stream
        for changed in np.flatnonzero((before != after).any(axis=1)):
            self._refuse_change(int(numbers[changed]), before[changed], after[changed])
        self.state.words[numbers] = after
        self.running.memory[numbers, seats] = decisions.memory
        return given.astype(np.int64)

    def _who(self, number: int) -> str:
        """The policy that decides in a game."""
        return (
            "Policy"
            f" {self.match.policies[self.match.seats[number, self.games['player'][number]]].name!r}"
        )

    def _where(self, number: int) -> str:
        """A game and its open decision."""
        game = self.games[number]
        made, decision = (
            sum(map(len, self.made[number])) + self.state.lengths[number],
            DECISION_NAMES[game.decision],
        )
        return (
            f"Game: {self.match.starts[number]}, decision {made} ({decision!r} of seat"
            f" {game.player}), turn {game.turns}."
        )


def _words(games: Games) -> NDArray[np.int32]:
    """Records as rows of numbers, which share their memory."""
    return games.view(np.int32).reshape(len(games), -1)
