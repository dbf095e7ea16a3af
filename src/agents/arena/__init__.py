"""Where policies meet: one table (`play`), two policies (`duel`, `compare`), a whole field (`round_robin`), candidates (`against`)."""

from agents.arena.matches import Lineup, Score, against, compare, duel, play, play_again, round_robin, unique_names

__all__ = ["Lineup", "Score", "against", "compare", "duel", "play", "play_again", "round_robin", "unique_names"]
