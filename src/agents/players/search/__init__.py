"""Players that look ahead: `search` by playouts, `one_ply` by a value of the next state.

`search/best` is the strongest of them, for tables of 2 to 4; `search/switching` is the plain
reference. They are slow: a decision takes as long as thousands of a compiled policy.
"""

from agents.players.search.one_ply import OnePlyPolicy
from agents.players.search.player import SearchPolicy, best, switching

__all__ = ["OnePlyPolicy", "SearchPolicy", "best", "switching"]
