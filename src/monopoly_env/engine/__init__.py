"""The rulebook: one file a chapter, plain functions on one record, compiled on first use.

`step.settle` works through the record's agenda until somebody has a real choice; `step.play` carries a choice out. Numbers
in comments are the points of docs/rules.md, which says what each of them is and where it comes from.
"""
