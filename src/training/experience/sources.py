"""Where experience comes from: games of the learner against itself or others, and games of an expert who is watched.

A source is a batch of games in step (`VectorMonopoly`) and somebody who answers its decisions. Each player's decisions become
transitions: from one of his decisions to a later one of his own, or to the end of his game, whoever's move ended it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from agents.networks.repertoire import Repertoire, share_out
from monopoly_env.actions import HEAD_OF, HEADS
from monopoly_env.policy.protocol import MEMORY, Decisions, Policy
from monopoly_env.vector import Batch, VectorMonopoly
from training.experience.replay import PACKED, Transitions, pack

_NONE: Final = -1  # no action


class Chooser(Protocol):
    """Who answers what is in the repertoire."""

    def __call__(self, observation: NDArray[np.float32], choices: NDArray[np.bool_]) -> NDArray[np.int64]:
        """(N,) actions for (N, D) observations and (N, 205) open actions, two or more in each row."""


class Trail:
    """Decisions whose transitions are still open: up to n for each game and seat, in a ring.

    A transition reaches n decisions of its player on: its reward is the discounted sum of what they brought. It is closed
    where he has decided n times more, or has left the game.
    """

    def __init__(self, games: int, players: int, features: int, n_step: int, discount: float) -> None:
        """Nothing is open yet."""
        shape = games, players, n_step
        self.n_step = n_step
        self.gamma = discount
        self.observation = np.zeros((*shape, features), np.float16)
        self.choices = np.zeros((*shape, PACKED), np.uint8)
        self.action = np.full(shape, _NONE, np.int16)
        self.reward = np.zeros(shape, np.float64)
        self.weight = np.zeros(shape, np.float64)  # of the next reward in the sum
        self.next = np.zeros(shape[:2], np.int64)  # the slot of the next decision: also the oldest one's

    def decide(
        self,
        game: NDArray[np.int64],
        seat: NDArray[np.int64],
        observation: NDArray[np.float32],
        choices: NDArray[np.bool_],
        action: NDArray[np.int64],
    ) -> Transitions:
        """Note decisions of players, M of them, one a game.

        Args:
            game: (M,) their games.
            seat: (M,) who decides.
            observation: (M, D) what they see.
            choices: (M, 205) what is open to them.
            action: (M,) what they do.

        Returns:
            The transitions that these decisions close.
        """
        self.weight[game, seat] *= self.gamma
        slot = self.next[game, seat]
        full = self.action[game, seat, slot] != _NONE
        closed = self._transitions((game[full], seat[full], slot[full]))
        closed = closed._replace(next_observation=observation[full].astype(np.float16), next_choices=pack(choices[full]))
        at = game, seat, slot
        self.observation[at] = observation
        self.choices[at] = pack(choices)
        self.action[at] = action
        self.reward[at] = 0.0
        self.weight[at] = 1.0
        self.next[game, seat] = (slot + 1) % self.n_step
        return closed

    def bring(self, reward: NDArray[np.float32]) -> None:
        """Add what a step brought to each seat, (B, P)."""
        self.reward += self.weight * reward[:, :, None]

    def leave(self, out: NDArray[np.bool_]) -> Transitions:
        """Close all that is open of seats that left, (B, P): nothing comes after it."""
        at = np.nonzero(out[:, :, None] & (self.action != _NONE))
        closed = self._transitions(at)._replace(discount=np.zeros(len(at[0]), np.float32))
        self.forget(out)
        return closed

    def forget(self, seats: NDArray[np.bool_]) -> None:
        """Drop all that is open of some seats, (B, P)."""
        self.action[seats] = _NONE
        self.weight[seats] = 0.0

    def _transitions(self, at: tuple[NDArray[np.int64], ...]) -> Transitions:
        blank = Transitions.zeros(len(at[0]), self.observation.shape[-1])
        return blank._replace(
            observation=self.observation[at],
            choices=self.choices[at],
            action=self.action[at],
            reward=self.reward[at].astype(np.float32),
            discount=self.weight[at].astype(np.float32),
        )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that is open, by name."""
        return {name: value for name, value in vars(self).items() if isinstance(value, np.ndarray)}


