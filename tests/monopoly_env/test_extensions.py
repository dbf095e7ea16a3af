"""Encodings and rewards of users.

Every interface honours them, and nothing is written outside its array.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from numpy.typing import NDArray

import agents
import monopoly_env as me
from monopoly_env import encoding, monopoly_v0, rewards
from monopoly_env.encoding import Encoding, standard
from monopoly_env.game import MAX_PLAYERS
from monopoly_env.policy.protocol import Decisions
from monopoly_env.testing import CheckError, check_encoding, check_reward
from training.experience import streams

CASH = "cash_and_square"
MORE = "standard_and_rounds"
EARNED = "cash_earned"
LAST = "last_standing"
STANDARD = encoding.size("standard", 2)


def write_cash(game: Any, seat: int, row: Any) -> None:
    row[0] = min(1.0, game.cash[seat] / 5000)
    row[1] = game.position[seat] / 40


def write_more(game: Any, seat: int, row: Any) -> None:
    standard.write(game, seat, row[: len(row) - 1])
    row[len(row) - 1] = game.rounds / (game.rounds + 10.0)


def earned(game: Any, left: int, discount: float, memory: Any, out: Any) -> None:
    for seat in range(game.num_players):
        out[seat] = discount * game.cash[seat] - memory[seat]
        memory[seat] = game.cash[seat]


def last_standing(game: Any, left: int, discount: float, memory: Any, out: Any) -> None:
    for seat in range(game.num_players):
        if (left >> seat) & 1:
            out[seat] = 10.0 if game.place[seat] == 1 else -float(game.place[seat])


@pytest.fixture(autouse=True)
def extensions() -> None:
    """What a user's module would register when it is imported."""
    encoding.register(CASH, ("cash", "square"), write_cash)
    encoding.register(
        MORE, lambda players: (*encoding.names("standard", players), "rounds again"), write_more
    )
    rewards.register(EARNED, earned, each_step=True)
    rewards.register(LAST, last_standing)


def seen(game: Any, seat: int) -> list[float]:
    return [np.float32(min(1.0, game.cash[seat] / 5000)), np.float32(game.position[seat] / 40)]


def play_randomly(vec: me.VectorMonopoly, steps: int, seed: int = 0) -> Any:
    """The batches of random play."""
    batch, rng = vec.reset(), np.random.default_rng(seed)
    for _ in range(steps):
        yield batch
        chances = np.where(batch.action_mask, rng.random(batch.action_mask.shape), -1.0)
        batch = vec.step(chances.argmax(axis=1))
    yield batch


# --- encodings


@pytest.mark.parametrize("opponents", [None, ["random"]])
def test_a_vector_shows_what_an_own_encoding_writes(opponents: list[str] | None) -> None:
    vec = me.VectorMonopoly(64, 2, encoding=CASH, opponents=opponents)
    for batch in play_randomly(vec, 50):
        assert batch.observation.tolist() == [
            seen(game, seat) for game, seat in zip(vec.games, batch.player, strict=True)
        ]
    assert np.array_equal(
        vec.observe(np.tile([0, 1], (64, 1)))[:, 1, 1], np.float32(vec.games["position"][:, 1] / 40)
    )


def test_an_encoding_that_was_made_by_hand_is_honoured_too() -> None:
    vec = me.VectorMonopoly(8, 3, encoding=Encoding("by hand", ("cash", "square"), write_cash))
    batch = vec.reset()
    assert batch.observation.tolist() == [
        seen(game, seat) for game, seat in zip(vec.games, batch.player, strict=True)
    ]


def test_the_environments_show_what_an_own_encoding_writes() -> None:
    env = monopoly_v0.env(num_players=3, encoding=CASH)
    env.reset(seed=1)
    assert env.observation_space("player_0")["observation"].shape == (2,)
    for seat in range(3):
        assert env.observe(f"player_{seat}")["observation"].tolist() == seen(
            env.unwrapped.game, seat
        )
    gym = gymnasium.make("monopoly_env/Monopoly-v0", opponents=["random"], encoding=CASH)
    observation, info = gym.reset(seed=1)
    assert observation.tolist() == seen(gym.unwrapped.game, info["seat"])


def test_an_own_encoding_may_extend_the_standard_one() -> None:
    game = me.new_game(4, seed=3)
    assert np.array_equal(encoding.observe(game, MORE)[:-1], encoding.observe(game))
    assert encoding.size(MORE, 4) == encoding.size("standard", 4) + 1
    check_encoding(MORE, rules=["official"], num_players=[2, 4])


def test_policies_see_an_own_encoding() -> None:
    vec = me.VectorMonopoly(4, 2)
    vec.reset()
    assert Decisions(vec.games.copy()).observation(CASH)[:, 0].tolist() == [np.float32(0.3)] * 4


def test_streams_of_experiences_record_an_own_encoding() -> None:
    part = next(
        iter(
            streams.stream([["random", "random"]], 2, rules="official", encoding=CASH, reward=LAST)
        )
    )
    assert part.observation.shape[1] == 2
    assert set(part.outcome.tolist()) <= {10.0, -1.0, -2.0}
    with pytest.raises(me.ConfigurationError, match="'cash_earned' is paid at every step"):
        next(
            iter(
                streams.stream(
                    [["random", "random"]], 2, rules="official", encoding=CASH, reward=EARNED
                )
            )
        )


