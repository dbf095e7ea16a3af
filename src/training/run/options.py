"""Options of runs: those of every command, and which decide the result."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias, TypeVar

import numpy as np
import tyro
from numpy.typing import NDArray

from monopoly_env import encoding
from monopoly_env.errors import ConfigurationError
from monopoly_env.files import read_file
from monopoly_env.policy.names import file_of, resolve
from monopoly_env.policy.protocol import Policy
from monopoly_env.rules import PRESETS, RULES_VERSION

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

OptionsT = TypeVar("OptionsT", bound="DataclassInstance")

# options that do not change the result: where it goes and how it is printed
FREE: Final = ("out", "resume", "overwrite", "json")
NONE: Final = "none"  # in place of a policy's name

# Options whose help lists what is valid.
RulesName: TypeAlias = Annotated[str, tyro.conf.arg(help=f"Preset of rules: {', '.join(PRESETS)}.")]
EncodingName: TypeAlias = Annotated[
    str, tyro.conf.arg(help=f"What is observed: {', '.join(encoding.NAMES)} (docs/observation.md).")
]
Device: TypeAlias = Annotated[
    Literal["auto", "cpu", "cuda"],
    tyro.conf.arg(help="Where networks are trained; auto: a GPU if there is one."),
]


_CLUSTER: Final = (
    "local (one is started here), auto (the one that runs here), host:port or ray://host:port"
)
ClusterName: TypeAlias = Annotated[
    str | None, tyro.conf.arg(help=f"Play on a Ray cluster: {_CLUSTER}. The results are the same.")
]


@dataclass(frozen=True)
class RunOptions:
    """Options of every run."""

    out: Path = Path("runs")
    """Folder of the run: settings, checkpoints, curves for TensorBoard, the agent (`agents.load`
    plays it) and its win rates."""
    seed: int = 0
    """Seed of everything random: dice, exploration, weights. On one machine, the same seed gives
    the same agent."""
    resume: bool = False
    """Continue the run in --out where it stopped. All options that decide the result must be the
    same."""
    overwrite: bool = False
    """Delete the run of this command in --out and start again."""
    json: bool = False
    """Print one JSON object at the end instead of a table."""


Ranges: TypeAlias = Mapping[str, tuple[float, float]]


def settings_of(options: Any) -> dict[str, Any]:
    """Settings of a dataclass of options by name, those of its groups (dataclasses) among them."""
    values = {field.name: getattr(options, field.name) for field in dataclasses.fields(options)}
    return {
        inner: setting
        for name, value in values.items()
        for inner, setting in (
            settings_of(value) if dataclasses.is_dataclass(value) else {name: value}
        ).items()
    }


def replaced(options: OptionsT, **changes: Any) -> OptionsT:
    """A copy with other values of some settings, in whichever group they are."""
    for field in dataclasses.fields(options):
        group = getattr(options, field.name)
        if dataclasses.is_dataclass(group) and not isinstance(group, type):
            inner = {name: changes.pop(name) for name in settings_of(group) if name in changes}
            changes[field.name] = replaced(group, **inner)
    return dataclasses.replace(options, **changes)


def check_ranges(options: Any, ranges: Ranges) -> None:
    """Raise ConfigurationError if a number, or one of a tuple, is out of its range; None is not."""
    settings = settings_of(options)
    for name, (low, high) in ranges.items():
        given = settings[name]
        numbers = given if isinstance(given, tuple) else () if given is None else (given,)
        if not all(low <= value <= high for value in numbers):
            wanted = f"{low:,} or more" if high == math.inf else f"from {low:,} to {high:,}"
            raise ConfigurationError(f"--{name.replace('_', '-')} must be {wanted}, not {given}.")


def find_policy(name: str, *words: str) -> Policy:
    """The policy of a name or a saved file, called as given; errors suggest `words`, too."""
    policy = resolve(name, *words)
    policy.name = name
    return policy


def digest(numbers: NDArray[Any]) -> str:
    """A short hash that stands for an array among the settings: 16 hexadecimal digits."""
    return hashlib.sha256(np.ascontiguousarray(numbers).tobytes()).hexdigest()[:16]


def digests_of(names: Iterable[str]) -> dict[str, str]:
    """The SHA-256 of each file among these names, of a saved policy or of code."""
    found = {name: file_of(name) for name in sorted(set(names))}
    return {
        name: hashlib.sha256(read_file(file)).hexdigest() for name, file in found.items() if file
    }


def result_settings(options: Any, free: Sequence[str] = FREE, **more: Any) -> dict[str, Any]:
    """The settings that decide the result, as JSON values: a resumed run must have the same.

    Args:
        options: A dataclass.
        free: Names of its fields that do not change the result.
        **more: Whatever else decides it.
    """
    values = {name: value for name, value in settings_of(options).items() if name not in free}
    return dict(json.loads(json.dumps(values | {"rules_version": RULES_VERSION} | more)))
