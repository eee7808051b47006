"""Pages of measurements: their prose has lines of at most 100 characters."""

from __future__ import annotations

import re
from pathlib import Path

WIDTH = 100
# Headings, tables, lists, pictures and code are left as they are.
_APART = re.compile(r"\s*$|[#|>!]|\s*[*-] |\s{2,}|```|<")
# A word; code with spaces in it is one.
_WORD = re.compile(r"(?:[^\s`]|`[^`\n]*`)+")


def write_page(path: Path, text: str) -> None:
    path.write_text(wrapped(text), encoding="utf-8")


def wrapped(text: str) -> str:
    """The text with every paragraph that has a longer line filled anew."""
    lines: list[str] = []
    paragraph: list[str] = []
    for line in [*text.split("\n"), ""]:
        if _APART.match(line):
            lines += _filled(paragraph)
            lines.append(line)
            paragraph = []
        else:
            paragraph.append(line)
    return "\n".join(lines[:-1])


def _filled(paragraph: list[str]) -> list[str]:
    if all(len(line) <= WIDTH for line in paragraph):
        return paragraph
    lines: list[str] = []
    for word in _WORD.findall(" ".join(paragraph)):
        if lines and len(lines[-1]) + 1 + len(word) <= WIDTH:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines
