"""`ocnaru/algorithmic` and `ocnaru/random`: the two lesser agents of Ocnaru's thesis (Bucharest, 2025), as its last program plays them.

Heads that the thesis lacks are answered by the same numbers. `strategic` has a module of its own.
"""

from __future__ import annotations

from typing import Final

from agents.players.ocnaru import algorithmic, random

POLICIES: Final = {**algorithmic.POLICIES, **random.POLICIES}
