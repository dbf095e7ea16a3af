"""The study of `genetic/esp`: its tables, and what it ships."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from studies.esp_monopoly import main, section

import agents
from agents.networks.esp import EspPlayer, shipped

ROW = {
    "player": "a", "than": "b", "families": "known", "games": 1200, "win_rate": 0.5,
    "other_win_rate": 0.25, "difference": 0.25,
    "low": -0.01, "high": 0.51,
}  # fmt: skip


def test_tables_hold_what_was_measured() -> None:
    rows = [ROW | {"kind": "strength"}, ROW | {"kind": "networks", "network": "cash"}]
    assert (
        section(rows, "strength").splitlines()[-1]
        == "| `a` | `b` | known | 1,200 | 0.500 | 0.250 | +25.0 | -1.0 to +51.0 |"
    )
    assert (
        section(rows, "networks").splitlines()[-1]
        == "| `a` | `cash` | 0.250 | +25.0 | -1.0 to +51.0 |"
    )
    assert len(section(rows, "strength").splitlines()) == 3


def test_what_ships_is_half_as_long_and_plays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    worst, player = EspPlayer("recurrent", 3), EspPlayer("recurrent", 3)
    draw = np.random.default_rng(5)
    worst.set_arrays(
        {
            name: draw.normal(0, 9, array.shape).astype(np.float32)
            for name, array in worst.arrays().items()
        }
    )
    player.set_arrays({name: np.full_like(array, 1 / 3) for name, array in player.arrays().items()})
    for name, saved in (("worst", worst), ("player", player)):
        saved.save(tmp_path / f"{name}.safetensors")
    words = [str(tmp_path / "player.safetensors"), str(tmp_path / "worst.safetensors")]
    assert main(["--games", "96", "--json", "--ship", *words]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [(row["player"], row["families"]) for row in rows] == [
        (word, group) for group in ("known", "unknown") for word in words
    ]
    assert rows[0]["win_rate"] + rows[2]["win_rate"] > rows[1]["win_rate"] + rows[3]["win_rate"]
    made = shipped.POLICIES["genetic/esp/recurrent"]()
    assert (made.name, made.hidden, made.form) == ("genetic/esp/recurrent", 3, "recurrent")
    assert all(
        np.array_equal(array, np.full_like(array, np.float16(1 / 3)))
        for array in made.arrays().values()
    )
    assert (tmp_path / "recurrent.safetensors").stat().st_size < (
        tmp_path / "player.safetensors"
    ).stat().st_size
    agents.make("algorithmic").save(tmp_path / "other.safetensors")
    assert main(["--ship", str(tmp_path / "other.safetensors")]) != 0
    assert "expected one of genetic/esp" in capsys.readouterr().err
