"""A game as human-readable text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from monopoly_env import actions
from monopoly_env.core import legal_actions, sound
from monopoly_env.engine.agenda import OVER, TASK_NAMES
from monopoly_env.facts import board
from monopoly_env.facts.board import lots_of
from monopoly_env.facts.cards import DECKS
from monopoly_env.game import ENDINGS, Game
from monopoly_env.render import words
from monopoly_env.rules import Rules

_LEVELS = ("", " 1 house", " 2 houses", " 3 houses", " 4 houses", " hotel")
_CARD_NAMES = ("Chance jail card", "Community Chest jail card")


def to_text(game: Game) -> str:
    """The whole game in words.

    Rules, bank, players and their lots, pending tasks, the open decision and its legal actions.

    Raises:
        ConfigurationError: The argument is no record of a game.
        PositionError: The record is invalid.
    """
    sound(game)
    options = Rules.from_record(game.rules).changed().items()
    changed = ", ".join(f"{name}={value!r}" for name, value in options)
    rules = f"official but {changed}" if changed else "official"
    throw = f"{game.dice[0]} + {game.dice[1]}"
    lines = [
        f"Turn {game.turns} of player {game.turn}, round {game.rounds + 1}; rules: {rules}",
        f"Bank: {game.houses} houses, {game.hotels} hotels; Free Parking ${game.pot}; last throw"
        f" {throw}",
    ]
    lines += [_player(game, seat) for seat in range(game.num_players)]
    pending = [_task(game, i) for i in reversed(range(game.depth))]
    lines.append("Pending: " + ("; ".join(pending) or "nothing"))
    lines += _decision(game)
    return "\n".join(lines)


def _player(game: Game, seat: int) -> str:
    if game.place[seat] and game.decision != OVER:
        return f"Player {seat}: out of the game, place {game.place[seat]}"
    place = board.SQUARE_NAME[int(game.rules.board)][game.position[seat]]
    if game.jail[seat]:
        place = f"in jail after {game.jail[seat] - 1} failed throws"
    owned = [_lot(game, lot) for lot in lots_of(game.lots[seat])]
    owned += [name for bit, name in enumerate(_CARD_NAMES) if int(game.jail_cards[seat]) >> bit & 1]
    rank = f", place {game.place[seat]}" if game.place[seat] else ""
    return f"Player {seat}{rank}: ${game.cash[seat]}, {place}; " + (", ".join(owned) or "no lots")


def _lot(game: Game, lot: int) -> str:
    level = _LEVELS[game.level[lot]] if lot < board.NUM_STREETS else ""
    mortgage = " mortgaged" if int(game.mortgaged) >> lot & 1 else ""
    return f"{board.LOT_NAME[int(game.rules.board)][lot]}{level}{mortgage}"


def _names(game: Game) -> list[str]:
    return [f"player {seat}" for seat in range(game.num_players)]


def _task(game: Game, i: int) -> str:
    task, seat, first, second = (int(number) for number in game.agenda[i])
    name = TASK_NAMES[task]
    details = _ARGUMENTS[name](game, first, second) if name in _ARGUMENTS else ""
    who = f" (player {seat})" if seat >= 0 else ""
    return name.replace("_", " ") + who + (f": {details}" if details else "")


def _debt(game: Game, dollars: int, creditor: int) -> str:
    return words.debt(game, dollars, creditor, _names(game))


def _lot_of(game: Game, lot: int, _: int) -> str:
    return words.lot_name(game, lot)


def _lots_of(game: Game, lots: int, _: int) -> str:
    return words.goods(game, lots)


def _each(_: Game, dollars: int, __: int) -> str:
    return f"${dollars:,} each"


# The meaning of the two arguments of a task (`engine.agenda`).
_ARGUMENTS: Final[dict[str, Callable[[Game, int, int], str]]] = {
    "buy": _lot_of,
    "place": lambda game, piece, paid: f"{words.lot_name(game, piece)}, won for ${paid:,}",
    "turn": lambda _, when, __: ("before the throw", "after the throw", "in the turn of another")[
        when
    ],
    "jail": lambda _, steps, __: f"after a failed throw of {steps}" if steps else "",
    "debt": _debt,
    "fine_or_chance": lambda _, dollars, __: f"${dollars:,}",
    "takeover": _lot_of,
    "before_throw": lambda _, passes, __: (
        f"pass {passes + 1} of the windows, if somebody acts" if passes else ""
    ),
    "leave_jail": lambda _, steps, __: f"{steps} steps",
    "card": lambda _, deck, __: DECKS[deck].replace("_", " "),
    "charge": _debt,
    "take": _debt,
    "pay_each": _each,
    "collect_each": _each,
    "auction": _lot_of,
    "sold": _lot_of,
    "estate": _lots_of,
    "takeovers": _lots_of,
}


def _decision(game: Game) -> list[str]:
    if game.decision == OVER:
        return [f"The game is over: {ENDINGS[game.ending]}."]
    name = actions.DECISION_NAMES[game.decision]
    legal = (f"{action} {actions.describe(action, game)}" for action in legal_actions(game))
    subject = words.subject(game, _names(game))
    about = [subject[0].upper() + subject[1:]] if subject else []
    return [
        f"Decision of player {game.player}: {name} ({actions.DECISIONS[name]})",
        *about,
        f"Legal: {'; '.join(legal)}",
    ]
