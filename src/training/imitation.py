"""Behaviour cloning: networks learn an expert's actions and outcomes before they play.

Hester et al., "Deep Q-learning from demonstrations" (AAAI 2018). The loss of an action is its
cross-entropy; values learn the outcomes of the expert's games.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Final

import numpy as np
from torch import Tensor

from training import losses
from training.cluster import PlayGames
from training.experience.choices import Choices
from training.model import Minibatch, Model
from training.options import AgentSpec, LearnerOptions, Setup
from training.run.report import Report

_SEED: Final = 1 << 20  # added to the seed: an expert's games differ from those of self-play


def imitate(
    model: Model, setup: Setup, options: LearnerOptions, play_games: PlayGames, report: Report
) -> int:
    """Imitate the expert for `imitation_steps` decisions or a few more; returns how many."""
    imitated, games, seen = 0, 0, np.zeros(model.spec.num_actions, np.int64)
    report.begin(options.imitation.imitation_steps, 0, "decisions", stage="imitation")
    for demonstrations in expert_games(model, setup, options, play_games):
        with report.clock("imitation"):
            report.log(update(model, demonstrations, options))
        seen += np.bincount(demonstrations.choice, minlength=len(seen))
        imitated += demonstrations.size
        games += options.league.rollout_games
        report.advance(imitated, "imitation")
        report.curves(imitated, None, games)
    model.initialise_unseen(seen)
    return imitated


def expert_games(
    model: Model, setup: Setup, options: LearnerOptions, play_games: PlayGames
) -> Iterator[Choices]:
    """The expert's games against itself; each rollout is prefetched while one is learned from."""
    play = partial(_demonstrate, model.spec, setup, options, play_games)
    total, first, steps = 0, 0, options.imitation.imitation_steps
    played = model.in_background(partial(play, first))
    while total < steps:
        demonstrations = played()
        total, first = total + demonstrations.size, first + options.league.rollout_games
        if total < steps:
            played = model.in_background(partial(play, first))
        yield demonstrations


def _demonstrate(
    spec: AgentSpec, setup: Setup, options: LearnerOptions, play_games: PlayGames, first: int
) -> Choices:
    """A rollout of the expert's games, from a game's number on."""
    expert, rules, seed = setup.expert, setup.rules, options.seed + _SEED
    assert expert is not None
    games = range(first, first + options.league.rollout_games)
    threads, turn_limit = options.hardware.threads, options.league.turn_limit
    if spec.demonstrate:
        return spec.demonstrate(expert, games, rules, seed, threads, turn_limit)
    seats = np.zeros((len(games), options.num_players), np.int64)
    return play_games(
        [expert], seats, np.ones(1, np.bool_), rules=rules, seed=seed, first=first,
        threads=threads, turn_limit=turn_limit,
    )  # fmt: skip


def update(model: Model, demonstrations: Choices, options: LearnerOptions) -> dict[str, float]:
    """Gradient steps towards an expert's actions; returns means of the reports."""

    def loss(batch: Minibatch, scores: Tensor) -> tuple[Tensor, Mapping[str, Tensor]]:
        cross_entropy = losses.cross_entropy(scores, batch.action, options.temperature)
        agreement = losses.agreement(scores, batch.action)
        return cross_entropy, {
            "imitation/cross_entropy": cross_entropy, "imitation/agreement": agreement,
        }  # fmt: skip

    return model.fit(
        model.batches(demonstrations, demonstrations.outcome),
        loss,
        demonstrations.observation,
        demonstrations.outcome,
        size=max(1, options.optimizer.batch // 4),
        learning_rate=3 * options.optimizer.learning_rate,
    )
