"""Networks over a scripted parent, taught by pairs of rollouts: the default of `python -m training.dqn`.

python -m training.dqn                                            # minutes
python -m training.dqn --pairs 2000000 --rounds 4 --out runs/long # an hour or two on two cores
python -m training.dqn --resume --out runs/long                   # go on with a run that was stopped

The algorithm is `train`, from top to bottom. In each round games are played by the agent as it is; some of its decisions are
played to the end twice, with the parent's answer and with another. From all pairs so far new networks learn what actions are
worth, and how much better than the parent's an action must look to be taken is read off pairs that they have not learned from.
So the agent is never further from its parent than the evidence carries it. At the end each head has to show by itself that it
beats the parent; the others are given back to him.

It is policy iteration with rollouts (Bertsekas and Castanon, "Rollout algorithms for stochastic scheduling problems", Journal of
Heuristics 5, 1999; Lagoudakis and Parr, ICML 2003) where values are learned by dueling networks, one for each kind of decision.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from agents import arena
from agents.networks.learned.networks import LEARNED_HEADS, NAMES
from agents.networks.learned.play import PARENT, SIZES
from agents.networks.learned.policy import NEVER, LearnedPolicy
from monopoly_env.core import write_atomically
from monopoly_env.errors import ConfigurationError, FormatError, nearest
from monopoly_env.policy import files
from monopoly_env.policy.names import names
from monopoly_env.policy.protocol import CompiledPolicy
from monopoly_env.policy.resolve import load, resolve
from monopoly_env.rules import Rules
from training.rollouts.dueling import Settings, choose_margins, learn
from training.rollouts.pairs import PAIR, RATES, League, Pairs, collect
from training.run import checkpoints
from training.run import panel as evaluation
from training.run.devices import device_of
from training.run.folder import Run, exclusive
from training.run.options import FREE, check_ranges, shaping
from training.run.report import Reporter

SELF: Final = "self"  # among the opponents: the agent as it is
PAST: Final = "past"  # the agent as it was a round before
_CHUNK: Final = 1024  # games between two savings
_HELD_OUT: Final = 10  # of each table, every tenth game teaches nothing: margins are chosen by it


@dataclass(frozen=True)
class Options:
    """Train networks over a scripted parent by pairs of rollouts, and measure them.

    The folder of a run holds config.json, curves for TensorBoard, the pairs and the agent of each round, the agent (`agents.load`
    plays it) and its win rates. A run that was stopped goes on with --resume and the same settings.
    """

    pairs: int = 40_000
    """The budget: decisions that are played to the end twice. About 1,000 a second on two cores."""
    rounds: int = 2
    """Rounds: in each the agent that has learned so far plays."""
    out: Path = Path("runs/dqn")
    """Folder of the run."""
    seed: int = 0
    """Decides everything: dice, exploration, weights. On one machine, the same seed gives the same agent."""
    resume: bool = False
    """Go on with the run in --out. All settings that shape the result must be the same."""
    overwrite: bool = False
    """Remove the run that is in --out and begin anew."""
    json: bool = False
    """Print one JSON object at the end instead of the table."""

    rules: str = "official"
    """A preset of rules: official, any_time, modern, short, classic, uk, ocnaru, mukhar, pring, frayn, mukhar_trading,
    mukhar_thesis."""
    parent: tuple[str, ...] = ("expert",)
    """Who answers unless the networks know better: `expert`, or saved ones of that kind; one, or one each for 2, 3 and 4 players."""
    sizes: tuple[int, ...] = (2, 3, 4)
    """Players at the tables."""
    opponents: tuple[str, ...] = (SELF, PAST, "expert", "strategic", "algorithmic", "gcp")
    """Who sits in the other seats, in every mixture: compiled policies by name or file, `self`, and `past`: the agent a round ago."""
    tables: int = 60
    """Mixtures of opponents that are drawn, for each number of players in equal parts."""
    turn_limit: int = 250
    """Turns of each player after which the score decides a game of training."""

    networks: tuple[str, ...] = NAMES
    """Kinds of decision that are learned; in all others the parent plays."""
    epochs: int = 4
    """How often each pair is learned from in a round."""
    batch: int = 256
    """Pairs in a gradient step."""
    learning_rate: float = 1e-3
    """AdamW's, at its highest."""
    weight_decay: float = 1.0
    """AdamW's."""
    state_weight: float = 0.1
    """Weight of the loss of the values themselves beside that of their differences."""
    confidence: float = 2.5
    """Standard errors by which a gain on pairs not learned from must be sure before the networks may choose."""

    panel: tuple[str, ...] = ("expert", "landlord/balanced")
    """Whom the agent is measured against; not trained against unless named among the opponents."""
    panel_games: int = 500
    """Games against each of them after each round."""
    final_games: int = 1000
    """Games against each of them at the end, with other seeds."""
    gate_games: int = 1000
    """Games at each table in which a head must show by itself that it beats the parent; 0: all heads are kept."""
    gate_against: tuple[str, ...] = ("expert", "algorithmic", "gcp")
    """Whose copies sit at those tables: a head must win more on the whole, and at no table surely less."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where the networks learn: a GPU if there is one, or as said."""
    threads: int = 2
    """Cores. The result does not depend on it."""


