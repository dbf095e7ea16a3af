"""One profile for all property tests: the same examples in every run.

And networks on one thread where a test asks for it.
"""

from collections.abc import Iterator

import pytest
from hypothesis import settings

settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("search", deadline=None, max_examples=10_000)
settings.load_profile("ci")


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Threads of torch that wait for each other on a busy machine take a hundred times as long."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
