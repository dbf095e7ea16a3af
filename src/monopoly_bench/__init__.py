"""Bench-8: fixed tasks by which any agent can be compared. `python -m monopoly_bench` runs them.

docs/bench.md describes them.

A file is a task: `duel`, `strangers`, `other_rules`, `deal`, `exploit`, `kingmaker`, `puzzles`.
Each says what it is in a `Task` and has a function that measures an agent. Task 8, `talk` and
`code`, has commands of its own. `suite` holds what all agents meet: seeds, opponents, rules and
positions.
"""
