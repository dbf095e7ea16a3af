"""Finding puzzles: games between policies, and in them the decisions on which the policies disagree and one answer is clearly the best.

A decision is first compared over few playouts. Most are dropped there. The numbers of a puzzle come from a second comparison over other
luck: those that chose it would flatter its best answer.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.random import Generator

from monopoly_env import core
from monopoly_env.actions import DECISION_NAMES, HEAD_NAMES, HEAD_OF, HEADS
from monopoly_env.analyse import Candidate, Comparison, compare_actions
from monopoly_env.board import GROUP_OF
from monopoly_env.errors import ConfigurationError, whole_number
from monopoly_env.game import Game, Games
from monopoly_env.policy.loop import answers, let_watch
from monopoly_env.policy.protocol import MEMORY, Decisions, Policy
from monopoly_env.policy.resolve import resolve
from monopoly_env.puzzles.puzzle import DIGITS, KINDS, Puzzle
from monopoly_env.replays import Replay
from monopoly_env.rules import Rules

PLAYERS: Final = ("expert", "algorithmic", "gcp", "fp/a", "strategic", "landlord/balanced", "yasumura")
_SCREENING: Final = 128  # playouts of an answer in the first comparison
_SHARE: Final = 0.2  # of the puzzles that may be of one kind; half of those may have the same solution
_MOST_TURNS: Final = 400  # of all players together, after which a game is left

# The kinds of puzzle by decision, with the heads whose actions are its answers.
_ASKED: Final[dict[str, Sequence[tuple[str, tuple[str, ...]]]]] = {
    "buy": [("buy", ("buy",))],
    "bid": [("bid", ("bid",))],
    "sealed_bid": [("bid", ("bid",))],
    "turn": [("build", ("build", "turn")), ("jail", ("jail", "turn")), ("money", ("unmortgage", "turn"))],
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
    games: int = 1000,
    progress: Callable[[], None] = lambda: None,
) -> Iterator[Puzzle]:
    """Find puzzles of all kinds, at most one a game, and at most a fifth of them of one kind.

    Args:
        count: How many puzzles.
        seed: The seed of games and playouts: the same seed finds the same puzzles.
        players: Names of policies. Each game is played by two to four of them.
        policy: Who plays on, in every seat, when answers are compared.
        also: Another policy by whose playouts the same answer must be clearly the best too. Such solutions depend less on who plays on,
            and are rarer.
        rules: Rules, or the name of a preset.
        playouts: Playouts of the best answers.
        lead: By how much the best answer must lead every other one at least, at the near end of the interval.
        games: Stop after so many games, even if puzzles are missing.
        progress: Called after every game.

    Yields:
        The puzzles, as they are found.

    Raises:
        ConfigurationError: A wrong number or name.
    """
    _check(count, players, playouts, lead, games)
    rules, generator, known = Rules.coerce(rules), np.random.default_rng(seed), {name: resolve(name) for name in players}
    for judge in filter(None, (policy, also)):
        resolve(judge)  # a wrong name is refused before anything is played
    most = math.ceil(count * _SHARE)
    kinds: Counter[str] = Counter()
    solutions: Counter[tuple[str, str]] = Counter()
    for _ in range(games):
        if kinds.total() >= count:
            return
        names = [str(name) for name in generator.choice(players, int(generator.integers(2, min(4, len(players)) + 1)), replace=False)]
        start = core.new_game(len(names), rules, int(generator.integers(1 << 32)))
        questions, actions = _play(core.clone(start), [known[name] for name in names])
        for question in _choice(questions, generator, {kind: kinds[kind] for kind in KINDS if kinds[kind] < most}):
            luck = int(generator.integers(1 << 31))
            second = _solve(question, also, luck, playouts, 0.0) if also else None  # the faster of the two, as a rule
            if also and second is None:
                continue
            compared = _solve(question, policy, luck, playouts, lead)
            if compared is None or 2 * solutions[question.kind, compared.best.text] >= most:
                continue
            if second is not None and second.best.action != compared.best.action:
                continue
            replay = Replay(rules, _seed(start), len(names), tuple(names), np.array(actions[: question.number], np.uint8))
            kinds[question.kind] += 1
            solutions[question.kind, compared.best.text] += 1
            yield Puzzle(question.kind, replay, tuple(_rounded(one) for one in compared.candidates), (policy,), luck)
            break
        progress()


def _check(count: int, players: Sequence[str], playouts: int, lead: float, games: int) -> None:
    for name, given in (("count", count), ("playouts", playouts), ("games", games)):
        whole_number(name, given, 1)
    if len(set(players)) < 2 or len(set(players)) < len(players):
        raise ConfigurationError(f"players={list(players)!r} must be two policies or more, each once: puzzles are where they disagree.")
    if not 0 <= lead < 1:
        raise ConfigurationError(f"lead={lead!r} must be a share of the win, from 0 to below 1.")


def _seed(game: Game) -> int:
    """The seed of a game that has just begun."""
    return int(game.seed[0]) | int(game.seed[1]) << 32


def _play(game: Game, policies: Sequence[Policy]) -> tuple[list[Question], list[int]]:
    """Play a game; the questions on which its players disagree, and all its actions."""
    batch, memory = core.batch_of(game), np.zeros((len(policies), 1, MEMORY))
    questions: list[Question] = []
    actions: list[int] = []
    watched = -1
    while not core.is_over(game) and game.turns <= _MOST_TURNS:
        if game.turns != watched:
            let_watch(policies, batch, memory)
            watched = int(game.turns)
        seat = int(game.player)
        for kind, candidates in asked(game):
            if len(_opinions(batch, policies) & {_alike(action) for action in candidates}) > 1:
                questions.append(Question(kind, core.clone(game), len(actions), candidates))
        actions.append(int(answers(policies[seat], Decisions(batch, memory[seat]))[0]))
        core.step(game, actions[-1])
    return questions, actions


def _opinions(batch: Games, policies: Sequence[Policy]) -> set[tuple[str, int]]:
    """What each of the policies would do here."""
    return {_alike(int(answers(policy, Decisions(batch.copy()))[0])) for policy in policies}


def asked(game: Game) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The kinds of puzzle that a decision can be, each with its answers: two or more of the legal actions."""
    legal = core.action_mask(game)
    for kind, heads in _ASKED.get(DECISION_NAMES[game.decision], ()):
        if legal[HEADS[heads[0]].slice].any():
            found = [action for head in heads for action in range(HEADS[head].start, HEADS[head].stop) if legal[action]]
            candidates: dict[tuple[str, int], int] = {}
            for action in found:
                candidates.setdefault(_alike(action), action)
            if len(candidates) > 1:
                yield kind, tuple(candidates.values())


