"""The conversions for environments that return only arrays."""

from __future__ import annotations

from operator import attrgetter, ne
from typing import TYPE_CHECKING, ClassVar, Final, Generic, cast

import numpy as np
from gymbridge_runtime.core.actions import Fitter
from gymbridge_runtime.core.describe import describe
from gymbridge_runtime.core.dtypes import is_integer
from gymbridge_runtime.core.errors import REFUSED, ConversionError
from gymbridge_runtime.core.memory import silence
from gymbridge_runtime.core.narrowing import (
    getattr_untyped,
    is_host_array,
    is_sequence,
    is_single_number,
)
from gymbridge_runtime.wrappers.batched_env import owner_of
from gymbridge_runtime.wrappers.conversions import (
    ActT,
    ArrayT,
    EnvActT,
    ObsT,
    VectorConversions,
)
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable

    from gymbridge_runtime.backends.base import AnyBackend
    from gymbridge_runtime.types import AnySpace, HostArray
    from gymbridge_runtime.wrappers.settings import Settings
    from gymbridge_runtime.wrappers.wrapper import Bridge

_BOOL: Final = np.dtype(np.bool_)
_dtype_of: Final = cast("Callable[[object], object]", attrgetter("dtype"))


class _CastFitter(Fitter):
    """Casts actions to the dtype of their space, and keeps their shape."""

    @override
    def _flat(self, space: AnySpace, action: object, *, is_batch: bool = False) -> object:
        has_axes = is_sequence(action) or (is_host_array(action) and action.ndim > 0)
        return super()._flat(space, action, is_batch=is_batch or has_axes or bool(space.shape))


class BatchedConversions(
    VectorConversions[ObsT, ActT, EnvActT, ArrayT], Generic[ObsT, ActT, EnvActT, ArrayT]
):
    """The conversions of a wrapper for an environment that returns only arrays."""

    __slots__: tuple[str, ...] = ("_flag_dtype", "_found", "batch_shape")

    # loggers want numbers, and twenty arrays of one number would cost more than the step
    keeps_numbers: ClassVar[bool] = True
    fitter_type: ClassVar[type[Fitter]] = _CastFitter

    def __init__(self, wrapper: Bridge, settings: Settings) -> None:
        found = _device_of(wrapper, settings.source)
        place = found if settings.env_device is None else settings.env_device
        super().__init__(wrapper, settings._replace(env_device=place))
        self.settings: Settings = settings  # as given, for other machines
        self._found: object = found
        self.batch_shape: tuple[int, ...] = ()
        self._flag_dtype: object = None

    @override
    def _space_of_actions(self, wrapper: object, declared: AnySpace) -> AnySpace:
        return declared  # the agent decides on the shape of its actions

    @override
    def _read_spaces(self) -> None:
        super()._read_spaces()
        count = cast("object", getattr(self._wrapper(), "num_envs", None))
        self.batch_shape = () if count is None else (cast("int", count),)
        source = self.settings.source
        if self.obs_type is None or not source.calls_reach(self.env_device):
            self.obs_type: type[object] | None = None
        elif self._flag_dtype is None:
            made = self._to_env(np.zeros(1, _BOOL))
            has_bool = hasattr(made, "dtype") and source.dtype_of(made) == _BOOL
            self._flag_dtype = _dtype_of(made) if has_bool else None

    def are_flags(self, terminated: object, truncated: object) -> bool:
        """Tell whether both are arrays of bools that take the fast path."""
        kind, dtype = self.obs_type, self._flag_dtype
        if type(terminated) is not kind or type(truncated) is not kind or dtype is None:
            return False
        one, other = _dtype_of(terminated), _dtype_of(truncated)
        return one is dtype is other or one == dtype == other  # comparing dtypes is slow

    @override
    def _convert_step(
        self, results: tuple[object, ...], are_free: tuple[bool, ...]
    ) -> list[object]:
        obs, *others, infos = results
        numbers = map(self._for_all, others, (np.float64, np.bool_, np.bool_))
        arrays = super()._convert_step((obs, *numbers, infos), are_free)
        arrays[2:4] = map(self._as_bools, arrays[2:4])
        return arrays

    def _for_all(self, value: object, kind: type[np.generic]) -> object:
        """If ``value`` is a number, return an array with it for every world."""
        if not is_single_number(value):
            return value
        array = np.full(self.batch_shape, cast("float", value), kind)
        # arrays that stay on the environment's device do so together
        stays = self.device is None and self.place() is not None
        stays = stays and self.settings.source.leaves_host(self.env_device)
        return self._to_env(array) if stays else array

    def _as_bools(self, value: object) -> object:
        """Return flags of the agent's library as bools."""
        target = self.settings.target
        is_number = target.is_array(type(value)) and target.dtype_of(value) != _BOOL
        return ne(value, 0) if is_number else value

    # -- attributes ---------------------------------------------------------------------------

    def attribute(self, name: str, value: object) -> ArrayT:
        """Convert an array that is an attribute of the environment."""
        return cast("ArrayT", self._to_agent(name, self.device)(value))

    def assigned(self, name: str, held: object, value: ArrayT) -> object:
        """Return a copy of ``value`` with the dtype, the shape and the device of ``held``."""
        source = self.settings.source
        shape = cast("tuple[int, ...]", getattr_untyped(held, "shape"))
        array = np.broadcast_to(np.asarray(self._to_host(value)), shape)
        copy: HostArray = silence().run(array.astype, source.dtype_of(held))
        if is_integer(copy.dtype) and not np.array_equal(copy, array):
            raise ConversionError(
                f"the environment keeps {copy.dtype}, which cannot hold every value of this",
                "cast it first",
                describe(value),
                name,
            )
        return source.like(held, source.private_copy(copy, copy.dtype))

    def is_outdated(self) -> bool:
        """Tell whether the environment has another device than at construction."""
        return _device_of(self._wrapper(), self.settings.source) != self._found

    def place(self) -> object:
        """Return the device of the agent's arrays, as its library's object; None if unknown."""
        source, target = self.settings.source, self.settings.target
        if self.device is not None or self.env_device is None:
            return self.device
        if not source.leaves_host(self.env_device) and target.leaves_host(None):
            return None  # the arrays go from the host to the default device
        return _parsed(target, source.device_text(self.env_device))


def _device_of(wrapper: object, source: AnyBackend) -> object:
    """Return the ``device`` of the environment as a setting, or None if it has none."""
    try:
        device = getattr_untyped(owner_of(getattr_untyped(wrapper, "env"), "device"), "device")
    except AttributeError:
        return None
    return source.device_text(_parsed(source, device))


def _parsed(library: AnyBackend, device: object) -> object:
    try:
        return library.parse_device(device)
    except REFUSED:  # the device of another library
        return None
