"""Another device of PyTorch: checks that it works, and counts the transfers of a step."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

import torch

from gymbridge_tools.cli.command import CommandError

if TYPE_CHECKING:
    from collections.abc import Generator

    from gymbridge_runtime.types import AnyType

    from .contest import Contest

aten: AnyType = torch.ops.aten
COPIES = (aten._to_copy.default, aten.copy_.default)


def require_device(device: str) -> None:
    """Raise a `CommandError` unless PyTorch can bring a tensor to ``device`` and back."""
    try:
        torch.zeros(1).to(device).cpu()
    except (AssertionError, RuntimeError, TypeError) as error:
        reason = str(error).splitlines()[0]
        raise CommandError(f"PyTorch cannot use the device {device!r} here: {reason}") from error


def transfers(contest: Contest) -> dict[str, tuple[int, int]]:
    """Count the transfers of one call to the device and back, by column."""
    counts: dict[str, tuple[int, int]] = {}
    for column, call in contest.calls.items():
        [argument] = contest.prepare(column, 1)
        with counting() as count:
            call(argument)
        counts[column] = count["up"], count["down"]
    return counts


@contextmanager
def counting() -> Generator[Counter[str]]:
    """Count the copies from the host to another device (``up``) and back (``down``)."""
    count: Counter[str] = Counter()

    def dispatch(
        _mode: object, operator: AnyType, _types: object, args: AnyType, kwargs: AnyType
    ) -> object:
        result = operator(*args, **(kwargs or {}))
        source, target = args[0], result
        if operator is aten.copy_.default:
            source, target = args[1], args[0]
        if operator in COPIES:
            count["up"] += source.is_cpu and not target.is_cpu
            count["down"] += target.is_cpu and not source.is_cpu
        count["down"] += operator is aten._local_scalar_dense.default and not source.is_cpu
        return result

    mode: AnyType = import_module("torch.utils._python_dispatch").TorchDispatchMode
    with type("Counting", (mode,), {"__torch_dispatch__": dispatch})():
        yield count
