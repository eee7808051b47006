"""``discreet plan``: forecasts of a fit's errors from public numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from discreet.cli.printing import clean_errors, echo_fact, echo_table, echo_text, needs


@click.command()
@click.option("--family", type=click.Choice(["linear", "logistic", "poisson"]), default="linear", show_default=True)
@click.option("--n", type=int, help="How many people.")
@click.option(
    "--d", type=int, default=10, show_default=True, help="How many columns, indicators of categories included."
)
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
    "--plot", "plot_path", type=click.Path(dir_okay=False), help="Write the error against epsilon and n, as SVG."
)
@click.option("--web", is_flag=True, help="Serve the planner as a page on this computer; it begins with these numbers.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="With --web; 0: any free one."
)
def plan(plot_path: str | None, web: bool, port: int, **asked: Any) -> None:
    """Forecast a fit. Give two of --n, --epsilon and --error; the third is solved for. Reads no
    data.
    """
    with clean_errors():
        if web:
            del asked["simulate"]
            _serve(port, asked)
            return
        if plot_path is not None and not Path(plot_path).resolve().parent.is_dir():
            raise click.UsageError(f"there is no folder {Path(plot_path).resolve().parent} for --plot")
        if plot_path is not None:
            needs("matplotlib", "report")
        from discreet.planning import plan as forecast_of
        from discreet.planning.words import SUPPOSED, attacker_sentences, error_rows, headline, model_sentences

        forecast = forecast_of(asked.pop("family"), **asked)
        if forecast.solved is not None:
            value = f"{forecast.n:,} people" if forecast.solved == "n" else f"epsilon {forecast.epsilon:.3g}"
            echo_fact("needed", value)
        echo_fact("plan", headline(forecast))
        doubt = "" if forecast.sharp else ", which is not accurate for so few people: take it as a guess"
        echo_fact("forecast", f"by {forecast.method}{doubt}; no data was read and nothing was spent")
        click.echo()
        echo_table(["", "private", "not private", "lower bound"], error_rows(forecast))
        click.echo("\nWhat the model would lose")
        for sentence in model_sentences(forecast):
            echo_text(f"  {sentence}")
        click.echo("\nWhat an attacker could learn")
        for sentence in attacker_sentences(forecast):
            echo_text(f"  {sentence}")
        click.echo()
        echo_fact("supposed", SUPPOSED)
        if plot_path is not None:
            from discreet.planning.plot import draw

            draw(forecast, plot_path)
            echo_fact("plot", plot_path)


def _serve(port: int, asked: dict[str, Any]) -> None:
    from discreet.planning.web import PlanServer

    with PlanServer(port) as server:
        given = asked if asked["n"] or asked["epsilon"] or asked["error"] else {}
        click.echo(f"The planner is at {server.address_of(given)}\nIt reads no data. End it with Ctrl+C.")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            click.echo("ended")
