"""The learners of choices.

They watch, they play in a league, they improve, and they resume to the same bits.
"""

from __future__ import annotations

import dataclasses
import io
import itertools
import json
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
from training import dqn, learner_options, phases, ppo
from training.dqn import DQN, DQNOptions
from training.league import EXPLOITERS, LEARNER, PAST, SELF, League
from training.learner import ChoiceLearner, Part
from training.ppo import PPO, PPOOptions
from training.run import checkpoints

pytestmark = pytest.mark.usefixtures("one_thread")
TINY: dict[str, Any] = {
    "watch": 6000, "steps": 9000, "block_games": 8, "hidden": (16,), "batch": 1024, "past": 2,
    "past_every": 1, "panel": ("random",),
    "panel_games": 4, "final_games": 4, "evaluate_every": 4000,
    "opponents": (SELF, PAST, EXPLOITERS, "strategic"),
    "exploit_every": 4000, "exploit_steps": 500, "seed": 3,
}  # fmt: skip
LEARNERS = [(DQN, DQNOptions(**TINY), dqn), (PPO, PPOOptions(**TINY), ppo)]
AHEAD: Any = (PPO, PPOOptions(**TINY, overlap=True, precision="bfloat16"), ppo)


def made(kind: type[ChoiceLearner], options: Any) -> Any:
    return kind(options, learner_options.check(options, {}))


def quiet() -> Console:
    return Console(file=io.StringIO())


# --- the league


def test_the_league_seats_everyone_in_their_share_and_every_seat() -> None:
    expert, strategic = agents.make("expert"), agents.make("strategic")
    league = League([SELF, PAST, expert, strategic], num_players=3, seed=1, kept=2)
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
    league = League([EXPLOITERS, agents.make("expert")], num_players=2, seed=1, kept=2)
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
    resumed = League([EXPLOITERS], num_players=2, seed=1, kept=2)
    resumed.set_arrays(league.arrays(), agent)
    assert len(resumed.past) == 1
    assert [next(iter(other.arrays().values()))[0, 0] for other in resumed.exploiters] == [1, 2]


def test_scripted_opponents_vary_in_every_other_block_and_stay_within_their_ranges() -> None:
    expert, bargaining = agents.make("expert"), agents.make("expert/bargaining")
    league = League([expert, bargaining], num_players=2, seed=1, kept=2, spread=1.0)
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
    for block in range(1, 41, 2):  # far from the defaults, and yet within their ranges
        row = league.seat(agent, 4, block)[0][1].params.tolist()
        Expert.checked(**dict(zip(Expert.columns()._fields, row, strict=True)))


# --- losses


def batch(**given: Any) -> Part:
    columns: dict[str, Any] = {
        "observation": [[0.0]], "open": [[True, True, False]], "choice": [1], "score": [0.0],
        "advantage": [0.25], "goal": [0.5],
    }  # fmt: skip
    return Part(**{name: torch.tensor(column) for name, column in (columns | given).items()})


SCORES = torch.tensor([[0.0, 0.1, -1e9]])


def test_q_losses_by_hand() -> None:
    q = made(DQN, dataclasses.replace(LEARNERS[0][1], temperature=0.05, munchausen=0.5))
    logs = torch.log_softmax(torch.tensor([0.0, 0.1]) / 0.05, 0)
    loss, report = q.watching(batch(), SCORES)
    assert report["watching/agreement"].item() == 1
    assert loss.item() == pytest.approx(-logs[1].item())
    loss, report = q.watching(batch(choice=[0]), SCORES)
    assert report["watching/agreement"].item() == 0
    assert loss.item() == pytest.approx(-logs[0].item())
    # exp(A / temperature) sums to 1
    assert q.score(SCORES, torch.tensor([1])).item() == pytest.approx(0.05 * logs[1].item())
    q.spread = 0.2
    loss, _ = q.learning(batch(score=[-0.3]), SCORES)
    assert loss.item() == pytest.approx(
        (0.05 * logs[1].item() - (0.25 + 0.5 * -0.3)) ** 2 / (2 * 0.05 * 0.2)
    )


