"""Run the code blocks of pages as a reader would: Python line by line, terminal commands in one
folder.

    python docs/run_page.py docs/gallery/hospital.md      # writes output and figures anew

A page is run from top to bottom in one empty folder. ``python`` blocks share their names. Every
command of a ``sh`` block that starts with ``discreet`` is run in this process. A ``toml`` block
whose first line is a comment with a file name is written to that file. A ``text`` block shows
output, and with ``write`` it is replaced by what was printed.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import ModuleType

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
_FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_FILE_NAME = re.compile(r"# (\S+\.(?:toml|csv))\n")
_README_PART = re.compile(r'```\{include\} \.\./README\.md\n:start-after: "(.*?)"\n:end-before: "(.*?)"\n```')

# What cannot run in a test, and why. A command, or a block of Python, in which one of these is
# found is left out.
LEFT_OUT = {
    r"^make ": "sets up a new environment; continuous integration runs the targets themselves",
    r"^pip install ": "needs an index of packages; `make dist` installs the wheel in new environments",
    r"^discreet local serve": "serves until it is stopped; tests/system runs the collector",
    r"^discreet local create .*postgresql:": "needs a server; tests/system runs its own PostgreSQL",
    r"^discreet audit($| [^m]|.* --python )": "takes minutes, or another environment; `make audit` runs it",
    r"pyspark|--engine spark": "needs Java; `make test-spark` runs Spark",
}


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, its text, and where it stands in the page."""

    language: str
    text: str
    start: int
    end: int


def blocks_of(text: str) -> list[Block]:
    """All fenced blocks, in order."""
    return [Block(found[1].strip(), found[2], found.start(), found.end()) for found in _FENCE.finditer(text)]


def text_of(page: Path) -> str:
    """The page, with the parts of README that it includes."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    def part(found: re.Match[str]) -> str:
        start = readme.index(found[1]) + len(found[1])
        return readme[start : readme.index(found[2], start)]

    return _README_PART.sub(part, page.read_text(encoding="utf-8"))


def commands_of(text: str) -> Iterator[str]:
    """The commands of a block: lines that end in a backslash go on, comments are dropped, a prompt
    is allowed.
    """
    for line in text.replace("\\\n", " ").splitlines():
        command = shlex.join(shlex.split(line.removeprefix("$ "), comments=True))
        if command:
            yield line.removeprefix("$ ").strip()


def left_out(code: str) -> bool:
    """Whether a command or a block is one of those that no test can run."""
    return any(re.search(pattern, code) for pattern in LEFT_OUT)


def run(page: Path, folder: Path) -> dict[Block, str]:
    """Run all blocks of the page in the folder; what each one printed."""
    name = page.relative_to(ROOT)
    reader = ModuleType("reader")  # a module, so that classes of the page can be pickled, as from a reader's file
    sys.modules["reader"] = reader
    printed: dict[Block, str] = {}
    with chdir(folder):
        for number, block in enumerate(blocks_of(text_of(page)), start=1):
            screen = io.StringIO()
            with redirect_stdout(screen), redirect_stderr(screen if block.language == "sh" else sys.stderr):
                if block.language == "python" and not left_out(block.text):
                    exec(compile(block.text, f"{name}, block {number}", "exec"), reader.__dict__)
                elif block.language == "sh":
                    for command in commands_of(block.text):
                        _run_command(command, screen)
                elif found := _FILE_NAME.match(block.text):
                    Path(found[1]).write_text(block.text, encoding="utf-8")
            printed[block] = screen.getvalue()
    return printed


def _run_command(command: str, screen: io.StringIO) -> None:
    if left_out(command):
        return
    words = shlex.split(command, comments=True)
    if words[0] != "discreet":
        raise ValueError(f"{command!r} is no command of discreet, and is not in LEFT_OUT")
    from discreet.cli import main

    try:
        main(words[1:], prog_name="discreet", standalone_mode=True)
    except SystemExit as end:
        if end.code:
            raise RuntimeError(f"{command!r} ended with code {end.code}:\n{screen.getvalue()}") from end


def write(page: Path) -> None:
    """Run the page; put what was printed into the block ``text`` that follows, and figures beside
    the page.
    """
    import matplotlib

    from discreet.report.figure_style import styled

    os.environ.setdefault("COLUMNS", "80")
    matplotlib.use("Agg")
    with tempfile.TemporaryDirectory() as folder, styled():  # the folder's name is no part of what a page shows
        matplotlib.rcParams["figure.constrained_layout.use"] = True
        os.environ["DISCREET_STATE"] = str(Path(folder, "state"))
        printed = run(page, Path(folder))
        for figure in (*Path(folder).glob("*.svg"), *Path(folder).glob("*.png")):
            if figure.name in page.read_text(encoding="utf-8"):
                shutil.copy(figure, page.parent / figure.name)
    text = page.read_text(encoding="utf-8")
    blocks = list(printed)
    for before, block in reversed(list(pairwise(blocks))):
        if block.language == "text" and before.language in ("python", "sh"):
            lines = printed[before].replace(f"{folder}/", "").strip("\n").splitlines()
            said = "\n".join(line.rstrip() for line in lines)
            text = text[: block.start] + f"```text\n{said}\n```" + text[block.end :]
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        write(Path(argument).resolve())
