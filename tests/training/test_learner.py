"""The DQN and PPO learners imitate, play in a league, improve, and resume to the same bits."""

from __future__ import annotations

import errno
import io
import itertools
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from rich.console import Console

import agents
import monopoly_env as me
from agents.learned.action_space import PRICE, SIMILAR
from agents.learned.agent import LearnedAgent
from agents.learned.architectures import NAMES
from agents.players.expert.parameters import Expert
from monopoly_env.errors import ConfigurationError, FormatError
from monopoly_env.files.arrays import read_arrays, write_arrays
from training import dqn, imitation, ppo
from training.experience.choices import Choices
from training.league import DRAWN, EXPLOITERS, LEARNER, PAST, SELF, STRANGERS, League
from training.learner import Learner
from training.options import DQNOptions, LearnerOptions, PPOOptions, Setup
from training.run import checkpoints
from training.run.options import replaced
from training.run.session import DivergenceError, Session

pytestmark = pytest.mark.usefixtures("one_thread")
TINY: dict[str, Any] = {
    "imitation_steps": 2000, "steps": 9000, "rollout_games": 8, "hidden": (16,), "batch": 1024,
    "past": 2, "past_every": 1, "against": ("random",), "evaluation_games": 4, "final_games": 4,
    "evaluate_every": 4000, "opponents": (SELF, PAST, EXPLOITERS, "strategic"),
    "exploiter_every": 4000, "exploiter_steps": 500, "seed": 3,
}  # fmt: skip
Q, P = replaced(DQNOptions(), **TINY), replaced(PPOOptions(), **TINY)
ALGORITHMS: list[tuple[Any, Any]] = [(Q, dqn), (P, ppo)]
AHEAD: Any = (replaced(P, overlap=True, precision="bfloat16"), ppo)


def made(options: LearnerOptions, **changes: Any) -> Learner:
    changed = replaced(options, **changes)
    return Learner(changed, Setup.of(changed))


def expert_games(student: Learner, rollouts: int) -> Iterator[Choices]:
    """Some rollouts of the expert's games."""
    played = imitation.expert_games(
        student.model, student.setup, student.options, student.play_games
    )
    return itertools.islice(played, rollouts)


def quiet() -> Console:
    return Console(file=io.StringIO())


# --- the league


def test_the_league_seats_everyone_in_their_share_and_every_seat() -> None:
    expert, strategic = agents.make("expert"), agents.make("strategic")
    league = League([SELF, PAST, expert, strategic], num_players=3, seed=1, size=2)
    agent = LearnedAgent(3, (4,))
    policies, seats = league.seat(agent, 120, 0)
    assert policies == [agent, expert, strategic]
    assert (seats[0::4] == LEARNER).all()
    assert (seats[1::4] == LEARNER).all()  # there is no past yet
    for copy in range(3):
        league.remember(agent.drawing(0.0, f"copy {copy}"))
    policies, seats = league.seat(agent, 120, 1)
    assert [policy.name for policy in policies[1:3]] == ["copy 1", "copy 2"]
    assert set(seats[1::4].ravel()) == {0, 1, 2}
    assert ((seats[2::4] == 3).sum(axis=1) >= 1).all()
    assert ((seats[3::4] == 4).sum(axis=1) >= 1).all()
    assert ((seats == LEARNER).sum(axis=1) >= 1).all()
    assert {int(np.flatnonzero(row == LEARNER)[0]) for row in seats[2::4]} == {0, 1, 2}
    assert np.array_equal(seats, league.seat(agent, 120, 1)[1])
    assert not np.array_equal(seats, league.seat(agent, 120, 2)[1])


