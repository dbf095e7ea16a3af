"""The page as files: what it is made of, and what a strict content-security policy asks of it."""

import gzip
import hashlib
import json
import re
from importlib.resources import files
from pathlib import Path

import pytest
from studies.pages import read_rows

PAGE = files("monopoly_table") / "page"
VENDOR = PAGE / "vendor"
DATA = Path(__file__).parents[2] / "docs" / "results" / "data"
MODULES = sorted(path.name for path in (PAGE / "modules").iterdir())
VENDORED = json.loads((VENDOR / "vendored.json").read_text())["files"]


@pytest.mark.parametrize("entry", VENDORED, ids=lambda entry: entry["file"])
def test_vendored_code_is_what_its_list_says(entry: dict[str, str]) -> None:
    assert hashlib.sha256((VENDOR / entry["file"]).read_bytes()).hexdigest() == entry["sha256"]
    assert (VENDOR / entry["licence_file"]).read_text().strip()


def test_no_other_code_is_vendored() -> None:
    scripts = {path.name for path in VENDOR.iterdir() if path.name.endswith(".js")}
    assert scripts == {entry["file"] for entry in VENDORED}


def test_no_inline_script_or_style() -> None:
    index = (PAGE / "index.html").read_text()
    assert not re.search(r"<style|\bstyle=|\son\w+=|javascript:", index)
    assert re.findall(r"<script[^>]*>(.*?)</script>", index) == [""]


@pytest.mark.parametrize("name", MODULES)
def test_a_module_imports_only_files_of_the_page(name: str) -> None:
    text = (PAGE / "modules" / name).read_text()
    for target in re.findall(r'from "([^"]+)"', text):
        path = (
            PAGE / "vendor" / target.removeprefix("../vendor/")
            if "vendor" in target
            else PAGE / "modules" / target.removeprefix("./")
        )
        assert path.is_file(), f"{name} imports {target}"
    assert not re.search(r"innerHTML|dangerouslySetInnerHTML|\beval\(|new Function|https?://", text)


@pytest.mark.parametrize(
    "path", sorted(Path(str(PAGE), "local").iterdir()), ids=lambda path: path.name
)
def test_a_module_without_a_server_imports_only_files_of_ours(path: Path) -> None:
    text = path.read_text()
    for target in re.findall(r'from "([^"]+)"', text):
        assert (path.parent / target).is_file(), f"{path.name} imports {target}"
    assert not re.search(r"innerHTML|\beval\(|new Function|https?://", text)


def test_the_levels_have_the_ratings_of_the_tables() -> None:
    levels = (PAGE / "modules" / "levels.js").read_text().replace("\N{MINUS SIGN}", "-")
    ladder = {(row["name"], f"{row['points']:+}") for row in read_rows(DATA / "agents_ladder.csv")}
    rated = re.findall(r'policy: "(\S+)", line: ".*?([-+]\d+) points', levels)
    assert len(rated) == 3
    assert set(rated) <= ladder
    (among_four,) = (
        row["win_rate"]
        for row in read_rows(DATA / "bargaining.csv")
        if (row["policy"], row["opponent"], row["players"]) == ("expert/bargaining", "expert", 4)
    )
    assert f"wins {100 * among_four:.0f} of 100 games of four" in levels


def test_all_of_the_page_is_small() -> None:
    folders = (PAGE, PAGE / "modules", VENDOR)
    sent = [
        path
        for folder in folders
        for path in folder.iterdir()
        if path.name.endswith((".html", ".css", ".js", ".svg"))
    ]
    packed = sum(len(gzip.compress(path.read_bytes())) for path in sent)
    assert packed < 100_000  # as the server sends it
