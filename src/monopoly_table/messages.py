"""Schemas of the protocol: requests and messages of clients with their bounds, and answers.

Invalid input is refused before any code reads it. The OpenAPI description is generated from both,
and FastAPI checks every answer. docs/protocol.md describes them in words.
"""

from __future__ import annotations

import itertools
from typing import Annotated, Any, Final, Literal, NamedTuple, NotRequired

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError
from typing_extensions import TypedDict  # pydantic reads this one on Python 3.11

from monopoly_env import core
from monopoly_env.actions import NUM_ACTIONS
from monopoly_env.errors import RulesError, nearest
from monopoly_env.facts.board import NUM_LOTS, NUM_SQUARES
from monopoly_env.facts.cards import DECKS
from monopoly_env.files import read_json
from monopoly_env.game import CHANCE_GOOD, MAX_PLAYERS, Game
from monopoly_env.positions import position
from monopoly_env.rules import RULES, Rules

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
    """A preset, and options that differ from it."""

    preset: Word = "official"
    options: Annotated[dict[Word, str | bool | int | float], Field(max_length=80)] = {}

    def make(self) -> Rules:
        """The chosen rules.

        Raises:
            RulesError: An option is unknown or wrong, or two contradict each other.
        """
        for name in self.options:
            if name not in (RULES.names or ()):
                raise RulesError(f"Unknown option {name!r}. {nearest(name, RULES.names or ())}")
        return Rules.preset(self.preset, **self.options)


class SeatChoice(_Shape):
    """The player of a seat."""

    kind: Literal["person", "guest", "policy"]
    name: Name = ""
    policy: Word | None = None


class PlayerSetup(_Shape):
    """A player of a position set up by hand."""

    cash: Dollars | None = None
    square: Annotated[int, Field(ge=0, lt=NUM_SQUARES)] = 0
    jail: Annotated[int, Field(ge=0, le=10)] | None = None
    jail_cards: Annotated[list[Deck], Field(max_length=2)] = []
    lots: Annotated[list[Lot], Field(max_length=NUM_LOTS)] = []
    bankrupt: bool = False


class Building(_Shape):
    """Houses or a hotel on a street."""

    lot: Lot
    level: Annotated[int, Field(ge=0, le=5)]


class PositionSetup(_Shape):
    """A position set up by hand."""

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

    def build(self, settled: bool = True) -> Game:
        """The position.

        Args:
            settled: False: before its throw, though nobody can decide anything there.

        Raises:
            PositionError: The position is inconsistent; the message explains it.
            RulesError: Its rules are invalid.
        """
        seated = list(enumerate(self.players))
        solvent = [(seat, player) for seat, player in seated if not player.bankrupt]
        return position(
            len(seated),
            self.rules.make(),
            self.seed,
            turn=self.turn,
            streak=self.streak,
            pot=self.pot,
            cash={seat: player.cash for seat, player in solvent if player.cash is not None},
            lots={seat: player.lots for seat, player in seated},
            positions={seat: player.square for seat, player in seated},
            jail={seat: player.jail for seat, player in solvent if player.jail is not None},
            jail_cards={seat: player.jail_cards for seat, player in seated if player.jail_cards},
            bankrupt=[seat for seat, player in seated if player.bankrupt],
            mortgaged=self.mortgaged,
            buildings={building.lot: building.level for building in self.buildings},
            throws=[(first, second) for first, second in self.throws],
            chance=self.chance,
            community_chest=self.community_chest,
            settled=settled,
        )

    @property
    def is_before_throw(self) -> bool:
        """Whether the next throw comes before any decision, and is not forced."""
        return not self.throws and not self._thrown(0, 1, 2).num_forced

    def all_throws(self, seed: int) -> NDArray[Any]:
        """(36,) the games after each throw, with other decks for another seed."""
        pairs = itertools.product(range(1, 7), repeat=2)
        return np.concatenate([core.batch_of(self._thrown(seed, *pair)) for pair in pairs])

    def _thrown(self, seed: int, first: int, second: int) -> Game:
        return self.model_copy(update={"seed": seed, "throws": [[first, second]]}).build()


