"""Operators of the genetic algorithms do what they say.

Where chance decides, a bound says how often a right one would fail.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from training.evolution import operators
from training.evolution.operators import CROSSOVERS, MUTATIONS, SELECTIONS, UNIONS

FALSE_ALARM = 1e-9  # of each comparison of a count; they are fewer than a hundred


def draws(seed: int = 0) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def assert_as_likely(count: int, trials: int, probability: float) -> None:
    low, high = binom.interval(1 - FALSE_ALARM, trials, probability)
    assert low <= count <= high


def reals(count: int, size: int, seed: int = 0) -> np.ndarray:  # type: ignore[type-arg]
    return draws(seed).random((count, size))


def bits(count: int, size: int, seed: int = 0) -> np.ndarray:  # type: ignore[type-arg]
    return draws(seed).integers(0, 2, (count, size)).astype(np.uint8)


def test_the_elite_are_the_fittest_and_no_more() -> None:
    fitness = np.array([3.0, 7.0, 7.0, 1.0, 7.0])
    assert operators.elite(fitness, 2).tolist() == [1, 2]
    assert operators.elite(fitness, 4).tolist() == [1, 2, 4, 0]
    assert operators.elite(fitness, 0).tolist() == []


def test_roulette_draws_by_the_share_of_fitness() -> None:
    fitness, count = np.array([0.0, 1.0, 0.0, 3.0, 6.0, 0.0]), 20_000
    drawn = np.bincount(operators.roulette(fitness, count, draws()), minlength=6)
    for row, share in enumerate(fitness / fitness.sum()):
        assert_as_likely(drawn[row], count, share)
    assert drawn[[0, 2, 5]].tolist() == [0, 0, 0]


def test_roulette_without_fitness_takes_all_alike_and_negative_counts_as_none() -> None:
    drawn = np.bincount(operators.roulette(np.zeros(4), 4000, draws()), minlength=4)
    for row in range(4):
        assert_as_likely(drawn[row], 4000, 0.25)
    assert set(operators.roulette(np.array([-5.0, 2.0, -1.0]), 100, draws()).tolist()) == {1}


class AlmostOne:
    """A generator whose numbers are as large as they can be."""

    def random(self, count: int) -> np.ndarray:  # type: ignore[type-arg]
        return np.full(count, np.nextafter(1.0, 0.0))


def test_roulette_never_falls_off_the_end() -> None:
    assert operators.roulette(np.array([0.1, 0.3, 0.0]), 2, AlmostOne()).tolist() == [1, 1]  # type: ignore[arg-type]


def test_a_tournament_keeps_the_better_of_two() -> None:
    count = 20_000
    drawn = np.bincount(
        operators.tournament(np.array([1.0, 4.0, 2.0, 3.0]), count, draws()), minlength=4
    )
    # the best of two draws out of four has rank r or less with ((r + 1) / 4)^2
    for row, rank in enumerate((0, 3, 1, 2)):
        assert_as_likely(drawn[row], count, ((rank + 1) ** 2 - rank**2) / 16)


def test_blend_mixes_with_one_share_a_mating() -> None:
    first, second = reals(50, 8, 1), reals(50, 8, 2)
    one, two = operators.blend(first, second, (slice(0, 8),), draws())
    assert one + two == pytest.approx(first + second)
    shares = (one - second) / (first - second)
    assert shares == pytest.approx(np.repeat(shares[:, :1], 8, axis=1))
    assert (shares >= -1e-9).all()
    assert (shares <= 1 + 1e-9).all()
    assert np.ptp(shares[:, 0]) > 0.5  # of 50 uniform draws: fails with a chance below 1e-12


def test_uniform_takes_each_gene_from_either_parent() -> None:
    first, second = reals(100, 101, 1), reals(100, 101, 2)
    one, two = operators.uniform(first, second, (), draws())
    mine = one == first
    assert np.array_equal(np.where(mine, first, second), one)
    assert np.array_equal(np.where(mine, second, first), two)
    assert_as_likely(int(mine.sum()), mine.size, 0.5)
    together = (mine[:, 1:] == mine[:, :-1]).sum()
    assert_as_likely(int(together), 100 * 100, 0.5)  # neighbours decide on their own


@given(st.integers(0, 1000), st.booleans())
def test_one_point_exchanges_the_tails_of_each_string(seed: int, of_bits: bool) -> None:
    parts = (slice(0, 5), slice(5, 6), slice(6, 18))
    make = bits if of_bits else reals
    first, second = make(6, 18, seed), make(6, 18, seed + 1)
    one, two = operators.one_point(first, second, parts, draws(seed))
    assert one.dtype == first.dtype
    for mother, father, left, right in zip(first, second, one, two, strict=True):
        for part in parts:
            string = [code[part].tolist() for code in (mother, father, left, right)]
            cuts = range(1, max(len(string[0]), 2))
            pairs = [
                (string[0][:cut] + string[1][cut:], string[1][:cut] + string[0][cut:])
                for cut in cuts
            ]
            assert (string[2], string[3]) in pairs


def test_one_point_cuts_everywhere() -> None:
    first, second = np.zeros((4000, 6)), np.ones((4000, 6))
    one, _ = operators.one_point(first, second, (slice(0, 6),), draws())
    cuts = np.bincount(6 - one.sum(axis=1).astype(int), minlength=7)
    assert cuts[[0, 6]].tolist() == [0, 0]
    for cut in range(1, 6):
        assert_as_likely(cuts[cut], 4000, 0.2)


def test_mean_is_the_middle_twice() -> None:
    first, second = reals(3, 4, 1), reals(3, 4, 2)
    one, two = operators.mean(first, second, (), draws())
    assert one.tolist() == two.tolist() == ((first + second) / 2).tolist()
    one[0, 0] = 9
    assert two[0, 0] != 9


def test_the_legacy_crossover_mixes_the_upper_part_by_exclusive_or() -> None:
    parts = (slice(0, 240), slice(240, 336))
    first, second = bits(300, 336, 1), bits(300, 336, 2)
    one, two = operators.legacy_sga(first, second, parts, draws())
    uncut = 0
    for part in parts:
        for mother, father, left, right in zip(
            first[:, part], second[:, part], one[:, part], two[:, part], strict=True
        ):
            place, cuts = np.arange(len(mother)), np.arange(len(mother) + 1)[:, None]
            upper = np.where(place > cuts, mother ^ father, 0)
            fits = (
                left == np.where(place < cuts, mother, np.where(place == cuts, father, upper))
            ).all(axis=1)
            fits &= (
                right == np.where(place < cuts, father, np.where(place == cuts, mother, upper))
            ).all(axis=1)
            assert fits.any()
            uncut += len(mother) == 96 and bool(fits[96])
    assert_as_likely(uncut, 300, (256 - 96) / 256)  # cuts beyond the short string leave it whole


def test_the_legacy_crossover_wears_the_upper_bits_of_a_uniform_population_away() -> None:
    alike = np.ones((400, 240), np.uint8)
    one, two = operators.legacy_sga(alike, alike, (slice(0, 240),), draws())
    assert one.tolist() == two.tolist()
    # all cuts but 17 of 256 zero the last bit: fails with a chance below 1e-9
    assert one[:, -1].mean() < 0.2
    assert binom.sf(79, 400, 17 / 256) < FALSE_ALARM
    right, _ = operators.one_point(alike, alike, (slice(0, 240),), draws())
    assert right.all()


def test_a_code_takes_each_gene_from_one_of_the_winners_or_their_mean() -> None:
    parents = reals(30, 300, 3).reshape(30, 3, 100)
    code = operators.choice_of(parents, draws())
    from_whom = (code[:, None] == parents).argmax(axis=1)
    assert (np.take_along_axis(parents, from_whom[:, None], axis=1)[:, 0] == code).all()
    for parent in range(3):
        assert_as_likely(int((from_whom == parent).sum()), code.size, 1 / 3)
    assert operators.mean_of(parents, draws()) == pytest.approx(parents.mean(axis=1))
    assert operators.choice_of(parents[:, :1], draws()).tolist() == parents[:, 0].tolist()


@pytest.mark.parametrize("name", MUTATIONS)
def test_mutations_strike_each_gene_alike_and_stay_in_range(name: str) -> None:
    population = bits(500, 40) if name == "flip" else reals(500, 40)
    before = population.copy()
    changed = MUTATIONS[name](population, 0.02, 0.1, draws())
    assert population.tolist() == before.tolist()
    assert changed.dtype == population.dtype
    struck = changed != population
    assert_as_likely(int(struck.sum()), struck.size, 0.02)
    assert_as_likely(int(struck[:, 7].sum()), 500, 0.02)
    if name != "flip":
        assert ((changed >= 0) & (changed <= 1)).all()
    for rate, share in ((0.0, 0), (1.0, 1)):
        assert (
            MUTATIONS[name](population, rate, 0.1, draws()) != population
        ).mean() == pytest.approx(share, abs=0.2)


def test_flips_are_flips() -> None:
    population = bits(20, 30)
    changed = operators.flip(population, 1.0, 0, draws())
    assert (changed + population == 1).all()


@pytest.mark.parametrize(
    ("mutation", "deviation"), [(operators.gauss, 0.1), (operators.offset, 0.1 / np.sqrt(3))]
)
def test_how_far_genes_move(mutation: Callable[..., np.ndarray], deviation: float) -> None:  # type: ignore[type-arg]
    population = np.full((400, 50), 0.5)
    moved = mutation(population, 1.0, 0.1, draws()) - 0.5
    # 20,000 draws: ten standard errors and more
    assert moved.std() == pytest.approx(deviation, rel=0.05)
    assert abs(moved.mean()) < 10 * deviation / np.sqrt(20_000)
    if mutation is operators.offset:
        assert np.abs(moved).max() <= 0.1 + 1e-15


def test_the_same_generator_gives_the_same_generation() -> None:
    fitness, first, second = reals(1, 30)[0], reals(30, 10, 1), reals(30, 10, 2)
    for select in SELECTIONS.values():
        assert select(fitness, 20, draws(5)).tolist() == select(fitness, 20, draws(5)).tolist()
    for cross in CROSSOVERS.values():
        pair = [cross(first, second, (slice(0, 10),), draws(5)) for _ in range(2)]
        assert np.array_equal(pair[0], pair[1])
        assert cross(first[:0], second[:0], (slice(0, 10),), draws())[0].shape == (0, 10)
    for name in ("gauss", "offset", "redraw"):
        pair = [MUTATIONS[name](first, 0.3, 0.1, draws(5)) for _ in range(2)]
        assert np.array_equal(pair[0], pair[1])
        assert MUTATIONS[name](first[:0], 0.3, 0.1, draws()).shape == (0, 10)
    for unite in UNIONS.values():
        parents = first.reshape(10, 3, 10)
        assert np.array_equal(unite(parents, draws(5)), unite(parents, draws(5)))