def test_ppo_losses_by_hand() -> None:
    p = made(PPO, dataclasses.replace(LEARNERS[1][1], clip=0.2, entropy_weight=0.0))
    logs = torch.log_softmax(torch.tensor([0.0, 0.1]), 0)
    loss, _ = p.watching(batch(), SCORES)
    assert loss.item() == pytest.approx(-logs[1].item())
    old = logs[1].item() - 1.0  # the choice has become likelier by e: that counts up to the clip
    loss, report = p.learning(batch(score=[old]), SCORES)
    assert loss.item() == pytest.approx(-1.2 * 0.25)
    assert report["clipped"].item() == 1
    loss, _ = p.learning(batch(score=[old], advantage=[-0.25]), SCORES)
    assert loss.item() == pytest.approx(np.e * 0.25, rel=1e-5)
    p = made(PPO, dataclasses.replace(LEARNERS[1][1], entropy_weight=0.5))
    loss, report = p.learning(batch(score=[logs[1].item()], advantage=[0.0]), SCORES)
    assert loss.item() == pytest.approx(0.5 * (logs.exp() * logs).sum().item())


# --- learning


@pytest.mark.parametrize(("kind", "options", "_module"), LEARNERS)
def test_watching_teaches_the_experts_choices_and_the_outcomes(
    kind: type[ChoiceLearner], options: Any, _module: Any
) -> None:
    student = made(
        kind, dataclasses.replace(options, block_games=12, learning_rate=1e-3, batch=512, epochs=1)
    )
    first = student.watch()
    for _ in range(4):
        last = student.watch()
    assert last["watching/agreement"] > first["watching/agreement"]
    assert last["watching/agreement"] > 0.6
    assert student.watched > 0


@pytest.mark.parametrize(("kind", "options", "_module"), LEARNERS)
def test_what_wins_becomes_likelier(kind: type[ChoiceLearner], options: Any, _module: Any) -> None:
    """Every game is won by those who bought at their first chance, as the data say.

    Buying is what is learned.
    """
    student = made(
        kind, dataclasses.replace(options, learning_rate=3e-3, batch=256, epochs=8, td_lambda=1.0)
    )
    before = None
    for _ in range(3):
        choices = student.play()
        buys = choices.choice == 1
        choices = choices._replace(
            outcome=np.where(buys, 1.0, 0.0).astype(np.float32),
            game=np.arange(choices.size, dtype=np.int32),
        )
        rows = np.flatnonzero(choices.network == 0)
        student.learn(choices.take(rows))
        share = buys[rows].mean()
        before = share if before is None else before
    rows = np.flatnonzero((last := student.play()).network == 0)
    assert (last.choice[rows] == 1).mean() > max(0.8, before)


def test_a_choice_that_no_expert_makes_starts_as_its_like() -> None:
    student = made(PPO, dataclasses.replace(LEARNERS[1][1], block_games=12))
    student.watch()
    before = student.agent().arrays()["price.1.weight"]
    student.introduce()
    layer = student.agent().arrays()["price.1.weight"]
    unseen = [choice for choice in SIMILAR if not student._made[choice]]
    assert unseen  # `expert` goes by its own limit
    for choice, like in SIMILAR.items():
        row, other = 1 + choice - PRICE, 1 + like - PRICE
        assert np.array_equal(layer[row], before[other if choice in unseen else row])
        assert not np.array_equal(before[row], before[other])
    student._made[:] = 1
    student.networks["price"].last.weight.data[:] = torch.arange(len(layer))[:, None].float()
    student.introduce()
    # a choice that was made keeps its weights
    assert student.agent().arrays()["price.1.weight"][:, 0].tolist() == list(range(len(layer)))


