"""A task: the public document that says what every device reports, and with which guarantee."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any

from discreet.documents import read_json, read_toml
from discreet.domain.columns import Column
from discreet.domain.declared import column_fields, declared_columns
from discreet.errors import DomainError, GuaranteeError
from discreet.fields import number, table, text, whole
from discreet.local.canonical import canonical_bytes, sha256_hex
from discreet.local.columns import check_texts
from discreet.local.gaussian import Gaussian
from discreet.local.known_design import KnownDesign
from discreet.local.statistic import Statistic
from discreet.local.target import Target
from discreet.local.task_text import task_toml
from discreet.local.unit import Unit
from discreet.parameters import is_number, is_whole

FORMAT = 2
HEADER_BYTES = 28
CHECK_BYTES = 4

_PLAIN = ("name", "epsilon", "delta", "goal", "closes", "calibration", "fit_intercept", "parent")
_FIELDS = {"format", *_PLAIN, "target", "columns", "statistic", "randomizer"}


@dataclass(frozen=True, eq=False)
class Task:
    """What is reported, by whom and under which guarantee. Its hash identifies it.

    ``design`` is what the maker knew about the features: a KnownDesign, its hash where a device got
    the task without it, or None. ``parent`` is the task whose reports this one was made from, or
    "". Each device answers one of the two. Making a Task checks that its randomizer gives (epsilon,
    delta), so a device need not trust its author.

    Attributes
    ----------
    name : str
        What the task is about.
    epsilon : float
        The privacy loss of one report.
    delta : float
        0 with the unit randomizer.
    goal : int
        How many reports are planned.
    closes : str
        ``'goal'``, or a date.
    columns : tuple
        What is asked.
    target : label
        What is predicted.
    statistic : Statistic
        Which vector a device computes from its record.
    randomizer : Unit or Gaussian
        How it randomizes this vector.
    calibration : str
        ``'tight'``, or ``'paper'``.
    fit_intercept : bool
        Whether models have an intercept.
    design : Design, optional
        What the maker knew of the features.
    parent : str
        The digest of the task that this one continues, or empty.

    Examples
    --------
    >>> from discreet import Domain, Numeric
    >>> from discreet.local import new_task
    >>> task = new_task(
    ...     "cost by age",
    ...     domain=Domain((Numeric("age", 18, 90),)),
    ...     target=Numeric("cost", 0, 1),
    ...     epsilon=4.0,
    ...     goal=20_000,
    ... )
    >>> from discreet.local import Task
    >>> Task.from_dict(task.to_dict()).digest == task.digest
    True
    """

    name: str
    epsilon: float
    delta: float
    goal: int
    closes: str
    columns: tuple[Column, ...]
    target: Target
    statistic: Statistic
    randomizer: Unit | Gaussian
    calibration: str = "tight"
    fit_intercept: bool = True
    design: KnownDesign | str | None = None
    parent: str = ""

    def __post_init__(self) -> None:
        self._check_fields()
        self.statistic.check(len(self.names))
        self._check_guarantee()

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Task:
        """A task from a .json or .toml file.

        Parameters
        ----------
        path : str or path
            A .json or .toml file.

        Returns
        -------
        Task
            The task.
        """
        read = read_json if str(path).endswith(".json") else read_toml
        return cls.from_dict(read(path, "the task file"))

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Task:
        """The task that ``to_dict`` wrote; unknown or missing fields raise.

        Parameters
        ----------
        content : mapping
            The fields of a task.

        Returns
        -------
        Task
            The task.
        """
        if not isinstance(content, Mapping) or content.get("format") != FORMAT or content["format"] is True:
            raise DomainError(f"a task must have format = {FORMAT}")
        unknown, missing = set(content) - _FIELDS - {"design"}, _FIELDS - set(content)
        if unknown or missing:
            raise DomainError(f"a task has unknown fields {sorted(unknown)} and lacks {sorted(missing)}")
        try:
            fields = _converted(content)
        except DomainError:
            raise
        except (TypeError, KeyError, ValueError, OverflowError, AttributeError) as error:
            raise DomainError(f"a task's field has the wrong type: {error}") from error
        made = cls(**fields)
        _ = made.digest  # a document without a canonical form, such as text that is not Unicode, is not a task
        return made

    def to_dict(self, *, design: bool = True) -> dict[str, Any]:
        """Numbers, strings and lists from which ``from_dict`` makes the same task.

        Parameters
        ----------
        design : bool, default True
            Write what is known of the features, and not its hash alone.

        Returns
        -------
        dict
            The fields.
        """
        content: dict[str, Any] = {"format": FORMAT, **{name: getattr(self, name) for name in _PLAIN}}
        content["target"] = self.target.to_dict()
        content["statistic"] = self.statistic.to_dict()
        content["randomizer"] = self.randomizer.to_dict()
        content["columns"] = [column_fields(column) for column in self.columns]
        if isinstance(self.design, KnownDesign):
            content["design"] = self.design.to_dict() if design else self.design.digest
        elif self.design is not None:
            content["design"] = self.design
        return content

    def to_toml(self, *, design: bool = True) -> str:
        """The task as a file that ``load`` reads.

        Parameters
        ----------
        design : bool, default True
            Write what is known of the features, and not its hash alone.

        Returns
        -------
        str
            TOML.
        """
        return task_toml(self.to_dict(design=design))

    @property
    def document(self) -> bytes:
        """The document for devices: canonical JSON with the design's hash. Its SHA-256 is the
        digest.
        """
        return canonical_bytes(self.to_dict(design=False))

    @cached_property
    def digest(self) -> str:
        """The task's identity: SHA-256 of the canonical form (RFC 8785) with the design's hash, in
        hex.
        """
        return sha256_hex(self.to_dict(design=False))

    @cached_property
    def names(self) -> list[str]:
        """The encoded features, in the order of coefficients, without the intercept."""
        return [name for column in self.columns for name in column.names]

    @property
    def width(self) -> int:
        """The length of the shortened vector h."""
        return self.statistic.width

    @property
    def question(self) -> str:
        """The identity of the question, which a device answers once.

        A task and the one that continues it have the same.
        """
        # In NLDP's algorithm with two rounds a device answers both, each once.
        return f"{self.parent}/2" if self.statistic.kind == "predictor" else self.parent or self.digest

    @property
    def report_entries(self) -> int:
        """How many whole numbers a decoded report has."""
        return self.randomizer.dimension

    @property
    def body_size(self) -> int:
        """The exact size in bytes of every valid report body."""
        return HEADER_BYTES + self.randomizer.payload_bytes + CHECK_BYTES

    def _check_fields(self) -> None:
        if not (isinstance(self.name, str) and 0 < len(self.name) <= 200):
            raise DomainError("a task's name must have 1 to 200 characters")
        check_asked(self.epsilon, self.delta, self.goal)
        if self.closes != "goal" and not _is_date(self.closes):
            raise DomainError(f"closes must be 'goal' or a date as 2030-12-31, got {self.closes!r}")
        if self.calibration not in ("tight", "paper") or not isinstance(self.fit_intercept, bool):
            raise DomainError("calibration must be 'tight' or 'paper', and fit_intercept true or false")
        if self.calibration == "paper" and not isinstance(self.randomizer, Gaussian):
            raise DomainError("calibration 'paper' needs the gaussian randomizer")
        names = [column.name for column in self.columns] + [self.target.name]
        if not self.columns or len(set(names)) != len(names) or "" in names:
            raise DomainError("a task needs at least one column, and no name twice among columns and target")
        hashes = [self.parent] * bool(self.parent) + [self.design] * isinstance(self.design, str)
        for one in hashes:
            if not (isinstance(one, str) and len(one) == 64 and set(one) <= set("0123456789abcdef")):
                raise DomainError("parent, and a design that is left out, are SHA-256 hashes in hexadecimal")

    def _check_guarantee(self) -> None:
        randomizer = self.randomizer
        if randomizer.dimension != self.statistic.dimension(len(self.names)):
            raise DomainError(f"the randomizer must have dimension {self.statistic.dimension(len(self.names))}")
        if isinstance(randomizer, Gaussian) and not randomizer.keeps(self.statistic):
            raise GuaranteeError(f"task {self.name!r}: its noise does not give mu {randomizer.mu:.6g}")
        if not randomizer.gives(self.epsilon, self.delta):
            raise GuaranteeError(
                f"task {self.name!r}: the {randomizer.name} randomizer does not give epsilon {self.epsilon:g} "
                f"at delta {self.delta:g}"
            )


def _converted(content: Mapping[str, Any]) -> dict[str, Any]:
    """Fields converted to their types, from TOML or JSON."""
    fields = {key: content[key] for key in _PLAIN}
    for key in ("epsilon", "delta"):
        fields[key] = number(fields[key], key)
    fields["goal"] = whole(fields["goal"], "goal")
    for key in ("name", "closes", "calibration", "parent"):
        fields[key] = text(fields[key], key)
    fields["target"] = Target.from_dict(table(content["target"], "target"))
    if not isinstance(content["columns"], list):
        raise DomainError("a task's columns must be a list")
    fields["columns"] = check_texts(declared_columns(content["columns"], "a task"))
    features = sum(len(column.names) for column in fields["columns"])
    fields["statistic"] = Statistic.from_dict(table(content["statistic"], "statistic"))
    fields["statistic"].check(features)
    fields["randomizer"] = _randomizer(table(content["randomizer"], "randomizer"), fields["statistic"], features)
    if "design" in content:
        design = content["design"]
        fields["design"] = (
            design if isinstance(design, str) else KnownDesign.from_dict(table(design, "design"), features)
        )
    return fields


def _randomizer(entry: Mapping[str, Any], statistic: Statistic, features: int) -> Unit | Gaussian:
    name = entry.get("name")
    if name == "unit":
        return Unit.from_dict(entry)
    if name == "gaussian":
        return Gaussian.from_dict(entry, statistic, features)
    raise DomainError("a randomizer's name must be 'unit' or 'gaussian'")


def _is_date(value: Any) -> bool:
    """Whether it is a date written as 2030-12-31; Python accepts further forms, other languages do
    not.
    """
    if not isinstance(value, str) or re.fullmatch(r"\d{4}-\d{2}-\d{2}", value, re.ASCII) is None:
        return False
    try:
        datetime.date.fromisoformat(value)
    except ValueError:
        return False
    return True


def check_asked(epsilon: Any, delta: Any, goal: Any) -> None:
    """Refuse what is no guarantee, or no number of reports, that a task could have."""
    if not (is_number(epsilon) and 0 < epsilon <= 100):
        raise DomainError(f"epsilon of a task must be a number > 0 and at most 100, got {epsilon!r}")
    if not (is_number(delta) and 0 <= delta < 1):
        raise DomainError(f"delta of a task must be a number from 0 to below 1, got {delta!r}")
    if not (is_whole(goal) and goal >= 1):
        raise DomainError(f"goal must be a whole number >= 1, got {goal!r}")
