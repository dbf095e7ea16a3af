"""The common part of learners of choices.

Their networks watch an expert, then play in a league and learn from that.

`training.dqn` and `training.ppo` add what differs: how the networks choose while they learn, and
the losses. Both phases work on whole games, played in compiled code
(`training.experience.choices`), a block of games at a time:

1. Watching: the games of an expert against itself. The networks learn what it chooses, and from the
   outcomes what a state is worth.
2. Own games, in a league (`training.league`): each block is played with the networks as they are,
   then learned from.

A network sees only the choices that it answers. A gradient step takes a share of every network's
choices, so that one step of the optimizer serves them all.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import Parameter, functional

from agents.learned.action_space import SIMILAR
from agents.learned.agent import LearnedAgent
from agents.learned.architectures import CHOICES, STATE, architectures
from agents.networks.layout import Architecture
from monopoly_env.policy.protocol import CompiledPolicy, Policy
from monopoly_env.rules import Rules
from training.cluster import HERE, PlayGames
from training.experience.choices import Choices, lambda_returns
from training.league import EXPLOITERS, LEARNER, PAST, League, Trained
from training.learner_options import Named
from training.networks import (
    Network,
    Networks,
    arrays_of,
    optimizer_arrays,
    set_arrays_of,
    set_optimizer_arrays,
)
from training.run.checkpoints import Parts
from training.run.devices import device_of
from training.run.session import DivergenceError, passed

WATCH_SEED: Final = 1 << 20  # added to the seed: games that are watched differ from own ones
_EXPLOIT_SEED: Final = 1 << 21
_CLOSED: Final = -1e9  # the score of a choice that is not open
_CHUNK: Final = 16_384  # choices in a forward pass without gradients
_COUNTERS: Final = ("step", "watched", "blocks", "finished", "stages")  # in a checkpoint
_SURE: Final = math.log(0.99)
_MAX_NORM: Final = 1.0  # gradients are clipped to it


class Part(NamedTuple):
    """Choices that one network answers, as tensors: all of a block, or a batch of them.

    Attributes:
        observation: (n, inputs) float16 or, by --precision, bfloat16: what the network sees.
        open: (n, outputs) bool.
        choice: (n,) int64, the output that was chosen.
        score: (n,) float32, what networks gave the choice before the block was learned from: its
            log-probability, or its advantage.
        advantage: (n,) float32, what the choice led to, less the value of the state.
        goal: (n,) float32, what the value of the state learns.
    """

    observation: Tensor
    open: Tensor
    choice: Tensor
    score: Tensor
    advantage: Tensor
    goal: Tensor

    def take(self, rows: slice | Tensor) -> Part:
        """Some of the rows: a slice, or (m,) their numbers."""
        return Part(
            *(
                column[rows] if isinstance(rows, slice) else column.index_select(0, rows)
                for column in self
            )
        )


@dataclass(frozen=True)
class Family:
    """A kind of agent, as it is trained.

    Attributes:
        blank: An agent of this kind.
        architectures: Its networks by name, that of states last. The first output of the others is
            the value of the state.
        choices: [network][output, not counting the value] -> the choice.
        weights: The agent's arrays, from those of the networks.
        like: By choice, one that is much alike.
    """

    blank: Trained
    architectures: Mapping[str, Architecture]
    choices: Sequence[NDArray[np.int64]]
    weights: Callable[[dict[str, NDArray[Any]]], dict[str, NDArray[Any]]] = dict
    like: Mapping[int, int] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The networks that choose."""
        return tuple(self.architectures)[:-1]

    @property
    def num_choices(self) -> int:
        """Choices in all."""
        return 1 + max(int(choices.max()) for choices in self.choices)


class Block(NamedTuple):
    """A block of own games.

    Attributes:
        choices: Waits until it is played; returns what the learner chose in it.
        players: The networks that play it.
    """

    choices: Callable[[], Choices]
    players: Networks


Result = TypeVar("Result")
Loss = Callable[[Part, Tensor], tuple[Tensor, Mapping[str, Tensor]]]


