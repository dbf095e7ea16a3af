"""`python -m studies.learned`: the table of strength, and the curve of a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch.utils.tensorboard import SummaryWriter

from agents.learned import shipped
from monopoly_env.errors import ConfigurationError
from studies import learned


def test_every_shipped_agent_is_measured_against_all_that_it_may_meet(tmp_path: Path) -> None:
    assert set(learned.OPPONENTS) == set(shipped.POLICIES)
    line = ["--only", "ppo/best/two", "--games", "2", "--out", str(tmp_path / "page.md")]
    assert learned.main(line) == 0
    rows = [
        row.split("|")[1:-1]
        for row in (tmp_path / "page.md").read_text().splitlines()
        if row.startswith("| `")
    ]
    field = learned.OPPONENTS["ppo/best/two"]
    assert [row[0].strip(" `") for row in rows] == [*field.trained, *field.unseen]
    assert [row[1].strip() for row in rows] == ["yes"] * len(field.trained) + ["no"] * len(
        field.unseen
    )
    assert all(
        0 <= float(row[2]) <= 1
        and float(row[5]) == pytest.approx(float(row[2]) - float(row[4]), abs=2e-3)
        for row in rows
    )
    page = (tmp_path / "page.md").read_text()
    assert f"| `{field.evolved}` there |" in page


def test_an_agent_is_measured_at_a_smaller_table_in_a_section_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(
        learned.OPPONENTS, "ppo/best/four", learned.Opponents("expert", ("random",), ())
    )
    line = ["--only", "ppo/best/four", "--games", "3", "--out", str(tmp_path / "page.md")]
    assert learned.main([*line, "--num-players", "3"]) == 0
    page = (tmp_path / "page.md").read_text()
    assert "<!-- begin ppo/best/four at tables of 3 -->" in page
    assert (
        "3 players, rules `official`, 3 games a row (`python -m studies.learned --only"
        " ppo/best/four --num-players 3 --games 3" in page
    )
    assert learned.main([*line, "--num-players", "5"]) == 2
    assert "plays at tables of 2 to 4, not of 5" in capsys.readouterr().err


def test_a_run_that_is_stopped_leaves_the_rows_that_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(
        learned.OPPONENTS, "ppo/best/two", learned.Opponents("random", ("random", "strategic"), ())
    )
    compared = learned.compared

    def stopped(agent: Any, rules: str, opponent: str, *others: Any) -> dict[str, Any]:
        if opponent == "strategic":
            raise KeyboardInterrupt
        return compared(agent, rules, opponent, *others)

    monkeypatch.setattr(learned, "compared", stopped)
    assert (
        learned.main(["--only", "ppo/best/two", "--games", "2", "--out", str(tmp_path / "page.md")])
        != 0
    )
    page = (tmp_path / "page.md").read_text()
    assert page.count("\n| `") == page.count("| `random` | yes |") == 1


def test_a_curve_begins_after_imitation_and_counts_the_last_measurement(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"num_players": 4}))
    for stage, points in (
        ("imitation", [(0, 0.5)]),
        ("self-play", [(1_000_000, 0.6), (2_000_000, 0.7), (2_000_000, 0.8)]),
    ):
        writer = SummaryWriter(tmp_path / "curves" / stage)
        for step, rate in points:
            for name, shift in (("win_rate", 0.0), ("low", -0.1), ("high", 0.1)):
                writer.add_scalar(f"{name}/expert", rate + shift, step)
        writer.close()
    rates, even_share = learned.curve([tmp_path]).axes[0].lines
    assert np.asarray(rates.get_xdata()).tolist() == [0, 1, 2]
    assert np.asarray(rates.get_ydata()) == pytest.approx([0.5, 0.6, 0.8])
    assert np.asarray(even_share.get_ydata()).tolist() == [0.25, 0.25]
    with pytest.raises(ConfigurationError, match="holds no curves"):
        learned.curve([tmp_path / "curves"])
    first, second, _ = learned.curve([tmp_path, tmp_path]).axes[0].lines
    assert first.get_color() == second.get_color()  # an opponent has one colour in all runs
