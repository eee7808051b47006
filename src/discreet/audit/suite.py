"""Complete audits of one model or many: the claim, the findings, and whether they were expected."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from discreet.audit import resume
from discreet.audit.asked import Facts, asked_of
from discreet.audit.black_box import BlackBox, black_box
from discreet.audit.replay import Data
from discreet.audit.search import Worst, worst_neighbours
from discreet.audit.secret_order import is_shuffled
from discreet.privacy import GDP

# Where black-box audits run: 250 counted fits a side, which at confidence 1 - 1e-5 bound mu by 3.3
# at most, then still refute a claim that is off by a factor of 2; at mu = 0.2 that would take
# thousands.
BLACK_BOX_MU = 2.0


@dataclass(frozen=True)
class Settings:
    """The effort of an audit. Each black-box test errs with probability 1 - confidence at most."""

    runs: int = 500
    confidence: float = 1 - 1e-5
    features: int = 4
    rows: int = 1000
    climbs: int = 100
    target: str | None = None
    workers: int | None = None
    progress: bool = False
    state_folder: str | None = None
    box_rows: int = 250

    def state(self, name: str, ending: str = "npz") -> str | None:
        if self.state_folder is None:
            return None
        return str(resume.state_path(self.state_folder, name, ending))

    @property
    def question(self) -> tuple[Any, ...]:
        """The settings that affect findings, without the number of processes."""
        return self.runs, self.confidence, self.features, self.rows, self.climbs, self.target, self.box_rows


@dataclass(frozen=True)
class Finding:
    """One model's audit. ``expected``: whether the claim should hold; planted bugs are expected to
    be caught.
    """

    name: str
    kind: str
    expected: bool
    worst: Worst | None
    box: BlackBox | None
    seconds: float
    note: str = ""
    wasted: bool = False  # far more noise than the claim needs, where that is known to be a mistake
    failed: bool = False  # the audit failed, so there is no finding
    asked: Facts = ()  # what the model was asked for, in words

    @property
    def caught(self) -> bool:
        by_replay = self.worst is not None and not self.worst.passed
        return by_replay or self.wasted or (self.box is not None and self.box.caught)

    @property
    def as_expected(self) -> bool:
        return self.caught != self.expected and not self.failed

    @property
    def verdict(self) -> str:
        return "failed" if self.failed else "caught" if self.caught else "claim stands"

    def to_dict(self) -> dict[str, Any]:
        """Plain facts, for a file or a page."""
        return {
            "name": self.name,
            "kind": self.kind,
            "expected": self.expected,
            "as_expected": self.as_expected,
            "verdict": self.verdict,
            "seconds": self.seconds,
            "note": self.note,
            "asked": [list(fact) for fact in self.asked],
            "replay": None if self.worst is None else _worst_facts(self.worst),
            "black_box": None if self.box is None else _box_facts(self.box),
        }


@dataclass
class Suite:
    """Runs audits one after another, and keeps their findings."""

    settings: Settings = field(default_factory=Settings)
    findings: list[Finding] = field(default_factory=list)
    listener: Callable[[Finding], None] | None = None

    def run(self, name: str, settings: Settings, audit: Callable[[], Finding]) -> Finding:
        """Audit, unless a stored finding exists."""
        state = settings.state(name, "finding")
        finding = None if state is None else resume.kept(Path(state), settings.question)
        if finding is None:
            finding = audit()
            if state is not None:
                resume.keep(Path(state), settings.question, finding)
        return self.add(finding)

    def add(self, finding: Finding) -> Finding:
        self.findings.append(finding)
        if self.listener is not None:
            self.listener(finding)
        return finding

    @property
    def passed(self) -> bool:
        return all(finding.as_expected for finding in self.findings)

    @property
    def false_alarm_rate(self) -> float:
        """The largest probability that a model that keeps its guarantee fails, by the union bound.

        Black-box tests err with probability 1 - confidence each. A replay errs only where honest
        noise falls into tails of 1e-9, tested once a release from either side, or repeats itself,
        below 1e-9 too.
        """
        honest = [finding for finding in self.findings if finding.expected]
        boxes = sum(finding.box is not None for finding in honest)
        releases = sum(len(finding.worst.report.releases) for finding in honest if finding.worst is not None)
        return boxes * (1 - self.settings.confidence) + releases * 4e-9

    def to_dict(self) -> dict[str, Any]:
        return {
            "passed": self.passed,
            "false_alarm_rate": self.false_alarm_rate,
            "confidence": self.settings.confidence,
            "runs": self.settings.runs,
            "settings": {
                "rows of the synthetic data": self.settings.rows,
                "fits for the search of a worse pair of neighbours, at most": self.settings.climbs,
                "rows of the data that are attacked": self.settings.box_rows,
                "attacked fits on each of two data sets": self.settings.runs,
                "confidence of each attack's bound": self.settings.confidence,
            },
            "findings": [finding.to_dict() for finding in self.findings],
        }


def audit_estimator(
    estimator: Any,
    settings: Settings,
    *,
    name: str | None = None,
    kind: str = "Models",
    expected: bool = True,
    wrap: Callable[[Any], Any] | None = None,
) -> Finding:
    """Search and replay at the estimator's own epsilon; then many fits at a large one, on the pair
    found there.

    ``wrap`` turns the estimator into the function whose outputs are attacked; for planted bugs.
    """
    started = time.monotonic()
    name = name or f"{type(estimator).__name__}, {getattr(estimator, 'neighbours', 'replace_one')}"
    estimator = _with(estimator, ledger=None)  # an audit's rows are synthetic, so no budget is charged
    worst = _search(estimator, settings, name)
    box = None
    if settings.runs:
        large = _with(estimator, epsilon=GDP(BLACK_BOX_MU).epsilon(float(estimator.delta)))
        data, neighbour = _pair(large, settings, name)
        box = black_box(
            large if wrap is None else wrap(large),
            _claim(large, data),
            data=data,
            neighbour=neighbour,
            delta=float(estimator.delta),
            runs=settings.runs,
            confidence=settings.confidence,
            workers=settings.workers,
            progress=settings.progress,
            state=settings.state(name),
            label=name,
        )
    return Finding(name, kind, expected, worst, box, time.monotonic() - started, asked=asked_of(estimator))


def _search(estimator: Any, settings: Settings, name: str, *, until_leak: bool = True) -> Worst:
    return worst_neighbours(
        estimator,
        target=settings.target,
        features=settings.features,
        rows=settings.rows,
        climbs=settings.climbs,
        until_leak=until_leak,
        progress=f"{name}, neighbours" if settings.progress else None,
    )


def _with(estimator: Any, **changes: Any) -> Any:
    """A copy with these parameters, where it has them; a search has its estimator's."""
    from sklearn.base import clone

    changed = clone(estimator)
    names = changed.get_params()
    for name, value in changes.items():
        changed.set_params(**{known: value for known in (name, f"estimator__{name}") if known in names})
    return changed


