"""Finds the library of an array without importing any library."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gymbridge_runtime.backends.base import load

if TYPE_CHECKING:
    from collections.abc import Callable

    from gymbridge_runtime.backends.base import AnyBackend

_REFERENCES = {
    "numpy": "gymbridge_runtime.backends.numpy:NUMPY",
    "torch": "gymbridge_runtime.backends.torch:TORCH",
    "jax": "gymbridge_runtime.backends.jax:JAX",
    "jaxlib": "gymbridge_runtime.backends.jax:JAX",
    "mlx": "gymbridge_runtime.backends.mlx:MLX",
    "cupy": "gymbridge_runtime.backends.cupy:CUPY",
}
"""The backend of an array, by the top-level package of the array's type."""

_REGISTERED: dict[str, AnyBackend] = {}

LISTENERS: list[Callable[[], None]] = []
"""Functions to call when the treatment of a type may have changed."""


def notify() -> None:
    """Report that the treatment of a type may have changed."""
    for forget in LISTENERS:
        forget()


def register(backend: AnyBackend) -> None:
    """Recognise arrays of ``backend`` everywhere."""
    for root in backend.roots:
        _REGISTERED[root] = backend
    notify()


def recognise(backend: AnyBackend) -> None:
    """Recognise arrays of ``backend``, unless another backend has them."""
    for root in backend.roots - _REFERENCES.keys() - _REGISTERED.keys():
        _REGISTERED[root] = backend
        notify()


def backend_named(root: str) -> AnyBackend | None:
    """Return the backend of the library whose top-level package is ``root``, if it is known."""
    backend = _REGISTERED.get(root)
    if backend is None and root in _REFERENCES:
        backend = _REGISTERED[root] = load(_REFERENCES[root])
    return backend


def backend_of(kind: type[object]) -> AnyBackend | None:
    """Return the backend of arrays of ``kind``, if gymbridge knows one."""
    for base in kind.__mro__:
        root = f"{base.__module__}".partition(".")[0]
        backend = backend_named(root)
        if backend is not None and backend.is_array(kind):
            return backend
    return None