def test_an_exploiter_starts_from_the_learner_and_plays_against_it_alone() -> None:
    student = made(PPO, dataclasses.replace(LEARNERS[1][1], exploit_steps=1500))
    student.step = 4500
    assert student.exploit_due(3900)
    assert not student.exploit_due(4100)
    before, drawn = (
        {name: array.copy() for name, array in student.agent().arrays().items()},
        torch.get_rng_state(),
    )
    assert 0 <= student.exploit()["exploiter won"] <= 1
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
    without = made(PPO, dataclasses.replace(LEARNERS[1][1], opponents=(SELF,)))
    without.step = 4500
    assert not without.exploit_due(0)


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
    student = made(PPO, dataclasses.replace(LEARNERS[1][1], start=start, hidden=(16,)))
    student.exploit()
    assert [exploiter.hidden for exploiter in student.league.exploiters] == [(8,)]


@pytest.mark.parametrize(
    ("training_temperature", "scale"), [(0.1, (1.0, 10.0)), (1.0, (0.1, 1.0)), (None, (1.0, 1.0))]
)
def test_an_agent_draws_the_same_choices_when_it_learns_on(
    training_temperature: float | None, scale: tuple[float, float], tmp_path: Path
) -> None:
    start = saved(tmp_path / "agent.safetensors", training_temperature)
    given = agents.load(start)
    assert isinstance(given, LearnedAgent)
    for (kind, options, _), by in zip(LEARNERS, scale, strict=True):
        student = made(kind, dataclasses.replace(options, start=start))
        agent, layer = student.agent(), "turn.1.weight"
        assert agent.training_temperature == student.temperature
        # the value of the state
        assert np.array_equal(agent.arrays()[layer][0], given.arrays()[layer][0])
        assert np.allclose(agent.arrays()[layer][1:], by * given.arrays()[layer][1:], rtol=1e-6)
        assert all(
            np.array_equal(agent.arrays()[name], array)
            for name, array in given.arrays().items()
            if name.startswith("state")
        )
        if training_temperature:
            game = me.new_game(2, seed=1)
            assert np.allclose(
                agent.probabilities(game.reshape(1)),
                given.probabilities(game.reshape(1)),
                atol=1e-6,
            )


def test_steps_that_no_choices_are_left_for_are_passed_over() -> None:
    student = made(
        DQN, dataclasses.replace(LEARNERS[0][1], batch=4, watch=1, block_games=8, epochs=1)
    )
    choices = student.play().take(np.arange(8))
    parts = {name: part for name, (_, part) in student.parts_of(choices, choices.outcome).items()}
    assert len(parts) > 1
    before = student.agent().arrays()
    student._descend(parts, student.watching, choices.observation, choices.outcome, 1)
    assert any(
        not np.array_equal(array, before[name]) for name, array in student.agent().arrays().items()
    )


def test_a_resumed_run_must_meet_the_same_files(tmp_path: Path) -> None:
    other = saved(tmp_path / "other.safetensors", 1.0)
    options = dataclasses.replace(
        LEARNERS[0][1],
        opponents=(other,),
        watch=0,
        steps=1,
        panel_games=2,
        final_games=2,
        out=tmp_path / "run",
    )
    dqn.execute(options, quiet())
    saved(Path(other), None)
    with pytest.raises(ConfigurationError, match="files"):
        dqn.execute(dataclasses.replace(options, resume=True), quiet())


def test_networks_of_another_size_in_a_checkpoint_are_refused(tmp_path: Path) -> None:
    options = dataclasses.replace(
        LEARNERS[0][1], watch=0, steps=1, panel_games=2, final_games=2, out=tmp_path / "run"
    )
    dqn.execute(options, quiet())
    (last,) = checkpoints.paths(tmp_path / "run" / "checkpoints")[-1:]
    arrays = read_arrays(last / "networks.npz")
    write_arrays(last / "networks.npz", arrays | {"buy.0.weight": np.zeros((3, 3), np.float32)})
    with pytest.raises(FormatError, match="is damaged"):
        dqn.execute(dataclasses.replace(options, resume=True), quiet())


