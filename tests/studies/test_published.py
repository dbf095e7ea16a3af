"""`python -m studies.published`: its statistics, its data, and the page it writes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from studies.pages import Page, read_rows
from studies.published import Comparison, Estimate

import agents
import monopoly_env as me
from monopoly_env import intervals
from studies import published as literature

DUEL = "july_algorithmic_random"
ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "results"


# --- statistics


def test_wilson_agrees_with_the_arena() -> None:
    for wins, games in ((0, 30), (7, 30), (309, 500), (500, 500)):
        ours = literature.wilson(wins / games, games)
        assert (ours.low, ours.high) == pytest.approx(intervals.wilson(wins, games))


def test_the_difference_of_two_shares_is_newcombes() -> None:
    """Newcombe (1998), table II, contrast a, 56/70 - 48/80, method 10: 0.0524 to 0.3339."""
    difference = Comparison(
        "", "", literature.wilson(48 / 80, 80), literature.wilson(56 / 70, 70)
    ).difference
    assert difference.value == pytest.approx(0.2)
    assert (difference.low, difference.high) == pytest.approx((0.0524, 0.3339), abs=5e-5)


def test_a_difference_agrees_if_its_interval_holds_nothing() -> None:
    # 0.13 less hypot(0.1, 0.1)
    assert Comparison("", "", Estimate(0.5, 0.4, 0.6), Estimate(0.63, 0.53, 0.73)).agrees
    assert not Comparison("", "", Estimate(0.5, 0.4, 0.6), Estimate(0.65, 0.55, 0.75)).agrees


def test_intervals_cover_as_often_as_they_say() -> None:
    """Of 2,000 intervals at 95%, 1,900 cover on average with a deviation of 10.

    Five of these: a false alarm in two million.
    """
    rng = np.random.default_rng(3)
    seeds = np.repeat(np.arange(100), 2).astype(np.uint64)
    hits = {"mean": 0, "median": 0}
    for _ in range(2000):
        shared = rng.normal(0, 1, 100)
        values = np.repeat(shared, 2) + rng.normal(0, 1, 200)
        mean = literature.clustered(values, seeds)
        hits["mean"] += mean.low <= 0 <= mean.high
        ours, theirs = rng.exponential(size=400), rng.exponential(size=300)
        median = float(np.median(theirs))
        spread = literature.percentile(ours, 0.5, 300)
        moved = Estimate(
            median, median - (spread.value - spread.low), median + (spread.high - spread.value)
        )
        hits["median"] += Comparison("", "", moved, literature.percentile(ours, 0.5, 400)).agrees
    assert 1830 < hits["mean"] < 1950
    assert 1830 < hits["median"] < 1960


# --- data


def test_every_experiment_has_its_figures_and_all_figures_are_used() -> None:
    rows = literature.read()
    assert {row["experiment"] for row in rows} == set(literature.EXPERIMENTS)
    for name, experiment in literature.EXPERIMENTS.items():
        figures = literature.published(name)
        assert figures
        assert {figure.agent for figure in figures} <= set(experiment.players)
        assert {figure.opponent for figure in figures} <= {*experiment.players, ""}
        assert all(
            0 <= figure.value <= 1
            for figure in figures
            if figure.metric in ("wins", "bankruptcies", "capped", "first_wins")
        )


def test_the_wins_of_all_pairs_add_up_to_the_published_shares() -> None:
    """The facts: Completionist .579, algorithmic .421, random .030 of their own 330 games."""
    wins = literature.wins_of_pairs(literature.published("twelve_july"))
    summed = {figure.agent: figure for figure in wins}
    assert summed["strategic/completionist"].value == pytest.approx(0.579, abs=5e-4)
    assert summed["ocnaru/algorithmic"].value == pytest.approx(0.421, abs=5e-4)
    assert summed["ocnaru/random"].value == pytest.approx(0.030, abs=5e-4)
    assert {figure.games for figure in summed.values()} == {330}
    assert next(iter(summed)) == "strategic/completionist"


def test_known_figures_are_read() -> None:
    figures = {(f.agent, f.metric): f for f in literature.published(DUEL)}
    assert figures["ocnaru/algorithmic", "wins"].value == pytest.approx(448 / 480)
    assert figures["ocnaru/algorithmic", "turns_p50"].value == 140.5
    assert literature.crashed(DUEL) == (20, 500)
    thesis = {
        (f.agent, f.opponent, f.metric): f.value for f in literature.published("three_agents")
    }
    assert thesis["strategic", "", "wins"] == pytest.approx(1.5 * 0.519)
    assert thesis["strategic", "ocnaru/algorithmic", "wins"] == 0.67


# --- ours


@pytest.fixture(scope="module")
def results() -> agents.Results:
    return agents.arena.round_robin(
        ["ocnaru/algorithmic", "ocnaru/random", "random/no_trades"], 60, 2, "ocnaru"
    )


def test_a_sample_is_an_agents_games(results: agents.Results) -> None:
    rows = {row["name"]: row for row in results.rows()}
    for name in results.names:
        games = literature.sample(results, name)
        assert len(games.won) == rows[name]["games"] == 120
        assert games.won.sum() == pytest.approx(rows[name]["wins"])
        assert (games.lost <= 1 - games.won).all()
    pair = literature.sample(results, "ocnaru/algorithmic", "ocnaru/random")
    back = literature.sample(results, "ocnaru/random", "ocnaru/algorithmic")
    assert len(pair.won) == 60
    assert (pair.won + back.won == 1).all()
    assert (pair.lost + back.lost + pair.capped == 1).all()


def test_a_sample_without_an_agent_is_all_games(results: agents.Results) -> None:
    games = literature.sample(results, "")
    assert len(games.turns) == results.games
    assert games.turns.mean() == pytest.approx(results.turns.mean())
    assert games.capped.mean() == pytest.approx(results.capped.mean())


def test_the_lengths_of_all_pairs_are_one_figure() -> None:
    """The facts: 197 of the 1,980 games at the cap."""
    capped, mean = literature.lengths_of_pairs(literature.published("twelve_july"))
    assert (capped.value, capped.games) == (pytest.approx(197 / 1980), 1980)
    assert 200 < mean.value < 350


def test_a_duel_is_played_and_compared() -> None:
    report = literature.run(DUEL, games=200)
    assert report.games == 200
    assert set(report.comparisons) == {True, False}
    (won,) = [c for c in report.comparisons[True] if c.what.startswith("ocnaru/algorithmic: won")]
    assert won.theirs.value == pytest.approx(448 / 480)
    assert 0.8 < won.ours.value <= 1
    assert literature.run(DUEL, games=200, threads=1) == report


def test_unknown_experiments_are_refused_with_the_nearest() -> None:
    with pytest.raises(
        me.ConfigurationError, match=r"Unknown experiment 'three_agent'.*'three_agents'"
    ):
        literature.run("three_agent")


# --- the command


def call(*arguments: str) -> int:
    return literature.main(arguments)


def test_the_command_prints_tables_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("--only", DUEL, "--games", "40") == 0
    printed = capsys.readouterr().out
    assert "ocnaru/algorithmic: won against ocnaru/random" in printed
    assert "0.933 (0.907 to 0.952)" in printed
    assert f"python -m studies.published --only {DUEL} --games 40 --seed 0" in printed
    assert "20 of the 500 published games crashed" in printed
    assert call("--only", DUEL, "--games", "40", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert {row["experiment"] for row in told} == {DUEL}
    assert {row["quirks"] for row in told} == {True, False}
    assert call("--only", DUEL, "--games", "0") == 2


def test_the_rows_of_an_experiment_are_replaced(tmp_path: Path) -> None:
    page = tmp_path / "ocnaru.md"
    other = "may_algorithmic_random"
    for name, games in ((DUEL, "40"), (other, "20"), (DUEL, "20")):
        assert call("--only", name, "--games", games, "--out", str(page)) == 0
    rows = Page(page, "").rows("agents")
    assert {row["games"] for row in rows} == {20}
    assert {row["experiment"] for row in rows} == {DUEL, other}
    (won,) = [row for row in rows if row["experiment"] == DUEL and row["quirks"]
              and row["figure"] == "ocnaru/algorithmic: won against ocnaru/random"]  # fmt: skip
    assert won["published"] == pytest.approx(448 / 480, rel=1e-5)
    assert won["difference"] == pytest.approx(won["ours"] - won["published"], abs=1e-5)


def test_every_experiment_has_its_rows() -> None:
    rows = Page(RESULTS / "ocnaru.md", "").rows("agents")
    assert {row["experiment"] for row in rows} == set(literature.EXPERIMENTS)


def test_the_figures_of_the_pages_are_in_the_rows() -> None:
    """Each share of three decimals in a table's column `here` is a value of a data file."""
    values = {
        f"{row[name]:.3f}"
        for file in (RESULTS / "data").glob("ocnaru_*.csv")
        for row in read_rows(file)
        for name in ("ours", "value")
        if name in row
    }
    pages = (RESULTS / "ocnaru.md", ROOT / "studies" / "data" / "ocnaru.md")
    lines = [line for page in pages for line in page.read_text().splitlines()]
    cells = [line.split("|")[3] for line in lines if line.startswith("| ")]
    figures = [figure for cell in cells for figure in re.findall(r"\b0\.\d{3}\b", cell)]
    assert len(figures) >= 10
    assert [figure for figure in figures if figure not in values] == []
