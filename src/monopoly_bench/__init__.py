"""Bench-8: fixed tasks that compare agents: `python -m monopoly_bench` (docs/bench.md).

Each task is a file with a `Task` and a function that measures an agent: `duel`, `strangers`,
`other_rules`, `deal`, `exploit`, `kingmaker`, `puzzles`. Task 8, `talk` and `code`, has its own
commands. `suite` holds the seeds, opponents, rules and positions.
"""
