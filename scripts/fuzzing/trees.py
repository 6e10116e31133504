"""Target: any tree keeps its structure, or is refused with the path of a leaf."""

from __future__ import annotations

from collections import OrderedDict, UserDict, defaultdict, deque
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gymbridge import ConversionError
from gymbridge.numpy_to_torch import numpy_to_torch, torch_to_numpy

if TYPE_CHECKING:
    from collections.abc import Callable

    from gymbridge_runtime.types import AnyType

_LEAVES = 128
"""Bytes below this one are leaves, the others containers."""


class _Two(NamedTuple):
    one: object
    other: object


def _objects(children: list[object]) -> object:
    array = np.empty(len(children), object)
    for index, child in enumerate(children):
        array[index] = child
    return array


def _cyclic(children: list[object]) -> object:
    children.append(children)
    return children


_CONTAINERS: list[Callable[[list[object]], object]] = [
    list,
    tuple,
    deque,
    _objects,
    _cyclic,
    lambda children: dict(enumerate(children)),
    lambda children: OrderedDict((str(index), child) for index, child in enumerate(children)),
    lambda children: UserDict(enumerate(children)),
    lambda children: defaultdict(list, enumerate(children)),
    lambda children: _Two(*[*children, None, None][:2]),
    lambda children: [children, children],
]


def _leaf(kind: int, data: bytes) -> object:
    dtypes = "?bhilqBHILQefdgFDG"
    if kind < len(dtypes):
        dtype = np.dtype(dtypes[kind])
        return np.frombuffer(data[: len(data) // dtype.itemsize * dtype.itemsize], dtype)
    return (
        *(int.from_bytes(data, "big"), float(len(data)), data, data.decode("latin-1"), None),
        *(np.array(list(data), ">i4")[::-1], np.float16(len(data)), np.datetime64("2026-11-18")),
        *({*data}, True, complex(len(data)), np.zeros((2, len(data)), np.uint8).T),
    )[kind % 12]


def _grown(data: bytes) -> list[object]:
    """Return the tree of ``data``: every two bytes are an operation on a stack."""
    stack: list[object] = []
    position = 0
    while position + 2 <= len(data):
        kind, size = data[position], data[position + 1] % 8
        position += 2
        if kind < _LEAVES:
            stack.append(_leaf(kind % 32, data[position : position + size]))
            position += size
        else:
            children = stack[len(stack) - size :] if size else []
            del stack[len(stack) - len(children) :]
            stack.append(_CONTAINERS[kind % len(_CONTAINERS)](children))
    return stack


def attack(data: bytes) -> None:
    """Convert a tree there and back."""
    tree: AnyType = _grown(data)
    for copy in (None, True, False):
        try:
            there: AnyType = numpy_to_torch(tree, copy=copy)
        except ConversionError as error:
            if not error.path.startswith("value"):
                raise AssertionError("an error says where") from error
            continue
        assert _outline(there) == _outline(tree)
        assert _outline(torch_to_numpy(there)) == _outline(tree)


def _outline(tree: object, depth: int = 4) -> object:
    """Return the types and keys of the containers of a tree, to some depth."""
    if depth == 0:
        return None
    if isinstance(tree, (dict, UserDict)):
        return type(tree), [(key, _outline(child, depth - 1)) for key, child in tree.items()]
    if isinstance(tree, (list, tuple, deque)):
        return type(tree), [_outline(child, depth - 1) for child in tree]
    return None
