"""The page of Bench-8: its tables and its picture are made from results alone."""

from __future__ import annotations

from typing import Any

from studies import bench

DETAILS = {
    "share_of_surplus": 0.5,
    "partners_gain": 0.01,
    "harm_to_others": 0.02,
    "windows_with_a_deal": 0.25,
}


def row(name: str, **result: Any) -> dict[str, Any]:
    return {
        "name": name,
        **(
            result
            or {
                "score": 0.25,
                "low": 0.125,
                "high": 0.5,
                "details": DETAILS,
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


def test_the_tables() -> None:
    text = bench.section(RESULT)
    assert "| `one` | 0.250 (0.125 to 0.500) | 0.250 (0.125 to 0.500) | 3.0 |" in text
    assert "| `two` | 0.250 (0.125 to 0.500) | - | 1.5 |" in text
    assert "| `one` | +0.2500 | 0.50 | +0.0100 | +0.0200 | 25% |" in text
    assert text.count("`two`") == 1
    assert "task 8" in text


def test_the_picture_has_a_panel_for_each_task() -> None:
    drawn = bench.figure(RESULT)
    assert [axis.get_title().split()[0] for axis in drawn.axes] == ["duel", "deal"]
    assert [len(axis.lines) for axis in drawn.axes] == [4, 2]
