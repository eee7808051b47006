"""A fitted model as a table for people: 78 columns in a terminal, HTML in a notebook."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.results.numbers import p_value, percent, plain, with_error
from discreet.results.words import price_in_words, promise_in_words, rows_in_words, verdict
from discreet.text import WIDTH, hanging, wrapped

if TYPE_CHECKING:
    from discreet.results.results import Results

_GAP = "  "
_INDENT = 13


@dataclass(frozen=True, repr=False)
class Summary:
    """``str`` and a prompt show the table for a terminal; notebooks show HTML.

    Attributes
    ----------
    results : Results
        What it shows.
    predictive : bool
        Whether it shows the shrunk coefficients, which predict best, beside the estimates.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet import LinearRegression
    >>> X = np.random.default_rng(0).uniform(-1, 1, (1_000, 1))
    >>> model = LinearRegression(epsilon=1.0, delta=1e-6, bounds_X=(-1, 1), bounds_y=(-1, 1)).fit(
    ...     X, X[:, 0]
    ... )
    >>> print(str(model.summary()).splitlines()[0].strip())
    discreet LinearRegression of y
    """

    results: Results
    predictive: bool = False

    @property
    def title(self) -> str:
        """The first line."""
        return f"discreet {self.results.model} of {self.results.target}"

    def facts(self) -> list[tuple[str, str]]:
        """The lines above the coefficients: rows, guarantee and verdict come first.

        Returns
        -------
        list of pairs of str
            Labels and texts.
        """
        results = self.results
        facts = [
            ("Rows", rows_in_words(results.rows, results.used, results.trust)),
            (
                "Guarantee",
                f"{price_in_words(results.privacy, results.delta)}: "
                f"{promise_in_words(results.privacy, results.delta, results.trust)}",
            ),
            ("Verdict", verdict(results)),
            *results.facts,
        ]
        if results.privacy.grouped:
            facts.insert(2, ("Persons", f"at most {results.privacy.rows_per_person} of each person's rows were used"))
        if results.privacy.seeded:
            facts.append(("NOT PRIVATE", "the noise came from random_state and can be computed again"))
        if results.not_covered:
            facts.append(("NOT COVERED", f"{', '.join(results.not_covered)}, fitted to the same rows"))
        return facts

    def table(self) -> list[tuple[str, ...]]:
        """The headings, and one row of texts for each coefficient.

        Returns
        -------
        list of tuples of str
            The cells.
        """
        if self.results.covariance is None:
            return [("", "coef"), *zip(self.results.names, map(plain, self.results.shrunk.tolist()), strict=True)]
        return self._predictive() if self.predictive else self._inferential()

    def _inferential(self) -> list[tuple[str, ...]]:
        results = self.results
        errors, low, high = results.std_errors, *results.intervals().T
        noise = np.full(len(errors), np.nan) if results.noise_covariance is None else results.noise_std_errors
        rows: list[tuple[str, ...]] = [("", "estimate", "std err", "privacy", "P>|z|", "[0.025", "0.975]")]
        for i, name in enumerate(results.names):
            error = float(errors[i])
            value, shown, a, b = with_error([float(results.estimates[i]), error, float(low[i]), float(high[i])], error)
            share = float(noise[i]) ** 2 / error**2 if error > 0 else float("nan")
            rows.append((name, value, shown, percent(min(share, 1.0)), p_value(float(results.p_values[i])), a, b))
        return rows

    def _predictive(self) -> list[tuple[str, ...]]:
        results = self.results
        rows: list[tuple[str, ...]] = [("", "coef", "estimate", "std err")]
        for name, coef, value, error in zip(
            results.names, results.shrunk.tolist(), results.estimates.tolist(), results.std_errors.tolist(), strict=True
        ):
            rows.append((name, *with_error([coef, value, error], error)))
        return rows

    def notes(self) -> list[str]:
        """Notes below the table.

        Returns
        -------
        list of str
            Sentences.
        """
        results = self.results
        if results.covariance is None:
            said = [f"No tests and intervals: {results.no_errors}."]
        elif self.predictive:
            said = [
                "coef predicts best and is what predict() uses: it is shrunk by what is known of the noise. "
                "Tests and intervals are about the unshrunk estimate."
            ]
        else:
            said = ["Standard errors include sampling error and privacy noise."]
            if results.noise_covariance is not None:
                said[0] = f"{said[0][:-1]}; privacy is the noise's share of their squares."
            if results.signal in ("faint", "drowned") and results.trust == "central":
                said.append(
                    "More rows, a larger epsilon or narrower declared bounds would help: `discreet plan` "
                    "forecasts by how much, without data."
                )
        return [*said, *map(_sentence, results.notes)]

    def __str__(self) -> str:
        table = self.table()
        lines = [self.title if len(self.title) > WIDTH else f"{self.title:^{WIDTH}}".rstrip(), "=" * WIDTH]
        lines += [hanging(name, text, _INDENT) for name, text in self.facts()]
        lines += ["=" * WIDTH, *_columns(table[:1], table), "-" * WIDTH, *_columns(table[1:], table), "=" * WIDTH]
        lines += [wrapped(note, further="  ") for note in self.notes()]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        facts = "".join(
            f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
            f"<td style='text-align:left'>{html.escape(text)}</td></tr>"
            for name, text in self.facts()
        )
        head, *rows = self.table()
        body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
        titles = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes())
        return (
            f"<h4>{html.escape(self.title)}</h4><table>{facts}</table>"
            f"<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>{notes}"
        )


def _sentence(note: str) -> str:
    """A note with a capital letter and a full stop."""
    return note[:1].upper() + note[1:] + ("" if note.endswith(".") else ".")


def _columns(rows: list[tuple[str, ...]], table: list[tuple[str, ...]]) -> list[str]:
    """Rows of a table of the page's width; a name that is too long has a line of its own."""
    widths = [max(len(row[i]) for row in table) for i in range(1, len(table[0]))]
    room = WIDTH - sum(widths) - len(_GAP) * len(widths)
    first = min(room, max(len(row[0]) for row in table))
    spare = (room - first) // len(widths) if first < room else 0
    lines = []
    for name, *cells in rows:
        numbers = "".join(
            f"{cell:>{len(_GAP) + min(spare, 4) + width}}" for cell, width in zip(cells, widths, strict=True)
        )
        if len(name) > first:
            lines.append(wrapped(name, further="  "))
            name = ""
        lines.append(f"{name:<{first}}{numbers}")
    return lines