def test_exploiters_sit_in_their_games_and_are_kept_in_a_checkpoint() -> None:
    league = League([EXPLOITERS, agents.make("expert")], num_players=2, seed=1, size=2)
    agent = LearnedAgent(2, (4,))
    assert (league.seat(agent, 8, 0)[1][0::2] == LEARNER).all()  # there are none yet
    league.remember(agent.drawing(0.0, PAST))
    for number in range(3):
        made = agent.drawing(0.0, f"exploiter {number}")
        made.set_arrays({name: array + np.float32(number) for name, array in made.arrays().items()})
        league.challenge(made)
    policies, seats = league.seat(agent, 64, 1)
    assert [policy.name for policy in policies] == [
        "networks",
        PAST,
        "exploiter 1",
        "exploiter 2",
        "expert",
    ]
    assert set(seats[0::2].ravel()) == {LEARNER, 2, 3}
    assert set(seats[1::2].ravel()) == {LEARNER, 4}
    resumed = League([EXPLOITERS], num_players=2, seed=1, size=2)
    resumed.set_arrays(league.arrays(), agent)
    assert len(resumed.past) == 1
    assert [next(iter(other.arrays().values()))[0, 0] for other in resumed.exploiters] == [1, 2]


def test_strangers_are_drawn_anew_for_each_rollout_and_sit_in_their_games() -> None:
    league = League([STRANGERS, agents.make("expert")], num_players=3, seed=1, size=2)
    agent = LearnedAgent(3, (4,))
    policies, seats = league.seat(agent, 128, 0)
    names = [policy.name for policy in policies]
    assert len(names) == 1 + DRAWN + 1
    assert all(name.startswith("strangers/train/") for name in names[1:-1])
    assert set(seats[0::2].ravel()) == set(range(1 + DRAWN))
    assert set(seats[1::2].ravel()) == {LEARNER, 1 + DRAWN}
    assert names == [policy.name for policy in league.seat(agent, 128, 0)[0]]
    again = [policy.name for policy in league.seat(agent, 128, 1)[0]]
    assert not set(names[1:-1]) & set(again)


def test_scripted_opponents_vary_in_every_other_rollout_and_stay_within_their_ranges() -> None:
    expert, bargaining = agents.make("expert"), agents.make("expert/bargaining")
    league = League([expert, bargaining], num_players=2, seed=1, size=2, parameter_noise=1.0)
    agent = LearnedAgent(2, (4,))
    assert league.seat(agent, 4, 0)[0][1] is expert
    policies, seats = league.seat(agent, 64, 1)
    assert policies[2] is bargaining  # of several rows: it stays as it is
    assert policies[1].name == "expert"
    assert not np.isclose(policies[1].params, expert.params).any()
    assert expert.params.tolist() == agents.make("expert").params.tolist()
    assert {1, 2} <= set(seats.ravel())
    again = league.seat(agent, 64, 1)[0][1].params
    assert (
        policies[1].params.tolist()
        == again.tolist()
        != league.seat(agent, 64, 3)[0][1].params.tolist()
    )
    for number in range(1, 41, 2):  # far from the defaults, and yet within their ranges
        row = league.seat(agent, 4, number)[0][1].params.tolist()
        Expert.checked(**dict(zip(Expert.columns()._fields, row, strict=True)))


# --- learning


@pytest.mark.parametrize("options", [Q, P])
def test_imitation_teaches_the_experts_actions_and_the_outcomes(options: Any) -> None:
    student = made(
        options, rollout_games=12, learning_rate=1e-3, batch=512, epochs=1, imitation_steps=10**9
    )
    first, *_, last = (
        imitation.update(student.model, demonstrations, student.options)
        for demonstrations in expert_games(student, 3)
    )
    assert last["imitation/agreement"] > first["imitation/agreement"]
    assert last["imitation/agreement"] > 0.6
    assert student.model.learned > 0


@pytest.mark.parametrize(("options", "module"), ALGORITHMS)
def test_what_wins_becomes_likelier(options: Any, module: Any) -> None:
    """Every game is won by those who bought at their first chance, as the data say.

    Buying is what is learned.
    """
    student = made(options, learning_rate=3e-3, batch=256, epochs=8, td_lambda=1.0)
    before = None
    for _ in range(3):
        rollout = student.play()
        buys = rollout.choice == 1
        rollout = rollout._replace(
            outcome=np.where(buys, 1.0, 0.0).astype(np.float32),
            game=np.arange(rollout.size, dtype=np.int32),
        )
        rows = np.flatnonzero(rollout.network == 0)
        module.update(student, rollout.take(rows))
        share = buys[rows].mean()
        before = share if before is None else before
    rows = np.flatnonzero((last := student.play()).network == 0)
    assert (last.choice[rows] == 1).mean() > max(0.8, before)


