"""Task 4: Deal. One trade window, partners of four kinds.

The gains of the agent and of its partners, and the harm to others. The agent is on turn in a game
of three and may make offers, until it does anything else. The value of a position comes from
playouts by `expert` without further trades; the value of the deals is the difference.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from monopoly_bench.task import Task, TaskScore, TaskSetting, shares_without_trades
from monopoly_env import core
from monopoly_env.actions import DECISION_NAMES, HEADS, OFFERING
from monopoly_env.game import Games
from monopoly_env.intervals import mean_interval
from monopoly_env.policy.loop import answers
from monopoly_env.policy.names import make
from monopoly_env.policy.protocol import MEMORY, Decisions, Policy

PARTNERS: Final = ("expert", "algorithmic", "gcp", "strategic")
PLAYOUTS: Final = (100, 8)
QUICK: Final = 3  # positions
_TURN: Final = DECISION_NAMES.index("turn")
_DEALING: Final = [*OFFERING, DECISION_NAMES.index("reply"), DECISION_NAMES.index("takeover")]
_MOST_STEPS: Final = 400  # of a window; offers are limited by the rules


def run(agent: Policy, setting: TaskSetting) -> TaskScore:
    """The agent's mean gain of a window, in shares of the win."""
    chosen = setting.suite.deals[: QUICK if setting.quick else None]
    before = np.concatenate([core.batch_of(position.game) for position in chosen])
    by_partner = np.stack([_gains(agent, partner, before, setting) for partner in PARTNERS])
    rows, gains = by_partner.reshape(-1, by_partner.shape[2]), by_partner[:, :, 0]
    joint = float(rows[:, :2].sum())
    details = {
        "share_of_surplus": float(rows[:, 0].sum()) / joint if joint > 0 else None,
        "partners_gain": float(rows[:, 1].mean()),
        "harm_to_others": float(rows[:, 2].mean()),
        "windows_with_a_deal": float(rows[:, 3].mean()),
        "gain_by_partner": {
            name: float(part.mean()) for name, part in zip(PARTNERS, gains, strict=True)
        },
    }
    # Windows of one position are not independent
    return TaskScore(*mean_interval(gains.mean(axis=0)), len(rows), details)


def _gains(agent: Policy, partner: str, before: Games, setting: TaskSetting) -> NDArray[np.float64]:
    """(B, 4): gain of the agent, gain of its partners, harm to others, and whether it traded."""
    after, seats = trade(agent, make(partner), before), before["player"].astype(int)
    rows = np.zeros((len(before), 4))
    players = int(before["num_players"][0])
    touched = np.any([after[n] != before[n] for n in ("lots", "cash", "jail_cards")], axis=0)
    dealt = np.flatnonzero(touched.any(axis=1))
    if not len(dealt):
        return rows
    together = np.concatenate([before[dealt], after[dealt]])
    seed = setting.suite.game_seed(TASK.number)
    worth = shares_without_trades(together, PLAYOUTS[setting.quick], seed, setting.threads)
    change = worth[len(dealt) :] - worth[: len(dealt)]
    for number, row in zip(dealt, change, strict=True):
        mine = np.arange(players) == seats[number]
        partners = touched[number, :players] & ~mine
        rows[number] = row[mine].sum(), row[partners].sum(), -row[~mine & ~partners].sum(), 1
    return rows


def trade(agent: Policy, partner: Policy, games: Games) -> Games:
    """Let the player on turn trade with the others.

    Args:
        agent: The policy of the seat to move.
        partner: The policy of all other seats.
        games: (B,) records in an open window of a turn, not changed.

    Returns:
        (B,) the records after the trades.
    """
    games, seats = games.copy(), games["player"].astype(int)
    memory = np.zeros((len(games), games["lots"].shape[1], MEMORY))
    left = np.arange(len(games))
    for _ in range(_MOST_STEPS):
        left = left[[_is_open(games[number], seats[number]) for number in left]]
        if not len(left):
            break
        actions = np.zeros(len(left), np.int64)
        mine = games["player"][left] == seats[left]
        for policy, asked in ((agent, mine), (partner, ~mine)):
            if asked.any():
                actions[asked] = _answers(policy, games, left[asked], memory)
        offers = (actions >= HEADS["trade"].start) & (actions < HEADS["trade"].stop)
        dealing = (games["decision"][left] != _TURN) | offers
        left, actions = left[dealing], actions[dealing]
        for number, action in zip(left, actions, strict=True):
            core.step(games[number], int(action))
    return games


def _is_open(game: Any, seat: int) -> bool:
    """Whether the window continues: a step of an offer, or the agent may begin one."""
    decision = int(game["decision"])
    on_turn = int(game["player"]) == seat == int(game["turn"])
    return decision in _DEALING or (decision == _TURN and on_turn)


def _answers(
    policy: Policy, games: Games, numbers: NDArray[np.int64], memory: NDArray[np.float64]
) -> NDArray[np.int64]:
    """The actions of a policy in some of the games; its memory is updated."""
    asked, seats = games[numbers], games["player"][numbers]
    remembered = np.ascontiguousarray(memory[numbers, seats])
    actions = answers(policy, Decisions(asked, remembered))
    memory[numbers, seats] = remembered
    games["policy_draws"][numbers] = asked["policy_draws"]
    return actions


TASK: Final = Task(4, "deal", "own gain of a window, in shares of the win", True, run, (3,))