def test_a_block_is_played_ahead_by_the_networks_before_and_none_ahead_of_a_checkpoint() -> None:
    options = dataclasses.replace(LEARNERS[1][1], opponents=("strategic",), block_games=4)
    still, ahead = made(PPO, options), made(PPO, dataclasses.replace(options, overlap=True))
    # of the same networks: it has not learned in between
    first, second = (still.play(), still.play())
    assert ahead.play().choice.tolist() == first.choice.tolist()
    ahead.learn(first)
    played = ahead.play()
    assert played.choice.tolist() == second.choice.tolist()
    part = next(iter(ahead.parts_of(played, played.outcome).values()))[1]
    judged = [
        one._judged("buy", part, np.zeros(len(part.choice), np.float32)) for one in (still, ahead)
    ]
    ahead.players = ahead.networks
    # what the networks that played gave the choices, not those of today
    assert len({float(one.score.sum()) for one in judged}) == 1
    assert float(
        ahead._judged("buy", part, np.zeros(len(part.choice), np.float32)).score.sum()
    ) != float(judged[0].score.sum())
    values = made(DQN, dataclasses.replace(LEARNERS[0][1], overlap=True))
    values.play()
    # a Q-learner keeps what it has learned since
    assert values.compared is values.networks is not values.players
    ahead.step = options.evaluate_every - 1
    assert ahead._pauses_after(1)
    assert not ahead._pauses_after(0)
    ahead.play()
    assert ahead._ahead is None


@pytest.mark.parametrize(("kind", "options", "_module"), LEARNERS)
def test_half_of_the_digits_say_nearly_the_same(
    kind: type[ChoiceLearner], options: Any, _module: Any
) -> None:
    whole = made(kind, options)
    half = made(kind, dataclasses.replace(options, precision="bfloat16"))
    choices = whole.play()
    values = whole.values(choices.observation), half.values(choices.observation)
    assert values[0].tolist() != values[1].tolist()
    assert np.abs(values[0] - values[1]).max() < 0.01
    half.learn(choices)
    assert all(array.dtype == np.float32 for array in half.agent().arrays().values())


@pytest.mark.parametrize(("kind", "options", "_module"), LEARNERS)
def test_the_score_decides_games_that_go_on(
    kind: type[ChoiceLearner], options: Any, _module: Any
) -> None:
    whole = made(kind, options).play()
    cut = made(kind, dataclasses.replace(options, turn_limit=10)).play()
    assert cut.size < whole.size
    assert set(np.unique(cut.game)) <= set(np.unique(whole.game))
    for game in np.unique(cut.game):
        mine, same = (choices.take(choices.game == game) for choices in (cut, whole))
        assert mine.choice.tolist() == same.choice[: mine.size].tolist()
        assert set(mine.outcome.tolist()) <= {0.0, 0.5, 1.0}


# --- runs


class KilledError(Exception):
    """The process was killed."""


