"""Policies: the protocol, the registry, saving, and what the built-in ones choose."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

import agents
import monopoly_env as me
from agents.registry import BUILT_IN
from monopoly_env import actions
from monopoly_env.game import empty_games
from monopoly_env.policy import files
from tests.play import act as act_out
from tests.play import asked, table
from tests.policies import Acting, first
from training.run.options import find_policy

EXAMPLES = Path(__file__).parents[1] / "examples"


def decisions(*games: Any) -> agents.Decisions:
    batch = empty_games(len(games))
    for i, game in enumerate(games):
        batch[i] = game
    return agents.Decisions(batch)


def choice(policy: agents.Policy, game: Any) -> str:
    """What a policy does, in words."""
    return actions.describe(int(policy.act(decisions(game))[0]), game)


# --- decisions


def test_decisions_show_what_is_asked() -> None:
    games = me.new_games([1, 2, 3], num_players=3)
    asked_of = agents.Decisions(games)
    assert len(asked_of) == 3
    assert (asked_of.player == games["player"]).all()
    assert (asked_of.decision == games["decision"]).all()
    assert [np.flatnonzero(row).tolist() for row in asked_of.mask] == [
        me.legal_actions(game).tolist() for game in games
    ]
    assert asked_of.observation().shape == (3, len(me.encoding.names("standard", 3)))
    assert asked_of.observation("standard", pad_to=8).shape == (
        3,
        len(me.encoding.names("standard", 8)),
    )


def test_keys_are_drawn_from_the_game_alone() -> None:
    one, two = me.new_games([5, 6]), me.new_games([6, 7])
    first, second = agents.Decisions(one).key, agents.Decisions(two).key
    assert first[1] == second[0]
    assert len({*first, *second}) == 3
    assert agents.Decisions(one).key[0] != first[0]  # the next decision gets another


@pytest.mark.parametrize("games", [np.zeros(3), empty_games(2).reshape(1, 2), "game"])
def test_decisions_are_made_of_records(games: Any) -> None:
    with pytest.raises(me.ConfigurationError, match="array of games"):
        agents.Decisions(games)


def test_a_finished_game_has_no_decision() -> None:
    games = me.new_games([1, 2], 2, me.Rules(max_turns=1))
    while not me.is_over(games[1]):
        me.step(games[1], int(me.legal_actions(games[1])[0]))
    with pytest.raises(me.ConfigurationError, match="Game 1 of 2 has ended"):
        agents.Decisions(games)


# --- registry


def test_built_in_names() -> None:
    assert {"random", "random/no_trades", "algorithmic"} <= set(agents.names())
    assert all(agents.make(name).name == name for name in BUILT_IN)


def test_unknown_names_and_options_are_refused_with_the_nearest() -> None:
    with pytest.raises(
        me.ConfigurationError, match=r"Unknown policy 'algoritmic'. Did you mean 'algorithmic'"
    ):
        agents.make("algoritmic")
    with pytest.raises(
        me.ConfigurationError, match=r"no parameter 'reserv'. Did you mean 'reserve'"
    ):
        agents.make("algorithmic", reserv=3)
    with pytest.raises(me.ConfigurationError, match="'random' has no option 'seed'"):
        agents.make("random", seed=3)
    with pytest.raises(
        me.ConfigurationError, match=r"Unknown policy 'randon'.*Did you mean 'random'"
    ):
        agents.resolve("randon")
    with pytest.raises(
        me.ConfigurationError,
        match=r"Unknown policy 'lerner'\. Did you mean 'learner'.*give a saved \.safetensors file",
    ):
        find_policy("lerner", "learner")
    with pytest.raises(
        me.ConfigurationError, match=r"Unknown policy 'xxxx.*\.\.\.\. All names: `agents.names\(\)`"
    ):
        agents.resolve("x" * 5000)


def test_a_path_that_is_no_saved_policy_is_refused_as_such(tmp_path: Path) -> None:
    network = tmp_path / "network.npz"  # what a run of Pente saves
    network.touch()
    for path in (network, tmp_path):
        with pytest.raises(
            me.ConfigurationError,
            match=r"is not a saved policy of Monopoly: that is a \.safetensors file",
        ):
            agents.resolve(path)
        with pytest.raises(me.ConfigurationError, match="is not a saved policy of Monopoly"):
            find_policy(str(path))


@pytest.mark.parametrize(
    ("name", "message"),
    [("random", "built in"), ("", "letters, digits"), ("a b", "letters, digits")],
)
def test_names_that_cannot_be_registered(name: str, message: str) -> None:
    with pytest.raises(me.ConfigurationError, match=message):
        agents.register(name, lambda: Acting(first))


def test_a_registered_policy_is_made_by_name() -> None:
    agents.register("test/first", lambda: Acting(first))
    assert isinstance(agents.make("test/first"), Acting)
    with pytest.raises(me.ConfigurationError, match="callable"):
        agents.register("test/first", "First")  # type: ignore[arg-type]


# --- saving


def test_a_saved_policy_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "mine.safetensors"
    policy = agents.make("algorithmic", reserve=321.0)
    policy.name = "evolved"
    policy.save(path)
    loaded = agents.resolve(str(path))
    assert isinstance(loaded, agents.CompiledPolicy)
    assert (loaded.name, loaded.kind) == ("evolved", "algorithmic")
    assert loaded.params.tolist() == policy.params.tolist()  # type: ignore[attr-defined]
    assert loaded.params[0] == 321.0
    assert [file.name for file in tmp_path.iterdir()] == ["mine.safetensors"]


def test_a_policy_without_numbers_is_saved_too(tmp_path: Path) -> None:
    agents.make("random").save(tmp_path / "random.safetensors")
    assert agents.load(tmp_path / "random.safetensors").name == "random"


def test_files_that_do_not_match_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mine.safetensors"
    agents.make("algorithmic").save(path)
    monkeypatch.setitem(files.VERSIONS, "rules_version", 99)
    with pytest.raises(me.FormatError, match=r"rules_version is \d+, expected \d+"):
        agents.load(path)


def test_arrays_that_do_not_match_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.safetensors"
    about = files.VERSIONS | {"kind": "algorithmic", "name": "mine", "options": {}}
    save_file({"params": np.zeros(3), "extra": np.zeros(1)}, path, {"policy": json.dumps(about)})
    with pytest.raises(
        me.FormatError,
        match=r"unknown array 'extra'.*array 'params' is float64 \(3,\), expected float64 \(10,\)",
    ):
        agents.load(path)


@pytest.mark.parametrize("content", [b"", b"no policy at all", b"\xff" * 64])
def test_corrupt_files_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "mine.safetensors"
    path.write_bytes(content)
    with pytest.raises(me.FormatError, match="is not a saved policy"):
        agents.load(path)


def test_foreign_and_missing_files_are_refused(tmp_path: Path) -> None:
    save_file({"weights": np.zeros(3)}, tmp_path / "other.safetensors")
    with pytest.raises(me.FormatError, match="format is None, expected 'monopoly-policy'"):
        agents.load(tmp_path / "other.safetensors")
    save_file({}, tmp_path / "list.safetensors", {"policy": "[]"})
    with pytest.raises(me.FormatError, match="its header is not an object in JSON"):
        agents.load(tmp_path / "list.safetensors")
    save_file({}, tmp_path / "nameless.safetensors", {"policy": json.dumps(files.VERSIONS)})
    with pytest.raises(
        me.FormatError, match="kind is missing; name is missing; options is missing"
    ):
        agents.load(tmp_path / "nameless.safetensors")
    with pytest.raises(me.FormatError, match="is not a saved policy"):
        agents.load(tmp_path / "missing.safetensors")


@pytest.mark.parametrize(
    ("about", "message"),
    [
        ({"kind": ["networks"]}, r"kind is \['networks'\], expected str"),
        ({"name": 3}, "name is 3, expected str"),
        ({"options": []}, r"options is \[\], expected dict"),
        ({"options": {"hidden": 5}}, "'networks' cannot be made with the options .*hidden=5"),
        ({"options": {"hidden": [0]}}, "whole numbers from 1"),
        ({"options": {"hidden": [60_000] * 9}}, "too large"),
        ({"options": {"hidden": [["buy"]]}}, "cannot be made"),
        ({"kind": "one_ply", "options": {"base": {}}}, "Unknown policy"),
        ({"options": {"num_players": "two"}}, "num_players='two'"),
        ({"options": {"features": 9}}, "trained on other features"),
        ({"options": {"rules": 9}}, "cannot be made"),
        ({"more": "x" * (1 << 20)}, "its header is not an object in JSON"),
        ({"rules_version": "[" * 300}, r"rules_version is '\[+\.\.\., expected"),
    ],
)
def test_saved_options_of_a_wrong_type_are_refused(
    about: dict[str, Any], message: str, tmp_path: Path
) -> None:
    whole = files.VERSIONS | {"kind": "networks", "name": "mine", "options": {}} | about
    save_file({}, tmp_path / "mine.safetensors", {"policy": json.dumps(whole)})
    with pytest.raises((me.FormatError, me.ConfigurationError), match=message) as raised:
        agents.load(tmp_path / "mine.safetensors")
    assert str(tmp_path / "mine.safetensors") in str(raised.value)


def test_what_cannot_be_saved_says_why(tmp_path: Path) -> None:
    with pytest.raises(me.ConfigurationError, match=r"saved to a \.safetensors file"):
        agents.make("random").save(tmp_path / "random.pkl")
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(me.ConfigurationError, match="Cannot write"):
        agents.make("random").save(tmp_path / "file" / "random.safetensors")
    with pytest.raises(me.ConfigurationError, match="its kind 'unregistered' is not registered"):
        agents.CompiledPolicy("unregistered", agents.make("random").kernel).save(
            tmp_path / "x.safetensors"
        )  # type: ignore[attr-defined]


# --- compiled policies


def test_kernels_are_checked() -> None:
    with pytest.raises(me.ConfigurationError, match="decorate"):
        agents.CompiledPolicy("mine", lambda game, mask, params, memory: 0)  # type: ignore[arg-type]
    with pytest.raises(me.ConfigurationError, match="one row of finite numbers"):
        agents.CompiledPolicy(
            "mine", agents.policy_kernel(lambda game, mask, params, memory: 0), [np.nan]
        )
    with pytest.raises(
        me.ConfigurationError,
        match=r"must take \(game, mask, params, memory\); <lambda> takes \(game\)",
    ):
        agents.policy_kernel(lambda game: 0).compiled  # type: ignore[arg-type, misc] # noqa: B018


@pytest.mark.parametrize("example", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_examples_run_as_they_stand(example: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = (EXAMPLES / example).read_text()
    lines = [line for line in code.splitlines() if line and not line.startswith("# ruff")]
    assert len(lines) <= 15
    before = set(agents.names())
    exec(compile(code, str(EXAMPLES / example), "exec"), {"__name__": "example"})
    (name,) = set(agents.names()) - before or {"saver" if "compiled" in example else "miser"}
    assert name in capsys.readouterr().out
    assert agents.make(name).name == name


# --- random


def test_random_is_uniform_over_the_legal_actions() -> None:
    game = me.position(
        3, lots={0: ["Boardwalk", "Park Place", "Reading Railroad"], 1: ["Baltic Avenue"]}
    )
    games = np.repeat(np.atleast_1d(game), 4000)
    games["seed"][:, 0] = np.arange(4000)
    counts = np.bincount(
        agents.make("random").act(agents.Decisions(games)), minlength=actions.NUM_ACTIONS
    )
    legal = me.legal_actions(game)
    assert set(np.flatnonzero(counts)) == set(legal)
    expected = 4000 / len(legal)
    assert np.abs(counts[legal] - expected).max() < 5 * np.sqrt(expected)


def test_random_without_trades_answers_offers_but_makes_none() -> None:
    game = table(2)
    trade = actions.HEADS["trade"].slice
    assert me.action_mask(game)[trade].any()
    games = np.repeat(np.atleast_1d(game), 500)
    games["seed"][:, 0] = np.arange(500)
    chosen = agents.make("random/no_trades").act(agents.Decisions(games))
    assert not np.isin(chosen, np.arange(actions.NUM_ACTIONS)[trade]).any()
    assert len(set(chosen.tolist())) > 1
    replies = offer(
        ask="Boardwalk", give=None, cash=1, owners={0: ["Baltic Avenue"], 1: ["Boardwalk"]}
    )
    games = np.repeat(np.atleast_1d(replies), 500)
    games["seed"][:, 0] = np.arange(500)
    assert len(set(agents.make("random/no_trades").act(agents.Decisions(games)).tolist())) == 3


# --- algorithmic


def offer(ask: str | None, give: str | None, cash: int, owners: dict[int, list[str]]) -> Any:
    """A position of two players in which player 0 has made an offer to player 1."""
    game = me.position(2, lots=owners)
    act_out(game, "trade with player +1", *([f"ask for {ask}"] if ask else []), "ask: done")
    act_out(game, *([f"give {give}"] if give else []), "give: done")
    for note in actions.NOTES:
        while cash >= note:
            act_out(game, f"give ${note}")
            cash -= note
    return act_out(game, "cash: done")


PLAYER = agents.make("algorithmic")


def landed(square: int, lots: dict[int, list[str]], cash: dict[int, int], **contents: Any) -> Any:
    """Player 0 has just come to a square."""
    game = me.position(
        2, lots=lots, cash=cash, positions={0: square - 3}, throws=[(1, 2)], **contents
    )
    while int(game.num_forced):
        act_out(game, "go on")
    return game


def test_it_buys_while_it_keeps_a_reserve() -> None:
    assert choice(PLAYER, landed(39, {}, {0: 600})) == "buy"
    assert choice(PLAYER, landed(39, {}, {0: 599})) == "decline"


def test_it_buys_what_completes_or_blocks_a_group_from_its_reserve() -> None:
    assert choice(PLAYER, landed(39, {0: ["Park Place"]}, {0: 410})) == "buy"
    assert choice(PLAYER, landed(39, {1: ["Park Place"]}, {0: 410})) == "buy"


def test_it_mortgages_to_complete_a_group() -> None:
    game = landed(39, {0: ["Park Place", "Reading Railroad", "Oriental Avenue"]}, {0: 300})
    assert choice(PLAYER, game) == "mortgage Oriental Avenue"


def test_it_bids_up_to_the_worth_of_a_lot() -> None:
    game = landed(39, {}, {0: 550, 1: 1500})
    act_out(game, "decline")
    assert asked(game) == ("bid", 1)
    paid = 0
    while asked(game)[0] == "bid":
        paid = int(game.auction_bid)
        me.step(game, int(PLAYER.act(decisions(game))[0]))
    assert 200 < paid <= 450  # both keep half the reserve; nobody goes above the list price


def test_it_builds_where_a_dollar_brings_most() -> None:
    game = me.position(
        2,
        lots={
            0: [
                "Mediterranean Avenue",
                "Baltic Avenue",
                "St. James Place",
                "Tennessee Avenue",
                "New York Avenue",
            ]
        },
        cash=[1000, 1000],
    )
    assert choice(PLAYER, game).startswith("build")
    game = me.position(2, lots={0: ["Park Place", "Boardwalk"]}, cash=[399, 1000])
    assert choice(PLAYER, game) == "go on"


def test_it_raises_cash_by_what_hurts_least() -> None:
    owned = {
        0: ["Mediterranean Avenue", "Baltic Avenue", "Oriental Avenue"],
        1: ["Park Place", "Boardwalk"],
    }
    game = landed(
        39, owned, {0: 10, 1: 500}, buildings={"Mediterranean Avenue": 5, "Baltic Avenue": 5}
    )
    assert asked(game) == ("debt", 0)
    told = []
    while asked(game) == ("debt", 0):
        told.append(choice(PLAYER, game))
        act_out(game, told[-1])
    assert told[0] == "mortgage Oriental Avenue"
    assert all(text.startswith("sell") for text in told[1:])


def test_it_leaves_jail_early_and_stays_late() -> None:
    early = me.position(2, jail={0: 0}, positions={0: 10}, lots={0: ["Baltic Avenue"]})
    assert choice(PLAYER, early) == "pay the fine"
    # nobody is near a group
    shared = {seat: [lot for lot in range(2, 20) if lot % 3 == seat] for seat in range(3)}
    shared[1] += [0, 20, 26]
    shared[2] += [1, 21, 27]
    late = me.position(3, jail={0: 0}, positions={0: 10}, lots=shared)
    assert choice(PLAYER, late) == "go on"
    with_card = me.position(2, jail={0: 0}, positions={0: 10}, jail_cards={0: ("chance",)})
    assert choice(PLAYER, with_card) == "use a jail card"


@pytest.mark.parametrize(("cash", "answer"), [(1900, "pay 10% of total worth"), (2500, "pay $200")])
def test_it_pays_the_cheaper_tax(cash: int, answer: str) -> None:
    game = landed(4, {0: ["Baltic Avenue"]}, {0: cash}, rules="classic")
    assert asked(game) == ("tax", 0)
    assert choice(PLAYER, game) == answer


def test_it_does_not_give_away_what_completes_a_group() -> None:
    owners = {0: ["Park Place", "Oriental Avenue"], 1: ["Boardwalk", "Baltic Avenue"]}
    assert choice(PLAYER, offer("Boardwalk", None, 500, owners)) == "reject"
    assert choice(PLAYER, offer("Boardwalk", None, 1000, owners)) == "accept"
    assert choice(PLAYER, offer("Baltic Avenue", None, 0, owners)) == "reject"
    assert choice(PLAYER, offer("Baltic Avenue", "Oriental Avenue", 0, owners)) == "accept"


def test_it_makes_one_offer_and_then_none_for_a_while() -> None:
    game = me.position(2, lots={0: ["Park Place"], 1: ["Boardwalk"]}, cash=[1500, 0])
    memory = np.zeros((1, agents.MEMORY))
    games = np.atleast_1d(game)
    told = []
    while asked(game)[1] == 0:
        action = int(PLAYER.act(agents.Decisions(games, memory))[0])
        told.append(actions.describe(action, games[0]))
        me.step(games[0], action)
        game = games[0]
    assert told[:3] == ["trade with player +1", "ask for Boardwalk", "ask: done"]
    assert asked(game) == ("reply", 1)
    assert choice(PLAYER, game) == "accept"
    act_out(game, "reject")
    action = int(PLAYER.act(agents.Decisions(games, memory))[0])
    assert actions.describe(action, game) == "go on"


def test_it_beats_random() -> None:
    results = agents.arena.play(["algorithmic", "random"], games=400, seed=11)
    assert results.rows()[0]["name"] == "algorithmic"
    assert results.rows()[0]["low"] > 0.95
