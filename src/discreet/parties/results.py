"""A linear model of the joint release, with notes for the reader."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from discreet.parties.estimate import MixedSolution
from discreet.parties.looks import LEAST_COMPLETE, count_is_hidden
from discreet.parties.release_file import PartyRelease
from discreet.report.methods import ReportMethods
from discreet.results import NamedMethods, Results

# The number of people needed is given for a correlation of this size at two standard errors.
_DETECTED_CORRELATION = 0.3


@dataclass(frozen=True)
class JointResult(NamedMethods, ReportMethods):
    """A linear model of the joint release, and what the noise hides.

    Attributes
    ----------
    bare : Results
        The numbers without notes.
    solution : Solution
        The solved equations, in standardised units.
    joint : Joint
        The joined releases.
    features : tuple of str, optional
        The columns of the model; None for all but the label.
    alpha : float
        Its ridge penalty.

    Examples
    --------
    >>> from discreet.parties import Plan
    >>> plan = Plan.from_dict({
    ...     "format": 2, "name": "bills", "key": "patient", "people": 5000, "guarantee": "joint",
    ...     "epsilon": 3.0, "delta": 1e-6, "seed": "public words",
    ...     "parties": [
    ...         {"name": "a", "columns": [{"name": "age", "low": 18, "high": 90}]},
    ...         {"name": "b", "columns": [{"name": "bill", "low": 0, "high": 9000}]},
    ...     ],
    ... })
    >>> import tempfile
    >>> import numpy as np
    >>> import pandas as pd
    >>> from discreet.parties import join, open_ledger, release
    >>> rng = np.random.default_rng(0)
    >>> patient, age = np.arange(5_000), rng.uniform(18, 90, 5_000)
    >>> frames = {"a": pd.DataFrame({"patient": patient, "age": age}),
    ...           "b": pd.DataFrame({"patient": patient, "bill": 90 * age})}
    >>> folder = tempfile.mkdtemp()
    >>> ledgers = {name: open_ledger(plan, name, f"{folder}/{name}.ledger") for name in frames}
    >>> releases = [
    ...     release(plan, name, frame, ledger=ledgers[name]) for name, frame in frames.items()
    ... ]
    >>> result = join(releases, plan=plan).regress("bill")
    >>> result.results_.params.index.tolist()
    ['const', 'age']
    """

    bare: Results
    solution: MixedSolution
    joint: Any
    features: tuple[str, ...] | None = None
    alpha: float = 0.0

    @property
    def drowned(self) -> bool:
        """Whether the noise hides every relation, so that the model is the constant one."""
        return self.solution.drowned

    @property
    def people_needed(self) -> int:
        """About how many people are needed to detect a correlation of 0.3."""
        now = float(self.bare.nobs)
        return math.ceil(now * (2 * self.solution.typical_noise / _DETECTED_CORRELATION) ** 2)

    @property
    def results_(self) -> Results:  # type: ignore[override]
        """Estimates, errors, intervals and tests, with the notes that belong to them."""
        return replace(self.bare, notes=tuple(self.notes()), signal="drowned" if self.drowned else None)

    def estimator(self) -> Any:
        """The same model as a fitted ``LinearRegression`` or ``Ridge``, which predicts; this is
        what is saved.

        Returns
        -------
        LinearRegression or Ridge
            The fitted estimator.
        """
        return self.joint.estimator(self.bare.target, self.features, alpha=self.alpha)

    def _document(self) -> dict[str, Any]:
        document: dict[str, Any] = self.estimator()._document()
        return document

    def _spans(self) -> dict[str, float]:
        return dict(self.estimator()._spans())

    def notes(self) -> list[str]:
        """Notes for the reader beside the numbers.

        Returns
        -------
        list of str
            Sentences.
        """
        noise = self.solution.typical_noise
        apart = "and mixing give a correlation between two parties" if self.solution.apart else "gives a correlation"
        lines = [f"noise {apart} a standard error of about {noise:.2g}"]
        if self.drowned:
            lines.append(
                "the noise drowns the signal: coef is the constant model, which predicts the mean; about "
                f"{self.people_needed:,} people would be needed to detect a correlation of {_DETECTED_CORRELATION}; "
                "intervals only reflect the assumption that standardised coefficients are about 1 at most"
            )
        elif self.solution.ridge > 0:
            lines.append(
                "the noise hides some combinations of the features: intervals there rest on the assumption that "
                "standardised coefficients are about 1 at most"
            )
        lines += self._people_notes()
        missing = {party.name for party in self.joint.plan.parties} - {one.party for one in self.joint.releases}
        if missing:
            lines.append(f"no release of {', '.join(sorted(missing))} was given: their columns are left out")
        return lines

    def _people_notes(self) -> list[str]:
        """How many people are missing at each party, and how much noise that adds to
        correlations.
        """
        releases, mixed = self.joint.releases, self.joint.mixed()
        most = max(one.rows for one in releases)
        lines = []
        for position, one in enumerate(releases):
            complete = f"{one.party} has {one.rows} rows, {_complete(one)}"
            if one.rows == most:
                lines.append(f"0 people are missing at {one.party}, by its number of rows: {complete}")
                continue
            # Of m people among n, a correlation has the standard error sqrt(k
            # (n/k + s^2)(m/k + t^2)) / m.
            k, noise = len(mixed.mixed), float(mixed.noise[mixed.owner == position].mean())
            more = most / one.rows * math.sqrt((one.rows / k + noise) / (most / k + noise)) - 1
            lines.append(
                f"{most - one.rows} people are missing at {one.party}, or more: {complete}; missing people "
                f"count as average there, and correlations with its columns are scaled as if its {one.rows} people "
                f"were at every other party; their noise is {more:.0%} more than if nobody were missing"
            )
        lines.append(
            "numbers of rows do not show whether the rows belong to the same people: where they do not, estimated "
            "relations between parties are too weak; `discreet parties align` counts the people that parties share"
        )
        return lines


def _complete(release: PartyRelease) -> str:
    """How many rows have a usable value in every column, by the noisy count."""
    if count_is_hidden(release.answers[0], release.rows):
        return "the noise hides how many of them are complete"
    if release.count > LEAST_COMPLETE * release.rows:
        return f"about {release.count:.0f} of them complete"
    return "hardly any or none of them usable, by the noisy count: its declared ranges and values may not fit its data"
