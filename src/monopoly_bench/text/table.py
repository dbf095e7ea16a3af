"""One game whose players may talk, and its recording."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from monopoly_bench.talk import Talk
from monopoly_bench.text.player import TextPlayer
from monopoly_env import core, replays
from monopoly_env.errors import whole_number
from monopoly_env.game import Game
from monopoly_env.policy.match import Match
from monopoly_env.policy.names import resolve_all
from monopoly_env.policy.protocol import Policy
from monopoly_env.replays import Replay
from monopoly_env.rules import Rules


@dataclass(frozen=True)
class Played:
    """A finished game.

    Attributes:
        game: The last record.
        replay: The recording, with what was said.
        talk: The conversation; None where players did not talk.
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
) -> Played:
    """Play one game between policies of any kind.

    With the same seed, dice and cards are the same with and without talk, and in every order of
    seats.

    Args:
        policies: Who sits in each seat, or their names. Language models and bots may talk; all
            others neither hear nor speak.
        rules: A preset of rules, or rules.
        seed: Of dice and cards.
        talk: Whether players may talk.
        turn_limit: Turns of each player after which the score decides.

    Raises:
        MonopolyError: A policy is unknown, does not play at this table, or fails.
    """
    whole_number("turn_limit", turn_limit, 1)
    seated, rules = resolve_all(policies), Rules.preset(rules) if isinstance(rules, str) else rules
    replay = Replay(
        rules,
        seed,
        len(seated),
        tuple(policy.name for policy in seated),
        np.zeros(0, np.uint8),
        turn_limit,
    )
    said = Talk() if talk else None
    speakers = [policy for policy in seated if isinstance(policy, TextPlayer)]
    try:
        for speaker in speakers:
            speaker.begin(said)
        game, actions = _played(seated, replay, said)
    finally:
        for speaker in speakers:
            speaker.begin(None)
    spoken = () if said is None else tuple((one.at, one.message) for one in said.spoken)
    return Played(game, replays.extended(replay, actions, spoken, replays.digest(game)), said)


def _played(seated: Sequence[Policy], replay: Replay, said: Talk | None) -> tuple[Game, list[int]]:
    """The last record of a game, and its actions."""
    limit = replay.turn_limit * replay.num_players
    match = Match(replays.start(replay), seated, turn_limit=limit)
    while match.policy:
        action, before = match.ask(), core.clone(match.game)
        match.step(action)
        if said is not None:
            said.step(before, action)
    if said is not None:
        said.end(match.game)
    return match.game, match.actions
