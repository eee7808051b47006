"""A task: the public document that tells every device what to report, and everybody what that promises."""

from __future__ import annotations

import datetime
import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np

from discreet.documents import read_json, read_toml
from discreet.domain.columns import Column, Numeric
from discreet.domain.declared import column_fields, declared_columns
from discreet.errors import DomainError, GuaranteeError
from discreet.local.links import GLMS, Link
from discreet.local.plan import Floats, Plan, entry_count, gaussian_delta_bound, printed_plan, tight_plan
from discreet.local.task_text import task_toml

FORMAT = 1
HEADER_BYTES = 28
CHECK_BYTES = 4
_LARGEST_TRANSFORM = 1e12

_FIELDS = {
    "format",
    "name",
    "epsilon",
    "delta",
    "mu",
    "goal",
    "closes",
    "calibration",
    "reports",
    "radius",
    "cross_weight",
    "fit_intercept",
    "rounds",
    "round",
    "public_rows",
    "transform",
    "target",
    "columns",
    "second",
}


@dataclass(frozen=True, eq=False)
class Second:
    """What a second round adds to a task: the task it continues, and the model whose residuals it asks for."""

    parent: str
    family: str
    coef: tuple[float, ...]

    @property
    def link(self) -> Link:
        return GLMS[self.family]


