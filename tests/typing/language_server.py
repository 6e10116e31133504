"""The hover texts of an editor, from pyright's language server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, TypedDict, cast

from tests.support import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType
    from typing import Self


class _Reply(TypedDict, total=False):
    id: int
    method: str
    result: object


class LanguageServer:
    """A language server with one open file."""

    def __init__(self, folder: Path, text: str) -> None:
        self._file = folder / "script.py"
        self._file.write_text(text, encoding="utf-8")
        roots = [str(REPOSITORY / name) for name in ("generated", "runtime")]
        settings = {"extraPaths": roots, "pythonVersion": "3.11", "typeCheckingMode": "strict"}
        (folder / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
        self._lines = text.splitlines()
        self._sent = 0
        self._process = subprocess.Popen(
            [sys.executable, "-m", "pyright.langserver", "--stdio"],
            cwd=folder,
            # where the server looks for installed packages
            env=os.environ
            | {
                "VIRTUAL_ENV": sys.prefix,
                "PATH": os.pathsep.join([f"{sys.prefix}/bin", os.environ.get("PATH", "")]),
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        root = folder.as_uri()
        self._ask(
            "initialize",
            processId=os.getpid(),
            rootUri=root,
            workspaceFolders=[{"uri": root, "name": "scripts"}],
            capabilities={"textDocument": {"hover": {"contentFormat": ["plaintext"]}}},
        )
        self._send("initialized", {})
        document = {"languageId": "python", "version": 1, "text": text}
        self._send(
            "textDocument/didOpen", {"textDocument": {"uri": self._file.as_uri(), **document}}
        )

    def hover(self, line: str, name: str) -> str:
        """Return the hover text of ``name`` on the line that contains ``line``."""
        (row,) = [number for number, text in enumerate(self._lines) if line in text]
        column = self._lines[row].index(line) + line.rindex(name)
        found = self._ask(
            "textDocument/hover",
            textDocument={"uri": self._file.as_uri()},
            position={"line": row, "character": column},
        )
        assert found is not None, f"nothing is shown of {name} in {line}"
        return cast("dict[str, dict[str, str]]", found)["contents"]["value"]

    def _ask(self, method: str, **parameters: object) -> object:
        self._sent += 1
        number = self._sent
        self._send(method, parameters, id=number)
        while True:
            reply = self._receive()
            if reply.get("method") == "workspace/configuration":
                self._write({"jsonrpc": "2.0", "id": reply["id"], "result": [None]})
            elif "method" in reply and "id" in reply:
                self._write({"jsonrpc": "2.0", "id": reply["id"], "result": None})
            elif reply.get("id") == number:
                return reply["result"]

    def _send(self, method: str, parameters: object, **more: int) -> None:
        self._write({"jsonrpc": "2.0", "method": method, "params": parameters, **more})

    def _write(self, message: object) -> None:
        body = json.dumps(message).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._process.stdin.flush()

    def _receive(self) -> _Reply:
        assert self._process.stdout is not None
        length = 0
        while line := self._process.stdout.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        assert length, "the language server has ended"
        reply: _Reply = json.loads(self._process.stdout.read(length))
        return reply

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._process.terminate()
        self._process.communicate()
