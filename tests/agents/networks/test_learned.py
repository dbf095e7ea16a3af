"""The learned policy: what its networks say, where they may speak, and that it is its parent everywhere else."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

import agents
import monopoly_env as me
from agents.networks.forward import forward
from agents.networks.learned.networks import (
    ARCHITECTURES,
    ENCODED,
    FEATURES,
    HIDDEN,
    LEARNED_HEADS,
    MOST_PLAYERS,
    NAMES,
    NETWORKS,
    OUTPUT,
    OUTPUTS,
    SHAPES,
    STARTS,
    pack,
    turned,
    zeros,
)
from agents.networks.learned.play import preferred, weigh
from agents.networks.learned.policy import NEVER, LearnedPolicy
from agents.players.expert.play import answer
from monopoly_env import encoding as encodings
from monopoly_env.actions import DECISION_NAMES, HEAD_NAMES, HEAD_OF, HEADS, NUM_ACTIONS
from monopoly_env.core import batch_of
from monopoly_env.errors import ConfigurationError, FormatError
from monopoly_env.policy.protocol import MEMORY, CompiledPolicy, Decisions

MASK = np.zeros(NUM_ACTIONS, np.bool_)  # nobody here reads it
ALL = (1 << len(HEAD_NAMES)) - 1
NOBODY_CHOOSES = np.full(len(NAMES), NEVER)
GAIN, THEIRS = ENCODED + MOST_PLAYERS, ENCODED + MOST_PLAYERS + 1

PLAY = """
import json, sys
import agents, monopoly_env as me
from monopoly_env.policy.protocol import Decisions
games, moves = me.new_games(range(30), 3), []
policy = agents.load(sys.argv[1])
for _ in range(60):
    actions = policy.act(Decisions(games))
    for game, action in zip(games, actions):
        me.step(game, int(action))
    moves.append(actions.tolist())
print(json.dumps(moves))
"""


@cache
def knowing(seed: int = 0, heads: tuple[str, ...] = LEARNED_HEADS, *, margin: float = 0.01) -> LearnedPolicy:
    """Networks of random numbers, so that they often disagree with the parent."""
    generator = np.random.default_rng(seed)
    arrays: dict[str, NDArray[Any]] = {
        name: (generator.normal(size=shape) * (0.3 / shape[-1 if ".2." in name else 0] ** 0.5)).astype(np.float32)
        for name, shape in SHAPES.items()
    }
    arrays |= {name: array + np.float32(0.02) for name, array in arrays.items() if name.endswith("bias")}
    return LearnedPolicy(heads, bargains=False).changed(**arrays, margins=np.full(len(NAMES), margin))


@cache
def parent(**options: float) -> CompiledPolicy:
    made = agents.make("expert", **options)
    assert isinstance(made, CompiledPolicy)
    return made


class Moment:
    """A decision of a game: the record, and the parent's answer with its memory before and after it."""

    def __init__(self, game: Any, memory: NDArray[np.float64]) -> None:
        self.game = me.clone(game)
        self.before = memory.copy()
        self.after = memory.copy()
        self.base = int(answer(self.game, parent().params, parent().params, self.after))
        self.decision = DECISION_NAMES[game.decision]
        self.network = next((name for name, (decisions, _) in NETWORKS.items() if self.decision in decisions), None)

    def weigh(self, policy: LearnedPolicy, learned: int = ALL) -> tuple[bool, NDArray[np.float32], NDArray[np.float64]]:
        seen, values = np.zeros(FEATURES, np.float32), np.full(NUM_ACTIONS, np.nan)
        some = weigh(self.game, self.base, learned, policy.params, self.after.copy(), seen, values)
        return some, seen, values


@cache
def moments(rules: str = "official", players: int = 3, games: int = 8) -> tuple[Moment, ...]:
    """Decisions of whole games that the policy plays against itself."""
    return tuple(walk(knowing(), rules, players, games))


def walk(policy: LearnedPolicy, rules: str, players: int, games: int) -> Iterator[Moment]:
    for game in me.new_games(range(games), players, rules):
        memory = np.zeros((players, MEMORY))
        while not me.is_over(game) and game.turns < 60 * players:
            mine = memory[game.player]
            yield Moment(game, mine)
            me.step(game, policy.kernel(game, MASK, policy.params, mine))


