"""The general path: a tree is flattened, its leaves are checked, imported together and put back."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

from gymbridge_runtime.backends.registry import recognise
from gymbridge_runtime.core.arrays import Arrays
from gymbridge_runtime.core.describe import describe
from gymbridge_runtime.core.errors import REFUSED, ConversionError
from gymbridge_runtime.core.foreign import foreign_view
from gymbridge_runtime.core.leaves import Role
from gymbridge_runtime.core.ownership import Ownership
from gymbridge_runtime.core.tree import Leaves, Node, flatten, path_to, too_deep, unflatten
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gymbridge_runtime.backends.base import AnyBackend
    from gymbridge_runtime.types import HostArray

__all__ = ["Converter", "Part", "convert_together", "converter_to"]


class Converter:
    """Converts every array and number of a tree to ``target``; the rest stays as it is.

    Args:
        target: The library of the results.
        device: Where results go: the library's own object, or text; None for its default.
        copy: None is ``default``, True always copies, False never does.
        float_dtype: What floating arrays are cast to.
        default: What ``copy=None`` means.
        arrays_only: Whether Python numbers and NumPy scalars stay as they are.
        keeps_large: Whether integers beyond 64 bits stay as they are; otherwise they are an error.
        root: How error messages call the tree.
    """

    def __init__(
        self,
        target: AnyBackend,
        *,
        device: object = None,
        copy: bool | None = None,
        float_dtype: object = None,
        default: Ownership = Ownership.SHARE,
        arrays_only: bool = False,
        keeps_large: bool = False,
        root: str = "value",
    ) -> None:
        recognise(target)
        self.target: AnyBackend = target
        self.device: object = target.parse_device(device)
        self.root: str = root
        self.arrays: Arrays = Arrays(
            target,
            self.device,
            Ownership.of(copy, default),
            None if float_dtype is None else target.dtype(float_dtype),
            arrays_only=arrays_only,
            keeps_large=keeps_large,
        )

    def __call__(self, value: object, *, is_free: bool = False) -> object:
        """Return the counterpart of ``value``, to which nobody else refers if it ``is_free``."""
        (result,) = convert_together([Part(self, value, is_free)])
        return result

    @override
    def __reduce__(self) -> tuple[object, ...]:
        arrays = self.arrays
        again = partial(
            Converter,
            self.target,
            device=self.target.device_text(self.device),
            float_dtype=arrays.float_dtype and arrays.float_dtype.name,
            default=arrays.ownership,
            arrays_only=arrays.arrays_only,
            keeps_large=arrays.keeps_large,
            root=self.root,
        )
        return again, ()


def converter_to(target: AnyBackend, device: object, copy: bool | None) -> Converter:
    """Return the converter of a function such as ``numpy_to_torch``."""
    # other devices need not be hashable
    make = _cached if device is None or isinstance(device, str) else Converter
    return make(target, device=device, copy=copy)


_cached = lru_cache(maxsize=256)(Converter)


class Part(NamedTuple):
    """A tree that is converted together with others."""

    converter: Converter
    value: object
    is_free: bool
    """Whether nobody but the caller refers to ``value``."""


class _Tree(NamedTuple):
    """A tree on its way: its structure, its leaves, and what takes their places."""

    converter: Converter
    node: Node | None
    leaves: Leaves
    results: list[object]

    def explain(self, error: Exception, place: int) -> ConversionError:
        """Return ``error`` with the path and the description of a leaf."""
        subject = describe(self.leaves[place][0])
        if not isinstance(error, ConversionError):
            error = ConversionError.unforeseen(error, subject)
        error.about(subject)
        error.below(self.converter.root + path_to(self.node, place))
        return error


class _Import(NamedTuple):
    """The host views of one step that go to the same place."""

    arrays: Arrays
    views: list[HostArray]
    places: list[tuple[_Tree, int]]
    """Where the arrays go."""

    def run(self) -> None:
        """Import all views, and put the arrays in their places."""
        arrays, places = self.arrays, self.places
        leaf: tuple[_Tree, int] | None = None
        try:
            made = iter(arrays.target.from_host_many(self.views, arrays.device))
            for leaf in places:
                leaf[0].results[leaf[1]] = next(made)
        except REFUSED as error:
            failure = error if isinstance(error, ConversionError) else arrays.not_made(error)
            leaf = leaf or self._first_refused()
            if leaf is None:  # only all of them together are refused
                failure.below(places[0][0].converter.root)
            else:
                failure = leaf[0].explain(failure, leaf[1])
            raise failure from error.__cause__ if failure is error else error

    def _first_refused(self) -> tuple[_Tree, int] | None:
        """Find the leaf that is refused, because a call that imports all arrays does not say."""
        for view, leaf in zip(self.views, self.places, strict=True):
            try:
                _ = self.arrays.target.from_host(view, self.arrays.device)
            except REFUSED:
                return leaf
        return None


def convert_together(parts: Sequence[Part]) -> list[object]:
    """Convert several trees; arrays that a library fetches or imports travel together.

    Trees with the same target and device are imported by one call.
    """
    trees: list[_Tree] = []
    imports: list[_Import] = []
    fetches: dict[AnyBackend, list[tuple[_Tree, int, _Import]]] = {}
    for converter, value, is_free in parts:
        leaves: Leaves = []
        results: list[object] = []
        try:
            tree = _Tree(converter, flatten(value, leaves, is_alone=is_free), leaves, results)
        except RecursionError:
            raise too_deep(value, converter.root) from None
        except ConversionError as error:
            error.below(converter.root)
            raise
        trees.append(tree)
        arrays = converter.arrays
        together = imports[-1] if imports else None
        if (
            together is None
            or together.arrays.device is not arrays.device
            or together.arrays.target is not arrays.target
        ):
            together = _Import(arrays, [], [])
            imports.append(together)
        try:
            for leaf, kind, is_leaf_free in leaves:
                role, source = kind
                result: object = None
                view: HostArray | None = None
                if role is Role.NUMBER or role is Role.SCALAR:
                    result = leaf
                    if not arrays.arrays_only:
                        view = arrays.number(leaf, role)
                elif role is Role.KEEP:
                    result = leaf
                elif role is Role.UNKNOWN or role is Role.OPAQUE:
                    result = arrays.keep(leaf, kind, is_free=is_leaf_free)
                elif source is arrays.target:
                    result = arrays.own(leaf, is_free=is_leaf_free)
                elif role is Role.ARRAY and source is not None:
                    result = arrays.direct(source, leaf)
                    if result is None:
                        fetches.setdefault(source, []).append((tree, len(results), together))
                else:
                    shown = foreign_view(leaf) if source is None else None
                    view = arrays.memory(leaf, shown, source, is_leaf_free, tree.node is None)
                if view is not None:
                    together.views.append(view)
                    together.places.append((tree, len(results)))
                results.append(result)
        except REFUSED as error:
            failure = tree.explain(error, len(results))
            raise failure from error.__cause__ if failure is error else error
    for source, fetched in fetches.items():
        _fetch(source, fetched)
    for together in imports:
        if together.views:
            together.run()
    converted: list[object] = []
    for converter, node, _, results in trees:
        try:
            converted.append(results[0] if node is None else unflatten(node, iter(results)))
        except RecursionError:
            raise too_deep(node and node.value, converter.root) from None
    return converted


def _fetch(source: AnyBackend, leaves: Sequence[tuple[_Tree, int, _Import]]) -> None:
    """View arrays of ``source`` on the host, together."""
    shown = iter(source.show_many([tree.leaves[place][0] for tree, place, _ in leaves]))
    for tree, place, together in leaves:
        leaf = tree.leaves[place][0]
        arrays, is_whole = tree.converter.arrays, tree.node is None
        try:
            view = arrays.memory(leaf, next(shown), source, False, is_whole)
        except REFUSED as error:
            failure = tree.explain(error, place)
            raise failure from error.__cause__ if failure is error else error
        together.views.append(view)
        together.places.append((tree, place))
