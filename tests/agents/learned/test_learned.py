"""Learned agents: their choices, what they see, and that their networks choose every action."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
import monopoly_env as me
from agents.learned import action_space, choice_env, compact, shipped
from agents.learned.action_space import NO_CHOICE, NUM_CHOICES, PACKAGE, PRICE
from agents.learned.agent import BASE, LearnedAgent
from agents.learned.answers import nothing
from agents.learned.architectures import CHOICES, NAMES, NETWORKS, OUTPUT, STATE, architectures
from agents.learned.menus import BEST_VALUED, NUM_PACKAGES, menus_of, new_menus, write_menus
from agents.learned.packages import ASKED, LENT
from agents.learned.prices import (
    BARGAINERS_MARGINS,
    MARGINS,
    NO_PRICE,
    NUM_PRICES,
    PREMIUMS,
    bargainers_limit,
)
from agents.networks.forward import evaluate
from agents.players.vocabulary.offers import compose, plan
from agents.strangers import MixedPolicy
from monopoly_env import actions
from monopoly_env import encoding as encodings
from monopoly_env.actions import A_REPLY, HEADS
from monopoly_env.engine import agenda
from monopoly_env.engine.sets import has
from monopoly_env.facts.board import GROUP_LOTS, GROUPS, NUM_LOTS
from monopoly_env.policy.protocol import MEMORY, Decisions
from tests.play import act, by_policy

SMALL = (16, 8)


def agent_of(num_players: int = 2, seed: int = 0, temperature: float = 0.0) -> LearnedAgent:
    """An agent with random weights, which does all kinds of things."""
    agent = LearnedAgent(num_players, SMALL, temperature=temperature)
    generator = np.random.default_rng(seed)
    agent.set_arrays(
        {
            name: generator.normal(0, 0.3, array.shape).astype(np.float32)
            for name, array in agent.arrays().items()
        }
    )
    return agent


def choose(agent: LearnedAgent, game: Any) -> int:
    return int(agent.act(Decisions(me.core.batch_of(game).copy()))[0])


def open_choices(game: Any) -> set[int]:
    return set(np.flatnonzero(open_mask(game)).tolist())


def open_mask(game: Any) -> Any:
    """The open choices, by compiled code: (NUM_CHOICES,) bool."""
    mask, memory = np.zeros(NUM_CHOICES, np.bool_), np.zeros(MEMORY)
    action = choice_env.next_action(me.core.batch_of(game), NO_CHOICE, mask, memory)
    assert (action == choice_env.SEVERAL) == (mask.sum() > 1)
    return mask


def group(name: str) -> int:
    return int(GROUP_LOTS[GROUPS.index(name)])


@pytest.fixture
def trading() -> Any:
    """Player 0 is on turn with two oranges and a railroad.

    Player 1 has the third orange and both dark blues.
    """
    lots = {
        0: ["St. James Place", "Tennessee Avenue", "Reading Railroad"],
        1: ["New York Avenue", "Park Place", "Boardwalk"],
    }
    return me.position(2, lots=lots, cash={0: 800, 1: 500})


def make_offer(game: Any) -> None:
    """Offer $200 for New York Avenue."""
    act(game, "trade with player +1", "ask for New York Avenue", "ask: done", "give: done")
    act(game, "give $100", "give $100", "cash: done")


def test_an_offer_is_a_partner_a_package_and_a_price(trading: Any) -> None:
    act(trading, "trade with player +1")
    # no package promises anything: a network that offers gives it up
    assert not open_choices(trading)
    assert choose(agent_of(), trading) in {actions.parse("ask: done"), actions.parse("ask: cancel")}
    lots = {
        0: ["St. James Place", "Tennessee Avenue", "Kentucky Avenue"],
        1: ["Indiana Avenue", "Illinois Avenue", "New York Avenue"],
    }
    swap = me.position(3, lots=lots)
    act(swap, "trade with player +1")
    assert PACKAGE + BEST_VALUED in open_choices(swap)
    assert PACKAGE not in open_choices(swap)  # it is the same
    assert open_choices(swap) <= set(range(PACKAGE, PRICE))
    assert action_space.describe(PACKAGE) == "package 1"
    act(trading, "ask for New York Avenue", "ask: done", "give: done")
    paid = {
        choice - PRICE: int(menus_of(trading, 0).prices[choice - PRICE])
        for choice in sorted(open_choices(trading))
    }
    assert paid[PREMIUMS.index(0)] == 200  # the printed price
    premiums = [price for level, price in paid.items() if level < len(PREMIUMS)]
    assert premiums == sorted(premiums)
    assert len(set(paid.values())) == len(paid)
    assert min(paid.values()) >= -500
    assert max(paid.values()) <= 800  # what the partner and the player have


_EXPERTS, _BARGAINERS = (
    len(PREMIUMS) + MARGINS.index(0),
    len(PREMIUMS) + len(MARGINS) + BARGAINERS_MARGINS.index(0),
)


@pytest.mark.parametrize(
    ("level", "partner", "accepts"),
    [
        (_EXPERTS, "expert", True),
        (_EXPERTS - 1, "expert", False),
        (_BARGAINERS, "expert/bargaining", True),
        (_EXPERTS, "expert/bargaining", False),
    ],
)
def test_a_margin_counts_from_the_least_that_the_partner_accepts(
    level: int, partner: str, accepts: bool
) -> None:
    """`expert` accepts at its limit and refuses below it, in the seat of the partner.

    `expert/bargaining` has a limit of its own.
    """
    lots = {
        0: ["St. James Place", "Tennessee Avenue", "Reading Railroad"],
        1: ["New York Avenue", "Park Place"],
        2: ["Boardwalk"],
    }
    game = me.position(3, lots=lots, cash={0: 1500, 1: 900, 2: 900})
    act(game, "trade with player +1", "ask for New York Avenue", "ask: done")
    act(game, "give Reading Railroad", "give: done")
    dollars = int(menus_of(game, 0).prices[level])
    assert 0 < dollars < 1500
    memory = np.zeros(64)
    plan(int(game.offer_ask), int(game.offer_give), dollars, memory)
    while game.decision == agenda.CASH:
        me.step(game, compose(game, memory))
    assert int(game.offer_cash) == dollars
    assert (
        int(agents.make(partner).act(Decisions(me.core.batch_of(game).copy()))[0]) == A_REPLY + 1
    ) == accepts


def test_counters_and_picks_are_never_open(trading: Any) -> None:
    make_offer(trading)
    assert open_choices(trading) == {A_REPLY, A_REPLY + 1}


def test_a_raise_in_an_auction_is_a_twentieth_of_the_bid_or_more() -> None:
    game = me.new_game(3, "official", seed=1)
    while game.decision != agenda.BID:
        decline = actions.parse("decline")
        me.step(
            game, decline if decline in me.legal_actions(game) else int(me.legal_actions(game)[0])
        )
    bids = HEADS["bid"]
    for raised, smallest in ((20, 1), (1, 5), (100, 10), (100, 20), (500, 50)):
        act(game, f"bid +{raised}")
        shown = [actions.describe(action) for action in sorted(open_choices(game))]
        assert shown[:2] == ["fold", f"bid +{smallest}"]
        assert open_choices(game) <= set(range(bids.start, bids.start + 8)) & set(
            me.legal_actions(game).tolist()
        )


def heads(game: Any, *names: str) -> set[int]:
    return {
        choice
        for choice in open_choices(game)
        for name in names
        if choice in range(HEADS[name].start, HEADS[name].stop)
    }


def test_one_mortgages_in_its_turn_only_for_a_building() -> None:
    lots = {0: ["Mediterranean Avenue", "Baltic Avenue", "Reading Railroad"], 1: ["Boardwalk"]}
    rich, poor = (me.position(2, lots=lots, cash={0: cash, 1: 500}) for cash in (400, 30))
    assert heads(rich, "build")
    assert not heads(rich, "mortgage")
    assert not heads(poor, "build")
    assert heads(poor, "mortgage") == {actions.parse(f"mortgage {lot}") for lot in lots[0]}
    for game in (rich, poor):  # a player without a group has nothing to build
        assert not heads(
            me.position(2, lots={0: lots[0][1:]}, cash={0: int(game.cash[0])}), "mortgage"
        )
    rivals = [
        lot
        for name in ("light_blue", "pink", "dark_blue")
        for lot in range(NUM_LOTS)
        if has(group(name), lot)
    ]
    empty_bank = me.position(
        2, lots={0: lots[0], 1: rivals}, cash={0: 30}, buildings=dict.fromkeys(rivals, 4)
    )
    assert not heads(empty_bank, "mortgage")


def test_one_lifts_a_mortgage_if_the_cash_for_a_building_is_left() -> None:
    lots, pledged = (
        {0: ["Mediterranean Avenue", "Baltic Avenue", "Reading Railroad"]},
        ["Reading Railroad"],
    )
    lift, fee = actions.parse("unmortgage Reading Railroad"), 110  # half of 200, and a tenth of it
    for cash, opened in ((fee + 49, False), (fee + 50, True)):
        game = me.position(2, lots=lots, cash={0: cash}, mortgaged=pledged)
        assert lift in me.legal_actions(game)
        assert (lift in open_choices(game)) is opened
    assert lift in open_choices(
        me.position(2, lots={0: lots[0][1:]}, cash={0: fee}, mortgaged=pledged)
    )


@pytest.mark.parametrize("rules", ["official", "ocnaru", "frayn"])
def test_a_turn_cannot_go_to_and_fro_between_mortgages_and_their_lifting(rules: str) -> None:
    """Whoever does nothing else comes to an end: each lot is mortgaged or lifted once at most."""
    player, tried = agents.make("expert"), 0
    vec = me.VectorMonopoly(8, 2, rules=rules, seed=5, threads=1)
    vec.reset()
    for number in range(3000):
        vec.step(player.act(Decisions(vec.games.copy())))
        for game in vec.games[:: 8 if number % 10 else 1]:
            if game["decision"] != agenda.WINDOW:
                continue
            at = me.core.batch_of(game).copy()[0]
            moves = 0
            while at.decision == agenda.WINDOW and (ways := heads(at, "mortgage", "unmortgage")):
                me.step(at, min(ways))
                moves += 1
                assert moves <= 2 * NUM_LOTS
            tried += moves > 0
    assert tried > 50


@pytest.mark.parametrize(
    ("num_players", "rules"),
    [(2, "ocnaru"), (3, "any_time"), (4, "official"), (2, "frayn"), (2, "mukhar_trading")],
)
def test_it_plays_whole_games_by_any_rules(num_players: int, rules: str) -> None:
    """The arena raises an error at the first illegal action."""
    seats = [
        agent_of(num_players, seed, temperature=float(seed % 2)) for seed in range(num_players)
    ]
    for number, seat in enumerate(seats):
        seat.name = f"agent {number}"
    results = agents.arena.play([*seats], games=8, rules=rules, seed=3, turn_limit=60)
    assert results.games == 8
    if me.Rules.preset(rules).trade != "none":
        assert sum(row["offers"] for row in results.rows()) > 0


def test_every_choice_is_that_of_the_highest_score() -> None:
    """As NumPy works it out from the weights, at every decision of games of three."""
    networks, asked = architectures(3, SMALL), set()
    for seed in range(3):
        agent = agent_of(3, seed)
        rows = {name: network.pack(agent.arrays(), name) for name, network in networks.items()}
        memory = np.zeros((3, 64))
        for game, action in by_policy(agent, me.new_game(3, seed=8 + seed), 300, memory):
            if action_space.is_asked(game) and (mask := open_mask(game)).any():
                number, name = next(
                    (n, name)
                    for n, name in enumerate(NAMES)
                    if actions.DECISION_NAMES[game.decision] in NETWORKS[name][0]
                )
                batch = me.core.batch_of(game)
                seen = encodings.observe_all(batch, "compact")
                choice_env.write_own_memory(batch, memory[int(game.player)], seen[0])
                outputs = evaluate(rows[name], seen[:, : networks[name].inputs])[0]
                best = int(np.where(mask, outputs[OUTPUT[number]], -np.inf).argmax())
                asked.add(name)
                assert best >= PACKAGE or action == best
    assert {"buy", "bid", "turn", "package", "price", "reply"} <= asked


@pytest.mark.parametrize("rules", ["official", "ocnaru"])
def test_an_offer_has_the_menu_of_its_window(rules: str) -> None:
    """Options that are kept from decision to decision are those worked out anew.

    Menus to the bit, and prices.
    """
    kept, offers = new_menus(), 0
    for seed in range(2):
        agent, game = agent_of(3, seed, temperature=1.0), me.new_game(3, rules, seed=seed)
        for _ in by_policy(agent, game, 80):
            if not action_space.is_asked(game):
                continue
            seat = int(game.player)
            write_menus(game, seat, kept)
            fresh = menus_of(game, seat)
            if game.decision == agenda.ASK:
                offers += 1
                partner = int(game.offer_to)
                assert kept.packages[partner].tobytes() == fresh.packages[partner].tobytes()
            elif game.decision == agenda.CASH:
                assert kept.prices.tolist() == fresh.prices.tolist()
            else:
                assert kept.maker.tolist() == fresh.maker.tolist()
    assert offers > 10


def test_it_draws_by_the_scores_at_a_temperature(trading: Any) -> None:
    agent = agent_of(2, seed=1, temperature=1.0)
    games = np.repeat(me.core.batch_of(trading), 3000)
    games["seed"][:, 0] = np.arange(3000)
    drawn = np.bincount(agent.act(Decisions(games)), minlength=NUM_CHOICES)
    number = NAMES.index("turn")
    seen = np.zeros((1, compact.length(2)), np.float32)
    encodings.make("compact", 2).write(trading, 0, seen[0])
    turn = architectures(2, SMALL)["turn"]
    scores = evaluate(turn.pack(agent.arrays(), "turn"), seen[:, : turn.inputs])[0]
    open_ = sorted(open_choices(trading))
    weights = np.exp([scores[OUTPUT[number, choice]] for choice in open_])
    np.testing.assert_allclose(
        agent.probabilities(me.core.batch_of(trading))[0, open_], weights / weights.sum(), rtol=1e-5
    )
    expected = 3000 * weights / weights.sum()
    spread = np.sqrt(expected * (1 - expected / 3000))
    # 6 standard deviations: 2e-9 for each of a dozen choices
    assert (abs(drawn[open_] - expected) < 6 * spread + 1).all()
    assert drawn.sum() == drawn[open_].sum()


def test_it_tells_how_sure_it_is(trading: Any) -> None:
    agent = agent_of(seed=4)
    begun = me.core.batch_of(trading).copy()[0]
    act(begun, "trade with player +1", "ask for New York Avenue")
    chances = agent.probabilities(
        np.concatenate([me.core.batch_of(game) for game in (trading, begun)])
    )
    assert set(np.flatnonzero(chances[0]).tolist()) == open_choices(trading)
    assert chances[0].argmax() == choose(agent, trading)
    assert not chances[1].any()  # it only goes on with an offer
    with pytest.raises(me.ConfigurationError, match="tables of 2, not of 3"):
        agent.probabilities(me.core.batch_of(me.new_game(3)))


def test_a_saved_agent_plays_the_same(tmp_path: Path) -> None:
    agent = agent_of(4, seed=2)
    agent.save(tmp_path / "agent.safetensors")
    loaded = agents.load(tmp_path / "agent.safetensors")
    game = me.new_game(4, seed=1)
    for _ in range(200):
        assert choose(agent, game) == choose(loaded, game)
        me.step(game, int(me.legal_actions(game)[0]))


def test_an_agent_that_ships_is_kept_in_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = agents.make("ppo/best/two")
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    arrays = agent.arrays() | {"buy.0.bias": np.full_like(agent.arrays()["buy.0.bias"], 0.1234567)}
    arrays["buy.1.weight"][3] = 0  # a row without a step
    agent.set_arrays(arrays)
    shipped.write(agent, "ppo_two")
    assert (tmp_path / "ppo_two.safetensors").stat().st_size < 1_500_000
    for name, array in shipped.POLICIES["ppo/best/two"]().arrays().items():
        apart = np.abs(array - arrays[name])
        if array.ndim == 2:
            # half a step
            assert (apart <= np.abs(arrays[name]).max(axis=1, keepdims=True) / 254 * 1.001).all(), (
                name
            )
        else:
            assert not apart.any(), name


def test_all_that_ship_take_less_than_eight_megabytes() -> None:
    assert 0 < sum(path.stat().st_size for path in shipped.FOLDER.iterdir()) < 8_000_000


def test_networks_may_make_some_decisions_beside_a_script(tmp_path: Path) -> None:
    """They play as the second part of a mixture, which has no memory, either."""
    networks, script = agents.make("ppo/best/two"), agents.make(BASE)
    own = networks.copy("own", decisions=("buy", "bid"))
    mixture = MixedPolicy(script, networks, ["buy", "bid"])
    own.save(tmp_path / "own.safetensors")
    games = [
        agents.arena.play([policy, "expert"], games=20, seed=6, record=20).replays
        for policy in (own, mixture, networks, agents.load(tmp_path / "own.safetensors"))
    ]
    one, same, other, loaded = ([list(replay.actions) for replay in replays] for replays in games)
    assert one == same == loaded
    assert one != other


def test_errors() -> None:
    with pytest.raises(me.ConfigurationError, match="'turn' is not one that networks can make"):
        LearnedAgent(2, decisions=("turn",))
    with pytest.raises(
        me.ConfigurationError, match="num_players=5: networks play at tables of 2 to 4"
    ):
        LearnedAgent(5)
    with pytest.raises(me.ConfigurationError, match="temperature=-1"):
        LearnedAgent(2, temperature=-1)
    with pytest.raises(me.FormatError, match="other features"):
        LearnedAgent(2, features="0123456789abcdef")
    with pytest.raises(me.ConfigurationError, match="is for 2, 3, 4 players, not num_players=8"):
        encodings.make("compact", 8)


def test_at_another_table_it_is_refused() -> None:
    with pytest.raises(me.MonopolyError, match="networks"):
        agents.arena.play([agent_of(2), "random", "random"], games=6, seed=0)


def test_tables_agree() -> None:
    networks = architectures(2, SMALL)
    assert list(networks) == [*NAMES, STATE]
    for number, name in enumerate(NAMES):
        assert networks[name].outputs == 1 + len(CHOICES[number])  # the first one values the state
        assert (OUTPUT[number, CHOICES[number]] == np.arange(1, networks[name].outputs)).all()
    assert PRICE + NUM_PRICES == NUM_CHOICES
    assert NO_CHOICE not in range(NUM_CHOICES)


def test_gains_are_those_of_what_changes_hands(trading: Any) -> None:
    """Of what is picked; the partner then sees the same from its side."""
    act(trading, "trade with player +1")
    assert not any(gain for block in gains(trading, 0).values() for gain in block.values())
    act(trading, "ask for New York Avenue", "ask: done", "give Reading Railroad", "give: done")
    mine = gains(trading, 0)
    assert {group for group, gain in mine["gain by"].items() if gain} == {"orange"}
    assert {group for group, gain in mine["loss by"].items() if gain} == {"railroad"}
    # it completes the group
    assert mine["gain by"]["orange"] > -mine["partner's loss by"]["orange"] > 0
    act(trading, "cash: done")
    assert trading.decision == agenda.REPLY
    theirs = gains(trading, 1)
    assert theirs["loss by"] == mine["partner's loss by"]
    assert theirs["partner's gain by"] == mine["gain by"]
    assert theirs["gain by"] == mine["partner's gain by"]


def gains(game: Any, seat: int) -> dict[str, dict[str, float]]:
    """What a seat sees of gains and losses: by block and group."""
    row = np.zeros(compact.length(2), np.float32)
    compact.write(game, seat, menus_of(game, seat), nothing(), row)
    names = compact.names(2)
    blocks = ("gain by", "partner's loss by", "partner's gain by", "loss by")
    return {
        block: {group: float(row[names.index(f"{block}: {group}")]) for group in GROUPS}
        for block in blocks
    }


TRADERS = {
    0: ["St. James Place", "Tennessee Avenue", "Reading Railroad"],
    1: ["New York Avenue", "Park Place"],
}


def offering(num_players: int, *texts: str, cash: int = 900) -> Any:
    """Player 0 offers a railroad for the third orange of player 1; then perhaps more steps."""
    game = me.position(num_players, lots=TRADERS, cash=dict.fromkeys(range(num_players), cash))
    act(game, "trade with player +1", "ask for New York Avenue", "ask: done")
    return act(game, "give Reading Railroad", "give: done", *texts)


def told(game: Any, seat: int) -> dict[str, float]:
    """What a seat sees, by name."""
    made = encodings.make("compact", int(game.num_players))
    seen = np.zeros(made.size, np.float32)
    made.write(game, seat, seen)
    return dict(zip(made.names, seen.tolist(), strict=True))


def test_prices_show_what_they_cost_and_bring() -> None:
    """By the value of states before the offer and after an exchange that is played."""
    value, level = agents.values.make("best"), PREMIUMS.index(100)
    before = offering(3)
    seen, options = told(before, 0), menus_of(before, 0)
    # beyond the printed prices of New York Avenue and Reading Railroad
    assert options.prices[level] == 100 + 200 - 200
    assert seen[f"price: {1 + level}"] == pytest.approx(100 / 2000)
    after = offering(3, "give $100", "cash: done")
    theirs = told(after, 1)
    act(after, "accept")
    at_first = me.position(3, lots=TRADERS, cash=dict.fromkeys(range(3), 900))
    after.offers[0], after.traded = 0, 0
    rises = (value.shares(after) - value.shares(at_first))[:2]
    assert (abs(rises) > 0.001).all()
    shown = rises / (abs(rises) + 0.02)
    assert [
        seen[f"price raises the {whose} win: {1 + level}"] for whose in ("own", "partner's")
    ] == pytest.approx(shown, abs=1e-4)
    assert [
        theirs[f"offer raises the win: {whose}"] for whose in ("the partner's", "own")
    ] == pytest.approx(shown, abs=1e-4)
    assert not any(number for name, number in theirs.items() if name.startswith("price"))
    assert not any(number for name, number in seen.items() if name.startswith("offer raises"))


def test_packages_show_what_they_bring_as_bargains() -> None:
    """As the prices do, for goods that are not picked yet.

    Where the partner accepts what `expert/bargaining` would just accept.
    """
    value, shown = agents.values.make("best"), 0
    window = me.position(3, lots=TRADERS, cash=dict.fromkeys(range(3), 900))
    before = value.shares(window)[0]
    begun = me.clone(window)
    act(begun, "trade with player +1")
    seen, menu = told(begun, 0), menus_of(begun, 0).packages[1]
    for place in range(NUM_PACKAGES):
        ask, give = int(menu[place, ASKED]), int(menu[place, LENT])
        limit = bargainers_limit(begun, 0, 1, ask, give) if ask | give else math.inf
        if math.isfinite(limit):
            after, memory = me.clone(begun), np.zeros(64)
            plan(ask, give, int(limit), memory)
            while after.decision != agenda.REPLY:
                me.step(after, compose(after, memory))
            act(after, "accept")
            after.offers[0], after.traded = 0, 0
            rise = value.shares(after)[0] - before
            assert seen[f"package as a bargain: {1 + place}"] == pytest.approx(
                rise / (abs(rise) + 0.02), abs=1e-4
            )
            shown += abs(rise) > 0.001
        else:
            assert seen[f"package as a bargain: {1 + place}"] == 0
    assert shown > 3


def test_a_price_that_cannot_be_chosen_shows_nothing() -> None:
    poor = offering(3, cash=300)
    seen, closed = told(poor, 0), np.flatnonzero(menus_of(poor, 0).prices == NO_PRICE)
    assert closed.size  # 600, 800 and 1200 dollars are all the cash there is
    names = ("price", "price raises the own win", "price raises the partner's win")
    assert not any(seen[f"{name}: {1 + level}"] for name in names for level in closed)


def test_where_two_are_left_an_exchange_is_not_valued() -> None:
    seen = told(offering(2), 0)
    assert seen[f"price: {1 + PREMIUMS.index(100)}"] == pytest.approx(100 / 2000)
    assert not any(
        number
        for name, number in (seen | told(offering(2, "give $100", "cash: done"), 1)).items()
        if "raises the" in name
    )


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_observations_are_finite_and_bounded(num_players: int) -> None:
    game, most = me.new_game(num_players, seed=4), np.zeros(compact.length(num_players))
    assert encodings.size("compact", num_players) == len(most)
    for _ in by_policy(agents.make("expert"), game):
        seen = encodings.observe(game, "compact")
        assert (abs(seen) <= 1).all()
        most = np.maximum(most, abs(seen))
    assert (most > 0).mean() > 0.5


def test_what_a_player_works_out(trading: Any) -> None:
    """Reading Railroad's owner expects its rent; an offer shows what both sides would complete."""
    made = encodings.make("compact", 2)
    seen = np.zeros(made.size, np.float32)
    make_offer(trading)
    made.write(trading, 1, seen)
    told = dict(zip(made.names, seen.tolist(), strict=True))
    assert told["gives: New York Avenue"] == 1
    assert told["lets complete: orange"] == 1
    assert told["completes: orange"] == 0
    assert told["gets cash: by 5000"] == pytest.approx(200 / 5000)
    assert told["player +1 makes the offer"] == 1
    assert told["me income"] > 0
    made.write(trading, 0, seen)
    told = dict(zip(made.names, seen.tolist(), strict=True))
    assert told["completes: orange"] == 1
    assert told["gets: New York Avenue"] == 1
    assert told["gets cash: by 5000"] == pytest.approx(-200 / 5000)
    assert told["me makes the offer"] == 1


