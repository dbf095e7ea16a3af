"""The messages that clients may send, field by field with its bounds.

Whatever has another shape is refused before anything reads it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

from monopoly_env.facts.board import NUM_LOTS, NUM_SQUARES
from monopoly_env.files import read_json
from monopoly_env.game import MAX_PLAYERS

Shape = TypeVar("Shape")

Seat = Annotated[int, Field(ge=0, lt=MAX_PLAYERS)]
Lot = Annotated[int, Field(ge=0, lt=NUM_LOTS)]
Dollars = Annotated[int, Field(ge=0, le=10**9)]
Version = Annotated[int, Field(ge=0, le=10**7)]
Seed = Annotated[int, Field(ge=0, lt=1 << 64)]
Speed = Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)]
Name = Annotated[
    str, StringConstraints(max_length=40, strip_whitespace=True, pattern=r"^[^\x00-\x1f\x7f]*$")
]
Word = Annotated[str, Field(max_length=100)]
Deck = Literal["chance", "community_chest"]
Cards = Annotated[list[Word], Field(max_length=16)]


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


# --- new games


class RulesChoice(_Shape):
    """A preset and what differs from it."""

    preset: Word = "official"
    options: Annotated[dict[Word, str | bool | int | float], Field(max_length=80)] = {}


class SeatChoice(_Shape):
    """Who sits in a seat."""

    kind: Literal["person", "guest", "policy"]
    name: Name = ""
    policy: Word | None = None


class PlayerSetup(_Shape):
    """A player in a position that is set up by hand."""

    cash: Dollars | None = None
    square: Annotated[int, Field(ge=0, lt=NUM_SQUARES)] = 0
    jail: Annotated[int, Field(ge=0, le=10)] | None = None
    jail_cards: Annotated[list[Deck], Field(max_length=2)] = []
    lots: Annotated[list[Lot], Field(max_length=NUM_LOTS)] = []
    bankrupt: bool = False


class Building(_Shape):
    """What stands on a street."""

    lot: Lot
    level: Annotated[int, Field(ge=0, le=5)]


class Position(_Shape):
    """A position that is set up by hand."""

    rules: RulesChoice = RulesChoice()
    seed: Seed = 0
    turn: Seat = 0
    streak: Annotated[int, Field(ge=0, le=2)] = 0
    pot: Dollars | None = None
    players: Annotated[list[PlayerSetup], Field(min_length=2, max_length=MAX_PLAYERS)]
    buildings: Annotated[list[Building], Field(max_length=NUM_LOTS)] = []
    mortgaged: Annotated[list[Lot], Field(max_length=NUM_LOTS)] = []
    throws: Annotated[
        list[Annotated[list[int], Field(min_length=2, max_length=2)]], Field(max_length=16)
    ] = []
    chance: Cards = []
    community_chest: Cards = []


class Frame(_Shape):
    """A moment of a stored game."""

    game: Word
    version: Version


class NewGame(_Shape):
    """A game to begin."""

    rules: RulesChoice = RulesChoice()
    seats: Annotated[list[SeatChoice], Field(min_length=2, max_length=MAX_PLAYERS)]
    seed: Seed | None = None
    speed: Speed = 0.6
    paused: bool = False
    turn_limit: Annotated[int, Field(ge=0, le=10_000)] = 1000
    position: Position | None = None
    start: Annotated[Frame | None, Field(alias="from")] = None


class Join(_Shape):
    """A free seat that somebody takes."""

    seat: Seat
    name: Name = ""


class Guess(_Shape):
    """An answer to a puzzle."""

    action: Annotated[int, Field(ge=0, le=204)]


# --- the socket of a game


class Goods(_Shape):
    """One side of an offer."""

    lots: Annotated[list[Lot], Field(max_length=NUM_LOTS)] = []
    cards: Annotated[list[Deck], Field(max_length=2)] = []
    dollars: Dollars = 0


class Hello(_Shape):
    """The first message: who it is, and what it has seen of the game."""

    type: Literal["hello"]
    token: Word
    game: Word | None = None
    version: Version | None = None
    digest: Word | None = None


class _Numbered(_Shape):
    id: Annotated[int, Field(ge=0, le=1 << 53)] = 0


class _Move(_Numbered):
    """A message that is about one position and no other."""

    version: Version
    digest: Word


class Act(_Move):
    """An action, by number or as a typed text."""

    type: Literal["act"]
    action: Annotated[int, Field(ge=0, le=204)] | None = None
    text: Word | None = None


class Offer(_Move):
    """A whole offer."""

    type: Literal["offer"]
    to: Seat
    give: Goods = Goods()
    ask: Goods = Goods()


class Bid(_Move):
    """A bid of so many dollars."""

    type: Literal["bid"]
    dollars: Dollars


class Preview(_Numbered):
    """What an offer would do."""

    type: Literal["preview"]
    to: Seat
    give: Goods = Goods()
    ask: Goods = Goods()


class Undo(_Move):
    """Take back the last decision."""

    type: Literal["undo"]


class Pace(_Numbered):
    """How fast policies move."""

    type: Literal["speed"]
    speed: Speed | None = None
    paused: bool | None = None


class NewSeat(_Numbered):
    """Another player for a seat."""

    type: Literal["seat"]
    seat: Seat
    kind: Literal["person", "policy"]
    policy: Word | None = None


class Ping(_Numbered):
    """Is anybody there?"""

    type: Literal["ping"]


TableMessage = Act | Offer | Bid | Preview | Undo | Pace | NewSeat | Ping
TABLE: Final[TypeAdapter[Any]] = TypeAdapter(Annotated[TableMessage, Field(discriminator="type")])
HELLO: Final[TypeAdapter[Any]] = TypeAdapter(Hello)


# --- the socket of analyses


class Target(_Shape):
    """A position to analyse: one of the three."""

    game: Word | None = None
    version: Version = 0
    position: Position | None = None
    puzzle: Annotated[int, Field(ge=0, le=10_000)] | None = None


Policies = Word | Annotated[list[Word], Field(min_length=2, max_length=MAX_PLAYERS)]


class Analyse(_Numbered):
    """Shares of the win, and of each action."""

    type: Literal["analyse"]
    target: Target
    policies: Policies = "expert"
    actions: bool = True
    most: Annotated[int, Field(ge=100, le=1_000_000)] = 20_000
    turns: Annotated[int, Field(ge=1, le=1000)] | None = None


class Weigh(_Numbered):
    """What an offer is worth."""

    type: Literal["offer"]
    target: Target
    to: Seat
    give: Goods = Goods()
    ask: Goods = Goods()
    policies: Policies = "expert"
    most: Annotated[int, Field(ge=100, le=1_000_000)] = 20_000


class Curve(_Numbered):
    """Shares of the win over a game."""

    type: Literal["curve"]
    game: Word
    points: Annotated[int, Field(ge=2, le=400)] = 80
    playouts: Annotated[int, Field(ge=10, le=10_000)] = 200
    policies: Policies = "expert"


class Report(_Numbered):
    """Luck, skill and mistakes of a game."""

    type: Literal["report"]
    game: Word
    playouts: Annotated[int, Field(ge=10, le=1000)] = 60
    policies: Policies = "expert"


class Stop(_Numbered):
    """End the job."""

    type: Literal["stop"]


AnalysisMessage = Analyse | Weigh | Curve | Report | Stop | Ping
ANALYSIS: Final[TypeAdapter[Any]] = TypeAdapter(
    Annotated[AnalysisMessage, Field(discriminator="type")]
)


@dataclass(frozen=True)
class Misshapen:
    """A message of another shape.

    Attributes:
        id: Its number, or 0 if it has none.
        error: What is wrong with it.
    """

    id: int
    error: str

    @property
    def refusal(self) -> dict[str, Any]:
        """The answer to it."""
        return {"type": "refused", "id": self.id, "error": self.error}


def read(adapter: TypeAdapter[Any], text: str) -> Any:
    """A message of this shape, or `Misshapen` if it has another."""
    try:
        return adapter.validate_json(text)
    except ValidationError as error:
        return Misshapen(_number_of(text), sentence(error.errors(include_url=False)))


def _number_of(text: str) -> int:
    """The number of a message of a wrong shape."""
    try:
        return _Numbered(id=read_json(text)["id"]).id
    except (ValidationError, TypeError, KeyError):
        return 0


def sentence(errors: Any) -> str:
    """The first of several errors of shape, as a sentence."""
    first = errors[0]
    where = ".".join(str(part) for part in first["loc"] if part != "body")
    return f"{where or 'The message'}: {first['msg']}."
