"""The checks for users.

What keeps its contract passes, and what breaks it is named with the game and the decision.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

import agents
import monopoly_env as me
from monopoly_env import encoding, rewards
from monopoly_env.encoding import Encoding
from monopoly_env.engine.randomness import policy_draw
from monopoly_env.envs.aec import MonopolyAEC
from monopoly_env.testing import (
    CheckError,
    check_encoding,
    check_policy,
    check_reward,
    check_rules,
    games,
)
from monopoly_env.testing import rewards as reward_checks
from monopoly_env.validate import fuzz
from tests.policies import restless, rich

ONE_GAME: dict[str, Any] = {"rules": ["official"], "num_players": [2], "games": 1, "turn_limit": 10}
WHERE = r"Game: new_game\(2, 'official', seed=0\), decision \d+"


# --- policies


class Sound(agents.BatchedPolicy):
    """The last legal action, or sometimes the first, by its key."""

    name = "sound"

    def __init__(self, share: int = 10) -> None:
        self.share = share

    def options(self) -> dict[str, Any]:
        return {"share": self.share}

    def act(self, decisions: agents.Decisions) -> NDArray[np.int64]:
        first, last = decisions.mask.argmax(axis=1), 204 - decisions.mask[:, ::-1].argmax(axis=1)
        return np.where(decisions.key % np.uint64(self.share) == 0, first, last)


class Wrong(Sound):
    """It does one thing wrong."""

    def __init__(self, act: Callable[[agents.Decisions, NDArray[np.int64]], Any]) -> None:
        super().__init__()
        self.wrong = act
        self.numbers = np.zeros(1)

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {"numbers": self.numbers}

    def act(self, decisions: agents.Decisions) -> Any:
        return self.wrong(decisions, super().act(decisions))


def writes(decisions: agents.Decisions, actions: NDArray[np.int64]) -> NDArray[np.int64]:
    decisions.games["cash"][:, 1] += 1
    return actions


def draws(decisions: agents.Decisions, actions: NDArray[np.int64]) -> NDArray[np.int64]:
    decisions.games["policy_draws"][:, 1 - decisions.games["player"]] += 1
    return actions


def by_chance(decisions: agents.Decisions, actions: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.where(
        np.random.default_rng().random(len(actions)) < 0.5, decisions.mask.argmax(axis=1), actions
    )


def by_place(decisions: agents.Decisions, actions: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.where(np.arange(len(actions)) % 2, decisions.mask.argmax(axis=1), actions)


def breaks(decisions: agents.Decisions, actions: NDArray[np.int64]) -> NDArray[np.int64]:
    raise ZeroDivisionError


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            lambda decisions, actions: actions[:0],
            r"'sound' returned int64 of shape \(0,\): expected \(1,\) integers, one for each",
        ),
        (lambda decisions, actions: actions + 0.5, r"'sound' returned float64 of shape"),
        (
            lambda decisions, actions: actions + 300,
            r"Policy 'sound': action \d+ must be an integer from 0 to 204",
        ),
        (
            lambda decisions, actions: actions * 0 + 204,
            r"Policy 'sound': Action 204 \(.*\) .* Legal: ",
        ),
        (writes, r"Policy 'sound' changed 'cash' of a game: expected it only to read the game"),
        (draws, r"Policy 'sound' changed 'policy_draws' of a game"),
        (
            by_chance,
            r"Policy 'sound' does not play the same game again in a batch of 1 instead of 1",
        ),
    ],
)
def test_a_batched_policy_that_breaks_its_contract_is_named_with_its_game(
    wrong: Callable[..., Any], message: str
) -> None:
    with pytest.raises(CheckError, match=f"{message}.*{WHERE}"):
        check_policy(Wrong(wrong), saved=False, pickled=False, **ONE_GAME)


def test_a_policy_that_depends_on_its_batch_may_say_so() -> None:
    several = ONE_GAME | {"games": 4}
    with pytest.raises(
        CheckError, match="does not play the same game again in a batch of 2 instead of 4"
    ):
        check_policy(Wrong(by_place), saved=False, pickled=False, **several)
    check_policy(Wrong(by_place), saved=False, pickled=False, any_batch=False, **several)


def test_an_error_of_a_policy_tells_the_game() -> None:
    with pytest.raises(ZeroDivisionError) as raised:
        check_policy(Wrong(breaks), saved=False, pickled=False, **ONE_GAME)
    assert (
        "Policy 'sound' was asked for 1 decisions. The first: Game: new_game(2, 'official',"
        " seed=0), decision" in raised.value.__notes__[0]
    )


def test_a_policy_that_never_ends_its_turn_is_stuck() -> None:
    options = ONE_GAME | {"rules": [rich()], "saved": False}
    with pytest.raises(
        CheckError, match=r"'restless' made 10000 decisions in one turn: expected an end of .*Game:"
    ):
        check_policy(restless(), **options)


def test_a_policy_that_learns_while_it_plays_is_refused() -> None:
    policy = Wrong(lambda decisions, actions: actions)
    policy.wrong = lambda decisions, actions: (policy.numbers.__iadd__(1), actions)[1]
    with pytest.raises(CheckError, match="changed its arrays while it played"):
        check_policy(policy, saved=False, pickled=False, **ONE_GAME)


def test_a_policy_is_saved_and_pickled_with_all_that_matters() -> None:
    with pytest.raises(
        CheckError, match="cannot be loaded: expected a factory registered as 'sound'"
    ):
        check_policy(Sound(), **ONE_GAME)
    agents.register("sound", Sound)
    check_policy(Sound(3), **ONE_GAME)
    agents.register("sound", lambda share: Sound())
    with pytest.raises(
        CheckError,
        match="'sound' is not the same after it was saved and loaded: expected equal options",
    ):
        check_policy(Sound(3), **ONE_GAME)
    agents.register(
        "sound", lambda share: Wrong(lambda decisions, actions: decisions.mask.argmax(axis=1))
    )
    with pytest.raises(
        CheckError,
        match=r"'sound' cannot be loaded after it was saved: .* array 'numbers' is missing",
    ):
        check_policy(Sound(), **ONE_GAME)
    agents.register("sound", Sound)  # other tests make every policy that has a name


class Forgetful(Sound):
    """What it plays by is lost when it is pickled."""

    def __getstate__(self) -> dict[str, Any]:
        return {"share": self.share}

    def act(self, decisions: agents.Decisions) -> NDArray[np.int64]:
        return decisions.mask.argmax(axis=1) if hasattr(self, "there") else super().act(decisions)


def test_a_pickled_policy_plays_the_same() -> None:
    policy = Forgetful()
    policy.there = True  # type: ignore[attr-defined]
    with pytest.raises(
        CheckError,
        match=(
            f"does not play the same game again after it was pickled. {WHERE} of seat .: '.*', then"
            " '.*'"
        ),
    ):
        check_policy(policy, saved=False, **ONE_GAME)


@agents.policy_kernel
def thief(game: Any, mask: Any, params: Any, memory: Any) -> int:
    """It takes a dollar now and then, or draws for another seat."""
    if params[0] == 1 and game.turns > 3:
        game.cash[game.player] += 1
    if params[0] == 2:
        policy_draw(game, 1 - game.player, 2)
    action = -1 if params[0] == 3 and game.turns > 3 else 0
    while action >= 0 and not mask[action]:
        action += 1
    return action


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (1, "Policy 'thief' changed 'cash' of a game: expected it only to read the game"),
        (2, "Policy 'thief' changed 'policy_draws' of a game"),
        (3, "Policy 'thief': action -1 must be an integer"),
    ],
)
def test_a_compiled_policy_that_breaks_its_contract_is_named_with_its_game(
    number: int, message: str
) -> None:
    check_policy(agents.CompiledPolicy("thief", thief, [0]), saved=False, **ONE_GAME)
    with pytest.raises(CheckError, match=f"{message}.*{WHERE}"):
        check_policy(agents.CompiledPolicy("thief", thief, [number]), saved=False, **ONE_GAME)


def test_a_game_that_is_checked_is_the_game_of_the_arena() -> None:
    policies = [agents.make("algorithmic"), agents.make("random")]
    match = games.CheckedGames(policies, [games.Start(2, "official", 7 << 32)], np.array([[0, 1]]))
    played = agents.arena.play(policies, 1, seed=7, record=1, turn_limit=50)
    assert games.play(match, 50)[0].tolist() == played.replays[0].actions.tolist()
    assert (
        games.play(match, 50, 40, compiled=False)[0].tolist()
        == played.replays[0].actions[:40].tolist()
    )


def test_errors_of_arguments_are_those_of_the_library() -> None:
    with pytest.raises(me.ConfigurationError, match="Unknown policy 'randm'"):
        check_policy("randm")
    with pytest.raises(me.RulesError, match="Unknown preset 'oficial'"):
        check_policy("random", rules=["oficial"])
    with pytest.raises(me.ConfigurationError, match="Give num_players"):
        check_encoding(encoding.make("standard", 2))
    assert issubclass(CheckError, me.MonopolyError)
    assert issubclass(CheckError, AssertionError)


# --- encodings


@pytest.mark.slow
@pytest.mark.parametrize("name", encoding.NAMES)
def test_encodings_keep_their_contract(name: str) -> None:
    check_encoding(name)


def test_an_encoding_for_more_players_is_padded() -> None:
    check_encoding(encoding.make("standard", 3, pad_to=5), rules=["official"], num_players=[3])


def written(change: Callable[[Any, int, NDArray[np.float32]], None]) -> Callable[..., None]:
    """Zeros, but for what the change writes."""
    change = numba.njit(change)

    def write(game: Any, seat: int, row: NDArray[np.float32]) -> None:
        row[:] = 0
        change(game, seat, row)

    return write


def set_to(value: Callable[[Any, int], float]) -> Callable[..., None]:
    value = numba.njit(value)

    def change(game: Any, seat: int, row: NDArray[np.float32]) -> None:
        row[1] = value(game, seat)

    return written(change)


def too_long(game: Any, seat: int, row: NDArray[np.float32]) -> None:
    row[len(row)] = 0


def last_left(game: Any, seat: int, row: NDArray[np.float32]) -> None:
    row[:-1] = 0


def spends(game: Any, seat: int, row: NDArray[np.float32]) -> None:
    game.cash[seat] -= 1


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (too_long, "writes outside its row of 3 features"),
        (last_left, "does not write feature 'c', or adds to what was there"),
        (written(spends), "changed the game: expected it only to read the game"),
        (set_to(lambda game, seat: 1.5), "feature 'b' is 1.5, expected a number from -1 to 1"),
        (set_to(lambda game, seat: np.nan), "does not write feature 'b'"),
        (
            set_to(lambda game, seat: game.seed[0] / 2**32),
            "shows the seed of the dice to come, by feature 'b'",
        ),
        (set_to(lambda game, seat: game.num_forced / 16), "shows forced throws to come"),
        (
            set_to(lambda game, seat: game.deck[0, game.deck_next[0]] / 16),
            "shows the order of the cards to come",
        ),
        (
            set_to(lambda game, seat: game.sealed[1 - seat] / 5000),
            "shows the sealed bids of other players",
        ),
    ],
)
def test_an_encoding_that_breaks_its_contract_is_named_with_its_game(
    write: Callable[..., None], message: str
) -> None:
    broken = Encoding("mine", ("a", "b", "c"), write)
    where = (
        r"Game: new_game\(2, 'official', seed=0\), after \d+ decisions of random play, seen from"
        r" seat \d"
    )
    with pytest.raises(CheckError, match=f"Encoding 'mine'.* {message}.*{where}"):
        check_encoding(broken, rules=["official"], num_players=[2])


def test_names_of_features_are_unique() -> None:
    with pytest.raises(me.ConfigurationError, match="its features must be different names"):
        Encoding("mine", ("a", "b", "a"), last_left)


# --- rewards


@pytest.mark.parametrize("name", rewards.names())
def test_rewards_keep_their_contract(name: str) -> None:
    check_reward(name, games=2)


def test_a_discounted_shaped_reward_keeps_its_contract() -> None:
    check_reward(rewards.make("rank_shaped", 0.99), games=1)


class Doubled(MonopolyAEC):
    """It pays twice."""

    def step(self, action: int | None) -> None:
        super().step(action)
        self.rewards = {agent: 2 * reward for agent, reward in self.rewards.items()}


def test_a_reward_that_breaks_its_contract_is_named_with_its_game(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    where = (
        r"Reward '\w+'. Game: new_game\(2, Rules\(\*\*{'max_turns': 60}\), seed=\d+\), decision \d+"
    )
    for broken, message in (
        (dataclasses.replace(rewards.make("win_shaped"), discount=np.nan), r"are not finite"),
        (
            dataclasses.replace(
                rewards.make("win_shaped"), kernel=rewards.make("net_worth").kernel
            ),
            r"add up to .*, expected the final ones",
        ),
    ):
        with pytest.raises(CheckError, match=f"{message}.*{where}"):
            check_reward(broken)
    with pytest.raises(CheckError, match="did not end within 5 decisions"):
        check_reward("win", decisions=5)
    monkeypatch.setattr(reward_checks, "MonopolyAEC", Doubled)
    with pytest.raises(CheckError, match=f"The environments differ: .*{where}"):
        check_reward("win")


# --- rules


@pytest.mark.parametrize(
    "rules", [*me.Rules.presets(), me.Rules(auction="none", houses=20)], ids=str
)
def test_rules_keep_their_contract(rules: me.Rules | str) -> None:
    check_rules(rules, games=4)


def test_a_broken_game_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    true = fuzz.random_position

    def damaged(rng: np.random.Generator, rules: me.Rules, size: int, seed: int) -> Any:
        game = true(rng, rules, size, seed)
        game.cash[0] = -1_000_000
        return game

    monkeypatch.setattr(fuzz, "random_position", damaged)
    with pytest.raises(
        CheckError,
        match=(
            r"a player's cash is negative\. Game: .*random_position\(numpy.random.default_rng\(0\),"
            r" rules, 2, 0\)"
        ),
    ):
        check_rules("official")


def test_an_illegal_action_that_passes_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(me.core, "step", lambda game, action: game)
    with pytest.raises(
        CheckError,
        match=(
            r"The illegal action \d+ \('.*'\) was not refused, or it left a trace\. Game:"
            r" new_game\(2, 'uk', seed=0\)"
        ),
    ):
        check_rules("uk")
