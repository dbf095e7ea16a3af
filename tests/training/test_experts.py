"""Data sets of experts' games.

What is written, what is read, and what becomes of a run that was stopped.
"""

from __future__ import annotations

import dataclasses
import io
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.dataset
import pytest
from rich.console import Console

from monopoly_env.errors import ConfigurationError, FormatError, MonopolyError
from monopoly_env.policy.protocol import Policy
from monopoly_env.rules import RULES_VERSION
from training import experts
from training.experience import datasets
from training.experience.datasets import COLUMNS, FORMATS, gather, load
from training.experience.masks import unpack
from training.experience.recording import Experiences
from training.experience.streams import seatings, stream
from training.experts import ExpertOptions
from training.run.folder import Run

ROOT = Path(__file__).parents[2]
SMALL = ExpertOptions(
    players=("strategic", "strategic/cautious"),
    games=300,
    encoding="ocnaru100",
    heads=("buy",),
    format="npz",
    shard_size=1,
    threads=2,
)


def write(options: ExpertOptions) -> dict[str, Any]:
    return experts.execute(options, Console(file=io.StringIO()))


def tables(options: ExpertOptions) -> list[tuple[Policy, ...]]:
    return experts.tables_of(experts.check(options), options.num_players)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set in several shards; tests copy it to change it."""
    folder = tmp_path_factory.mktemp("data") / "whole"
    write(dataclasses.replace(SMALL, out=folder))
    return folder


@pytest.fixture
def copy(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "copy"))


def change(folder: Path, **changes: Any) -> None:
    about = json.loads((folder / datasets.ABOUT).read_text())
    (folder / datasets.ABOUT).write_text(json.dumps(about | changes))


# --- what is written


@pytest.mark.parametrize("form", FORMATS)
def test_a_data_set_is_the_stream(tmp_path: Path, form: str) -> None:
    options = dataclasses.replace(SMALL, format=form, out=tmp_path / "new" / "data")
    written = write(options)
    expected = Experiences.joined(
        list(stream(tables(options), 300, rules="ocnaru", encoding="ocnaru100", heads=("buy",)))
    )
    shards = list(load(options.out))
    found = Experiences.joined(shards)
    assert (written["experiences"], written["games"], written["shards"]) == (
        expected.size,
        300,
        len(shards),
    )
    for name, column, other in zip(Experiences._fields, found, expected, strict=True):
        assert column.dtype == other.dtype, name
        np.testing.assert_array_equal(column, other, err_msg=name)
    assert len(shards) > 2
    assert all(sum(column.nbytes for column in shard) <= 1_000_000 for shard in shards)
    assert all(before.game[-1] < after.game[0] for before, after in itertools.pairwise(shards))
    assert written["bytes"] == sum(path.stat().st_size for path in options.out.glob("shard-*"))


def test_arrow_reads_the_folder_and_knows_what_it_is(tmp_path: Path) -> None:
    options = dataclasses.replace(SMALL, games=60, format="parquet", out=tmp_path / "data")
    write(options)
    expected = Experiences.joined(list(load(options.out)))
    frame = pd.read_parquet(options.out)
    np.testing.assert_array_equal(frame.game, expected.game)
    np.testing.assert_array_equal(np.stack(frame.observation), expected.observation)
    table = pyarrow.dataset.dataset(options.out).to_table()
    np.testing.assert_array_equal(table["action"].to_numpy(), expected.action)
    about = json.loads(table.schema.metadata[datasets.FORMAT.encode()])
    whole = json.loads((options.out / datasets.ABOUT).read_text())
    assert {name: whole[name] for name in about} == about
    assert {"rules", "encoding", "decisions", "feature_names", "rules_version"} <= set(about)
    assert [field.metadata[b"unit"].decode() for field in table.schema] == [
        column.unit for column in COLUMNS
    ]


def test_the_json_says_what_the_data_are(whole: Path) -> None:
    about = json.loads((whole / datasets.ABOUT).read_text())
    assert about["finished"]
    assert [column["name"] for column in about["columns"]] == list(Experiences._fields)
    assert (about["games"], about["experiences"]) == (
        300,
        sum(shard["experiences"] for shard in about["shards"]),
    )
    assert [shard["first_game"] for shard in about["shards"]] == [
        0,
        *np.cumsum([shard["games"] for shard in about["shards"]])[:-1],
    ]
    assert len(about["feature_names"]) == 100
    assert about["heads"]["buy"] == [0, 2]
    names, seats = seatings(tables(SMALL))
    assert (about["policies"], about["seats"]) == (list(names), seats.tolist())
    assert "--heads buy" in about["command"]
    assert "--out" not in about["command"]


def test_the_command_it_names_makes_the_same_data(whole: Path, tmp_path: Path) -> None:
    words = json.loads((whole / datasets.ABOUT).read_text())["command"].split()
    assert words[:3] == ["python", "-m", "training.experts"]
    done = subprocess.run(
        [sys.executable, *words[1:], "--out", str(tmp_path / "again"), "--json"],
        capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "200"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["games"] == 300
    assert files(tmp_path / "again") == files(whole)


@pytest.mark.parametrize("form", FORMATS)
def test_the_card_reads_the_data(
    tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = dataclasses.replace(SMALL, games=40, format=form, out=tmp_path / "data")
    write(options)
    card = (options.out / datasets.CARD).read_text()
    assert all(row in card for row in datasets.schema_rows())
    program = re.search(r"```python\n(.*?)```", card, re.DOTALL)
    assert program
    monkeypatch.chdir(options.out)
    made: dict[str, Any] = {}
    exec(program[1], made)  # what a reader would type
    first = next(load(options.out))
    np.testing.assert_array_equal(made["observation"], first.observation)
    np.testing.assert_array_equal(made["mask"], unpack(first.choices))
    _, seats = seatings(tables(options))
    np.testing.assert_array_equal(made["policy"], seats[first.game % len(seats), first.player])


def test_shards_are_cut_by_size_between_games() -> None:
    def block(games: int, rows: int) -> tuple[Experiences, int]:
        return Experiences.empty(rows, features=100), games

    row = sum(column.nbytes for column in Experiences.empty(1, features=100))
    blocks = [block(2, 10), block(2, 5), block(2, 6), block(2, 0), block(2, 30), block(1, 1)]
    found = [(shard.size, games) for shard, games in gather(blocks, 15 * row)]
    assert found == [(15, 4), (6, 4), (30, 2), (1, 1)]
    assert list(gather([], 10)) == []


def test_the_page_has_the_columns() -> None:
    page = (ROOT / "docs" / "datasets.md").read_text()
    assert all(row in page for row in datasets.schema_rows())
    assert tuple(column.name for column in COLUMNS) == Experiences._fields


# --- stopped and resumed


def stop_at(name: str, error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on, a file of this name is not written: the run is stopped, or the disk is full."""
    replace: Callable[[Path, Path], Path] = Path.replace

    def stopped(path: Path, target: Path) -> Path:
        if target.name == name:
            raise error
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", stopped)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", ["shard-00001", "_dataset.json", "_README.md"])
def test_a_run_that_was_stopped_ends_in_the_same_files(
    tmp_path: Path, form: str, name: str
) -> None:
    options = dataclasses.replace(SMALL, format=form)
    write(dataclasses.replace(options, out=tmp_path / "whole"))
    broken = dataclasses.replace(options, out=tmp_path / "broken")
    with pytest.MonkeyPatch.context() as patch:
        stop_at(name if name.startswith("_") else f"{name}.{form}", KeyboardInterrupt(), patch)
        with pytest.raises(KeyboardInterrupt):
            write(broken)
    for left in (f".shard-00007.{form}.0123456789abcdef", "._dataset.json.0123456789abcdef"):
        (broken.out / left).write_bytes(b"what a kill leaves")
    (broken.out / f"shard-00009.{form}").write_bytes(b"not listed yet")
    write(dataclasses.replace(broken, resume=True, threads=1))
    assert files(broken.out) == files(tmp_path / "whole")
    write(dataclasses.replace(broken, resume=True))  # nothing is left to do
    assert files(broken.out) == files(tmp_path / "whole")


