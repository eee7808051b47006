"""The fits that were shown, kept in the store: after a restart, and by a second collector, the same ones are shown.

Two fits shown never differ by a few reports only, so a new one is made when the collection has grown enough since the
last; that one must not be forgotten with the process.
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
        """Take over what another process has published since."""
        text = self._store.note(_NOTE)
        content = json.loads(text) if text else {}
        if content.get("format") != _FORMAT:
            return
        found = _fit(content["fit"])
        if self.fit is None or (found.batch, found.reports) > (self.fit.batch, self.fit.reports):
            self.fit, self.widths = found, tuple(_width_point(point) for point in content["widths"])

    def add(self, fit: Fit) -> None:
        """Publish a fit; of a new batch, the first one."""
        before = self.widths if self.fit is not None and self.fit.batch == fit.batch else ()
        widths = {m.name: m.typical_half_width for m in fit.models if m.typical_half_width is not None}
        point = WidthPoint(fit.reports, {name: float(width) for name, width in widths.items()})
        self.fit, self.widths = fit, (*(p for p in before if p.reports < fit.reports), point)
        content = {"format": _FORMAT, "fit": asdict(fit), "widths": [asdict(point) for point in self.widths]}
        with suppress(StoreError):  # shown all the same: a store that is full says so elsewhere
            self._store.set_note(_NOTE, json.dumps(content))


def _fit(content: dict[str, Any]) -> Fit:
    models = tuple(
        FittedModel(**{**model, "coefficients": tuple(map(_coefficient, model["coefficients"]))})
        for model in content["models"]
    )
    return Fit(content["batch"], content["reports"], models)


def _coefficient(content: dict[str, Any]) -> Coefficient:
    moved = {int(share): move for share, move in content["moved_by"].items()}  # JSON knows texts as keys only
    return Coefficient(**{**content, "moved_by": moved})


def _width_point(content: dict[str, Any]) -> WidthPoint:
    return WidthPoint(content["reports"], dict(content["widths"]))
