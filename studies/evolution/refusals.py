"""What is a gene worth? Players of `tga` who say yes to everything but one thing, against one who says yes to everything."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from agents.arena.statistics import Difference
from agents.players.genetic import kind_of, mukhar
from monopoly_env.board import GROUP_OF, GROUPS
from monopoly_env.reference import table
from studies.evolution.experiment import Experiment, Outcomes, Pictures, play_shown
from training.evolution.evaluation import Setting
from training.evolution.genetic.options import PANEL

GAMES: Final = 19_200
_RULES: Final = "mukhar"
_TABLES: Final = [Setting((opponent,) * 3, 1 / len(PANEL), _RULES) for opponent in PANEL]
_EARLY: Final = "stays in jail while nobody else has a group of the two sides ahead"
_LATE: Final = "stays in jail as soon as somebody else has one"


def genomes() -> dict[tuple[str, ...], NDArray[np.float64]]:
    """(176,) genes by what they refuse: nothing; the lots of a group in a situation; to leave jail."""
    yes = np.ones(mukhar.NARROW_GENES)
    told = {(): yes, (_EARLY,): yes.copy(), (_LATE,): yes.copy()}
    told[_EARLY,][mukhar.BUY_GENES] = 0
    told[_LATE,][mukhar.BUY_GENES + 1 :] = 0
    for group, name in enumerate(GROUPS):
        lots = np.array(GROUP_OF) == group
        for number, situation in enumerate(mukhar.SITUATIONS):
            if mukhar.OCCURS[number, lots].all():
                told[name, situation] = yes.copy()
                told[name, situation][mukhar.GENE_OF[number, lots]] = 0
    return told


def section(runs: Outcomes, pictures: Pictures) -> str:
    """What each refusal costs."""
    del runs, pictures
    kind, refusing = kind_of("tga"), genomes()
    played = play_shown([kind.policy(genes) for genes in refusing.values()], _TABLES, GAMES, seed=0)
    low, high = played.interval(0)
    told = {name: _signed(played.difference(place, 0)) for place, name in enumerate(refusing)}
    return "\n\n".join(
        [
            f"Rules `{_RULES}` and the bids of 2012. A player of `tga` whose genes are all 1 wins {played.rates[0]:.1%} "
            f"({low:.1%} to {high:.1%}) against three of each of the panel. So much does it change if he never buys, and in an auction "
            f"never wants, the lots of a group in a situation; {GAMES:,} games each with the same dice, 95% from the spread between seeds:",
            table(
                ("group", *mukhar.SITUATIONS),
                [(name, *(told.get((name, situation), "cannot be") for situation in mukhar.SITUATIONS)) for name in GROUPS],
            ),
            "And if he",
            table(("", "change"), [(name, told[name,]) for name in (_EARLY, _LATE)]),
        ]
    )


def _signed(gain: Difference) -> str:
    return f"{gain.difference:+.1%} ± {50 * (gain.high - gain.low):.1f}"


EXPERIMENT: Final = Experiment("What a gene is worth", {}, section)
