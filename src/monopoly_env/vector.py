"""Thousands of games in step: `VectorMonopoly`.

All games advance in one compiled call, on all cores, each to the next decision of whoever is asked, and what the learner reads
is written straight into its arrays. Two ways to use it:

- **self-play** (`opponents=None`): every decision of every seat is yours; `batch.player` says whose it is.
- **one learner**: `opponents` sit clockwise from the learner's seat and answer inside the same call, so that every decision
  you are asked for is the learner's. The game ends for him when he is bankrupt.

A game that ends is followed by its next one in the same step. Game i of generation k depends on `(seed, i, k)` and the actions
alone, whatever the number of games or threads.

    vec = VectorMonopoly(num_games=4096, num_players=4, seed=0)
    batch = vec.reset()
    for _ in range(1000):
        actions = choose(batch.observation, batch.action_mask)      # (B,) integers
        batch = vec.step(actions)

The arrays of `batch` are the same from step to step: copy what you keep.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from monopoly_env import encoding as encodings
from monopoly_env import rewards
from monopoly_env.actions import NUM_ACTIONS
from monopoly_env.core import check_players, illegal, split_seeds
from monopoly_env.encoding import Encoding
from monopoly_env.engine import agenda
from monopoly_env.engine.agenda import FAULTS
from monopoly_env.engine.players import solvent_seats
from monopoly_env.engine.randomness import philox
from monopoly_env.engine.sets import has
from monopoly_env.engine.setup import start
from monopoly_env.engine.step import apply, is_legal, write_mask
from monopoly_env.errors import ConfigurationError, EngineError, GameOverError, IllegalActionError
from monopoly_env.game import MAX_PLAYERS, NOBODY, Game, Games, empty_games
from monopoly_env.kernels import entry, kernel
from monopoly_env.rewards import Reward
from monopoly_env.rules import Rules

if TYPE_CHECKING:
    from agents.policy import Policy
    from agents.registry import PolicyLike

Terms: TypeAlias = tuple[int, float, float]  # what kernels need of a reward: kind, shaping, discount

DEFAULT_PLAYERS: Final = 4
LEARNER: Final = -1  # who sits in a seat: the learner, or the number of an opponent
BEGIN: Final = -1  # in place of an action: begin the next game
READY: Final = -1  # of a game: it waits for no opponent
PATIENCE: Final = 10_000  # decisions of opponents in one turn after which they are held to be stuck

# What may go wrong inside the kernels.
NO_TROUBLE, REFUSED, STUCK, NEVER_ASKED, BROKEN = range(5)

_SLICE: Final = 256  # games; for fewer, a thread costs more than it brings
_MANY_GAMES: Final = 1000  # in a row that end before the learner is asked anything
_WORD: Final = 0xFFFFFFFF


@dataclass
class Batch:
    """What a step brings, a row a game: B games, P players, D features, F games that ended in this step.

    Attributes:
        observation: (B, D) float32, what the player who is asked sees.
        action_mask: (B, 205) bool, his legal actions.
        player: (B,) int16, his seat.
        decision: (B,) int16, what is asked: an index into `actions.DECISION_NAMES`.
        reward: (B, P) float32, what the step brought to each seat; a bankrupt player is paid when he leaves. With opponents,
            only the learner's column counts, `reward[i, actor[i]]`.
        terminated: (B,) bool, the game ended by its rules; with opponents also: the learner is bankrupt.
        truncated: (B,) bool, the game was cut off at `turn_limit`.
        actor: (B,) int16, the seat that made the last move.
        out: (B, P) bool, seats that left in this step: bankrupt, or the game ended by its rules. They are not asked again.
        finished: (F,) int64, the games that ended. Their rows of `observation`, `action_mask`, `player` and `decision` belong
            to the games that follow them.
        final_observation: What was last to be seen of them, for the value of a truncated game. Self-play: (F, P, D) float32, by
            each seat; with opponents: (F, D), by the learner. Row f is of game `finished[f]`.
        final_games: (F,) records, the games as they ended.
    """

    observation: NDArray[np.float32]
    action_mask: NDArray[np.bool_]
    player: NDArray[np.int16]
    decision: NDArray[np.int16]
    reward: NDArray[np.float32]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    actor: NDArray[np.int16]
    out: NDArray[np.bool_]
    finished: NDArray[np.int64]
    final_observation: NDArray[np.float32]
    final_games: Games


class _Settings(NamedTuple):
    """What is the same for all games, as the kernels see it."""

    num_players: int
    turn_limit: int  # single turns
    autoreset: bool
    seat: int  # the learner's; LEARNER: another one every game
    encoding: int
    terms: Terms
    key_low: int
    key_high: int


# What is to be known of a game beside its record. Kernels pass this one pointer instead of many arrays.
_STATE: Final = np.dtype(
    (
        np.record,
        [
            ("generation", np.int64),  # games begun at this place
            ("refused", np.int64),  # the illegal action of an opponent
            ("potential", np.float64, (MAX_PLAYERS,)),  # of shaped rewards
            ("unpaid", np.int32),  # seats that have not left yet, a bit each
            ("sitting", np.int16, (MAX_PLAYERS,)),  # with opponents: who sits where, LEARNER or the number of an opponent
            ("learner", np.int16),  # his seat; NOBODY: self-play
            ("asked", np.int16),  # 1: the learner has been asked in this game
            ("waiting", np.int16),  # the batched opponent that the game waits for, or READY
            ("trouble", np.int16),  # NO_TROUBLE, or what went wrong
            ("spare", np.int16, (2,)),  # fills the record to whole 8 bytes
        ],
    )
)


class _Tables(NamedTuple):
    """The games and who plays them, as the kernels see it."""

    games: Games
    ended: Games  # (B,) the last game that ended
    template: Games  # (1,) an empty game with its rules
    states: NDArray[Any]  # (B,) of _STATE
    order: NDArray[np.int16]  # (P - 1,) opponents clockwise from the learner; empty in self-play
    memory: NDArray[np.float64]  # (B, P, 64) of compiled opponents; (0, P, 64) in self-play
    params: NDArray[np.float64]  # (K, L) rows of K compiled opponents, padded
    lengths: NDArray[np.int64]  # (K,) of these rows; opponents from K on are batched


class _Views(NamedTuple):
    """The arrays of a batch that the kernels write."""

    observation: NDArray[np.float32]
    action_mask: NDArray[np.bool_]
    player: NDArray[np.int16]
    decision: NDArray[np.int16]
    reward: NDArray[np.float32]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    out: NDArray[np.bool_]


# --- kernels ------------------------------------------------------------------------------------------------------------


@entry()
def first_illegal(games: Games, actions: NDArray[np.int64]) -> int:
    """The first game whose action is not legal, or -1."""
    for i in range(len(games)):
        if actions[i] < 0 or actions[i] >= NUM_ACTIONS or not is_legal(games[i], actions[i]):
            return i
    return -1


@entry()
def _advance(
    tables: _Tables, views: _Views, settings: _Settings, kernels: Any, todo: NDArray[np.int64], actions: NDArray[np.int64]
) -> None:  # fmt: skip
    """Carry out a legal action in each of some games (or BEGIN) and go on until the learner or a batched opponent is asked."""
    mask = np.zeros(NUM_ACTIONS, np.bool_)
    for j in range(len(todo)):
        i = todo[j]
        game, state = tables.games[i], tables.states[i]
        begin = actions[j] == BEGIN
        if not begin:
            apply(game, actions[j])
        for attempt in range(_MANY_GAMES + 1):
            if begin:
                tables.games[i] = tables.template[0]
                tables.memory[i : i + 1] = 0.0
                _begin(game, state, settings, tables.order, i)
            if state.learner != NOBODY:
                _let_opponents_play(game, state, settings, kernels, tables.params, tables.lengths, tables.memory[i], mask)
            if _stopped(game, state, attempt):
                break
            over = _is_over(game, state)
            ended = over or game.turns > settings.turn_limit
            if state.asked:
                _pay(game, state, settings, views.reward[i], views.out[i])
                if ended:
                    views.terminated[i] = over
                    views.truncated[i] = not over
                    tables.ended[i] = game
            begin = ended and (settings.autoreset or not state.asked)
            if not begin:
                state.asked = 1
                player = int(game.player) if state.learner == NOBODY else int(state.learner)
                views.player[i] = player
                views.decision[i] = game.decision
                write_mask(game, views.action_mask[i])
                encodings.write(settings.encoding, game, player, views.observation[i])
                if ended:
                    views.decision[i] = agenda.OVER
                    views.action_mask[i] = False
                break


@kernel
def _begin(game: Game, state: Any, settings: _Settings, order: NDArray[np.int16], i: int) -> None:
    """Begin the next game number i: its seed, and the seat of a learner who has no fixed one, follow from the vector's seed."""
    i, generation = int(i), int(state.generation)
    state.generation = generation + 1
    state.unpaid = (1 << settings.num_players) - 1
    state.asked = 0
    state.learner = NOBODY
    for seat in range(MAX_PLAYERS):
        state.potential[seat] = 0.0
    if len(order) > 0:
        seat = settings.seat
        if seat == LEARNER:
            seat = (_random_word(settings, i, generation, 2) * settings.num_players) >> 32
        state.learner = seat
        state.sitting[seat] = LEARNER
        for offset in range(len(order)):
            state.sitting[(seat + 1 + offset) % settings.num_players] = order[offset]
    low, high = _random_word(settings, i, generation, 0), _random_word(settings, i, generation, 1)
    start(game, settings.num_players, low, high)


