"""`search`: where several policies disagree, play out their answers and take the best.

This is policy switching (Chang, Givan and Chong, "Parallel rollout for online solution of partially
observable Markov decision processes", 2004), which Long and Kanagal (2015) used for Monopoly, with
paired playouts. They may be cut off after some rounds and end with a value of the state. Questions
with two answers, such as an offer received, may be played out even where all policies agree. The
player may make offers beside those of the base policy: the ones that a value of states likes best,
if playouts agree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from agents.players.search.offers import Offer, begin, compose, lay, propose
from agents.players.vocabulary.memory import COMPOSING
from monopoly_env.actions import DECISION_NAMES, HEADS, NUM_ACTIONS, OFFERING
from monopoly_env.analyse import values
from monopoly_env.analyse.actions import compare_actions
from monopoly_env.analyse.playouts import rollout
from monopoly_env.analyse.resemblance import Follower
from monopoly_env.errors import ConfigurationError, nearest, whole_number
from monopoly_env.game import Game, Games
from monopoly_env.policy.names import compiled, resolve
from monopoly_env.policy.protocol import BatchedPolicy, CompiledPolicy, Decisions

ADVISERS: Final = ("algorithmic", "strategic", "fp/b")
# The strongest options that were found (docs/results/search.md), for tables of 2 to 4.
BEST: Final[dict[str, Any]] = {
    "base": "expert/bargaining", "playouts": 50, "advisers": ("expert", *ADVISERS), "margin": 1.5,
    "turns": 5, "value": "best",
    "others": (
        "expert", "expert/bargaining", "algorithmic", "strategic", "gcp", "fp/b/guarded",
        "landlord/balanced", "yasumura",
    ),
    "offers": 3, "rollout_policy": "expert", "decisions": ("buy", "bid", "takeover"),
    "name": "search/best",
}  # fmt: skip
_TURN: Final = DECISION_NAMES.index("turn")
_TRADES = HEADS["trade"].slice
_MONEY: Final = tuple(HEADS[head].slice for head in ("sell", "mortgage", "unmortgage"))
# Questions with few answers, and the answers: all but counter-offers and raising cash.
_SHORT: Final = tuple(
    DECISION_NAMES.index(name)
    for name in ("buy", "reply", "jail", "tax", "fine_or_chance", "takeover")
)
_SHORT_ANSWERS: Final = tuple(
    HEADS[head].start + place
    for head, count in (("buy", 2), ("turn", 1), ("jail", 2), ("reply", 2), ("choice", 2))
    for place in range(count)
)
_SEED: Final = np.uint64((1 << 63) - 1)
_PAUSE: Final = 3  # rounds between two searches for an offer
_FOLLOWED: Final = 1024  # games followed at a time, 20 KB each
_BLOCK: Final = 8  # playouts between two looks at the clock


@runtime_checkable
class Doubting(Protocol):
    """A policy with probabilities of its actions."""

    def probabilities(self, games: Games) -> NDArray[np.float64]:
        """(B, NUM_ACTIONS) the probability of each action; zeros where it goes on with an offer."""


class SearchPolicy(BatchedPolicy):
    """A base policy, its doubts and the advice of others, judged by playouts.

    The policies of the others are inferred from their actions so far. The result depends on the
    game and the options, not on the threads or the batch, and on the clock only if `time` is given.
    """

    def __init__(
        self,
        base: str = "expert",
        playouts: int = 100,
        advisers: Sequence[str] = ADVISERS,
        margin: float = 1.0,
        turns: int | None = None,
        value: str = "worth",
        others: Sequence[str] | None = None,
        thorough: bool = False,
        offers: int = 0,
        time: float | None = None,
        threads: int | None = None,
        name: str | None = None,
        rollout_policy: str | None = None,
        doubt: float | None = None,
        decisions: Sequence[str] | None = None,
    ) -> None:
        """Make the player.

        Args:
            base: The policy whose answer stands unless another one proves better.
            playouts: Playouts of each answer; with 0 the player is its base policy.
            advisers: The policies that are asked too, with an empty memory at every decision.
            margin: Standard errors by which the mean of another answer must lead.
            turns: Rounds after which a playout is cut off; None: it goes to the end.
            value: The value with which such a playout ends: `worth`, or `best` for a network
                (tables of 2 to 4).
            others: The policies that other seats may have; by default the one of `rollout_policy`.
                Each playout samples them by how much of what the seat did so far they explain.
            thorough: Whether to play out every answer to a lot for sale, an offer, a tax or a
                chance to leave jail, even if all agree.
            offers: Packages to play out every third round, proposed by the value of states, which
                should be `best`, with prices for the likeliest policy of the partner; 0: only the
                base policy offers.
            time: Seconds after which a decision is not played out further.
            threads: Number of threads; by default one per core.
            name: Shown in tables.
            rollout_policy: The policy that plays on in the playouts; by default the base policy.
                For a learned base, a script is better: it plays ten games in the same time.
            doubt: Also play out each choice to which the networks of a learned base give this
                probability or more.
            decisions: Names of the decisions that may be played out; by default all.

        Raises:
            ConfigurationError: A policy is unknown, not compiled or not learned where it must be, a
                decision is unknown, or a number is out of range.
        """
        _check_numbers(playouts, offers, turns, threads, margin, time, doubt)
        self.base = compiled(resolve(base))
        if doubt is not None and not isinstance(self.base, Doubting):
            raise ConfigurationError(
                f"doubt={doubt!r} needs a learned base, such as 'ppo/best/two': {base!r} has no"
                " networks that doubt."
            )
        self.rollout_policy = (
            self.base if rollout_policy is None else compiled(resolve(rollout_policy))
        )
        self.advisers = [compiled(resolve(adviser)) for adviser in advisers]
        self.name = name or f"search/{base}/{playouts}"
        self.searched = 0  # decisions that were played out
        self.offered = 0  # offers that it made beside those of the base policy
        self._value = values.resolve(value)
        self._may_search = _numbers(DECISION_NAMES if decisions is None else decisions)
        self._others = None if others is None else [compiled(resolve(other)) for other in others]
        self.reads_history = self._others is not None and len(self._others) > 1
        self._followers: dict[tuple[bytes, bytes, int], Follower] = {}
        self._options: dict[str, Any] = {
            "base": base, "playouts": int(playouts), "advisers": list(advisers),
            "margin": float(margin), "turns": turns, "value": value,
            "others": None if others is None else list(others), "thorough": bool(thorough),
            "offers": int(offers), "time": time,
            "threads": threads, "rollout_policy": rollout_policy, "doubt": doubt,
            "decisions": None if decisions is None else list(decisions),
        }  # fmt: skip

    @property
    def kind(self) -> str:
        """`search`."""
        return "search"

    def options(self) -> dict[str, Any]:
        """Everything that the player is made of."""
        return self._options

    def act(self, decisions: Decisions) -> NDArray[np.int64]:
        """Choose an action for each decision."""
        actions = _answer(self.base, decisions, decisions.memory)
        if self._options["playouts"] == 0 or not len(decisions):
            return actions
        advice = np.stack(
            [actions, *(_advice(adviser, decisions, actions) for adviser in self.advisers)]
        )
        doubts = self._doubts(decisions, actions)
        contested = (advice != actions).any(axis=0) | doubts.any(axis=1)
        asked = np.isin(decisions.decision, _SHORT) & self._options["thorough"]
        searched = asked | (contested & ~np.isin(decisions.decision, OFFERING))
        searched &= np.isin(decisions.decision, self._may_search)
        for number in np.flatnonzero(searched).tolist():
            candidates = [*advice[:, number].tolist(), *np.flatnonzero(doubts[number]).tolist()]
            if asked[number]:
                candidates += [a for a in _SHORT_ANSWERS if decisions.mask[number, a]]
            actions[number] = self._best(decisions, number, candidates)
        if self._options["offers"]:
            self._offer(decisions, actions)
        return actions

    def _doubts(self, decisions: Decisions, actions: NDArray[np.int64]) -> NDArray[np.bool_]:
        """(B, NUM_ACTIONS) other useful actions that the base policy finds likely."""
        least = self._options["doubt"]
        if least is None or not isinstance(self.base, Doubting):
            return np.zeros((len(actions), NUM_ACTIONS), np.bool_)
        doubts = self.base.probabilities(decisions.games) >= least
        doubts[np.arange(len(actions)), actions] = False
        every = np.arange(NUM_ACTIONS)
        return doubts & _useful(decisions.decision[:, None], every, actions[:, None])

    def _offer(self, decisions: Decisions, actions: NDArray[np.int64]) -> None:
        """Go on with the offers that were begun, and begin new ones in place of other actions."""
        composing = np.isin(decisions.decision, OFFERING) & (decisions.memory[:, COMPOSING] == 1)
        decisions.memory[~composing, COMPOSING] = 0
        for number in np.flatnonzero(composing).tolist():
            game = decisions.games[number : number + 1]
            actions[number] = compose(game, decisions.memory[number])
        games, rows = decisions.games, np.arange(len(actions))
        looks = (decisions.decision == _TURN) & (games["offers"][rows, games["player"]] == 0)
        looks &= games["rounds"] % _PAUSE == 0
        looks &= decisions.mask[:, _TRADES].any(axis=1) & ~_within(actions, _TRADES)
        for number in np.flatnonzero(looks).tolist():
            game = games[number : number + 1]
            offer = self._best_offer(decisions, number, int(actions[number]))
            if offer is not None:
                self.offered += 1
                actions[number] = begin(game, offer, decisions.memory[number])
                decisions.memory[number, COMPOSING] = 1

    def _best_offer(self, decisions: Decisions, number: int, action: int) -> Offer | None:
        """The best offer, if it beats an action by more than the margin and one standard error."""
        game, seats = decisions.games[number : number + 1], self.seats(decisions, number)
        partners = [likeliest(policies) for policies in seats]
        proposed = propose(game, self._value, self._options["offers"], partners)
        positions = [(offer, lay(game, offer)) for offer in proposed]
        laid = [(offer, position) for offer, position in positions if position is not None]
        if not laid:
            return None
        self.searched += 1
        after, seed = np.concatenate([p for _, p in laid]), int(decisions.key[number] & _SEED)
        leads = self.leads(after, game, action, seats, seed)
        best = int(leads.mean(axis=1).argmax())
        wanted = (self._options["margin"] + 1) * leads[best].std(ddof=1) / np.sqrt(leads.shape[1])
        return laid[best][0] if leads[best].mean() > wanted else None

    def leads(
        self, positions: Games, game: Games, action: int, seats: list[Any], seed: int
    ) -> NDArray[np.float32]:
        """(B, N) the lead of each position over an action for the player to move, by playout."""
        seat, count = int(game["player"][0]), self._options["playouts"]
        limit, options = self._options["time"], self._playing() | {"seed": seed}
        blocks, began = list[NDArray[np.float32]](), monotonic()
        block = count if limit is None else _BLOCK
        for first in range(0, count, block):
            size = min(block, count - first)
            now = rollout(game, seats, size, actions=[action], first=first, **options).shares
            then = rollout(positions, seats, size, first=first, **options).shares
            blocks.append(then[:, :, seat] - now[0, :, seat])
            if limit is not None and monotonic() - began > limit:
                break
        return np.hstack(blocks)

    def _playing(self) -> dict[str, Any]:
        """The options of playouts."""
        return {name: self._options[name] for name in ("turns", "value", "threads")}

    def seats(self, decisions: Decisions, number: int) -> list[Any]:
        """The policies that play on in playouts, by seat."""
        game, others = decisions.games[number], self._others
        seats: list[Any] = [others or self.rollout_policy] * int(game["num_players"])
        if others and self.reads_history and decisions.history is not None:
            weights = self._follower(game, others).follow(decisions.history[number]).weights()
            seats = [dict(zip(others, row, strict=True)) for row in weights.tolist()]
        seats[int(game["player"])] = self.rollout_policy
        return seats

    def _follower(self, game: Game, others: list[CompiledPolicy]) -> Follower:
        """The follower of this game; those of the last games are kept."""
        key = game.seed.tobytes(), game.rules.tobytes(), int(game.num_players)
        follower = self._followers.pop(key, None) or Follower(game, others)
        self._followers[key] = follower
        if len(self._followers) > _FOLLOWED:
            del self._followers[next(iter(self._followers))]
        return follower

    def _best(self, decisions: Decisions, number: int, candidates: list[int]) -> int:
        """The best answer; the base policy's unless another one is better by the margin."""
        first, *others = dict.fromkeys(candidates)
        if not others:
            return first
        self.searched += 1
        seats, seed = self.seats(decisions, number), int(decisions.key[number] & _SEED)
        options = self._playing() | {"seed": seed, "seconds": self._options["time"]}
        game, count = decisions.games[number], self._options["playouts"]
        compared = compare_actions(game, [first, *others], seats, count, **options)
        best = compared.best.action
        if best == first:
            return first
        lead = compared.lead(best, first)
        wanted = self._options["margin"] * lead.std(ddof=1) / np.sqrt(len(lead))
        return best if lead.mean() > wanted else first


