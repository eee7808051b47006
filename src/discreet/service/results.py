"""Fits the page's models: not more often than the collection grows, and never to so few that one would stand out."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from datetime import UTC, date, datetime

from discreet.domain import Numeric
from discreet.local import Collection, fit, forecast, influence
from discreet.local.task import Task
from discreet.service.entries import Total
from discreet.service.snapshot import Coefficient, FittedModel, Forecast, Snapshot
from discreet.service.storage import Store

LIAR_SHARES = (1, 5)  # percent
FEWEST = 100  # reports before anything is fitted
GROWTH = 0.02  # fitted again when the collection has grown by this share, so that no two fits differ by one report

_EXPLANATIONS = {
    "logistic": "How the log-odds of a yes change with one unit of each feature.",
    "identity": "How the label itself changes with one unit of each feature.",
    "poisson": "How the logarithm of the expected count changes with one unit of each feature.",
}


class Results:
    """Snapshots of one collection; post-processing only, so they cost no privacy, however many are asked for."""

    def __init__(self, task: Task, store: Store, *, models: Sequence[str] = ()) -> None:
        self._task, self._store = task, store
        self._models = tuple(models) or default_models(task)
        self._lock = asyncio.Lock()
        self._fitted: tuple[int, int, tuple[FittedModel, ...]] = (0, 0, ())  # batch, count, models

    async def snapshot(self) -> Snapshot:
        """The state now, with models at most ``GROWTH`` behind."""
        async with self._lock:  # however many ask, one fit at a time
            return await asyncio.to_thread(self._snapshot)

    def _snapshot(self) -> Snapshot:
        counts, open_batch = self._store.counts(), self._store.open_batch()
        shown, closed = _shown(counts, open_batch, self._task, datetime.now(UTC).date())
        counted = dict(counts).get(shown, 0)
        if self._due(shown, counted, closed):
            total = self._store.total(shown)
            self._fitted = (shown, total.count, self._fit(total))
        batch, fitted, models = self._fitted
        current = batch == shown and fitted > 0
        return Snapshot(
            batch=shown,
            closed=closed,
            counted=counted,
            goal=self._task.goal,
            next_batch=sum(count for batch, count in counts if batch > shown),
            fitted=fitted if current else 0,
            now=self._forecast(counted) if counted >= FEWEST else None,
            at_goal=self._forecast(self._task.goal),
            models=models if current else (),
        )

    def _due(self, shown: int, counted: int, closed: bool) -> bool:
        batch, fitted, _ = self._fitted
        if counted < FEWEST or (batch, fitted) == (shown, counted):
            return False
        if closed or batch != shown:  # the final result is of all reports, however few came last
            return True
        return counted - fitted >= max(FEWEST, GROWTH * fitted)

    def _fit(self, total: Total) -> tuple[FittedModel, ...]:
        collection = Collection(self._task)
        collection.add_sum(total.values, total.count)
        return tuple(self._fit_one(collection, name) for name in self._models)

    def _fit_one(self, collection: Collection, name: str) -> FittedModel:
        title, explanation = f"{name.capitalize()} model", _EXPLANATIONS.get(name, "")
        title = {"identity": "Linear model"}.get(name, title)
        try:
            (result,) = fit(self._task, collection, [name])
            moves = {share: influence(self._task, collection, result, share / 100) for share in LIAR_SHARES}
        except (ValueError, ArithmeticError) as error:  # no root, say: a fact about the sum, which is public here
            return FittedModel(title, explanation, failure=f"Not enough to go on yet: {error}")
        spans = feature_spans(self._task)
        coefficients = [
            Coefficient(part, value, low, high, {share: moves[share][part] for share in moves}, spans.get(part))
            for part, value, (low, high) in zip(
                result.names, result.estimates.tolist(), result.conf_int().tolist(), strict=True
            )
        ]
        return FittedModel(title, explanation, tuple(coefficients))

    def _forecast(self, n: int) -> Forecast:
        facts = forecast(self._task, n, self._models[0])
        return Forecast(n, math.sqrt(facts["squared_relative_error"]))


def feature_spans(task: Task) -> dict[str, float]:
    """Half the declared range of every feature; a category is there or not."""
    return {
        name: column.half_width if isinstance(column, Numeric) else 1.0
        for column in task.columns
        for name in column.names
    }


def default_models(task: Task) -> tuple[str, ...]:
    """A yes-or-no label is explained on both scales, any other on its own."""
    return ("logistic", "identity") if task.target.two_valued else ("identity",)


def _shown(counts: Sequence[tuple[int, int]], open_batch: int, task: Task, today: date) -> tuple[int, bool]:
    """The newest closed batch that has reports, whose result is final; before there is one, the open batch."""
    at_goal = task.closes == "goal"
    over = not at_goal and today > date.fromisoformat(task.closes)  # of the first batch: the next report opens another
    closed = [
        batch
        for batch, count in counts
        if batch < open_batch or (at_goal and count >= task.goal) or (over and batch == 0)
    ]
    return (closed[-1], True) if closed else (open_batch, False)
