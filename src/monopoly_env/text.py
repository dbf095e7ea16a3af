"""A game as human-readable text."""

from __future__ import annotations

from monopoly_env import actions, board
from monopoly_env.board import lots_of
from monopoly_env.core import batch_of, legal_actions
from monopoly_env.engine.agenda import OVER, TASK_NAMES
from monopoly_env.game import ENDINGS, Game
from monopoly_env.rules import Rules

_LEVELS = ("", " 1 house", " 2 houses", " 3 houses", " 4 houses", " hotel")
_CARD_NAMES = ("Chance jail card", "Community Chest jail card")


def to_text(game: Game) -> str:
    """The whole game in words: rules, bank, players and their lots, pending tasks, the open decision and its legal actions."""
    batch_of(game)
    changed = ", ".join(f"{name}={value!r}" for name, value in Rules.from_record(game.rules).changed().items())
    lines = [
        f"Turn {game.turns} of player {game.turn}, round {game.rounds + 1}; rules: official{' but ' + changed if changed else ''}",
        f"Bank: {game.houses} houses, {game.hotels} hotels; Free Parking ${game.pot}; last throw {game.dice[0]} + {game.dice[1]}",
    ]
    lines += [_player(game, seat) for seat in range(game.num_players)]
    pending = [_task(game, i) for i in reversed(range(game.depth))]
    lines.append("Pending: " + ("; ".join(pending) or "nothing"))
    lines += _decision(game)
    return "\n".join(lines)


def _player(game: Game, seat: int) -> str:
    if game.place[seat] and game.decision != OVER:
        return f"Player {seat}: out of the game, place {game.place[seat]}"
    edition = int(game.rules.board)
    place = f"in jail after {game.jail[seat] - 1} failed throws" if game.jail[seat] else board.SQUARE_NAME[edition][game.position[seat]]
    owned = [_lot(game, lot) for lot in lots_of(game.lots[seat])]
    owned += [name for bit, name in enumerate(_CARD_NAMES) if int(game.jail_cards[seat]) >> bit & 1]
    rank = f", place {game.place[seat]}" if game.place[seat] else ""
    return f"Player {seat}{rank}: ${game.cash[seat]}, {place}; " + (", ".join(owned) or "no lots")


def _lot(game: Game, lot: int) -> str:
    level = _LEVELS[game.level[lot]] if lot < board.NUM_STREETS else ""
    mortgage = " mortgaged" if int(game.mortgaged) >> lot & 1 else ""
    return f"{board.LOT_NAME[int(game.rules.board)][lot]}{level}{mortgage}"


def _task(game: Game, i: int) -> str:
    task, seat, first, second = (int(number) for number in game.agenda[i])
    who = f" (player {seat})" if seat >= 0 else ""
    numbers = f" {first} {second}" if first or second else ""
    return TASK_NAMES[task].replace("_", " ") + who + numbers


def _decision(game: Game) -> list[str]:
    if game.decision == OVER:
        return [f"The game is over: {ENDINGS[game.ending]}."]
    name = actions.DECISION_NAMES[game.decision]
    legal = "; ".join(f"{action} {actions.describe(action, game)}" for action in legal_actions(game))
    return [f"Decision of player {game.player}: {name} ({actions.DECISIONS[name]})", f"Legal: {legal}"]