@pytest.mark.parametrize(("options", "module"), ALGORITHMS)
def test_a_loss_that_is_not_finite_stops_and_leaves_the_networks(options: Any, module: Any) -> None:
    student = made(options, threads=1)
    rollout, before = student.play(), student.agent().arrays()
    student.model.learned = 1234
    nowhere = np.full_like(rollout.outcome, np.nan)
    with pytest.raises(DivergenceError, match=r"The loss is nan after 1,234 decisions\. Try a low"):
        module.update(student, rollout._replace(outcome=nowhere))
    assert all(
        np.array_equal(array, before[name]) for name, array in student.agent().arrays().items()
    )


def test_unseen_actions_are_initialised_from_similar_ones() -> None:
    student = made(P, rollout_games=12)
    spec, seen = student.model.spec, np.zeros(student.model.spec.num_actions, np.int64)
    (demonstrations,) = expert_games(student, 1)
    imitation.update(student.model, demonstrations, student.options)
    seen += np.bincount(demonstrations.choice, minlength=len(seen))
    before = student.agent().arrays()["price.1.weight"]
    student.model.initialise_unseen(seen)
    layer = student.agent().arrays()["price.1.weight"]
    unseen = [action for action in SIMILAR if not seen[action]]
    assert unseen  # `expert` goes by its own limit
    for action, similar in spec.similar.items():
        row, other = 1 + action - PRICE, 1 + similar - PRICE
        assert np.array_equal(layer[row], before[other if action in unseen else row])
        assert not np.array_equal(before[row], before[other])
    numbers = torch.arange(len(layer))[:, None].float()
    student.model.networks["price"].last.weight.data[:] = numbers
    student.model.initialise_unseen(np.ones_like(seen))
    # an action that was imitated keeps its weights
    assert student.agent().arrays()["price.1.weight"][:, 0].tolist() == list(range(len(layer)))


def test_an_exploiter_starts_from_the_learner_and_plays_against_it_alone() -> None:
    student = made(P, exploiter_steps=1500)
    before = {name: array.copy() for name, array in student.agent().arrays().items()}
    drawn = torch.get_rng_state()
    assert 0 <= student.train_exploiter(ppo.update)["exploiter won"] <= 1
    (exploiter,) = student.league.exploiters
    assert all(
        np.array_equal(array, before[name]) for name, array in student.agent().arrays().items()
    )
    assert torch.equal(drawn, torch.get_rng_state())
    moved = [
        float(np.abs(exploiter.arrays()[name] - array).mean())
        for name, array in before.items()
        if name.startswith("turn")
    ]
    assert 0 < max(moved) < 0.05  # it began there


