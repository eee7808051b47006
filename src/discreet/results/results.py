"""The results of a fit, with the names that statsmodels uses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from discreet.docstrings import described
from discreet.errors import DiscreetError, NoErrorsError
from discreet.parameters import normal_quantile
from discreet.privacy import Guarantee, Payment
from discreet.results.named import frame, frame_of_records, series
from discreet.results.wald import WaldTest, wald_test
from discreet.rows import RowsUsed

if TYPE_CHECKING:
    from discreet.results.summary import Summary

Floats = NDArray[np.float64]

# Links whose exponentiated slopes are ratios, and of what.
RATIOS = {"logit": "odds", "softmax": "odds", "log": "rate"}


@dataclass(frozen=True, eq=False)
class Results:
    """What a fit released, and all that follows from it at no further cost.

    ``params``, ``bse``, ``tvalues``, ``pvalues`` and the methods describe the unshrunk
    ``estimates``, for which intervals and tests are valid. They are pandas objects where pandas is
    installed, else arrays in the order of ``names``, which begin with ``const`` if there is an
    intercept. ``shrunk`` has the least expected prediction error and is what ``coef_`` and
    ``predict`` use.

    Attributes
    ----------
    target : str
        The label.
    names : tuple of str
        The coefficients, in the order of all arrays here.
    shrunk : array
        The coefficients that predict best.
    estimates : array
        The unshrunk estimates, ``params`` as an array.
    covariance : array, optional
        Of the estimates, sampling error and privacy noise together; None where the solver gives
        none, and ``no_errors`` says why.
    noise_covariance : array, optional
        The privacy noise's part; None where it is not known separately.
    privacy : Guarantee
        The guarantee, with every release.
    scale : float
        The dispersion; of a linear model the residual variance.
    scale_noise_std : float
        The standard deviation of the noise in ``scale``.
    nobs : float
        The number of rows behind the estimates, noisy unless it is public.
    used : RowsUsed, optional
        How many rows contributed, by a noisy count.
    rows : int, optional
        How many rows there are, where that is public.
    signal : {'clear', 'faint', 'drowned'}, optional
        Whether slopes are clear of the noise; None where the solver does not give it.
    family : str
        The family of the labels' distribution.
    link : str
        The link function.
    model : str
        The class of the model.
    delta : float
        The delta at which the guarantee is shown.
    trust : {'central', 'local', 'parties'}
        Who adds the noise.
    facts : tuple of pairs of str
        Further lines for the head of the summary.
    notes : tuple of str
        Notes for the reader beside the numbers.
    not_covered : tuple of str
        Steps of a pipeline that were fitted to the same rows, which no guarantee covers.
    payment : Payment, optional
        What was charged to a ledger, if one paid.
    no_errors : str
        Why there are no standard errors, where there are none.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (5_000, 2))
    >>> y = X @ [1.0, -2.0] + rng.normal(0, 0.5, 5_000)
    >>> model = LinearRegression(epsilon=1.0, delta=1e-6, bounds_X=(-1, 1), bounds_y=(-5, 5)).fit(
    ...     X, y
    ... )
    >>> model.results_.params.index.tolist()
    ['const', 'x0', 'x1']
    >>> bool(model.results_.wald_test("x0 = x1").pvalue < 0.001)
    True
    """

    target: str
    names: tuple[str, ...]
    shrunk: Floats
    estimates: Floats
    covariance: Floats | None
    noise_covariance: Floats | None
    privacy: Guarantee
    scale: float = float("nan")
    scale_noise_std: float = 0.0
    nobs: float = float("nan")
    used: RowsUsed | None = None
    rows: int | None = None
    signal: str | None = None
    family: str = "gaussian"
    link: str = "identity"
    model: str = "least squares"
    delta: float = 1e-6
    trust: str = "central"
    facts: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    not_covered: tuple[str, ...] = ()
    payment: Payment | None = None
    no_errors: str = field(default="this solver gives no standard errors")

    @property
    def params(self) -> Any:
        """The unshrunk estimates."""
        return series(self.estimates, self.names)

    @property
    def bse(self) -> Any:
        """Standard errors that include the privacy noise."""
        return series(self.std_errors, self.names)

    @property
    def noise_bse(self) -> Any:
        """Standard errors of the privacy noise alone."""
        return series(self.noise_std_errors, self.names)

    @property
    def tvalues(self) -> Any:
        """Estimates over their standard errors."""
        return series(self.z_scores, self.names)

    @property
    def pvalues(self) -> Any:
        """Two-sided p-values, from the normal distribution."""
        return series(self.p_values, self.names)

    @described
    def conf_int(self, alpha: float = 0.05) -> Any:
        """Confidence intervals: where the population's coefficients are. One row (low, high) each.

        Returns
        -------
        DataFrame, or array without pandas
            Low and high ends, by name.
        """
        return frame(self.intervals(alpha), self.names, [0, 1])

    @described
    def noise_int(self, alpha: float = 0.05) -> Any:
        """Noise intervals: where the same fit on these rows would be without the privacy noise.

        Returns
        -------
        DataFrame, or array without pandas
            Low and high ends, by name.
        """
        return frame(self.noise_intervals(alpha), self.names, [0, 1])

    def cov_params(self) -> Any:
        """Covariance of ``params``: sampling error and privacy noise together.

        Returns
        -------
        DataFrame, or array without pandas
            One row and one column for each name.
        """
        return frame(self._known(), self.names, self.names)

    def wald_test(self, hypothesis: Any, values: Any = 0.0) -> WaldTest:
        """Test a linear hypothesis about the coefficients.

        Parameters
        ----------
        hypothesis : str, list of str or matrix
            A name or a list of names (all of them are ``values``), a text such as
            ``"age = 2 * bmi"`` (needs formulaic), or a matrix with one column for each of
            ``names``, whose product with them is ``values``.
        values : float or array, default 0.0
            What the coefficients are, if the hypothesis is true.

        Returns
        -------
        WaldTest
            Statistic, degrees of freedom and p-value.
        """
        return wald_test(hypothesis, values, self.names, self.estimates, self._known())

    @described
    def odds_ratios(self, alpha: float = 0.05) -> Any:
        """e to each coefficient of a logistic model, with its interval; the intercept's are odds.

        Returns
        -------
        DataFrame, or array without pandas
            Ratio, low and high ends, by name.
        """
        return self._ratios("odds", "odds ratio", alpha)

    @described
    def rate_ratios(self, alpha: float = 0.05) -> Any:
        """e to each coefficient of a model with the log link, with its interval; the intercept's is
        a rate.

        Returns
        -------
        DataFrame, or array without pandas
            Ratio, low and high ends, by name.
        """
        return self._ratios("rate", "rate ratio", alpha)

    @described
    def to_frame(self, alpha: float = 0.05) -> Any:
        """One row for each coefficient, with all its statistics, as a pandas data frame.

        Returns
        -------
        DataFrame
            Estimates, errors, z, p-values, ends of intervals, shrunk coefficients.
        """
        return frame_of_records(self.records(alpha))

    @described
    def records(self, alpha: float = 0.05) -> list[dict[str, Any]]:
        """The same as plain dictionaries; None where a number is not known.

        Returns
        -------
        list of dict
            One record for each coefficient.
        """
        count = len(self.names)
        unknown: list[Any] = [None] * count
        with_errors, with_noise = self.covariance is not None, self.noise_covariance is not None
        low, high = self.intervals(alpha).T.tolist() if with_errors else (unknown, unknown)
        columns: dict[str, list[Any]] = {
            "name": list(self.names),
            "estimate": self.estimates.tolist(),
            "std_err": self.std_errors.tolist() if with_errors else unknown,
            "noise_std_err": self.noise_std_errors.tolist() if with_noise else unknown,
            "z": self.z_scores.tolist() if with_errors else unknown,
            "p_value": self.p_values.tolist() if with_errors else unknown,
            "ci_low": low,
            "ci_high": high,
            "coef": self.shrunk.tolist(),
        }
        return [{key: values[i] for key, values in columns.items()} for i in range(count)]

    def summary(self, *, predictive: bool = False) -> Summary:
        """The fit as a table of at most 78 columns, with its guarantee; it prints itself, notebooks
        show HTML.

        Parameters
        ----------
        predictive : bool, default False
            Show the shrunk coefficients, which predict best, beside the estimates.

        Returns
        -------
        Summary
            It prints itself.
        """
        from discreet.results.summary import Summary

        return Summary(self, predictive)

    def simulate(self, draws: int, seed: int | None = None) -> Any:
        """A parametric bootstrap: coefficients as the same fit would give them on other rows and
        with other noise.

        Made from released quantities alone, so it costs nothing; one row per draw.

        Parameters
        ----------
        draws : int
            How many.
        seed : int, optional
            For the same draws again.

        Returns
        -------
        DataFrame, or array without pandas
            One row per draw, one column for each name.
        """
        rng = np.random.default_rng(seed)
        made = rng.multivariate_normal(self.estimates, self._known(), size=draws, method="eigh")
        return frame(made, None, self.names)

    @property
    def slopes(self) -> NDArray[np.intp]:
        """Positions of the coefficients that are not intercepts."""
        return np.array([i for i, name in enumerate(self.names) if not _is_intercept(name)], dtype=np.intp)

    @property
    def std_errors(self) -> Floats:
        """``bse`` as an array."""
        return np.sqrt(np.diag(self._known()))

    @property
    def sampling_covariance(self) -> Floats | None:
        """What the covariance would be without privacy noise."""
        return None if self.noise_covariance is None else self._known() - self.noise_covariance

    @property
    def noise_std_errors(self) -> Floats:
        """``noise_bse`` as an array."""
        self._known()
        if self.noise_covariance is None:
            raise NoErrorsError("the privacy noise's part of these standard errors is not known separately")
        return np.sqrt(np.maximum(np.diag(self.noise_covariance), 0.0))

    @property
    def z_scores(self) -> Floats:
        """``tvalues`` as an array."""
        return self.estimates / self.std_errors

    @property
    def p_values(self) -> Floats:
        """``pvalues`` as an array."""
        return np.asarray(2 * ndtr(-np.abs(self.z_scores)))

    @described
    def intervals(self, alpha: float = 0.05) -> Floats:
        """``conf_int`` as an array.

        Returns
        -------
        array of shape (coefficients, 2)
            Low and high ends.
        """
        return self._interval(self.std_errors, alpha)

    @described
    def noise_intervals(self, alpha: float = 0.05) -> Floats:
        """``noise_int`` as an array.

        Returns
        -------
        array of shape (coefficients, 2)
            Low and high ends.
        """
        return self._interval(self.noise_std_errors, alpha)

    def _interval(self, errors: Floats, alpha: float) -> Floats:
        reach = normal_quantile(alpha) * errors
        return np.column_stack([self.estimates - reach, self.estimates + reach])

    def _known(self) -> Floats:
        if self.covariance is None:
            raise NoErrorsError(self.no_errors)
        return self.covariance

    def _ratios(self, kind: str, title: str, alpha: float) -> Any:
        if RATIOS.get(self.link) != kind:
            raise DiscreetError(
                f"a model with the {self.link} link has no {kind} ratios: they belong to the "
                f"{'logit' if kind == 'odds' else 'log'} link"
            )
        with np.errstate(over="ignore"):
            values = np.exp(np.column_stack([self.estimates, self.intervals(alpha)]))
        return frame(values, self.names, [title, f"{alpha / 2:g}", f"{1 - alpha / 2:g}"])

    def __repr__(self) -> str:
        return f"<Results of {self.model} for {self.target!r}: {len(self.names)} coefficients; .summary() shows them>"

    def _repr_html_(self) -> str:
        return str(self.summary()._repr_html_())


def _is_intercept(name: str) -> bool:
    return name == "const" or name.endswith(": const")
