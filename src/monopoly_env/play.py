"""Watch policies play in the terminal, play against them, or step through a recorded game.

`python -m monopoly_env.play --help`.

python -m monopoly_env.play                                         # watch two policies
python -m monopoly_env.play --players human algorithmic --seed 7    # play against a policy
python -m monopoly_env.play replay games.replay --game 3            # step through a recorded game
python -m monopoly_env.play replay games.replay --html game.html    # make it a page for a browser
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import tyro
from rich.console import Console

from monopoly_env import core, replays, saves
from monopoly_env.cli import command
from monopoly_env.cli.command import Command
from monopoly_env.cli.terminal import QuitError
from monopoly_env.errors import ConfigurationError
from monopoly_env.game import MAX_PLAYERS, MIN_PLAYERS, Game
from monopoly_env.policy.match import Match
from monopoly_env.policy.names import make, resolve
from monopoly_env.policy.protocol import Policy
from monopoly_env.render.description import to_text
from monopoly_env.render.text import PLAYERS, board
from monopoly_env.replays import Replay
from monopoly_env.rules import PRESETS

HUMAN: Final = "human"  # the policy that asks the person at the terminal
REPLAY: Final = "replay"  # the first word of a command that steps through a recorded game
_KEYS: Final = (
    "Enter: show the next event.  A number: go forward, or back, to that turn.\n"
    "b: show the board.  t: describe the position.  a: show the rest without stopping.  q: quit.  "
    "?: show this help."
)


@dataclass(frozen=True)
class PlayOptions:
    """Watch Monopoly in the terminal, or play yourself.

    Each event is printed as a line. You play the seats given to `human`: you see the board and your
    legal actions, and answer with a number, with the text of an action, or with ? for help. To step
    through a recorded game, use `python -m monopoly_env.play replay FILE` (it has its own --help).
    """

    players: tuple[str, ...] = ("algorithmic", "random")
    """The player in each seat, 2 to 8: `human`, the name of a policy (`agents.names()`), or a saved
    policy (.safetensors)."""
    rules: Annotated[str, tyro.conf.arg(help=f"The preset of rules: {', '.join(PRESETS)}.")] = (
        "official"
    )
    seed: int = 0
    """The seed of all dice and cards: the same seed and choices give the same game."""
    delay: float = 0.2
    """Seconds to wait after each decision that leads to an event."""
    max_turns: int = 1000
    """Stop after this many turns, all players together."""
    boards: int = 0
    """Show the board every so many turns. 0 shows it only before your own turns and at the end."""
    load: Path | None = None
    """Continue a game that was saved with `s FILE`."""
    save: Path | None = None
    """Save the game as it stands at the end."""


@dataclass(frozen=True)
class ReplayOptions:
    """Step through a recorded game in the terminal, or write it as a page or an animation.

    Each event is printed as a line. In a terminal, Enter shows the next event, a number goes to
    that turn, and ? lists the other keys. With --delay, or without a terminal, the game is shown
    without stopping. With --html or --picture it isn't shown.
    """

    file: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")]
    """A file of recorded games (.replay), written by `python -m training.tournament --record` or
    `monopoly_env.replays.save`."""
    game: int = 1
    """The number of the game in the file, from 1."""
    start: Annotated[int, tyro.conf.arg(name="from")] = 1
    """The turn to begin at, counted over all players."""
    delay: float | None = None
    """Seconds to wait after each action that leads to an event, instead of waiting for a key. 0
    does not wait."""
    show_board: bool = False
    """Show the board at each new turn, not only at the end."""
    text: bool = False
    """After each action that leads to an event, also describe the whole position and the next
    decision in words."""
    html: Path | None = None
    """Write the game as one page (.html): the board step by step, with a log. It needs no server
    and no network."""
    picture: Path | None = None
    """Write the game as an animation (.gif, .png or .webp), a frame a turn. It needs the extra
    `pictures`."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 if the game ended, was stopped, or the user quit."""
    console = Console(soft_wrap=True)
    play = Command[PlayOptions, int](PlayOptions, lambda options, _: run(options, console))
    replay = Command[ReplayOptions, int](ReplayOptions, lambda given, _: run_replay(given, console))
    return command.main("monopoly_env.play", play, arguments, subcommands={REPLAY: replay})


def run(options: PlayOptions, console: Console) -> int:
    """Play one game on a console and return the exit status.

    Raises:
        MonopolyError: The options are wrong.
    """
    if options.delay < 0 or options.max_turns < 1 or options.boards < 0:
        raise ConfigurationError(
            "--delay and --boards must not be negative, --max-turns must be at least 1."
        )
    players, seats = options.players, len(options.players)
    if not MIN_PLAYERS <= seats <= MAX_PLAYERS:
        wanted = f"{MIN_PLAYERS} to {MAX_PLAYERS} players, not {seats}: one for each seat"
        raise ConfigurationError(f"--players must name {wanted}.")
    load, new = options.load, (seats, options.rules, options.seed)
    game = saves.load(load) if load else core.new_game(*new)
    if game.num_players != seats:
        held = f"The saved game has {game.num_players} players"
        raise ConfigurationError(f"{held}; --players names {seats}.")
    policies = [make(HUMAN, console=console) if one == HUMAN else resolve(one) for one in players]
    names = [f"{PLAYERS[seat]} ({policy.name})" for seat, policy in enumerate(policies)]
    left: QuitError | None = None
    try:
        play(game, policies, names, console, options)
    except QuitError as error:
        left = error
    console.print(board(game, colour=console.is_terminal), markup=False, highlight=False)
    if options.save:
        saves.save(game, options.save)
        console.print(f"Saved to {options.save}.", markup=False)
    return 0 if left is None else left.end()


