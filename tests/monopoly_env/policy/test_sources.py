"""Policies in a user's Python code, by a name such as `my_file.py:Orange`.

They play wherever names go, but never from a saved file.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import agents
import monopoly_env as me
from monopoly_env import play
from monopoly_env.policy import files
from pente_env import play as pente
from training import tournament
from training.run.options import digests_of

CODE = """
import agents

class Orange(agents.BatchedPolicy):
    name = "orange"

    def act(self, decisions):
        return decisions.mask.argmax(axis=1)

@agents.policy_kernel
def first(game, mask, params, memory):
    return mask.argmax()

ready, number = Orange(), 3

def made():
    return Orange()

def broken():
    raise ZeroDivisionError("oops")
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "orange.py").write_text(CODE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    "name",
    ["orange.py:Orange", "orange.py:first", "orange.py:ready", "orange.py:made", "orange:Orange"],
)
def test_a_policy_is_taken_from_a_file_or_a_module(name: str) -> None:
    games, policy = me.new_games([0], 2), agents.resolve(name)
    assert policy.name == ("first" if "first" in name else "orange")
    assert policy.act(agents.Decisions(games))[0] == me.legal_actions(games[0])[0]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("orange.py:Orang", r"'orange.py' has no 'Orang'. Did you mean 'Orange'\?"),
        ("orange.py:number", "must be, or make, one of Policy, PolicyKernel; it is 3"),
        ("orange.py:broken", "ZeroDivisionError: oops"),
        ("none.py:x", "there is no file 'none.py'"),
        ("none:x", "there is no module 'none'"),
        ("orange.py", "named as my_file.py:Name"),
    ],
)
def test_what_is_no_policy_is_refused_in_a_sentence(name: str, said: str) -> None:
    with pytest.raises(me.ConfigurationError, match=said):
        agents.resolve(name)


@pytest.mark.usefixtures("here")
def test_commands_take_it(capsys: pytest.CaptureFixture[str]) -> None:
    names = ["orange.py:Orange", "orange.py:first"]
    assert play.main(["--players", *names, "--max-turns", "2", "--delay", "0"]) == 0
    assert "(orange)" in capsys.readouterr().out
    assert tournament.expand(names) == names


def test_an_edited_file_is_read_anew_and_a_resumed_run_notices(here: Path) -> None:
    before = digests_of(["orange.py:Orange", "random"])
    assert list(before) == ["orange.py:Orange"]
    (here / "orange.py").write_text(CODE.replace('"orange"', '"peel"'))
    assert agents.resolve("orange.py:Orange").name == "peel"
    assert digests_of(["orange.py:Orange"]) != before


@pytest.mark.parametrize(
    "reaching", ["evil.py:Orange", "evil:Orange", "bot:touch bad", "language_model:mine"]
)
@pytest.mark.parametrize("place", ["kind", "base"])
def test_a_saved_policy_runs_no_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, reaching: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "evil.py").write_text("import pathlib\npathlib.Path('bad').touch()\n" + CODE)
    kind, options = (reaching, {}) if place == "kind" else ("one_ply", {"base": reaching})
    files.write(
        tmp_path / "saved.safetensors",
        {"kind": kind, "name": "a", "options": options, "encoding": None},
        {},
    )
    with pytest.raises(me.MonopolyError, match=r"never from a file|Unknown policy"):
        agents.load(tmp_path / "saved.safetensors")
    assert not (tmp_path / "bad").exists()


def test_players_that_look_ahead_have_names() -> None:
    assert {"search", "search/best", "one_ply"} <= set(agents.names())
    with pytest.raises(me.ConfigurationError, match="Did you mean 'search/best'"):
        agents.make("serch/best")
    assert tournament.expand(["search*"]) == [
        name for name in agents.names() if name.startswith("search")
    ]


def test_an_unknown_name_shows_three_near_ones_and_where_the_list_is() -> None:
    with pytest.raises(me.ConfigurationError) as raised:
        agents.resolve("stratgic/cautous")
    assert (
        str(raised.value) == "Unknown policy 'stratgic/cautous'. Did you mean 'strategic/cautious',"
        " 'strategic/default' or 'strategic/adaptive'? All names: `agents.names()`,"
        " docs/agents.md. Or give a saved .safetensors file, or my_file.py:Name."
    )
    with pytest.raises(me.ConfigurationError) as raised:
        agents.make("qwxyz")
    assert "Did you mean" not in str(raised.value)


def test_pente_takes_players_from_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        "import pente_env\n\ndef player():\n    return pente_env.make('blocker').with_params([],"
        " 'mine')\n"
    )
    assert (
        pente.main(
            ["--players", "mine.py:player", "random", "--games", "2", "--json", "--size", "7"]
        )
        == 0
    )
    assert "mine" in [row["name"] for row in json.loads(capsys.readouterr().out)["players"]]