class Source:
    """Games, and who answers their decisions.

    Attributes:
        name: What curves and checkpoints call it.
        vec: The games.
        batch: Their open decisions.
        finished: Games that have ended.
    """

    def __init__(
        self, name: str, vec: VectorMonopoly, repertoire: Repertoire, n_step: int, discount: float, parent: Policy | None = None
    ) -> None:
        """Begin the games.

        Args:
            name: What it is called.
            vec: The games; their seed decides them.
            repertoire: Which actions are learned.
            n_step: Decisions of a player that a transition reaches on.
            discount: From one of his decisions to the next.
            parent: Who plays what is not in the repertoire; in an expert's games, the expert.
        """
        self.name = name
        self.vec = vec
        self.repertoire = repertoire
        self.parent = parent
        self.batch = vec.reset()
        self.finished = 0
        self._trail = Trail(vec.num_games, vec.num_players, vec.encoding.size, n_step, discount)
        self._memory = np.zeros((vec.num_games, vec.num_players, MEMORY))  # of the parent
        self._rows = np.arange(vec.num_games)

    def play(self, choose: Chooser | None) -> Transitions:
        """Answer one decision in every game.

        Args:
            choose: Who answers what is in the repertoire; None: the parent is watched.

        Returns:
            The transitions that this closed. Decisions with one open action are not among them, nor those that the parent
            answered by an action outside the repertoire.
        """
        batch = self.batch
        by_parent = self._ask_parent(batch) if self.parent else None
        choices, actions = share_out(self.repertoire, batch.action_mask, batch.decision, by_parent)
        mine = np.flatnonzero(choices.any(1))
        if choose is not None:
            actions[mine] = choose(batch.observation[mine], choices[mine])
        elif by_parent is not None:
            actions = by_parent
            mine = mine[choices[mine, actions[mine]]]
        closed = self._trail.decide(mine, batch.player[mine].astype(np.int64), batch.observation[mine], choices[mine], actions[mine])
        return Transitions.joined([closed, self._step(actions)])

    def _step(self, actions: NDArray[np.int64]) -> Transitions:
        batch = self.batch = self.vec.step(actions)
        reward = batch.reward
        if self.vec.opponents:  # the others' columns mean nothing
            reward = np.zeros_like(reward)
            reward[self._rows, batch.actor] = batch.reward[self._rows, batch.actor]
        self._trail.bring(reward)
        closed = self._trail.leave(batch.out | batch.terminated[:, None])
        if len(batch.finished):
            ended = batch.terminated | batch.truncated
            self._trail.forget(np.repeat(ended[:, None], self.vec.num_players, axis=1))  # cut off: nothing is known of the rest
            self._memory[ended] = 0.0
            self.finished += len(batch.finished)
        return closed

    def _ask_parent(self, batch: Batch) -> NDArray[np.int64]:
        assert self.parent is not None
        at = self._rows, batch.player
        decisions = Decisions(self.vec.games, self._memory[at])
        actions = self.parent.act(decisions)
        self._memory[at] = decisions.memory
        return actions

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that the games are and all that is open in them, by name: numbers only."""
        arrays = {f"games.{name}": array for name, array in _arrays_of(self.vec).items()}
        arrays |= {f"trail.{name}": array for name, array in self._trail.arrays().items()}
        return arrays | {"memory": self._memory, "finished": np.array(self.finished)}

    def set_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on where `arrays` was called."""
        for name, array in _arrays_of(self.vec).items():
            array[...] = arrays[f"games.{name}"].view(array.dtype).reshape(array.shape)
        for name, array in self._trail.arrays().items():
            array[...] = arrays[f"trail.{name}"]
        self._memory[...] = arrays["memory"]
        self.finished = int(arrays["finished"])


def _arrays_of(vec: VectorMonopoly) -> dict[str, NDArray[Any]]:
    """The arrays that say all of a vector of games that is running, to be read or to be written into."""
    arrays: dict[str, NDArray[Any]] = vec._tables._asdict()
    return arrays | {name: getattr(vec.batch, name) for name in vec._views._fields}


class EpsilonGreedy:
    """The best action, or with some probability any: first a head, each as likely, then an action of it."""

    def __init__(self, best: Chooser, epsilon: float, generator: np.random.Generator) -> None:
        """Explore with probability `epsilon`.

        Args:
            best: Who knows the best action.
            epsilon: 0 to 1.
            generator: Where the chance comes from.
        """
        self.best = best
        self.epsilon = epsilon
        self.generator = generator

    def __call__(self, observation: NDArray[np.float32], choices: NDArray[np.bool_]) -> NDArray[np.int64]:
        """See `Chooser`."""
        explore = self.generator.random(len(choices)) < self.epsilon
        actions = explore_heads(choices, self.generator)  # always drawn: chance does not depend on what was chosen
        greedy = np.flatnonzero(~explore)
        if len(greedy):
            actions[greedy] = self.best(observation[greedy], choices[greedy])
        return actions


def explore_heads(choices: NDArray[np.bool_], generator: np.random.Generator) -> NDArray[np.int64]:
    """(N,) random actions out of (N, 205): an open head, each as likely, then an open action of it.

    Building is seldom open and lifting mortgages often, in many places at once: drawn by action alone, the frequent would drown the rest.
    """
    head_keys = generator.random((len(choices), len(HEADS)))
    keys = generator.random(choices.shape)
    open_heads = np.stack([choices[:, head.slice].any(1) for head in HEADS.values()], axis=1)
    head = np.where(open_heads, head_keys, -1.0).argmax(1)
    actions: NDArray[np.int64] = np.where(choices & (head[:, None] == HEAD_OF), keys, -1.0).argmax(1)
    return actions
