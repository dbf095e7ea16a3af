"""Networks on top of a scripted parent, trained on pairs of rollouts: the default of `python -m training.dqn`.

python -m training.dqn                                            # minutes
python -m training.dqn --pairs 2000000 --rounds 4 --out runs/long # an hour or two on two cores
python -m training.dqn --resume --out runs/long                   # continue a run that was stopped

The algorithm is `train`, from top to bottom. In each round the current agent plays games; some of its decisions are played to the end
twice, with the parent's answer and with another one. From all pairs so far, new networks learn what actions are worth. How much better
than the parent's an action must look to be taken is set on pairs that they have not learned from, so the agent never moves further from
its parent than the evidence supports. At the end each head has to show by itself that it beats the parent; otherwise the parent plays it.

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
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from agents import arena
from agents.networks.learned.networks import LEARNED_HEADS, NAMES
from agents.networks.learned.play import PARENT, SIZES
from agents.networks.learned.policy import NEVER, LearnedPolicy
from monopoly_env.core import read_file, read_json, write_atomically
from monopoly_env.errors import ConfigurationError, FormatError, nearest
from monopoly_env.policy.protocol import CompiledPolicy, Policy
from monopoly_env.policy.resolve import load
from monopoly_env.rules import Rules
from training.rollouts.dueling import Settings, choose_margins, learn
from training.rollouts.pairs import PAIR, RATES, League, Pairs, collect
from training.run import checkpoints, panel
from training.run.devices import device_of
from training.run.folder import Run
from training.run.options import FREE, Device, RulesName, RunOptions, check_ranges, find_policy, result_settings
from training.run.report import Report
from training.run.session import Session

SELF: Final = "self"  # among the opponents: the agent as it is
PAST: Final = "past"  # the agent one round ago
# What a run keeps beside what every run does.
FILES: Final = {
    "pairs": "pairs of rollouts, a file for every 1,024 games",
    "rounds": "the agent of each round",
    "gate.json": "how each head compared with the parent",
}
_CHUNK: Final = 1024  # games between two files of pairs
_HELD_OUT: Final = 10  # every tenth game of each table is kept out of training: margins are set on it


# --- options --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RolloutOptions(RunOptions):
    """Train networks on top of a scripted parent on pairs of rollouts, and measure them."""

    pairs: int = 40_000
    """Budget: decisions that are played to the end twice. About 1,000 per second on two cores."""
    rounds: int = 2
    """Rounds; in each, the agent trained so far plays."""
    out: Path = Path("runs/dqn")

    rules: RulesName = "official"
    parent: tuple[str, ...] = ("expert",)
    """Policy that plays where the networks do not: `expert`, or saved ones of that kind; one, or one each for 2, 3 and 4 players."""
    sizes: tuple[int, ...] = (2, 3, 4)
    """Players at the tables."""
    opponents: tuple[str, ...] = (SELF, PAST, "expert", "strategic", "algorithmic", "gcp")
    """Policies in the other seats, in every mixture: compiled ones by name or file, `self`, and `past`: the agent one round ago."""
    tables: int = 60
    """Mixtures of opponents that are drawn, in equal parts for each number of players."""
    turn_limit: int = 250
    """Turns per player after which the score decides a training game."""

    networks: tuple[str, ...] = NAMES
    """Kinds of decision that are learned; the parent plays all others."""
    epochs: int = 4
    """Passes over all pairs in a round."""
    batch: int = 256
    """Pairs in a minibatch."""
    learning_rate: float = 1e-3
    """Highest learning rate of AdamW."""
    weight_decay: float = 1.0
    """Weight decay of AdamW."""
    state_weight: float = 0.1
    """Weight of the loss of the values themselves, beside that of their differences."""
    confidence: float = 2.5
    """How many standard errors above 0 the gain on held-out pairs must be before the networks may choose."""

    panel: tuple[str, ...] = ("expert", "landlord/balanced")
    """Policies that the agent is measured against; not trained against unless they are among the opponents."""
    panel_games: int = 500
    """Games against each of them after each round."""
    final_games: int = 1000
    """Games against each of them at the end, with other seeds."""
    gate_games: int = 1000
    """Games at each table in which a head must show by itself that it beats the parent; 0: all heads are kept."""
    gate_against: tuple[str, ...] = ("expert", "algorithmic", "gcp")
    """Policies at those tables, all seats the same: a head must win more on the whole, and be significantly worse at no table."""
    device: Device = "auto"
    threads: int = 2
    """Cores. The result does not depend on it."""


_RANGES: Final[dict[str, tuple[float, float]]] = {
    **dict.fromkeys(("pairs", "rounds", "tables", "turn_limit", "epochs", "batch", "panel_games", "final_games", "threads"), (1, math.inf)),
    **dict.fromkeys(("gate_games", "weight_decay", "state_weight", "confidence"), (0, math.inf)),
    "seed": (0, (1 << 16) - 1),
    "sizes": (SIZES[0], SIZES[-1]),
    "learning_rate": (1e-9, 1),
}


class RolloutPolicies(NamedTuple):
    """The policies that the options of these names list, each made or loaded once."""

    parent: NDArray[np.float64]  # (3, P) its parameters for 2, 3 and 4 players
    opponents: dict[str, CompiledPolicy]  # without `self` and `past`
    panel: list[Policy]
    gate_against: list[Policy]


def check(options: RolloutOptions) -> RolloutPolicies:
    """Check the options, as far as that goes without compiling anything, and find the policies that they name.

    Raises:
        MonopolyError: A number is out of range, a name is unknown, a file is missing, or options contradict each other.
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
    return RolloutPolicies(
        parents(options.parent),
        {name: _compiled(name, SELF, PAST) for name in options.opponents if name not in (SELF, PAST)},
        [find_policy(name) for name in options.panel],
        [find_policy(name) for name in options.gate_against],
    )