def _alike(action: int) -> tuple[str, int]:
    """The same for actions that a puzzle doesn't tell apart: the first of them stands for all.

    The streets of a group that is built on or sold from differ too little. Whoever raises a bid by little may raise it again, so the
    question is only whether to stay in.
    """
    head = HEAD_NAMES[HEAD_OF[action]]
    index = action - HEADS[head].start
    if head in ("build", "sell"):
        return head, int(GROUP_OF[index])
    return head, min(index, 1) if head == "bid" else index


def _choice(questions: Sequence[Question], generator: Generator, found: dict[str, int]) -> Iterator[Question]:
    """A random question of each kind that is still wanted, the kinds of which least was found first."""
    for kind in sorted(found, key=lambda kind: found[kind]):
        of_kind = [question for question in questions if question.kind == kind]
        if of_kind:
            yield of_kind[int(generator.integers(len(of_kind)))]


def _solve(question: Question, policy: str, seed: int, playouts: int, lead: float) -> Comparison | None:
    """What the answers are worth, if one of them is clearly the best."""
    screened = compare_actions(question.game, question.candidates, policy, min(_SCREENING, playouts), seed=seed + 1)
    if max(one.difference_high for one in screened.candidates[1:]) >= 0:
        return None
    compared = compare_actions(question.game, question.candidates, policy, playouts, seed=seed)
    return compared if max(one.difference_high for one in compared.candidates[1:]) < -lead else None


def _rounded(candidate: Candidate) -> Candidate:
    """A candidate with the digits that are kept in a file."""
    numbers = ("share", "low", "high", "difference", "difference_low", "difference_high")
    shares = tuple(round(share, DIGITS) for share in candidate.shares)
    return replace(candidate, shares=shares, **{name: round(getattr(candidate, name), DIGITS) for name in numbers})