def test_at_a_smaller_table_it_plays_as_if_the_others_had_gone() -> None:
    """What it sees there is what it would see at its own table of a player who is not in the game.

    Its choices follow from that.
    """
    lots = {0: ["Boardwalk", "Reading Railroad"], 2: ["Park Place"]}
    game, own = me.position(3, lots=lots), me.position(4, lots=lots)
    rows = np.zeros((2, compact.length(4)), np.float32)
    for record, row in zip((game, own), rows, strict=True):
        compact.write(record, 0, menus_of(record, 0), nothing(), row)
    names = compact.names(4)
    differ = {names[i] for i in np.flatnonzero(rows[0] != rows[1])}
    assert all(
        name.startswith("player +3")
        or name.endswith(("worth", "rent to come", "at the limit", "raises the win"))
        for name in differ
    )
    assert not rows[0][[name.startswith("player +3") for name in names]].any()
    agent = agent_of(4)
    assert [agent.plays_at(size) for size in (1, 2, 3, 4, 5)] == [False, True, True, True, False]
    assert agents.arena.play([agent, "random", "random"], games=6, turn_limit=30).games == 6
    with pytest.raises(
        me.ConfigurationError, match="Policy 'networks' plays at tables of 2 to 4, not of 5"
    ):
        agents.arena.play([agent, *["random"] * 4], games=1)
    with pytest.raises(
        me.ConfigurationError, match="Policy 'networks' plays at tables of 2 to 4, not of 5"
    ):
        agent.probabilities(me.core.batch_of(me.new_game(5)))


@pytest.mark.parametrize(
    "seat",
    [
        lambda agent: agents.arena.play([agent, "random", "random"], games=2),
        lambda agent: me.rollout(me.new_game(3), agent, 2),
        lambda agent: me.VectorMonopoly(2, 3, opponents=[agent, "random"]).reset(),
    ],
)
def test_a_table_of_another_size_is_refused_by_name(seat: Any) -> None:
    with pytest.raises(
        me.ConfigurationError, match="Policy 'networks' plays at tables of 2, not of 3"
    ):
        seat(LearnedAgent(2, SMALL))
