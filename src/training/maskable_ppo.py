"""Proximal policy optimization, from top to bottom: learner, training loop.

The options are explained by `python -m training.maskable_ppo --help`.

# the default: two players, minutes
python -m training.maskable_ppo
# a smaller budget
python -m training.maskable_ppo --steps 500000 --out runs/short
# continue a run that was stopped
python -m training.maskable_ppo --resume
# a parent plays the rest
python -m training.maskable_ppo --heads buy bid build turn --parent strategic --out runs/hybrid

The algorithm is MaskablePPO of sb3-contrib: PPO (Schulman et al., "Proximal policy optimization
algorithms", 2017) with illegal actions masked (Huang and Ontanon, "A closer look at invalid action
masking in policy gradient algorithms", 2020). It minimizes

    L = -E[min(r A, clip(r, 1 - eps, 1 + eps) A)] + c_v E[(V - R)^2] - c_e E[H],
    r = pi(a|s) / pi_old(a|s)

with advantages A by generalized advantage estimation; eps is --clip, c_v --value-weight, c_e
--entropy-weight. It is there as a well-known baseline beside `training.dqn`: the same panel, run
folder and curves.
"""

from __future__ import annotations

import sys

from training.presets import maskable_ppo as main

if __name__ == "__main__":  # before torch is imported: --help is quick, and works without it
    sys.exit(main())

import copy
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.utils import set_random_seed

from agents.networks.actor import ActorPolicy
from monopoly_env import rewards
from monopoly_env.envs.vector import VectorMonopoly
from training import networks
from training.run.checkpoints import Parts
from training.run.devices import device_of
from training.run.options import (
    Policies,
    TrainingOptions,
    check_training,
    find_policy,
    new_agent,
    result_settings,
)
from training.run.session import DivergenceError, Session
from training.sb3 import ChoiceBuffer, MonopolyVecEnv

_NEVER: Final = 2  # iterations until the library logs by itself, in a call that makes one
_RECENT: Final = 1000  # games whose mean reward and length the curves show


def check(options: TrainingOptions) -> Policies[ActorPolicy]:
    """Check the options, as far as that goes without compiling, and find the policies they name.

    Raises:
        MonopolyError: A number is out of range, a name is unknown, a file is missing, or options
            contradict each other.
    """
    check_training(options)
    device_of(options.device)
    return Policies(
        agent=new_agent(options, ActorPolicy, "ppo", sample=options.sample),
        opponents=[find_policy(name) for name in options.opponents],
        panel=[find_policy(name) for name in options.panel],
    )


# --- training


