"""The thesis's learner.

Its player decision by decision, its games against a slow oracle, its learning, and runs that can be
resumed.
"""

from __future__ import annotations

import dataclasses
import io
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from rich.console import Console
from studies.pages import Page

import agents
import monopoly_env as me
from agents import arena
from agents.networks.ocnaru import HIDDEN, NAMES, NETWORKS, NOTED, WATCHED, OcnaruNetworks
from agents.players.strategic.values import SLOT
from monopoly_env import encoding as encodings
from monopoly_env.actions import (
    A_BUILD,
    A_MORTGAGE,
    A_TURN,
    A_UNMORTGAGE,
    DECISION_NAMES,
    HEADS,
)
from monopoly_env.engine.step import answer, settle_one
from monopoly_env.errors import ConfigurationError, FormatError
from monopoly_env.facts.board import GROUP_OF, LOT_SQUARE
from monopoly_env.policy.names import PolicyLike, compiled, resolve_all
from monopoly_env.policy.protocol import MEMORY, CompiledPolicy, Decisions
from monopoly_env.rules import Rules
from studies import ocnaru as report
from tests.policies import NEVER_ENDS, blind, restless, rich, seeing
from training.experience.recording import Experiences
from training.experience.streams import stream
from training.ocnaru import experts, options, rewards, train
from training.ocnaru.games import Moves, Played, TrainingGames, joined
from training.ocnaru.learner import HeadLearner, Memory
from training.ocnaru.options import OcnaruOptions, check, epsilon, training_games
from training.ocnaru.train import OcnaruTrainer, execute
from training.run import checkpoints
from training.run.report import Report
from training.run.session import DivergenceError

pytestmark = pytest.mark.usefixtures("one_thread")
RULES = Rules.preset("ocnaru")
WINDOW, BUY, JAIL = (DECISION_NAMES.index(name) for name in ("turn", "buy", "jail"))
PHASES = {
    "downgrade": "sell",
    "mortgage": "mortgage",
    "unmortgage": "unmortgage",
    "upgrade": "build",
}
CPU = torch.device("cpu")
SMALL = OcnaruOptions(
    budget=0.0024,
    heads=("fine", "card"),
    expert_games=400_000,
    evaluation_games=8,
    final_games=20,
    final_against=("ocnaru/random",),
    threads=2,
)


def player(heads: tuple[str, ...] = NAMES, seed: int = 0, **settings: Any) -> OcnaruNetworks:
    """A player of random numbers."""
    policy = OcnaruNetworks(heads, **settings)
    generator = np.random.default_rng(seed)
    policy.set_arrays(
        {
            key: generator.normal(size=array.shape).astype(np.float32) * 0.2
            for key, array in policy.arrays().items()
        }
    )
    return policy


def slow_values(policy: OcnaruNetworks, head: str, game: Any) -> NDArray[np.float64]:
    """The outputs of a network, by matrix products."""
    signal = encodings.observe(game, "ocnaru100").astype(np.float64)
    for layer in range(len(HIDDEN) + 1):
        signal = np.maximum(signal, 0) if layer else signal
        signal = (
            policy.arrays()[f"{head}.{layer}.weight"] @ signal
            + policy.arrays()[f"{head}.{layer}.bias"]
        )
    return signal


def decisions_of(policy: CompiledPolicy, opponent: str, seeds: range) -> Iterator[tuple[Any, int]]:
    """The decisions of a policy in seat 0, as (record before, action), one game after another.

    What a rescue left to do is left out.
    """
    other = agents.make(opponent)
    for seed in seeds:
        game, memory = me.new_game(2, RULES, seed), np.zeros((2, MEMORY))
        while not me.is_over(game):
            seat = int(game.player)
            who = policy if seat == 0 else other
            rescuing = memory[seat, SLOT.mortgage_left] + memory[seat, SLOT.sale_left] != 0
            decisions = Decisions(np.array([game]), memory[[seat]])
            action = int(who.act(decisions)[0])
            game.policy_draws[seat] = decisions.games[0].policy_draws[seat]
            memory[seat] = decisions.memory[0]
            if seat == 0 and not rescuing:
                yield me.clone(game), action
            me.step(game, action)


# --- the player


@pytest.mark.parametrize("base", ["strategic", "strategic/late_game"])
def test_without_networks_it_is_its_base_policy(base: str) -> None:
    alone = arena.play([OcnaruNetworks((), base_policy=base), "strategic/cautious"], 40, RULES, 5)
    expected = arena.play([base, "strategic/cautious"], 40, RULES, 5)
    assert (alone.place == expected.place).all()
    assert alone.seat_counts.tobytes() == expected.seat_counts.tobytes()


