"""A recorded game as a page or an animation."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from monopoly_env import core
from monopoly_env.files import write_atomically
from monopoly_env.game import Game
from monopoly_env.replays.narration import narrated
from monopoly_env.replays.replay import Replay, final, games, start


def to_html(replay: Replay) -> str:
    """The whole game as one self-contained HTML page: the board, step by step, with a log.

    Examples:
        >>> import agents
        >>> from monopoly_env import replays
        >>> (replay,) = agents.arena.play(["expert", "random"], games=1, record=1).replays
        >>> replays.to_html(replay)[:15]
        '<!doctype html>'

    Raises:
        FormatError: The replay can't be played back.
    """
    # here, so that an edit of pictures compiles no kernel of this file anew
    from monopoly_env.render.page import page

    ending = "" if core.is_over(final(replay)) else " The recording ends before the game does."
    about = f"Seed {replay.seed}, {len(replay.actions):,} decisions.{ending}"
    return page(f"Monopoly: {', '.join(replay.names)}", about, replay.names, narrated(replay))


def save_html(replay: Replay, path: str | os.PathLike[str]) -> Path:
    """Write the page of `to_html` to a file, atomically.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import monopoly_env as me
        >>> from monopoly_env import replays
        >>> actions = me.legal_actions(me.new_game(2, seed=7))[:1].astype("uint8")
        >>> replay = replays.Replay(me.Rules(), 7, 2, ("Ann", "Bob"), actions)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     replays.save_html(replay, Path(folder, "game.html")).name
        'game.html'

    Raises:
        FormatError: The replay can't be played back.
        ConfigurationError: The file can't be written.
    """
    return write_atomically(path, to_html(replay).encode())


def save_animation(
    replay: Replay, path: str | os.PathLike[str], width: int = 488, seconds: float = 0.5
) -> Path:
    """Write an animation of a game, a frame a turn: a `.gif`, `.png` or `.webp` file.

    It needs the extra `pictures`.

    Args:
        replay: The replay.
        path: The file.
        width: Pixels.
        seconds: How long each turn is shown; the last position is shown ten times as long.

    Raises:
        FormatError: The replay can't be played back.
        ConfigurationError: The suffix, width or time is wrong, the file can't be written, or a
            library is not installed.
    """
    from monopoly_env.render.animation import animation

    return write_atomically(path, animation(_turns(replay), Path(path).suffix, width, seconds))


def _turns(replay: Replay) -> Iterator[Game]:
    """The game at the start of each turn, and at its end."""
    game = start(replay)
    yield game
    turn = game.turns
    for game in games(replay):
        if game.turns > turn:
            turn = game.turns
            yield game
    yield game


def _framed(replay: Replay) -> str:
    """The page of a game, as a notebook shows it."""
    from monopoly_env.render.page import framed

    return framed(to_html(replay))


Replay._repr_html_ = _framed
