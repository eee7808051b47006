"""The report of a fitted model: one HTML file for a reviewer who reads no code, offline and without
scripts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from typing import Any

import numpy as np

from discreet.privacy import Payment
from discreet.report.forest import Bar, forest_plot
from discreet.report.model_style import CSS
from discreet.report.model_words import help_in_words, limits_that_apply, what_would_help
from discreet.results import Results
from discreet.results.file import document_text
from discreet.results.numbers import percent, with_error
from discreet.results.releases import release_rows
from discreet.results.results import RATIOS
from discreet.results.words import clear_effects, price_in_words, promise_in_words, rows_in_words, verdict

_QUANTILE = 1.959964
_MOST_ROWS = 60


def model_page(
    results: Results, document: dict[str, Any], spans: Mapping[str, float], *, command: str = "", version: str = ""
) -> str:
    """The page. ``spans`` are the widths of the features' declared ranges, the unit of the plot."""
    title = f"{results.model} of {results.target}"
    parts = [
        f"<h1>{escape(title)}</h1><p class='soft'>Differentially private regression, reported by discreet</p>",
        _warnings(results),
        _verdict(results),
        _cards(results),
        _effects(results, spans),
        _section("Would more epsilon or more people help?", _help(results)),
        _section("What was declared about the data", _domain(document)),
        _section("What was released", _releases(results)),
        _section("The privacy budget", _budget(results.payment)),
        _section("Limits that apply", _list(limits_that_apply(results))),
        _section("How to verify", _verify(results)),
        _footer(document, command, version),
    ]
    return (
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        f"<meta name='viewport' content='width=device-width, initial-scale=1'><title>{escape(title)}</title>"
        f"<style>{CSS}</style></head><body>{''.join(parts)}</body></html>\n"
    )


