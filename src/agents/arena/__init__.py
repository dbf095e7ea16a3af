"""Where policies meet: one table (`play`), two policies (`duel`, `compare`), or every table of a field (`round_robin`)."""

from agents.arena.matches import compare, duel, play, play_again, round_robin, unique_names

__all__ = ["compare", "duel", "play", "play_again", "round_robin", "unique_names"]
