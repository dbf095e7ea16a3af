"""The answers of the routes, field by field.

The OpenAPI description is made of it, and FastAPI holds every answer against it.

A view is described in words in docs/protocol.md.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict  # pydantic reads this one on Python 3.11


class Refusal(TypedDict):
    """What was refused, and what to do."""

    error: str


class Nothing(TypedDict):
    """It is done."""


class Step(TypedDict):
    """A decision that was made."""

    version: int
    seat: int
    action: int | None
    text: str
    sentences: list[str]
    digest: str
    turn: int


class About(TypedDict):
    """Everything that does not change while the server runs."""

    version: str
    ready: bool
    host: bool
    rules: dict[str, Any]
    policies: list[dict[str, Any]]
    colours: list[str]
    letters: list[str]
    groups: list[dict[str, Any]]
    boards: dict[str, list[dict[str, Any]]]
    cards: dict[str, dict[str, list[dict[str, Any]]]]
    limits: dict[str, Any]


class SeatLink(TypedDict):
    """The link of a seat for a guest."""

    seat: int
    token: str
    taken: bool


class Links(TypedDict):
    """The tokens of a game."""

    watch: str
    seats: list[SeatLink]


class Begun(Links):
    """A game that was begun."""

    game: str


class Listed(TypedDict):
    """A game in the list of games."""

    game: str
    kind: Literal["live", "replay"]
    version: int
    updated: str
    title: str
    names: list[str]
    turns: int
    over: bool
    winners: list[int]


class Games(TypedDict):
    """The games that changed last."""

    games: list[Listed]


class Uploaded(Games):
    """The games of a file."""

    left_out: NotRequired[int]


class Shown(TypedDict):
    """A position and its picture."""

    view: dict[str, Any]
    board: str


class State(Shown):
    """A game as it stands."""

    log: list[Step]
    links: Links | None


class Frame(Shown):
    """A game after so many decisions, and how it came there."""

    step: Step | None


class Joined(TypedDict):
    """A seat that was taken."""

    seat: int
    token: str


class Mark(TypedDict):
    """An event of a game."""

    frame: int
    kind: str
    text: str


class Index(TypedDict):
    """What happens where; a list has an entry for each frame."""

    version: int
    turns: list[int]
    seats: list[int]
    decisions: list[str]
    marks: list[Mark]


class PuzzleListed(TypedDict):
    """A puzzle in the list."""

    puzzle: int
    title: str
    players: int
    decision: str


class Puzzles(TypedDict):
    """All puzzles."""

    puzzles: list[PuzzleListed]


class Puzzle(Shown):
    """A puzzle without its solution."""

    puzzle: int
    title: str


class Guessed(TypedDict):
    """Whether an answer is right, and the solution."""

    right: bool
    best: int
    candidates: list[dict[str, Any]]
