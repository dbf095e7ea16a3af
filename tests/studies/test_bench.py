"""The page of Bench-8: its table is made from results alone."""

from __future__ import annotations

from typing import Any

from studies import bench


def row(name: str, **result: Any) -> dict[str, Any]:
    return {
        "name": name,
        **(
            result
            or {
                "score": 0.25,
                "low": 0.125,
                "high": 0.5,
                "processor_seconds": 90,
            }
        ),
    }


RESULT = {
    "rules_version": 2,
    "suite": {"version": 1, "sha256": "0123456789abcdef"},
    "agents": [
        {"name": "one", "tasks": [row("duel"), row("deal")]},
        {
            "name": "two",
            "tasks": [row("duel"), row("deal", absent="two plays at tables of 2 only")],
        },
    ],
}


def test_the_table() -> None:
    text = bench.section(RESULT)
    assert "| agent | 1 duel | 4 deal | minutes |" in text
    assert "| `one` | 0.250 | 0.250 | 3.0 |" in text
    assert "| `two` | 0.250 | - | 1.5 |" in text
    assert text.startswith("Development suite version 1, rules version 2")
