"""Genetic algorithms: fair tables, points by their definitions, and clear refusals.

The population is the same however a run was cut.
"""

from __future__ import annotations

import dataclasses
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import agents
from agents.arena.games import GameBatch
from agents.arena.runner import Runner
from agents.players import genetic
from agents.players.genetic import mukhar
from monopoly_env.errors import ConfigurationError, FormatError, MonopolyError
from monopoly_env.facts.board import GROUP_LOTS
from monopoly_env.files.arrays import read_arrays, write_arrays
from monopoly_env.rules import Rules
from training.evolution import fitness as scores
from training.evolution.generations import (
    MUKHAR2013,
    Generational,
    Play,
    Reproduction,
    breed,
    check_split,
    deal,
    evaluate,
    games_of,
    numbers,
)
from training.evolution.genome import GeneticGenome
from training.evolution.populations import Population, play_seats, runner_of
from training.evolution.run import execute
from training.evolution.steady import Steady, levelled, mate
from training.evolve import main
from training.run import checkpoints

KIND = genetic.kind_of("strategic")
SMALL = Generational(
    genome="strategic", population=16, matches=2, generations=3, turn_limit=20, against=("random",),
    evaluate_every=1, evaluation_games=4,
    final_games=4, seed=5, threads=2,
)  # fmt: skip
STEADY = Steady(
    genome="strategic", population=40, rules="mukhar", generations=3, matings=2, turn_limit=20,
    against=("random",), evaluate_every=1, evaluation_games=4,
    final_games=4, seed=5, threads=2,
)  # fmt: skip


def draws(seed: int = 0) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def quietly() -> Console:
    return Console(file=io.StringIO())


def line_of(place: list[list[int]]) -> GameBatch:
    line = GameBatch(
        np.zeros(len(place), np.uint64), np.arange(len(place) * 4, dtype=np.int16).reshape(-1, 4)
    )
    line.place[:] = place
    return line


def test_every_match_seats_everybody_once() -> None:
    seats = deal(40, 30, 4, draws())
    assert seats.shape == (300, 4)
    assert (np.sort(seats.reshape(30, 40), axis=1) == np.arange(40)).all()
    assert len({tuple(row) for row in seats.reshape(30, 40).tolist()}) == 30


def test_points_by_place_are_shared_where_places_are() -> None:
    line = line_of([[1, 2, 3, 4], [4, 1, 1, 3], [2, 1, 2, 2], [1, 1, 1, 1]])
    assert scores.finish_order(line).tolist() == [
        [3, 2, 1, 0],
        [0, 2.5, 2.5, 1],
        [1, 3, 1, 1],
        [1.5] * 4,
    ]
    assert scores.num_wins(line).tolist() == [
        [3, 0, 0, 0],
        [0, 1.5, 1.5, 0],
        [0, 3, 0, 0],
        [0.75] * 4,
    ]


def test_points_of_what_players_own() -> None:
    line = line_of([[1, 2, 3, 4]])
    brown, blue = int(GROUP_LOTS[0]), int(GROUP_LOTS[7])
    line.owned[0] = [brown | blue, brown & -brown, 0, (1 << 28) - 1]
    assert scores.num_monopolies(line).tolist() == [[2, 0, 0, 10]]
    line.seat_counts["lots"][0] = [4, 1, 0, 28]
    assert scores.num_properties(line).tolist() == [[4, 1, 0, 28]]
    line.score[0] = [1500, 500, 0, 2000]
    assert scores.net_worth(line).tolist() == [[15, 5, 0, 20]]
    assert scores.net_worth_share(line).tolist() == [[37.5, 12.5, 0, 50]]