def test_answers_with_two_outputs_go_by_the_higher_value() -> None:
    policy, asked = player(), dict.fromkeys(("buy", "fine", "card"), 0)
    for game, action in decisions_of(policy, "strategic", range(30)):
        legal = me.legal_actions(game)
        if game.decision == BUY and HEADS["buy"].start + 1 in legal:
            values = slow_values(policy, "buy", game)
            assert action == HEADS["buy"].start + (values[1] > values[0])
            asked["buy"] += 1
        if game.decision == JAIL and HEADS["turn"].start in legal:
            expected, pay, use = HEADS["turn"].start, HEADS["jail"].start, HEADS["jail"].start + 1
            if use in legal and slow_values(policy, "card", game) @ [-1, 1] > 0:
                expected = use
            elif pay in legal and slow_values(policy, "fine", game) @ [-1, 1] > 0:
                expected = pay
            assert action == expected
            asked["fine"] += pay in legal
            asked["card"] += use in legal
    assert min(asked.values()) > 5


def output_of(head: str, action: int) -> int:
    """The output that an action of a window stands behind, by the table of the module."""
    lot = action - HEADS[PHASES[head]].start
    return int(GROUP_OF[lot]) if NETWORKS[head].size == 8 else int(LOT_SQUARE[0, lot])


def expected_picks(policy: OcnaruNetworks, head: str, game: Any) -> set[int]:
    """The outputs that a network should act on, by the rule of the table."""
    values = slow_values(policy, head, game)
    part = HEADS[PHASES[head]].slice
    open_ = {
        output_of(head, action)
        for action in me.legal_actions(game)
        if part.start <= action < part.stop
    }
    if NETWORKS[head].size == 8:
        return {max(open_, key=lambda output: values[output])}
    mean = np.mean([values[output] for output in open_])
    good = sorted(
        (output for output in open_ if values[output] > mean), key=lambda output: -values[output]
    )
    return set(good[: 3 if head == "mortgage" else 2])


@pytest.mark.parametrize("head", list(PHASES))
def test_networks_of_a_window_pick_by_their_rule(head: str) -> None:
    policy, part, windows = player((head,), seed=3), HEADS[PHASES[head]].slice, 0
    before: tuple[Any, set[int], set[int]] | None = (
        None  # stamp of the window, expected picks, picks so far
    )
    for game, action in decisions_of(policy, "strategic", range(25)):
        stamp = (int(game.seed[0]), int(game.turns), int(game.throws[0]))
        if game.decision != WINDOW or not part.start <= action < part.stop:
            continue
        if before is None or before[0] != stamp:
            if before is not None:
                assert before[2] <= before[1]
                windows += before[1] == before[2]
            before = stamp, expected_picks(policy, head, game), set()
        before[2].add(output_of(head, action))
    assert windows > 5  # what was picked may be out of reach after the first pick


def test_gated_networks_act_only_where_the_base_policy_would() -> None:
    # The base policy sells and mortgages with 150 dollars or less, and lifts mortgages from 500
    # on.
    def cash_at(base_gated: tuple[str, ...], head: str) -> list[int]:
        part = HEADS[PHASES[head]].slice
        policy = player((head,), base_gated=base_gated)
        return [
            int(game.cash[0])
            for game, action in decisions_of(policy, "strategic", range(6))
            if game.decision == WINDOW and part.start <= action < part.stop
        ]

    assert max(cash_at(("mortgage",), "mortgage")) < 500 < max(cash_at((), "mortgage"))
    assert min(cash_at(("upgrade",), "upgrade")) >= 400 > min(cash_at((), "upgrade"))


def test_trades_debts_and_larger_tables_are_the_parents() -> None:
    policy, base = player(), agents.make("strategic")
    results = arena.play([policy, *["strategic/cautious"] * 3], 24, "official", 3)
    assert (
        results.place == arena.play([base, *["strategic/cautious"] * 3], 24, "official", 3).place
    ).all()


@pytest.mark.parametrize("rules", ["official", "classic", "short", "mukhar"])
def test_it_plays_by_any_rules(rules: str) -> None:
    assert arena.play([player(base_gated=()), "algorithmic"], 10, rules, 1).games == 10


