"""The common part of every learner's run.

It has the options of a run, its folder, its checkpoints, its report, and the command around it.
"""