def _check_numbers(
    playouts: Any, offers: Any, turns: Any, threads: Any, margin: Any, time: Any, doubt: Any
) -> None:
    for option, number in (("playouts", playouts), ("offers", offers)):
        whole_number(option, number, 0)
    for option, number in (("turns", turns), ("threads", threads)):
        if number is not None:
            whole_number(option, number, 1)
    if not margin >= 0:
        raise ConfigurationError(f"margin={margin!r} must not be negative.")
    if time is not None and not (isinstance(time, (int, float)) and time > 0):
        raise ConfigurationError(f"time={time!r} must be a positive number of seconds, or None.")
    if doubt is not None and not 0 < doubt < 1:
        raise ConfigurationError(f"doubt={doubt!r} must be a probability between 0 and 1, or None.")


def best(**options: Any) -> SearchPolicy:
    """The strongest player of this kind, for tables of 2 to 4; options replace those of `BEST`."""
    return SearchPolicy(**(BEST | options))


def switching(**options: Any) -> SearchPolicy:
    """Policy switching: whole playouts by `expert` judge the advice of each policy."""
    return SearchPolicy(**({"name": "search/switching"} | options))


def likeliest(mixture: Any) -> Any:
    """The policy that a mixture draws most often; None of an empty one."""
    if isinstance(mixture, Mapping):
        return max(mixture, key=lambda policy: mixture[policy], default=None)
    return (*mixture, None)[0] if isinstance(mixture, (list, tuple)) else mixture


