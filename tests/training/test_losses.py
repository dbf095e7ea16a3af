"""Returns and losses, by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from training import losses

F = torch.tensor([[0.0, 0.1, losses.ILLEGAL]])  # scores of one decision
LEGAL = torch.tensor([[True, True, False]])
A = torch.tensor([1])


def test_lambda_returns() -> None:
    """Two games; in the first, seat 0 decides three times and seat 1 once between."""
    values = np.array([0.5, 0.4, 0.6, 0.8, 0.3], np.float32)
    game, player = np.array([0, 0, 0, 0, 1], np.int32), np.array([0, 1, 0, 0, 0], np.int8)
    outcome = np.array([1, 0, 1, 1, 0], np.float32)
    last = 1.0
    middle = 0.5 * 0.8 + 0.5 * last
    assert losses.lambda_returns(values, outcome, game, player, 0.5) == pytest.approx(
        [0.5 * 0.6 + 0.5 * middle, 0.0, middle, last, 0.0]
    )
    assert losses.lambda_returns(values, outcome, game, player, 1.0) == pytest.approx(outcome)


def test_the_policy_is_a_softmax_of_the_scores() -> None:
    logs = torch.log_softmax(torch.tensor([0.0, 0.1]) / 0.05, 0)
    assert losses.log_probability(F, A, 0.05).item() == pytest.approx(logs[1].item())
    assert losses.cross_entropy(F, A - 1, 0.05).item() == pytest.approx(-logs[0].item())
    assert losses.soft_advantage(F, A, 0.05).item() == pytest.approx(0.05 * logs[1].item())
    every = losses.soft_advantage(F.repeat(3, 1), torch.arange(3), 0.05)
    assert (every / 0.05).exp().sum().item() == pytest.approx(1)
    assert losses.agreement(F, A).item() == 1
    assert losses.agreement(F, A - 1).item() == 0


def test_targets() -> None:
    advantage, old = torch.tensor([0.25]), torch.tensor([-0.3])
    assert losses.munchausen_target(advantage, old, 0.5).item() == pytest.approx(0.1)
    r, last = torch.tensor([1.0, 1.0]), torch.tensor([False, True])
    q = torch.tensor([[0.5, -torch.inf, 2.0], [-torch.inf] * 3])
    assert losses.q_learning_target(r, last, q, 0.9).tolist() == pytest.approx([2.8, 1.0])
    assert losses.squared_error(advantage, old).item() == pytest.approx(0.55**2)


def test_the_objective_of_ppo_counts_up_to_the_clip() -> None:
    log_pi = losses.log_probability(F, A)
    for advantage, loss in ((0.25, -1.2 * 0.25), (-0.25, np.e * 0.25)):  # likelier by e
        found = losses.ppo_clip(log_pi, log_pi - 1.0, torch.tensor([advantage]), 0.2)
        assert found.item() == pytest.approx(loss, rel=1e-5)
    same = losses.ppo_clip(log_pi, log_pi, torch.tensor([0.25]), 0.2)
    assert same.item() == pytest.approx(-0.25)


def test_entropy_is_that_of_legal_actions() -> None:
    logs = torch.log_softmax(torch.tensor([0.0, 0.1]), 0)
    found = losses.entropy(losses.log_policy(F), LEGAL).item()
    assert found == pytest.approx(-(logs.exp() * logs).sum().item())
