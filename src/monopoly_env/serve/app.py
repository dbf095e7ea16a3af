"""The application: every route of docs/protocol.md. A route reads the request, asks the house in a thread, and answers in JSON."""

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
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles

from monopoly_env.errors import MonopolyError
from monopoly_env.render.text import PLAYERS
from monopoly_env.serve import messages, safety, setups, sockets, views
from monopoly_env.serve.about import about
from monopoly_env.serve.house import House, Settings, links, title
from monopoly_env.serve.refusals import IMPOSSIBLE, NO_TOKEN, RefusedError, status_of

PAGE: Final = Path(__file__).parent / "page"

_log = logging.getLogger(__name__)

routes: Final = APIRouter(prefix="/api")


def _house(request: Request) -> House:
    house: House = request.app.state.house
    return house


def _token(request: Request) -> str:
    """The token of a request; empty if it has none."""
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if kind.casefold() == "bearer" else ""


def _host(request: Request) -> House:
    """The house, for its host alone."""
    house = _house(request)
    house.check_host(_token(request))
    return house


def _known(request: Request) -> str:
    """The token, if there is one."""
    token = _token(request)
    if not token:
        raise RefusedError(NO_TOKEN, "The request has no token: open the link that you were given.")
    return token


AnyHouse = Annotated[House, Depends(_house)]
HostHouse = Annotated[House, Depends(_host)]
Token = Annotated[str, Depends(_known)]
GameId = Annotated[str, InPath(max_length=40)]
Number = Annotated[int, InPath(ge=0, le=10**7)]


# --- games ----------------------------------------------------------------------------------------------------------------


@routes.get("/about")
async def about_(house: AnyHouse, request: Request) -> dict[str, Any]:
    """Everything that does not change."""
    return await house.run(lambda: about(house, house.is_host(_token(request))))


@routes.post("/games", status_code=201)
async def begin(house: HostHouse, new: messages.NewGame) -> dict[str, Any]:
    """Begin a game."""
    row = await house.run(lambda: house.begin(new))
    return {"game": row.id, **links(row)}


@routes.get("/games")
async def games(house: HostHouse) -> dict[str, Any]:
    """The games that changed last."""
    return {"games": await house.run(house.games)}


@routes.get("/games/{game}")
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


@routes.delete("/games/{game}")
async def remove(house: HostHouse, game: GameId) -> dict[str, Any]:
    """Remove a game for good."""
    await house.run(lambda: house.row(game))
    await house.rooms.remove(game)
    return {}


@routes.post("/games/{game}/join")
async def join(house: AnyHouse, token: Token, game: GameId, wish: messages.Join) -> dict[str, Any]:
    """Take a free seat."""
    row = await house.run(lambda: house.row(game))
    house.rights(token, row)
    room = await house.rooms.open(row)
    return {"seat": wish.seat, "token": await room.join(wish.seat, wish.name)}


# --- frames ---------------------------------------------------------------------------------------------------------------


@routes.get("/games/{game}/frames/{number}")
async def frame(house: AnyHouse, token: Token, game: GameId, number: Number) -> dict[str, Any]:
    """A game after so many decisions."""

    def find() -> dict[str, Any]:
        row = house.row(game)
        house.rights(token, row)
        return house.frame(row, number)

    return await house.run(find)


@routes.get("/games/{game}/frames/{number}/position")
async def frame_as_position(house: AnyHouse, token: Token, game: GameId, number: Number) -> dict[str, Any]:
    """A frame as a position for the editor."""

    def find() -> dict[str, Any]:
        row = house.row(game)
        house.rights(token, row)
        return setups.described(house.recording(row).frame(number))

    return await house.run(find)


@routes.get("/games/{game}/index")
async def index(house: AnyHouse, token: Token, game: GameId) -> dict[str, Any]:
    """What happens where."""

    def find() -> dict[str, Any]:
        row = house.row(game)
        house.rights(token, row)
        return house.recording(row).index()

    return await house.think(find)


@routes.get("/games/{game}/replay", response_class=Response)
async def replay(house: AnyHouse, token: Token, game: GameId) -> Response:
    """A game as a file."""

    def find() -> bytes:
        row = house.row(game)
        house.rights(token, row)
        return house.recording(row).file()

    headers = {"Content-Disposition": f'attachment; filename="{game}.replay"'}
    return Response(await house.run(find), media_type="application/octet-stream", headers=headers)


@routes.post("/replays", status_code=201)
async def upload(house: HostHouse, request: Request) -> dict[str, Any]:
    """Keep the games of a file."""
    data = await request.body()
    return await house.think(lambda: house.upload(data))


# --- positions and puzzles ------------------------------------------------------------------------------------------------


@routes.post("/positions")
async def position(house: AnyHouse, setup: messages.Position) -> dict[str, Any]:
    """A position that is set up by hand."""

    def build() -> dict[str, Any]:
        game = setups.build(setup)
        names = [f"Player {letter}" for letter in PLAYERS[: int(game.num_players)]]
        return {"view": views.view(game, names, 0), "board": views.picture(game)}

    return await house.run(build)


@routes.get("/puzzles")
async def puzzles(house: AnyHouse) -> dict[str, Any]:
    """All puzzles."""
    found = await house.run(house.all_puzzles)
    rows = [
        {"puzzle": number, "title": title(puzzle), "players": puzzle.replay.num_players, "decision": puzzle.kind}
        for number, puzzle in enumerate(found)
    ]
    return {"puzzles": rows}


@routes.get("/puzzles/{number}")
async def puzzle(house: AnyHouse, number: Number) -> dict[str, Any]:
    """A puzzle."""
    return await house.run(lambda: house.asked(number))


@routes.post("/puzzles/{number}/guess")
async def guess(house: AnyHouse, number: Number, answer: messages.Guess) -> dict[str, Any]:
    """Whether an answer is right."""
    return await house.run(lambda: house.guessed(number, answer.action))


# --- sockets --------------------------------------------------------------------------------------------------------------


@routes.websocket("/games/{game}/socket")
async def table_socket(socket: WebSocket, game: str) -> None:
    """Play, or look on."""
    await sockets.table(socket, socket.app.state.house, game)


@routes.websocket("/analyse")
async def analysis_socket(socket: WebSocket) -> None:
    """Analyse."""
    await sockets.analyses(socket, socket.app.state.house)


# --- the application ------------------------------------------------------------------------------------------------------


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

    app = FastAPI(title="The table", lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url="/api/openapi.json")
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
    return JSONResponse({"error": "The server failed; its terminal says more. Games are kept."}, 500)


async def _unknown(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": str(error.detail)}, error.status_code, error.headers)
