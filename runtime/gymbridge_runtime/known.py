"""Which library an array belongs to, found without importing any library to ask."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from gymbridge_runtime.backend import AnyBackend, Backend
from gymbridge_runtime.errors import BackendNotInstalledError

__all__ = ["backend_named", "backend_of", "load", "register"]

_REFERENCES = {
    "numpy": "gymbridge_runtime.backends.numpy:NUMPY",
    "torch": "gymbridge_runtime.backends.torch:TORCH",
    "jax": "gymbridge_runtime.backends.jax:JAX",
    "jaxlib": "gymbridge_runtime.backends.jax:JAX",
}
"""Where the backend of an array is, by the top-level package that defines the array's type."""

_REGISTERED: dict[str, AnyBackend] = {}


def register(backend: AnyBackend) -> None:
    """Make arrays of ``backend`` recognised wherever they turn up."""
    for root in backend.roots:
        _REGISTERED[root] = backend


def load(reference: str) -> AnyBackend:
    """Return the backend at ``package.module:NAME``.

    Raises:
        BackendNotInstalledError: Its library, or something that the library needs, is missing.
    """
    module_name, _, attribute = reference.partition(":")
    if find_spec(module_name.partition(".")[0]) is None:
        raise BackendNotInstalledError(
            f"the package of the backend {reference!r} is not installed; install it to restore this"
        )
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as error:
        raise BackendNotInstalledError.explain(
            reference, f"pip install {error.name}", error
        ) from error
    backend: AnyBackend | None = getattr(module, attribute, None)
    if not isinstance(backend, Backend):
        raise TypeError(
            f"{reference} is {backend!r} and no gymbridge backend; correct the reference"
        )
    return backend


def backend_named(root: str) -> AnyBackend | None:
    """Return the backend of the library whose top-level package is ``root``, if it is known."""
    backend = _REGISTERED.get(root)
    if backend is None and root in _REFERENCES:
        backend = _REGISTERED[root] = load(_REFERENCES[root])
    return backend


def backend_of(kind: type[object]) -> AnyBackend | None:
    """Return the backend whose arrays ``kind`` are, if it is one that gymbridge knows."""
    for base in kind.__mro__:
        root = str(base.__module__).partition(".")[0]
        backend = backend_named(root)
        if backend is not None and backend.is_array(kind):
            return backend
    return None
