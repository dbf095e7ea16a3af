"""Pages keep what is written by hand, and refuse to guess where a section ends."""

from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib.figure import Figure
from studies.pages import Page, measured

from monopoly_env.errors import ConfigurationError, FormatError


def test_sections_replace_themselves_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    page = Page(path, "# A page\n")
    page.write("one", "\nold\n", "\n## The first\n\n")
    page.write("two", "\nother\n", "\n## The second\n\n")
    by_hand = path.read_text().replace("## The second", "By hand.\n\n## The second, renamed")
    path.write_text(by_hand)
    page.write("one", "\nnew\n", "\n## The first\n\n")
    assert path.read_text() == by_hand.replace("\nold\n", "\nnew\n")


def test_a_section_without_an_end_is_refused_and_the_page_stays(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    for text in ("<!-- begin one --> no end", "<!-- end one --> turned <!-- begin one -->"):
        page.write_text(text)
        with pytest.raises(FormatError, match="must both be there, in this order"):
            Page(page, "").write("one", "new")
        assert page.read_text() == text


def test_new_sections_go_in_front_of_the_last_text(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    page = Page(path, "# A page\n\nBy hand.\n", "By hand.")
    page.write("one", "1")
    page.write("two", "2")
    assert (
        path.read_text()
        == "# A page\n\n<!-- begin one -->\n1\n<!-- end one -->\n\n<!-- begin two -->\n2\n<!-- end"
        " two -->\n\nBy hand.\n"
    )
    with pytest.raises(ConfigurationError, match="cannot be read"):
        Page(tmp_path, "").check("one")


def test_pictures_lie_in_a_folder_of_the_pages_name(tmp_path: Path) -> None:
    assert (
        Page(tmp_path / "page.md", "").picture("curve", Figure(), "A curve")
        == "![A curve](page/curve.png)"
    )
    assert (tmp_path / "page" / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_new_rows_replace_those_with_the_same_key(tmp_path: Path) -> None:
    page = Page(tmp_path / "page.md", "")
    page.add([{"a": "one", "b": 2, "c": 0.25}, {"a": "two", "b": 2, "c": True}], ("a", "b"))
    rows = page.add([{"a": "one", "b": 2, "c": None}, {"a": "one", "b": 3, "d": "x, y"}], "ab")
    assert rows == [
        {"a": "one", "b": 2, "c": None, "d": None},
        {"a": "two", "b": 2, "c": True, "d": None},
        {"a": "one", "b": 3, "c": None, "d": "x, y"},
    ]
    assert page.data() == tmp_path / "data" / "page.csv"


def test_dates_of_rows_are_a_sentence() -> None:
    rows = [{"date": day} for day in ("2026-11-23", "2026-11-03", "2026-11-23")]
    assert measured(rows[:1]) == "Measured on 23 November 2026."
    assert measured(rows) == "Measured from 3 November to 23 November 2026."
