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

- `observation`: (D,) float32, the table as the agent sees it: itself first, then the others clockwise. The argument `encoding` says
  which features; `monopoly_env.encoding.names(encoding, num_players)` names each of them.
- `action_mask`: (205,) int8, 1 for a legal action. Only the agent to move has legal actions.

For the agent to move, `info` holds `decision`, the open decision (a key of `monopoly_env.actions.DECISIONS`), and `heads`, the names
of the heads with legal actions. `state()` is the observation of seat 0, regardless of who is to move.

### Actions

One of 205, grouped into heads by kind: `monopoly_env.actions.HEADS` lists the heads, `monopoly_env.actions.describe(action)` puts an
action into words. A decision with a single legal answer is never asked. An agent may move several times in a row, or answer during
another agent's turn. An illegal action raises `IllegalActionError`, which lists the legal ones, and changes nothing.

### Rewards

Chosen by name (`monopoly_env.rewards`). They sum to 0 over a finished game. `win`: +1 for the winner; the others share -1.
A bankrupt player gets its reward when it leaves, the others at the end.

### The end

A bankrupt agent terminates at once: it is selected next, steps `None`, and is removed from `agents`. When the game ends, or reaches
a cap of the rules, all agents terminate. After `turn_limit` turns per player, all are truncated.

### Arguments

    monopoly_v0.env(num_players=4, rules="official", encoding="standard", reward="win", turn_limit=1000, render_mode=None)

- `num_players`: 2 to 8.
- `rules`: a preset (`monopoly_env.Rules.presets()`) or `Rules`.
- `encoding`: `standard`; `ocnaru100` and `ocnaru100+` for two players; or an `Encoding`.
- `reward`: `win`, `rank`, `net_worth`, each also with `_shaped`; or a `Reward`.
- `turn_limit`: turns per player after which a game is truncated.
- `render_mode`: `ansi` (`render()` returns text) or `human` (it prints the text).

The seed of `reset` is the seed of the game: `monopoly_env.new_game` and `VectorMonopoly` play the same game with it. The
environment can be copied and pickled in the middle of a game; `env.game` is its record.

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
    """Make an environment. It checks actions and their order itself, so it is returned without PettingZoo's wrappers.

    Args:
        num_players: 2 to 8.
        rules: Rules, or the name of a preset.
        encoding: The name of an encoding, or an `Encoding`.
        reward: The name of a reward, or a `Reward`.
        turn_limit: Turns per player after which a game is truncated.
        render_mode: `ansi`, `human` or None.

    Raises:
        ConfigurationError: An argument is invalid. The message names what was given and what is valid.
        RulesError: The rules are unknown.
    """
    return MonopolyAEC(num_players, rules, encoding, reward, turn_limit, render_mode)


raw_env = env
