"""What the analyst holds: all parties' releases put side by side. Everything here is post-processing and free."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.domain import Categorical, Column, Domain, Encoder, Numeric
from discreet.errors import DomainError, ReleaseError
from discreet.inference import LinearResult
from discreet.parties.estimate import MixedMoments, MixedSolution, solve
from discreet.parties.plan import Plan
from discreet.parties.release_file import PartyRelease
from discreet.privacy import Guarantee, joint

Floats = NDArray[np.float64]

# How many people would be needed is told for a correlation of this size, to stand out by two standard errors.
_TELLING_CORRELATION = 0.3


def join(releases: Iterable[PartyRelease | str | PathLike[str]]) -> Joint:
    """The joint data set of all parties of one plan, from their releases or release files."""
    loaded = [one if isinstance(one, PartyRelease) else PartyRelease.load(one) for one in releases]
    if not loaded:
        raise ReleaseError("there is no release to join")
    plan = loaded[0].plan
    for one in loaded:
        if one.plan.hash != plan.hash:
            raise ReleaseError(
                f"the releases of {loaded[0].party} and {one.party} were made under different plans "
                f"({plan.hash[:12]} and {one.plan.hash[:12]}): their signs do not fit together"
            )
    names = [one.party for one in loaded]
    if len(set(names)) < len(names):
        raise ReleaseError(f"a party's release was given twice: {', '.join(sorted(names))}")
    order = {party.name: position for position, party in enumerate(plan.parties)}
    return Joint(plan, tuple(sorted(loaded, key=lambda one: order[one.party])))


@dataclass(frozen=True)
class Joint:
    """All releases side by side; any column can be the label, as often as wanted."""

    plan: Plan
    releases: tuple[PartyRelease, ...]

    @property
    def privacy(self) -> Guarantee:
        """What all releases together promise to a person who stands in every one of them."""
        return joint([one.privacy for one in self.releases])

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple(column for one in self.releases for column in self.plan.party(one.party).domain.columns)

    @property
    def encoder(self) -> Encoder:
        return Encoder(Domain(self.columns, missing=self.releases[0].plan.parties[0].domain.missing))

    @property
    def offset(self) -> Floats:
        """Each column's released mean, in its own units."""
        return self.encoder.centre + self.encoder.half_width * np.concatenate([one.centre for one in self.releases])

    @property
    def width(self) -> Floats:
        """Each column's released standard deviation, in its own units."""
        return self.encoder.half_width * np.concatenate([one.scale for one in self.releases])

    def moments(self) -> MixedMoments:
        """The releases as one table of standardised mixes, with what is known of their noise."""
        releases = self.releases
        sizes = [len(one.centre) for one in releases]
        scale = np.concatenate([one.scale for one in releases])
        own = np.eye(len(scale))
        start = 0
        for one, size in zip(releases, sizes, strict=True):
            block = slice(start, start + size)
            own[block, block] = one.spread.value / one.count / np.outer(one.scale, one.scale)
            start += size
        noise = [(one.mixes.noise_std / one.weight) ** 2 / len(one.mixes.value) for one in releases]
        return MixedMoments(
            mixed=np.concatenate([one.mixes.value / one.weight for one in releases], axis=1),
            noise=np.concatenate(noise),
            owner=np.repeat(np.arange(len(releases)), sizes),
            people=np.repeat([one.count for one in releases], sizes),
            own=own,
            own_noise=np.repeat([one.spread.noise_std / one.count for one in releases], sizes),
            own_scale=scale,
        )

    def regress(self, label: str, features: Sequence[str] | None = None, *, alpha: float = 0.0) -> JointResult:
        """Least squares of one column on others, with a ridge penalty ``alpha`` if wanted.

        features: columns of the plan; all released ones but the label by default. There is always an intercept.
        """
        if self.plan.calibration == "paper":
            raise DomainError("releases with calibration 'paper' are trained as printed: use printed_ols(...)")
        if not (alpha >= 0 and math.isfinite(alpha)):
            raise ValueError(f"alpha must be finite and >= 0, got {alpha}")
        chosen, target = self.positions(label, features)
        offset, width = self.offset, self.width
        people = float(self.moments().people.min())
        solution = solve(self.moments().select(np.append(chosen, target)), alpha / (people * width[chosen] ** 2))
        per_unit = width[target] / width[chosen]
        units = np.vstack([-per_unit * offset[chosen], np.diag(per_unit)])
        shift = np.append(offset[target], np.zeros(len(chosen)))
        scale = solution.unexplained * float(width[target]) ** 2
        linear = LinearResult(
            target=label,
            names=("const", *(self.encoder.names[i] for i in chosen)),
            shrunk=shift + units @ solution.coef,
            params=shift + units @ solution.estimate,
            noise_covariance=units @ solution.noise_covariance @ units.T + self._centre_noise(chosen, target, units),
            sampling_covariance=units @ solution.sampling_covariance @ units.T + _corner(scale / people, len(units)),
            scale=scale,
            scale_noise_std=solution.unexplained_noise * float(width[target]) ** 2,
            nobs=people,
            privacy=self.privacy,
        )
        return JointResult(linear, solution, self)

    def positions(self, label: str, features: Sequence[str] | None) -> tuple[NDArray[np.intp], int]:
        """Where the features and the label stand among the released columns."""
        by_name = {column.name: column for column in self.columns}
        wanted = [name for name in by_name if name != label] if features is None else list(features)
        for name in (*wanted, label):
            if name not in by_name:
                raise DomainError(f"column {name!r} is not among the released ones: {', '.join(by_name)}")
        if label in wanted or len(set(wanted)) != len(wanted) or not wanted:
            raise DomainError("features must be different columns without the label, and at least one")
        target = by_name[label]
        if isinstance(target, Categorical) and len(target.values) > 2:
            raise DomainError(
                f"label {label!r} has {len(target.values)} levels; a linear model needs a number or two levels"
            )
        names = self.encoder.names
        chosen = [names.index(encoded) for name in wanted for encoded in by_name[name].names]
        return np.array(chosen, dtype=np.intp), names.index(target.names[0])

    def estimator(self, label: str, features: Sequence[str] | None = None, *, alpha: float = 0.0) -> Any:
        """A fitted ``LinearRegression`` (``Ridge`` if alpha > 0): predict, standard errors and summary work on it."""
        from discreet.estimators import LinearRegression, Ridge

        result = self.regress(label, features, alpha=alpha)
        chosen = [c for c in self.columns if (c.name != label if features is None else c.name in features)]
        if features is not None:
            chosen.sort(key=lambda column: list(features).index(column.name))
        target = next(column for column in self.columns if column.name == label)
        domain = Domain(tuple(chosen), missing=self.plan.parties[0].domain.missing)
        numeric = target if isinstance(target, Numeric) else Numeric(label, 0.0, 1.0)
        kind = Ridge if alpha else LinearRegression
        model = kind(
            epsilon=self.privacy.epsilon(self.plan.delta),
            delta=self.plan.delta,
            domain=domain,
            bounds_y=(numeric.low, numeric.high),
            alpha=alpha,
        )
        return model.adopt(result.linear, Encoder(domain, numeric), [column.name for column in chosen])

    def _centre_noise(self, chosen: NDArray[np.intp], target: int, units: Floats) -> Floats:
        """What the noise in the released means adds to the intercept."""
        noise = np.concatenate([one.centre_noise for one in self.releases]) * self.encoder.half_width
        slopes = np.diag(units[1:])
        return _corner(float(noise[target] ** 2 + (slopes * noise[chosen]) @ (slopes * noise[chosen])), len(units))


