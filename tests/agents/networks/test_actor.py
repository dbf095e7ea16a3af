"""The actor: it plays the highest score or draws by the scores.

It plays the same moves when saved, and refuses files that do not match.
"""

from __future__ import annotations

import json
import math
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
from agents.networks.actor import ActorPolicy
from agents.networks.saved import features_digest
from monopoly_env import encoding as encodings
from monopoly_env.actions import DECISION_NAMES, HEAD_NAMES, HEAD_OF, NUM_ACTIONS
from monopoly_env.errors import ConfigurationError, FormatError, MonopolyError
from monopoly_env.policy.protocol import Decisions

ALONE = tuple(head for head in HEAD_NAMES if not head.startswith("trade"))

PLAY = """
import json, sys
import agents, monopoly_env as me

from agents.networks.actor import ActorPolicy
from monopoly_env.policy.protocol import Decisions
games = me.new_games(range(40), 2, "ocnaru")
policies = [agents.load(path) for path in sys.argv[1:]]
moves = []
for turn in range(30):
    actions = policies[turn % 2].act(Decisions(games))
    for game, action in zip(games, actions):
        me.step(game, int(action))
    moves.append(actions.tolist())
print(json.dumps(moves))
"""


def policy(seed: int = 0, hidden: tuple[int, ...] = (16, 8), **options: object) -> ActorPolicy:
    """A policy with random numbers."""
    made = ActorPolicy(options.pop("heads", ALONE), hidden, **options)  # type: ignore[arg-type]
    generator = np.random.default_rng(seed)
    made.set_arrays(
        {
            name: generator.normal(size=array.shape).astype(np.float32)
            for name, array in made.arrays().items()
        }
    )
    return made


