"""Regression on noisy mixes, with everything that is known of their noise.

Each of the k mixes is a sum of +-u over people, so it is approximately a draw from N(0, T) with
T = n J + k diag(s^2). J is the correlation matrix to be estimated; s_i^2 is the noise variance of
one mix, divided by k. Within a party J is known almost exactly from the party's own second moment;
between parties J_ij is estimated by the mean of products, M_i.M_j / (k n). The model is computed in
three steps:

* The nearest correlation matrix that keeps the parties' own blocks. Noise between parties gives
  correlations that no data can have; the projection removes most of this noise.
* The error of the normal equations, sum_j A_ij (J^_ij - J_ij) with A_ij the residual's coefficient
  of column j where i and j have different owners and 0 elsewhere, has by Isserlis' theorem the
  covariance (T o (A T A^T) + (A T) o (A T)^T) / (k n^2), where o is the entrywise product. It
  contains the mixing error, noise times data and noise times noise.
* Shrinkage by empirical Bayes: coefficients have a normal prior, whose variance maximises the
  marginal likelihood of the releases. Where no model explains them clearly better than noise alone,
  the constant model is returned.

docs/papers/mpr.md has the proofs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# The least gain in log marginal likelihood with which a model replaces the constant one.
_LEAST_GAIN = 1.0
_ROUNDS = 3
_PRIOR_VARIANCES = np.exp(np.linspace(-16.0, 2.0, 37))
_PROJECTIONS = 30


@dataclass(frozen=True)
class MixedMoments:
    """What all releases say about their standardised columns.

    mixed: one row per mix, one column per column. noise: s_i^2. owner: the party of each column.
    people: the number of people of each column. own: correlations within each party, with noise of
    standard deviation ``own_noise`` (of an isotropic matrix, one per column's party), divided by
    ``own_scale``.
    """

    mixed: Floats
    noise: Floats
    owner: NDArray[np.intp]
    people: Floats
    own: Floats
    own_noise: Floats
    own_scale: Floats

    def select(self, columns: NDArray[np.intp]) -> MixedMoments:
        square = np.ix_(columns, columns)
        return MixedMoments(
            self.mixed[:, columns],
            self.noise[columns],
            self.owner[columns],
            self.people[columns],
            self.own[square],
            self.own_noise[columns],
            self.own_scale[columns],
        )

    @property
    def apart(self) -> NDArray[np.bool_]:
        """Pairs of columns that belong to different parties."""
        return np.asarray(self.owner[:, np.newaxis] != self.owner)

    @property
    def shared(self) -> Floats:
        """How many people two columns share, if the smaller set is part of the larger."""
        return np.minimum(self.people[:, np.newaxis], self.people)

    def raw(self) -> Floats:
        """The unprojected correlations: unbiased between parties, but possibly not positive
        definite.
        """
        mixed = self.mixed.T @ self.mixed / (len(self.mixed) * self.shared)
        return np.where(self.apart, mixed, self.own)

    def typical_noise(self) -> float:
        """The standard error of a correlation between parties whose true value is 0."""
        level = self.people / len(self.mixed) + self.noise
        variance = len(self.mixed) * np.outer(level, level) / self.shared**2
        return math.sqrt(float(variance[self.apart].mean())) if self.apart.any() else 0.0

    def typical_own_noise(self) -> float:
        """The standard error of a correlation within a party."""
        noise = self.own_noise[:, np.newaxis] / np.outer(self.own_scale, self.own_scale)
        return math.sqrt(float((noise[~self.apart] ** 2).mean()) / 2)

    def noise_bound(self) -> float:
        """A standard deviation of isotropic noise that bounds the noise of people * raw() in all
        directions.

        a^T D b has the variance |sym(a b^T) masked|^2 in the norm of T x T over k people^2, which
        is at most the square of T's largest eigenvalue times 1 + (a.b)^2 for unit a and b;
        isotropic noise of s has s^2 / 2 times the same.
        """
        drawn = self._drawn(nearest_correlation(self.raw(), self.owner, floor=1e-3))
        largest = float(np.linalg.eigvalsh(drawn)[-1])
        own = float(np.max(self.people * self.own_noise / self.own_scale**2))
        return math.hypot(math.sqrt(2 / len(self.mixed)) * largest, own)

    def _drawn(self, correlations: Floats) -> Floats:
        """T: the covariance of one mix."""
        drawn = np.sqrt(np.outer(self.people, self.people)) * correlations + np.diag(len(self.mixed) * self.noise)
        # The label's mixes are known, so their actual length is used instead of its expectation.
        drawn[-1, -1] = float(np.mean(self.mixed[:, -1] ** 2))
        return drawn

    def equation_noise(self, correlations: Floats, residual: Floats) -> Floats:
        """The covariance of (J^ - J) residual; see the module's text."""
        mixes, drawn = len(self.mixed), self._drawn(correlations)
        chosen = np.where(self.apart, residual, 0.0) / self.shared
        through = chosen @ drawn
        covariance = (drawn * (through @ chosen.T) + through * through.T) / mixes
        for party in np.unique(self.owner):
            inner = self.owner == party
            seen = np.where(inner, residual / self.own_scale, 0.0)
            half = self.own_noise**2 / 2
            block = half * ((seen @ seen) * np.eye(len(seen)) + np.outer(seen, seen))
            covariance += np.where(np.outer(inner, inner), block / np.outer(self.own_scale, self.own_scale), 0.0)
        return np.asarray((covariance + covariance.T) / 2)


@dataclass(frozen=True)
class MixedSolution:
    """Standardised coefficients for prediction (shrunk) and for inference (unshrunk, with
    covariances).

    ``gain``: by how much the log marginal likelihood exceeds that of noise alone. ``ridge``: what
    was added to the correlations before they were inverted; intervals then assume that coefficients
    are small. ``apart``: whether columns of several parties are in the model; ``typical_noise`` is
    then that between parties.
    """

    coef: Floats
    estimate: Floats
    noise_covariance: Floats
    sampling_covariance: Floats
    unexplained: float
    unexplained_noise: float
    gain: float
    typical_noise: float
    ridge: float
    apart: bool = True

    @property
    def drowned(self) -> bool:
        return self.gain < _LEAST_GAIN


def solve(moments: MixedMoments, penalty: Floats) -> MixedSolution:
    """Regress the last column on the others; ``penalty`` is a ridge per feature, relative to the
    correlations.
    """
    apart = bool(moments.apart.any())
    noise = moments.typical_noise() if apart else moments.typical_own_noise()
    raw = moments.raw()
    correlations = nearest_correlation(raw, moments.owner, floor=min(1e-3, 0.01 * noise**2))
    gram, cross = correlations[:-1, :-1], correlations[:-1, -1]
    coef, gain = _shrunk(moments, correlations, raw[:-1, -1])
    if gain < _LEAST_GAIN:
        coef = np.zeros_like(coef)
    coef = np.asarray(np.linalg.solve(gram + np.diag(penalty), gram @ coef))
    estimate, covariance, inverse, ridge = _unshrunk(moments, raw, correlations, penalty)
    unexplained = max(1.0 - 2 * float(coef @ cross) + float(coef @ gram @ coef), 1e-6)
    sampling = unexplained / float(moments.people.min()) * inverse @ gram @ inverse
    residual = np.append(-coef, 1.0)
    unexplained_noise = math.sqrt(float(residual @ moments.equation_noise(correlations, residual) @ residual))
    return MixedSolution(
        coef, estimate, covariance, sampling, unexplained, unexplained_noise, gain, noise, ridge, apart
    )


def nearest_correlation(raw: Floats, owner: NDArray[np.intp], *, floor: float) -> Floats:
    """The nearest correlation matrix to ``raw`` that keeps each party's own block.

    Dykstra's alternating projections (Higham, 2002), with the blocks in place of the diagonal.
    """
    target = raw.copy()
    blocks = [np.ix_(owner == party, owner == party) for party in np.unique(owner)]
    for block in blocks:
        target[block] = _rescaled(_positive(target[block], 1e-4))
    kept = target.copy()
    correction = np.zeros_like(kept)
    for _ in range(_PROJECTIONS):
        before = kept - correction
        if np.linalg.eigvalsh(before)[0] >= 0:
            break
        positive = _positive(before, 0.0)
        correction = positive - before
        kept = positive
        for block in blocks:
            kept[block] = target[block]
    whole = _rescaled(_positive(kept, 0.0))
    return np.asarray((1 - floor) * whole + floor * np.eye(len(whole)))


def _positive(matrix: Floats, least: float) -> Floats:
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.asarray((vectors * np.maximum(values, least)) @ vectors.T)


def _rescaled(matrix: Floats) -> Floats:
    lengths = np.sqrt(np.maximum(np.diag(matrix), 1e-12))
    return np.asarray(matrix / np.outer(lengths, lengths))


def _shrunk(moments: MixedMoments, correlations: Floats, raw_cross: Floats) -> tuple[Floats, float]:
    """The posterior mean under the prior with the largest marginal likelihood, and the gain in its
    log.
    """
    gram, cross = correlations[:-1, :-1], correlations[:-1, -1]
    coef = np.zeros(len(cross))
    gain = 0.0
    for round_ in range(_ROUNDS):
        # Under the constant model the label has no correlations that could add to the noise.
        supposed = correlations if round_ else _without_last(correlations)
        noise = moments.equation_noise(supposed, np.append(-coef, 1.0))[:-1, :-1]
        noise[np.diag_indices(len(noise))] += 1e-12
        if round_ == 0:
            # The test against the constant model uses the unprojected correlations.
            nothing = _surprise(noise, raw_cross)
            gain = nothing - min(_surprise(width * gram @ gram + noise, raw_cross) for width in _PRIOR_VARIANCES)
        surprises = [_surprise(width * gram @ gram + noise, cross) for width in _PRIOR_VARIANCES]
        width = float(_PRIOR_VARIANCES[int(np.argmin(surprises))])
        coef = width * gram @ np.linalg.solve(width * gram @ gram + noise, cross)
    return coef, gain


def _without_last(correlations: Floats) -> Floats:
    alone = correlations.copy()
    alone[-1, :-1] = alone[:-1, -1] = 0.0
    return alone


def _surprise(covariance: Floats, seen: Floats) -> float:
    """Minus the log density of N(0, covariance), up to a constant."""
    lower = np.linalg.cholesky(covariance)
    white = np.linalg.solve(lower, seen)
    return float(white @ white / 2 + np.log(np.diag(lower)).sum())


def _unshrunk(
    moments: MixedMoments, raw: Floats, correlations: Floats, penalty: Floats
) -> tuple[Floats, Floats, Floats, float]:
    """The unshrunk estimate, its noise covariance, the inverse that was used, and the ridge it
    needed.

    It uses the unprojected correlations, because the projection biases estimates towards 0. The
    second-order bias of the noise is not corrected: with the correction intervals covered less,
    because the ridge's bias has the opposite sign.
    """
    gram, cross = raw[:-1, :-1], raw[:-1, -1]
    least = float(np.linalg.eigvalsh(gram)[0])
    # Noise moves eigenvalues by about noise * sqrt(columns); smaller ones are not inverted.
    spread = max(moments.typical_noise(), moments.typical_own_noise()) * math.sqrt(len(gram))
    ridge = max(0.0, 1.5 * spread - least)
    inverse = np.asarray(np.linalg.inv(gram + np.diag(penalty + ridge)))
    estimate = inverse @ cross
    reaching = moments.equation_noise(correlations, np.append(-estimate, 1.0))[:-1, :-1]
    # The inverse is noisy too, so this part of the estimate gets the noise a second time.
    again = (spread / (least + ridge)) ** 2
    # The ridge's bias is ridge * inverse @ truth, which is unknown; standardised coefficients are
    # assumed to be about 1 at most.
    hidden = ridge**2 * inverse @ inverse
    return estimate, (1 + again) * inverse @ reaching @ inverse + hidden, inverse, ridge
