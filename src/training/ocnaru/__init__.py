"""The learner of Ocnaru's thesis (Bucharest, 2025), without the defects of its program: `python -m training.dqn --preset ocnaru`.

`options` has the settings, `experts` phase 1, `games` and `learner` what phase 2 is made of, `train` the algorithm, and `report` what
the agent is worth beside the published figures.
"""

from training.ocnaru.options import Options, check
from training.ocnaru.train import execute

__all__ = ["Options", "check", "execute"]
