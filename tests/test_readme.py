"""What README.md and the pages beside it show is real.

Examples run, commands exist, the picture and the figures are measured.
"""

from __future__ import annotations

import json
import re
import runpy
import sys
from pathlib import Path

import pytest
from benchmarks import run

import agents
import monopoly_env as me
from monopoly_env import actions, encoding
from tests import forked

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TUTORIALS = sorted(f"tutorials/{path.stem}" for path in (ROOT / "docs" / "tutorials").glob("*.md"))
PAGES = (
    "quickstart",
    "bench",
    "install",
    "commands",
    "training",
    "analysis",
    "esp",
    "evolution",
    "pente",
    "puzzles",
    "speed",
    "table",
    "validation",
    "reference/policies",
    *TUTORIALS,
)
TEXT = "\n".join(
    [README, *((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8") for page in PAGES)]
)


def blocks(language: str) -> list[tuple[str, str]]:
    """The code blocks of a language in README.md and the pages beside it, with their headings."""
    found, heading = [], ""
    for part in re.finditer(
        rf"^#+ ([^\n]+)$|^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL
    ):
        heading = part[1] or heading
        if part[2] is not None:
            found.append((heading, part[2]))
    return found


PYTHON = blocks("python")
COMMANDS = [line.split("#")[0].strip() for _, block in blocks("sh") for line in block.splitlines()]
MODULES = [command for command in COMMANDS if command.startswith("python -m ")]


def program_of(command: str) -> list[str]:
    """A command's module and subcommand or preset, without its other options."""
    words = command.split()[1:]
    if words[2:3] == ["--preset"]:
        return words[:4]
    return words[:3] if len(words) > 2 and not words[2].startswith("-") else words[:2]


@pytest.mark.parametrize(
    ("heading", "code"),
    [
        pytest.param(heading, code, id=heading, marks=[pytest.mark.slow] * ("sb3_contrib" in code))
        for heading, code in PYTHON
    ],
)
def test_examples_run(heading: str, code: str, tmp_path: Path) -> None:
    assert sum(map(bool, code.splitlines())) <= 15, (
        f"{heading}: more than 15 lines that are not blank"
    )
    (tmp_path / "example.py").write_text(code, encoding="utf-8")
    forked.run(tmp_path / "example.py")


def test_there_is_an_example_of_each_way_in() -> None:
    code = "".join(code for _, code in PYTHON)
    ways = (
        "me.new_game( me.position( monopoly_v0.env( gymnasium.make( gymnasium.make_vec("
        " me.VectorMonopoly( arena.play("
    )
    assert [way for way in ways.split() if way not in code] == []


@pytest.mark.parametrize("name", ["compiled_policy", "batched_policy"])
def test_policies_are_the_tested_examples(name: str) -> None:
    """Except for their first line, which is for the linter."""
    source = (ROOT / "tests" / "examples" / f"{name}.py").read_text(encoding="utf-8")
    assert source.split("\n", 1)[1] in [code for _, code in PYTHON]


# another test imported it
@pytest.mark.filterwarnings("ignore:.* found in sys.modules:RuntimeWarning")
@pytest.mark.parametrize("program", sorted({" ".join(program_of(command)) for command in MODULES}))
def test_commands_know_their_options(
    program: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As Python runs a module, but in this process.

    New ones would spend a minute and a half on imports.
    """
    _, module, *words = program.split()
    monkeypatch.setattr(sys, "argv", [module, *words, "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    assert not ended.value.code
    text = capsys.readouterr().out
    assert "usage" in text.lower()
    options = {
        word
        for command in MODULES
        if " ".join(program_of(command)) == program
        for word in command.split()
        if word.startswith("--")
    }
    assert [option for option in options if option not in text] == []


def test_the_main_commands_are_named() -> None:
    named = " ".join(MODULES)
    for module in (
        "training.dqn",
        "training.tournament",
        "monopoly_env.play",
        "monopoly_env.validate",
    ):
        assert f"python -m {module}" in named
    assert any("--resume" in command for command in MODULES)


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    wanted = set(re.findall(r"`make (\w+)`", TEXT)) | {
        c.split()[1] for c in COMMANDS if c.startswith("make ")
    }
    assert {"train", "test", "bench"} <= wanted
    assert {"make train", "make test"} <= {
        command.strip() for command in COMMANDS if f"\n{command}" in README
    }
    for target in wanted:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_table_of_speed_is_the_measured_one() -> None:
    """`python benchmarks/run.py --readme` writes all three."""
    folder = ROOT / "benchmarks" / "results"
    measured = json.loads((folder / "speed.json").read_text(encoding="utf-8"))
    assert run.markdown(measured) == (folder / "speed.md").read_text(encoding="utf-8")
    shown = run.markdown(run.selected(measured))
    assert shown.count("\n|") > 10
    page = (ROOT / "docs" / "speed.md").read_text(encoding="utf-8")
    assert shown in page
    cold = json.loads((folder / "cold_start" / "speed.json").read_text(encoding="utf-8"))
    assert run.markdown(cold) == (folder / "cold_start" / "speed.md").read_text(encoding="utf-8")
    seconds = [float(text) for text in re.findall(r"(?:library|disk|compiles) ([\d.]+)", page)]
    assert seconds == sorted(float(f"{row['cpu_one_thread']:.3g}") for row in cold["figures"])


def test_facts_in_passing() -> None:
    design, rules = (
        (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8") for page in ("design", "rules")
    )
    assert f"{me.GAME.itemsize:,} bytes" in TEXT
    assert f"Discrete({actions.NUM_ACTIONS})` in {len(actions.HEADS)} heads" in design
    assert f"{encoding.size('standard', 4)} numbers for four players" in TEXT
    assert all(f"| `{preset}` |" in rules for preset in me.Rules.presets())
    assert "not affiliated" in README
    for name in ("algorithmic", "random", "random/no_trades"):
        assert name in agents.names()


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        *(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md")),
    ],
)
def test_links_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert target.startswith("https://") or ((ROOT / page).parent / target).exists(), target


def test_the_site_shows_every_page() -> None:
    site = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:\n")[1]
    shown = re.findall(r"([\w/]+)\.md$", site, re.MULTILINE)
    pages = {
        str(path.relative_to(ROOT / "docs").with_suffix(""))
        for path in (ROOT / "docs").rglob("*.md")
    }
    assert pages - set(shown) == set(), "add it to nav in mkdocs.yml"
    assert {page for page in shown if not page.startswith("repository/")} - pages == set()


def test_the_version_is_the_same_everywhere() -> None:
    assert f"\nversion: {me.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(
        rf"^## .*\b{re.escape(me.__version__)}\b",
        (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )


def test_the_rulebook_has_every_point() -> None:
    rules = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    points = [int(number) for number in re.findall(r"^(\d+)\. ", rules, re.MULTILINE)]
    assert points == list(range(1, 65))
    assert re.findall(r"\*\*A(\d+)\*\*", rules) == [str(number) for number in range(1, 30)]
    assert re.findall(r"^S(\d+)\. ", rules, re.MULTILINE) == [
        str(number) for number in range(1, 16)
    ]


def test_the_rulebook_names_files_and_options_that_exist() -> None:
    rules = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    source = ROOT / "src"
    for name in set(re.findall(r"`([\w/]+\.py)`", rules)):
        places = (
            source / "monopoly_env" / "engine" / name,
            source / "monopoly_env" / name,
            source / "monopoly_env" / "envs" / name,
            source / name,
            ROOT / name,
        )
        assert any(place.exists() for place in places), name
    options = set(me.Rules.__dataclass_fields__)
    assert options <= set(re.findall(r"\w+", rules)), options - set(re.findall(r"\w+", rules))
