"""Schrum's experiments.

Runs that repeat to the bit however they were cut, networks that play what was measured, clear
refusals.
"""

from __future__ import annotations

import dataclasses
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from studies.pente_esp import ESP29, ESP30, SCHRUM, Schrum, main

from agents.networks import pente
from monopoly_env.errors import ConfigurationError, FormatError
from monopoly_env.files.arrays import read_arrays, write_arrays
from monopoly_env.intervals import clustered
from pente_env import matches, play
from pente_env.fitness import evaluate
from studies import pente_esp
from training.evolution.esp import ESP
from training.evolution.run import execute
from training.run import checkpoints

TINY = dataclasses.replace(
    SCHRUM, experiment="better", network="attentive", hidden=3, neurons=8, trials=2, matches=1,
    final_matches=2, generations=4,
    stagnation=2, challenge=1, threads=1, seed=5,
)  # fmt: skip


def quietly() -> Console:
    return Console(file=io.StringIO())


def test_presets_are_the_recipes() -> None:
    for options, name in ((SCHRUM, "schrum"), (ESP29, "esp/2.9"), (ESP30, "esp/3.0")):
        options.check()
        assert {
            field.name: getattr(options, field.name) for field in dataclasses.fields(ESP[name])
        } == dataclasses.asdict(ESP[name])
    assert (SCHRUM.length, dataclasses.replace(SCHRUM, experiment="pairs").length) == (2000, 900)
    assert SCHRUM.neurons_of.genes == 196
    assert dataclasses.replace(SCHRUM, network="recurrent").neurons_of.genes == 206
    assert [SCHRUM.games_of(10).games, SCHRUM.games_of(10).best] == [100, 5550]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        dataclasses.asdict(ESP["esp/3.0"]) | {"neurons": 8, "stagnation": 2},
        {"ablation": 0.5, "stagnation": 1},
        {"algorithm": "genetic", "captures": True},
        {"algorithm": "cmaes", "experiment": "colluders", "network": "feed_forward"},
        {"experiment": "hall", "matches": 2},
        {"window": 5, "network": "feed_forward", "size": 9},
    ],
    ids=["schrum", "esp/3.0", "ablation", "genetic", "cmaes", "hall", "window"],
)
def test_a_run_that_was_stopped_ends_like_one_that_was_not(
    changes: dict[str, Any], tmp_path: Path
) -> None:
    begun = dataclasses.replace(TINY, **changes)
    whole, cut = (
        dataclasses.replace(begun, out=tmp_path / "whole"),
        dataclasses.replace(begun, out=tmp_path / "cut", threads=2),
    )
    results = execute(whole, quietly())
    execute(dataclasses.replace(cut, generations=2), quietly())
    resumed = execute(dataclasses.replace(cut, resume=True), quietly())
    assert resumed | {"agent": ""} == results | {"agent": ""}
    assert (whole.out / "curves.csv").read_text() == (cut.out / "curves.csv").read_text()
    first, second = (checkpoints.read_last(options.out / "checkpoints") for options in (whole, cut))
    assert all(
        np.array_equal(array, second[0]["search"][part])
        for part, array in first[0]["search"].items()
    )
    assert all(first[1][part] == second[1][part] for part in ("stale", "bursts", "evaluations"))
    assert (
        results["bursts"]
        == first[1]["bursts"]
        == int(checkpoints.read_last(cut.out / "checkpoints")[1]["rows"][-1]["bursts"])
    )
    with pytest.raises(ConfigurationError, match="begun with other settings: hidden is 4, was 3"):
        execute(dataclasses.replace(cut, resume=True, hidden=4), quietly())
    player, tests = pente.load(whole.out / "network.npz"), begun.games_of(begun.final_matches)
    seed = int(
        np.random.SeedSequence((begun.seed, pente_esp.FINAL, begun.length)).generate_state(1)[0]
    )
    again = evaluate(player.params[None], player, tests, seed)
    assert again.wins[0].tolist() == [test["wins_by_seat"] for test in results["tests"]]
    matches = np.repeat(np.arange(begun.final_matches), again.won.shape[3])
    assert [(test["low"], test["high"]) for test in results["tests"]] == [
        clustered(won.ravel(), matches) for won in again.won[0]
    ]


def test_gomoku_is_the_same_experiment_without_captures() -> None:
    better, gomoku = (
        dataclasses.replace(TINY, experiment=name).games_of(2) for name in ("better", "gomoku")
    )
    assert gomoku.rules.changed() == {"captures": "none"}
    assert [[player.name for player in test] for test in gomoku.tests] == [["better", "better"]]
    assert dataclasses.replace(gomoku, rules=better.rules, tests=better.tests) == better


def test_a_specialist_plays_from_its_seat_only() -> None:
    whole = dataclasses.replace(TINY, matches=2)
    network = whole.search().stage.population[:, 0].reshape(1, -1)
    every = whole.search().evaluate(network, whole.games_of(2), 3)
    alone = dataclasses.replace(whole, seat=2)
    tests = alone.games_of(2)
    assert (tests.games, tests.best) == (2, 2 * (73 - 14))
    scores = alone.search().evaluate(network, tests, 3)
    assert scores.wins.shape == (1, 1, 1)
    assert every.wins.shape == (1, 1, 3)


