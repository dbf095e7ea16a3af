"""The contract of a reward."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from monopoly_env import core, rewards
from monopoly_env.envs.aec import MonopolyAEC
from monopoly_env.envs.vector import VectorMonopoly
from monopoly_env.game import MAX_PLAYERS, Game
from monopoly_env.rewards import SHAPED, Reward
from monopoly_env.rules import Rules
from monopoly_env.testing.games import CheckError

# Short games: one by a cap, with several players left, one by bankruptcies.
SHORT: Final = (
    Rules(max_turns=60),
    Rules(start_cash=150, start_lots=3, go_salary=0, trade="none", max_turns=400),
)
_EXACT: Final = 1e-4  # tolerance of sums of float32


def check_reward(
    reward: str | Reward,
    *,
    rules: Sequence[Rules | str] = SHORT,
    num_players: Sequence[int] = (2, 4),
    games: int = 4,
    seed: int = 0,
    decisions: int = 5000,
    zero_sum: bool = True,
) -> None:
    """Check the contract of a reward, in games of random play in the environments.

    - Each step gives every seat a finite reward, the same in the PettingZoo environment and in
      `VectorMonopoly`. It does not change the game.
    - Unless `zero_sum` is False: the return of a seat is in [-1, 1], and the returns of all seats
      add up to 0. Shaping adds nothing to returns; with a discount, they are not checked.

    Examples:
        >>> from monopoly_env.testing import check_reward
        >>> check_reward("win_shaped", num_players=[3], games=1)

    Args:
        reward: A name, or a `Reward`.
        rules: Presets or `Rules`; by default two under which games end soon.
        num_players: Sizes of tables, each 2 to 8.
        games: Games for each rules and size of table.
        seed: The seed of all games.
        decisions: The maximum of decisions of a game.
        zero_sum: Whether to check the returns. A custom reward need not be a game's result.

    Raises:
        CheckError: The reward breaks its contract, or a game did not end.
        ConfigurationError: The name is unknown.
        RulesError: The rules are unknown.
    """
    made = rewards.resolve(reward)
    for one in rules:
        for size in num_players:
            for number in range(games):
                _check_game(made, one, size, seed + number, decisions, zero_sum)


def _check_game(
    reward: Reward, rules: Rules | str, size: int, seed: int, decisions: int, zero_sum: bool
) -> None:
    vec = VectorMonopoly(1, size, rules, reward=reward, seed=seed, threads=1, turn_limit=1 << 20)
    aec = MonopolyAEC(size, rules, reward=reward, turn_limit=1 << 20)
    batch, rng = vec.reset(), np.random.default_rng(seed)
    start = int(vec.seeds[0])
    aec.reset(seed=start)
    changed = Rules.coerce(rules).changed()
    total = np.zeros(size)
    for step in range(decisions):
        where = (
            f"Reward {reward.name!r}. Game: new_game({size}, Rules(**{changed}), seed={start}),"
            f" decision {step} of random play."
        )
        action = int(rng.choice(np.flatnonzero(batch.action_mask[0])))
        batch = vec.step([action])
        _step(aec, action)
        paid = batch.reward[0]
        due = [aec.rewards.get(agent, 0.0) for agent in aec.possible_agents]
        others = np.array(due, np.float32)
        if not np.isfinite(paid).all():
            raise CheckError(f"Rewards {paid} are not finite. {where}")
        if not np.array_equal(paid, others):
            raise CheckError(
                f"The environments differ: {paid} in VectorMonopoly, {others} in the PettingZoo"
                f" environment. {where}"
            )
        if _changes(reward, aec.game):
            raise CheckError(f"It changed the game: expected it only to read the game. {where}")
        total += paid
        if batch.terminated[0]:
            if zero_sum:
                _check_total(reward, batch.final_games[0], total, where)
            return
    raise CheckError(f"The game did not end within {decisions} decisions. {where}")


def _changes(reward: Reward, game: Game) -> bool:
    """Whether the kernel writes to the game."""
    copy = core.clone(game)
    reward.after(copy, np.zeros(MAX_PLAYERS))
    return bool(copy.tobytes() != game.tobytes())


def _step(aec: MonopolyAEC, action: int) -> None:
    """Carry out an action once the players who are out have left the table."""
    while aec.terminations[aec.agent_selection]:
        aec.step(None)
    aec.step(action)


def _check_total(reward: Reward, game: Game, total: NDArray[np.float64], where: str) -> None:
    if reward.each_step and reward.discount != 1.0:
        return  # the sums are discounted ones
    if abs(total.sum()) > _EXACT:
        raise CheckError(f"The rewards of all seats add up to {total.sum():g}, expected 0. {where}")
    kind = reward.name.removesuffix(SHAPED)
    final: NDArray[Any] = total
    if kind in rewards.KINDS:
        final = rewards.make(kind).after(game, np.zeros(MAX_PLAYERS))
    if not np.allclose(total, final, atol=_EXACT):
        raise CheckError(
            f"The rewards of the seats add up to {total}, expected the final ones, {final}. {where}"
        )
    if np.abs(total).max() > 1 + _EXACT:
        raise CheckError(
            f"The rewards of the seats add up to {total}, expected numbers from -1 to 1. {where}"
        )
