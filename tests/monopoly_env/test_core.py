"""Games from Python: begin, step, look, copy, save, print; and every way to get it wrong."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import monopoly_env as me
from monopoly_env import actions, core, encoding, saves
from monopoly_env.analyse import playouts, values
from monopoly_env.engine import agenda
from monopoly_env.facts import board
from monopoly_env.game import FORMAT_VERSION, NOBODY
from monopoly_env.policy.protocol import Decisions
from monopoly_env.render import narrate
from monopoly_env.render.text import board as board_of
from monopoly_env.rules import RULES_VERSION
from tests.play import act, asked, land, table


def middle(decisions: int = 150, **options: Any) -> Any:
    """A game after some decisions, chosen by a fixed pattern."""
    game = me.new_game(**({"num_players": 3, "seed": 4} | options))
    for number in range(decisions):
        legal = me.legal_actions(game)
        me.step(game, int(legal[number * 7919 % len(legal)]))
    return game


def read_only(games: Any) -> Any:
    """A copy that may not be written."""
    copied = games.copy()
    copied.flags.writeable = False
    return copied


@pytest.mark.parametrize("given", [lambda games: games[::2], read_only], ids=["steps", "read-only"])
@pytest.mark.parametrize(
    "read",
    [
        core.check_sound,
        core.check_ranges,
        encoding.observe_all,
        lambda games: values.resolve("worth").shares(games),
        lambda games: playouts.rollout(games, "random", n=1, turns=1).shares,
    ],
    ids=["check_sound", "check_ranges", "observe_all", "value", "rollout"],
)
def test_slices_with_steps_and_read_only_games_can_be_read(
    read: Callable[[Any], Any], given: Callable[[Any], Any]
) -> None:
    games = given(core.new_games(range(4), 2))
    assert np.array_equal(read(games), read(games.copy()))


# --- new games


@pytest.mark.parametrize("players", range(2, 9))
def test_a_new_game_waits_for_its_first_decision(players: int) -> None:
    game = me.new_game(players, seed=3)
    assert game.dtype == me.GAME
    assert game.num_players == players
    assert game.cash[:players].min() <= 1500
    assert not game.cash[players:].any()
    assert len(me.legal_actions(game)) > 1
    assert not me.is_over(game)
    assert me.winner(game) is None
    me.check(game)


@pytest.mark.parametrize("seed", [0, 1, 2**32, 2**64 - 1, np.uint64(2**63), np.int8(5)])
def test_every_seed_of_64_bits_is_another_game(seed: Any) -> None:
    game = me.new_game(4, seed=seed)
    assert int(game.seed[0]) + (int(game.seed[1]) << 32) == int(seed)
    assert me.digest(game) == me.digest(me.new_game(4, seed=int(seed)))
    assert me.digest(game) != me.digest(me.new_game(4, seed=int(seed) ^ 1 << 40))


def test_a_batch_holds_the_games_of_its_seeds() -> None:
    seeds = [9, 2**40, 0]
    games = me.new_games(seeds, 3, "uk")
    assert games.shape == (3,)
    assert [games[i].tobytes() for i in range(3)] == [
        me.new_game(3, "uk", seed).tobytes() for seed in seeds
    ]
    assert me.new_games(np.array([9, 5]), 3, "uk")[0].tobytes() == games[0].tobytes()
    assert len(me.new_games([])) == 0


def test_a_game_of_a_batch_is_stepped_alone() -> None:
    games = me.new_games(range(3), 2)
    before, alone = games.copy(), me.new_game(2, seed=1)
    action = int(me.legal_actions(alone)[0])
    assert me.step(games[1], action).tobytes() == me.step(alone, action).tobytes()
    assert games[1].tobytes() == alone.tobytes() != before[1].tobytes()
    assert games[[0, 2]].tobytes() == before[[0, 2]].tobytes()


# --- steps


def test_an_illegal_action_is_refused_without_a_trace() -> None:
    game = middle()
    before = game.tobytes()
    legal = set(me.legal_actions(game).tolist())
    assert 1 < len(legal) < actions.NUM_ACTIONS
    for action in set(range(actions.NUM_ACTIONS)) - legal:
        with pytest.raises(me.IllegalActionError) as refused:
            me.step(game, action)
        assert game.tobytes() == before
        said = str(refused.value)
        assert (
            f"Action {action} ({actions.describe(action, game)!r}) of player {game.player}" in said
        )
        assert repr(asked(game)[0]) in said
        assert actions.describe(min(legal), game) in said


def test_many_legal_actions_are_counted_in_the_message() -> None:
    game = table(2, lots={0: board.LOT_NAME[0][5:]})
    count = len(me.legal_actions(game))
    with pytest.raises(me.IllegalActionError, match=f"and {count - 12} more"):
        me.step(game, actions.parse("buy"))


@pytest.mark.parametrize(
    "action", [-1, 205, 2**70, 1.0, "go on", None, True, [0], np.array([0, 1])]
)
def test_what_is_no_action(action: Any) -> None:
    game = middle(5)
    before = game.tobytes()
    with pytest.raises(me.ConfigurationError, match="from 0 to 204"):
        me.step(game, action)
    assert game.tobytes() == before


def test_a_step_after_the_end() -> None:
    game = finished()
    before = game.tobytes()
    assert len(me.legal_actions(game)) == 0
    for action in (0, actions.A_TURN, 204):
        with pytest.raises(me.GameOverError, match=r"The game is over; no action is legal, not '"):
            me.step(game, action)
    assert game.tobytes() == before
    assert issubclass(me.GameOverError, me.IllegalActionError)


def test_a_fault_of_the_engine_is_reported_as_such() -> None:
    """No game has so many tasks, so the engine would have to be broken.

    Each of them alone is possible.
    """
    game = table()
    question = game.agenda[game.depth - 1].copy()
    game.agenda[1:-1], game.agenda[-1] = game.agenda[0], question
    game.depth = len(game.agenda)
    with pytest.raises(me.EngineError, match=r"The engine stopped: the agenda overflowed.*report"):
        act(game, "trade with player +1")


# --- edited records

# Edits after which kernels would read or write beyond a table, or would never come to an end.
NONSENSE: dict[str, Callable[[Any], Any]] = {
    "zeroed": lambda game: core.batch_of(game).view(np.uint8).fill(0),
    "all ones": lambda game: core.batch_of(game).view(np.uint8).fill(255),
    "depth": lambda game: game.__setattr__("depth", -5),
    "player": lambda game: game.__setattr__("player", 99),
    "decision": lambda game: game.__setattr__("decision", -3),
    "board": lambda game: game.rules.__setattr__("board", 7),
    "a rule": lambda game: game.rules.__setattr__("hotel_after", 1000),
    "a switch": lambda game: game.rules.__setattr__("double_go", 5),
    "a task": lambda game: game.agenda.__setitem__((0, 0), agenda.LAST_TASK + 1),
    "a window": lambda game: game.agenda.__setitem__((game.depth - 1, 2), 7000),
    "nobody": lambda game: game.place.fill(1),
    "lots": lambda game: game.lots.fill(-1),
    "level": lambda game: game.level.fill(9000),
    "deck": lambda game: game.deck.fill(3000),
    "seed": lambda game: game.seed.fill(1 << 40),
    "refusals": lambda game: (game.__setattr__("num_refused", 1), game.refused_to.fill(300)),
}  # fmt: skip
USES: dict[str, Callable[[Any], Any]] = {
    "step": lambda game: me.step(game, actions.A_TURN),
    "a step that is told": lambda game: narrate.step(game, actions.A_TURN),
    "settle": core.settle,
    "legal_actions": me.legal_actions,
    "action_mask": me.action_mask,
    "worth": me.worth,
    "to_text": me.to_text,
    "draw": me.draw,
    "board": board_of,
    "save": lambda game: me.save(game, Path("/dev/null/never")),
    "Decisions": lambda game: Decisions(core.batch_of(game)),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("edit", NONSENSE)
def test_nonsense_is_refused_without_a_trace(edit: str, use: str) -> None:
    game = table()
    NONSENSE[edit](game)
    before = game.tobytes()
    with pytest.raises(me.PositionError, match="Invalid record: "):
        USES[use](game)
    assert game.tobytes() == before


def test_an_edit_takes_effect_once_it_is_settled() -> None:
    game = land(
        39, lots={0: ["Reading Railroad", "B. & O. Railroad", "Short Line", "Electric Company"]}
    )
    game.cash[0] = 100  # Boardwalk costs 400
    with pytest.raises(
        me.PositionError,
        match=r"the legal actions are not those of the rules. After editing a game, call .*settle",
    ):
        me.step(game, actions.parse("buy"))
    core.settle(game)
    assert asked(game) == ("buy", 0)
    assert actions.parse("buy") not in me.legal_actions(game)


def test_a_finished_game_with_legal_actions_is_refused() -> None:
    game = finished()
    game.legal[0] = 3
    with pytest.raises(me.PositionError, match="the legal actions are not those of the rules"):
        me.step(game, 0)


# --- looking


def test_masks_and_lists_of_actions_agree() -> None:
    game = middle()
    mask = me.action_mask(game)
    assert mask.shape == (actions.NUM_ACTIONS,)
    assert mask.dtype == np.bool_
    assert np.flatnonzero(mask).tolist() == me.legal_actions(game).tolist()
    mask[:] = False
    assert len(me.legal_actions(game)) > 1  # the mask is a copy


def finished(cash: tuple[int, int] = (1500, 500)) -> Any:
    """A game of two that a cap of one turn has ended."""
    return act(
        table(2, rules=me.Rules(max_turns=1), cash=cash, positions=[7, 7], throws=[(1, 2)]),
        "go on",
        "go on",
    )


def test_the_winner_is_the_only_first() -> None:
    game = finished()
    assert me.is_over(game)
    assert me.winner(game) == 0
    assert game.place[:2].tolist() == [1, 2]


def test_nobody_wins_a_draw() -> None:
    game = finished()
    game.place[:2] = 1
    assert me.is_over(game)
    assert me.winner(game) is None


def test_nobody_has_won_a_game_under_way() -> None:
    game = middle()
    game.place[2] = 3
    assert me.winner(game) is None


def test_worth_is_cash_lots_and_buildings() -> None:
    game = me.position(
        3, cash=[100, 0, 7],
        lots={0: ["Boardwalk", "Park Place", "Reading Railroad"], 1: ["Electric Company"]},
        buildings={"Boardwalk": 5, "Park Place": 4}, mortgaged=["Electric Company"],
    )  # fmt: skip
    assert me.worth(game).tolist() == [100 + 400 + 350 + 200 + 9 * 200, 150, 7]
    assert [me.worth(game, seat) for seat in range(3)] == me.worth(game).tolist()
    assert isinstance(me.worth(game, 0), int)


@pytest.mark.parametrize("seat", [-1, 3, 1.5, "0", True])
def test_worth_of_a_seat_that_does_not_exist(seat: Any) -> None:
    with pytest.raises(me.ConfigurationError, match=r"seat=.*from 0 to 2"):
        me.worth(middle(3), seat)


NO_GAMES = [
    None,
    7,
    "game",
    {"cash": 1},
    np.zeros(3),
    np.zeros(1, np.dtype((np.record, [("cash", np.int32)])))[0],
    np.zeros(2, me.GAME),
]
LOOKS: dict[str, Callable[[Any], Any]] = {
    "step": lambda game: me.step(game, 0),
    "legal_actions": me.legal_actions,
    "action_mask": me.action_mask,
    "is_over": me.is_over,
    "winner": me.winner,
    "worth": me.worth,
    "clone": me.clone,
    "reseed": lambda game: me.reseed(game, 1),
    "digest": me.digest,
    "check": me.check,
    "to_text": me.to_text,
    "force": me.force,
}


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("game", NO_GAMES, ids=lambda game: type(game).__name__)
def test_what_is_no_game(look: str, game: Any) -> None:
    with pytest.raises(me.ConfigurationError, match="Expected a game"):
        LOOKS[look](game)


def test_what_is_no_game_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(me.ConfigurationError, match="Expected a game"):
        me.save({"cash": 1}, tmp_path / "game")
    assert not list(tmp_path.iterdir())


# --- copies


def test_a_clone_is_equal_and_independent() -> None:
    game = middle()
    twin = me.clone(game)
    before = game.tobytes()
    assert twin.tobytes() == before
    me.step(twin, int(me.legal_actions(twin)[0]))
    assert game.tobytes() == before != twin.tobytes()
    games = me.new_games([1, 2])
    assert me.clone(games[1]).tobytes() == games[1].tobytes()


def test_the_digest_tells_all_and_nothing_else() -> None:
    game = middle()
    assert (
        me.digest(game)
        == me.digest(me.clone(game))
        == hashlib.sha256(game.tobytes()).hexdigest()[:16]
    )
    digests = {me.digest(game)}
    raw = np.frombuffer(game.tobytes(), np.uint8)
    for place in range(0, len(raw), 37):
        changed = raw.copy()
        changed[place] ^= 1
        digests.add(me.digest(changed.view(me.GAME)[0]))
    assert len(digests) == 1 + len(range(0, len(raw), 37))


def test_reseed_changes_the_seed_alone() -> None:
    game = middle()
    other = me.clone(game)
    assert me.reseed(other, 2**40 + 3) is other
    assert other.seed.tolist() == [3, 2**8]
    other.seed = game.seed
    assert other.tobytes() == game.tobytes()


@pytest.mark.parametrize("seed", [-1, 2**64, 1.0, "1", None, True])
def test_seeds_out_of_range(seed: Any) -> None:
    game = middle(5)
    before = game.tobytes()
    with pytest.raises(me.ConfigurationError, match=r"from 0 to 2\*\*64 - 1"):
        me.reseed(game, seed)
    assert game.tobytes() == before
    with pytest.raises(me.ConfigurationError, match=r"from 0 to 2\*\*64 - 1"):
        me.new_game(seed=seed)


# --- files


def test_a_saved_game_comes_back_and_goes_on(tmp_path: Path) -> None:
    """Games of all rules do, by `test_properties`."""
    game = middle(60, num_players=2)
    path = me.save(game, tmp_path / "new" / "folder" / "game.monopoly")
    assert [file.name for file in path.parent.iterdir()] == ["game.monopoly"]
    loaded = me.load(str(path))
    assert loaded.tobytes() == game.tobytes()
    for _ in range(20):
        action = int(me.legal_actions(game)[-1])
        assert me.step(loaded, action).tobytes() == me.step(game, action).tobytes()


def test_a_finished_game_is_saved_too(tmp_path: Path) -> None:
    game = finished()
    assert me.load(me.save(game, tmp_path / "game")).tobytes() == game.tobytes()


def test_saving_again_replaces_the_file(tmp_path: Path) -> None:
    game = middle(5)
    me.save(game, tmp_path / "game")
    me.step(game, int(me.legal_actions(game)[0]))
    me.save(game, str(tmp_path / "game"))
    assert me.load(tmp_path / "game").tobytes() == game.tobytes()
    assert len(list(tmp_path.iterdir())) == 1


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    for target in (tmp_path / "file" / "game", tmp_path / "folder", Path("/dev/null/game")):
        with pytest.raises(me.ConfigurationError, match=rf"Cannot write .*{target.name}"):
            me.save(middle(1), target)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]
    assert (tmp_path / "file").read_text() == "mine"


def test_a_broken_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = me.save(middle(5), tmp_path / "game")
    before = path.read_bytes()

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(me.ConfigurationError, match="No space left"):
        me.save(middle(9), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_files_that_are_not_there(tmp_path: Path) -> None:
    for path in (tmp_path / "missing", tmp_path):
        with pytest.raises(me.ConfigurationError, match="Cannot read"):
            me.load(path)


def saved(game: Any, **changes: Any) -> bytes:
    """A saved game as it should be but for some changes of its header."""
    header = {
        "format": "monopoly_env game", "version": FORMAT_VERSION, "rules_version": RULES_VERSION,
        "board": "us_2008",
        "tables": saves.table_hash("us_2008"),
        "digest": hashlib.sha256(game.tobytes()).hexdigest()[:16],
    }  # fmt: skip
    return json.dumps(header | changes).encode() + b"\n" + game.tobytes()


def load_bytes(data: bytes, folder: Path) -> Any:
    (folder / "game").write_bytes(data)
    return me.load(folder / "game")


def test_the_file_is_a_line_of_json_and_the_record(tmp_path: Path) -> None:
    game = middle()
    assert me.save(game, tmp_path / "game").read_bytes() == saved(game)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"no game",
        b"\xff\xfe\x00",
        b"[]\n",
        b"null\n",
        b"3\n",
        b'"text"\n',
        b"{}\n",
        b"PK\x03\x04",
        b"[" * 60_000,
    ],
    ids=lambda content: repr(content[:10]),
)
def test_foreign_files(content: bytes, tmp_path: Path) -> None:
    with pytest.raises(me.FormatError, match=r"game' is not a saved game"):
        load_bytes(content, tmp_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"format": "monopoly_env policy"},
            r"format is 'monopoly_env policy', this version reads 'monopoly_env game'",
        ),
        (
            {"version": FORMAT_VERSION + 1},
            rf"version is {FORMAT_VERSION + 1}, this version reads {FORMAT_VERSION}",
        ),
        # without `window_passes` and `piece_limit`
        ({"version": 1}, "version is 1, this version reads 2"),
        ({"version": None}, "version is None"),
        ({"rules_version": RULES_VERSION + 1}, "rules_version is"),
        ({"tables": "0" * 16}, "another version of the board 'us_2008'"),
        ({"tables": None}, "another version of the board 'us_2008'"),
        ({"digest": "0" * 16}, "does not match its digest"),
        ({"digest": None}, "does not match its digest"),
    ],
)
def test_headers_that_do_not_match(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(me.FormatError, match=message):
        load_bytes(saved(middle(20), **changes), tmp_path)


def test_truncated_and_padded_files(tmp_path: Path) -> None:
    data = saved(middle())
    header = data.index(b"\n") + 1
    for end in (*range(0, header, 40), header, header + 1, len(data) // 2, len(data) - 1):
        with pytest.raises(me.FormatError, match=r"truncated or corrupt|is not a saved game"):
            load_bytes(data[:end], tmp_path)
    with pytest.raises(
        me.FormatError, match=f"{me.GAME.itemsize + 1} bytes of record, expected {me.GAME.itemsize}"
    ):
        load_bytes(data + b"\0", tmp_path)


def test_every_flipped_bit_of_the_record_is_noticed(tmp_path: Path) -> None:
    data = saved(middle())
    start = data.index(b"\n") + 1
    for place in range(start, len(data), 7):
        flipped = bytearray(data)
        flipped[place] ^= 1 << place % 8
        with pytest.raises(me.FormatError, match="does not match its digest"):
            load_bytes(bytes(flipped), tmp_path)


def change(field: str, *path: Any) -> Callable[[Any], None]:
    """An edit of a record: the last of `path` is the value, the others lead to its place."""

    def edit(game: Any) -> None:
        *places, value = path
        if places:
            game[field][tuple(places)] = value
        else:
            game[field] = value

    edit.__name__ = f"{field} {path}"
    return edit


def rule(name: str, value: int) -> Callable[[Any], None]:
    """An edit of the numeric block of the rules."""

    def edit(game: Any) -> None:
        game["rules"][name] = value

    edit.__name__ = f"{name}={value}"
    return edit


@pytest.mark.parametrize(
    "edit",
    [
        change("num_players", 0),
        change("num_players", 9),
        change("num_players", -1),
        change("depth", -1),
        change("depth", 33),
        change("depth", 0),  # a question is open, so something must be pending
        change("decision", 15),
        change("decision", -3),
        change("player", 3),
        change("turn", -1),
        change("first", 8),
        change("cash", 0, -1),
        change("position", 1, 40),
        change("position", 0, -1),
        change("lots", 2, 1 << 28),
        change("lots", 0, -1),
        change("jail_cards", 0, 4),
        change("deck_next", 0, 17),
        change("deck_size", 1, 99),
        change("deck", 0, 0, 16),
        change("deck", 1, 3, -1),
        change("level", 0, 6),
        change("level", 0, -1),
        change("num_forced", 17),
        change("num_forced", -1),
        change("forced_throws", 0, 99),
        change("num_refused", 11),
        change("auction_lot", 40),
        change("auction_leader", 5),
        change("offer_to", 7),
        change("place", 0, 9),
        change("throws", 0, -1),
        change("fault", 1),
        change("agenda", 0, 0, 99),
        change("agenda", 0, 0, 0),
        change("agenda", 0, 1, 3),
        change("agenda", 0, 1, -2),
        change("legal", slice(None), 0),
        change("legal", 6, 1 << 30),  # action 222
        change("legal", 0, 3),  # buy or decline, though no lot is for sale
        change("decision", agenda.BUY),  # another question than the one on top of the agenda
        change("player", 2),  # nor is he on turn
        rule("board", 3),
        rule("auction", 9),
        rule("auction", -1),
        rule("start_cash", -5),
        rule("jail_turns", 0),
        rule("sell_ratio", 101),
        rule("hotel_after", 5),
    ],
    ids=lambda edit: edit.__name__,
)
def test_an_impossible_record_with_a_valid_digest(
    edit: Callable[[Any], None], tmp_path: Path
) -> None:
    game = table(turn=1)
    edit(game)
    with pytest.raises(me.FormatError, match=r"game' "):
        load_bytes(saved(game), tmp_path)


@pytest.mark.parametrize(
    "task",
    [
        (agenda.LAST_TASK + 1, 0, 0, 0),
        (-1, 0, 0, 0),
        (agenda.OVER, 0, 0, 0),
        (agenda.BUY, 0, 28, 0),
        (agenda.BUY, 0, -1, 0),
        (agenda.BUY, 3, 0, 0),
        (agenda.TAKEOVER, 0, 99, 0),
        (agenda.SOLD, 0, -1, 0),
        (agenda.AUCTION, 1, 28, 0),
        (agenda.PLACE, 0, 5, 100),
        (agenda.CARD, 0, 2, 0),
        (agenda.CARD, 0, -1, 0),
        (agenda.CHARGE, 0, 50, 3),
        (agenda.DEBT, 0, 50, -4),
        (agenda.TAKE, 0, 50, 8),
        (agenda.PAY_EACH, 0, 50, 0),
        (agenda.COLLECT_EACH, 0, 50, 9),
        (agenda.ESTATE, 0, 1 << 28, 0),
        (agenda.ESTATE, 0, -1, 0),
        (agenda.TAKEOVERS, 0, -1, 0),
        (agenda.LEAVE_JAIL, 0, 13, 0),
        (agenda.JAIL, 0, -1, 0),
        (agenda.AUCTION_ROUND, 0, 0, 0),
        (agenda.BID, 0, 0, 0),  # nothing is being auctioned
        (agenda.SEALED_BID, 0, 0, 0),
        (agenda.AUCTION_ROUND, NOBODY, 0, 0),
        (agenda.ASK, 0, 0, 0),  # no offer is being made
        (agenda.REPLY, 0, 0, 0),
    ],
)
def test_an_impossible_task_with_a_valid_digest(
    task: tuple[int, int, int, int], tmp_path: Path
) -> None:
    game = table()
    assert (game.auction_lot, game.offer_to) == (NOBODY, NOBODY)
    game.agenda[1 : game.depth + 1] = game.agenda[: game.depth].copy()
    game.agenda[0] = task  # comes last
    game.depth += 1
    with pytest.raises(me.FormatError, match="the agenda holds an impossible task"):
        load_bytes(saved(game), tmp_path)


# --- text


def test_a_game_in_words() -> None:
    game = me.position(
        4, me.Rules.preset("uk", free_parking_pot="fines"), seed=1, turn=1, pot=120,
        cash=[10, 20, 30, 0], bankrupt=[3],
        lots={0: ["Mayfair", "Park Lane", "King's Cross Station"], 1: ["Old Kent Road"]},
        mortgaged=["King's Cross Station"],
        buildings={"Mayfair": 5, "Park Lane": 4}, positions={0: 24, 1: 0}, jail={2: 1},
        jail_cards={1: ["chance", "community_chest"]},
    )  # fmt: skip
    lines = me.to_text(game).splitlines()
    assert lines[0].startswith("Turn 1 of player 1, round 1;")
    assert "board='uk'" in lines[0]
    assert "free_parking_pot='fines'" in lines[0]
    assert lines[1] == "Bank: 28 houses, 11 hotels; Free Parking $120; last throw 0 + 0"
    assert (
        lines[2]
        == "Player 0: $10, Trafalgar Square; Park Lane 4 houses, Mayfair hotel, King's Cross"
        " Station mortgaged"
    )
    assert (
        lines[3] == "Player 1: $20, Go; Old Kent Road, Chance jail card, Community Chest jail card"
    )
    assert lines[4] == "Player 2: $30, in jail after 1 failed throws; no lots"
    assert lines[5] == "Player 3: out of the game, place 4"
    assert lines[6].startswith("Pending: turn")
    assert lines[7].startswith("Decision of player 1: turn")
    assert lines[8].startswith("Legal: ")
    assert all(
        f"{action} {actions.describe(action, game)}" in lines[8]
        for action in me.legal_actions(game)
    )
    assert "mortgage Old Kent Road" in lines[8]
    assert len(lines) == 9


def test_a_debt_in_words() -> None:
    text = me.to_text(land(38, cash=[5, 1500, 1500], lots={0: ["Reading Railroad"]}))
    assert "Pending: debt (player 0): $100 to the bank" in text
    assert "Player 0 owes $100 to the bank." in text
    assert "Decision of player 0: debt (raise cash for a payment that is due)" in text


def test_an_auction_in_words() -> None:
    game = land(39)
    act(game, "decline")
    assert "Auction of Boardwalk: no bid yet." in me.to_text(game)
    act(game, "bid +50")
    text = me.to_text(game)
    assert "Auction of Boardwalk: player 1 has bid $50." in text
    assert "Auction of Boardwalk: B has bid $50." in board_of(game, colour=False)
    assert "B has bid $50" in str(me.draw(game))


def test_a_sealed_auction_in_words() -> None:
    game = land(39, rules=me.Rules(auction="sealed_second_price"))
    act(game, "decline", "bid +50", "bid +5")
    assert "Auction of Boardwalk: the maximum of player 0 is $55 so far." in me.to_text(game)


def test_an_offer_in_words() -> None:
    game = table(
        2,
        lots={0: ["Park Place"], 1: ["Boardwalk", "Reading Railroad"]},
        jail_cards={1: ["chance"]},
    )
    act(game, "trade with player +1")
    assert "Player 0 offers player 1 nothing for nothing, so far." in me.to_text(game)
    act(
        game,
        "ask for Boardwalk",
        "ask for Reading Railroad",
        "ask for the Chance jail card",
        "ask: done",
        "give Park Place",
        "give: done",
    )
    act(game, "give $100")
    offered = (
        "offers {} Park Place and $100 for Boardwalk, Reading Railroad and the Chance jail card"
    )
    assert f"Player 0 {offered.format('player 1')}, so far." in me.to_text(game)
    act(game, "cash: done")
    assert f"Player 0 {offered.format('player 1')}." in me.to_text(game)
    assert "A offers B Park Place and $100 for Boardwalk, Reading" in board_of(game, colour=False)
    act(game, "counter")
    assert "Player 1 offers player 0 nothing for nothing, a counter-offer, so far." in me.to_text(
        game
    )


def test_pending_tasks_name_lots_and_creditors() -> None:
    game = land(
        39,
        cash=[20, 1500, 1500],
        lots={1: ["Boardwalk", "Park Place"], 0: ["Reading Railroad", "Short Line"]},
    )
    assert "debt (player 0): $" in me.to_text(game)
    assert "to player 1" in me.to_text(game)
    buying = me.to_text(land(39))
    assert "Pending: buy (player 0): Boardwalk; " in buying
    assert "Boardwalk is for sale at $400." in buying


def test_another_pass_of_windows_in_words() -> None:
    text = me.to_text(table(2, rules=me.Rules.preset("any_time", window_passes=2)))
    assert "before throw (player 0): pass 2 of the windows, if somebody acts" in text


def test_a_finished_game_in_words() -> None:
    text = me.to_text(finished())
    assert "The game is over" in text.splitlines()[-1]
    assert "Player 0, place 1: $1500" in text
    assert "Player 1, place 2: $500" in text
    assert "Pending: nothing" in text
