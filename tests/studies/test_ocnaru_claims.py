"""`python -m studies.ocnaru_claims`: what it counts, and the rows that it writes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from studies.ocnaru import column
from studies.pages import Page, Row

import monopoly_env as me
from monopoly_env import encoding as encodings
from monopoly_env.encoding import ocnaru as encoding
from studies import ocnaru_claims as claims
from training.experience.recording import Experiences


def rows_of(tmp_path: Path, section: str) -> list[Row]:
    page = tmp_path / "ocnaru.md"
    arguments = ("--only", section, "--games", "40", "--threads", "1", "--out", str(page))
    assert claims.main(arguments) == 0
    rows = Page(page, "").rows("claims")
    assert {row["section"] for row in rows} == {section}
    return rows


def test_raw_features_are_dollars_squares_and_counts() -> None:
    game = me.position(
        2, "ocnaru", cash=[1500, 700], lots={0: ["Oriental Avenue", "Reading Railroad"]}
    )
    raw = encodings.observe(game, "ocnaru100", 0) * claims.raw_units()
    at = dict(zip(encoding.names(plus=False), raw, strict=True))
    assert at["square: me"] == pytest.approx(game.position[0], abs=1e-4)
    assert at["cash: opponent"] == pytest.approx(game.cash[1], abs=1e-2)
    assert at["group: light_blue own share"] == pytest.approx(1)
    assert at["railroads: me"] == pytest.approx(1)
    assert at["lots sold"] == pytest.approx(2)


def test_a_network_of_raw_features_plays_as_it_learned() -> None:
    learner = claims.Regressor("buy", 2, claims.raw_units(), claims.Options(), 0)
    seen = torch.rand(8, encoding.SIZE)
    arrays = learner.player().arrays()
    hidden = seen.numpy()
    for layer in range(4):
        hidden = hidden @ arrays[f"buy.{layer}.weight"].T + arrays[f"buy.{layer}.bias"]
        hidden = np.maximum(hidden, 0) if layer < 3 else hidden
    with torch.no_grad():
        expected = learner.online(seen * learner.units).numpy()
    assert hidden == pytest.approx(expected, rel=1e-3, abs=1e-3)


def test_a_bankrupt_player_ends_with_its_debt() -> None:
    seen = np.zeros((2, encoding.SIZE), np.float16)
    seen[:, column("group: brown own share")] = 1
    seen[:, column("group: brown complete")] = 1
    seen[0, column("railroads: me")] = 0.5
    rows = Experiences(
        seen, np.zeros((2, 26), np.uint8), *np.zeros((4, 2), np.int16), np.ones(2, np.float32),
        np.array([[320, 200], [220, 100]], np.float32), np.array([900, -50], np.float32),
    )  # fmt: skip
    found = claims.ends(rows, np.array([0, 1]))
    # the winner at its last decision; the other owes 50 more than its cash of 100
    assert found.tolist() == [[4, 1, 320, 200], [2, 1, 70, -50]]


def test_averages_stand_beside_the_published_ones(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, "averages")
    lots = [row["value"] for row in rows if row["figure"] == "lots"]
    assert len(lots) == 3
    assert 0 < sum(lots) < 3 * 28
    assert all(row["published"] for row in rows)


def test_the_search_keeps_ten_five_and_three(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "CONFIGURATIONS", 12)
    monkeypatch.setattr(claims, "_FIRST_GAMES", 2)
    rows = rows_of(tmp_path, "search")
    ranks = [row for row in rows if row["figure"] == "rank"]
    assert [row["against"].split()[0] for row in ranks] == ["12", "10", "5"]
    assert len({row["player"] for row in rows if row["player"].startswith("configuration")}) == 3
    assert {"strategic/evolved", "strategic/evolved/two"} < {row["player"] for row in rows}


def test_lifting_at_ten_percent_is_compared_by_seed(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, "lifting")
    assert [row["figure"] for row in rows] == ["win rate, ten_percent", "difference from full"] * 3
    assert all(row["low"] <= row["value"] <= row["high"] for row in rows)


def test_habits_are_shares_of_the_streets(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, "habits")
    for player in ("dqn/best/ocnaru", "strategic"):
        owned = [row for row in rows if row["player"] == player and "owned" in row["figure"]]
        assert sum(row["value"] for row in owned) == pytest.approx(1, abs=1e-4)


def test_inputs_have_a_loss_for_each_network(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, "inputs")
    losses = [row for row in rows if row["figure"] == "loss, not learned"]
    assert len(losses) == 4 * 3
    assert len(rows) == len(losses) + 2 * 3


def test_unknown_sections_are_refused_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert claims.main(["--only", "average"]) == 2
    assert "'averages'" in capsys.readouterr().err
