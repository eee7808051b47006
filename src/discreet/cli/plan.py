"""``discreet plan``: forecasts of a fit's errors from public numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from discreet.cli.printing import clean_errors, echo_fact, echo_table, echo_text, needs

# Columns, where neither --d nor a sample tells them.
_COLUMNS = 10


@click.command()
@click.option("--family", type=click.Choice(["linear", "logistic", "poisson"]), default="linear", show_default=True)
@click.option("--n", type=int, help="How many people.")
@click.option("--d", type=int, help="How many columns, indicators of categories included.  [default: 10]")
@click.option("--epsilon", type=float, help="The privacy parameter.")
@click.option("--delta", type=float, default=1e-6, show_default=True)
@click.option(
    "--error", type=float, help="Wanted standard error of a coefficient, per standard deviation of its column."
)
@click.option("--public", type=click.IntRange(min=0), default=0, show_default=True, help="Public rows with labels.")
@click.option("--trust", type=click.Choice(["central", "local", "parties"]), default="central", show_default=True)
@click.option(
    "--neighbours",
    type=click.Choice(["replace_one", "add_or_remove_one"]),
    default="replace_one",
    show_default=True,
    help="Whether the number of people is public.",
)
@click.option(
    "--effect", type=float, help="Standard deviation of the true predictor; for linear models the root of R^2."
)
@click.option("--rate", type=float, help="Share of ones (logistic, 0.5 by default) or mean count (poisson, 1).")
@click.option(
    "--simulate/--formula",
    default=None,
    help="Fit the estimator to simulated people, or not; by default where the formula is not accurate.",
)
@click.option(
    "--sample",
    "sample_path",
    type=click.Path(dir_okay=False),
    help="Parquet or CSV file of public rows like the private ones; some hundred, better 2,000. Never private rows.",
)
@click.option("--target", metavar="COLUMN", help="With --sample: the column to predict.")
@click.option(
    "--domain", type=click.Path(dir_okay=False), help="With --sample: TOML file that declares the columns, as of fit."
)
@click.option(
    "--plot", "plot_path", type=click.Path(dir_okay=False), help="Write the error against epsilon and n, as SVG."
)
@click.option("--web", is_flag=True, help="Serve the planner as a page on this computer; it begins with these numbers.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="With --web; 0: any free one."
)
def plan(
    sample_path: str | None,
    target: str | None,
    domain: str | None,
    plot_path: str | None,
    web: bool,
    port: int,
    **asked: Any,
) -> None:
    """Forecast a fit. Give two of --n, --epsilon and --error; the third is solved for. Reads no
    private data.

    Without a --sample it supposes independent normal columns. Real tables are often twice as noisy.
    """
    with clean_errors():
        if (sample_path is None) != (target is None) or (domain is not None and sample_path is None):
            raise click.UsageError("--sample and --target belong together, and --domain to them")
        if web and sample_path is not None:
            raise click.UsageError("the page of --web takes no --sample")
        if asked["d"] is None and sample_path is None:
            asked["d"] = _COLUMNS
        if web:
            del asked["simulate"]
            _serve(port, asked)
            return
        if plot_path is not None and not Path(plot_path).resolve().parent.is_dir():
            raise click.UsageError(f"there is no folder {Path(plot_path).resolve().parent} for --plot")
        if plot_path is not None:
            needs("matplotlib", "report")
        from discreet.planning import plan as forecast_of
        from discreet.planning.words import attacker_sentences, error_rows, headline, model_sentences, supposed

        if sample_path is not None:
            from discreet.cli.sample_file import read_sample

            assert target is not None
            asked |= read_sample(sample_path, target, domain, asked["family"])
        forecast = forecast_of(asked.pop("family"), **asked)
        if forecast.solved is not None:
            value = f"{forecast.n:,} people" if forecast.solved == "n" else f"epsilon {forecast.epsilon:.3g}"
            echo_fact("needed", value)
        echo_fact("plan", headline(forecast))
        echo_fact("forecast", f"by {forecast.method}{_doubt(forecast)}; no private data was read, nothing was spent")
        click.echo()
        echo_table(["", "private", "not private", "lower bound"], error_rows(forecast))
        click.echo("\nWhat the model would lose")
        for sentence in model_sentences(forecast):
            echo_text(f"  {sentence}")
        click.echo("\nWhat an attacker could learn")
        for sentence in attacker_sentences(forecast):
            echo_text(f"  {sentence}")
        click.echo()
        echo_fact("supposed", supposed(forecast))
        if plot_path is not None:
            from discreet.planning.plot import draw

            draw(forecast, plot_path)
            echo_fact("plot", plot_path)


def _doubt(forecast: Any) -> str:
    if forecast.sharp:
        return ""
    if forecast.sample is not None:
        return ", which knows less of the sample than --simulate, for fewer people: take it as a guess"
    return ", which is not accurate for so few people: take it as a guess"


def _serve(port: int, asked: dict[str, Any]) -> None:
    from discreet.planning.web import PlanServer

    with PlanServer(port) as server:
        given = asked if asked["n"] or asked["epsilon"] or asked["error"] else {}
        click.echo(f"The planner is at {server.address_of(given)}\nIt reads no data. End it with Ctrl+C.")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            click.echo("ended")
