"""Where policies meet: one table (`play`), two policies (`duel`, `compare`), a whole field (`round_robin`), candidates (`against`)."""

from agents.arena.candidates import Lineup, Score, against
from agents.arena.match import unique_names
from agents.arena.matches import compare, duel, play, play_again, round_robin

__all__ = ["Lineup", "Score", "against", "compare", "duel", "play", "play_again", "round_robin", "unique_names"]
