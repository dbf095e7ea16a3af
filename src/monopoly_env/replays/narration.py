"""A recorded game in sentences: events and messages."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from monopoly_env import core, events
from monopoly_env.errors import FormatError, IllegalActionError, PositionError
from monopoly_env.events import Row
from monopoly_env.game import Game
from monopoly_env.render import narrate
from monopoly_env.render.text import PLAYERS
from monopoly_env.replays.messages import Message
from monopoly_env.replays.replay import Replay, settle, start, which


def tell(replay: Replay, game: Game, number: int, names: Sequence[str]) -> list[str]:
    """Carry out one action of a replay in place, as `step` does; returns its events as sentences.

    Args:
        replay: The replay.
        game: The game after the actions before this one.
        number: The number of the action, from 0.
        names: The players' names by seat.

    Examples:
        >>> import agents
        >>> from monopoly_env import replays
        >>> (replay,) = agents.arena.play(["expert", "random"], games=1, record=1).replays
        >>> game = replays.start(replay)
        >>> replays.tell(replay, game, 0, replay.names)
        ['expert gets Oriental Avenue and pays $100.']

    Raises:
        FormatError: The action is illegal, or the game does not end in the recorded position.
    """
    words = said(replay, game, number, names)
    return words + narrate.sentences(play(replay, game, number), game, names)


def play(replay: Replay, game: Game, number: int) -> list[Row]:
    """As `tell`, but the events are rows of `monopoly_env.events`, without messages."""
    try:
        rows = events.play(game, int(replay.actions[number]))
    except (IllegalActionError, PositionError) as error:
        raise FormatError(f"{which(replay, number)} cannot be played back: {error}") from error
    before = core.clone(game)
    settle(replay, game, number)
    return events.follow(rows, before, game) if core.is_over(game) else rows


def message(replay: Replay, number: int) -> Message | None:
    """The message with an action, or None."""
    place = bisect_left(replay.talk, number, key=lambda one: one[0])
    if place == len(replay.talk) or replay.talk[place][0] != number:
        return None
    return replay.talk[place][1]


def said(replay: Replay, game: Game, number: int, names: Sequence[str]) -> list[str]:
    """The messages with an action, a sentence each.

    Examples:
        >>> import monopoly_env as me
        >>> from monopoly_env import replays
        >>> from monopoly_env.replays.messages import Message
        >>> game = me.new_game(num_players=2, seed=7)
        >>> actions, talk = me.legal_actions(game)[:1].astype("uint8"), ((0, Message("Hello.")),)
        >>> replay = replays.Replay(me.Rules(), 7, 2, ("Ann", "Bob"), actions, talk=talk)
        >>> replays.said(replay, game, 0, replay.names)
        ['Ann says: "Hello."']

    Args:
        replay: The replay.
        game: The game before the action.
        number: The number of the action, from 0.
        names: The players' names by seat.

    Raises:
        PositionError: A number of the record is out of its range.
    """
    spoken = message(replay, number)
    if spoken is None:
        return []
    speaker = names[core.in_range(game)[0].player]
    words = (
        [f"{speaker} says: {json.dumps(spoken.text, ensure_ascii=False)}"] if spoken.text else []
    )
    return words + ([f"{speaker} promises: {spoken.promise}."] if spoken.promise else [])


def narrated(replay: Replay) -> Iterator[tuple[Game, list[str]]]:
    """Yield copies of the record with sentences about events: at the start and after each event.

    Raises:
        FormatError: An action is illegal, or the game does not end in the recorded position.
    """
    game, names = start(replay), labels(replay)
    begun = core.new_game(replay.num_players, replay.rules, replay.seed)
    yield core.clone(game), narrate.sentences(events.opening(begun), game, names)
    for number in range(len(replay.actions)):
        sentences = tell(replay, game, number, names)
        if sentences:
            yield core.clone(game), sentences


def labels(replay: Replay) -> list[str]:
    """The players as sentences call them: their letters, with their names."""
    return [f"{PLAYERS[seat]} ({name})" for seat, name in enumerate(replay.names)]
