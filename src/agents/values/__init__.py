"""The value network: each player's share of the win, predicted from a state.

    >>> import agents.values
    >>> import monopoly_env as me
    >>> value = agents.values.make("best")
    >>> value.shares(me.new_game(num_players=2, seed=0)).round(2)  # one share a seat
    array([0.51, 0.49])
    >>> # playouts that are cut off after ten rounds; value="best" is the same
    >>> result = me.rollout(me.new_game(num_players=2, seed=0), turns=10, value=value)

`python -m training.values` trains one, for tables of 2 to 4. docs/results/values.md has the
accuracy of the shipped one and its training games; its predictions assume play as in those.
"""

from agents.values.saved import load, make, names, save

__all__ = ["load", "make", "names", "save"]
