"""Analyse a position or a recorded game: shares of the win, best actions, luck.

`python -m monopoly_env.analyse --help`.

python -m monopoly_env.analyse saved.game                   # the decision of a saved game
python -m monopoly_env.analyse games.replay --game 3        # a recorded game: luck, choices,
                                                            # the most costly decisions
python -m monopoly_env.analyse games.replay --costly all    # and what every decision cost
"""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import numpy as np
import tyro
from rich.console import Console
from rich.progress import Progress

from monopoly_env import replays, saves
from monopoly_env.actions import DECISION_NAMES
from monopoly_env.analyse.actions import Candidate, Comparison, compare_actions
from monopoly_env.analyse.halving import check_limits
from monopoly_env.analyse.history import History, history
from monopoly_env.analyse.moves import in_words, moves_of
from monopoly_env.analyse.offers import offers_of
from monopoly_env.analyse.playouts import MOST_PLAYOUTS, Playouts, rollout
from monopoly_env.cli import command
from monopoly_env.cli.command import Command
from monopoly_env.cli.terminal import TextTable
from monopoly_env.errors import ConfigurationError, whole_number
from monopoly_env.render.description import to_text
from monopoly_env.replays import SUFFIX

_TEXTS: Final = ("action", "action, and the best one", "player")  # columns that are no numbers
# of a decision that was looked into, in JSON
_COST: Final = ("best_action", "best_text", "regret", "regret_low", "regret_high")


@dataclass(frozen=True)
class AnalysisOptions:
    """Say what a position is worth, by playing it on many times.

    For a saved game: each player's share of the win, a table of the actions of the player to move,
    and one of the offers that it might make. For a recorded game: how the shares went, what luck
    and what the players' own choices did, and the decisions that cost most, with what would have
    been better.
    """

    file: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")]
    """A saved game (`monopoly_env.save`), or recorded games (.replay)."""
    policies: tuple[str, ...] = ("expert",)
    """The policy of playouts: one for every seat, or one for each seat."""
    playouts: int | None = None
    """Playouts of a position, or of an action that is among the best; by default 1,000 for a saved
    game, 100 for a recorded one."""
    seed: int = 0
    """The seed of all playouts."""
    game: int | None = None
    """The number of the game in a file of recorded games, from 1; by default the first."""
    costly: int | Literal["all"] | None = None
    """How many of the most costly decisions of a recorded game to look into, by default 10; `all`:
    every decision, in the order of the game."""
    until: float | None = None
    """Stop comparing actions when the lead of the best over the second is known to this precision,
    from 0 to 1, such as 0.02."""
    seconds: float | None = None
    """Time limit of the comparison of a decision's actions. The result then depends on the
    clock."""
    turns: int | None = None
    """Stop a playout after so many rounds and take the value of the state. By default games are
    played to the end."""
    value: str = "worth"
    """What a state is worth where --turns stops a playout: each player's share of the total worth,
    or `best`, the shares of the win by a network (tables of 2 to 4; docs/results/values.md)."""
    threads: int | None = None
    """Number of threads; by default one per core. The result does not depend on it."""
    json: bool = False
    """Print one JSON object instead of tables."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return the exit status."""
    return command.main("monopoly_env.analyse", Command(AnalysisOptions, analyse), arguments)


def analyse(options: AnalysisOptions, _: Console) -> int:
    """Print the analysis of a file.

    Raises:
        MonopolyError: Wrong options, or the file can't be read.
    """
    return (_replay if options.file.suffix == SUFFIX else _saved)(options, Console())


def _play_on(options: AnalysisOptions, default: int) -> dict[str, Any]:
    """The arguments of playouts."""
    policies: Any = options.policies[0] if len(options.policies) == 1 else list(options.policies)
    given = default if options.playouts is None else options.playouts
    shared = {name: getattr(options, name) for name in ("seed", "turns", "value", "threads")}
    n = whole_number("playouts", given, 1, MOST_PLAYOUTS)
    return {"policies": policies, "n": n, **shared}


