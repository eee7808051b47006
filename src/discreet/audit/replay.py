"""The replay audit: does a fit keep its guarantee on this pair of neighbouring data sets?

Fit on D and record every release: the exact sum, the noise scale, the output. Then fit on the
neighbour D', return the recorded *outputs* instead of fresh ones, and record the exact sums again.
An algorithm that sees only outputs must then behave identically: the same queries, the same noise,
and the same model, to the byte. Only the exact sums differ, and Gaussian noise of standard
deviation s hides a difference of q - q' exactly as well as a mu-GDP mechanism with mu^2 = sum
(q - q')^2 / s^2: that may never exceed the claim.

Two fits find what black-box audits need 100,000 for, and correct code measures 1.0000 of its claim
on the worst neighbour. It cannot find a leak that the given pair does not show: vary x, y and the
number of rows.
"""

from __future__ import annotations

import math
import pickle
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtr, chdtrc

from discreet.audit.replay_choice import RecordedChoice, RecordedValues, recorded_choice
from discreet.audit.replay_objective import RecordedMinimum
from discreet.audit.replay_report import Law, RecordedReport
from discreet.audit.secret_order import Order, mu_given_the_order
from discreet.curator import listening
from discreet.curator.choice import Choice
from discreet.curator.minimum import Minimum
from discreet.curator.noise import GridNoise, Integers
from discreet.privacy import Guarantee, Release
from discreet.rows import Picked

# The noise itself is tested too: its sum of squares lies outside these tails once in 10^9 honest
# fits.
_FALSE_ALARM = 1e-9
# Rounding to grid units and the margins of the calibration stay far below this.
_TOLERANCE = 1e-9

Data = tuple[Any, ...]


@dataclass(frozen=True)
class Recorded:
    """One release with its exact sum."""

    release: Release
    scales: NDArray[np.float64]
    independent: NDArray[np.bool_]
    exact: Integers
    noisy: Integers
    drawn: Integers | None = None  # the noise of this fit, also where a recorded output was returned


Heard = Recorded | RecordedChoice | RecordedValues | RecordedMinimum | RecordedReport
NotASum = (RecordedChoice, RecordedValues, RecordedMinimum, RecordedReport)


@dataclass
class Recorder:
    """Lets the fit run as usual, and records its releases."""

    heard: list[Heard] = field(default_factory=list)
    orders: list[Order] = field(default_factory=list)

    def order(self, drawn: Order) -> Order:
        self.orders.append(drawn)
        return drawn

    def release(self, release: Release, noise: GridNoise, exact: Integers, noisy: Integers) -> Integers:
        self.heard.append(Recorded(release, noise.scales, noise.independent, exact, noisy, noisy - exact))
        return noisy

    def select(self, choice: Choice, picked: Picked) -> Picked:
        self.heard += recorded_choice(choice, picked)
        return picked

    def minimise(self, minimum: Minimum, whole: Integers) -> Integers:
        self.heard.append(RecordedMinimum.at(minimum.theta, minimum, whole))
        return whole

    def report(self, release: Release, law: Law, identity: bytes, index: int) -> tuple[bytes, int]:
        self.heard.append(RecordedReport(release, identity, law(identity), index))
        return identity, index


@dataclass
class Replayer:
    """Returns recorded outputs in order; fresh ones when they have run out or do not fit."""

    recorded: Sequence[Heard]
    orders: Sequence[Order] = ()
    heard: list[Heard] = field(default_factory=list)
    _orders_used: int = 0

    def order(self, drawn: Order) -> Order:
        self._orders_used += 1
        before = self.orders[self._orders_used - 1] if self._orders_used <= len(self.orders) else drawn
        return before if len(before) == len(drawn) else drawn

    def release(self, release: Release, noise: GridNoise, exact: Integers, noisy: Integers) -> Integers:
        position, drawn = len(self.heard), noisy - exact
        if position < len(self.recorded) and self.recorded[position].noisy.shape == noisy.shape:
            noisy = self.recorded[position].noisy
        self.heard.append(Recorded(release, noise.scales, noise.independent, exact, noisy, drawn))
        return noisy

    def select(self, choice: Choice, picked: Picked) -> Picked:
        before = self.recorded[len(self.heard)] if len(self.heard) < len(self.recorded) else None
        if isinstance(before, RecordedChoice) and before.comparable(RecordedChoice(before.release, choice, picked)):
            picked = before.picked
        self.heard += recorded_choice(choice, picked)
        return picked

    def minimise(self, minimum: Minimum, whole: Integers) -> Integers:
        before = self.recorded[len(self.heard)] if len(self.heard) < len(self.recorded) else None
        point = minimum.theta
        if isinstance(before, RecordedMinimum) and before.noisy.shape == whole.shape:
            point, whole = before.point, before.noisy
        self.heard.append(RecordedMinimum.at(point, minimum, whole))
        return whole

    def report(self, release: Release, law: Law, identity: bytes, index: int) -> tuple[bytes, int]:
        before = self.recorded[len(self.heard)] if len(self.heard) < len(self.recorded) else None
        if isinstance(before, RecordedReport):
            identity, index = before.identity, before.index
        self.heard.append(RecordedReport(release, identity, law(identity), index))
        return identity, index


