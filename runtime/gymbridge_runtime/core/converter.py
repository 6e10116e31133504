"""The general path: flatten a tree, check its leaves, import them together and put them back."""

from __future__ import annotations

from functools import lru_cache
from itertools import repeat
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from gymbridge_runtime.core.arrays import LeafConverter
from gymbridge_runtime.core.describe import describe
from gymbridge_runtime.core.errors import REFUSED, ConversionError
from gymbridge_runtime.core.foreign import foreign_view
from gymbridge_runtime.core.tree import Leaves, Node, flatten, path_to, too_deep, unflatten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from gymbridge_runtime.backends.base import AnyBackend
    from gymbridge_runtime.types import HostArray


class Converter(LeafConverter):
    """Converts every array and number of a tree to ``target``; the rest stays as it is."""

    def __call__(self, value: object, *, is_free: bool = False) -> object:
        """Convert ``value``; if it ``is_free``, nobody else refers to it."""
        (result,) = convert_together([(self, value, is_free)])
        return result


def converter_to(target: AnyBackend, device: object, copy: bool | None) -> Converter:
    """Return the converter of a function such as ``numpy_to_torch``."""
    try:
        return _cached(target, device=device, copy=copy)
    except TypeError:  # devices of CuPy cannot be hashed; any other error is raised again
        return Converter(target, device=device, copy=copy)


_cached = lru_cache(maxsize=256)(Converter)


@lru_cache(maxsize=256)
def calls_reach(target: AnyBackend, device: object) -> bool:
    """Tell whether the calls of the fast path put arrays on the device that a user names."""
    return target.calls_reach(target.parse_device(device))


Part: TypeAlias = tuple[Converter, object, bool]
"""A converter, a tree, and whether only the caller refers to the tree."""

_Tree: TypeAlias = tuple[Converter, "Node | None", "Leaves", list[object]]
"""A tree during its conversion: converter, structure, leaves and results."""

_Place: TypeAlias = tuple[_Tree, int]
"""Where a result goes: a tree, and the number of a leaf in it."""

_Import: TypeAlias = tuple[Converter, "list[HostArray]", list[_Place]]
"""Host views that go to the same library and device, and the places of their results."""


def convert_together(parts: Sequence[Part]) -> list[object]:
    """Convert several trees; a library fetches or imports their arrays together."""
    trees: list[_Tree] = []
    imports: list[_Import] = []
    fetches: dict[AnyBackend, list[tuple[_Place, _Import]]] = {}
    together: _Import
    for converter, value, is_free in parts:
        target, device = converter.target, converter.device
        for together in imports:
            if together[0].target is target and together[0].device is device:
                break
        else:
            together = converter, [], []
            imports.append(together)
        leaves: Leaves = []
        results: list[object] = []
        try:
            node = flatten(value, leaves, is_free=is_free)
        except RecursionError:
            raise too_deep(value, converter.root) from None
        except ConversionError as error:
            error.below(converter.root)
            raise
        tree = converter, node, leaves, results
        trees.append(tree)
        try:
            for leaf, kind, is_leaf_free in leaves:
                role, source = kind
                result: object = None
                view: HostArray | None = None
                if role in {"number", "scalar"}:
                    result = leaf
                    if not converter.arrays_only:
                        view = converter.number(leaf)
                elif role == "keep":
                    result = leaf
                elif role in {"unknown", "opaque"}:
                    result = converter.keep(leaf, kind)
                elif source is target and not converter.sends(leaf):
                    result = converter.of_target(leaf, is_free=is_leaf_free)
                elif role == "array" and source is not None:
                    result = converter.direct(source, leaf)
                    if result is None:
                        fetches.setdefault(source, []).append(((tree, len(results)), together))
                else:
                    shown = foreign_view(leaf) if source is None else None
                    view = converter.memory(leaf, shown, source, is_leaf_free)
                if view is not None:
                    _, views, places = together
                    views.append(view)
                    places.append((tree, len(results)))
                results.append(result)
        except REFUSED as error:
            _fail(error, (tree, len(results)))
    for source, fetched in fetches.items():
        _fetch(source, fetched)
    for converter, views, places in imports:
        if views:
            _import(converter, views, places)
    converted: list[object] = []
    for converter, node, _, results in trees:
        try:
            converted.append(results[0] if node is None else unflatten(node, iter(results)))
        except RecursionError:
            raise too_deep(node and node.value, converter.root) from None
        except ConversionError as error:
            error.below(converter.root)
            raise
    return converted


def _fetch(source: AnyBackend, leaves: Sequence[tuple[_Place, _Import]]) -> None:
    """Make host views of several arrays of ``source`` together."""
    shown = iter(source.show_many([tree[2][number][0] for (tree, number), _ in leaves]))
    for place, together in leaves:
        (converter, _, all_leaves, _), number = place
        try:
            view = converter.memory(all_leaves[number][0], next(shown), source, False)
        except REFUSED as error:
            _fail(error, place)
        _, views, places = together
        views.append(view)
        places.append(place)


def _import(converter: Converter, views: list[HostArray], places: list[_Place]) -> None:
    """Import all views, and put the arrays in their places.

    If the library refuses them together, it gets them one by one, so that the error names a leaf.
    """
    target, device = converter.target, converter.device
    made: Iterable[object]
    try:
        made = [*target.from_host_many(views, device)]
    except REFUSED:
        made = map(target.from_host, views, repeat(device))
    found = iter(made)
    for place in places:
        (_, _, _, results), number = place
        try:
            results[number] = next(found)
        except REFUSED as error:
            _fail(error, place, converter.not_made)


def _fail(
    error: Exception,
    place: _Place,
    explain: Callable[[Exception], ConversionError] = ConversionError.unforeseen,
) -> NoReturn:
    """Raise ``error`` with the path and the description of its leaf."""
    if isinstance(error, Warning):  # the user made warnings errors
        raise error
    (converter, node, leaves, _), number = place
    failure = error if isinstance(error, ConversionError) else explain(error)
    failure.about(describe(leaves[number][0]))
    failure.below(converter.root + path_to(node, number))
    raise failure from error.__cause__ if failure is error else error
