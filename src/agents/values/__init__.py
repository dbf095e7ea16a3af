"""Values of states by a network: the shares of the win of all players, without playing on.

    value = agents.values.make("best")
    value.shares(game)                        # (P,), one share a seat
    me.rollout(game, turns=10, value=value)   # playouts that are cut off after ten rounds
    me.rollout(game, turns=10, value="best")  # the same, by name

`python -m training.values` trains one, for tables of 2 to 4. docs/results/values.md says how good
the shipped one is, and from which games it was trained: it values a state for play as in those.
"""

from agents.values.saved import load, make, names, save

__all__ = ["load", "make", "names", "save"]
