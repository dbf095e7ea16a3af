"""The library for browsers plays the games that Python plays, to the last bit of the record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
import monopoly_env as me
from monopoly_env import core, events
from monopoly_env.analyse import playouts, values
from monopoly_env.derived import derive
from monopoly_env.offers import compose
from monopoly_env.policy.loop import NO_LIMIT, Players, Running, play_on
from monopoly_env.rules import PRESETS
from tests import golden, wasm

MOST = 8000  # decisions: some policies without trades never end a game
MIXED = ("expert/bargaining", "random", "algorithmic", "expert")

pytestmark = wasm.NEEDED


@pytest.fixture(scope="module")
def folder() -> Path:
    return wasm.folder()


def done(folder: Path, *jobs: tuple[str, dict[str, Any]]) -> list[Any]:
    return wasm.done("browser.mjs", folder, *jobs)


def digests(seats: tuple[str, ...], rules: str, seeds: range) -> list[str]:
    """The digests of the same games in Python."""
    policies = [agents.make(name) for name in dict.fromkeys(seats)]
    players = Players.of(policies)  # type: ignore[arg-type]
    numbers = [list(dict.fromkeys(seats)).index(name) for name in seats]
    found = []
    for seed in seeds:
        running = Running.begin(
            players, np.array([numbers]), np.array([seed]), seed=0, rules=me.Rules.preset(rules),
            turn_limit=NO_LIMIT // len(seats),
        )  # fmt: skip
        assert play_on(running, np.zeros(MOST, np.uint8)) > 0
        running.check(policies)
        found.append(core.digest(running.games[0]))
    return found


@pytest.mark.parametrize("players", [2, 3, 4])
def test_games_by_seeds_end_in_the_same_records(folder: Path, players: int) -> None:
    seats, seeds = MIXED[:players], range(34)
    (found,) = done(
        folder,
        (
            "play",
            {"options": {"players": players, "seats": seats}, "seeds": [*seeds], "most": MOST},
        ),
    )
    assert found == digests(seats, "official", seeds)


def test_golden_games_go_through_the_same_records(folder: Path) -> None:
    games = [golden.load(preset) for preset in PRESETS]
    jobs = [
        ("replay", {
            "actions": game["actions"],
            "options": {
                "players": game["num_players"], "rules": game["preset"], "seed": game["seed"],
            },
        })
        for game in games
    ]  # fmt: skip
    assert done(folder, *jobs) == [game["digests"] for game in games]


def test_games_of_each_preset_end_in_the_same_records(folder: Path) -> None:
    seats, seeds = ("random", "expert", "random"), range(20)
    found = done(folder, *(
        ("play", {
            "options": {"players": 3, "rules": preset, "seats": seats}, "seeds": [*seeds],
            "most": MOST,
        })
        for preset in PRESETS
    ))  # fmt: skip
    assert found == [digests(seats, preset, seeds) for preset in PRESETS]


def test_each_policy_plays_the_same_game(folder: Path) -> None:
    about = json.loads((folder / "monopoly.json").read_text())["policies"]
    tables = {
        name: policy["tables"][-1] if policy["tables"][-1] < 4 else 3
        for name, policy in about.items()
    }
    assert {"expert", "expert/bargaining", "algorithmic", "random", "ppo/best/two"} <= set(tables)
    jobs = [
        (
            "play",
            {"options": {"players": count, "seats": (name,) * count}, "seeds": [5], "most": MOST},
        )
        for name, count in tables.items()
    ]
    expected = [digests((name,) * count, "official", range(5, 6)) for name, count in tables.items()]
    assert dict(zip(tables, done(folder, *jobs), strict=True)) == dict(
        zip(tables, expected, strict=True)
    )


def test_playouts_values_and_worths_are_those_of_python(folder: Path) -> None:
    game, actions = me.new_game(3, "official", 11), []
    while game.turns < 60 and not me.is_over(game):
        actions.append(golden.choose(game, len(actions)))
        me.step(game, actions[-1])
    about = {
        "options": {"players": 3, "seed": 11}, "actions": actions, "split": [(0, 40), (40, 20)],
        "rollout": {"policies": ["expert", "random", "algorithmic"], "seed": 3, "turns": 30},
    }  # fmt: skip
    (found,) = done(folder, ("position", about))
    options: dict[str, Any] = {"seed": 3, "turns": 30}
    policies = ["expert", "random", "algorithmic"]
    whole = playouts.rollout(game, policies, 60, **options)
    first = playouts.rollout(game, policies, 40, **options)
    assert found["shares"] == first.shares.ravel().tolist()
    assert found["doubledPlaces"] == first.doubled_places.ravel().tolist()
    assert found["turns"] == first.turns.tolist()
    assert found["cut"] == first.cut.tolist()
    low, high = whole.interval
    for name, expected in (
        ("share", whole.share),
        ("low", low),
        ("high", high),
        ("place", whole.place),
    ):
        np.testing.assert_allclose(found["estimate"][name], expected, rtol=1e-12)
    assert found["worth"] == core.worth(game).tolist()
    assert found["legal"] == me.legal_actions(game).tolist()
    np.testing.assert_allclose(found["value"], values.resolve("best").shares(game), rtol=1e-6)
    assert found["record"]["cash"] == game.cash.tolist()
    assert found["record"]["agenda"] == game.agenda.tolist()
    assert found["record"]["rules"]["start_cash"] == 1500


def test_events_derived_numbers_and_offers_are_those_of_python(folder: Path) -> None:
    code = """
        const found = [];
        for (const [rules, actions] of GAMES) {
            const game = monopoly.newGame({players: 3, rules, seed: 11});
            for (const action of actions) {
                const offer = game.compose(1, 1, 2, 5), {cost, reason, ...more} = game.derive();
                found.push([game.events(action), cost, reason, more, offer]);
                game.apply(action);
            }
        }
        return found;
    """
    games, expected = [], []
    for rules in ("official", "uk", "mukhar"):
        game, actions = me.new_game(3, rules, 11), []
        while len(actions) < 150 and not me.is_over(game):
            actions.append(golden.choose(game, len(actions)))
            derived = {name: value.tolist() for name, value in _fields(derive(game)).items()}
            offer = compose(game, 1, 1, 2, 5)._asdict()
            rows = events.play(game, actions[-1])
            expected.append([rows, derived.pop("cost"), derived.pop("reason"), derived, offer])
        games.append([rules, actions])
    (found,) = done(folder, ("program", {"code": code.replace("GAMES", json.dumps(games))}))
    assert found == expected


def _fields(record: Any) -> dict[str, Any]:
    return {name: record[name] for name in record.dtype.names}


PERSON = "const game = monopoly.newGame({players: 3, seed: 4, seats: [null, 'expert', 'random']});"


def test_a_person_plays_takes_back_and_goes_on(folder: Path) -> None:
    code = f"""{PERSON}
        game.play();
        const seats = [game.player], first = await game.digest();
        for (let i = 0; i < 40 && !game.over; i++) {{
            game.apply(game.ask("expert"));
            game.play();
            seats.push(game.player);
        }}
        const end = await game.digest();
        const copy = monopoly.open(structuredClone(game.state), game.seats);
        const same = await copy.digest() === end;
        while (game.undo());
        const back = await game.digest() === first;
        return {{seats: [...new Set(seats)], same, back, moved: first !== end}};
    """
    (found,) = done(folder, ("program", {"code": code}))
    assert found == {"seats": [0], "same": True, "back": True, "moved": True}


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("monopoly.newGame({players: 9})", "RangeError: players=9 must be a whole number from 2"),
        ("monopoly.newGame({rules: 'offical'})", "Unknown preset offical. Known: official"),
        ("monopoly.newGame({seed: 1.5})", "RangeError: seed=1.5 must be a whole number"),
        ("monopoly.newGame({seed: -1})", "RangeError: seed=-1 must be"),
        ("monopoly.newGame({seats: ['experd']})", "RangeError: Unknown policy experd. Known: "),
        ("monopoly.newGame({players: 5, seats: ['ppo/best/two']})", "play at tables of 5"),
        ("monopoly.newGame({seats: ['ppo/best/four']})", 'await fetch("ppo/best/four") first'),
        (PERSON + "game.apply(204)", "RangeError: Action 204 is illegal here."),
        (PERSON + "game.apply(205)", "RangeError: action=205 must be"),
        (PERSON + "game.rollout({n: 0})", "RangeError: n=0 must be"),
        (PERSON + "game.rollout({policies: ['expert', null, 'random']})", "each seat"),
        (PERSON + "game.rollout({value: 'wealth'})", "RangeError: Unknown value wealth."),
        (PERSON + "game.field('csh')", "RangeError: A record has no field csh."),
        (PERSON + "game.state.record[60] = 99; monopoly.open(game.state)", "Invalid record"),
        ("monopoly.open({record: new Uint8Array(9)})", "another version"),
        ("monopoly.library.call('monopoly_env.core._settle', [1])", "core._settle, argument 1"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(folder: Path, code: str, message: str) -> None:
    *first, last = code.split(";")
    (found,) = done(folder, ("program", {"code": f"{';'.join(first)}; return {last};"}))
    assert message in str(found)


def test_an_illegal_action_leaves_the_game_as_it_was(folder: Path) -> None:
    code = f"""{PERSON} const before = await game.digest();
        try {{ game.apply(204); }} catch {{}}
        return [await game.digest() === before, game.legal().length > 0, game.state.actions];"""
    assert done(folder, ("program", {"code": code})) == [[True, True, []]]
