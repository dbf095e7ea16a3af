"""How strong a policy is: paired games against evaluation opponents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from agents import arena
from agents.arena.evaluation import Seating
from agents.arena.runner import Runner
from monopoly_env.cli.terminal import TextTable
from monopoly_env.policy.protocol import Policy
from monopoly_env.rules import Rules

EVALUATION_SEED: Final = 1_000_001  # of games that choose the best checkpoint
# of games that are reported: others, or the choice of the best would flatter it
FINAL_SEED: Final = 2_000_003


def measure(
    policy: Policy,
    against: Sequence[Policy],
    games: int,
    rules: Rules,
    seed: int,
    num_players: int = 2,
    *,
    threads: int | None = None,
    runner_type: type[Runner] = Runner,
) -> list[dict[str, Any]]:
    """Play a policy against each of some opponents, which fills the other seats.

    Every seed is played from all seats; the rows do not depend on the threads.

    Returns:
        A row each: `opponent`, `games`, `wins`, `win_rate`, `low`, `high` (Wilson, 95%), `turns`
            (mean), `seconds`.
    """
    rows = []
    for opponent in against:
        seating = Seating((opponent,) * (num_players - 1), rules)
        (score,) = arena.against(
            [policy], [seating], [games], seed, threads, runner_type=runner_type
        )
        (row,), (results,) = score.rows(), score.results
        shown = {key: row[key] for key in ("games", "wins", "win_rate", "low", "high", "turns")}
        rows.append({"opponent": opponent.name} | shown | {"seconds": results.seconds})
    return rows


def table(rows: Sequence[dict[str, Any]], title: str) -> TextTable:
    """The rows for a terminal."""
    shown = TextTable(
        title=title, caption="Every seed is played from each seat. Intervals: Wilson, 95%."
    )
    shown.add_column("against")
    for heading in ("games", "win rate", "interval", "turns a game"):
        shown.add_column(heading, justify="right")
    for row in rows:
        interval = f"{row['low']:.1%} - {row['high']:.1%}"
        shown.add_row(
            row["opponent"], f"{row['games']:,}", f"{row['win_rate']:.1%}", interval,
            f"{row['turns']:.0f}",
        )  # fmt: skip
    return shown
