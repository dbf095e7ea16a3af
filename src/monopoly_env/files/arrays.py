"""Arrays in npz files: no pickles, and a file is there whole or not at all."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
from numpy.typing import NDArray

from monopoly_env.errors import ConfigurationError
from monopoly_env.files import open_file, understood

MOST_ARRAYS: Final = 1 << 32  # bytes of a file, uncompressed
_LEVEL: Final = 1  # of compression: observations are mostly zeros; a run should not wait


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of an npz file.

    Raises:
        ConfigurationError: There is no such file.
        FormatError: It is damaged or too large.
    """
    with understood(path, "can't be read"), open_file(path) as stream:
        return arrays_of(stream)


def arrays_of(stream: IO[bytes], most: int = MOST_ARRAYS) -> dict[str, NDArray[Any]]:
    """The arrays of an open npz file of at most `most` bytes; any error if it is damaged."""
    if not zipfile.is_zipfile(stream):  # NumPy would advise to load it unsafely
        raise ValueError("it is no npz file, or it is cut off")
    stream.seek(0)
    with np.load(stream, allow_pickle=False) as file:
        claimed = sum(entry.file_size for entry in file.zip.infolist())
        if claimed > most:
            raise ValueError(f"it claims {claimed:,} bytes; {most:,} are the most")
        arrays = dict(file)
    if not all(isinstance(array, np.ndarray) for array in arrays.values()):
        raise ValueError("it holds something else than arrays")
    return arrays


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write an npz file that exists whole or not at all.

    Raises:
        ConfigurationError: It can't be written: no permission, or the disk is full.
    """
    temporary = path.with_name(f".{path.name}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        savez(temporary, arrays)
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise ConfigurationError(
            f"Cannot write {str(path)!r}: {error.strerror}. Fix that, then --resume."
        ) from error


def savez(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write an npz file, four times as fast as np.savez_compressed; float64 stays uncompressed."""
    with zipfile.ZipFile(path, "w", compresslevel=_LEVEL) as archive:
        for name, array in arrays.items():
            dense = array.dtype == np.float64
            archive.compression = zipfile.ZIP_STORED if dense else zipfile.ZIP_DEFLATED
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.asanyarray(array), allow_pickle=False)