def play(
    game: Game,
    policies: Sequence[Policy],
    names: Sequence[str],
    console: Console,
    options: PlayOptions,
) -> None:
    """Let the policies play until the game ends or hits the turn limit, and print each event."""
    # what came before a saved position is not known
    match = Match(game, policies, names=names, actions=None if options.load else ())
    shown = -1
    while match.policy and game.turns <= options.max_turns:
        due = options.boards and game.turns % options.boards == 0
        if game.turns != shown and (due or match.policy.kind == HUMAN):
            console.print(board(game, colour=console.is_terminal), markup=False, highlight=False)
            shown = int(game.turns)
        events = match.step(match.ask())
        for event in events:
            console.print(event, markup=False, highlight=False)
        if events and options.delay:
            time.sleep(options.delay)


def run_replay(options: ReplayOptions, console: Console) -> int:
    """Show one recorded game on a console and return the exit status.

    Raises:
        MonopolyError: The options are wrong, the file holds no replays, or the replay does not play
            back.
    """
    recorded = replays.load(options.file)
    if not 1 <= options.game <= len(recorded):
        held = f"{str(options.file)!r} holds {len(recorded)} recorded games"
        raise ConfigurationError(f"{held}: --game {options.game} does not exist.")
    if options.delay is not None and options.delay < 0:
        raise ConfigurationError("--delay must not be negative.")
    replay = recorded[options.game - 1]
    if options.html or options.picture:
        return _write(replay, options)
    # a replay that does not play back is refused before anything is shown
    end = replays.final(replay)
    if not 1 <= options.start <= end.turns:
        held = f"The recorded game has {end.turns} turns"
        raise ConfigurationError(f"{held}: --from {options.start} does not exist.")
    names = [f"{PLAYERS[seat]} ({name})" for seat, name in enumerate(replay.names)]
    changed = ", ".join(f"{name}={value}" for name, value in replay.rules.changed().items())
    text = (
        f"Game {options.game} of {len(recorded)}: {', '.join(names)}; rules"
        f" official{f' but {changed}' if changed else ''}; seed {replay.seed}; {end.turns} turns,"
        f" {len(replay.actions)} decisions."
    )
    console.print(text, markup=False, highlight=False)
    if not _Viewer(replay, int(end.turns), names, console, options).show():
        return 0
    console.print(board(end, colour=console.is_terminal), markup=False, highlight=False)
    if not core.is_over(end):
        console.print("The recording ends here; the game was not over.", markup=False)
    return 0


def _write(replay: Replay, options: ReplayOptions) -> int:
    """Write a recorded game to the files that are asked for."""
    if options.html:
        print(f"Wrote {replays.save_html(replay, options.html)}.")
    if options.picture:
        print(f"Wrote {replays.save_animation(replay, options.picture)}.")
    return 0


class _Viewer:
    """Steps through a replay on a console."""

    def __init__(
        self,
        replay: Replay,
        turns: int,
        names: Sequence[str],
        console: Console,
        options: ReplayOptions,
    ) -> None:
        self.replay, self.turns, self.names = replay, turns, names
        self.console, self.options = console, options
        self.asks = options.delay is None and console.is_terminal and sys.stdin.isatty()
        self.from_turn = options.start

    def show(self) -> bool:
        """Show the game until its end or until the user quits; True if the end was reached."""
        game, number, shown = replays.start(self.replay), 0, 0
        while number < len(self.replay.actions):
            events = replays.tell(self.replay, game, number, self.names)
            number += 1
            if game.turns < self.from_turn or not events:
                continue
            self._say("\n".join(events))
            if self.options.show_board and game.turns != shown:
                self._say(self._board(game))
                shown = int(game.turns)
            if self.options.text:
                self._say(to_text(game))
            if self.options.delay:
                time.sleep(self.options.delay)
            if self.asks and number < len(self.replay.actions):
                if not self._ask(game):
                    return False
                # back: play it again from the start
                if self.from_turn <= game.turns and self.from_turn:
                    game, number, shown = replays.start(self.replay), 0, 0
        return True

    def _ask(self, game: Game) -> bool:
        """Wait for the user's answer, False to quit; `from_turn` is the turn to go to, or 0."""
        self.from_turn = 0
        while True:
            try:
                answer = input().strip().lower()
            except EOFError:
                return False
            if answer in ("", "a"):
                self.asks = not answer
                return True
            if answer == "q":
                return False
            if answer.isdecimal() and 1 <= int(answer) <= self.turns:
                self.from_turn = int(answer)
                return True
            shown = {"b": self._board(game), "t": to_text(game), "?": _KEYS}
            unknown = f"Unknown key or turn {answer!r}; the turns are 1 to {self.turns}.\n{_KEYS}"
            self._say(shown.get(answer, unknown))

    def _board(self, game: Game) -> str:
        return board(game, colour=self.console.is_terminal)

    def _say(self, text: str) -> None:
        self.console.print(text, markup=False, highlight=False)


if __name__ == "__main__":
    sys.exit(main())
