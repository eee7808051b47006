"""The files of a path, a glob or a folder, and how they are read."""

from __future__ import annotations

import glob
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path

from discreet.errors import DomainError

_PARQUET = (".parquet", ".pq")
_CSV = (".csv", ".tsv", ".txt")
_COMPRESSED = (".gz", ".bz2", ".zst")


@dataclass(frozen=True)
class CsvFiles:
    """CSV files with another separator, decimal point or encoding than comma, point and UTF-8.

    Parameters
    ----------
    path : str or path
        A file, a glob or a folder.
    sep : str, optional
        What separates cells; by default a tab in .tsv files, a comma in others.
    decimal : str, default '.'
        The decimal point of numbers.
    encoding : str, default 'utf-8'
        As Python spells it.

    Examples
    --------
    >>> from discreet import CsvFiles
    >>> CsvFiles("visits.csv", sep=";", decimal=",", encoding="latin-1").sep
    ';'
    """

    path: str | PathLike[str]
    sep: str | None = None
    decimal: str = "."
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        if self.sep is not None and len(self.sep.encode()) != 1:
            raise DomainError(f"sep must be one character, got {self.sep!r}")
        if self.decimal not in (".", ","):
            raise DomainError(f"decimal must be '.' or ',', got {self.decimal!r}")
        try:
            "".encode(self.encoding)
        except LookupError:
            raise DomainError(f"there is no encoding {self.encoding!r}") from None

    def separator(self, first: str | PathLike[str]) -> str:
        """What separates cells: as declared, or by the file's ending.

        Parameters
        ----------
        first : str or path
            One of the files.

        Returns
        -------
        str
            What separates cells in this file.
        """
        if self.sep is not None:
            return self.sep
        return "\t" if ".tsv" in [suffix.lower() for suffix in Path(first).suffixes] else ","


def kind_of(path: Path) -> str | None:
    """The format that a file's name tells: "parquet", "csv", or None."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        return "csv" if len(suffixes) > 1 and suffixes[-2] in _CSV else None
    if not suffixes:
        return None
    return "parquet" if suffixes[-1] in _PARQUET else "csv" if suffixes[-1] in _CSV else None


def files_of(path: str | PathLike[str]) -> tuple[str, list[Path]]:
    """The format and the files, by name: of a file, a folder (with its folders) or a glob."""
    text = fspath(path)
    place = Path(text)
    if place.is_file():
        files = [place]
    elif place.is_dir():
        files = sorted(file for file in place.rglob("*") if file.is_file() and not _hidden(file.relative_to(place)))
    else:
        files = sorted(file for found in glob.glob(text, recursive=True) if (file := Path(found)).is_file())
    if not files and "://" in text:
        raise DomainError(f"{text} is not a path on this machine: give pyarrow.dataset.dataset(...) of it")
    if not files:
        raise DomainError(f"there is no file {text}")
    kinds = {kind_of(file) for file in files}
    if None in kinds:
        odd = next(file for file in files if kind_of(file) is None)
        raise DomainError(f"{odd} must be a .parquet, .csv or .tsv file: the ending tells how to read it")
    if len(kinds) > 1:
        raise DomainError(f"{text} has Parquet and CSV files: give one kind")
    return str(kinds.pop()), files


def _hidden(path: Path) -> bool:
    """Marks and logs that Spark and others leave beside their files."""
    return any(part.startswith(("_", ".")) for part in path.parts)
