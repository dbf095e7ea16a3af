"""Where experience comes from: games of the learner against itself or others, and games of an expert that is watched.

A source is a vector of games (`VectorMonopoly`) and whatever selects the actions. Each player's decisions become n-step transitions:
from one decision to the n-th next one of the same player, or to the end of its game, whoever's move ended it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from agents.networks.repertoire import Repertoire, share_out
from monopoly_env.actions import HEAD_OF, HEADS
from monopoly_env.policy.protocol import MEMORY, Decisions, Policy
from monopoly_env.vector import Batch, VectorMonopoly
from training.experience.replay import PACKED, Transitions, pack

_NONE: Final = -1  # no action


# (N,) actions for (N, D) observations and (N, 205) legal actions of the repertoire, two or more in each row.
SelectAction: TypeAlias = Callable[[NDArray[np.float32], NDArray[np.bool_]], NDArray[np.int64]]


class NStepBuffer:
    """The last n decisions of each game and seat, whose transitions are not complete yet.

    The reward of a transition is the n-step return without its last term, r_1 + gamma r_2 + ... + gamma^(n-1) r_n. A transition is
    complete when its player has made n more decisions, or has left the game.
    """

    def __init__(self, games: int, players: int, features: int, n_step: int, discount: float) -> None:
        """Start empty."""
        shape = games, players, n_step
        self.n_step = n_step
        self.gamma = discount
        self.observation = np.zeros((*shape, features), np.float16)
        self.choices = np.zeros((*shape, PACKED), np.uint8)
        self.action = np.full(shape, _NONE, np.int16)
        self.reward = np.zeros(shape, np.float64)
        self.weight = np.zeros(shape, np.float64)  # of the next reward in the sum
        self.next = np.zeros(shape[:2], np.int64)  # the slot of the next decision, which is that of the oldest one

    def add_decisions(
        self,
        game: NDArray[np.int64],
        seat: NDArray[np.int64],
        observation: NDArray[np.float32],
        choices: NDArray[np.bool_],
        action: NDArray[np.int64],
    ) -> Transitions:
        """Add M decisions, at most one per game.

        Args:
            game: (M,) the games.
            seat: (M,) the players who decide.
            observation: (M, D) what they see.
            choices: (M, 205) bool, the actions to choose from.
            action: (M,) the actions taken.

        Returns:
            The transitions that these decisions complete.
        """
        self.weight[game, seat] *= self.gamma
        slot = self.next[game, seat]
        full = self.action[game, seat, slot] != _NONE
        complete = self._transitions((game[full], seat[full], slot[full]))
        complete = complete._replace(next_observation=observation[full].astype(np.float16), next_choices=pack(choices[full]))
        at = game, seat, slot
        self.observation[at] = observation
        self.choices[at] = pack(choices)
        self.action[at] = action
        self.reward[at] = 0.0
        self.weight[at] = 1.0
        self.next[game, seat] = (slot + 1) % self.n_step
        return complete

    def add_rewards(self, reward: NDArray[np.float32]) -> None:
        """Add the rewards (B, P) of a step."""
        self.reward += self.weight * reward[:, :, None]

    def end(self, out: NDArray[np.bool_]) -> Transitions:
        """The transitions of seats (B, P) that left the game: complete, with a discount of 0."""
        at = np.nonzero(out[:, :, None] & (self.action != _NONE))
        complete = self._transitions(at)._replace(discount=np.zeros(len(at[0]), np.float32))
        self.drop(out)
        return complete

    def drop(self, seats: NDArray[np.bool_]) -> None:
        """Drop the decisions of some seats (B, P)."""
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
        """Everything that is kept, by name."""
        return {name: value for name, value in vars(self).items() if isinstance(value, np.ndarray)}


class Source:
    """Games that are played for their transitions.

    Attributes:
        vec: The games.
        batch: Their current decisions.
        finished: Games that have ended.
    """

    def __init__(self, vec: VectorMonopoly, repertoire: Repertoire, n_step: int, discount: float, parent: Policy | None = None) -> None:
        """Start the games.

        Args:
            vec: The games; their seed decides them.
            repertoire: The actions that are learned.
            n_step: Decisions of a player that a transition spans.
            discount: From one decision of a player to its next one.
            parent: Policy that plays what is not in the repertoire; in an expert's games, the expert.
        """
        self.vec = vec
        self.repertoire = repertoire
        self.parent = parent
        self.batch = vec.reset()
        self.finished = 0
        self._decisions = NStepBuffer(vec.num_games, vec.num_players, vec.encoding.size, n_step, discount)
        self._memory = np.zeros((vec.num_games, vec.num_players, MEMORY))  # of the parent
        self._rows = np.arange(vec.num_games)

    def play(self, select: SelectAction | None) -> Transitions:
        """Answer one decision in every game.

        Args:
            select: Selects the actions of the repertoire; None: the parent is watched.

        Returns:
            The transitions that are complete now. Decisions with a single legal action are not among them, nor those that the parent
            answered by an action outside the repertoire.
        """
        batch = self.batch
        by_parent = self._ask_parent(batch) if self.parent else None
        choices, actions = share_out(self.repertoire, batch.action_mask, batch.decision, by_parent)
        mine = np.flatnonzero(choices.any(1))
        if select is not None:
            actions[mine] = select(batch.observation[mine], choices[mine])
        elif by_parent is not None:
            actions = by_parent
            mine = mine[choices[mine, actions[mine]]]
        player = batch.player[mine].astype(np.int64)
        complete = self._decisions.add_decisions(mine, player, batch.observation[mine], choices[mine], actions[mine])
        return Transitions.joined([complete, self._step(actions)])

    def _step(self, actions: NDArray[np.int64]) -> Transitions:
        batch = self.batch = self.vec.step(actions)
        reward = batch.reward
        if self.vec.opponents:  # only the learner's column counts
            reward = np.zeros_like(reward)
            reward[self._rows, batch.actor] = batch.reward[self._rows, batch.actor]
        self._decisions.add_rewards(reward)
        complete = self._decisions.end(batch.out | batch.terminated[:, None])
        if len(batch.finished):
            ended = batch.terminated | batch.truncated
            self._decisions.drop(np.repeat(ended[:, None], self.vec.num_players, axis=1))  # truncated: their returns are unknown
            self._memory[ended] = 0.0
            self.finished += len(batch.finished)
        return complete

    def _ask_parent(self, batch: Batch) -> NDArray[np.int64]:
        assert self.parent is not None
        at = self._rows, batch.player
        decisions = Decisions(self.vec.games, self._memory[at])
        actions = self.parent.act(decisions)
        self._memory[at] = decisions.memory
        return actions

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The games and the transitions that are not complete, by name."""
        arrays = {f"games.{name}": array for name, array in self.vec.state().items()}
        arrays |= {f"decisions.{name}": array for name, array in self._decisions.arrays().items()}
        return arrays | {"memory": self._memory, "finished": np.array(self.finished)}

    def set_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue where `arrays` was called."""
        self.vec.set_state({name.removeprefix("games."): array for name, array in arrays.items() if name.startswith("games.")})
        for name, array in self._decisions.arrays().items():
            array[...] = arrays[f"decisions.{name}"]
        self._memory[...] = arrays["memory"]
        self.finished = int(arrays["finished"])


def epsilon_greedy(best: SelectAction, epsilon: float, generator: np.random.Generator) -> SelectAction:
    """Select the best action, or with probability `epsilon` a random one, see `explore_heads`."""

    def select(observation: NDArray[np.float32], choices: NDArray[np.bool_]) -> NDArray[np.int64]:
        explore = generator.random(len(choices)) < epsilon
        actions = explore_heads(choices, generator)  # always drawn: random numbers do not depend on what was chosen
        greedy = np.flatnonzero(~explore)
        if len(greedy):
            actions[greedy] = best(observation[greedy], choices[greedy])
        return actions

    return select


def explore_heads(choices: NDArray[np.bool_], generator: np.random.Generator) -> NDArray[np.int64]:
    """(N,) random actions out of (N, 205) legal ones: first a head with legal actions, then one of its legal actions.

    Each head is as likely as another. Drawn by action alone, heads with many legal actions, such as lifting mortgages, would leave
    little to those with few, such as building.
    """
    head_keys = generator.random((len(choices), len(HEADS)))
    keys = generator.random(choices.shape)
    open_heads = np.stack([choices[:, head.slice].any(1) for head in HEADS.values()], axis=1)
    head = np.where(open_heads, head_keys, -1.0).argmax(1)
    actions: NDArray[np.int64] = np.where(choices & (head[:, None] == HEAD_OF), keys, -1.0).argmax(1)
    return actions
