"""Experiments: their settings are those of the papers, their statistics mean what they say.

Pages keep what is written by hand.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest
from studies.evolution import fitnesses, hypotheses, populations, pring, refusals, skew
from studies.evolution.__main__ import EXPERIMENTS, main
from studies.evolution.experiment import scaled

from agents.players import genetic
from agents.players.genetic import mukhar
from monopoly_env.facts.board import LOT_NAME, SQUARE_LOT
from training.evolution import generations
from training.evolution.generations import Generational, games_of
from training.evolution.steady import Steady


def test_every_run_has_settings_that_fit() -> None:
    # it plays games, no runs
    assert [name for name, experiment in EXPERIMENTS.items() if not experiment.runs] == ["refusals"]
    for experiment in EXPERIMENTS.values():
        for settings in experiment.runs.values():
            for budget in (1.0, 0.01):
                scaled(settings, budget).check()


def test_budgets_of_games_are_those_of_the_questions() -> None:
    assert len(populations.RANDOM) == 30
    assert {games_of(run.population, run) for run in populations.RANDOM.values()} == {25_000}
    assert len(fitnesses.RUNS) == 7 * 4 * 4
    for run in fitnesses.RUNS.values():
        games = games_of(run.population, run)
        assert abs(run.generations * games - fitnesses.GAMES) <= games / 2
    for steady in (pring.REPEATS | pring.VARIED).values():
        assert (
            abs(steady.generations * steady.matings * steady.winners - pring.GAMES)
            < steady.matings * steady.winners
        )
    assert isinstance(scaled(pring.VARIED["pring/one parent"], 0.5), Steady)
    assert set(pring.PUBLISHED) == set(LOT_NAME[2])


def test_luck_alone_has_the_spread_of_equal_players() -> None:
    deviation, least, most = populations.by_chance(Generational())
    # seats of a game, by lot
    points = np.random.default_rng(0).permuted(np.tile(np.arange(4), (100 * 25_000, 1)), axis=1)
    sums = points.reshape(100, -1).sum(axis=0)
    assert deviation == pytest.approx(sums.std(), rel=0.01)
    ends = np.array([[part.min(), part.max()] for part in sums.reshape(-1, 1000)]).mean(axis=0)
    assert (least, most) == pytest.approx(tuple(ends), abs=1.5)


def test_ones_are_counted_by_the_value_of_the_bit() -> None:
    kind = genetic.kind_of("sga")
    rows = kind.rows(np.zeros((1, kind.size)))
    assert rows[0, :160].tolist() == [0.0] * 160
    population = np.zeros((2, kind.size), np.uint8)
    population[0, 0::6] = 1  # the bit of 32 of all genes of one of two genomes
    assert skew.ones(population).tolist() == [0.5, 0, 0, 0, 0, 0]


def test_a_lot_is_obtained_by_two_draws_of_the_same_gene() -> None:
    """False alarms below 1e-6: an exact test of so many tries each."""
    for chance, tries in ((0.0, 100), (0.1, 2000), (1.0, 100)):
        got = round(tries * hypotheses.obtained(chance, tries))
        assert binomtest(got, tries, 1 - (1 - chance) ** 2).pvalue > 1e-6
    assert SQUARE_LOT[0, 16] >= 0


@pytest.mark.slow
def test_an_experiment_goes_on_where_it_was_stopped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = (
        f"--only skew --budget 0.001 --out {tmp_path / 'runs'} --page {tmp_path / 'page.md'}"
    ).split()
    stopped = tmp_path / "runs" / "skew" / "legacy" / "3"
    generation = generations.evaluate

    def stop(*arguments: Any, **more: Any) -> Any:
        if (stopped / "checkpoints").is_dir():  # in the second generation
            raise KeyboardInterrupt
        return generation(*arguments, **more)

    monkeypatch.setattr(generations, "evaluate", stop)
    assert main(arguments) == 130
    assert not (tmp_path / "page.md").exists()
    capsys.readouterr()
    monkeypatch.setattr(generations, "evaluate", generation)
    assert main(arguments) == 0
    told = capsys.readouterr().err
    assert "skew/legacy/3, run 10 of 12" in told
    assert "run 9 of 12" not in told
    text = (tmp_path / "page.md").read_text()
    assert "Welch's test" in text
    assert (tmp_path / "page" / "skew.png").is_file()
    assert main(arguments) == 0
    assert (tmp_path / "page.md").read_text() == text
    assert main([*arguments[:3], "0.05", *arguments[4:]]) == 2
    assert "ended after 2 generations, not 5: choose another --out" in capsys.readouterr().err
    (stopped / "evaluation.json").write_text("[]")
    assert main(arguments) == 2
    assert "is damaged" in capsys.readouterr().err


def test_refusals_are_one_thing_each() -> None:
    genomes = refusals.genomes()
    situations = {
        name: [key for key in genomes if key[1:] == (name,)] for name in mukhar.SITUATIONS
    }
    # two others cannot own in a group of two whose lot is for sale
    assert [len(keys) for keys in situations.values()] == [10, 10, 10, 7]
    refused = np.array([genes == 0 for key, genes in genomes.items() if len(key) == 2])
    assert set(refused.sum(axis=1)) == {2, 3, 4}  # the lots of a group
    assert refused.sum(axis=0).max() == 1  # no gene twice
    assert refused.sum() == mukhar.OCCURS.sum()
    jailed = [
        np.flatnonzero(genes == 0).tolist() for key, genes in genomes.items() if len(key) == 1
    ]
    assert jailed == [[160], [*range(161, 176)]]
    assert not np.any(genomes[()] == 0)
