"""Finding puzzles in games between policies.

A puzzle is a decision on which the policies disagree and one answer is clearly the best.

A decision is first compared over few playouts, then over more, all cut off after some rounds and
ended by a value of states. Most are dropped there. The numbers of a puzzle come from whole playouts
over other luck: those that chose it would flatter its best answer.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.random import Generator

from monopoly_bench.puzzles.puzzle import DIGITS, KINDS, Puzzle
from monopoly_env import core
from monopoly_env.actions import DECISION_NAMES, HEAD_NAMES, HEAD_OF, HEADS
from monopoly_env.analyse import Candidate, Comparison, compare_actions
from monopoly_env.errors import ConfigurationError, whole_number
from monopoly_env.facts.board import GROUP_OF
from monopoly_env.game import Game
from monopoly_env.policy.loop import answers
from monopoly_env.policy.match import Match
from monopoly_env.policy.names import resolve
from monopoly_env.policy.protocol import Decisions, Policy
from monopoly_env.replays import Replay
from monopoly_env.rules import Rules

PLAYERS: Final = (
    "expert",
    "algorithmic",
    "gcp",
    "fp/a",
    "strategic",
    "landlord/balanced",
    "yasumura",
)
# Playouts of an answer, and the part of the interval by which the best must lead
_SCREENING: Final = ((32, 0.5), (128, 1.0))
_LOOKS: Final = 12  # questions of a kind that are looked at in a game
_ROUNDS: Final = 5  # after which those playouts are valued
_VALUE: Final = "best"
_MOST_TURNS: Final = 400  # of all players together, after which a game is left

# The kinds of puzzle by decision, with the heads whose actions are its answers.
_ASKED: Final[dict[str, Sequence[tuple[str, tuple[str, ...]]]]] = {
    "buy": [("buy", ("buy",))],
    "bid": [("bid", ("bid",))],
    "sealed_bid": [("bid", ("bid",))],
    "turn": [
        ("build", ("build", "turn")),
        ("jail", ("jail", "turn")),
        ("money", ("unmortgage", "turn")),
    ],
    "jail": [("jail", ("jail", "turn"))],
    "reply": [("trade", ("reply",))],
    "debt": [("money", ("sell", "mortgage"))],
    "tax": [("money", ("choice",))],
    "fine_or_chance": [("money", ("choice",))],
    "takeover": [("money", ("choice",))],
}


@dataclass(frozen=True)
class Question:
    """A decision of a game, as a puzzle may ask it."""

    kind: str
    game: Game
    number: int  # of the decision in its game
    candidates: tuple[int, ...]


def mine(  # noqa: PLR0913 - the options of a search
    count: int = 50,
    *,
    seed: int = 0,
    players: Sequence[str] = PLAYERS,
    policy: str = "expert",
    also: str | None = None,
    rules: Rules | str = "official",
    playouts: int = 1000,
    lead: float = 0.02,
    kind_share: float = 0.2,
    games: int = 1000,
    progress: Callable[[], None] = lambda: None,
) -> Iterator[Puzzle]:
    """Find puzzles of all kinds, at most one a game.

    Args:
        count: How many puzzles.
        seed: The seed of games and playouts: the same seed finds the same puzzles.
        players: Names of policies. Each game is played by two to four of them.
        policy: Who plays on, in every seat, when answers are compared.
        also: Another policy by whose playouts the same answer must be clearly the best too. Such
            solutions depend less on who plays on, and are rarer.
        rules: Rules, or the name of a preset.
        playouts: Playouts of the best answers.
        lead: By how much the best answer must lead every other one at least, at the near end of the
            interval.
        kind_share: Of the puzzles that may be of one kind; half of those may have the same
            solution.
        games: Stop after so many games, even if puzzles are missing.
        progress: Called after every game.

    Yields:
        The puzzles, as they are found.

    Raises:
        ConfigurationError: A wrong number or name.
    """
    _check(count, players, playouts, lead, kind_share, games)
    whole_number("seed", seed, 0)
    rules, generator, known = (
        Rules.coerce(rules),
        np.random.default_rng(seed),
        {name: resolve(name) for name in players},
    )
    judges = (also, policy) if also else (policy,)
    for judge in judges:
        resolve(judge)  # a wrong name is refused before anything is played
    most = math.ceil(count * kind_share)
    kinds: Counter[str] = Counter()
    solutions: Counter[tuple[str, str]] = Counter()
    for _ in range(games):
        if kinds.total() >= count:
            return
        names = [
            str(name)
            for name in generator.choice(
                players, int(generator.integers(2, min(4, len(players)) + 1)), replace=False
            )
        ]
        start = core.new_game(len(names), rules, int(generator.integers(1 << 32)))
        questions, actions = _play(core.clone(start), [known[name] for name in names])
        for question in _choice(
            questions, generator, {kind: kinds[kind] for kind in KINDS if kinds[kind] < most}
        ):
            luck = int(generator.integers(1 << 31))
            solution = _likely(question, judges, luck, lead)
            if solution is None or 2 * solutions[question.kind, solution] >= most:
                continue
            compared = _solve(question, solution, judges, playouts, luck, lead)
            if compared is None:
                continue
            replay = Replay(
                rules,
                _seed(start),
                len(names),
                tuple(names),
                np.array(actions[: question.number], np.uint8),
            )
            kinds[question.kind] += 1
            solutions[question.kind, solution] += 1
            yield Puzzle(
                question.kind,
                replay,
                tuple(_rounded(one) for one in compared.candidates),
                (policy,),
                luck,
            )
            break
        progress()


def _check(
    count: int, players: Sequence[str], playouts: int, lead: float, kind_share: float, games: int
) -> None:
    for name, given in (("count", count), ("playouts", playouts), ("games", games)):
        whole_number(name, given, 1)
    if len(set(players)) < 2 or len(set(players)) < len(players):
        raise ConfigurationError(
            f"players={list(players)!r} must be two policies or more, each once: puzzles are where"
            " they disagree."
        )
    if not 0 <= lead < 1:
        raise ConfigurationError(f"lead={lead!r} must be a share of the win, from 0 to below 1.")
    if not 1 / len(KINDS) <= kind_share <= 1:
        raise ConfigurationError(
            f"kind_share={kind_share!r} must be from 1/{len(KINDS)} to 1: there are {len(KINDS)}"
            " kinds."
        )


def _seed(game: Game) -> int:
    """The seed of a game that has just begun."""
    return int(game.seed[0]) | int(game.seed[1]) << 32


def _play(game: Game, policies: Sequence[Policy]) -> tuple[list[Question], list[int]]:
    """Play a game; the questions on which its players disagree, and all its actions."""
    match = Match(game, policies)
    questions: list[Question] = []
    while match.policy and game.turns <= _MOST_TURNS:
        for kind, candidates in asked(game):
            if len(_opinions(game, policies) & {_alike(action) for action in candidates}) > 1:
                questions.append(Question(kind, core.clone(game), len(match.actions), candidates))
        match.step(match.ask())
    return questions, match.actions


def _opinions(game: Game, policies: Sequence[Policy]) -> set[tuple[str, int]]:
    """What each of the policies would do here."""
    batch = core.batch_of(game)
    return {_alike(int(answers(policy, Decisions(batch.copy()))[0])) for policy in policies}


def asked(game: Game) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The kinds of puzzle that a decision can be, each with its answers.

    The answers are two or more of the legal actions.
    """
    legal = core.action_mask(game)
    for kind, heads in _ASKED.get(DECISION_NAMES[game.decision], ()):
        if legal[HEADS[heads[0]].slice].any():
            found = [
                action
                for head in heads
                for action in range(HEADS[head].start, HEADS[head].stop)
                if legal[action]
            ]
            candidates: dict[tuple[str, int], int] = {}
            for action in found:
                candidates.setdefault(_alike(action), action)
            if len(candidates) > 1:
                yield kind, tuple(candidates.values())


