"""The published fits, kept in the store, so that restarts and second collectors show the same.

Two published fits never differ by only a few reports: a new fit is made when the collection has
grown enough since the last one. So the last one must survive the process.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from discreet.errors import StoreError
from discreet.service.snapshot import Coefficient, Fit, FittedModel, WidthPoint
from discreet.service.storage import Store

_NOTE, _FORMAT = "published fits", 1


class Published:
    """The newest fit and the widths at all fits of its batch."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.fit: Fit | None = None
        self.widths: tuple[WidthPoint, ...] = ()

    def read(self) -> None:
        """Read what another process has published since."""
        text = self._store.note(_NOTE)
        content = json.loads(text) if text else {}
        if content.get("format") != _FORMAT:
            return
        found = _fit(content["fit"])
        if self.fit is None or (found.batch, found.reports) > (self.fit.batch, self.fit.reports):
            self.fit, self.widths = found, tuple(_width_point(point) for point in content["widths"])

    def add(self, fit: Fit) -> None:
        """Publish a fit; widths start anew with a new batch."""
        before = self.widths if self.fit is not None and self.fit.batch == fit.batch else ()
        widths = {m.name: m.typical_half_width for m in fit.models if m.typical_half_width is not None}
        point = WidthPoint(fit.reports, {name: float(width) for name, width in widths.items()})
        self.fit, self.widths = fit, (*(p for p in before if p.reports < fit.reports), point)
        content = {"format": _FORMAT, "fit": asdict(fit), "widths": [asdict(point) for point in self.widths]}
        with suppress(StoreError):  # it is shown anyway; a full store is reported elsewhere
            self._store.set_note(_NOTE, json.dumps(content))


def _fit(content: dict[str, Any]) -> Fit:
    models = tuple(
        FittedModel(**{**model, "coefficients": tuple(map(_coefficient, model["coefficients"]))})
        for model in content["models"]
    )
    return Fit(content["batch"], content["reports"], models)


def _coefficient(content: dict[str, Any]) -> Coefficient:
    moved = {int(share): move for share, move in content["moved_by"].items()}  # JSON has only texts as keys
    return Coefficient(**{**content, "moved_by": moved})


def _width_point(content: dict[str, Any]) -> WidthPoint:
    return WidthPoint(content["reports"], dict(content["widths"]))
