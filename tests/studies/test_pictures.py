"""Tables and pictures of docs/results show the stored rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from studies.pages import Page, Row

from monopoly_env.errors import ConfigurationError
from monopoly_env.files import read_json
from studies import (
    adjusted,
    bench,
    calibration,
    exploit,
    ladder,
    learned,
    pictures,
    search,
    strangers,
    strength,
    targets,
    values,
)

RESULTS = Path(__file__).parents[2] / "docs" / "results"


@pytest.mark.parametrize(
    ("page", "name", "part", "section"),
    [
        ("exploit", exploit.SECTION, "", exploit.section),
        ("agents", ladder.SECTION, "ladder", ladder.section),
        ("agents", strength.SECTION, "", strength.section),
        ("bargaining", strength.SECTION, "", strength.section),
        ("learned", learned.SECTION, "", learned.section),
        ("learned", strangers.SECTION, "strangers", strangers.section),
        ("values", "judged", "", values.section),
        ("values", targets.SECTION, "targets", targets.section),
        ("adjusted", "gain", "gain", adjusted.gain_section),
        ("adjusted", "mean", "mean", adjusted.mean_section),
        ("adjusted", calibration.SECTION, "calibration", calibration.section),
    ],
)
def test_tables_show_the_stored_rows(
    page: str, name: str, part: str, section: Callable[[Sequence[Row]], str]
) -> None:
    written = Page(RESULTS / f"{page}.md", "")
    assert written.text(name) == section(written.rows(part))


@pytest.mark.parametrize("name", ["known", "unknown"])
def test_tables_of_search_show_the_stored_rows(name: str) -> None:
    page = Page(RESULTS / "search.md", "")
    rows = [row for row in page.rows() if row["section"] == name]
    assert page.text(name) == search.section(rows)


def test_the_table_of_bench_shows_the_stored_scores() -> None:
    stored = read_json((RESULTS / "data" / "bench.json").read_bytes())
    assert Page(RESULTS / "bench.md", "").text(bench.SECTION) == bench.section(stored)


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_pictures_show_the_stored_rows(name: str) -> None:
    """If it fails: `python -m studies.pictures`."""
    drawn = pictures.svg(pictures.PICTURES[name])
    assert drawn == (pictures.OUT / f"{name}.svg").read_text(encoding="utf-8")
    assert "prefers-color-scheme: dark" in drawn


def test_pictures_are_written_where_they_are_asked_for(tmp_path: Path) -> None:
    assert pictures.main(["--only", "luck", "--out", str(tmp_path)]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["luck.svg"]
    with pytest.raises(ConfigurationError, match="luck"):
        pictures.execute(pictures.Options(("lukc",), tmp_path), None)
