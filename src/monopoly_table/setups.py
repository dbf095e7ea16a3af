"""Rules and positions between JSON and the engine, in both directions."""

from __future__ import annotations

import dataclasses
from typing import Any

from monopoly_env.errors import RulesError, nearest
from monopoly_env.facts.board import NUM_STREETS, lots_of
from monopoly_env.facts.cards import DECKS
from monopoly_env.game import Game
from monopoly_env.positions import position
from monopoly_env.rules import PRESETS, RULES, Rules
from monopoly_table.messages import Position, RulesChoice


def rules_of(choice: RulesChoice) -> Rules:
    """The rules that were chosen.

    Raises:
        RulesError: An option is unknown or wrong, or two contradict each other.
    """
    for name in choice.options:
        if name not in (RULES.names or ()):
            raise RulesError(f"Unknown option {name!r}. {nearest(name, RULES.names or ())}")
    return Rules.preset(choice.preset, **choice.options)


def rules_in(game: Game) -> Rules:
    """The rules of a game."""
    return Rules.from_record(game.rules)


def presets() -> dict[str, Any]:
    """Every preset and every option, as clients read them."""
    return {
        "presets": PRESETS,
        "options": [_option(option) for option in dataclasses.fields(Rules)],
    }


def _option(option: dataclasses.Field[Any]) -> dict[str, Any]:
    return {"name": option.name, "default": option.default, **option.metadata}


def build(setup: Position) -> Game:
    """The position that was set up.

    Raises:
        PositionError: It can't be; the message says why.
        RulesError: Its rules are wrong.
    """
    rules, players = rules_of(setup.rules), setup.players
    return position(
        len(players),
        rules,
        setup.seed,
        turn=setup.turn,
        streak=setup.streak,
        pot=setup.pot,
        cash={
            seat: player.cash
            for seat, player in enumerate(players)
            if player.cash is not None and not player.bankrupt
        },
        lots={seat: player.lots for seat, player in enumerate(players)},
        positions={seat: player.square for seat, player in enumerate(players)},
        jail={
            seat: player.jail
            for seat, player in enumerate(players)
            if player.jail is not None and not player.bankrupt
        },
        jail_cards={
            seat: player.jail_cards for seat, player in enumerate(players) if player.jail_cards
        },
        bankrupt=[seat for seat, player in enumerate(players) if player.bankrupt],
        mortgaged=setup.mortgaged,
        buildings={building.lot: building.level for building in setup.buildings},
        throws=[(first, second) for first, second in setup.throws],
        chance=setup.chance,
        community_chest=setup.community_chest,
    )


def described(game: Game) -> dict[str, Any]:
    """A position as it could have been set up.

    That is what lies on the board, before the throw of the seat on turn.
    """
    rules = rules_in(game)
    mortgaged = lots_of(game.mortgaged)
    return {
        "rules": {"preset": "official", "options": rules.changed()},
        "seed": 0,
        "turn": int(game.turn),
        "streak": 0,
        "pot": int(game.pot),
        "players": [_player(game, seat) for seat in range(game.num_players)],
        "buildings": [
            {"lot": lot, "level": int(game.level[lot])}
            for lot in range(NUM_STREETS)
            if game.level[lot]
        ],
        "mortgaged": [
            lot for lot in mortgaged if any(int(owned) >> lot & 1 for owned in game.lots)
        ],
        "throws": [],
        "chance": [],
        "community_chest": [],
    }


def _player(game: Game, seat: int) -> dict[str, Any]:
    return {
        "cash": max(0, int(game.cash[seat])),
        "square": int(game.position[seat]),
        "jail": int(game.jail[seat]) - 1 if game.jail[seat] else None,
        "jail_cards": [
            deck for number, deck in enumerate(DECKS) if int(game.jail_cards[seat]) >> number & 1
        ],
        "lots": lots_of(game.lots[seat]),
        "bankrupt": bool(game.place[seat]),
    }
