"""What an audit has found already, on disk: stopped at any time, it goes on with the first model not yet done."""

from __future__ import annotations

import hashlib
import os
import pickle
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

import discreet


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
    """What was stored here by the same code for the same question; None if there is nothing."""
    if not path.exists():
        return None
    held = pickle.loads(path.read_bytes())
    return held["found"] if held["question"] == _question(asked) else None


def keep(path: Path, asked: Any, found: Any) -> None:
    """Store at once or not at all."""
    handle, name = tempfile.mkstemp(dir=path.resolve().parent, suffix=".part")
    with os.fdopen(handle, "wb") as file:
        pickle.dump({"question": _question(asked), "found": found}, file)
    os.replace(name, path)


def _question(asked: Any) -> str:
    return f"{code_digest()} {asked!r}"
