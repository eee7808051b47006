"""Reading JSON and TOML files that others may have written; errors name the file.

Such a file can hold anything, so every failure of a parser becomes an error of discreet and not a
traceback: bytes that are not text, thousands of nested brackets, numbers with thousands of digits.
JSON is read strictly: a name that stands twice in one object, NaN and Infinity are refused, because
two readers would read them differently.
"""

from __future__ import annotations

import json
import os
import reprlib
import tomllib
import uuid
from os import PathLike
from pathlib import Path
from typing import Any

from discreet.errors import DiscreetError, DomainError

# No document of discreet's is nested by more than a handful of levels.
MOST_LEVELS = 32

_shortly = reprlib.Repr()
_shortly.maxstring = _shortly.maxother = _shortly.maxlong = 60


def read_toml(path: str | PathLike[str], what: str) -> dict[str, Any]:
    """The TOML file at the path; ``what`` is what an error calls it, such as "the plan"."""
    return parsed_toml(_read_text(path, what), f"{what} {path}")


def read_json(path: str | PathLike[str], what: str) -> Any:
    """The JSON file at the path."""
    return parsed_json(_read_text(path, what), f"{what} {path}")


def parsed_toml(text: str, source: str, error: type[DiscreetError] = DomainError) -> dict[str, Any]:
    try:
        content = tomllib.loads(text)
    except RecursionError:
        raise error(f"cannot read {source}: it is nested by more than {MOST_LEVELS} levels") from None
    except ValueError as reason:
        raise error(f"cannot read {source}: {_first_line(reason)}") from None
    _check_levels(content, source, error)
    return content


def parsed_json(text: str | bytes, source: str, error: type[DiscreetError] = DomainError) -> Any:
    try:
        content = json.loads(text, object_pairs_hook=_each_once, parse_constant=_no_constant)
    except RecursionError:
        raise error(f"cannot read {source}: it is nested by more than {MOST_LEVELS} levels") from None
    except ValueError as reason:
        raise error(f"cannot read {source}: {_first_line(reason)}") from None
    _check_levels(content, source, error)
    _check_unicode(text, content, source, error)
    return content


def write_whole(path: Path, data: bytes) -> None:
    """Write the bytes to the path atomically and durably: a crash leaves the earlier file."""
    beside = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    try:
        with beside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def toml_value(value: object) -> str:
    """A text, number, truth value or list of them as TOML writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(toml_value(item) for item in value)}]"
    # JSON writes strings as TOML does, except that TOML wants DEL escaped too.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


def shown(value: object) -> str:
    """A value of a file for an error message, shortened."""
    return _shortly.repr(value)


def _read_text(path: str | PathLike[str], what: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise DomainError(f"cannot read {what} {path}: it is not UTF-8 text") from None
    except (OSError, ValueError) as reason:  # a path with a null character is a ValueError
        raise DomainError(f"cannot read {what} {path}: {getattr(reason, 'strerror', None) or reason}") from None


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("a name occurs twice in one object")
    return content


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number in JSON")


def _check_levels(content: Any, source: str, error: type[DiscreetError]) -> None:
    level = [content]
    for _ in range(MOST_LEVELS):
        level = [
            inner
            for outer in level
            if isinstance(outer, (dict, list))
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return
    raise error(f"cannot read {source}: it is nested by more than {MOST_LEVELS} levels")


def _check_unicode(text: str | bytes, content: Any, source: str, error: type[DiscreetError]) -> None:
    """Refuse lone surrogates, which are not characters and could not be written again."""
    escaped = b"\\ud" in text or b"\\uD" in text if isinstance(text, bytes) else "\\ud" in text or "\\uD" in text
    if not escaped:
        return
    try:
        json.dumps(content, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise error(f"cannot read {source}: it has a text that is not valid Unicode") from None


def _first_line(reason: ValueError) -> str:
    text = str(reason)
    if "set_int_max_str_digits" in text:
        return "a number has thousands of digits"
    return text.splitlines()[0][:200] if text else type(reason).__name__