@kernel
def _random_word(settings: _Settings, i: int, generation: int, number: int) -> int:
    return philox(i, generation & _WORD, number, generation >> 32, settings.key_low, settings.key_high)


@kernel
def _let_opponents_play(  # noqa: PLR0917 - compiled
    game: Game, state: Any, settings: _Settings, kernels: Any, params: Any, lengths: Any, memory: Any, mask: Any
) -> None:  # fmt: skip
    """Compiled opponents answer until somebody else is asked or the game has ended."""
    state.waiting = READY
    turn, patience = int(game.turns), PATIENCE
    while game.fault == 0 and not _is_over(game, state) and game.turns <= settings.turn_limit:
        who = int(state.sitting[game.player])
        if who == LEARNER:
            return
        if who >= len(lengths):
            state.waiting = who
            return
        if game.turns != turn:
            turn, patience = int(game.turns), PATIENCE
        write_mask(game, mask)
        action = kernels[who](game, mask, params[who][: lengths[who]], memory[game.player])
        patience -= 1
        if patience == 0:
            state.trouble = STUCK
            return
        if action < 0 or action >= NUM_ACTIONS or not is_legal(game, action):
            state.trouble = REFUSED
            state.refused = action
            return
        apply(game, action)


@kernel
def _stopped(game: Game, state: Any, attempt: int) -> bool:
    """Whether a game waits for a batched opponent, or something went wrong in it."""
    if game.fault != 0:
        state.trouble = BROKEN
    elif attempt == _MANY_GAMES:
        state.trouble = NEVER_ASKED
    return bool(state.waiting != READY or state.trouble != NO_TROUBLE)


