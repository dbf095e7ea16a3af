"""What the tests of trading policies share.

Asking a policy at a position, and counting the trades of whole games.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import agents
import monopoly_env as me
from monopoly_env import actions
from monopoly_env.facts import board
from monopoly_env.game import empty_games
from tests.play import act, asked


def asked_of(policy: agents.Policy, game: Any, memory: Any = None) -> str:
    """What a policy does at a position, in words.

    It has forgotten everything unless its memory is given.
    """
    games = empty_games(1)
    games[0] = game
    return actions.describe(int(policy.act(agents.Decisions(games, memory))[0]), game)


def landed(
    square: int,
    lots: dict[int, list[str]],
    cash: dict[int, int],
    num_players: int = 2,
    **contents: Any,
) -> Any:
    """Seat 0 has just come to a square."""
    game = me.position(
        num_players, lots=lots, cash=cash, positions={0: square - 3}, throws=[(1, 2)], **contents
    )
    while int(game.num_forced):
        act(game, "go on")
    return game


def proposed(policy: agents.Policy, game: Any, memory: Any = None) -> dict[str, Any] | None:
    """The offer that a policy makes in its window: partner, lots by name, cash given.

    None if it does something else.

    The game is left at the partner's reply.
    """
    memory = np.zeros((1, agents.MEMORY)) if memory is None else memory
    action = asked_of(policy, game, memory)
    if not action.startswith("trade with"):
        return None
    act(game, action)
    while asked(game)[0].startswith("trade_"):
        act(game, asked_of(policy, game, memory))
    assert asked(game) == ("reply", int(game.offer_to)), asked(game)
    names = board.LOT_NAME[int(game.rules.board)]
    sides = {
        side: [names[lot] for lot in board.lots_of(goods)]
        for side, goods in (("ask", int(game.offer_ask)), ("give", int(game.offer_give)))
    }
    return {"to": int(game.offer_to), **sides, "cash": int(game.offer_cash)}


def trades(
    names: Sequence[str | agents.Policy], games: int, rules: str = "official", seed: int = 0
) -> tuple[list[int], list[int]]:
    """Concluded trades of each game, and how often each game's most traded lot changed hands."""
    players = [agents.resolve(name) for name in names]
    concluded, most = [], []
    for number in range(games):
        record = me.new_games([(seed << 32) + number], len(players), rules)
        memory = np.zeros((len(players), 1, agents.MEMORY))
        count, moves = 0, np.zeros(30, int)
        while not me.is_over(record[0]) and record[0].turns < 1000 * len(players):
            game = record[0]
            seat = int(game.player)
            action = int(
                players[(seat + number) % len(players)].act(agents.Decisions(record, memory[seat]))[
                    0
                ]
            )
            if actions.describe(action, game) == "accept":
                count += 1
                goods = int(game.offer_ask) | int(game.offer_give)
                moves += [goods >> good & 1 for good in range(30)]
            me.step(game, action)
        concluded.append(count)
        most.append(int(moves[:28].max()))
    return concluded, most
