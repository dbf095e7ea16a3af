"""Pente for PettingZoo: five in a row, or five captured pairs; for two or three players.

| | |
|---|---|
| Import | `from pente_env import pente_v0` |
| By name | `pettingzoo.make("aec", "pente-v0")`, after `import pente_env` |
| Actions | Discrete |
| Parallel API | No: players move in turn |
| Agents | `player_0`, `player_1`, `player_2` |
| Action shape | () |
| Action values | `Discrete(size * size)`, 49 by default |
| Observation shape | (3 * size * size + 3,), 150 by default |
| Observation values | [0, 1] |

    >>> from pente_env import pente_v0
    >>> env = pente_v0.env(num_players=3)
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

- `observation`: float32, three numbers a point: an own stone, one of the player that moves next,
  one of the player after; then the stones that each of them has taken, as shares of those that win.
  `encoding="schrum"` is the input of Schrum's networks: without the stones taken, and with an only
  enemy's stones written twice.
- `action_mask`: (size * size,) int8, 1 for a legal point. Only the agent to move has legal actions.

`state()` is the board as seat 0 sees it; `state_space` is its space.

### Actions

Points, row by row from the top: size * row + column. `pente_env.name_of` and `pente_env.parse`
translate names such as `D4`. An illegal action raises `IllegalActionError`, which says why and
lists the legal ones, and changes nothing, unless `illegal` says otherwise.

### Rewards

At the end: 1 for the winner; the others share -1. 0 for all if the board is full.

### Arguments

    pente_v0.env(
        num_players=2, rules="schrum", encoding="standard", render_mode=None, illegal="raise"
    )

- `num_players`: 2 or 3.
- `rules`: a preset (`pente_env.Rules.presets()`) or `Rules`: size of the board 5 to 19, opening,
  overlines, captures.
- `encoding`: `standard` or `schrum`.
- `render_mode`: what `render()` gives: `ansi` text, `svg` a drawing, `rgb_array` its pixels, which
  needs the extra `pictures`. `human` prints the text.
- `illegal`: what an illegal point does. `raise`: an error. `penalize`: the game ends for all, with
  a reward of -1 for the agent and 0 for the others. `random`: a random legal one is taken instead,
  drawn from the game's own stream.

The environment can be copied and pickled in the middle of a game; `env.game` is its record.

### Version history

- v0: first version
"""

from __future__ import annotations

from typing import Literal

from pente_env.aec import PenteAEC
from pente_env.rules import Rules

__all__ = ["env", "raw_env"]


def env(
    num_players: int = 2,
    rules: Rules | str = "schrum",
    encoding: str = "standard",
    render_mode: str | None = None,
    *,
    illegal: Literal["raise", "penalize", "random"] = "raise",
) -> PenteAEC:
    """Make an environment; the module's docstring describes the arguments.

    It checks actions and their order itself, so it is returned without PettingZoo's wrappers.

    Raises:
        ConfigurationError: An argument is invalid. The message names what was given and what is
            valid.
        RulesError: The rules are unknown.
    """
    return PenteAEC(num_players, rules, encoding, render_mode, illegal=illegal)


raw_env = env
