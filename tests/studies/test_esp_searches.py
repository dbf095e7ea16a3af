"""The command `python -m studies.esp_searches`.

Every search is carried out, runs that are kept are not played again.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from studies.esp_searches import PRESET, SEARCHES, Options, main, read, section, settings_of

from studies import esp_searches

TINY = dataclasses.replace(
    PRESET,
    neurons=4,
    trials=1,
    candidate_games=8,
    final_games=8,
    tables="two",
    challenge=1,
    networks=("cash",),
)


def test_a_search_is_carried_out_once_and_its_runs_add_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(esp_searches, "PRESET", TINY)
    kept, page = tmp_path / "kept.jsonl", tmp_path / "page.md"
    words = (
        f"--out {tmp_path / 'runs'} --finished {kept} --page {page} --threads 1 --generations 1"
    ).split()
    assert main([*words, "--only", "random", "--runs", "1"]) == 0
    (row,) = read(kept).values()
    told = json.loads((tmp_path / "runs" / "random" / "0" / "evaluation.json").read_text())
    assert [row[families] for families in ("known", "unknown")] == [
        round(found["difference"], 4) for found in told["measured"]
    ]
    monkeypatch.setattr(
        esp_searches, "carry_out", lambda search, seed, *_: row | {"search": search, "seed": seed}
    )
    assert main([*words, "--only", "random", "cmaes", "--runs", "2"]) == 0
    assert sorted(read(kept)) == [
        ("cmaes", 1, 0),
        ("cmaes", 1, 1),
        ("random", 1, 0),
        ("random", 1, 1),
    ]
    assert "| `cmaes` | 2 | " in page.read_text()
    # of another length nothing is there
    assert main([*words, "--runs", "0", "--generations", "7"]) == 0
    assert "| `cmaes` | 2 | " in page.read_text()


def test_searches_are_settings_that_can_be_played() -> None:
    for search in SEARCHES:
        settings = settings_of(search, 3, Options())
        settings.check()
        assert (settings.seed, settings.hidden, settings.out) == (
            3,
            4,
            Path("runs/esp_searches") / search / "3",
        )
    assert len(
        {dataclasses.replace(settings_of(search, 0, Options()), out=Path()) for search in SEARCHES}
    ) == len(SEARCHES)


def test_the_table_has_means_and_intervals() -> None:
    rows = [
        {"search": "recurrent", "known": known, "unknown": 0.01} for known in (0.01, 0.02, 0.03)
    ]
    assert section(rows).splitlines()[2:] == ["| `recurrent` | 3 | +2.0 ± 2.5 | +1.0 ± 0.0 |"]
    assert section(rows[:1]).splitlines()[2:] == ["| `recurrent` | 1 | +1.0 | +1.0 |"]
