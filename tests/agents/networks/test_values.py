"""The policy of action values: what it chooses, that it plays the same moves when saved, and which files are refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

import agents
import monopoly_env as me
from agents.networks.values import NeuralPolicy
from monopoly_env import encoding as encodings
from monopoly_env.actions import DECISION_NAMES, HEAD_NAMES, HEADS, NUM_ACTIONS
from monopoly_env.errors import ConfigurationError, FormatError, MonopolyError
from monopoly_env.policy.protocol import Decisions

ALONE = tuple(head for head in HEAD_NAMES if not head.startswith("trade"))

PLAY = """
import json, sys
import agents, monopoly_env as me
from monopoly_env.policy.protocol import Decisions
games = me.new_games(range(40), 2, "ocnaru")
policy = agents.load(sys.argv[1])
moves = []
for _ in range(30):
    actions = policy.act(Decisions(games))
    for game, action in zip(games, actions):
        me.step(game, int(action))
    moves.append(actions.tolist())
print(json.dumps(moves))
"""


def policy(seed: int = 0, hidden: tuple[int, ...] = (16, 8), **options: object) -> NeuralPolicy:
    """A policy with random numbers."""
    made = NeuralPolicy(options.pop("heads", ALONE), hidden, **options)  # type: ignore[arg-type]
    generator = np.random.default_rng(seed)
    made.set_arrays({name: generator.normal(size=array.shape).astype(np.float32) for name, array in made.arrays().items()})
    return made


def test_it_plays_the_highest_value_over_all_open_heads() -> None:
    player = policy()
    games = me.new_games(range(200), 2, "ocnaru")
    for _ in range(40):
        decisions = Decisions(games)
        seen = encodings.observe_all(games)
        actions = player.act(decisions)
        for row, action in enumerate(actions):
            choices = player.repertoire.open(decisions.mask[row : row + 1], decisions.decision[row : row + 1])[0]
            if choices.sum() > 1:
                values = by_hand(player, seen[row])
                assert values[action] == pytest.approx(max(values[a] for a in np.flatnonzero(choices)), rel=1e-4)
            me.step(games[row], int(action))
        games = np.array([game for game in games if not me.is_over(game)], games.dtype)


def by_hand(player: NeuralPolicy, seen: NDArray[np.float32]) -> dict[int, float]:
    """All action values, a layer at a time in float64."""
    values = {}
    for head in player.repertoire.heads:
        signal = seen.astype(np.float64)
        for layer in range(3):
            signal = np.maximum(signal, 0) if layer else signal
            signal = player.arrays()[f"{head}.{layer}.weight"] @ signal + player.arrays()[f"{head}.{layer}.bias"]
        values |= {HEADS[head].start + i: float(value) for i, value in enumerate(signal)}
    return values


def test_a_decision_does_not_depend_on_its_batch() -> None:
    player = policy(hidden=(128, 64, 32))
    generator = np.random.default_rng(1)
    seen = generator.random((300, encodings.size("standard", 2)), np.float32)
    choices = generator.random((300, NUM_ACTIONS)) < 0.5
    together = player.values(seen, choices)
    alone = np.concatenate([player.values(seen[i : i + 1], choices[i : i + 1]) for i in range(300)])
    assert np.array_equal(together, alone)


@pytest.mark.parametrize(("rules", "num_players"), [("ocnaru", 2), ("official", 3)])
def test_it_plays_whole_games(rules: str, num_players: int) -> None:
    results = agents.arena.play([policy(num_players=num_players)] + ["random/no_trades"] * (num_players - 1), 12, rules)
    assert results.games == 12
    assert results.capped_share < 1


def test_with_a_parent_only_the_decisions_of_its_heads_differ_from_the_parent() -> None:
    player = policy(heads=("buy",), parent="algorithmic")
    parent = agents.make("algorithmic")
    games = me.new_games(range(100), 2, "ocnaru")
    memory, own_memory = np.zeros((100, 2, agents.MEMORY)), np.zeros((100, 2, agents.MEMORY))
    differed = 0
    for _ in range(60):
        at = np.arange(100), games["player"]
        key = np.zeros(100, np.uint64)
        asked, of_parent = Decisions(games.copy(), own_memory[at], key), Decisions(games.copy(), memory[at], key)
        actions, by_parent = player.act(asked), parent.act(of_parent)
        own_memory[at], memory[at] = asked.memory, of_parent.memory
        buying = games["decision"] == DECISION_NAMES.index("buy")
        assert np.array_equal(actions[~buying], by_parent[~buying])
        differed += int((actions != by_parent).sum())
        for game, action in zip(games, actions, strict=True):
            me.step(game, int(action))
    assert differed > 0


def test_a_saved_agent_plays_the_same_moves_in_another_process(tmp_path: Path) -> None:
    player = policy(3)
    path = tmp_path / "agent.safetensors"
    player.save(path)
    games = me.new_games(range(40), 2, "ocnaru")
    moves = []
    for _ in range(30):
        actions = player.act(Decisions(games))
        for game, action in zip(games, actions, strict=True):
            me.step(game, int(action))
        moves.append(actions.tolist())
    said = subprocess.run([sys.executable, "-c", PLAY, str(path)], capture_output=True, text=True, check=True)
    assert json.loads(said.stdout) == moves


def test_loading_brings_back_what_was_saved(tmp_path: Path) -> None:
    player = policy(parent="random", raise_freely=True, rules={"auction": "none"}, name="mine")
    player.save(tmp_path / "a.safetensors")
    loaded = agents.load(tmp_path / "a.safetensors")
    assert isinstance(loaded, NeuralPolicy)
    assert (loaded.name, loaded.encoding(), loaded.options()) == ("mine", "standard", player.options())
    assert all(np.array_equal(array, player.arrays()[name]) for name, array in loaded.arrays().items())


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"features": "0123456789abcdef"}, "other features than this version's encoding 'standard'"),
        ({"encoding": "ocnaru100"}, "other features than this version's encoding 'ocnaru100'"),
        ({"encoding": "standrad"}, "Unknown encoding 'standrad'. Did you mean 'standard'"),
        ({"hidden": [16, 9]}, r"expected float32 \(9, 16\)"),
        ({"heads": ["buy"]}, "No network plays the heads bid"),
    ],
)
def test_a_file_that_does_not_match_is_refused(tmp_path: Path, change: dict[str, object], reason: str) -> None:
    path = tmp_path / "a.safetensors"
    policy().save(path)
    rewrite(path, options=change)
    with pytest.raises(MonopolyError, match=reason):
        agents.load(path)


def rewrite(path: Path, options: dict[str, object]) -> None:
    """Change options in the header of a saved policy."""
    with safe_open(path, framework="numpy") as file:
        about = json.loads(file.metadata()["policy"])
    about["options"] |= options
    save_file(load_file(path), path, {"policy": json.dumps(about)})


def test_foreign_files_and_broken_numbers_are_refused(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign.safetensors"
    save_file({"weight": np.zeros(3, np.float32)}, foreign)
    with pytest.raises(FormatError, match="does not match this version: format is None"):
        agents.load(foreign)
    player = policy()
    arrays = {name: array.copy() for name, array in player.arrays().items()}
    arrays["buy.0.bias"][2] = np.nan
    with pytest.raises(FormatError, match=r"'buy.0.bias' holds a number that is not finite"):
        player.set_arrays(arrays)


def test_wrong_tables_and_observations_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="trained for tables of 2, not of 3"):
        policy().act(Decisions(me.new_games([1], 3)))
    with pytest.raises(ConfigurationError, match=r"needs heads, hidden\. To load a saved policy"):
        agents.make("neural")
    with pytest.raises(ConfigurationError, match=r"Observations must be \(1, "):
        policy().values(np.zeros((1, 7), np.float32), np.ones((1, NUM_ACTIONS), np.bool_))
    assert "neural" not in agents.names()
