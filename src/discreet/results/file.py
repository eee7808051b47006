"""The common head of model files, and how they are written."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import Any

from discreet.documents import write_whole
from discreet.errors import DomainError

FORMAT, VERSION = "discreet model", 1


def header(kind: str) -> dict[str, Any]:
    """The first fields: whose format it is, its version, who wrote it, and what kind of model
    follows.
    """
    from discreet import __version__

    return {"format": FORMAT, "version": VERSION, "discreet": __version__, "kind": kind}


def document_text(content: dict[str, Any]) -> str:
    """The document as JSON: floats in the shortest form that gives the same bits, names in any
    script.
    """
    try:
        return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    except (TypeError, ValueError) as error:
        raise DomainError(f"this model declares a value that JSON cannot hold, such as a date: {error}") from None


def write_document(content: dict[str, Any], path: str | PathLike[str]) -> None:
    """The document at the path, in one step."""
    write_whole(Path(path), document_text(content).encode())