def test_the_thesis_scales_by_what_is_possible() -> None:
    points = np.array([0.0, 150.0, 300.0])
    assert scores.scaled(points, "finish_order", "percent", 100).tolist() == [0, 50, 100]
    # by the largest there is
    assert scores.scaled(points, "net_worth_share", "percent", 100).tolist() == [0, 50, 100]
    assert scores.scaled(points, "num_properties", "raw", 100).tolist() == points.tolist()
    # 10 groups, or the eight colours by which the thesis divides
    assert scores.scaled(points, "num_monopolies", "percent", 30).tolist() == [0, 50, 100]
    assert scores.scaled(points, "num_monopolies_of_8", "percent", 30).tolist() == [0, 62.5, 125]
    assert scores.scaled(points, "tournament", "percent", 1).tolist() == points.tolist()
    with pytest.raises(ConfigurationError, match="Unknown fitness 'wins'"):
        scores.scaled(points, "wins", "raw", 1)


def test_a_population_plays_the_games_of_its_players_made_one_by_one() -> None:
    population = KIND.random(8, draws())
    play = Play(turn_limit=20, threads=2)
    seats = deal(8, 3, 4, draws(1))
    line = play_seats(runner_of(KIND, population, play), seats, 3)
    single = Runner(
        [KIND.policy(genome, f"player {n}") for n, genome in enumerate(population)],
        Rules.preset("mukhar"),
        20,
        1,
    )
    other = play_seats(single, seats, 3)
    assert line.place.tolist() == other.place.tolist()
    assert line.seat_counts.tobytes() == other.seat_counts.tobytes()
    assert line.owned.tolist() == other.owned.tolist()
    bits = np.unpackbits(line.owned.view(np.uint8).reshape(*line.owned.shape, 4), axis=2).sum(
        axis=2
    )
    assert bits.tolist() == line.seat_counts["lots"].tolist()
    with pytest.raises(ConfigurationError, match="finite numbers of shape"):
        Runner.of_population(single.policies[0], np.zeros((3, 2)), Rules(), 20)  # type: ignore[arg-type]


@pytest.mark.parametrize("fitness", ["finish_order", "net_worth", "tournament"])
def test_a_generation_is_the_same_on_any_number_of_threads(fitness: str) -> None:
    population = KIND.random(16, draws())
    play = Play(fitness=fitness, matches=3, turn_limit=20, threads=1)
    told = [
        evaluate(KIND, population, dataclasses.replace(play, threads=n), 7, draws(2))
        for n in (1, 2)
    ]
    assert told[0].fitness.tolist() == told[1].fitness.tolist()
    assert told[0].games == games_of(16, play)
    if fitness == "finish_order":
        assert told[0].fitness.mean() == pytest.approx(1.5 * 3)
    # 8 get through the first round, 4 the second, 2 share the last level
    if fitness == "tournament":
        assert told[0].games == 3 * (4 + 2 + 1)
        assert told[0].fitness.sum() == 3 * (8 + 4 + 2)
        single = evaluate(KIND, population, dataclasses.replace(play, matches=1), 7, draws(2))
        assert Counter(single.fitness.tolist()) == {0: 8, 1: 4, 2: 2, 3: 2}


def test_the_next_generation_is_kept_copied_mutated_and_born() -> None:
    population, fitness = KIND.random(1000, draws()), draws(1).random(1000)
    # Frayn's
    recipe = Reproduction(
        elite=0.003, select="tournament", select_parents="tournament", crossover="uniform"
    )
    assert numbers(1000, recipe) == (3, 300, 300, 397)
    assert numbers(1000, Reproduction()) == (100, 300, 300, 300)
    assert sum(numbers(33, Reproduction())) == 33
    following = breed(
        KIND, population, fitness, dataclasses.replace(recipe, mutation_rate=1.0), draws(2)
    )
    assert following.shape == population.shape
    assert following[:3].tolist() == population[np.argsort(-fitness)[:3]].tolist()
    known = {tuple(genome) for genome in population.tolist()}
    assert all(tuple(genome) in known for genome in following[:303].tolist())
    assert not any(tuple(genome) in known for genome in following[303:603].tolist())
    genes = [set(column) for column in population.T.tolist()]
    assert all(
        gene in column
        for child in following[603:].tolist()
        for gene, column in zip(child, genes, strict=True)
    )
    assert (
        following.tolist()
        == breed(
            KIND, population, fitness, dataclasses.replace(recipe, mutation_rate=1.0), draws(2)
        ).tolist()
    )