def beyond(game: Any, seat: int, row: Any) -> None:
    row[0] = row[1] = row[2] = 0.0


def beyond_later(game: Any, seat: int, row: Any) -> None:
    row[:] = 0.0
    row[1 + game.rounds] = 0.0


@pytest.mark.parametrize(
    "use",
    [
        lambda made: me.VectorMonopoly(64, 2, encoding=made),
        lambda made: monopoly_v0.env(2, encoding=made),
    ],
)
@pytest.mark.parametrize(
    "made",
    [
        Encoding("two of three", ("a", "b"), beyond),
        Encoding("one of many", ("a",), encoding.make("standard", 2).kernel),
    ],
    ids=lambda made: made.name,
)
def test_a_row_that_is_too_short_is_refused(use: Callable[[Encoding], Any], made: Encoding) -> None:
    with pytest.raises(
        me.ConfigurationError,
        match=f"'{made.name}' has {made.size} features, but writes more than that for 2 players",
    ):
        use(made)


def test_an_encoding_for_fewer_players_is_refused() -> None:
    with pytest.raises(
        me.ConfigurationError,
        match="'standard' of 602 features has no room for 3 players, who take 706",
    ):
        monopoly_v0.env(3, encoding=encoding.make("standard", 2))


def test_an_index_beyond_the_row_raises_wherever_it_happens_first() -> None:
    vec = me.VectorMonopoly(
        64, 2, encoding=Encoding("sparse", ("a", "b", "c"), beyond_later), threads=2
    )
    with pytest.raises(
        me.ConfigurationError,
        match="index beyond its arrays: that of the encoding 'sparse', the reward 'win'",
    ):
        for _ in play_randomly(vec, 100):
            pass


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("standard", ("a",), write_cash), "'standard' is built in"),
        (("my encoding", ("a",), write_cash), "may only have letters"),
        (("mine", "ab", write_cash), "different names"),
        (("mine", (), write_cash), "different names"),
        (("mine", ("a", "a"), write_cash), "different names"),
        (("mine", ("a",), lambda game, row: None), r"must take \(game, seat, row\)"),
        (("mine", ("a",), "write"), "must be a function, not 'write'"),
        (("mine", ("a",), write_cash, (2, 9)), "num_players=9"),
    ],
)
def test_a_wrong_registration_is_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(me.ConfigurationError, match=message):
        encoding.register(*arguments)


def test_an_own_encoding_is_only_for_its_sizes_of_table() -> None:
    encoding.register("for_three", ("a", "b"), write_cash, num_players=[3])
    assert encoding.make("for_three", 3).size == 2
    with pytest.raises(me.ConfigurationError, match="is for 3 players, not num_players=2"):
        encoding.make("for_three", 2)


def test_an_unknown_encoding_says_how_to_add_it() -> None:
    with pytest.raises(
        me.ConfigurationError,
        match=r"'cash_and_sqare'. Did you mean 'cash_and_square'.*encoding.register",
    ):
        encoding.make("cash_and_sqare")


def misspelled(game: Any, seat: int, row: Any) -> None:
    row[0] = game.csh[seat]


def misspelled_in_brackets(game: Any, seat: int, row: Any) -> None:
    row[0] = game["hoses"]


def misspelled_rule(game: Any, seat: int, row: Any) -> None:
    row[0] = game.rules.start_csh


def not_compilable(game: Any, seat: int, row: Any) -> None:
    row[0] = no_such_name  # type: ignore[name-defined]  # noqa: F821 - that is the error


@pytest.mark.parametrize(
    ("kernel", "why"),
    [
        (misspelled, "A record has no field 'csh'. Did you mean 'cash'?"),
        (misspelled_in_brackets, "A record has no field 'hoses'. Did you mean 'houses'?"),
        (misspelled_rule, "A record has no field 'start_csh'. Did you mean 'start_cash'?"),
        (not_compilable, ".*name 'no_such_name' is not defined"),
    ],
)
def test_a_kernel_that_does_not_compile_says_why(kernel: Any, why: str) -> None:
    match = rf"(?s)The kernel of an encoding {kernel.__name__} does not compile: {why}"
    with pytest.raises(me.ConfigurationError, match=match):
        me.VectorMonopoly(2, 2, encoding=Encoding("mine", ("a",), kernel))


@pytest.mark.parametrize(
    "copied",
    [copy.deepcopy, lambda vec: pickle.loads(pickle.dumps(vec))],  # noqa: S301 - our own bytes
    ids=["deepcopy", "pickle"],
)
def test_a_copied_vector_goes_on_alike(
    copied: Callable[[me.VectorMonopoly], me.VectorMonopoly],
) -> None:
    vec = me.VectorMonopoly(3, 2, encoding=CASH, reward=EARNED)
    *_, batch = play_randomly(vec, 5)
    twin, actions = copied(vec), batch.action_mask.argmax(axis=1)
    one, other = vec.step(actions), twin.step(actions)
    assert np.array_equal(one.observation, other.observation)
    assert np.array_equal(one.reward, other.reward)


