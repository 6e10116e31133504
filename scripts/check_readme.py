"""Run what README.md shows: its Python, except what is marked `no-run`, and its spec.

Run it with `python scripts/check_readme.py`.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

README = Path(__file__).resolve().parent.parent / "README.md"


def blocks(language: str) -> list[str]:
    """Return the code blocks in exactly this language."""
    text = README.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def main() -> int:
    """Run everything; return 1 if anything fails."""
    with tempfile.TemporaryDirectory() as folder:
        generate = ["-m", "gymbridge_generator", "generate", "--out", "bridges", "--spec"]
        commands = [["-c", code] for code in blocks("python")]
        for number, spec in enumerate(blocks("toml")):
            file = Path(folder, f"{number}.toml")
            file.write_text(spec, encoding="utf-8")
            commands.append([*generate, str(file)])
        failures = [
            command
            for command in commands
            if subprocess.run([sys.executable, *command], cwd=folder, check=False).returncode
        ]
    for command in failures:
        print(f"this part of README.md does not work:\n{command[-1]}")
    print(f"{len(commands) - len(failures)} of {len(commands)} examples in README.md work")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
