"""Task 4: Deal. One trade window, partners of four kinds.

What does the agent gain, what do its partners, and who pays for it?

The agent is on turn in a game of three and may make offers, until it does anything else. A position
is worth what `expert` in every seat makes of it if nobody trades any more, so the difference
between after and before is what the deals were worth.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from monopoly_bench.playouts import shares_without_trades
from monopoly_bench.task import Score, Setting, Task
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


def run(agent: Policy, setting: Setting) -> Score:
    """The agent's mean gain of a window, in shares of the win."""
    chosen = setting.suite.deals[: QUICK if setting.quick else None]
    before = np.concatenate([core.batch_of(position.game) for position in chosen])
    # (windows, gain, partners' gain, harm, dealt)
    rows = np.concatenate([_gains(agent, partner, before, setting) for partner in PARTNERS])
    by_partner = rows.reshape(len(PARTNERS), len(before), -1)
    # The windows of a position are not independent
    mean, low, high = mean_interval(by_partner[:, :, 0].mean(axis=0))
    joint = float(rows[:, :2].sum())
    return Score(
        mean,
        low,
        high,
        len(rows),
        {
            "share_of_surplus": float(rows[:, 0].sum()) / joint if joint > 0 else None,
            "partners_gain": float(rows[:, 1].mean()),
            "harm_to_others": float(rows[:, 2].mean()),
            "windows_with_a_deal": float(rows[:, 3].mean()),
            "gain_by_partner": {
                name: float(part[:, 0].mean())
                for name, part in zip(PARTNERS, by_partner, strict=True)
            },
        },
    )


def _gains(agent: Policy, partner: str, before: Games, setting: Setting) -> NDArray[np.float64]:
    """(B, 4): gain of the agent, of partners that dealt, harm to others, and whether it dealt."""
    after, seats = played(agent, make(partner), before), before["player"].astype(int)
    rows = np.zeros((len(before), 4))
    players = int(before["num_players"][0])
    touched = (
        (after["lots"] != before["lots"])
        | (after["cash"] != before["cash"])
        | (after["jail_cards"] != before["jail_cards"])
    )
    dealt = np.flatnonzero(touched.any(axis=1))
    if not len(dealt):
        return rows
    together = np.concatenate([before[dealt], after[dealt]])
    worth = shares_without_trades(
        together, PLAYOUTS[setting.quick], setting.suite.game_seed(TASK.number), setting.threads
    )
    change = worth[len(dealt) :] - worth[: len(dealt)]
    for number, row in zip(dealt, change, strict=True):
        mine = np.arange(players) == seats[number]
        partners = touched[number, :players] & ~mine
        rows[number] = row[mine].sum(), row[partners].sum(), -row[~mine & ~partners].sum(), 1
    return rows


def played(agent: Policy, partner: Policy, games: Games) -> Games:
    """Let the player on turn deal with the others.

    Args:
        agent: Sits in the seat that is to move.
        partner: Sits in all others.
        games: (B,) records in which the window of a turn is open; they are not changed.

    Returns:
        (B,) the records when the agent did something else than dealing.
    """
    games, seats = games.copy(), games["player"].astype(int)
    memory = np.zeros((len(games), games["lots"].shape[1], MEMORY))
    left = np.arange(len(games))
    for _ in range(_MOST_STEPS):
        left = np.array(
            [number for number in left if _is_open(games[number], seats[number])], np.int64
        )
        if not len(left):
            break
        actions = np.zeros(len(left), np.int64)
        mine = games["player"][left] == seats[left]
        for policy, asked in ((agent, mine), (partner, ~mine)):
            if asked.any():
                actions[asked] = _answers(policy, games, left[asked], memory)
        dealing = (games["decision"][left] != _TURN) | (
            (actions >= HEADS["trade"].start) & (actions < HEADS["trade"].stop)
        )
        left, actions = left[dealing], actions[dealing]
        for number, action in zip(left, actions, strict=True):
            core.step(games[number], int(action))
    return games


def _is_open(game: Any, seat: int) -> bool:
    """Whether the window goes on: a step of an offer, or the agent may begin one."""
    return int(game["decision"]) in _DEALING or (
        int(game["decision"]) == _TURN and int(game["player"]) == seat and int(game["turn"]) == seat
    )


def _answers(
    policy: Policy, games: Games, numbers: NDArray[np.int64], memory: NDArray[np.float64]
) -> NDArray[np.int64]:
    """What a policy does in some of the games. What it remembers is kept."""
    asked, seats = games[numbers], games["player"][numbers]
    remembered = np.ascontiguousarray(memory[numbers, seats])
    actions = answers(policy, Decisions(asked, remembered))
    memory[numbers, seats] = remembered
    games["policy_draws"][numbers] = asked["policy_draws"]
    return actions


TASK: Final = Task(
    4, "deal", "official", "3", ", ".join(PARTNERS),
    "every position with each kind of partners in both other seats",
    "own gain of a window, in shares of the win", True, run, (3,),
)  # fmt: skip
