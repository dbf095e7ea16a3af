"""Genetic algorithms over whole populations that play each other.

Parts: `kinds` says what a genome is, `scores` what a game is worth to those who played it, `generation` deals a population out to
tables and plays it in one call of the compiled loop, `breeding` makes the next one of `training.evolution.operators`, `steady` the scheme
of Pring in which winners' children take the place of those who played; `options` has the published settings as presets, `run` keeps a
run on disk.
"""
