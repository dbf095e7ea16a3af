"""The learner of the network that values states: `python -m training.values`.

`tables` says who plays the games, `sampling` plays them and keeps states, `train` is the algorithm.
"""
