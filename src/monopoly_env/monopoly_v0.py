"""Monopoly for PettingZoo: 2 to 8 players, every rule, one decision at a time.

| | |
|---|---|
| Import | `from monopoly_env import monopoly_v0` |
| By name | `pettingzoo.make("aec", "monopoly-v0")`, after `import monopoly_env` |
| Actions | Discrete |
| Parallel API | No: players decide in turn |
| Agents | `player_0` ... `player_7` |
| Action shape | () |
| Action values | `Discrete(205)` |
| Observation shape | (D,), 810 for four players in the encoding `standard` |
| Observation values | [-1, 1] |

    env = monopoly_v0.env(num_players=4)
    env.reset(seed=0)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        if terminated or truncated:
            action = None
        else:
            action = env.action_space(agent).sample(observation["action_mask"])
        env.step(action)

### Observation

A dict:

- `observation`: (D,) float32, the table as the agent sees it: itself first, the others clockwise. `encoding` names what is in it;
  `monopoly_env.encoding.names(encoding, num_players)` names every feature.
- `action_mask`: (205,) int8, 1 for a legal action. Only the agent to move has any.

`info` says of the agent to move: `decision`, what is asked (a key of `monopoly_env.actions.DECISIONS`), and `heads`, the names
of the heads with legal actions. `state()` is the observation of seat 0, whoever is to move.

### Actions

One of 205, in heads of one kind each: `monopoly_env.actions.HEADS` lists them, `monopoly_env.actions.describe(action)` says one
in words. A decision that has a single legal answer is never asked, so an agent may move several times in a row, or
answer in the turn of another. An illegal action raises `IllegalActionError`, which names the legal ones, and changes nothing.

### Rewards

By name (`monopoly_env.rewards`); they sum to 0 over a game that is played to its end. `win`: the winner +1, the others share -1.
A player who goes bankrupt gets his reward when he leaves, the others at the end.

### The end

A bankrupt agent terminates at once: it is selected next, steps `None`, and leaves `agents`. At the end of the game, or when
a cap of the rules ends it, all terminate. After `turn_limit` turns a player all are truncated.

### Arguments

    monopoly_v0.env(num_players=4, rules="official", encoding="standard", reward="win", turn_limit=1000, render_mode=None)

- `num_players`: 2 to 8.
- `rules`: a preset (`monopoly_env.Rules.presets()`) or `Rules`.
- `encoding`: `standard`; `ocnaru100` and `ocnaru100+` for two players; or an `Encoding`.
- `reward`: `win`, `rank`, `net_worth`, each also with `_shaped`; or a `Reward`.
- `turn_limit`: turns a player after which a game is truncated.
- `render_mode`: `ansi` (`render()` returns text) or `human` (it prints it).

The seed of `reset` is that of the game, the same as of `monopoly_env.new_game` and of a game in `VectorMonopoly`. In the
middle of a game the environment can be copied and pickled; `env.game` is its record.

### Version history

- v0: first version
"""

from __future__ import annotations

from monopoly_env.aec import MonopolyAEC
from monopoly_env.encoding import Encoding
from monopoly_env.rewards import Reward
from monopoly_env.rules import Rules

__all__ = ["env", "raw_env"]


def env(
    num_players: int = 4,
    rules: Rules | str = "official",
    encoding: str | Encoding = "standard",
    reward: str | Reward = "win",
    turn_limit: int = 1000,
    render_mode: str | None = None,
) -> MonopolyAEC:
    """An environment. It checks actions and their order itself, so it comes without PettingZoo's wrappers.

    Args:
        num_players: 2 to 8.
        rules: Rules, or the name of a preset.
        encoding: The name of an encoding, or an `Encoding`.
        reward: The name of a reward, or a `Reward`.
        turn_limit: Turns a player after which a game is truncated.
        render_mode: `ansi`, `human` or None.

    Raises:
        ConfigurationError: A wrong argument: what was given and what is valid.
        RulesError: Unknown rules.
    """
    return MonopolyAEC(num_players, rules, encoding, reward, turn_limit, render_mode)


raw_env = env
