"""Docstrings that name parameters as `name: meaning` become numpydoc sections before numpydoc reads them.

Docstrings that have numpydoc's sections already are left as they are.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

_ENTRY = re.compile(r"^(\w+(?:, \w+)*): (.+)$")
_LITERAL = re.compile(r"(``.+?``)")
_UNDERLINE = re.compile(r"^-{3,}$")


def setup(app: Any) -> dict[str, bool]:
    """Listen before numpydoc does, whose handler has the usual priority of 500."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", _rewrite, priority=100)
    app.connect("autodoc-skip-member", _skip)
    return {"parallel_read_safe": True}


def _skip(app: Any, what: str, name: str, member: Any, skip: bool, options: Any) -> bool | None:
    """Methods that come from scikit-learn or Python itself are documented there."""
    function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
    home = getattr(function, "__module__", None)
    return True if isinstance(home, str) and not home.startswith("discreet") else None


def _rewrite(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    if any(_UNDERLINE.match(line.strip()) for line in lines):
        _privacy_as_notes(lines)
        return
    parameters = _parameters(obj)
    text, entries, privacy = _parts([line.rstrip() for line in lines], set(parameters))
    lines[:] = [*map(_escaped, text), ""]
    if entries:
        lines += ["Parameters", "----------"]
        for names, meaning in entries:
            kind = _kind([parameters[one] for one in names])
            lines += [", ".join(names) + (f" : {kind}" if kind else ""), *(f"    {_escaped(x)}" for x in meaning)]
        lines.append("")
    if privacy:
        lines += ["Notes", "-----", "**Privacy.** " + _escaped(privacy[0]), *map(_escaped, privacy[1:]), ""]


def _privacy_as_notes(lines: list[str]) -> None:
    """Numpydoc knows no section Privacy: it goes into the notes."""
    heads = [number for number, line in enumerate(lines[1:]) if _UNDERLINE.match(line.strip())]
    for place, start in enumerate(heads):
        if lines[start].strip() != "Privacy":
            continue
        end = heads[place + 1] if place + 1 < len(heads) else len(lines)
        body = [line.strip() for line in lines[start + 2 : end] if line.strip()]
        del lines[start:end]
        said = ["", "**Privacy.** " + body[0], *body[1:], ""]
        notes = next((number for number, line in enumerate(lines[:-1]) if line.strip() == "Notes"), None)
        if notes is None:
            lines += ["", "Notes", "-----", *said[1:]]
        else:
            lines[notes + 2 : notes + 2] = said[1:]
        return


def _parts(lines: list[str], known: set[str]) -> tuple[list[str], list[tuple[list[str], list[str]]], list[str]]:
    """The text, the entries of parameters, and the paragraph about privacy."""
    text: list[str] = []
    entries: list[tuple[list[str], list[str]]] = []
    privacy: list[str] = []
    place = text
    for line in lines:
        found = _ENTRY.match(line.strip())
        names = found[1].split(", ") if found else []
        if found and set(names) <= known:
            entries.append((names, [found[2]]))
            place = entries[-1][1]
        elif found and names == ["Privacy"]:
            privacy = place = [found[2]]
        elif not line:
            place = text
            text.append("")
        else:
            place.append(line if place is text else line.strip())
    return text, entries, privacy


def _parameters(obj: Any) -> dict[str, inspect.Parameter]:
    try:
        return dict(inspect.signature(obj).parameters)
    except (TypeError, ValueError):
        return {}


def _kind(parameters: list[inspect.Parameter]) -> str:
    """The type and default that parameters share, as numpydoc writes them."""
    kinds = {_annotation(one) for one in parameters} - {""}
    defaults = {repr(one.default) for one in parameters if one.default is not inspect.Parameter.empty}
    said = list(kinds) if len(kinds) == 1 else []
    if len(defaults) == 1:
        said.append(f"default {defaults.pop()}")
    return ", ".join(said)


def _annotation(parameter: inspect.Parameter) -> str:
    kind = parameter.annotation
    said = kind if isinstance(kind, str) else getattr(kind, "__name__", "")
    return "" if said in ("Any", "_empty") else said.replace(" | ", " or ")


def _escaped(line: str) -> str:
    """Bars, stars and final underscores are mathematics and names here, never markup."""
    pieces = _LITERAL.split(line)
    plain = [re.sub(r"(?<=\w)_(?!\w)|[|*]", lambda found: "\\" + found[0], piece) for piece in pieces[::2]]
    pieces[::2] = plain
    return "".join(pieces)