class PPO:
    """Everything that changes during a run.

    Attributes:
        options: Its options.
        panel: The policies that the agent is measured against.
        step: Decisions of the learner so far.
        env: The games: an equal share against each opponent.
        model: Actor, critic and optimizer.
    """

    def __init__(self, options: TrainingOptions, policies: Policies[ActorPolicy]) -> None:
        """Start at step 0, with the policies that `check` found."""
        torch.set_num_threads(options.torch_threads)
        self.options = options
        self.panel = policies.panel
        self.step = 0
        self.env = games_of(options, policies)
        self.model = MaskablePPO(
            "MlpPolicy",
            self.env,
            learning_rate=lambda _: options.learning_rate * (1.0 - self.step / options.steps),
            n_steps=options.rollout,
            batch_size=options.batch,
            n_epochs=options.epochs,
            gamma=options.discount,
            gae_lambda=options.gae_lambda,
            clip_range=options.clip,
            ent_coef=options.entropy_weight,
            vf_coef=options.value_weight,
            rollout_buffer_class=ChoiceBuffer,
            stats_window_size=_RECENT,
            policy_kwargs={
                "net_arch": {"pi": list(options.hidden), "vf": list(options.hidden)},
                "activation_fn": torch.nn.ReLU,
                "optimizer_kwargs": {"eps": 1e-5, "fused": True},
            },
            seed=options.seed,
            device=device_of(options.device),
        )
        self.model.set_logger(Logger(None, []))  # `iterate` reads what it records
        self.model.policy.optimizer.register_step_pre_hook(self._check_gradients)
        self._agent = policies.agent
        self._continue_from(self.env.reset())

    def _continue_from(self, observations: NDArray[np.float32]) -> None:
        """Let the model continue games that are under way; by itself it would reset them."""
        self.model._last_obs = observations
        # of the first step, which no advantage reads
        self.model._last_episode_starts = np.ones(len(observations), np.bool_)

    def iterate(self) -> dict[str, float]:
        """Play a rollout and learn from it.

        Returns:
            The metrics of Stable-Baselines3: `train/...`, `rollout/...`.

        Raises:
            DivergenceError: A gradient is not finite. The networks are left as they were.
        """
        # All chance of this iteration: a run that continues from a checkpoint draws the same.
        words = np.random.SeedSequence([self.options.seed, self.step]).generate_state(1)
        set_random_seed(int(words[0]), using_cuda=self.model.device.type == "cuda")
        self.model.learn(
            self.env.num_envs * self.options.rollout, log_interval=_NEVER, reset_num_timesteps=False
        )
        self.step = self.model.num_timesteps
        metrics = {
            name: float(value)
            for name, value in self.model.logger.name_to_value.items()
            if name != "train/n_updates"
        }
        games, successes = self.model.ep_info_buffer, self.model.ep_success_buffer
        if games and successes:
            metrics |= {
                f"rollout/ep_{name}_mean": float(np.mean([game[name[0]] for game in games]))
                for name in ("rew", "len")
            }
            metrics["rollout/success_rate"] = float(np.mean(list(successes)))
        return metrics

    def _check_gradients(self, optimizer: torch.optim.Optimizer, *_: Any) -> None:
        gradients = [
            parameter.grad
            for group in optimizer.param_groups
            for parameter in group["params"]
            if parameter.grad is not None
        ]
        if not torch.stack([gradient.isfinite().all() for gradient in gradients]).all():
            raise DivergenceError(
                f"The loss is not finite after {self.step:,} steps. Try a lower learning rate."
            )

    def agent(self) -> ActorPolicy:
        """The actor as it is now, as a policy."""
        network = self.model.policy
        layers = [
            *(
                layer
                for layer in network.mlp_extractor.policy_net
                if isinstance(layer, torch.nn.Linear)
            ),
            network.action_net,
        ]
        agent = copy.copy(self._agent)
        agent.set_arrays(
            {
                f"{number}.{name}": _array(value)
                for number, layer in enumerate(layers)
                for name, value in layer.state_dict().items()
            }
        )
        return agent

    def state(self) -> tuple[Parts, dict[str, Any]]:
        """What a checkpoint holds: `weights`, `optimizer` and `games`."""
        weights = {name: _array(value) for name, value in self.model.policy.state_dict().items()}
        optimizer = networks.optimizer_arrays(self.model.policy.optimizer)
        return {"weights": weights, "optimizer": optimizer, "games": self.env.arrays()}, {
            "step": self.step
        }

    def set_state(self, parts: Parts, values: Mapping[str, Any]) -> None:
        """Continue from a checkpoint."""
        self.step = self.model.num_timesteps = values["step"]
        self.model.policy.load_state_dict(
            {name: torch.as_tensor(array) for name, array in parts["weights"].items()}
        )
        networks.set_optimizer_arrays(self.model.policy.optimizer, parts["optimizer"])
        self.env.set_arrays(parts["games"])
        self._continue_from(self.env.observations())


def games_of(options: TrainingOptions, policies: Policies[ActorPolicy]) -> MonopolyVecEnv:
    """The games: an equal share against each opponent."""
    reward = rewards.make(options.reward, options.discount)
    share = options.parallel_games // len(policies.opponents)
    tables = [
        VectorMonopoly(
            share,
            options.num_players,
            options.rules,
            options.encoding,
            [opponent] * (options.num_players - 1),
            reward=reward,
        )
        for opponent in policies.opponents
        if opponent is not None
    ]
    return MonopolyVecEnv(tables, policies.agent.repertoire, policies.agent.parent)


def _array(tensor: torch.Tensor) -> NDArray[Any]:
    return np.asarray(tensor.detach().cpu().numpy()).copy()


def train(ppo: PPO, session: Session) -> None:
    """The training loop."""
    clock = session.report.clock
    ppo.env.step_wait = clock.timed("engine", ppo.env.step_wait)  # type: ignore[method-assign]
    ppo.model.train = clock.timed("training", ppo.model.train)  # type: ignore[method-assign]
    while ppo.step < ppo.options.steps:
        before = ppo.step
        with clock("network"):
            session.report.log(ppo.iterate())
        session.after_iteration(ppo, before, "playing", ppo.env.finished)


def execute(options: TrainingOptions, console: Console) -> dict[str, Any]:
    """Train from the beginning or from a checkpoint, then measure the best agent.

    Raises:
        MonopolyError: Wrong options, a folder that can't be used, a checkpoint that is missing or
            damaged, a loss that is not finite.
    """
    policies = check(options)
    with Session.open(
        options, result_settings(options, algorithm="ppo"), console, f"{options.steps:,} steps"
    ) as session:
        ppo = PPO(options, policies)
        if options.resume:
            session.restore(ppo)
        session.report.begin(options.steps, ppo.step)
        train(ppo, session)
        return session.finish_best(ppo)
