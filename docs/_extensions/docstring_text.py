"""Docstrings on their way to numpydoc: its unknown section Privacy goes into the notes, and
formulas stay as written.

Methods that come from scikit-learn or Python itself are left out: they are documented there.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

_LITERAL = re.compile(r"(``.+?``)")
_UNDERLINE = re.compile(r"^-{3,}$")


def setup(app: Any) -> dict[str, bool]:
    """Listen before numpydoc does, whose handler has the usual priority of 500."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", _rewrite, priority=100)
    app.connect("autodoc-skip-member", _skip)
    return {"parallel_read_safe": True}


def _skip(app: Any, what: str, name: str, member: Any, skip: bool, options: Any) -> bool | None:
    function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
    home = getattr(function, "__module__", None)
    return True if isinstance(home, str) and not home.startswith("discreet") else None


def _rewrite(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    sections = _sections(lines)
    privacy = sections.pop("Privacy", None)
    if privacy:
        sections["Notes"] = ["**Privacy.**", *map(_escaped, privacy), "", *sections.get("Notes", [])]
    lines[:] = sections.pop("")
    for head, body in sections.items():
        lines += ["", head, "-" * len(head), *body]


def _sections(lines: list[str]) -> dict[str, list[str]]:
    """The lines of each section under its name, escaped where they are prose; the first has no
    name.
    """
    heads = [number for number, line in enumerate(lines[1:]) if _UNDERLINE.match(line.strip())]
    found = {"": [_escaped(line) for line in lines[: heads[0] if heads else len(lines)]]}
    for start, end in pairwise([*heads, len(lines)]):
        head, body = lines[start].strip(), lines[start + 2 : end]
        if head == "Privacy":
            found[head] = [line.strip() for line in body if line.strip()]
        elif head == "Examples":
            found[head] = body
        else:  # names stand at the margin, and numpydoc reads them; meanings are indented
            found[head] = [_escaped(line) if line.startswith(" ") else line for line in body]
    return found


def _escaped(line: str) -> str:
    """Bars, stars and final underscores are mathematics and names here, never markup."""
    pieces = _LITERAL.split(line)
    plain = [re.sub(r"(?<=\w)_(?!\w)|[|*]", lambda found: "\\" + found[0], piece) for piece in pieces[::2]]
    pieces[::2] = plain
    return "".join(pieces)