def test_finished_shards_are_not_written_again(
    whole: Path, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (copy / "shard-00001.npz").write_bytes(b"damaged")
    stop_at("shard-00000.npz", AssertionError("it was there"), monkeypatch)
    write(dataclasses.replace(SMALL, out=copy, resume=True))
    assert files(copy) == files(whole)


def test_a_full_disk_says_what_to_do(tmp_path: Path, whole: Path) -> None:
    options = dataclasses.replace(SMALL, out=tmp_path / "full")
    with pytest.MonkeyPatch.context() as patch:
        stop_at("shard-00001.npz", OSError(28, "No space left on device"), patch)
        with pytest.raises(
            ConfigurationError,
            match=r"shard-00001.npz': No space left on device. Fix that and continue with --resume",
        ):
            write(options)
    write(dataclasses.replace(options, resume=True))
    assert files(options.out) == files(whole)


# --- reading what is wrong


def refused(folder: Path, reason: str) -> None:
    with pytest.raises(FormatError, match=reason):
        list(load(folder))


def test_what_is_no_data_set_is_refused(tmp_path: Path) -> None:
    refused(tmp_path, r"holds no data set: _dataset.json can't be read \(.*No such file")
    for text, reason in (
        ("{", "is no JSON"),
        ("[]", "the format of _dataset.json"),
        ('{"format": "x"}', "the format of _dataset.json"),
    ):
        (tmp_path / datasets.ABOUT).write_text(text)
        refused(tmp_path, reason)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"format_version": 2}, "format_version is 2, expected 1"),
        ({"rules_version": 0}, f"rules_version is 0, expected {RULES_VERSION}"),
        ({"features": "abc"}, "features is 'abc', expected '"),
        ({"encoding": "ocnaru"}, "its encoding is unknown here .*'ocnaru'"),
        ({"encoding": "standard"}, "features is '"),
        ({"shard_format": "csv"}, "shard_format is 'csv', expected one of parquet, npz"),
        ({"columns": []}, "dtype of column 'observation' is None, expected 'float16'"),
        ({"finished": False}, r"is not finished: it has 300 of 300 games.*--resume"),
    ],
)
def test_data_of_another_version_are_refused_with_the_reason(
    copy: Path, changes: dict[str, Any], reason: str
) -> None:
    change(copy, **changes)
    with pytest.raises(FormatError, match=reason):
        load(copy)