_RANGES: Final[dict[str, tuple[float, float]]] = {
    **dict.fromkeys(("pairs", "rounds", "tables", "turn_limit", "epochs", "batch", "panel_games", "final_games", "threads"), (1, math.inf)),
    **dict.fromkeys(("gate_games", "weight_decay", "state_weight", "confidence"), (0, math.inf)),
    "seed": (0, (1 << 16) - 1),
    "sizes": (SIZES[0], SIZES[-1]),
    "learning_rate": (1e-9, 1),
}


def check(options: Options) -> None:
    """Check all that can be checked without compiling anything.

    Raises:
        MonopolyError: A number out of range, an unknown name, a missing file, or settings that do not go together.
    """
    check_ranges(options, _RANGES)
    for name in ("sizes", "opponents", "panel", "networks", "gate_against"):
        if not getattr(options, name):
            raise ConfigurationError(f"--{name.replace('_', '-')} must name one or more.")
    if options.pairs < options.rounds:
        raise ConfigurationError(f"--pairs {options.pairs} must be {options.rounds} or more: one for each of the rounds.")
    for network in options.networks:
        if network not in NAMES:
            raise ConfigurationError(f"--networks: unknown {network!r}. {nearest(network, NAMES)}")
    Rules.preset(options.rules)
    device_of(options.device)
    parents(options.parent)
    for who in (*options.panel, *options.gate_against):
        _resolve(who)
    for who in options.opponents:
        if who not in (SELF, PAST):
            _compiled(who, (SELF, PAST))


def _resolve(who: str, others: Sequence[str] = ()) -> Any:
    if who not in names() and Path(who).suffix != files.SUFFIX:
        raise ConfigurationError(f"Unknown policy {who!r}. {nearest(who, (*others, *names()))}")
    return resolve(who)


def _compiled(who: str, others: Sequence[str] = ()) -> CompiledPolicy:
    policy = _resolve(who, others)
    if not isinstance(policy, CompiledPolicy):
        raise ConfigurationError(f"Rollouts are played by compiled policies; {who!r} is none.")
    return policy


