"""A server of the Model Context Protocol: a language model plays through tools. `python -m monopoly_env.mcp --help`.

python -m monopoly_env.mcp                                        # on standard input and output, as clients start it
python -m monopoly_env.mcp --transport streamable-http            # over HTTP

It needs the extra `mcp`. The tools: new_game, observe, legal_actions, act, analyse.
"""

from __future__ import annotations

import itertools
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Final, Literal

import numpy as np
import tyro
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from numpy.typing import NDArray

from monopoly_env import actions, core, prompts
from monopoly_env.analyse import compare_actions
from monopoly_env.errors import ConfigurationError, MonopolyError, nearest, shortened
from monopoly_env.game import Game
from monopoly_env.policy import names
from monopoly_env.policy.loop import answers, let_watch
from monopoly_env.policy.protocol import MEMORY, Decisions, Policy
from monopoly_env.policy.resolve import resolve_all
from monopoly_env.render import narrate

INSTRUCTIONS: Final = (
    "Play Monopoly against policies. Call new_game, then act again and again until the game is over. Every answer shows what happened, the "
    "position, the decision that waits for you, and its legal actions."
)
MOST_GAMES: Final = 64  # at a time; the oldest is dropped
MOST_PLAYOUTS: Final = 2000
_TOLD: Final = 60  # sentences of history that an answer shows


@dataclass
class Table:
    """A game of one guest against policies.

    Attributes:
        game: The record.
        seat: The guest's.
        policies: Who sits in each seat; in the guest's, nobody.
        memory: (P, 1, 64), of the policies.
        history: What has happened since the guest's last action.
    """

    game: Game
    seat: int
    policies: list[Policy | None]
    memory: NDArray[np.float64]
    history: list[str] = field(default_factory=list)
    watched: int = -1  # the turn that the policies have seen

    @classmethod
    def begun(cls, opponents: Sequence[str], rules: str, seed: int, seat: int) -> Table:
        """A new game, up to the guest's first decision."""
        players = len(opponents) + 1
        if not 0 <= seat < players:
            raise ConfigurationError(f"seat={seat} must be a whole number from 0 to {players - 1}.")
        for name in opponents:  # a client names no files and no programs
            if name not in names.names():
                raise ConfigurationError(f"Unknown opponent {shortened(name)}. {nearest(shortened(name), names.names())}")
        policies: list[Policy | None] = [*resolve_all(opponents)]
        for policy in policies:
            if policy is not None:
                policy.check_table(players)
        policies.insert(seat, None)
        table = cls(core.new_game(players, rules, seed), seat, policies, np.zeros((players, 1, MEMORY)))
        table.play_on()
        return table

    def act(self, action: str) -> None:
        """Carry out the guest's action, and what the others do next.

        Raises:
            MonopolyError: The action is unknown or not legal; nothing has changed.
        """
        number = prompts.legal(actions.parse(action, self.game), self.game)
        self.history = narrate.step(self.game, number, self._names)
        self.play_on()

    def play_on(self) -> None:
        """Let the others play until the guest decides, or the game is over."""
        while not core.is_over(self.game):
            if self.game.turns != self.watched:
                let_watch(self.policies, core.batch_of(self.game), self.memory)
                self.watched = int(self.game.turns)
            seat = int(self.game.player)
            if self.policies[seat] is None:
                break
            policy = self.policies[seat]
            assert policy is not None
            chosen = answers(policy, Decisions(core.batch_of(self.game), self.memory[seat]))
            self.history += narrate.step(self.game, int(chosen[0]), self._names)

    @property
    def _names(self) -> list[str]:
        return [f"player {seat}" for seat in range(len(self.policies))]

    def shown(self) -> str:
        """What the guest sees."""
        history = self.history[-_TOLD:]
        if core.is_over(self.game):
            winner = core.winner(self.game)
            end = "it is a draw" if winner is None else "you have won" if winner == self.seat else f"player {winner} has won"
            return "\n".join([*history, f"The game is over: {end}."])
        return prompts.prompt(self.game, history)