def test_a_damaged_or_missing_shard_is_refused(copy: Path) -> None:
    shard = copy / "shard-00001.npz"
    shard.write_bytes(shard.read_bytes()[:-1])
    refused(copy, "shard-00001.npz' is damaged: it is not the file that _dataset.json lists")
    shard.unlink()
    refused(copy, "shard-00001.npz' can't be read: .*No such file")


def test_a_shard_that_is_not_what_the_json_says_is_refused(copy: Path) -> None:
    about = json.loads((copy / datasets.ABOUT).read_text())
    about["shards"][1]["experiences"] += 1
    change(copy, **about)
    refused(
        copy,
        r"shard-00001.npz' is damaged .*column 'observation' is float16 \(\d+, 100\), expected"
        r" float16 \(\d+, 100\)",
    )


def test_a_shard_is_a_file_of_its_folder(copy: Path) -> None:
    about = json.loads((copy / datasets.ABOUT).read_text())
    (copy / "shard-00000.npz").rename(copy.parent / "elsewhere.npz")
    os.mkfifo(copy / "pipe")
    for file, reason in (
        ("../elsewhere.npz", "is not a file of this folder"),
        ("/dev/zero", "is not a file of this folder"), ("", "can't be read"),
        (7, "is damaged"), ("pipe", "not a regular file"),
    ):  # fmt: skip
        change(copy, shards=[about["shards"][0] | {"file": file}])
        refused(copy, reason)


