"""The value of single genes: players of `tga` with one refusal, compared with one without any."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from agents import arena
from agents.arena.evaluation import Seating
from agents.arena.statistics import Difference
from agents.players.genetic import kind_of, mukhar
from monopoly_env.facts.board import GROUP_OF, GROUPS
from monopoly_env.reference import table
from studies.evolution.experiment import TURN_LIMIT, Experiment, Outcomes
from studies.pages import Page
from training.evolution.populations import AGAINST

GAMES: Final = 19_200
_RULES: Final = "mukhar"
_SEATINGS: Final = [Seating((opponent,) * 3, _RULES, TURN_LIMIT) for opponent in AGAINST]
_EARLY: Final = "stays in jail while nobody else has a group of the two sides ahead"
_LATE: Final = "stays in jail as soon as somebody else has one"


def genomes() -> dict[tuple[str, ...], NDArray[np.float64]]:
    """(176,) genes by refusal: nothing; the lots of a group in a situation; to leave jail."""
    yes = np.ones(mukhar.BUY_GENES + mukhar.NARROW**2)
    found = {(): yes, (_EARLY,): yes.copy(), (_LATE,): yes.copy()}
    found[_EARLY,][mukhar.BUY_GENES] = 0
    found[_LATE,][mukhar.BUY_GENES + 1 :] = 0
    for group, name in enumerate(GROUPS):
        lots = np.array(GROUP_OF) == group
        for number, situation in enumerate(mukhar.SITUATIONS):
            if mukhar.OCCURS[number, lots].all():
                found[name, situation] = yes.copy()
                found[name, situation][mukhar.GENE_OF[number, lots]] = 0
    return found


def section(runs: Outcomes, page: Page) -> str:
    """The cost of each refusal."""
    del runs, page
    kind, refusing = kind_of("tga"), genomes()
    players, games = (
        [kind.policy(genes) for genes in refusing.values()],
        [GAMES // len(AGAINST)] * len(AGAINST),
    )
    scores = arena.against(players, _SEATINGS, games, progress=True, same_seeds=False)
    low, high = scores[0].interval
    changes = {
        name: _signed(score.difference(scores[0]))
        for name, score in zip(refusing, scores, strict=True)
    }
    return "\n\n".join(
        [
            (
                f"Rules `{_RULES}` and the bids of 2012. A player of `tga` whose genes are all 1"
                f" wins {scores[0].rate:.1%} ({low:.1%} to {high:.1%}) against three of each"
                " evaluation opponent. The change if it never buys, and in an auction never wants,"
                f" the lots of a group in a situation; {GAMES:,} games each with the same dice, 95%"
                " from the variance between seeds:"
            ),
            table(
                ("group", *mukhar.SITUATIONS),
                [
                    (
                        name,
                        *(
                            changes.get((name, situation), "cannot be")
                            for situation in mukhar.SITUATIONS
                        ),
                    )
                    for name in GROUPS
                ],
            ),
            "And if it",
            table(("", "change"), [(name, changes[name,]) for name in (_EARLY, _LATE)]),
        ]
    )


def _signed(gain: Difference) -> str:
    return f"{gain.difference:+.1%} ± {50 * (gain.high - gain.low):.1f}"


EXPERIMENT: Final = Experiment("What a gene is worth", {}, section)
