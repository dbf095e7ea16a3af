"""The player that searches.

Without playouts its base policy, with them the same at any batch size, and stronger.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
import monopoly_env as me
from agents.players.search import player
from agents.players.search.offers import lay, propose
from monopoly_env.actions import DECISION_NAMES, HEADS
from monopoly_env.analyse import values
from monopoly_env.policy import names
from monopoly_env.policy.protocol import MEMORY, Decisions
from monopoly_env.rules import Rules

SHORT = Rules(max_turns=60)
REJECT, ACCEPT = (HEADS["reply"].start + place for place in range(2))


@agents.policy_kernel
def _yielding(game: Any, mask: Any, params: Any, memory: Any) -> int:
    """Accepts every offer, and otherwise takes the first legal action."""
    if mask[ACCEPT]:
        return ACCEPT
    action = 0
    while not mask[action]:
        action += 1
    return action


@agents.policy_kernel
def _refusing(game: Any, mask: Any, params: Any, memory: Any) -> int:
    return REJECT


@pytest.fixture(autouse=True)
def _registered() -> None:
    names.register("yielding", lambda: agents.CompiledPolicy("yielding", _yielding))


def open_decisions(count: int) -> Decisions:
    """Decisions in the middle of games between scripted players."""
    vec = me.VectorMonopoly(count, 2, seed=3, threads=1)
    player = agents.make("algorithmic")
    vec.reset()
    for _ in range(40):
        vec.step(player.act(Decisions(vec.games.copy())))
    return Decisions(vec.games.copy())


def test_without_playouts_it_is_its_base_policy() -> None:
    played = agents.arena.play(
        [agents.make("search", base="algorithmic", playouts=0), "random"],
        games=40,
        rules=SHORT,
        record=40,
    )
    plain = agents.arena.play(["algorithmic", "random"], games=40, rules=SHORT, record=40)
    assert [replay.actions.tolist() for replay in played.replays] == [
        replay.actions.tolist() for replay in plain.replays
    ]


def test_its_answers_depend_neither_on_the_batch_nor_on_threads() -> None:
    decisions = open_decisions(24)
    searching = agents.make("search", base="random", playouts=8, advisers=["algorithmic"])
    together = searching.act(
        Decisions(decisions.games.copy(), np.zeros((24, MEMORY)), decisions.key)
    )
    assert searching.searched > 5
    alone = agents.make("search", base="random", playouts=8, advisers=["algorithmic"], threads=1)
    for number in range(24):
        one = slice(number, number + 1)
        assert (
            alone.act(
                Decisions(decisions.games[one].copy(), np.zeros((1, MEMORY)), decisions.key[one])
            )[0]
            == together[number]
        )


@pytest.mark.slow
def test_it_takes_the_better_advice() -> None:
    """`random` with the advice of `algorithmic` wins more than `random`.

    Both sit at the same tables.
    """
    searching = agents.make(
        "search",
        base="random/no_trades",
        playouts=6,
        advisers=["algorithmic"],
        margin=0.0,
        turns=12,
    )
    results = agents.arena.play(
        [searching, "random/no_trades"],
        games=20,
        rules=Rules(max_turns=40, auction="none", trade="none"),
    )
    row = next(row for row in results.rows() if row["name"] == searching.name)
    assert row["win_rate"] > 0.7


def test_a_thorough_player_plays_out_what_all_agree_on() -> None:
    """Everybody would let an opponent complete a group for a dollar; played on, that loses."""
    game = me.position(
        2,
        lots={
            0: ["St. James Place", "Tennessee Avenue"],
            1: ["New York Avenue", "Reading Railroad"],
        },
        cash={0: 1500, 1: 200},
        positions={0: 0, 1: 20},
    )
    for text in (
        "trade with player +1",
        "ask for New York Avenue",
        "ask: done",
        "give: done",
        "give $1",
        "cash: done",
    ):
        me.step(game, me.actions.parse(text))
    options: dict[str, Any] = {
        "base": "yielding",
        "advisers": [],
        "playouts": 60,
        "turns": 20,
        "value": "best",
        "others": ["algorithmic"],
    }
    decisions = Decisions(me.core.batch_of(game).copy())
    assert agents.make("search", **options).act(decisions)[0] == ACCEPT
    searching = agents.make("search", thorough=True, **options)
    assert searching.act(decisions)[0] == REJECT
    assert searching.searched == 1


def test_it_reads_from_the_history_who_the_others_are() -> None:
    replay = agents.arena.play(["algorithmic", "fp/b/guarded"], games=1, seed=2, record=1).replays[
        0
    ]
    seat, game = replay.names.index("algorithmic"), me.replays.start(replay)
    made = 0
    while made < 200 or game.player != seat:
        me.step(game, int(replay.actions[made]))
        made += 1
    batch = me.core.batch_of(game)
    searching = agents.make("search", base="algorithmic", others=["fp/b/guarded", "random"])
    told = searching.seats(Decisions(batch.copy(), history=[replay.actions[:made]]), 0)
    assert told[seat] is searching.rollout_policy
    assert {policy.name: round(weight, 2) for policy, weight in told[1 - seat].items()} == {
        "fp/b/guarded": 1.0,
        "random": 0.0,
    }
    untold = searching.seats(Decisions(batch.copy()), 0)
    assert [policy.name for policy in untold[1 - seat]] == ["fp/b/guarded", "random"]
    assert searching.reads_history
    # there is nothing to tell apart
    assert not agents.make("search", base="algorithmic", others=["random"]).reads_history


def two_that_complete_each_other() -> Any:
    """A table of three: players 0 and 1 each have what the other lacks to complete a group."""
    return me.position(
        3,
        lots={
            0: ["St. James Place", "Tennessee Avenue", "Virginia Avenue"],
            1: ["New York Avenue", "St. Charles Place", "States Avenue"],
        },
        cash={0: 1200, 1: 1200, 2: 1200},
        positions={0: 10, 1: 20, 2: 5},
    )


def test_an_offer_that_helps_both_is_proposed_and_laid() -> None:
    game, value = me.core.batch_of(two_that_complete_each_other()).copy(), values.resolve("best")
    before = game.copy()
    proposed = propose(game, value, 2)
    assert (game == before).all()
    assert 2 <= len(proposed) <= 4
    for offer in proposed:
        assert offer.partner == 1
        laid = lay(game, offer)
        assert laid is not None
        assert DECISION_NAMES[laid["decision"][0]] == "reply"
        terms = tuple(
            int(laid[name][0]) for name in ("offer_to", "offer_ask", "offer_give", "offer_cash")
        )
        assert terms == offer
        me.step(laid[0], ACCEPT)
        gains = (value.shares(laid) - value.shares(game))[0]
        assert gains[0] > 0
        assert gains[1] > 0


def test_who_answers_decides_the_price() -> None:
    """The first price of a package is the least at which the partner's policy accepts.

    All its cash, if it accepts everything.
    """
    game, value = me.core.batch_of(two_that_complete_each_other()).copy(), values.resolve("best")
    before = game.copy()

    def accepted(policy: Any, offer: Any) -> bool:
        laid = lay(game, offer)
        return laid is not None and int(policy.act(Decisions(laid.copy()))[0]) == ACCEPT

    expert = agents.make("expert")
    priced = propose(game, value, 4, [expert] * 3)[::2]
    assert priced
    for offer in priced:
        assert accepted(expert, offer)
        assert not accepted(expert, offer._replace(dollars=offer.dollars - 10))
    assert {
        offer.dollars for offer in propose(game, value, 4, [agents.make("yielding")] * 3)[::2]
    } == {-1200}
    assert not propose(game, value, 4, [agents.CompiledPolicy("refusing", _refusing)] * 3)
    assert (game == before).all()


def test_it_makes_offers_of_its_own_if_they_pay() -> None:
    """`strategic` offers nothing here.

    The value sees what `expert` would take, and playouts agree.
    """
    decisions = Decisions(me.core.batch_of(two_that_complete_each_other()).copy())
    options: dict[str, Any] = {
        "base": "strategic", "advisers": [], "playouts": 60, "turns": 10, "value": "best",
        "others": ["expert"], "offers": 2,
    }  # fmt: skip
    searching = agents.make("search", **options)
    without = agents.make("search", **(options | {"offers": 0})).act(decisions)
    assert without[0] not in range(HEADS["trade"].start, HEADS["trade"].stop)
    began = int(searching.act(decisions)[0])
    assert began in range(HEADS["trade"].start, HEADS["trade"].stop)
    assert searching.offered == 1
    game, memory = decisions.games, decisions.memory
    me.step(game[0], began)
    while DECISION_NAMES[game["decision"][0]].startswith("trade_"):
        me.step(game[0], int(searching.act(Decisions(game.copy(), memory))[0]))
    assert DECISION_NAMES[game["decision"][0]] == "reply"
    assert game["offer_ask"][0] | game["offer_give"][0]


def test_one_ply_takes_what_the_value_likes_best() -> None:
    """A gift is accepted, a theft refused.

    Whole games are played, the same alone and in a batch.
    """
    player = agents.make("one_ply", draws=2)
    for text, answer in (("give $400", ACCEPT), ("ask for $400", REJECT)):
        game = me.position(
            2,
            lots={0: ["Baltic Avenue"], 1: ["Reading Railroad"]},
            cash={0: 900, 1: 900},
            positions={0: 0, 1: 20},
        )
        for step in ("trade with player +1", "ask: done", "give Baltic Avenue", "give: done"):
            me.step(game, me.actions.parse(step))
        for _ in range(4):
            me.step(game, me.actions.parse(text.replace("400", "100")))
        me.step(game, me.actions.parse("cash: done"))
        assert player.act(Decisions(me.core.batch_of(game).copy()))[0] == answer
    results = agents.arena.play([player, "random"], games=20, rules=SHORT)
    assert results.rows()[0]["games"] == 20
    decisions = open_decisions(12)
    together = player.act(decisions)
    for number in range(12):
        one = slice(number, number + 1)
        assert (
            player.act(
                Decisions(decisions.games[one].copy(), np.zeros((1, MEMORY)), decisions.key[one])
            )[0]
            == together[number]
        )


def test_a_learned_base_tells_what_else_it_would_do() -> None:
    """Without advisers, only its own doubts are played out, and only at the decisions named."""
    decisions, base = open_decisions(400), agents.make("ppo/best/two")
    chances = base.probabilities(decisions.games)
    own = base.act(Decisions(decisions.games.copy(), np.zeros((400, MEMORY)), decisions.key))
    options: dict[str, Any] = {
        "base": "ppo/best/two",
        "advisers": [],
        "rollout_policy": "algorithmic",
        "turns": 2,
        "margin": 0.0,
    }
    searching = agents.make("search", playouts=4, doubt=0.05, **options)
    answers = searching.act(
        Decisions(decisions.games.copy(), np.zeros((400, MEMORY)), decisions.key)
    )
    assert 3 < searching.searched < 400
    changed = np.flatnonzero(answers != own)
    assert len(changed)
    assert (chances[changed, answers[changed]] >= 0.05).all()
    only = agents.make("search", playouts=4, doubt=0.05, decisions=["bid"], **options)
    some = only.act(Decisions(decisions.games.copy(), np.zeros((400, MEMORY)), decisions.key))
    bids = decisions.decision == DECISION_NAMES.index("bid")
    assert 0 < only.searched < searching.searched
    np.testing.assert_array_equal(some, np.where(bids, answers, own))


def test_another_policy_may_play_on() -> None:
    decisions = open_decisions(12)
    one, other = (
        agents.make(
            "search",
            base="random",
            playouts=8,
            advisers=["algorithmic"],
            turns=10,
            rollout_policy=policy,
            margin=0.0,
        )
        for policy in (None, "algorithmic")
    )
    assert one.rollout_policy.name == "random"
    assert other.rollout_policy.name == "algorithmic"
    answers = [
        player.act(Decisions(decisions.games.copy(), np.zeros((12, MEMORY)), decisions.key))
        for player in (one, other)
    ]
    assert (answers[0] != answers[1]).any()


def test_it_is_saved_as_its_options(tmp_path: Any) -> None:
    searching = agents.make("search", base="algorithmic", playouts=3, advisers=["random"], turns=5)
    searching.save(tmp_path / "search.safetensors")
    loaded = agents.load(tmp_path / "search.safetensors")
    assert loaded.options() == searching.options()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"playouts": -1}, "playouts=-1"),
        ({"margin": -0.5}, "margin=-0.5"),
        ({"base": "randm"}, "Did you mean 'random'"),
        ({"value": "bets"}, "Did you mean 'best'"),
        ({"others": ["algoritmic"]}, "Did you mean 'algorithmic'"),
        ({"time": 0.0}, "time=0.0 must be a positive number"),
        ({"time": "short"}, "time='short' must be a positive number"),
        ({"turns": 0}, "turns=0 must be a whole number from 1"),
        ({"turns": "a"}, "turns='a' must be a whole number"),
        ({"threads": 0}, "threads=0 must be a whole number from 1"),
        ({"offers": -1}, "offers=-1"),
        ({"doubt": 1.5}, "doubt=1.5 must be a probability"),
        ({"doubt": 0.1, "base": "expert"}, "needs a learned base"),
        ({"decisions": ["bids"]}, "Did you mean 'bid'"),
        ({"rollout_policy": "exprt"}, "Did you mean 'expert'"),
        ({"base": "human"}, "is not compiled"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(me.ConfigurationError, match=message):
        agents.make("search", **options)


def test_the_best_of_them_plays_and_is_kept_in_a_file(tmp_path: Path) -> None:
    searching = agents.make("search/best", playouts=4, threads=1)
    agents.arena.play(
        [searching, "expert", "algorithmic"], games=1, rules=Rules(max_turns=12), seed=4
    )
    assert searching.searched > 0
    searching.save(tmp_path / "best.safetensors")
    loaded = agents.load(tmp_path / "best.safetensors")
    assert (loaded.name, loaded.options()) == ("search/best", searching.options())
    with pytest.raises(me.ConfigurationError, match="tables of 2 to 4"):
        agents.arena.play([searching, *["expert"] * 4], games=1, rules=Rules(max_turns=12))


def test_its_time_ends_the_playouts_of_offers(monkeypatch: pytest.MonkeyPatch) -> None:
    game = me.core.batch_of(me.position(2, lots={0: ["Boardwalk"], 1: ["Park Place"]}))
    clock = iter(range(100))
    monkeypatch.setattr(player, "monotonic", lambda: float(next(clock)))
    options: dict[str, Any] = {"base": "algorithmic", "playouts": 40, "turns": 2}
    searching, hurried = (
        agents.make("search", **options),
        agents.make("search", time=2.5, **options),
    )
    whole = searching.leads(game, game, 10, ["algorithmic"] * 2, 5)
    assert whole.shape == (1, 40)
    cut = hurried.leads(game, game, 10, ["algorithmic"] * 2, 5)
    assert cut.shape == (1, 24)  # after the third block of 8 three seconds are over
    assert (cut == whole[:, :24]).all()


def test_policy_switching_has_nothing_but_advice() -> None:
    options = agents.make("search/switching").options()
    assert (options["base"], options["turns"], options["others"], options["offers"]) == (
        "expert",
        None,
        None,
        0,
    )