# --- the command


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"players": ()}, "--players must name a policy"),
        ({"players": ("strategc",)}, "Unknown policy 'strategc'.* Did you mean 'strategic'"),
        ({"players": ("gone.safetensors",)}, "gone.safetensors"),
        ({"rules": "ocnar"}, "Did you mean 'ocnaru'"),
        ({"encoding": "ocnaru"}, "Unknown encoding 'ocnaru'"),
        ({"num_players": 3}, "for 2 players"),
        ({"num_players": 9, "encoding": "standard"}, "from 2 to 8"),
        ({"heads": ("byu",)}, "Unknown head 'byu'. Did you mean 'buy'"),
        ({"format": "csv"}, "Unknown format 'csv'"),
        ({"games": 0}, "--games must be from 1 to"),
        ({"seed": -1}, "--seed must be from 0 to"),
        ({"shard_size": 0}, "--shard-size must be from 1 to"),
        ({"threads": 0}, "--threads must be from 1 to"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_written(
    tmp_path: Path, changes: dict[str, Any], reason: str
) -> None:
    options = dataclasses.replace(SMALL, out=tmp_path / "data", **changes)
    with pytest.raises(MonopolyError, match=reason):
        write(options)
    assert not options.out.exists()


def test_a_policy_that_is_not_compiled_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"Policy 'one_ply.*' is not compiled"):
        write(dataclasses.replace(SMALL, out=tmp_path / "data", players=("random", "one_ply")))
    assert not (tmp_path / "data").exists()


def test_parquet_needs_its_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(
        ConfigurationError, match=r"pip install 'monopoly-env\[results\]', or choose --format npz"
    ):
        write(dataclasses.replace(SMALL, out=tmp_path / "data", format="parquet"))


def test_only_a_data_set_is_ever_replaced(
    copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(
        ConfigurationError, match="continue it with --resume, replace it with --overwrite"
    ):
        write(dataclasses.replace(SMALL, out=copy))
    with pytest.raises(
        ConfigurationError,
        match="begun with other settings: seed is 1, was 0; games is 400, was 300",
    ):
        write(dataclasses.replace(SMALL, out=copy, resume=True, games=400, seed=1))
    with pytest.raises(ConfigurationError, match="choose one"):
        write(dataclasses.replace(SMALL, out=copy, resume=True, overwrite=True))
    with pytest.raises(ConfigurationError, match="No run to resume"):
        write(dataclasses.replace(SMALL, out=tmp_path / "nowhere", resume=True))
    assert len(list(load(copy))) > 2
    write(dataclasses.replace(SMALL, out=copy, games=20, overwrite=True))
    assert [shard.game[-1] for shard in load(copy)] == [19]
    training_run = Run.open(tmp_path / "run", {"steps": 1}, resume=False, overwrite=False)
    training_run.agent.write_text("weights")
    with pytest.raises(ConfigurationError, match="is not a run: choose another folder"):
        write(dataclasses.replace(SMALL, out=training_run.folder, overwrite=True))
    assert training_run.agent.read_text() == "weights"
    photos = tmp_path / "photos"
    photos.mkdir()
    (photos / "shard-one.jpg").write_text("dear")
    assert experts.main(["--out", str(photos), "--overwrite"]) == 2
    assert "exists and is not a run" in capsys.readouterr().err
    assert (photos / "shard-one.jpg").read_text() == "dear"


def test_every_option_has_a_line_of_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        experts.main(["--help"])
    shown = capsys.readouterr().out
    for field in dataclasses.fields(ExpertOptions):
        assert f"--{field.name.replace('_', '-')}" in shown
