"""Threads of batches, in the process that started them and in forked ones."""

from __future__ import annotations

import multiprocessing
import pickle
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import monopoly_env as me
import pente_env as pe
from monopoly_env.kernels.threads import Threads

VECTORS: dict[str, Callable[[], Any]] = {
    "monopoly": lambda: me.VectorMonopoly(600, 2, threads=2),
    "pente": lambda: pe.VectorPente(600, threads=2),
}


def first_actions(vector: Any) -> Any:
    return vector.batch.action_mask.argmax(axis=1)


@pytest.mark.parametrize("name", VECTORS)
def test_a_forked_process_goes_on_with_a_vector(name: str) -> None:
    vector = VECTORS[name]()
    vector.reset()
    vector.step(first_actions(vector))
    queue: Any = multiprocessing.get_context("fork").SimpleQueue()

    def step_in_child() -> None:
        queue.put(vector.step(first_actions(vector)).observation.sum())
        vector.close()

    child = multiprocessing.get_context("fork").Process(target=step_in_child, daemon=True)
    child.start()
    child.join(60)
    hangs = child.is_alive()
    child.kill()
    assert not hangs
    assert queue.get() == vector.step(first_actions(vector)).observation.sum()
    vector.close()


def test_threads_start_again_after_they_were_closed() -> None:
    threads = Threads(2, "mine")
    assert threads.map(pow, [(2, 3), (3, 2)]) == [8, 9]
    assert any(thread.name.startswith("mine") for thread in threading.enumerate())
    threads.close()
    assert not any(thread.name.startswith("mine") for thread in threading.enumerate())
    assert threads.map(pow, [(2, 4)]) == [16]
    threads.close()


def test_a_copy_has_threads_of_its_own() -> None:
    threads = Threads(2, "mine")
    threads.map(pow, [(2, 3)])
    copied = pickle.loads(pickle.dumps(threads))  # noqa: S301 - our own
    assert copied.map(np.add, [(1, 2)]) == [3]
    copied.close()
    threads.close()