@dataclass(frozen=True)
class JointResult:
    """A linear model of the joint release, and what the release could and could not show."""

    linear: LinearResult
    solution: MixedSolution
    joint: Joint

    @property
    def drowned(self) -> bool:
        """Whether the noise hides every relation, so that the model is the constant one."""
        return self.solution.drowned

    @property
    def people_needed(self) -> int:
        """About how many people would make a correlation of 0.3 stand out: the noise falls as one over their root."""
        now = float(self.linear.nobs)
        return math.ceil(now * (2 * self.solution.typical_noise / _TELLING_CORRELATION) ** 2)

    def notes(self) -> list[str]:
        """What a reader must know beside the numbers, in plain words."""
        noise = self.solution.typical_noise
        lines = [f"noise and mixing blur a correlation between two parties by about {noise:.2g}"]
        if self.drowned:
            lines.append(
                "the noise drowns the signal: coef is the constant model, which predicts the mean; about "
                f"{self.people_needed:,} people would be needed to make out a correlation of {_TELLING_CORRELATION}"
            )
        people = [one.rows for one in self.joint.releases]
        if min(people) < max(people):
            few = min(self.joint.releases, key=lambda one: one.rows)
            lines.append(
                f"{max(people) - min(people)} people are missing at {few.party}: they count as average there; "
                f"correlations are scaled as if its {few.rows} people stand at every party"
            )
        missing = {party.name for party in self.joint.plan.parties} - {one.party for one in self.joint.releases}
        if missing:
            lines.append(f"no release of {', '.join(sorted(missing))} was given: their columns are left out")
        return lines


def _corner(value: float, size: int) -> Floats:
    corner = np.zeros((size, size))
    corner[0, 0] = value
    return corner