def _numbers(names: Sequence[str]) -> list[int]:
    for name in names:
        if name not in DECISION_NAMES:
            raise ConfigurationError(
                f"decisions: there is no decision {name!r}. {nearest(name, DECISION_NAMES)}"
            )
    return [DECISION_NAMES.index(name) for name in names]


def _advice(
    adviser: CompiledPolicy, decisions: Decisions, base: NDArray[np.int64]
) -> NDArray[np.int64]:
    """An adviser's answer, or the base policy's where that is of no use."""
    advice = _answer(adviser, decisions, None)
    return np.where(_useful(decisions.decision, advice, base), advice, base)


def _useful(
    decision: NDArray[np.int16], answers: NDArray[np.int64], base: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Whether an answer is worth playing out beside the base policy's; the arrays broadcast.

    Offers are the base policy's. Raising cash in one's turn has a purpose that is lost with the
    adviser's memory. Lifting a mortgage is worth little, and is advised in every turn.
    """
    in_turn = decision == _TURN
    useless = _within(answers, _TRADES) | _within(base, _TRADES)
    for head in _MONEY:
        useless = useless | (in_turn & _within(answers, head))
    return ~useless


def _within(actions: NDArray[np.int64], head: slice) -> NDArray[np.bool_]:
    return (actions >= head.start) & (actions < head.stop)


def _answer(
    policy: CompiledPolicy, decisions: Decisions, memory: NDArray[np.float64] | None
) -> NDArray[np.int64]:
    """A policy's answers; it draws from copies, so that asking it does not change the games."""
    return policy.act(Decisions(decisions.games.copy(), memory, decisions.key))
