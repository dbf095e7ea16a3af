"""The value network: each player's share of the win, predicted from a state.

    value = agents.values.make("best")
    value.shares(game)                        # (P,), one share a seat
    me.rollout(game, turns=10, value=value)   # playouts that are cut off after ten rounds
    me.rollout(game, turns=10, value="best")  # the same, by name

`python -m training.values` trains one, for tables of 2 to 4. docs/results/values.md has the
accuracy of the shipped one and its training games; its predictions assume play as in those.
"""

from agents.values.saved import load, make, names, save

__all__ = ["load", "make", "names", "save"]
