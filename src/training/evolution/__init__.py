"""Evolution of players: numbers of a policy that are found by playing, not set by hand.

Four parts that know little of each other: `genomes` turns a vector into a player, `evaluation` plays all players of a generation and
says how often each won, `optimizers` proposes the next vectors, `run` keeps a run on disk. `reporting` shows it,
`cluster` plays games on several machines.
"""