def flat(player: ActorPolicy) -> ActorPolicy:
    """The same with scores so close that many actions have a chance."""
    last = str(len(player.arrays()) // 2 - 1)
    player.set_arrays(
        {
            name: array / 40 if name.startswith(last) else array
            for name, array in player.arrays().items()
        }
    )
    return player


def by_hand(player: ActorPolicy, seen: NDArray[np.float32]) -> NDArray[np.float64]:
    """All scores, a layer at a time in float64."""
    arrays, signal = player.arrays(), seen.astype(np.float64)
    for layer in range(len(arrays) // 2):
        signal = np.maximum(signal, 0) if layer else signal
        signal = arrays[f"{layer}.weight"] @ signal + arrays[f"{layer}.bias"]
    return signal


def random_sights(count: int) -> tuple[NDArray[np.float32], NDArray[np.bool_], NDArray[np.uint64]]:
    generator = np.random.default_rng(1)
    choices = generator.random((count, NUM_ACTIONS)) < 0.1
    choices[:, 7] = True
    keys = generator.integers(0, 1 << 64, count, np.uint64)
    return generator.random((count, encodings.size("standard", 2)), np.float32), choices, keys


def test_it_plays_the_highest_score_over_all_open_heads() -> None:
    player = policy()
    games = me.new_games(range(100), 2, "ocnaru")
    heads = set()
    for _ in range(40):
        decisions = Decisions(games)
        seen = encodings.observe_all(games)
        actions = player.act(decisions)
        for row, action in enumerate(actions):
            choices = np.flatnonzero(
                player.repertoire.open(
                    decisions.mask[row : row + 1], decisions.decision[row : row + 1]
                )[0]
            )
            if len(choices) > 1:
                scores = by_hand(player, seen[row])
                assert scores[action] == pytest.approx(max(scores[choices]), rel=1e-4)
                assert action in choices
                heads.add(HEAD_OF[action])
            me.step(games[row], int(action))
        games = np.array([game for game in games if not me.is_over(game)], games.dtype)
    assert len(heads) > 2


def test_draws_follow_the_probabilities() -> None:
    player = flat(policy(sample=True))
    seen, choices, _ = random_sights(1)
    scores = by_hand(player, seen[0])[choices[0]]
    expected = np.exp(scores - scores.max())
    expected /= expected.sum()
    assert 0.05 < expected.max() < 0.9
    keys = np.random.default_rng(0).integers(0, 1 << 64, 20_000, np.uint64)
    actions = player.choose(np.repeat(seen, len(keys), 0), np.repeat(choices, len(keys), 0), keys)
    found = np.bincount(actions, minlength=NUM_ACTIONS) / len(keys)
    assert found[choices[0]] == pytest.approx(expected, abs=4 * math.sqrt(0.25 / len(keys)))
    assert found[~choices[0]].sum() == 0


def test_the_ends_of_the_range_of_keys_draw_the_first_and_the_last_open_action() -> None:
    player = ActorPolicy(ALONE, (4,), sample=True)  # zeros: all alike
    seen, choices, _ = random_sights(2)
    choices[:, -5:] = False
    actions = player.choose(seen, choices, np.array([0, (1 << 64) - 1], np.uint64))
    assert actions.tolist() == [np.flatnonzero(choices[0])[0], np.flatnonzero(choices[1])[-1]]


@pytest.mark.parametrize("sample", [False, True])
def test_a_decision_does_not_depend_on_its_batch(sample: bool) -> None:
    player = flat(policy(hidden=(16, 8), sample=sample))
    seen, choices, keys = random_sights(200)
    together = player.choose(seen, choices, keys)
    alone = [
        int(player.choose(seen[i : i + 1], choices[i : i + 1], keys[i : i + 1])[0])
        for i in range(200)
    ]
    assert together.tolist() == alone
    assert np.array_equal(
        player.scores(seen), np.concatenate([player.scores(seen[i : i + 1]) for i in range(200)])
    )
    assert len(set(alone)) > 10


def test_the_same_games_whatever_the_number_of_games() -> None:
    table = [flat(policy(sample=True)), "random/no_trades"]
    few, many = (
        agents.arena.play(table, 4, "ocnaru", seed=3),
        agents.arena.play(table, 20, "ocnaru", seed=3),
    )
    assert np.array_equal(few.place, many.place[:4])


@pytest.mark.parametrize(("rules", "num_players"), [("ocnaru", 2), ("official", 3)])
def test_it_plays_whole_games(rules: str, num_players: int) -> None:
    results = agents.arena.play(
        [policy(num_players=num_players)] + ["random/no_trades"] * (num_players - 1), 12, rules
    )
    assert results.games == 12
    assert results.capped_share < 1


def test_with_a_parent_only_the_decisions_of_its_heads_differ_from_the_parent() -> None:
    player, parent = policy(heads=("buy",), parent="algorithmic"), agents.make("algorithmic")
    games = me.new_games(range(60), 2, "ocnaru")
    memory, own_memory = np.zeros((60, 2, agents.MEMORY)), np.zeros((60, 2, agents.MEMORY))
    differed = 0
    for _ in range(60):
        at = np.arange(60), games["player"]
        key = np.zeros(60, np.uint64)
        asked, of_parent = (
            Decisions(games.copy(), own_memory[at], key),
            Decisions(games.copy(), memory[at], key),
        )
        actions, by_parent = player.act(asked), parent.act(of_parent)
        own_memory[at], memory[at] = asked.memory, of_parent.memory
        buying = games["decision"] == DECISION_NAMES.index("buy")
        assert np.array_equal(actions[~buying], by_parent[~buying])
        differed += int((actions != by_parent).sum())
        for game, action in zip(games, actions, strict=True):
            me.step(game, int(action))
    assert differed > 0


def test_saved_agents_play_the_same_moves_in_another_process(tmp_path: Path) -> None:
    players = [policy(3), policy(4, sample=True)]
    paths = [tmp_path / f"{number}.safetensors" for number in range(2)]
    for player, path in zip(players, paths, strict=True):
        player.save(path)
    games = me.new_games(range(40), 2, "ocnaru")
    moves = []
    for turn in range(30):
        actions = players[turn % 2].act(Decisions(games))
        for game, action in zip(games, actions, strict=True):
            me.step(game, int(action))
        moves.append(actions.tolist())
    said = subprocess.run(
        [sys.executable, "-c", PLAY, *map(str, paths)], capture_output=True, text=True, check=True
    )
    assert json.loads(said.stdout) == moves


def test_loading_brings_back_what_was_saved(tmp_path: Path) -> None:
    player = policy(
        parent="random", raise_freely=True, sample=True, rules={"auction": "none"}, name="mine"
    )
    player.save(tmp_path / "a.safetensors")
    loaded = agents.load(tmp_path / "a.safetensors")
    assert isinstance(loaded, ActorPolicy)
    assert (loaded.name, loaded.encoding(), loaded.options()) == (
        "mine",
        "standard",
        player.options(),
    )
    assert loaded.sample
    assert all(
        np.array_equal(array, player.arrays()[name]) for name, array in loaded.arrays().items()
    )


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            {"features": "0123456789abcdef"},
            "other features than this version's encoding 'standard'",
        ),
        (
            {"encoding": "ocnaru100", "features": features_digest(encodings.make("ocnaru100", 2))},
            r"expected float32 \(16, 100\)",
        ),
        (
            {"num_players": 3},
            "other features than this version's encoding 'standard' for 3 players",
        ),
        ({"encoding": "standrad"}, "Unknown encoding 'standrad'. Did you mean 'standard'"),
        ({"hidden": [16, 9]}, r"expected float32 \(9, 16\)"),
        ({"heads": ["buy"]}, "No network plays the heads bid"),
        ({"parent": "algoritmic"}, "Did you mean 'algorithmic'"),
    ],
)
def test_a_file_that_does_not_match_is_refused(
    tmp_path: Path, change: dict[str, object], reason: str
) -> None:
    path = tmp_path / "a.safetensors"
    policy().save(path)
    with safe_open(path, framework="numpy") as file:
        about = json.loads(file.metadata()["policy"])
    about["options"] |= change
    save_file(load_file(path), path, {"policy": json.dumps(about)})
    with pytest.raises(MonopolyError, match=reason):
        agents.load(path)


def test_foreign_files_broken_numbers_and_wrong_tables_are_refused(tmp_path: Path) -> None:
    save_file({"weight": np.zeros(3, np.float32)}, tmp_path / "foreign.safetensors")
    with pytest.raises(FormatError, match="does not match this version: format is None"):
        agents.load(tmp_path / "foreign.safetensors")
    with pytest.raises(ConfigurationError, match=r"needs heads, hidden\. To load a saved policy"):
        agents.make("actor")
    player = policy()
    arrays = {name: array.copy() for name, array in player.arrays().items()}
    arrays["0.bias"][2] = np.nan
    with pytest.raises(FormatError, match=r"'0.bias' holds a number that is not finite"):
        player.set_arrays(arrays)
    with pytest.raises(ConfigurationError, match="plays at tables of 2, not of 3"):
        player.act(Decisions(me.new_games([1], 3)))
    with pytest.raises(ConfigurationError, match=r"Observations must be \(B, \d+\), not \(1, 7\)"):
        player.scores(np.zeros((1, 7), np.float32))
    with pytest.raises(ConfigurationError, match=r"Unknown head 'biuld'\. Did you mean 'build'"):
        policy(heads=("biuld",))
