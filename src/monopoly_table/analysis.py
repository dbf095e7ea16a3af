"""Anytime analyses: generators of messages, each step a fraction of a second. `sockets` runs them.

All numbers come from playouts (docs/analysis.md), with common random numbers for comparisons.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from monopoly_env import actions, core
from monopoly_env.analyse.actions import Candidate, candidate, compare_actions
from monopoly_env.analyse.history import History, final_shares
from monopoly_env.analyse.moves import move_at, moves_of
from monopoly_env.analyse.playouts import rollout
from monopoly_env.engine.agenda import OVER, REPLY
from monopoly_env.game import Game, Games
from monopoly_env.intervals import CONFIDENCE, mean_interval, wilson
from monopoly_env.policy.loop import answers
from monopoly_env.policy.protocol import MEMORY, Decisions, Policy

Message: TypeAlias = dict[str, Any]
Policies: TypeAlias = Sequence[Policy]  # the policies of playouts, one a seat

_STEP: Final = 0.2  # seconds that a step should take
_FIRST: Final = 32  # playouts of the first step
_EACH: Final = 32  # playouts of every action in the first round
_KNOWN: Final = 2500  # playouts with a standard error of at most a point of the win

# Of reports on whole games
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


class _Pace:
    """The number of playouts that fit into a step."""

    def __init__(self) -> None:
        self.count, self._began = _FIRST, time.monotonic()

    def begin(self) -> None:
        self._began = time.monotonic()

    def end(self, played: int) -> None:
        """Adapt to a step, by a factor of four at most: the first steps may compile code."""
        rate = played / max(1e-6, time.monotonic() - self._began)
        self.count = max(8, min(4 * self.count, int(rate * _STEP)))


# --- a position


def analyse(
    game: Game, policies: Policies, with_actions: bool, most: int, turns: int | None = None
) -> Iterator[Message]:
    """Shares of the win, now and after each legal action, refined step by step.

    Args:
        game: The position.
        policies: The policies of playouts.
        with_actions: Whether to compare the actions too.
        most: Playouts of each action that may be the best.
        turns: Rounds after which a playout is cut off and valued by worth.
    """
    began, pace, done = time.monotonic(), _Pace(), core.is_over(game)
    if done:
        result: Message = {"playouts": 0, "shares": _ended(game), "candidates": [], "done": True}
        yield {"type": "analysis"} | result | about(policies)
        return
    shares, race = _none(game), _Race(game, policies, most, turns)
    while not done:
        pace.begin()
        count = min(pace.count, most - len(shares))
        if count and (
            not with_actions or race.is_over or len(shares) <= _share_of(len(shares)) * race.played
        ):
            more = rollout(game, list(policies), count, first=len(shares), turns=turns)
            shares, played = np.concatenate([shares, more.shares]), count
        else:
            played = race.go_on(pace.count)
        pace.end(played)
        done = len(shares) >= most and (not with_actions or race.is_over)
        yield {
            "type": "analysis",
            "playouts": len(shares),
            "shares": _shares(shares),
            "candidates": [as_json(one) for one in race.candidates()] if with_actions else [],
            "done": done,
        } | about(policies, time.monotonic() - began)


def analyse_throw(
    thrown: Callable[[int], Games], policies: Policies, most: int, turns: int | None = None
) -> Iterator[Message]:
    """Shares of the win before a throw: over all 36 throws, again and again.

    Args:
        thrown: Returns the (36,) games after each throw, by the seed of their decks.
        policies: The policies of playouts.
        most: Playouts, about.
        turns: Rounds after which a playout is cut off and valued by worth.
    """
    began, pace, rounds = time.monotonic(), _Pace(), 0
    shares = np.zeros((0, len(policies)), np.float32)
    while len(shares) < most:
        pace.begin()
        games = thrown(rounds)
        count = max(1, min(pace.count, most - len(shares)) // len(games))
        more = np.zeros((len(games), count, len(policies)), np.float32)
        over = games["decision"] == OVER
        for number in np.flatnonzero(over):
            more[number] = final_shares(games[number])
        if not over.all():
            played = rollout(games[~over], list(policies), count, first=rounds, turns=turns)
            more[~over] = played.shares
        shares, rounds = np.concatenate([shares, more.reshape(-1, len(policies))]), rounds + count
        pace.end(more.shape[0] * count)
        yield {
            "type": "analysis",
            "playouts": len(shares),
            "shares": _shares(shares),
            "candidates": [],
            "done": len(shares) >= most,
        } | about(policies, time.monotonic() - began)


def _none(game: Game) -> NDArray[np.float32]:
    return np.zeros((0, int(game.num_players)), np.float32)


def _share_of(playouts: int) -> float:
    """Playouts of the position per playout of all actions: more until it is known to a point."""
    return 8.0 if playouts < _KNOWN else 0.5


class _Race:
    """A race of the legal actions of a position: those that may be the best get more playouts.

    Offers are excluded: a playout can't begin in the middle of one (`compare_actions`). `weigh`
    judges them as a whole.
    """

    def __init__(self, game: Game, policies: Policies, most: int, turns: int | None) -> None:
        self.game, self.policies, self.most, self.turns = game, list(policies), most, turns
        self.player = int(game.player)
        moves = [] if game.decision in actions.OFFERING else moves_of(game)
        self.shares = {move: _none(game) for move in moves if isinstance(move, int)}
        self.played = 0
        self._due: list[int] = []
        self._goal = 0

    @property
    def fewest(self) -> int:
        """The minimum of playouts of an action in the race."""
        return min(len(self.shares[action]) for action in self._running())

    @property
    def is_over(self) -> bool:
        """Whether every action in the race has its playouts."""
        return not self.shares or (not self._due and self.fewest >= self.most)

    def go_on(self, budget: int) -> int:
        """Play the next actions of this round; returns the number of playouts, about `budget`."""
        if not self._due:
            self._due = self._running()
            self._goal = min(self.most, max(_EACH, 2 * self.fewest))
        action = self._due[0]
        done = len(self.shares[action])
        count = max(1, min(self._goal - done, budget))
        together = [other for other in self._due if len(self.shares[other]) == done]
        together = together[: max(1, budget // count)]
        games = np.repeat(core.batch_of(self.game), len(together))
        more = rollout(
            games, self.policies, count, actions=np.array(together), first=done, turns=self.turns
        )
        for other, shares in zip(together, more.shares, strict=True):
            self.shares[other] = np.concatenate([self.shares[other], shares])
        self._due = [other for other in self._due if len(self.shares[other]) < self._goal]
        self.played += count * len(together)
        return count * len(together)

    def _running(self) -> list[int]:
        """The actions that may be the best: at first all, then all but the clearly worse."""
        if any(len(shares) < _EACH for shares in self.shares.values()):
            return list(self.shares)
        ranked = self.candidates()
        return [one.action for one in ranked if one is ranked[0] or one.difference_high >= 0]

    def candidates(self) -> list[Candidate]:
        """The actions played so far, the best first."""
        played = {action: shares for action, shares in self.shares.items() if len(shares) > 1}
        if not played:
            return []
        own = {action: shares[:, self.player] for action, shares in played.items()}
        best = max(own, key=lambda action: (len(own[action]), own[action].mean(dtype=np.float64)))
        rows = [
            candidate(
                self.game,
                action,
                shares[: len(own[best])],
                None if action == best else own[best],
                self.player,
            )
            for action, shares in played.items()
        ]
        return sorted(rows, key=lambda one: (one.action != best, -one.difference))


def _shares(shares: NDArray[np.float32]) -> list[dict[str, Any]]:
    mean = shares.mean(axis=0, dtype=np.float64)
    low, high = wilson(mean * len(shares), len(shares), CONFIDENCE)
    return [
        {"seat": seat, "share": float(share), "low": float(low[seat]), "high": float(high[seat])}
        for seat, share in enumerate(mean)
    ]


def _ended(game: Game) -> list[dict[str, Any]]:
    return [
        {"seat": seat, "share": x, "low": x, "high": x}
        for seat, x in enumerate(final_shares(game).tolist())
    ]


def as_json(one: Candidate) -> dict[str, Any]:
    """A candidate in JSON. Clients have words of their own for its action."""
    row = {name: value for name, value in vars(one).items() if name != "text"}
    return row | {"shares": list(one.shares)}


def about(policies: Policies, seconds: float = 0.0) -> Message:
    """The policies of playouts, and the time so far."""
    return {
        "policies": [policy.name for policy in policies],
        "seconds": round(seconds, 2),
        "confidence": CONFIDENCE,
    }


# --- an offer


def weigh(game: Game, picks: Sequence[int], policies: Policies, most: int) -> Iterator[Message]:
    """The change of every seat's share of the win if an offer is accepted, compared with no offer.

    Args:
        game: The position before the offer.
        picks: The actions that make it.
        policies: The policies of playouts.
        most: Playouts of both.
    """
    offered = core.clone(game)
    for action in picks:
        core.step(offered, action)
    both = np.concatenate([core.batch_of(game), core.batch_of(offered)])
    now = after = _none(game)
    pace = _Pace()
    while len(now) < most:
        pace.begin()
        count = min(max(4, pace.count // 2), most - len(now))
        without = rollout(both[0], list(policies), count, first=len(now))
        accepted = rollout(
            both[1], list(policies), count, actions=actions.A_REPLY + 1, first=len(now)
        )
        now, after = np.concatenate([now, without.shares]), np.concatenate([after, accepted.shares])
        pace.end(2 * count)
        yield {
            "type": "offer",
            "playouts": len(now),
            "seats": _compared(now, after),
            "done": len(now) >= most,
        } | about(policies)


def _compared(now: NDArray[np.float32], after: NDArray[np.float32]) -> list[dict[str, Any]]:
    rows = []
    for seat, (before, then) in enumerate(zip(now.T, after.T, strict=True)):
        gain, low, high = mean_interval((then - before).astype(np.float64))
        shares = {
            "now": float(before.mean(dtype=np.float64)),
            "after": float(then.mean(dtype=np.float64)),
        }
        rows.append({"seat": seat, **shares, "difference": gain, "low": low, "high": high})
    return rows


# --- a whole game


def curve(
    frame: Callable[[int], Game], version: int, points: int, playouts: int, policies: Policies
) -> Iterator[Message]:
    """The shares of all players at evenly spaced frames of a game.

    Args:
        frame: Returns the game at a frame.
        version: The last frame.
        points: The number of frames.
        playouts: Of each.
        policies: The policies of playouts.
    """
    frames = sorted({round(float(number)) for number in np.linspace(0, version, points)})
    known: dict[int, Message] = {}
    pace = _Pace()
    for number in _coarse_first(frames):
        game = frame(number)
        for shares, is_last in _refined(game, policies, playouts, pace):
            known[number] = {"version": number, "turn": int(game.turns)} | {
                name: [row[key] for row in shares]
                for name, key in (("shares", "share"), ("low", "low"), ("high", "high"))
            }
            done_points = [known[version] for version in sorted(known)]
            yield {
                "type": "curve",
                "points": done_points,
                "done": is_last and len(known) == len(frames),
            } | about(policies)


def _refined(
    game: Game, policies: Policies, playouts: int, pace: _Pace
) -> Iterator[tuple[list[dict[str, Any]], bool]]:
    """The shares of a position after increasing numbers of playouts; True with the last ones."""
    if core.is_over(game):
        yield _ended(game), True
        return
    shares = _none(game)
    while len(shares) < playouts:
        pace.begin()
        count = min(pace.count, playouts - len(shares))
        shares = np.concatenate(
            [shares, rollout(game, list(policies), count, first=len(shares)).shares]
        )
        pace.end(count)
        yield _shares(shares), len(shares) == playouts


def _coarse_first(frames: list[int]) -> list[int]:
    """Frames in an order that shows the whole curve early: every eighth, then those between."""
    order = sorted(range(len(frames)), key=lambda place: (place % 8 != 0, place % 4 != 0, place))
    return [frames[place] for place in order]


# --- a report on a whole game
#
# A first version comes soon, from few playouts, then refined ones. Only choices that differ from
# those of the playout policy can be mistakes; all other changes are luck. So the differing choices
# are played out, and as many others as the curve needs.


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
