"""Training by pairs of rollouts: small runs that end the same however they were stopped, and what is refused on the way."""

from __future__ import annotations

import dataclasses
import errno
import io
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from rich.console import Console

import agents
from agents.networks.learned.networks import FEATURES, LEARNED_HEADS, NAMES, NETWORKS
from agents.networks.learned.policy import NEVER, LearnedPolicy
from monopoly_env.errors import ConfigurationError, FormatError, MonopolyError
from monopoly_env.policy import names
from monopoly_env.policy.protocol import Policy
from training.rollouts import dueling
from training.rollouts import learner as rollouts
from training.rollouts.learner import RolloutLearner, RolloutOptions, check, execute, held_out, settings
from training.rollouts.pairs import PAIR, Pairs
from training.run import checkpoints
from training.run.folder import Run
from training.run.report import Report

SMALL = RolloutOptions(
    pairs=600,
    rounds=2,
    sizes=(2, 3),
    opponents=("self", "past", "algorithmic"),
    tables=4,
    turn_limit=60,
    epochs=4,
    batch=64,
    learning_rate=0.01,
    confidence=0.0,
    panel=("random",),
    panel_games=6,
    final_games=6,
    gate_games=6,
    gate_against=("random",),
    threads=1,
)
QUIET = Console(file=io.StringIO())


