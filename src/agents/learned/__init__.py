"""Learned agents: networks choose actions, one network for each kind of decision.

The networks of `*/best/*` make all decisions; those of `ppo/bidder/two` buy and bid, and
`expert/versatile` makes the other decisions.
"""
