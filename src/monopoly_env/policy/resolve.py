"""Turn what users give into a policy: a name, the path of a saved policy, or a policy object."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

from monopoly_env.errors import ConfigurationError, FormatError, nearest, shortened
from monopoly_env.policy import files, names
from monopoly_env.policy.protocol import Policy

PolicyLike: TypeAlias = Policy | str | Path


def make(name: str, /, **options: Any) -> Policy:
    """Make a policy by name.

    Args:
        name: One of `names()`.
        **options: Options of that policy.

    Raises:
        ConfigurationError: The name or an option is unknown. The message suggests the nearest valid one.
    """
    policy: Policy = names.make(name, **options)
    return policy


def load(path: str | Path) -> Policy:
    """Load a saved policy.

    Args:
        path: A file that `policy.save` wrote.

    Raises:
        FormatError: The file is corrupt, of another kind, or of another version. The message says what differs.
        ConfigurationError: The policy's kind is not registered.
    """
    about, arrays = files.read(path)
    names.check(about["kind"])
    if names.reaches_out(about["kind"]):  # else a file could run a program of its choice
        raise FormatError(f"{str(path)!r}: a policy of the kind {about['kind']!r} is made by its name, never from a file.")
    try:
        policy = make(about["kind"], **about["options"])
        policy.set_arrays(arrays)
    except (FormatError, ConfigurationError) as error:
        raise type(error)(f"{str(path)!r}: {error}") from error
    policy.name = about["name"]
    return policy


def resolve(policy: PolicyLike, *words: str) -> Policy:
    """Turn a policy object, a name, or the path of a saved policy into a policy.

    Args:
        policy: The object, name or path.
        *words: Other words that are valid where it was given; an error suggests them too.

    Raises:
        ConfigurationError: It is none of these.
        FormatError: The file does not match this version.
    """
    if isinstance(policy, Policy):
        return policy
    if isinstance(policy, str) and names.knows(policy):
        return make(policy)
    if isinstance(policy, (str, Path)) and Path(policy).suffix == files.SUFFIX:
        return load(policy)
    if isinstance(policy, (str, Path)) and os.path.exists(policy):  # noqa: PTH110, `Path.exists` raises if the name is too long
        raise ConfigurationError(f"{str(policy)!r} is not a saved policy of Monopoly: that is a {files.SUFFIX} file.")
    known = nearest(policy, (*words, *names.names()))
    raise ConfigurationError(f"Unknown policy {shortened(policy)}. {known} Or give a saved {files.SUFFIX} file.")


def resolve_all(policies: Sequence[PolicyLike]) -> list[Policy]:
    """Resolve several policies. Equal names and paths become one object.

    Raises:
        ConfigurationError: A policy is unknown.
        FormatError: A file does not match this version.
    """
    made: dict[str, Policy] = {}
    resolved = []
    for given in policies:
        key = str(given) if isinstance(given, (str, Path)) else f"object {id(given)}"
        made.setdefault(key, resolve(given))
        resolved.append(made[key])
    return resolved
