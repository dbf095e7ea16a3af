"""Editions: the built-in ones, and those of the folder that MONOPOLY_ENV_EDITIONS names.

A folder holds `editions.toml`, the board files that it names, and a `cards.csv` if its decks are
not ours; `data/` is the model. The tables become constants of the compiled code: they are read
once, when the library is imported, and every number is checked, since compiled code trusts it.
"""

from __future__ import annotations

import csv
import os
import re
import tomllib
from collections import defaultdict
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final, TypeAlias

from monopoly_env.errors import ConfigurationError, nearest, shortened, whole_number
from monopoly_env.files import read_file, understood
from monopoly_env.kernels import library

Row: TypeAlias = dict[str, str]

DATA: Final = Path(__file__).parent / "data"
VARIABLE: Final = "MONOPOLY_ENV_EDITIONS"
_NAME: Final = re.compile("[a-z][a-z0-9_]{0,31}")
_WHOLE: Final = re.compile(r"-?[0-9]{1,9}")
_MOST_BYTES: Final = 1 << 20  # of a file


@dataclass(frozen=True)
class Edition:
    """One edition.

    Attributes:
        name: The value of `Rules.board`.
        title: Its name for people.
        board: Its board file.
        deck: The name of its decks in `cards.csv`.
        amount: The column of the cards with its amounts.
        label: The column of the cards with its texts.
        folder: The folder of its files.
    """

    name: str
    title: str
    board: str
    deck: str = "us"
    amount: str = "amount_2008"
    label: str = "label_2008"
    folder: Path = DATA

    @property
    def squares(self) -> list[Row]:
        """The rows of its board."""
        return read_table(self.board, self.folder)

    @property
    def cards(self) -> list[Row]:
        """The rows of both of its decks: in its own folder, or else in ours."""
        for folder in dict.fromkeys((self.folder, DATA)):
            rows = read_table("cards.csv", folder) if (folder / "cards.csv").exists() else []
            if found := [row for row in rows if row["board"] == self.deck]:
                return found
        where = f"the deck {self.deck!r} in {self.folder}"
        raise ConfigurationError(f"Edition {self.name!r}: there are no cards of {where}.")


def read_table(name: str, folder: Path = DATA) -> list[Row]:
    """The rows of a CSV file of a folder; a column that it lacks is empty.

    Raises:
        ConfigurationError: The file can't be read. FormatError: It is no CSV.
    """
    data = read_file(folder / name, _MOST_BYTES)
    with understood(folder / name, "is no table"):
        rows = csv.DictReader(data.decode("utf-8").splitlines())
        cells = ({column: cell or "" for column, cell in row.items() if column} for row in rows)
        return [defaultdict(str, row) for row in cells]


def cell(row: Row, column: str, low: int, high: int, place: str) -> int:
    """A whole number in a row of a CSV file; `place` is where the row stands, for the message.

    Raises:
        ConfigurationError: It is missing, no whole number, or not from `low` to `high`.
    """
    text = row.get(column, "")
    value = int(text) if _WHOLE.fullmatch(text) else text
    return whole_number(f"{place}, {column}:", value, low, high)


def read_editions(folder: Path, taken: tuple[str, ...] = ()) -> tuple[Edition, ...]:
    """The editions of a folder, in the order of its `editions.toml`."""
    path = folder / "editions.toml"
    data = read_file(path, _MOST_BYTES)
    with understood(path, "is no TOML"):
        tables = tomllib.loads(data.decode("utf-8"))
    known = [field.name for field in fields(Edition) if field.name not in ("name", "folder")]
    for name, table in tables.items():
        if not _NAME.fullmatch(name) or name in taken:
            why = "is taken" if name in taken else "must be small letters, digits and _"
            raise ConfigurationError(f"{path}: the name of an edition, {shortened(name)}, {why}.")
        at = f"{path}: {name}"
        if not isinstance(table, dict) or not all(isinstance(one, str) for one in table.values()):
            raise ConfigurationError(f'{at} must be a table of texts, such as title = "My town".')
        for key in table:
            if key not in known:
                raise ConfigurationError(f"{at} has no {shortened(key)}. {nearest(key, known)}")
        for key in ("title", "board"):
            if not table.get(key):
                raise ConfigurationError(f"{at} needs a {key}.")
        if Path(table["board"]).name != table["board"]:
            file = shortened(table["board"])
            raise ConfigurationError(f"{at}: the board {file} must be a file beside it.")
    return tuple(Edition(name, **table, folder=folder) for name, table in tables.items())


def _folders() -> tuple[Path, ...]:
    own = os.environ.get(VARIABLE)
    if own and not Path(own).is_dir():
        raise ConfigurationError(f"{VARIABLE}={own!r} must be a folder with an editions.toml.")
    return (DATA, Path(own).absolute()) if own else (DATA,)


FOLDERS: Final = _folders()
# on which compiled code depends (`kernels.sources`)
DATA_FILES: Final = [
    path for folder in FOLDERS for path in folder.iterdir() if path.suffix in (".csv", ".toml")
]
if FOLDERS[1:]:
    library.changed(Path(__file__))
_OURS: Final = read_editions(DATA)
_TAKEN: Final = tuple(edition.name for edition in _OURS)
EDITIONS: Final = (*_OURS, *(one for own in FOLDERS[1:] for one in read_editions(own, _TAKEN)))
EDITION_NAMES: Final = tuple(edition.name for edition in EDITIONS)
OWN_NAMES: Final = EDITION_NAMES[len(_OURS) :]
