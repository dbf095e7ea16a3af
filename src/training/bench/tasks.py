"""All tasks, by name."""

from __future__ import annotations

from typing import Final

from training.bench import deal, duel, exploit, kingmaker, other_rules, puzzles, strangers
from training.bench.task import Task

TASKS: Final[dict[str, Task]] = {
    module.TASK.name: module.TASK for module in (duel, strangers, other_rules, deal, exploit, kingmaker, puzzles)
}
