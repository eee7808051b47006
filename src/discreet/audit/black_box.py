"""The black-box audit: fit many times on two neighbouring data sets and try to tell the outputs
apart.

It uses nothing but outputs, so it works on any code. Its power comes from a row with a large
influence and from a large epsilon. The code under test is the same at every epsilon; at mu = 3
hundreds of runs show a leak for which mu = 0.3 would need a hundred thousand.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.audit.confidence import Claim, ErrorRates
from discreet.audit.guesses import learn_guess
from discreet.audit.runs import collect
from discreet.audit.secret_order import is_shuffled
from discreet.audit.transcript import TranscriptAttack, World
from discreet.privacy import GDP, Approximate, Pure, gaussian_epsilon

# Where the likelihood ratio is known, one run in this many is used to look for a better guess.
_RUNS_PER_CHOICE_RUN = 5


@dataclass(frozen=True)
class BlackBox:
    """What the attacker achieved. ``mu`` and ``epsilon`` are lower bounds that hold with the stated
    confidence.

    Attributes
    ----------
    claimed_mu : float
        The mu that was claimed; infinite where the claim is a pair (epsilon, delta).
    claimed_epsilon : float
        The epsilon that was claimed at ``delta``.
    delta : float
        Where epsilon is shown.
    rates : ErrorRates
        Counted errors of the attacker, with their confidence limits.
    guess : str
        The guess that distinguished the two best.
    caught : bool
        Whether the claim is refuted.
    first_scores : array
        The attacker's scores on the first data set.
    second_scores : array
        The same on its neighbour.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.audit import black_box, gaussian_claim
    >>> honest = lambda data: float(data.sum()) + np.random.default_rng().normal(0, 10.0)
    >>> result = black_box(
    ...     honest,
    ...     gaussian_claim(1.0, 1e-6),
    ...     data=np.zeros(5),
    ...     neighbour=np.eye(5)[0],
    ...     runs=100,
    ...     confidence=1 - 1e-9,
    ...     workers=1,
    ... )
    >>> result.caught
    False
    """

    claimed_mu: float
    claimed_epsilon: float
    delta: float
    rates: ErrorRates
    guess: str
    caught: bool
    first_scores: NDArray[np.float64] = field(repr=False)
    second_scores: NDArray[np.float64] = field(repr=False)

    @property
    def mu(self) -> float:
        """A lower bound of the mu that was lost, with the stated confidence."""
        return self.rates.mu

    @property
    def epsilon(self) -> float:
        """A lower bound of the epsilon that was lost at ``delta``, whatever the noise is."""
        return self.rates.epsilon(self.delta)

    @property
    def gaussian_epsilon(self) -> float:
        """The epsilon at ``delta`` of Gaussian noise that loses this mu: valid only if the noise is
        Gaussian.
        """
        return gaussian_epsilon(self.delta, self.mu) if self.delta > 0 else self.epsilon

    def __str__(self) -> str:
        rates = self.rates
        return "\n".join(
            [
                f"claimed mu {self.claimed_mu:.4g}, epsilon {self.claimed_epsilon:.4g} at delta {self.delta:.3g}",
                f"  at least mu {self.mu:.4g}, epsilon {self.epsilon:.4g} (confidence {rates.confidence:.6g})",
                f"  best guess: {self.guess}; {rates.false_alarms} false alarms and {rates.misses} misses in "
                f"{rates.runs} runs each",
                "CAUGHT: the claim is false" if self.caught else "the claim stands",
            ]
        )


def black_box(
    fit: Any,
    claim: Claim | tuple[float, float],
    *,
    data: Any,
    neighbour: Any,
    delta: float | None = None,
    runs: int = 2000,
    confidence: float = 0.999,
    workers: int | None = None,
    progress: bool = False,
    state: str | os.PathLike[str] | None = None,
    label: str = "black box",
) -> BlackBox:
    """A lower bound on how well the outputs of fits distinguish ``data`` from ``neighbour``.

    Parameters
    ----------
    fit
        An unfitted estimator, or a function of one data set that returns anything with numbers in
        it. For discreet's own estimators the attacker also reads every release and knows all rows
        but one.
    claim : Claim or tuple[float, float]
        A guarantee or a unit of ``discreet.privacy``, or a pair (epsilon, delta).
    data, neighbour
        What ``fit`` takes; for an estimator ``(X, y)`` or ``(X, y, groups)``.
    delta : float, optional
        Where epsilon is shown; by default the claim's own, or 1e-6.
    runs : int, default 2000
        Fits on each of the two. Half of them choose a guess and its threshold, the other half are
        counted.
    confidence : float, default 0.999
        A true claim is refuted with probability at most 1 - confidence.
    workers : int, optional
        Processes; all cores by default.
    progress : bool, default False
        Show a bar on stderr.
    state : str or path, optional
        A file from which a stopped audit continues.
    label : str, default 'black box'
        What the bar is called.

    Returns
    -------
    BlackBox
        Lower bounds of the loss, and whether the claim is refuted.

    Privacy
    -------
    The audit reads the rows that you pass, and fits charge the estimator's ledger, if it has one.
    Use synthetic rows.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.audit import black_box
    >>> leak = lambda data: float(data.sum()) + np.random.default_rng().normal(0, 0.1)
    >>> zeros, one = np.zeros(5), np.array([0.0, 0.0, 0.0, 0.0, 1.0])
    >>> black_box(leak, (1.0, 1e-6), data=zeros, neighbour=one, runs=200, workers=1).caught
    True
    """
    if runs < 40:
        raise ValueError(f"runs must be at least 40, got {runs}")
    if not 0.5 < confidence < 1:
        raise ValueError(f"confidence must be between 0.5 and 1, got {confidence}")
    unit, delta = _unit(claim, delta)
    function: Callable[[Any], Any] = FitEstimator(fit) if hasattr(fit, "fit") else fit
    worlds: tuple[Any, Any] = (data, neighbour)
    if is_ours(fit) and not _hides_an_order(fit, data):
        function = TranscriptAttack(fit)
    if isinstance(function, TranscriptAttack):
        worlds = (World(data, neighbour, is_first=True), World(neighbour, data, is_first=False))
    outputs = collect(function, worlds, runs, workers=workers, progress=progress, state=state, label=label)
    # Runs are shuffled, so that the two halves do not differ by the time at which they ran.
    order = np.random.default_rng(0).permutation(runs)
    first, second = (world[order] for world in outputs)
    transcript = isinstance(function, TranscriptAttack)
    learnt = runs // (_RUNS_PER_CHOICE_RUN if transcript else 2)
    # The first number of an output is its length; the next number of a transcript is the likelihood
    # ratio.
    guess = learn_guess(first[:learnt], second[:learnt], confidence, ratio=1 if transcript else None)
    rates = guess.rates(first[learnt:], second[learnt:], confidence)
    return BlackBox(
        claimed_mu=float(unit.mu),
        claimed_epsilon=float(unit.epsilon(delta)),
        delta=delta,
        rates=rates,
        guess=guess.name,
        caught=rates.refutes(unit),
        first_scores=guess.score(first[learnt:]) - guess.threshold,
        second_scores=guess.score(second[learnt:]) - guess.threshold,
    )


@dataclass(frozen=True)
class FitEstimator:
    """An estimator as a function of a data set: a fresh clone each time."""

    estimator: Any

    def __call__(self, data: Any) -> Any:
        from sklearn.base import clone

        return clone(self.estimator).fit(*data)


def _hides_an_order(fit: Any, data: Any) -> bool:
    """Whether rows are shuffled first: an attack on the transcript with a known order would be too
    strong.
    """
    return is_shuffled(FitEstimator(fit)(data).privacy_)


def is_ours(fit: Any) -> bool:
    """Whether it is one of discreet's estimators, whose releases can be recorded."""
    return hasattr(fit, "fit") and any(kind.__module__.startswith("discreet.") for kind in type(fit).__mro__)


