"""`expert/value`: a network chooses the offers, `expert/bargaining` does the rest."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

import agents
import monopoly_env as me
from agents.learned.packages import ASKED, FIELDS, LENT, PROMISE, write_packages
from agents.learned.prices import partners_limit
from agents.players.vocabulary import offers
from monopoly_env import core
from monopoly_env.actions import HEADS
from monopoly_env.analyse import values
from monopoly_env.policy.protocol import MEMORY, Decisions
from monopoly_env.rules import Rules

TRADES = HEADS["trade"].slice


def windows(count: int) -> list[core.Game]:
    """Turns at tables of four in which the trader looks and `expert/bargaining` offers nothing."""
    found: list[core.Game] = []
    for replay in agents.arena.play(
        ["expert"] * 4, games=4, seed=5, rules=Rules(max_turns=200), record=4
    ).replays:
        game = me.replays.start(replay)
        for action in replay.actions.tolist():
            looks = (
                me.actions.DECISION_NAMES[game.decision] == "turn"
                and game.rounds % 3 == 0
                and game.offers[game.player] == 0
            )
            if (
                looks
                and can_trade(core.legal_actions(game))
                and not can_trade([asked("expert/bargaining", game)])
            ):
                found.append(core.clone(game))
            me.step(game, action)
    return found[:: max(1, len(found) // count)]


def can_trade(actions: Iterable[int]) -> bool:
    return any(TRADES.start <= action < TRADES.stop for action in actions)


def asked(policy: str, game: core.Game) -> int:
    return int(agents.make(policy).act(Decisions(core.batch_of(game).copy()))[0])


def best_by_hand(game: core.Game) -> tuple[float, tuple[int, int, int, int]]:
    """The package that raises the own share most, one exchange after the other."""
    value, seat = values.resolve("best"), int(game.player)
    high, best = float(value.shares(game)[seat]) + 0.002, (0, 0, 0, 0)
    for offset in range(1, 4):
        partner, table = (seat + offset) % 4, np.empty((16, FIELDS))
        if game.place[partner] or not offers.may_offer_to(game, seat, partner):
            continue
        write_packages(game, seat, partner, table, 12, True)
        for row in table[table[:, PROMISE] > 0]:
            ask, give = int(row[ASKED]), int(row[LENT])
            price = partners_limit(game, seat, partner, ask, give)
            if np.isfinite(price):
                after = core.clone(game)
                offers.exchange(after, partner, ask, give, int(price))
                shares = np.zeros(4)
                # `shares` takes no unsettled record
                values.write_shares(value.kernel.handle, after, value.params, shares)
                share = float(shares[seat])
                if share > high:
                    high, best = share, (partner, ask, give, int(price))
    return high, best


@pytest.mark.slow
def test_it_offers_what_raises_its_share_most_by_the_value() -> None:
    games = windows(30)
    policy, offered = agents.make("expert/value"), 0
    for game in games:
        memory = np.zeros((1, MEMORY))
        decisions = Decisions(core.batch_of(game).copy(), memory)
        before = decisions.games.tobytes()
        action = int(policy.act(decisions)[0])
        assert decisions.games.tobytes() == before  # it tries exchanges on copies
        _, (partner, ask, give, dollars) = best_by_hand(game)
        if ask | give:
            offered += 1
            assert action == TRADES.start + (partner - int(game.player)) % 4 - 1
            assert offers.planned(memory[0]) == (ask, give, dollars)
        else:
            assert action == asked("expert/bargaining", game)
    assert 5 < offered < len(games)


def test_where_it_does_not_look_it_is_its_base_policy() -> None:
    for rules, players in ((Rules(max_turns=40, trade="one_for_one"), 4), (Rules(max_turns=40), 5)):
        games = [
            [
                replay.actions.tolist()
                for replay in agents.arena.play(
                    [name] + ["random"] * (players - 1), games=4, rules=rules, record=4
                ).replays
            ]
            for name in ("expert/value", "expert/bargaining")
        ]
        assert games[0] == games[1]


def test_it_may_spend_all_its_cash_on_a_package() -> None:
    game = me.position(
        2, lots={0: ["Boardwalk"], 1: ["Park Place"]}, cash=[900, 900], positions=[0, 0]
    )
    some, more = np.empty((16, FIELDS)), np.empty((16, FIELDS))
    write_packages(game, 0, 1, some, 10, False)
    write_packages(game, 0, 1, more, 10, True)
    alone = [
        [(int(row[ASKED]), int(row[LENT])) for row in table if row[PROMISE] > 0 and row[LENT] == 0]
        for table in (some, more)
    ]
    assert not alone[0]
    assert alone[1]


def test_it_is_saved_by_the_names_of_its_parts(tmp_path: Path) -> None:
    made = agents.make("trader", base="expert/bargaining/ocnaru")
    made.save(tmp_path / "mine.safetensors")
    loaded = agents.load(tmp_path / "mine.safetensors")
    assert loaded.options() == {"base": "expert/bargaining/ocnaru", "value": "best"}
    assert (loaded.params == made.params).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [({"base": "expert"}, "must be a bargainer"), ({"value": "bets"}, "best")],
)
def test_wrong_parts_are_told(options: dict[str, str], message: str) -> None:
    with pytest.raises(me.ConfigurationError, match=message):
        agents.make("trader", **options)
