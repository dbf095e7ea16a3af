"""Masked PPO in one file, in the manner of CleanRL: `python examples/ppo.py --steps 2000000`.

One learner a game, scripts in the other seats, all games in one compiled call a step. The arrays of
`VectorMonopoly` become tensors without a copy. Huang et al., "A closer look at invalid action
masking in policy gradient algorithms" (2022), says why masks matter.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import torch
import tyro
from torch import nn
from torch.distributions import Categorical

import agents
import monopoly_env as me
from monopoly_env.actions import NUM_ACTIONS


@dataclass
class Args:
    """Masked PPO against scripted opponents."""

    opponents: tuple[str, ...] = ("random",)
    """policies in the other seats"""
    rules: str = "ocnaru"
    """preset of rules"""
    steps: int = 2_000_000
    """decisions of the learner, over all games"""
    parallel_games: int = 256
    """games in step"""
    rollout: int = 64
    """steps of each game between two updates"""
    epochs: int = 4
    """passes over a rollout"""
    minibatches: int = 8
    """parts of a pass"""
    learning_rate: float = 3e-4
    gae_lambda: float = 0.95
    """weight of longer returns; there is no discount, since a reward comes only at the end"""
    clip: float = 0.2
    """how far the probability of an action may move in an update, as a share of it"""
    entropy_weight: float = 0.01
    value_weight: float = 0.5
    seed: int = 0


class Agent(nn.Module):
    """An actor and a critic over one body."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(features, 256), nn.Tanh(), nn.Linear(256, 128), nn.Tanh()
        )
        self.actor, self.critic = nn.Linear(128, NUM_ACTIONS), nn.Linear(128, 1)

    def value(self, observation: torch.Tensor) -> torch.Tensor:
        """The expected return."""
        return self.critic(self.body(observation)).squeeze(-1)

    def forward(
        self, observation: torch.Tensor, mask: torch.Tensor
    ) -> tuple[Categorical, torch.Tensor]:
        """The distribution over the legal actions, and the value."""
        hidden = self.body(observation)
        logits = self.actor(hidden).masked_fill(~mask, -1e8)
        return Categorical(logits=logits), self.critic(hidden).squeeze(-1)


def train(args: Args) -> Agent:
    """Train, printing the mean return of the games that ended in each rollout."""
    torch.manual_seed(args.seed)
    vec = me.VectorMonopoly(
        args.parallel_games,
        len(args.opponents) + 1,
        args.rules,
        opponents=list(args.opponents),
        seed=args.seed,
    )
    agent = Agent(vec.encoding.size)
    optimizer = torch.optim.Adam(agent.parameters(), args.learning_rate, eps=1e-5)
    shape = (args.rollout, args.parallel_games)
    observations, masks = (
        torch.zeros(*shape, vec.encoding.size),
        torch.zeros(*shape, NUM_ACTIONS, dtype=torch.bool),
    )
    actions = torch.zeros(shape, dtype=torch.int64)
    logprobs, rewards, dones, values = (torch.zeros(shape) for _ in range(4))
    batch, rows, began = vec.reset(), np.arange(args.parallel_games), time.perf_counter()
    # views: each step writes into them
    seen, legal = (
        torch.from_numpy(batch.observation),
        torch.from_numpy(batch.action_mask),
    )

    for update in range(1, args.steps // (args.rollout * args.parallel_games) + 1):
        returns: list[float] = []
        for t in range(args.rollout):
            observations[t], masks[t] = seen, legal
            with torch.no_grad():
                policy, values[t] = agent(observations[t], masks[t])
            actions[t] = policy.sample()
            logprobs[t] = policy.log_prob(actions[t])
            batch = vec.step(actions[t].numpy())
            rewards[t] = torch.from_numpy(batch.reward[rows, batch.actor])
            dones[t] = torch.from_numpy(batch.terminated | batch.truncated)
            returns += rewards[t, batch.finished].tolist()
            # such a game was not over: its value goes on
            if (cut := batch.truncated[batch.finished]).any():
                last = torch.from_numpy(batch.final_observation[cut])
                with torch.no_grad():
                    rewards[t, batch.finished[cut]] += agent.value(last)

        advantages, running = torch.zeros(shape), torch.zeros(args.parallel_games)
        with torch.no_grad():
            following = agent.value(seen)
            for t in reversed(range(args.rollout)):
                delta = rewards[t] + following * (1 - dones[t]) - values[t]
                advantages[t] = running = delta + args.gae_lambda * (1 - dones[t]) * running
                following = values[t]
        flat = [
            part.flatten(0, 1)
            for part in (observations, masks, actions, logprobs, advantages, advantages + values)
        ]
        for _ in range(args.epochs):
            for part in torch.randperm(args.rollout * args.parallel_games).chunk(args.minibatches):
                o, m, a, old, advantage, target = (column[part] for column in flat)
                policy, value = agent(o, m)
                ratio = (policy.log_prob(a) - old).exp()
                advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
                surrogate = torch.min(
                    advantage * ratio, advantage * ratio.clamp(1 - args.clip, 1 + args.clip)
                )
                loss = (
                    -surrogate.mean()
                    + args.value_weight * (value - target).square().mean()
                    - args.entropy_weight * policy.entropy().mean()
                )
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimizer.step()
        done = update * args.rollout * args.parallel_games
        speed, mean = done / (time.perf_counter() - began), np.mean(returns) if returns else np.nan
        print(
            f"{done:>10,} steps  {speed:>7,.0f} a second  {len(returns):>5} games  mean return"
            f" {mean:+.2f}"
        )
    return agent


class Learned(agents.BatchedPolicy):
    """The trained agent at any table: it plays its likeliest action."""

    name = "one-file-ppo"

    def __init__(self, agent: Agent) -> None:
        self.agent = agent

    def act(self, decisions: agents.Decisions) -> np.ndarray:
        """One action for each decision."""
        with torch.no_grad():
            policy, _ = self.agent(
                torch.from_numpy(decisions.observation("standard")),
                torch.from_numpy(decisions.mask),
            )
        return policy.logits.argmax(dim=-1).numpy()


if __name__ == "__main__":
    arguments = tyro.cli(Args)
    print(
        agents.arena.play(
            [Learned(train(arguments)), *arguments.opponents], games=200, rules=arguments.rules
        )
    )
