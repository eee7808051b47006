"""A fitted model as a table for people."""

from __future__ import annotations

import html
from dataclasses import dataclass

from discreet.inference import LinearResult

_HEADER = ("", "coef", "estimate", "std err", "z", "P>|z|", "[0.025", "0.975]")
_WIDTH = 94
_SIGNALS = {
    "clear": "clear",
    "faint": "faint: effects stand out of the privacy noise only together",
    "drowned": "drowned: what is shown may be privacy noise alone",
}


@dataclass(frozen=True)
class Summary:
    """``str`` gives the table for a terminal; notebooks show HTML."""

    model: str
    result: LinearResult
    epsilon: float
    delta: float
    # Steps of a pipeline that were fitted to the same rows.
    fitted_before: tuple[str, ...] = ()

    def _rows(self) -> list[tuple[str, ...]]:
        result = self.result
        low, high = result.conf_int().T
        numbers = (result.shrunk, result.params, result.bse, result.tvalues, result.pvalues, low, high)
        formats = ("{:.4g}", "{:.4g}", "{:.3g}", "{:.2f}", "{:.3f}", "{:.4g}", "{:.4g}")
        return [
            (name, *(form.format(value) for form, value in zip(formats, values, strict=True)))
            for name, values in zip(result.names, zip(*numbers, strict=True), strict=True)
        ]

    def _facts(self) -> list[tuple[str, str]]:
        privacy = self.result.privacy
        facts = [
            ("Target", self.result.target),
            ("Rows used (noisy)", self._rows_used()),
            *self.result.facts,
            *([] if self.result.signal is None else [("Signal", _SIGNALS[self.result.signal])]),
            ("Guarantee", f"epsilon {privacy.epsilon(self.delta):.4g} at delta {self.delta:.3g} (mu {privacy.mu:.4g})"),
            ("Holds against", privacy.in_words),
        ]
        if privacy.seeded:
            facts.append(("NOT PRIVATE", "the noise came from random_state"))
        if self.fitted_before:
            facts.append(("NOT COVERED", f"{', '.join(self.fitted_before)}, fitted to the same rows"))
        return facts

    def _rows_used(self) -> str:
        return f"{self.result.nobs:.0f}" if self.result.used is None else str(self.result.used)

    @property
    def _note(self) -> list[str]:
        return [
            "coef predicts best (shrunk by the known noise); estimate, std err, tests and intervals are unshrunk.",
            "Standard errors include sampling error and privacy noise.",
        ]

    def __str__(self) -> str:
        rows = self._rows()
        first = max(5, *(len(row[0]) for row in rows))
        lines = [f"{'discreet ' + self.model:^{_WIDTH}}", "=" * _WIDTH]
        lines += [f"{name + ':':<32}{text}" for name, text in self._facts()]
        lines.append("=" * _WIDTH)
        for row in (_HEADER, *rows):
            lines.append(f"{row[0]:<{first}}" + "".join(f"{cell:>11}" for cell in row[1:]))
            if row is _HEADER:
                lines.append("-" * _WIDTH)
        lines += ["=" * _WIDTH, *self._note]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        facts = "".join(f"<tr><th>{html.escape(k)}</th><td>{html.escape(v)}</td></tr>" for k, v in self._facts())
        head = "".join(f"<th>{html.escape(cell)}</th>" for cell in _HEADER)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>" for row in self._rows())
        note = " ".join(html.escape(line) for line in self._note)
        return (
            f"<h4>discreet {html.escape(self.model)}</h4><table>{facts}</table>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{note}</p>"
        )
