"""The documentation site is built, and a host that sets its address gets absolute links."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[1]
SITE: Final = "https://docs.example/monopoly"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built with an address; a dead link is an error."""
    folder = tmp_path_factory.mktemp("site")
    command = f"{sys.executable} -m mkdocs build --quiet --strict --site-dir {folder}"
    environment = os.environ | {"MONOPOLY_ENV_SITE": SITE, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        command.split(), cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
def test_the_sitemap_lists_the_pages(built: Path) -> None:
    listed = re.findall(r"<loc>(.*?)</loc>", (built / "sitemap.xml").read_text("utf-8"))
    pages = {path.relative_to(built).as_posix() for path in built.rglob("*.html")} - {"404.html"}
    assert {f"{SITE}/{page}" for page in pages if not page.startswith("browser/")} == set(listed)


@pytest.mark.slow
def test_a_page_has_a_social_card_with_absolute_addresses(built: Path) -> None:
    text = (built / "results" / "agents.html").read_text("utf-8")
    assert f'<link rel="canonical" href="{SITE}/results/agents.html">' in text
    card = dict(re.findall(r'<meta property="(\S+)" content="(.*?)">', text))
    assert card["og:url"] == f"{SITE}/results/agents.html"
    assert card["og:title"] == "Scripted agents - monopoly-env"
    assert (built / card["og:image"].removeprefix(f"{SITE}/")).is_file()


@pytest.mark.slow
def test_the_description_of_the_package_links_to_the_site(built: Path) -> None:
    absolute = runpy.run_path(str(ROOT / "hatch_build.py"))["absolute"]
    readme = (ROOT / "README.md").read_text("utf-8")
    links = re.findall(r"\]\(([^)#\s]+)", absolute(readme, SITE))
    assert len(links) == len(re.findall(r"\]\(", readme)) > 40
    assert all(link.startswith(f"{SITE}/") for link in links)
    missing = [link for link in links if not (built / link.removeprefix(f"{SITE}/")).is_file()]
    assert missing == []


def test_without_an_address_nothing_is_invented(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MONOPOLY_ENV_SITE", raising=False)
    metadata: dict[str, object] = {}
    runpy.run_path(str(ROOT / "hatch_build.py"))["Metadata"](str(ROOT), {}).update(metadata)
    text = (ROOT / "README.md").read_text("utf-8")
    assert metadata == {"readme": {"content-type": "text/markdown", "text": text}, "urls": {}}
