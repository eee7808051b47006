"""More than two classes: from the descent's coefficients to the user's units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.algorithms.multinomial import MultinomialFit, descend_multinomial
from discreet.algorithms.steps.glm_model import GlmModel, Guess
from discreet.curator import Curator
from discreet.domain import Encoder, Public
from discreet.estimators.moments import require_target
from discreet.estimators.public_guess import public_guess
from discreet.estimators.units import units
from discreet.privacy import Budget, Guarantee
from discreet.results import Results


@dataclass(frozen=True, eq=False)
class ClassFit:
    """One row of coefficients per class, in the user's units."""

    fit: MultinomialFit
    turn: np.ndarray
    with_intercept: bool

    @property
    def iterations(self) -> int:
        return self.fit.iterations

    @property
    def _coefficients(self) -> np.ndarray:
        return np.asarray(self.fit.coef @ self.turn.T)

    @property
    def coef(self) -> np.ndarray:
        return self._coefficients[:, 1:]

    @property
    def intercept(self) -> np.ndarray:
        return self._coefficients[:, 0] if self.with_intercept else np.zeros(len(self.fit.coef))

    def result(self, classes: Sequence[str], encoder: Encoder, privacy: Guarantee) -> Results:
        """All classes' coefficients one after another, each class with its constant first."""
        first = 0 if self.with_intercept else 1
        names = ["const", *encoder.names][first:]
        turn = np.kron(np.eye(len(classes)), self.turn[first:])
        noise, sampling = self.fit.noise_covariance, self.fit.sampling_covariance
        if noise is None or sampling is None:  # too many coefficients for their covariances: errors one by one
            noise, sampling = np.diag(self.fit.noise_std.ravel() ** 2), np.diag(self.fit.sampling_std.ravel() ** 2)
        noise = turn @ noise @ turn.T
        return Results(
            target=require_target(encoder).name,
            names=tuple(f"{value}: {name}" for value in classes for name in names),
            shrunk=turn @ self.fit.coef.ravel(),
            estimates=turn @ self.fit.estimate.ravel(),
            covariance=noise + turn @ sampling @ turn.T,
            noise_covariance=noise,
            scale=1.0,
            scale_noise_std=0.0,
            nobs=self.fit.count,
            used=self.fit.used,
            privacy=privacy,
            family="multinomial",
            link="softmax",
        )


def fit_classes(
    source: Curator,
    encoder: Encoder,
    budget: Budget,
    model: GlmModel,
    public: Public | None,
    classes: int,
    steps: int | None,
) -> ClassFit:
    """Fit all classes together; public rows tell where x lies, and their labels are not used here."""
    guess: Guess | None = None
    if public is not None:
        rows = Public(rows=public.rows, second_moment=public.second_moment, n=public.n)
        guess = public_guess(rows, encoder, model)
    fit = descend_multinomial(
        source,
        budget,
        classes=classes,
        labels=model.labels,
        width=encoder.width,
        x_radius=encoder.radius,
        penalty=model.penalty,
        origin=model.origin,
        guess=guess,
        steps=steps,
    )
    return ClassFit(fit, units(encoder, with_intercept=True), model.origin is None)
