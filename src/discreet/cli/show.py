"""``discreet show``: the summary of a saved model."""

from __future__ import annotations

import click

from discreet.cli.printing import clean_errors, echo_table


@click.command()
@click.argument("model_path", metavar="MODEL", type=click.Path(exists=True, dir_okay=False))
@click.option("--predictive", is_flag=True, help="Show the shrunk coefficients, which predict best.")
@click.option("--releases", is_flag=True, help="List every noisy answer behind the model, with its share of the cost.")
def show(model_path: str, predictive: bool, releases: bool) -> None:
    """Print the summary of the saved MODEL: coefficients, errors, guarantee."""
    with clean_errors():
        from discreet.loading import load

        model = load(model_path)
        click.echo(str(model.summary(predictive=predictive)))
        if releases:
            from discreet.results.releases import release_rows

            click.echo()
            echo_table(["release", "times", "noise std", "of mu^2"], release_rows(model.results_.privacy))
