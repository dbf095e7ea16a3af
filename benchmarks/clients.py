"""Steps per second through each installed library: `python benchmarks/clients.py`.

Set OMP_NUM_THREADS=1. A step is one decision by the first legal action, on one thread, in CPU
seconds; the work of the library counts. Nothing is learned.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from importlib.util import find_spec
from itertools import islice
from typing import Any

import gymnasium
import numpy as np

import monopoly_env as me
from monopoly_env import monopoly_v0

ID = "monopoly_env/Monopoly-v0"
GAMES = 64
Stepper = Iterator[int]  # yields the number of decisions of each call


def gymnasium_single() -> Stepper:
    env = gymnasium.make(ID, opponents=["random"])
    _, info = env.reset(seed=0)
    while True:
        *_, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
        if terminated or truncated:
            _, info = env.reset()
        yield 1


def gymnasium_vector() -> Stepper:
    envs = gymnasium.make_vec(ID, num_envs=GAMES, opponents=["random"])
    _, infos = envs.reset(seed=0)
    while True:
        infos = envs.step(infos["action_mask"].argmax(axis=1))[-1]
        yield GAMES


def vector() -> Stepper:
    vec = me.VectorMonopoly(GAMES, 2, opponents=["random"], threads=1)
    batch = vec.reset()
    while True:
        batch = vec.step(batch.action_mask.argmax(axis=1))
        yield GAMES


def turns_of(env: Any) -> Stepper:
    """Play a PettingZoo environment, one agent after another."""
    while True:
        env.reset(seed=0)
        for _ in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            env.step(None if terminated or truncated else int(observation["action_mask"].argmax()))
            yield 1


def pettingzoo() -> Stepper:
    return turns_of(monopoly_v0.env(2))


def parallel() -> Stepper:
    from pettingzoo.utils.conversions import turn_based_aec_to_parallel

    env = turn_based_aec_to_parallel(monopoly_v0.env(2))
    while True:
        seen, _ = env.reset(seed=0)
        while env.agents:
            seen = env.step(
                {agent: int(row["action_mask"].argmax()) for agent, row in seen.items()}
            )[0]
            yield 1


def supersuit() -> Stepper:
    import supersuit

    return turns_of(supersuit.clip_reward_v0(monopoly_v0.env(2), -1, 1))


def stable_baselines3() -> Stepper:
    from monopoly_env.adapters.sb3 import MonopolyVecEnv

    env = MonopolyVecEnv([me.VectorMonopoly(GAMES, 2, opponents=["random"], threads=1)])
    env.reset()
    while True:
        env.step(np.array(env.env_method("action_masks")).argmax(axis=1))
        yield GAMES


def torchrl() -> Stepper:
    from monopoly_env.adapters.torchrl import MonopolyTorchEnv

    env = MonopolyTorchEnv(GAMES, num_players=2, opponents=["random"], threads=1)
    seen = env.reset()
    while True:
        seen = env.step_and_maybe_reset(
            seen.set("action", seen["action_mask"].int().argmax(dim=-1))
        )[1]
        yield GAMES


def rllib() -> Stepper:
    from monopoly_env.adapters.rllib import MonopolyMultiAgentEnv

    env = MonopolyMultiAgentEnv({"num_players": 2})
    while True:
        seen, over = env.reset(seed=0)[0], False
        while not over:
            agent = env.env.agent_selection
            seen, _, terminated, truncated, _ = env.step(
                {agent: int(seen[agent]["action_mask"].argmax())}
            )
            over = terminated["__all__"] or truncated["__all__"]
            yield 1


def tianshou() -> Stepper:
    from tianshou.env import PettingZooEnv

    env = PettingZooEnv(monopoly_v0.env(2))
    while True:
        seen, over = env.reset(seed=0)[0], False
        while not over:
            seen, _, terminated, truncated, _ = env.step(int(np.argmax(seen["mask"])))
            over = terminated or truncated
            yield 1


def openspiel() -> Stepper:
    import pyspiel

    import monopoly_env.adapters.openspiel  # noqa: F401 - registers the game

    game = pyspiel.load_game("python_monopoly")
    while True:
        state = game.new_initial_state()
        while not state.is_terminal():
            chance = state.is_chance_node()
            state.apply_action(0 if chance else state.legal_actions()[0])
            yield 0 if chance else 1


def textarena() -> Stepper:
    import textarena as library

    import monopoly_bench.textarena  # noqa: F401 - registers the game

    while True:
        env, over = library.make("Monopoly-v0", turn_limit=50), False
        env.reset(num_players=2, seed=0)
        while not over:
            _, seen = env.get_observation()
            menu = seen.rpartition("Legal actions:\n")[2]
            over, _ = env.step(f"ACTION: {menu.partition(':')[0]}")
            yield 1


def minari() -> Stepper:
    from minari import DataCollector

    env = DataCollector(gymnasium.make(ID, opponents=["random"], turn_limit=50), record_infos=True)
    while True:
        info, over = env.reset(seed=0)[1], False
        while not over:
            *_, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
            over = terminated or truncated
            yield 1


# Library -> its distribution, the module that must be installed, the steps.
WAYS: dict[str, tuple[str, str, Callable[[], Stepper]]] = {
    "`VectorMonopoly`": ("monopoly-env", "monopoly_env", vector),
    "Gymnasium": ("gymnasium", "gymnasium", gymnasium_single),
    "Gymnasium, vector; AgileRL's loops": ("gymnasium", "gymnasium", gymnasium_vector),
    "PettingZoo": ("pettingzoo", "pettingzoo", pettingzoo),
    "`turn_based_aec_to_parallel`": ("pettingzoo", "pettingzoo", parallel),
    "SuperSuit, one wrapper": ("SuperSuit", "supersuit", supersuit),
    "Stable-Baselines3, `MonopolyVecEnv`": ("stable-baselines3", "sb3_contrib", stable_baselines3),
    "TorchRL, `MonopolyTorchEnv`": ("torchrl", "torchrl", torchrl),
    "RLlib, `MonopolyMultiAgentEnv`": ("ray", "ray.rllib", rllib),
    "Tianshou, `PettingZooEnv`": ("tianshou", "tianshou", tianshou),
    "OpenSpiel, `python_monopoly`": ("open-spiel", "pyspiel", openspiel),
    "TextArena, `Monopoly-v0`": ("textarena", "textarena", textarena),
    "Minari, `DataCollector`": ("minari", "minari", minari),
}


def is_there(module: str) -> bool:
    """Whether a module is installed."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def speed(steps: Stepper, seconds: float = 1.0) -> float:
    """Decisions per CPU second."""
    sum(islice(steps, 200))  # compiles
    made, began = 0, time.process_time()
    while (spent := time.process_time() - began) < seconds:
        made += sum(islice(steps, 20))
    return made / spent


def main() -> None:
    print("| library | version | decisions a CPU second |\n|---|---|---:|")
    for name, (distribution, module, make) in WAYS.items():
        result: Any = f"{speed(make()):,.0f}" if is_there(module) else "not installed"
        print(
            f"| {name} | {version(distribution) if is_there(module) else ''} | {result} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
