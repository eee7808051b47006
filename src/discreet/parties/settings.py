"""Settings of a plan, read one by one: every error names the file, the setting and its rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.documents import shown
from discreet.errors import DomainError


@dataclass(frozen=True)
class Settings:
    """A table of settings from a file, and the file's name."""

    content: Mapping[str, Any]
    source: str

    def check(self, right: bool, name: str, rule: str) -> None:
        if not right:
            raise DomainError(f"{self.source}: {name} {rule}, got {shown(self.content.get(name))}")

    def check_names(self, known: set[str]) -> None:
        if unknown := sorted(shown(name) for name in set(self.content) - known):
            raise DomainError(
                f"{self.source}: unknown settings {', '.join(unknown)}; known: {', '.join(sorted(known))}"
            )

    def text(self, name: str) -> str:
        value = self.content.get(name)
        right = isinstance(value, str) and value != "" and value.isprintable()
        self.check(right, name, "must be a text, not empty and without control characters")
        return str(value)

    def number(self, name: str) -> float:
        value = self.content.get(name)
        right = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300
        self.check(right, name, "must be a number")
        return float(value)  # type: ignore[arg-type]

    def whole(self, name: str, most: int) -> int:
        value = self.content.get(name)
        right = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most
        self.check(right, name, f"must be a whole number from 1 to {most:,}")
        return int(value)  # type: ignore[arg-type]

    def choice(self, name: str, known: tuple[str, ...], default: str) -> str:
        value = self.content.get(name, default)
        self.check(isinstance(value, str) and value in known, name, f"must be one of {', '.join(known)}")
        return str(value)


def check_printable(source: str, what: str, value: object) -> None:
    """Refuse control characters: a plan's names are shown on other people's terminals
    and in files.
    """
    if not str(value).isprintable():
        raise DomainError(f"{source}: {what} must have no control characters, got {shown(value)}")
