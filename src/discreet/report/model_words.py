"""Sentences of a report: whether more budget or more people would help, and which limits apply."""

from __future__ import annotations

import math

import numpy as np

from discreet.errors import GuaranteeError
from discreet.privacy import gaussian_mu
from discreet.results import Results
from discreet.results.numbers import percent


def what_would_help(results: Results) -> list[tuple[str, str]]:
    """A change, and the standard errors after it as a share of today's: the median over the slopes.

    Sampling variance falls as 1 / n. The noise variance of central models falls as 1 / (n mu)^2,
    with the mu of the changed epsilon at the same delta. That of local models and of parties falls
    as 1 / n.
    """
    if results.covariance is None or results.noise_covariance is None or len(results.slopes) == 0:
        return []
    slopes = results.slopes
    whole = np.diag(results.covariance)[slopes]
    noise = np.minimum(np.diag(results.noise_covariance)[slopes], whole)
    sampling = whole - noise

    def said(new: np.ndarray) -> str:
        return percent(float(np.median(np.sqrt(new / np.where(whole > 0, whole, 1.0)))))

    central = results.trust == "central"
    rows = []
    if central:
        for factor in (2, 4):
            ratio = _mu_ratio(results, factor)
            if ratio is not None:
                rows.append((f"{factor} times the epsilon", said(sampling + noise / ratio**2)))
    for factor in (2, 4):
        rows.append((f"{factor} times the people", said(sampling / factor + noise / factor ** (2 if central else 1))))
    rows.append(("no privacy noise at all", said(sampling)))
    return rows


def _mu_ratio(results: Results, factor: int) -> float | None:
    epsilon = results.privacy.epsilon(results.delta)
    if not (0 < results.delta < 1 and math.isfinite(epsilon)):
        return None
    try:
        return gaussian_mu(factor * epsilon, results.delta) / gaussian_mu(epsilon, results.delta)
    except (GuaranteeError, ValueError, ZeroDivisionError):
        return None


def help_in_words(results: Results) -> str:
    """The same in one sentence."""
    if results.covariance is None:
        return "There are no standard errors, so this cannot be computed."
    if results.noise_covariance is None:
        return "The privacy noise's part of the standard errors is not known separately, so this cannot be computed."
    slopes = results.slopes
    whole = np.diag(results.covariance)[slopes]
    share = float(np.median(np.diag(results.noise_covariance)[slopes] / np.where(whole > 0, whole, 1.0)))
    part = f"The privacy noise causes {percent(min(share, 1.0))} of the squared standard error of a typical effect."
    if share < 0.2:
        return f"{part} More epsilon would hardly help; more people would."
    if share > 0.8:
        return f"{part} More epsilon would help, and more people even more."
    return f"{part} More epsilon and more people would both help."


def limits_that_apply(results: Results) -> list[str]:
    """The limits of this result that a reviewer must know."""
    privacy = results.privacy
    said = []
    if privacy.seeded:
        said.append("NOT PRIVATE: the noise came from random_state and can be computed again by whoever knows it.")
    if results.not_covered:
        said.append(f"Not covered: {', '.join(results.not_covered)}, fitted to the same rows without a guarantee.")
    said.append(
        "Bounds and categories were declared by the analyst. The guarantee assumes that they were not computed from "
        "the private rows; no program can check that."
    )
    if results.trust == "local":
        said.append("The influence of lying devices with valid tokens is bounded, but they are not detected.")
    elif not privacy.grouped:
        said.append("One person is one row: somebody with several rows is protected less.")
    else:
        said.append(f"At most {privacy.rows_per_person} rows of each person were used; others were left out.")
    if privacy.neighbours == "replace_one":
        said.append("The number of rows (or people) is taken to be public.")
    if results.covariance is not None:
        said.append("Each interval has a level of 95 %: of twenty true effects of 0, about one looks clear by chance.")
    if results.signal in ("faint", "drowned"):
        said.append("The noise is as large as the effects: do not interpret single coefficients.")
    if results.payment is None and results.trust == "central":
        said.append("No ledger paid for this fit: the cost of other fits on the same data is not recorded.")
    return [*said, *results.notes]
