"""What an audit has found already, on disk: stopped at any time, it goes on with the first model not yet done."""

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
    """Of discreet's own sources: what was found with other code says nothing about this one."""
    root = Path(discreet.__file__).resolve().parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def state_path(folder: str, name: str, ending: str) -> Path:
    """A file name that tells whose it is, and that no two names share."""
    plain = "".join(letter if letter.isalnum() else "_" for letter in name)
    return Path(folder, f"{plain[:80]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}.{ending}")


def kept(path: Path, asked: Any) -> Any:
    """What was stored here by the same code for the same question; None if there is nothing, or nothing of ours."""
    try:
        held = parsed_json(path.read_bytes(), str(path))
        return restored(held["found"]) if held["question"] == _question(asked) else None
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None  # it is looked for again, and what cannot be read is replaced


def keep(path: Path, asked: Any, found: Any) -> None:
    """Store at once or not at all."""
    content = {"question": _question(asked), "found": plain(found)}
    write_whole(path, (json.dumps(content, allow_nan=False) + "\n").encode())


def _question(asked: Any) -> str:
    return f"{code_digest()} {asked!r}"
