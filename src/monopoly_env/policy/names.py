"""How a name becomes a policy: one table for everything that looks names up.

`resolve` takes what users give: a name, the path of a saved policy, a name in a file of Python such
as `my_file.py:Orange`, or a policy.

This module knows no policy itself, so that every policy may import it. A package adds its own when
the first name is looked up: it declares a module as an entry point of the group
`monopoly_env.policies`, and that module calls `fill` or `register`.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Final, TypeAlias

from monopoly_env.errors import ConfigurationError, FormatError, MonopolyError, nearest, shortened
from monopoly_env.files import sources
from monopoly_env.policy import files
from monopoly_env.policy.protocol import FACTORIES, CompiledPolicy, Factory, Policy, PolicyKernel

PolicyLike: TypeAlias = Policy | str | Path

GROUP: Final = "monopoly_env.policies"  # of entry points
LISTED: Final = "`agents.names()`, docs/agents.md"  # for error messages
_GATHERING: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_BUILT_IN: Final[set[str]] = set()
_UNLISTED: Final[set[str]] = set()  # kinds that a name alone does not define
_ARGUMENTS: Final[dict[str, str]] = {}  # by kind the option that may follow its name and a colon
_READING: Final[ContextVar[bool]] = ContextVar("reading a saved policy", default=False)


@cache
def load_packages() -> None:
    """Import the modules that add policies (and values, and finders of offers), once."""
    for module in entry_points(group=GROUP):
        sources.load_entry(module)


def fill(
    built_in: Mapping[str, Factory],
    kinds: Mapping[str, Factory],
    arguments: Mapping[str, str] | None = None,
) -> None:
    """Add the built-in policies of a package.

    Args:
        built_in: Factories by name.
        kinds: Factories by name of policies that also need options or a saved file.
        arguments: For some of these kinds the option that may follow the name after a colon, as in
            "bot:node my_bot.js".
    """
    FACTORIES.update({**built_in, **kinds})
    _ARGUMENTS.update(arguments or {})
    _BUILT_IN.update(built_in, kinds)
    _UNLISTED.update(kinds)


def register(name: str, factory: Factory) -> None:
    """Give a policy a name.

    Examples:
        >>> import agents
        >>> agents.register("my/expert", lambda: agents.make("expert"))
        >>> "my/expert" in agents.names()
        True

    Args:
        name: Letters, digits, `_`, `-` and `/`. A name registered earlier is replaced; a built-in
            name is refused.
        factory: Returns the policy. `make` calls it with the options given, `load` with those that
            were saved.

    Raises:
        ConfigurationError: The name is empty, malformed or built in, or the factory is not
            callable.
    """
    if (
        not isinstance(name, str)
        or not name
        or not name.replace("_", "").replace("-", "").replace("/", "").isalnum()
    ):
        raise ConfigurationError(
            f"A policy's name may only have letters, digits, '_', '-' and '/', not {name!r}."
        )
    load_packages()
    if name in _BUILT_IN:
        raise ConfigurationError(f"The policy {name!r} is built in: choose another name.")
    if not callable(factory):
        raise ConfigurationError(f"The factory of {name!r} must be callable, not {factory!r}.")
    FACTORIES[name] = factory


def names() -> tuple[str, ...]:
    """The names of all policies, in alphabetical order.

    Examples:
        >>> import agents
        >>> "expert" in agents.names()
        True
    """
    load_packages()
    return tuple(sorted(FACTORIES.keys() - _UNLISTED))


def knows(name: object) -> bool:
    """Whether a policy of this name is registered."""
    load_packages()
    return isinstance(name, str) and (name in FACTORIES or _split(name)[0] in _ARGUMENTS)


def _split(name: str) -> tuple[str, dict[str, str]]:
    """A name without what follows its colon, and the option that this stands for."""
    kind, _, argument = name.partition(":")
    return (kind, {_ARGUMENTS[kind]: argument}) if argument and kind in _ARGUMENTS else (name, {})


@contextmanager
def reading_a_file() -> Iterator[None]:
    """Refuse policies that reach out, at any depth, while a saved policy is made.

    Else a file could run a program of its choice.
    """
    token = _READING.set(True)
    try:
        yield
    finally:
        _READING.reset(token)


def reaches_out(name: str) -> bool:
    """Whether a policy of this name runs a program or asks a server.

    Users name such a policy; a file or a client never does.
    """
    return _split(name)[0] in _ARGUMENTS or sources.is_named(name)


def check_reach(name: str) -> None:
    """Raise FormatError if a saved policy that is being read names one that reaches out."""
    if _READING.get() and reaches_out(name):
        raise FormatError(
            f"A policy such as {shortened(name)} is made by its name, never from a file."
        )


def make(name: str, /, **options: Any) -> Policy:
    """Make a policy by name.

    Examples:
        >>> import agents
        >>> agents.make("expert/bargaining", bargains=False).name
        'expert/bargaining'

    Args:
        name: One of `names()`.
        **options: Options of that policy.

    Raises:
        ConfigurationError: The name or an option is unknown; the message suggests the nearest valid
            one. Or a value has a wrong type.
    """
    if not knows(name):
        raise ConfigurationError(
            f"Unknown policy {shortened(name)}. {nearest(name, names(), LISTED)}"
        )
    check_reach(name)
    name, argument = _split(name)
    options = argument | options
    factory = FACTORIES[name]
    _check_options(name, factory, options)
    try:
        return factory(**options)
    except MonopolyError:
        raise
    except (
        TypeError,
        ValueError,
        LookupError,
        AttributeError,
        ArithmeticError,
        MemoryError,
    ) as error:
        given = ", ".join(f"{option}={shortened(value)}" for option, value in options.items())
        raise ConfigurationError(
            f"Policy {name!r} cannot be made with the options ({given}): {type(error).__name__}:"
            f" {error}."
        ) from error


def _check_options(name: str, factory: Factory, options: Mapping[str, Any]) -> None:
    parameters = inspect.signature(factory).parameters
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        for option in options:
            if option not in parameters:
                known = nearest(option, parameters) if parameters else "It has none."
                raise ConfigurationError(f"Policy {name!r} has no option {option!r}. {known}")
    missing = [
        p.name
        for p in parameters.values()
        if p.default is p.empty and p.kind not in _GATHERING and p.name not in options
    ]
    if missing:
        raise ConfigurationError(
            f"Policy {name!r} needs {', '.join(missing)}. To load a saved policy:"
            " agents.load(path)."
        )


def load(path: str | Path) -> Policy:
    """Load a saved policy.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import agents
        >>> path = Path(tempfile.mkdtemp()) / "player.safetensors"
        >>> _ = agents.make("algorithmic").save(path)
        >>> agents.load(path).name
        'algorithmic'

    Args:
        path: A file that `policy.save` wrote.

    Raises:
        FormatError: The file is corrupt, of another kind, or of another version. The message says
            what differs.
        ConfigurationError: The policy's kind is not registered.
    """
    about, arrays = files.read(path)
    try:
        with reading_a_file():
            policy = make(about["kind"], **about["options"])
        policy.set_arrays(arrays)
    except (FormatError, ConfigurationError) as error:
        raise type(error)(f"{str(path)!r}: {error}") from error
    policy.name = about["name"]
    return policy


def resolve(policy: PolicyLike, *words: str) -> Policy:
    """Turn a name, the path of a saved policy, or a policy object into a policy.

    A name such as `my_file.py:Orange` or `my_module:Orange` runs that code: `Orange` is a policy,
    its class, a function that returns one, or a policy kernel.

    Args:
        policy: The object, name or path.
        *words: Other words that are valid where it was given; an error suggests them too.

    Examples:
        >>> from monopoly_env.policy.names import resolve
        >>> resolve("expert").name
        'expert'

    Raises:
        ConfigurationError: It is none of these.
        FormatError: The file does not match this version.
    """
    if isinstance(policy, Policy):
        return policy
    if isinstance(policy, str) and knows(policy):
        return make(policy)
    if isinstance(policy, str) and sources.is_named(policy):
        return _from_source(policy)
    if isinstance(policy, (str, Path)) and Path(policy).suffix == files.SUFFIX:
        return load(policy)
    # `Path.exists` raises if the name is too long
    if isinstance(policy, (str, Path)) and os.path.exists(policy):  # noqa: PTH110
        raise ConfigurationError(
            f"{str(policy)!r} is not a saved policy of Monopoly: that is a {files.SUFFIX}"
            f" file, or a policy in a file of Python is named as {sources.FORM}."
        )
    known = nearest(policy, (*words, *names()), ", ".join((*words, LISTED)))
    raise ConfigurationError(
        f"Unknown policy {shortened(policy)}. {known} Or give a saved {files.SUFFIX} file, or"
        f" {sources.FORM}."
    )


def _from_source(name: str) -> Policy:
    """The policy of a name in a file of Python."""
    check_reach(name)
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


def file_of(name: str) -> Path | None:
    """The saved policy, or the code of `my_file.py:Orange`, that a name stands for, if any."""
    if knows(name):
        return None
    path = Path(name)
    return path if path.is_file() else sources.file_of(name)


def compiled(policy: Policy) -> CompiledPolicy:
    """The same policy where only compiled ones can play.

    Raises:
        ConfigurationError: It is not compiled.
    """
    if not isinstance(policy, CompiledPolicy):
        raise ConfigurationError(
            f"Policy {policy.name!r} is not compiled, so it can't play here."
            " docs/reference/policies.md lists where it can."
        )
    return policy
