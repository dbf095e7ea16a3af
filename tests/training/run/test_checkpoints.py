"""Checkpoints: a missing or damaged one is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from monopoly_env.errors import ConfigurationError, FormatError
from training.run import checkpoints


def test_a_damaged_or_missing_checkpoint_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="No checkpoint"):
        checkpoints.read_last(tmp_path)
    checkpoints.write(tmp_path, 7, {"part": {"a": np.arange(5)}}, {"step": 7})
    parts, state = checkpoints.read_last(tmp_path)
    assert state == {"step": 7}
    assert parts["part"]["a"].tolist() == [0, 1, 2, 3, 4]
    (tmp_path / "step-000000000007" / "part.npz").write_bytes(b"nothing of the kind")
    with pytest.raises(FormatError, match="is damaged"):
        checkpoints.read_last(tmp_path)
