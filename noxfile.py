"""Sessions for contributors: `nox` checks and tests, `nox -l` lists all sessions."""

from __future__ import annotations

import nox

nox.needs_version = ">=2025.11.12"
nox.options.default_venv_backend = "venv"
nox.options.sessions = ["lint", "drift", "types", "tests"]


def install(session: nox.Session, extra: str) -> None:
    """Install the checkout with the versions of the tests."""
    session.install("-q", "-c", "scripts/constraints.txt", "-e", f".[{extra}]")


@nox.session(python=["3.11", "3.12", "3.13"])
def tests(session: nox.Session) -> None:
    """Run all tests, slow ones included; arguments after `--` go to pytest."""
    install(session, "test")
    session.run("pytest", "-m", "", *session.posargs)


@nox.session
def versions(session: nox.Session) -> None:
    """Run some tests with the lowest versions, and the newest on other Pythons; `-- lowest`."""
    install(session, "test")  # the type checkers, which look at the lowest Gymnasium
    session.run("python", "scripts/versions.py", *session.posargs)


@nox.session
def torch(session: nox.Session) -> None:
    """Run some tests with the lowest and the newest PyTorch: several GB each on Linux."""
    session.run("python", "scripts/versions.py", "torch-lowest", "torch-newest")


@nox.session
def neighbours(session: nox.Session) -> None:
    """Install libraries of agents beside gymbridge, and run one of their agents each."""
    session.run("python", "scripts/versions.py", "neighbours")


@nox.session
def mutation(session: nox.Session) -> None:
    """Mutate modules and see whether tests notice; `-- words` names modules."""
    install(session, "test")
    session.install("-q", "-c", "scripts/constraints.txt", "mutmut")
    session.run("python", "scripts/mutation.py", *session.posargs)


@nox.session
def coverage(session: nox.Session) -> None:
    """Run the tests and show which lines of the runtime they miss."""
    install(session, "test")
    session.run("pytest", "-m", "", "--cov", "--cov-report=term", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Lint, and check the format."""
    install(session, "test")
    session.run("python", "scripts/check.py", "lint", "format")


@nox.session
def drift(session: nox.Session) -> None:
    """Compare the generated package with the spec and the templates."""
    install(session, "test")
    session.run("python", "scripts/check.py", "drift", "regenerate", "pictures")


@nox.session
def docs(session: nox.Session) -> None:
    """Run the code blocks of the documentation, and build its site into build/site."""
    install(session, "test,docs")
    session.run("python", "scripts/check.py", "docs")


@nox.session
def types(session: nox.Session) -> None:
    """Run the five type checkers."""
    install(session, "test")
    session.run("python", "scripts/check.py", "types")


@nox.session
@nox.parametrize("library", ["dpnp", "paddle", "pyarrow", "tensorflow", "warp"])
def catalogue(session: nox.Session, library: str) -> None:
    """Test a library of the catalogue with the real package."""
    install(session, "test")
    session.run("python", "scripts/check_catalogue.py", library)


@nox.session
def devices(session: nox.Session) -> None:
    """Build the simulated device, which has to be possible here, and run the tests on devices."""
    install(session, "test")
    session.run("python", "-m", "tests.devices.cpp_device")  # fails without a compiler
    session.run("pytest", "tests/devices", "-m", "", *session.posargs)


@nox.session
def nethack(session: nox.Session) -> None:
    """Play NetHack, whose environments write every observation into the same buffers."""
    install(session, "test")
    session.install("-q", "--no-deps", "nle==1.3.0", "pybind11")
    session.run("pytest", "tests/environments/test_nethack.py", *session.posargs)


@nox.session
def mjlab(session: nox.Session) -> None:
    """Play mjlab, which simulates many worlds and returns arrays only; the first run compiles."""
    install(session, "jax,torch")
    # mjlab wants other versions of MuJoCo and Pillow than the tests are run with
    session.install("-q", "torch==2.13.0", "mjlab==1.6.0", "pytest", "pytest-xdist", "hypothesis")
    session.run("pytest", "tests/environments/test_mjlab.py", *session.posargs)


@nox.session
def envpool(session: nox.Session) -> None:
    """Step EnvPool, which brings 700 MB of assets, in one half, two halves and batches."""
    install(session, "test")
    session.install("-q", "-c", "scripts/constraints.txt", "envpool==1.2.5")
    session.run("pytest", "tests/environments/test_envpool.py", *session.posargs)


@nox.session
def example(session: nox.Session) -> None:
    """Build the example of a package that adds a library, install it, and run its tests."""
    session.run("python", "-m", "scripts.check_example")


@nox.session
def package(session: nox.Session) -> None:
    """Build the distributions and use the wheel in a new environment."""
    session.run("python", "scripts/check_wheel.py")


@nox.session
def demo(session: nox.Session) -> None:
    """Run the demo: two agents learn to balance a pole."""
    install(session, "all")
    session.run("python", "scripts/demo.py")


@nox.session
def examples(session: nox.Session) -> None:
    """Run the examples, shortened; arguments after `--` go to pytest."""
    install(session, "test")
    session.run("pytest", "tests/examples", "-m", "", *session.posargs)


@nox.session
def benchmark(session: nox.Session) -> None:
    """Measure what conversions cost; arguments after `--` go to the benchmark."""
    install(session, "test")
    session.run("python", "scripts/benchmark.py", *session.posargs)


@nox.session
def compare(session: nox.Session) -> None:
    """Compare with TorchRL, skrl and Stable-Baselines3; arguments after `--` go to the script."""
    # the compared libraries choose their own versions
    session.install("-q", "-c", "scripts/constraints.txt", "-e", ".[jax,torch]")
    session.install("-q", "torch==2.13.0", "torchrl>=0.14", "skrl>=2", "stable-baselines3>=2.9")
    session.run("python", "-m", "scripts.compare", *session.posargs)


@nox.session
def properties(session: nox.Session) -> None:
    """Test random trees, spaces and steps; arguments after `--` go to pytest."""
    install(session, "test")
    thorough = ("--hypothesis-profile", "thorough")
    session.run("pytest", "tests/properties", *thorough, *session.posargs)


@nox.session
@nox.parametrize("target", ["trees", "specs"])
def fuzz(session: nox.Session, target: str) -> None:
    """Fuzz trees and specs, guided by coverage; arguments go to the script: `--seconds 600`."""
    install(session, "test")
    session.install("-q", "-c", "scripts/constraints.txt", "atheris")
    session.run("python", "scripts/fuzz.py", target, *session.posargs)


@nox.session
def soak(session: nox.Session) -> None:
    """Step wrappers of every pair for an hour and look for growth; arguments go to the script."""
    install(session, "test")
    session.run("python", "scripts/soak.py", *session.posargs)
