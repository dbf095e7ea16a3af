"""Players that read text, and a recorded game whose players may talk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from monopoly_bench import prompts
from monopoly_bench.talk import Talk
from monopoly_env import core, replays
from monopoly_env.errors import whole_number
from monopoly_env.game import Game
from monopoly_env.policy.match import Match
from monopoly_env.policy.names import resolve_all
from monopoly_env.policy.protocol import BatchedPolicy, Policy
from monopoly_env.replays import Replay
from monopoly_env.rules import Rules

_MOST: Final = 1024  # games and seats in memory; the oldest are dropped


class SeatHistory:
    """The record at each seat's last decision, and the changes since.

    A policy sees records, not events, so its history is the difference of two records.
    """

    def __init__(self) -> None:
        self._last: dict[tuple[int, int, int], Game] = {}

    def since(self, game: Game) -> list[str]:
        """The changes since the last call for a game and seat, a sentence per player."""
        key = int(game.seed[0]), int(game.seed[1]), int(game.player)
        before = self._last.pop(key, None)
        if len(self._last) >= _MOST:
            del self._last[next(iter(self._last))]
        self._last[key] = core.clone(game)
        if before is None or before.num_players != game.num_players or before.turns > game.turns:
            return []  # the first call, or another game of the same seed
        return prompts.changes(before, game)


class TextPlayer(BatchedPolicy):
    """Base class of players that see decisions as text or JSON.

    Attributes:
        talk: The conversation of the running game, set by `play`; None: players do not talk.
    """

    talk: Talk | None = None

    def __init__(self) -> None:
        """Begin without a history."""
        self._history = SeatHistory()

    def begin(self, talk: Talk | None) -> None:
        """Reset the history: another game begins, perhaps with the same seed."""
        self.talk, self._history = talk, SeatHistory()


@dataclass(frozen=True)
class TalkedGame:
    """A finished game.

    Attributes:
        game: The last record.
        replay: The recording, with messages.
        talk: The conversation, or None.
    """

    game: Game
    replay: Replay
    talk: Talk | None


def play(
    policies: Sequence[Policy | str],
    rules: str | Rules = "official",
    seed: int = 0,
    *,
    talk: bool = False,
    turn_limit: int = 200,
) -> TalkedGame:
    """Play one game between policies of any kind.

    With the same seed, dice and cards are the same with and without talk, and in every order of
    seats.

    Examples:
        >>> import monopoly_env as me
        >>> from monopoly_bench import seats
        >>> played = seats.play(["expert", "random"], seed=0)
        >>> me.winner(played.game)
        0

    Args:
        policies: The policy of each seat, or its name. Language models and bots may talk; other
            policies neither send nor receive messages.
        rules: A preset of rules, or rules.
        seed: The seed of dice and cards.
        talk: Whether players may talk.
        turn_limit: Turns of each player after which the score decides.

    Raises:
        MonopolyError: A policy is unknown, does not play at this table, or fails.
    """
    whole_number("turn_limit", turn_limit, 1)
    seated, rules = resolve_all(policies), Rules.coerce(rules)
    limit = turn_limit * len(seated)
    match = Match(core.new_game(len(seated), rules, seed), seated, turn_limit=limit)
    said = Talk() if talk else None
    speakers = [policy for policy in seated if isinstance(policy, TextPlayer)]
    try:
        for speaker in speakers:
            speaker.begin(said)
        while match.policy:
            action = match.ask()
            if said is not None:
                said.step(match.game, action)
            match.step(action)
    finally:
        for speaker in speakers:
            speaker.begin(None)
    if said is not None:
        said.end(match.game)
    spoken = () if said is None else tuple((one.at, one.message) for one in said.spoken)
    names, none = tuple(policy.name for policy in seated), np.zeros(0, np.uint8)
    begun = Replay(rules, seed, len(seated), names, none, turn_limit)
    replay = replays.extended(begun, match.actions, spoken, replays.digest(match.game))
    return TalkedGame(match.game, replay, said)