@kernel
def _is_over(game: Game, state: Any) -> bool:
    """Whether the game is over for the learner: it has ended, or he is bankrupt."""
    return bool(game.decision == agenda.OVER or (state.learner != NOBODY and game.place[state.learner] != 0))


@kernel
def _pay(game: Game, state: Any, settings: _Settings, reward: Any, out: Any) -> None:
    """Write the rewards of a step, and who left in it."""
    before = int(state.unpaid)
    now = pay(settings.terms, game, before, state.potential, reward)
    if now != before:
        for seat in range(settings.num_players):
            out[seat] = has(before & ~now, seat)
    state.unpaid = now


@kernel
def pay(terms: Terms, game: Game, before: int, potential: Any, out: Any) -> int:
    """Write the rewards of a step: the last one for a seat that has left in it, shaping at most for the others.

    Args:
        terms: Of the reward.
        game: The game after the step.
        before: The seats that had not left before the step, a bit each.
        potential: (P,) float64, zeros when a game begins, else as this kernel left them.
        out: (P,) float32.

    Returns:
        The seats that have still not left: neither bankrupt nor has the game ended.
    """
    kind, shaping, discount = terms
    out[:] = 0.0
    over = game.decision == agenda.OVER
    now = 0 if over else solvent_seats(game)
    if now != before:
        rewards.write_final(kind, game, out)  # of a bankrupt player it is settled, whatever comes
    total = 0 if over or shaping == 0.0 else rewards.worth_of_all(game)
    for seat in range(len(out)):
        left = has(before, seat) and not has(now, seat)
        if not left:
            out[seat] = 0.0
        if shaping != 0.0 and has(before, seat):
            after = 0.0 if left else rewards.worth_lead(game, seat, total)
            out[seat] += shaping * (discount * after - potential[seat])
            potential[seat] = after
    return now


