"""The command `python -m training.sprt`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import arena
from agents.arena.evaluation import Wins
from training import sprt
from training.sprt import Claims, Tally

CLAIMS = Claims(0.0, 0.1, 0.05, 0.1)


def verdicts(mean: float, runs: int, seeds: int = 20_000, block: int = 50) -> list[tuple[str, int]]:
    """Verdict and seeds of simulated tests: two games a seed, differences -1, 0 or 1."""
    generator, found = np.random.default_rng(1), []
    for _ in range(runs):
        won = generator.random((seeds, 2)) < (1 + mean) / 2
        differences, tally = 2 * won.mean(axis=1) - 1, Tally()
        while not (verdict := CLAIMS.verdict(tally)):
            tally = tally.plus(differences[tally.seeds :][:block])
        found.append((verdict, tally.seeds))
    return found


def test_each_claim_is_rejected_wrongly_as_rarely_as_promised() -> None:
    runs = 400
    for mean, wrong, promised in ((0.0, "high", CLAIMS.alpha), (0.1, "low", CLAIMS.beta)):
        errors = sum(verdict == wrong for verdict, _ in verdicts(mean, runs))
        assert 0 < errors <= runs * promised + 2 * np.sqrt(runs * promised), (mean, errors)


def test_it_stops_sooner_the_farther_the_truth_lies_from_the_claims() -> None:
    seeds = {mean: np.mean([n for _, n in verdicts(mean, 100)]) for mean in (-0.3, 0.0, 0.05, 0.4)}
    assert seeds[0.4] < seeds[0.0] < seeds[0.05]
    assert seeds[-0.3] < seeds[0.0]
    assert {verdict for verdict, _ in verdicts(0.4, 50)} == {"high"}
    assert {verdict for verdict, _ in verdicts(-0.3, 50)} == {"low"}


def test_seeds_that_all_end_alike_do_not_look_certain_at_once() -> None:
    assert CLAIMS.verdict(Tally().plus(np.zeros(10))) == ""
    assert CLAIMS.verdict(Tally().plus(np.zeros(10_000))) == "low"
    assert CLAIMS.verdict(Tally().plus(np.ones(1000))) == "high"
    parts = Tally().plus(np.array([0.5, -1.0])).plus(np.array([1.0]))
    assert parts == Tally(3, 0.5, 2.25)
    assert parts.about(0.5) == pytest.approx(0 + 1.5**2 + 0.5**2 + 0.5**2 + 1.5**2)


@pytest.fixture
def coins(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """No games: the first player of `against` wins 60%, others an even share; the calls."""
    calls: list[tuple[Any, ...]] = []

    def against(
        players: Any, seatings: Any, games: Any, seed: int, *rest: Any, **named: Any
    ) -> list[Wins]:
        calls.append(([policy.name for policy in players], list(map(str, seatings)), games, seed))
        generator, seeds = np.random.default_rng(seed), np.arange(sum(games)) // 2
        rates = [0.6 if policy.name == "expert" else 0.5 for policy in players]
        return [
            Wins(policy.name, (generator.random(len(seeds)) < rate).astype(float), seeds)
            for policy, rate in zip(players, rates, strict=True)
        ]

    monkeypatch.setattr(arena, "against", against)
    return calls


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    status = sprt.main(["expert", "gcp", "--json", "--no-progress", "--high", "0.1", *words])
    return status, json.loads(capsys.readouterr().out or "{}")


def test_it_ends_by_itself_and_goes_on_where_it_was_stopped(
    coins: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, whole = run(capsys, "--block", "40")
    assert (status, whole["accepted"]) == (0, "high")
    assert whole["games"] == 2 * whole["seeds"] < 4000
    assert whole["low"] < 0.2 < whole["high"]
    file = ["--out", str(tmp_path / "test.json"), "--block", "40"]
    status, part = run(capsys, *file, "--games", "80")
    assert (status, part["accepted"], part["games"]) == (1, None, 80)
    assert run(capsys, *file)[0] == 2  # it exists
    assert run(capsys, *file, "--resume", "--seed", "1")[0] == 2  # another test
    assert run(capsys, *file, "--resume") == (0, whole)
    seeds = [seed for _, _, _, seed in coins]
    blocks = whole["games"] // 40
    assert seeds == [*range(blocks), 0, 1, *range(2, blocks)]


def test_against_others_both_play_the_same_seats(
    coins: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    status, told = run(capsys, "--against", "strategic", "strangers/choose", "--num-players", "4")
    assert (status, told["accepted"]) == (0, "high")
    names, seatings, games, _ = coins[0]
    assert names == ["expert", "gcp"]
    assert seatings[:2] == ["3 x strategic", "3 x strangers/choose/0"]
    assert len(seatings) == len(games) > 20
    assert set(games) == {16}


def test_two_players_meet_one_against_copies_of_the_other(
    coins: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "--num-players", "3")[0] == 0
    assert [(names, seatings) for names, seatings, _, _ in coins[:2]] == [
        (["expert"], ["2 x gcp"]),
        (["gcp"], ["2 x expert"]),
    ]


def test_claims_must_be_apart(capsys: pytest.CaptureFixture[str]) -> None:
    assert sprt.main(["expert", "gcp", "--low", "0.02"]) == 2
    assert "--low 0.02 must be less than --high 0.01" in capsys.readouterr().err


def test_a_player_is_stronger_than_a_random_one(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["expert", "random", "--high", "0.2", "--block", "60", "--threads", "1", "--no-progress"]
    assert sprt.main(line) == 0
    assert "accepted: a difference of +0.200" in capsys.readouterr().out
