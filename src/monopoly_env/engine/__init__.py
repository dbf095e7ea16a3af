"""The rulebook: one file per chapter, plain functions on one record, compiled on first use.

`step.settle` works through the record's agenda until a player has a real choice; `step.apply`
carries out a choice. Numbers in comments and docstrings are the points of docs/rules.md, which
states each rule and its source.
"""
