"""Playouts from any record: shares of the win, and actions compared by them.

`python -m monopoly_env.analyse` analyses a saved game or a replay.
"""

from monopoly_env.analyse.actions import Candidate, Comparison, WholeOffer, compare_actions
from monopoly_env.analyse.history import History, history
from monopoly_env.analyse.playouts import Playouts, rollout
from monopoly_env.analyse.resemblance import Resemblance, resemblance
from monopoly_env.analyse.values import Value

__all__ = [
    "Candidate", "Comparison", "History", "Playouts", "Resemblance", "Value", "WholeOffer",
    "compare_actions", "history", "resemblance",
    "rollout",
]  # fmt: skip
