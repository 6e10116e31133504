"""The command `gymbridge`: its options, and how it says what went wrong."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

from typing_extensions import override

from gymbridge_generator.errors import GeneratorError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["main"]

_EXTRA = ("jinja2", "pydantic", "rich")
"""What `gymbridge[generator]` installs."""


class _Options(argparse.Namespace):
    """What was given on the command line."""

    command: str = ""
    spec: Path | None = None
    out: Path | None = None
    force: bool = False


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status: 0, 1 for drift, 2 for an error."""
    options = _parser().parse_args(arguments, _Options())
    try:
        return _COMMANDS[options.command](options)
    except ModuleNotFoundError as error:
        if error.name not in _EXTRA:
            raise
        return _fail(f"{error.name} is not installed; run: pip install 'gymbridge[generator]'")
    except GeneratorError as error:
        return _fail(str(error))
    except OSError as error:
        return _fail(f"{_file_of(error)}: {error.strerror}")


def _file_of(error: OSError) -> object:
    return cast("object", error.filename)


def _fail(message: str) -> int:
    print(f"gymbridge: {message}", file=sys.stderr)
    return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gymbridge",
        description="Write typed Gymnasium wrappers between array libraries from a spec.",
        epilog="Options left out are read from [tool.gymbridge] of the nearest pyproject.toml.",
    )
    _ = parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", dest="command", required=True
    )

    spec, out = argparse.ArgumentParser(add_help=False), argparse.ArgumentParser(add_help=False)
    _ = spec.add_argument(
        "--spec", type=Path, metavar="FILE", help="the spec (default: gymbridge's)"
    )
    _ = out.add_argument("--out", type=Path, metavar="DIR", help="the package that wrappers go in")

    def command(name: str, text: str, *parents: argparse.ArgumentParser) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=text, description=text, parents=parents)

    generate = command("generate", "write the wrappers of a spec", spec, out)
    _ = generate.add_argument(
        "--force", action="store_true", help="give up what was edited by hand"
    )
    _ = command("check", "tell what differs from the spec, and how", spec, out)
    _ = command("list", "show the wrappers of a spec", spec)
    schema = command("schema", "print the JSON Schema of specs")
    _ = schema.add_argument("--out", type=Path, metavar="FILE", help="write it to a file")
    return parser


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


# The commands need gymbridge[generator]; asking for help does not.


def _generate(options: _Options) -> int:
    from gymbridge_generator.commands import generate

    return generate(options.spec, options.out, force=options.force)


def _check(options: _Options) -> int:
    from gymbridge_generator.commands import check

    return check(options.spec, options.out)


def _list(options: _Options) -> int:
    from gymbridge_generator.commands import list_wrappers

    return list_wrappers(options.spec)


def _schema(options: _Options) -> int:
    from gymbridge_generator.commands import write_schema

    return write_schema(options.out)


_COMMANDS: dict[str, Callable[[_Options], int]] = {
    "generate": _generate,
    "check": _check,
    "list": _list,
    "schema": _schema,
}
