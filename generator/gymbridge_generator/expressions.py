"""Type expressions and import statements of a spec: parsed, checked node by node, unparsed.

The result is the spelling of `ast.unparse`, so nothing of the spec's text survives except names,
dots, brackets, commas and bars.
"""

from __future__ import annotations

import ast
import builtins
from typing import Literal

from gymbridge_generator.quoting import quoted

_LONGEST = 200
_TYPE_NODES = (
    ast.Expression,
    ast.Name,
    ast.Attribute,
    ast.Subscript,
    ast.Tuple,
    ast.BinOp,
    ast.BitOr,
    ast.Load,
)


def type_expression(text: str) -> str:
    """Return ``text`` if it is a type, spelled as Python spells it.

    Raises:
        ValueError: It holds anything but names, subscripts and ``|``.
    """
    tree = _parsed(text, "eval")
    if tree is not None and all(_allowed(node) for node in ast.walk(tree)):
        spelled = ast.unparse(tree)
        if "(" not in spelled:  # a tuple, or one type where another is expected
            return spelled
    raise ValueError(
        f"{quoted(text)} is not a type expression; use names, dots, subscripts and |, "
        + "as in torch.Tensor | list[int]"
    )


def _parsed(text: str, mode: Literal["eval", "exec"]) -> ast.AST | None:
    # Python normalises look-alike letters of other alphabets
    if len(text) > _LONGEST or not text.isascii():
        return None
    try:
        return ast.parse(text.strip(), mode=mode)
    except (SyntaxError, ValueError):  # ValueError: a null byte
        return None


def _allowed(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return node.value is None or node.value is ...
    name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
    return isinstance(node, _TYPE_NODES) and not name.startswith("__")


def free_names(expression: str) -> set[str]:
    """Return the names in a type expression that need an import."""
    tree = ast.parse(expression, mode="eval")
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return {name for name in names if not isinstance(getattr(builtins, name, None), type)}


def import_statement(text: str) -> str:
    """Return ``text`` if it is one absolute import of one name, spelled as Python spells it.

    Raises:
        ValueError: It is something else.
    """
    match _parsed(text, "exec"):
        case ast.Module(body=[ast.Import(names=[_]) as statement]):
            return ast.unparse(statement)
        case ast.Module(body=[ast.ImportFrom(level=0, names=[alias]) as statement]) if (
            alias.name != "*" and statement.module != "__future__"
        ):
            return ast.unparse(statement)
        case _:
            raise ValueError(
                f"{quoted(text)} is not the import of one name; write it as in "
                + "import numpy as np, or from jax import Array"
            )
