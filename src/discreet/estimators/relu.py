"""ReLU regression and other single-index models for one trusted curator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from discreet.algorithms.descent import descend
from discreet.algorithms.minibatch_glmtron import minibatch_glmtron, printed_minibatch_glmtron
from discreet.algorithms.printed_glmtron import printed_glmtron
from discreet.algorithms.projected_descent import pgd
from discreet.algorithms.shuffled_glmtron import shuffled_glmtron, shuffled_sgd
from discreet.algorithms.steps.coordinates import Coordinates
from discreet.algorithms.steps.first_look import XScaling
from discreet.algorithms.steps.glm_model import GlmModel, Guess
from discreet.algorithms.steps.iterates import Iterates
from discreet.algorithms.tree_glmtron import tree_glmtron
from discreet.curator import Curator
from discreet.docstrings import described, documented
from discreet.domain import Encoder
from discreet.errors import DomainError
from discreet.estimators.base import check_choice
from discreet.estimators.constructor import DenseParameters
from discreet.estimators.glm import GeneralizedLinearRegressor
from discreet.estimators.index_public import labelled_rows, shrunk_moments
from discreet.estimators.moments import require_target
from discreet.estimators.results import LinearResultMethods
from discreet.estimators.solved import Solver
from discreet.estimators.solvers import check_options
from discreet.estimators.units import linear_result, store_facts, units
from discreet.glm import Family, Gaussian, Link
from discreet.glm.index_links import INDEX_LINKS, index_link
from discreet.inference import residual_fact
from discreet.privacy import Approximate, Budget, Unit
from discreet.results import Results
from discreet.rows import Labels

_STEPS, _STEP = {"max_iter": "steps"}, {"step": "eta"}
# Every solver with its options; the default is the descent.
_SOLVERS: dict[str, Solver] = {
    "auto": Solver(),
    "full_batch": Solver(),
    "glmtron": Solver(shuffled_glmtron, _STEP),
    "minibatch": Solver(minibatch_glmtron, _STEPS),
    "tree": Solver(tree_glmtron, _STEPS | _STEP),
    "sgd": Solver(shuffled_sgd, _STEP),
    "pgd": Solver(pgd, {**_STEPS, **_STEP, "radius": "ball"}),
}
_PRINTED: dict[str, Solver] = {
    "glmtron": Solver(printed_glmtron, _STEP),
    # The printed batches take steps of a length; ours weigh each answer by its noise.
    "minibatch": Solver(printed_minibatch_glmtron, _STEPS | _STEP),
}
# Solvers that ask rows in disjoint parts, by their positions.
_IN_PARTS = ("glmtron", "minibatch", "tree", "sgd")


class _IndexRegressor(RegressorMixin, DenseParameters, LinearResultMethods):  # type: ignore[misc]
    """Checks parameters, builds a curator, calls one algorithm, stores the result."""

    bounds_y: Any = None

    def _link(self) -> Link:
        raise NotImplementedError

    def _family(self) -> tuple[Family, Link]:
        return Gaussian(), self._link()  # least squares about a curved mean

    @described
    def fit(self, X: Any, y: Any = None, groups: Any = None, *, job: str | None = None) -> Self:
        """Fit on private rows.

        Privacy
        -------
        Noisy sums over all rows, or over disjoint parts of them, whose joint cost is at most
        ``epsilon`` at ``delta``.
        """
        return self._fit(X, y, groups, job)

    def _check_parameters(self) -> Budget:
        check_choice("solver", self.solver, tuple(_SOLVERS))
        if self.calibration == "paper" and self.solver not in _PRINTED:
            raise ValueError(
                f"calibration='paper' is for solvers whose noise the paper prints: {', '.join(_PRINTED)}; "
                f"got solver={self.solver!r}"
            )
        if self.solver in _IN_PARTS and self.neighbours != "replace_one":
            raise ValueError(
                f"solver={self.solver!r} asks disjoint parts of the rows, by their positions; that needs "
                "neighbours='replace_one', as an added row would move others into other parts. "
                "solver='auto' works with both"
            )
        check_options(self, self._options())
        self._link()
        return super()._check_parameters()

    def _options(self) -> tuple[str, ...]:
        return tuple(self._solver.options)

    @property
    def _solver(self) -> Solver:
        return (_PRINTED if self.calibration == "paper" else _SOLVERS)[self.solver]

    def _price(self, budget: Budget) -> list[Unit]:
        # A shuffled pass promises one epsilon at one delta, and nothing finer is known of it.
        shuffled = self.solver in ("glmtron", "sgd")
        return [Approximate(budget.epsilon, budget.delta)] if shuffled else super()._price(budget)

    def _solved(self, source: Curator, encoder: Encoder, budget: Budget) -> Results | None:
        model, intercept = self._model(encoder), self._has_intercept(encoder)
        turn = units(encoder, with_intercept=intercept)
        if self.solver in _IN_PARTS:
            source.require_positions()
        if self.solver not in ("auto", "full_batch"):
            known = None if self.public is None else shrunk_moments(self.public, encoder)
            options, solve = self._solver.asked(self), self._solver.called
            if self.solver == "glmtron":
                options["public"] = labelled_rows(self.public, encoder)
            descent: Iterates = solve(source, budget, model, known, x_radius=encoder.radius, **options)
            turn = turn @ descent.design.matrix.T
            self._take(turn @ descent.theta, intercept)
            self.path_, self.n_iter_ = np.array(descent.path) @ turn.T, descent.steps
            store_facts(self, descent.used, descent.signal)
            return None
        fit = descend(source, budget, model, x_radius=encoder.radius, guess=self._guess(model, encoder))
        self._take(turn @ fit.coef, intercept)
        self.path_, self.n_iter_ = np.array(fit.path) @ turn.T, fit.iterations
        store_facts(self, fit.used, fit.signal)
        return linear_result(fit, encoder, source.guarantee, intercept)

    _NO_ERRORS = "only solver='auto' has standard errors"

    def _described(self, released: Results) -> Results:
        facts = (("Family", f"gaussian, {self._link_name} link"),)
        more = () if np.isnan(released.scale) else residual_fact(released.scale)
        return replace(released, link=self._link_name, facts=facts + more)

    @property
    def _link_name(self) -> str:
        """The user's name for it: single-index models call the logit link sigmoid."""
        link = self._link()
        return next((name for name, known in INDEX_LINKS.items() if known == link), link.name)

    def _model(self, encoder: Encoder) -> GlmModel:
        link, target = self._link(), require_target(encoder)
        if target.high <= link.least_mean or target.low >= link.greatest_mean:
            raise DomainError(
                f"bounds_y = ({target.low:g}, {target.high:g}) has no value that the {self._link_name} link "
                f"can reach: its means are between {link.least_mean:g} and {link.greatest_mean:g}"
            )
        labels, origin = Labels(target.centre, target.half_width), -encoder.centre / encoder.half_width
        return GlmModel(
            Gaussian(),
            link,
            labels,
            np.zeros(encoder.width),
            None if self._has_intercept(encoder) else origin,
            single_index=True,
        )

    def _guess(self, model: GlmModel, encoder: Encoder) -> Guess | None:
        if self.public is None:
            return None
        mean, covariance = shrunk_moments(self.public, encoder)
        white = Coordinates.white(mean, covariance, 0.0, model.origin)
        return Guess(XScaling(mean, 1.0), white)


