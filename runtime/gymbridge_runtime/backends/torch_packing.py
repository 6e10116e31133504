"""Small tensors to a device and back, packed into one transfer.

A transfer costs a GPU about 10 µs, whatever its size. So the small arrays of a step travel as the
bytes of one tensor, and views take it apart. A view keeps its pack alive, hence the limit of a
pack; large arrays travel alone. All transfers are blocking: nobody has to wait for one.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Final

import numpy as np
import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from gymbridge_runtime.types import HostArray

__all__ = ["download", "upload"]

_LARGE: Final = 64 * 1024
"""The size in bytes from which an array travels alone."""
_FULL: Final = 256 * 1024
"""The largest pack, in bytes."""
_ALIGNMENT: Final = 64
"""The alignment of each array of a pack, in bytes."""


def _packs(sizes: Sequence[int]) -> Iterator[slice]:
    """Return the indices of arrays that travel together."""
    start = filled = 0
    for number, size in enumerate(sizes):
        is_full = filled + size > _FULL or max(size, sizes[start]) > _LARGE
        if number > start and is_full:
            yield slice(start, number)
            start, filled = number, 0
        filled += size
    yield slice(start, len(sizes))


def upload(
    views: Sequence[HostArray],
    device: torch.device,
    as_tensor: Callable[[HostArray], torch.Tensor],
) -> list[torch.Tensor]:
    """Return copies of ``views`` on ``device``, whose tensors have storage.

    ``as_tensor`` makes a tensor on the host, of any dtype.
    """
    tensors: list[torch.Tensor] = []
    for numbers in _packs([view.nbytes for view in views]):
        pack = views[numbers]
        if len(pack) == 1:
            tensors.append(as_tensor(pack[0]).to(device))
            continue
        *starts, end = accumulate((_room_of(view) for view in pack), initial=0)
        staging = np.empty(end, np.uint8)
        for view, start in zip(pack, starts, strict=True):
            staging[start : start + view.nbytes] = np.frombuffer(view.tobytes(), np.uint8)
        packed = as_tensor(staging).to(device)
        for view, start in zip(pack, starts, strict=True):
            part = packed[start : start + view.nbytes].view(as_tensor(view).dtype)
            # a version counter of its own: writing into one array does not break the gradient of
            # another
            tensors.append(part.reshape(view.shape).data)
    return tensors


def _room_of(view: HostArray) -> int:
    return -(-view.nbytes // _ALIGNMENT) * _ALIGNMENT


def download(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Return host copies of ``tensors``, which are on one device."""
    found: dict[int, torch.Tensor] = {}
    for numbers in _packs([tensor.nbytes for tensor in tensors]):
        pack = range(len(tensors))[numbers]
        if len(pack) == 1:
            found[pack[0]] = tensors[pack[0]].cpu()
            continue
        # the widest elements first, so that each tensor starts at a multiple of its elements
        order = sorted(pack, key=lambda number: -tensors[number].element_size())
        parts = [tensors[number].contiguous().reshape(-1).view(torch.uint8) for number in order]
        pieces = torch.cat(parts).cpu().split_with_sizes([part.numel() for part in parts])
        for number, piece in zip(order, pieces, strict=True):
            found[number] = piece.view(tensors[number].dtype).reshape(tensors[number].shape)
    return [found[number] for number in range(len(tensors))]
