"""A recorded game, and its playback to the same records.

A replay holds rules, seed, names and actions; dice and cards follow from the seed. Random draws of
policies are not saved, since nothing in the game depends on them: the field `policy_draws` stays
zero during playback. Messages of players are saved; they do not affect the game either.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from monopoly_env import core
from monopoly_env.actions import NUM_ACTIONS
from monopoly_env.engine.step import apply, is_legal
from monopoly_env.errors import (
    ConfigurationError,
    FormatError,
    IllegalActionError,
    PositionError,
    whole_number,
)
from monopoly_env.game import Game, Games
from monopoly_env.kernels import entry
from monopoly_env.kernels.philox import MAX_SEED
from monopoly_env.kernels.signatures import Array1
from monopoly_env.policy.loop import NO_LIMIT, cap, cap_game
from monopoly_env.replays.messages import MOST_MESSAGES, Message
from monopoly_env.rules import Rules

# of a game; ten times the longest game between policies
MOST_DECISIONS: Final = 1_000_000
_MOST_TURNS: Final = 1 << 24  # of a player, as the arena allows
_COMPARED: Final = ("rules", "seed", "names", "turn_limit", "talk", "reseeds")  # besides actions


@dataclass(frozen=True, eq=False)
class Replay:
    """One recorded game.

    Attributes:
        rules: The rules of the game.
        seed: The seed of the game, 0 to 2**64 - 1.
        num_players: 2 to 8.
        names: The name of the player in each seat.
        actions: (N,) uint8, the actions of all players in order.
        turn_limit: Turns per player after which the score decided the game; 0 if there was no limit
            besides those of the rules.
        digest: A hash of the last record, against which a playback is checked; empty if unknown.
            `save` fills it in.
        talk: The messages of players, each with the number of its action, ascending.
        reseeds: Numbers of actions after which dice and unseen cards were redrawn, ascending, each
            with the new seed: at a table decisions may be taken back.

    Examples:
        >>> import monopoly_env as me, numpy as np
        >>> from monopoly_env import replays
        >>> game, actions = me.new_game(num_players=2, seed=7), []
        >>> for _ in range(5):
        ...     actions.append(me.legal_actions(game)[0])
        ...     game = me.step(game, actions[-1])
        >>> replay = replays.Replay(me.Rules(), 7, 2, ("Ann", "Bob"), np.array(actions, np.uint8))
        >>> me.digest(replays.final(replay)) == me.digest(game)
        True

    Raises:
        ConfigurationError: A value is out of range, or the number of names is not the number of
            players.
    """

    rules: Rules
    seed: int
    num_players: int
    names: tuple[str, ...]
    actions: NDArray[np.uint8]
    turn_limit: int = 0
    digest: str = ""
    talk: tuple[tuple[int, Message], ...] = ()
    reseeds: tuple[tuple[int, int], ...] = ()

    _repr_html_: ClassVar[Callable[[Replay], str]]  # for notebooks, by `pictures`

    def __post_init__(self) -> None:
        core.check_players(self.num_players)
        whole_number("seed", self.seed, 0, MAX_SEED)
        if len(self.names) != self.num_players:
            raise ConfigurationError(
                f"A game of {self.num_players} players needs as many names, not {len(self.names)}."
            )
        whole_number("turn_limit", self.turn_limit, 0, _MOST_TURNS)
        actions = np.asarray(self.actions)
        if actions.size > MOST_DECISIONS:
            raise ConfigurationError(
                f"A recorded game has {MOST_DECISIONS:,} decisions at most, not {actions.size:,}."
            )
        if actions.ndim != 1 or (actions.size and not np.issubdtype(actions.dtype, np.integer)):
            raise ConfigurationError(
                f"Actions are one row of integers, not {actions.dtype} of shape {actions.shape}."
            )
        wrong = np.flatnonzero((actions < 0) | (actions >= NUM_ACTIONS))
        if wrong.size:
            raise ConfigurationError(
                f"Action number {wrong[0] + 1} is {actions[wrong[0]]}; there are 0 to"
                f" {NUM_ACTIONS - 1}."
            )
        actions = actions.astype(np.uint8)  # a copy of its own
        actions.setflags(write=False)
        object.__setattr__(self, "actions", actions)
        object.__setattr__(self, "names", tuple(self.names))
        self._check_talk()
        for at, seed in self.reseeds:
            whole_number("reseeds", at, 0, len(actions))
            whole_number("reseeds", seed, 0, MAX_SEED)
        if list(self.reseeds) != sorted(self.reseeds, key=lambda one: one[0]):
            raise ConfigurationError(
                "The reseeds of a game must stand in the order of its actions."
            )
        for number in ("seed", "num_players", "turn_limit"):  # NumPy's integers become Python's
            object.__setattr__(self, number, int(getattr(self, number)))

    def _check_talk(self) -> None:
        places = [at for at, _ in self.talk]
        fits = not places or 0 <= places[0] <= places[-1] < len(self.actions)
        if len(places) > MOST_MESSAGES or places != sorted(set(places)) or not fits:
            raise ConfigurationError(
                f"The {len(places)} messages of a recorded game must be {MOST_MESSAGES} at most and"
                f" stand with rising numbers of its {len(self.actions):,} actions."
            )

    def __eq__(self, other: object) -> bool:
        """Whether both are the same game between the same names.

        The digest follows from the rest.
        """
        if not isinstance(other, Replay):
            return NotImplemented
        mine, others = (tuple(getattr(one, name) for name in _COMPARED) for one in (self, other))
        return mine == others and np.array_equal(self.actions, other.actions)

    def __hash__(self) -> int:
        return hash((self.rules, self.seed, self.actions.tobytes()))


def extended(
    replay: Replay,
    actions: Sequence[int],
    talk: Sequence[tuple[int, Message]] = (),
    digest: str = "",
) -> Replay:
    """A replay with more actions and messages at its end.

    Args:
        replay: The replay.
        actions: The actions after its own.
        talk: The messages, each with the number of its action in the whole game.
        digest: The hash of the last record, if it is known.
    """
    joined = np.concatenate([replay.actions, np.array(actions, np.int64)])
    return replace(replay, actions=joined, talk=(*replay.talk, *talk), digest=digest)


def start(replay: Replay) -> Game:
    """The game before the first action.

    Examples:
        >>> import agents
        >>> from monopoly_env import replays
        >>> (replay,) = agents.arena.play(["expert", "random"], games=1, record=1).replays
        >>> game = replays.start(replay)
        >>> int(game.turns)
        1
    """
    game = core.new_game(replay.num_players, replay.rules, replay.seed)
    redraw(replay, game, 0)
    return game


def redraw(replay: Replay, game: Game, number: int) -> None:
    """Redraw dice and unseen cards, in place, if the replay has a reseed after so many actions."""
    first, stop = (bisect_left(replay.reseeds, (at,)) for at in (number, number + 1))
    for _, seed in replay.reseeds[first:stop]:
        core.reseed(game, seed, shuffle=True)


def games(replay: Replay) -> Iterator[Game]:
    """Yield a copy of the record after each action.

    Examples:
        >>> import agents
        >>> from monopoly_env import replays
        >>> (replay,) = agents.arena.play(["expert", "random"], games=1, record=1).replays
        >>> len(list(replays.games(replay))) == len(replay.actions)
        True

    Raises:
        FormatError: An action is illegal, or the game does not end in the recorded position.
    """
    game = start(replay)
    for number in range(len(replay.actions)):
        step(replay, game, number)
        yield core.clone(game)


def final(replay: Replay) -> Game:
    """The game after the last action; it is over unless the recording was cut short.

    Examples:
        >>> import agents, monopoly_env as me
        >>> from monopoly_env import replays
        >>> (replay,) = agents.arena.play(["expert", "random"], games=1, record=1).replays
        >>> me.is_over(replays.final(replay))
        True

    Raises:
        FormatError: An action is illegal, or the game does not end in the recorded position.
    """
    game, played = start(replay), 0
    limit = _turn_limit(replay)
    for stop in sorted({at for at, _ in replay.reseeds} - {0} | {len(replay.actions)}):
        played += _play(core.batch_of(game), np.array(replay.actions[played:stop]), limit)
        if played < stop:
            step(replay, game, played)  # raises
        if played:
            redraw(replay, game, played)
    _check_end(replay, game)
    return game


def step(replay: Replay, game: Game, number: int) -> None:
    """Carry out one action of a replay in place.

    Examples:
        >>> import agents
        >>> from monopoly_env import replays
        >>> (replay,) = agents.arena.play(["expert", "random"], games=1, record=1).replays
        >>> game = replays.start(replay)
        >>> replays.step(replay, game, 0)
        >>> int(game.cash[0])  # dollars, after a purchase for $100
        1400

    Args:
        replay: The replay.
        game: The game after the actions before this one.
        number: The number of the action, from 0.

    Raises:
        ConfigurationError: The replay has no such action.
        FormatError: The action is illegal, or the game does not end in the recorded position.
    """
    whole_number("number", number, 0, len(replay.actions) - 1)
    try:
        core.step(game, int(replay.actions[number]))
    except (IllegalActionError, PositionError) as error:
        raise FormatError(f"{which(replay, number)} cannot be played back: {error}") from error
    settle(replay, game, number)


def settle(replay: Replay, game: Game, number: int) -> None:
    """Complete a step: apply the turn limit, redraw, and check the final position.

    Args:
        replay: The replay.
        game: The game after the action.
        number: The number of the action, from 0.

    Raises:
        FormatError: The game does not end in the recorded position.
    """
    cap_game(game, _turn_limit(replay))
    redraw(replay, game, number + 1)
    if number == len(replay.actions) - 1:
        _check_end(replay, game)


def _turn_limit(replay: Replay) -> int:
    """Turns of all players together."""
    return replay.turn_limit * replay.num_players or NO_LIMIT


def _check_end(replay: Replay, game: Game) -> None:
    if len(replay.actions) and replay.digest and digest(game) != replay.digest:
        last = which(replay, len(replay.actions) - 1)
        raise FormatError(
            f"{last} leads to another position than it did when the game was recorded."
        )


def digest(game: Game) -> str:
    """A hash of a record without the field `policy_draws`, 16 hexadecimal digits.

    It is equal for a game and its playback.

    Examples:
        >>> import agents
        >>> from monopoly_env import replays
        >>> (replay,) = agents.arena.play(["expert", "random"], games=1, record=1).replays
        >>> replays.digest(replays.final(replay)) == replay.digest
        True
    """
    batch = core.batch_of(game, write=False).copy()
    batch["policy_draws"] = 0
    return hashlib.sha256(batch.tobytes()).hexdigest()[:16]


def which(replay: Replay, number: int) -> str:
    """An action of a replay, as messages name it."""
    return (
        f"Action {number + 1} of {len(replay.actions)} in the recorded game of seed {replay.seed}"
    )


@entry
def _play(games: Games, actions: Array1[np.uint8], limit: int) -> int:
    """Play actions in the first game until one fails; returns the number played."""
    game = games[0]
    for number in range(len(actions)):
        if not is_legal(game, actions[number]):
            return number
        apply(game, actions[number])
        if game.fault != 0:
            return number
        cap(game, limit)
    return len(actions)
