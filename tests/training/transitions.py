"""Transitions of random numbers, for tests."""

from __future__ import annotations

import numpy as np

from agents.networks.repertoire import Repertoire
from monopoly_env.actions import HEADS, NUM_ACTIONS
from training.experience.replay import Transitions, pack
from training.run.options import LEARNED

FEATURES = 12


def random_transitions(count: int, seed: int = 0, features: int = FEATURES) -> Transitions:
    """Transitions of random numbers; a third of them ends a game."""
    generator = np.random.default_rng(seed)
    learned = Repertoire(LEARNED).actions
    choices = (generator.random((2, count, NUM_ACTIONS)) < 0.1) & learned
    choices[:, :, HEADS["turn"].start] = True
    action = np.array([generator.choice(np.flatnonzero(row)) for row in choices[0]], np.int16)
    discount = np.where(generator.random(count) < 1 / 3, 0.0, generator.uniform(0.5, 1.0, count)).astype(np.float32)
    seen = generator.normal(size=(2, count, features)).astype(np.float16)
    reward = generator.normal(size=count).astype(np.float32)
    return Transitions(seen[0], pack(choices[0]), action, reward, discount, seen[1], pack(choices[1]))
