"""Checkpoints: a missing or damaged one is refused.

A run that is killed at any moment leaves a whole one.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from monopoly_env.errors import FormatError
from training.run import checkpoints


def test_a_damaged_or_missing_checkpoint_is_refused(tmp_path: Path) -> None:
    assert checkpoints.read_last(tmp_path) == ({}, {})
    checkpoints.write(tmp_path, 7, {"part": {"a": np.arange(5)}}, {"step": 7})
    parts, state = checkpoints.read_last(tmp_path)
    assert state == {"step": 7}
    assert parts["part"]["a"].tolist() == [0, 1, 2, 3, 4]
    (tmp_path / "step-000000000007" / "part.npz").write_bytes(b"nothing of the kind")
    with pytest.raises(FormatError, match="is damaged"):
        checkpoints.read_last(tmp_path)


@pytest.mark.parametrize("moment", range(5))
def test_who_is_killed_while_a_step_is_written_anew_leaves_the_old_or_the_new_one(
    moment: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoints.write(tmp_path, 0, {"part": {"a": np.arange(5)}}, {"stage": 0})
    calls = iter(range(100))

    def until(moment: int, function: Any) -> Any:
        def called(*arguments: Any, **options: Any) -> Any:
            if next(calls) == moment:
                raise KeyboardInterrupt
            return function(*arguments, **options)

        return called

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", until(moment, os.replace))
        patch.setattr(shutil, "rmtree", until(moment, shutil.rmtree))
        if (
            moment < 4
            # aside is cleared, the old one goes aside, the new one takes its place, the old one is
            # deleted
        ):
            with pytest.raises(KeyboardInterrupt):
                checkpoints.write(tmp_path, 0, {"part": {"a": np.arange(6)}}, {"stage": 1})
        else:
            checkpoints.write(tmp_path, 0, {"part": {"a": np.arange(6)}}, {"stage": 1})
    parts, state = checkpoints.read_last(tmp_path)
    assert state["stage"] == int(moment > 2)
    assert not list(tmp_path.glob(".old-*"))
    assert len(parts["part"]["a"]) == 5 + state["stage"]
    checkpoints.write(tmp_path, 0, {"part": {"a": np.arange(7)}}, {"stage": 2})
    assert checkpoints.read_last(tmp_path)[1] == {"stage": 2}
    assert [path.name for path in tmp_path.iterdir()] == ["step-000000000000"]
