"""A recorded game in sentences: events and messages."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from monopoly_env import core
from monopoly_env.errors import FormatError, IllegalActionError, PositionError
from monopoly_env.game import Game
from monopoly_env.render import narrate
from monopoly_env.render.text import PLAYERS
from monopoly_env.replays.replay import Replay, settle, start, which


def tell(replay: Replay, game: Game, number: int, names: Sequence[str]) -> list[str]:
    """Carry out one action of a replay in place, as `step` does; returns its events as sentences.

    Args:
        replay: The replay.
        game: The game after the actions before this one.
        number: The number of the action, from 0.
        names: The players' names by seat.

    Raises:
        FormatError: The action is illegal, or the game does not end in the recorded position.
    """
    words = said(replay, game, number, names)
    try:
        told = narrate.step(game, int(replay.actions[number]), names)
    except (IllegalActionError, PositionError) as error:
        raise FormatError(f"{which(replay, number)} cannot be played back: {error}") from error
    before = core.clone(game)
    settle(replay, game, number)
    return words + told + (narrate.compare(before, game, names) if core.is_over(game) else [])


def said(replay: Replay, game: Game, number: int, names: Sequence[str]) -> list[str]:
    """The messages with an action, a sentence each.

    Args:
        replay: The replay.
        game: The game before the action.
        number: The number of the action, from 0.
        names: The players' names by seat.
    """
    place = bisect_left(replay.talk, number, key=lambda one: one[0])
    if place == len(replay.talk) or replay.talk[place][0] != number:
        return []
    message, speaker = replay.talk[place][1], names[game.player]
    words = (
        [f"{speaker} says: {json.dumps(message.text, ensure_ascii=False)}"] if message.text else []
    )
    return words + ([f"{speaker} promises: {message.promise}."] if message.promise else [])


def told(replay: Replay) -> Iterator[tuple[Game, list[str]]]:
    """Yield copies of the record with sentences about events: at the start and after each event.

    Raises:
        FormatError: An action is illegal, or the game does not end in the recorded position.
    """
    game, names = start(replay), labels(replay)
    yield core.clone(game), []
    for number in range(len(replay.actions)):
        sentences = tell(replay, game, number, names)
        if sentences:
            yield core.clone(game), sentences


def labels(replay: Replay) -> list[str]:
    """The players as sentences call them: their letters, with their names."""
    return [f"{PLAYERS[seat]} ({name})" for seat, name in enumerate(replay.names)]
