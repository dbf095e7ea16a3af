"""The reference pages say what the tables say."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

import agents.reference
import monopoly_env as me
from monopoly_env import actions, encoding, reference, rewards
from tests.programs import python


def test_pages_are_up_to_date() -> None:
    assert reference.stale(reference.DOCS) == []
    assert reference.stale(reference.DOCS, agents.reference.PAGES) == []


def test_pages_do_not_depend_on_what_a_user_registered() -> None:
    pages = {name: text() for name, text in reference.PAGES.items()}
    rewards.register("mine", lambda game, left, discount, memory, out: None)
    encoding.register("mine", ("zero",), lambda game, seat, row: None)
    assert "mine" in rewards.names()
    assert "mine" in encoding.registered()
    assert {name: text() for name, text in reference.PAGES.items()} == pages


@pytest.mark.parametrize("name", reference.PAGES)
def test_a_changed_page_is_stale(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*words: str) -> int:
        given = [*words, "--folder", str(tmp_path)]
        return reference.main(reference.PAGES, "monopoly_env.reference", given)

    assert run() == 0
    assert run("--check") == 0
    (tmp_path / name).write_text((tmp_path / name).read_text("utf-8") + "x", "utf-8")
    assert run("--check") == 1
    assert name in capsys.readouterr().err
    (tmp_path / name).unlink()
    assert reference.stale(tmp_path) == [name]


def test_command_checks(tmp_path: Path) -> None:
    command = "-m", "monopoly_env.reference", "--check", "--folder"
    python(*command, reference.DOCS)
    failed = python(*command, tmp_path, status=1)
    assert "out of date" in failed.stderr


def test_pages_name_everything() -> None:
    acts, observations = reference.actions_page(), reference.observation_page()
    assert "| Vermont Avenue | 16 | 38 | 60 | 88 | 123 | 155 |" in acts
    assert "| `bid` | 2-9 | 0 fold (English) or done (sealed), then raise by 1, 5, 10," in acts
    assert all(f"`{name}`" in acts for name in (*actions.HEADS, *actions.DECISIONS))
    blocks = (
        *encoding.standard.SHARED,
        *encoding.standard.EACH,
        *encoding.ocnaru.BLOCKS,
        *encoding.ocnaru.PLUS,
    )
    assert all(f"| {block.name} |" in observations for block in blocks)
    assert all(
        f"| {players} | {encoding.size('standard', players)} |" in observations
        for players in range(2, 9)
    )
    record = reference.record_page()
    assert all(f"| `{name}` |" in record for name in me.GAME.names or ())
    assert "| 8 | Vermont Avenue | 3 | light_blue | 100 | 50 |" in record
    options = reference.options_page()
    assert all(f"| `{option.name}` |" in options for option in dataclasses.fields(me.Rules))
    assert all(f"| `{preset}` |" in options for preset in me.Rules.presets())
    assert all(f"`{name}`" in reference.rewards_page() for name in rewards.BUILT_IN)
