"""Every example learns, prints its result and draws its learning curve."""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.libraries.torch import torch
from tests.support import require

if TYPE_CHECKING:
    from pathlib import Path


pytestmark = pytest.mark.slow


class Example(NamedTuple):
    """The returns that a short run must reach, and that random actions reach."""

    name: str
    chance: float
    reached: float
    needs: tuple[str, ...] = ()


EXAMPLES = [
    Example("ppo_torch", 22, 120),
    Example("ppo_jax", 22, 120, ("flax", "optax")),
    Example("torch_on_phys2d", 22, 60, ("flax",)),
    Example("torch_on_gymnax", 0.3, 0.9, ("gymnax",)),
    Example("hindsight", 0.01, 0.5),
    Example("sb3_on_jax", 22, 50, ("flax", "stable_baselines3")),
]


@pytest.mark.filterwarnings("ignore:scatter inputs have incompatible types")  # a warning of Gymnax
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_learns_and_draws_its_curve(
    example: Example, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("matplotlib", "rich", "jax", *example.needs):
        require(name)
    picture = tmp_path / "curve.svg"
    main = import_module(f"scripts.examples.{example.name}").main
    watch = main(["--quick", "--picture", str(picture)])

    assert watch.steps >= watch.total
    assert watch.curve[0].mean_return < example.reached
    assert watch.curve[-1].mean_return > example.reached > 2 * example.chance
    printed = capsys.readouterr()
    assert printed.err == ""  # no progress bar without a terminal
    said = re.fullmatch(r"(.+): mean return \S+ → (\S+) in ([\d,]+) steps; see .+\n", printed.out)
    assert said is not None
    assert said[1] == watch.title
    assert float(said[2]) == pytest.approx(watch.curve[-1].mean_return, rel=0.01)
    assert f">{watch.title}<" in picture.read_text()


def test_pixels_arrive_stacked_and_as_float32(tmp_path: Path) -> None:
    for name in ("matplotlib", "pygame", "rich"):
        require(name)
    from scripts.examples import pixels, ppo_torch
    from scripts.examples.watch import Watch

    envs = pixels.cartpoles(2)
    frames, _ = envs.reset(seed=0)
    assert frames.shape == (2, 3, 25, 100)
    assert frames.dtype == torch.float32
    assert 0 == frames.min() < frames.max() <= 1
    assert torch.equal(frames[:, 0], frames[:, 1])  # nothing has moved yet
    later = frames
    for _ in range(5):
        later, *_ = envs.step(torch.ones(2, dtype=torch.int64))
    assert not torch.equal(later[:, 1], later[:, 2])

    torch.manual_seed(0)
    eyes = pixels.Eyes()
    eyes(frames)  # the first call sets the size of a layer
    before = [parameter.clone() for parameter in eyes.parameters()]
    watch = Watch("by sight", 300)
    ppo_torch.train(envs, eyes, watch)
    for old, new in zip(before, eyes.parameters(), strict=True):
        assert not torch.equal(old, new)
        assert new.isfinite().all()
    assert 8 < watch.mean_return < 60
    envs.close()

    picture = tmp_path / "curve.png"
    assert pixels.main(["--quick", "--picture", str(picture)]).steps >= 2_000
    assert picture.read_bytes().startswith(b"\x89PNG")
