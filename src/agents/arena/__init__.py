"""Matches between policies, and their results.

`play` plays one table, `duel` and `compare` two policies, `round_robin` all tables of several,
`against` players under test.
"""

from agents.arena.evaluation import Seating, Wins, against
from agents.arena.matches import compare, duel, play, play_again, round_robin, unique_names

__all__ = [
    "Seating",
    "Wins",
    "against",
    "compare",
    "duel",
    "play",
    "play_again",
    "round_robin",
    "unique_names",
]
