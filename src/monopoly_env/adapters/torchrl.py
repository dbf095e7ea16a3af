"""Monopoly for TorchRL: batched games as one environment, `pip install 'monopoly-env[torchrl]'`.

    env = MonopolyTorchEnv(num_games=256, opponents=["algorithmic", "random"])  # one learner a game
    env = MonopolyTorchEnv(num_games=256, num_players=4)                        # self-play
    rollout = env.rollout(100, break_when_any_done=False)                       # random legal moves

The batch size is (B,), the number of games. Entries of its tensordicts:

- `observation`: (B, D) float32, the observation of the player to move.
- `action_mask`: (B, NUM_ACTIONS) bool, its legal actions, for a masked distribution. The action
  spec has the mask too, so random actions are legal. After the end of a game all actions are in the
  mask, so that the masked distribution of the last step stays finite.
- `player`: (B, 1) int64, its seat.
- `action`: (B,) int64.
- `reward`: float32, (B, 1) of the learner with opponents; (B, P) of each seat in self-play.
- `done`, `terminated`, `truncated`: (B, 1) bool. TorchRL restarts games that ended.

Under transforms the action spec is a copy without the mask, so random actions become illegal. The
transform `ActionMask()` updates it:

    env = TransformedEnv(
        MonopolyTorchEnv(256, opponents=["random"]),
        Compose(ActionMask(), RewardSum(), StepCounter()),
    )
"""

from __future__ import annotations

from typing import Any

import numpy as np

from monopoly_env.actions import NUM_ACTIONS
from monopoly_env.cli.extras import extra
from monopoly_env.envs.vector import VectorMonopoly
from monopoly_env.errors import ConfigurationError

with extra("torchrl"):
    import torch
    from tensordict import TensorDict, TensorDictBase
    from torchrl.data import Binary, Bounded, Categorical, Composite, Unbounded
    from torchrl.envs import EnvBase

__all__ = ["MonopolyTorchEnv"]


# TorchRL may not be installed where types are checked
class MonopolyTorchEnv(EnvBase):  # type: ignore[misc]
    """Many games as one TorchRL environment; the module's docstring lists the entries.

    Attributes:
        table: The `VectorMonopoly` that holds the games.
    """

    def __init__(self, num_games: int = 256, *, device: Any = None, **options: Any) -> None:
        """Set up the tables; `reset` starts the games.

        Args:
            num_games: Number of games, B.
            device: Where the tensors are; by default the CPU.
            options: Arguments of `VectorMonopoly`, such as `num_players`, `opponents`, `rules`,
                `encoding`, `reward` and `illegal`.

        Raises:
            ConfigurationError: An argument is invalid, or is `autoreset`: TorchRL restarts games.
        """
        if "autoreset" in options:
            raise ConfigurationError(
                "autoreset can't be chosen here: TorchRL begins the games that ended itself."
            )
        self.table = VectorMonopoly(num_games, autoreset=False, **options)
        super().__init__(device=device, batch_size=[self.table.num_games])
        self._seeds: list[int] | None = None
        self._set_specs()

    def _set_specs(self) -> None:
        count, players = self.table.num_games, self.table.num_players
        rewards = 1 if self.table.opponents else players
        flag = Categorical(2, shape=(count, 1), dtype=torch.bool, device=self.device)
        self.observation_spec = Composite(
            observation=Bounded(
                -1.0, 1.0, (count, self.table.encoding.size), self.device, torch.float32
            ),
            action_mask=Binary(NUM_ACTIONS, (count, NUM_ACTIONS), self.device, torch.bool),
            player=Bounded(0, players - 1, (count, 1), self.device, torch.int64),
            shape=(count,),
            device=self.device,
        )
        self.action_spec = Categorical(NUM_ACTIONS, (count,), self.device, torch.int64)
        self.reward_spec = Unbounded((count, rewards), self.device, torch.float32)
        self.full_done_spec = Composite(
            done=flag,
            terminated=flag.clone(),
            truncated=flag.clone(),
            shape=(count,),
            device=self.device,
        )

    def _reset(self, tensordict: TensorDictBase | None = None, **_: Any) -> TensorDictBase:
        mask = None if tensordict is None else tensordict.get("_reset", None)
        self.table.begin(None if mask is None else mask.reshape(-1).cpu().numpy(), self._seeds)
        self._seeds = None
        return self._seen()

    def _step(self, tensordict: TensorDictBase) -> TensorDictBase:
        batch = self.table.step(tensordict["action"].cpu().numpy())
        reward = batch.reward
        if self.table.opponents:
            reward = reward[np.arange(self.table.num_games), batch.actor][:, None]
        return self._seen().set("reward", self._tensor(reward))

    def _set_seed(self, seed: int | None) -> None:
        """The next reset begins the games of seeds s, s + 1, ..."""
        if seed is not None:
            self._seeds = [seed + i for i in range(self.table.num_games)]

    def _seen(self) -> TensorDict:
        batch = self.table.batch
        ended = batch.terminated | batch.truncated
        mask = self._tensor(batch.action_mask | ended[:, None])
        self.input_spec["full_action_spec", "action"].update_mask(mask.clone())
        entries = {
            "observation": self._tensor(batch.observation),
            "action_mask": mask,
            "player": self._tensor(batch.player[:, None].astype(np.int64)),
            "done": self._tensor(ended[:, None]),
            "terminated": self._tensor(batch.terminated[:, None]),
            "truncated": self._tensor(batch.truncated[:, None]),
        }
        return TensorDict(entries, self.batch_size, device=self.device)

    def _tensor(self, array: Any) -> torch.Tensor:
        """A copy of an array, which the next step overwrites."""
        return torch.tensor(array, device=self.device)