def shrink(patch: pytest.MonkeyPatch) -> None:
    """Chunks of few games, and networks that learn from few pairs and are judged by more of them."""
    patch.setattr(rollouts, "_CHUNK", 30)
    patch.setattr(rollouts, "_HELD_OUT", 3)
    patch.setattr(dueling, "_FEWEST", 5)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Small runs; on one thread, or they wait for each other on a busy machine."""
    shrink(monkeypatch)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def run(folder: Path, **changes: Any) -> dict[str, Any]:
    return execute(dataclasses.replace(SMALL, out=folder, **changes), QUIET)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that nothing stopped."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    with pytest.MonkeyPatch.context() as patch:
        shrink(patch)
        run(folder)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """What a run ends in: its pairs and its agents."""
    paths = [*(folder / "pairs").iterdir(), *(folder / "rounds").iterdir(), folder / "agent.safetensors"]
    return {path.name: path.read_bytes() for path in paths}


# --- a run --------------------------------------------------------------------------------------------------------------


def test_a_run_leaves_an_agent_its_pairs_and_its_measurements(whole: Path) -> None:
    results = json.loads((whole / "evaluation.json").read_text())
    assert results["steps"] >= SMALL.pairs
    assert [row["opponent"] for row in results["opponents"]] == ["random, 2 players", "random, 3 players"]
    assert {row["games"] for row in results["opponents"]} == {SMALL.final_games}
    chunks = [checkpoints.read_arrays(path) for path in sorted((whole / "pairs").iterdir())]
    assert sum(len(chunk["pairs"]) for chunk in chunks) == results["steps"]
    agent = agents.load(results["agent"])
    assert isinstance(agent, LearnedPolicy)
    assert agent.heads == tuple(row["head"] for row in results["heads"] if row["kept"])
    assert agent.sizes == SMALL.sizes
    rounds = [agents.load(path) for path in sorted((whole / "rounds").iterdir())]
    assert len(rounds) == SMALL.rounds
    assert all(isinstance(policy, LearnedPolicy) and policy.heads == LEARNED_HEADS for policy in rounds)
    assert all((rounds[0].arrays()[name] != rounds[1].arrays()[name]).any() for name in ("buy.0.weight", "turn.2.weight"))
    assert any((policy.arrays()["margins"] < NEVER).any() for policy in rounds)
    assert list((whole / "curves").glob("events.*"))
    assert json.loads((whole / "config.json").read_text())["preset"] == "rollouts"


def test_a_run_repeats_and_follows_its_seed(whole: Path, tmp_path: Path) -> None:
    run(tmp_path / "again", threads=2)
    assert contents(tmp_path / "again") == contents(whole)
    run(tmp_path / "other", seed=1)
    assert contents(tmp_path / "other")["agent.safetensors"] != contents(whole)["agent.safetensors"]


def stop_at(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, call: int) -> None:
    """Stop, as by ctrl-C, when a function is called for so many times."""
    function, calls = getattr(module, name), [0]

    def stop(*args: Any, **options: Any) -> Any:
        calls[0] += 1
        if calls[0] == call:
            raise KeyboardInterrupt
        return function(*args, **options)

    monkeypatch.setattr(module, name, stop)


@pytest.mark.parametrize(
    "stops",
    [
        [(rollouts, "collect", 1), (rollouts, "collect", 2), (rollouts, "learn", 1)],
        [(rollouts, "measure", 1), (rollouts, "collect", 2), (rollouts, "choose_margins", 1)],
        [(RolloutLearner, "improve", 2), (rollouts, "gate", 1)],
        [(rollouts, "measure", 3), (Run, "write_json", 1)],  # the end, measured and not yet written
    ],
)
def test_a_run_that_was_stopped_and_resumed_ends_in_the_same_agent(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stops: list[tuple[Any, str, int]]
) -> None:
    for number, (module, name, call) in enumerate(stops):
        with monkeypatch.context() as patch:
            stop_at(patch, module, name, call)
            with pytest.raises(KeyboardInterrupt):
                run(tmp_path / "run", resume=number > 0)
    results = run(tmp_path / "run", resume=True)
    assert contents(tmp_path / "run") == contents(whole)
    assert results["heads"] == json.loads((whole / "evaluation.json").read_text())["heads"]


def test_a_finished_run_is_only_measured_again(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = contents(whole)
    monkeypatch.setattr(rollouts, "collect", None)
    monkeypatch.setattr(rollouts, "learn", None)
    run(whole, resume=True)
    assert contents(whole) == before


def test_each_round_plays_by_the_agent_before_it_against_its_past_self(whole: Path) -> None:
    options = dataclasses.replace(SMALL, out=whole)
    trainer = RolloutLearner(options, check(options), Run(whole))
    trainer.restore()
    first, second, third = trainer.agents
    assert isinstance(first, LearnedPolicy)
    assert (first.heads, second.heads) == ((), LEARNED_HEADS)
    seen = {}
    for count in (1, 2, 3):
        trainer.agents = [first, second, third][:count]
        league = trainer.league()
        assert league.policies[0] is league.policies[1] is trainer.agents[-1]  # it, and `self`
        assert league.policies[2] is trainer.agents[max(0, count - 2)]  # `past`
        assert league.policies[3].name == "algorithmic"
        assert [len(table) for table in league.tables] == [2, 3, 2, 3]
        assert all(table[0] == 0 and set(table) <= {0, 2, 3} for table in league.tables)
        seen[count] = str(league.tables)
    assert len(set(seen.values())) > 1  # each round draws its own


def test_no_chunk_has_the_dice_of_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: list[int] = []

    def collect(league: Any, games: int, seed: int, *_: Any) -> Pairs:
        seeds.append(seed)
        return Pairs(np.zeros((1, FEATURES), np.float16), np.zeros(1, PAIR))

    monkeypatch.setattr(rollouts, "collect", collect)
    for seed in (0, 1, 65_535):
        options = dataclasses.replace(SMALL, seed=seed)
        trainer = RolloutLearner(options, check(options), Run(tmp_path / str(seed)))
        for _ in range(3):
            trainer.collect()
    assert len(set(seeds)) == 9
    assert max(seeds) < 1 << 32


def test_games_that_are_held_out_come_from_all_tables_and_seats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rollouts, "_HELD_OUT", 10)
    for tables in (4, 60, 59, 90):
        games = np.arange(30 * tables, dtype=np.int32)
        held = held_out(games, tables)
        assert np.bincount(games[held] % tables, minlength=tables).tolist() == [3] * tables
        for size in (2, 3, 4):
            assert set((games[held] // tables) % size) == set(range(size))


# --- the gate -----------------------------------------------------------------------------------------------------------


class Silent(Report):
    def __init__(self) -> None:
        """A report of nothing."""

    def advance(self, done: int, doing: str | None = None) -> None:
        pass


def gate(learned: LearnedPolicy, options: RolloutOptions, kept_in: Path | None = None) -> tuple[LearnedPolicy, list[dict[str, Any]]]:
    return rollouts.gate(learned, check(options).gate_against, options, Silent(), kept_in)


def agent(**margins: float) -> LearnedPolicy:
    return LearnedPolicy().changed(margins=np.array([margins.get(name, NEVER) for name in NAMES]))


def test_heads_that_do_not_beat_the_parent_are_left_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    differences = {"buy": (0.05, 0.01), "bid": (0.01, 0.04), "reply": (-0.05, 0.01), "choice": (0.2, 0.01)}  # and standard errors
    asked = []

    def compare(mine: LearnedPolicy, alone: LearnedPolicy, against: list[Policy], games: int, size: int, rules: str, *_: Any) -> Any:
        (head,) = mine.heads
        asked.append((head, alone.heads, [policy.name for policy in against], games, size, rules))
        mean, error = differences[head]
        if head == "choice" and against[0].name == "gcp" and size == 3:
            mean, error = -0.1, 0.01
        return SimpleNamespace(difference=mean, low=mean - 1.96 * error, high=mean + 1.96 * error)

    monkeypatch.setattr("agents.arena.compare", compare)
    options = dataclasses.replace(SMALL, confidence=1.64, gate_games=50, gate_against=("random", "gcp"))
    gated, rows = gate(agent(buy=0.01, bid=0.02, reply=0.0, choice=0.0), options)
    assert gated.heads == ("buy",)
    assert [(row["head"], row["kept"]) for row in rows] == [("buy", True), ("bid", False), ("reply", False), ("choice", False)]
    assert rows[1]["difference"] == pytest.approx(0.01)
    assert rows[1]["error"] == pytest.approx(0.04 / 4**0.5)  # of the mean of four tables
    assert rows[3]["difference"] > 0.1
    assert rows[3]["lowest"] == pytest.approx(-0.1 + 1.96 * 0.01)  # it surely loses at one table
    assert asked == [
        (head, (), [who] * (size - 1), 50, size, "official") for head in differences for who in ("random", "gcp") for size in (2, 3)
    ]


@pytest.mark.parametrize(("together", "kept"), [(0.05, ("bid", "buy")), (-0.01, ("bid",))])
def test_heads_that_win_alone_must_win_together(monkeypatch: pytest.MonkeyPatch, together: float, kept: tuple[str, ...]) -> None:
    differences = {("buy",): 0.02, ("bid",): 0.03, ("bid", "buy"): together}

    def compare(mine: LearnedPolicy, *_: Any) -> Any:
        mean = differences[mine.heads]
        return SimpleNamespace(difference=mean, low=mean - 0.01, high=mean + 0.01)

    monkeypatch.setattr("agents.arena.compare", compare)
    gated, rows = gate(agent(buy=0.01, bid=0.02), dataclasses.replace(SMALL, gate_games=50))
    assert gated.heads == kept
    assert {row["head"]: row["kept"] for row in rows} == {"buy": "buy" in kept, "bid": True, "bid, buy": len(kept) == 2}


def test_a_gate_that_was_stopped_goes_on_with_the_next_head(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[tuple[str, ...]] = []

    def compare(mine: LearnedPolicy, *_: Any) -> Any:
        if len(asked) == 2 * 2:  # two tables a head: stopped while the third is at play
            asked.clear()
            raise KeyboardInterrupt
        asked.append(mine.heads)
        return SimpleNamespace(difference=-0.05, low=-0.06, high=-0.04)

    monkeypatch.setattr("agents.arena.compare", compare)
    options = dataclasses.replace(SMALL, gate_games=50, gate_against=("random",), sizes=(2, 3))
    learned, kept_in = agent(buy=0.01, bid=0.02, reply=0.0), tmp_path / "gate.json"
    with pytest.raises(KeyboardInterrupt):
        gate(learned, options, kept_in)
    gated, rows = gate(learned, options, kept_in)
    assert asked == [("reply",), ("reply",)]
    assert gated.heads == ()
    assert [row["head"] for row in rows] == ["buy", "bid", "reply"]
    assert all(row["difference"] == pytest.approx(-0.05) for row in rows)


def test_only_heads_that_a_network_plays_are_tested_and_without_games_all_of_these_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents.arena.compare", None)
    options = dataclasses.replace(SMALL, gate_games=0)
    gated, rows = gate(agent(turn=0.01), options)
    assert set(gated.heads) == set(NETWORKS["turn"][1]) - {"trade"}
    assert rows == []
    assert gate(agent(), SMALL)[0].heads == ()


def test_a_head_that_plays_badly_is_found_out() -> None:
    """A network that bids $500 whenever it can."""
    bias = np.zeros(9, np.float32)
    bias[-1] = 1.0
    policy = LearnedPolicy().changed(**{"bid.2.bias": bias}, margins=agent(bid=0.0).arrays()["margins"])
    options = dataclasses.replace(SMALL, gate_games=40, sizes=(2,), gate_against=("expert",))
    gated, rows = gate(policy, options)
    assert gated.heads == ()
    assert rows[0]["difference"] < -0.1


# --- what is refused ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"pairs": 0}, "--pairs must be 1 or more, not 0"),
        ({"rounds": 0}, "--rounds must be 1 or more, not 0"),
        ({"seed": 65_536}, "--seed must be from 0 to 65,535, not 65536"),
        ({"sizes": (2, 5)}, r"--sizes must be from 2 to 4, not \(2, 5\)"),
        ({"sizes": ()}, "--sizes must name one or more"),
        ({"opponents": ()}, "--opponents must name one or more"),
        ({"panel": ()}, "--panel must name one or more"),
        ({"learning_rate": float("nan")}, "--learning-rate must be from"),
        ({"confidence": -1.0}, "--confidence must be 0 or more, not -1.0"),
        ({"gate_games": -1}, "--gate-games must be 0 or more, not -1"),
        ({"opponents": ("sefl",)}, "Unknown policy 'sefl'. Did you mean 'self'"),
        ({"panel": ("exprt",)}, "Unknown policy 'exprt'. Did you mean 'expert'"),
        ({"panel": ("self",)}, "Unknown policy 'self'. (?!Did you mean 'self')"),
        ({"parent": ("exprt",)}, "Unknown policy 'exprt'. Did you mean 'expert'"),
        ({"parent": ("algorithmic",)}, "--parent: 'algorithmic' is of the kind 'algorithmic', not `expert`"),
        ({"parent": ("expert", "expert")}, "--parent takes one name, or one each for 2, 3 and 4 players, not 2"),
        ({"rules": "oficial"}, "Unknown preset 'oficial'. Did you mean 'official'"),
        ({"opponents": ("gone.safetensors",)}, "gone.safetensors"),
        ({"parent": ("gone.safetensors",)}, "gone.safetensors"),
    ],
)
def test_wrong_settings_are_refused(changes: dict[str, Any], reason: str, tmp_path: Path) -> None:
    with pytest.raises(MonopolyError, match=reason):
        check(dataclasses.replace(SMALL, **changes))
    with pytest.raises(MonopolyError, match=reason):
        run(tmp_path / "run", **changes)
    assert not (tmp_path / "run").exists()


def test_opponents_must_be_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    class Person(agents.BatchedPolicy):
        name = "person"

        def act(self, decisions: Any) -> Any:
            raise NotImplementedError

    monkeypatch.setitem(names._FACTORIES, "person", Person)
    with pytest.raises(ConfigurationError, match="Rollouts need compiled policies; 'person' is not compiled"):
        check(dataclasses.replace(SMALL, opponents=("person",)))
    check(dataclasses.replace(SMALL, panel=("person",)))


def test_parents_are_one_for_all_tables_or_one_each(tmp_path: Path) -> None:
    paths = []
    for number, options in enumerate(({"keep": 1.0}, {"keep": 2.0}, {"keep": 3.0})):
        paths.append(str(tmp_path / f"{number}.safetensors"))
        agents.make("expert", **options).save(paths[-1])
    rows = rollouts.parents(paths)
    assert [agents.load(path).arrays()["params"].tolist() for path in paths] == rows.tolist()
    LearnedPolicy().changed(parent=rows).save(tmp_path / "learned.safetensors")
    assert np.array_equal(rollouts.parents([str(tmp_path / "learned.safetensors")]), rows)  # goes on from another run
    assert (np.ptp(rollouts.parents(["expert"]), axis=0) == 0).all()


def test_a_run_is_resumed_with_its_own_settings_only_and_replaced_on_request_only(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    quick = {"pairs": 60, "rounds": 1, "gate_games": 0}
    run(folder, **quick)
    before = contents(folder)
    with pytest.raises(ConfigurationError, match="holds a run: continue it with --resume, replace it with --overwrite"):
        run(folder, **quick)
    with pytest.raises(ConfigurationError, match=r"begun with other settings: pairs is 70, was 60; epochs is 3, was 4\."):
        run(folder, **quick | {"pairs": 70, "epochs": 3, "resume": True})
    assert contents(folder) == before
    run(folder, **quick | {"threads": 2, "resume": True})
    (folder / "rounds" / "07.safetensors").write_bytes(b"of the run before")
    (folder / "pairs" / "000099.npz").write_bytes(b"of the run before")
    run(folder, **quick | {"seed": 1, "overwrite": True})
    after = contents(folder)
    assert after.keys() == before.keys()
    assert after["agent.safetensors"] != before["agent.safetensors"]


def test_settings_that_do_not_shape_the_result_are_left_out() -> None:
    first, other = (dataclasses.replace(SMALL, out=Path(out), threads=n, json=n > 1) for out, n in (("a", 1), ("b", 7)))
    assert settings(first) == settings(other)
    assert {"pairs", "seed", "rules_version", "panel"} <= set(settings(first))


@pytest.mark.parametrize("place", [30, 300, 3000, -30])
def test_a_byte_that_changed_is_noticed(whole: Path, tmp_path: Path, place: int) -> None:
    content = bytearray((whole / "pairs" / "000000.npz").read_bytes())
    content[place] ^= 0xFF
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(FormatError, match=r"a\.npz' is damaged .* Remove it, and what was written after it, then --resume"):
        checkpoints.read_arrays(tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("part", "damage"),
    [
        ("pairs/000001.npz", lambda content: content[: len(content) // 2]),
        ("rounds/02.safetensors", lambda content: b"nothing of the kind"),
    ],
)
def test_a_damaged_file_is_refused_and_without_it_the_run_goes_on(
    whole: Path, tmp_path: Path, part: str, damage: Callable[[bytes], bytes]
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    for name in ("pairs", "rounds"):
        (folder / name).mkdir()
        for path in (whole / name).iterdir():
            (folder / name / path.name).write_bytes(path.read_bytes())
    (folder / "config.json").write_bytes((whole / "config.json").read_bytes())
    damaged = folder / part
    damaged.write_bytes(damage(damaged.read_bytes()))
    with pytest.raises(FormatError, match=rf"{damaged.name}.*Remove it, and .* then --resume"):
        run(folder, resume=True)
    later = [path for path in damaged.parent.iterdir() if path.name >= damaged.name]
    for path in [*later, *((folder / "rounds").iterdir() if part.startswith("pairs") else ())]:
        path.unlink()
    run(folder, resume=True)
    assert contents(folder) == contents(whole)


def test_a_full_disk_stops_it_and_it_goes_on(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write, calls = np.lib.format.write_array, [0]

    def full(*args: Any, **options: Any) -> None:
        calls[0] += 1
        if calls[0] == 4:  # the second array of the second chunk
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(*args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(np.lib.format, "write_array", full)
        with pytest.raises(ConfigurationError, match=r"000001\.npz'?: No space left on device\. Fix that, then --resume"):
            run(tmp_path / "run")
    assert [path.name for path in (tmp_path / "run" / "pairs").iterdir()] == ["000000.npz"]
    run(tmp_path / "run", resume=True)
    assert contents(tmp_path / "run") == contents(whole)
