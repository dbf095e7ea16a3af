"""The learner of the network that values states: `python -m training.values`.

`tables` says who plays the games, `starts` begins some in the middle, `sampling` plays them and
keeps states, `train` is the algorithm.
"""
