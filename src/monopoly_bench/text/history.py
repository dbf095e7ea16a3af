"""What a player missed: the changes of a game since its own last decision."""

from __future__ import annotations

from typing import Final

from monopoly_bench import prompts
from monopoly_env import core
from monopoly_env.game import Game

_MOST: Final = 1024  # games and seats that are remembered; the oldest are forgotten


class History:
    """Remembers the record of each seat's last decision.

    A policy is shown records and no events, so its history is what differs between two of them. It
    works the same way in the arena, in an environment and at the web table.
    """

    def __init__(self) -> None:
        self._last: dict[tuple[int, int, int], Game] = {}

    def since(self, game: Game) -> list[str]:
        """What changed since the last call for this game and seat, a sentence for each player.

        It is empty at the first call.
        """
        key = int(game.seed[0]), int(game.seed[1]), int(game.player)
        before = self._last.pop(key, None)
        if len(self._last) >= _MOST:
            del self._last[next(iter(self._last))]
        self._last[key] = core.clone(game)
        # Another game of the same seed
        fresh = (
            before is None or before.num_players != game.num_players or before.turns > game.turns
        )
        return [] if fresh or before is None else prompts.changes(before, game)
