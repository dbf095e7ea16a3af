"""The learner of Ocnaru's thesis (Bucharest, 2025), without the defects of its program.

The command is `python -m training.dqn --preset ocnaru`.

`options` has the options, `experts` phase 1, `games` and `learner` what phase 2 is made of, `train`
the algorithm, `rewards` the rewards of the thesis's annex. `studies.ocnaru` measures the agent
beside the published figures.
"""
