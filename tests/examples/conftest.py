"""Examples are run in this process, which stays as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.libraries.torch import torch

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def torch_as_it_was() -> Iterator[None]:
    """Give PyTorch its threads and its random numbers back."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # more of them would only wait for each other
    with torch.random.fork_rng():
        yield
    torch.set_num_threads(threads)