class ChoiceLearner(ABC):
    """Networks, their optimizer and the league.

    Attributes:
        options: Its options.
        panel: The policies that it is measured against.
        networks: The networks.
        players: Those that played the block that is learned from: with `overlap` as they were one
            block before.
        step: Own choices learned from so far.
        watched: Choices of the expert learned from so far.
        blocks: Blocks of own games so far.
        finished: Games of the expert so far.
        stages: What the agent won before and after each phase.
        spread: The standard deviation of the advantages of a block.
    """

    name: ClassVar[str]

    def __init__(self, options: Any, named: Named, play_games: PlayGames = HERE.play_games) -> None:
        """Start at step 0; `play_games` plays the games that are learned from."""
        torch.set_num_threads(1)
        torch.manual_seed(options.seed)
        self.options = options
        self._play_games = play_games
        self.panel: Sequence[Policy] = named.panel
        self.step = self.watched = self.blocks = 0
        self.finished = 0
        self.stages: list[dict[str, Any]] = []
        self.spread = 1.0
        self.rules = Rules.preset(options.rules)
        self.device = device_of(options.device)
        self.hidden = tuple(options.hidden) if named.agent is None else named.agent.hidden
        self._family = self.family()
        self.networks = self.players = Networks(self._family.architectures).to(self.device)
        self._ahead: Block | None = None  # under way
        self._next: Callable[[], Choices] | None = None  # block of the expert's games, under way
        self._pool = ThreadPoolExecutor(2, "learner")
        if named.agent is not None:
            set_arrays_of(self.networks, named.agent.arrays())
            self._adopt(named.agent.training_temperature)
        chooses = [
            weights for name in self._family.names for weights in self.networks[name].parameters()
        ]
        self._optimizers = {
            "choices": self._adam(chooses),
            "values": self._adam(self.networks[STATE].parameters()),
        }
        self.league = League(
            named.opponents, options.num_players, options.seed, options.past, options.vary
        )
        self.expert = None if named.agent is not None else named.expert
        # how often the expert made each choice
        self._made = np.zeros(self._family.num_choices, np.int64)

    # What a learner adds.

    @property
    @abstractmethod
    def temperature(self) -> float:
        """At which choices are drawn in own games."""

    @property
    @abstractmethod
    def compared(self) -> Networks:
        """The networks that give a choice the score with which `learning` compares it.

        See `Part.score`.
        """

    @abstractmethod
    def watching(self, batch: Part, scores: Tensor) -> tuple[Tensor, Mapping[str, Tensor]]:
        """The loss (M,) of an expert's choices, and what to report.

        `scores` (M, outputs) are what the network says now.
        """

    @abstractmethod
    def learning(self, batch: Part, scores: Tensor) -> tuple[Tensor, Mapping[str, Tensor]]:
        """The loss (M,) of own choices, and what to report."""

    @abstractmethod
    def score(self, scores: Tensor, choice: Tensor) -> Tensor:
        """(M,) what the networks give a choice: see `Part.score`."""

    # What is trained: other agents than `LearnedAgent` replace these.

    def family(self) -> Family:
        """The kind of agent that is trained."""
        options = self.options
        rules = self.rules.changed()
        blank = LearnedAgent(
            options.num_players,
            self.hidden,
            training_temperature=self.temperature,
            rules=rules,
            name=self.name,
        )
        return Family(blank, architectures(options.num_players, self.hidden), CHOICES, like=SIMILAR)

    def watch_games(self, expert: CompiledPolicy, games: range, seed: int) -> Choices:
        """The choices of an expert that plays itself."""
        seats, recorded = (
            np.zeros((len(games), self.options.num_players), np.int64),
            np.ones(1, np.bool_),
        )
        return self._play_games(
            [expert], seats, recorded, rules=self.rules, seed=seed, first=games.start,
            threads=self.options.threads,
            turn_limit=self.options.turn_limit,
        )  # fmt: skip

    # The two phases.

    def agent(self) -> Trained:
        """The networks as they are now, as a policy that plays its best choice."""
        agent = self._family.blank.drawing(0.0)
        agent.set_arrays(self._family.weights(arrays_of(self.networks)))
        return agent

    def watch(self) -> dict[str, float]:
        """Watch a block of the expert's games; returns means of what was reported."""
        options = self.options
        choices = (self._next or self._watch_from(self.finished))()
        self.finished += options.block_games
        last = self.watched + choices.size >= options.watch
        self._next = None if last else self._watch_from(self.finished)
        self._set_rate(3 * options.learning_rate)
        parts = {name: part for name, (_, part) in self.parts_of(choices, choices.outcome).items()}
        metrics = self._descend(
            parts, self.watching, choices.observation, choices.outcome, max(1, options.batch // 4)
        )
        self.watched += choices.size
        self._made += np.bincount(choices.choice, minlength=len(self._made))
        return metrics

    def _watch_from(self, first: int) -> Callable[[], Choices]:
        """The block of the expert's games that begins with a number.

        It is played while the networks learn from the one before.
        """
        assert self.expert is not None
        expert, games, seed = (
            self.expert,
            range(first, first + self.options.block_games),
            self.options.seed + WATCH_SEED,
        )
        return self._aside(lambda: self.watch_games(expert, games, seed))

    def _aside(self, task: Callable[[], Result]) -> Callable[[], Result]:
        """Begin a task in a thread of its own, unless --threads is 1.

        What is returned waits for it.
        """
        return self._pool.submit(task).result if self.options.threads > 1 else task

    @torch.no_grad()
    def _adopt(self, training_temperature: float | None) -> None:
        """Let networks that learned at another temperature draw the same choices at this one.

        PPO and the Q-learner differ in it.
        """
        if training_temperature not in (None, self.temperature):
            for name in self._family.names:
                for numbers in (self.networks[name].last.weight, self.networks[name].last.bias):
                    numbers[1:] *= self.temperature / training_temperature

    @torch.no_grad()
    def introduce(self) -> None:
        """Give choices that the expert never made the weights of their like.

        Nobody learns of a choice that is never tried.
        """
        for name, choices in zip(self._family.names, self._family.choices, strict=True):
            places = {int(choice): 1 + place for place, choice in enumerate(choices)}
            for choice in self._family.like.keys() & places.keys():
                if not self._made[choice]:
                    for numbers in (self.networks[name].last.weight, self.networks[name].last.bias):
                        numbers[places[choice]] = numbers[places[self._family.like[choice]]]

    def play(self) -> Choices:
        """A block of own games; with `overlap` the next one begins too."""
        block = self._ahead or self._begin()
        choices, self._ahead, self.players = block.choices(), None, block.players
        if self.options.overlap and not self._pauses_after(choices.size):
            self._ahead = self._begin()
        return choices

    def _begin(self) -> Block:
        """A block of own games, with `overlap` under way in a thread of its own."""
        options = self.options
        if PAST in options.opponents and self.blocks % options.past_every == 0:
            self.league.remember(self.agent().drawing(self.temperature, PAST))
        policies, seats = self.league.seat(
            self.agent().drawing(self.temperature), options.block_games, self.blocks
        )
        recorded, first = np.arange(len(policies)) == LEARNER, self.blocks * options.block_games
        self.blocks += 1

        def play() -> Choices:
            return self._play_games(
                policies, seats, recorded, rules=self.rules, seed=options.seed, first=first,
                threads=options.threads,
                turn_limit=options.turn_limit,
            )  # fmt: skip

        return (
            Block(self._pool.submit(play).result, deepcopy(self.networks))
            if options.overlap
            else Block(play, self.networks)
        )

    def _pauses_after(self, size: int) -> bool:
        """Whether the run ends, or a checkpoint or an exploiter is due, after another block.

        The block has so many choices. No block is under way if so.
        """
        options, step = self.options, self.step + size
        pauses = (
            options.checkpoint_every,
            *([options.exploit_every] if EXPLOITERS in options.opponents else []),
        )
        return step >= options.steps or any(passed(every, self.step, step) for every in pauses)

    def learn(self, choices: Choices) -> dict[str, float]:
        """Learn from a block of own games; returns means of what was reported."""
        options = self.options
        self._set_rate(options.learning_rate * max(0.02, 1 - self.step / options.steps))
        values, goals, returns = np.zeros((3, choices.size), np.float32)
        values[:] = self.values(choices.observation)
        for keep, out in ((options.value_lambda, goals), (options.td_lambda, returns)):
            lambda_returns(values, choices.outcome, choices.game, choices.player, keep, out)
        self.spread = max(1e-6, float((returns - values).std()))
        parts = {
            name: self._judged(name, part, returns[rows] - values[rows])
            for name, (rows, part) in self.parts_of(choices, goals).items()
        }
        metrics = self._descend(parts, self.learning, choices.observation, goals, options.batch)
        self.step += choices.size
        return metrics

    def exploit_due(self, before: int) -> bool:
        """Whether an exploiter is due, where `before` is the step before the last block."""
        return EXPLOITERS in self.options.opponents and passed(
            self.options.exploit_every, before, self.step
        )

    def exploit(self) -> dict[str, float]:
        """Train a copy against the agent as it is now, and add it to the league.

        Returns what share it won in the end.
        """
        frozen, steps = self.agent(), self.options.exploit_steps
        options = replace(
            self.options,
            steps=steps,
            seed=self.options.seed + _EXPLOIT_SEED + self.blocks,
            opponents=("the learner",),
            hidden=self.hidden,
        )
        with torch.random.fork_rng(devices=[]):
            exploiter = type(self)(options, Named(None, None, [frozen], []), self._play_games)
            exploiter.networks.load_state_dict(self.networks.state_dict())
            while exploiter.step < steps:
                choices = exploiter.play()
                exploiter.learn(choices)
        self.league.challenge(exploiter.agent().drawing(self.temperature, EXPLOITERS))
        return {"exploiter won": float(choices.outcome.mean())}

    def parts_of(
        self, choices: Choices, goals: NDArray[np.float32]
    ) -> dict[str, tuple[NDArray[np.int64], Part]]:
        """For each network, the rows that it answers and its choices.

        Scores and advantages are zeros.
        """
        parts, size = {}, self._family.num_choices
        for number, name in enumerate(self._family.names):
            rows = np.flatnonzero(choices.network == number)
            if len(rows):
                mine = self._family.choices[number]
                where = np.zeros(size, np.int64)
                where[mine] = np.arange(len(mine))
                open_ = np.unpackbits(choices.open[rows], axis=1, count=size)[:, mine]
                blank = torch.zeros(len(rows), device=self.device)
                seen, chosen = (
                    self._seen(name, choices.observation[rows]),
                    self._tensor(where[choices.choice[rows]]),
                )
                parts[name] = (
                    rows,
                    Part(
                        seen,
                        self._tensor(open_.astype(np.bool_)),
                        chosen,
                        blank,
                        blank,
                        self._tensor(goals[rows]),
                    ),
                )
        return parts

    @torch.no_grad()
    def _judged(self, name: str, part: Part, advantage: NDArray[np.float32]) -> Part:
        """The choices of a network with scores and advantages.

        Most of those that it was sure of are left out.
        """
        chunks = [part.take(rows) for rows in _slices(len(part.choice), _CHUNK)]
        passes = [(self.outputs(name, chunk, self.compared)[1], chunk.choice) for chunk in chunks]
        score = torch.cat([self.score(scores, choice) for scores, choice in passes])
        logs = torch.cat(
            [-cross_entropy(scores, choice, self.temperature) for scores, choice in passes]
        )
        kept = (logs < _SURE) | (torch.rand(len(logs)).to(self.device) < self.options.sure_share)
        return part._replace(score=score, advantage=self._tensor(advantage)).take(
            torch.nonzero(kept)[:, 0]
        )

    def _tensor(self, array: NDArray[Any]) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)

    def outputs(self, name: str, batch: Part, networks: Networks) -> tuple[Tensor, Tensor]:
        """The value that a network gives the states, and what it says about its choices.

        The values are (M,), the choices (M, outputs), with very low numbers for closed ones.
        """
        outputs = self._pass(networks[name], batch.observation)
        return outputs[:, 0], outputs[:, 1:].masked_fill(~batch.open, _CLOSED)

    def _seen(self, name: str, observation: NDArray[np.float16]) -> Tensor:
        """(n, inputs) what a network sees, the first of the features or all.

        They are bfloat16, or float16 that each pass makes float32.
        """
        kept = torch.float16 if self.options.precision == "float32" else torch.bfloat16
        return (
            self._tensor(observation)[:, : self._family.architectures[name].inputs]
            .to(kept)
            .contiguous()
        )

    def _pass(self, network: Network, seen: Tensor) -> Tensor:
        """(M, outputs) of a network. Its last layer is of float32 at any precision."""
        precise = self.options.precision == "float32"
        with torch.autocast(self.device.type, torch.bfloat16, enabled=not precise):
            hidden = network.body(seen.float() if precise else seen)
        outputs: Tensor = network.last(hidden.float())
        return outputs

    @torch.no_grad()
    def values(self, observation: NDArray[np.float16]) -> NDArray[np.float32]:
        """(N,) the chance to win of the players who see this."""
        chunks = (
            self._seen(STATE, observation[rows]) for rows in _slices(len(observation), _CHUNK)
        )
        return np.concatenate(
            [self._pass(self.networks[STATE], chunk)[:, 0].cpu().numpy() for chunk in chunks]
        )

    def _descend(
        self,
        parts: Mapping[str, Part],
        loss_of: Loss,
        observation: NDArray[np.float16],
        goals: NDArray[np.float32],
        size: int,
    ) -> dict[str, float]:
        """Learn from a block, in gradient steps of about `size` choices.

        Returns means of what the loss reports.

        The networks that choose go through it `epochs` times. The network of states, which shares
        nothing with them, goes through a share of it once, in a thread of its own. All that is
        drawn is drawn before.

        Raises:
            DivergenceError: The loss is not finite.
        """
        options = self.options
        orders = [self._order(parts, size) for _ in range(options.epochs)]
        rows = torch.randperm(len(goals))[: max(1, round(len(goals) * options.value_share))].numpy()
        values = self._aside(lambda: self._descend_values(observation, goals, rows, size))
        for order in orders:
            metrics = self._descend_choices(parts, order, loss_of)
        return metrics | values()

    def _order(self, parts: Mapping[str, Part], size: int) -> dict[str, Sequence[Tensor]]:
        """For each network, the rows that each gradient step takes."""
        steps = max(1, round(sum(len(part.choice) for part in parts.values()) / size))
        return {
            name: torch.randperm(len(part.choice)).to(self.device).tensor_split(steps)
            for name, part in parts.items()
        }

    def _descend_choices(
        self, parts: Mapping[str, Part], order: Mapping[str, Sequence[Tensor]], loss_of: Loss
    ) -> dict[str, float]:
        """Go through a block once with the networks that choose."""
        sums: dict[str, Tensor] = {}
        for shares in zip(*order.values(), strict=True):
            loss, count = torch.zeros((), device=self.device), 0
            for name, rows in zip(order, shares, strict=True):
                if len(rows):
                    batch = parts[name].take(rows)
                    values, scores = self.outputs(name, batch, self.networks)
                    losses, report = loss_of(batch, scores)
                    losses = losses + self.options.value_weight * (values - batch.goal) ** 2
                    loss, count = loss + losses.sum(), count + len(rows)
                    for key, reported in report.items():
                        sums[key] = (
                            sums.get(key, torch.zeros((), device=self.device))
                            + reported.detach().sum()
                        )
            if count:  # small batches take more steps than the choices of any network go into
                self._step(loss / count, self._optimizers["choices"])
        total = sum(len(part.choice) for part in parts.values())
        return {key: float(value) / total for key, value in sums.items()}

    def _descend_values(
        self,
        observation: NDArray[np.float16],
        goal: NDArray[np.float32],
        rows: NDArray[np.int64],
        size: int,
    ) -> dict[str, float]:
        """Go through rows of a block once with the network of states."""
        seen, wanted = self._seen(STATE, observation[rows]), self._tensor(goal[rows])
        total = 0.0
        for part in _slices(len(rows), size):
            losses = (self._pass(self.networks[STATE], seen[part])[:, 0] - wanted[part]) ** 2
            total += float(losses.detach().sum())
            self._step(losses.mean(), self._optimizers["values"])
        return {"loss/value": total / len(rows)}

    def _adam(self, weights: Iterable[Parameter]) -> torch.optim.Optimizer:
        return torch.optim.Adam(weights, lr=self.options.learning_rate, fused=True)

    def _step(self, loss: Tensor, optimizer: torch.optim.Optimizer) -> None:
        if not torch.isfinite(loss):
            raise DivergenceError(
                f"The loss is {loss.item()} after {self.watched + self.step:,} choices. Try a lower"
                " --learning-rate."
            )
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(optimizer.param_groups[0]["params"], _MAX_NORM)
        optimizer.step()

    def _set_rate(self, rate: float) -> None:
        for optimizer in self._optimizers.values():
            for group in optimizer.param_groups:
                group["lr"] = rate

    # Checkpoints.

    def state(self) -> tuple[Parts, dict[str, Any]]:
        """What a checkpoint holds."""
        parts = {
            "networks": arrays_of(self.networks),
            **{
                f"optimizer_of_{name}": optimizer_arrays(optimizer)
                for name, optimizer in self._optimizers.items()
            },
            "league": self.league.arrays(),
            "torch": {"generator": torch.get_rng_state().numpy()},
        }
        return parts, {name: getattr(self, name) for name in _COUNTERS}

    def set_state(self, parts: Parts, values: Mapping[str, Any]) -> None:
        """Continue from a checkpoint."""
        set_arrays_of(self.networks, parts["networks"])
        for name, optimizer in self._optimizers.items():
            set_optimizer_arrays(optimizer, parts[f"optimizer_of_{name}"])
        self.league.set_arrays(parts["league"], self.agent().drawing(self.temperature, PAST))
        torch.set_rng_state(torch.from_numpy(parts["torch"]["generator"]))
        for name in _COUNTERS:
            setattr(self, name, values[name])


def _slices(total: int, size: int) -> list[slice]:
    return [slice(start, start + size) for start in range(0, total, size)]


def agreement(batch: Part, scores: Tensor) -> Tensor:
    """(M,) 1 where the best choice of the networks is the one that was made."""
    return (scores.argmax(1) == batch.choice).float()


def cross_entropy(scores: Tensor, choice: Tensor, temperature: float = 1.0) -> Tensor:
    """(M,) minus the log-probability of choices, drawn by exp(score / temperature)."""
    return functional.cross_entropy(scores / temperature, choice, reduction="none")
