"""Games on a Ray cluster: the same as on threads, also when a node dies.

And clear refusals that lose nothing.
"""

from __future__ import annotations

import dataclasses
import io
import json
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ray.cluster_utils import Cluster
from ray.exceptions import LocalRayletDiedError
from rich.console import Console
from studies.pente_esp import SCHRUM

import agents
from agents.arena.games import GameBatch
from agents.arena.runner import Runner
from agents.players import genetic
from monopoly_env.errors import ConfigurationError
from monopoly_env.rules import Rules
from training import cluster, ppo, tournament
from training.evolution.generations import Generational, Play, evaluate
from training.evolution.run import execute
from training.evolve import main
from training.run import checkpoints

pytestmark = pytest.mark.slow
KIND = genetic.kind_of("strategic")
SMALL = Generational(
    genome="strategic",
    population=8,
    matches=1,
    generations=1,
    turn_limit=20,
    against=(),
    final_games=4,
    seed=5,
    threads=1,
)
NODE: dict[str, Any] = {
    "num_cpus": 1,
    "include_dashboard": False,
    "object_store_memory": 80_000_000,
}


def draws(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


@pytest.fixture(scope="module")
def head() -> Iterator[Cluster]:
    """A head that only hands out."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        started = Cluster(initialize_head=True, head_node_args=NODE | {"num_cpus": 0})
        try:
            yield started
        finally:
            started.shutdown()


@pytest.fixture
def nodes(head: Cluster) -> Cluster:
    """The head, and two nodes of a core each."""
    while len(head.worker_nodes) < 2:
        head.add_node(**NODE)
    return head


def test_networks_for_pente_come_to_the_same_on_a_cluster(
    nodes: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = {
        "hidden": 3,
        "neurons": 8,
        "trials": 4,
        "matches": 2,
        "generations": 3,
        "final_matches": 2,
        "threads": 1,
        "seed": 5,
    }

    def run(out: Path, paired: bool) -> tuple[Any, str, Any]:
        options = dataclasses.replace(SCHRUM, **short, paired=paired, out=out)
        results = execute(options, Console(file=io.StringIO())) | {"agent": ""}
        last = checkpoints.read_last(out / "checkpoints")[0]
        return results, (out / "curves.csv").read_text(), last["search"]["population"]

    with cluster.joined(nodes.address) as place:
        for paired in (True, False):
            *here, population = run(tmp_path / f"here {paired}", paired)
            with monkeypatch.context() as patch:
                patch.setattr(cluster, "joined", lambda *_: nullcontext(place))
                *there, other = run(tmp_path / f"there {paired}", paired)
            assert here == there
            assert np.array_equal(population, other)


def test_a_learner_and_a_tournament_come_to_the_same_on_a_cluster_also_when_a_node_is_killed(
    nodes: Cluster,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = [
        "--imitation-steps",
        "0",
        "--steps",
        "600",
        "--rollout-games",
        "28",
        "--hidden",
        "8",
        "--against",
        "random",
        "--evaluation-games",
        "2",
    ]
    words += [
        "--final-games",
        "2",
        "--opponents",
        "self",
        "past",
        "strategic",
        "--past-every",
        "1",
        "--json",
    ]
    field = [
        "--players",
        "strategic",
        "ppo/best/ocnaru",
        "--rules",
        "ocnaru",
        "--games",
        "12",
        "--turn-limit",
        "20",
    ]
    field += ["--record", "2", "--json"]
    handed_out = cluster.spread

    def kill(function: Any, shared: Any, pieces: Any) -> Any:
        """A node dies with what it was at."""
        for count, result in enumerate(handed_out(function, shared, pieces)):
            if function is cluster.choices_of_piece and count == 1 and len(nodes.worker_nodes) > 1:
                nodes.remove_node(next(iter(nodes.worker_nodes)), allow_graceful=False)
            yield result

    monkeypatch.setattr(cluster, "spread", kill)
    found = {}
    for place, more in (("here", []), ("there", ["--cluster", nodes.address])):
        assert ppo.main([*words, "--out", str(tmp_path / place), *more]) == 0
        learned = json.loads(capsys.readouterr().out)["opponents"]
        assert tournament.main([*field, "--out", str(tmp_path / f"field {place}"), *more]) == 0
        rows = json.loads(capsys.readouterr().out)["players"]
        replays = [
            path.read_bytes()
            for path in sorted((tmp_path / f"field {place}" / "replays").iterdir())
        ]
        agent = (tmp_path / place / "agent.safetensors").read_bytes()
        found[place] = (
            agent,
            [row["wins"] for row in learned],
            [(row["name"], row["wins"], row["low"]) for row in rows],
            replays,
        )
    assert found["here"] == found["there"]
    assert len(found["here"][3]) == 1
    assert len(nodes.worker_nodes) == 1
    assert not cluster._sent


def test_a_generation_comes_to_the_same_also_when_all_nodes_are_killed(
    head: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    while not head.worker_nodes:
        head.add_node(**NODE)
    population, what = (
        KIND.random(16, draws(0)),
        Play(fitness="net_worth", matches=50, turn_limit=200, threads=2),
    )
    alone = evaluate(KIND, population, what, 7, draws(2)).fitness
    ended: list[tuple[float, int]] = []
    joined: list[float] = []
    look = cluster._check_head

    def kill(games: int) -> None:
        """As the first piece comes in, kill all nodes: what they were at is lost."""
        ended.append((time.monotonic(), games))
        if len(ended) == 1:
            for node in head.worker_nodes.copy():
                head.remove_node(node, allow_graceful=False)

    def join() -> None:
        """Between two looks for pieces: when none has come for a while, another node joins."""
        look()
        if ended and not joined and time.monotonic() - ended[-1][0] > 1:
            joined.append(time.monotonic())
            head.add_node(**NODE)

    monkeypatch.setattr(cluster, "_PATIENCE", 1.0)  # seconds between two looks
    monkeypatch.setattr(cluster, "_check_head", join)
    with cluster.joined(head.address) as place:
        there = evaluate(KIND, population, what, 7, draws(2), kill, runner_type=place.runner)
    assert alone.tobytes() == there.fitness.tobytes()
    assert ended[-1][0] > joined[0]  # while there was no node, pieces were open
    assert sum(games for _, games in ended) == 200


def test_lines_of_a_cluster_are_cut_into_pieces_that_fit_together() -> None:
    """What a node does with a piece, in this process."""
    # the first one observes
    players = [agents.make("genetic/esp/attentive"), agents.make("algorithmic")]
    seats = np.tile(np.array([[0, 1], [1, 0]], np.int16), (2, 1))
    whole = GameBatch(np.arange(4, dtype=np.uint64), seats)
    Runner(players, Rules(), 20, 1).play(whole)
    description = cluster.ClusterRunner(players, Rules(), 20, 1).description()
    parts = [
        cluster.play_piece(description, whole.seeds[part], seats[part])
        for part in (slice(0, 1), slice(1, 4))
    ]
    for name, values in zip(
        cluster.RESULTS, zip(*(part for part, _ in parts), strict=True), strict=True
    ):
        assert getattr(whole, name).tobytes() == np.concatenate(values).tobytes()
    with pytest.raises(
        ConfigurationError,
        match="has other sources or another Numba: install the same version on all nodes",
    ):
        cluster.on_node("another", cluster.play_piece, description, (whole.seeds, seats))


def test_a_cluster_that_cannot_be_reached_is_an_error_and_loses_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = dataclasses.replace(SMALL, out=tmp_path / "run")
    execute(options, Console(file=io.StringIO()))
    kept = {path: path.read_bytes() for path in options.out.rglob("*") if path.is_file()}
    with socket.socket() as taken:  # bound, but nobody listens
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        words = [
            "--preset",
            "mukhar2012",
            "--genome",
            "strategic",
            "--population",
            "8",
            "--matches",
            "1",
            "--turn-limit",
            "20",
            "--seed",
            "5",
        ]
        words += ["--against", "--generations", "2", "--out", str(options.out)]
        for more in (["--resume"], ["--overwrite"]):
            assert main([*words, *more, "--cluster", address]) == 2
            assert (
                f"--cluster {address}: no Ray cluster can be reached there"
                in capsys.readouterr().err
            )
            assert main([*words, *more, "--cluster", f"ray://{address}"]) == 2
            assert "no Ray cluster can be reached there" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in options.out.rglob("*") if path.is_file()} == kept
    resumed = execute(
        dataclasses.replace(options, generations=2, resume=True), Console(file=io.StringIO())
    )
    assert resumed["generations"] == 2


@pytest.mark.parametrize(
    "address", ["locl", "10.0.0.1", "10.0.0.1:port", "ray://10.0.0.1", "10.0.0.1:70000", ""]
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with (
        pytest.raises(
            ConfigurationError, match="is no address: use local, auto, host:port such as"
        ),
        cluster.joined(address),
    ):
        pass


def test_without_ray_the_extra_is_named_and_the_rest_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with (
        pytest.raises(ConfigurationError, match=r"pip install 'monopoly-env\[cluster\]'"),
        cluster.joined("local"),
    ):
        pass
    with cluster.joined(None) as place:
        assert place.runner is Runner


def test_a_cluster_that_dies_on_the_way_says_how_to_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def die(table: cluster.ClusterRunner) -> None:
        raise LocalRayletDiedError

    monkeypatch.setattr(cluster.ClusterRunner, "description", die)
    table = cluster.ClusterRunner([agents.make("strategic")] * 2, Rules(), 20, 1)
    line = GameBatch(np.arange(2, dtype=np.uint64), np.array([[0, 1]] * 2, np.int16))
    with pytest.raises(
        ConfigurationError,
        match=r"The cluster failed: The task's local raylet died.*go on with --resume",
    ):
        table.play(line)
