"""Experience: n-step transitions against a slow definition, the replay buffer, exploration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import agents
from agents.networks.repertoire import Repertoire, share_out
from monopoly_env.actions import HEAD_NAMES, HEAD_OF, HEADS, NUM_ACTIONS
from monopoly_env.policy.protocol import Decisions
from monopoly_env.vector import VectorMonopoly
from tests.training.transitions import FEATURES, random_transitions
from training.experience.replay import ReplayBuffer, Transitions, unpack
from training.experience.sources import SelectAction, Source, epsilon_greedy, explore_heads
from training.run.options import LEARNED


class Watch(Source):
    """A source that records what happened, for a slow computation of the transitions."""

    def __init__(self, vec: VectorMonopoly, n_step: int, discount: float) -> None:
        super().__init__(vec, Repertoire(LEARNED), n_step, discount)
        self.log: dict[tuple[int, int], list[list[object]]] = {}
        self.expected: list[tuple[int, float, float]] = []

    def play(self, select: SelectAction | None) -> Transitions:
        batch = self.batch
        choices, _ = share_out(self.repertoire, batch.action_mask, batch.decision, None)
        asked = [(game, int(batch.player[game]), batch.observation[game].copy()) for game in np.flatnonzero(choices.any(1))]
        complete = super().play(select)
        for game, seat, seen in asked:
            self.log.setdefault((game, seat), []).append([seen, []])
        for game, seat in itertools.product(range(self.vec.num_games), range(self.vec.num_players)):
            decisions = self.log.get((game, seat), [])
            counts = not self.vec.opponents or seat == self.batch.actor[game]
            if decisions and counts:
                decisions[-1][1].append(float(self.batch.reward[game, seat]))  # type: ignore[attr-defined]
            if self.batch.terminated[game]:
                self.compute(self.log.pop((game, seat), []))
        return complete

    def compute(self, decisions: list[list[object]]) -> None:
        """The transitions of a player in a game that has ended: (hash of the observation, reward, discount)."""
        kept, gamma = self._decisions, self._decisions.gamma
        brought = [sum(rewards) for _, rewards in decisions]  # type: ignore[call-overload]
        for i, (seen, _) in enumerate(decisions):
            reward = sum(gamma**k * r for k, r in enumerate(brought[i : i + kept.n_step]))
            discount = gamma**kept.n_step if i + kept.n_step < len(decisions) else 0.0
            self.expected.append((hash(seen.astype(np.float16).tobytes()), reward, discount))  # type: ignore[attr-defined]


@pytest.mark.parametrize("opponents", [None, ["random/no_trades"]])
def test_transitions_lead_from_a_decision_to_a_later_one_of_the_same_player_or_to_the_end(opponents: list[str] | None) -> None:
    generator = np.random.default_rng(0)
    vec = VectorMonopoly(8, 2, "ocnaru", opponents=opponents, reward="win_shaped", threads=1)
    source = Watch(vec, 4, 0.9)
    found: list[Transitions] = []
    while source.finished < 6:
        found.append(source.play(epsilon_greedy(lambda seen, choices: explore_heads(choices, generator), 0.0, generator)))
    moves = Transitions.joined(found)
    legal = unpack(moves.choices)
    assert legal[np.arange(moves.size), moves.action].all()
    assert (legal.sum(1) > 1).all()
    made: dict[int, list[tuple[float, float]]] = {}
    for i in range(moves.size):
        made.setdefault(hash(moves.observation[i].tobytes()), []).append((float(moves.reward[i]), float(moves.discount[i])))
    assert len(source.expected) > 100
    for key, *expected in source.expected:  # games of the same beginning look the same: one of them is meant
        assert any(pair == pytest.approx(tuple(expected), abs=1e-4) for pair in made[key])
    ends = moves.reward[moves.discount == 0]
    assert ends.size
    if not opponents:  # both sides of each game that ended get its reward
        assert (ends < -0.5).any()
        assert (ends > 0.5).any()


def test_the_loser_gets_the_reward_of_a_game_that_ended_on_the_others_move() -> None:
    generator = np.random.default_rng(0)
    vec = VectorMonopoly(16, 2, "ocnaru", reward="win", threads=1)
    source = Source(vec, Repertoire(LEARNED), 1, 1.0)
    losses = 0
    while source.finished < 5:
        before = source.finished
        moves = source.play(lambda seen, choices: explore_heads(choices, generator))
        ends = moves.reward[moves.discount == 0]
        losses += int((ends == -1.0).sum())
        ended = np.flatnonzero(source.batch.terminated)
        assert len(ended) == source.finished - before
        assert ((ends == 1.0) | (ends == -1.0)).all()
    assert losses == source.finished


def test_an_expert_is_watched_without_being_disturbed() -> None:
    parent = agents.make("algorithmic")
    source = Source(VectorMonopoly(16, 2, "ocnaru", seed=5, threads=1), Repertoire(LEARNED), 2, 1.0, parent)
    vec = VectorMonopoly(16, 2, "ocnaru", seed=5, threads=1)
    batch, memory, taken = vec.reset(), np.zeros((16, 2, agents.MEMORY)), 0
    for _ in range(200):
        at = np.arange(16), batch.player
        decisions = Decisions(vec.games, memory[at])
        actions = parent.act(decisions)
        memory[at] = decisions.memory
        moves = source.play(None)
        taken += moves.size
        assert unpack(moves.choices)[np.arange(moves.size), moves.action].all()
        batch = vec.step(actions)
        memory[batch.terminated] = 0.0
        assert source.vec.games.tobytes() == vec.games.tobytes()
    assert taken > 400


def test_replay_keeps_the_last_of_each_head() -> None:
    replay, moves = ReplayBuffer(LEARNED, 50, FEATURES), random_transitions(400)
    for part in range(0, 400, 40):
        replay.add(moves.take(slice(part, part + 40)))
    for head in LEARNED:
        mine = np.flatnonzero(HEAD_OF[moves.action] == HEAD_NAMES.index(head))
        assert replay.size(head) == min(50, len(mine))
        kept = replay.arrays()[f"{head}.reward"]
        assert sorted(kept) == sorted(moves.reward[mine[-50:]])
    drawn = replay.sample(np.random.default_rng(0), 30)
    assert drawn is not None
    enough = [head for head in LEARNED if replay.size(head) >= 30]
    counts = np.bincount(HEAD_OF[drawn.action], minlength=len(HEAD_NAMES))
    assert {HEAD_NAMES[i] for i in np.flatnonzero(counts)} == set(enough)
    assert set(counts[counts > 0]) == {30}
    assert ReplayBuffer(LEARNED, 50, FEATURES).sample(np.random.default_rng(0), 1) is None


def test_replay_continues_from_its_arrays() -> None:
    moves, copy = random_transitions(300), ReplayBuffer(LEARNED, 50, FEATURES)
    replay = ReplayBuffer(LEARNED, 50, FEATURES)
    replay.add(moves.take(slice(0, 170)))
    copy.set_arrays(replay.arrays())
    for kept in (replay, copy):
        kept.add(moves.take(slice(170, 300)))
    first, second = replay.arrays(), copy.arrays()
    assert all(np.array_equal(first[name], second[name]) for name in first)


def test_exploration_takes_open_heads_alike() -> None:
    choices = np.zeros((6000, NUM_ACTIONS), np.bool_)
    choices[:, HEADS["turn"].start] = True
    choices[:, HEADS["unmortgage"].slice] = True
    actions = explore_heads(choices, np.random.default_rng(0))
    assert choices[np.arange(6000), actions].all()
    assert np.mean(HEAD_OF[actions] == HEAD_NAMES.index("turn")) == pytest.approx(0.5, abs=0.03)