PLAY = """
import json, sys
import agents
from agents import arena
from agents.networks.ocnaru import KIND, OcnaruNetworks
results = arena.play([agents.load(sys.argv[1]), "strategic"], 20, "ocnaru", 9)
print(json.dumps([results.place.tolist(), results.turns.tolist()]))
"""


def test_a_saved_player_plays_the_same_games_in_a_new_process(tmp_path: Path) -> None:
    policy = player(("buy", "mortgage"), base_gated=("mortgage",), base_policy="strategic/cautious")
    policy.save(tmp_path / "player.safetensors")
    told = subprocess.run(
        [sys.executable, "-c", PLAY, str(tmp_path / "player.safetensors")],
        capture_output=True,
        text=True,
        check=True,
    )
    results = arena.play([policy, "strategic"], 20, "ocnaru", 9)
    assert json.loads(told.stdout) == [results.place.tolist(), results.turns.tolist()]


def test_a_part_keeps_its_networks() -> None:
    policy = player()
    part = policy.part(("fine",), "part")
    assert part.heads == ("fine",)
    assert all((part.arrays()[key] == policy.arrays()[key]).all() for key in part.arrays())
    with pytest.raises(ConfigurationError, match="has no network 'buy'"):
        part.part(("buy",), "nothing")


def test_wrong_players_are_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"Unknown network 'upgrad'.*upgrade"):
        OcnaruNetworks(("upgrad",))
    with pytest.raises(ConfigurationError, match="not 'algorithmic'"):
        OcnaruNetworks(base_policy="algorithmic")
    with pytest.raises(FormatError, match="other features"):
        OcnaruNetworks(features="0" * 16)
    policy = OcnaruNetworks(("buy",))
    arrays = {key: array.copy() for key, array in policy.arrays().items()}
    arrays["buy.0.bias"][3] = np.nan
    with pytest.raises(FormatError, match="not finite"):
        policy.set_arrays(arrays)
    with pytest.raises(FormatError, match="missing"):
        policy.set_arrays({})


# --- own games


def play(
    policy: OcnaruNetworks, head: str, games: int, share: float = 0.5, *, threads: int = 2,
    first: int = 0,
    opponents: Sequence[PolicyLike] = ("strategic", "strategic/cautious"), rules: Rules = RULES,
) -> Played:  # fmt: skip
    own = TrainingGames([compiled(policy) for policy in resolve_all(opponents)], rules, 7, threads)
    try:
        parts = own.begin(policy, head, range(first, first + games), np.full(games, share))
        return joined([part.result() for part in parts])
    finally:
        own.close()


def test_an_opponent_that_never_ends_its_turn_is_named() -> None:
    with pytest.raises(me.IllegalActionError, match=NEVER_ENDS):
        play(player(("buy",)), "buy", 2, opponents=[restless()], rules=rich("ocnaru"))


def test_an_opponent_that_breaks_the_rules_is_named() -> None:
    # it then finds an empty mask
    wrong = CompiledPolicy("seeing", seeing().kernel, reads_mask=False)
    with pytest.raises(
        me.IllegalActionError, match=r"Policy 'seeing' in the game of seed \d+: action -1 must be"
    ):
        play(player(("buy",)), "buy", 2, opponents=[wrong])


def test_a_mask_is_written_for_opponents_that_read_it() -> None:
    """Both opponents check it, and break the rules where it is wrong."""
    for opponent in (blind(), seeing()):
        assert len(play(player(("buy",)), "buy", 2, opponents=[opponent]).moves.choice)


