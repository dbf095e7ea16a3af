"""Phase 1: learn from experts' games by regression on how they ended.

Experiences come from `training.experience.streams`, without the disk. Each network has a pool of
the decisions that it would have been asked. A full pool is learned in shuffled minibatches, several
times over where such decisions are rare, and emptied.

The thesis stores outcomes, not rewards: this is Monte-Carlo regression on the expert's action, not
imitation, and nothing is learned of actions that the expert never takes. To the outcome the program
adds a bonus for the decision, of which nothing more is known. Ours is what annex A pays for a
decision whatever follows, with a worth that does not change (`bonuses`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray

from agents.networks.ocnaru import NETWORKS
from monopoly_env.actions import (
    A_BUILD,
    A_BUY,
    A_JAIL,
    A_MORTGAGE,
    A_SELL,
    A_TURN,
    A_UNMORTGAGE,
    HEAD_NAMES,
    HEAD_OF,
)
from monopoly_env.encoding import ocnaru
from monopoly_env.engine import agenda
from monopoly_env.engine.building import COLOURS
from monopoly_env.facts.board import (
    GROUP_OF,
    GROUP_SIZE,
    GROUP_START,
    GROUPS,
    HOTEL,
    HOUSE_PRICE,
    LOT_SQUARE,
    NUM_SQUARES,
    SQUARE_LOT,
)
from monopoly_env.rules import Rules, choices
from training.experience.recording import Experiences
from training.ocnaru.learner import HeadLearner
from training.ocnaru.rewards import Quantities, Variant, reward

POOL: Final = 32_768  # experiences that are shuffled together
# of the decisions that a network might be asked
HEADS: Final = ("buy", "build", "sell", "mortgage", "unmortgage", "jail")

# How often each experience is learned. It makes the 50 to 70 million samples per network, out of
# 1.5 million games, that the thesis mentions. A game of two experts has about 40 decisions to buy,
# 9 levels built, 2 sold, 8 mortgages, 7 lifted, 11 fines, 3 cards.
PASSES: Final = {
    "buy": 1, "upgrade": 5, "downgrade": 16, "mortgage": 5, "unmortgage": 5, "fine": 4, "card": 13,
}  # fmt: skip

_NAMES: Final = ocnaru.names(plus=False)
_SALE, _CARDS, _DANGER = (
    _NAMES.index(name) for name in ("for sale: square", "jail cards: me", "danger beyond jail")
)
_SHARES, _LEVELS = (
    [_NAMES.index(f"group: {group} {fact}") for group in GROUPS[:COLOURS]]
    for fact in ("own share", "level by 5")
)
_EYED: Final = [GROUPS.index(group) for group in ("orange", "red")]
_DEAR: Final = [GROUPS.index(group) for group in ("green", "dark_blue")]

# the first action of a network, and the head that it belongs to
_PICKS: Final = {
    "upgrade": (A_BUILD, "build"), "downgrade": (A_SELL, "sell"),
    "mortgage": (A_MORTGAGE, "mortgage"), "unmortgage": (A_UNMORTGAGE, "unmortgage"),
}  # fmt: skip


def chosen(
    head: str, experiences: Experiences, rules: Rules
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(M,) rows at which a network would have been asked, and (M,) outputs chosen there."""
    action, decision = experiences.action.astype(np.int64), experiences.decision
    if head in _PICKS:
        first, name = _PICKS[head]
        picked = HEAD_OF[action] == HEAD_NAMES.index(name)
        rows = np.flatnonzero((decision == agenda.WINDOW) & picked)
        by_lot = GROUP_OF if NETWORKS[head].size == COLOURS else LOT_SQUARE[_board(rules)]
        return rows, by_lot[action[rows] - first]
    if head == "buy":
        asked = (decision == agenda.BUY) & _legal(experiences, A_BUY + 1)
        rows = np.flatnonzero(asked & np.isin(action, (A_BUY, A_BUY + 1)))
        return rows, action[rows] - A_BUY
    asked = (decision == agenda.JAIL) & _legal(experiences, A_TURN)
    if head == "card":
        rows = np.flatnonzero(asked & _legal(experiences, A_JAIL + 1))
        return rows, (action[rows] == A_JAIL + 1).astype(np.int64)
    rows = np.flatnonzero(asked & _legal(experiences, A_JAIL) & (action != A_JAIL + 1))
    return rows, (action[rows] == A_JAIL).astype(np.int64)


def _board(rules: Rules) -> int:
    return choices("board").index(rules.board)


def _legal(experiences: Experiences, action: int) -> NDArray[np.bool_]:
    return (experiences.choices[:, action >> 3] >> (7 - (action & 7)) & 1).astype(np.bool_)


# --- what is learned


def targets(
    head: str, experiences: Experiences, choice: NDArray[np.int64], rules: Rules, variant: Variant
) -> NDArray[np.float32]:
    """(N,) the regression targets of the chosen outputs: outcome plus bonus."""
    bonus = bonuses(head, experiences, choice, rules, variant)
    return (outcomes(head, experiences) + bonus).astype(np.float32)


def outcomes(head: str, experiences: Experiences) -> NDArray[np.float64]:
    """(N,) how games ended, as the program counts it.

    A win counts 1, a bankruptcy -0.5 to -1, else it is clip(worth / 3000 - 0.5, -0.5, 0.5).

    In the program, a bankruptcy counts less the further the balance is below zero. Our measure is
    the unpaid part of the last debt: -1 from 1,000 dollars on. For `fine`, a win counts 0.4 and a
    bankruptcy -0.4, whatever was left to pay.
    """
    final = experiences.final_worth
    won, bankrupt = experiences.outcome > 0, (experiences.outcome < 0) & (final < 0)
    win, ruin = 1.0, -0.5 - 0.5 * np.minimum(-final / 1000.0, 1.0)
    if head == "fine":
        win, ruin = 0.4, np.full(len(final), -0.4)
    capped = np.clip(final / 3000.0 - 0.5, -0.5, 0.5)
    return np.select([won, bankrupt], [win, ruin], capped).astype(np.float64)


