"""The contract that the environments of both games keep: whoever knows one knows all."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env

import monopoly_env as me
import pente_env as pe
from monopoly_env import monopoly_v0
from pente_env import pente_v0

IDS = {"monopoly_env/Monopoly-v0": (me, "random"), "pente_env/Pente-v0": (pe, "random")}
SINGLE = {
    "monopoly": lambda **options: monopoly_v0.env(2, **options),
    "monopoly, Gymnasium": lambda **options: (
        gymnasium.make("monopoly_env/Monopoly-v0", opponents=["random"], **options).unwrapped
    ),
    "pente": lambda **options: pente_v0.env(2, **options),
    "pente, Gymnasium": lambda **options: (
        gymnasium.make("pente_env/Pente-v0", opponents=["random"], **options).unwrapped
    ),
}
VECTORS: dict[str, Callable[..., Any]] = {
    "monopoly": lambda **options: me.VectorMonopoly(2, 2, **options),
    "pente": lambda **options: pe.VectorPente(2, 2, **options),
}


def begun(kind: str, **options: Any) -> tuple[Any, Any, np.ndarray[Any, Any]]:
    """An environment in which a game has begun, its package, and its mask."""
    env = SINGLE[kind](**options)
    env.reset(seed=3)
    package = me if kind.startswith("monopoly") else pe
    return env, package, package.action_mask(env.game)


def test_every_package_is_typed() -> None:
    packages = {path.parent for path in (Path(__file__).parents[1] / "src").glob("*/__init__.py")}
    assert len(packages) == 6
    assert {package.name for package in packages if not (package / "py.typed").exists()} == set()


@pytest.mark.parametrize("kind", SINGLE)
def test_one_integer_is_an_action_however_it_is_held(kind: str) -> None:
    """And by the rules alone, `step`, it is the same."""
    digests = set()
    for held in (
        int,
        np.int16,
        np.array,
        lambda action: np.array([action]),
        lambda action: torch.tensor([action]),
    ):
        env, package, mask = begun(kind)
        game, action = package.clone(env.game), int(np.flatnonzero(mask)[-1])
        package.step(game, held(action))
        env.step(held(action))
        digests.add((package.digest(game), package.digest(env.game)))
    assert len(digests) == 1


@pytest.mark.parametrize("kind", SINGLE)
@pytest.mark.parametrize(
    "wrong",
    [
        None,
        True,
        1.0,
        "1",
        [1],
        np.array([1.0]),
        np.array([True]),
        np.array([1, 2]),
        np.zeros(0, int),
        torch.tensor([1, 2]),
    ],
    ids=repr,
)
def test_anything_else_is_refused(kind: str, wrong: Any) -> None:
    env, package, _ = begun(kind)
    before = package.digest(env.game)
    for step in (env.step, lambda action: package.step(env.game, action)):
        with pytest.raises(me.ConfigurationError, match=r"[Aa]ction"):
            step(wrong)
    assert package.digest(env.game) == before


@pytest.mark.parametrize("kind", SINGLE)
def test_an_illegal_action_is_an_error_ends_the_game_or_becomes_a_legal_one(kind: str) -> None:
    env, package, mask = begun(kind)
    before, illegal = package.digest(env.game), int(np.flatnonzero(~mask)[0])
    with pytest.raises(me.IllegalActionError, match="Legal: "):
        env.step(illegal)
    assert package.digest(env.game) == before

    env, *_ = begun(kind, illegal="penalize")
    step = env.step(illegal)
    reward, ended = step[1:3] if step else (env.rewards["player_0"], env.terminations["player_1"])
    assert (reward, ended) == (-1, True)
    assert package.digest(env.game) == before
    seen = step[4] if step else env.observe("player_0")
    assert not seen["action_mask"].any()
    with pytest.raises((me.GameOverError, me.ConfigurationError)):
        env.step(illegal)

    env, *_ = begun(kind, illegal="random")
    with pytest.raises(me.MonopolyError, match=r"0 to 204|0 to 48"):
        env.step(len(mask))
    with pytest.raises(me.ConfigurationError, match="'penalize'"):
        SINGLE[kind](illegal="penalise")


KINDS = {**SINGLE, "monopoly of three": lambda **options: monopoly_v0.env(3, **options)}


def random_instead(kind: str, seed: int) -> list[str]:
    """The digests of games in which every action is illegal and becomes a random legal one."""
    package = me if kind.startswith("monopoly") else pe
    env, digests = KINDS[kind](illegal="random"), []
    env.reset(seed=seed)
    while len(digests) < 300:
        mask = package.action_mask(env.game)
        if not mask.any():
            env.reset(seed=seed + 10 * len(digests))
        elif hasattr(env, "agents") and env.terminations[env.agent_selection]:
            env.step(None)
        else:
            env.step(int(mask.argmin()))
            digests.append(package.digest(env.game))
    return digests


@pytest.mark.parametrize("kind", KINDS)
def test_random_actions_instead_of_illegal_ones_depend_on_the_seed(kind: str) -> None:
    stories = [random_instead(kind, seed) for seed in (1, 1, 2)]
    assert stories[0] == stories[1] != stories[2]
    assert len(set(stories[0])) > 280


@pytest.mark.parametrize("kind", VECTORS)
def test_illegal_actions_of_vectors(kind: str) -> None:
    vec = VECTORS[kind](illegal="penalize")
    batch = vec.reset()
    actions = batch.action_mask.argmax(axis=1)
    actions[1] = batch.action_mask[1].argmin()
    batch = vec.step(actions)
    assert batch.terminated.tolist() == [False, True]
    assert batch.reward[1, batch.actor[1]] == -1
    assert batch.reward.sum() == -1
    stories = []
    for _ in range(2):
        vec = VECTORS[kind](illegal="random")
        batch = vec.reset()
        stories.append(
            [vec.step(batch.action_mask.argmin(axis=1)).observation.tobytes() for _ in range(20)]
        )
    assert stories[0] == stories[1]
    assert len(set(stories[0])) > 10
    with pytest.raises(me.IllegalActionError, match="Game 0 of 2"):
        vec.step(np.full(2, 999))
    with pytest.raises(me.ConfigurationError, match="'penalize'"):
        VECTORS[kind](illegal="penalise")


@pytest.mark.parametrize("kind", ["monopoly", "pente"])
def test_nobody_is_left_after_the_end(kind: str) -> None:
    env, *_ = begun(kind, illegal="penalize")
    env.step(int(np.argmin(env.last()[0]["action_mask"])))
    for agent in env.agent_iter():
        assert env.last()[1] == -float(agent == "player_0")
        env.step(None)
    with pytest.raises(me.GameOverError, match=r"call reset\(\)"):
        env.last()


@pytest.mark.parametrize("name", IDS)
def test_an_environment_is_made_again_from_its_specification(name: str) -> None:
    """As libraries do that write it down: Gymnasium turns `Rules` into a dictionary."""
    package, opponent = IDS[name]
    rules = package.Rules(**{"start_cash": 1000} if package is me else {"size": 9})
    env = gymnasium.make(name, opponents=[opponent], rules=rules)
    again = gymnasium.make(EnvSpec.from_json(env.spec.to_json()))  # type: ignore[union-attr]
    digests = {package.digest(made.unwrapped.game) for made in (env, again) if made.reset(seed=1)}  # type: ignore[attr-defined]
    assert len(digests) == 1
    with pytest.raises(me.RulesError, match="Unknown option 'sizes'"):
        gymnasium.make(name, rules={"sizes": 9})


@pytest.mark.parametrize("opponents", [["random"], ["capturer", "random"]])
def test_pente_for_one_learner(opponents: list[str]) -> None:
    env = gymnasium.make("pente_env/Pente-v0", opponents=opponents)
    check_env(
        gymnasium.make("pente_env/Pente-v0", opponents=opponents, illegal="random").unwrapped,
        skip_render_check=True,
    )
    rng, seats, rewards = np.random.default_rng(0), set(), set()
    for seed in range(30):
        observation, info = env.reset(seed=seed)
        assert env.unwrapped.game.seed.tolist() == pe.new_game(seed=seed).seed.tolist()  # type: ignore[attr-defined]
        seats.add(info["seat"])
        terminated, other = False, copy.deepcopy(env)
        while not terminated:
            action = int(rng.choice(np.flatnonzero(info["action_mask"])))
            observation, reward, terminated, _, info = env.step(action)
            assert (observation == other.step(action)[0]).all(), "a copy goes on alike"
            assert reward == 0 or terminated
        winner = pe.winner(env.unwrapped.game)  # type: ignore[attr-defined]
        assert reward == (
            0 if winner is None else 1 if winner == info["seat"] else -1 / len(opponents)
        )
        assert not info["action_mask"].any()
        rewards.add(reward)
        with pytest.raises(me.GameOverError):
            env.unwrapped.step(0)
    assert seats == set(range(len(opponents) + 1))
    assert len(rewards) > 1
    games = {pe.digest(env.unwrapped.game) for _ in range(5) if env.reset()}  # type: ignore[attr-defined]
    assert len(games) > 3
    with pytest.raises(me.ConfigurationError, match="list"):
        gymnasium.make("pente_env/Pente-v0", opponents="better")
