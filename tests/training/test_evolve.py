"""Evolution: what a vector means, fair generations, and a search that can be told again.

Runs end the same however they were cut.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import agents
from agents import arena
from agents.arena.evaluation import Wins
from agents.players import genetic
from agents.players.expert import Bargainer
from agents.players.expert.parameters import NAMES, Expert
from agents.players.strategic import Strategic
from monopoly_env.errors import ConfigurationError, FormatError, MonopolyError
from monopoly_env.policy.protocol import CompiledPolicy
from training.evolution.cmaes import CMAES, CmaesOptions, CmaesSearch, genome_table
from training.evolution.fitness import FITNESSES, HELD_OUT, Matchup, held_out, play, split
from training.evolution.genome import (
    FAMILIES,
    BargainingGenome,
    GeneticGenome,
    ScriptedGenome,
    genome,
)
from training.evolution.run import execute
from training.evolve import main
from training.run import checkpoints

SMALL = CmaesOptions(
    fitness="two", generations=3, population=4, candidate_games=20, measure_every=1,
    measure_games=20, curve_games=2,
    final_games=2, seed=5, threads=2,
)  # fmt: skip


def quietly() -> Console:
    return Console(file=io.StringIO())


def test_a_vector_of_zeros_is_the_start_and_the_rest_goes_by_sign_and_range() -> None:
    genome = ScriptedGenome("expert")
    base = dict(zip(NAMES, Expert().row(), strict=True))
    assert genome.names == NAMES
    assert genome.row(genome.origin).tolist() == Expert().row().tolist()
    moved = dict(zip(NAMES, genome.values(np.ones(genome.size)), strict=True))
    assert moved["margin"] == pytest.approx(base["margin"] * np.exp(0.3))
    assert moved["horizon"] == pytest.approx(base["horizon"] * np.exp(0.3))
    assert moved["greed"] == pytest.approx(base["greed"] + 0.1 * 4)  # from -1 to 3
    for far in (-100.0, 100.0):
        row = genome.row(np.full(genome.size, far))
        Expert(**dict(zip(NAMES, row.tolist(), strict=True)))  # refuses what is out of range
    by_name = {told["name"]: told for told in genome.explain(np.ones(genome.size))}
    assert by_name["haste"] == {
        "name": "haste",
        "before": 1.0,
        "after": 2.0,
        "unit": "ratio",
        "range": [-5, 5],
    } | {"meaning": by_name["haste"]["meaning"]}


def test_switches_modes_and_fixed_numbers_stay() -> None:
    genome = ScriptedGenome("strategic", "strategic/late_game", fixed=("min_cash_reserve",))
    names = [field.name for field in dataclasses.fields(Strategic)]
    row = dict(zip(names, genome.row(np.full(genome.size, 0.5)), strict=True))
    start = dict(zip(names, agents.make("strategic/late_game").arrays()["params"], strict=True))
    same = {name for name in names if row[name] == start[name]}
    assert same == {
        "min_cash_reserve", "bankruptcy_mortgage_first", "complete", "legacy_trades", "adaptation",
        "legacy_debts",
    }  # fmt: skip
    assert genome.size == len(names) - len(same)


def test_an_evolved_player_is_saved_as_one_of_its_family(tmp_path: Path) -> None:
    genome = ScriptedGenome("strategic", "strategic/balanced")
    policy = genome.policy(np.linspace(-1, 1, genome.size), "strategic/evolved")
    policy.save(tmp_path / "evolved.safetensors")
    loaded = agents.load(tmp_path / "evolved.safetensors")
    assert isinstance(loaded, CompiledPolicy)
    assert (loaded.name, loaded.kernel) == ("strategic/evolved", policy.kernel)
    assert loaded.params.tolist() == policy.params.tolist()
    again = ScriptedGenome("strategic", tmp_path / "evolved.safetensors")
    assert again.row(again.origin).tolist() == policy.params.tolist()


def test_genes_move_by_their_logits_and_come_back_as_a_player_of_their_kind(tmp_path: Path) -> None:
    made = genome("tga", 4, None, ("leave jail: opponents' groups west 00, north 00",))
    assert made.size == 160 + 16 - 1
    assert made.values(made.origin).tolist() == [0.5] * made.size
    policy = made.policy(np.full(made.size, 1.0), "tga/evolved")
    assert policy.params[:160].tolist() == pytest.approx([1 / (1 + np.exp(-1))] * 160)
    assert policy.params[160] == 0.5  # fixed
    policy.save(tmp_path / "evolved.safetensors")
    again = GeneticGenome(genetic.kind_of("tga"), tmp_path / "evolved.safetensors")
    assert np.allclose(again.values(again.origin)[:160], policy.params[:160], atol=1e-12)
    assert [row["after"] for row in made.explain(np.full(made.size, 9.0))] == pytest.approx(
        [1 / (1 + np.exp(-9.0))] * made.size
    )
    tiny = dataclasses.replace(
        SMALL,
        genome="tga",
        fitness="mukhar",
        candidate_games=40,
        measure_games=40,
        final_games=24,
        generations=1,
        curve_games=0,
        out=tmp_path / "run",
    )
    results = execute(tiny, quietly())
    assert results["tables"][0]["opponents"] == "3 x genetic/tga, all genes a half"
    assert results["tables"][0]["start"] == 0.25
    assert genome_table(results["genome"]).row_count == 30


def test_a_bargainer_keeps_all_but_its_numbers_at_tables_of_one_size() -> None:
    begin = Bargainer([{"keep": keep} for keep in (100, 200, 300)], {"margin": 0.1}, bargains=False)
    found = genome("bargaining", 3, begin, ("keep",))
    assert isinstance(found, BargainingGenome)
    assert "keep" not in found.names
    before = begin.params.copy()
    policy = found.policy(np.ones(found.size), "bargaining/evolved")
    assert (policy.name, policy.bargains) == ("bargaining/evolved", False)
    assert np.array_equal(begin.params, before)
    moved = policy.at(3) != begin.at(3)
    assert [name for name, has_moved in zip(NAMES, moved, strict=True) if not has_moved] == ["keep"]
    assert [row["after"] for row in found.explain(np.ones(found.size))] == policy.at(3)[
        moved
    ].tolist()
    assert (policy.params != before).sum() == moved.sum()  # nothing else has changed


def test_a_player_of_the_family_expert_becomes_a_bargainer() -> None:
    found = genome("bargaining", 2, None, ())
    policy = found.policy(found.origin, "bargaining/evolved")
    assert isinstance(policy, Bargainer)
    assert policy.bargains
    assert np.array_equal(policy.params, Bargainer().params)
    tuned = genome("bargaining", 4, agents.make("expert", keep=10.0), ())
    assert (
        tuned.policy(tuned.origin, "x").params.tolist()
        == Bargainer([{"keep": 10.0}]).params.tolist()
    )  # type: ignore[attr-defined]
    with pytest.raises(
        ConfigurationError, match="'strategic' is a 'strategic', no player of the genome 'expert'"
    ):
        genome("bargaining", 2, "strategic", ())


def test_games_are_dealt_by_weight_in_all_orders_of_seats() -> None:
    assert split(FITNESSES["four"], 240) == [96, 48, 48, 48]
    assert split(FITNESSES["ocnaru"], 40) == [12, 4, 4, 8, 6, 6]
    with pytest.raises(
        ConfigurationError,
        match=r"100 games do not split evenly .* multiple of 120, such as 120 or 240",
    ):
        split(FITNESSES["four"], 100)
    for name, settings in FITNESSES.items():
        assert sum(setting.weight for setting in settings) == pytest.approx(1)
        assert split(settings, 1920 if name.startswith("strangers") else 240)


def test_nobody_who_is_held_out_is_ever_met() -> None:
    families = ("fp/", "yasumura", "landlord/")
    for settings in FITNESSES.values():
        assert not [
            name
            for setting in settings
            for name in setting.opponents
            if str(name).startswith(families)
        ]
        assert {str(name) for setting in held_out(settings) for name in setting.opponents} <= set(
            agents.names()
        )
    assert all(
        name.startswith(families)
        for tables in HELD_OUT.values()
        for table in tables
        for name in table
    )


def test_candidates_play_the_arenas_games_and_do_not_touch_each_other() -> None:
    settings = (
        Matchup(("random", "random"), turn_limit=60, weight=0.5),
        Matchup(("random", "algorithmic"), turn_limit=60, weight=0.25),
        Matchup(("algorithmic", "random"), "short", turn_limit=60, weight=0.25),
    )
    candidates = [agents.make("algorithmic", reserve=reserve) for reserve in (0, 200, 1500)]
    played = play(candidates, settings, 48, seed=9, threads=2)
    won = [score.by_seed[0].tolist() for score in played]
    assert [score.by_seed[1].tolist() for score in played] == [[3] * 8 + [6] * 2 + [6] * 2] * 3
    alone = [play([candidate], settings, 48, seed=9, threads=1)[0] for candidate in candidates]
    assert won == [one.by_seed[0].tolist() for one in alone]
    assert len({tuple(row) for row in won}) == 3
    for number, candidate in enumerate(candidates):
        results = arena.play([candidate, "random", "random"], 24, seed=9, turn_limit=60)
        mine = results.seats == results.names.index("algorithmic")
        assert (
            won[number][:8] == (results.wins * mine).sum(axis=1).reshape(8, 3).sum(axis=1).tolist()
        )
    assert [score.rate for score in played] == pytest.approx([sum(row) / 48 for row in won])


def test_many_candidates_are_kept_apart() -> None:
    candidates = [agents.make("algorithmic", reserve=5 * number) for number in range(200)]
    setting = (Matchup(("random",), turn_limit=2),)
    played = play(candidates, setting, 400, seed=2)  # more wins to count than 16 bits can number
    assert played[-1].won.tolist() == play(candidates[-1:], setting, 400, seed=2)[0].won.tolist()


def test_a_player_among_its_own_kind_wins_its_even_share_exactly() -> None:
    (score,) = play([agents.make("algorithmic")], (Matchup(("algorithmic",) * 3),), 16, seed=1)
    assert score.by_seed[0].tolist() == [1.0] * 4
    assert score.interval == pytest.approx((0.25, 0.25))


def test_the_search_finds_a_quadratics_top_and_can_be_told_again() -> None:
    top = np.linspace(-1, 1, 6)

    def search(generations: int, diagonal: bool = False) -> CMAES:
        optimizer = CMAES(6, 8, 0.5, 3, diagonal)
        for _ in range(generations):
            optimizer.tell(-((optimizer.ask() - top) ** 2).sum(axis=1))
        return optimizer

    common = np.random.get_state()[1].tolist()  # noqa: NPY002, the common generator is what must not move
    whole = search(60)
    assert np.random.get_state()[1].tolist() == common  # noqa: NPY002
    assert np.abs(whole.mean - top).max() < 0.01
    assert whole.deviation < 0.05
    again = CMAES(6, 8, 0.5, 3, False)
    again.tell_again(np.array(whole.history), whole.mean)
    assert again.ask().tolist() == whole.ask().tolist()
    with pytest.raises(FormatError, match="another version of pycma"):
        CMAES(6, 8, 0.5, 3, True).tell_again(np.array(whole.history), whole.mean)


def test_the_best_is_replaced_only_by_what_is_surely_better(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    evolution = CmaesSearch(SMALL)
    evolution.optimizer.ask()
    evolution.tell(np.array([0.1, 0.5, 0.2, 0.9]))
    evolution.report = type("Silent", (), {"scalars": lambda self, step, values: None})()
    evolution.console = quietly()
    units = np.repeat(np.arange(50), 2)
    luck = np.random.default_rng(0).integers(0, 3, 50).astype(np.float64)

    def measured(first: np.ndarray, second: np.ndarray) -> bool:  # type: ignore[type-arg]
        monkeypatch.setattr(
            evolution,
            "play",
            lambda *_: [Wins("", np.repeat(won / 2, 2), units) for won in (first, second)],
        )
        evolution.compare()
        return bool(evolution.measurements[-1]["kept"])

    slightly = luck.copy()
    slightly[:2] = 2.0
    assert slightly.mean() > luck.mean()
    assert not measured(slightly, luck)
    assert evolution.best.tolist() == evolution.genome.origin.tolist()
    assert not measured(np.zeros(50), luck)
    assert measured(np.full(50, 2.0), luck)
    assert evolution.best.tolist() == evolution.optimizer.mean.tolist()
    assert evolution.best.any()


def test_a_run_that_was_stopped_ends_like_one_that_was_not(tmp_path: Path) -> None:
    whole = dataclasses.replace(SMALL, out=tmp_path / "whole", threads=1)
    results = execute(whole, quietly())
    cut = dataclasses.replace(SMALL, out=tmp_path / "cut")
    execute(dataclasses.replace(cut, generations=1), quietly())
    resumed = execute(dataclasses.replace(cut, resume=True), quietly())
    assert resumed | {"agent": ""} == results | {"agent": ""}
    assert [row["generation"] for row in resumed["measurements"]] == [1, 2, 3]
    assert {row["generation"] for row in resumed["curve"]} == {0, 1, 2, 3}
    parts = [
        checkpoints.read_last(options.out / "checkpoints")[0]["search"] for options in (whole, cut)
    ]
    assert all(
        np.array_equal(parts[0][name], parts[1][name]) for name in ("fitness", "mean", "best")
    )
    assert parts[0]["fitness"].shape == (3, 4)
    assert (whole.out / "curves.csv").read_text() == (cut.out / "curves.csv").read_text()
    rows = list(csv.DictReader(io.StringIO((whole.out / "curves.csv").read_text())))
    assert [float(row["fitness/mean"]) for row in rows] == pytest.approx(
        parts[0]["fitness"].mean(axis=1).tolist()
    )
    assert float(rows[-1]["mean/horizon"]) == ScriptedGenome("expert").values(parts[0]["mean"])[0]
    saved = [agents.load(whole.out / name) for name in ("best.safetensors", "agent.safetensors")]
    assert (
        saved[0].arrays()["params"].tolist()
        == ScriptedGenome("expert").row(parts[0]["best"]).tolist()
    )
    assert saved[1].arrays()["params"].tolist() == saved[0].arrays()["params"].tolist()
    with pytest.raises(
        ConfigurationError, match=r"begun with other settings: sigma is 0.4, was 0.5"
    ):
        execute(dataclasses.replace(cut, resume=True, sigma=0.4), quietly())
    with pytest.raises(ConfigurationError, match="holds a run"):
        execute(cut, quietly())


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"genome": "exprt"}, "Unknown genome 'exprt'. Did you mean 'expert'"),
        ({"fitness": "fuor"}, "Unknown fitness 'fuor'. Did you mean 'four'"),
        (
            {"candidate_games": 30},
            "--candidate-games: 30 games do not split evenly .* multiple of 20, such as 20 or 40",
        ),
        ({"measure_games": 7}, "--measure-games: 7 games do not split"),
        ({"final_games": 3}, "--final-games: 3 games do not split"),
        ({"population": 2}, "--population must be from 4 to 10,000, not 2"),
        ({"generations": 0}, "--generations must be 1 or more, not 0"),
        ({"sigma": float("nan")}, "--sigma must be from"),
        (
            {"start": "strategic/balanced"},
            "'strategic/balanced' is a 'strategic/balanced', no player of the genome 'expert'",
        ),
        ({"start": "exprt"}, "Unknown policy 'exprt'"),
        ({"start": "gone.safetensors"}, "gone.safetensors"),
        ({"fixed": ("horizn",)}, "has no parameter 'horizn'. Did you mean 'horizon'"),
        ({"fixed": NAMES[1:]}, "--fixed leaves 1 parameters of 'expert'"),
        ({"genome": "sga"}, "The genes of 'sga' are bits: evolve them by --preset mukhar2012"),
        (
            {"genome": "pring", "start": "genetic/tga"},
            "is a 'genetic/tga', no player of the genome 'pring'",
        ),
        ({"genome": "pring", "fixed": ("Boardwlk",)}, "The genome 'pring' has no gene 'Boardwlk'"),
    ],
)
def test_wrong_settings_are_refused(changes: dict[str, object], reason: str) -> None:
    with pytest.raises(MonopolyError, match=reason):
        dataclasses.replace(SMALL, **changes).check()  # type: ignore[arg-type]


def test_the_command_evolves_measures_and_refuses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    folder = tmp_path / "run"
    tiny = [
        "--fitness",
        "two",
        "--generations",
        "2",
        "--population",
        "4",
        "--candidate-games",
        "20",
    ]
    tiny += [
        "--measure-games",
        "20",
        "--curve-games",
        "2",
        "--final-games",
        "2",
        "--out",
        str(folder),
    ]
    assert main([*tiny, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert json.loads((folder / "evaluation.json").read_text()) == told
    assert {table["opponents"] for table in told["tables"] if table["held_out"]} == {
        "fp/a/guarded",
        "yasumura",
        "landlord/balanced",
    }
    assert [row["name"] for row in told["genome"]] == list(NAMES)
    curve = {(row["generation"], row["opponent"]) for row in told["curve"]}
    assert curve == {
        (generation, table["opponents"]) for generation in (0, 2) for table in told["tables"]
    }
    drawn = EventAccumulator(str(folder / "curves")).Reload().Tags()["scalars"]
    assert sum(tag.startswith("win_rate/") for tag in drawn) == len(told["tables"])
    assert main(tiny) == 2
    again = capsys.readouterr()
    assert (again.out, again.err[:7]) == ("", "error: ")
    assert main([*tiny, "--resume", "--population", "5"]) == 2
    assert "population is 5, was 4" in capsys.readouterr().err
    assert main([*tiny, "--resume"]) == 0
    shown = capsys.readouterr().out
    assert "yasumura *" in shown
    assert "horizon" in shown


def test_every_family_can_evolve() -> None:
    for family in FAMILIES:
        genome = ScriptedGenome(family)
        assert genome.row(genome.origin).tolist() == agents.make(family).arrays()["params"].tolist()


def test_an_option_of_another_preset_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--tables", "two", "--no-burst-spares", "--anything"])
    assert ended.value.code == 2
    told = capsys.readouterr().err.splitlines()[-2:]
    assert told == [
        f"{option} is an option of --preset esp/monopoly."
        for option in ("--tables", "--no-burst-spares")
    ]
