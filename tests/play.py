"""What the tests share: setting up a table, acting by name, and reading a game."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

import agents
import monopoly_env as me
from monopoly_env import actions
from monopoly_env.facts import board

# Two lots of each of six groups of three: whoever owns them never owns a group.
ANCHORS = (17, 18, 14, 15, 11, 12, 8, 9, 5, 6, 2, 3)


def lot(name: str | int) -> int:
    """The number of a lot, by its name in any edition."""
    if isinstance(name, int):
        return name
    return next(names.index(name) for names in board.LOT_NAME if name in names)


def table(
    num_players: int = 3,
    *,
    lots: dict[int, list[str]] | None = None,
    anchored: Iterable[int] | None = None,
    **contents: Any,
) -> Any:
    """A position in which every seat (or only those `anchored`) also owns an anchor.

    A lot of a group that `lots` does not touch.

    Its owner may always mortgage it, so that none of his windows passes unasked and the dice never
    run ahead of a test.
    """
    owned = {seat: [lot(name) for name in names] for seat, names in (lots or {}).items()}
    touched = {board.GROUP_OF[number] for numbers in owned.values() for number in numbers}
    spare = iter(number for number in ANCHORS if board.GROUP_OF[number] not in touched)
    seats = range(num_players) if anchored is None else anchored
    for seat in seats:
        if seat not in contents.get("bankrupt", ()):
            owned[seat] = [*owned.get(seat, []), next(spare)]
    return me.position(num_players, lots=owned, **contents)


def land(
    square: int,
    dice: tuple[int, int] = (1, 2),
    *,
    more: Iterable[tuple[int, int]] = (),
    seat: int = 0,
    **contents: Any,
) -> Any:
    """A throw has just brought a seat to a square, and what comes of it is settled or asked.

    `more` throws are to follow.
    """
    positions = {seat: (square - sum(dice)) % 40} | contents.pop("positions", {})
    game = table(turn=seat, positions=positions, throws=[dice, *more], **contents)
    return throw(game, left=len(list(more)))


def throw(game: Any, left: int | None = None) -> Any:
    """Go on until the next forced throw is made (until at most `left` remain)."""
    left = int(game.num_forced) - 1 if left is None else left
    while game.num_forced > left:
        act(game, "go on")
    return game


def end_turn(game: Any) -> Any:
    """Go on until another turn has begun or the game is over."""
    turns = int(game.turns)
    while not me.is_over(game) and game.turns == turns:
        act(game, "go on")
    return game


def act(game: Any, *texts: str) -> Any:
    """Take actions, named as `describe` names them."""
    for text in texts:
        named = {actions.describe(action, game): action for action in me.legal_actions(game)}
        assert text in named, f"{text!r} is not legal at {asked(game)}; legal: {sorted(named)}"
        me.step(game, named[text])
    return game


def texts(game: Any) -> set[str]:
    """The legal actions in words."""
    return {actions.describe(action, game) for action in me.legal_actions(game)}


def legal(game: Any, verb: str) -> set[str]:
    """The legal actions that begin with a verb, without it.

    `legal(game, "build")` is a set of streets.
    """
    return {text.removeprefix(verb + " ") for text in texts(game) if text.startswith(verb + " ")}


def asked(game: Any) -> tuple[str, int]:
    """The open decision and whose it is."""
    return actions.DECISION_NAMES[game.decision], int(game.player)


def cash(game: Any) -> list[int]:
    """Dollars of every seat."""
    return [int(dollars) for dollars in game.cash[: game.num_players]]


def owner(game: Any, name: str) -> int | None:
    """The seat that owns a lot, or None."""
    return next(
        (seat for seat in range(game.num_players) if int(game.lots[seat]) >> lot(name) & 1), None
    )


def mortgaged(game: Any, name: str) -> bool:
    """Whether a lot is mortgaged."""
    return bool(int(game.mortgaged) >> lot(name) & 1)


def levels(game: Any, *names: str) -> list[int]:
    """Houses on streets, 5 for a hotel."""
    return [int(game.level[lot(name)]) for name in names]


def debt(game: Any) -> int:
    """Dollars of the debt that is asked about."""
    assert asked(game)[0] == "debt", asked(game)
    return int(game.agenda[game.depth - 1, 2])


def randomly(game: Any, seed: int = 0, most: int | None = None) -> Iterator[Any]:
    """The game at each decision of random play, and at its end; it is the same record."""
    generator = np.random.default_rng(seed)
    for _ in itertools.count() if most is None else range(most):
        yield game
        if me.is_over(game):
            return
        me.step(game, int(generator.choice(me.legal_actions(game))))


def by_policy(
    policy: agents.Policy | Sequence[agents.Policy],
    game: Any,
    most: int | None = None,
    memory: Any = None,
) -> Iterator[tuple[Any, int]]:
    """A game in which a policy has every seat, or each seat its own: each decision and the action.

    `memory` (P, 64): what each seat remembers.
    """
    policies = [policy] * int(game.num_players) if isinstance(policy, agents.Policy) else policy
    memory = np.zeros((int(game.num_players), agents.MEMORY)) if memory is None else memory
    for _ in itertools.count() if most is None else range(most):
        if me.is_over(game):
            return
        seat = slice(int(game.player), int(game.player) + 1)
        mine = memory[seat].copy()
        playing = policies[int(game.player)]
        action = int(playing.act(agents.Decisions(me.core.batch_of(game), mine))[0])
        memory[seat] = mine
        yield game, action
        me.step(game, action)


def chosen(mask: Any, number: int) -> int:
    """A legal action that depends on nothing but the mask and a number."""
    legal = np.flatnonzero(mask)
    return int(legal[number * 7919 % len(legal)])


def auction(game: Any, limits: dict[int, int]) -> list[int]:
    """Everybody asked raises by the least he may while he stays within his limit.

    The limit is 0 if none is given. Returns the seats in the order asked.
    """
    order = []
    while asked(game)[0] == "bid":
        seat = int(game.player)
        order.append(seat)
        raises = sorted(
            int(text.removeprefix("bid +")) for text in texts(game) if text.startswith("bid +")
        )
        if raises and int(game.auction_bid) + raises[0] <= limits.get(seat, 0):
            act(game, f"bid +{raises[0]}")
        else:
            act(game, "fold")
    return order


def offer(
    game: Any, offset: int, *, ask: Iterable[str] = (), give: Iterable[str] = (), cash: int = 0
) -> Any:
    """Compose an offer to the player some seats on and submit it; negative cash is asked for."""
    act(game, f"trade with player +{offset}")
    compose(game, ask=ask, give=give, cash=cash)
    if asked(game)[0] == "trade_cash":
        act(game, "cash: done")
    return game


def compose(game: Any, *, ask: Iterable[str] = (), give: Iterable[str] = (), cash: int = 0) -> Any:
    """The steps of an offer up to, and without, the last 'done'."""
    for decision, verb, goods, done in (
        ("trade_ask", "ask for", ask, "ask: done"),
        ("trade_give", "give", give, "give: done"),
    ):
        act(game, *(f"{verb} {name}" for name in sorted(goods, key=_pick)))
        if asked(game)[0] == decision:
            act(game, done)
    verb, rest = ("give", cash) if cash > 0 else ("ask for", -cash)
    for note in actions.NOTES:
        while rest >= note:
            act(game, f"{verb} ${note}")
            rest -= note
    return game


def _pick(name: str) -> int:
    cards = {
        "the Chance jail card": board.NUM_LOTS,
        "the Community Chest jail card": board.NUM_LOTS + 1,
    }
    return cards[name] if name in cards else lot(name)