@dataclass(frozen=True, eq=False)
class Task:
    """What is reported, by whom, under which guarantee; identified by the hash of all of it.

    ``transform`` maps (1, x), with x encoded to [-1, 1], to the vector h that is clipped to ``radius``. ``reports`` is
    "cross" (h times the label) or "both" (also h h^T). ``mu`` is what one round costs; all ``rounds`` together are
    (epsilon, delta)-private for the whole record. Making a Task checks that, so a device need not trust its author.
    """

    name: str
    epsilon: float
    delta: float
    mu: float
    goal: int
    closes: str
    columns: tuple[Column, ...]
    target: Numeric
    transform: Floats
    radius: float
    reports: str = "cross"
    cross_weight: float = 1.0
    calibration: str = "tight"
    fit_intercept: bool = True
    rounds: int = 1
    round: int = 1
    public_rows: int = 0
    second: Second | None = None

    def __post_init__(self) -> None:
        transform = np.array(self.transform, dtype=np.float64)
        transform.setflags(write=False)
        object.__setattr__(self, "transform", transform)
        self._check_fields()
        self._check_transform()
        self._check_guarantee()

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Task:
        """A task from a .json or .toml file."""
        read = read_json if str(path).endswith(".json") else read_toml
        return cls.from_dict(read(path, "the task file"))

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Task:
        """The task that ``to_dict`` wrote; unknown or missing fields raise."""
        if not isinstance(content, Mapping) or content.get("format") != FORMAT:
            raise DomainError(f"a task must have format = {FORMAT}")
        unknown, missing = set(content) - _FIELDS, _FIELDS - set(content) - {"second"}
        if unknown or missing:
            raise DomainError(f"a task has unknown fields {sorted(unknown)} and lacks {sorted(missing)}")
        try:
            fields = _converted(content)
        except DomainError:
            raise
        except (TypeError, KeyError, ValueError, OverflowError, AttributeError) as error:
            raise DomainError(f"a task's field has the wrong type: {error}") from error
        return cls(**fields)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and lists, enough to make the same task again."""
        plain = ("name", "epsilon", "delta", "mu", "goal", "closes", "calibration", "reports", "radius")
        rest = ("cross_weight", "fit_intercept", "rounds", "round", "public_rows")
        content: dict[str, Any] = {"format": FORMAT, **{field: getattr(self, field) for field in plain + rest}}
        content["transform"] = self.transform.tolist()
        content["target"] = column_fields(self.target)
        content["columns"] = [column_fields(column) for column in self.columns]
        if self.second is not None:
            content["second"] = {
                "parent": self.second.parent,
                "family": self.second.family,
                "coef": list(self.second.coef),
            }
        return content

    def to_toml(self) -> str:
        """The task as a file that ``load`` reads."""
        return task_toml(self.to_dict())

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the canonical form, in hexadecimal: the task's identity."""
        canonical = json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(canonical.encode()).hexdigest()

    @cached_property
    def names(self) -> list[str]:
        """The encoded features, in the order of coefficients, without the intercept."""
        return [name for column in self.columns for name in column.names]

    @property
    def width(self) -> int:
        """The length of the clipped vector h."""
        return len(self.transform)

    @property
    def outer(self) -> bool:
        return self.reports == "both"

    @cached_property
    def plan(self) -> Plan:
        if self.calibration == "paper":
            return printed_plan(self.width, self.radius, self.epsilon, self.delta)
        return tight_plan(self.width, self.radius, self.outer, self.cross_weight, self.mu)

    @property
    def report_entries(self) -> int:
        """How many integers a report holds."""
        return entry_count(self.width, self.outer)

    @property
    def body_size(self) -> int:
        """The exact size in bytes of every valid report body."""
        return HEADER_BYTES + 3 * self.report_entries + CHECK_BYTES

    @property
    def label_centre(self) -> float:
        """The public number taken from every label; the paper takes none."""
        return 0.0 if self.calibration == "paper" or self.second is not None else self.target.centre

    @property
    def label_scale(self) -> float:
        """The largest size of a centred label (of a residual, in a second round)."""
        if self.second is not None:
            return 2 * self.target.half_width
        if self.calibration == "paper":
            return max(abs(self.target.low), abs(self.target.high))
        return self.target.half_width

    def _check_fields(self) -> None:
        if not (isinstance(self.name, str) and 0 < len(self.name) <= 200):
            raise DomainError("a task's name must have 1 to 200 characters")
        if not (0 < self.epsilon <= 100 and 0 < self.delta < 1 and 0 < self.mu <= 20):
            raise DomainError("a task needs 0 < epsilon <= 100, 0 < delta < 1 and 0 < mu <= 20")
        if self.goal < 1 or self.public_rows < 0:
            raise DomainError(f"goal must be >= 1 and public_rows >= 0, got {self.goal} and {self.public_rows}")
        if self.closes != "goal":
            try:
                datetime.date.fromisoformat(self.closes)
            except (TypeError, ValueError):
                raise DomainError(f"closes must be 'goal' or a date as 2030-12-31, got {self.closes!r}") from None
        if self.calibration not in ("tight", "paper") or self.reports not in ("cross", "both"):
            raise DomainError("calibration must be 'tight' or 'paper', reports 'cross' or 'both'")
        if self.calibration == "paper" and (self.reports != "both" or self.rounds != 1 or self.cross_weight != 1):
            raise DomainError("calibration 'paper' reports 'both' with cross_weight 1 in one round")
        if not 1 <= self.round <= self.rounds <= 2 or (self.round == 2) != (self.second is not None):
            raise DomainError("rounds is 1 or 2, and exactly a second round has the table 'second'")
        if self.second is not None and (self.second.family not in GLMS or len(self.second.coef) != len(self.names) + 1):
            raise DomainError("a second round needs a known family and one coefficient per feature after the intercept")
        names = [column.name for column in self.columns] + [self.target.name]
        if not self.columns or len(set(names)) != len(names):
            raise DomainError("a task needs at least one column, and no name twice among columns and target")

    def _check_transform(self) -> None:
        shape = (self.width, len(self.names) + 1)
        if self.transform.ndim != 2 or self.transform.shape != shape or not 1 <= self.width <= shape[1]:
            raise DomainError(f"transform must have {shape[1]} columns and at most as many rows")
        if not (np.abs(self.transform) <= _LARGEST_TRANSFORM).all():
            raise DomainError(f"transform must be finite with entries up to {_LARGEST_TRANSFORM:g}")
        if not (1e-6 <= self.radius <= 1e6 and 1e-6 <= self.cross_weight <= 1e6):
            raise DomainError("radius and cross_weight must lie between 1e-6 and 1e6")
        if self.report_entries > 10_000:
            raise DomainError(f"a report must have at most 10,000 numbers, this one has {self.report_entries}")

    def _check_guarantee(self) -> None:
        mu = self.plan.mu * math.sqrt(self.rounds)
        if self.plan.mu > self.mu or gaussian_delta_bound(self.epsilon, mu) > self.delta:
            raise GuaranteeError(
                f"task {self.name!r}: noise of mu {self.plan.mu:.6g} in each of {self.rounds} rounds "
                f"does not give epsilon {self.epsilon:g} at delta {self.delta:g}"
            )


def _converted(content: Mapping[str, Any]) -> dict[str, Any]:
    """Fields in their types, whatever of TOML or JSON they came from."""
    fields = {key: content[key] for key in _FIELDS - {"format", "second"}}
    for key in ("epsilon", "delta", "mu", "radius", "cross_weight"):
        fields[key] = float(fields[key])
    for key in ("goal", "rounds", "round", "public_rows"):
        if not isinstance(fields[key], int):
            raise DomainError(f"{key} must be a whole number")
    fields["transform"] = np.array(fields["transform"], dtype=np.float64)
    fields["columns"] = declared_columns(fields["columns"], "a task")
    (target,) = declared_columns([fields["target"]], "a task's target")
    if not isinstance(target, Numeric):
        raise DomainError(f"a task's target, {target.name!r}, must declare low and high")
    fields["target"] = target
    second = content.get("second")
    if second is not None:
        coef = tuple(float(value) for value in second["coef"])
        if not all(math.isfinite(value) for value in coef):
            raise DomainError("the coefficients of a second round must be finite")
        fields["second"] = Second(str(second["parent"]), str(second["family"]), coef)
    return fields
