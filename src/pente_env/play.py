"""Watch players in the terminal, or play against them.

python -m pente_env.play                                     # watch two players
python -m pente_env.play --players human capturer --seed 7   # play against one
python -m pente_env.play --players better human blocker      # a game of three
python -m pente_env.play --players better capturer --games 1000   # a match, without a board
python -m pente_env.play --players human runs/two/network.npz     # against an evolved network
"""

from __future__ import annotations

import dataclasses
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import numpy as np
from rich.console import Console
from tyro.conf import arg

from monopoly_env.cli import command
from monopoly_env.cli.command import Command
from monopoly_env.cli.terminal import QuitError
from monopoly_env.errors import ConfigurationError, IllegalActionError, MonopolyError, nearest
from monopoly_env.files import sources
from monopoly_env.render.drawing import check_suffix
from pente_env import core, matches
from pente_env.game import Game, Games
from pente_env.player import MEMORY, Player
from pente_env.render import SIGNS, draw, to_text
from pente_env.rules import MAX_SIZE, MIN_SIZE, PRESETS, Rules
from pente_env.scripted import names

HUMAN: Final = "human"  # the person at the terminal
_KEYS: Final = (
    "Answer with a point: a letter for the column and the number of the row, such as D4.\n"
    "  b       show the board        p       points that capture, that make five, "
    "and that opponents need for five\n"
    "  ?       this help             q       quit\n"
    "You win with five stones in a row, or with five captured pairs. "
    "A pair is captured by your stones at both of its ends."
)


@dataclass(frozen=True)
class PenteOptions:
    """Watch Pente in the terminal, or play yourself.

    The board is shown before each of your own stones, or after every stone if nobody plays. You
    play the seats given to `human`: answer with a point such as D4, or with ? for help. With
    `--games`, a match is played instead, every seed in every order of seats.
    """

    players: tuple[str, ...] = ("better", "blocker")
    """The player in each seat, 2 or 3.

    `human`, one of random, blocker, capturer, simple, better, or the file of a network,
    network.npz of a run of `studies.pente_esp`.
    """
    rules: Annotated[str, arg(help=f"The preset of rules: {', '.join(PRESETS)}.")] = "schrum"
    size: Annotated[
        int | None,
        arg(help=f"Points along a side, {MIN_SIZE} to {MAX_SIZE}; by default the preset's."),
    ] = None
    opening: str | None = None
    """The first player's first stones: centre, free, tournament or g_pente.

    By default the preset's.
    """
    seed: int = 0
    """The seed of all random choices: the same seed and answers give the same game."""
    games: int = 0
    """Play a match of at least so many games, and print who won how many."""
    json: bool = False
    """Print the result of the match as JSON."""
    delay: float = 0.0
    """Seconds to wait after each stone."""
    picture: Path | None = None
    """Write a picture of the end of the game (.svg, or .png with the extra `pictures`)."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status.

    0 if all was played to the end, or the user quit with `q`.
    """
    return command.main("pente_env.play", Command(PenteOptions, begin), arguments)


def begin(options: PenteOptions, _: Console) -> int:
    """Play a game or a match and return the exit status.

    Raises:
        MonopolyError: The options are wrong.
    """
    console = Console(soft_wrap=True, highlight=False, markup=False)
    return run_match(options, console) if options.games else run(options, console)


def rules_of(options: PenteOptions) -> Rules:
    """The rules that the options ask for."""
    changes = {"size": options.size, "opening": options.opening}
    given = {name: value for name, value in changes.items() if value is not None}
    return Rules.preset(options.rules, **given)


def run_match(options: PenteOptions, console: Console) -> int:
    """Play a match and print its result.

    Raises:
        MonopolyError: The options are wrong.
    """
    if HUMAN in options.players:
        raise ConfigurationError(
            "--games plays a match without a board: nobody can be human there."
        )
    results = matches.play(options.players, options.games, rules_of(options), options.seed)
    if options.json:
        rows = [dataclasses.asdict(standing) for standing in results.standings]
        moves = float(results.games["moves"].mean())
        print(json.dumps({"games": len(results.games), "moves": moves, "players": rows}))
    else:
        console.print(str(results))
    return 0


