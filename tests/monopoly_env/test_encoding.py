"""Observations: complete, ego-centric, in range, and Ocnaru's features one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
import pytest

import monopoly_env as me
from monopoly_env import actions, core, encoding
from monopoly_env.encoding import ocnaru, standard
from monopoly_env.engine import agenda
from monopoly_env.errors import ConfigurationError
from monopoly_env.game import AGENDA_DEPTH, GAME, MAX_REFUSED, NOBODY, empty_games
from tests.play import land
from tests.programs import python

# A table of every size, and rules that ask every kind of question.
TABLES = (
    (2, me.Rules.preset("official", max_turns=120)),
    (3, me.Rules.preset("classic", max_turns=200, liquidation="one_request")),
    (4, me.Rules.preset("mukhar", max_turns=150, trade="official", free_parking_pot="fines")),
    (
        8,
        me.Rules.preset(
            "any_time",
            window_passes=3,
            max_rounds=12,
            start_lots=3,
            start_cash=400,
            bank_bankruptcy="auction_mortgaged",
        ),
    ),
    (5, me.Rules.preset("uk", max_turns=200, start_lots=3, start_cash=200, debt_trade=True)),
    (2, me.Rules.preset("ocnaru", max_turns=150, ocnaru_quirks=True)),
)


def random_steps(num_players: int, rules: me.Rules, seed: int) -> Iterator[np.record]:
    """A game of random legal play, which rather buys and rather accepts, at every decision."""
    rng = np.random.default_rng(seed)
    game = me.new_game(num_players, rules, seed)
    while not me.is_over(game):
        yield game
        legal = me.legal_actions(game)
        eager = [a for a in legal if a in (actions.A_BUY + 1, actions.A_REPLY + 1)]
        me.step(game, int(eager[0]) if eager and rng.random() < 0.7 else int(rng.choice(legal)))
    yield game


@cache
def samples() -> tuple[np.record, ...]:
    """Games in the middle of every kind of decision at every table."""
    found: dict[tuple[int, int], list[np.record]] = {}
    for number, (num_players, rules) in enumerate(TABLES):
        for seed in range(3):
            for game in random_steps(num_players, rules, seed):
                kept = found.setdefault((number, int(game.decision)), [])
                if len(kept) < 2 or (len(kept) < 4 and game.depth > kept[-1].depth):
                    kept.append(me.clone(game))
    return (*(game for kept in found.values() for game in kept), scarce_house())


def scarce_house() -> np.record:
    """The last house of the bank was won in an auction: the winner names its street."""
    rules = me.Rules.preset("official", houses=1)
    game = me.position(
        2,
        rules,
        lots={0: ["Mediterranean Avenue", "Baltic Avenue"], 1: ["Park Place", "Boardwalk"]},
    )
    for text in ("build Baltic Avenue", "bid +500", "fold"):
        me.step(game, actions.parse(text))
    return game


def batch(game: np.record, count: int) -> np.ndarray:
    """Copies of a game."""
    games = empty_games(count)
    games[:] = game
    return games


def test_samples_hold_every_decision() -> None:
    asked = {actions.DECISION_NAMES[game.decision] for game in samples()}
    assert asked == set(actions.DECISION_NAMES)


# --- completeness

Change = Callable[[np.record], np.ndarray]


def each_player(field: str, change: Callable[[int], int]) -> Change:
    """Change the field of one player after another."""

    def changed(game: np.record) -> np.ndarray:
        games = batch(game, int(game.num_players))
        for seat in range(len(games)):
            games[field][seat, seat] = change(int(game[field][seat]))
        return games

    return changed


def each_bit(field: str, bits: int) -> Change:
    """Flip one bit after another."""

    def changed(game: np.record) -> np.ndarray:
        games = batch(game, bits)
        games[field] ^= (1 << np.arange(bits)).astype(games[field].dtype)
        return games

    return changed


def number(field: str, *steps: int) -> Change:
    """Add to a number."""

    def changed(game: np.record) -> np.ndarray:
        games = batch(game, len(steps))
        games[field] += np.array(steps, games[field].dtype)
        return games

    return changed


def other_seats(field: str, nobody: bool) -> Change:
    """Put every other seat, or nobody, in its place."""

    def changed(game: np.record) -> np.ndarray:
        seats = [
            seat
            for seat in range(NOBODY if nobody else 0, int(game.num_players))
            if seat != game[field]
        ]
        games = batch(game, len(seats))
        games[field] = seats
        return games

    return changed


def each_lot_of_each_player(game: np.record) -> np.ndarray:
    players = int(game.num_players)
    games = batch(game, players * 28)
    for seat in range(players):
        games["lots"][seat * 28 : (seat + 1) * 28, seat] ^= (1 << np.arange(28)).astype(np.uint32)
    return games


def each_die(game: np.record) -> np.ndarray:
    games = batch(game, 2)
    games["dice"] += np.eye(2, dtype=np.int16)
    return games


def own_maximum(game: np.record) -> np.ndarray:
    games = batch(game, 1)
    games["sealed"][0, int(game.player)] += 1
    return games


def each_level(game: np.record) -> np.ndarray:
    games = batch(game, 22)
    for street in range(22):
        games["level"][street, street] = (int(game.level[street]) + 1) % 6
    return games


def each_of_refused(field: str) -> Change:
    """Fill all places for refused offers, then change one after another.

    The first row is the unchanged one.
    """

    def changed(game: np.record) -> np.ndarray:
        games = batch(game, MAX_REFUSED + 1)
        games["num_refused"] = MAX_REFUSED
        for i in range(MAX_REFUSED):
            games[field][i + 1, i] += (
                1 if games[field][i + 1, i] == 0 or field == "refused_cash" else -1
            )
        return games

    return changed


def each_of_agenda(game: np.record) -> np.ndarray:
    """Every task, its player and both its numbers.

    The question on top stays the one that is open.
    """
    depth = int(game.depth)
    games = batch(game, depth * 4)
    for row in range(depth):
        for column in range(4):
            if (row, column) != (depth - 1, 0):
                value = int(game.agenda[row, column])
                games["agenda"][row * 4 + column, row, column] = (
                    value - 1 if value > 0 else value + 1
                )
    return games[np.arange(depth * 4) != (depth - 1) * 4]


def drawn_for_coming(game: np.record) -> np.ndarray:
    """Exchange a card that was drawn with one still to come."""
    games = batch(game, 2)
    for deck in range(2):
        first, after = 0, int(game.deck_next[deck])
        if 0 < after < game.deck_size[deck]:
            games["deck"][deck, deck, [first, after]] = games["deck"][deck, deck, [after, first]]
    return games[[0 < game.deck_next[deck] < game.deck_size[deck] for deck in range(2)]]


def next_card(game: np.record) -> np.ndarray:
    games = batch(game, 2)
    for deck in range(2):
        games["deck_next"][deck, deck] += 1 if game.deck_next[deck] < game.deck_size[deck] else -1
    return games


def smaller_deck(game: np.record) -> np.ndarray:
    games = batch(game, 2)
    for deck in range(2):
        games["deck_size"][deck, deck] -= 1
    return games[[game.deck_next[deck] < game.deck_size[deck] for deck in range(2)]]


# How each field of the record is changed, one thing at a time; every change must be seen.
CHANGES: dict[str, Change] = {
    "cash": each_player("cash", lambda dollars: dollars + 1),
    "lots": each_lot_of_each_player,
    "sealed": own_maximum,
    "mortgaged": each_bit("mortgaged", 28),
    "pot": number("pot", 1, 50),
    "turns": number("turns", 1),
    "rounds": number("rounds", 1),
    "auction_bid": number("auction_bid", 1, 7),
    "offer_ask": each_bit("offer_ask", 30),
    "offer_give": each_bit("offer_give", 30),
    "offer_cash": number("offer_cash", 1, -1),
    "traded": each_bit("traded", 30),
    "fresh_mortgages": each_bit("fresh_mortgages", 28),
    "fresh_sales": each_bit("fresh_sales", 22),
    "refused_ask": each_of_refused("refused_ask"),
    "refused_give": each_of_refused("refused_give"),
    "refused_cash": each_of_refused("refused_cash"),
    "agenda": each_of_agenda,
    "first": other_seats("first", nobody=False),
    "turn": other_seats("turn", nobody=False),
    "decision": number("decision", 1),
    "player": other_seats("player", nobody=False),
    "depth": number("depth", 1),
    "streak": number("streak", 1),
    "again": number("again", 1),
    "dice": each_die,
    "houses": number("houses", -1),
    "hotels": number("hotels", -1),
    "position": each_player("position", lambda square: (square + 1) % 40),
    "jail": each_player("jail", lambda turns: turns + 1),
    "jail_cards": each_player("jail_cards", lambda cards: cards ^ 1),
    "place": each_player("place", lambda place: place + 1),
    "offers": each_player("offers", lambda offers: offers + 1),
    "level": each_level,
    "deck": drawn_for_coming,
    "deck_size": smaller_deck,
    "deck_next": next_card,
    "auction_lot": number("auction_lot", 1),
    "auction_leader": other_seats("auction_leader", nobody=True),
    "auction_bidders": lambda game: each_bit("auction_bidders", int(game.num_players))(game),
    "auction_asked": other_seats("auction_asked", nobody=True),
    "offer_from": other_seats("offer_from", nobody=True),
    "offer_to": other_seats("offer_to", nobody=True),
    "offer_last": number("offer_last", 1),
    "offer_counter": number("offer_counter", 1),
    "num_refused": number("num_refused", 1),
    "refused_from": each_of_refused("refused_from"),
    "refused_to": each_of_refused("refused_to"),
}


def test_every_field_is_shown_or_hidden_for_a_reason() -> None:
    assert set(CHANGES) | set(standard.HIDDEN) == set(GAME.names or ())
    assert not set(CHANGES) & set(standard.HIDDEN)


@pytest.mark.parametrize("field", CHANGES)
def test_every_change_of_a_field_is_seen(field: str) -> None:
    seen = 0
    for game in samples():
        changed = CHANGES[field](game)
        if not len(changed):
            continue
        seats = np.full(len(changed), game.player, np.int64)
        # some changes are out of range
        rows = encoding.observe_known(changed, "standard", seats, None)
        plain = rows[0] if field.startswith("refused_") else encoding.observe(game)
        others = rows[1:] if field.startswith("refused_") else rows
        blind = np.flatnonzero((others == plain).all(axis=1))
        assert not len(blind), (
            f"{field}: change {blind[0]} is not seen at decision"
            f" {actions.DECISION_NAMES[game.decision]}"
        )
        seen += len(others)
    assert seen >= len(samples()) // 3


@pytest.mark.parametrize("field", sorted(set(standard.HIDDEN) - {"num_players", "rules"}))
def test_hidden_fields_do_not_show(field: str) -> None:
    for game in samples():
        changed = me.clone(game)
        noise = np.frombuffer(
            np.random.default_rng(7).bytes(GAME[field].itemsize), GAME[field].base
        ).reshape(GAME[field].shape)
        if field != "num_forced":
            changed[field] = noise
        else:
            changed.num_forced = 3
        seat = np.array([game.player], np.int64)
        # noise is out of range
        known = encoding.observe_known(core.batch_of(changed), "standard", seat, None)
        assert np.array_equal(known[0], encoding.observe(game))


def by_name(game: np.record, name: str = "standard", seat: int | None = None) -> dict[str, float]:
    """What a seat sees, or who is asked."""
    names = encoding.names(name, int(game.num_players))
    return dict(zip(names, encoding.observe(game, name, seat).tolist(), strict=True))


def test_order_of_cards_to_come_and_bids_of_others_do_not_show() -> None:
    for game in samples():
        changed = me.clone(game)
        for deck in range(2):
            rest = slice(int(game.deck_next[deck]), int(game.deck_size[deck]))
            changed.deck[deck, rest] = game.deck[deck, rest][::-1]
        for seat in range(game.num_players):
            if seat != game.player:
                changed.sealed[seat] += 25
        assert np.array_equal(encoding.observe(changed), encoding.observe(game))


def test_whole_agenda_is_shown() -> None:
    deepest = max(
        int(game.depth)
        for num_players, rules in TABLES
        for game in random_steps(num_players, rules, 11)
    )
    assert 3 <= deepest <= standard.AGENDA_SHOWN <= AGENDA_DEPTH


# --- what it looks like


def test_features_are_written_and_in_range() -> None:
    for game in samples():
        for name in encoding.NAMES if game.num_players == 2 else ("standard",):
            who = encoding.make(name, int(game.num_players))
            row = encoding.observe(game, name)
            assert row.dtype == np.float32
            assert (
                row.shape
                == (who.size,)
                == (len(who.names),)
                == (encoding.size(name, int(game.num_players)),)
            )
            assert np.isfinite(row).all()
            assert (row <= 1.0).all()
            assert (row >= -1.0).all()


def test_names_are_unique() -> None:
    for name, players in (("standard", 2), ("standard", 8), ("ocnaru100", 2), ("ocnaru100+", 2)):
        names = encoding.names(name, players)
        assert len(set(names)) == len(names)


def rotated(game: np.record) -> np.record:
    """The same game with everybody one seat further on."""
    players = int(game.num_players)
    other = me.clone(game)
    for field in (
        "cash", "lots", "throws", "policy_draws", "sealed", "position", "jail", "jail_cards",
        "place", "offers",
    ):  # fmt: skip
        other[field][:players] = np.roll(game[field][:players], 1)
    for field in (
        "first", "turn", "player", "auction_leader", "auction_asked", "offer_from", "offer_to",
    ):  # fmt: skip
        if game[field] != NOBODY:
            other[field] = (game[field] + 1) % players
    bidders = int(game.auction_bidders)
    other.auction_bidders = (bidders << 1 | bidders >> (players - 1)) & ((1 << players) - 1)
    for field in ("refused_from", "refused_to"):
        other[field][: game.num_refused] = (game[field][: game.num_refused] + 1) % players
    for row in range(game.depth):
        task, seat, _, second = (int(number) for number in game.agenda[row])
        if seat != NOBODY:
            other.agenda[row, 1] = (seat + 1) % players
        if task in (agenda.DEBT, agenda.CHARGE, agenda.TAKE) and second >= 0:
            other.agenda[row, 3] = (second + 1) % players
    return other


def test_only_relative_seats_count() -> None:
    for game in samples():
        turned = rotated(game)
        for seat in range(game.num_players):
            on = (seat + 1) % int(game.num_players)
            assert np.array_equal(
                encoding.observe(turned, seat=on), encoding.observe(game, seat=seat)
            )


def test_padding_adds_zeros() -> None:
    for game in samples():
        plain, padded = encoding.observe(game), encoding.observe(game, pad_to=8)
        assert padded.shape == (encoding.size("standard", 8),)
        assert np.array_equal(padded[: len(plain)], plain)
        assert not padded[len(plain) :].any()
    assert encoding.names("standard", 2, pad_to=8)[
        : encoding.size("standard", 2)
    ] == encoding.names("standard", 2)
    mixed = np.array([me.new_game(2), me.new_game(5)], GAME)
    assert encoding.observe_all(mixed, pad_to=6).shape == (2, encoding.size("standard", 6))


@pytest.mark.parametrize(("option", "creditors"), [("bank", {0, 2, 3}), ("seat_order", {3})])
def test_everybody_who_is_owed_is_a_creditor(option: str, creditors: set[int]) -> None:
    rules = me.Rules(multi_creditor=option)
    lots = {1: ["Short Line", "Reading Railroad"]}
    game = land(
        7,
        seat=1,
        num_players=4,
        chance=["chairman"],
        cash={1: 70},
        lots=lots,
        anchored=(0, 2, 3),
        rules=rules,
    )
    for seat in range(4):
        shown = by_name(game, seat=seat)
        players = ["me", *(f"player +{offset}" for offset in range(1, 4))]
        assert {
            (seat + offset) % 4
            for offset, who in enumerate(players)
            if shown[f"{who}: is creditor"]
        } == creditors


def test_facts_of_a_debt_by_name() -> None:
    game = next(
        game
        for game in samples()
        if actions.DECISION_NAMES[game.decision] == "debt" and game.agenda[game.depth - 1, 3] >= 0
    )
    amount, creditor = (int(number) for number in game.agenda[game.depth - 1, 2:])
    shown = by_name(game)
    assert shown["decision: debt"] == 1.0
    assert shown["amount due: saturating"] == pytest.approx(amount / (amount + 1000))
    offset = (creditor - int(game.player)) % int(game.num_players)
    assert shown[f"player +{offset}: is creditor"] == 1.0
    assert shown["me: to decide"] == 1.0


def test_compiled_and_plain_python_agree() -> None:
    program = (
        "import hashlib, numpy as np, monopoly_env as me\n"
        "from monopoly_env import encoding\n"
        "digest = hashlib.sha256()\n"
        "for name, players in (('standard', 3), ('standard', 2), ('ocnaru100+', 2)):\n"
        "    game = me.new_game(players, 'ocnaru', 5)\n"
        "    rng = np.random.default_rng(1)\n"
        "    for _ in range(60):\n"
        "        digest.update(encoding.observe(game, name).tobytes())\n"
        "        me.step(game, int(rng.choice(me.legal_actions(game))))\n"
        "print(digest.hexdigest())\n"
    )
    digests = [python("-c", program, NUMBA_DISABLE_JIT=plain).stdout for plain in (0, 1)]
    assert digests[0] == digests[1] != ""


# --- wrong arguments


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: encoding.names("standart"), "Did you mean 'standard'"),
        (lambda: encoding.names("ocnaru100", 4), "2 players"),
        (lambda: encoding.names("ocnaru100+", 2, pad_to=4), "2 players"),
        (lambda: encoding.names("standard", 9), "num_players=9"),
        (lambda: encoding.names("standard", True), "num_players=True"),
        (lambda: encoding.names("standard", 4, pad_to=3), "pad_to=3 .* from 4 to 8"),
        (lambda: encoding.observe(me.new_game(3), "ocnaru100"), "2 players"),
        (lambda: encoding.observe(me.new_game(3), seat=3), "Seats must be"),
        (
            lambda: encoding.observe_all(np.array([me.new_game(2), me.new_game(3)], GAME)),
            "need pad_to",
        ),
    ],
)
def test_wrong_arguments_are_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        call()


# --- ocnaru100

ORANGE, BROWN, DARK_BLUE = 0b111 << 8, 0b11, 0b11 << 20


def duel(**fields: object) -> np.record:
    """Two players at the first window of the first turn, edited by hand; seat 0 is the owner."""
    game = me.new_game(2, me.Rules.preset("ocnaru", first_player="fixed"), 0)
    for field, value in fields.items():
        if np.ndim(value) or GAME[field].shape == ():
            game[field] = value
        else:
            raise ValueError(field)
    return game


def padded(values: list[int], length: int) -> list[int]:
    return values + [0] * (length - len(values))


def test_ocnaru_has_the_thesis_layout() -> None:
    names = encoding.names("ocnaru100", 2)
    assert len(names) == 100
    expected = {
        0: "square: me", 3: "cash: opponent", 4: "in jail: me", 7: "jail cards: opponent",
        8: "liquidity", 9: "group: brown own share",
        56: "group: dark_blue cash by its cost", 57: "railroads: me", 60: "utilities: opponent",
        61: "lots sold",
        62: "developed groups: built", 63: "developed groups: with hotels", 64: "for sale: square",
        70: "for sale: cash",
        71: "danger beyond jail", 72: "fine", 73: "failed throws", 74: "unused: 74",
        99: "unused: 99",
    }  # fmt: skip
    assert {index: names[index] for index in expected} == expected
    assert encoding.names("ocnaru100+", 2)[:74] == names[:74]


def test_ocnaru_players() -> None:
    game = duel(
        position=padded([10, 24], 8),
        cash=padded([750, 6000], 8),
        jail=padded([3, 0], 8),
        jail_cards=padded([3, 1], 8),
    )
    row = encoding.observe(game, "ocnaru100", seat=0)
    assert row[:8] == pytest.approx([0.25, 0.6, 0.15, 1.0, 1, 0, 1.0, 0.5])
    assert row[72] == pytest.approx(1.0)  # 750 / 50 is capped at 5
    assert row[73] == pytest.approx(2 / 3)
    assert encoding.observe(game, "ocnaru100", seat=1)[:8] == pytest.approx(
        [0.6, 0.25, 1.0, 0.15, 0, 1, 0.5, 1.0]
    )


def test_ocnaru_group_without_buildings() -> None:
    row = encoding.observe(
        duel(lots=padded([ORANGE | 1, 2], 8), cash=padded([450, 100], 8)), "ocnaru100", seat=0
    )
    orange = row[9 + 6 * 3 : 15 + 6 * 3]
    gained = (70 - 14) + (70 - 14) + (80 - 16)
    assert orange == pytest.approx([1, 0, 1, 0, min(gained / 300 * 1.2 / 0.5, 1), 450 / 300 / 3])
    assert row[9:15] == pytest.approx([0.5, 0.5, 0, 0, 0, 0])
    assert row[8] == pytest.approx(450 / (450 + 180 + 180 + 200 + 60))
    assert row[61] == pytest.approx(5 / 28)


@pytest.mark.parametrize(
    ("level", "gained", "built", "hotels"),
    [
        *((level, 0, 1, 0) for level in (1, 2, 3)),
        (4, 450 - 320 + 250 - 160, 1, 0),
        (5, 10 - 2 + 20 - 4, 1, 1),
    ],
)
def test_ocnaru_group_with_buildings(level: int, gained: int, built: int, hotels: int) -> None:
    row = encoding.observe(
        duel(lots=padded([BROWN, 0], 8), level=padded([level, level], 22)), "ocnaru100", seat=0
    )
    assert row[9:15] == pytest.approx([1, 0, 1, level / 5, min(gained / 100 / 0.5, 1), 1.0])
    assert row[62:64] == pytest.approx([built / 32, hotels / 12])
    worth = 1500 + 120 + 2 * 50 * (1 if level == 5 else level)
    assert row[8] == pytest.approx(1500 / worth)
    assert (
        encoding.observe(
            duel(lots=padded([BROWN, 0], 8), level=padded([level, level], 22)), "ocnaru100", seat=1
        )[62]
        == 0
    )


def test_ocnaru_railroads_and_utilities() -> None:
    row = encoding.observe(
        duel(lots=padded([0b0111 << 22, 0b1 << 25 | 0b11 << 26], 8)), "ocnaru100", seat=0
    )
    assert row[57:61] == pytest.approx([0.75, 0.25, 0.0, 1.0])


@pytest.mark.parametrize(
    ("lot", "owned", "expected"),
    [
        # Boardwalk, Park Place owned: 400 + 20 x 50 + (200 + 600 + 1400 + 1700) / 4 + 2000 / 5, x
        # 1.2, x 1.1
        (21, 1 << 20, [39 / 40, 1, 1, 0, 0, min(2775 * 1.2 * 1.1 / 400 / 2, 1), 1000 / 400 / 5]),
        # Mediterranean: 60 + 20 x 2 + (10 + 30 + 90 + 160) / 4 + 250 / 5
        (0, 0, [1 / 40, 60 / 400, 1, 0, 0, min((60 + 40 + 72.5 + 50) / 60 / 2, 1), 1]),
        # Reading Railroad, one owned: (200 + 10 x 50) x 1.3
        (22, 1 << 23, [5 / 40, 0.5, 0, 1, 0, min(700 * 1.3 / 200 / 2, 1), 1]),
        # Water Works, none owned: (150 + 56 x 4) x 1.1
        (27, 0, [28 / 40, 150 / 400, 0, 0, 1, min(374 * 1.1 / 150 / 2, 1), 1]),
    ],
)
def test_ocnaru_lot_for_sale(lot: int, owned: int, expected: list[float]) -> None:
    game = duel(lots=padded([owned, 0], 8), cash=padded([1000, 1500], 8))
    game.decision, game.player, game.depth = agenda.BUY, 0, game.depth + 1
    game.agenda[game.depth - 1] = agenda.BUY, 0, lot, 0
    assert encoding.observe(game, "ocnaru100", seat=0)[64:71] == pytest.approx(expected)
    assert not encoding.observe(game, "ocnaru100", seat=1)[64:71].any()


def test_ocnaru_danger_beyond_jail() -> None:
    # Opponent: all orange (16, 18, 19: a throw of 6, 8, 9), a hotel each level; Electric Company (a
    # throw of 2); mortgaged all the same.
    lots = ORANGE | 1 << 26
    level = [0] * 8 + [1, 1, 1] + [0] * 11
    row = encoding.observe(
        duel(lots=padded([0, lots], 8), level=level, mortgaged=1 << 26, cash=padded([100, 0], 8)),
        "ocnaru100",
        seat=0,
    )
    assert row[71] == pytest.approx(5 / 36 * 0.7 + 5 / 36 * 0.7 + 4 / 36 * 0.8 + 1 / 36 * 0.28)
    assert encoding.observe(duel(), "ocnaru100", seat=0)[71] == 0


def test_ocnaru_last_features() -> None:
    game = duel(
        lots=padded([BROWN | 1 << 22, DARK_BLUE | 1 << 23 | 1 << 26], 8),
        level=[0] * 20 + [3, 3],
        mortgaged=0b01 | 1 << 22 | 1 << 23 | 1 << 26,
    )
    assert not encoding.observe(game, "ocnaru100", seat=0)[74:].any()
    mine = by_name(game, "ocnaru100+", 0)
    assert mine["opponent's level: dark_blue"] == pytest.approx(0.6)
    assert mine["own mortgaged: brown"] == pytest.approx(0.5)
    assert mine["mortgaged railroads and utilities: me"] == pytest.approx(1 / 6)
    assert mine["mortgaged railroads and utilities: opponent"] == pytest.approx(2 / 6)
    assert (
        sum(value for name, value in mine.items() if name.startswith("opponent's mortgaged")) == 0
    )
    theirs = by_name(game, "ocnaru100+", 1)
    assert theirs["opponent's mortgaged: brown"] == pytest.approx(0.5)
    assert np.array_equal(
        encoding.observe(game, "ocnaru100+", seat=0)[:74],
        encoding.observe(game, "ocnaru100", seat=0)[:74],
    )
    assert ocnaru.SIZE == encoding.size("ocnaru100+", 2) == 100
