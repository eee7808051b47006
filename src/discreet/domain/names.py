"""Names of a table's columns in messages.

A file that is read as if it had a header line, and has none, gives its first record as names: a
private row. So messages quote names that the user has written (in a domain, bounds, a formula or an
argument), and give the positions of all others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from discreet.errors import DomainError
from discreet.text import did_you_mean

NO_HEADER = (
    "where a file has no header line its first record is taken for names: read it without one (pandas: header=None; "
    "polars: has_header=False) and give the columns their names"
)


def frame_of(native: Any) -> Any:
    """A frame of any library, through narwhals, which would quote a name that stands
    there twice.
    """
    import narwhals as nw

    try:
        return nw.from_native(native, eager_only=True)
    except nw.exceptions.DuplicateError:
        raise DomainError("two columns of the table have one name: give each its own") from None


def lacking(name: str, present: Iterable[Any], wanted: Sequence[str] = ()) -> str:
    """A message about a table without this column that cannot quote a cell."""
    there = {str(one) for one in present}
    found = len(there & {name, *wanted})
    said = f"it has {_columns(len(there))}, {found or 'none'} of them with a name that is asked for"
    if any(_plain(one) == _plain(name) for one in there):
        return f"{said}; one has this name except for capitals, blanks or underscores"
    return said if found else f"{said}; {NO_HEADER}"


def check_declared(names: Sequence[str], declared: Iterable[str], where: str) -> None:
    """A DomainError for a table's column that was not declared, by its position."""
    known = list(declared)
    for place, name in enumerate(names, start=1):
        if name not in known:
            found = len(set(names) & set(known))
            none = "" if found else f", nor is any other; {NO_HEADER}"
            raise DomainError(
                f"column {place} of the table is not declared{none}; {where} has {_some(known)}."
                f"{did_you_mean(name, known)}"
            )


def check_header(names: Sequence[str]) -> None:
    """Refuse names that nobody has declared and that are numbers, as those of a record are.

    Consecutive whole numbers from 0 or 1 are allowed: they are the usual column names of an array
    in a file.
    """
    odd = sum(is_number(name) for name in names)
    counted = any([str(place + first) for place in range(len(names))] == list(names) for first in (0, 1))
    if odd and not counted:
        raise DomainError(
            f"the names of {_columns(odd)} are numbers; {NO_HEADER}. If they are names, declare them: "
            "bounds_X={name: (low, high), ...} or domain="
        )


def check_bounds_names(names: Sequence[str], bounds: Mapping[Any, Any]) -> None:
    """Hold a table's columns against bounds by name."""
    for name in bounds:
        if name not in names:
            raise DomainError(
                f"bounds_X has bounds for {name!r}, which is no column; {lacking(name, names, [*bounds])}"
            )
    check_declared(names, bounds, "bounds_X")


def is_number(name: object) -> bool:
    """Whether a name is the text of a number."""
    try:
        float(str(name))
    except ValueError:
        return False
    return True


def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter not in " _-.\t\ufeff")


def _some(names: Sequence[Any]) -> str:
    return ", ".join(map(str, names[:10])) + (", ..." if len(names) > 10 else "")


def _columns(count: int) -> str:
    return f"{count} column" + "s" * (count != 1)