def slow_moves(
    policy: OcnaruNetworks, head: str, number: int, share: float
) -> Iterator[tuple[Any, ...]]:
    """The decisions of a network in a training game, step by step.

    What it saw, its choice, and its quantities before and after.
    """
    game, seat = me.new_game(2, RULES, (7 << 32) + number), number % 2
    other = agents.make(("strategic", "strategic/cautious")[number // 2 % 2])
    memory = np.zeros((2, MEMORY))
    memory[seat, WATCHED] = NAMES.index(head) + 1
    memory[seat, WATCHED + 1] = share

    def read() -> rewards.Quantities:  # also between the tasks of a step, where no record is whole
        rows = np.zeros((1, rewards.NUM_QUANTITIES))
        rewards.write_quantities(game, seat, rows[0])
        return rewards.Quantities.of_rows(rows)

    waiting: list[tuple[Any, ...]] = []
    while not me.is_over(game):
        mover = int(game.player)
        decisions = Decisions(np.array([game]), memory[[mover]], np.zeros(1, np.uint64))
        action = int((policy if mover == seat else other).act(decisions)[0])
        game.policy_draws[mover] = decisions.games[0].policy_draws[mover]
        memory[mover] = decisions.memory[0]
        noted = mover == seat and memory[seat, NOTED]
        memory[mover, NOTED] = 0
        if not noted and not waiting:  # nothing to look at between the tasks of this step
            me.step(game, action)
            continue
        before, seen = read(), encodings.observe(game, "ocnaru100", seat)
        answer(game, action)
        if noted:
            waiting.append((seen, action, before, read()))
        turn = int(game.turns)
        while settle_one(game):
            if game.turns != turn:
                turn = int(game.turns)
                if game.turn == seat:  # a round has passed
                    yield from ((*row, read().worth[0]) for row in waiting)
                    waiting.clear()
    yield from ((*row, read().worth[0]) for row in waiting)


@pytest.mark.parametrize("head", ["buy", "upgrade", "mortgage", "fine"])
def test_training_games_are_recorded_as_they_are_played(head: str) -> None:
    policy = player((head,), seed=1)
    played = play(policy, head, 4)  # both opponents, from both seats
    moves = played.moves
    assert len(moves.game) > 5
    for number in played.numbers:
        rows = np.flatnonzero(moves.game == number)
        slow = list(slow_moves(policy, head, number, 0.5))
        assert len(rows) == len(slow)
        for row, (seen, action, before, after, worth) in zip(rows, slow, strict=True):
            assert (moves.observation[row] == seen).all()
            assert moves.before[row].tolist() == [column[0] for column in before]
            assert moves.after[row].tolist() == [
                column[0] for column in after._replace(worth=np.array([worth]))
            ]
            assert moves.open[row] >> int(moves.choice[row]) & 1
            if head in PHASES:
                assert moves.choice[row] == output_of(head, action)


def test_training_games_do_not_depend_on_threads_or_rollouts() -> None:
    policy = player(("buy",))
    together, first, second = (
        play(policy, "buy", 12, threads=2),
        play(policy, "buy", 5, threads=1),
        play(policy, "buy", 7, first=5),
    )
    for column, part, rest in zip(together.moves, first.moves, second.moves, strict=True):
        assert (column == np.concatenate([part, rest])).all()


def test_chance_decides_as_often_as_told() -> None:
    policy = player(("buy",))
    always = [bias for bias in policy.arrays() if bias == "buy.3.bias"]
    # buys
    policy.set_arrays(policy.arrays() | {always[0]: np.array([-1000.0, 1000.0], np.float32)})
    for share in (0.0, 0.4, 1.0):
        declined = (play(policy, "buy", 150, share).moves.choice == 0).mean()
        assert declined == pytest.approx(share / 2, abs=0.04)


def test_what_the_parent_would_have_done_is_noted() -> None:
    moves = play(player(("downgrade",)), "downgrade", 60, 0.0).moves
    assert set(moves.other.tolist()) <= {-1, 0, 1}
    buys = OcnaruNetworks(("buy",))
    buys.set_arrays(
        {key: np.zeros_like(array) for key, array in buys.arrays().items()}
        | {"buy.3.bias": np.array([0, 1], np.float32)}
    )
    noted = play(buys, "buy", 20, 0.0).moves
    poor = (
        noted.before[:, rewards.CASH] - noted.after[:, rewards.CASH]
        > noted.before[:, rewards.CASH] - 150
    )
    # strategic declines only what would leave less than its reserve
    assert (noted.other == poor).all()


def test_rewards_of_training_games_end_with_how_they_ended() -> None:
    played = play(player(("buy",)), "buy", 30)
    plain = rewards.reward(
        "buy", rewards.Quantities.of_rows(played.moves.before),
        rewards.Quantities.of_rows(played.moves.after),
        np.ones(len(played.moves.game), np.bool_),
    )  # fmt: skip
    extra = played.rewards("buy", "thesis") - plain
    last = played.last()
    assert (extra[~last] == 0).all()
    games = played.moves.game[last]
    assert extra[last] == pytest.approx(
        np.where(played.won[games], 1.0, np.where(played.bankrupt[games], -1.0, 0.0))
    )
    assert played.won.any()
    assert played.bankrupt.any()


def test_worth_may_be_looked_at_when_the_network_is_next_asked() -> None:
    played = play(player(("mortgage",)), "mortgage", 20)
    moves, brought = played.moves, played.rewards("mortgage", "thesis", moment="asked")
    ends = dict(zip(played.numbers, played.worth, strict=True))
    for row, number in enumerate(moves.game):
        following = row + 1 < len(moves.game) and moves.game[row + 1] == number
        worth = moves.before[row + 1, rewards.WORTH] if following else ends[number]
        end = 0.0 if following else float(played.won[number]) - float(played.bankrupt[number])
        assert brought[row] == pytest.approx(
            np.clip((worth - moves.before[row, rewards.WORTH]) / 200, -1, 1) + end
        )


@pytest.mark.parametrize("head", ["buy", "downgrade"])
def test_with_a_stale_previous_state_every_reward_is_0(head: str) -> None:
    # As measured in the published program: 534 rewards of buying and 45 of selling in 25 games, all
    # 0.
    played = play(player((head,)), head, 25)
    assert len(played.moves.game) > 20
    assert (played.rewards(head, "program", stale=True) == 0).all()
    assert (played.rewards(head, "program") != 0).any()


# --- learning


def test_transitions_lead_to_the_next_decision_of_the_same_game() -> None:
    played = play(player(("upgrade",)), "upgrade", 4)
    learner = HeadLearner("upgrade", CPU, 1e-3, 0.99)
    brought = played.rewards("upgrade", "thesis")
    columns = train.transitions(learner, played, brought)
    game = played.moves.game
    for row in range(len(game)):
        following = row + 1 < len(game) and game[row + 1] == game[row]
        assert bool(columns["last"][row]) == (not following)
        assert float(columns["reward"][row]) == np.float32(brought[row])
        if following:
            assert (columns["next"][row].numpy() == played.moves.observation[row + 1]).all()
            open_ = [output for output in range(8) if not columns["closed"][row, output]]
            assert sum(1 << output for output in open_) == played.moves.open[row + 1]


def test_returns_are_discounted_sums() -> None:
    brought, last = np.array([1.0, 2.0, 4.0, 8.0]), np.array([False, True, False, True])
    assert train.returns(brought, last, 0.5).tolist() == [2.0, 2.0, 8.0, 8.0]


def filled(learner: HeadLearner, count: int, capacity: int) -> Memory:
    generator = np.random.default_rng(5)
    outputs = NETWORKS[learner.head].size
    columns = {
        "observation": torch.from_numpy(generator.normal(size=(count, 100)).astype(np.float32)),
        "choice": torch.from_numpy(generator.integers(outputs, size=count)),
        "reward": torch.from_numpy(generator.normal(size=count).astype(np.float32)),
        "last": torch.from_numpy(generator.random(count) < 0.3),
        "next": torch.from_numpy(generator.normal(size=(count, 100)).astype(np.float32)),
        "closed": torch.from_numpy(generator.random((count, outputs)) < 0.4),
    }
    memory = Memory(capacity, outputs, CPU)
    for row in range(count):
        memory.add(columns, row)
    return memory


def test_the_memory_keeps_the_last_transitions() -> None:
    learner = HeadLearner("mortgage", CPU, 1e-3, 0.99)
    memory, everything = filled(learner, 25, 10), filled(learner, 25, 25)
    kept = memory.arrays()["reward"]
    assert sorted(kept) == sorted(everything.arrays()["reward"][15:])
    again = Memory(10, 40, CPU)
    again.set_arrays(memory.arrays())
    drawn = [m.sample(np.random.default_rng(1), 6) for m in (memory, again)]
    assert all((drawn[0][name] == drawn[1][name]).all() for name in drawn[0])


def test_the_loss_is_hubers_of_a_target_among_open_outputs() -> None:
    torch.manual_seed(3)
    learner = HeadLearner("upgrade", CPU, 1e-3, 0.9)
    for number in learner.target.parameters():
        number.data += 0.05  # another than the online network
    batch = filled(learner, 40, 40).sample(np.random.default_rng(2), 16)
    with torch.no_grad():
        online, target = learner.online(batch["observation"]), learner.target(batch["next"])
    losses = []
    for row in range(16):
        goal = float(batch["reward"][row])
        if not batch["last"][row]:
            goal += 0.9 * max(
                float(value)
                for value, closed in zip(target[row], batch["closed"][row], strict=True)
                if not closed
            )
        error = abs(float(online[row, batch["choice"][row]]) - goal)
        losses.append(error**2 / 2 if error <= 1 else error - 0.5)
    assert float(learner.update(batch)[0]) == pytest.approx(np.mean(losses), rel=1e-4)


def test_a_small_problem_is_solved() -> None:
    # A chain of two decisions: output 1 pays only if the next decision is then answered by output
    # 0.
    torch.manual_seed(0)
    learner, memory = HeadLearner("fine", CPU, 1e-3, 0.99), Memory(4, 2, CPU)
    states = torch.eye(2, 100)
    columns = {
        "observation": states[[0, 0, 1, 1]],
        "choice": torch.tensor([0, 1, 0, 1]),
        "reward": torch.tensor([0.5, 0.0, 1.0, 0.0]),
        "last": torch.tensor([True, False, True, True]),
        "next": states[[1, 1, 1, 1]],
        "closed": torch.zeros(4, 2, dtype=torch.bool),
    }
    for row in range(4):
        memory.add(columns, row)
    generator = np.random.default_rng(0)
    for step in range(600):
        learner.update(memory.sample(generator, 16))
        if step % 20 == 0:
            learner.copy_to_target()
    values = learner.online(states).detach().numpy()
    assert values == pytest.approx(np.array([[0.5, 0.99], [1.0, 0.0]]), abs=0.05)


def test_epsilon_falls_to_its_end_and_the_last_quarter_is_exploitation() -> None:
    settings = OcnaruOptions()
    games = training_games(settings, "buy")
    assert games == 20_000
    assert training_games(settings, "card") == 50_000
    assert epsilon(settings, "buy", 0) == 1.0
    assert epsilon(settings, "buy", 100) == pytest.approx(0.995**100)
    assert epsilon(settings, "buy", 14_999) == 0.1
    assert epsilon(settings, "buy", 15_000) == 0.0


# --- experts


def watched(games: int) -> Experiences:
    tables = [("strategic", "strategic/cautious")]
    return Experiences.joined(
        list(
            stream(
                tables,
                games,
                rules=RULES,
                encoding="ocnaru100",
                heads=experts.HEADS,
                seed=1,
                batch=64,
            )
        )
    )


def blank(count: int) -> Experiences:
    """Experiences of which nothing is known."""
    return watched(1).take(np.zeros(count, np.int64))


def test_outcomes() -> None:
    final = np.array([9000, -400, -3000, 700, 0, 4000], np.float32)
    ended = blank(6)._replace(
        outcome=np.array([1, -1, -1, -1, 0, -1], np.float32), final_worth=final
    )
    assert experts.outcomes("buy", ended) == pytest.approx(
        [1.0, -0.7, -1.0, 700 / 3000 - 0.5, -0.5, 0.5]
    )
    assert experts.outcomes("fine", ended) == pytest.approx(
        [0.4, -0.4, -0.4, 700 / 3000 - 0.5, -0.5, 0.5]
    )


@pytest.mark.parametrize("head", NAMES)
def test_the_decisions_of_experts_are_those_that_the_network_would_be_asked(head: str) -> None:
    seen = watched(60)
    rows, choice = experts.chosen(head, seen, RULES)
    assert len(rows) > 10
    legal = np.unpackbits(seen.choices, axis=1)[:, :205].astype(bool)
    for row, output in zip(rows, choice, strict=True):
        action = int(seen.action[row])
        if head in PHASES:
            assert seen.decision[row] == WINDOW
            assert HEADS[PHASES[head]].start <= action < HEADS[PHASES[head]].stop
            assert output == output_of(head, action)
        elif head == "buy":
            assert legal[row, HEADS["buy"].start + 1]
            assert action == HEADS["buy"].start + output
        else:
            own = HEADS["jail"].start + (head == "card")
            assert legal[row, own]
            assert legal[row, HEADS["turn"].start]
            assert (action == own) == (output == 1)


@pytest.mark.parametrize("head", ["buy", "upgrade", "downgrade", "card"])
@pytest.mark.parametrize("variant", rewards.VARIANTS)
def test_bonuses_are_the_annex_with_a_worth_that_stays(head: str, variant: rewards.Variant) -> None:
    moves = play(player((head,)), head, 60).moves
    before, after = (
        rewards.Quantities.of_rows(moves.before),
        rewards.Quantities.of_rows(moves.after),
    )
    acted = moves.choice == 1 if head == "card" else np.ones(len(moves.choice), np.bool_)
    expected = rewards.reward(head, before, after._replace(worth=before.worth), acted, variant)
    experiences = blank(len(acted))._replace(
        observation=moves.observation.astype(np.float16),
        worth=moves.before[:, [rewards.WORTH, rewards.CASH]].astype(np.float32),
    )
    told = experts.bonuses(head, experiences, moves.choice, RULES, variant)
    if head == "card" and variant == "program":  # in jail the features know another danger
        told, expected = told[acted], expected[acted]
    assert len(np.unique(expected)) > 1
    assert told == pytest.approx(expected)


def test_a_pool_is_learned_when_it_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experts, "POOL", 50)
    learner, pool = HeadLearner("fine", CPU, 1e-3, 0.99), experts.Pool("fine", 0, 20)
    generator = np.random.default_rng(0)
    seen, choice, goal = (
        generator.random((130, 100)).astype(np.float16),
        generator.integers(2, size=130),
        np.ones(130, np.float32),
    )
    told = pool.add(seen, choice, goal, learner)
    assert pool.filled == 30
    assert len(told) == 2 * 3 * experts.PASSES["fine"]
    assert pool.samples == 100 * experts.PASSES["fine"]
    assert (pool.observation[:30] == seen[100:]).all()


# --- runs


def quiet() -> Console:
    return Console(file=io.StringIO())


def test_a_run_trains_and_measures_and_its_agent_can_be_loaded(tmp_path: Path) -> None:
    results = execute(
        dataclasses.replace(SMALL, out=tmp_path / "run", heads=NAMES, budget=1e-5), quiet()
    )
    policy = agents.load(results["agent"])
    assert isinstance(policy, OcnaruNetworks)
    assert policy.heads == NAMES
    assert policy.rules == RULES.changed()
    assert results["opponents"][0]["games"] == 20
    assert set(results["time"]) >= {"engine", "training", "evaluation", "checkpoints"}
    assert (
        json.loads((tmp_path / "run" / "evaluation.json").read_text())["opponents"]
        == results["opponents"]
    )
    assert {path.name for path in (tmp_path / "run" / "curves").iterdir()} == {"experts", *NAMES}
    assert len(checkpoints.paths(tmp_path / "run" / "checkpoints")) == checkpoints.KEPT


class KilledError(Exception):
    """Stands for SIGKILL."""


@pytest.mark.slow
def test_a_killed_run_ends_in_the_same_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(train, "_CHECKPOINT_COST", 1)  # after every block
    execute(dataclasses.replace(SMALL, out=tmp_path / "whole"), quiet())
    calls = 0
    advance = Report.advance

    def until_killed(self: Report, done: int, doing: str | None = None) -> None:
        nonlocal calls
        calls += 1
        if calls in (2, 5, 7):  # in the experts' games, in the first network's, in the second's
            raise KilledError
        advance(self, done, doing)

    monkeypatch.setattr(Report, "advance", until_killed)
    stopped = 0
    while True:
        try:
            execute(
                dataclasses.replace(SMALL, out=tmp_path / "parts", resume=stopped > 0, threads=1),
                quiet(),
            )
            break
        except KilledError:
            stopped += 1
    assert stopped == 3
    whole, parts = (
        agents.load(tmp_path / name / "agent.safetensors") for name in ("whole", "parts")
    )
    for key, array in whole.arrays().items():
        assert (array == parts.arrays()[key]).all(), key


def test_losses_that_are_not_finite_stop_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(experts, "outcomes", lambda head, seen: np.full(len(seen.action), np.inf))
    with pytest.raises(DivergenceError, match=r"loss of network .* in phase 1.*--learning-rate"):
        execute(dataclasses.replace(SMALL, out=tmp_path), quiet())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"budget": 0.0}, "--budget must be from"),
        ({"heads": ("buy", "buy")}, "once"),
        ({"heads": ("buyy",)}, "Unknown network 'buyy'.*buy"),
        ({"base_policy": "strategc"}, "strategic"),
        ({"experts": ("strategic", "nobody")}, "nobody"),
        ({"opponents": ()}, "--opponents must name"),
        ({"rules": "ocnaro"}, "ocnaru"),
        ({"exploitation": 1.5}, "--exploitation"),
    ],
)
def test_wrong_settings_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(me.MonopolyError, match=message):
        check(dataclasses.replace(OcnaruOptions(), **changes))


