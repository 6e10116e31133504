"""The example that overlaps the policy and the environments."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.libraries.torch import torch


def test_the_example_prints_the_ratio(capsys: pytest.CaptureFixture[str]) -> None:
    from scripts.examples import overlap

    ratio = overlap.main(["--steps", "3", "--milliseconds", "1"])
    assert ratio > 0
    printed = capsys.readouterr().out
    said = re.fullmatch(
        r"12 steps: [\d.]+ s in turn, [\d.]+ s overlapping: ([\d.]+) times.*\n", printed
    )
    assert said is not None
    assert float(said[1]) == pytest.approx(ratio, abs=0.06)


def test_both_ways_take_the_same_steps() -> None:
    from scripts.examples import overlap

    groups = [overlap.group(0) for _ in range(overlap.GROUPS)]
    seen: dict[str, list[torch.Tensor]] = {}
    for way in (overlap.in_turn, overlap.overlapping):
        torch.manual_seed(0)
        policy = overlap.Policy(0)
        looks = seen.setdefault(way.__name__, [])
        policy.register_forward_hook(lambda _, given, __, looks=looks: looks.append(given[0]))
        way(groups, policy, 4)
    for envs in groups:
        envs.close()
    assert len(seen["in_turn"]) == 8
    for one, other in zip(*seen.values(), strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())
