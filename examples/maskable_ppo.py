"""MaskablePPO of sb3-contrib: `python examples/maskable_ppo.py --steps 2000000 --expert expert`.

With an expert, the network first imitates its games (behaviour cloning).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
import tyro
from sb3_contrib import MaskablePPO

import agents
import monopoly_env as me
from monopoly_env.actions import NUM_ACTIONS
from monopoly_env.adapters.sb3 import MonopolyVecEnv
from training.experience.streams import stream


@dataclass
class Args:
    """MaskablePPO against scripted opponents."""

    opponents: tuple[str, ...] = ("strategic", "algorithmic")
    """opponents, each in an equal share of the games"""
    expert: str | None = None
    """scripted policy that is imitated first"""
    expert_games: int = 2000
    rules: str = "ocnaru"
    """preset of rules"""
    steps: int = 2_000_000
    """decisions of the learner, over all games"""
    parallel_games: int = 256
    rollout: int = 128
    seed: int = 0


def imitate(model: MaskablePPO, args: Args) -> None:
    """One pass over the expert's games: maximize the log-probability of its actions."""
    pair = (args.expert, args.expert)
    for played in stream([pair], args.expert_games, rules=args.rules, encoding="standard"):
        masks, hits = np.unpackbits(played.choices, axis=1, count=NUM_ACTIONS), 0
        for rows in torch.randperm(played.size).split(1024):
            seen = torch.from_numpy(played.observation[rows].astype(np.float32))
            actions = torch.from_numpy(played.action[rows].astype(np.int64)).to(model.device)
            policy = model.policy.get_distribution(seen.to(model.device), masks[rows])
            model.policy.optimizer.zero_grad()
            (-policy.log_prob(actions).mean()).backward()
            model.policy.optimizer.step()
            hits += int((policy.mode() == actions).sum())
        print(f"{played.size:,} decisions of {args.expert}: {hits / played.size:.1%} alike")


def train(args: Args) -> MaskablePPO:
    """Imitate, then learn from games."""
    share = args.parallel_games // len(args.opponents)
    tables = [
        me.VectorMonopoly(share, 2, args.rules, opponents=[name], reward="win_shaped")
        for name in args.opponents
    ]
    model = MaskablePPO(
        "MlpPolicy", MonopolyVecEnv(tables), 5e-4, args.rollout, batch_size=1024, n_epochs=4,
        gamma=0.999, gae_lambda=0.98, ent_coef=0.005, seed=args.seed, verbose=1,
    )  # fmt: skip
    if args.expert:
        imitate(model, args)
    return model.learn(args.steps)


class Learned(agents.BatchedPolicy):
    """The trained model at any table: it plays its likeliest action."""

    name = "maskable-ppo"

    def __init__(self, model: MaskablePPO) -> None:
        self.model = model

    def act(self, decisions: agents.Decisions) -> np.ndarray:
        """One action for each decision."""
        seen = decisions.observation("standard")
        return self.model.predict(seen, action_masks=decisions.mask, deterministic=True)[0]


if __name__ == "__main__":
    arguments = tyro.cli(Args)
    learned = Learned(train(arguments))
    for opponent in arguments.opponents:
        print(agents.arena.play([learned, opponent], games=200, rules=arguments.rules))