def test_with_two_inputs_of_a_point_an_enemy_stone_is_seen_once() -> None:
    networks = np.ones((1, 3, 196))
    whole, seen = (
        dataclasses.replace(SCHRUM, hidden=3, inputs=inputs).search() for inputs in (3, 2)
    )
    rows, all_rows = (search.packed(networks.reshape(1, -1)) for search in (seen, whole))
    assert np.count_nonzero(rows.view(np.float32) != all_rows.view(np.float32)) == 3 * 49
    networks[:, :, 2:147:3] = 7  # the stone as that of the player after the next
    assert np.array_equal(seen.packed(networks.reshape(1, -1)), rows)


def test_rivals_of_a_challenge_play_the_same_games_whether_a_generation_does_or_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, bool]] = []
    evaluate = pente_esp.PenteSearch.evaluate

    def listen(
        search: pente_esp.PenteSearch, networks: Any, *more: Any, paired: bool = True
    ) -> Any:
        asked.append((len(networks), paired))
        return evaluate(search, networks, *more, paired=paired)

    monkeypatch.setattr(pente_esp.PenteSearch, "evaluate", listen)
    execute(dataclasses.replace(TINY, paired=False, generations=2, out=tmp_path / "run"), quietly())
    # the last is the end
    assert asked == [(16, False), (1, True), (16, False), (3, True), (1, True)]


def test_the_command_evolves_and_the_saved_network_plays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    words = (
        "--experiment two --network feed_forward --hidden 3 --neurons 8 --trials 1 --matches 1"
        f" --final-matches 3 --generations 2 --threads 1 --out {folder}"
    ).split()
    assert main([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == json.loads((folder / "evaluation.json").read_text())
    assert [test["opponents"] for test in told["tests"]] == [
        "random",
        "blocker",
        "capturer",
        "simple",
        "better",
    ]
    assert all(
        test["games"] == 6 and sum(test["wins_by_seat"]) == round(6 * test["win_rate"])
        for test in told["tests"]
    )
    player = pente.load(folder / "network.npz")
    assert not player.observes
    search = dataclasses.replace(SCHRUM, hidden=3, neurons=8).search()
    search.step = 2
    again = evaluate(
        player.params[None], player, SCHRUM.games_of(3), search.game_seed(pente_esp.FINAL)
    )
    assert again.wins[0].tolist() == [test["wins_by_seat"] for test in told["tests"]]
    assert main(words) == 2
    assert "holds a run" in capsys.readouterr().err
    assert main([*words, "--resume"]) == 0
    assert "capturer" in capsys.readouterr().out
    assert main([*words, "--resume", "--generations", "1"]) == 0
    assert "come to generation 2 already, beyond 1" in "".join(capsys.readouterr())
    file = str(folder / "network.npz")
    assert play.main(["--players", file, "better", "--seed", "3"]) == 0
    assert "X (" in capsys.readouterr().out
    by_file, by_player = (matches.play([given, "capturer"], games=6) for given in (file, player))
    assert by_file.games.tobytes() == by_player.games.tobytes()
    assert play.main(["--players", file, "better", "--size", "9"]) == 2
    assert "plays on 7 x 7 only, not on 9 x 9" in capsys.readouterr().err
    assert play.main(["--players", str(folder), "better"]) == 2
    assert "is a folder" in capsys.readouterr().err
    arrays = read_arrays(folder / "network.npz")
    wrong: dict[str, Any] = {
        "weights": arrays["weights"] * np.nan,
        "hidden": np.array(3.9),
        "size": np.array(3),
    }
    for name, value in wrong.items():
        write_arrays(folder / "network.npz", arrays | {name: value})
        with pytest.raises(FormatError, match=r"network\.npz"):
            pente.load(folder / "network.npz")
    write_arrays(folder / "network.npz", {"population": np.zeros(3)})
    with pytest.raises(FormatError, match=r"no 'hidden' in it\): expected network\.npz of a run"):
        pente.load(folder / "network.npz")
    (folder / "network.npz").write_bytes(b"no network")
    with pytest.raises(
        FormatError, match=r"network\.npz' can't be read \(ValueError: it is no npz file"
    ):
        pente.load(folder / "network.npz")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"experiment": "tow"}, "Unknown --experiment 'tow'. Did you mean 'two'"),
        ({"network": "recurent"}, "Unknown --network 'recurent'. Did you mean 'recurrent'"),
        ({"hidden": 0}, "--hidden must be"),
        ({"neurons": 1, "parents": 1.0}, "no room for two children"),
        ({"ends": "left"}, "ends"),
        ({"algorithm": "cma"}, "Unknown --algorithm 'cma'. Did you mean 'cmaes'"),
        ({"algorithm": "random", "ablation": 0.9}, "which --algorithm random does not have"),
        ({"ablation": 1.5}, "ablation=1.5 must be a share"),
        ({"seat": 3}, "--seat must be from 1 to 2, not 3"),
        ({"seat": 0}, "--seat must be"),
        ({"experiment": "hall", "ablation": 0.9}, "networks of one size"),
        ({"experiment": "hall", "challenge": 0}, "since the opponents change"),
        ({"window": 5, "network": "recurrent"}, "--window is of a network that has no memory"),
        ({"window": 4}, "window=4 must be an odd number"),
        ({"size": 20}, "--size must be"),
        ({"inputs": 2, "experiment": "pairs"}, "--inputs 2 is of games of two"),
    ],
)
def test_wrong_settings_are_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        dataclasses.replace(Schrum(), **changes).check()  # type: ignore[arg-type]
