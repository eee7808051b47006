"""A forecast in words, the same in the terminal and on the page."""

from __future__ import annotations

from discreet.planning.forecast import Forecast
from discreet.planning.kinds import kind_of

_TRUST = {
    "central": "one trusted curator",
    "local": "devices that add noise themselves",
    "parties": "two organisations that mix their columns",
}

# Measured on thirteen tables (experiments/plan_real.md).
SUPPOSED = (
    "independent normal columns, bounds at four standard deviations, labels that follow the model; on real tables "
    "the noise was often twice its forecast or more: give public rows with --sample"
)
# A risk of this many times that of the constant model is one of the mean of labels, too.
_WORSE = 1.5
LIKE_SAMPLE = "people like those of the sample, with tails no longer than it shows, and declared bounds like these"


def supposed(forecast: Forecast) -> str:
    return SUPPOSED if forecast.sample is None else LIKE_SAMPLE


def headline(forecast: Forecast) -> str:
    lacking = 0.0 if forecast.sample is None else 1 - forecast.sample.complete
    return (
        f"{kind_of(forecast.family).title} on {forecast.d} columns of {forecast.n:,} people, epsilon "
        f"{forecast.epsilon:.3g} at delta {forecast.delta:.3g} (mu {forecast.mu:.3g}), {_TRUST[forecast.trust]}"
        + (f", {forecast.public:,} public rows" if forecast.public else "")
        + ("" if forecast.sample is None else f", like a sample of {forecast.sample.rows:,} rows")
        + (f", and {lacking:.0%} of rows incomplete, which tell a fit nothing" if lacking else "")
    )


def error_rows(forecast: Forecast) -> list[tuple[str, str, str, str]]:
    """Quantity, private, not private, lower bound."""
    stated = "unknown" if forecast.unknown else f"{forecast.stated_error:.3g}"
    rows = [
        (
            "standard error of a coefficient",
            f"{forecast.standard_error:.3g}",
            f"{forecast.plain_standard_error:.3g}",
            f"{forecast.bound:.3g}" if forecast.bound else "",
        ),
        (
            f"excess risk, {kind_of(forecast.family).loss_unit}",
            f"{forecast.excess_risk:.3g}",
            f"{forecast.plain_excess_risk:.3g}",
            f"{forecast.d * forecast.bound**2:.3g}" if forecast.r2 is not None and forecast.bound else "",
        ),
    ]
    if forecast.method == "simulation":
        rows.insert(1, ("standard error that a fit states, median", stated, f"{forecast.plain_standard_error:.3g}", ""))
    if forecast.sample is not None:
        rows.append(("distance to the fit without privacy", f"{forecast.distance:.3g}", "", ""))
        rows.append(("noise alone, between fits", f"{forecast.noise:.3g}", "", ""))
    if forecast.r2 is not None and forecast.plain_r2 is not None:
        rows.append(("R^2 on new people", f"{forecast.r2:.3f}", f"{forecast.plain_r2:.3f}", ""))
    return rows


def attacker_sentences(forecast: Forecast) -> list[str]:
    """What an attacker could learn, and a warning about a delta that is too
    large for this many people.
    """
    sentences = forecast.attacker.sentences()
    if forecast.delta * forecast.n >= 1:
        sentences.append(
            f"Delta {forecast.delta:g} is not below 1 in {forecast.n:,} people: publishing one person's row would "
            "satisfy such a guarantee. Choose a smaller delta; it costs little."
        )
    return sentences


def model_sentences(forecast: Forecast) -> list[str]:
    """The loss of accuracy in sentences."""
    times = forecast.stated_error / forecast.plain_standard_error
    wider = f"{times:.1f} times as wide as" if times >= 1.05 else "as wide as"
    if forecast.unknown:
        lines = ["Intervals are too wide to tell anything of a typical coefficient: the fit says so."]
    else:
        lines = [
            f"Intervals are about {wider} without privacy: a typical coefficient is known to "
            f"within ±{1.96 * forecast.stated_error:.2g} per standard deviation of its column, in 95 of 100 cases.",
        ]
    if forecast.excess_risk > _WORSE * forecast.constant_risk:
        lines.append(
            "The noise drowns the signal, and hides the mean of labels: predictions are worse than by their true mean. "
            "More people or a larger epsilon are needed."
        )
    elif forecast.drowned:
        lines.append(
            "The noise drowns the signal: expect the constant model. More people or a larger epsilon are needed."
        )
    else:
        kept = 1 - forecast.excess_risk / forecast.constant_risk
        lines.append(f"The model keeps {max(0.0, kept):.1%} of what a perfect one would explain.")
    visible = forecast.coefficient / forecast.stated_error
    lines.append(
        f"A coefficient of typical size ({forecast.coefficient:.2g}) would stand {visible:.1f} standard errors from 0."
    )
    return lines