def run(options: PenteOptions, console: Console) -> int:
    """Play one game on a console and return the exit status.

    Raises:
        MonopolyError: The options are wrong.
    """
    if options.delay < 0:
        raise ConfigurationError(f"--delay {options.delay} must not be negative.")
    if options.json:
        raise ConfigurationError("--json shows the result of a match: it needs --games.")
    if options.picture:
        check_suffix(options.picture)
    rules = rules_of(options)
    players = [None if name == HUMAN else seated(name) for name in options.players]
    matches.check_table(players, rules)
    games = core.new_games([options.seed], len(players), rules)
    left: QuitError | None = None
    try:
        play(games, players, console, options)
    except QuitError as error:
        left = error
    show(games[0], console)
    if options.picture:
        draw(games[0]).save(options.picture)
    return 0 if left is None else left.end()


def seated(name: str) -> Player:
    """The player of this name or file.

    Raises:
        MonopolyError: There is none; the message names those that there are.
    """
    if name in names() or Path(name).suffix or Path(name).is_dir() or sources.is_named(name):
        return matches.coerce(name)
    raise ConfigurationError(
        f"Unknown player {name!r}. {nearest(name, (HUMAN, *names(), 'the file of a network'))}"
    )


def play(
    games: Games, players: Sequence[Player | None], console: Console, options: PenteOptions
) -> None:
    """Play to the end; None is a person."""
    game, memory = games[0], np.zeros((len(players), MEMORY))
    watching = None not in players
    while not core.is_over(game):
        seat = int(game.player)
        chosen = {
            other: player.act(games, other, memory[other])
            for other, player in enumerate(players)
            if player and (other == seat or player.observes)
        }
        if seat not in chosen:
            show(game, console)
            chosen[seat] = ask(game, console)
        action = chosen[seat]
        before = int(game.captured[seat])
        core.step(game, action)
        taken = int(game.captured[seat]) - before
        name = f"{SIGNS[seat]} ({options.players[seat]})"
        point, more = (
            core.name_of(action, int(game.rules.side)),
            f", takes {taken}" if taken else "",
        )
        console.print(f"{int(game.moves):3} {name}: {point}{more}")
        if watching and not core.is_over(game):
            show(game, console)
        time.sleep(options.delay)


def show(game: Game, console: Console) -> None:
    """Print the board and the caption."""
    console.print(f"\n{to_text(game)}\n")


def ask(game: Game, console: Console) -> int:
    """The legal point that the person types.

    Raises:
        QuitError: The person quits, or there is no more input.
    """
    while True:
        try:
            text = console.input(f"{SIGNS[game.player]}> ").strip()
        except EOFError:
            console.print()
            raise QuitError(
                "No more input: the game is left unfinished.", on_purpose=False
            ) from None
        if text == "q":
            raise QuitError("You left the game.", on_purpose=True)
        if text in ("?", ""):
            console.print(_KEYS)
        elif text == "b":
            show(game, console)
        elif text == "p":
            console.print(hints(game))
        else:
            try:
                return checked(game, text)
            except MonopolyError as error:
                console.print(str(error))


def checked(game: Game, text: str) -> int:
    """The legal point of this name.

    Raises:
        ConfigurationError: There is no such point.
        IllegalActionError: It is not legal.
    """
    point = core.parse(text, int(game.rules.side))
    if not core.action_mask(game)[point]:
        raise IllegalActionError(str(core.illegal(game, point)))
    return point


def hints(game: Game) -> str:
    """The points that matter most at once."""
    seat, side = int(game.player), int(game.rules.side)
    others = [other for other in range(game.num_players) if other != seat]
    asked = [("captures", seat, "captures"), ("five", seat, "fives")]
    asked += [(f"{SIGNS[other]} needs for five", other, "fives") for other in others]
    asked += [(f"{SIGNS[other]} captures at", other, "captures") for other in others]
    lines = []
    for title, who, what in asked:
        found = [core.name_of(int(point), side) for point in core.points(game, who, what)]
        lines.append(f"  {title}: {', '.join(found) or 'none'}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