def by_hand(arrays: dict[str, NDArray[Any]], network: str, seen: NDArray[Any]) -> NDArray[np.float64]:
    """All outputs of a network in float64."""
    signal = seen.astype(np.float64)
    for layer in range(2):
        signal = np.maximum(signal @ arrays[f"{network}.{layer}.weight"] + arrays[f"{network}.{layer}.bias"], 0)
    outputs: NDArray[np.float64] = arrays[f"{network}.2.weight"] @ signal + arrays[f"{network}.2.bias"]
    return outputs


def may_be_chosen(moment: Moment, learned: Sequence[str]) -> set[int]:
    """The actions beside the parent's that come into question, from the words of the documentation."""
    network = moment.network
    if network is None or moment.game.num_players > MOST_PLAYERS:
        return set()
    heads = NETWORKS[network][1]
    if HEAD_NAMES[HEAD_OF[moment.base]] not in heads:
        return set()
    open_ = {int(action) for action in me.legal_actions(moment.game) if HEAD_NAMES[HEAD_OF[action]] in set(heads) & set(learned)}
    done = HEADS["trade_cash"].start
    for kept_out in (
        range(HEADS["trade"].start, HEADS["trade"].stop),
        range(done + 1, HEADS["trade_cash"].stop),
        [HEADS["reply"].start + 2],
    ):
        open_ -= set(kept_out)
    return open_ - {moment.base}


# --- networks -----------------------------------------------------------------------------------------------------------


def test_compiled_networks_say_what_the_formulas_say() -> None:
    policy = knowing()
    observations = [seen for some, seen, _ in (moment.weigh(policy) for moment in moments()) if some][::40]
    assert len(observations) > 10
    weights = pack(policy.arrays()).view(np.float32)
    for number, name in enumerate(NAMES):
        for seen in observations:
            expected, outputs = by_hand(policy.arrays(), name, seen), np.zeros(OUTPUTS[number], np.float32)
            forward(weights[STARTS[number] : STARTS[number + 1]], seen, 0, outputs)
            assert outputs == pytest.approx(expected, abs=1e-5)
        assert expected.std() > 1e-3


def test_each_action_of_a_network_has_an_output_of_its_own() -> None:
    for number, (_, heads) in enumerate(NETWORKS.values()):
        there = np.flatnonzero(OUTPUT[number] >= 0)
        assert {HEAD_NAMES[HEAD_OF[action]] for action in there} == set(heads)
        assert sorted(OUTPUT[number, there]) == list(range(1, OUTPUTS[number]))  # 0 is the state's value
        assert len(there) == sum(HEADS[head].size for head in heads)


def test_every_decision_but_picks_of_an_offer_has_one_network() -> None:
    answered = [decision for decisions, _ in NETWORKS.values() for decision in decisions]
    assert sorted(answered) == sorted(set(DECISION_NAMES) - {"over", "trade_ask", "trade_give"})


def test_the_row_holds_all_numbers_in_their_order() -> None:
    arrays = knowing().arrays()
    row = pack(arrays)
    assert np.isfinite(row).all()
    numbers = row.view(np.float32)
    for number, (name, network) in enumerate(ARCHITECTURES.items()):
        found = turned(network.unpack(numbers[STARTS[number] : STARTS[number + 1]], name))
        assert [(key, array.shape) for key, array in found.items()] == [(key, SHAPES[key]) for key in SHAPES if key.startswith(f"{name}.")]
        assert all(np.array_equal(array, arrays[key]) for key, array in found.items())
    assert len(numbers) == STARTS[-1]


def test_the_largest_numbers_stay_finite_in_pairs() -> None:
    arrays = {name: array + np.finfo(np.float32).max for name, array in zeros().items()}
    assert np.isfinite(pack(arrays)).all()
    LearnedPolicy().changed(**arrays)


# --- what is weighed ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", ["official", "classic"])
@pytest.mark.parametrize("learned", [LEARNED_HEADS, ("turn", "buy", "trade_cash")])
def test_what_comes_into_question(rules: str, learned: tuple[str, ...]) -> None:
    policy, bits, found = knowing(), sum(1 << HEAD_NAMES.index(head) for head in learned), set()
    for moment in moments(rules):
        others = may_be_chosen(moment, learned)
        some, seen, values = moment.weigh(policy, bits)
        assert some == bool(others)
        if some:
            assert moment.network is not None
            assert set(np.flatnonzero(values > -np.inf)) == others | {moment.base}
            number, outputs = NAMES.index(moment.network), by_hand(policy.arrays(), moment.network, seen)
            for action in others | {moment.base}:
                assert values[action] == pytest.approx(outputs[0] + outputs[OUTPUT[number, action]], abs=1e-5)
            found.add(moment.network)
        else:
            assert not seen.any()
    assert found >= {"buy", "turn", "offer"} if "bid" not in learned else {"buy", "bid", "turn", "jail", "offer", "reply", "debt"}


