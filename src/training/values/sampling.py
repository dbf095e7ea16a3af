"""States of games with the outcome.

Games are played in compiled code, and of each a few decisions are kept as features.

    >>> from training.values.sampling import play
    >>> from training.values.tables import TRAINING, Mixture
    >>> for states in play(Mixture.of(TRAINING), range(2), seed=0):  # batches of 32 games
    ...     print(states.seen.shape, states.share.shape)
    (32, 12, 357) (32, 4)
    (32, 12, 357) (32, 4)

Of every game up to KEPT decisions are kept, each with the same chance (reservoir sampling), but for
the steps of an offer, of which only every eighth counts. In a quarter of the games the first rounds
are played partly at random, and only later states are kept: their players have stumbled into
positions that no policy here would choose, and play on as they are. Another quarter begins in the
middle (`training.values.starts`), and of these games the first rounds alone count.

Game g of batch b draws dice and cards from the seed (b, g, seed), so the states depend neither on
threads nor on what was played before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.values.features import FEATURES, MOST_PLAYERS, write
from monopoly_env.actions import A_REPLY, H_TRADE, HEAD_OF
from monopoly_env.engine import agenda
from monopoly_env.engine.step import apply, count_legal, nth_legal
from monopoly_env.engine.trade import COUNTER
from monopoly_env.game import GAME, Game, Games, empty_games
from monopoly_env.kernels import borrowed, entry, kernel
from monopoly_env.kernels.philox import philox
from monopoly_env.kernels.signatures import Array1
from monopoly_env.kernels.threads import in_order
from monopoly_env.policy.loop import Players, Running, next_of
from training.experience.recording import write_halves
from training.experience.rows import Rows
from training.values.starts import begin_in_the_middle
from training.values.tables import BATCH, Mixture, setting_of

# of games: played as they are, at first partly at random, begun in the middle
KINDS: Final = ("ordinary", "random", "generated")
_ORDINARY_KIND, _RANDOM_KIND, _GENERATED_KIND = range(len(KINDS))
KEPT: Final = 12  # states of a game
TURN_LIMIT: Final = 500  # turns of each player after which the score decides
_OFFERS: Final = 1 / 8  # of the steps of an offer count
_RANDOM: Final = 1 / 4  # of the other games begin partly at random
_RANDOM_ROUNDS: Final = 40  # that this lasts at most
_RANDOM_ACTIONS: Final = 1 / 5  # of the actions are random then
_GENERATED: Final = 1 / 4  # of the games begin in the middle
_GENERATED_ROUNDS: Final = 12  # of them that count
_WORD: Final = 1 << 32
_STREAM: Final = 30  # of random numbers; the engine does not use it
# what they are for
_KEEPS, _REPLACES, _BEGINS_RANDOM, _STAYS_RANDOM, _ACTS_AT_RANDOM, _COUNTS, _BEGINS_GENERATED = (
    range(7)
)


class _Columns(NamedTuple):
    seen: NDArray[np.float16]
    seats: NDArray[np.int64]
    when: NDArray[np.int32]
    rounds: NDArray[np.int32]
    kept: NDArray[np.int64]
    share: NDArray[np.float64]
    players: NDArray[np.int64]
    games: Games


class States(Rows, _Columns):
    """States of B games, K of each at most, in the order of time; rows beyond `kept` are undefined.

    Attributes:
        seen: (B, K, FEATURES) float16.
        seats: (B, K, 4) int64, the seat of each place; -1 for none.
        when: (B, K) int32, the number of the decision in its game.
        rounds: (B, K) int32, completed.
        kept: (B,) int64, how many states were kept.
        share: (B, 4) float64, how the game ended: the share of the win of each seat.
        players: (B,) int64, at the table.
        games: (B, K) records, or (B, 0) if they are not kept.
    """

    TYPES = (
        (np.float16, "kept", FEATURES), (np.int64, "kept", MOST_PLAYERS), (np.int32, "kept"),
        (np.int32, "kept"), (np.int64,), (np.float64, MOST_PLAYERS), (np.int64,), (GAME, "records"),
    )  # fmt: skip

    @property
    def there(self) -> NDArray[np.bool_]:
        """(B, K), which rows hold a state."""
        return np.asarray(np.arange(self.when.shape[1]) < self.kept[:, None])

    def in_time(self) -> States:
        """The states of each game in the order in which they occurred."""
        when = np.where(self.there, self.when, np.iinfo(np.int32).max)
        rows = np.argsort(when, axis=1, kind="stable")
        games = np.take_along_axis(self.games, rows, 1) if self.games.shape[1] else self.games
        wide = rows[..., None]
        return self._replace(
            seen=np.take_along_axis(self.seen, wide, 1),
            seats=np.take_along_axis(self.seats, wide, 1),
            when=np.take_along_axis(self.when, rows, 1),
            rounds=np.take_along_axis(self.rounds, rows, 1), games=games,
        )  # fmt: skip


def play(
    mixture: Mixture,
    batches: Iterable[int],
    seed: int,
    *,
    kept: int = KEPT,
    kind: str | None = None,
    records: bool = False,
    threads: int | None = None,
) -> Iterator[States]:
    """Play batches of games and yield the states that are kept of each.

    Args:
        mixture: Who plays.
        batches: The numbers of the batches; each has BATCH games of one setting.
        seed: 0 to 2**32 - 1.
        kept: States of a game.
        kind: One of KINDS, of which all games are; None: of all kinds.
        records: Whether to keep the records, too.
        threads: By default one per core; the states do not depend on it.
    """
    players = Players.of(mixture.policies)

    def play_batch(batch: int) -> States:
        size, rules = setting_of(batch)
        running = Running.begin(
            players, mixture.seats(size, BATCH, seed, batch), batch * BATCH + np.arange(BATCH),
            seed=seed, rules=rules, turn_limit=TURN_LIMIT,
        )  # fmt: skip
        kinds = np.full(BATCH, -1 if kind is None else KINDS.index(kind))
        empty = empty_games(1)
        empty["rules"] = running.games["rules"][:1]
        _begin(running.games, empty, kinds)
        states = States.empty(BATCH, np.zeros, kept=kept, records=kept if records else 0)
        states.seats[:], states.players[:] = -1, size
        _play(running, kinds, np.zeros(FEATURES, np.float32), states.bits())
        running.check(mixture.policies)
        states.share[:, :size] = running.shares()
        return states.in_time()

    return in_order(play_batch, batches, threads, "values")


@entry
def _begin(games: Games, empty: Games, kinds: Array1[np.int64]) -> None:
    """Draw the kinds of games that are -1, and begin those anew that begin in the middle."""
    for i in range(len(games)):
        game = games[i]
        if kinds[i] < 0:
            kinds[i] = _ORDINARY_KIND
            if _draw(game, 0, _BEGINS_GENERATED) < _GENERATED * _WORD:
                kinds[i] = _GENERATED_KIND
            elif _draw(game, 0, _BEGINS_RANDOM) < _RANDOM * _WORD:
                kinds[i] = _RANDOM_KIND
        if kinds[i] == _GENERATED_KIND:
            players, low, high = int(game.num_players), int(game.seed[0]), int(game.seed[1])
            games[i] = empty[0]
            begin_in_the_middle(games[i], players, low, high)


@entry
def _play(
    running: Running, kinds: Array1[np.int64], seen: Array1[np.float32], states: States
) -> None:
    """Play games of the (B,) `kinds` to their end; keep states, features as bits of float16."""
    running, seen, states = borrowed(running), borrowed(seen), borrowed(states)
    for i in range(len(running.games)):
        game = running.games[i]
        candidates, decision, until = 0, 0, 0
        if kinds[i] == _RANDOM_KIND:
            until = (_draw(game, 0, _STAYS_RANDOM) * _RANDOM_ROUNDS) >> 32
        last = int(game.rounds) + _GENERATED_ROUNDS if kinds[i] == _GENERATED_KIND else TURN_LIMIT
        while True:
            action = next_of(running, i)
            if action < 0:
                break
            if game.rounds < until:
                action = _perhaps_random(game, decision, action)
            elif game.rounds < last and _counts(game, decision):
                at = _place(game, decision, candidates, states.when.shape[1])
                candidates += 1
                if at >= 0:
                    _keep(game, decision, seen, states, i, at)
            apply(game, action)
            decision += 1
        states.kept[i] = min(candidates, states.when.shape[1])


@kernel
def _draw(game: Game, decision: int, purpose: int) -> int:
    """A random number of 32 bits, for a purpose, at a decision of the game."""
    return philox(decision, purpose, 0, _STREAM, int(game.seed[0]), int(game.seed[1]))


@kernel
def _perhaps_random(game: Game, decision: int, action: int) -> int:
    """The action, or now and then a random one that begins no offer and gives nothing up."""
    if (
        _draw(game, decision, _ACTS_AT_RANDOM) >= _RANDOM_ACTIONS * _WORD
        or _composes(game)
        or game.decision == agenda.DEBT
    ):
        return action
    other = nth_legal(game, (_draw(game, decision, _REPLACES) * count_legal(game)) >> 32)
    return action if HEAD_OF[other] == H_TRADE or other == A_REPLY + COUNTER else other


@kernel
def _composes(game: Game) -> bool:
    """Whether an offer is being composed."""
    return game.decision in (agenda.ASK, agenda.GIVE, agenda.CASH)


@kernel
def _counts(game: Game, decision: int) -> bool:
    """Whether the state of a decision may be kept."""
    return not _composes(game) or _draw(game, decision, _COUNTS) < _OFFERS * _WORD


@kernel
def _place(game: Game, decision: int, candidates: int, kept: int) -> int:
    """The row of a state in the reservoir, given how many came before it; -1: it is not kept."""
    if candidates < kept:
        return candidates
    at = (_draw(game, decision, _KEEPS) * (candidates + 1)) >> 32
    return at if at < kept else -1


@kernel
def _keep(game: Game, decision: int, seen: Any, states: Any, i: int, at: int) -> None:
    write(game, seen, states.seats[i, at])
    write_halves(seen, seen.view(np.int32), states.seen[i, at])
    states.when[i, at] = decision
    states.rounds[i, at] = game.rounds
    if states.games.shape[1] > 0:
        states.games[i, at] = game