def settings(options: RolloutOptions) -> dict[str, Any]:
    """The settings that decide the result; see `result_settings`."""
    return result_settings(options, (*FREE, "threads"), preset="rollouts")


def _compiled(name: str, *words: str) -> CompiledPolicy:
    policy = find_policy(name, *words)
    if not isinstance(policy, CompiledPolicy):
        raise ConfigurationError(f"Rollouts need compiled policies; {name!r} is not compiled.")
    return policy


def parents(names: Sequence[str]) -> NDArray[np.float64]:
    """The parent's parameters for 2, 3 and 4 players, (3, P).

    Raises:
        ConfigurationError: Neither one name nor three, or a policy of another kind than `expert`.
    """
    if len(names) not in (1, len(SIZES)):
        raise ConfigurationError(f"--parent takes one name, or one each for 2, 3 and 4 players, not {len(names)}.")
    rows = []
    for name, size in zip(tuple(names) * (len(SIZES) // len(names)), SIZES, strict=True):
        policy = _compiled(name)
        if isinstance(policy, LearnedPolicy):
            rows.append(policy.arrays()["parent"][SIZES.index(size)])
        elif policy.kind == "expert" and len(policy.params) == PARENT:
            rows.append(policy.params)
        else:
            raise ConfigurationError(f"--parent: {name!r} is of the kind {policy.kind!r}, not `expert`.")
    return np.stack(rows)


# --- training -------------------------------------------------------------------------------------------------------------


class RolloutLearner:
    """Everything that changes during a run.

    Attributes:
        options: Its options.
        policies: The policies that they name.
        agents: The agent of each finished round; the first is the parent alone.
        chunks: All pairs so far.
        step: How many they are.
    """

    def __init__(self, options: RolloutOptions, policies: RolloutPolicies, run: Run) -> None:
        """Start before the first round, with the policies that `check` found, in the folder of a run."""
        self.options = options
        self.policies = policies
        self.run = run
        self.device = device_of(options.device)
        self.rules = Rules.preset(options.rules)
        alone = LearnedPolicy((), sizes=options.sizes, rules=self.rules.changed())
        self.agents = [alone.changed(parent=policies.parent, margins=np.full(len(NAMES), NEVER))]
        self.chunks: list[Pairs] = []
        self.step = 0

    def restore(self) -> None:
        """Continue with the pairs and agents in the folder."""
        while (path := self.round_file(len(self.agents))).exists():
            try:
                policy = load(path)
            except FormatError as error:
                raise FormatError(f"{error} Remove it, and those of later rounds, then --resume.") from error
            assert isinstance(policy, LearnedPolicy)
            self.agents.append(policy)
        while self.step < self.due and (path := self.chunk_file(len(self.chunks))).exists():
            arrays = checkpoints.read_arrays(path)
            self._keep(Pairs(arrays["seen"], arrays["pairs"].view(PAIR).ravel()))
        for number in itertools.count(len(self.chunks)):  # of later rounds, whose agents were removed
            if not (path := self.chunk_file(number)).exists():
                break
            path.unlink()

    def chunk_file(self, number: int) -> Path:
        """The file of a chunk of pairs."""
        return self.run.folder / "pairs" / f"{number:06d}.npz"

    def round_file(self, number: int) -> Path:
        """The file of the agent that a round ended with."""
        return self.run.folder / "rounds" / f"{number:02d}.safetensors"

    def _keep(self, pairs: Pairs) -> None:
        self.chunks.append(pairs)
        self.step += len(pairs.pairs)

    @property
    def agent(self) -> LearnedPolicy:
        """The agent of the last round."""
        return self.agents[-1]

    @property
    def due(self) -> int:
        """Pairs at which the current round ends."""
        return self.options.pairs * len(self.agents) // self.options.rounds

    def league(self) -> League:
        """The agent and its opponents, at tables that depend on the seed and the number of the round."""
        options = self.options
        others: dict[str, CompiledPolicy] = {SELF: self.agent, PAST: self.agents[max(0, len(self.agents) - 2)]}
        policies = [self.agent, *((others | self.policies.opponents)[name] for name in options.opponents)]
        numbers = [0 if name == SELF else 1 + place for place, name in enumerate(options.opponents)]
        draw = np.random.Generator(np.random.PCG64([options.seed, len(self.agents)]))
        tables = [[0, *draw.choice(numbers, size - 1).tolist()] for size, _ in zip(itertools.cycle(options.sizes), range(options.tables))]
        return League(policies, tables, self.rules, np.where(np.isin(NAMES, options.networks), RATES, 0.0))

    def collect(self) -> None:
        """Play games and save their pairs."""
        number = len(self.chunks)
        seed = self.options.seed * (1 << 16) + number
        pairs = collect(self.league(), _CHUNK, seed, self.options.turn_limit, self.options.threads)
        if not len(pairs.pairs):
            raise ConfigurationError(
                f"{_CHUNK:,} games with the rules {self.options.rules!r} had no decision for --networks {', '.join(self.options.networks)}."
            )
        checkpoints.write_arrays(
            self.chunk_file(number), {"seen": pairs.seen, "pairs": pairs.pairs.view(np.uint8).reshape(len(pairs.pairs), -1)}
        )
        self._keep(pairs)

    def improve(self, report: Report) -> None:
        """Train new networks on all pairs; the agent of the next round plays with them."""
        options = self.options
        held = [held_out(chunk.pairs["game"], options.tables) for chunk in self.chunks]
        settings = Settings(
            options.epochs, options.batch, options.learning_rate, options.weight_decay, options.state_weight, options.seed, options.threads
        )
        networks = learn(self.chunks, [~rows for rows in held], settings, self.device, report.log)
        margins, gains = choose_margins(networks, self.chunks, held, options.confidence, self.device)
        report.log({f"gain/{name}": gain for name, gain in gains.items()})
        agent = self.agent.with_heads(LEARNED_HEADS, **networks.arrays(), margins=margins)
        agent.save(self.round_file(len(self.agents)))
        self.agents.append(agent)


def held_out(games: NDArray[np.int32], tables: int) -> NDArray[np.bool_]:
    """(N,) which games are not trained on: every tenth of each table, at another place for each table."""
    return np.asarray((games % tables + games // tables) % _HELD_OUT == 0)


def train(learner: RolloutLearner, report: Report) -> None:
    """The training loop."""
    clock, rounds = report.clock, learner.options.rounds
    while len(learner.agents) <= rounds:
        number = len(learner.agents)
        while learner.step < learner.due:
            with clock("games"):
                learner.collect()
            report.advance(learner.step, f"round {number}: playing pairs")
        report.advance(learner.step, f"round {number}: learning")
        with clock("learning"):
            learner.improve(report)
        with clock("evaluation"):
            rows = measure(learner.agent, learner.policies.panel, learner.options, learner.options.panel_games, panel.PANEL_SEED)
        report.evaluated(learner.step, rows)
        report.curves(learner.step, games=len(learner.chunks) * _CHUNK)


def measure(agent: LearnedPolicy, opponents: Sequence[Policy], options: RolloutOptions, games: int, seed: int) -> list[dict[str, Any]]:
    """Win rates at tables of every size, see `panel.measure`; the opponent's name says the size."""
    rows = []
    for size in options.sizes:
        for row in panel.measure(agent, opponents, [games] * len(opponents), Rules.preset(options.rules), seed, size):
            rows.append(row | {"opponent": f"{row['opponent']}, {size} players", "players": size})
    return rows


# --- the gate -------------------------------------------------------------------------------------------------------------


def playing(agent: LearnedPolicy) -> tuple[str, ...]:
    """The heads of an agent that are played by a network with a margin."""
    taught = agent.taught()
    return tuple(head for head in agent.heads if head in taught)


def gate(
    agent: LearnedPolicy, opponents: Sequence[Policy], options: RolloutOptions, report: Report, kept_in: Path | None = None
) -> tuple[LearnedPolicy, list[dict[str, Any]]]:
    """Let the parent play the heads that do not beat it.

    Each head alone, on top of the parent, plays the same seats and seeds as the parent alone: against copies of each opponent, at
    tables of every size. It stays if it wins more on the whole, and is significantly worse at no table: what beats one kind of
    opponent may lose to another. The heads that stay are then tested together, since each was measured without the others; if
    they fail, only the best of them stays.

    Args:
        agent: With all networks.
        opponents: Their copies fill the other seats.
        options: Say what is played.
        report: Shows the progress.
        kept_in: A JSON file to which each comparison is written when it ends, so that a run that is killed need not repeat it.

    Returns:
        The agent with the heads that are left; and a row for each head, and for all together: `head`, `difference`, `error`, `lowest`
        (the upper end of the interval where it is lowest), `kept`.
    """
    if not options.gate_games:
        return agent.with_heads(playing(agent)), []
    known: dict[str, dict[str, Any]] = (read_json(read_file(kept_in)) or {}) if kept_in is not None and kept_in.is_file() else {}

    def compared(heads: tuple[str, ...]) -> dict[str, Any]:
        name = ", ".join(heads)
        if name not in known:
            report.advance(options.pairs, f"gate: {name}")
            known[name] = _against_parent(agent, heads, opponents, options)
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


def _against_parent(agent: LearnedPolicy, heads: Sequence[str], opponents: Sequence[Policy], options: RolloutOptions) -> dict[str, Any]:
    """How much more some heads win than the parent: a row of `gate`, without its name."""
    alone = agent.with_heads(())
    alone.name = "parent"
    differences = [
        arena.compare(
            agent.with_heads(heads), alone, [opponent] * (size - 1), options.gate_games, size, options.rules, panel.PANEL_SEED + 1,
            options.threads, options.turn_limit,
        )
        for opponent, size in itertools.product(opponents, options.sizes)
    ]  # fmt: skip
    mean = float(np.mean([d.difference for d in differences]))
    error = math.sqrt(sum(((d.high - d.low) / 3.92) ** 2 for d in differences)) / len(differences)
    lowest = min(d.high for d in differences)
    return {"difference": mean, "error": error, "lowest": lowest, "kept": mean > options.confidence * error and lowest >= 0}


def finish(learner: RolloutLearner, session: Session) -> dict[str, Any]:
    """Test the heads at the gate, save the agent and measure it; returns as `Session.finish` does."""
    options, report, policies = learner.options, session.report, learner.policies
    with report.clock("gate"):
        agent, heads = gate(learner.agent, policies.gate_against, options, report, learner.run.folder / "gate.json")
    agent.save(learner.run.agent)
    report.advance(learner.step, "measuring")
    with report.clock("evaluation"):
        rows = measure(agent, policies.panel, options, options.final_games, panel.FINAL_SEED)
    return session.finish(options.rules, learner.step, rows, "pairs", heads=heads)


def execute(options: RolloutOptions, console: Console) -> dict[str, Any]:
    """Train from the beginning or from where the run stopped, then measure.

    Raises:
        MonopolyError: Wrong options, a folder that can't be used, a file of the run that is damaged, a loss that is not finite.
    """
    policies = check(options)
    with Session.open(options, settings(options), console, f"{options.pairs:,} pairs", FILES) as session:
        learner = RolloutLearner(options, policies, session.run)
        if options.resume:
            learner.restore()
        session.report.begin(options.pairs, learner.step, "pairs")
        train(learner, session.report)
        return finish(learner, session)