def test_nothing_is_weighed_at_larger_tables() -> None:
    policy, could = knowing(), 0
    for moment in moments(players=5, games=1):
        assert not moment.weigh(policy)[0]
        could += moment.decision == "buy"
    assert could > 10


def test_an_offer_is_neither_begun_nor_cancelled_by_the_networks() -> None:
    begun = [moment for moment in moments() if HEADS["trade"].start <= moment.base < HEADS["trade"].stop]
    priced = [moment for moment in moments() if moment.decision == "trade_cash"]
    assert len(begun) > 10
    assert len(priced) > 10
    for moment in begun:
        values = moment.weigh(knowing())[2]
        assert set(np.flatnonzero(values[HEADS["trade"].slice] > -np.inf) + HEADS["trade"].start) == {moment.base}
    done = HEADS["trade_cash"].start
    assert all(set(np.flatnonzero(moment.weigh(knowing())[2] > -np.inf)) <= {done, moment.base} for moment in priced if moment.base != done)


# --- what is seen -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3])
def test_the_encoding_comes_first_then_shares_of_strength(players: int) -> None:
    policy, seen_any = knowing(), 0
    for moment in moments(players=players, games=2):
        some, seen, _ = moment.weigh(policy)
        if some and not HEADS["trade"].start <= moment.base < HEADS["trade"].stop:
            expected = encodings.observe_all(batch_of(moment.game), "standard", pad_to=MOST_PLAYERS)[0]
            assert np.array_equal(seen[:ENCODED], expected)
            shares = seen[ENCODED : ENCODED + MOST_PLAYERS]
            assert shares[:players].sum() == pytest.approx(1, abs=1e-5)
            assert not shares[players:].any()
            seen_any += 1
    assert seen_any > 100


def test_a_planned_offer_stands_in_the_observation_as_if_it_were_made() -> None:
    policy, found = knowing(), 0
    for moment in moments():
        some, seen, _ = moment.weigh(policy)
        if some and HEADS["trade"].start <= moment.base < HEADS["trade"].stop:
            offered = me.clone(moment.game)
            ask, give, cash = (int(number) for number in moment.after[-3:])
            offered.offer_ask, offered.offer_give, offered.offer_cash = ask, give, cash
            assert np.array_equal(seen[:ENCODED], encodings.observe_all(batch_of(offered), "standard", pad_to=MOST_PLAYERS)[0])
            assert ask | give
            found += 1
    assert found > 10


def test_both_sides_judge_an_offer_alike() -> None:
    """What the proposer thinks that the partner gains is what the partner thinks when it is asked."""
    policy, found = knowing(), 0
    for game in me.new_games(range(4), 3):
        memory, thoughts = np.zeros((3, MEMORY)), (0.0, 0.0)
        while not me.is_over(game) and game.turns < 150:
            moment = Moment(game, memory[game.player])
            some, seen, _ = moment.weigh(policy)
            if some and moment.network == "turn" and HEADS["trade"].start <= moment.base < HEADS["trade"].stop:
                thoughts = float(seen[THEIRS]), float(seen[GAIN])
            elif some and moment.decision == "reply" and not game.offer_counter:
                assert (float(seen[GAIN]), float(seen[THEIRS])) == pytest.approx(thoughts, abs=1e-6)
                found += 1
            me.step(game, parent().kernel(game, MASK, parent().params, memory[game.player]))
    assert found > 10


# --- what is chosen -----------------------------------------------------------------------------------------------------


def at_a_lot_for_sale() -> Moment:
    return next(moment for moment in moments() if moment.decision == "buy" and moment.base == HEADS["buy"].start + 1)


