"""The analyst's side: all parties' releases together. This is post-processing and costs nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.domain import Categorical, Column, Domain, Encoder, Numeric
from discreet.errors import DomainError, GuaranteeError, ReleaseError
from discreet.inference import Moments, residual_fact
from discreet.parameters import is_number
from discreet.parties.estimate import MixedMoments, solve
from discreet.parties.plan import Plan
from discreet.parties.release_file import PartyRelease
from discreet.parties.results import JointResult
from discreet.parties.source import JointSource
from discreet.privacy import Guarantee, joint
from discreet.results import Results
from discreet.rows import Answer

Floats = NDArray[np.float64]


def join(
    releases: Iterable[PartyRelease | str | PathLike[str]], *, plan: Plan | str | PathLike[str] | None = None
) -> Joint:
    """The joint data set of all parties of one plan, from their releases or release files.

    Parameters
    ----------
    releases : sequence of PartyRelease or path
        One for each party of the plan.
    plan : Plan or str or path, optional
        The plan that was agreed on, or its file. Without it the plan in the releases is used. It is
        checked that they agree on it and are signed by its keys; compare its hash to see that it is
        the right plan.

    Returns
    -------
    Joint
        The joined releases, to which models can be fitted.

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
    >>> [column.name for column in join(releases, plan=plan).columns]
    ['age', 'bill']
    """
    loaded = [one if isinstance(one, PartyRelease) else PartyRelease.load(one) for one in releases]
    if not loaded:
        raise ReleaseError("there is no release to join")
    agreed = plan if plan is None or isinstance(plan, Plan) else Plan.from_toml(plan)
    plan = loaded[0].plan
    if agreed is not None and agreed.hash != plan.hash:
        raise ReleaseError(
            f"the release of {loaded[0].party} was made under another plan ({plan.hash[:12]}) than the one given "
            f"({agreed.hash[:12]})"
        )
    for one in loaded:
        if one.plan.hash != plan.hash:
            raise ReleaseError(
                f"the releases of {loaded[0].party} and {one.party} were made under different plans "
                f"({plan.hash[:12]} and {one.plan.hash[:12]}): their mixing signs differ"
            )
    names = [one.party for one in loaded]
    if len(set(names)) < len(names):
        raise ReleaseError(f"a party's release was given twice: {', '.join(sorted(names))}")
    if len({one.roster for one in loaded}) > 1:
        raise ReleaseError(
            f"the releases of {', '.join(names)} are not about the same people; "
            "method 'dgm' as printed needs that: compare keys with `parties align`, or use calibration 'tight'"
        )
    order = {party.name: position for position, party in enumerate(plan.parties)}
    return Joint(plan, tuple(sorted(loaded, key=lambda one: order[one.party])))


@dataclass(frozen=True)
class Joint:
    """All releases of a plan. Any column can be the label, and further models cost nothing.

    Attributes
    ----------
    plan : Plan
        What was agreed on.
    releases : tuple of PartyRelease
        One for each party.

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
    >>> joint = join(releases, plan=plan)
    >>> round(joint.privacy.epsilon(1e-6), 4) <= 3.0
    True
    """

    plan: Plan
    releases: tuple[PartyRelease, ...]

    @property
    def privacy(self) -> Guarantee:
        """The joint guarantee for a person who is in every release."""
        return joint([one.privacy for one in self.releases])

    @property
    def columns(self) -> tuple[Column, ...]:
        """All released columns, party by party."""
        return tuple(column for one in self.releases for column in self.plan.party(one.party).domain.columns)

    @property
    def encoder(self) -> Encoder:
        """The columns' declarations."""
        return Encoder(Domain(self.columns, missing=self.releases[0].plan.parties[0].domain.missing))

    @property
    def offset(self) -> Floats:
        """Each column's released mean, in its own units."""
        return np.asarray(
            self.encoder.centre + self.encoder.half_width * np.concatenate([one.centre for one in self.releases])
        )

    @property
    def width(self) -> Floats:
        """Each column's released standard deviation, in its own units."""
        return np.asarray(self.encoder.half_width * np.concatenate([one.scale for one in self.releases]))

    def mixed(self) -> MixedMoments:
        """The releases as one table of standardised mixes, with what is known of their noise.

        Returns
        -------
        MixedMoments
            The table and its noise.
        """
        releases = self.releases
        sizes = [len(one.centre) for one in releases]
        scale = np.concatenate([one.scale for one in releases])
        own = np.eye(len(scale))
        start = 0
        for one, size in zip(releases, sizes, strict=True):
            block = slice(start, start + size)
            own[block, block] = one.spread.value / one.count / np.outer(one.scale, one.scale)
            start += size
        # A person is in each of k mixes, or in one of k slots; sqrt(k) makes the two comparable.
        per_mix = math.sqrt(self.plan.mixes) if self.plan.method == "dgm" else 1.0
        units = [per_mix / (one.weight * one.kept) for one in releases]
        paired = list(zip(releases, units, strict=True))
        noise = [(one.mixes.noise_std * unit) ** 2 / len(one.mixes.value) for one, unit in paired]
        return MixedMoments(
            mixed=np.concatenate([one.mixes.value * unit for one, unit in paired], axis=1),
            noise=np.concatenate(noise),
            owner=np.repeat(np.arange(len(releases)), sizes),
            people=np.repeat([one.count for one in releases], sizes),
            own=own,
            own_noise=np.repeat([one.spread.noise_std / one.count for one in releases], sizes),
            own_scale=scale,
        )

    def moments(self) -> Moments:
        """The second moment of (1, columns), as one trusted curator would have released it, with
        more noise.

        Its noise is stated as if it were the same in every direction, by a bound that holds in each
        (proof in docs/decisions/0011), so that everything that works on ``Moments`` works here;
        ``regress`` is sharper.

        Returns
        -------
        Moments
            As from ``collect_moments``.
        """
        mixed = self._tight().mixed()
        people, size = float(mixed.people.min()), len(mixed.people)
        value = np.zeros((size + 1, size + 1))
        value[0, 0] = people
        value[1:, 1:] = people * mixed.raw()
        centre_noise = np.concatenate([one.centre_noise / one.scale for one in self.releases])
        bound = math.hypot(mixed.noise_bound(), math.sqrt(2) * people * float(centre_noise.max()))
        return Moments(
            names=tuple(self.encoder.names),
            offset=np.append(0.0, self.offset),
            width=np.append(1.0, self.width),
            weight=np.ones(size + 1),
            answer=Answer(value, bound, isotropic=True),
            privacy=self.privacy,
        )

    def source(self, label: str, features: Sequence[str] | None = None) -> JointSource:
        """A ``Source`` for these columns; discreet.parties.source says which queries it answers.

        Parameters
        ----------
        label : str
            The column to predict.
        features : sequence of str, optional
            The columns to regress on; all others than the label by default.

        Returns
        -------
        JointSource
            The source for algorithms.
        """
        self.positions(label, features)
        encoder, target, _ = self.declared(label, features)
        rows = min(one.rows for one in self.releases)
        return JointSource(self.moments(), encoder, target, tuple(encoder.names), rows)

    def fit(self, estimator: Any, label: str, features: Sequence[str] | None = None) -> Any:
        """Fit your ``LinearRegression`` or ``Ridge`` to the joint release, at no further cost.

        Its ``alpha``, ``epsilon`` and ``delta`` are used: a guarantee for one person across all
        releases that is weaker than the estimator's epsilon is refused. Bounds and domain are those
        of the plan.

        Parameters
        ----------
        estimator : LinearRegression or Ridge
            An unfitted estimator.
        label : str
            The column to predict.
        features : sequence of str, optional
            The columns to regress on; all others than the label by default.

        Returns
        -------
        estimator
            The one given, fitted.
        """
        from discreet.estimators import LinearRegression, Ridge

        if not isinstance(estimator, (LinearRegression, Ridge)):
            raise TypeError(f"fit takes a LinearRegression or a Ridge, got {type(estimator).__name__}")
        if not estimator.fit_intercept:
            raise DomainError("columns were centred before they were mixed: a joint model has an intercept")
        given = self.privacy.epsilon(estimator.delta)
        if given > estimator.epsilon * (1 + 1e-9):
            raise GuaranteeError(
                f"the releases together give epsilon {given:.4g} at delta {estimator.delta:.3g}, weaker than the "
                f"{estimator.epsilon:.4g} of the estimator"
            )
        result = self.regress(label, features, alpha=float(estimator.alpha))
        encoder, target, names = self.declared(label, features)
        results = replace(result.results_, model=type(estimator).__name__, delta=float(estimator.delta))
        return estimator.adopt(results, Encoder(encoder.domain, target), names)

    def regress(self, label: str, features: Sequence[str] | None = None, *, alpha: float = 0.0) -> JointResult:
        """Least squares of one column on others, with a ridge penalty ``alpha`` if wanted.

        Parameters
        ----------
        label : str
            The column to predict.
        features : sequence of str, optional
            Columns of the plan; all released ones but the label by default. There is always an
            intercept.
        alpha : float, default 0.0
            A ridge penalty.

        Returns
        -------
        JointResult
            Estimates with standard errors and notes.
        """
        self._tight()
        if not (is_number(alpha) and 0 <= alpha < math.inf):
            raise ValueError(f"alpha must be finite and >= 0, got {alpha!r}")
        chosen, target = self.positions(label, features)
        offset, width = self.offset, self.width
        people = float(self.mixed().people.min())
        solution = solve(self.mixed().select(np.append(chosen, target)), alpha / (people * width[chosen] ** 2))
        per_unit = width[target] / width[chosen]
        units = np.vstack([-per_unit * offset[chosen], np.diag(per_unit)])
        shift = np.append(offset[target], np.zeros(len(chosen)))
        scale = solution.unexplained * float(width[target]) ** 2
        noise = units @ solution.noise_covariance @ units.T + self._centre_noise(chosen, target, units)
        sampling = units @ solution.sampling_covariance @ units.T + _corner(scale / people, len(units))
        results = Results(
            target=label,
            names=("const", *(self.encoder.names[i] for i in chosen)),
            shrunk=shift + units @ solution.coef,
            estimates=shift + units @ solution.estimate,
            covariance=noise + sampling,
            noise_covariance=noise,
            scale=scale,
            scale_noise_std=solution.unexplained_noise * float(width[target]) ** 2,
            nobs=people,
            privacy=self.privacy,
            rows=min(one.rows for one in self.releases),
            model="parties' least squares",
            delta=self.plan.delta,
            trust="parties",
            facts=residual_fact(scale),
        )
        return JointResult(results, solution, self, None if features is None else tuple(features), alpha)

    def positions(self, label: str, features: Sequence[str] | None) -> tuple[NDArray[np.intp], int]:
        """Positions of the features and of the label among the released columns.

        Parameters
        ----------
        label : str
            The column to predict.
        features : sequence of str
            The columns to regress on; all others than the label by default.

        Returns
        -------
        array of int, int
            Positions of the features and of the label.
        """
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
        """A fitted ``LinearRegression`` (``Ridge`` if alpha > 0): predict, standard errors and
        summary work on it.

        Parameters
        ----------
        label : str
            The column to predict.
        features : sequence of str, optional
            The columns to regress on; all others than the label by default.
        alpha : float, default 0.0
            A ridge penalty.

        Returns
        -------
        LinearRegression or Ridge
            The fitted estimator.
        """
        from discreet.estimators import LinearRegression, Ridge

        self.positions(label, features)
        encoder, target, _ = self.declared(label, features)
        delta = self.plan.delta
        kind = Ridge if alpha else LinearRegression
        model = kind(
            epsilon=self.privacy.epsilon(delta),
            delta=delta,
            domain=encoder.domain,
            bounds_y=(target.low, target.high),
            alpha=alpha,
        )
        return self.fit(model, label, features)

    def declared(self, label: str, features: Sequence[str] | None) -> tuple[Encoder, Numeric, list[str]]:
        """The declarations of the chosen columns and of the label, and the columns' names.

        Parameters
        ----------
        label : str
            The column to predict.
        features : sequence of str
            The columns to regress on; all others than the label by default.

        Returns
        -------
        encoder, label, names
            As an estimator's fit has them.
        """
        by_name = {column.name: column for column in self.columns}
        names = [name for name in by_name if name != label] if features is None else list(features)
        target = by_name[label]
        numeric = target if isinstance(target, Numeric) else Numeric(label, 0.0, 1.0)
        domain = Domain(tuple(by_name[name] for name in names), missing=self.plan.parties[0].domain.missing)
        return Encoder(domain), numeric, names

    def _tight(self) -> Joint:
        if self.plan.calibration == "paper":
            raise DomainError(
                "releases with calibration 'paper' are trained as printed in the paper: use printed_ols(...)"
            )
        return self

    def _centre_noise(self, chosen: NDArray[np.intp], target: int, units: Floats) -> Floats:
        """The variance that the noise in the released means adds to the intercept."""
        noise = np.concatenate([one.centre_noise for one in self.releases]) * self.encoder.half_width
        slopes = np.diag(units[1:])
        return _corner(float(noise[target] ** 2 + (slopes * noise[chosen]) @ (slopes * noise[chosen])), len(units))


def _corner(value: float, size: int) -> Floats:
    corner = np.zeros((size, size))
    corner[0, 0] = value
    return corner
