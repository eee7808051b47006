"""Findings on disk, so that a stopped audit continues with the first model not yet done."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import discreet
from discreet.audit.plain import plain, restored
from discreet.documents import parsed_json, write_whole


@lru_cache
def code_digest() -> str:
    """A hash of discreet's sources: findings of other code are not valid for this one."""
    root = Path(discreet.__file__).resolve().parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def state_path(folder: str, name: str, ending: str) -> Path:
    """A readable and unique file name."""
    plain = "".join(letter if letter.isalnum() else "_" for letter in name)
    return Path(folder, f"{plain[:80]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}.{ending}")


def kept(path: Path, asked: Any) -> Any:
    """The finding stored by the same code for the same settings, or None."""
    try:
        held = parsed_json(path.read_bytes(), str(path))
        return restored(held["found"]) if held["question"] == _question(asked) else None
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None  # it is computed again, and a file that cannot be read is replaced


def keep(path: Path, asked: Any, found: Any) -> None:
    """Store the file completely or not at all."""
    content = {"question": _question(asked), "found": plain(found)}
    write_whole(path, (json.dumps(content, allow_nan=False) + "\n").encode())


def _question(asked: Any) -> str:
    return f"{code_digest()} {asked!r}"