@pytest.mark.parametrize(
    ("heads", "margin", "gain", "departs"),
    [
        (LEARNED_HEADS, 0.1, 0.11, True),
        (LEARNED_HEADS, 0.1, 0.09, False),
        (LEARNED_HEADS, 0.0, 0.0, False),
        (LEARNED_HEADS, NEVER, 1.0, False),
        (("buy",), 0.1, 0.11, True),
        (("bid", "jail"), 0.1, 0.11, False),
    ],
)
def test_the_parent_is_left_by_the_margin_and_in_learned_heads_only(
    heads: tuple[str, ...], margin: float, gain: float, departs: bool
) -> None:
    margins = NOBODY_CHOOSES.copy()
    margins[NAMES.index("buy")] = margin
    policy, moment, values = LearnedPolicy(heads).changed(margins=margins), at_a_lot_for_sale(), np.full(NUM_ACTIONS, -np.inf)
    refuse, buy = HEADS["buy"].start, HEADS["buy"].start + 1
    values[buy], values[refuse] = 0.3, 0.3 + gain
    assert preferred(moment.game, buy, policy.params, values) == (refuse if departs else buy)


def test_the_best_of_several_is_taken() -> None:
    policy, values = LearnedPolicy().changed(margins=np.zeros(len(NAMES))), np.full(NUM_ACTIONS, -np.inf)
    moment = next(moment for moment in moments() if moment.decision == "bid")
    bids = HEADS["bid"]
    values[bids.slice] = [0.2, 0.3, 0.5, 0.4, 0.5, 0.1, 0.0, 0.0]
    assert preferred(moment.game, bids.start, policy.params, values) == bids.start + 2


def test_it_does_what_its_values_say_and_what_the_parent_meant_is_forgotten_where_it_departs() -> None:
    policy, departed, mattered, followed = knowing(), 0, 0, 0
    for moment in moments():
        memory = moment.before.copy()
        action = policy.kernel(moment.game, MASK, policy.params, memory)
        some, _, values = moment.weigh(policy)
        best = int(values.argmax()) if some else moment.base
        expected = best if some and values[best] > values[moment.base] + 0.01 else moment.base
        assert action == expected
        assert np.array_equal(memory, moment.after if action == moment.base else moment.before)
        departed += action != moment.base
        followed += action == moment.base
        mattered += action != moment.base and not np.array_equal(moment.before, moment.after)
    assert min(departed, followed) > 100
    assert mattered > 10


def test_act_and_the_kernel_are_one() -> None:
    policy, games = knowing(), me.new_games(range(20), 3)
    assert policy.act(Decisions(games)).tolist() == [policy.kernel(game, MASK, policy.params, np.zeros(MEMORY)) for game in games]


# --- the parent ---------------------------------------------------------------------------------------------------------


def played(policy: CompiledPolicy, players: int, rules: str = "official") -> list[list[int]]:
    """All actions of some games among copies of a policy."""
    results = agents.arena.play([policy] * players, 3, rules, threads=1, turn_limit=60, record=3)
    return [replay.actions.tolist() for replay in results.replays]


@pytest.mark.parametrize("players", [2, 4, 8])
@pytest.mark.parametrize("rules", ["official", "ocnaru"])
def test_without_heads_or_with_margins_never_it_is_its_parent(players: int, rules: str) -> None:
    expected = played(parent(), players, rules)
    assert played(knowing(0, ()), players, rules) == expected
    assert played(knowing(margin=NEVER), players, rules) == expected
    assert (played(knowing(), players, rules) == expected) == (players > MOST_PLAYERS)


def test_the_parent_plays_alone_at_tables_that_the_networks_were_not_taught_at() -> None:
    taught = knowing()
    policy = LearnedPolicy(taught.heads, sizes=(2,), bargains=False).changed(**taught.arrays())
    assert policy.changed().sizes == (2,)
    assert played(policy, 2) == played(taught, 2) != played(parent(), 2)
    assert played(policy, 3) == played(parent(), 3) != played(taught, 3)


def test_parents_by_the_size_of_the_table() -> None:
    rows = [parent(), parent(keep=2000.0, deed=0.1), parent(margin=0.5, eager=0.3)]
    policy = LearnedPolicy((), bargains=False).changed(parent=np.stack([row.params for row in rows]))
    for players, row in ((2, 0), (3, 1), (4, 2), (5, 2)):
        games = [played(row, players) for row in rows]
        assert played(policy, players) == games[row]
        assert games.count(games[row]) == 1


# --- saving -------------------------------------------------------------------------------------------------------------


