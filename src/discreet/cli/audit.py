"""``discreet audit``: checks whether a model keeps the guarantee that it states."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from discreet.cli.printing import clean_errors, echo_table, echo_text, needs


@click.command()
@click.argument("model", required=False, metavar="[FILE.py:MAKE_MODEL]")
@click.option("--epsilon", type=float, default=1.0, show_default=True, help="The epsilon that the model is asked for.")
@click.option("--delta", type=float, default=1e-6, show_default=True, help="The delta; 0 for a pure claim.")
@click.option(
    "--neighbours",
    type=click.Choice(["replace_one", "add_or_remove_one", "both"]),
    default="both",
    show_default=True,
    help="Which change of one row the claim is about (discreet's own estimators).",
)
@click.option("--runs", type=int, default=500, show_default=True, help="Black-box fits per data set; 0 for none.")
@click.option(
    "--climbs",
    type=click.IntRange(min=0),
    default=100,
    show_default=True,
    help="Fits for the search of a worse pair of neighbours; 0 tries corners, axes and odd rows only (discreet's own).",
)
@click.option("--confidence", type=float, default=1 - 1e-5, show_default=True, help="Of each black-box verdict.")
@click.option(
    "--features",
    type=click.IntRange(min=1),
    default=4,
    show_default=True,
    help="Columns of the generated data sets, where the declared bounds fit any number.",
)
@click.option("--target", help="The label, for a model of discreet that declares a domain.")
@click.option(
    "--every-solver", is_flag=True, help="Without a model: every solver and calibration, not only the usual ones."
)
@click.option("--workers", type=int, help="Processes.  [default: all cores]")
@click.option(
    "--python",
    metavar="PATH",
    help="Fit in this Python interpreter, for code that cannot be installed beside discreet.",
)
@click.option(
    "--state", type=click.Path(file_okay=False), help="Folder for finished runs, from which a stopped audit continues."
)
@click.option("--html", type=click.Path(dir_okay=False), help="Write a page with tables and plots (needs [report]).")
@click.option("--json", "json_path", type=click.Path(dir_okay=False), help="Write all findings to this file.")
def audit(
    model: str | None,
    epsilon: float,
    delta: float,
    neighbours: str,
    runs: int,
    climbs: int,
    confidence: float,
    features: int,
    target: str | None,
    every_solver: bool,
    workers: int | None,
    python: str | None,
    state: str | None,
    html: str | None,
    json_path: str | None,
) -> None:
    """Audit a model, or without one every estimator of discreet.

    MAKE_MODEL is a function in FILE.py that returns an unfitted model; it is called with epsilon,
    delta and neighbours where it takes them. A model of discreet is replayed on searched neighbours
    and attacked; any other one with fit(X, y) is attacked on the two data sets that make_pair() in
    the same file returns, ((X, y), (X, y)). Exit code 1 means: a claim is false.
    """
    with clean_errors():
        from discreet.audit.suite import Settings, Suite

        if state is not None:
            Path(state).mkdir(parents=True, exist_ok=True)
        if not 0 < epsilon < math.inf:
            raise click.UsageError(f"--epsilon must be > 0, got {epsilon:g}")
        if runs != 0 and runs < 40:
            raise click.UsageError(f"--runs must be 0 or at least 40, got {runs}")
        if html is not None:
            needs("matplotlib", "report")
            needs("jinja2", "report")
        settings = Settings(
            runs,
            confidence,
            features,
            climbs=climbs,
            target=target,
            workers=workers,
            progress=True,
            state_folder=state,
        )
        suite = Suite(settings, listener=_echo_finding)
        relations = ("replace_one", "add_or_remove_one") if neighbours == "both" else (neighbours,)
        if model is None:
            _audit_ours(suite, epsilon, delta, relations, every_solver)
        else:
            _audit_model(suite, model, epsilon, delta, relations, python)
        _echo_summary(suite)
        _write(suite, html, json_path)
    if not suite.passed:
        raise SystemExit(1)


def _audit_ours(suite: Any, epsilon: float, delta: float, relations: tuple[str, ...], every_solver: bool) -> None:
    from discreet.audit import catalogue
    from discreet.audit.suite import audit_estimator

    for variant in catalogue.variants():
        if variant.neighbours in relations and (every_solver or variant.usual):
            settings = suite.settings if variant.usual else replace(suite.settings, runs=0)
            model = variant.make(epsilon, delta, settings.features)
            suite.run(variant.name, settings, partial(audit_estimator, model, settings, name=variant.name))


def _audit_model(
    suite: Any, spec: str, epsilon: float, delta: float, relations: tuple[str, ...], python: str | None
) -> None:
    from discreet.audit.black_box import is_ours
    from discreet.audit.outside import audit_outside
    from discreet.audit.suite import audit_estimator

    if ":" not in spec:
        raise click.UsageError("MODEL must be FILE.py:MAKE_MODEL, as model.py:make_model")
    if not Path(spec.rpartition(":")[0]).is_file():
        raise click.UsageError(f"there is no file {spec.rpartition(':')[0]}")
    if python is None:
        for relation in relations:
            made = _made(spec, {"epsilon": epsilon, "delta": delta, "neighbours": relation})
            if not is_ours(made):
                break
            if getattr(made, "neighbours", relation) == relation:
                suite.add(audit_estimator(made, suite.settings))
        else:
            if not suite.findings:
                raise ValueError(f"{spec} made no model for neighbours {' or '.join(relations)}")
            return
    suite.add(audit_outside(spec, epsilon, delta, suite.settings, python=python))


def _made(spec: str, parameters: dict[str, Any]) -> Any:
    """The model that the user's function makes; an error names the function."""
    from discreet.audit.foreign_worker import call_with, load

    try:
        maker = load(spec)
    except AttributeError as error:
        raise ValueError(f"{spec.rpartition(':')[0]} has no {spec.rpartition(':')[2]}") from error
    except Exception as error:
        raise ValueError(f"{spec.rpartition(':')[0]} cannot be imported: {type(error).__name__}: {error}") from error
    if not callable(maker):
        raise ValueError(f"{spec} must be a function that returns an unfitted model")
    try:
        made = call_with(maker, parameters)
    except Exception as error:
        raise ValueError(f"{spec} failed: {type(error).__name__}: {error}") from error
    if not hasattr(made, "fit"):
        raise ValueError(f"{spec} must return a model with fit(X, y), got {type(made).__name__}")
    return made


