"""The short way for numbers: infos are full of them, and what is special about one shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
from gymbridge_runtime.memory import silence
from gymbridge_runtime.slots import Slot
from gymbridge_runtime.trees import rule_of

if TYPE_CHECKING:
    from gymbridge_runtime.arrays import ArrayImport
    from gymbridge_runtime.dtypes import AnyDType
    from gymbridge_runtime.trees import Bag, Rule
    from gymbridge_runtime.types import HostArray

__all__ = ["before_numbers"]

_PYTHON = {int: np.dtype(np.int64), float: np.dtype(np.float64)}


def before_numbers(imports: ArrayImport, kind: type[object], long_way: Rule) -> Rule:
    """Return ``long_way``, the rule of numbers of ``kind``, behind a shortcut if there is one."""
    target = imports.target
    dtype = _PYTHON[kind] if kind in _PYTHON else np.dtype(cast("type[np.generic]", kind))
    is_plain = imports.device is None and imports.float_dtype is None and target.plain_dtypes
    if not is_plain:
        return long_way
    if dtype in target.plain_dtypes:
        return _integer(imports, dtype, long_way) if kind is int else _kept(imports)
    narrow = target.narrowest(dtype)
    if narrow is None or narrow == dtype or dtype.kind not in "iuf":
        return long_way
    return _narrowed(imports, dtype, narrow, long_way)


def _kept(imports: ArrayImport) -> Rule:
    array, over = np.array, imports.target.plain_import()

    def keep(value: float, depth: int = 0, bag: Bag | None = None) -> object:
        del depth
        if bag is None:
            try:
                return over(array(value))
            except Exception as error:
                raise imports.not_made(error, value) from error
        bag.append(array(value))
        return Slot(len(bag) - 1)

    return rule_of(keep)


def _integer(imports: ArrayImport, dtype: AnyDType, long_way: Rule) -> Rule:
    array, over = np.array, imports.target.plain_import()

    def keep(value: float, depth: int = 0, bag: Bag | None = None) -> object:
        made: HostArray = array(value)
        # an int of more than 64 bits; or a library that has those of 64 and imports in batches
        if made.dtype is not dtype or bag is not None:
            return long_way(value, depth, bag)
        try:
            return over(made)
        except Exception as error:
            raise imports.not_made(error, value) from error

    return rule_of(keep)


def _narrowed(imports: ArrayImport, dtype: AnyDType, narrow: AnyDType, long_way: Rule) -> Rule:
    array, over, stored_as = np.array, imports.target.plain_import(), imports.target.stored_as
    low, high = _bounds(dtype, narrow)

    def narrowed(value: float, depth: int = 0, bag: Bag | None = None) -> object:
        stored = stored_as(dtype)
        if stored is None or not low <= value <= high:
            return long_way(value, depth, bag)
        made: HostArray = silence().run(array, value, stored)
        if bag is None:
            try:
                return over(made)
            except Exception as error:
                raise imports.not_made(error, value) from error
        bag.append(made)
        return Slot(len(bag) - 1)

    return rule_of(narrowed)


def _bounds(dtype: AnyDType, narrow: AnyDType) -> list[float]:
    """Return the least and the greatest number of ``narrow``, as ``dtype`` has them."""
    bounds = np.finfo(narrow) if narrow.kind == "f" else np.iinfo(narrow)
    return cast("list[float]", np.array([bounds.min, bounds.max], dtype).tolist())
