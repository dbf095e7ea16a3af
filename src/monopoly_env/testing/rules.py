"""The contract of a set of rules."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from monopoly_env import core, saves
from monopoly_env.actions import describe
from monopoly_env.game import Game, Games
from monopoly_env.rules import Rules
from monopoly_env.testing.games import CheckError, Start
from monopoly_env.validate import fuzz


def check_rules(
    rules: Rules | str,
    *,
    num_players: Sequence[int] = (2, 4, 8),
    games: int = 16,
    seed: int = 0,
    decisions: int = 1000,
) -> None:
    """Check games under a set of rules, by random play from new games and from random positions.

    - Every invariant of the game holds after every decision, and the rules account for all money.
    - An illegal action is refused, and does not change the game.
    - The same actions lead to the same position; a saved and loaded game equals the original.
    - Rules can be restored from their record and from `changed()`.

    Examples:
        >>> from monopoly_env import Rules
        >>> from monopoly_env.testing import check_rules
        >>> check_rules(Rules(auction="none", houses=20), num_players=[3])

    Args:
        rules: `Rules`, or a preset.
        num_players: Sizes of tables, each 2 to 8.
        games: New games, and as many random positions, for each size of table.
        seed: The seed of the first game; the next game has the next seed.
        decisions: The maximum of decisions of a game.

    Raises:
        CheckError: The contract is broken.
        RulesError: The preset is unknown.
    """
    made = Rules.coerce(rules)
    for size in num_players:
        begun = list(_begin(rules, made, core.check_players(size), games, seed))
        batch: Games = np.concatenate([core.batch_of(game) for _, game in begun])
        _check_record(made, batch[0])
        again = batch[::-1].copy()
        _check_play(batch, decisions, [where for where, _ in begun])
        fuzz.play_checked(again, decisions)
        for one, other, (where, game) in zip(batch, again[::-1], begun, strict=True):
            if one.tobytes() != other.tobytes():
                raise CheckError(
                    f"The same game reached another position when it was played again. {where}"
                )
            _check_refusals(core.clone(game), where)
            _check_file(game, where)


def _begin(
    rules: Rules | str, made: Rules, size: int, games: int, seed: int
) -> Iterator[tuple[str, Game]]:
    """Games to play, each with the expression that makes it."""
    for number in range(seed, seed + games):
        start = Start(size, rules, number)
        yield f"Game: {start}.", start.game()
        rng = f"numpy.random.default_rng({number})"
        position = fuzz.random_position(np.random.default_rng(number), made, size, number)
        yield (
            f"Game: monopoly_env.validate.fuzz.random_position({rng}, rules, {size}, {number}).",
            position,
        )


def _check_play(games: Games, decisions: int, where: Sequence[str]) -> None:
    _, failures = fuzz.play_checked(games, decisions)
    for number in np.flatnonzero(failures):
        raise CheckError(f"In random play, {fuzz.FAILURES[failures[number]]}. {where[int(number)]}")


def _check_record(rules: Rules, game: Game) -> None:
    for other in (Rules.from_record(game.rules), Rules.from_dict(rules.changed())):
        if other != rules:
            raise CheckError(
                f"The rules {rules.changed()} come back from a record, or from their changes, as"
                f" {other.changed()}."
            )


def _check_refusals(game: Game, where: str) -> None:
    _, passed = fuzz.try_illegal(core.batch_of(game), np.random.default_rng(0))
    if passed is not None:
        raise CheckError(
            f"The illegal action {passed} ({describe(passed)!r}) was not refused, or it left a"
            f" trace. {where}"
        )


def _check_file(game: Game, where: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        if saves.load(saves.save(game, Path(folder) / "game")).tobytes() != game.tobytes():
            raise CheckError(f"A saved and loaded game is another game. {where}")