def test_a_saved_policy_plays_the_same_moves_in_a_new_process(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    policy = knowing()
    policy.save(path)
    games, moves = me.new_games(range(30), 3), []
    for _ in range(60):
        actions = policy.act(Decisions(games))
        for game, action in zip(games, actions, strict=True):
            me.step(game, int(action))
        moves.append(actions.tolist())
    said = subprocess.run([sys.executable, "-c", PLAY, str(path)], capture_output=True, text=True, check=True)
    assert json.loads(said.stdout) == moves


def test_loading_brings_back_what_was_saved(tmp_path: Path) -> None:
    rows = np.stack([parent().params, parent(keep=10.0).params, parent(deed=0.1).params])
    policy = knowing(heads=("buy", "bid")).changed(parent=rows, margins=np.linspace(0, 1, len(NAMES)))
    policy.save(tmp_path / "a.safetensors")
    loaded = agents.load(tmp_path / "a.safetensors")
    assert isinstance(loaded, LearnedPolicy)
    assert (loaded.name, loaded.heads, loaded.options(), loaded.encoding()) == ("dqn", ("buy", "bid"), policy.options(), "standard")
    assert all(np.array_equal(array, policy.arrays()[name]) for name, array in loaded.arrays().items())
    assert np.array_equal(loaded.params.view(np.uint64), policy.params.view(np.uint64))


def test_results_hold_a_hash_of_its_numbers() -> None:
    """They are too many to write out, and the file of the policy has them."""
    first, again, other = (agents.arena.play([policy, "expert"], 2, threads=1) for policy in (knowing(), knowing(), knowing(1)))
    described = [results.setup["policies"][0] for results in (first, again, other)]
    assert set(described[0]) == {"name", "kind", "options", "sha256"}
    assert described[0] == described[1] != described[2]
    with pytest.raises(ConfigurationError, match="'dqn' is not scripted: play it from its own file"):
        agents.arena.play_again(first)


def test_copies_share_nothing() -> None:
    policy = knowing()
    before = policy.params.copy()
    copy = policy.with_heads(("jail",), margins=NOBODY_CHOOSES)
    copy.params[:] = 0.0
    assert copy.heads == ("jail",)
    assert policy.heads == LEARNED_HEADS
    assert np.array_equal(policy.params.view(np.uint64), before.view(np.uint64))


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        ("by", "No network plays the head 'by'. Did you mean 'buy'"),
        ("trade_ask", "No network plays the head 'trade_ask'"),
        ("trade", "No network plays the head 'trade'"),
    ],
)
def test_heads_without_a_network_are_refused(head: str, reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        LearnedPolicy((head,))


def changed(name: str, array: NDArray[Any] | None) -> dict[str, NDArray[Any]]:
    arrays = knowing().arrays()
    arrays.pop(name, None)
    return arrays if array is None else arrays | {name: array}


@pytest.mark.parametrize(
    ("name", "array", "reason"),
    [
        ("buy.0.bias", np.full(HIDDEN[0], np.nan, np.float32), r"'buy.0.bias' holds a number that is not finite"),
        ("margins", np.full(len(NAMES), np.inf), r"'margins' holds a number that is not finite"),
        ("margins", np.zeros(3), r"'margins' is float64 \(3,\), expected float64 \(9,\)"),
        ("bid.2.bias", np.zeros(9), r"'bid.2.bias' is float64 \(9,\), expected float32 \(9,\)"),
        ("parent", None, "'parent' is missing"),
        ("byu.0.bias", np.zeros(1), r"unknown array 'byu.0.bias' \(Did you mean 'buy.0.bias'"),
    ],
)
def test_wrong_numbers_are_refused_and_change_nothing(name: str, array: NDArray[Any] | None, reason: str) -> None:
    policy = LearnedPolicy()
    before = policy.params.copy()
    with pytest.raises(FormatError, match=reason):
        policy.set_arrays(changed(name, array))
    assert np.array_equal(policy.params, before)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"rules_version": 0}, "rules_version is 0, expected"),
        ({"options": {"heads": ["biuld"]}}, "No network plays the head 'biuld'. Did you mean 'build'"),
        ({"options": {"sizes": [2, 5]}}, "Networks play at tables of 2 to 4, not of 5"),
        (
            {"options": {"features": "0123456789abcdef"}},
            "its parent's parameters are not those of this version",
        ),
        ({"options": {"depth": 3}}, "no option 'depth'"),
    ],
)
def test_files_that_do_not_match_are_refused(tmp_path: Path, change: dict[str, Any], reason: str) -> None:
    path = tmp_path / "a.safetensors"
    knowing().save(path)
    with safe_open(path, framework="numpy") as file:
        about = json.loads(file.metadata()["policy"])
    save_file(load_file(path), path, {"policy": json.dumps(about | change)})
    with pytest.raises(me.MonopolyError, match=reason):
        agents.load(path)
