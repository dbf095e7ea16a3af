"""The two simpler agents of Ocnaru's thesis (Bucharest, 2025), by its last program.

Decisions that the thesis does not have are answered by the same parameters. The thesis's main agent
is `strategic`.
"""

from __future__ import annotations

from typing import Final

from agents.players.ocnaru import algorithmic, random

POLICIES: Final = {**algorithmic.POLICIES, **random.POLICIES}
