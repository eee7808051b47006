"""The participant's form: a task's questions in everyday words. The form is not part of
the task.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

from discreet.documents import read_toml
from discreet.domain.columns import Numeric
from discreet.errors import DomainError
from discreet.local.task import Task
from discreet.local.unit import Unit

_WORDS = {"about", "contact", "columns"}
_COLUMN_WORDS = {"label", "unit", "help", "choices"}
_FEW = 6  # the most choices that are shown side by side; more are shown as a list to open


@dataclass(frozen=True)
class Question:
    """One column: a number in ``unit`` between two bounds, or one of ``choices``, pairs of value
    and text.
    """

    name: str
    label: str
    help: str
    unit: str = ""
    low: float = 0.0
    high: float = 0.0
    choices: tuple[tuple[str, str], ...] = ()

    @property
    def as_list(self) -> bool:
        return len(self.choices) > _FEW

    @property
    def range(self) -> str:
        """The allowed range of a number, in words."""
        unit = f" {self.unit}" if self.unit else ""
        return f"From {self.low:g} to {self.high:g}{unit}; a value outside counts as the nearer end."


@dataclass(frozen=True)
class Form:
    """All questions, the target last, with the description and contact of those who collect."""

    questions: tuple[Question, ...]
    about: str = ""
    contact: str = ""

    @classmethod
    def load(cls, task: Task, path: str | PathLike[str] | None) -> Form:
        """From a TOML file with ``about``, ``contact`` and, by column, ``label``, ``unit``,
        ``help``, ``choices``.
        """
        return cls.of(task, {} if path is None else read_toml(path, "the form"))

    @classmethod
    def of(cls, task: Task, content: Mapping[str, Any]) -> Form:
        """The form of a task; texts that ``content`` lacks are made from names and bounds."""
        _check_words(content, _WORDS, "a form")
        columns = content.get("columns", {})
        if not isinstance(columns, Mapping):
            raise DomainError("a form's columns must be tables, such as [columns.age]")
        names = [column.name for column in task.columns] + [task.target.name]
        unknown = [name for name in columns if name not in names]
        if unknown:
            raise DomainError(f"the form has columns {unknown} that the task has not: it asks for {', '.join(names)}")
        features = [
            _number(column.name, column.low, column.high, columns.get(column.name, {}))
            if isinstance(column, Numeric)
            else _choice(column.name, [str(value) for value in column.values], columns.get(column.name, {}))
            for column in task.columns
        ]
        target, words = task.target, columns.get(task.target.name, {})
        asked = (
            _choice(target.name, list(target.values), words)
            if target.values
            else _number(target.name, target.low, target.high, words)
        )
        return cls((*features, asked), _text(content, "about"), _text(content, "contact"))


def joinable(task: Task) -> bool:
    """Whether the participant's page supports this task's randomizer."""
    return isinstance(task.randomizer, Unit) and task.calibration == "tight"


def _number(name: str, low: float, high: float, words: Any) -> Question:
    """A number; with ``choices`` its values are offered as texts, such as no and yes
    for 0 and 1.
    """
    _check_column(name, words)
    common = (name, _text(words, "label") or _readable(name), _text(words, "help"))
    choices = words.get("choices")
    if choices is None:
        return Question(*common, _text(words, "unit"), low, high)
    texts = _choices(name, words)
    for value in texts:
        try:
            fits = low <= float(value) <= high
        except ValueError:
            fits = False
        if not fits:
            raise DomainError(f"the form's choice {value!r} of {name!r} must be a number from {low:g} to {high:g}")
    return Question(*common, choices=tuple(texts.items()))


def _choice(name: str, values: list[str], words: Any) -> Question:
    _check_column(name, words)
    if "unit" in words:
        raise DomainError(f"the form's column {name!r} is a category and has no unit")
    texts = _choices(name, words) if "choices" in words else {}
    unknown = [value for value in texts if value not in values]
    if unknown:
        raise DomainError(f"the form's choices {unknown} of {name!r} are not among its values {values}")
    pairs = tuple((value, texts.get(value) or _readable(value)) for value in values)
    return Question(name, _text(words, "label") or _readable(name), _text(words, "help"), choices=pairs)


def _choices(name: str, words: Mapping[str, Any]) -> dict[str, str]:
    choices = words["choices"]
    if not isinstance(choices, Mapping) or not all(isinstance(text, str) for text in choices.values()):
        raise DomainError(f"the form's choices of {name!r} must be texts by value, such as {{ yes = 'Yes, I do' }}")
    return {str(value): str(text) for value, text in choices.items()}


def _check_column(name: str, words: Any) -> None:
    if not isinstance(words, Mapping):
        raise DomainError(f"the form's column {name!r} must be a table")
    _check_words(words, _COLUMN_WORDS, f"the form's column {name!r}")


def _check_words(content: Mapping[str, Any], known: set[str], what: str) -> None:
    unknown = sorted(set(content) - known)
    if unknown:
        raise DomainError(f"{what} has unknown fields {unknown}; it may have {', '.join(sorted(known))}")


def _text(content: Mapping[str, Any], key: str) -> str:
    text = content.get(key, "")
    if not isinstance(text, str):
        raise DomainError(f"a form's {key} must be text")
    return text


def _readable(name: str) -> str:
    """A name as a label: hours_of_sleep becomes Hours of sleep."""
    plain = name.replace("_", " ").strip() or name
    return plain[:1].upper() + plain[1:]
