"""The MCP server: a client of the official SDK plays through its tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest

mcp = pytest.importorskip("mcp", reason="NO MCP: install the extra `mcp`")

import agents  # noqa: E402
import monopoly_env as me  # noqa: E402
from monopoly_bench import mcp as ours  # noqa: E402
from monopoly_env.errors import ConfigurationError  # noqa: E402
from tests.policies import Historian  # noqa: E402

Call = Callable[..., Awaitable[Any]]


def play(session: Callable[[Call], Awaitable[None]]) -> None:
    """Run a session with a client in memory."""

    async def run() -> None:
        async with mcp.Client(ours.server()) as client:

            async def call(tool: str, **given: Any) -> Any:
                return await client.call_tool(tool, given)

            assert client.server_info.version == me.__version__
            tools = {tool.name for tool in (await client.list_tools()).tools}
            assert tools == {"new_game", "observe", "legal_actions", "act", "analyse"}
            await session(call)

    anyio.run(run)


def text(result: Any) -> str:
    return str(result.content[0].text)


def test_a_game_through_the_tools() -> None:
    async def session(call: Call) -> None:
        result = await call(
            "new_game", opponents=["random/no_trades", "random/no_trades"], seed=3, seat=1
        )
        begun, fields = text(result), result.structured_content
        assert begun.startswith("game-1\n")
        assert "You are player 1." in begun
        assert (fields["game"], fields["text"], fields["you"]) == ("game-1", begun, 1)
        for number in range(20):
            legal = (await call("legal_actions", game="game-1")).structured_content["result"]
            seen = (await call("observe", game="game-1")).structured_content
            assert {**fields, **seen} == fields
            assert (seen["over"], seen["decides"], seen["winner"]) == (False, 1, None)
            one = seen["legal"][0]
            assert legal[0] == f"{one['action']}: {one['text']}"
            given = (one["action"], str(one["action"]), one["text"], legal[0])[number % 4]
            told = await call("act", game="game-1", action=given)
            fields = told.structured_content
            assert (told.is_error, fields["game"], fields["text"]) == (False, "game-1", text(told))
        best = await call("analyse", game="game-1", playouts=2)
        assert "playouts" in text(best)
        candidates = best.structured_content["candidates"]
        assert {one["action"] for one in candidates} <= {one["action"] for one in fields["legal"]}
        assert candidates[0]["difference"] == 0

    play(session)


def test_policies_are_told_what_was_done() -> None:
    historian = Historian("random/no_trades")
    agents.register("test/told", lambda: historian)
    tables = ours.GuestGames()
    tables.new_game(["test/told"], "official", 4)
    for _ in range(10):
        tables.act("game-1", tables.legal_actions("game-1")[0].split(":")[0])
    assert historian.longest > 10
    assert historian.wrong == historian.untold == 0


def test_guests_talk_to_each_other() -> None:
    async def session(call: Call) -> None:
        begun = text(
            await call("new_game", opponents=["guest", "random/no_trades"], seed=3, talk=True)
        )
        assert "no bid on GROUP for N rounds" in begun
        assert "You are player 0." in begun
        waiting = (await call("observe", game="game-1", seat=1)).structured_content
        assert "Player 0 decides" in waiting["text"]
        early = await call("act", game="game-1", action="decline", seat=1)
        assert early.is_error
        assert "not of player 1" in text(early)
        said = {"message": "Hello\x1b[2J.", "promise": "no bid on red for 2 rounds"}
        told = text(await call("act", game="game-1", action="decline", seat=0, **said))
        while "Observe again later" not in told:
            legal = (await call("legal_actions", game="game-1")).structured_content["result"]
            told = text(await call("act", game="game-1", action=legal[0].split(":")[0], seat=0))
        heard = (await call("observe", game="game-1", seat=1)).structured_content
        assert heard["you"] == 1
        assert [(one["player"], one["text"]) for one in heard["talk"]["messages"]] == [
            (0, "Hello [2J.")
        ]
        assert heard["talk"]["promises"][0]["state"] == "kept so far"
        for given, says in (
            ({"promise": "peace"}, "one of the forms"),
            ({"seat": 2}, "no guest"),
            ({"seat": 0}, "decision of player 1"),
        ):
            failed = await call("act", game="game-1", action=heard["legal"][0]["text"], **given)
            assert failed.is_error
            assert says in text(failed)
        silent = await call("new_game", opponents=["guest"], seed=3)
        assert "talk" not in (await call("observe", game="game-2")).structured_content
        failed = await call("act", game="game-2", action="decline", message="Hello?")
        assert failed.is_error
        assert "do not talk" in text(failed)
        assert not silent.is_error

    play(session)


def test_mistakes_are_told_and_change_nothing() -> None:
    async def session(call: Call) -> None:
        for tool, given, says in (
            ("observe", {"game": "game-1"}, "Call new_game first"),
            ("new_game", {"opponents": ["exprt"]}, "expert"),
            ("new_game", {"opponents": ["bot:touch mark"]}, "Unknown opponent"),
            ("new_game", {"opponents": ["agent.safetensors"]}, "Unknown opponent"),
            ("new_game", {"opponents": ["ppo/best/two", "random"]}, "tables of 2"),
            ("new_game", {"seat": 2}, "from 0 to 1"),
            ("new_game", {"opponents": []}, "2 to 8"),
        ):
            failed = await call(tool, **given)
            assert failed.is_error
            assert says in text(failed)
        before = text(await call("new_game", seed=3)).partition("\n")[2]
        for action, says in (("byu", "Did you mean 'buy'"), ("go on", "not legal")):
            failed = await call("act", game="game-1", action=action)
            assert failed.is_error
            assert says in text(failed)
        assert (await call("analyse", game="game-1", playouts=0)).is_error
        seen = (await call("observe", game="game-1")).structured_content
        assert all(f"{one['action']}: {one['text']}" in before for one in seen["legal"])

    play(session)


def test_the_end_of_a_game_and_the_most_games(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = ours.GuestGames()
    won = me.position(
        2,
        turn=1,
        cash=[100, 1],
        lots={0: ["Boardwalk", "Park Place"]},
        positions=[0, 36],
        throws=[(1, 2)],
    )
    with monkeypatch.context() as patch:
        patch.setattr(me.core, "new_game", lambda *_: won)
        told = tables.new_game(["random/no_trades"])["text"]
    assert "The game is over: you have won." in told
    assert (tables.observe("game-1")["over"], tables.observe("game-1")["winner"]) == (True, 0)
    assert tables.legal_actions("game-1") == []
    for seed in range(ours.MOST_GAMES):
        tables.new_game(["random"], "official", seed)
    with pytest.raises(ConfigurationError, match="There is no game 'game-1'"):
        tables.observe("game-1")
