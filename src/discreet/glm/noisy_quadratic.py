"""Least squares on a noisy second moment, using the known distribution of the noise.

The released matrix is M + E, where M is the second moment of some coordinates and E is isotropic
symmetric noise: <E, S> has standard deviation noise_std |S| for every symmetric S. A model is a
residual vector r = G^T c - g: the coefficients c combine the feature rows G, g selects the target,
and r^T M r is the sum of squared residuals.

Two facts are used, with Q = (G M G^T + ridge)^-1 and K = G^T Q G:

* Stein's identity. r depends on E through dr = -K E r, so  E[r^T E r] = -noise_std^2 E[r^T K r +
  tr(K) |r|^2]. The true loss r^T M r of a fitted model is therefore estimated without bias by r^T
  (M + E) r + noise_std^2 (r^T K r + tr(K) |r|^2), which is how the ridge is chosen.
* The noise in the normal equations, E r, has covariance noise_std^2 / 2 (|r|^2 I + r r^T).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.glm.elastic_net import elastic_net
from discreet.glm.narrow import NARROWEST, SEEN

Floats = NDArray[np.float64]

# The noise moves eigenvalues by up to sqrt(2 p) noise_std. Below this fraction of that, a
# direction is not inverted.
_SAFE_EIGENVALUE = 0.75
# The minimum of many noisy loss estimates is biased downwards; this many standard
# deviations are added to each.
_CAUTION = 0.25
# The constant model is replaced only by one that is better by this many standard deviations.
_PROOF = 1.0


@dataclass(frozen=True)
class Solution:
    """Coefficients for prediction (shrunk) and for inference (unshrunk, with covariances)."""

    coef: Floats
    estimate: Floats
    noise_covariance: Floats
    sampling_covariance: Floats
    residual_variance: float
    residual_variance_noise_std: float
    ridge: float


@dataclass(frozen=True)
class NoisyQuadratic:
    """A noisy second moment, and the combinations of its coordinates that are
    features (G) and target (g).
    """

    moment: Floats
    noise_std: float
    features: Floats
    penalised: NDArray[np.bool_]
    target: Floats
    penalty: Floats
    weight: float

    @classmethod
    def of_label(
        cls, moment: Floats, noise_std: float, constant: bool, unit: float = 1.0, weight: float | None = None
    ) -> NoisyQuadratic:
        """The last coordinate is 1 / ``unit`` times the target, the others are features, of which a
        constant is the first; its moment is the total weight, unless that is given.
        """
        size, moment = len(moment) - 1, moment.copy()
        if constant:  # the total weight of the rows is at least what noise alone could produce
            moment[0, 0] = max(moment[0, 0], 1.5 * math.sqrt(2 * size) * noise_std)
        features, target = np.eye(size + 1)[:-1], np.eye(size + 1)[-1] / unit
        penalised = np.arange(size) >= int(constant)
        total = float(moment[0, 0]) if weight is None else weight
        return cls(moment, noise_std, features, penalised, target, np.zeros(size), total)

    def solve(self, l1: Floats | None = None, basis: Floats | None = None) -> Solution:
        """The model with the smallest estimated loss, and the unbiased
        estimate with its covariance.

        ``weight`` is the (noisy) total weight of the rows, which turns a sum of squares into a
        variance. ``l1``: the L1 penalty of the coefficients for prediction, added to half the sum
        of squares, in the coordinates basis^T c.
        """
        ladder = self._ridges()
        losses, spreads = self._losses(ladder)
        best = int(np.argmin(losses + _CAUTION * spreads))
        ridge = ladder[best]
        if losses[best] + _PROOF * spreads[best] > losses[-1]:
            ridge = math.inf
        coef = self._restricted(ridge)[0] if l1 is None else self._sparse(ridge, l1, basis)
        estimate, noise, gram, inverse = self._unbiased(ladder[0])
        variance, variance_noise_std = self._residual_variance(ridge)
        sampling = variance * inverse @ gram @ inverse
        return Solution(coef, estimate, noise, sampling, variance, variance_noise_std, ridge)

    def narrow(self) -> NDArray[np.bool_]:
        """Which penalised features may be too narrow to be seen through the noise."""
        gram, rows = self._gram_given_intercept(), self.features[self.penalised]
        variances = np.diagonal(gram) - self.penalty[self.penalised]
        return np.asarray(variances < SEEN * self.noise_std * np.sum(rows**2, axis=1))

    def unknown(self) -> Floats:
        """The covariance of coefficients if nothing is known of the slopes of narrow features.

        An intercept follows such a slope, so that the prediction at the mean stays.
        """
        gram, free = self._gram(), np.flatnonzero(~self.penalised)
        slopes = np.eye(len(gram))[self.penalised][self.narrow()]
        moment = self.features @ self.moment @ self.target
        variance = float(self.target @ self.moment @ self.target)
        if len(free):
            slopes[:, free] = -slopes @ gram[:, free] / max(float(gram[free[0], free[0]]), 1e-300)
            variance -= float(moment[free[0]]) ** 2 / max(float(gram[free[0], free[0]]), 1e-300)
        effect = max(variance, self.noise_std) / self.weight
        return np.asarray(effect / NARROWEST**2 * slopes.T @ slopes)

    def _sparse(self, ridge: float, l1: Floats, basis: Floats | None) -> Floats:
        if not math.isfinite(ridge):
            return self._restricted(ridge)[0]
        gram = self._gram() + np.diag(self.penalty + ridge * self.penalised)
        moment = self.features @ self.moment @ self.target
        back = np.eye(len(gram)) if basis is None else _inverse_of(basis)
        return np.asarray(back.T @ elastic_net(back @ gram @ back.T, back @ moment, l1))

    def _gram(self) -> Floats:
        return self.features @ self.moment @ self.features.T

    def _inverse(self, ridge: float) -> Floats:
        return _inverse_of(self._gram() + np.diag(self.penalty + ridge * self.penalised))

    def _residual(self, coefficients: Floats) -> Floats:
        return self.features.T @ coefficients - self.target

    def _ridges(self) -> list[float]:
        """From the smallest ridge with a safe inverse to infinity (the constant model)."""
        noise_edge = math.sqrt(2 * len(self.penalised)) * self.noise_std * self._stretch()
        # The unpenalised intercept is eliminated first: the Schur complement is
        # what has to be inverted.
        values = np.linalg.eigvalsh(self._gram_given_intercept())
        least = max(0.0, _SAFE_EIGENVALUE * noise_edge - float(values[0]))
        top = 1e3 * max(float(values[-1]), noise_edge)
        return [least, *(least + np.geomspace(1e-3 * noise_edge, top, 60)), math.inf]

    def _stretch(self) -> float:
        """The factor by which the combinations G amplify the noise; 1 if each
        feature is one coordinate.
        """
        return float(np.max(np.sum(self.features[self.penalised] ** 2, axis=1), initial=1.0))

    def _gram_given_intercept(self) -> Floats:
        gram = self._gram() + np.diag(self.penalty)
        inner, free = self.penalised, ~self.penalised
        block = gram[np.ix_(inner, inner)]
        if free.any():
            cross = gram[np.ix_(inner, free)]
            block = block - cross @ _inverse_of(gram[np.ix_(free, free)]) @ cross.T
        return np.asarray((block + block.T) / 2)

    def _restricted(self, ridge: float) -> tuple[Floats, Floats]:
        """Coefficients and K for this ridge; an infinite ridge sets the
        penalised coefficients to zero.
        """
        if math.isfinite(ridge):
            inverse = self._inverse(ridge)
            return inverse @ (self.features @ self.moment @ self.target), self.features.T @ inverse @ self.features
        free = ~self.penalised
        coefficients: Floats = np.zeros(len(self.penalised))
        kernel: Floats = np.zeros_like(self.moment)
        if free.any():
            rows = self.features[free]
            inverse = _inverse_of(rows @ self.moment @ rows.T)
            coefficients[free] = inverse @ (rows @ self.moment @ self.target)
            kernel = rows.T @ inverse @ rows
        return coefficients, kernel

    def _loss(self, ridge: float) -> tuple[float, Floats]:
        coefficients, kernel = self._restricted(ridge)
        residual = self._residual(coefficients)
        correction = residual @ kernel @ residual + np.trace(kernel) * (residual @ residual)
        user_penalty = coefficients @ (self.penalty * coefficients)
        loss = residual @ self.moment @ residual + self.noise_std**2 * correction + user_penalty
        return float(loss), residual

    def _losses(self, ridges: Sequence[float]) -> tuple[Floats, Floats]:
        """``_loss`` for every ridge, and the noise in its difference from the constant model's.

        One decomposition serves all of them. With the penalised features' moment given the
        others, V diag(s) V^T, and W = V^T (their rows given the others): K(ridge) = K(inf) + W^T
        (s + ridge)^-1 W.
        """
        constant, kernel = self._restricted(math.inf)
        end = self._residual(constant)
        values, vectors = np.linalg.eigh(self._gram_given_intercept())
        rows = vectors.T @ self.features[self.penalised] @ (np.eye(len(kernel)) - self.moment @ kernel)
        sums = values + np.array(ridges)[:, np.newaxis]
        inverses = np.divide(1.0, sums, out=np.zeros_like(sums), where=sums != 0)
        slopes = inverses * (rows @ self.moment @ self.target)
        moved = slopes @ rows
        residuals = end + moved
        traces = np.trace(kernel) + inverses @ np.sum(rows**2, axis=1)
        correction = _dots(residuals @ kernel, residuals) + _dots(inverses, (residuals @ rows.T) ** 2)
        correction += traces * _dots(residuals, residuals)
        user_penalties = (slopes @ vectors.T) ** 2 @ self.penalty[self.penalised]
        losses = _dots(residuals @ self.moment, residuals) + self.noise_std**2 * correction + user_penalties
        # The norm of rr^T - ee^T, for r = e + moved.
        both = residuals + end
        spreads = np.sqrt((_dots(moved, moved) * _dots(both, both) + _dots(moved, both) ** 2) / 2)
        return losses, self.noise_std * spreads

    def _residual_variance(self, ridge: float) -> tuple[float, float]:
        """The variance of a residual, and the standard deviation of the noise in it."""
        loss, residual = self._loss(ridge)
        noise_std = self.noise_std * float(residual @ residual)
        # Never below what the noise in the loss could hide.
        return max(loss, noise_std) / self.weight, noise_std / self.weight

    def _unbiased(self, ridge: float) -> tuple[Floats, Floats, Floats, Floats]:
        """The estimate without the bias of its ridge and the noise's second-order bias,
        with its noise covariance.

        To second order in E the solution is off by Q G (noise_std^2 / 2) (K + tr K) r, and by -Q
        ridge c. Both are estimated and subtracted.
        """
        inverse = self._inverse(ridge)
        coefficients = inverse @ (self.features @ self.moment @ self.target)
        residual = self._residual(coefficients)
        kernel = self.features.T @ inverse @ self.features
        half = self.noise_std**2 / 2
        second_order = inverse @ self.features @ (half * (kernel @ residual + np.trace(kernel) * residual))
        shrunk_by = inverse @ (ridge * self.penalised * coefficients)
        estimate = coefficients + shrunk_by - second_order
        residual = self._residual(estimate)
        reaching = half * ((residual @ residual) * np.eye(len(residual)) + np.outer(residual, residual))
        noise = inverse @ self.features @ reaching @ self.features.T @ inverse
        # The ridge's bias is known only roughly: it is counted as noise.
        noise = noise + np.outer(shrunk_by, shrunk_by)
        return estimate, noise, _positive_part(self._gram()), inverse


def _dots(left: Floats, right: Floats) -> Floats:
    """Inner products, row by row."""
    return np.asarray(np.einsum("ij,ij->i", left, right))


def _positive_part(matrix: Floats) -> Floats:
    """A second moment without the negative eigenvalues that noise causes:
    sampling variances are >= 0.
    """
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    if values[0] >= 0:
        return np.asarray((matrix + matrix.T) / 2)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


def _inverse_of(matrix: Floats) -> Floats:
    """The inverse, or the pseudoinverse of a matrix that noise or rounding has made singular."""
    try:
        return np.asarray(np.linalg.inv(matrix))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.pinv(matrix, hermitian=True))
