"""The options of the rules: `Rules`, its presets, and their numbers.

The numbers are part of every record.

P1, P6 and the like are the points that Schrum's paper leaves open; docs/pente.md lists them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

import numpy as np

from monopoly_env.errors import RulesError, nearest, shortened, whole_number
from pente_env.options import check_choices, check_names, choice, choices_of, numbers

MIN_SIZE: Final = 5
MAX_SIZE: Final = 19
_SMALLEST_RESTRICTED: Final = 7  # on a smaller board no point is three away from the centre


@dataclass(frozen=True)
class Rules:
    """The rules of a game, for two or for three players.

    Raises:
        RulesError: A value is unknown or out of range, or two contradict each other.
    """

    size: int = field(default=7, metadata={"doc": f"points along a side, {MIN_SIZE} to {MAX_SIZE}"})
    overlines: str = choice("six or more in a row (P1)", "win", "nothing")
    opening: str = choice(
        "the first player's first stones (P6): the centre; anywhere; the centre and then three or "
        "more points away from it, either way; moreover not three or four away on its row or "
        "column",
        "centre", "free", "tournament", "g_pente",
    )  # fmt: skip
    captures: str = choice(
        "what a bracket takes (P7): two stones, and ten win; two or three, and fifteen win; "
        "nothing",
        "pairs", "keryo", "none",
    )  # fmt: skip

    def __new__(cls, *_: Any, **options: Any) -> Self:
        """Refuse unknown options with a RulesError before the fields are set."""
        check_names(cls, options, RulesError)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        whole_number("size", self.size, MIN_SIZE, MAX_SIZE, RulesError)
        check_choices(self, RulesError)
        if self.opening in ("tournament", "g_pente") and self.size < _SMALLEST_RESTRICTED:
            raise RulesError(
                f"Contradictory options: opening={self.opening!r} wants a stone three points from"
                f" the centre, which needs size={_SMALLEST_RESTRICTED} or more, not {self.size}."
            )

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Rules:
        """The rules of a known variant.

        Examples:
            >>> import pente_env
            >>> pente_env.Rules.preset("schrum", size=9).size
            9

        Args:
            name: One of `Rules.presets()`.
            **changes: Options to change.

        Raises:
            RulesError: The preset or an option is unknown.
        """
        if not isinstance(name, str) or name not in PRESETS:
            raise RulesError(f"Unknown preset {shortened(name)}. {nearest(name, PRESETS)}")
        return cls(**(PRESETS[name] | changes))

    @classmethod
    def presets(cls) -> tuple[str, ...]:
        """The names of all presets.

        Examples:
            >>> import pente_env
            >>> "gomoku" in pente_env.Rules.presets()
            True
        """
        return tuple(PRESETS)

    @classmethod
    def coerce(cls, rules: Rules | str | Mapping[str, Any]) -> Rules:
        """The rules of a preset's name or of a mapping of options; rules are returned unchanged.

        Examples:
            >>> import pente_env
            >>> pente_env.Rules.coerce({"size": 9}).size
            9

        Raises:
            RulesError: They are none of these, or an option is wrong.
        """
        if isinstance(rules, Mapping):
            check_names(cls, rules, RulesError)
            return cls(**rules)
        return rules if isinstance(rules, cls) else cls.preset(rules)  # type: ignore[arg-type]

    def to_record(self) -> tuple[int, ...]:
        """The rules as the numbers in a record, in the order of `RULES`."""
        return (int(self.size), *numbers(self))

    @classmethod
    def from_record(cls, block: Any) -> Rules:
        """The rules that a record's numbers stand for."""
        named = (choices_of(cls, name)[int(block[name])] for name in (RULES.names or ())[1:])
        return cls(int(block["side"]), *named)

    def changed(self) -> dict[str, Any]:
        """The options that differ from the default."""
        values = {option: getattr(self, option.name) for option in dataclasses.fields(self)}
        return {option.name: value for option, value in values.items() if value != option.default}


def number(option: str, value: str) -> int:
    """The number by which a record stores a named value, for kernels.

    For example, `number("captures", "none")`.
    """
    return choices_of(Rules, option).index(value)


# The rules inside a record: one number per option, with the options' names; but `size` is what
# NumPy calls the length of a record.
_NAMED: Final = [(option.name, np.int16) for option in dataclasses.fields(Rules)[1:]]
RULES: Final = np.dtype((np.record, [("side", np.int16), *_NAMED]))

# The options of each variant that differ from the default.
PRESETS: Final[Mapping[str, dict[str, Any]]] = {
    "schrum": {},  # Schrum, 'Neuro-Evolution in Multi-Player Pente'
    "box": {"size": 19},  # as it is sold
    "tournament": {"size": 19, "opening": "tournament"},
    "g_pente": {"size": 19, "opening": "g_pente"},
    "keryo": {"size": 19, "opening": "tournament", "captures": "keryo"},
    "gomoku": {"size": 15, "opening": "free", "captures": "none", "overlines": "nothing"},
}
