"""The application: every route of docs/protocol.md.

A route reads the request, asks the house in a thread, and answers in JSON.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, FastAPI, Request, Response, WebSocket
from fastapi import Path as InPath
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles

from monopoly_env.errors import MonopolyError
from monopoly_env.render.text import PLAYERS
from monopoly_table import answers, messages, safety, setups, sockets, views
from monopoly_table.about import about
from monopoly_table.house import House, Settings, links, title
from monopoly_table.refusals import IMPOSSIBLE, NO_TOKEN, RefusedError, status_of

PAGE: Final = Path(__file__).parent / "page"

_log = logging.getLogger(__name__)

_REFUSED: Final[dict[int | str, dict[str, Any]]] = {
    "4XX": {
        "model": answers.Refusal,
        "description": "Refused, with a sentence that says what to do",
    },
    "503": {"model": answers.Refusal, "description": "Busy: the game is kept"},
}
_FILE: Final[dict[str, Any]] = {
    "application/octet-stream": {"schema": {"type": "string", "format": "binary"}}
}
_BEARER: Final = HTTPBearer(
    auto_error=False, description="The host's token, or one of the game: docs/protocol.md"
)

routes: Final = APIRouter(prefix="/api", responses=_REFUSED)


def _house(request: Request) -> House:
    house: House = request.app.state.house
    return house


Bearer = Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)]


def _known(bearer: Bearer) -> str:
    """The token, if there is one."""
    if bearer is None:
        raise RefusedError(NO_TOKEN, "The request has no token: open the link that you were given.")
    return bearer.credentials


def _host(request: Request, bearer: Bearer) -> House:
    """The house, for its host alone."""
    house = _house(request)
    house.check_host(bearer.credentials if bearer else "")
    return house


AnyHouse = Annotated[House, Depends(_house)]
HostHouse = Annotated[House, Depends(_host)]
Token = Annotated[str, Depends(_known)]
GameId = Annotated[str, InPath(max_length=40)]
Number = Annotated[int, InPath(ge=0, le=10**7)]


# --- games


@routes.get("/about", response_model=answers.About)
async def about_(house: AnyHouse, request: Request) -> dict[str, Any]:
    """Everything that does not change."""
    bearer = await _BEARER(request)  # anybody may ask
    return await house.run(
        lambda: about(house, bearer is not None and house.is_host(bearer.credentials))
    )


@routes.post("/games", status_code=201, response_model=answers.Begun)
async def begin(house: HostHouse, new: messages.NewGame) -> dict[str, Any]:
    """Begin a game."""
    row = await house.run(lambda: house.begin(new))
    return {"game": row.id, **links(row)}


@routes.get("/games", response_model=answers.Games)
async def games(house: HostHouse) -> dict[str, Any]:
    """The games that changed last."""
    return {"games": await house.run(house.games)}


@routes.get("/games/{game}", response_model=answers.State)
async def state(house: AnyHouse, token: Token, game: GameId) -> dict[str, Any]:
    """A game as it stands."""
    row = await house.run(lambda: house.row(game))
    rights = house.rights(token, row)
    if row.kind == "live":
        told = await (await house.rooms.open(row)).state(rights)
    else:
        told = await house.run(lambda: house.last(row))
    told.pop("type", None)
    return told | {"links": links(row) if rights.host else None}


@routes.delete("/games/{game}", response_model=answers.Nothing)
async def remove(house: HostHouse, game: GameId) -> dict[str, Any]:
    """Remove a game for good."""
    await house.run(lambda: house.row(game))
    await house.rooms.remove(game)
    return {}


@routes.post("/games/{game}/join", response_model=answers.Joined)
async def join(house: AnyHouse, token: Token, game: GameId, wish: messages.Join) -> dict[str, Any]:
    """Take a free seat."""
    row = await house.run(lambda: house.row(game))
    house.rights(token, row)
    room = await house.rooms.open(row)
    return {"seat": wish.seat, "token": await room.join(wish.seat, wish.name)}


# --- frames


@routes.get("/games/{game}/frames/{number}", response_model=answers.Frame)
async def frame(house: AnyHouse, token: Token, game: GameId, number: Number) -> dict[str, Any]:
    """A game after so many decisions."""

    def find() -> dict[str, Any]:
        row = house.row(game)
        house.rights(token, row)
        return house.frame(row, number)

    return await house.run(find)


@routes.get("/games/{game}/frames/{number}/position", responses={200: {"model": messages.Position}})
async def frame_as_position(
    house: AnyHouse, token: Token, game: GameId, number: Number
) -> dict[str, Any]:
    """A frame as a position for the editor."""

    def find() -> dict[str, Any]:
        row = house.row(game)
        house.rights(token, row)
        return setups.described(house.recording(row).frame(number))

    return await house.run(find)


@routes.get("/games/{game}/index", response_model=answers.Index)
async def index(house: AnyHouse, token: Token, game: GameId) -> dict[str, Any]:
    """What happens where."""

    def find() -> dict[str, Any]:
        row = house.row(game)
        house.rights(token, row)
        return house.recording(row).index()

    return await house.think(find, token)


@routes.get("/games/{game}/replay", response_class=Response, responses={200: {"content": _FILE}})
async def replay(house: AnyHouse, token: Token, game: GameId) -> Response:
    """A game as a file."""

    def find() -> bytes:
        row = house.row(game)
        house.rights(token, row)
        return house.recording(row).file()

    headers = {"Content-Disposition": f'attachment; filename="{game}.replay"'}
    return Response(await house.run(find), media_type="application/octet-stream", headers=headers)


@routes.post(
    "/replays",
    status_code=201,
    response_model=answers.Uploaded,
    openapi_extra={"requestBody": {"content": _FILE}},
)
async def upload(house: HostHouse, request: Request) -> dict[str, Any]:
    """Keep the games of a file."""
    data = await request.body()
    return await house.think(lambda: house.upload(data))


# --- positions and puzzles


@routes.post("/positions", response_model=answers.Shown)
async def position(house: AnyHouse, setup: messages.Position) -> dict[str, Any]:
    """A position that is set up by hand."""

    def build() -> dict[str, Any]:
        game = setups.build(setup)
        names = [f"Player {letter}" for letter in PLAYERS[: int(game.num_players)]]
        return {"view": views.view(game, names, 0), "board": views.picture(game)}

    return await house.run(build)


@routes.get("/puzzles", response_model=answers.Puzzles)
async def puzzles(house: AnyHouse) -> dict[str, Any]:
    """All puzzles."""
    found = await house.run(house.all_puzzles)
    rows = [
        {
            "puzzle": number,
            "title": title(puzzle),
            "players": puzzle.replay.num_players,
            "decision": puzzle.kind,
        }
        for number, puzzle in enumerate(found)
    ]
    return {"puzzles": rows}


@routes.get("/puzzles/{number}", response_model=answers.Puzzle)
async def puzzle(house: AnyHouse, number: Number) -> dict[str, Any]:
    """A puzzle."""
    return await house.run(lambda: house.asked(number))


@routes.post("/puzzles/{number}/guess", response_model=answers.Guessed)
async def guess(house: AnyHouse, number: Number, answer: messages.Guess) -> dict[str, Any]:
    """Whether an answer is right."""
    return await house.run(lambda: house.guessed(number, answer.action))


# --- sockets


@routes.websocket("/games/{game}/socket")
async def table_socket(socket: WebSocket, game: str) -> None:
    """Play, or look on."""
    await sockets.table(socket, socket.app.state.house, game)


@routes.websocket("/analyse")
async def analysis_socket(socket: WebSocket) -> None:
    """Analyse."""
    await sockets.analyses(socket, socket.app.state.house)


# --- the application


def create(settings: Settings) -> FastAPI:
    """Make the application. It owns its folder of games until it is shut down.

    Raises:
        ConfigurationError: A folder can't be used.
    """
    house = House(settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        warming = asyncio.create_task(_warm(house))
        try:
            yield
        finally:
            warming.cancel()
            house.close()

    app = FastAPI(
        title="The table",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    app.state.house = house
    app.include_router(routes)
    app.mount("/", StaticFiles(directory=PAGE, html=True), "page")
    app.add_exception_handler(MonopolyError, _refused)
    app.add_exception_handler(RequestValidationError, _misshapen)
    app.add_exception_handler(HTTPException, _unknown)
    app.add_exception_handler(Exception, _failed)
    app.add_middleware(safety.Guard, hosts=settings.hosts, rate=settings.rate, burst=settings.burst)
    return app


async def _warm(house: House) -> None:
    try:
        await house.think(house.warm_up)
    except Exception:
        _log.exception("the engine could not be compiled")


async def _refused(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, MonopolyError)
    return JSONResponse({"error": str(error)}, status_of(error))


async def _misshapen(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    return JSONResponse({"error": messages.sentence(error.errors())}, IMPOSSIBLE)


async def _failed(_: Request, __: Exception) -> JSONResponse:
    return JSONResponse(
        {"error": "The server failed; its terminal says more. Games are kept."}, 500
    )


async def _unknown(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": str(error.detail)}, error.status_code, error.headers)