@pytest.mark.parametrize(
    ("kind", "options", "module", "after"),
    [*((*row, after) for row in LEARNERS for after in (1, 2, 4)), (*AHEAD, 2)],
)
def test_a_run_that_was_killed_and_resumed_ends_in_the_same_bits(
    kind: type[ChoiceLearner],
    options: Any,
    module: Any,
    after: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole, parts = (
        dataclasses.replace(options, out=tmp_path / name) for name in ("whole", "parts")
    )
    expected = module.execute(whole, quiet())
    saved, save = itertools.count(1), phases.Session.save

    def killed(session: Any, *arguments: Any) -> None:
        save(session, *arguments)
        if next(saved) == after:
            raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(phases.Session, "save", killed)
        with pytest.raises(KilledError):
            module.execute(parts, quiet())
    checkpoint, _ = checkpoints.read_last(tmp_path / "parts" / "checkpoints")
    # a run that was stopped leaves the agent of that checkpoint
    stopped = agents.load(tmp_path / "parts" / "agent.safetensors").arrays()
    assert all(
        np.array_equal(array, stopped[name]) for name, array in checkpoint["networks"].items()
    )
    results = module.execute(dataclasses.replace(parts, resume=True, threads=1), quiet())
    assert (tmp_path / "parts" / "agent.safetensors").read_bytes() == (
        tmp_path / "whole" / "agent.safetensors"
    ).read_bytes()
    assert [row["title"] for row in results["stages"]] == [
        "untrained",
        "after watching expert",
        "after own games",
    ]
    for one, other in zip(results["stages"], expected["stages"], strict=True):
        assert [row["wins"] for row in one["opponents"]] == [
            row["wins"] for row in other["opponents"]
        ]
    assert kind.name in (tmp_path / "whole" / "agent.safetensors").read_bytes().decode("latin-1")


def test_what_a_run_leaves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "--watch",
        "2000",
        "--steps",
        "2000",
        "--block-games",
        "4",
        "--hidden",
        "8",
        "--panel-games",
        "2",
        "--final-games",
        "2",
    ]
    words += [
        "--opponents",
        "self",
        "strategic",
        "--panel",
        "random",
        "--out",
        str(tmp_path / "run"),
    ]
    assert dqn.main([*words, "--json"]) == 0
    results = json.loads(capsys.readouterr().out)
    assert len(results["stages"]) == 3
    agent = agents.load(tmp_path / "run" / "agent.safetensors")
    assert isinstance(agent, LearnedAgent)
    assert agents.arena.play([agent, "random"], games=2, rules="ocnaru").games == 2
    assert list((tmp_path / "run" / "curves").rglob("events.*"))
    words = [
        *words[:-1],
        str(tmp_path / "more"),
        "--start",
        str(tmp_path / "run" / "agent.safetensors"),
    ]
    words[words.index("--hidden") + 1] = "16"
    assert dqn.main(words) == 0  # and its networks can be trained further, as large as they are
    assert "asgiven" in "".join(capsys.readouterr().out.split())  # the cell may be folded
    assert agents.load(tmp_path / "more" / "agent.safetensors").hidden == (8,)


@pytest.mark.parametrize("players", [3, 4])
def test_official_rules_with_more_players(players: int, tmp_path: Path) -> None:
    """Trades and auctions at larger tables; the league takes a saved agent."""
    options = dataclasses.replace(
        LEARNERS[1][1], rules="official", num_players=players, watch=1500, steps=1500,
        block_games=8, final_games=6, out=tmp_path / "first",
        opponents=("expert", "strategic"),
    )  # fmt: skip
    results = ppo.execute(options, quiet())
    assert [row["games"] for stage in results["stages"] for row in stage["opponents"]] == [
        options.panel_games,
        6,
        6,
    ]
    saved = str(tmp_path / "first" / "agent.safetensors")
    second = made(PPO, dataclasses.replace(options, opponents=(SELF, saved)))
    choices = second.play()
    names = {NAMES[number] for number in np.unique(choices.network)}
    assert {"buy", "bid", "turn", "reply"} <= names
    assert names & {"ask", "give", "price"}
    shares = [
        choices.outcome[(choices.game == game) & (choices.player == seat)]
        for game in (0, 1)
        for seat in range(players)
    ]
    assert all(len(set(share.tolist())) == 1 for share in shares if len(share))
    # it sits at smaller tables, too
    smaller = made(PPO, dataclasses.replace(options, num_players=players - 1, opponents=(saved,)))
    assert smaller.play().size
    with pytest.raises(ConfigurationError, match=f"plays at tables of {players}, not of 2"):
        learner_options.check(dataclasses.replace(LEARNERS[1][1], start=saved), {})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"panel": ()}, "--panel must not be empty"),
        ({"opponents": ("self", "human")}, "not compiled"),
        ({"num_players": 5}, "from 2 to 4, not 5"),
        ({"td_lambda": 1.5}, "--td-lambda must be from 0 to 1"),
        ({"start": "expert"}, "no agent whose networks"),
        (
            {"panel": ("ppo/best/ocnaru",), "num_players": 3},
            "'ppo/best/ocnaru' plays at tables of 2, not of 3",
        ),
        ({"exploit_every": 0}, "--exploit-every must be 1 or more"),
        ({"vary": -0.1}, "--vary must be from 0 to 2"),
        ({"block_games": 7}, "--block-games 7: a block needs 8 games or more"),
    ],
)
def test_wrong_options_are_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        learner_options.check(dataclasses.replace(LEARNERS[0][1], **change), {})
