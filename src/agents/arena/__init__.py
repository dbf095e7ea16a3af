"""Where policies meet: one table, two policies, a whole field, candidates.

`play` is for one table, `duel` and `compare` for two policies, `round_robin` for a whole field,
`against` for candidates.
"""

from agents.arena.evaluation import Seating, Wins, against
from agents.arena.match import unique_names
from agents.arena.matches import compare, duel, play, play_again, round_robin

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
