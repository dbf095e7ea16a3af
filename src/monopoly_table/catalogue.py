"""The policies that may play here: those by name, and saved ones of one folder.

A client never names a path.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from monopoly_env.errors import ConfigurationError, nearest
from monopoly_env.policy import files, names
from monopoly_env.policy.names import load, make
from monopoly_env.policy.protocol import CompiledPolicy, Policy

SAVED: Final = "file:"  # before the name of a saved policy
_AT_THE_TERMINAL: Final = ("human",)


class Catalogue:
    """The policies that clients may name."""

    def __init__(self, folder: Path | None = None) -> None:
        """Read the names of a folder of saved policies, if one is given.

        Raises:
            ConfigurationError: It is no folder.
        """
        if folder is not None and not folder.is_dir():
            raise ConfigurationError(f"--agents {str(folder)!r} is no folder.")
        self._folder = folder
        self._plays_on: dict[str, bool] = {}

    def _saved(self) -> dict[str, Path]:
        """The saved policies by name.

        The folder is listed: whatever lies elsewhere has no name here.
        """
        if self._folder is None:
            return {}
        return {
            SAVED + path.name: path
            for path in sorted(self._folder.glob(f"*{files.SUFFIX}"))
            if path.is_file() and not path.is_symlink()
        }

    def names(self) -> list[str]:
        """All names."""
        return [name for name in names.names() if name not in _AT_THE_TERMINAL] + list(
            self._saved()
        )

    def make(self, name: str) -> Policy:
        """A policy by name.

        Raises:
            ConfigurationError: There is none of this name.
            FormatError: The saved file does not match this version.
        """
        known = self.names()
        if name not in known:
            raise ConfigurationError(f"Unknown policy {name!r}. {nearest(name, known)}")
        return load(self._saved()[name]) if name.startswith(SAVED) else make(name)

    def plays_on(self, name: str) -> bool:
        """Whether a policy can play on in analyses: those that run in compiled code can."""
        if name not in self._plays_on:
            try:
                self._plays_on[name] = isinstance(self.make(name), CompiledPolicy)
            except Exception:
                self._plays_on[name] = False
        return self._plays_on[name]