# --- rewards


def test_an_own_reward_is_paid_at_every_step() -> None:
    vec = me.VectorMonopoly(16, 3, reward=EARNED)
    before = np.zeros((16, 3), np.float64)
    for number, batch in enumerate(play_randomly(vec, 60)):
        assert not batch.finished.size
        cash = vec.games["cash"][:, :3].astype(np.float64)
        if number:
            assert np.array_equal(batch.reward, (cash - before).astype(np.float32))
            before = cash


def test_its_memory_starts_from_zeros_in_every_game() -> None:
    vec = me.VectorMonopoly(8, 2, rules=me.Rules(max_turns=4), reward=EARNED)
    ended = 0
    starts = np.zeros(8, np.bool_)
    for batch in play_randomly(vec, 200):
        for game in np.flatnonzero(starts & ~batch.terminated):
            assert batch.reward[game].tolist() == vec.games["cash"][game, :2].tolist()
        starts = batch.terminated.copy()
        ended += int(starts.sum())
    assert ended > 8


@pytest.mark.parametrize("name", [EARNED, LAST])
def test_the_environments_pay_the_same_own_reward(name: str) -> None:
    check_reward(name, games=2, zero_sum=False)


def test_a_learner_among_opponents_is_paid_its_own_reward() -> None:
    gym = gymnasium.make(
        "monopoly_env/Monopoly-v0",
        opponents=["random", "random"],
        reward=LAST,
        rules=me.Rules(max_turns=90),
    )
    for seed in range(3):
        _, info = gym.reset(seed=seed)
        over = False
        while not over:
            _, reward, terminated, truncated, info = gym.step(int(info["action_mask"].argmax()))
            over = terminated or truncated
            assert over or reward == 0.0
        place = int(gym.unwrapped.game.place[gym.unwrapped.table.batch.actor[0]])
        assert reward == (10.0 if place == 1 else -place)


def greedy(game: Any, left: int, discount: float, memory: Any, out: Any) -> None:
    out[0] = 1.0
    game.cash[0] += 1


def beyond_seats(game: Any, left: int, discount: float, memory: Any, out: Any) -> None:
    out[game.num_players] = 1.0


def beyond_memory(game: Any, left: int, discount: float, memory: Any, out: Any) -> None:
    memory[MAX_PLAYERS + game.turns] = 1.0


@pytest.mark.parametrize("kernel", [beyond_seats, beyond_memory])
def test_a_reward_writes_nothing_outside_its_arrays(kernel: Callable[..., None]) -> None:
    rewards.register("broken", kernel, each_step=True)
    vec = me.VectorMonopoly(64, 2, reward="broken")
    with pytest.raises(
        me.ConfigurationError, match=r"index beyond its arrays.* the reward 'broken'"
    ):
        for _ in play_randomly(vec, 2):
            pass


def test_a_reward_that_changes_the_game_is_found() -> None:
    rewards.register("greedy", greedy, each_step=True)
    with pytest.raises(CheckError, match="Reward 'greedy'"):
        check_reward("greedy", games=1, num_players=[2])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("win", earned), "'win' is built in"),
        (("rank_shaped", earned), "'rank_shaped' is built in"),
        (("my reward", earned), "may only have letters"),
        (("mine", lambda game: None), r"must take \(game, left, discount, memory, out\)"),
    ],
)
def test_a_wrong_registration_of_a_reward_is_refused(
    arguments: tuple[Any, ...], message: str
) -> None:
    with pytest.raises(me.ConfigurationError, match=message):
        rewards.register(*arguments)


def test_arguments_that_are_neither_names_nor_made_are_refused() -> None:
    with pytest.raises(me.ConfigurationError, match="encoding=3 must be a name or an Encoding"):
        me.VectorMonopoly(2, 2, encoding=3)  # type: ignore[arg-type]
    with pytest.raises(me.ConfigurationError, match="reward=3 must be a name or a Reward"):
        monopoly_v0.env(reward=3)


# --- policies


@agents.policy_kernel
def reads_beyond(
    game: Any, mask: NDArray[np.bool_], params: NDArray[np.float64], memory: NDArray[np.float64]
) -> int:
    return int(mask.argmax()) if params[3] >= 0 else 0


@agents.policy_kernel
def writes_beyond(
    game: Any, mask: NDArray[np.bool_], params: NDArray[np.float64], memory: NDArray[np.float64]
) -> int:
    memory[64 + game.turns] = 1.0
    return int(mask.argmax())


@pytest.mark.parametrize("kernel", [reads_beyond, writes_beyond])
def test_a_policy_that_reaches_beyond_its_arrays_is_stopped(kernel: Any) -> None:
    policy = agents.CompiledPolicy("mine", kernel, [1.0])
    with pytest.raises(
        me.PolicyError, match=r"Policy 'mine' raised IndexError.*turn \d+, '\w+' of player"
    ):
        agents.arena.play([policy, "random"], games=2, threads=1)
