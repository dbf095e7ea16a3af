"""Task 8, code: nothing is run unless the user says so.

There are ten submissions at most, and the final measure has other seeds.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from monopoly_bench import __main__ as front
from monopoly_bench import suite
from monopoly_bench.tasks import code
from monopoly_env.errors import ConfigurationError

Patch: TypeAlias = pytest.MonkeyPatch
Capture: TypeAlias = pytest.CaptureFixture[str]
BUYER = """
PARAMS = [300.0]

def play(game, mask, params, memory):
    if mask[1]:
        return 1 if game.cash[game.player] >= params[0] else 0
    return 16 if mask[16] else mask.argmax()
"""


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "kernel.py"
    path.write_text(BUYER)
    return path


def submit(path: Path, folder: Path, *more: str) -> int:
    return front.main(
        ["code", str(path), "--folder", str(folder), "--run-code", "--quick", "--json", *more]
    )


def told(capsys: Capture) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


@pytest.mark.slow
def test_a_series(written: Path, tmp_path: Path, monkeypatch: Patch, capsys: Capture) -> None:
    monkeypatch.setattr(code, "OPPONENTS", ("random", "yasumura"))
    folder = tmp_path / "series"
    assert submit(written, folder) == 0
    first = told(capsys)["agents"][0]
    assert 0 <= first["tasks"][0]["score"] <= 1
    assert set(first["tasks"][0]["details"]["shares"]) == {"random", "yasumura"}
    written.write_text("def play(game, mask, params, memory):\n    return 999\n")
    assert submit(written, folder) == 0
    assert "IllegalActionError" in told(capsys)["agents"][0]["tasks"][0]["absent"]
    words = ["code", "--final", "--folder", str(folder)]
    assert front.main([*words, "--run-code", "--quick", "--json"]) == 0
    final = told(capsys)["agents"][0]
    assert (final["name"], final["sha256"]) == ("submission 1", first["sha256"])
    assert [entry["submission"] for entry in final["tasks"][0]["details"]["submissions"]] == [1, 2]
    assert json.loads((folder / code.FINAL).read_text())["agents"][0] == final
    assert submit(written, folder) == 2
    assert "is over" in capsys.readouterr().err


def test_seeds_of_submissions_are_not_those_of_the_final_measure() -> None:
    seeds = [suite.load().game_seed(stream) for stream in code.STREAMS.values()]
    assert len(set(seeds)) == 2


def test_nothing_runs_unless_the_user_says_so(tmp_path: Path, capsys: Capture) -> None:
    path, mark = tmp_path / "kernel.py", tmp_path / "mark"
    path.write_text(f"open({str(mark)!r}, 'w')\n" + BUYER)
    assert front.main(["code", str(path), "--folder", str(tmp_path / "series"), "--quick"]) == 2
    assert "--run-code" in capsys.readouterr().err
    assert not mark.exists()
    assert not (tmp_path / "series").exists()


def test_a_series_has_ten_submissions(
    written: Path, tmp_path: Path, monkeypatch: Patch, capsys: Capture
) -> None:
    scores = iter([0.5, 0.75, *[0.25] * 8, 0.5])
    asked = []

    def measured(file: Path, stream: str, *_: Any) -> dict[str, Any]:
        asked.append((file.name, stream))
        return {"score": next(scores), "low": 0.0, "high": 1.0, "count": 4, "details": {}}

    monkeypatch.setattr(code, "measured", measured)
    for _ in range(code.SUBMISSIONS):
        assert submit(written, tmp_path / "series") == 0
    capsys.readouterr()
    assert submit(written, tmp_path / "series") == 2
    assert "10 submissions" in capsys.readouterr().err
    (tmp_path / "series" / "03.py").write_text("spoiled")
    assert front.main(["code", "--final", "--folder", str(tmp_path / "series"), "--run-code"]) == 2
    assert "not submission 3" in capsys.readouterr().err
    (tmp_path / "series" / "03.py").write_text(BUYER)
    assert front.main(["code", "--final", "--folder", str(tmp_path / "series"), "--run-code"]) == 0
    assert asked[-1] == ("02.py", "final")


@pytest.mark.parametrize(
    ("source", "says"),
    [("x = 1", "no function play"), ("1 +", "SyntaxError"),
     ("raise ValueError('mine')", "mine"), ("def play(a):\n    return 0", "must take"),
     ("def play(game, mask, params, memory):\n    return game.nothing", "does not compile")],
)  # fmt: skip
def test_what_is_no_kernel_is_told(source: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(source)
    with pytest.raises(ConfigurationError, match=says):
        code.load(path)


def test_a_submission_that_takes_too_long_has_failed(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "kernel.py"
    path.write_text("while True:\n    pass")
    assert submit(path, tmp_path / "series", "--seconds", "1") == 0
    assert "longer than 1 seconds" in told(capsys)["agents"][0]["tasks"][0]["absent"]


def test_mistakes_are_told(tmp_path: Path, capsys: Capture) -> None:
    for words, says in (
        ([], "one of the two"),
        (["--final", "x.py"], "one of the two"),
        (["no.py"], "Cannot read 'no.py'"),
        (["--final"], "no submission"),
    ):
        assert front.main(["code", *words, "--folder", str(tmp_path / "series"), "--run-code"]) == 2
        assert says in capsys.readouterr().err