@documented(like=GeneralizedLinearRegressor)
class ReLURegressor(_IndexRegressor):
    """Differentially private ReLU regression: y = max(0, x^T w + b) and noise.

    data_norm (or bounds_X, or a domain) and bounds_y: declared, from what the values can be.

    Parameters
    ----------
    public : Public, optional
        Public rows; their covariance whitens for free, and ``"glmtron"`` takes its thresholds from
        their labels.
    solver : str, default 'auto'
        ``"auto"`` (full-batch GLMtron in whitened coordinates, then least-squares steps; standard
        errors); ``"glmtron"``, ``"minibatch"``, ``"tree"`` (the papers' one-pass algorithms),
        ``"sgd"``, ``"pgd"`` (baselines).
    max_iter : int, optional
        The number of batches (``"minibatch"``, ``"tree"``) or of steps (``"pgd"``); None lets each
        choose.
    step : float, optional
        The papers' eta, on white columns: by a mean gradient (``"pgd"``, ``"tree"``, printed
        ``"minibatch"``) or by one row's (``"glmtron"``, ``"sgd"``); None lets each choose.
    radius : float, optional
        The ball that ``"pgd"`` keeps coefficients in, on white columns and in y's units; y's
        declared width if None.
    calibration : str, default 'tight'
        ``"tight"``, or ``"paper"`` for the printed noise of ``"glmtron"`` and ``"minibatch"``.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (2_000, 2))
    >>> from discreet import ReLURegressor
    >>> y = np.maximum(0, X @ [1.0, -1.0]) + rng.normal(0, 0.1, 2_000)
    >>> model = ReLURegressor(epsilon=5.0, delta=1e-6, bounds_X=(-1, 1), bounds_y=(-1, 3))
    >>> model = model.fit(X, y)
    >>> model.coef_.shape
    (2,)
    """

    def _link(self) -> Link:
        return INDEX_LINKS["relu"]


@documented(like=ReLURegressor)
class SingleIndexRegressor(_IndexRegressor):
    """Differentially private regression on one index: y = link(x^T w + b) and noise, for a known
    increasing link.

    Parameters
    ----------
    link : str, default 'sigmoid'
        ``"relu"``, ``"leaky_relu"``, ``"sigmoid"``, ``"softplus"`` or ``"cubic"`` (eta^3 / 3), in
        y's own units. All else as ``ReLURegressor``.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (2_000, 2))
    >>> from discreet import SingleIndexRegressor
    >>> y = np.log1p(np.exp(X @ [1.0, -1.0])) + rng.normal(0, 0.1, 2_000)
    >>> model = SingleIndexRegressor(
    ...     epsilon=5.0, delta=1e-6, bounds_X=(-1, 1), bounds_y=(-1, 3), link="softplus"
    ... )
    >>> model = model.fit(X, y)
    >>> model.coef_.shape
    (2,)
    """

    link: str = "sigmoid"

    def _link(self) -> Link:
        return index_link(self.link)
