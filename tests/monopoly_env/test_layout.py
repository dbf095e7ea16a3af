"""A record read by its field table alone is what NumPy reads."""

from __future__ import annotations

import functools
import struct

import monopoly_env as me
from monopoly_env.game import GAME
from monopoly_env.kernels.layout import layout

CODES = {"i1": "b", "i2": "h", "i4": "i", "i8": "q", "f8": "d", "b1": "?"}


def test_a_record_can_be_read_by_its_field_table() -> None:
    game = me.new_game(3, "uk", seed=7)
    data = game.tobytes()
    end = 0
    for field in layout(GAME):
        count = 1
        for length in field["shape"]:
            count *= length
        numbers = struct.unpack_from(f"<{count}{CODES[field['type']]}", data, field["offset"])
        value = functools.reduce(lambda inner, name: inner[name], field["name"].split("."), game)
        assert list(numbers) == value.ravel().tolist(), field["name"]
        assert field["offset"] == end
        end += struct.calcsize(f"<{count}{CODES[field['type']]}")
    assert end == GAME.itemsize