class Tables:
    """The games of a server, and what its tools do."""

    def __init__(self) -> None:
        self._tables: dict[str, Table] = {}
        self._numbers = itertools.count(1)
        self._lock = threading.RLock()  # tools run on threads

    def new_game(self, opponents: list[str] = ["algorithmic"], rules: str = "official", seed: int = 0, seat: int = 0) -> str:  # noqa: B006 - only read; a tool's default is shown to models as it is
        """Begin a game against policies. Returns its id and your first decision.

        Args:
            opponents: Names of policies, one for each other seat, 1 to 7: such as random, algorithmic, expert.
            rules: A preset of rules, such as official, classic or short.
            seed: The same seed gives the same dice and cards.
            seat: Yours.
        """
        with self._lock:
            table = Table.begun(opponents, rules, seed, seat)
            if len(self._tables) >= MOST_GAMES:
                del self._tables[next(iter(self._tables))]
            name = f"game-{next(self._numbers)}"
            self._tables[name] = table
            return f"{name}\n{table.shown()}"

    def observe(self, game: str) -> dict[str, Any]:
        """Your decision as JSON: players, bank, decision, legal actions, and what happened since your last action.

        Args:
            game: The id that new_game returned.
        """
        with self._lock:
            table = self._find(game)
            over = core.is_over(table.game)
            return {"over": True, "told": table.shown()} if over else prompts.situation(table.game, table.history)

    def legal_actions(self, game: str) -> list[str]:
        """The legal actions, each as `number: text`. Empty once the game is over.

        Args:
            game: The id that new_game returned.
        """
        with self._lock:
            record = self._find(game).game
            return [f"{action}: {actions.describe(action, record)}" for action in core.legal_actions(record)]

    def act(self, game: str, action: str) -> str:
        """Carry out your action, then what the others do. Returns what happened and your next decision.

        Args:
            game: The id that new_game returned.
            action: The number or the text of a legal action.
        """
        with self._lock:
            table = self._find(game)
            table.act(action)
            return table.shown()

    def analyse(self, game: str, playouts: int = 100) -> str:
        """Compare your legal actions by playouts, in which `expert` plays every seat on. The best comes first, with its share of the win.

        Args:
            game: The id that new_game returned.
            playouts: Of the best actions, 1 to 2000. A hundred take seconds.
        """
        if not 1 <= playouts <= MOST_PLAYOUTS:
            raise ConfigurationError(f"playouts={playouts} must be a whole number from 1 to {MOST_PLAYOUTS}.")
        with self._lock:
            record = core.clone(self._find(game).game)
        return str(compare_actions(record, n=playouts))

    def _find(self, game: str) -> Table:
        if game not in self._tables:
            raise ConfigurationError(
                f"There is no game {game!r}. {nearest(game, self._tables) if self._tables else 'Call new_game first.'}"
            )
        return self._tables[game]


def server(tables: Tables | None = None) -> MCPServer:
    """A server with the tools of these tables."""
    tables = tables or Tables()
    made = MCPServer("monopoly", instructions=INSTRUCTIONS)
    for tool in (tables.new_game, tables.observe, tables.legal_actions, tables.act, tables.analyse):
        made.tool()(_told(tool))
    return made


def _told(tool: Callable[..., Any]) -> Callable[..., Any]:
    """A tool whose errors reach the model as text."""

    @wraps(tool)
    def told(*given: Any, **named: Any) -> Any:
        try:
            return tool(*given, **named)
        except MonopolyError as error:
            raise ToolError(str(error)) from error

    return told


@dataclass(frozen=True)
class Options:
    """Serve Monopoly to language models by the Model Context Protocol. A client starts this command and speaks to it."""

    transport: Literal["stdio", "streamable-http"] = "stdio"
    """Standard input and output, or HTTP at port 8000 of this machine."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until the client hangs up; returns the exit status."""
    options = tyro.cli(Options, args=arguments, prog="python -m monopoly_env.mcp")
    try:
        server().run(options.transport)
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