def _saved(options: AnalysisOptions, console: Console) -> int:
    """Analyse the decision of a saved game."""
    for flag, given in (("--game", options.game), ("--costly", options.costly)):
        if given is not None:
            saved = f"{str(options.file)!r} is a saved game"
            raise ConfigurationError(
                f"{flag} {given} is of recorded games ({SUFFIX}), and {saved}."
            )
    game, play_on = saves.load(options.file), _play_on(options, 1000)
    limited = play_on | {"until": options.until, "seconds": options.seconds}
    with Console(stderr=True).status("Playing on ..."):
        compared, made = compare_actions(game, **limited), offers_of(game, play_on["policies"])
        offers = compare_actions(game, made, baseline=made[0], **limited) if made else None
        played = rollout(game, **play_on)
    if options.json:
        found = {"shares": _shares(played), "decision": _compared(compared)}
        print(json.dumps(found | {"offers": offers and _compared(offers)}))
        return 0
    console.print(to_text(game), markup=False, highlight=False)
    console.print(_shares_table(played))
    console.print(actions_table(compared, f"Player {game.player} decides: {compared.decision}"))
    if offers:
        console.print(actions_table(offers, "Offers, beside none"))
    return 0


def _replay(options: AnalysisOptions, console: Console) -> int:
    """Analyse a recorded game."""
    recorded, number = replays.load(options.file), 1 if options.game is None else options.game
    most = 10 if options.costly is None else options.costly
    if not 1 <= number <= len(recorded):
        held = f"{str(options.file)!r} holds {len(recorded)} recorded games"
        raise ConfigurationError(f"{held}: --game {number} does not exist.")
    if most != "all" and most < 0:
        raise ConfigurationError(f"--costly {most} must not be negative.")
    replay, play_on = recorded[number - 1], _play_on(options, 100)
    limits = {"until": options.until, "seconds": options.seconds}
    check_limits(play_on["n"], **limits)
    with Progress(console=Console(stderr=True)) as bar:
        decisions = bar.add_task("Decisions", total=len(replay.actions))
        past = history(replay, progress=lambda count: bar.advance(decisions, count), **play_on)
        costly = list(past.moves) if most == "all" else past.costly(most).tolist()
        looked_into = [number for number in costly if number in past.moves]
        regrets = [
            _regret(past, number, **play_on, **limits)
            for number in bar.track(looked_into, description="What was better")
        ]
    if options.json:
        print(json.dumps(_summary(past, replay.names, regrets)))
        return 0
    console.print(_players_table(past, replay.names))
    title = "Every decision" if most == "all" else "The most costly decisions"
    console.print(_regrets_table(past, replay.names, regrets, title))
    return 0


@dataclass(frozen=True)
class _Regret:
    """A decision of a recorded game, compared with the others that were open."""

    number: int
    compared: Comparison
    taken: Candidate

    @property
    def interval(self) -> tuple[float, float, float]:
        """The cost of the choice against the best one over the same playouts, and its bounds."""
        taken = self.taken
        return 0.0 - taken.difference, 0.0 - taken.difference_high, 0.0 - taken.difference_low


def _regret(past: History, number: int, **limited: Any) -> _Regret:
    """Compare what was chosen, a whole offer if one was made, with all other actions."""
    game, move = past.games[number], past.moves[number]
    # the first of equal ones is the best
    compared = compare_actions(game, [move, *moves_of(game)], **limited)
    return _Regret(number, compared, compared.of(move))


# --- JSON


def _shares(played: Playouts) -> list[dict[str, float]]:
    low, high = played.interval
    return [
        {"player": seat, "share": float(share), "low": float(low[seat]), "high": float(high[seat])}
        for seat, share in enumerate(played.share)
    ]


def _compared(compared: Comparison) -> dict[str, Any]:
    about = {name: getattr(compared, name) for name in ("player", "decision", "verdict")}
    return about | {"actions": [dataclasses.asdict(one) for one in compared.candidates]}