class FrameChoice(_Shape):
    """A position of a stored game."""

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
    position: PositionSetup | None = None
    start: Annotated[FrameChoice | None, Field(alias="from")] = None


class Join(_Shape):
    """Take a free seat."""

    seat: Seat
    name: Name = ""


class Guess(_Shape):
    """An answer to a puzzle."""

    action: Annotated[int, Field(ge=0, le=NUM_ACTIONS - 1)]


# --- the socket of a game


class Goods(_Shape):
    """One side of an offer."""

    lots: Annotated[list[Lot], Field(max_length=NUM_LOTS)] = []
    cards: Annotated[list[Deck], Field(max_length=2)] = []
    dollars: Dollars = 0

    @property
    def bits(self) -> int:
        """The lots and cards as a set of goods."""
        goods = {*self.lots, *(CHANCE_GOOD + DECKS.index(card) for card in self.cards)}
        return sum(1 << good for good in goods)


class Hello(_Shape):
    """The first message: the token, and the last known version of the game."""

    type: Literal["hello"]
    token: Word
    game: Word | None = None
    version: Version | None = None
    digest: Word | None = None


class _Numbered(_Shape):
    id: Annotated[int, Field(ge=0, le=1 << 53)] = 0


class _Move(_Numbered):
    """A message about one position; refused if the game has moved on."""

    version: Version
    digest: Word


class Exchange(_Shape):
    """An offer: the partner, and both sides."""

    to: Seat
    give: Goods = Goods()
    ask: Goods = Goods()


class Act(_Move):
    """An action, by number or as a typed text."""

    type: Literal["act"]
    action: Annotated[int, Field(ge=0, le=NUM_ACTIONS - 1)] | None = None
    text: Word | None = None


class OfferMove(_Move, Exchange):
    """A whole offer."""

    type: Literal["offer"]


class Bid(_Move):
    """A bid, in dollars."""

    type: Literal["bid"]
    dollars: Dollars


class Preview(_Numbered, Exchange):
    """Preview both sides of an offer."""

    type: Literal["preview"]


class Undo(_Move):
    """Undo the last decision."""

    type: Literal["undo"]


class Pace(_Numbered):
    """Set the pace of policies."""

    type: Literal["speed"]
    speed: Speed | None = None
    paused: bool | None = None


class NewSeat(_Numbered):
    """Give a seat to another player."""

    type: Literal["seat"]
    seat: Seat
    kind: Literal["person", "policy"]
    policy: Word | None = None


class NewName(_Numbered):
    """Rename one's own seat."""

    type: Literal["name"]
    seat: Seat
    name: Name


class Phrase(_Numbered):
    """Say a phrase, which the page words, to everybody at the table."""

    type: Literal["talk"]
    seat: Seat
    phrase: Annotated[int, Field(ge=0, lt=8)]


class Ping(_Numbered):
    """Check the connection."""

    type: Literal["ping"]


GAME_MESSAGE: Final[TypeAdapter[Any]] = TypeAdapter(
    Annotated[
        Act | OfferMove | Bid | Preview | Undo | Pace | NewSeat | NewName | Phrase | Ping,
        Field(discriminator="type"),
    ]
)
HELLO: Final[TypeAdapter[Any]] = TypeAdapter(Hello)


# --- the socket of analyses


class Target(_Shape):
    """A position to analyse: exactly one of the three."""

    game: Word | None = None
    version: Version = 0
    position: PositionSetup | None = None
    puzzle: Annotated[int, Field(ge=0, le=10_000)] | None = None


class _Job(_Numbered):
    policies: Word | Annotated[list[Word], Field(min_length=2, max_length=MAX_PLAYERS)] = "expert"


class AnalyseJob(_Job):
    """Shares of the win, now and after each action."""

    type: Literal["analyse"]
    target: Target
    actions: bool = True
    most: Annotated[int, Field(ge=100, le=1_000_000)] = 20_000
    turns: Annotated[int, Field(ge=1, le=1000)] | None = None


