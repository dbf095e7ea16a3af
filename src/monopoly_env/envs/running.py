"""The running games of a vector and the opponents in them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import or_
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from monopoly_env import core
from monopoly_env.actions import NUM_ACTIONS
from monopoly_env.envs.stepping import (
    FAILED,
    FINISHED,
    GO_ON,
    LEARNER,
    MANY_GAMES,
    NEVER_ASKED,
    READY,
    STATE,
    WAITS,
    Settings,
    Tables,
    Views,
    advance,
)
from monopoly_env.errors import ConfigurationError, FormatError
from monopoly_env.game import NOBODY, empty_games
from monopoly_env.kernels.threads import Threads
from monopoly_env.policy.loop import Players, answers, check
from monopoly_env.policy.protocol import MEMORY, CompiledPolicy, Decisions, Policy
from monopoly_env.rules import Rules

_SLICE: Final = 256  # games per thread; with fewer, the thread costs more than it saves


class RunningGames:
    """Games that are advanced to the learners' decisions, on all cores.

    Attributes:
        tables: The games.
        views: The arrays of the batch, which are written.
        numbered: The opponents by their numbers in the compiled loop: compiled ones come first.
        threads: The threads.
    """

    def __init__(
        self,
        count: int,
        num_players: int,
        rules: Rules,
        opponents: tuple[Policy, ...],
        threads: int,
        views: Views,
    ) -> None:
        self.numbered = sorted(
            set(opponents),
            key=lambda one: (not isinstance(one, CompiledPolicy), opponents.index(one)),
        )
        template = empty_games(1)
        template["rules"] = rules.to_record()
        self.tables = Tables(
            games=empty_games(count),
            ended=empty_games(count),
            template=template,
            states=np.zeros(count, STATE),
            order=np.array([self.numbered.index(policy) for policy in opponents], np.int16),
            memory=np.zeros((count if opponents else 0, num_players, MEMORY)),
        )
        self.views = views
        self.threads = Threads(threads, "monopoly")
        self._players = self._compiled()

    def run(self, settings: Settings, todo: NDArray[np.int64], actions: NDArray[np.int64]) -> bool:
        """Carry out actions in some games, and ask batched opponents until no decision is open.

        Returns:
            Whether a game ended.

        Raises:
            ConfigurationError: A kernel used a wrong index, or no learner is ever asked.
            IllegalActionError: An opponent chose an illegal action or never ended its turn.
            PolicyError: An opponent failed.
        """
        report = self._advance(settings, todo, actions)
        while report & (FAILED | WAITS):
            self._raise_failure()
            todo = np.flatnonzero(self.tables.states["waiting"] != READY)
            who = self.tables.states["waiting"][todo]
            for number in np.unique(who):
                self._ask(self.numbered[number], todo[who == number])
            go_on = np.full(len(todo), GO_ON)
            report = report & FINISHED | self._advance(settings, todo, go_on)
        return bool(report & FINISHED)

    def _advance(
        self, settings: Settings, todo: NDArray[np.int64], actions: NDArray[np.int64]
    ) -> int:
        def part(todo: NDArray[np.int64], actions: NDArray[np.int64]) -> int:
            mask = np.zeros(NUM_ACTIONS, np.bool_)
            return advance(self.tables, self.views, settings, self._players, mask, todo, actions)

        slices = min(self.threads.count, -(-len(todo) // _SLICE))
        if slices <= 1:
            return part(todo, actions)
        parts = zip(np.array_split(todo, slices), np.array_split(actions, slices), strict=True)
        return reduce(or_, self.threads.map(part, parts))

    def _ask(self, policy: Policy, games: NDArray[np.int64]) -> None:
        """Ask a batched opponent for its actions; the next call of the loop carries them out."""
        records = self.tables.games[games]
        decisions = Decisions(records)
        self.tables.games["policy_draws"][games] = records["policy_draws"]  # keys were drawn
        progress = self.tables.states["progress"]
        progress["answer"][games] = answers(policy, decisions)
        progress["answered"][games] = 1

    def check(self, given: Mapping[str, NDArray[Any]]) -> None:
        """Refuse arrays of `VectorMonopoly.state` from which kernels could not go on."""
        players, last = self.tables.memory.shape[1], len(self.numbered) - 1
        ended = given["terminated"] | given["truncated"]
        for games in (given["games"], given["ended"][ended]):
            core.check_sound(games)
            if np.any(games["num_players"] != players):
                counts = sorted(set(games["num_players"].tolist()))
                raise FormatError(f"games of {counts} players, not of {players}")
        for name in ("template", "order"):
            if not np.array_equal(given[name], getattr(self.tables, name)):
                raise FormatError(f"other rules or opponents: {name!r} differs")
        states = given["states"]
        limits = {
            "seats": (states["seats"], LEARNER, max(last, 0)),
            "learner": (states["learner"], NOBODY, players - 1),
            "waiting": (states["waiting"], READY, last),
            "player": (given["player"], 0, players - 1),
            "actor": (given["actor"], 0, players - 1),
        }
        for name, (numbers, low, high) in limits.items():
            if np.any((numbers < low) | (numbers > high)):
                raise FormatError(f"{name!r} must be from {low} to {high}")

    def _raise_failure(self) -> None:
        """Raise the error of a game that failed in the compiled loop, if any did."""
        states = self.tables.states
        if (states["progress"]["stop"] == NEVER_ASKED).any():
            what = f"{MANY_GAMES} games in a row ended before the learner was asked for a decision"
            raise ConfigurationError(f"{what}: check the rules.")
        check(
            self.tables.games,
            states["progress"],
            lambda game, seat: self.numbered[states["seats"][game, seat]],
        )

    def _compiled(self) -> Players:
        return Players.of([one for one in self.numbered if isinstance(one, CompiledPolicy)])

    def __getstate__(self) -> dict[str, Any]:
        """Everything except machine code."""
        return self.__dict__ | {"_players": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._players = self._compiled()
