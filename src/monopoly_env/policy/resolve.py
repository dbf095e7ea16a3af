"""Turn what users give into a policy: a name, the path of a saved policy, or a policy object."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

from monopoly_env import sources
from monopoly_env.errors import ConfigurationError, FormatError, nearest, shortened
from monopoly_env.policy import files, names
from monopoly_env.policy.protocol import CompiledPolicy, Policy, PolicyKernel

PolicyLike: TypeAlias = Policy | str | Path


def make(name: str, /, **options: Any) -> Policy:
    """Make a policy by name.

    Args:
        name: One of `names()`.
        **options: Options of that policy.

    Raises:
        ConfigurationError: The name or an option is unknown. The message suggests the nearest valid
            one.
    """
    policy: Policy = names.make(name, **options)
    return policy


def load(path: str | Path) -> Policy:
    """Load a saved policy.

    Args:
        path: A file that `policy.save` wrote.

    Raises:
        FormatError: The file is corrupt, of another kind, or of another version. The message says
            what differs.
        ConfigurationError: The policy's kind is not registered.
    """
    about, arrays = files.read(path)
    names.check(about["kind"])
    try:
        with names.reading_a_file():
            policy = make(about["kind"], **about["options"])
        policy.set_arrays(arrays)
    except (FormatError, ConfigurationError) as error:
        raise type(error)(f"{str(path)!r}: {error}") from error
    policy.name = about["name"]
    return policy


def resolve(policy: PolicyLike, *words: str) -> Policy:
    """Turn a policy object, a name, or the path of a saved policy into a policy.

    The name may be one in a file of Python.

    A name such as `my_file.py:Orange` or `my_module:Orange` runs that code: `Orange` is a policy,
    its class, a function that returns one, or a policy kernel.

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
    if isinstance(policy, str) and sources.is_named(policy):
        return _from_source(policy)
    if isinstance(policy, (str, Path)) and Path(policy).suffix == files.SUFFIX:
        return load(policy)
    if isinstance(policy, (str, Path)) and os.path.exists(policy):  # noqa: PTH110, `Path.exists` raises if the name is too long
        other = f", or a policy in a file of Python is named as {sources.FORM}"
        raise ConfigurationError(
            f"{str(policy)!r} is not a saved policy of Monopoly: that is a {files.SUFFIX}"
            f" file{other}."
        )
    known = nearest(policy, (*words, *names.names()), ", ".join((*words, names.LISTED)))
    raise ConfigurationError(
        f"Unknown policy {shortened(policy)}. {known} Or give a saved {files.SUFFIX} file, or"
        f" {sources.FORM}."
    )


def file_of(name: str) -> Path | None:
    """The file that a name stands for, if there is one.

    A saved policy, or the code of `my_file.py:Orange`.
    """
    if names.knows(name):
        return None
    path = Path(name)
    return path if path.is_file() else sources.file_of(name)


def _from_source(name: str) -> Policy:
    """The policy of a name in a file of Python."""
    names.check_reach(name)
    made = sources.make(name, Policy, PolicyKernel)
    policy: Policy = CompiledPolicy(made.__name__, made) if isinstance(made, PolicyKernel) else made
    if not getattr(policy, "name", ""):
        policy.name = name.rpartition(":")[2]
    return policy


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


def compiled(policy: Policy) -> CompiledPolicy:
    """The same policy where only compiled ones can play.

    Raises:
        ConfigurationError: It is not compiled.
    """
    if not isinstance(policy, CompiledPolicy):
        raise ConfigurationError(
            f"Policy {policy.name!r} is not compiled, so it can't play here."
            " docs/tutorials/policy.md lists where it can."
        )
    return policy
