"""Values of states by a network: the shares of the win of all players, without playing on.

    value = agents.values.make("best")
    value.shares(game)                        # (P,), one share a seat
    me.rollout(game, turns=10, value=value)   # playouts that are cut off after ten rounds
    me.rollout(game, turns=10, value="best")  # the same, by name

`python -m training.values` trains one; docs/results/values.md says how good the shipped one is and
what it was taught from. It is for tables of 2 to 4. It values a state for play as in the games it
was taught from.
"""

from agents.values.saved import load, make, names, save

__all__ = ["load", "make", "names", "save"]
