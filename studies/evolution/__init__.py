"""Experiments on questions that the published evolutions left open.

`python -m studies.evolution --help`.

An experiment is a table of runs of `training.evolve`, and a section of a page made from their
folders.
"""
