"""The application: every route of docs/protocol.md. Plain functions run in threads."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, Final

import anyio.to_thread
from fastapi import APIRouter, Depends, FastAPI, Request, Response, WebSocket
from fastapi import Path as InPath
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.staticfiles import StaticFiles

from monopoly_env.errors import MonopolyError
from monopoly_table import messages, public, safety, server, sockets
from monopoly_table.safety import IMPOSSIBLE, NO_TOKEN, RefusedError, Rights, status_of
from monopoly_table.server import Server, ServerSettings
from monopoly_table.sockets import FairThreads
from monopoly_table.storage import Stored

PAGE: Final = Path(__file__).parent / "page"
_THREADS, _LONG = 8, 2  # threads for moves and for analyses, so that moves don't wait for analyses

_log = logging.getLogger(__name__)

_REFUSED: Final[dict[int | str, dict[str, Any]]] = {
    "4XX": {
        "model": messages.Refusal,
        "description": "Refused, with a sentence that says what to do",
    },
    "503": {"model": messages.Refusal, "description": "Busy: the game is saved"},
}
_FILE: Final[dict[str, Any]] = {
    "application/octet-stream": {"schema": {"type": "string", "format": "binary"}}
}
_BEARER: Final = HTTPBearer(
    auto_error=False, description="The host's token, or one of the game: docs/protocol.md"
)
Bearer = Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)]

routes: Final = APIRouter(prefix="/api", responses=_REFUSED)


async def _server(request: Request) -> Server:
    found: Server = request.app.state.server
    return found


AnyServer = Annotated[Server, Depends(_server)]


async def _token(bearer: Bearer) -> str:
    if bearer is None:
        raise RefusedError("The request has no token: open the link that you were given.", NO_TOKEN)
    return bearer.credentials


async def _host(server: AnyServer, bearer: Bearer) -> Server:
    server.check_host(bearer.credentials if bearer else "")
    return server


Token = Annotated[str, Depends(_token)]
GameId = Annotated[str, InPath(max_length=40)]
Number = Annotated[int, InPath(ge=0, le=10**7)]


def _open(server: AnyServer, token: Token, game: GameId) -> tuple[Stored, Rights]:
    return server.open(game, token)


HostServer = Annotated[Server, Depends(_host)]  # for the host only
OpenGame = Annotated[tuple[Stored, Rights], Depends(_open)]  # for tokens of the game


# --- games


@routes.get("/about", response_model=messages.AboutAnswer)
def about(server: AnyServer, bearer: Bearer) -> dict[str, Any]:
    """The constants of the server."""
    return server.about(bearer is not None and server.is_host(bearer.credentials))


@routes.post("/games", status_code=201, response_model=messages.Begun)
def begin(server: HostServer, new: messages.NewGame) -> dict[str, Any]:
    """Begin a game."""
    row = server.begin(new)
    return {"game": row.id, **_links(row)}


@routes.get("/games", response_model=messages.Games)
def games(server: HostServer) -> dict[str, Any]:
    """The games that changed last."""
    return {"games": server.games()}


@routes.get("/games/{game}", response_model=messages.GameAnswer)
async def state(server: AnyServer, opened: OpenGame) -> dict[str, Any]:
    """The current state of a game."""
    row, rights = opened
    if row.kind == "live":
        answer = await (await server.sessions.open(row)).state(rights)
    else:
        stored = server.stored(row)
        frame = await run_in_threadpool(stored.frame, stored.version)
        step = await run_in_threadpool(stored.step_to, stored.version)
        answer = {"frame": frame, "log": [step] if step else []}
    return answer | {"links": _links(row) if rights.host else None}


@routes.delete("/games/{game}")
async def remove(server: HostServer, game: GameId) -> dict[str, str]:
    """Remove a game for good."""
    await run_in_threadpool(server.row, game)
    await server.sessions.remove(game)
    return {}


@routes.post("/games/{game}/join", response_model=messages.Joined)
async def join(server: AnyServer, opened: OpenGame, wish: messages.Join) -> dict[str, Any]:
    """Take a free seat."""
    session = await server.sessions.open(opened[0])
    return {"seat": wish.seat, "token": await session.join(wish.seat, wish.name)}


def _links(row: Stored) -> dict[str, Any]:
    """The tokens of a game, for its host."""
    seats = [
        {"seat": number, "token": seat["token"], "taken": seat["taken"]}
        for number, seat in enumerate(row.about["seats"])
        if seat["token"]
    ]
    return {"watch": row.about["watch"], "seats": seats}


# --- frames


@routes.get("/games/{game}/frames/{number}", response_model=messages.FrameAnswer)
def frame(server: AnyServer, opened: OpenGame, number: Number) -> dict[str, Any]:
    """A game after so many decisions."""
    stored = server.stored(opened[0])
    return {"frame": stored.frame(number), "step": stored.step_to(number)}


@routes.get(
    "/games/{game}/frames/{number}/position", responses={200: {"model": messages.PositionSetup}}
)
def frame_as_position(server: AnyServer, opened: OpenGame, number: Number) -> dict[str, Any]:
    """A frame as a position for the editor."""
    return public.setup_of(server.stored(opened[0]).game(number))


@routes.get("/games/{game}/index", response_model=messages.IndexAnswer)
async def index(
    request: Request, server: AnyServer, token: Token, opened: OpenGame
) -> dict[str, Any]:
    """The events of a game."""
    threads: FairThreads = request.app.state.long
    return await threads(lambda: server.stored(opened[0]).index(), token)


@routes.get("/games/{game}/replay", response_class=Response, responses={200: {"content": _FILE}})
def replay(server: AnyServer, opened: OpenGame) -> Response:
    """A game as a file."""
    row, _ = opened
    headers = {"Content-Disposition": f'attachment; filename="{row.id}.replay"'}
    data = server.stored(row).file()
    return Response(data, media_type="application/octet-stream", headers=headers)


@routes.post(
    "/replays",
    status_code=201,
    response_model=messages.Uploaded,
    openapi_extra={"requestBody": {"content": _FILE}},
)
async def upload(server: HostServer, request: Request) -> dict[str, Any]:
    """Save the games of a file."""
    data, threads = await request.body(), request.app.state.long
    answer: dict[str, Any] = await threads(lambda: server.upload(data))
    return answer


# --- positions and puzzles


@routes.post("/positions", response_model=messages.Shown)
def position(setup: messages.PositionSetup) -> dict[str, Any]:
    """A position set up by hand."""
    game = setup.build(settled=not setup.is_before_throw)
    if setup.is_before_throw:  # nobody decides
        game.decision, game.legal[:] = 0, 0
    return {"frame": public.unnamed(game)}


@routes.get("/puzzles", response_model=messages.Puzzles)
def puzzles() -> dict[str, Any]:
    """All puzzles."""
    return {"puzzles": server.puzzle_list()}


@routes.get("/puzzles/{number}", response_model=messages.PuzzleAnswer)
def puzzle(number: Number) -> dict[str, Any]:
    """A puzzle."""
    return server.asked(number)


@routes.post("/puzzles/{number}/guess", response_model=messages.Guessed)
def guess(number: Number, answer: messages.Guess) -> dict[str, Any]:
    """Whether an answer is right."""
    return server.guessed(number, answer.action)


# --- sockets


@routes.websocket("/games/{game}/socket")
async def play(socket: WebSocket, game: str) -> None:
    """Play or watch."""
    await sockets.play(socket, socket.app.state.server, game)


@routes.websocket("/analyse")
async def analyse(socket: WebSocket) -> None:
    """Analyse."""
    await sockets.analyse(socket, socket.app.state.server, socket.app.state.long)


# --- the application


def create(settings: ServerSettings) -> FastAPI:
    """Make the application. It locks its folder of games until it is shut down.

    Raises:
        ConfigurationError: A folder can't be used.
    """
    server = Server(settings)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = _THREADS + _LONG
        warming = asyncio.create_task(_warm(server, app.state.long))
        try:
            yield
        finally:
            warming.cancel()
            server.close()

    app = FastAPI(
        title="The table",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    app.state.server, app.state.long = server, FairThreads(_LONG)
    app.include_router(routes)
    app.mount("/", StaticFiles(directory=PAGE, html=True), "page")
    for kind in (MonopolyError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, _refused)
    app.add_middleware(GZipMiddleware)
    app.add_middleware(safety.Guard, hosts=settings.hosts, rate=settings.rate, burst=settings.burst)
    return app


async def _warm(server: Server, threads: FairThreads) -> None:
    try:
        await threads(server.warm_up)
    except Exception:
        _log.exception("the engine could not be compiled")


async def _refused(_: Request, error: Exception) -> JSONResponse:
    """The answer to an error: a sentence."""
    match error:
        case MonopolyError():
            return JSONResponse({"error": str(error)}, status_of(error))
        case RequestValidationError():
            return JSONResponse({"error": messages.sentence(error.errors())}, IMPOSSIBLE)
        case HTTPException():
            return JSONResponse({"error": str(error.detail)}, error.status_code, error.headers)
    message = "The server failed; its terminal says more. Games are saved."
    return JSONResponse({"error": message}, 500)