@dataclass(frozen=True)
class Replay:
    """What the audit found. ``problems`` is empty if the promise was kept on this pair.

    Attributes
    ----------
    claimed_mu : float
        What the fit was allowed to lose.
    realised_mu : float
        What it lost on this pair.
    losses : tuple of float
        The loss of each release, in mu.
    labels : tuple of str
        What each release was.
    problems : tuple of str
        What is wrong; empty if the promise was kept on this pair.
    releases : tuple of Release
        The fit's releases with their noise and cost.

    Examples
    --------
    >>> from discreet.audit import Replay
    >>> result = Replay(
    ...     claimed_mu=0.5, realised_mu=0.25, losses=(0.25,), labels=("first look",), problems=()
    ... )
    >>> result.efficiency, result.passed
    (0.5, True)
    """

    claimed_mu: float
    realised_mu: float
    losses: tuple[float, ...]
    labels: tuple[str, ...]
    problems: tuple[str, ...]
    releases: tuple[Release, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether there is no problem."""
        return not self.problems

    @property
    def release_efficiencies(self) -> tuple[float, ...]:
        """For each release, the loss on this pair over the release's own cost: above 1
        is a leak.
        """
        pairs = zip(self.losses, self.releases, strict=False)
        return tuple(loss / release.cost.mu for loss, release in pairs)

    @property
    def efficiency(self) -> float:
        """Realised over claimed: above 1 is a leak, well below 1 on the worst neighbour is wasted
        noise.
        """
        return self.realised_mu / self.claimed_mu

    def __str__(self) -> str:
        lines = [f"claimed mu {self.claimed_mu:.6g}, realised {self.realised_mu:.6g} ({self.efficiency:.4f} of it)"]
        lines += [f"  {label}: {loss:.6g}" for label, loss in zip(self.labels, self.losses, strict=True)]
        lines += [f"PROBLEM: {problem}" for problem in self.problems] or ["passed"]
        return "\n".join(lines)


def replay(estimator: Any, data: Data, neighbour: Data, *, clone: Callable[[Any], Any] | None = None) -> Replay:
    """Fit on ``data``, replay on ``neighbour``; both are what ``fit`` takes: ``(X, y)`` or ``(X, y,
    groups)``.

    What ``fit`` takes by name only is given as a dictionary at the end: ``(X, y, {"exposure":
    times})``.

    Parameters
    ----------
    estimator
        Unfitted; it is cloned, so the one given stays as it is. Its ledger, if any, is charged for
        two fits.
    data : tuple
        What ``fit`` takes: ``(X, y)`` or ``(X, y, groups)``; what it takes by name only goes into a
        dictionary at the end, ``(X, y, {"exposure": times})``.
    neighbour : tuple
        The same with one row, or one person's rows, changed.
    clone : callable, optional
        Makes a fresh copy of the estimator; scikit-learn's clone by default.

    Returns
    -------
    Replay
        What was lost, and what is wrong.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet import LinearRegression
    >>> from discreet.audit import replay
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.uniform(-1, 1, (300, 2)), rng.uniform(-1, 1, 300)
    >>> X2, y2 = X.copy(), y.copy()
    >>> X2[0], y2[0] = 1.0, -1.0
    >>> model = LinearRegression(epsilon=1.0, delta=1e-6, bounds_X=(-1, 1), bounds_y=(-1, 1))
    >>> replay(model, (X, y), (X2, y2)).problems
    ()
    """
    if clone is None:
        from sklearn.base import clone as sklearn_clone

        clone = sklearn_clone
    recorder = Recorder()
    first, first_said = fit_listening(clone(estimator), data, recorder)
    replayer = Replayer(recorder.heard, recorder.orders)
    second, second_said = fit_listening(clone(estimator), neighbour, replayer)
    guarantee: Guarantee = first.privacy_
    losses = tuple(
        loss_between(before, after) if comparable(before, after) else math.inf
        for before, after in zip(recorder.heard, replayer.heard, strict=False)
    )
    realised = math.sqrt(math.fsum(loss**2 for loss in losses))
    problems = [
        *_release_problems(recorder.heard, replayer.heard, guarantee),
        *_noise_problems(recorder.heard),
        *_repetition_problems([*recorder.heard, *replayer.heard]),
        *_pair_problems(recorder.heard, replayer.heard),
        *_claim_problems(estimator, guarantee, realised),
        *_visible_problems(first, second, first_said, second_said),
    ]
    releases = tuple(heard.release for heard in recorder.heard[: len(losses)])
    labels = tuple(release.label for release in releases)
    return Replay(mu_given_the_order(guarantee), realised, losses, labels, tuple(problems), releases)


def fit_listening(estimator: Any, data: Data, tape: Recorder | Replayer) -> tuple[Any, list[str]]:
    *given, last = data
    by_name = last if isinstance(last, dict) else {}
    by_position = given if by_name else data
    token = listening.set(tape)
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            return estimator.fit(*by_position, **by_name), [
                f"{warning.category.__name__}: {warning.message}" for warning in said
            ]
    finally:
        listening.reset(token)


def comparable(before: Heard, after: Heard) -> bool:
    if isinstance(before, NotASum) or isinstance(after, NotASum):
        return isinstance(before, NotASum) and before.comparable(after)
    return before.scales.shape == after.scales.shape and np.array_equal(before.scales, after.scales)


def loss_between(before: Any, after: Any) -> float:
    if isinstance(before, NotASum):
        return before.loss(after)
    difference = (before.exact - after.exact).astype(np.float64) / before.scales
    return float(np.linalg.norm(difference[before.independent]))


def _release_problems(before: list[Heard], after: list[Heard], guarantee: Guarantee) -> list[str]:
    problems = []
    if len(before) != len(after):
        problems.append(f"{len(before)} releases on one data set and {len(after)} on its neighbour")
    if len(before) != len(guarantee.releases):
        problems.append(f"{len(before)} releases were made but {len(guarantee.releases)} are in the guarantee")
    for one, other in zip(before, after, strict=False):
        if not comparable(one, other):
            problems.append(f"the noise of {one.release.label!r} depends on the data")
    for one, charged in zip(before, guarantee.releases, strict=False):
        if one.release.cost != charged.cost:
            problems.append(f"the cost that was charged for {one.release.label!r} is not that of its noise")
    return problems


def _noise_problems(recorded: list[Heard]) -> list[str]:
    problems = []
    for one in recorded:
        if isinstance(one, NotASum):
            problems += one.problems(_FALSE_ALARM)
            continue
        drawn = ((one.noisy - one.exact).astype(np.float64) / one.scales)[one.independent]
        squares, entries = float(drawn @ drawn), len(drawn)
        if min(chdtr(entries, squares), chdtrc(entries, squares)) < _FALSE_ALARM:
            problems.append(f"the noise drawn for {one.release.label!r} is not of the declared size")
        if not all(isinstance(value, (int, np.integer)) for value in one.noisy.flat):
            problems.append(
                f"{one.release.label!r} is not whole on its grid: floating-point noise shows its lowest bits"
            )
    return problems


def _pair_problems(before: list[Heard], after: list[Heard]) -> list[str]:
    problems: list[str] = []
    for one, other in zip(before, after, strict=False):
        if isinstance(one, RecordedMinimum) and one.comparable(other):
            assert isinstance(other, RecordedMinimum)
            problems += one.pair_problems(other, _FALSE_ALARM)
    return problems


def _repetition_problems(releases: list[Heard]) -> list[str]:
    """Noise that occurs twice, in one fit or in two: an attacker could subtract one answer from the
    other.
    """
    seen: set[tuple[object, ...]] = set()
    for one in releases:
        if one.drawn is None or _chance_of_repetition(one) > _FALSE_ALARM:
            continue
        noise = tuple(one.drawn[one.independent])
        if noise in seen and any(noise):
            return [f"the noise drawn for {one.release.label!r} was drawn before"]
        seen.add(noise)
    return []


def _chance_of_repetition(one: Recorded) -> float:
    """An upper bound: two draws of scale s agree in one entry with probability below 1 / (2 s)."""
    return float(np.exp(-np.sum(np.log(2 * one.scales[one.independent]))))


def _claim_problems(estimator: Any, guarantee: Guarantee, realised: float) -> list[str]:
    problems = []
    claimed = mu_given_the_order(guarantee)
    if not realised <= claimed * (1 + _TOLERANCE):
        problems.append(
            f"these two data sets are told apart with mu {realised:.4g}, but only {claimed:.4g} was claimed"
        )
    epsilon, delta = getattr(estimator, "epsilon", None), getattr(estimator, "delta", None)
    if epsilon is not None and delta is not None and guarantee.epsilon(delta) > epsilon * (1 + _TOLERANCE):
        problems.append(f"epsilon {epsilon} was asked for and {guarantee.epsilon(delta):.6g} is claimed")
    return problems


def _state(fitted: Any) -> dict[str, Any]:
    """The state of a fitted object without its ledger entry, which differs between two fits."""
    state = dict(vars(fitted))
    if getattr(state.get("results_"), "payment", None) is not None:
        state["results_"] = replace(state["results_"], payment=None)
    return state


def _visible_problems(first: Any, second: Any, first_said: list[str], second_said: list[str]) -> list[str]:
    problems = []
    one, other = _state(first), _state(second)
    if pickle.dumps(one) != pickle.dumps(other):
        names = sorted(one.keys() | other.keys())
        odd = [name for name in names if pickle.dumps(one.get(name)) != pickle.dumps(other.get(name))]
        problems.append(f"the fitted object shows more than the releases: {', '.join(odd) or 'its state'} differs")
    if first_said != second_said:
        problems.append("warnings depend on the data")
    return problems
