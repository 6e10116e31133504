"""The conversion of trees towards one library, composed of what backends offer."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import numpy as np
from gymbridge_runtime.arrays import ArrayImport
from gymbridge_runtime.backend import AnyBackend, HostView
from gymbridge_runtime.containers import OBJECT_ARRAY, container_of
from gymbridge_runtime.describe import describe
from gymbridge_runtime.dtypes import is_number
from gymbridge_runtime.errors import ConversionError
from gymbridge_runtime.foreign import foreign_view, is_foreign_array
from gymbridge_runtime.known import backend_of
from gymbridge_runtime.ownership import Ownership
from gymbridge_runtime.shortcuts import shortcut
from gymbridge_runtime.slots import fill
from gymbridge_runtime.trees import Bag, Rule, Rules, as_it_is
from typing_extensions import override

if TYPE_CHECKING:
    from gymbridge_runtime.types import AnyType, HostArray

__all__ = ["Converter"]


class Converter:
    """Converts every array and number of a tree to ``target``; the rest stays as it is.

    Args:
        target: The library of the results.
        device: Where results go: the library's own object, or text.
        copy: None shares where nobody can tell, True always copies, False never does.
        float_dtype: What floating arrays are cast to.
        promised_new: Whether whoever made the values promises not to touch them again; without
            the promise, ``copy=None`` copies.
        bounded: Whether integers are known to fit the target, so that none is looked at.
        arrays_only: Whether Python numbers and NumPy scalars stay as they are.
        root: How error messages call the tree.
    """

    def __init__(
        self,
        target: AnyBackend,
        *,
        device: object = None,
        copy: bool | None = None,
        float_dtype: object = None,
        promised_new: bool = True,
        bounded: bool = False,
        arrays_only: bool = False,
        root: str = "value",
    ) -> None:
        self.target = target
        self.device = target.parse_device(device)
        self._options = {
            "copy": copy,
            "float_dtype": float_dtype,
            "promised_new": promised_new,
            "bounded": bounded,
            "arrays_only": arrays_only,
            "root": root,
        }
        self._root = root
        self._arrays_only = arrays_only
        self.imports = ArrayImport(
            target,
            self.device,
            Ownership.of(copy, promised_new=promised_new),
            None if float_dtype is None else target.dtype(float_dtype),
            bounded=bounded,
        )
        self._rules = Rules(self._leaf_rule)
        self._objects = self._rules.within(OBJECT_ARRAY)

    def __call__(self, value: object) -> object:
        """Return the counterpart of ``value``.

        Raises:
            ConversionError: A leaf has no faithful counterpart; the message says which.
        """
        bag: Bag | None = [] if self.target.batches else None
        tree = self.collect(value, bag)
        if not bag:
            return tree
        try:
            return self.deliver(tree, bag)
        except ConversionError:
            self.collect(value, None)  # one by one, so that the error names the leaf
            raise

    def collect(self, value: object, bag: Bag | None) -> object:
        """Convert ``value``, with slots in the place of the arrays that go into ``bag``."""
        try:
            return self._rules[type(value)](value, 0, bag)
        except ConversionError as error:
            error.below(self._root)
            raise

    def deliver(self, tree: object, bag: Bag) -> object:
        """Import the arrays of ``bag`` at once and put them into ``tree``."""
        return fill(tree, self.imports.hand_over_many(bag))

    def _leaf_rule(self, kind: type[object]) -> Rule | None:
        if issubclass(kind, Enum):
            return as_it_is
        if issubclass(kind, np.generic):
            return self._number_rule(self._scalar) if is_number(np.dtype(kind)) else as_it_is
        backend = backend_of(kind)
        if backend is not None:
            return self._array_rule(kind, backend)
        if issubclass(kind, (bool, str, bytes)):
            return as_it_is
        if issubclass(kind, (int, float, complex)):
            return self._number_rule(self._number)
        if container_of(kind) is not None:
            return None
        return self._foreign if is_foreign_array(kind) else as_it_is

    def _number_rule(self, rule: Rule) -> Rule:
        return as_it_is if self._arrays_only else rule

    def _array_rule(self, kind: type[object], source: AnyBackend) -> Rule:
        if source.is_opaque(kind):
            return as_it_is
        imports = self.imports

        def convert(array: object, depth: int, bag: Bag | None) -> object:
            if isinstance(array, np.ndarray) and not is_number(array.dtype):
                return self._not_numbers(array, depth, bag)
            if source is self.target:
                return imports.own(array, bag)
            return imports.convert(source, array, bag)

        return convert if source is self.target else shortcut(imports, source, kind, convert)

    def _not_numbers(self, array: HostArray, depth: int, bag: Bag | None) -> object:
        if array.dtype.kind == "O":
            return self._objects(array, depth, bag)
        return array.copy() if self.imports.copies else array

    def _number(self, value: complex, _depth: int, bag: Bag | None) -> object:
        return self.imports.number(value, bag)

    def _scalar(self, value: np.generic, _depth: int, bag: Bag | None) -> object:
        return self.imports.take(HostView(np.array(value), owned=True), bag)

    def _foreign(self, array: object, _depth: int, bag: Bag | None) -> object:
        try:
            return self.imports.take(foreign_view(array), bag)
        except ConversionError as error:
            error.about(describe(array))
            raise

    @override
    def __reduce__(self) -> tuple[object, ...]:
        options = {**self._options, "device": self.target.device_text(self.device)}
        return _restored, (self.target, options)


def _restored(target: AnyBackend, options: dict[str, AnyType]) -> Converter:
    return Converter(target, **options)