def test_the_fitter_have_more_offspring() -> None:
    population = np.repeat(np.linspace(0, 1, 1000)[:, None], KIND.size, axis=1)
    fitness = population[:, 0]
    recipe = Reproduction(elite=0, copied=1, mutated=0)
    roulette = breed(KIND, population, fitness, recipe, draws())[:, 0].mean()
    assert roulette == pytest.approx(2 / 3, abs=0.06)  # eight standard errors
    pairs = breed(
        KIND, population, fitness, dataclasses.replace(recipe, select="tournament"), draws()
    )[:, 0].mean()
    assert pairs == pytest.approx(2 / 3, abs=0.06)


def test_a_wave_replaces_those_who_played_by_children_of_the_winners() -> None:
    population, depth = KIND.random(40, draws()), np.arange(40)
    options = Steady(
        rules="mukhar", matings=2, winners=2, mutation_rate=0.0, turn_limit=20, threads=1
    )
    played = mate(KIND, population, depth, options, seed=3, generator=draws(4))
    assert len(set(played.taken.tolist())) == 16
    others = np.setdiff1d(np.arange(40), played.taken)
    assert played.population[others].tolist() == population[others].tolist()
    for first in (0, 8):  # a mating: two tables of four
        rows = played.taken[first : first + 8]
        assert len({tuple(genome) for genome in played.population[rows].tolist()}) == 1
        wins = played.evaluated.fitness[first : first + 8].reshape(2, 4)
        assert wins.sum(axis=1).tolist() == [1, 1]
        winners = rows.reshape(2, 4)[[0, 1], wins.argmax(axis=1)]
        child = played.population[rows[0]]
        assert all(
            gene in pair
            for gene, pair in zip(child.tolist(), population[winners].T.tolist(), strict=True)
        )
        assert set(played.depth[rows].tolist()) == {depth[winners].max() + 1}


def test_levels_part_the_range_evenly() -> None:
    for gene, level in ((0.0, 0.0), (0.19, 0.0), (0.21, 0.25), (0.41, 0.5), (1.0, 1.0)):
        assert levelled(np.full((1, KIND.size), gene), 4).tolist() == [[level] * KIND.size]
    for levels in (1, 3, 4, 10):
        have = np.linspace(0, 1, levels + 1)[:, None] * np.ones(KIND.size)
        assert np.allclose(levelled(have, levels), have, atol=1e-15)
    drawn = levelled(draws().random((4000, KIND.size)), 3)
    shares = [np.isclose(drawn, level).mean() for level in (0, 1 / 3, 2 / 3, 1)]
    assert shares == pytest.approx([0.25] * 4, abs=0.01)  # seven standard errors
    untouched = KIND.random(2, draws())
    assert levelled(untouched, 0) is untouched