def _echo_finding(finding: Any) -> None:
    click.echo(f"{finding.name}: {finding.verdict} ({finding.seconds:.0f} s)")
    for part in (finding.worst, finding.box):
        if part is not None:
            echo_text("\n".join(f"  {line}" for line in str(part).splitlines()))


def _echo_summary(suite: Any) -> None:
    rows = [
        (
            finding.name,
            "" if finding.worst is None else f"{finding.worst.efficiency:.4f}",
            "" if finding.box is None else f"{finding.box.mu:.3g} of {finding.box.claimed_mu:.3g}",
            finding.verdict,
        )
        for finding in suite.findings
    ]
    click.echo()
    echo_table(["model", "replay, of claim", "black box mu, at least", "verdict"], rows)
    rarely = f"{1 / max(suite.false_alarm_rate, 1e-12):,.0f}"
    echo_text(f"A model that keeps its claim fails at most 1 of {rarely} such audits.")


def _write(suite: Any, html: str | None, json_path: str | None) -> None:
    from discreet import __version__
    from discreet.cli.printing import typed_command

    if json_path is not None:
        Path(json_path).write_text(json.dumps(suite.to_dict(), indent=1) + "\n", encoding="utf-8")
    if html is not None:
        from discreet.report.audit_page import audit_page

        page = audit_page(suite.to_dict(), version=__version__, command=typed_command())
        Path(html).write_text(page, encoding="utf-8")
        click.echo(f"written to {html}")