def test_every_setting_is_explained_and_shapes_or_does_not_shape_the_result() -> None:
    names = {field.name for field in dataclasses.fields(OcnaruOptions)}
    assert names - set(options.settings(OcnaruOptions())) == {
        "out",
        "resume",
        "overwrite",
        "json",
        "threads",
    }


def test_a_run_of_other_settings_is_not_resumed(tmp_path: Path) -> None:
    small = dataclasses.replace(
        SMALL, out=tmp_path / "run", heads=("card",), budget=1e-5, expert_games=0
    )
    execute(small, quiet())
    with pytest.raises(ConfigurationError, match="variant is 'program', was 'thesis'"):
        execute(dataclasses.replace(small, variant="program", resume=True), quiet())


def test_trainer_learns_nothing_from_games_without_decisions() -> None:
    settings = dataclasses.replace(SMALL, heads=("card",), expert_games=0)
    trainer = OcnaruTrainer(settings, check(settings))
    trainer.begin_stage(1)
    nothing = Played(
        range(2), Moves.empty(0), np.zeros(2, np.bool_), np.zeros(2, np.bool_), np.zeros(2)
    )
    assert len(nothing.rewards("card", "thesis")) == 0
    columns = train.transitions(trainer.learners["card"], nothing, np.zeros(0))
    assert len(columns["reward"]) == 0