def test_a_run_stopped_in_a_measurement_makes_up_for_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    options = dataclasses.replace(SMALL, generations=4, evaluate_every=2, keep_every=1, hall=1)
    whole = execute(dataclasses.replace(options, out=tmp_path / "whole"), quietly())
    cut, meet = dataclasses.replace(options, out=tmp_path / "cut"), Population.evaluate

    def stopped(*arguments: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(Population, "evaluate", stopped)
    with pytest.raises(KeyboardInterrupt):
        execute(cut, quietly())
    monkeypatch.setattr(Population, "evaluate", meet)
    resumed = execute(dataclasses.replace(cut, resume=True), quietly())
    for part in ("against", "measurements", "genes"):
        assert resumed[part] == whole[part]
    for folder in ("hall", "populations"):
        names = [
            sorted(path.name for path in (tmp_path / run / folder).iterdir())
            for run in ("whole", "cut")
        ]
        assert names[0] == names[1]
        assert names[0]


@pytest.mark.parametrize("options", [SMALL, STEADY], ids=["generations", "steady"])
def test_a_run_that_was_stopped_ends_like_one_that_was_not(
    options: Generational | Steady, tmp_path: Path
) -> None:
    whole = dataclasses.replace(options, out=tmp_path / "whole", threads=1)
    results = execute(whole, quietly())
    cut = dataclasses.replace(options, out=tmp_path / "cut")
    execute(dataclasses.replace(cut, generations=2), quietly())
    resumed = execute(dataclasses.replace(cut, resume=True), quietly())
    assert resumed["against"] == results["against"]
    assert resumed["genes"] == results["genes"]
    parts = [checkpoints.read_last(run.out / "checkpoints")[0]["search"] for run in (whole, cut)]
    assert parts[0].keys() == parts[1].keys()
    assert all(np.array_equal(parts[0][name], parts[1][name], equal_nan=True) for name in parts[0])
    assert (whole.out / "curves.csv").read_text() == (cut.out / "curves.csv").read_text()
    saved = agents.load(whole.out / "agent.safetensors").arrays()["params"]
    assert saved.shape == KIND.rows(KIND.random(1, draws()))[0].shape
    with pytest.raises(ConfigurationError, match="begun with other settings: seed is 6, was 5"):
        execute(dataclasses.replace(cut, resume=True, seed=6), quietly())
    with pytest.raises(ConfigurationError, match="holds a run"):
        execute(cut, quietly())


def test_a_run_begins_with_the_population_of_another(tmp_path: Path) -> None:
    first = dataclasses.replace(SMALL, out=tmp_path / "first", generations=1)
    assert execute(first, quietly())["games"] == 8
    file = tmp_path / "first" / "population.npz"
    again = dataclasses.replace(first, start_population=str(file), out=tmp_path / "again")
    execute(again, quietly())
    with pytest.raises(ConfigurationError, match="use --population 16"):
        execute(dataclasses.replace(again, population=20, out=tmp_path / "third"), quietly())
    with pytest.raises(ConfigurationError, match="holds genomes of 'strategic', not of 'expert'"):
        execute(dataclasses.replace(again, genome="expert", out=tmp_path / "fourth"), quietly())
    with pytest.raises(ConfigurationError, match="is no file"):
        execute(
            dataclasses.replace(again, start_population="gone.npz", out=tmp_path / "fifth"),
            quietly(),
        )
    assert not (tmp_path / "fifth").exists()
    with pytest.raises(ConfigurationError, match="lies in --out, where this run writes"):
        execute(dataclasses.replace(again, out=tmp_path / "first", overwrite=True), quietly())
    assert file.is_file()
    moved = tmp_path / "moved.npz"
    file.rename(moved)
    longer = dataclasses.replace(again, start_population=str(moved), generations=2, resume=True)
    assert execute(longer, quietly())["generations"] == 2


def test_a_run_that_was_killed_before_its_first_checkpoint_is_resumed_from_the_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = dataclasses.replace(SMALL, generations=1, against=())
    whole = execute(dataclasses.replace(short, out=tmp_path / "whole"), quietly())

    def killed(*_: Any) -> Path:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(checkpoints, "write", killed)
        with pytest.raises(KeyboardInterrupt):
            execute(dataclasses.replace(short, out=tmp_path / "cut"), quietly())
    assert not checkpoints.paths(tmp_path / "cut" / "checkpoints")
    resumed = execute(dataclasses.replace(short, out=tmp_path / "cut", resume=True), quietly())
    assert resumed["genes"] == whole["genes"]


def test_a_damaged_run_is_an_error_of_ours_and_stays(tmp_path: Path) -> None:
    options = dataclasses.replace(SMALL, generations=1, against=(), out=tmp_path / "run")
    execute(options, quietly())
    longer = dataclasses.replace(options, generations=2, resume=True)
    last = checkpoints.paths(tmp_path / "run" / "checkpoints")[-1]
    points = ("[]", "[{}]", "[null]", '"x"')
    for damage in (
        "{}",
        "[]",
        *(
            f'{{"generation": 1, "rows": {rows}, "measurements": [], "seconds": 0}}'
            for rows in points
        ),
    ):
        state = (last / "state.json").read_text()
        (last / "state.json").write_text(damage)
        with pytest.raises(FormatError, match=r"is damaged .*Remove it"):
            execute(longer, quietly())
        assert (last / "state.json").read_text() == damage
        (last / "state.json").write_text(state)
    search = read_arrays(last / "search.npz")
    for name, values in (
        ("population", search["population"][:4]),
        ("population", search["population"] > 0.5),
        ("fitness", np.ones(3)),
    ):
        write_arrays(last / "search.npz", search | {name: values})
        with pytest.raises(FormatError, match="is damaged"):
            execute(longer, quietly())
    write_arrays(last / "search.npz", search)
    (tmp_path / "run" / "config.json").write_text("[]")
    with pytest.raises(ConfigurationError, match="it holds no settings"):
        execute(longer, quietly())


def test_the_thesis_bids_and_plays_longer(tmp_path: Path) -> None:
    options = dataclasses.replace(
        MUKHAR2013,
        population=16,
        matches=1,
        generations=1,
        against=(),
        final_games=4,
        out=tmp_path / "run",
        threads=1,
    )
    execute(options, quietly())
    saved = agents.load(tmp_path / "run" / "agent.safetensors").arrays()["params"]
    plain = genetic.kind_of("rga")
    scripted = {
        name: saved[plain.size + place] for place, name in enumerate(vars(mukhar.Scripted()))
    }
    changed = {
        name: value
        for name, value in scripted.items()
        if value != float(getattr(mukhar.Scripted(), name))
    }
    assert changed == {"of_buildings": 0.1, "thesis": 1.0}
    assert Rules.preset(options.rules).max_turns == 4 * 125
    for given, reason in (
        ("thesys=1", "Did you mean 'thesis'"), ("of_buildings=7", "of_buildings"),
        ("thesis", "must be a name and a number"),
    ):  # fmt: skip
        with pytest.raises(ConfigurationError, match=reason):
            dataclasses.replace(options, scripted=(given,)).check()
    with pytest.raises(
        ConfigurationError,
        match="All of genome 'pring' are genes, nothing is scripted: give --scripted without",
    ):
        dataclasses.replace(options, genome="pring").check()
    words = [
        "--preset",
        "mukhar2013",
        "--population",
        "16",
        "--matches",
        "1",
        "--generations",
        "1",
        "--against",
        "--final-games",
        "4",
    ]
    assert (
        main(
            [
                *words,
                "--genome",
                "strategic",
                "--scripted",
                "--turn-limit",
                "20",
                "--out",
                str(tmp_path / "other"),
            ]
        )
        == 0
    )
    assert (
        main(
            [
                *words,
                "--scripted",
                "thesis=0",
                "of_buildings=0.2",
                "--turn-limit",
                "20",
                "--out",
                str(tmp_path / "third"),
            ]
        )
        == 0
    )
    again = genetic.kind_of("rga").genome(
        agents.load(tmp_path / "third" / "agent.safetensors").arrays()["params"]
    )
    start = GeneticGenome(genetic.kind_of("rga"), tmp_path / "third" / "agent.safetensors")
    row = start.policy(start.origin, "again").params
    assert row[plain.size + list(scripted).index("of_buildings")] == 0.2
    assert np.allclose(row[: plain.size], np.clip(again, 0.01, 0.99))


def test_champions_of_earlier_measurements_are_met_again(tmp_path: Path) -> None:
    options = dataclasses.replace(SMALL, generations=4, hall=2, keep_every=2, out=tmp_path / "run")
    results = execute(options, quietly())
    folder = tmp_path / "run"
    assert sorted(path.name for path in (folder / "hall").iterdir()) == [
        f"{n:06d}.safetensors" for n in (1, 2, 3, 4)
    ]
    famous = [
        [
            row["opponents"]
            for row in results["measurements"]
            if row["hall"] and row["generation"] == n
        ][::2]
        for n in (1, 2, 3)
    ]
    assert famous == [
        [],
        ["3 x champion of generation 1"],
        ["3 x champion of generation 1", "3 x champion of generation 2"],
    ]
    final = [
        row["opponents"]
        for row in results["against"]
        if row["hall"] and row["player"] == "champion"
    ]
    assert final == ["3 x champion of generation 1", "3 x champion of generation 3"]
    assert sorted(path.name for path in (folder / "populations").iterdir()) == [
        "000001.npz",
        "000003.npz",
    ]
    kept = read_arrays(folder / "populations" / "000003.npz")
    best = agents.load(folder / "hall" / "000003.safetensors")
    assert np.array_equal(KIND.rows(kept["population"])[kept["fitness"].argmax()], best.params)
    again = execute(
        dataclasses.replace(SMALL, generations=1, against=(), overwrite=True, out=folder), quietly()
    )
    assert again["against"] == []
    assert not (folder / "hall").exists()
    assert not (folder / "populations").exists()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"population": 18}, "does not split into tables of 4: use 16 or 20"),
        (
            {"fitness": "tournament", "population": 24},
            "no single elimination at tables of 4.*: use 16 or 32",
        ),
        ({"fitness": "wins"}, "Unknown --fitness 'wins'. Did you mean 'num_wins'"),
        ({"select": "roulete"}, "Unknown --select 'roulete'. Did you mean 'roulette'"),
        ({"crossover": "blent"}, "Unknown --crossover 'blent'. Did you mean 'blend'"),
        ({"mutation": "flip"}, "--mutation flip does not suit 'strategic', whose genes are reals"),
        ({"crossover": "legacy_sga"}, "does not suit .*reals: use blend, uniform, one_point, mean"),
        ({"elite": 0.5, "copied": 0.4, "mutated": 0.3}, "is more than 1"),
        ({"genome": "strategc"}, "Unknown genome 'strategc'. Did you mean 'strategic'"),
        ({"rules": "mukha"}, "Unknown --rules 'mukha'. Did you mean 'mukhar'"),
        ({"against": ("rndom",)}, "Unknown policy 'rndom'"),
        ({"evaluation_games": 5}, "--evaluation-games must be a multiple of 4, such as 8"),
        ({"mutation_rate": 2.0}, "--mutation-rate must be from 0 to 1"),
        ({"population": 40_000}, "--population must be from 2 to 32,768"),
    ],
)
def test_wrong_settings_are_refused(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(MonopolyError, match=reason):
        dataclasses.replace(SMALL, **changes).check()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {"matings": 6},
            "take 48 players at the same time; the population has 40: --matings may be 5 at most",
        ),
        ({"population": 4}, "a population of 4 is too small for one"),
        ({"union": "maen"}, "Unknown --union 'maen'. Did you mean 'mean'"),
        (
            {"mutation": "redrow"},
            "Unknown --mutation 'redrow' of 'strategic'. Did you mean 'redraw'",
        ),
    ],
)
def test_wrong_settings_of_a_steady_state_are_refused(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(MonopolyError, match=reason):
        dataclasses.replace(STEADY, **changes).check()


def test_splits() -> None:
    check_split(1000, 4, "num_wins")
    check_split(1024, 4, "tournament")
    with pytest.raises(ConfigurationError, match="must be even, not 3"):
        check_split(12, 3, "tournament")


def test_the_command_knows_its_presets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(tmp_path / "run")
    tiny = [
        "--preset",
        "mukhar2012",
        "--genome",
        "strategic",
        "--population",
        "8",
        "--matches",
        "1",
        "--generations",
        "1",
    ]
    tiny += ["--against", "random", "--turn-limit", "20"]
    assert main([*tiny, "--final-games", "4", "--out", folder, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert json.loads((tmp_path / "run" / "evaluation.json").read_text()) == told
    assert [row["name"] for row in told["genes"]] == list(KIND.names)
    assert main(["--preset", "mukhr2012"]) == 2
    assert "Did you mean 'mukhar2012'" in capsys.readouterr().err
