"""Every public function that takes a record, on records whose numbers were set to extremes.

Run as a program, with checks of every index. A function may refuse a record by an error of the
library or go on, but no index may leave its table. Functions are found by the annotations of their
arguments, so that a new one must be called here too.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import agents
import monopoly_bench
import monopoly_env as me
import pente_env as pe
from monopoly_bench import prompts
from monopoly_bench.talk import Promise, Talk
from monopoly_env import (
    actions,
    analyse,
    core,
    derived,
    encoding,
    events,
    replays,
    rewards,
    saves,
)
from monopoly_env import offers as deals
from monopoly_env.analyse import moves, offers, values
from monopoly_env.analyse.halving import halve
from monopoly_env.analyse.history import History, blocks, final_shares
from monopoly_env.analyse.resemblance import Follower, resemblance
from monopoly_env.compiled import modules
from monopoly_env.envs import spaces
from monopoly_env.policy.match import Match
from monopoly_env.render import narrate, svg, text
from monopoly_env.replays import replay
from monopoly_env.replays.messages import Message
from pente_env import core as pente
from pente_env import observation
from pente_env import render as pente_render

# Their games are those of a table, a server or a loop, which have checked them, or they write parts
# of a sentence or a picture. The search for offers begins with `may_offer` and networks with
# `check_sound`; they take minutes to compile.
TRUSTED = (
    "agents.learned.", "agents.players.search.", "monopoly_bench.seats.", "monopoly_bench.bot.",
    "monopoly_bench.language_model.",
    "monopoly_env.analyse.actions.candidate",
    "monopoly_env.analyse.offers.offers_of", "monopoly_env.core.illegal", "monopoly_bench.mcp.",
    "monopoly_bench.tasks.", "monopoly_bench.textarena", "monopoly_bench.make",
    "monopoly_bench.suite.", "monopoly_bench.task.", "monopoly_bench.budget.",
    "monopoly_env.encoding.observe_known", "monopoly_env.play.", "monopoly_env.policy.loop.",
    "monopoly_env.policy.protocol.draw_keys",
    "monopoly_bench.puzzles.", "monopoly_env.render.", "monopoly_table.", "monopoly_env.validate.",
    "monopoly_env.envs.vector.Batch",
    "pente_env.core.illegal", "pente_env.loop.", "pente_env.play.", "pente_env.render.caption",
    "pente_env.vector.PenteBatch",
)  # fmt: skip
CALLED_ANYWAY = (
    "narrate.step", "svg.draw", "svg.element", "text.board", "description.to_text",
)  # fmt: skip  # of `render`

RANDOM = agents.make("random")
OBSERVES = agents.make("genetic/esp/attentive")
PLAYED = {"policies": "random", "n": 1, "threads": 1}
FOLDER = tempfile.mkdtemp()
RECORDING = replays.Replay(me.Rules(), 0, 2, ("a", "b"), np.zeros(2, np.uint8), turn_limit=1)
SALE = Promise("sell", 1, lot=0, player=1)


def told(game: Any) -> None:
    talk = Talk()
    talk.say(Message(promise=str(SALE)), game)
    talk.step(game, 0)


def many(game: Any) -> Any:
    return core.batch_of(game)


# By the name of the function. A game is a copy, and may be changed.
CALLS: dict[str, Callable[[Any], Any]] = {
    "monopoly_env.actions.describe": lambda game: actions.describe(0, game),
    "monopoly_env.actions.parse": lambda game: actions.parse("buy", game),
    "monopoly_env.analyse.actions.compare_actions": lambda game: analyse.compare_actions(
        game, **PLAYED
    ),
    "monopoly_env.analyse.halving.halve": lambda game: halve(many(game), [0], 0, **PLAYED),
    "monopoly_env.analyse.history.blocks": lambda game: list(
        blocks(many(game), np.zeros(1, np.int64), **PLAYED)
    ),
    "monopoly_env.analyse.history.final_shares": lambda game: final_shares(game, **PLAYED),
    "monopoly_env.analyse.history.History.__init__": lambda game: History(
        many(game), *[np.zeros((1, 2))] * 4
    ),
    "monopoly_env.analyse.moves.in_words": lambda game: moves.in_words(game, 0),
    "monopoly_env.analyse.moves.move_at": lambda game: moves.move_at(
        many(game), np.zeros(1, np.int64), 0
    ),
    "monopoly_env.analyse.moves.moves_of": lambda game: moves.moves_of(game, None),
    "monopoly_env.analyse.moves.start_of": lambda game: moves.start_of(game, 0),
    "monopoly_env.analyse.offers.may_offer": offers.may_offer,
    "monopoly_env.analyse.playouts.rollout": lambda game: analyse.rollout(
        game, "random", 1, threads=1
    ),
    "monopoly_env.analyse.resemblance.Follower.__init__": lambda game: Follower(game, ["random"]),
    "monopoly_env.analyse.resemblance.resemblance": lambda game: resemblance(game, [], ["random"]),
    "monopoly_env.analyse.values.Value.shares": lambda game: values.resolve("worth").shares(game),
    "monopoly_env.core.action_mask": core.action_mask,
    "monopoly_env.core.apply": lambda game: core.apply(many(game), 0),
    "monopoly_env.core.batch_of": core.batch_of,
    "monopoly_env.core.check": core.check,
    "monopoly_env.core.check_ranges": lambda game: core.check_ranges(many(game)),
    "monopoly_env.core.check_steppable": lambda game: core.check_steppable(many(game)),
    "monopoly_env.core.check_sound": lambda game: core.check_sound(many(game)),
    "monopoly_env.core.check_step": lambda game: core.check_step(game, 0),
    "monopoly_env.core.clone": core.clone,
    "monopoly_env.core.digest": core.digest,
    "monopoly_env.core.in_range": core.in_range,
    "monopoly_env.core.is_over": core.is_over,
    "monopoly_env.core.legal_actions": core.legal_actions,
    "monopoly_env.core.reseed": lambda game: core.reseed(game, 1, shuffle=True),
    "monopoly_env.core.restarted": core.restarted,
    "monopoly_env.saves.save": lambda game: saves.save(game, Path(FOLDER) / "game"),
    "monopoly_env.core.settle": core.settle,
    "monopoly_env.core.sound": core.sound,
    "monopoly_env.core.step": lambda game: core.step(game, 0),
    "monopoly_env.core.winner": core.winner,
    "monopoly_env.core.worth": core.worth,
    "monopoly_env.derived.derive": derived.derive,
    "monopoly_env.events.between": lambda game: events.between(game, game),
    "monopoly_env.events.differences": lambda game: events.differences(game, game),
    "monopoly_env.events.follow": lambda game: events.follow([], game, game),
    "monopoly_env.events.opening": events.opening,
    "monopoly_env.events.play": lambda game: events.play(game, 0),
    "monopoly_env.offers.compose": lambda game: deals.compose(game, 1, 0, 0, 0),
    "monopoly_env.offers.exchanged": lambda game: deals.exchanged(game, 1, 0, 0, 0),
    "monopoly_env.encoding.Encoding.write": lambda game: encoding.make("standard", 8).write(
        game, 0, np.zeros(2000, np.float32)
    ),
    "monopoly_env.encoding.observe": encoding.observe,
    "monopoly_env.encoding.observe_all": lambda game: encoding.observe_all(
        many(game), "ocnaru100+"
    ),
    "monopoly_env.policy.protocol.CompiledPolicy.observe": lambda game: OBSERVES.observe(
        many(game), np.zeros(1, np.int64), np.zeros((1, 64))
    ),
    "monopoly_env.policy.protocol.Decisions.__init__": lambda game: RANDOM.act(
        agents.Decisions(many(game))
    ),
    "monopoly_env.policy.protocol.Policy.observe": lambda game: agents.Policy.observe(
        RANDOM, many(game), np.zeros(1), np.zeros((1, 64))
    ),
    "monopoly_env.policy.match.Match.__init__": lambda game: Match(game, [None, None]).step(0),
    "monopoly_env.positions.force": lambda game: me.force(
        game, throws=[(1, 2)], chance=["advance_go"]
    ),
    "monopoly_bench.prompts.changes": lambda game: prompts.changes(game, game),
    "monopoly_bench.prompts.chosen": lambda game: prompts.chosen("buy", game),
    "monopoly_bench.prompts.menu_of": prompts.menu_of,
    "monopoly_bench.prompts.prompt": lambda game: prompts.prompt(game, menu=False),
    "monopoly_bench.prompts.read": lambda game: prompts.read("ACTION: buy", game),
    "monopoly_bench.prompts.situation": prompts.situation,
    "monopoly_env.render.narrate.step": lambda game: narrate.step(game, 0),
    "monopoly_env.render.svg.draw": svg.draw,
    "monopoly_env.render.svg.element": svg.element,
    "monopoly_env.render.text.board": text.board,
    "monopoly_env.replays.narration.play": lambda game: replays.narration.play(RECORDING, game, 0),
    "monopoly_env.replays.narration.said": lambda game: replays.narration.said(
        RECORDING, game, 0, "ab"
    ),
    "monopoly_env.replays.narration.tell": lambda game: replays.narration.tell(
        RECORDING, game, 0, "ab"
    ),
    "monopoly_env.replays.replay.digest": replay.digest,
    "monopoly_env.replays.replay.redraw": lambda game: replay.redraw(RECORDING, game, 0),
    "monopoly_env.replays.replay.settle": lambda game: replay.settle(RECORDING, game, 0),
    "monopoly_env.replays.replay.step": lambda game: replay.step(RECORDING, game, 0),
    "monopoly_env.rewards.Reward.after": lambda game: rewards.make("rank_shaped").after(
        game, np.zeros(8)
    ),
    "monopoly_env.envs.spaces.render": lambda game: spaces.render(game, "svg"),
    "monopoly_bench.talk.Talk.end": lambda game: Talk().end(game),
    "monopoly_bench.talk.Talk.lines": lambda game: Talk().lines(game),
    "monopoly_bench.talk.Talk.say": lambda game: Talk().say(Message(promise=str(SALE)), game),
    "monopoly_bench.talk.Talk.shown": lambda game: Talk().shown(game),
    "monopoly_bench.talk.Talk.step": told,
    "monopoly_bench.talk.Promise.broken_by": lambda game: Promise("no bid", 1, group=0).broken_by(
        0, game, 0
    ),
    "monopoly_bench.talk.Promise.kept_by": lambda game: SALE.kept_by(0, game, 0),
    "monopoly_env.render.description.to_text": me.to_text,
    "pente_env.core.action_mask": pente.action_mask,
    "pente_env.core.batch_of": pente.batch_of,
    "pente_env.core.check_sound": lambda game: pente.check_sound(pente.batch_of(game)),
    "pente_env.core.clone": pente.clone,
    "pente_env.core.digest": pente.digest,
    "pente_env.core.ending": pente.ending,
    "pente_env.core.is_over": pente.is_over,
    "pente_env.core.legal_actions": pente.legal_actions,
    "pente_env.core.points": lambda game: pente.points(game, 0, "captures"),
    "pente_env.core.sound": pente.sound,
    "pente_env.core.step": lambda game: pente.step(game, 0),
    "pente_env.core.stones": pente.stones,
    "pente_env.core.takes": lambda game: pente.takes(game, 0, 3),
    "pente_env.core.winner": pente.winner,
    "pente_env.observation.observe": lambda game: observation.observe(pente.batch_of(game), [0]),
    "pente_env.player.Player.act": lambda game: pe.make("better").act(
        pente.batch_of(game), 0, np.zeros(64)
    ),
    "pente_env.render.board_lines": pente_render.board_lines,
    "pente_env.render.draw": pente_render.draw,
    "pente_env.render.render": lambda game: pente_render.render(game, "svg"),
    "pente_env.render.to_text": pente_render.to_text,
}


def found() -> Iterator[str]:
    """The names of all public functions that take a record or several."""
    for package in (me, pe, agents, monopoly_bench):
        for module in modules(package.__name__):
            if ".adapters." in module or (module.startswith(TRUSTED) and ".render." not in module):
                continue
            for name, thing in vars(importlib.import_module(module)).items():
                if name.startswith("_") or getattr(thing, "__module__", None) != module:
                    continue
                members = vars(thing).items() if inspect.isclass(thing) else [("", thing)]
                for member, function in members:
                    full = f"{module}.{name}.{member}".rstrip(".")
                    if (
                        inspect.isfunction(function)
                        and (member == "__init__" or not member.startswith("_"))
                        and _takes_records(function)
                    ):
                        yield full


def _takes_records(function: Any) -> bool:
    kinds = [str(kind) for name, kind in function.__annotations__.items() if name != "return"]
    return any(re.search(r"\bGames?\b", kind) for kind in kinds)


def check_all_are_called() -> None:
    names = {
        name for name in found() if not name.startswith(TRUSTED) or name.endswith(CALLED_ANYWAY)
    }
    if names != set(CALLS):
        raise SystemExit(
            f"not called: {sorted(names - set(CALLS))}; called, but not there:"
            f" {sorted(set(CALLS) - names)}"
        )


def positions() -> list[Any]:
    """Records of many kinds.

    A turn with something of everything, an auction, an offer, a game that is over, and Pente on a
    small and a large board.
    """
    rich = me.position(
        2, lots={0: [0, 1, 22], 1: [2, 3, 4]}, buildings={0: 5, 1: 4, 2: 1}, mortgaged=[22],
        jail_cards={0: ["chance"]},
        throws=[(1, 2)], seed=1,
    )  # fmt: skip
    bidding = core.step(me.position(2, positions=[0, 0], throws=[(1, 2)]), actions.parse("decline"))
    offering = core.step(core.clone(rich), actions.parse("trade with player +1"))
    over = me.new_game(2, me.Rules(max_turns=1))
    while not me.is_over(over):
        core.step(over, int(me.legal_actions(over)[0]))
    boards = [
        [f"{stones:.<{size}}" for stones in (".12", ".21", "", "...1", *[""] * (size - 4))]
        for size in (7, 9)
    ]
    return [rich, bidding, offering, over, *map(pe.position, boards)]


def edits(game: Any) -> Iterator[tuple[str, Any]]:
    """Copies of a game with a field, or its last number in use, set to other numbers.

    To extremes, and to numbers just beyond tables.
    """
    for name in game.dtype.names:
        numbers = _numbers(game, name)
        limits = np.iinfo(numbers.dtype)
        places = [slice(None), *(range(len(numbers)) if name == "rules" else [0])]
        if name == "agenda":
            places += range(4 * int(game.depth) - 4, 4 * int(game.depth))
        for place in places:
            for value in (limits.min, -1, 30, 1 << 14, limits.max):
                edited = game.copy()
                _numbers(edited, name)[place] = value
                yield f"{name}[{place}] = {value}", edited


def _numbers(game: Any, name: str) -> Any:
    """A field as a row of numbers: a view."""
    field = np.asarray(game).reshape(1)[name]
    return (field.view(field.dtype[0]) if name == "rules" else field).reshape(-1)


def main() -> None:
    check_all_are_called()
    refused = calls = 0
    faults: dict[str, str] = {}
    for game in positions():
        package = "pente_env." if game.dtype == pe.GAME else "monopoly_env."
        uses = {name: call for name, call in CALLS.items() if name.startswith(package)}
        for what, edited in edits(game):
            for name, call in uses.items():
                calls += 1
                try:
                    call(edited.copy())
                except me.MonopolyError:
                    refused += 1
                except Exception as error:
                    faults.setdefault(f"{name}: {type(error).__name__}", f"{what}: {error}")
    if faults:
        raise SystemExit("\n".join(f"{where} ({how})" for where, how in faults.items()))
    print(refused, calls)


if __name__ == "__main__":
    sys.exit(main())
