"""Examples run in this process and leave no trace in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.libraries.torch import torch

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def torch_as_it_was() -> Iterator[None]:
    """Restore PyTorch's threads and random state."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # more threads would wait for each other
    with torch.random.fork_rng():
        yield
    torch.set_num_threads(threads)
