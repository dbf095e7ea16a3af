"""Kernels compiled by Numba alone, without its internals: slower to compile, the same games.

Numba's cache looks at the file of a function alone; its folder stands for the other sources.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

from monopoly_env.kernels.sources import cache_folder


def entry(function: Callable[..., Any], **options: Any) -> Any:
    """A dispatcher of Numba, compiled on first use for whatever it is called with."""
    in_a_file = Path(function.__code__.co_filename).is_file()
    outer = numba.config.CACHE_DIR
    try:
        if in_a_file:
            numba.config.CACHE_DIR = str(cache_folder(function.__module__))
        return numba.njit(cache=in_a_file, **options)(function)
    finally:
        numba.config.CACHE_DIR = outer


def kernel(function: Callable[..., Any], **options: Any) -> Any:
    """A dispatcher of Numba for a function that only compiled code calls."""
    return entry(function, **options)
