"""The conversion of trees towards one library, composed of what backends offer."""

from __future__ import annotations

from copy import deepcopy
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Generic, NamedTuple, cast

import numpy as np
from gymbridge_runtime.arrays import ArrayImport
from gymbridge_runtime.containers import OBJECT_ARRAY, container_of
from gymbridge_runtime.describe import describe
from gymbridge_runtime.dtypes import is_number
from gymbridge_runtime.errors import ConversionError
from gymbridge_runtime.foreign import foreign_view, is_foreign_array
from gymbridge_runtime.known import backend_of, recognise
from gymbridge_runtime.narrowing import is_host_array, is_host_scalar
from gymbridge_runtime.number_shortcuts import before_numbers
from gymbridge_runtime.ownership import Ownership
from gymbridge_runtime.shortcuts import Shortcuts, TrustedArrays
from gymbridge_runtime.slots import fill
from gymbridge_runtime.trees import Bag, Rule, Rules, as_it_is, rule_of
from typing_extensions import TypeVar, override

if TYPE_CHECKING:
    from gymbridge_runtime.backend import AnyBackend, Convert
    from gymbridge_runtime.types import HostArray

__all__ = ["Conversions", "Converter"]

ArrayT = TypeVar("ArrayT", default=object)


class _Options(NamedTuple):
    copy: bool | None
    float_dtype: object
    promised_new: bool
    bounded: bool
    arrays_only: bool
    root: str


