"""TorchRL: our environment, and its own wrappers of PettingZoo and Gymnasium."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
import torch
from tensordict.nn import TensorDictModule
from torchrl.envs import (
    ActionMask,
    Compose,
    GymWrapper,
    PettingZooWrapper,
    RewardSum,
    StepCounter,
    TransformedEnv,
)
from torchrl.envs.utils import check_env_specs
from torchrl.modules import MaskedCategorical

import monopoly_env as me
from monopoly_env import encoding, monopoly_v0
from monopoly_env.adapters.torchrl import MonopolyTorchEnv

STEPS = 1000


@pytest.mark.parametrize("players", [2, 4])
@pytest.mark.parametrize("learner", [True, False], ids=["learner", "self-play"])
def test_our_environment(players: int, learner: bool) -> None:
    opponents = ["random"] * (players - 1) if learner else None
    env = MonopolyTorchEnv(8, num_players=players, opponents=opponents, turn_limit=5)
    check_env_specs(env)
    env.set_seed(5)
    assert env.reset()["observation"].shape == (8, encoding.size("standard", players))
    assert env.table.seeds.tolist() == list(range(5, 13))
    rollout = env.rollout(STEPS, break_when_any_done=False)
    assert rollout.shape == (8, STEPS)
    assert rollout["next", "done"].sum() > 8
    assert rollout["next", "reward"].shape[-1] == (1 if learner else players)
    ended = rollout["next", "done"].squeeze(-1)
    assert rollout["next", "action_mask"][ended].all()
    assert torch.gather(rollout["action_mask"], -1, rollout["action"].unsqueeze(-1)).all(), (
        "only legal actions are drawn"
    )
    assert (rollout["player"] < players).all()


def test_a_masked_policy_plays_the_games_of_the_engine() -> None:
    env = MonopolyTorchEnv(4, num_players=3)
    env.set_seed(0)

    def first_legal(mask: torch.Tensor) -> torch.Tensor:
        return MaskedCategorical(logits=-torch.arange(205.0).expand(mask.shape), mask=mask).mode

    policy = TensorDictModule(first_legal, in_keys=["action_mask"], out_keys=["action"])
    env.rollout(300, policy, break_when_any_done=False)
    game = me.new_game(3, seed=2)
    for _ in range(300):
        me.step(game, int(me.legal_actions(game)[0]))
    assert env.table.games[2].tobytes() == game.tobytes()


def test_under_transforms_random_actions_are_legal() -> None:
    """`ActionMask` takes the mask over; without it the copied spec draws from all actions."""
    table = MonopolyTorchEnv(8, opponents=["random"], turn_limit=5)
    env = TransformedEnv(table, Compose(ActionMask(), RewardSum(), StepCounter()))
    check_env_specs(env)
    rollout = env.rollout(STEPS, break_when_any_done=False)
    assert torch.gather(rollout["action_mask"], -1, rollout["action"].unsqueeze(-1)).all()
    done, counts = rollout["next", "done"], rollout["next", "step_count"]
    assert done.sum() > 8
    assert (counts[:, 1:][~done[:, :-1]] > 1).all(), "counted from game to game"
    assert (counts[:, 1:][done[:, :-1]] == 1).all()
    with pytest.raises(me.IllegalActionError):
        TransformedEnv(MonopolyTorchEnv(8, opponents=["random"]), RewardSum()).rollout(
            STEPS, break_when_any_done=False
        )


@pytest.mark.parametrize("illegal", ["penalize", "random"])
def test_a_policy_that_knows_no_masks(illegal: str) -> None:
    env = MonopolyTorchEnv(8, opponents=["random"], illegal=illegal)
    policy = TensorDictModule(
        lambda seen: torch.zeros(len(seen), dtype=torch.int64),
        in_keys=["observation"],
        out_keys=["action"],
    )
    rollout = env.rollout(200, policy, break_when_any_done=False)
    assert (rollout["next", "reward"] == -1).any() == (illegal == "penalize")


def test_autoreset_is_refused() -> None:
    with pytest.raises(me.ConfigurationError, match="autoreset"):
        MonopolyTorchEnv(2, num_players=2, autoreset=True)


@pytest.mark.parametrize("players", [2, 4])
def test_its_wrapper_of_pettingzoo(players: int) -> None:
    """With more than two players an episode ends at a bankruptcy (`done_on_any`).

    It can't go on after one.
    """
    torch.manual_seed(0)  # its random actions are drawn from the global generator
    env = PettingZooWrapper(
        monopoly_v0.env(players, me.Rules(start_cash=200, trade="none"), turn_limit=5),
        use_mask=True,
        done_on_any=players > 2,
        seed=0,
    )
    rollout = env.rollout(STEPS, break_when_any_done=False)
    assert rollout.shape == (STEPS,)
    for seat in range(players):
        assert set(rollout[f"player_{seat}", "info"].keys()) == {"decision", "heads"}
        assert rollout[f"player_{seat}", "info", "heads"].shape == (STEPS, 1, 14)
    assert rollout["next", "done"].any()


@pytest.mark.parametrize("players", [2, 4])
def test_its_wrapper_of_gymnasium(players: int) -> None:
    made = gymnasium.make(
        "monopoly_env/Monopoly-v0", opponents=["random"] * (players - 1), illegal="random"
    )
    rollout = GymWrapper(made).rollout(STEPS, break_when_any_done=False)
    assert rollout.shape == (STEPS,)


def test_its_wrapper_of_vector_environments() -> None:
    made = gymnasium.make_vec(
        "monopoly_env/Monopoly-v0",
        num_envs=4,
        opponents=["random"],
        illegal="random",
        turn_limit=20,
    )
    rollout = GymWrapper(made).rollout(STEPS, break_when_any_done=False)
    assert rollout.shape == (4, STEPS)
    assert rollout["next", "done"].any()
    assert np.isfinite(rollout["observation"].numpy()).all()
