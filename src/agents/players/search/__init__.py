"""Players that look ahead: `search` by playouts, `one_ply` by a value of the next state."""

from agents.players.search.one_ply import OnePlyPolicy
from agents.players.search.player import SearchPolicy, best, switching

__all__ = ["OnePlyPolicy", "SearchPolicy", "best", "switching"]
