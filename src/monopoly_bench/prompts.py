r"""A decision as JSON or as a short prompt, and the parser of answers.

    from monopoly_bench import prompts

    print(prompts.prompt(game))  # the position, the question, the legal actions
    action = prompts.read("I need cash.\nACTION: decline", game)

Language models, bots in other languages and the MCP server all use this module.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Sequence
from typing import Any, Final

from monopoly_bench.talk import HOW, Talk, marked
from monopoly_env import actions, core
from monopoly_env.errors import (
    ConfigurationError,
    FormatError,
    IllegalActionError,
    nearest,
    shortened,
)
from monopoly_env.facts import board
from monopoly_env.facts.board import lots_of
from monopoly_env.game import Game
from monopoly_env.render import narrate, words
from monopoly_env.render.description import to_text
from monopoly_env.rules import Rules

SYSTEM: Final = (
    "You play Monopoly to win: the last player who is not bankrupt wins the game. Each message"
    " shows you a position and one decision. Think briefly, then end your answer with a line of the"
    " form\nACTION: <number or text of one legal action>\nNothing may follow that line. An offer is"
    " made step by step: the partner, what you ask for, what you give, the cash."
)
# Characters before an action in a line of an answer, and after it.
_OPENING: Final = " *_`\"'“<([#"
_END: Final = re.compile(r"""[*_`"'”>\])]*\s*(?:$|[:;!()<]|[.,](?!\S)|[-—]\s|because\b)""")
_LONGEST: Final = 200  # characters read of a line; all actions are shorter
_CHARACTERS_PER_TOKEN: Final = 4
_CARDS: Final = ("chance", "community_chest")


def situation(game: Game, history: Sequence[str] = (), talk: Talk | None = None) -> dict[str, Any]:
    """A decision as JSON values.

    Args:
        game: A game that waits for a decision.
        history: The events since the player's last decision, a sentence each.
        talk: The conversation, if players may talk.

    Returns:
        `you` is the deciding seat. `players` holds cash, square and property of every seat,
        `decision` the kind of the decision, `about` its subject, and `legal` the number and the
        text of every legal action. `talk` (`Talk.shown`) is present only if players may talk.

    Raises:
        ConfigurationError: The argument is no record of a game. PositionError: The record is
            invalid.
    """
    core.sound(game)
    decision, rules = actions.DECISION_NAMES[game.decision], Rules.from_record(game.rules)
    legal = core.legal_actions(game)
    seen = {
        "you": int(game.player), "turn_of": int(game.turn), "turns": int(game.turns),
        "round": int(game.rounds) + 1, "rules": rules.changed(),
        "bank": {
            "houses": int(game.houses), "hotels": int(game.hotels), "free_parking": int(game.pot),
        },
        "players": [_player(game, seat) for seat in range(game.num_players)],
        "history": list(history), "decision": decision, "question": actions.DECISIONS[decision],
        "about": words.subject(game, _names(game)),
        "legal": [{"action": int(one), "text": actions.describe(one, game)} for one in legal],
    }  # fmt: skip
    return seen if talk is None else seen | {"talk": talk.shown(game)}


def menu_of(game: Game) -> list[str]:
    """The legal actions, each as `number: text`."""
    return [f"{action}: {actions.describe(action, game)}" for action in core.legal_actions(game)]


def system(talk: Talk | None = None) -> str:
    """The instructions: `SYSTEM`, and those of talk if players may talk."""
    return SYSTEM if talk is None else f"{SYSTEM}\n{HOW}"


def prompt(
    game: Game, history: Sequence[str] = (), menu: bool = True, talk: Talk | None = None
) -> str:
    """A decision as text for a language model: a few hundred tokens.

    Args:
        game: A game that waits for a decision.
        history: The events since the player's last decision, a sentence each.
        menu: Whether to list every legal action, or only their kinds.
        talk: The conversation, if players may talk.

    Raises:
        ConfigurationError: The argument is no record of a game. PositionError: The record is
            invalid.
    """
    you, players = int(game.player), int(game.num_players)
    ahead = ", ".join(f"player {(you + step) % players} is +{step}" for step in range(1, players))
    lines = [f"You are player {you}. Clockwise from you, {ahead}."]
    lines += to_text(game).splitlines()[:-1]
    if history:
        lines += ["Since your last decision:", *(f"- {sentence}" for sentence in history)]
    if talk is not None:
        lines += talk.lines(game)
    choices = ["Legal actions:", *menu_of(game)] if menu else _kinds(game)
    return "\n".join([*lines, *choices])


def read(answer: str, game: Game) -> int:
    """The action of the last line `ACTION: ...` of an answer, as `chosen` reads it.

    Raises:
        FormatError: There is no such line, or it names two actions.
        ConfigurationError: There is no such action; the message suggests the nearest one.
        IllegalActionError: The action is illegal; the message suggests the nearest legal one.
    """
    line = marked(answer, "action")
    if line is None:
        last = next((line.strip() for line in reversed(answer.splitlines()) if line.strip()), "")
        raise FormatError(
            "The last line of the answer must be 'ACTION: <number or text>', not"
            f" {shortened(last)}."
        )
    return chosen(line, game)


def chosen(answer: str | int, game: Game) -> int:
    """The legal action of a number, a text, or a line of a menu such as `1: buy`.

    Quotes, emphasis and text after the action are ignored.

    Raises:
        FormatError: It names two actions.
        ConfigurationError: There is no such action; the message suggests the nearest one.
        IllegalActionError: The action is illegal; the message suggests the nearest legal one.
    """
    if not isinstance(answer, str):
        return _legal(actions.parse(answer, game), game)
    action, rest = _first(answer, game) or (actions.parse(answer[:_LONGEST], game), "")
    other = _first(rest, game)
    if other is not None and other[0] != action:
        both = f"{actions.describe(action, game)!r} and {actions.describe(other[0], game)!r}"
        raise FormatError(f"{shortened(answer)} names two actions, {both}: give one.")
    return _legal(action, game)


def _first(text: str, game: Game) -> tuple[int, str] | None:
    """The action at the start of a text, and the rest; None without an action."""
    plain = " ".join(text[:_LONGEST].split()).lstrip(_OPENING)
    for end in _END.finditer(plain):
        with contextlib.suppress(ConfigurationError):
            return actions.parse(plain[: end.start()], game), plain[end.end() :]
    return None


def _legal(action: int, game: Game) -> int:
    allowed = core.legal_actions(game)
    if action not in allowed:
        text, texts = actions.describe(action, game), [actions.describe(o, game) for o in allowed]
        raise IllegalActionError(f"{text!r} is not legal now. {nearest(text, texts)}")
    return action


def changes(before: Game, after: Game) -> list[str]:
    """The differences of two records of a game, a sentence for each player.

    Args:
        before: An earlier record.
        after: A later record of the same game.

    Raises:
        ConfigurationError: They are no records, or of different games. PositionError: A record is
            invalid.
    """
    for game in (before, after):
        core.in_range(game)
    if before.num_players != after.num_players or list(before.seed) != list(after.seed):
        raise ConfigurationError(
            "The two records must be of one game: the same seed and number of players."
        )
    events = narrate.differences(before, after, _names(after))
    subjects = dict.fromkeys(subject for subject, _ in events)
    return [
        f"{subject} {words.joined([said for about, said in events if about == subject])}."
        for subject in subjects
    ]


def tokens(text: str) -> int:
    """An estimate of the tokens of a text: a quarter of its characters."""
    return math.ceil(len(text) / _CHARACTERS_PER_TOKEN)


def _names(game: Game) -> list[str]:
    return [f"player {seat}" for seat in range(game.num_players)]


def _player(game: Game, seat: int) -> dict[str, Any]:
    held = int(game.jail_cards[seat])
    return {
        "seat": seat, "out": bool(game.place[seat]), "cash": int(game.cash[seat]),
        "square": board.SQUARE_NAME[int(game.rules.board)][game.position[seat]],
        "in_jail": bool(game.jail[seat]),
        "jail_cards": [name for bit, name in enumerate(_CARDS) if held >> bit & 1],
        "lots": [_lot(game, lot) for lot in lots_of(game.lots[seat])],
    }  # fmt: skip


def _lot(game: Game, lot: int) -> dict[str, Any]:
    level = int(game.level[lot]) if lot < board.NUM_STREETS else 0
    mortgaged = bool(int(game.mortgaged) >> lot & 1)
    return {"name": words.lot_name(game, lot), "level": level, "mortgaged": mortgaged}


def _kinds(game: Game) -> list[str]:
    """The kinds of legal actions, each with the form of its text."""
    heads = [actions.HEAD_NAMES[actions.HEAD_OF[action]] for action in core.legal_actions(game)]
    return [
        "You may choose among these kinds of actions, as far as the position allows:",
        *(f"- {name}: {FORMS[name]}" for name in dict.fromkeys(heads)),
    ]


_LOT: Final = "followed by the name of a lot, such as"
# Texts of the actions of each head.
FORMS: Final = {
    "buy": "'buy' or 'decline'",
    "bid": "'fold' ('done' in a sealed auction), or "
    + ", ".join(f"'bid +{step}'" for step in actions.RAISES),
    "turn": "'go on'",
    "jail": "'pay the fine' or 'use a jail card'",
    "build": f"'build' {_LOT} 'build Baltic Avenue'",
    "sell": f"'sell' {_LOT} 'sell Baltic Avenue': a building on it",
    "mortgage": f"'mortgage' {_LOT} 'mortgage Baltic Avenue'",
    "unmortgage": f"'unmortgage' {_LOT} 'unmortgage Baltic Avenue'",
    "trade": "'trade with player +1' begins an offer to the next player clockwise",
    "trade_ask": f"'ask for' {_LOT} 'ask for Baltic Avenue', or 'ask: done', 'ask: cancel'",
    "trade_give": f"'give' {_LOT} 'give Baltic Avenue', or 'give: done', 'give: cancel'",
    "trade_cash": "'give $N' or 'ask for $N' with N of "
    + ", ".join(map(str, actions.NOTES))
    + "; or 'cash: done', 'cash: cancel'",
    "reply": "'accept', 'reject' or 'counter'",
    "choice": "'choose the first' or 'choose the second' of: "
    + "; ".join(" / ".join(pair) for pair in actions.CHOICES.values()),
}
