"""Golden games replay to the same records, compiled or not."""

from pathlib import Path

import pytest

from monopoly_env.rules import PRESETS
from tests import golden
from tests.programs import python

REPLAY_ALL = """
import sys
from tests import golden
for preset in sys.argv[1:]:
    game = golden.load(preset)
    assert golden.replay(game) == game["digests"], preset
print("same", len(sys.argv) - 1)
"""


@pytest.mark.parametrize("preset", PRESETS)
def test_golden_game_replays_to_the_same_records(preset: str) -> None:
    recorded = golden.load(preset)
    assert len(recorded["digests"]) == len(recorded["actions"]) > 30
    today = golden.replay(recorded)
    first = next(
        (
            i
            for i, (old, new) in enumerate(zip(recorded["digests"], today, strict=True))
            if old != new
        ),
        None,
    )
    assert first is None, (
        f"record differs after decision {first}; if a rule changed on purpose: python -m"
        " tests.golden"
    )


@pytest.mark.slow
def test_golden_games_are_the_same_in_plain_python() -> None:
    """Promise 5: the same source, uncompiled, plays the same games."""
    words = "-W", "error::RuntimeWarning", "-c", REPLAY_ALL, *PRESETS
    done = python(*words, folder=Path(__file__).parents[2], NUMBA_DISABLE_JIT=1)
    assert done.stdout.split() == ["same", str(len(PRESETS))]
