"""Wrappers in many threads, and in forked and spawned processes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Thread
from typing import TYPE_CHECKING

import pytest

from tests.environments.bridges import AGENTS, bridge
from tests.soak.workers import Closable, ClosedError, episode, made
from tests.support import Pair, require, run_python

if TYPE_CHECKING:
    from pathlib import Path

AGENTS_AT_ONCE = 8
STEPS = 150


@pytest.mark.parametrize("target", AGENTS)
def test_eight_threads_get_the_same_values_as_one(target: str) -> None:
    require(target)
    ready = Barrier(AGENTS_AT_ONCE)

    def agent(name: int) -> list[object]:
        ready.wait()
        return episode(made(target, name), target, STEPS)

    with ThreadPoolExecutor(AGENTS_AT_ONCE) as pool:
        together = list(pool.map(agent, range(AGENTS_AT_ONCE)))
    alone = [episode(made(target, name), target, STEPS) for name in range(AGENTS_AT_ONCE)]
    assert together == alone
    assert len({str(seen) for seen in together}) == AGENTS_AT_ONCE


@pytest.mark.parametrize("target", AGENTS)
def test_closing_during_a_step_raises_the_environments_error(
    target: str,
) -> None:
    require(target)
    agent = bridge(Pair("numpy", target), Closable(1))
    beside = made(target, 2)
    agent.reset()
    raised: list[BaseException] = []
    begun = Barrier(2)

    def step_on() -> None:
        action = agent.sample_action()
        agent.step(action)
        begun.wait()
        try:
            while True:
                agent.step(action)
        except ClosedError as error:
            raised.append(error)

    stepping = Thread(target=step_on)
    stepping.start()
    begun.wait()
    agent.close()
    stepping.join(60)
    assert not stepping.is_alive()
    assert [type(error) for error in raised] == [ClosedError]
    assert episode(beside, target, 60) == episode(made(target, 2), target, 60)


_ASYNC = """\
import os
import sys
import threading
import warnings

from gymnasium.vector import AsyncVectorEnv

import gymbridge.vector
from tests.soak.workers import Endless, made, episode

if __name__ == "__main__":
    warnings.simplefilter("ignore")  # Gymnasium waits for what is pending, and says so
    line = sys.argv[1]
    os.mkfifo(line)
    envs = AsyncVectorEnv([lambda: Endless(line)], context="spawn")
    agent = gymbridge.vector.NumpyToTorch(envs)
    beside = made("torch", 2)
    agent.reset()
    action = agent.sample_action()
    ended = []

    def step_on():
        try:
            agent.step(action)
        except Exception as error:  # which one, depends on how far Gymnasium had come
            ended.append(error)

    stepping = threading.Thread(target=step_on, daemon=True)
    stepping.start()
    with open(line) as told:  # by the environment, from within its step
        assert told.read() == "stepping"
    agent.close(terminate=True)
    stepping.join(60)
    assert not stepping.is_alive(), "the thread hangs"
    assert len(ended) == 1
    assert not any(process.is_alive() for process in envs.processes)
    assert episode(beside, "torch", 60) == episode(made("torch", 2), "torch", 60)
    print("done")
"""


def test_closing_an_async_vector_during_a_step_affects_nothing_else(
    tmp_path: Path,
) -> None:
    require("torch")
    assert run_python(_ASYNC, f"{tmp_path / 'line'}") == "done\n"


_PROCESSES = """\
import multiprocessing

from tests.soak.workers import episode, made, report

if __name__ == "__main__":
    context = multiprocessing.get_context("{context}")
    wanted = episode(made("{here}", 3), "{here}", 60)  # used here before, and there next
    for agent in (None, made("{target}", 3)):
        queue = context.Queue()
        process = context.Process(target=report, args=(queue, agent, "{target}"))
        process.start()
        assert queue.get(timeout=200) == wanted
        process.join(60)
        assert process.exitcode == 0
    assert episode(made("{here}", 3), "{here}", 60) == wanted
    print("done")
"""


@pytest.mark.parametrize(
    ("context", "here", "target"),
    [
        ("fork", "torch", "torch"),
        pytest.param("spawn", "torch", "torch", marks=pytest.mark.slow),
        # a fork may hang after the use of JAX or MLX
        pytest.param("fork", "torch", "jax", marks=pytest.mark.slow),
        pytest.param("spawn", "jax", "jax", marks=pytest.mark.slow),
        pytest.param("spawn", "mlx", "mlx", marks=pytest.mark.slow),
    ],
)
def test_wrappers_work_in_forked_and_spawned_processes(
    context: str, here: str, target: str
) -> None:
    for name in {here, target}:
        require(name)
    code = _PROCESSES.format(context=context, here=here, target=target)
    assert run_python(code) == "done\n"