def test_exploiters_are_trained_where_the_options_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained: list[int] = []
    monkeypatch.setattr(
        Learner, "train_exploiter", lambda self, update: trained.append(self.step) or {}
    )
    options = replaced(
        P, imitation_steps=0, steps=6000, evaluate_every=10**6, exploiter_every=3000,
        evaluation_games=2, final_games=2, rollout_games=2, opponents=(EXPLOITERS,),
    )  # fmt: skip
    ppo.execute(replaced(options, out=tmp_path / "with"), quiet())
    periods = [step // 3000 for step in trained]
    assert periods == sorted(set(periods) - {0})
    assert periods
    ppo.execute(replaced(options, out=tmp_path / "without", opponents=(SELF,)), quiet())
    assert len(trained) == len(periods)


def saved(path: Path, training_temperature: float | None, hidden: tuple[int, ...] = (8,)) -> str:
    """An agent of any networks, in a file."""
    generator, agent = (
        np.random.default_rng(5),
        LearnedAgent(2, hidden, training_temperature=training_temperature),
    )
    agent.set_arrays(
        {
            name: generator.normal(0, 0.05, array.shape).astype(np.float32)
            for name, array in agent.arrays().items()
        }
    )
    agent.save(path)
    return str(path)


def test_an_exploiter_has_the_layers_of_an_agent_that_was_given(tmp_path: Path) -> None:
    start = saved(tmp_path / "small.safetensors", 1.0)
    student = made(P, start=start, hidden=(16,))
    student.train_exploiter(ppo.update)
    assert [exploiter.hidden for exploiter in student.league.exploiters] == [(8,)]


@pytest.mark.parametrize(
    ("temperature", "scale"), [(0.1, (1.0, 10.0)), (1.0, (0.1, 1.0)), (None, (1.0, 1.0))]
)
def test_an_agent_draws_the_same_actions_when_it_learns_on(
    temperature: float | None, scale: tuple[float, float], tmp_path: Path
) -> None:
    start = saved(tmp_path / "agent.safetensors", temperature)
    given = agents.load(start)
    assert isinstance(given, LearnedAgent)
    for options, by in zip((Q, P), scale, strict=True):
        student = made(options, start=start)
        agent, layer = student.agent(), "turn.1.weight"
        assert isinstance(agent, LearnedAgent)
        assert agent.training_temperature == options.temperature
        # the value of the state
        assert np.array_equal(agent.arrays()[layer][0], given.arrays()[layer][0])
        assert np.allclose(agent.arrays()[layer][1:], by * given.arrays()[layer][1:], rtol=1e-6)
        assert all(
            np.array_equal(agent.arrays()[name], array)
            for name, array in given.arrays().items()
            if name.startswith("state")
        )
        if temperature:
            game = me.new_game(2, seed=1)
            assert np.allclose(
                agent.probabilities(game.reshape(1)),
                given.probabilities(game.reshape(1)),
                atol=1e-6,
            )


def test_steps_that_no_decisions_are_left_for_are_passed_over() -> None:
    student = made(Q, batch=4, imitation_steps=1, epochs=1)
    rollout, before = student.play().take(np.arange(8)), student.agent().arrays()
    assert len(student.model.batches(rollout, rollout.outcome)) > 1
    imitation.update(student.model, rollout, student.options)  # minibatches of one decision
    assert any(
        not np.array_equal(array, before[name]) for name, array in student.agent().arrays().items()
    )


SHORT: Any = replaced(Q, imitation_steps=0, steps=1, evaluation_games=2, final_games=2)


def test_a_resumed_run_must_meet_the_same_files(tmp_path: Path) -> None:
    other = saved(tmp_path / "other.safetensors", 1.0)
    options = replaced(SHORT, opponents=(other,), out=tmp_path / "run")
    dqn.execute(options, quiet())
    saved(Path(other), None)
    with pytest.raises(ConfigurationError, match="files"):
        dqn.execute(replaced(options, resume=True), quiet())


def test_a_run_goes_on_where_it_began(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = replaced(SHORT, device="auto", out=tmp_path / "run")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    dqn.execute(options, quiet())
    with pytest.raises(ConfigurationError, match="torch finds no GPU here"):
        dqn.execute(replaced(options, device="cuda", resume=True), quiet())
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.nn.Module, "to", lambda module, device: module)
    with pytest.raises(ConfigurationError, match="device is 'cuda', was 'cpu'"):
        dqn.execute(replaced(options, resume=True), quiet())


def test_networks_of_another_size_in_a_checkpoint_are_refused(tmp_path: Path) -> None:
    options = replaced(SHORT, out=tmp_path / "run")
    dqn.execute(options, quiet())
    (last,) = checkpoints.paths(tmp_path / "run" / "checkpoints")[-1:]
    arrays = read_arrays(last / "networks.npz")
    write_arrays(last / "networks.npz", arrays | {"buy.0.weight": np.zeros((3, 3), np.float32)})
    with pytest.raises(FormatError, match="is damaged"):
        dqn.execute(replaced(options, resume=True), quiet())


@pytest.mark.parametrize(("step", "same"), [(0, False), (P.steps, True)])
def test_the_weight_of_entropy_falls_to_nothing_at_the_end(step: int, same: bool) -> None:
    rows = []
    for weight in (0.0, 1.0):  # one after the other: both draw from the generator of PyTorch
        learner = made(P, opponents=("strategic",), entropy_weight=weight)
        rollout = learner.play()
        learner.step = step
        ppo.update(learner, rollout)
        rows.append(learner.agent().params.tobytes())
    assert (rows[0] == rows[1]) == same


def test_a_rollout_is_prefetched_by_the_networks_before_and_none_before_a_checkpoint() -> None:
    options = replaced(P, opponents=("strategic",), rollout_games=4)
    still, ahead = made(options), made(options, overlap=True)
    # of the same networks: it has not learned in between
    first, second = (still.play(), still.play())
    assert ahead.play().choice.tolist() == first.choice.tolist()
    ppo.update(ahead, first)
    played = ahead.play()
    assert played.choice.tolist() == second.choice.tolist()
    assert ahead.played_by is not ahead.model.networks
    blank = np.zeros(played.size, np.float32)
    of_players, of_today, of_others = (
        float(learner.model.compared(played, blank, blank, old, 1.0)["buy"].old_log_pi.sum())
        for learner, old in (
            (ahead, ahead.played_by),
            (ahead, ahead.model.networks),
            (still, still.model.networks),
        )
    )
    assert of_players == of_others != of_today
    with pytest.MonkeyPatch.context() as patch:  # PPO compares with those that played
        compared: list[Any] = []
        spy = lambda *given: compared.append(given[3]) or {}  # noqa: E731
        for learner, module in ((ahead, ppo), (made(Q, overlap=True), dqn)):
            rollout = learner.play()
            patch.setattr(learner.model, "compared", spy)
            patch.setattr(learner.model, "fit", lambda *_, **__: {})
            module.update(learner, rollout)
            assert compared.pop() is (
                learner.played_by if module is ppo else learner.model.networks
            )
    ahead = made(options, overlap=True, steps=10**6, evaluate_every=1)
    ahead.play()
    assert ahead.rollouts == 1  # a checkpoint follows
    ahead = made(options, overlap=True, steps=10**6, evaluate_every=10**6)
    ahead.play()
    assert ahead.rollouts == 2


@pytest.mark.parametrize(("options", "module"), ALGORITHMS)
def test_half_of_the_digits_say_nearly_the_same(options: Any, module: Any) -> None:
    whole, half = made(options), made(options, precision="bfloat16")
    rollout = whole.play()
    values = [learner.model.values(rollout.observation) for learner in (whole, half)]
    assert values[0].tolist() != values[1].tolist()
    assert np.abs(values[0] - values[1]).max() < 0.01
    module.update(half, rollout)
    assert all(array.dtype == np.float32 for array in half.agent().arrays().values())


@pytest.mark.parametrize("options", [Q, P])
def test_the_score_decides_games_that_go_on(options: Any) -> None:
    whole, cut = made(options).play(), made(options, turn_limit=10).play()
    assert cut.size < whole.size
    assert set(np.unique(cut.game)) <= set(np.unique(whole.game))
    for game in np.unique(cut.game):
        mine, same = (rollout.take(rollout.game == game) for rollout in (cut, whole))
        assert mine.choice.tolist() == same.choice[: mine.size].tolist()
        assert set(mine.outcome.tolist()) <= {0.0, 0.5, 1.0}


# --- runs


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "module", "killed_after"),
    [*((*row, (1, 2, 3, 4)) for row in ALGORITHMS), (*AHEAD, (2,))],
)
def test_a_run_that_was_killed_and_resumed_ends_in_the_same_bits(
    options: Any, module: Any, killed_after: tuple[int, ...], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Each checkpoint leaves a copy of the folder: what a process killed there would leave."""
    whole, saved, save = tmp_path / "whole", itertools.count(1), Session.save

    def copied(session: Any, *arguments: Any) -> None:
        save(session, *arguments)
        shutil.copytree(whole, tmp_path / f"killed {next(saved)}")

    with monkeypatch.context() as patch:
        patch.setattr(Session, "save", copied)
        expected = module.execute(replaced(options, out=whole), quiet())
    agent = (whole / "agent.safetensors").read_bytes()
    assert options.algorithm in agent.decode("latin-1")
    for after in killed_after:
        parts = tmp_path / f"killed {after}"
        # a run that was stopped leaves the agent of that checkpoint
        checkpoint, _ = checkpoints.read_last(parts / "checkpoints")
        stopped = agents.load(parts / "agent.safetensors").arrays()
        assert all(
            np.array_equal(array, stopped[name]) for name, array in checkpoint["networks"].items()
        )
        results = module.execute(replaced(options, out=parts, resume=True, threads=1), quiet())
        assert (parts / "agent.safetensors").read_bytes() == agent, after
        assert [row["title"] for row in results["stages"]] == [
            "untrained",
            "after imitating expert",
            "after self-play",
        ]
        for one, other in zip(results["stages"], expected["stages"], strict=True):
            assert [row["wins"] for row in one["opponents"]] == [
                row["wins"] for row in other["opponents"]
            ]


def test_what_a_run_leaves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = (
        "--imitation-steps 2000 --steps 2000 --rollout-games 4 --hidden 8 --evaluation-games 2"
        " --final-games 2 --opponents self strategic --against random --out"
    )
    words = line.split()
    assert dqn.main([*words, str(tmp_path / "run"), "--json"]) == 0
    shown = capsys.readouterr()
    results = json.loads(shown.out)
    assert len(results["stages"]) == 3
    assert "decisions, rounded up to whole rollouts of 4 games," in " ".join(shown.err.split())
    agent = agents.load(tmp_path / "run" / "agent.safetensors")
    assert isinstance(agent, LearnedAgent)
    assert agents.arena.play([agent, "random"], games=2, rules="ocnaru").games == 2
    assert list((tmp_path / "run" / "curves").rglob("events.*"))
    words += [str(tmp_path / "more"), "--start", str(tmp_path / "run" / "agent.safetensors")]
    words[words.index("--hidden") + 1] = "16"
    assert dqn.main(words) == 0  # and its networks can be trained further, as large as they are
    assert "asgiven" in "".join(capsys.readouterr().out.split())  # the cell may be folded
    assert agents.load(tmp_path / "more" / "agent.safetensors").hidden == (8,)


def test_a_full_disk_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array", full)
    line = "--steps 1 --expert none --rollout-games 10 --hidden 8 --against random"
    words = [*line.split(), "--evaluation-games", "2", "--out", str(tmp_path / "run")]
    assert ppo.main(words) == 2
    assert "No space left on device. Fix that, then --resume." in capsys.readouterr().err
    assert not list((tmp_path / "run" / "checkpoints").iterdir())


@pytest.mark.parametrize("players", [3, 4])
def test_official_rules_with_more_players(players: int, tmp_path: Path) -> None:
    """Trades and auctions at larger tables; the league takes a saved agent."""
    options = replaced(
        P, rules="official", num_players=players, imitation_steps=1500, steps=1500,
        turn_limit=60, final_games=6, out=tmp_path / "first", opponents=("expert", "strategic"),
    )  # fmt: skip
    results = ppo.execute(options, quiet())
    assert [row["games"] for stage in results["stages"] for row in stage["opponents"]] == [4, 6, 6]
    saved = str(tmp_path / "first" / "agent.safetensors")
    rollout = made(options, opponents=(SELF, saved)).play()
    names = {NAMES[number] for number in np.unique(rollout.network)}
    assert {"buy", "bid", "turn", "reply"} <= names
    assert names & {"ask", "give", "price"}
    shares = [
        rollout.outcome[(rollout.game == game) & (rollout.player == seat)]
        for game in (0, 1)
        for seat in range(players)
    ]
    assert all(len(set(share.tolist())) == 1 for share in shares if len(share))
    # it sits at smaller tables, too
    assert made(options, num_players=players - 1, opponents=(saved,)).play().size
    with pytest.raises(ConfigurationError, match=f"plays at tables of {players}, not of 2"):
        Setup.of(replaced(P, start=saved))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"against": ()}, "--against must not be empty"),
        ({"opponents": ("self", "human")}, "not compiled"),
        ({"num_players": 5}, "from 2 to 4, not 5"),
        ({"td_lambda": 1.5}, "--td-lambda must be from 0 to 1"),
        ({"start": "expert"}, "no agent whose networks"),
        (
            {"against": ("ppo/best/ocnaru",), "num_players": 3},
            "'ppo/best/ocnaru' plays at tables of 2, not of 3",
        ),
        ({"exploiter_every": 0}, "--exploiter-every must be 1 or more"),
        ({"parameter_noise": -0.1}, "--parameter-noise must be from 0 to 2"),
        ({"rollout_games": 7}, "--rollout-games 7: a rollout needs 8 games or more"),
    ],
)
def test_wrong_options_are_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        Setup.of(replaced(Q, **change))