def _summary(past: History, names: Sequence[str], regrets: Sequence[_Regret]) -> dict[str, Any]:
    luck, own = past.luck.sum(axis=0), _own_choices(past)
    known = {regret.number: _cost(regret) for regret in regrets}
    return {
        "players": [
            {
                "player": seat,
                "name": name,
                "first_share": past.before[0, seat],
                "luck": luck[seat],
                "own_choices": own[seat],
                "choices_of_others": past.choice[:, seat].sum() - own[seat],
                "final_share": past.final[seat],
            }
            for seat, name in enumerate(names)
        ],
        "decisions": [
            {
                "decision": number + 1,
                "turn": int(game["turns"]),
                "player": int(game["player"]),
                "kind": DECISION_NAMES[game["decision"]],
                "action": int(action),
                "text": in_words(game, past.moves.get(number, int(action))),
                "shares": before.tolist(),
                "choice": effect,
                **known.get(number, dict.fromkeys(_COST)),
            }
            for number, (game, action, before, effect) in enumerate(
                zip(past.games, past.actions, past.before, past.own.tolist(), strict=True)
            )
        ],
        "costly": [
            {
                **_compared(one.compared),
                "decision": one.number + 1,
                "kind": one.compared.decision,
                **known[one.number],
            }
            for one in regrets
        ],
    }


def _cost(regret: _Regret) -> dict[str, Any]:
    best = regret.compared.best
    return dict(zip(_COST, (best.action, best.text, *regret.interval), strict=True))


def _own_choices(past: History) -> Any:
    """(P,), what each player's own actions did to its share."""
    return np.bincount(past.player, past.own, minlength=past.before.shape[1])


# --- tables


def _table(title: str, *columns: str) -> TextTable:
    table = TextTable(title=title)
    for column in columns:
        is_text = column in _TEXTS
        table.add_column(column, justify="left" if is_text else "right", no_wrap=not is_text)
    return table


def _shares_table(played: Playouts) -> TextTable:
    about = f"{played.count:,} playouts of {played.turns.mean():.0f} turns"
    table = _table(f"Shares of the win, by {about}", "player", "share", "95% interval", "place")
    for seat, (share, low, high) in enumerate(zip(played.share, *played.interval, strict=True)):
        place = f"{played.place[seat]:.2f}"
        table.add_row(str(seat), f"{share:.3f}", f"{low:.3f} to {high:.3f}", place)
    return table


def actions_table(compared: Comparison, title: str) -> TextTable:
    """The candidates of a comparison, best first."""
    table = _table(title, "share", "to best", "95% interval", "plays", "action")
    best, *others = compared.candidates
    interval = f"{best.low:.2f} to {best.high:.2f}"
    table.add_row(f"{best.share:.3f}", "", interval, f"{best.playouts:,}", best.text)
    for one in others:
        interval = f"{one.difference_low:+.2f} to {one.difference_high:+.2f}"
        table.add_row("", f"{one.difference:+.3f}", interval, f"{one.playouts:,}", one.text)
    table.caption, table.caption_justify = compared.verdict, "left"
    return table


def _players_table(past: History, names: Sequence[str]) -> TextTable:
    title = f"Shares of the win over {len(past.actions):,} decisions"
    columns = ("player", "at first", "luck", "own choices", "choices of others", "at the end")
    table, own = _table(title, *columns), _own_choices(past)
    parts = (past.luck.sum(axis=0), own, past.choice.sum(axis=0) - own)
    for seat, name in enumerate(names):
        changes = (f"{part[seat]:+.3f}" for part in parts)
        first, final = past.before[0, seat], past.final[seat]
        table.add_row(f"{seat} {name}", f"{first:.3f}", *changes, f"{final:.3f}")
    return table


def _regrets_table(
    past: History, names: Sequence[str], regrets: Sequence[_Regret], title: str
) -> TextTable:
    what = ("share", "regret", "95% interval", "action, and the best one")
    table = _table(title, "number", "turn", "player", *what)
    for one in regrets:
        game, (regret, low, high) = past.games[one.number], one.interval
        seat, taken, best = int(game["player"]), one.taken.text, one.compared.best.text
        where = (str(one.number + 1), str(game["turns"]), f"{seat} {names[seat]}")
        costs = f"{past.before[one.number][seat]:.2f}", f"{regret:.3f}", f"{low:.2f} to {high:.2f}"
        table.add_row(*where, *costs, taken if taken == best else f"{taken}; {best}")
    return table


if __name__ == "__main__":
    sys.exit(main())