def _section(title: str, body: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{body}</section>"


def _list(items: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(one)}</li>' for one in items)}</ul>"


def _sentence(text: str) -> str:
    return escape(f"{text[:1].upper()}{text[1:]}.")


def _warnings(results: Results) -> str:
    said = []
    if results.privacy.seeded:
        said.append("NOT PRIVATE: the noise came from random_state and can be computed again.")
    if results.not_covered:
        said.append(f"NOT COVERED: {', '.join(results.not_covered)}, fitted to the same rows.")
    return "".join(f"<p class='warn'>{escape(one)}</p>" for one in said)


def _verdict(results: Results) -> str:
    said = verdict(results)
    weak = " weak" if results.signal == "drowned" or clear_effects(results)[0] == 0 else ""
    return f"<p class='verdict{weak}'>{_sentence(said)}</p>"


def _cards(results: Results) -> str:
    promise = promise_in_words(results.privacy, results.delta, results.trust)
    rows = rows_in_words(results.rows, results.used, results.trust)
    facts = "".join(f"<br>{escape(name)}: {escape(text)}" for name, text in results.facts)
    return (
        "<div class='cards'>"
        f"<div class='card'><span class='label'>Guarantee to each person</span>"
        f"<b>{escape(price_in_words(results.privacy, results.delta))}</b>{_sentence(promise)}</div>"
        f"<div class='card'><span class='label'>Data</span><b>{escape(rows.split(';')[0])}</b>"
        f"{escape(';'.join(rows.split(';')[1:]).strip())}{facts}</div></div>"
    )


def _effects(results: Results, spans: Mapping[str, float]) -> str:
    if results.covariance is None:
        rows = [(name, f"{value:.4g}") for name, value in zip(results.names, results.shrunk, strict=True)]
        said = f"<p>There are no standard errors: {escape(results.no_errors)}.</p>"
        return _section("Coefficients", said + _table(("", "coefficient"), rows))
    summary = results.summary().table()
    said = (
        "<p>Each dot is an estimate, in grey where 0 cannot be excluded. The thick bar is the sampling error, the thin "
        "one adds the privacy noise (both 95 %).</p>"
        if results.noise_covariance is not None
        else "<p>Each dot is an estimate with its 95 % interval, in grey where 0 cannot be excluded.</p>"
    )
    notes = "".join(f"<p class='small'>{escape(note)}</p>" for note in results.summary().notes()[:1])
    plot = f"<div class='scroll'>{forest_plot(_bars(results, spans), _axis(results))}</div>"
    numbers = _section("The numbers", _table(summary[0], summary[1:]) + notes)
    return _section("Effects", said + plot) + numbers + _ratios(results)


def _ratios(results: Results) -> str:
    """Odds or rate ratios in a table of their own: beside the numbers they would not
    fit on paper.
    """
    if results.link not in RATIOS:
        return ""
    kind = RATIOS[results.link]
    with np.errstate(over="ignore"):
        ratios = np.exp(np.column_stack([results.estimates, results.intervals()])).tolist()
    rows = []
    for name, (ratio, low, high) in zip(results.names, ratios, strict=True):
        shown = with_error([ratio, low, high], (high - low) / 4)
        rows.append((name, shown[0], f"{shown[1]} to {shown[2]}"))
    what = "odds" if kind == "odds" else "mean"
    said = f"<p>The factor for the {what} of {escape(results.target)} when the column grows by 1.</p>"
    return _section(f"{kind.capitalize()} ratios", said + _table(("", f"{kind} ratio", "95 % interval"), rows))


def _bars(results: Results, spans: Mapping[str, float]) -> list[Bar]:
    errors, noise = results.std_errors, results.noise_covariance
    bars = []
    for i in results.slopes[:_MOST_ROWS]:
        name = results.names[i]
        span = spans.get(name, spans.get(name.partition(": ")[2], 1.0))
        inner = None
        if noise is not None:
            inner = _QUANTILE * float(np.sqrt(max(errors[i] ** 2 - noise[i, i], 0.0))) * span
        bars.append(Bar(name, float(results.estimates[i]) * span, _QUANTILE * float(errors[i]) * span, inner))
    return bars


def _axis(results: Results) -> str:
    log_odds = f"log odds of {results.target}"
    named = {"logit": log_odds, "softmax": log_odds, "log": f"log of {results.target}"}
    unit = named.get(results.link, results.target)
    return f"change in {unit} from the lowest to the highest declared value"


def _help(results: Results) -> str:
    rows = what_would_help(results)
    if not rows:
        return f"<p>{escape(help_in_words(results))}</p>"
    formula = (
        "the noise's part falls as 1 / (n mu)²" if results.trust == "central" else "the noise's part falls as 1 / n"
    )
    return (
        f"<p>{escape(help_in_words(results))}</p>"
        + _table(("with", "standard errors (today: 100 %)"), rows)
        + f"<p class='small'>By formula: sampling variance falls as 1 / n, {formula}. Median over the effects.</p>"
    )


def _domain(document: dict[str, Any]) -> str:
    content = document if document["kind"] == "estimator" else document["task"]
    columns: Sequence[dict[str, Any]] = content["columns"]
    rows = [(column["name"], _declared(column)) for column in columns[:_MOST_ROWS]]
    if len(columns) > _MOST_ROWS:
        rows.append((f"and {len(columns) - _MOST_ROWS} more columns", "in the model file below"))
    target = content["target"]
    classes = document.get("classes")
    rows.append((f"{target['name']} (predicted)", f"one of {_listed(classes)}" if classes else _declared(target)))
    said = "<p>These bounds were declared beforehand. Values beyond them were moved to the nearest bound.</p>"
    formula = (document.get("parameters") or {}).get("formula")
    if formula:
        said += f"<p>Formula: <code>{escape(formula)}</code></p>"
    return said + _table(("column", "declared values"), rows, left=True)


def _declared(column: dict[str, Any]) -> str:
    if column.get("values"):
        return f"one of {_listed(column['values'])}"
    return f"{column['low']:,.6g} to {column['high']:,.6g}"


def _listed(values: Sequence[Any]) -> str:
    shown = ", ".join(str(value) for value in values[:20])
    return f"{shown} and {len(values) - 20} more" if len(values) > 20 else shown


def _releases(results: Results) -> str:
    said = (
        "<p>Everything shown here follows from these noisy answers. Their shares of the cost add up to the guarantee "
        "above; what is computed from them costs nothing more.</p>"
    )
    return said + _table(("noisy answer", "times", "noise std", "share of the cost"), release_rows(results.privacy))


def _budget(paid: Payment | None) -> str:
    if paid is None:
        return "<p>No ledger was charged for this fit.</p>"
    whole = paid.total.mu**2
    left, before = paid.after.mu**2 / whole, paid.before.mu**2 / whole
    rows = [
        ("before this fit", percent(before), f"epsilon {paid.before.epsilon:.4g}"),
        ("after this fit", percent(left), f"epsilon {paid.after.epsilon:.4g}"),
    ]
    bar = (
        f"<div class='bar' role='img' aria-label='{percent(left)} left'><i style='width:{(1 - before) * 100:.2f}%'></i>"
        f"<i class='now' style='width:{(before - left) * 100:.2f}%'></i></div>"
    )
    return (
        f"<p>Paid from the ledger <code>{escape(paid.file)}</code> (id <code>{escape(paid.ledger)}</code>) at "
        f"{escape(_minute(paid.time))}, key <code>{escape(paid.key)}</code>. All fits on these data together are held "
        f"to epsilon {paid.total.epsilon:.4g} at delta {paid.total.delta:.3g}.</p>{bar}"
        + _table(("budget left", "share", f"at delta {paid.total.delta:.3g}"), rows)
        + "<p class='small'>Grey: spent before; blue: this fit. Shares are of mu², which adds up; epsilon does not.</p>"
    )


def _minute(time: str) -> str:
    """A ledger's time, to the minute."""
    return datetime.fromisoformat(time).astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def _verify(results: Results) -> str:
    steps = [
        "Save the model file from the end of this HTML file as <code>model.json</code>; <code>discreet show model.json "
        "--releases</code> prints the same numbers, computed from it again.",
        "<code>discreet audit --help</code> explains how to check this kind of model on synthetic neighbouring data: "
        "by replaying fits, and by attacks.",
    ]
    if results.payment is not None:
        steps.insert(
            1,
            f"<code>discreet budget verify {escape(results.payment.file)}</code> checks every entry of the ledger; "
            "<code>discreet budget show --releases</code> lists the charge by its key.",
        )
    return f"<ol>{''.join(f'<li>{step}</li>' for step in steps)}</ol>"


def _footer(document: dict[str, Any], command: str, version: str) -> str:
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    said = f"Made on {made} by discreet {escape(version)}; the model was saved by {escape(document['discreet'])}."
    if command:
        said += f" Command: <code>{escape(command)}</code>"
    return (
        f"<section class='file'><h2>The model file</h2><details><summary>Show the JSON behind this report"
        f"</summary><pre id='model'>{escape(document_text(document))}</pre></details>"
        f"<p class='small'>It holds releases and declarations, and no data.</p></section><footer>{said}</footer>"
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], *, left: bool = False) -> str:
    titles = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    kind = " class='left'" if left else ""
    return f"<div class='scroll'><table{kind}><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table></div>"