def _alike(action: int) -> tuple[str, int]:
    """The same for actions that a puzzle doesn't tell apart: the first of them stands for all.

    The streets of a group that is built on or sold from differ too little. Whoever raises a bid by
    little may raise it again, so the question is only whether to stay in.
    """
    head = HEAD_NAMES[HEAD_OF[action]]
    index = action - HEADS[head].start
    if head in ("build", "sell"):
        return head, int(GROUP_OF[index])
    return head, min(index, 1) if head == "bid" else index


def _choice(
    questions: Sequence[Question], generator: Generator, found: dict[str, int]
) -> Iterator[Question]:
    """Some questions of each kind that is still wanted, the kinds found least often first."""
    for kind in sorted(found, key=lambda kind: found[kind]):
        of_kind = [question for question in questions if question.kind == kind]
        yield from (of_kind[number] for number in generator.permutation(len(of_kind))[:_LOOKS])


def _likely(question: Question, judges: Sequence[str], luck: int, lead: float) -> str | None:
    """The answer that seems to be clearly the best to every judge, if there is one."""
    best: set[str] = set()
    for look, (number, part) in enumerate(_SCREENING, 1):
        for judge in judges:
            compared = compare_actions(
                question.game,
                question.candidates,
                judge,
                number,
                seed=luck + look,
                turns=_ROUNDS,
                value=_VALUE,
            )
            best.add(compared.best.text)
            if len(best) > 1 or not _leads(compared, part, lead):
                return None
    return best.pop()


def _solve(
    question: Question, solution: str, judges: Sequence[str], playouts: int, luck: int, lead: float
) -> Comparison | None:
    """The worth of the answers by the last judge, if the solution is clearly the best to all."""
    for judge in judges:
        compared = compare_actions(question.game, question.candidates, judge, playouts, seed=luck)
        if compared.best.text != solution or not _leads(
            compared, least=lead if judge == judges[-1] else 0.0
        ):
            return None
    return compared


def _leads(compared: Comparison, part: float = 1.0, least: float = 0.0) -> bool:
    """Whether the best answer leads every other one by enough.

    That is by more than a part of its 95% interval, and by so much more.
    """
    return all(
        other.difference + part * (other.difference_high - other.difference) < -least
        for other in compared.candidates[1:]
    )


def _rounded(candidate: Candidate) -> Candidate:
    """A candidate with the digits that are kept in a file."""
    numbers = ("share", "low", "high", "difference", "difference_low", "difference_high")
    shares = tuple(round(share, DIGITS) for share in candidate.shares)
    return replace(
        candidate,
        shares=shares,
        **{name: round(getattr(candidate, name), DIGITS) for name in numbers},
    )
