"""All tasks, by name."""

from __future__ import annotations

from typing import Final

from monopoly_bench.task import Task
from monopoly_bench.tasks import deal, duel, exploit, kingmaker, other_rules, puzzles, strangers
from monopoly_env.files.sources import check_ours

TASKS: Final[dict[str, Task]] = {
    module.TASK.name: module.TASK
    for module in (duel, strangers, other_rules, deal, exploit, kingmaker, puzzles)
}

check_ours("training")  # before a command imports from another package of that name
