"""What the published evolutions left open, answered by runs of ours.

`python -m studies.evolution --help`.

An experiment is a table of runs of `training.evolve` and a section of a page that is made of their
folders.
"""
