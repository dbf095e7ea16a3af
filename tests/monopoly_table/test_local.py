"""The table without a server, in node: games, facts, positions and files are those of Python."""

from __future__ import annotations

import base64
import itertools
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="the extra web is not installed")

import agents
import monopoly_env as me
from monopoly_env import core, events, replays
from monopoly_env.analyse.playouts import rollout
from monopoly_env.policy.loop import Players, Running, play_on
from monopoly_env.rules import CONTRADICTIONS
from monopoly_table import public, static
from monopoly_table.messages import PositionSetup
from tests import golden, wasm

pytestmark = wasm.NEEDED
MIXED = ("expert/bargaining", "random", "expert")
EXPERTS = "const seats = [{kind: 'policy', policy: 'expert'}, {kind: 'policy', policy: 'expert'}];"
PEOPLE = "const seats = [{kind: 'person', name: 'Ann'}, {kind: 'person', name: 'Bob'}];"


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for static hosts."""
    folder = tmp_path_factory.mktemp("table")
    static.write(folder)
    shutil.copytree(wasm.folder(), folder / "library", ignore=shutil.ignore_patterns("weights"))
    return folder


def done(table: Path, *jobs: tuple[str, dict[str, Any]]) -> list[Any]:
    return wasm.done("table.mjs", table, *jobs)


def program(table: Path, *lines: str) -> Any:
    """What a program returns."""
    (found,) = done(table, ("program", {"code": "\n".join(lines)}))
    return found


OPTIONS = {
    "first_player": "throw", "start_cash": 900, "even_build": "free", "sell_ratio": 0.75,
    "debt_trade": True, "start_lots": 2, "jail_pay_turn3": True, "trade_limit": 1,
}  # fmt: skip


@pytest.mark.parametrize(
    ("players", "seeds", "rules"),
    [
        (2, range(25), {}),
        (3, range(50, 75), {}),
        (3, range(100, 110), {"preset": "uk", "options": OPTIONS}),
    ],
)
def test_games_by_seeds_end_in_the_same_records(
    table: Path, players: int, seeds: range, rules: dict[str, Any]
) -> None:
    limit, names = 3, MIXED[:players]
    wish = {"seats": [{"kind": "policy", "policy": name} for name in names], "turn_limit": limit}
    wish["rules"] = rules
    (found,) = done(table, ("digests", {"seeds": [*seeds], **wish}))
    policies = [agents.make(name) for name in names]
    for seed, digest in zip(seeds, found, strict=True):
        running = Running.begin(
            Players.of(policies),  # type: ignore[arg-type]
            np.array([range(players)]), np.array([seed]), seed=0,
            rules=me.Rules.preset(rules.get("preset", "official"), **rules.get("options", {})),
            turn_limit=limit,
        )  # fmt: skip
        play_on(running, np.zeros(100_000, np.uint8))
        assert digest == core.digest(running.games[0]), seed


def positions(count: int) -> list[Any]:
    """Moments of games of several presets."""
    found = []
    for number, preset in zip(range(count), itertools.cycle(("official", "uk", "mukhar", "pring"))):
        game = me.new_game(2 + number % 3, preset, number)
        for step in range(40 * (1 + number)):
            if core.is_over(game):
                break
            me.step(game, golden.choose(game, step))
        found.append(game)
    return found


def text_of(record: Any) -> str:
    return base64.b64encode(core.batch_of(record).tobytes()).decode()


READ = "const read = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));"


def test_a_frame_tells_the_same_facts(table: Path) -> None:
    games = positions(12)
    found = program(
        table, READ,
        f"return {[text_of(game) for game in games]}.map((text) => {{",
        "  const record = read(text), frame = engine.frame(record, [], 5);",
        "  return { ...frame, setup: engine.setup(record) };",
        "});",
    )  # fmt: skip
    for game, told in zip(games, found, strict=True):
        expected = public.frame(game, [], 5) | {"setup": public.setup_of(game)}
        assert told | {"digest": ""} == expected


def test_positions_are_set_up_alike(table: Path) -> None:
    setups = [public.setup_of(game) for game in positions(12) if not core.is_over(game)]
    setups[0]["throws"] = [[3, 4], [1, 2]]
    found = program(
        table,
        f"return {setups!r}.map((setup) => {{".replace("None", "null")
        .replace("True", "true").replace("False", "false"),
        "  const { record } = engine.build(setup, 3n);",
        "  return [digest(record), engine.isBeforeThrow(setup)];",
        "});",
    )  # fmt: skip
    for setup, (digest, before) in zip(setups, found, strict=True):
        built = PositionSetup.model_validate(setup | {"seed": 3})
        assert core.digest(built.build()) == digest
        assert built.is_before_throw == before


def test_contradictions_are_told_in_the_same_words(table: Path) -> None:
    given = [
        {name: wrong[0] for name, wrong in values.items() if wrong[0] != default_of(name)}
        for values, _ in CONTRADICTIONS
    ]
    given += [{"start_cash": -1}, {"start_cash": 2.5}, {"sell_ratio": 0.505}, {"debt_trade": 1}]
    found = program(
        table,
        f"return {json.dumps(given)}.map((options) => {{",
        "  try { return engine.rules({ options }); } catch (error) { return error.message; }",
        "});",
    )
    for options, message in zip(given, found, strict=True):
        with pytest.raises(me.RulesError) as raised:
            me.Rules(**options)
        assert message == str(raised.value), options


def default_of(option: str) -> Any:
    return getattr(me.Rules(), option)


@pytest.mark.parametrize("first_player", ["random", "throw"])
def test_events_are_those_of_python(table: Path, first_player: str) -> None:
    game = me.new_game(3, me.Rules(first_player=first_player), seed=4)
    opening, told, start = events.opening(game), [], text_of(game)
    actions = [golden.choose(game, 0)]
    told.append(events.play(game, actions[0]))
    while len(actions) < 120:
        actions.append(golden.choose(game, len(actions)))
        told.append(events.play(game, actions[-1]))
    found = program(
        table, READ,
        f"const rules = engine.rules({{ options: {{ first_player: '{first_player}' }} }});",
        "const told = [monopoly.opening({ players: 3, rules, seed: 4 })];",
        f"let record = read('{start}');",
        f"for (const action of {actions}) {{",
        "  const game = engine.open(record);",
        "  game.apply(action);",
        "  told.push(engine.events(record, action, game.state.record));",
        "  record = game.state.record;",
        "}",
        "return told;",
    )  # fmt: skip
    assert found == [opening, *told]


def test_a_file_of_either_side_is_read_by_the_other(table: Path, tmp_path: Path) -> None:
    here = tmp_path / "here.replay"
    data, count = program(
        table, EXPERTS,
        "const { game } = await played({ seats, seed: 7, turn_limit: 4 });",
        "const file = await ask('GET', `/games/${game}/replay`);",
        "const text = Buffer.from(await file.arrayBuffer()).toString('base64');",
        "return [text, (await ask('GET', `/games/${game}/index`)).version];",
    )  # fmt: skip
    here.write_bytes(base64.b64decode(data))
    (replay,) = replays.load(here)
    assert len(replay.actions) == count
    assert core.is_over(replays.final(replay))
    whole = here.read_bytes()
    cut, other = whole[:-9], whole.replace(b'"rules_version": ', b'"rules_version": 9')
    other = other.replace(b'"rules_version":', b'"rules_version":9')
    found = program(
        table,
        f"const texts = {[base64.b64encode(each).decode() for each in (whole, cut, other)]};",
        "return Promise.all(texts.map((text) =>",
        "  ask('POST', '/replays', new Blob([Buffer.from(text, 'base64')]))",
        "    .catch((error) => error.message)));",
    )  # fmt: skip
    assert found[0]["games"][0]["version"] == count
    assert "cut or damaged" in found[1]
    assert "another version of the rules" in found[2]


def test_a_person_decides_takes_back_and_is_refused(table: Path) -> None:
    found = program(
        table, PEOPLE,
        "const { game } = await ask('POST', '/games', { seats, seed: 3, speed: 0 });",
        "const live = await table.live(game), { heard } = client(live);",
        "const act = (more) => live.handle({ version: live.actions.length,",
        "  digest: live.frame().digest, ...more }).catch((error) => error.message);",
        "const before = live.frame(), { legal } = before.record;",
        "const action = Math.log2(legal[0] & -legal[0]);",
        "const done = await act({ type: 'act', action });",
        "const late = await act({ type: 'act', action, version: 0, digest: before.digest });",
        "const wrong = await act({ type: 'act', action: 204 });",
        "const bid = await act({ type: 'bid', dollars: 7 });",
        "const goods = { lots: [], cards: [], dollars: 0 };",
        "const offer = await act({ type: 'offer', to: 0, give: goods, ask: goods });",
        "await act({ type: 'undo' });",
        "const again = await act({ type: 'undo' });",
        "const seat = await act({ type: 'seat', seat: 1, kind: 'policy', policy: 'nobody' });",
        "return { done, late, wrong, bid, offer, again, seat, version: live.actions.length,",
        "  same: JSON.stringify(live.frame().record) === JSON.stringify(before.record),",
        "  kinds: heard.map((message) => message.type) };",
    )  # fmt: skip
    assert found["done"] == {"type": "done"}
    assert "has moved on: it is at decision 1, not 0" in found["late"]
    assert "illegal" in found["wrong"]
    assert "can't be made" in found["bid"] or "no auction" in found["bid"]
    assert "This offer can't be made" in found["offer"]
    assert "no decision to take back" in found["again"]
    assert "Unknown policy nobody" in found["seat"]
    assert (found["version"], found["same"]) == (0, True)
    # there is no IndexedDB in node: each time it is told that the game is not kept
    assert found["kinds"] == ["state", "refused", "events", "refused", "state", "refused"]


def test_a_game_by_other_rules_is_told_and_kept(table: Path) -> None:
    message, frame, listed = program(
        table, EXPERTS,
        "const { game } = await played({ seats, seed: 3, turn_limit: 1 });",
        "const { row } = await table.live(game);",
        "await table.forget(game);",
        "await table.store.save({ ...row, versions: row.versions - 1 });",
        "const failed = (error) => error.message;",
        "return [await table.live(game).catch(failed),",
        "  await ask('GET', `/games/${game}/frames/0`).catch(failed),",
        "  (await ask('GET', '/games')).games.map((each) => each.version === row.actions.length)];",
    )  # fmt: skip
    assert message == frame
    assert "played by another version of the rules" in message
    assert listed == [True]


def test_a_removed_game_does_not_come_back(table: Path) -> None:
    games, message = program(
        table, EXPERTS,
        "const { game } = await ask('POST', '/games', { seats, seed: 3, speed: 0.05 });",
        "const live = await table.live(game), { until, heard } = client(live);",
        "await until(() => heard.length > 3);",
        "await ask('DELETE', `/games/${game}`);",
        "await new Promise((resolve) => setTimeout(resolve, 300));",
        "const names = (await ask('GET', '/games')).games.map((each) => each.game);",
        "return [names, await ask('GET', `/games/${game}`).catch((error) => error.message)];",
    )  # fmt: skip
    assert games == []
    assert "it was removed" in message


def test_sealed_bids_are_hidden_and_can_not_be_taken_back(table: Path) -> None:
    hidden, own, opened, undone = program(
        table,
        "const seats = [{ kind: 'person' }, { kind: 'policy', policy: 'expert' }];",
        "const rules = { preset: 'mukhar' };",
        "const { game } = await ask('POST', '/games', { seats, rules, seed: 3, speed: 0 });",
        "const live = await table.live(game), { heard, until } = client(live);",
        "const act = (more) => live.handle({ version: live.actions.length,",
        "  digest: live.frame().digest, ...more }).catch((error) => error.message);",
        "const asked = () => live.game.over || live.game.player === 0;",
        "const sealed = (frame) => engine.sealed(frame.record);",
        "for (await until(asked); !sealed(live.frame()); await until(asked)) {",
        "  const [action] = live.game.legal();",
        "  await act({ type: 'act', action });",
        "}",
        "const before = live.frame();",
        "await act({ type: 'bid', dollars: 20 });",
        "await until(asked);",
        "const record = live.record.slice();",
        "engine.write(record, 'decision', engine.decisions.indexOf('sealed_bid'));",
        "engine.write(record, 'sealed', [20, 30]);",
        "engine.write(record, 'player', 1);",
        "return [engine.frame(record, [], 1).record, engine.frame(record, [], 1, 1).record,",
        "  sealed(live.frame()), await act({ type: 'undo' })];",
    )  # fmt: skip
    assert (hidden["sealed"][:2], any(hidden["legal"])) == ([0, 0], False)
    assert own["sealed"][:2] == [0, 30]
    assert not opened
    assert "sealed bids have been opened" in undone


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("'GET', '/games/gNone'", "There is no game gNone in this browser"),
        ("'GET', '/puzzles/9999'", "There is no puzzle 9999"),
        ("'POST', '/games', {seats: [{kind: 'guest'}, {kind: 'person'}]}", "sit at this machine"),
        ("'POST', '/games', {seats: [{kind: 'policy', policy: 'experd'}]}", "Unknown policy exp"),
        ("'POST', '/positions', {players: [{}]}", "2 to 8 players"),
        ("'POST', '/positions', {players: [{}, {}], mortgaged: [3]}", "of the bank is mortgaged"),
        ("'POST', '/positions', {players: [{lots: [1]}, {lots: [1]}]}", "a lot has two owners"),
        ("'POST', '/positions', {players: [{bankrupt: true}, {}]}", "Fewer than two players"),
        ("'POST', '/positions', {players: [{jail_cards: ['luck']}, {}]}", "one of the decks"),
        ("'POST', '/positions', {players: [{}, {}], turn: 7}", "out of range"),
        ("'POST', '/positions', {players: [{square: 60}, {}]}", "out of range"),
        ("'POST', '/positions', {players: [{}, {}], throws: [[9, 9]]}", "out of range"),
        ("'POST', '/positions', {players: [{}, {}], throws: Array(17).fill([1, 2])}", "at most"),
        ("'POST', '/positions', {players: [{}, {}], rules: {preset: 'ofical'}}", "Unknown preset"),
        ("'POST', '/replays', new Blob(['nonsense'])", "no recorded game"),
        ("'PUT', '/about'", "without a server"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(table: Path, asked: str, message: str) -> None:
    assert message in program(table, f"return await ask({asked}).catch((error) => error.message);")


def test_a_game_is_analysed_and_judged(table: Path) -> None:
    analysis, curve, report = program(
        table, EXPERTS,
        "const { game } = await played({ seats, seed: 5, turn_limit: 1 });",
        "const jobs = [{ type: 'analyse', target: { game, version: 0 }, most: 100 },",
        "  { type: 'curve', game, points: 4, playouts: 10 },",
        "  { type: 'report', game, playouts: 10 }];",
        "const last = [];",
        "for (const job of jobs)",
        "  for await (const step of await table.steps(job)) last[jobs.indexOf(job)] = step;",
        "return last;",
    )  # fmt: skip
    assert sum(row["share"] for row in analysis["shares"]) == pytest.approx(1)
    assert all(row["low"] < row["share"] < row["high"] for row in analysis["shares"])
    assert analysis["candidates"][0]["difference"] == 0
    assert curve["points"][0]["version"] == 0
    assert curve["done"]
    for player in report["players"]:
        parts = (player[name] for name in ("first", "luck", "skill", "others"))
        assert sum(parts) == pytest.approx(player["final"])
        assert player["accuracy"] > 80
    assert report["done"]


def test_a_mistake_is_told_by_facts(table: Path) -> None:
    """Both blue streets and nearly all cash for Mediterranean Avenue, accepted."""
    mistakes, legal = program(
        table, PEOPLE,
        "const players = [{ lots: [20, 21], cash: 900 }, { lots: [0, 5], cash: 700 }];",
        "const position = { players, throws: [[1, 2], [1, 2]] };",
        "const { game } = await ask('POST', '/games', { seats, position, seed: 7, speed: 0 });",
        "const live = await table.live(game);",
        "const act = (more) => live.handle({ version: live.actions.length,",
        "  digest: live.frame().digest, ...more });",
        "const give = { lots: [20, 21], cards: [], dollars: 800 };",
        "await act({ type: 'offer', to: 1, give, ask: { lots: [0], cards: [], dollars: 0 } });",
        "await act({ type: 'act', action: engine.head('reply') + 1 });",
        "let last;",
        "const job = { type: 'report', game, playouts: 20 };",
        "for await (const step of await table.steps(job)) last = step;",
        "return [last.mistakes, engine.open((await table.recording(game)).record(0)).legal()];",
    )  # fmt: skip
    (mistake,) = mistakes
    assert mistake["offer"] == [1, 1 << 20 | 1 << 21, 1, 800]
    assert (mistake["version"], mistake["seat"], mistake["clear"]) == (0, 0, True)
    assert mistake["frame"]["record"]["lots"][0] == 1 << 20 | 1 << 21
    assert mistake["best"]["action"] in legal
    assert "text" not in mistake["best"]


def test_playouts_of_an_analysis_are_those_of_python(table: Path) -> None:
    game = me.new_game(2, seed=6)
    found = program(
        table, READ,
        f"const record = read('{text_of(game)}');",
        "const positions = [{ record, n: 20, first: 5 }], policies = ['expert', 'random'];",
        "return [...(await table.rollout({ positions, policies }))[0]];",
    )  # fmt: skip
    played = rollout(game, ["expert", "random"], 20, first=5)
    assert found == played.shares.ravel().tolist()
