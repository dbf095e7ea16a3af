"""The choices of the thesis's networks in whole games, as `training.experience.choices` has them.

    # the networks' self-play
    choices = play_games([player, opponent], seats, recorded, rules=rules)
    # what an expert chose where networks would be asked, for imitation
    choices = demonstrations(expert, range(512), rules, seed=0, threads=2)

The outputs of all networks are numbered one after another: `CHOICES`. Decisions with a single open
output are left out. The lots that a network picks in one go (`mortgage`, `unmortgage`) are a choice
each.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from agents.networks.ocnaru import CHOICE, EVERY, NAMES, NETWORKS, NOTED, OPEN, WATCHED
from monopoly_env.actions import A_BUILD, A_MORTGAGE, A_SELL, A_UNMORTGAGE
from monopoly_env.encoding import ocnaru
from monopoly_env.engine.step import apply
from monopoly_env.facts.board import GROUP_OF, LOT_SQUARE, NUM_LOTS, NUM_STREETS
from monopoly_env.kernels import borrowed, entry
from monopoly_env.kernels.signatures import Array1
from monopoly_env.policy.loop import Running, next_of
from monopoly_env.policy.protocol import CompiledPolicy
from monopoly_env.rules import Rules
from monopoly_env.rules import choices as choices_of_option
from training.experience import masks
from training.experience.choices import ROOM, TURN_LIMIT, Choices, recorded_choices
from training.experience.recording import Experiences, write_halves
from training.experience.streams import stream

STARTS: Final = np.cumsum([0, *(network.size for network in NETWORKS.values())])
NUM_CHOICES: Final = int(STARTS[-1])
# [network][output] -> the choice
CHOICES: Final = [np.arange(first, last) for first, last in itertools.pairwise(STARTS)]

_PACKED: Final = -(-NUM_CHOICES // 8)
_PICKS: Final = {
    "upgrade": (A_BUILD, NUM_STREETS), "downgrade": (A_SELL, NUM_STREETS),
    "mortgage": (A_MORTGAGE, NUM_LOTS), "unmortgage": (A_UNMORTGAGE, NUM_LOTS),
}  # fmt: skip


def demonstrations(
    expert: CompiledPolicy, games: range, rules: Rules, seed: int, threads: int,
    turn_limit: int = TURN_LIMIT,
) -> Choices:  # fmt: skip
    """Let an expert play itself: its choices where a network would be asked, sorted by network.

    `games` are numbers of games; the other arguments are those of `play_games`.
    """
    from training.ocnaru.experts import HEADS  # PyTorch: this module's kernels need none

    tables = [(expert,) * ocnaru.NUM_PLAYERS]
    batches = stream(
        tables, games.stop, rules=rules, encoding="ocnaru100", heads=HEADS, seed=seed,
        threads=threads, batch=len(games), first=games.start,
        turn_limit=turn_limit,
    )  # fmt: skip
    experiences = next(iter(batches))
    return Choices.joined([_asked(number, experiences, rules) for number in range(len(NAMES))])


def _asked(number: int, experiences: Experiences, rules: Rules) -> Choices:
    """The choices of a network, with two outputs open or more."""
    from training.ocnaru.experts import chosen

    rows, output = chosen(NAMES[number], experiences, rules)
    asked = experiences.take(rows)
    open_ = np.zeros((len(rows), NUM_CHOICES), np.bool_)
    open_[:, CHOICES[number]] = _open_outputs(NAMES[number], masks.unpack(asked.choices), rules)
    choices = Choices(
        observation=asked.observation, open=np.packbits(open_, axis=1),
        choice=(STARTS[number] + output).astype(np.int16),
        network=np.full(len(rows), number, np.int8), player=asked.player, game=asked.game,
        outcome=(asked.outcome > 0).astype(np.float32) + np.float32(0.5) * (asked.outcome == 0),
    )  # fmt: skip
    return choices.take(np.flatnonzero(open_.sum(axis=1) > 1))


def _open_outputs(name: str, legal: NDArray[np.bool_], rules: Rules) -> NDArray[np.bool_]:
    """(N, outputs) of a network, from the (N, NUM_ACTIONS) legal actions."""
    open_ = np.ones((len(legal), NETWORKS[name].size), np.bool_)
    if name in _PICKS:
        first, count = _PICKS[name]
        board = choices_of_option("board").index(rules.board)
        outputs = (GROUP_OF if name in ("upgrade", "downgrade") else LOT_SQUARE[board])[:count]
        open_[:] = False
        for lot, output in enumerate(outputs):
            open_[:, output] |= legal[:, first + lot]
    return open_


def play_games(
    policies: Sequence[CompiledPolicy], seats: NDArray[np.int64], recorded: NDArray[np.bool_], *,
    rules: Rules, seed: int = 0,
    first: int = 0, threads: int | None = None, turn_limit: int = TURN_LIMIT,
) -> Choices:  # fmt: skip
    """Play games and record the choices of networks.

    Arguments and errors are those of `training.experience.choices.play_games`.
    """

    def record(running: Running) -> list[Choices]:
        running.memory[..., WATCHED] = np.where(recorded[running.seats], EVERY, 0)
        seen = np.zeros(ocnaru.SIZE, np.float32)
        return Choices.written(
            lambda rows: _record(running, seen, rows), ROOM, features=ocnaru.SIZE, packed=_PACKED
        )

    return recorded_choices(
        record, policies, seats,
        rules=rules, seed=seed, first=first, threads=threads, turn_limit=turn_limit,
    )  # fmt: skip


@entry
def _record(running: Running, seen: Array1[np.float32], rows: Choices) -> int:
    """Play games until all have ended or the rows are full; returns the number of rows written."""
    running, seen, rows = borrowed(running), borrowed(seen), borrowed(rows)
    starts, count = STARTS, 0
    for i in range(len(running.games)):
        game, memory = running.games[i], running.memory[i]
        while count < len(rows.choice):
            action = next_of(running, i)
            if action < 0:
                break
            seat = int(game.player)
            network, open_ = int(memory[seat, NOTED]) - 1, int(memory[seat, OPEN])
            if network >= 0 and open_ & (open_ - 1) != 0:
                ocnaru.write(game, seat, seen)
                write_halves(seen, seen.view(np.int32), rows.observation[count])
                rows.open[count] = 0
                for output in range(starts[network + 1] - starts[network]):
                    at = starts[network] + output
                    rows.open[count, at >> 3] |= ((open_ >> output) & 1) << (7 - (at & 7))
                rows.choice[count] = starts[network] + int(memory[seat, CHOICE])
                rows.network[count], rows.player[count], rows.game[count] = network, seat, i
                count += 1
            memory[seat, NOTED] = 0
            apply(game, action)
    return count
