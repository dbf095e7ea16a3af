"""`agents.strangers`: generated players, split once."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import agents
from agents import arena, strangers
from agents.strangers import FAMILIES, LISTED, SPLITS, MixedPolicy, listed, stranger
from monopoly_env.errors import ConfigurationError
from monopoly_env.policy.protocol import CompiledPolicy


def test_no_player_is_in_two_splits_and_each_name_is_one_player() -> None:
    bases = [base for scripts, networks in FAMILIES.values() for base in (*scripts, *networks)]
    assert len(bases) == len(set(bases))
    assert set(bases) <= set(agents.names())
    for split in SPLITS:
        found = listed(split)
        assert [one.name for one in found] == [f"strangers/{split}/{n}" for n in range(LISTED)]
        for one in found:
            again = agents.make(one.name)
            assert (again.name, repr(again)) == (one.name, repr(one))
            if not isinstance(one, MixedPolicy):
                assert np.array_equal(again.params, one.params)
        assert sum(isinstance(one, MixedPolicy) for one in found) == LISTED // 2


def test_variants_of_one_script_differ_and_mixtures_have_a_part_of_their_split() -> None:
    rows = [stranger("report", 2 * place).params for place in (0, 11)]
    assert [len(row) for row in rows] == [len(agents.make("yasumura").params)] * 2
    assert not np.isclose(rows[0], rows[1]).all()
    for split in SPLITS:
        kinds = {agents.make(base).kind for base in FAMILIES[split][0]}
        for number in range(1, LISTED, 2):
            mixture = stranger(split, number)
            assert isinstance(mixture, MixedPolicy)
            assert kinds & {part.kind for part in mixture.parts}
    assert not set(agents.names()) & set(strangers.POLICIES)  # generated names are not listed
    with pytest.raises(ConfigurationError, match=r"'reports'.*Did you mean 'report'"):
        stranger("reports", 0)


def test_a_mixture_makes_each_decision_as_the_part_that_it_belongs_to() -> None:
    first, second = agents.make("expert"), agents.make("strategic")
    masked = CompiledPolicy("masked", first.kernel, first.params, reads_mask=True)
    with pytest.raises(ConfigurationError, match="not of 'masked'"):
        MixedPolicy(first, masked, ["buy"])
    with pytest.raises(ConfigurationError, match="'turn' is not one"):
        MixedPolicy(first, first, ["turn"])
    alike = MixedPolicy(first, first, ["buy", "bid", "reply"])
    never = MixedPolicy(first, second, [])
    seating = [arena.evaluation.Seating(("algorithmic",))]
    plain, same, none = arena.against([first, alike, never], seating, [20], seed=3, threads=1)
    assert plain.won.tolist() == none.won.tolist()
    turns = [wins.results[0].turns.tolist() for wins in (plain, same, none)]
    assert turns[0] == turns[2]
    mixed = MixedPolicy(first, second, ["buy", "bid", "reply", "debt", "jail"])
    (other,) = arena.against([mixed], seating, [20], seed=3, threads=1)
    assert other.results[0].turns.tolist() != turns[0]


def test_a_mixture_is_pickled_as_its_parts() -> None:
    mixture = stranger("report", 1)
    copy = pickle.loads(pickle.dumps(mixture))  # noqa: S301 - our own
    assert (repr(copy), copy.params.tolist()) == (repr(mixture), mixture.params.tolist())
    assert "params" not in mixture.arrays()  # addresses of this process are not saved


@pytest.mark.parametrize("split", SPLITS)
def test_strangers_play_whole_games_at_tables_of_two_and_four(split: str) -> None:
    for num_players in (2, 4):
        found = listed(split, num_players)[:: 3 if num_players == 2 else 5]
        seatings = [arena.evaluation.Seating((one,) * (num_players - 1)) for one in found]
        (wins,) = arena.against(["expert"], seatings, [num_players] * len(found), threads=1)
        assert [part.games for part in wins.results] == [num_players] * len(found)
        assert 0 < wins.rate <= 1