def _pair(estimator: Any, settings: Settings, name: str) -> tuple[Data, Data]:
    """The worst neighbours found; a resumed audit uses the stored ones."""
    state = settings.state(name, "pair")
    held = None if state is None else resume.kept(Path(state), settings.question)
    if held is not None:
        data, neighbour = held
        return data, neighbour
    worst = _search(estimator, replace(settings, rows=settings.box_rows), name, until_leak=False)
    if state is not None:
        resume.keep(Path(state), settings.question, (worst.data, worst.neighbour))
    return worst.data, worst.neighbour


def _claim(estimator: Any, data: Data) -> Any:
    """What was asked for: the whole curve where all noise is Gaussian, the guarantee's own profile
    elsewhere.
    """
    from sklearn.base import clone

    privacy = clone(estimator).fit(*data).privacy_
    gaussian = all(isinstance(release.cost, GDP) for release in privacy.releases) and not is_shuffled(privacy)
    return GDP(min(BLACK_BOX_MU, privacy.mu)) if gaussian else privacy


def _worst_facts(worst: Worst) -> dict[str, Any]:
    return {
        "claimed_mu": worst.claimed_mu,
        "realised_mu": worst.realised_mu,
        "efficiency": worst.efficiency,
        "candidates": worst.candidates,
        "releases": worst.rows,
        "problems": list(worst.problems),
    }


def _box_facts(box: BlackBox) -> dict[str, Any]:
    return {
        "claimed_mu": box.claimed_mu,
        "claimed_epsilon": box.claimed_epsilon,
        "delta": box.delta,
        "mu": box.mu,
        "epsilon": box.epsilon,
        "gaussian_epsilon": box.gaussian_epsilon,
        "confidence": box.rates.confidence,
        "false_alarms": box.rates.false_alarms,
        "misses": box.rates.misses,
        "runs": box.rates.runs,
        "guess": box.guess,
        "caught": box.caught,
        "first_scores": box.first_scores.tolist(),
        "second_scores": box.second_scores.tolist(),
    }
