"""The search for puzzles: decisions on which policies disagree and one answer is clearly the best.

A decision is screened by few playouts, then by more, all cut off after some rounds and completed by
a value function; most are dropped. The numbers of a puzzle come from full playouts with other
random numbers, since those of the selection are biased towards its best answer.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final

import numpy as np
import tyro
from numpy.random import Generator

from monopoly_bench.puzzles import DIGITS, KINDS, Puzzle
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
from monopoly_env.rules import PRESETS, Rules

PLAYERS: Final = (
    "expert", "algorithmic", "gcp", "fp/a", "strategic", "landlord/balanced", "yasumura",
)  # fmt: skip
# Playouts of an answer, and the fraction of the interval by which the best must lead
_SCREENING: Final = ((32, 0.5), (128, 1.0))
_LOOKS: Final = 12  # screened questions of a kind in a game
_ROUNDS: Final = 5  # after which screening playouts are cut off
_VALUE: Final = "best"
_MOST_TURNS: Final = 400  # of all players together, after which a game is abandoned

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
    """A decision of a game, as a question with its answers."""

    kind: str
    game: Game
    number: int  # of the decision in its game
    candidates: tuple[int, ...]


@dataclass(frozen=True)
class PuzzleSearch:
    """Options of a search for puzzles."""

    count: int = 50
    """The number of puzzles to find, of the kinds buy, bid, build, jail, trade, money."""
    seed: int = 0
    """The seed of games and playouts: the same seed finds the same puzzles."""
    players: tuple[str, ...] = PLAYERS
    """The players of the games: policies, two to four in each game."""
    policy: str = "expert"
    """The policy of playouts, in all seats: the best answer is the best for such a player."""
    also: str | None = None
    """Another policy by whose playouts the same answer must be clearly the best, too.

    Such puzzles depend less on the policy of playouts, and are rarer.
    """
    rules: Annotated[str, tyro.conf.arg(help=f"The preset of rules: {', '.join(PRESETS)}.")] = (
        "official"
    )
    playouts: int = 1000
    """Playouts of the best answers. With more, puzzles with a smaller lead are found."""
    lead: float = 0.02
    """Minimum lead of the best answer in shares of the win, at the low end of the 95% interval."""
    kind_share: float = 0.2
    """Maximum share of puzzles of one kind; half of those may have the same solution.

    With a low share, the search for rare kinds takes long.
    """
    games: int = 1000
    """Maximum of games, even if puzzles are missing."""

    def check(self) -> None:
        """Raise ConfigurationError for invalid options."""
        for name in ("count", "playouts", "games"):
            whole_number(name, getattr(self, name), 1)
        whole_number("seed", self.seed, 0)
        if len(set(self.players)) < max(2, len(self.players)):
            raise ConfigurationError(
                f"players={list(self.players)!r} must be two policies or more, each once: puzzles"
                " are where they disagree."
            )
        if not 0 <= self.lead < 1:
            raise ConfigurationError(
                f"lead={self.lead!r} must be a share of the win, from 0 to below 1."
            )
        if not 1 / len(KINDS) <= self.kind_share <= 1:
            raise ConfigurationError(
                f"kind_share={self.kind_share!r} must be from 1/{len(KINDS)} to 1: there are"
                f" {len(KINDS)} kinds."
            )


def mine(search: PuzzleSearch, progress: Callable[[], None] = lambda: None) -> Iterator[Puzzle]:
    """Find puzzles of all kinds, at most one a game. `progress` is called after every game.

    Raises:
        MonopolyError: A wrong number or name.
    """
    search.check()
    rules, generator = Rules.coerce(search.rules), np.random.default_rng(search.seed)
    known = {name: resolve(name) for name in search.players}
    judges = (search.also, search.policy) if search.also else (search.policy,)
    for judge in judges:
        resolve(judge)  # a wrong name is refused before anything is played
    most = math.ceil(search.count * search.kind_share)
    found: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}  # solutions of each kind
    for _ in range(search.games):
        if sum(solutions.total() for solutions in found.values()) >= search.count:
            return
        players = int(generator.integers(2, min(4, len(known)) + 1))
        names = [str(name) for name in generator.choice(search.players, players, replace=False)]
        seed = int(generator.integers(1 << 32))
        questions, actions = _play(
            core.new_game(players, rules, seed), [known[name] for name in names]
        )
        wanted = {kind: of.total() for kind, of in found.items() if of.total() < most}
        for question in _choice(questions, generator, wanted):
            luck, solutions = int(generator.integers(1 << 31)), found[question.kind]
            spent = {text for text, number in solutions.items() if 2 * number >= most}
            compared = _solve(question, judges, luck, search, spent)
            if compared is not None:
                solutions[compared.best.text] += 1
                history = np.array(actions[: question.number], np.uint8)
                replay = Replay(rules, seed, players, tuple(names), history)
                candidates = tuple(_rounded(one) for one in compared.candidates)
                yield Puzzle(question.kind, replay, candidates, (search.policy,), luck)
                break
        progress()


def _play(game: Game, policies: Sequence[Policy]) -> tuple[list[Question], list[int]]:
    """Play a game; returns the questions on which its players disagree, and all its actions."""
    match = Match(game, policies)
    questions: list[Question] = []
    while match.policy and game.turns <= _MOST_TURNS:
        for kind, candidates in asked(game):
            if len(_opinions(game, policies) & {_alike(action) for action in candidates}) > 1:
                questions.append(Question(kind, core.clone(game), len(match.actions), candidates))
        match.step(match.ask())
    return questions, match.actions


def _opinions(game: Game, policies: Sequence[Policy]) -> set[tuple[str, int]]:
    """The actions that the policies would choose."""
    batch = core.batch_of(game)
    return {_alike(int(answers(policy, Decisions(batch.copy()))[0])) for policy in policies}


def asked(game: Game) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The kinds of puzzle of a decision, each with two or more legal actions as answers."""
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
    """Key of actions that are one answer, represented by the first of them.

    The streets of a group differ too little. A small raise can be repeated, so the question of an
    auction is only whether to stay in.
    """
    head = HEAD_NAMES[HEAD_OF[action]]
    index = action - HEADS[head].start
    if head in ("build", "sell"):
        return head, int(GROUP_OF[index])
    return head, min(index, 1) if head == "bid" else index


