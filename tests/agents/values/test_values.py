"""The shipped network of values.

Shares that add up, files that are checked, and a better forecast than worth.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
import monopoly_env as me
from agents.values import saved
from agents.values.network import ARCHITECTURE
from monopoly_env import core
from monopoly_env.analyse import Value, values
from monopoly_env.analyse.values import ValueKernel
from monopoly_env.facts.board import LOT_NAME
from monopoly_env.game import Game, Games
from monopoly_env.rewards import worth_lead, worth_of_all
from training.values.sampling import play
from training.values.tables import SETTINGS, Mixture

RULES = ("official", "ocnaru")


def random_positions(
    players: int, rules: str, count: int, decisions: int = 150, seed: int = 0
) -> Games:
    """Positions of running games that were played at random."""
    rng, found = np.random.default_rng(seed), []
    while len(found) < count:
        game = me.new_game(players, rules, int(rng.integers(1 << 30)))
        for _ in range(int(rng.integers(decisions))):
            if not me.is_over(game):
                me.step(game, int(rng.choice(me.legal_actions(game))))
        if not me.is_over(game):
            found.append(core.batch_of(game).copy())
    return np.concatenate(found)


@pytest.fixture(scope="module")
def best() -> Value:
    return agents.values.make("best")


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_shares_add_up_to_one(best: Value, players: int, rules: str) -> None:
    games = random_positions(players, rules, 20)
    before = games.tobytes()
    shares = best.shares(games)
    assert shares.shape == (20, players)
    assert shares.sum(axis=1) == pytest.approx(np.ones(20), abs=1e-12)
    assert ((shares > 0) == (games["place"][:, :players] == 0)).all()
    assert games.tobytes() == before


def test_who_is_out_has_nothing_and_does_not_matter(best: Value) -> None:
    three = me.position(3, turn=1, lots={1: ["Boardwalk"]}, cash={1: 700, 2: 900}, bankrupt=[0])
    two = me.position(2, turn=0, lots={0: ["Boardwalk"]}, cash={0: 700, 1: 900})
    shares = best.shares(three)
    assert shares[0] == 0
    assert shares[1:] == pytest.approx(best.shares(two), abs=1e-12)


def test_the_names_of_seats_do_not_matter(best: Value) -> None:
    lots, cash = (
        [["Boardwalk", "Park Place"], ["Reading Railroad"], [], ["Baltic Avenue"]],
        [900, 1500, 300, 50],
    )

    def moved(by: int) -> Game:
        """The position with every player so many seats further on."""
        seats = [(seat + by) % 4 for seat in range(4)]
        return me.position(
            4,
            turn=by,
            lots=dict(zip(seats, lots, strict=True)),
            cash=dict(zip(seats, cash, strict=True)),
        )

    for by in range(1, 4):
        assert np.roll(best.shares(moved(by)), -by) == pytest.approx(
            best.shares(moved(0)), abs=1e-12
        )


def test_a_value_does_not_depend_on_the_batch(best: Value) -> None:
    games = random_positions(4, "official", 10)
    together = best.shares(games)
    for game, shares in zip(games, together, strict=True):
        assert np.array_equal(best.shares(game), shares)


def test_a_game_that_is_over_has_its_winner(best: Value) -> None:
    game = me.position(2, me.Rules(max_turns=1), cash={0: 100, 1: 50}, throws=[(1, 2)])
    while not me.is_over(game):
        me.step(game, int(me.legal_actions(game)[-1]))
    winner = me.winner(game)
    assert winner is not None
    assert best.shares(game)[winner] == 1


def test_playouts_that_are_cut_off_end_with_it(best: Value) -> None:
    game = me.position(3, lots={0: ["Boardwalk", "Park Place"]}, cash={0: 2000})
    played = me.rollout(game, "algorithmic", 40, turns=2, value="best", threads=1)
    assert played.cut.any()
    assert np.allclose(played.shares.sum(axis=1), 1, atol=1e-6)
    assert np.array_equal(
        played.shares, me.rollout(game, "algorithmic", 40, turns=2, value=best, threads=2).shares
    )


def test_a_perfect_value_at_the_cut_changes_nothing_in_the_mean() -> None:
    """One more round, then worth decides.

    The exact value after the first throw is the mean over the 36 second ones.
    """
    game = _end_game()
    full, cut = (
        me.rollout(
            game, "friedman", 20_000, shuffle=False, turns=turns, value=Value("exact", _last_throw)
        )
        for turns in (None, 1)
    )
    assert cut.cut.all()
    spread = np.sqrt(full.shares[:, 0].var() / 20_000 + cut.shares[:, 0].var() / 20_000)
    assert 0.1 < full.share[0] < 0.9
    assert abs(full.share[0] - cut.share[0]) < 5 * spread
    assert cut.shares[:, 0].var() < full.shares[:, 0].var()


def test_it_forecasts_better_than_worth(best: Value) -> None:
    """Of games between policies that it has not seen.

    A difference of more than five standard errors.
    """
    gains = []
    for states in play(
        Mixture.of({"landlord/balanced": 1, "fp/b": 1}),
        range(len(SETTINGS)),
        1,
        kept=1,
        records=True,
    ):
        games, outcome = (
            states.games[states.there],
            states.share[states.kept > 0, : states.players[0]],
        )
        squared = {
            value.name: ((value.shares(games) - outcome) ** 2).sum(axis=1)
            for value in (best, values.resolve("worth"))
        }
        gains += (squared["worth"] - squared["best"]).tolist()
    assert len(gains) > 400
    assert np.mean(gains) > 5 * np.std(gains) / np.sqrt(len(gains))


def test_it_refuses_larger_tables(best: Value) -> None:
    game = me.new_game(5)
    for call in (
        lambda: best.shares(game),
        lambda: me.rollout(game, "random", 2, turns=1, value=best),
    ):
        with pytest.raises(me.ConfigurationError, match="'best' is for tables of 2 to 4, not of 5"):
            call()


def test_a_saved_network_is_the_same(best: Value, tmp_path: Path) -> None:
    arrays = ARCHITECTURE.unpack(best.params)
    saved.save(tmp_path / "value.safetensors", arrays, best.about)
    again = agents.values.make(tmp_path / "value.safetensors")
    assert np.array_equal(again.params, best.params)
    assert again.about == best.about
    assert set(again.about) >= {"games", "seed", "policies", "rules", "players"}


def test_wrong_files_and_names_are_refused(
    best: Value, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, arrays = tmp_path / "value.safetensors", ARCHITECTURE.unpack(best.params)
    with pytest.raises(me.ConfigurationError, match=r"Unknown value 'bets'.*Did you mean 'best'"):
        agents.values.make("bets")
    with pytest.raises(me.ConfigurationError, match=r"Unknown value 'bets'.*Did you mean 'best'"):
        me.rollout(me.new_game(2), "random", 2, turns=1, value="bets")
    with pytest.raises(me.FormatError, match="No such file"):
        agents.values.make(path)
    with pytest.raises(me.ConfigurationError, match=r"must be saved to a .safetensors file"):
        saved.save(tmp_path / "value.npz", arrays, {})
    with pytest.raises(me.FormatError, match="is missing"):
        saved.save(path, {name: array for name, array in arrays.items() if name != "0.bias"}, {})
    with pytest.raises(me.FormatError, match="not finite"):
        saved.save(path, arrays | {"0.bias": np.full(128, np.nan, np.float32)}, {})
    agents.make("random").save(path)
    with pytest.raises(me.FormatError, match="features is None"):
        agents.values.load(path)
    saved.save(path, arrays, {})
    monkeypatch.setitem(saved.VERSIONS, "features", "0")
    with pytest.raises(me.FormatError, match=r"features is .*expected '0'"):
        agents.values.load(path)


# --- what the tests share


ORANGE = ("St. James Place", "Tennessee Avenue", "New York Avenue")


def _end_game() -> Game:
    """Player 0 throws, then player 1, which sits in jail, then player 0 again.

    Then the higher worth wins. Player 0 leads by 1,000 dollars, and every other lot is mortgaged:
    one hotel on orange and it has lost, none and it has won. The next Chance cards are known, and
    none of them leads to a hotel.
    """
    others = [lot for lot in LOT_NAME[0] if lot not in ORANGE]
    rules = me.Rules(doubles_again=False, max_turns=3, score="tax_worth", first_player="fixed")
    game = me.position(
        2, rules, turn=0, positions={0: 8}, jail={1: 0}, lots={1: [*ORANGE, *others]},
        mortgaged=others,
        buildings=dict.fromkeys(ORANGE, 5), cash={0: 10_000, 1: 0}, chance=["advance_go"],
    )  # fmt: skip
    worth = me.worth(game)
    game.cash[0] = worth[1] + 1000
    return core.settle(game)


@ValueKernel
def _last_throw(game: Any, params: Any, shares: Any) -> None:
    """Player 0 leads and throws once more: the odds of no hotel."""
    hits = 0
    for first in range(1, 7):
        for second in range(1, 7):
            square = (int(game.position[0]) + first + second) % 40
            hits += square in (16, 18, 19)
    ahead = worth_lead(game, 0, worth_of_all(game)) > 0
    shares[0] = 1.0 - hits / 36.0 if ahead else 0.0
    shares[1] = 1.0 - shares[0]
