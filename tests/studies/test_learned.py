"""`python -m studies.learned`: the rows of strength, and the curve of a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from studies.pages import Page
from torch.utils.tensorboard import SummaryWriter

from agents.learned import shipped
from monopoly_env.errors import ConfigurationError
from studies import learned


def test_every_shipped_agent_is_measured_against_all_that_it_may_meet(tmp_path: Path) -> None:
    assert set(learned.OPPONENTS) == set(shipped.POLICIES)
    line = ["--only", "ppo/best/two", "--games", "2", "--out", str(tmp_path / "page.md")]
    assert learned.main(line) == 0
    page = Page(tmp_path / "page.md", "")
    rows, field = page.rows(), learned.OPPONENTS["ppo/best/two"]
    assert [row["opponent"] for row in rows] == [*field.trained, *field.unseen]
    assert [row["trained"] for row in rows] == [True] * len(field.trained) + [False] * len(
        field.unseen
    )
    assert all(
        0 <= row["win_rate"] <= 1
        and row["more"] == pytest.approx(row["win_rate"] - row["evolved_rate"], abs=1e-5)
        for row in rows
    )
    assert f"| `{field.evolved}` | **" in page.text(learned.SECTION)


def test_a_smaller_table_has_rows_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(
        learned.OPPONENTS, "ppo/best/four", learned.Opponents("expert", ("random",), ())
    )
    line = ["--only", "ppo/best/four", "--games", "3", "--out", str(tmp_path / "page.md")]
    for size in ("3", "2"):
        assert learned.main([*line, "--num-players", size]) == 0
    page = Page(tmp_path / "page.md", "")
    assert [(row["players"], row["opponent"]) for row in page.rows()] == [
        (3, "random"),
        (2, "random"),
    ]
    assert "| official, 3 | `random` |" in page.text(learned.SECTION)
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
    assert page.count("\n| `") == page.count("| `random` |") == 1


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
    rows = learned.curves([tmp_path])
    assert [row["decisions"] for row in rows] == [0, 1_000_000, 2_000_000]
    assert [row["win_rate"] for row in rows] == pytest.approx([0.5, 0.6, 0.8])
    assert {(row["players"], row["opponent"]) for row in rows} == {(4, "expert")}
    with pytest.raises(ConfigurationError, match="holds no curves"):
        learned.curves([tmp_path / "curves"])
    assert learned.main(["--curve", str(tmp_path), "--out", str(tmp_path / "page.md")]) == 0
    assert len(Page(tmp_path / "page.md", "").rows("curve")) == 3
