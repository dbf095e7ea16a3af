"""Comparing offers, of a value of states and of scripted policies, by playouts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from agents.players.search.offers import Offer, begin, compose, propose
from agents.players.search.player import BEST, likeliest
from monopoly_env import core
from monopoly_env.actions import A_CASH, A_TURN, DECISION_NAMES, OFFERING
from monopoly_env.analyse import values
from monopoly_env.analyse.actions import Comparison, compare_actions
from monopoly_env.analyse.moves import TRADES, Move, moves_of
from monopoly_env.analyse.offers import may_offer
from monopoly_env.analyse.values import Value
from monopoly_env.errors import ConfigurationError, whole_number
from monopoly_env.game import Game, Games
from monopoly_env.policy.loop import answers
from monopoly_env.policy.names import compiled, resolve_all
from monopoly_env.policy.protocol import MEMORY, CompiledPolicy, Decisions, Policy, draw_keys

ADVISERS: Final[tuple[str, ...]] = BEST["advisers"]  # asked for offers


def compare_offers(
    game: Game,
    policies: Any = "expert",
    n: int = 1000,
    *,
    most: int = 4,
    value: str | Value = "best",
    seed: int = 0,
    until: float | None = None,
    seconds: float | None = None,
    **options: Any,
) -> Comparison:
    """Compare offers of the player to move by playouts, in which the partner's policy answers.

    The candidates are no offer (what the policy of the seat does instead; it is never dropped),
    packages that a value of states proposes, each at two prices (the least at which the partner's
    policy accepts, and one that shares the gain), and the offers that scripted policies would make
    here.

    Examples:
        >>> import agents, monopoly_env as me
        >>> mine = ["Oriental Avenue", "Vermont Avenue", "States Avenue"]
        >>> theirs = ["Connecticut Avenue", "Virginia Avenue", "St. Charles Place"]
        >>> game = me.position(2, lots={0: mine, 1: theirs})
        >>> comparison = agents.compare_offers(game, "algorithmic", n=40, turns=10, most=1)
        >>> "Connecticut Avenue" in comparison.best.text  # completes the light blue group
        True

    Args:
        game: A record in which the player to move may begin an offer in its turn; it is not
            changed.
        policies: As in `rollout`; the likeliest policy of a mixture says which prices it accepts.
        n: Playouts of the best offers.
        most: How many packages the value proposes at most; 0: only the offers of policies.
        value: The value that proposes, and that playouts end with if `turns` cuts them off: "best"
            (`agents.values`, tables of 2 to 4), "worth", or a `Value`.
        seed: 0 to 2**64 - 1. The same seed gives the same result, unless `seconds` is given.
        until: Stop when the best candidate's lead over the second is known to this precision, to
            either side.
        seconds: Stop when this time is over; a few playouts of each candidate are always made.
        **options: Those of `rollout`: turns, shuffle, threads.

    Returns:
        The candidates, the best first. Offers are `WholeOffer`: their `steps` are the actions that
        make them.

    Raises:
        ConfigurationError: No offer may be made here, or an argument makes no sense. And the errors
            of `rollout`.
    """
    moves = find_offers(game, policies, most, value)
    limits: dict[str, Any] = {"until": until, "seconds": seconds, "baseline": moves[0]}
    return compare_actions(game, moves, policies, n, seed=seed, value=value, **limits, **options)


def find_offers(
    game: Game, policies: Any = "expert", most: int = 4, value: str | Value = "best"
) -> list[Move]:
    """The candidates of `compare_offers`: no offer, then the offers; the arguments are the same."""
    moves_of(game)  # refuses games that are over and half-made offers
    if not may_offer(game):
        name = DECISION_NAMES[game.decision]
        raise ConfigurationError(
            f"Player {game.player} can't begin an offer at this decision ({name}): compare_offers"
            " needs a 'turn' with an action such as 'trade with player +1'. For other decisions"
            " there is compare_actions."
        )
    most = whole_number("most", most, 0)
    judge, seats = values.resolve(value), _seats(policies, int(game.num_players))
    judge.check_players(len(seats))
    own, *others = resolve_all([seats[int(game.player)], *ADVISERS])
    proposed = propose(core.batch_of(game, write=False).copy(), judge, most, seats) if most else []
    choosers = [*map(_plan, proposed), *map(advice, (own, *others))]
    offers = [composed(game, choose) for choose in choosers]
    return [no_offer(game, own), *dict.fromkeys(offer for offer in offers if offer is not None)]


def _seats(policies: Any, players: int) -> list[CompiledPolicy]:
    """The policy of each seat, of a mixture the likeliest."""
    mixtures = list(policies) if isinstance(policies, (list, tuple)) else [policies] * players
    if len(mixtures) != players:
        raise ConfigurationError(
            f"{len(mixtures)} policies are given for {players} seats: give one for all, or one a"
            " seat."
        )
    return [compiled(policy) for policy in resolve_all([likeliest(m) for m in mixtures])]


def composed(game: Game, choose: Callable[[Games], int]) -> tuple[int, ...] | None:
    """The actions of an offer, asked step by step; None if it comes to nothing."""
    made, steps = core.clone(game), list[int]()
    while not steps or made.decision in OFFERING:
        steps.append(choose(core.batch_of(made)))
        if steps[0] not in TRADES:
            return None
        core.step(made, steps[-1])
    return tuple(steps) if steps[-1] == A_CASH else None


def _plan(offer: Offer) -> Callable[[Games], int]:
    """The steps of a known offer."""
    memory = np.zeros(MEMORY)
    return lambda made: (
        compose(made, memory) if made["decision"][0] in OFFERING else begin(made, offer, memory)
    )


def advice(policy: Policy) -> Callable[[Games], int]:
    """The answers of a policy that remembers what it began."""
    memory = np.zeros((1, MEMORY))
    return lambda made: int(answers(policy, Decisions(made, memory))[0])


def no_offer(game: Game, policy: Policy) -> int:
    """The answer of a policy that can make no offer."""
    without = core.batch_of(game, write=False).copy()
    for action in TRADES:
        without["legal"][0, action >> 5] &= ~(1 << (action & 31))
    chosen = int(answers(policy, Decisions(without, key=draw_keys(without)))[0])
    return chosen if chosen in core.legal_actions(game) and chosen not in TRADES else A_TURN
