"""Reports on whole games: what each player gained by luck and by choices, and the mistakes.

A first version comes soon, from few playouts, then refined ones. Only choices that differ from
those of the playout policy can be mistakes; all other changes are luck. So the differing choices
are played out, and as many others as the curve needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from monopoly_env import actions
from monopoly_env.analyse.actions import compare_actions
from monopoly_env.analyse.history import History, final_shares
from monopoly_env.analyse.moves import move_at, moves_of
from monopoly_env.analyse.playouts import rollout
from monopoly_env.engine.agenda import REPLY
from monopoly_env.game import Game, Games
from monopoly_env.intervals import mean_interval
from monopoly_env.policy.loop import answers
from monopoly_env.policy.protocol import MEMORY, Decisions
from monopoly_table.analysis import Message, Policies, about, as_json

_SOON: Final = 4000  # playouts of the first version, of all decisions together
# Playouts of each decision at first; growth factor of the next version
_FEWEST, _MORE = 4, 3
_ASKED: Final = 4  # times
_POINTS: Final = 80  # of the curve, besides the contested decisions
_TOGETHER: Final = 128  # playouts of a step before the actions
_MISTAKES: Final = 5
_SUSPECTS: Final = 8  # decisions that are analysed closely to find the worst
_CLOSELY: Final = 300  # playouts of the best of their actions
_LOOK: Final = 1.5  # seconds of such an analysis
_LOOKING: Final = 0.1  # share of these analyses in the progress
# Accuracy of a loss: scale * exp(-rate * loss) - rest
ACCURACY = _SCALE, _RATE, _REST = 103.1668100711649, 4.354415386753951, 3.166924740191411
FORMULA: Final = (
    "Lichess accuracy (a loss of x percent scores 103.1668 exp(-0.04354 x) - 3.1669) on shares of"
    " the win"
)


def report(
    games: Games,
    chosen: NDArray[np.int64],
    last: Game,
    names: Sequence[str],
    playouts: int,
    policies: Policies,
) -> Iterator[Message]:
    """Judge a game, version after version.

    Args:
        games: (D,) the game before each decision.
        chosen: (D,) the actions.
        last: The game at the end.
        names: The names of the players.
        playouts: Playouts before and after each action, in the last version.
        policies: The policies of playouts.
    """
    choices = _choices(games, chosen, policies)
    versions = playouts_by_version(len(choices), playouts)
    tally, done = _Tally(games, chosen, choices, playouts), 0
    if len(choices) > _SOON // (2 * _FEWEST):  # too many for a first version: use a sample
        sample = _Tally(games, chosen, choices[:: -(-2 * _FEWEST * len(choices) // _SOON)], _FEWEST)
        for part in _parts(len(sample.starts), _FEWEST):
            sample.play(part, slice(0, _FEWEST), policies)
            yield _progress(0.0)
        yield _judge(sample, last, names, _FEWEST, policies)[0] | _progress(0.0)
    for count in versions:
        for part in _parts(len(choices), count - done):
            tally.play(part, slice(done, count), policies)
            yield _progress(
                (1 - _LOOKING) * (done + (count - done) * part.stop / len(choices)) / playouts
            )
        done = count
        judged, suspects = _judge(tally, last, names, done, policies)
        yield judged | _progress((1 - _LOOKING) * done / playouts)
    mistakes = []
    for looked, number in enumerate(suspects, 1):
        mistakes += _mistakes(games, chosen, number, policies)
        yield _progress(1 - _LOOKING + _LOOKING * looked / len(suspects))
    clear = sorted((one for one in mistakes if one["clear"]), key=lambda one: -one["cost"])
    yield judged | _progress(1.0) | {"mistakes": clear[:_MISTAKES], "done": True}


def _choices(games: Games, chosen: NDArray[np.int64], policies: Policies) -> NDArray[np.int64]:
    """(N, 3) the contested choices, and as many others as a curve needs.

    A choice is a decision, or all decisions of one offer: the first, the last, and whether it is
    contested, that is, the playout policy might choose otherwise.
    """
    starts = np.flatnonzero(
        ~np.isin(games["decision"], actions.OFFERING) | (np.arange(len(games)) == 0)
    )
    ends = np.append(starts[1:], len(games)) - 1
    contested = (ends > starts) | _differs(games[starts], chosen[starts], policies)
    spread = np.linspace(0, len(starts) - 1, _POINTS).astype(np.int64)
    every = np.union1d(np.flatnonzero(contested), spread)
    return np.stack([starts, ends, contested], axis=1)[every]


def _differs(games: Games, chosen: NDArray[np.int64], policies: Policies) -> NDArray[np.bool_]:
    """(D,) whether the playout policy, which may be random, ever chooses otherwise."""
    differs = np.zeros(len(games), np.bool_)
    for seat, policy in enumerate(policies):
        mine = np.flatnonzero(games["player"] == seat)
        for draw in range(_ASKED if len(mine) else 0):
            asked = games[mine].copy()
            asked["policy_draws"] += draw
            differs[mine] |= (
                answers(policy, Decisions(asked, np.zeros((len(mine), MEMORY)))) != chosen[mine]
            )
    return differs


def _parts(decisions: int, playouts: int) -> Iterator[slice]:
    """Slices of decisions, each a fraction of a second."""
    size = max(1, _TOGETHER // playouts)
    return (slice(start, min(start + size, decisions)) for start in range(0, decisions, size))


def playouts_by_version(decisions: int, playouts: int) -> list[int]:
    """The playouts of each decision in each version."""
    counts = [min(playouts, max(_FEWEST, _SOON // (2 * decisions)))]
    while counts[-1] < playouts:
        counts.append(min(playouts, _MORE * counts[-1]))
    return counts


class _Tally:
    """The results of the playouts of some choices."""

    def __init__(
        self, games: Games, chosen: NDArray[np.int64], choices: NDArray[np.int64], playouts: int
    ) -> None:
        self.games, self.chosen = games, chosen
        self.starts, self.ends, self.contested = choices.T
        self.before, self.after = np.zeros((2, len(choices), int(games["num_players"][0])))  # sums
        self.lost = np.zeros((len(choices), playouts), np.float32)  # by the player who chose
        # By playout: the shares before the first choice, and the changes by all choices
        self.first, self.changed = np.zeros((2, playouts, self.before.shape[1]))

    def play(self, part: slice, playouts: slice, policies: Policies) -> None:
        """Add playouts of some choices: before and, for contested ones, after them."""
        starts, ends = self.games[self.starts[part]], self.ends[part]
        seated, count, first = list(policies), playouts.stop - playouts.start, playouts.start
        before = rollout(starts, seated, count, first=first).shares
        after, these = before.copy(), np.flatnonzero(self.contested[part])
        if len(these):
            last, taken = self.games[ends[these]], self.chosen[ends[these]]
            after[these] = rollout(last, seated, count, actions=taken, first=first).shares
        self.before[part] += before.sum(axis=1, dtype=np.float64)
        self.after[part] += after.sum(axis=1, dtype=np.float64)
        own = np.arange(len(starts)), slice(None), starts["player"].astype(np.int64)
        self.lost[part, playouts] = (before - after)[own]
        self.changed[playouts] += (after - before).sum(axis=0, dtype=np.float64)
        if part.start == 0:
            self.first[playouts] = before[0]

    def history(self, final: NDArray[np.float64], count: int) -> History:
        """The course of the game after so many playouts."""
        games, chosen = self.games[self.starts], self.chosen[self.starts]
        return History(games, chosen, self.before / count, self.after / count, final)

    def intervals(self, player: Message, loss: NDArray[np.float64], count: int) -> Message:
        """A player with the bounds of the numbers, from the spread between playouts.

        Args:
            player: The numbers.
            loss: (D,) the clear loss of each choice.
            count: Playouts of each choice.
        """
        seat = player["seat"]
        mine = self.games["player"][self.starts] == seat
        lost, changed = self.lost[mine, :count].astype(np.float64), self.changed[:count, seat]
        skill, first = -lost.sum(axis=0), self.first[:count, seat]
        bounds = {"luck": player["final"] - first - changed, "skill": skill}
        answer = {
            name: mean_interval(values)[1:]
            for name, values in (bounds | {"others": changed - skill}).items()
        }
        if player["decisions"]:  # by the slope of the formula at each loss
            slopes = _SCALE * _RATE * np.exp(-_RATE * loss[mine])
            scores = -(slopes @ lost) / player["decisions"]
            low, high = (
                player["accuracy"] + bound - scores.mean() for bound in mean_interval(scores)[1:]
            )
            answer["accuracy"] = max(0.0, float(low)), min(100.0, float(high))
        return player | {"intervals": answer}

    def clear_loss(self, count: int) -> NDArray[np.float64]:
        """(D,), the loss of each choice; 0 unless it is significant."""
        lost = self.lost[:, :count].astype(np.float64)
        intervals = np.array([mean_interval(row) for row in lost])
        return np.where(intervals[:, 1] > 0, intervals[:, 0], 0.0)


def _progress(progress: float) -> Message:
    return {"type": "report", "progress": round(progress, 4), "done": False}


def _judge(
    tally: _Tally, last: Game, names: Sequence[str], playouts: int, policies: Policies
) -> tuple[Message, list[int]]:
    """The report so far, and the decisions that may be mistakes."""
    course = tally.history(final_shares(last, list(policies), playouts), playouts)
    loss = np.zeros(len(tally.games))
    loss[tally.starts] = tally.clear_loss(playouts)
    suspects = [
        int(tally.starts[number])
        for number in course.costly(_SUSPECTS)
        if loss[tally.starts[number]] > 0
    ]
    columns = tally.starts, course.games["turns"], course.before
    points = zip(*(column.tolist() for column in columns), strict=True)
    # The picks of an offer are one choice
    decided = ~np.isin(tally.games["decision"], actions.OFFERING)
    players = [
        _player(course, seat, name, loss[decided & (tally.games["player"] == seat)])
        for seat, name in enumerate(names)
    ]
    judged = {
        "formula": FORMULA,
        "playouts": playouts,
        "players": [tally.intervals(player, loss[tally.starts], playouts) for player in players],
        "curve": [
            {"version": version, "turn": turn, "shares": shares} for version, turn, shares in points
        ],
        "mistakes": [
            _mistake(tally.games, tally.chosen, number, float(loss[number]))
            for number in suspects[:_MISTAKES]
        ],
    }
    return judged | about(policies), suspects


def accuracy(loss: float) -> float:
    """The accuracy of a choice that lost this share of the win: `FORMULA`."""
    return float(np.clip(_SCALE * np.exp(-_RATE * loss) - _REST, 0, 100))


def _player(course: History, seat: int, name: str, loss: NDArray[np.float64]) -> Message:
    scores = [accuracy(float(lost)) for lost in loss]
    own = float(course.own[course.player == seat].sum())
    return {
        "seat": seat, "name": name, "decisions": len(scores),
        "accuracy": float(np.mean(scores)) if scores else None,
        "luck": float(course.luck[:, seat].sum()), "skill": own,
        "others": float(course.choice[:, seat].sum()) - own,
        "first": float(course.before[0, seat]), "final": float(course.final[seat]),
    }  # fmt: skip


def _mistake(games: Games, chosen: NDArray[np.int64], number: int, cost: float) -> Message:
    """A possible mistake; the better action is not known yet."""
    return {
        "version": number,
        "seat": int(games["player"][number]),
        "turn": int(games["turns"][number]),
        "action": int(chosen[number]),
        "offer": _offer(games, number),
        "cost": cost,
        "clear": False,
        "best": None,
        "chosen": None,
    }


def _offer(games: Games, number: int) -> list[int] | None:
    """The offer that a decision begins: partner, goods given and asked for, dollars given."""
    end = number + 1
    while end < len(games) and games["decision"][end] in actions.OFFERING:
        end += 1
    if end == number + 1 or end == len(games) or games["decision"][end] != REPLY:
        return None
    made = games[end]
    return [int(made[f"offer_{part}"]) for part in ("to", "give", "ask", "cash")]


def _mistakes(
    games: Games, chosen: NDArray[np.int64], number: int, policies: Policies
) -> list[Message]:
    """A decision with its best alternative; empty for an unfinished offer."""
    game, move = games[number], move_at(games, chosen, number)
    if move is None:
        return []
    compared = compare_actions(
        game, [move, *moves_of(game)], list(policies), _CLOSELY, seconds=_LOOK
    )
    taken = compared.of(move)
    found = {
        "clear": taken.difference_high < 0,
        "best": as_json(compared.best),
        "chosen": as_json(taken),
    }
    return [_mistake(games, chosen, number, -taken.difference) | found]
