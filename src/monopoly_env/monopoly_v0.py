"""Monopoly for PettingZoo: 2 to 8 players, every rule, one decision at a time.

| | |
|---|---|
| Import | `from monopoly_env import monopoly_v0` |
| By name | `pettingzoo.make("aec", "monopoly-v0")`, after `import monopoly_env` |
| Actions | Discrete |
| Parallel API | No: players decide in turn |
| Agents | `player_0` ... `player_7` |
| Action shape | () |
| Action values | `Discrete(NUM_ACTIONS)` |
| Observation shape | (D,), 810 for four players in the encoding `standard` |
| Observation values | [-1, 1] |

    >>> from monopoly_env import monopoly_v0
    >>> env = monopoly_v0.env(num_players=4)
    >>> env.reset(seed=0)
    >>> for agent in env.agent_iter():
    ...     observation, reward, terminated, truncated, info = env.last()
    ...     if terminated or truncated:
    ...         action = None
    ...     else:
    ...         action = env.action_space(agent).sample(observation["action_mask"])
    ...     env.step(action)

### Observation

A dict:

- `observation`: (D,) float32, the table as the agent sees it: itself first, then the others
  clockwise. The argument `encoding` says which features; `monopoly_env.encoding.names(encoding,
  num_players)` names each of them.
- `action_mask`: (NUM_ACTIONS,) int8, 1 for a legal action. Only the agent to move has
  legal actions.

`info` holds the same keys for every agent: `decision`, the open decision as an index into
`monopoly_env.actions.DECISION_NAMES`, and `heads`, (14,) int8, 1 for each head of
`monopoly_env.actions.HEAD_NAMES` with legal actions. Both are 0 for agents that are not to move.
`state()` is the observation of seat 0, regardless of who is to move; `state_space` is its space.

### Actions

Actions are grouped into heads by kind: `monopoly_env.actions.HEADS` lists the heads,
`monopoly_env.actions.describe(action)` puts an action into words. A decision with a single legal
answer is never asked. An agent may move several times in a row, or answer during another agent's
turn. An illegal action raises `IllegalActionError`, which lists the legal ones, and changes
nothing, unless the argument `illegal` says otherwise.

### Rewards

Chosen by name (`monopoly_env.rewards`). They sum to 0 over a finished game. `win`: +1 for the
winner; the others share -1. A bankrupt player gets its reward when it leaves, the others at the
end.

### The end

A bankrupt agent terminates at once: it is selected next, steps `None`, and is removed from
`agents`. When the game ends, or reaches a cap of the rules, all agents terminate. After
`turn_limit` turns per player, all are truncated. Under very poor rules (no cash at the start) a
player may be bankrupt before the first decision: its agent is then terminated when `reset` returns.

### Arguments

    monopoly_v0.env(num_players=4, rules="official", encoding="standard", reward="win",
                    turn_limit=1000, render_mode=None, illegal="raise")

- `num_players`: 2 to 8.
- `rules`: a preset (`monopoly_env.Rules.presets()`) or `Rules`.
- `encoding`: `standard`; `ocnaru100` and `ocnaru100+` for two players; or an `Encoding`.
- `reward`: `win`, `rank`, `net_worth`, each also with `_shaped`; or a `Reward`.
- `turn_limit`: turns per player after which a game is truncated.
- `render_mode`: what `render()` gives: `ansi` text, `svg` a drawing (text too), `rgb_array` its
  pixels, (H, W, 3) uint8, which needs the extra `pictures`. `human` prints the text.
- `illegal`: what an illegal action does. `raise`: an error. `penalize`: the game ends for all, with
  a reward of -1 for the agent that chose it and 0 for the others, as PettingZoo's
  `TerminateIllegalWrapper` does. `random`: a random legal action is carried out instead, drawn from
  the game's own stream.

The seed of `reset` is the seed of the game: `monopoly_env.new_game`, the Gymnasium environments and
`VectorMonopoly.begin` play the same game with it. Games that are started without a seed follow from
the last one, alike in all of them. The environment can be copied and pickled in the middle of a
game; `env.game` is its record.

### Version history

- v0: first version
"""

from __future__ import annotations

from monopoly_env.envs.aec import MonopolyAEC

__all__ = ["env", "raw_env"]

env = raw_env = (
    MonopolyAEC  # without PettingZoo's wrappers: it checks actions and their order itself
)
