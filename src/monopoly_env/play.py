"""Watch policies play in the terminal, or take a seat yourself: `python -m monopoly_env.play --help`.

python -m monopoly_env.play                                          # watch two policies
python -m monopoly_env.play --players human algorithmic --seed 7     # play against one
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import tyro
from rich.console import Console

from monopoly_env import core
from monopoly_env.errors import ConfigurationError, MonopolyError
from monopoly_env.game import Game
from monopoly_env.render import narrate
from monopoly_env.render.text import PLAYERS, board

if TYPE_CHECKING:
    from agents.policy import Policy


@dataclass(frozen=True)
class Options:
    """Watch Monopoly in the terminal, or play yourself.

    Everything that happens is told in a line. A seat given to `human` is yours: you see the board and your legal
    actions, and answer with a number, with the action's text, or with ? for help.
    """

    players: tuple[str, ...] = ("algorithmic", "random")
    """Who sits where, 2 to 8: `human`, names of policies (`agents.names()`) or saved ones (.safetensors)."""
    rules: str = "official"
    """A preset of rules: official, any_time, modern, short, classic, uk, ocnaru, mukhar, pring, frayn."""
    seed: int = 0
    """Decides all dice and cards: the same seed and choices give the same game."""
    delay: float = 0.2
    """Seconds to wait after each decision that has something to tell."""
    max_turns: int = 1000
    """Stop after this many single turns, all players together."""
    boards: int = 0
    """Show the board every so many turns; 0: only for your own turns and at the end."""
    load: Path | None = None
    """Go on with a game that was saved with `s FILE`."""
    save: Path | None = None
    """Save the game as it stands at the end."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 if the game ended, hit `--max-turns`, or was left with `q`."""
    options = tyro.cli(Options, args=arguments, prog="python -m monopoly_env.play")
    console = Console(soft_wrap=True)
    try:
        return run(options, console)
    except MonopolyError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def run(options: Options, console: Console) -> int:
    """Play one game on a console.

    Raises:
        MonopolyError: Wrong options.
    """
    from agents.human import Human, QuitError  # the one look upwards: players sit in the seats of a game
    from agents.registry import resolve

    if options.delay < 0 or options.max_turns < 1 or options.boards < 0:
        raise ConfigurationError("--delay and --boards must not be negative, --max-turns must be at least 1.")
    game = core.load(options.load) if options.load else core.new_game(len(options.players), options.rules, options.seed)
    if game.num_players != len(options.players):
        raise ConfigurationError(f"The saved game has {game.num_players} players; --players names {len(options.players)}.")
    policies = [Human(console=console) if name == "human" else resolve(name) for name in options.players]
    names = [f"{PLAYERS[seat]} ({policy.name})" for seat, policy in enumerate(policies)]
    status = 0
    try:
        play(game, policies, names, console, options)
    except QuitError as error:
        console.print(str(error), markup=False)
        status = 0 if error.on_purpose else 1
    console.print(board(game, colour=console.is_terminal), markup=False, highlight=False)
    if options.save:
        core.save(game, options.save)
        console.print(f"Saved to {options.save}.", markup=False)
    return status


def play(game: Game, policies: Sequence[Policy], names: Sequence[str], console: Console, options: Options) -> None:
    """Let the policies decide until the game or the turns are over, and tell what happens."""
    from agents.human import Human
    from agents.policy import MEMORY, Decisions

    memory = np.zeros((len(policies), 1, MEMORY))
    games = core.batch_of(game)
    shown = -1
    while not core.is_over(game) and game.turns <= options.max_turns:
        seat = int(game.player)
        due = options.boards and game.turns % options.boards == 0
        if game.turns != shown and (due or isinstance(policies[seat], Human)):
            console.print(board(game, colour=console.is_terminal), markup=False, highlight=False)
            shown = int(game.turns)
        action = int(policies[seat].act(Decisions(games, memory[seat]))[0])
        events = narrate.step(game, action, names)
        for event in events:
            console.print(event, markup=False, highlight=False)
        if events and options.delay:
            time.sleep(options.delay)


if __name__ == "__main__":
    sys.exit(main())
