"""One game, step by step in Python, between policies and players whose actions come from outside.

    >>> import agents, monopoly_env as me
    >>> from monopoly_env.policy.match import Match
    >>> match = Match(me.new_game(3, seed=7), [agents.make("expert"), None, agents.make("gcp")])
    >>> while match.policy:  # until the game is over or player 1, without a policy, decides
    ...     sentences = match.step(match.ask())
    >>> int(match.game.player)
    1
    >>> sentences = match.step(me.legal_actions(match.game)[0])  # the choice of player 1

A match does for one game what the compiled loop (`monopoly_env.policy.loop`) does for many.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from monopoly_env import core, events
from monopoly_env.errors import IllegalActionError
from monopoly_env.events import Row
from monopoly_env.game import Game
from monopoly_env.policy.loop import NO_LIMIT, PATIENCE, answers, cap_game, endless, refusal
from monopoly_env.policy.protocol import MEMORY, CompiledPolicy, Decisions, Policy
from monopoly_env.render import narrate


class Match:
    """One game that is being played.

    To go on with a saved one, set `memory` and `observed` as they were.

    Attributes:
        game: The record, which `step` changes in place.
        policies: One for each seat; None: its actions come from outside. Seats may be given to
            others between steps.
        memory: (P, 64) float64, the memory of each seat.
        actions: The actions carried out so far.
        names: Of the players, for the sentences of `step`; None: it returns none.
        turn_limit: Turns of all players together after which the score decides the game.
        observed: The turn that the policies have observed; -1: none yet.
    """

    def __init__(
        self,
        game: Game,
        policies: Sequence[Policy | None],
        *,
        names: Sequence[str] | None = None,
        turn_limit: int = NO_LIMIT,
        actions: Iterable[int] | None = (),
    ) -> None:
        """Seat policies at a game.

        Args:
            game: At its start, or at any later decision.
            policies: One for each seat, or None.
            names: Of the players.
            turn_limit: Turns of all players together.
            actions: From the start of the game to this decision; None: they are not known, and
                policies that read the history get none.

        Raises:
            ConfigurationError: A policy does not play at tables of this size.
        """
        for policy in policies:
            if policy is not None:
                policy.check_table(len(policies))
        self.game = game
        self.policies = list(policies)
        self.memory = np.zeros((len(self.policies), MEMORY))
        self.actions = list(actions or ())
        self.names = names
        self.turn_limit = turn_limit
        self.observed = -1
        self._knows_history = actions is not None
        self._asked = (-1, 0)  # a turn, and the decisions of policies in it

    @property
    def policy(self) -> Policy | None:
        """The policy that decides; None if the game is over or the action comes from outside."""
        return None if core.is_over(self.game) else self.policies[int(self.game.player)]

    def observe(self) -> None:
        """Let the policies look at the turn, once. `ask` and `step` do it at its first decision."""
        if self.game.turns == self.observed:
            return
        self.observed = int(self.game.turns)
        batch = core.batch_of(self.game)
        for seat, policy in enumerate(self.policies):
            if policy is not None and self.game.place[seat] == 0:
                policy.observe(batch, np.array([seat]), self._memory_of(seat))

    def ask(self) -> int:
        """The action of the policy that decides: legal, and not yet carried out.

        Raises:
            PolicyError: The policy raised an error, exited, or changed the game.
            ConfigurationError: It returned no integer.
            IllegalActionError: Its action is illegal, or it never ends its turn. After an error the
                game and the memory of the policy are as before.
        """
        policy, seat = self.policy, int(self.game.player)
        assert policy is not None
        self.observe()
        turn, asked = self._asked
        self._asked = int(self.game.turns), asked + 1 if turn == self.game.turns else 1
        games, memory = core.batch_of(self.game).copy(), self._memory_of(seat).copy()
        history = [self.actions] if self._knows_history else None
        decisions = Decisions(games, memory, history=history)
        if isinstance(policy, CompiledPolicy):  # it reads no key: the loop draws none for it
            games["policy_draws"] = self.game.policy_draws
        action = int(answers(policy, decisions)[0])
        who = f"Policy {policy.name!r}"
        try:
            core.check_step(self.game, action)
        except IllegalActionError as error:
            raise refusal(who, self.game, action) from error
        if self._asked[1] >= PATIENCE:
            raise endless(who)
        self.game.policy_draws[seat] = games["policy_draws"][0, seat]
        self.memory[seat] = memory[0]
        return action

    def step(self, action: int) -> list[str]:
        """Carry out a legal action and return what happened, a sentence each.

        Raises:
            IllegalActionError: The action is not legal here; the game is unchanged.
            GameOverError: The game has ended.
        """
        rows = self._carry_out(action, self.names is not None)
        return [] if self.names is None else narrate.sentences(rows, self.game, self.names)

    def play(self, action: int) -> list[Row]:
        """As `step`, but what happened are rows of `monopoly_env.events`."""
        return self._carry_out(action, True)

    def _carry_out(self, action: int, reported: bool) -> list[Row]:
        self.observe()
        rows = events.play(self.game, action) if reported else []
        if not reported:
            core.step(self.game, action)
        self.actions.append(int(action))
        before = core.clone(self.game)
        capped = cap_game(self.game, self.turn_limit)
        return events.follow(rows, before, self.game) if capped and reported else rows

    def _memory_of(self, seat: int) -> NDArray[np.float64]:
        return self.memory[seat : seat + 1]