def bonuses(
    head: str, experiences: Experiences, choice: NDArray[np.int64], rules: Rules, variant: Variant
) -> NDArray[np.float64]:
    """(N,) the pay of annex A for decisions of a network whatever follows, from the observations.

    Mortgages are not among the 100 features, so a lifted one earns nothing for its group and its
    income here.
    """
    seen = experiences.observation.astype(np.float64)
    worth, cash = experiences.worth.astype(np.float64).T
    nothing = np.zeros(len(choice))
    danger = seen[:, _DANGER]
    same = Quantities(*[nothing] * len(Quantities._fields))._replace(
        worth=worth, cash=cash, danger=danger, flat_danger=danger
    )
    before, after, acted = same, same, np.ones(len(choice), np.bool_)
    if head == "buy":
        after = same._replace(monopolies=_number((choice == 1) & _completes(seen, _board(rules))))
    elif head in ("upgrade", "downgrade"):
        level = np.rint(seen[np.arange(len(choice)), np.array(_LEVELS)[choice]] * HOTEL)
        price = HOUSE_PRICE[_board(rules), GROUP_START[choice]] * GROUP_SIZE[choice]
        if head == "upgrade":
            hotel = _number(level == HOTEL - 1)
            after = same._replace(cash=cash - price, houses=1.0 - hotel, hotels=hotel)
        else:
            before = same._replace(
                eyed_levels=_number(np.isin(choice, _EYED)),
                dear_levels=_number(np.isin(choice, _DEAR)),
            )
            after = same._replace(cash=cash + price * rules.sell_ratio)
    elif head == "unmortgage":
        group = GROUP_OF[SQUARE_LOT[_board(rules), choice]]
        after = same._replace(
            eyed_lots=_number(np.isin(group, _EYED)), dear_lots=_number(np.isin(group, _DEAR))
        )
    elif head in ("fine", "card"):
        acted = choice == 1
        before = same._replace(cards=2.0 * seen[:, _CARDS])
    return reward(head, before, after, acted, variant)


def _completes(seen: NDArray[np.float64], board: int) -> NDArray[np.bool_]:
    """(N,) whether the lot for sale is the only one of its colour group that the player lacks."""
    group = GROUP_OF[SQUARE_LOT[board, np.rint(seen[:, _SALE] * NUM_SQUARES).astype(np.int64)]]
    street = group < COLOURS
    colour = np.where(street, group, 0)
    owned = np.rint(seen[np.arange(len(seen)), np.array(_SHARES)[colour]] * GROUP_SIZE[colour])
    completes: NDArray[np.bool_] = street & (owned == GROUP_SIZE[colour] - 1)
    return completes


def _number(flags: NDArray[np.bool_]) -> NDArray[np.float64]:
    return flags.astype(np.float64)


@dataclass
class Pool:
    """Experiences of a network that are collected until there are enough to shuffle.

    Attributes:
        seed: Of the shuffling.
        batch: Size of a minibatch.
        number: How often the pool has been learned.
        filled: Experiences in it.
        samples: Samples learned, with repetitions.
    """

    head: str
    seed: int
    batch: int

    def __post_init__(self) -> None:
        self.number = self.filled = self.samples = 0
        self.observation = np.zeros((POOL, ocnaru.SIZE), np.float16)
        self.choice = np.zeros(POOL, np.int64)
        self.target = np.zeros(POOL, np.float32)

    def add(
        self,
        observation: NDArray[Any],
        choice: NDArray[np.int64],
        target: NDArray[np.float32],
        learner: HeadLearner,
    ) -> list[Any]:
        """Add experiences, and learn whenever the pool is full; returns as `learn` does."""
        losses: list[Any] = []
        start = 0
        while start < len(choice):
            count = min(POOL - self.filled, len(choice) - start)
            here, there = slice(self.filled, self.filled + count), slice(start, start + count)
            self.observation[here], self.choice[here] = observation[there], choice[there]
            self.target[here] = target[there]
            self.filled += count
            start += count
            if self.filled == POOL:
                losses += self.learn(learner)
        return losses

    def learn(self, learner: HeadLearner) -> list[Any]:
        """Learn what is in the pool, and empty it; returns `HeadLearner.regress` by minibatch."""
        generator = np.random.default_rng([self.seed, list(NETWORKS).index(self.head), self.number])
        losses = []
        for _ in range(PASSES[self.head] if self.filled else 0):
            order = generator.permutation(self.filled)
            for start in range(0, self.filled, self.batch):
                rows = order[start : start + self.batch]
                seen, choice, target = (
                    torch.from_numpy(column[rows]).to(learner.device)
                    for column in (self.observation, self.choice, self.target)
                )
                losses.append(learner.regress(seen.float(), choice, target))
                self.samples += len(rows)
        self.number += 1
        self.filled = 0
        return losses

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The content and the counts, by name."""
        arrays = {
            name: getattr(self, name)[: self.filled] for name in ("observation", "choice", "target")
        }
        return arrays | {"counts": np.array([self.number, self.filled, self.samples])}

    def set_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue with what `arrays` returned."""
        self.number, self.filled, self.samples = arrays["counts"].tolist()
        for name in ("observation", "choice", "target"):
            getattr(self, name)[: self.filled] = arrays[name]
