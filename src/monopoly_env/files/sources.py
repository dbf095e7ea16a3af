"""Objects in a user's code that a command line names: `my_file.py:Orange`, `my_module:Orange`.

Also the check that the packages `agents` and `training` are those of this project.
"""

from __future__ import annotations

import hashlib
import importlib
import sys
from importlib.metadata import EntryPoint
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from monopoly_env.errors import ConfigurationError, MonopolyError, nearest, shortened
from monopoly_env.files import read_file

SUFFIX: Final = ".py"
FORM: Final = "my_file.py:Name"  # for error messages
DISTRIBUTION: Final = "monopoly-env"  # this project


def is_named(name: object) -> bool:
    """Whether a name has the form of these: a file or a module, a colon, an identifier."""
    if not isinstance(name, str):
        return False
    place, _, attribute = name.rpartition(":")
    is_module = all(part.isidentifier() for part in place.split("."))
    return attribute.isidentifier() and (place.endswith(SUFFIX) or is_module)


def file_of(name: str) -> Path | None:
    """The file of the code that a name stands for; None if there is no such name or file."""
    if not is_named(name):
        return None
    place = name.rpartition(":")[0]
    if place.endswith(SUFFIX):
        path = Path(place)
    else:
        try:
            spec = find_spec(place)
        except (ImportError, ValueError):
            return None
        path = Path(spec.origin if spec and spec.origin else "")
    return path if path.is_file() else None


def make(name: str, *kinds: type) -> Any:
    """Import the code and return the object; a class or a function is called without arguments.

    Args:
        name: As `my_file.py:Orange`. This runs the code in the file.
        *kinds: The allowed types of the object, or of its result.

    Raises:
        ConfigurationError: There is no such file, module or object; the code raises an error; or
            the object is of another kind.
    """
    place, _, attribute = name.rpartition(":")
    with_code = f"{shortened(name)}:"
    if file_of(name) is None:
        what = "file" if place.endswith(SUFFIX) else "module"
        raise ConfigurationError(f"{with_code} there is no {what} {place!r} here.")
    try:
        module = _load(Path(place)) if place.endswith(SUFFIX) else importlib.import_module(place)
        made = vars(module).get(attribute)
        if made is None:
            origin = {key: getattr(one, "__module__", None) for key, one in vars(module).items()}
            own = [key for key, source in origin.items() if source == module.__name__]
            what = f"{place!r} has no {attribute!r}. {nearest(attribute, own)}"
            raise ConfigurationError(f"{with_code} {what}")
        if callable(made) and not isinstance(made, kinds):
            made = made()
    except MonopolyError:
        raise
    except Exception as error:  # a user's code may raise anything
        raise ConfigurationError(f"{with_code} {type(error).__name__}: {error}") from error
    if not isinstance(made, kinds):
        wanted = f"one of {', '.join(kind.__name__ for kind in kinds)}"
        what = f"this must be, or make, {wanted}; it is {shortened(made)}"
        raise ConfigurationError(f"{with_code} {what}.")
    return made


def _load(path: Path) -> ModuleType:
    """The module of a file, which is run once for each of its contents."""
    digest = hashlib.sha256(str(path.resolve()).encode() + read_file(path)).hexdigest()[:8]
    name = f"{path.stem}_{digest}"  # never the name of another module, as `random.py` would have
    if name not in sys.modules:
        spec = spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        sys.modules[name] = module  # classes and kernels look their module up
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]


def load_entry(entry: EntryPoint) -> Any:
    """Load an entry point.

    Raises:
        ConfigurationError: It is of this project, but Python finds another package of that name.
    """
    if entry.dist is not None and entry.dist.name == DISTRIBUTION:
        check_ours(entry.module.partition(".")[0])
    return entry.load()


def check_ours(package: str) -> None:
    """Raise unless the package `agents` or `training` that Python finds is the one of this project.

    Raises:
        ConfigurationError: It is another package; the message says where it is.
    """
    spec = find_spec(package)
    file = Path(spec.origin) if spec and spec.origin else None
    text = file.read_text("utf-8", "replace") if file and file.is_file() else ""
    if "monopoly_" not in text:
        folders = (spec.submodule_search_locations or ["unknown"]) if spec else ["nowhere"]
        there = file or folders[0]
        raise ConfigurationError(
            f"The package {package!r} that Python finds ({there}) is not the one of monopoly-env:"
            " another distribution or folder has the same name. Remove it and reinstall"
            " monopoly-env, or put monopoly-env's folder before it in PYTHONPATH."
        )