# --- the report


@pytest.mark.slow
def test_an_opponent_with_stale_values_buys_nothing_and_loses() -> None:
    results = arena.play([report.stale("strategic"), "strategic"], 100, RULES, 3)
    rows = {row["name"]: row for row in results.rows()}
    assert rows["strategic, stale"]["decisions_buy"] > 20
    assert (
        sum(
            rows["strategic, stale"][key]
            for key in rows["strategic"]
            if key.startswith("purchases_")
        )
        == 0
    )
    assert rows["strategic"]["win_rate"] > 0.9
    with pytest.raises(ConfigurationError, match="not 'ocnaru/random'"):
        report.stale("ocnaru/random")


@pytest.mark.slow
def test_the_report_puts_published_figures_beside_measured_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, page = tmp_path / "agent.safetensors", tmp_path / "ocnaru.md"
    player(("buy", "mortgage", "upgrade")).save(file)
    player(("buy",)).save(tmp_path / train.AFTER_EXPERTS)
    assert report.main([str(file), "--games", "8", "--robin-games", "2", "--out", str(page)]) == 0
    assert "| ocnaru/random | win rate | 0.87; its networks 287 of 300" in capsys.readouterr().out
    rows = Page(page, "").rows("networks")
    assert {row["agent"] for row in rows} == {str(file.with_suffix(""))}
    names = {row["player"] for row in rows if row["section"] == "networks"}
    assert {"buy alone", "all", "all, upgrade gated", "all, no gates", "all, after phase 1"} < names
    assert {"mortgage alone, no gate"} < names
    robin = [row for row in rows if row["section"] == "robin"]
    assert len({row["player"] for row in robin}) == 13
    owned = [row for row in rows if row["figure"].startswith("owned: ")]
    shares = [row["value"] for row in owned if row["player"] == "strategic"]
    assert len(shares) == 8
    assert sum(shares) == pytest.approx(1, abs=1e-3)
    assert report.main([str(file), "--games", "8", "--robin-games", "2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {row["games"] for row in told if row["section"] == "fresh"} == {8}


def test_habits_are_counted_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two windows of one player, in two games: it mortgages and builds, lifts in the next."""
    actions = [A_MORTGAGE, A_BUILD, A_TURN, A_UNMORTGAGE, A_TURN] * 2
    count = len(actions)
    seen = np.zeros((count, 100), np.float16)
    green = encodings.names("ocnaru100", 2).index("group: green own share")
    seen[[4, 9], green] = 1
    rows = Experiences(
        seen, np.zeros((count, 26), np.uint8), np.array(actions, np.int16),
        np.full(count, WINDOW, np.int8), np.zeros(count, np.int8),
        np.repeat([0, 1], 5).astype(np.int32), np.ones(count, np.float32),
        np.zeros((count, 2), np.float32),
        np.zeros(count, np.float32),
    )  # fmt: skip
    monkeypatch.setattr(report, "decisions", lambda *given: [(rows, np.zeros(count, np.int64))])
    base = compiled(agents.make("strategic"))
    options_ = report.Options(Path("agent"), games=2)
    found = {row["figure"]: row["value"] for row in report.habits(base, base, options_)}
    assert found["owned: green"] == 1
    assert found["mortgages a game, without a debt"] == 1
    assert found["of these, it builds in this or the next window"] == 1
    assert found["of these, lifted later"] == 1
    assert found["windows until then, median"] == 1
    assert found["windows in which it builds"] == 0.5


def test_the_report_refuses_other_players(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agents.make("strategic").save(tmp_path / "other.safetensors")
    assert report.main([str(tmp_path / "other.safetensors")]) == 2
    assert "not one that --preset ocnaru has trained" in capsys.readouterr().err
