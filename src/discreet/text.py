"""Text for a terminal, wrapped at its width with hanging indents."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Sequence
from difflib import get_close_matches

# A usual terminal's width with a margin; wider lines are hard to read on any terminal.
WIDTH = 78
_NARROWEST = 40


def terminal_width() -> int:
    """The columns that lines may have here: those of the terminal, and 78 at most."""
    return max(_NARROWEST, min(WIDTH, shutil.get_terminal_size((WIDTH + 2, 24)).columns - 1))


def hanging(label: str, text: str, indent: int = 12, width: int = WIDTH) -> str:
    """``label`` and, beside it, the text; further lines are indented as the first one's text is."""
    # A label that leaves no room for a space has its text on the next line.
    first = f"{label:<{indent}}" if len(label) < indent else f"{label}\n{'':<{indent}}"
    lines = [wrapped(line, width - indent) for line in text.split("\n")]
    return first + f"\n{'':<{indent}}".join("\n".join(lines).split("\n"))


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """ "Did you mean ...?" if a similar name is known, else an empty text. ``known`` must be
    public.
    """
    near = get_close_matches(str(name), [str(one) for one in known], n=1, cutoff=0.6)
    return f" Did you mean {near[0]!r}?" if near else ""


def wrapped(text: str, width: int = WIDTH, indent: str = "", further: str = "") -> str:
    """The text in lines of at most this width; a word that is longer, such as a path, is never
    broken.
    """
    return textwrap.fill(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=further,
        break_long_words=False,
        break_on_hyphens=False,
    )
