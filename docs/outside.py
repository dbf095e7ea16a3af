"""A hook of MkDocs for what pages cannot have in the repository.

Pages link to files of the repository outside docs/. Every such file that a page links to becomes
part of the site, under `repository/`, and the links lead there. The front page shows the table,
which `make site` writes to play/. A site whose address is known (`MONOPOLY_ENV_SITE`) has social
cards.
"""

from __future__ import annotations

import html
import os
import re
from pathlib import Path
from typing import Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT: Final = Path(__file__).parents[1]
DOCS: Final = ROOT / "docs"
ALWAYS: Final = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
TABLE: Final = (
    '<p>Play here or <a href="play/index.html">on a page of its own</a>: rules and opponents run in'
    ' your browser.</p>\n<iframe src="play/index.html" title="The table" loading="lazy"'
    ' style="width: 100%; height: 80vh; border: 1px solid #8884"></iframe>'
)
CARD: Final = "pictures-of-the-table/desktop.png"
LINK: Final = re.compile(r"(?<=\]\()(?!https?:)([^)#\s]+)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files outside docs/ that pages link to."""
    pages = [*DOCS.rglob("*.md"), *(ROOT / name for name in ALWAYS)]
    linked = {
        target
        for page in pages
        for link in LINK.findall(page.read_text("utf-8"))
        if is_outside(target := resolved(page, link))
    }
    for path in sorted(linked | {ROOT / name for name in ALWAYS}):
        if path.is_file():
            files.append(File.generated(config, place(path), abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let the links of a page lead to where their files are on the site, and show the table."""
    here = Path(page.file.src_uri)
    source = ROOT / here.relative_to("repository") if here.parts[0] == "repository" else DOCS / here

    def moved(match: re.Match[str]) -> str:
        return os.path.relpath(place(resolved(source, match[1])), here.parent)

    return LINK.sub(moved, markdown).replace("<!-- the table -->", TABLE)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Add the card that other sites show for a link, which needs absolute addresses."""
    if not config.site_url:
        return output
    card = {
        "og:title": f"{page.title} - {config.site_name}",
        "og:description": config.site_description or "",
        "og:url": page.canonical_url or "",
        "og:image": f"{config.site_url.rstrip('/')}/{CARD}",
        "twitter:card": "summary_large_image",
    }
    tags = "".join(
        f'<meta property="{name}" content="{html.escape(text)}">\n' for name, text in card.items()
    )
    return output.replace("</head>", f"{tags}</head>", 1)


def resolved(page: Path, link: str) -> Path:
    """The file that a link of a page leads to."""
    return Path(os.path.normpath(page.parent / link))


def is_outside(path: Path) -> bool:
    """Whether a file of the repository lies outside docs/."""
    return not path.is_relative_to(DOCS)


def place(path: Path) -> str:
    """Where a file of the repository is on the site."""
    return (
        "repository" / path.relative_to(ROOT) if is_outside(path) else path.relative_to(DOCS)
    ).as_posix()