def parents(names: Sequence[str]) -> NDArray[np.float64]:
    """The parent's parameters for 2, 3 and 4 players, (3, P).

    Raises:
        ConfigurationError: Neither one name nor three, or a policy of another kind than `expert`.
    """
    if len(names) not in (1, len(SIZES)):
        raise ConfigurationError(f"--parent takes one name, or one each for 2, 3 and 4 players, not {len(names)}.")
    rows = []
    for who, size in zip(tuple(names) * (len(SIZES) // len(names)), SIZES, strict=True):
        policy = _compiled(who)
        if isinstance(policy, LearnedPolicy):
            rows.append(policy.arrays()["parent"][SIZES.index(size)])
        elif policy.kind == "expert" and len(policy.params) == PARENT:
            rows.append(policy.params)
        else:
            raise ConfigurationError(f"--parent: {who!r} is of the kind {policy.kind!r}, not `expert`.")
    return np.stack(rows)


class Trainer:
    """A run under way.

    Attributes:
        options: Its settings.
        agents: The agent of each round that has ended; the first is the parent alone.
        chunks: All pairs so far.
    """

    def __init__(self, options: Options, run: Run) -> None:
        """Begin, or go on with what lies in the folder."""
        self.options = options
        self.run = run
        self.device = device_of(options.device)
        self.rules = Rules.preset(options.rules)
        alone = LearnedPolicy((), sizes=options.sizes, rules=self.rules.changed())
        self.agents = [alone.changed(parent=parents(options.parent), margins=np.full(len(NAMES), NEVER))]
        self.chunks: list[Pairs] = []
        self.step = 0

    def restore(self) -> None:
        """Take over the pairs and agents that the folder holds."""
        while (path := self.run.round(len(self.agents))).exists():
            try:
                policy = load(path)
            except FormatError as error:
                raise FormatError(f"{error} Remove it, and those of later rounds, then --resume.") from error
            assert isinstance(policy, LearnedPolicy)
            self.agents.append(policy)
        while self.step < self.due and (path := self.run.chunk(len(self.chunks))).exists():
            arrays = checkpoints.read_arrays(path)
            self._keep(Pairs(arrays["seen"], arrays["pairs"].view(PAIR).ravel()))
        for number in itertools.count(len(self.chunks)):  # of later rounds, whose agents were removed
            if not (path := self.run.chunk(number)).exists():
                break
            path.unlink()

    def _keep(self, pairs: Pairs) -> None:
        self.chunks.append(pairs)
        self.step += len(pairs.pairs)

    @property
    def agent(self) -> LearnedPolicy:
        """The agent as it is."""
        return self.agents[-1]

    @property
    def due(self) -> int:
        """Pairs at which the round under way ends."""
        return self.options.pairs * len(self.agents) // self.options.rounds

    def league(self) -> League:
        """The agent and its opponents, at tables drawn by the seed and the number of the round."""
        options = self.options
        others = {SELF: self.agent, PAST: self.agents[max(0, len(self.agents) - 2)]}
        policies = [self.agent, *(others[who] if who in others else _compiled(who) for who in options.opponents)]
        numbers = [0 if who == SELF else 1 + place for place, who in enumerate(options.opponents)]
        chance = np.random.Generator(np.random.PCG64([options.seed, len(self.agents)]))
        tables = [[0, *chance.choice(numbers, size - 1).tolist()] for size, _ in zip(itertools.cycle(options.sizes), range(options.tables))]
        return League(policies, tables, self.rules, np.where(np.isin(NAMES, options.networks), RATES, 0.0))

    def collect(self) -> None:
        """Play a chunk of games, and save its pairs."""
        number = len(self.chunks)
        seed = self.options.seed * (1 << 16) + number
        pairs = collect(self.league(), _CHUNK, seed, self.options.turn_limit, self.options.threads)
        if not len(pairs.pairs):
            raise ConfigurationError(
                f"{_CHUNK:,} games by the rules {self.options.rules!r} asked nothing of --networks {', '.join(self.options.networks)}."
            )
        checkpoints.write_arrays(
            self.run.chunk(number), {"seen": pairs.seen, "pairs": pairs.pairs.view(np.uint8).reshape(len(pairs.pairs), -1)}
        )
        self._keep(pairs)

    def improve(self, report: Reporter) -> None:
        """Let new networks learn from all pairs; the agent of the next round plays by them."""
        options = self.options
        held = [held_out(chunk.pairs["game"], options.tables) for chunk in self.chunks]
        settings = Settings(
            options.epochs, options.batch, options.learning_rate, options.weight_decay, options.state_weight, options.seed, options.threads
        )
        networks = learn(self.chunks, [~rows for rows in held], settings, self.device, report.learned)
        margins, gains = choose_margins(networks, self.chunks, held, options.confidence, self.device)
        report.learned({f"gain/{name}": gain for name, gain in gains.items()})
        agent = self.agent.with_heads(LEARNED_HEADS, **networks.arrays(), margins=margins)
        agent.save(self.run.round(len(self.agents)))
        self.agents.append(agent)


def held_out(games: NDArray[np.int32], tables: int) -> NDArray[np.bool_]:
    """(N,) which games teach nothing: of each table every tenth, at one table sooner than at the next."""
    held: NDArray[np.bool_] = (games % tables + games // tables) % _HELD_OUT == 0
    return held


def train(trainer: Trainer, report: Reporter) -> None:
    """The algorithm."""
    clock, rounds = report.clock, trainer.options.rounds
    while len(trainer.agents) <= rounds:
        while trainer.step < trainer.due:
            with clock("games"):
                trainer.collect()
            report.advance(trainer.step, f"round {len(trainer.agents)}: playing pairs")
        report.advance(trainer.step, f"round {len(trainer.agents)}: learning")
        with clock("learning"):
            trainer.improve(report)
        with clock("evaluation"):
            rows = measure(trainer.agent, trainer.options, trainer.options.panel_games, evaluation.PANEL_SEED)
        report.evaluated(trainer.step, rows)
        report.curves(trainer.step, len(trainer.chunks) * _CHUNK, {})


def measure(agent: LearnedPolicy, options: Options, games: int, seed: int) -> list[dict[str, Any]]:
    """The panel's rows at tables of every size; the opponent's name says the size."""
    rows = []
    for size in options.sizes:
        for row in evaluation.measure(agent, options.panel, [games] * len(options.panel), Rules.preset(options.rules), seed, size):
            rows.append(row | {"opponent": f"{row['opponent']}, {size} players", "players": size})
    return rows


def playing(agent: LearnedPolicy) -> tuple[str, ...]:
    """The heads of an agent that a network with a margin plays."""
    taught = agent.taught()
    return tuple(head for head in agent.heads if head in taught)


def gate(
    agent: LearnedPolicy, options: Options, report: Reporter, kept_in: Path | None = None
) -> tuple[LearnedPolicy, list[dict[str, Any]]]:
    """Give back to the parent the heads that do not beat him.

    Each head alone, over the parent, plays the same seats and seeds as the parent alone: against copies of each of `gate_against`, at
    tables of every size. It stays if it wins more on the whole, and surely loses at no table: what beats one kind of partner may be
    folly with another. Heads that stay play once more together, since each was measured without the others; where they do not pass,
    the best of them stays alone.

    Args:
        agent: With all networks.
        options: What is played.
        report: Told what goes on.
        kept_in: A JSON file to which each comparison is written when it ends, so that a run that is killed need not repeat it.

    Returns:
        The agent with the heads that are left; and a row for each head, and for all together: `head`, `difference`, `error`, `lowest`
        (the upper end of the interval where it is lowest), `kept`.
    """
    if not options.gate_games:
        return agent.with_heads(playing(agent)), []
    known: dict[str, dict[str, Any]] = json.loads(kept_in.read_text()) if kept_in is not None and kept_in.is_file() else {}

    def compared(heads: tuple[str, ...]) -> dict[str, Any]:
        name = ", ".join(heads)
        if name not in known:
            report.advance(options.pairs, f"gate: {name}")
            known[name] = _against_parent(agent, heads, options)
            if kept_in is not None:
                write_atomically(kept_in, json.dumps(known, indent=1).encode())
        return {"head": name} | known[name]

    rows = [compared((head,)) for head in playing(agent)]
    kept = sorted((row for row in rows if row["kept"]), key=lambda row: -float(row["difference"]))
    heads = tuple(str(row["head"]) for row in kept)
    if len(heads) > 1:
        together = compared(heads)
        rows.append(together)
        if not together["kept"]:
            heads = heads[:1]
            for row in kept[1:]:
                row["kept"] = False
    return agent.with_heads(heads), rows


def _against_parent(agent: LearnedPolicy, heads: Sequence[str], options: Options) -> dict[str, Any]:
    """What some heads win over the parent: a row of `gate`, but for its name."""
    alone = agent.with_heads(())
    alone.name = "parent"
    differences = [
        arena.compare(
            agent.with_heads(heads), alone, [who] * (size - 1), options.gate_games, size, options.rules, evaluation.PANEL_SEED + 1,
            options.threads, options.turn_limit,
        )
        for who, size in itertools.product(options.gate_against, options.sizes)
    ]  # fmt: skip
    mean = float(np.mean([d.difference for d in differences]))
    error = math.sqrt(sum(((d.high - d.low) / 3.92) ** 2 for d in differences)) / len(differences)
    lowest = min(d.high for d in differences)
    return {"difference": mean, "error": error, "lowest": lowest, "kept": mean > options.confidence * error and lowest >= 0}


def finish(trainer: Trainer, report: Reporter) -> dict[str, Any]:
    """Gate the heads, save the agent and measure it; returns what evaluation.json holds."""
    options, run = trainer.options, trainer.run
    with report.clock("gate"):
        agent, heads = gate(trainer.agent, options, report, run.gate)
    agent.save(run.agent)
    report.advance(trainer.step, "measuring")
    with report.clock("evaluation"):
        rows = measure(agent, options, options.final_games, evaluation.FINAL_SEED)
    results = {"agent": str(run.agent), "rules": options.rules, "steps": trainer.step, "unit": "pairs", "opponents": rows, "heads": heads}
    run.write_json("evaluation.json", results)
    return results


@exclusive
def execute(options: Options, console: Console) -> dict[str, Any]:
    """Train from the beginning or from what is there, then measure.

    Raises:
        MonopolyError: Wrong settings, a folder in the way, a file of the run that is damaged, a loss that is not finite.
    """
    check(options)
    run = Run.open(options.out, settings(options), resume=options.resume, overwrite=options.overwrite)
    console.print(f"Compiling and setting up ... ({options.pairs:,} pairs into {run.folder})")
    trainer = Trainer(options, run)
    if options.resume:
        trainer.restore()
    with Reporter(run.curves, console, options.pairs, trainer.step, "pairs") as report:
        train(trainer, report)
        results = finish(trainer, report)
        shares = report.clock.shares()
    return results | {"time": shares}


def settings(options: Options) -> dict[str, Any]:
    """The settings that shape the result, as JSON has them, and the version of the rules: a resumed run must have the same."""
    return shaping(options, (*FREE, "threads"), preset="rollouts")