class OfferJob(_Job, Exchange):
    """The worth of an offer."""

    type: Literal["offer"]
    target: Target
    most: Annotated[int, Field(ge=100, le=1_000_000)] = 20_000


class CurveJob(_Job):
    """Shares of the win over a game."""

    type: Literal["curve"]
    game: Word
    points: Annotated[int, Field(ge=2, le=400)] = 80
    playouts: Annotated[int, Field(ge=10, le=10_000)] = 200


class ReportJob(_Job):
    """Luck, skill and mistakes of a game."""

    type: Literal["report"]
    game: Word
    playouts: Annotated[int, Field(ge=10, le=1000)] = 60


class Stop(_Numbered):
    """End the job."""

    type: Literal["stop"]


ANALYSIS_MESSAGE: Final[TypeAdapter[Any]] = TypeAdapter(
    Annotated[
        AnalyseJob | OfferJob | CurveJob | ReportJob | Stop | Ping, Field(discriminator="type")
    ]
)


class Misshapen(NamedTuple):
    """An invalid message.

    Attributes:
        id: Its number, or 0.
        error: A sentence that names the invalid field.
    """

    id: int
    error: str


def read(adapter: TypeAdapter[Any], text: str) -> Any:
    """The parsed message, or `Misshapen` if it is invalid."""
    try:
        return adapter.validate_json(text)
    except ValidationError as error:
        return Misshapen(_number_of(text), sentence(error.errors(include_url=False)))


def _number_of(text: str) -> int:
    """The number of an invalid message."""
    try:
        return _Numbered(id=read_json(text)["id"]).id
    except (ValidationError, TypeError, KeyError):
        return 0


def sentence(errors: Any) -> str:
    """The first of several validation errors, as a sentence."""
    first = errors[0]
    where = ".".join(str(part) for part in first["loc"] if part != "body")
    return f"{where or 'The message'}: {first['msg']}."


# --- answers


class Refusal(TypedDict):
    """A refused request, with a remedy."""

    error: str


class StepAnswer(TypedDict):
    """A past decision."""

    version: int
    seat: int
    action: int | None
    events: list[list[int]]
    digest: str
    turn: int
    said: NotRequired[dict[str, str]]


class AboutAnswer(TypedDict):
    """The constants of the server."""

    version: str
    ready: bool
    host: bool
    origin: str | None
    rules: dict[str, Any]
    policies: list[dict[str, Any]]
    heads: list[dict[str, Any]]
    notes: list[int]
    decisions: list[str]
    windows: list[str]
    events: dict[str, list[str]]
    reasons: list[str]
    offer_reasons: list[str]
    endings: list[str]
    colours: list[str]
    letters: list[str]
    groups: list[dict[str, Any]]
    boards: dict[str, list[dict[str, Any]]]
    cards: dict[str, dict[str, list[str]]]
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
    """A new game."""

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
    """A position as facts."""

    frame: dict[str, Any]


class GameAnswer(Shown):
    """The current state of a game."""

    log: list[StepAnswer]
    links: Links | None


class FrameAnswer(Shown):
    """A game after so many decisions, and the last of them."""

    step: StepAnswer | None


class Joined(TypedDict):
    """A taken seat."""

    seat: int
    token: str


class IndexAnswer(TypedDict):
    """Course of a game; a list has an entry for each frame, or for each step between two."""

    version: int
    turns: list[int]
    seats: list[int]
    decisions: list[int]
    opening: list[list[int]]
    actions: list[int]
    events: list[list[list[int]]]


class PuzzleListed(TypedDict):
    """A puzzle in the list."""

    puzzle: int
    title: str
    players: int
    decision: str
    gap: float


class Puzzles(TypedDict):
    """All puzzles."""

    puzzles: list[PuzzleListed]


class PuzzleAnswer(Shown):
    """A puzzle without its solution."""

    puzzle: int
    title: str
    candidates: list[int]


class Guessed(TypedDict):
    """Whether an answer is right, and the solution."""

    right: bool
    best: int
    candidates: list[dict[str, Any]]
