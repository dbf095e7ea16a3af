"""Games in step."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import agents
import monopoly_env as me
from monopoly_env import encoding, monopoly_v0, rewards
from monopoly_env.actions import NUM_ACTIONS
from tests.policies import NEVER_ENDS, WRONG_ANSWERS, Acting, blind, first, restless, rich, seeing


def choose(mask: Any, number: int) -> Any:
    """A legal action for every game, a function of its mask, its index and a number."""
    count = mask.sum(axis=1)
    rank = (number * 7919 + np.arange(len(mask)) * 104_729) % count
    return (mask.cumsum(axis=1) == rank[:, None] + 1).argmax(axis=1)


def trajectories(
    games: int, steps: int, threads: int = 1, watch: int = 7, **options: Any
) -> list[bytes]:
    """The records of the first games after every step."""
    vec = me.VectorMonopoly(games, seed=11, threads=threads, **options)
    batch = vec.reset()
    story = [vec.games[:watch].tobytes()]
    for number in range(steps):
        batch = vec.step(choose(batch.action_mask, number))
        story.append(vec.games[:watch].tobytes())
    return story


@pytest.mark.parametrize(
    "options",
    [{"num_players": 3}, {"opponents": ["random", "algorithmic"]}],
    ids=["self-play", "opponents"],
)
def test_games_depend_neither_on_batch_size_nor_on_threads(options: Any) -> None:
    seven = trajectories(7, 80, **options)
    assert trajectories(4096, 80, threads=1, **options) == seven
    assert trajectories(4096, 80, threads=2, **options) == seven
    assert trajectories(600, 80, threads=3, **options) == seven
    alone = trajectories(1, 80, watch=1, **options)
    size = me.GAME.itemsize
    assert [state[:size] for state in seven] == alone
    assert len(set(seven)) == len(seven)


def test_the_same_game_in_every_way_in() -> None:
    vec = me.VectorMonopoly(3, 4, seed=5)
    batch = vec.reset()
    env = monopoly_v0.env(4)
    env.reset(seed=int(vec.seeds[1]))
    game = me.new_game(4, seed=int(vec.seeds[1]))
    for number in range(3000):
        assert vec.games[1].tobytes() == game.tobytes() == env.game.tobytes()
        assert (batch.observation[1] == env.observe(env.agent_selection)["observation"]).all()
        assert (batch.action_mask[1] == me.action_mask(game)).all()
        assert f"player_{batch.player[1]}" == env.agent_selection
        actions = choose(batch.action_mask, number)
        actor = env.agent_selection
        batch = vec.step(actions)
        me.step(game, int(actions[1]))
        env.step(int(actions[1]))
        assert f"player_{batch.actor[1]}" == actor
        assert batch.reward[1].tolist() == [
            env.rewards.get(agent, 0.0) for agent in env.possible_agents
        ]
        assert batch.out[1].tolist() == [
            env.terminations.get(agent, False) for agent in env.possible_agents
        ]
        while env.agents and env.terminations[env.agent_selection]:
            env.step(None)
        if me.is_over(game):
            break
    assert batch.terminated[1]
    assert batch.final_games[batch.finished.tolist().index(1)].tobytes() == game.tobytes()


# Shape and type for 5 games of two.
ARRAYS = {
    "observation": ((5, 100), "float32"),
    "action_mask": ((5, NUM_ACTIONS), "bool"),
    "player": ((5,), "int16"),
    "decision": ((5,), "int16"),
    "reward": ((5, 2), "float32"),
    "terminated": ((5,), "bool"),
    "truncated": ((5,), "bool"),
}


def test_arrays_are_written_in_place() -> None:
    vec = me.VectorMonopoly(5, 2, "ocnaru", encoding="ocnaru100")
    batch = vec.reset()
    arrays = {name: getattr(batch, name) for name in ARRAYS}
    assert {name: (array.shape, array.dtype.name) for name, array in arrays.items()} == ARRAYS
    assert vec.step(choose(batch.action_mask, 0)) is batch
    assert all(getattr(batch, name) is array for name, array in arrays.items())
    assert len(vec) == 5
    assert vec.games.dtype == me.GAME


@pytest.mark.parametrize(
    "take", [torch.from_numpy, torch.from_dlpack], ids=["from_numpy", "DLPack"]
)
def test_arrays_become_tensors_without_a_copy(take: Callable[[Any], torch.Tensor]) -> None:
    vec = me.VectorMonopoly(4, 2, seed=3)
    batch = vec.reset()
    arrays = {name: getattr(batch, name) for name in ARRAYS}
    tensors = {name: take(array) for name, array in arrays.items()}
    for _ in range(50):
        batch = vec.step(batch.action_mask.argmax(axis=1))
    for name, tensor in tensors.items():
        assert tensor.data_ptr() == getattr(batch, name).ctypes.data, name
        assert (tensor.numpy() == getattr(batch, name)).all(), name


@pytest.mark.parametrize("name", ["win", "rank_shaped"])
def test_ended_games(name: str) -> None:
    vec = me.VectorMonopoly(64, 3, me.Rules(max_turns=60), seed=1, reward=name)
    batch = vec.reset()
    earned = np.zeros((64, 3))
    gone = np.zeros((64, 3), bool)
    ended = 0
    seeds = set(vec.seeds.tolist())
    for number in range(2500):
        batch = vec.step(choose(batch.action_mask, number))
        earned += batch.reward
        assert not (gone & batch.out).any(), "nobody leaves twice"
        gone |= batch.out
        assert not gone[np.arange(64), batch.player][~batch.terminated].any(), (
            "who has left is asked no more"
        )
        assert (np.flatnonzero(batch.terminated) == batch.finished).all()
        assert not batch.truncated.any()
        assert batch.final_observation.shape == (len(batch.finished), 3, vec.encoding.size)
        for row, index in enumerate(batch.finished):
            final = batch.final_games[row]
            assert me.is_over(final)
            assert earned[index] == pytest.approx(
                rewards.make(name.removesuffix("_shaped")).after(final, np.zeros(3)), abs=1e-5
            )
            assert gone[index].all()
            for seat in range(3):
                assert (
                    batch.final_observation[row, seat] == encoding.observe(final, seat=seat)
                ).all()
            assert vec.games[index].turns < 20, "the next game has begun"
            assert int(vec.seeds[index]) not in seeds
            seeds.add(int(vec.seeds[index]))
            earned[index], gone[index] = 0.0, False
            ended += 1
    assert ended > 30
    assert (vec.observe(batch.player) == batch.observation).all()


def test_truncation() -> None:
    vec = me.VectorMonopoly(16, 2, seed=3, turn_limit=3)
    batch = vec.reset()
    cut = 0
    for number in range(300):
        batch = vec.step(choose(batch.action_mask, number))
        assert not batch.terminated.any()
        assert not batch.out.any()
        assert (batch.final_games["turns"] == 7).all()
        assert (batch.final_games["decision"] != 0).all()
        cut += batch.truncated.sum()
    assert cut > 16


def test_a_refused_action_changes_nothing() -> None:
    vec = me.VectorMonopoly(50, 4, seed=2)
    batch = vec.reset()
    for number in range(20):
        batch = vec.step(choose(batch.action_mask, number))
    good = choose(batch.action_mask, 20)
    before = vec.games.tobytes(), copy.deepcopy(batch)
    wrong = good.copy()
    wrong[[7, 30]] = [(~batch.action_mask[i]).nonzero()[0][0] for i in (7, 30)]
    with pytest.raises(
        me.IllegalActionError,
        match=r"Game 7 of 50: Action .* of player .* is illegal at the decision .* Legal: ",
    ):
        vec.step(wrong)
    assert vec.games.tobytes() == before[0]
    for name, array in vars(before[1]).items():
        assert (getattr(batch, name) == array).all(), name
    assert vec.step(good.astype(np.uint8)) is batch
    assert vec.games.tobytes() != before[0]


def test_the_learner_alone_is_asked() -> None:
    for seat in (0, 2, "random"):
        vec = me.VectorMonopoly(40, opponents=["random", "algorithmic"], seat=seat, seed=4)
        batch = vec.reset()
        assert vec.num_players == 3
        seats = [set() for _ in range(40)]
        outcomes = []
        for number in range(1500):
            for index in range(40):
                seats[index].add(int(batch.player[index]))
            assert (vec.games["player"] == batch.player).all()
            batch = vec.step(choose(batch.action_mask, number))
            for row, index in enumerate(batch.finished):
                final, actor = batch.final_games[row], batch.actor[index]
                outcomes.append(batch.reward[index, actor])
                assert final.place[actor] != 0
                assert batch.reward[index, actor] == pytest.approx(
                    1.0 if final.place[actor] == 1 else -0.5
                )
                assert (
                    batch.final_observation[row] == encoding.observe(final, seat=int(actor))
                ).all()
        assert len(outcomes) > 5
        if seat == "random":
            assert set.union(*seats) == {0, 1, 2}
        else:
            assert all(asked == {seat} for asked in seats)


@agents.policy_kernel
def first_compiled(game: Any, mask: Any, params: Any, memory: Any) -> int:
    for action in range(len(mask)):
        if mask[action]:
            return action
    return 0


def test_batched_and_compiled_opponents_play_alike() -> None:
    compiled = agents.CompiledPolicy("first_compiled", first_compiled)
    batched = Acting(first)
    vectors = [
        me.VectorMonopoly(30, opponents=["algorithmic", policy], seed=6, turn_limit=20)
        for policy in (compiled, batched)
    ]
    batches = [vec.reset() for vec in vectors]
    for number in range(300):
        chosen = choose(batches[0].action_mask, number)
        batches = [vec.step(chosen) for vec in vectors]
        for name, array in vars(batches[0]).items():
            if name != "final_games":
                assert (getattr(batches[1], name) == array).all(), name
    drawn = "policy_draws"  # keys for batched policies come from the same stream
    assert all(
        (vectors[0].games[name] == vectors[1].games[name]).all()
        for name in me.GAME.names
        if name != drawn
    )
    assert max(batched.batches) > 5


@agents.policy_kernel
def illegal_kernel(game: Any, mask: Any, params: Any, memory: Any) -> int:
    return 204


@pytest.mark.parametrize(
    ("opponent", "error", "named"),
    [
        *((Acting(answer), error, f"'acting'.*{named}") for answer, error, named in WRONG_ANSWERS),
        (
            agents.CompiledPolicy("bad", illegal_kernel),
            me.IllegalActionError,
            r"Policy 'bad' in the game of seed \d+: Action .*Legal: ",
        ),
    ],
)
def test_an_opponent_that_breaks_the_rules(
    opponent: agents.Policy, error: type[Exception], named: str
) -> None:
    vec = me.VectorMonopoly(8, opponents=[opponent], seed=1)

    def go() -> None:
        batch = vec.reset()
        for number in range(50):
            batch = vec.step(choose(batch.action_mask, number))

    with pytest.raises(error, match=named):
        go()
    with pytest.raises(me.ConfigurationError, match=r"call reset\(\)"):
        vec.step(np.zeros(8, int))


@pytest.mark.parametrize("opponent", [restless(), Acting(restless())], ids=["compiled", "batched"])
def test_an_opponent_that_never_ends_its_turn_is_named(opponent: agents.Policy) -> None:
    vec = me.VectorMonopoly(4, rules=rich(), opponents=[opponent], seed=1)

    def go() -> None:
        batch = vec.reset()
        for _ in range(200):
            batch = vec.step(batch.action_mask.argmax(axis=1))

    with pytest.raises(me.IllegalActionError, match=NEVER_ENDS):
        go()


def test_a_mask_is_written_for_opponents_that_read_it() -> None:
    """Both opponents check it, and break the rules where it is wrong."""
    for opponent in (blind(), seeing()):
        vec = me.VectorMonopoly(4, opponents=[opponent, opponent], seed=1)
        batch = vec.reset()
        for number in range(100):
            batch = vec.step(choose(batch.action_mask, number))


def test_rules_under_which_nobody_is_asked() -> None:
    rules = me.Rules(
        start_cash=0, go_salary=0, doubles_again=False, auction="none", trade="none", max_turns=1
    )
    with pytest.raises(me.ConfigurationError, match="before the learner was asked"):
        me.VectorMonopoly(2, 2, rules).reset()


def test_copies_go_on_alike() -> None:
    vec = me.VectorMonopoly(20, opponents=["random"], seed=8, reward="win_shaped")
    batch = vec.reset()
    for number in range(60):
        batch = vec.step(choose(batch.action_mask, number))
    twin = copy.deepcopy(vec)
    for number in range(60, 200):
        chosen = choose(batch.action_mask, number)
        batch, other = vec.step(chosen), twin.step(chosen)
        assert other is not batch
        for name, array in vars(batch).items():
            assert (getattr(other, name) == array).all(), name
    assert twin.games.tobytes() == vec.games.tobytes()


def test_reset() -> None:
    vec = me.VectorMonopoly(6, 2, seed=1)
    with pytest.raises(me.ConfigurationError, match=r"call reset\(\)"):
        vec.step(np.zeros(6, int))
    batch = vec.reset()
    start = vec.games.tobytes()
    for number in range(2000):
        batch = vec.step(choose(batch.action_mask, number))
    vec.reset()
    assert vec.games.tobytes() == start
    vec.reset(seed=2)
    assert vec.games.tobytes() != start
    assert not batch.reward.any()
    assert not len(batch.finished)


@pytest.mark.parametrize(
    "options",
    [{"num_players": 3}, {"opponents": ["random", "algorithmic"]}],
    ids=["self-play", "opponents"],
)
def test_games_of_given_seeds(options: Any) -> None:
    """They depend on their seed alone.

    Not on the row, the other rows, or the seed of the vector.
    """
    stories = []
    for row, count in ((0, 1), (2, 5)):
        vec = me.VectorMonopoly(count, seed=count, turn_limit=6, **options)
        vec.reset()
        mask = np.arange(count) == row
        batch = vec.begin(mask, [9 if chosen else None for chosen in mask])
        assert vec.seeds[row] == 9
        story = []
        for number in range(200):
            story.append(vec.games[row].tobytes())
            batch = vec.step(
                choose(batch.action_mask, number)
                if count == 1
                else choose_rows(batch.action_mask, number, row)
            )
        assert batch.finished.size < count
        stories.append(story)
    assert stories[0] == stories[1]
    first = np.frombuffer(stories[0][0], me.GAME)[0]
    assert (first.seed == me.new_game(3, seed=9).seed).all()


def choose_rows(mask: Any, number: int, row: int) -> Any:
    """As `choose`, with the choice in a row as if it were alone."""
    actions = choose(mask, number)
    actions[row] = choose(mask[row : row + 1], number)[0]
    return actions


def test_some_games_begin_again() -> None:
    vec = me.VectorMonopoly(6, 2, seed=1, autoreset=False, turn_limit=3)
    with pytest.raises(me.ConfigurationError, match=r"call reset\(\)"):
        vec.begin(np.arange(6) < 3)
    batch = vec.begin()
    number = begun = 0
    while begun < 12:
        while not len(batch.finished):
            batch = vec.step(choose(batch.action_mask, number))
            number += 1
        with pytest.raises(me.GameOverError, match=r"begin\(\)"):
            vec.step(np.zeros(6, int))
        ended, before = batch.truncated.copy(), vec.games.copy()
        vec.begin(ended)
        assert not len(batch.finished)
        assert not batch.reward.any()
        assert not batch.truncated.any()
        assert batch.action_mask.any(axis=1).all()
        assert (vec.games[~ended] == before[~ended]).all()
        assert not (vec.games["seed"][ended] == before["seed"][ended]).all(axis=1).any()
        begun += ended.sum()
    before = vec.games.tobytes()
    vec.begin(np.zeros(6, bool))
    assert vec.games.tobytes() == before


@pytest.mark.parametrize(
    ("games", "seeds", "named"),
    [
        ([True] * 3, None, r"bools of shape \(2,\)"),
        ([0, 1], None, r"bools of shape \(2,\)"),
        (None, [1], "1 seeds are given for 2 games"),
        (None, [1, -1], "seed=-1"),
        (None, [1, 0.5], "seed=0.5"),
    ],
)
def test_games_that_cannot_begin(games: Any, seeds: Any, named: str) -> None:
    vec = me.VectorMonopoly(2, 2)
    vec.reset()
    with pytest.raises(me.ConfigurationError, match=named):
        vec.begin(games, seeds)


def test_the_next_game_may_begin_in_the_next_step() -> None:
    """It is the same game, one step later, and the action for it does not matter."""
    vec = me.VectorMonopoly(8, opponents=["random"], seed=2, turn_limit=3, autoreset="next_step")
    batch = vec.reset()
    seeds = [[seed] for seed in vec.seeds.tolist()]
    for number in range(300):
        ended = batch.terminated | batch.truncated
        assert (batch.action_mask.any(axis=1) == ~ended).all()
        actions = np.full(8, -5)
        actions[~ended] = choose(batch.action_mask[~ended], number)
        batch = vec.step(actions)
        assert not batch.reward[ended].any()
        assert not (batch.terminated | batch.truncated)[ended].any()
        for row in np.flatnonzero(ended):
            seeds[row].append(int(vec.seeds[row]))
    assert all(len(row) > 3 for row in seeds)
    other = me.VectorMonopoly(8, opponents=["random"], seed=2)
    for generation in range(4):
        other.begin()
        assert other.seeds.tolist() == [row[generation] for row in seeds]


@pytest.mark.parametrize("players", [2, 4])
def test_an_illegal_action_may_end_its_game(players: int) -> None:
    vec = me.VectorMonopoly(3, players, seed=4, illegal="penalize", reward="rank_shaped")
    batch = vec.reset()
    for number in range(50):
        batch = vec.step(choose(batch.action_mask, number))
    actions, actor, before = (
        choose(batch.action_mask, 50),
        int(batch.player[1]),
        vec.games[1].copy(),
    )
    actions[1] = batch.action_mask[1].argmin()
    batch = vec.step(actions)
    assert batch.finished.tolist() == [1]
    assert batch.terminated.tolist() == [False, True, False]
    assert batch.reward[1].tolist() == [-1.0 if seat == actor else 0.0 for seat in range(players)]
    assert batch.out[1].all()
    assert batch.final_games[0] == before
    with pytest.raises(me.IllegalActionError, match="Game 2 of 3: action 205 must be"):
        vec.step([204, 204, 205])


def test_an_illegal_action_may_become_a_random_legal_one() -> None:
    stories = []
    for count in (2, 600):
        vec = me.VectorMonopoly(count, 3, seed=4, illegal="random")
        batch = vec.reset()
        story = []
        for _ in range(100):
            batch = vec.step(batch.action_mask.argmin(axis=1))
            story.append(vec.games[:2].tobytes())
        stories.append(story)
    assert stories[0] == stories[1]
    assert len(set(stories[0])) == 100


def test_games_are_cut_off_after_max_steps() -> None:
    for options in ({"num_players": 2}, {"opponents": [Acting(first)]}):
        vec = me.VectorMonopoly(5, seed=3, max_steps=9, **options)
        batch = vec.reset()
        for number in range(1, 28):
            batch = vec.step(choose(batch.action_mask, number))
            assert batch.truncated.all() == batch.truncated.any() == (number % 9 == 0)
            assert not batch.terminated.any()


def test_without_autoreset() -> None:
    vec = me.VectorMonopoly(1, 2, seed=1, turn_limit=2, autoreset=False)
    batch = vec.reset()
    number = 0
    while not len(batch.finished):
        batch = vec.step(choose(batch.action_mask, number))
        number += 1
    assert not batch.action_mask.any()
    assert vec.games[0].tobytes() == batch.final_games[0].tobytes()
    with pytest.raises(me.GameOverError, match=r"reset\(\)"):
        vec.step([0])


def test_padded_encoding() -> None:
    padded = encoding.make("standard", 2, pad_to=5)
    vec = me.VectorMonopoly(3, 2, encoding=padded)
    assert vec.reset().observation.shape == (3, encoding.size("standard", 5))


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"num_games": 0}, "num_games=0"),
        ({"num_games": 1.5}, "num_games=1.5"),
        ({"threads": 0}, "threads=0"),
        ({"turn_limit": True}, "turn_limit=True"),
        ({"seed": -1}, "seed=-1"),
        ({"encoding": "ocnaru100"}, "2 players"),
        ({"opponents": ["random"] * 8}, "2 to 8"),
        ({"opponents": ["random"], "seat": 2}, "seat=2"),
        ({"opponents": ["random"], "seat": "first"}, "'random'"),
        ({"autoreset": "next"}, "autoreset='next'"),
        ({"illegal": "penalise"}, "'penalize'"),
        ({"max_steps": 0}, "max_steps=0"),
    ],
)
def test_bad_arguments(wrong: Any, named: str) -> None:
    with pytest.raises(me.MonopolyError, match=named):
        me.VectorMonopoly(**wrong)


@pytest.mark.parametrize("seats", [[0, 1], [[0, 1]], [0, 1, 2], [0.0, 0.0, 1.0], [-1, 0, 0]])
def test_bad_seats(seats: Any) -> None:
    vec = me.VectorMonopoly(3, 2)
    vec.reset()
    with pytest.raises(me.ConfigurationError, match=r"[Ss]eats"):
        vec.observe(seats)