@entry()
def write_observations(code: int, games: Games, seats: NDArray[np.int64], out: NDArray[np.float32]) -> None:
    """What several seats of each game see: `seats` is (B, S), `out` (B, S, D)."""
    for i in range(len(games)):
        for k in range(seats.shape[1]):
            encodings.write(code, games[i], seats[i, k], out[i, k])


# --- games in step ------------------------------------------------------------------------------------------------------


class VectorMonopoly:
    """Many games in step, see the module's text.

    Attributes:
        num_games: B.
        num_players: P.
        rules: The rules of all games.
        encoding: Of the observations; `encoding.size` is D.
        reward: What players are paid for.
        opponents: The policies that sit clockwise from the learner; empty: self-play.
        threads: Threads at work.
        batch: What `reset` and `step` return: always the same object, its arrays overwritten by each step.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - the options of a table
        self,
        num_games: int = 4096,
        num_players: int | None = None,
        rules: Rules | str = "official",
        encoding: str | Encoding = "standard",
        opponents: Sequence[PolicyLike] | None = None,
        seed: int = 0,
        threads: int | None = None,
        *,
        reward: str | Reward = "win",
        turn_limit: int = 1000,
        seat: int | Literal["random"] = "random",
        autoreset: bool = True,
    ) -> None:
        """Set the tables up; `reset` begins the games.

        Args:
            num_games: 1 or more.
            num_players: 2 to 8; by default 4, or one more than there are opponents.
            rules: Rules, or the name of a preset.
            encoding: A name, or an `Encoding` (one with `pad_to`, for instance).
            opponents: Policies, names or saved files, one for each seat but the learner's. None: every seat is asked.
            seed: 0 to 2**64 - 1.
            threads: Threads to use; by default a core each. The games do not depend on it.
            reward: A name, or a `Reward` (one with a discount, for instance).
            turn_limit: Turns a player after which a game is truncated.
            seat: The learner's seat among opponents; "random": drawn anew for every game.
            autoreset: False: games stay as they ended, and `reset` is due as soon as one has.

        Raises:
            ConfigurationError: A wrong number, name or combination.
            RulesError: Unknown rules.
        """
        self.opponents: tuple[Policy, ...] = _resolve(opponents)
        if num_players is None:
            num_players = len(self.opponents) + 1 if self.opponents else DEFAULT_PLAYERS
        self.num_players = check_players(num_players)
        if self.opponents and len(self.opponents) != self.num_players - 1:
            raise ConfigurationError(
                f"{len(self.opponents)} opponents make a table of {len(self.opponents) + 1}, not num_players={num_players}."
            )
        self.num_games = check_count("num_games", num_games)
        self.threads = check_count("threads", _cores() if threads is None else threads)
        self.turn_limit = check_count("turn_limit", turn_limit)
        self.rules = Rules.coerce(rules)
        self.encoding = encoding if isinstance(encoding, Encoding) else encodings.make(encoding, self.num_players)
        self.reward = reward if isinstance(reward, Reward) else rewards.make(reward)
        self._seat = _check_seat(seat, self.num_players)
        self._autoreset = bool(autoreset)
        self._seed(seed)
        self._build()

    def _build(self) -> None:
        """Make the arrays."""
        from agents.policy import MEMORY, CompiledPolicy, kernel_list

        count, players = self.num_games, self.num_players
        kept = count if self.opponents else 0
        # Compiled opponents come first in the kernels' numbering.
        numbered = sorted(set(self.opponents), key=lambda policy: (not isinstance(policy, CompiledPolicy), self.opponents.index(policy)))
        compiled = [policy for policy in numbered if isinstance(policy, CompiledPolicy)]
        self._numbered = numbered
        self._kernels = kernel_list(compiled)
        params, lengths = _pad([policy.params for policy in compiled])
        template = empty_games(1)
        template["rules"] = self.rules.to_record()
        self._tables = _Tables(
            games=empty_games(count),
            ended=empty_games(count),
            template=template,
            states=np.zeros(count, _STATE),
            order=np.array([numbered.index(policy) for policy in self.opponents], np.int16),
            memory=np.zeros((kept, players, MEMORY)),
            params=params,
            lengths=lengths,
        )
        self._views = _Views(
            observation=np.zeros((count, self.encoding.size), np.float32),
            action_mask=np.zeros((count, NUM_ACTIONS), np.bool_),
            player=np.zeros(count, np.int16),
            decision=np.zeros(count, np.int16),
            reward=np.zeros((count, players), np.float32),
            terminated=np.zeros(count, np.bool_),
            truncated=np.zeros(count, np.bool_),
            out=np.zeros((count, players), np.bool_),
        )
        none, actor = np.zeros(0, np.int64), np.zeros(count, np.int16)
        self.batch = Batch(
            **self._views._asdict(),
            actor=actor,
            finished=none,
            final_observation=self._last_observation(none, actor),
            final_games=empty_games(0),
        )
        self._all = np.arange(count)
        self._pool: ThreadPoolExecutor | None = None
        self._running = False

    @property
    def games(self) -> Games:
        """(B,) records, the games under way. Read them; to change one is to change the game."""
        return self._tables.games

    @property
    def seeds(self) -> NDArray[np.uint64]:
        """(B,) uint64, the seeds of the games under way: `new_game(num_players, rules, seed)` begins the same game."""
        words = self.games["seed"].astype(np.uint64)
        seeds: NDArray[np.uint64] = words[:, 0] | words[:, 1] << np.uint64(32)
        return seeds

    def reset(self, seed: int | None = None) -> Batch:
        """Begin all games anew, from generation 0: the same seed gives the same games again.

        Args:
            seed: A new seed from 0 to 2**64 - 1; None: the one there is.

        Returns:
            The batch; its rewards are 0 and nothing has ended.

        Raises:
            ConfigurationError: A seed out of range, or rules under which nobody is ever asked anything.
        """
        if seed is not None:
            self._seed(seed)
        self._tables.states["generation"] = 0
        self._tables.states["trouble"] = NO_TROUBLE
        self._tables.states["waiting"] = READY
        self._views.terminated.fill(False)
        self._views.truncated.fill(False)
        self._run(np.full(self.num_games, BEGIN))
        self.batch.actor[:] = self.batch.player
        return self.batch

    def step(self, actions: ArrayLike) -> Batch:
        """Carry out an action in every game and go on to the next decision.

        Args:
            actions: (B,) integers, each legal by `batch.action_mask`.

        Returns:
            The batch.

        Raises:
            ConfigurationError: Actions of a wrong shape or dtype; or `reset` is due.
            IllegalActionError: An action is not legal: the first such game, what was given and what was legal. Nothing has
                changed in any game. Or an opponent broke the rules; then `reset` is due.
            GameOverError: A game has ended and there is no autoreset.
        """
        chosen = self._check_actions(actions)
        batch = self.batch
        batch.actor[:] = batch.player
        for array in (batch.reward, batch.terminated, batch.truncated, batch.out):
            array.fill(0)
        self._run(chosen)
        return batch

    def observe(self, seats: ArrayLike) -> NDArray[np.float32]:
        """What some seat of every game sees now, asked or not.

        Args:
            seats: (B,) integers, a seat for each game; or (B, S), several.

        Returns:
            (B, D) or (B, S, D) float32, an array of your own.

        Raises:
            ConfigurationError: A wrong shape, dtype or seat.
        """
        who = np.asarray(seats)
        if who.dtype.kind not in "iu" or who.ndim not in (1, 2) or len(who) != self.num_games:
            raise ConfigurationError(f"seats must be integers of shape ({self.num_games},) or ({self.num_games}, S), not {_shape(who)}.")
        if who.size and not 0 <= who.min() <= who.max() < self.num_players:
            raise ConfigurationError(f"Seats are 0 to {self.num_players - 1}, not {who.min()} to {who.max()}.")
        out = np.empty((*who.shape, self.encoding.size), np.float32)
        columns = len(who), -1
        write_observations(self.encoding.code, self.games, who.astype(np.int64).reshape(columns), out.reshape(*columns, self.encoding.size))
        return out

    def close(self) -> None:
        """Let the threads go; they come back when they are needed."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def __len__(self) -> int:
        return self.num_games

    def __repr__(self) -> str:
        names = [policy.name for policy in self.opponents]
        return f"VectorMonopoly(num_games={self.num_games}, num_players={self.num_players}, opponents={names or None})"

    def __getstate__(self) -> dict[str, Any]:
        """Everything but threads and machine code."""
        return self.__dict__ | {"_pool": None, "_kernels": None, "_views": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        from agents.policy import CompiledPolicy, kernel_list

        self.__dict__.update(state)
        self._kernels = kernel_list([policy for policy in self._numbered if isinstance(policy, CompiledPolicy)])
        # The kernels must write the arrays that the batch has.
        self._views = _Views(*(getattr(self.batch, name) for name in _Views._fields))

    def _seed(self, seed: int) -> None:
        low, high = split_seeds([seed])[0]
        self.seed = int(seed)
        self._settings = _Settings(
            num_players=self.num_players,
            turn_limit=self.turn_limit * self.num_players,
            autoreset=self._autoreset,
            seat=self._seat,
            encoding=self.encoding.code,
            terms=terms_of(self.reward),
            key_low=int(low),
            key_high=int(high),
        )

    def _check_actions(self, actions: ArrayLike) -> NDArray[np.int64]:
        if not self._running:
            raise ConfigurationError("No games are running: call reset() first.")
        given = np.asarray(actions)
        if given.shape != (self.num_games,) or given.dtype.kind not in "iu":
            raise ConfigurationError(f"actions must be integers of shape ({self.num_games},), one a game, not {_shape(given)}.")
        if not self._autoreset and self.batch.finished.size:
            raise GameOverError(f"Game {self.batch.finished[0]} has ended: call reset().")
        chosen = np.ascontiguousarray(given, np.int64)
        wrong = first_illegal(self.games, chosen)
        if wrong >= 0:
            raise _refusal(f"Game {wrong} of {self.num_games}", self.games[wrong], given[wrong])
        return chosen

    def _run(self, actions: NDArray[np.int64]) -> None:
        """Carry the actions out in all games; ask batched opponents, each for all its decisions at once, until none is left."""
        self._running = False  # until all went well
        todo = self._all
        while len(todo):
            self._on_all_cores(todo, actions)
            if self._tables.states["trouble"].any():
                self._explain()
            todo = np.flatnonzero(self._tables.states["waiting"] != READY)
            actions = np.zeros(len(todo), np.int64)
            who = self._tables.states["waiting"][todo]
            for number in np.unique(who):
                actions[who == number] = self._ask(self._numbered[number], todo[who == number])
        self._collect()
        self._running = True

    def _on_all_cores(self, todo: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
        slices = min(self.threads, -(-len(todo) // _SLICE))
        fixed = self._tables, self._views, self._settings, self._kernels
        if slices == 1:
            _advance(*fixed, todo, actions)
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.threads, "monopoly")
        parts = zip(np.array_split(todo, slices), np.array_split(actions, slices), strict=True)
        for job in [self._pool.submit(_advance, *fixed, *part) for part in parts]:
            job.result()

    def _ask(self, policy: Policy, games: NDArray[np.int64]) -> NDArray[np.int64]:
        """The actions of a batched opponent in the games of these numbers."""
        from agents.policy import Decisions

        records = self.games[games]
        decisions = Decisions(records)
        self.games["policy_draws"][games] = records["policy_draws"]  # keys were drawn
        given = np.asarray(policy.act(decisions))
        if given.shape != (len(games),) or given.dtype.kind not in "iu":
            raise ConfigurationError(f"Policy {policy.name!r} must return integers of shape ({len(games)},), not {_shape(given)}.")
        actions = np.ascontiguousarray(given, np.int64)
        wrong = first_illegal(records, actions)
        if wrong >= 0:
            raise _refusal(f"Opponent {policy.name!r}, game {games[wrong]}", records[wrong], given[wrong])
        return actions

    def _collect(self) -> None:
        """What was last to be seen of the games that ended."""
        batch = self.batch
        finished = np.flatnonzero(batch.terminated | batch.truncated)
        if len(finished) or len(batch.finished):
            batch.finished = finished
            batch.final_games = self._tables.ended[finished]
            batch.final_observation = self._last_observation(finished, batch.actor)

    def _last_observation(self, finished: NDArray[np.int64], actors: NDArray[np.int16]) -> NDArray[np.float32]:
        seats = np.tile(np.arange(self.num_players), (len(finished), 1))
        if self.opponents:
            seats = actors[finished, None].astype(np.int64)
        out = np.empty((*seats.shape, self.encoding.size), np.float32)
        write_observations(self.encoding.code, self._tables.ended[finished], seats, out)
        return out[:, 0] if self.opponents else out

    def _explain(self) -> None:
        """Raise what went wrong inside the kernels."""
        states = self._tables.states
        number = int(np.flatnonzero(states["trouble"])[0])
        trouble, game = states["trouble"][number], self.games[number]
        if trouble == BROKEN:
            fault = FAULTS[game.fault]
            raise EngineError(f"The engine stopped in game {number} of seed {self.seeds[number]}: {fault}. Please report it.")
        if trouble == NEVER_ASKED:
            raise ConfigurationError(f"{_MANY_GAMES} games in a row ended before the learner was asked anything: check the rules.")
        name = self._numbered[states["sitting"][number, game.player]].name
        if trouble == STUCK:
            raise IllegalActionError(f"Opponent {name!r} made {PATIENCE} choices in one turn of game {number}: it never goes on.")
        raise _refusal(f"Opponent {name!r}, game {number}", game, int(states["refused"][number]))


def terms_of(reward: Reward) -> Terms:
    """A reward as the kernel `pay` takes it."""
    return reward.kind, reward.shaping, reward.discount


def check_count(name: str, value: object) -> int:
    """A positive number as an int.

    Raises:
        ConfigurationError: It is not a whole number of 1 or more.
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 1 <= value < 1 << 24:
        raise ConfigurationError(f"{name}={value!r} must be a whole number from 1 to {(1 << 24) - 1}.")
    return int(value)


def _check_seat(seat: object, num_players: int) -> int:
    if seat == "random":
        return LEARNER
    if isinstance(seat, bool) or not isinstance(seat, (int, np.integer)) or not 0 <= seat < num_players:
        raise ConfigurationError(f"seat={seat!r} must be 'random' or a seat from 0 to {num_players - 1}.")
    return int(seat)


def _resolve(opponents: Sequence[PolicyLike] | None) -> tuple[Policy, ...]:
    if opponents is None or (not isinstance(opponents, str) and not len(opponents)):
        return ()
    if isinstance(opponents, str):
        raise ConfigurationError(f"opponents={opponents!r} must be a list, one policy a seat: [{opponents!r}] is a table of two.")
    from agents.registry import resolve_all  # the one look upwards: policies by name

    return tuple(resolve_all(opponents))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _pad(rows: list[NDArray[np.float64]]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Rows of different lengths as one array, and their lengths."""
    lengths = np.array([len(row) for row in rows], np.int64)
    padded = np.zeros((len(rows), max([1, *lengths])))
    for number, row in enumerate(rows):
        padded[number, : len(row)] = row
    return padded, lengths


def _shape(array: NDArray[Any]) -> str:
    return f"{array.dtype} of shape {array.shape}"


def _refusal(where: str, game: Game, action: Any) -> IllegalActionError:
    """The error for an illegal action; the same words as in `core.step`, and where it was."""
    if not 0 <= action < NUM_ACTIONS:
        return IllegalActionError(f"{where}: action {action} must be an integer from 0 to {NUM_ACTIONS - 1}.")
    return IllegalActionError(f"{where}: {illegal(game, int(action))}")
