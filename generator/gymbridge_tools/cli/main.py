"""Find the subcommand, run it and report its errors."""

from __future__ import annotations

import argparse
import os
import re
import sys
from inspect import getdoc
from typing import TYPE_CHECKING, NoReturn, cast

from typing_extensions import override

from gymbridge_generator.errors import GeneratorError
from gymbridge_generator.quoting import instead, printable
from gymbridge_tools.cli.bench import Bench
from gymbridge_tools.cli.check import Check
from gymbridge_tools.cli.command import Command, CommandError
from gymbridge_tools.cli.completion import SHELLS, PrintCompletion
from gymbridge_tools.cli.doctor import Doctor
from gymbridge_tools.cli.generate import Generate
from gymbridge_tools.cli.list import List
from gymbridge_tools.cli.probe import Probe
from gymbridge_tools.cli.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Sequence

_COMMANDS: dict[str, type[Command]] = {
    command.name: command for command in (Generate, Check, List, Doctor, Probe, Bench, Schema)
}

_EXTRAS = {
    "jax": "jax",
    "jinja2": "generator",
    "pydantic": "generator",
    "rich": "cli",
    "shtab": "cli",
    "torch": "torch",
}
"""Modules that commands import, and the extra of gymbridge that installs each."""


class _Given(argparse.Namespace):
    """The parsed command line: the command and its options."""

    command: str = ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status: 0, 1 if it found a problem, 2 for an error.

    Without a command, print the help.
    """
    try:
        words = sys.argv[1:] if arguments is None else arguments
        if words and not words[0].startswith("-") and words[0] not in _COMMANDS:
            raise CommandError(f"no command {words[0]!r}; {instead(words[0], [*_COMMANDS])}")
        parser = _parser()
        given, unknown = parser.parse_known_args(words, _Given())
        if unknown:
            raise CommandError(_unknown(unknown[0], given.command))
        if not given.command:
            parser.print_help()
            return 0
        command = _COMMANDS[given.command](**cast("dict[str, object]", vars(given)))
        status = command.run()
        print(end="", flush=True)  # an output error is raised here
    except ModuleNotFoundError as error:
        if error.name not in _EXTRAS:
            raise
        extra = f"gymbridge[{_EXTRAS[error.name]}]"
        return _fail(f"{error.name} is not installed; run: pip install '{extra}'")
    except (CommandError, GeneratorError) as error:
        return _fail(str(error))
    except BrokenPipeError:  # the reader, such as `head`, has closed the pipe
        _discard_output()
        return 0
    except OSError as error:
        return _fail(f"{printable(_file_of(error))}: {error.strerror}")
    return status


def _unknown(word: str, command: str) -> str:
    """Return the error for an unknown word, with the nearest known one."""
    option = word.partition("=")[0]
    if not option.startswith("-"):
        return f"{command} takes no {word!r}; see gymbridge {command} --help"
    parser = _parser()
    if command:
        parser = _Parser()
        _COMMANDS[command].declare(parser)
    options = re.findall(r"--\w+", parser.format_usage())
    what = f"{command} has" if command else "there is"
    return f"{what} no option {option!r}; {instead(option, [*options, '--help'])}"


def _discard_output() -> None:
    """Prevent the interpreter from writing the rest at exit, which would fail again."""
    _ = os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _file_of(error: OSError) -> object:
    return cast("object", error.filename)


def _fail(message: str) -> int:
    print(f"gymbridge: {message}", file=sys.stderr)
    return 2


class _Parser(argparse.ArgumentParser):
    """Raises errors instead of printing the usage and exiting."""

    @override
    def error(self, message: str) -> NoReturn:
        raise CommandError(f"{message}; see {self.prog} --help")


def _parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = _Parser(
        prog="gymbridge",
        description="Typed Gymnasium wrappers between array libraries: see what works on this "
        + "machine, write wrappers of your own from a spec, and keep them up to date.",
        epilog="Missing options --spec, --out, --backends and --tests are read from "
        + "[tool.gymbridge] in the nearest pyproject.toml. `gymbridge COMMAND --help` lists the "
        + "options of a command.",
    )
    _ = found.add_argument("--version", action=_Version, nargs=0, help="print the version")
    _ = found.add_argument(
        "--completion",
        action=PrintCompletion,
        choices=SHELLS,
        metavar="SHELL",
        help=f"print a script that completes this command, for {', '.join(SHELLS)}",
    )
    commands = found.add_subparsers(title="commands", metavar="COMMAND", dest="command")
    for name, command in _COMMANDS.items():
        command.declare(
            commands.add_parser(
                name,
                help=command.text,
                description=getdoc(command),
                formatter_class=argparse.RawDescriptionHelpFormatter,
            )
        )
    return found


class _Version(argparse.Action):
    """Import the version only when it is asked for: the runtime imports Gymnasium."""

    @override
    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        from gymbridge_runtime import __version__

        print(f"gymbridge {__version__}")
        parser.exit()
