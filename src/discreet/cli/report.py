"""``discreet report``: a saved model as a page for a reviewer."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from discreet.cli.printing import clean_errors


@click.command()
@click.argument("model_path", metavar="MODEL", type=click.Path(exists=True, dir_okay=False))
@click.option("--out", required=True, type=click.Path(dir_okay=False), help="Write the page to this HTML file.")
def report(model_path: str, out: str) -> None:
    """Make a report of the saved MODEL for somebody who reads no code: one HTML file, offline,
    ready to print.
    """
    with clean_errors():
        from discreet.loading import load

        if not Path(out).resolve().parent.is_dir():
            raise ValueError(f"there is no folder {Path(out).parent} to write {Path(out).name} to")
        words = ["discreet", "report", Path(model_path).name, "--out", Path(out).name]
        load(model_path).report(out, command=shlex.join(words))
        click.echo(f"report     written to {out}")
