"""``discreet demo``: a whole fit on synthetic data, with the files to repeat it by hand."""

from __future__ import annotations

import shlex
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from discreet.cli.printing import clean_errors, echo_fact, echo_table, echo_text, needs
from discreet.cli.watching import watched
from discreet.errors import LedgerError

_DELTA = 1e-6
_ROWS, _HELD_OUT = 20_000, 5_000
_NOTE = "discreet demo: synthetic patients"
_TITLES = {
    "age": "age\n(euros per year of age)",
    "bmi": "body mass index\n(euros per kg/m²)",
    "sex=male": "male, not female\n(euros)",
    "smoker=yes": "smoker, not non-smoker\n(euros)",
    "region=south": "south, not north\n(euros)",
    "region=east": "east, not north\n(euros)",
    "region=west": "west, not north\n(euros)",
}


@click.command()
@click.option("--out", default="demo", show_default=True, type=click.Path(file_okay=False), help="Folder to fill.")
@click.option("--epsilon", default=1.0, show_default=True, type=float, help="Epsilon of the fit.")
def demo(out: str, epsilon: float) -> None:
    """Fit synthetic patients privately, compare with the fit without privacy, and keep
    every file.
    """
    with clean_errors():
        needs("pyarrow", "arrow")
        if find_spec("matplotlib") is None:
            echo_fact("plot", 'will be left out: it needs matplotlib, pip install "discreet[report]"')
        from discreet.cli.demo_data import DOMAIN, patients
        from discreet.privacy import Budget

        Budget.of(epsilon, _DELTA)
        folder = Path(out)
        folder.mkdir(parents=True, exist_ok=True)
        table, held_out = patients(_ROWS, seed=1), patients(_HELD_OUT, seed=2)
        click.echo(
            f"Synthetic data: {_ROWS:,} patients who do not exist. Yearly cost by age, bmi, sex, smoking, region.\n"
        )
        _write_data(folder, table, DOMAIN.to_toml())
        ledger = _fresh_ledger(folder, 3 * epsilon)
        with watched():
            model = _private_fit(folder, epsilon, ledger)
        _compare(model, table, held_out, epsilon)
        _tell(folder, model, ledger)
        _plot(folder, model, table)
        _what_next(folder, epsilon)


def _write_data(folder: Path, table: Any, domain: str) -> None:
    from pyarrow import parquet

    parquet.write_table(table, folder / "data.parquet")
    (folder / "domain.toml").write_text(domain, encoding="utf-8")


def _fresh_ledger(folder: Path, epsilon: float) -> Any:
    """The demo's own ledger, created anew each time; any other ledger is never removed."""
    from discreet.privacy import Ledger

    path = folder / "budget.ledger"
    if path.exists():
        try:
            note = Ledger.read_only(path).note
        except LedgerError as error:
            raise LedgerError(f"{error}. Delete the folder {folder}, or choose another with --out") from error
        if note != _NOTE:
            raise LedgerError(f"{path} is no ledger of the demo; choose another folder with --out")
        for ending in ("", "-journal", ".mark", ".tail", ".lock"):
            path.with_name(path.name + ending).unlink(missing_ok=True)
    return Ledger.create(path, epsilon=epsilon, delta=_DELTA, note=_NOTE)


def _private_fit(folder: Path, epsilon: float, ledger: Any = None) -> Any:
    from discreet.cli.demo_data import DOMAIN, TARGET
    from discreet.estimators import LinearRegression

    model = LinearRegression(epsilon=epsilon, delta=_DELTA, domain=DOMAIN, ledger=ledger)
    return model.fit_table(folder / "data.parquet", target=TARGET)


def _compare(model: Any, table: Any, held_out: Any, epsilon: float) -> None:
    """Both fits side by side."""
    from discreet.cli.demo_data import features, labels, plain_fit, r_squared

    plain = plain_fit(table)
    result = model.results_
    rows = [
        (name, f"{ours:.1f}", f"[{a:.1f}, {b:.1f}]", f"{theirs:.1f}", f"[{c:.1f}, {d:.1f}]")
        for name, ours, (a, b), theirs, (c, d) in zip(
            result.names, result.estimates, result.intervals(), plain.coef, plain.conf_int(), strict=True
        )
    ]
    echo_table(["euros per year", f"epsilon {epsilon:g}", "95 % interval", "not private", "95 % interval"], rows)
    truth = labels(held_out)
    private_score = r_squared(truth, model.predict(features(held_out)))
    plain_score = r_squared(truth, plain.predict(held_out))
    click.echo()
    echo_text(f"R^2 on {_HELD_OUT:,} held-out patients: private {private_score:.3f}, not private {plain_score:.3f}")
    echo_text("The private intervals include the privacy noise and the sampling error, so they are wider.")
    click.echo()


def _tell(folder: Path, model: Any, ledger: Any) -> None:
    from discreet.cli.fit import echo_left
    from discreet.results.words import price_in_words, promise_in_words

    promise = promise_in_words(model.privacy_, model.delta)
    echo_fact("guarantee", f"{price_in_words(model.privacy_, model.delta)}: {promise}")
    echo_left(str(folder / ledger.path.name))
    model.save(folder / "model.json")


def _plot(folder: Path, model: Any, table: Any) -> None:
    """Plot the fit and those at other epsilons; on real data each of them would cost budget."""
    from discreet.cli.demo_data import plain_fit

    try:
        from discreet.cli.demo_plot import draw

        fits = {factor * model.epsilon: _private_fit(folder, factor * model.epsilon) for factor in (0.2, 0.5, 3.0)}
        fits[model.epsilon] = model
        plain = plain_fit(table)
        paths = draw(
            folder,
            [_TITLES[name] for name in model.coef_names_],
            (plain.coef[1:], plain.conf_int()[1:]),
            {epsilon: (fit.results_.estimates[1:], fit.conf_int()) for epsilon, fit in fits.items()},
            model.epsilon,
        )
    except ImportError:
        return
    echo_fact("plot", f"{paths[0]} and .svg (its other epsilons are free only because the data are synthetic)")


def _what_next(folder: Path, epsilon: float) -> None:
    words = [_program(), "fit", f"{folder / 'data.parquet'}", "--domain", f"{folder / 'domain.toml'}"]
    words += ["--target", "cost", "--epsilon", f"{epsilon:g}", "--delta", f"{_DELTA:g}"]
    words += ["--ledger", f"{folder / 'budget.ledger'}", "--out", f"{folder / 'model.json'}"]
    echo_fact("files", f"{folder}: data.parquet, domain.toml, budget.ledger, model.json")
    click.echo("\nDo the same yourself (--dry-run shows the price first):\n")
    click.echo(f"  {shlex.join(words)}")


def _program() -> str:
    """The command that starts this program: its name, or its path if it is not on the PATH."""
    return "discreet" if shutil.which("discreet") else sys.argv[0]