class Converter:
    """Converts every array and number of a tree to ``target``; the rest stays as it is.

    Args:
        target: The library of the results.
        device: Where results go: the library's own object, or text.
        copy: None shares where nobody can tell, True always copies, False never does.
        float_dtype: What floating arrays are cast to.
        promised_new: Whether whoever made the values promises not to touch them again; without
            the promise, ``copy=None`` copies.
        bounded: Whether integers are known to fit the target where the whole tree is one array,
            so that none is looked at.
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
        recognise(target)
        self.target: AnyBackend = target
        self.device: object = target.parse_device(device)
        self._options: _Options = _Options(
            copy, float_dtype, promised_new, bounded, arrays_only, root
        )
        self._batches: bool = target.batches
        of_leaves = partial(
            ArrayImport,
            target,
            self.device,
            Ownership.of(copy, promised_new=promised_new),
            None if float_dtype is None else target.dtype(float_dtype),
        )
        self.imports: ArrayImport = of_leaves(bounded=False)
        self._alone: ArrayImport = of_leaves(bounded=True) if bounded else self.imports
        self._rules: Rules = Rules(self._leaf_rule, copies=self.imports.copies)
        self._opaque: Rule = _explained(self._kept)
        self._objects: Rule = self._rules.within(OBJECT_ARRAY)

    def __call__(self, value: object) -> object:
        """Return the counterpart of ``value``.

        Raises:
            ConversionError: A leaf has no faithful counterpart; the message says which.
        """
        return self._in_batches(value) if self._batches else self.one_by_one(value)

    def whole(self) -> Convert:
        """Return this conversion as the function that is called the fastest."""
        if self._batches:
            return self._in_batches
        rules, root = self._rules, self._options.root

        def convert(value: object) -> object:
            try:
                return rules[type(value)](value, 0, None)
            except ConversionError as error:
                error.below(root)
                raise

        return convert

    def _in_batches(self, value: object) -> object:
        bag: Bag = []
        tree = self.collect(value, bag)
        if not bag:
            return tree
        try:
            arrays = self.import_all(bag)
        except ConversionError:
            return self.one_by_one(value)  # its error names the leaf
        return fill(tree, arrays)

    def _anything(self, value: object, _depth: int = 0, _bag: Bag | None = None) -> object:
        return self(value)

    def rule(self, source: AnyBackend) -> Rule:
        """Return the collection of any value, with a short way for single arrays of ``source``."""
        return Shortcuts(self.imports, source).before(self._collected)

    def _collected(self, value: object, _depth: int, bag: Bag | None) -> object:
        return self.collect(value, bag)

    def behind_shortcut(self, source: AnyBackend) -> Convert:
        """Return this conversion with a short way for single arrays of ``source``."""
        # what stands before a rule has defaults for all that a rule is given besides
        return cast("Convert", Shortcuts(self.imports, source).before(self._anything))

    def expect_dicts(self, source: AnyBackend) -> None:
        """Shorten the way of dictionaries that hold single arrays of ``source`` and nothing else.

        Others are looked at twice: observations of one environment are all alike.
        """
        self._rules.shorten_dicts(Shortcuts(self.imports, source).before_dict)

    def collect(self, value: object, bag: Bag | None) -> object:
        """Convert ``value``, with slots in the place of the arrays that go into ``bag``."""
        try:
            return self._rules[type(value)](value, 0, bag)
        except ConversionError as error:
            error.below(self._options.root)
            raise

    def import_all(self, bag: Bag) -> list[object]:
        """Import the arrays that were collected."""
        return self.imports.hand_over_many(bag)

    def one_by_one(self, value: object) -> object:
        """Convert ``value`` without collecting anything."""
        return self.collect(value, None)

    def _leaf_rule(self, kind: type[object]) -> Rule | None:
        if issubclass(kind, Enum):
            return as_it_is
        if is_host_scalar(kind):
            if not is_number(np.dtype(kind)):
                return self._opaque if issubclass(kind, np.void) else as_it_is
            return self._number_rule(kind, _explained(rule_of(self._scalar)))
        backend = backend_of(kind)
        if backend is not None:
            return self._array_rule(kind, backend)
        if issubclass(kind, (bool, str, bytes)):
            return as_it_is
        if issubclass(kind, (int, float, complex)):
            return self._number_rule(kind, _explained(rule_of(self._number)))
        if container_of(kind) is not None:
            return None
        return _explained(self._foreign) if is_foreign_array(kind) else as_it_is

    def _number_rule(self, kind: type[object], long_way: Rule) -> Rule:
        if self._options.arrays_only:
            return as_it_is
        if kind in {int, float} or is_host_scalar(kind):
            return before_numbers(self.imports, kind, long_way)
        return long_way  # a class of its own may be any number

    def _array_rule(self, kind: type[object], source: AnyBackend) -> Rule:
        if source.is_opaque(kind):
            return self._opaque if source.mutable else as_it_is
        leaf, alone = self.imports, self._alone

        def convert(array: object, depth: int, bag: Bag | None) -> object:
            if is_host_array(array) and not is_number(array.dtype):
                return self._not_numbers(array, depth, bag)
            imports = leaf if depth else alone
            if source is self.target:
                return imports.own(array)
            return imports.convert(source, array, bag)

        if source is self.target:
            return convert
        return Shortcuts(leaf, source).before(convert)

    def _kept(self, value: object, _depth: int, _bag: Bag | None) -> object:
        # a scalar without fields is no row of an array, and nobody's but its own
        is_alone = isinstance(value, np.void) and value.dtype.names is None
        return deepcopy(value) if self.imports.copies and not is_alone else value

    def _not_numbers(self, array: HostArray, depth: int, bag: Bag | None) -> object:
        if array.dtype.kind == "O":
            return self._objects(array, depth, bag)
        return self._opaque(array, depth, bag)

    def _number(self, value: complex, _depth: int, bag: Bag | None) -> object:
        return self.imports.number(value, bag)

    def _scalar(self, value: np.generic, _depth: int, bag: Bag | None) -> object:
        return self.imports.fresh(np.array(value), bag)

    def _foreign(self, array: object, _depth: int, bag: Bag | None) -> object:
        return self.imports.take_shown(foreign_view(array), bag)

    @override
    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (self.target, self.target.device_text(self.device), self._options)


def _explained(rule: Rule) -> Rule:
    """Return ``rule``, whose errors say what value it is that has no counterpart."""

    def explained(value: object, depth: int, bag: Bag | None) -> object:
        try:
            return rule(value, depth, bag)
        except ConversionError as error:
            error.about(describe(value))
            raise
        except Exception as error:
            raise ConversionError.unforeseen(error, describe(value)) from error

    return explained


class Conversions(Generic[ArrayT]):
    """The conversions of one function from ``source`` to ``target``, one for every ``copy``.

    Each is made when it is first needed: some libraries start up when they are looked at.
    """

    __slots__: tuple[str, ...] = ("_source", "_target", "copying", "sharing", "usual")

    usual: Convert
    """That for None."""
    copying: Convert
    """That for True."""
    sharing: Convert
    """That for False."""

    def __init__(self, source: AnyBackend, target: AnyBackend) -> None:
        recognise(source)
        self._source: AnyBackend = source
        self._target: AnyBackend = target
        self.usual = self._later("usual", copy=None)
        self.copying = self._later("copying", copy=True)
        self.sharing = self._later("sharing", copy=False)

    def trusted(self) -> TrustedArrays[ArrayT]:
        """Return the single arrays whose memory the function shares by a call of its own."""
        shortcuts = Shortcuts(Converter(self._target).imports, self._source)
        return cast("TrustedArrays[ArrayT]", shortcuts.trusted)

    def _later(self, name: str, *, copy: bool | None) -> Convert:
        def first(value: object) -> object:
            convert = Converter(self._target, copy=copy).behind_shortcut(self._source)
            setattr(self, name, convert)
            return convert(value)

        return first

    def of(self, copy: object) -> Convert:
        """Return the conversion for any other ``copy``: False, or what equals it or True."""
        owned = Ownership.of(copy, promised_new=True)
        return self.copying if owned is Ownership.ALWAYS_COPY else self.sharing


def _restored(target: AnyBackend, device: object, options: _Options) -> Converter:
    return Converter(
        target,
        device=device,
        copy=options.copy,
        float_dtype=options.float_dtype,
        promised_new=options.promised_new,
        bounded=options.bounded,
        arrays_only=options.arrays_only,
        root=options.root,
    )
