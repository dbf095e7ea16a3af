"""What the families share: parameters by name, slots of memory that do not overlap."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields
from functools import partial
from typing import Any

import pytest

from agents.players import algorithmic, fp, friedman, gcp, landlord, ocnaru, yasumura
from agents.players.expert import bargaining, trading
from agents.players.genetic import mukhar
from agents.players.ocnaru import stages
from agents.players.strategic import values
from agents.players.vocabulary.memory import COMPOSING, memory_slots
from agents.registry import BUILT_IN
from monopoly_env.errors import ConfigurationError
from monopoly_env.kernels import PLAIN
from monopoly_env.policy.protocol import MEMORY

KINDS = {factory.args[2] for factory in BUILT_IN.values() if isinstance(factory, partial)}
# Each policy with its slots, and those of the policy that it builds on.
LAYOUTS = [
    (algorithmic.SLOT,), (fp.SLOT,), (gcp.SLOT,), (landlord.SLOT,), (yasumura.SLOT, mukhar.SLOT),
    (values.SLOT,),
    (trading.SLOT, bargaining._SLOT),
    (stages.SLOT, ocnaru.algorithmic.OWN), (stages.SLOT, ocnaru.random.OWN),
]  # fmt: skip


@pytest.mark.parametrize(
    "kind",
    sorted([*KINDS, mukhar.Scripted], key=lambda kind: kind.__module__),
    ids=lambda kind: kind.__module__,
)
def test_every_parameter_has_a_meaning_and_a_column(kind: Any) -> None:
    assert list(kind.meanings()) == [option.name for option in fields(kind)]
    assert all(len(meaning) > 20 for meaning in kind.meanings().values())
    columns, defaults = kind.columns(), kind()
    assert list(columns) == list(range(len(fields(kind)))), kind
    for name, value in zip(columns._fields, kind().row(), strict=True):
        assert value == getattr(defaults, name), name


@pytest.mark.slow
def test_a_kernel_that_reads_a_row_by_name_is_compiled_once_and_kept() -> None:
    if PLAIN:
        pytest.skip("nothing is compiled")
    program = (
        "from agents.players import friedman;"
        " kernel = friedman.POLICIES['friedman']().kernel;"
        " print(*kernel.compiled.stats.cache_hits.values())"
    )
    friedman.POLICIES["friedman"]().kernel.compiled  # noqa: B018 - compiles it
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["1"], done.stderr  # fetched from disk


def test_slots_lie_one_after_another() -> None:
    slots = memory_slots("phase", "stamp", lots=28, seats=8, start=3)
    assert tuple(slots) == (3, 4, 5, 33, 41)
    assert slots._fields == ("phase", "stamp", "lots", "seats", "end")
    assert memory_slots("more", start=slots.end).more == 41
    assert memory_slots(all=COMPOSING).end == COMPOSING == MEMORY - 4


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_leave_room_for_the_offer_and_do_not_overlap(layout: tuple[Any, ...]) -> None:
    last = 0
    for slots in layout:
        assert list(slots) == sorted(set(slots))
        assert slots[0] == last
        last = slots.end
    assert last <= COMPOSING


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"start": 60, "many": 2}, "from 60 to 61 .many=2. do not fit: 0 to 59 are free"),
        ({"start": -1, "one": 1}, "do not fit"),
        ({"none": 0}, "do not fit"),
    ],
)
def test_slots_that_do_not_fit_are_an_error(arguments: dict[str, int], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        memory_slots(**arguments)


def test_a_name_that_is_used_twice_is_an_error() -> None:
    with pytest.raises(ValueError, match="duplicate"):
        memory_slots("phase", "phase")
