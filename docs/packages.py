"""docs/packages.svg: the packages and modules in their layers, and the imports between them.

`python docs/packages.py` draws the picture: the layers are those of pyproject.toml
(`[tool.importlinter]`), the arrows are the imports in the code. An import that follows from others
(a imports b, b imports c, a imports c) is left out. With `--check` it writes nothing and exits with
status 1 if the picture is out of date.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any, Final, NamedTuple

import grimp

from monopoly_env.reference import main

ROOT: Final = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # for `studies`, which is not installed
# from top to bottom
PACKAGES: Final = ("studies", "training", "agents", "pente_env", "monopoly_env")
COLOURS: Final = ("#fdf0d5", "#e2f0d9", "#dbe9f6", "#f6e3e3", "#eee8f6")
WIDTH: Final = 760
# pixels: height of a box, between boxes, of a row, of a title, around
BOX, GAP, ROW, TITLE, MARGIN = (26, 36, 54, 24, 24)


class Box(NamedTuple):
    """A module or subpackage in the picture: its name, its centre and its width."""

    name: str
    x: float
    y: float
    width: float


def contract_of(package: str) -> dict[str, Any]:
    """The contract of pyproject.toml that names the layers of a package; empty if it has none."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    return next((contract for contract in contracts if contract.get("containers") == [package]), {})


def rows_of(package: str) -> list[list[str]]:
    """The modules of a package, layer by layer; in one row if it has no layers."""
    known = children(package)
    rows = [
        [name for name in re.findall(r"\w+", layer) if name in known]
        for layer in contract_of(package).get("layers", ())
    ]
    return [row for row in rows if row] or [sorted(known)]


def children(package: str) -> set[str]:
    """The names of the modules and subpackages right under a package.

    Those that start a command are left out.
    """
    folder = next(path for path in (ROOT / "src" / package, ROOT / package) if path.is_dir())
    found = {
        path.stem
        for path in folder.iterdir()
        if path.suffix == ".py" or (path / "__init__.py").is_file()
    }
    return found - {"__init__", "__main__"}


def imports(package: str) -> set[tuple[str, str]]:
    """The imports among the modules right under a package.

    Those that follow from others or that the contract ignores are left out.
    """
    graph, names = grimp.build_graph(package, cache_dir=None), children(package)
    for name in names:
        graph.squash_module(f"{package}.{name}")
    edges = {
        (a, b)
        for a in names
        for b in names - {a}
        if f"{package}.{b}" in graph.find_modules_directly_imported_by(f"{package}.{a}")
    }
    ignored = contract_of(package).get("ignore_imports", ())
    direct = {(a, b) for a, b in edges if f"{package}.{a} -> {package}.{b}" not in ignored}
    indirect: set[tuple[str, str]] = set()
    while longer := {(a, c) for a, b in direct | indirect for d, c in direct if b == d} - indirect:
        indirect |= longer
    return direct - indirect


def picture() -> str:
    """The text of docs/packages.svg."""
    parts: list[str] = []
    top: float = MARGIN
    for package, colour in zip(PACKAGES, COLOURS, strict=True):
        rows = [part for row in rows_of(package) for part in wrapped(row)]
        height = TITLE + ROW * len(rows) - BOX / 2
        if top > MARGIN:
            parts.append(f'<path class="down" d="M{WIDTH / 2} {top - MARGIN} v{MARGIN - 6}"/>')
        parts.append(
            f'<rect x="{MARGIN}" y="{top}" width="{WIDTH - 2 * MARGIN}" height="{height}" rx="8"'
            f' fill="{colour}"/>'
        )
        parts.append(f'<text class="title" x="{2 * MARGIN}" y="{top + 22}">{package}</text>')
        boxes = {
            box.name: box
            for number, row in enumerate(rows)
            for box in placed(row, top + TITLE + ROW * number + BOX / 2)
        }
        parts += [
            arrow(boxes[a], boxes[b])
            for a, b in sorted(imports(package))
            if a in boxes and b in boxes
        ]
        for box in boxes.values():
            parts.append(
                f'<rect class="box" x="{box.x - box.width / 2}" y="{box.y - BOX / 2}"'
                f' width="{box.width}" height="{BOX}" rx="4"/>'
            )
            parts.append(
                f'<text x="{box.x}" y="{box.y + 4}" text-anchor="middle">{box.name}</text>'
            )
        top += height + MARGIN
    return HEAD.format(width=WIDTH, height=top) + "\n".join(parts) + "\n</svg>\n"


def wrapped(row: list[str]) -> list[list[str]]:
    """A row as one or more that fit into the picture."""
    if sum(20 + 8 * len(name) + GAP for name in row) <= WIDTH - 2 * MARGIN:
        return [row]
    half = (len(row) + 1) // 2
    return [*wrapped(row[:half]), *wrapped(row[half:])]


def placed(row: list[str], y: float) -> list[Box]:
    """The boxes of a row, centred."""
    widths = [20 + 8 * len(name) for name in row]
    x = (WIDTH - sum(widths) - GAP * (len(row) - 1)) / 2
    boxes = []
    for name, width in zip(row, widths, strict=True):
        boxes.append(Box(name, x + width / 2, y, width))
        x += width + GAP
    return boxes


def arrow(above: Box, below: Box) -> str:
    """An arrow from the module that imports to the one that it imports."""
    if above.y == below.y:
        side = 1 if below.x > above.x else -1
        start, end = above.x + side * above.width / 2, below.x - side * below.width / 2
        lift = above.y - BOX / 2 - 10 if abs(end - start) > GAP else above.y
        return (
            f'<path class="arrow" d="M{start} {above.y} Q{(start + end) / 2} {lift} {end}'
            f' {below.y}"/>'
        )
    start, end = above.y + BOX / 2, below.y - BOX / 2
    # around the boxes between them
    aside = above.width if abs(above.x - below.x) < BOX and end - start > ROW else 0
    return (
        f'<path class="arrow" d="M{above.x} {start} C{above.x + aside} {start + 24}'
        f' {below.x + aside} {end - 24} {below.x} {end}"/>'
    )


HEAD: Final = """<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">
<style>
text {{ font: 13px sans-serif; fill: #222 }} .title {{ font-weight: bold; font-size: 15px }}
.box {{ fill: white; stroke: #888 }} .arrow {{ fill: none; stroke: #999; marker-end: url(#tip) }}
.down {{ stroke: #666; stroke-width: 2; marker-end: url(#tip) }}
</style>
<marker id="tip" markerWidth="8" markerHeight="8" refX="5" refY="3" orient="auto" markerUnits="userSpaceOnUse">
<path d="M0 0 L6 3 L0 6 z" fill="#666"/></marker>
<rect width="100%" height="100%" fill="white"/>
"""  # noqa: E501

if __name__ == "__main__":
    sys.exit(main({"packages.svg": picture}, "docs/packages.py"))
