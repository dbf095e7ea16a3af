"""`python -m studies.benchmark`: the figures of docs/results/dqn.md and the page that is written from them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from studies.benchmark import AGENT, EXPERT, MATCHES, PARENT, Match, Options
from torch.utils.tensorboard import SummaryWriter

from agents import arena
from agents.networks.learned.networks import SHAPES
from agents.networks.learned.policy import LearnedPolicy
from studies import benchmark

GAMES = "12"
ROWS = ("three-expert", "heads-2")


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A learned policy that departs from its parent in two heads, by networks of chance."""
    chance = np.random.default_rng(0)
    policy = LearnedPolicy(("buy", "jail"))
    path = tmp_path_factory.mktemp("agent") / "mine.safetensors"
    policy.changed(**{name: chance.normal(0, 0.1, shape).astype(np.float32) for name, shape in SHAPES.items()}).save(path)
    return path


def command(agent: Path, out: Path, *more: str) -> list[str]:
    return ["--agent", str(agent), "--agent-ocnaru", str(agent), "--games", GAMES, "--out", str(out), *more]


@pytest.fixture(scope="module")
def measured(agent: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with figures of two rows, and their page."""
    out = tmp_path_factory.mktemp("results") / "dqn.md"
    assert benchmark.main(command(agent, out, "--only", *ROWS)) == 0
    return out.parent


@pytest.fixture
def folder(measured: Path, tmp_path: Path) -> Path:
    """A copy of it to write into."""
    return Path(shutil.copytree(measured, tmp_path / "results"))


def figures(folder: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((folder / "dqn.json").read_text("utf-8"))
    return told


def test_the_agent_expert_and_the_parent_play_the_same_seeds(measured: Path, agent: Path) -> None:
    row = figures(measured)["rows"]["three-expert"]
    assert (row["games"], row["seed"]) == (12, 0)
    assert row["shares"][EXPERT] == row["shares"][PARENT], "the parent of this agent is `expert` as it is"
    assert row["shares"][EXPERT]["win_rate"] == pytest.approx(1 / 3), "copies in all seats win alike"
    policy = benchmark.learned(str(agent))
    exact = arena.compare(policy, policy.parent(), ["expert", "expert"], 12, 3)
    found = next(each for each in row["differences"] if each["second"] == PARENT)
    assert found["difference"] == pytest.approx(exact.difference)
    assert (found["low"], found["high"], found["p_value"]) == pytest.approx((exact.low, exact.high, exact.p_value))
    assert row["shares"][AGENT]["win_rate"] == pytest.approx(exact.rates[0])


def test_heads_alone_and_left_out(measured: Path, agent: Path) -> None:
    row = figures(measured)["rows"]["heads-2"]
    found = {(each["first"], each["second"]): each["difference"] for each in row["differences"]}
    assert set(found) == {(AGENT, PARENT), ("+buy", PARENT), ("+jail", PARENT), (AGENT, "-buy"), (AGENT, "-jail")}
    assert row["shares"]["+jail"] == row["shares"]["-buy"], "of two heads, one alone is the agent without the other"
    assert found["+buy", PARENT] + found[AGENT, "-buy"] == pytest.approx(found[AGENT, PARENT])
    policy = benchmark.learned(str(agent))
    exact = arena.compare(policy.with_heads(("buy",)), policy.with_heads(()), ["expert"], 12)
    assert found["+buy", PARENT] == pytest.approx(exact.difference)


def test_the_page_is_written_from_the_figures(folder: Path, agent: Path) -> None:
    kept = figures(folder)
    kept["rows"]["three-expert"]["shares"][AGENT] = {"win_rate": 0.987, "low": 0.98, "high": 0.99}
    (folder / "dqn.json").write_text(json.dumps(kept), "utf-8")
    (folder / "dqn_ocnaru.md").write_text("# Another page", "utf-8")
    assert benchmark.main(command(agent, folder / "dqn.md", "--only", "none", "--machine", "an abacus")) == 0
    page = (folder / "dqn.md").read_text("utf-8")
    assert "**0.987 (0.980 to 0.990)**" in page
    assert "12 games in each place, seed 0" in page
    assert "an abacus" in page
    assert "](dqn_ocnaru.md)" in page
    assert "](ppo.md)" not in page, "a page that is not there is not linked"
    assert page.count("| `jail` |") == 1
    assert "four-expert" not in page, "a row that was not measured is not shown"


def test_single_rows_are_measured_again(folder: Path, agent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = figures(folder)["rows"]
    assert benchmark.main(command(agent, folder / "dqn.md", "--only", "three-expert", "--seed", "1")) == 0
    after = figures(folder)["rows"]
    assert after["heads-2"] == before["heads-2"]
    assert after["three-expert"]["seed"] == 1
    page = (folder / "dqn.md").read_text("utf-8")
    assert "--games 12 --only heads-2\n" in page, "each row is told with the command that has measured it"
    assert "--games 12 --seed 1 --only three-expert\n" in page

    def unexpected(*args: object) -> None:
        raise AssertionError("a match was played again")

    monkeypatch.setattr(benchmark, "score", unexpected)
    assert benchmark.main(command(agent, folder / "dqn.md", "--only", "three-expert", "--seed", "1", "--resume")) == 0
    with pytest.raises(AssertionError, match="played again"):
        benchmark.main(command(agent, folder / "dqn.md", "--only", "three-expert", "--seed", "2", "--resume"))


def test_matches_that_were_finished_are_kept_when_it_is_stopped(
    agent: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measure = benchmark.measure

    def stopped(match: Match, *rest: Any) -> dict[str, Any]:
        if match is MATCHES["two-expert"]:
            raise KeyboardInterrupt
        return measure(match, *rest)

    monkeypatch.setattr(benchmark, "measure", stopped)
    assert benchmark.main(command(agent, tmp_path / "dqn.md", "--only", "three-expert", "two-expert")) == 130
    assert set(figures(tmp_path)["rows"]) == {"three-expert"}
    assert "--resume" in capsys.readouterr().err


def test_curves_of_a_run(folder: Path, agent: Path, tmp_path: Path) -> None:
    run = tmp_path / "long"
    with SummaryWriter(str(run / "curves")) as writer:
        for step, rate in ((100, 0.25), (200, 0.5)):
            for key, value in (("win_rate", rate), ("low", rate - 0.125), ("high", rate + 0.125)):
                writer.add_scalar(f"{key}/landlord/balanced, 4 players", value, step)
    wanted = {"opponent": "landlord/balanced, 4 players", "step": 200, "win_rate": 0.5, "low": 0.375, "high": 0.625}
    assert benchmark.curves(run)[1] == wanted
    assert benchmark.main(command(agent, folder / "dqn.md", "--only", "none", "--run", str(run))) == 0
    assert figures(folder)["curves"]["long"][1] == wanted
    assert (folder / "dqn_curves.png").read_bytes().startswith(b"\x89PNG")
    assert "(dqn_curves.png)" in (folder / "dqn.md").read_text("utf-8")


def test_a_run_against_held_out_opponents_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "config.json").write_text('{"opponents": ["self", "expert", "fp/b"]}', "utf-8")
    assert benchmark.main(["--out", str(tmp_path / "dqn.md"), "--only", "none", "--run", str(tmp_path)]) == 2
    assert "was trained against fp/b, which the page calls held out" in capsys.readouterr().err


def test_the_table_of_matches() -> None:
    assert len(MATCHES["robin"].tables) == 12
    assert sorted(len(set(table)) for table in MATCHES["four-landlord"].tables) == [4] * 4
    pairs = {frozenset(table) for name in ("robin", "robin-strategic") for table in MATCHES[name].tables}
    assert len(pairs) == 23, "all pairs of the agent and of `strategic`, one of which is their own"
    held_out = {name for name, match in MATCHES.items() if match.held_out}
    assert held_out == {"four-fp", "four-guarded", "four-landlord", *(name for name in MATCHES if name.startswith("ocnaru-fp"))} | {
        "ocnaru-yasumura",
        "ocnaru-algorithmic",
    }
    for match in MATCHES.values():
        assert sum(match.games(10_000)) >= 10_000
    assert MATCHES["four-landlord"].games(10_000) == [24 * 105] * 4, "seeds are played in all orders of the seats"
    assert MATCHES["four-expert"].games(10_001) == [10_004]


def test_a_goal_is_reached_by_the_whole_interval() -> None:
    verdicts = [benchmark._verdict(0.5, {"low": low, "high": low + 0.1}) for low in (0.5, 0.45, 0.35)]
    assert verdicts == ["reached", "open", "missed"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--only", "four-experts"], "Did you mean 'four-expert'"),
        (["--agent", "expert", "--only", "two-expert"], "a learned policy is measured here"),
        (["--agent", "dqn/worst", "--only", "two-expert"], "Unknown policy 'dqn/worst'"),
        (["--games", "0"], "--games must be 1 or more"),
        (["--only", "none", "--run", "nowhere"], "holds no curves"),
    ],
)
def test_wrong_options_are_told(arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert benchmark.main(["--out", str(tmp_path / "dqn.md"), *arguments]) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_figures_of_something_else_are_not_written_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "dqn.json").write_text('{"rows": 3}', "utf-8")
    assert benchmark.main(["--out", str(tmp_path / "dqn.md"), "--only", "none"]) == 2
    assert "no figures of this command" in capsys.readouterr().err
    assert (tmp_path / "dqn.json").read_text("utf-8") == '{"rows": 3}'


def test_the_command_on_the_page_measures_it_anew() -> None:
    assert benchmark._command(Options()) == "python -m studies.benchmark"
    assert benchmark._command(Options(agent_ocnaru="x", seed=3)) == "python -m studies.benchmark --agent-ocnaru x --seed 3"
