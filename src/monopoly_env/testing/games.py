"""Whole games between policies, played in step by Python and inspected at every decision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from monopoly_env import core
from monopoly_env.actions import DECISION_NAMES, NUM_ACTIONS, describe
from monopoly_env.engine.agenda import FAULTS, OVER
from monopoly_env.engine.step import apply
from monopoly_env.errors import EngineError, MonopolyError
from monopoly_env.game import GAME, Games
from monopoly_env.kernels import entry
from monopoly_env.policy.protocol import MEMORY, CompiledPolicy, Decisions, Policy
from monopoly_env.rules import Rules

PATIENCE: Final = 10_000  # decisions in one turn after which a policy counts as stuck, as in the arena


class CheckError(MonopolyError, AssertionError):
    """Something does not keep its contract; the message says what was expected and in which game."""


@dataclass(frozen=True)
class Start:
    """Where a game begins; `core.new_game(num_players, rules, seed)` begins it again."""

    num_players: int
    rules: Rules | str
    seed: int

    def __str__(self) -> str:
        rules = self.rules if isinstance(self.rules, str) else self.rules.changed()
        return f"new_game({self.num_players}, {rules!r}, seed={self.seed})"


@dataclass
class Table:
    """Games to be played in step, all with the same number of players.

    Attributes:
        policies: The policies that play.
        starts: B games.
        seats: (B, P) the index of the policy in each seat of each game.
    """

    policies: Sequence[Policy]
    starts: Sequence[Start]
    seats: NDArray[np.int64]

    def part(self, numbers: NDArray[np.int64]) -> Table:
        """The games with these numbers alone."""
        return Table(self.policies, [self.starts[number] for number in numbers], self.seats[numbers])


def play(
    table: Table, turn_limit: int, decisions: int | None = None, look: Callable[[Games], None] | None = None
) -> list[NDArray[np.int64]]:
    """Play games until each of them is over or has reached a limit.

    Args:
        table: The games.
        turn_limit: Turns per player after which a game is left as it stands.
        decisions: Decisions after which a game is left as it stands; None for no limit.
        look: Called with the (B,) records before each round of decisions, and at the end. It must not change them.

    Returns:
        The actions of each game, in order.

    Raises:
        CheckError: A policy returned something other than a legal action for each decision, changed a game, or never ends its turn.
        EngineError: The engine stopped.
    """
    return _Play(table).run(turn_limit, decisions, look)


@entry()
def _apply_all(games: Games, numbers: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
    for i in range(len(numbers)):
        apply(games[numbers[i]], actions[i])


class _Play:
    """Games that are being played, and what each policy remembers of them."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.games = np.concatenate([core.new_games([start.seed], start.num_players, start.rules) for start in table.starts])
        self.memory = np.zeros((*table.seats.shape, MEMORY))
        self.turn = np.full(len(self.games), -1)
        self.patience = np.zeros(len(self.games), np.int64)
        self.rounds: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []  # games, and their actions

    def run(self, turn_limit: int, decisions: int | None, look: Callable[[Games], None] | None) -> list[NDArray[np.int64]]:
        limit = turn_limit * self.table.seats.shape[1]
        while decisions is None or len(self.rounds) < decisions:
            if look:
                look(self.games)
            open_ = np.flatnonzero((self.games["decision"] != OVER) & (self.games["turns"] <= limit))
            if not len(open_):
                break
            self._round(open_)
        numbers, actions = (np.concatenate(parts) for parts in zip(*self.rounds, strict=True))
        return [actions[numbers == game] for game in range(len(self.games))]

    def _round(self, open_: NDArray[np.int64]) -> None:
        """One decision in each of these games."""
        who = self.table.seats[open_, self.games["player"][open_]]
        actions = np.zeros(len(open_), np.int64)
        for number in np.unique(who):
            actions[who == number] = self._ask(self.table.policies[number], open_[who == number])
        self.rounds.append((open_, actions))
        _apply_all(self.games, open_, actions)
        broken = np.flatnonzero(self.games["fault"])
        if len(broken):
            raise EngineError(f"The engine stopped: {FAULTS[self.games['fault'][broken[0]]]}. {self._where(broken[0])}. Please report it.")
        self._count(open_, who)

    def _count(self, open_: NDArray[np.int64], who: NDArray[np.int64]) -> None:
        """Count decisions within a turn."""
        same = self.games["turns"][open_] == self.turn[open_]
        self.patience[open_] = np.where(same, self.patience[open_] + 1, 0)
        self.turn[open_] = self.games["turns"][open_]
        stuck = np.flatnonzero(self.patience[open_] >= PATIENCE)
        if len(stuck):
            name = self.table.policies[who[stuck[0]]].name
            raise CheckError(
                f"Policy {name!r} has made {PATIENCE} decisions within one turn: expected an end. {self._where(open_[stuck[0]])}."
            )

    def _ask(self, policy: Policy, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The actions of a policy, which must not change anything but what it may draw and remember."""
        games = self.games[numbers]
        seats = games["player"].astype(np.int64)
        compiled = isinstance(policy, CompiledPolicy)  # it draws for itself; a batched one gets a key for each decision
        asked = Decisions(games, self.memory[numbers, seats], np.zeros(len(games), np.uint64) if compiled else None)
        if isinstance(policy, CompiledPolicy) and not policy.reads_mask:
            asked.mask = np.zeros((len(games), NUM_ACTIONS), np.bool_)  # as in the arena, which writes no mask for it
        before = games.copy()
        try:
            given = policy.act(asked)
        except Exception as error:
            error.add_note(f"Policy {policy.name!r} was asked for {len(numbers)} decisions; the first: {self._where(numbers[0])}.")
            raise
        self._check_untouched(policy, before, games, numbers)
        actions = self._checked(policy, given, numbers)
        self.games["policy_draws"][numbers] = games["policy_draws"]
        self.memory[numbers, seats] = asked.memory
        return actions

    def _check_untouched(self, policy: Policy, before: Games, after: Games, numbers: NDArray[np.int64]) -> None:
        """Only the policy stream of the deciding seat may have moved."""
        own = np.arange(before["policy_draws"].shape[1]) == before["player"][:, None]
        expected = before.copy()
        expected["policy_draws"] = np.where(own, after["policy_draws"], before["policy_draws"])
        if expected.tobytes() == after.tobytes():
            return
        changed = [name for name in GAME.names or () if (expected[name] != after[name]).any()]
        game = next(i for i in range(len(after)) if expected[i].tobytes() != after[i].tobytes())
        raise CheckError(
            f"Policy {policy.name!r} changed {', '.join(changed)} of a game that it may only read. {self._where(numbers[game])}."
        )

    def _checked(self, policy: Policy, given: Any, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """What a policy returned, as legal actions."""
        actions = np.asarray(given)
        if actions.shape != numbers.shape or actions.dtype.kind not in "iu":
            raise CheckError(
                f"Policy {policy.name!r} returned {actions.dtype} of shape {actions.shape}: expected integers of shape {numbers.shape}, one "
                f"action for each decision. The first: {self._where(numbers[0])}."
            )
        actions = actions.astype(np.int64)
        words = np.clip(actions, 0, NUM_ACTIONS - 1)
        legal = self.games["legal"][numbers, words >> 5] >> (words & 31) & 1
        wrong = np.flatnonzero((words != actions) | (legal == 0))
        if len(wrong):
            number, action = numbers[wrong[0]], int(actions[wrong[0]])
            game = self.games[number]
            what = f"{action} ({describe(action, game)!r})" if 0 <= action < NUM_ACTIONS else f"{action}, which does not exist"
            options = ", ".join(f"{a} {describe(a, game)!r}" for a in core.legal_actions(game).tolist())
            raise CheckError(f"Policy {policy.name!r} chose action {what}: expected a legal one of {options}. {self._where(number)}.")
        return actions

    def _where(self, number: int) -> str:
        """A game and its open decision, in words."""
        game, made = self.games[number], sum(int(number in numbers) for numbers, _ in self.rounds)
        decision = DECISION_NAMES[game.decision]
        return f"Game {self.table.starts[number]}, turn {game.turns}, decision {made} ({decision!r} of seat {game.player})"