def _unit(claim: Any, delta: float | None) -> tuple[Any, float]:
    if isinstance(claim, tuple):
        epsilon, slack = claim
        unit: Any = Pure(float(epsilon)) if slack == 0 else Approximate(float(epsilon), float(slack))
        return unit, float(slack if delta is None else delta)
    if not hasattr(claim, "delta"):
        raise TypeError(f"claim must be a guarantee, a privacy unit or (epsilon, delta), got {type(claim).__name__}")
    return claim, 1e-6 if delta is None else float(delta)


def gaussian_claim(epsilon: float, delta: float) -> GDP:
    """The claim of a model that spends (epsilon, delta) on Gaussian noise: a whole curve, not a
    point.

    A refutation is then of the curve; use the plain pair for code whose noise is not known to be
    Gaussian.

    Parameters
    ----------
    epsilon : float
        The privacy loss that is allowed. Smaller means more privacy and more noise.
    delta : float
        The probability with which epsilon may be exceeded; well below 1 over the number of people.

    Returns
    -------
    GDP
        A claim for ``black_box``.

    Examples
    --------
    >>> from discreet.audit import gaussian_claim
    >>> round(gaussian_claim(1.0, 1e-6).mu, 3)
    0.237
    """
    return GDP.from_epsilon(epsilon, delta)