def _choice(
    questions: Sequence[Question], generator: Generator, found: dict[str, int]
) -> Iterator[Question]:
    """Some questions of each wanted kind, rare kinds first."""
    for kind in sorted(found, key=lambda kind: found[kind]):
        of_kind = [question for question in questions if question.kind == kind]
        yield from (of_kind[number] for number in generator.permutation(len(of_kind))[:_LOOKS])


def _solve(
    question: Question, judges: Sequence[str], luck: int, search: PuzzleSearch, spent: set[str]
) -> Comparison | None:
    """The comparison by the last judge, if all judges agree on a best answer that is not used."""
    solution = _likely(question, judges, luck, search.lead)
    if solution is None or solution in spent:
        return None
    for judge in judges:
        compared = compare_actions(
            question.game, question.candidates, judge, search.playouts, seed=luck
        )
        least = search.lead if judge == judges[-1] else 0.0
        if compared.best.text != solution or not _leads(compared, least=least):
            return None
    return compared


def _likely(question: Question, judges: Sequence[str], luck: int, lead: float) -> str | None:
    """The answer that seems clearly the best to every judge, or None."""
    best: set[str] = set()
    for look, (number, part) in enumerate(_SCREENING, 1):
        for judge in judges:
            compared = compare_actions(
                question.game, question.candidates, judge, number,
                seed=luck + look, turns=_ROUNDS, value=_VALUE,
            )  # fmt: skip
            best.add(compared.best.text)
            if len(best) > 1 or not _leads(compared, part, lead):
                return None
    return best.pop()


def _leads(compared: Comparison, part: float = 1.0, least: float = 0.0) -> bool:
    """Whether the best answer leads all others by a fraction of its 95% interval plus `least`."""
    return all(
        other.difference + part * (other.difference_high - other.difference) < -least
        for other in compared.candidates[1:]
    )


def _rounded(candidate: Candidate) -> Candidate:
    """A candidate with the digits of a file."""
    numbers = ("share", "low", "high", "difference", "difference_low", "difference_high")
    shares = tuple(round(share, DIGITS) for share in candidate.shares)
    return replace(
        candidate,
        shares=shares,
        **{name: round(getattr(candidate, name), DIGITS) for name in numbers},
    )
