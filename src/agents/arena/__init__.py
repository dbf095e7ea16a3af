"""Where policies meet: one table, two policies, all tables of several, players under test.

`play` is for one table, `duel` and `compare` for two policies, `round_robin` for all tables,
`against` for players under test.
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
