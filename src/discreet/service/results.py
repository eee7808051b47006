"""Fits the page's models, no more often than the collection grows and never to few reports."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from functools import lru_cache
from statistics import NormalDist, median
from typing import Any

from discreet.domain import Numeric
from discreet.local import Collection, fit, forecast, influence
from discreet.local.task import Task
from discreet.service.advice import advice
from discreet.service.entries import Total
from discreet.service.published import Published
from discreet.service.snapshot import Coefficient, Fit, FittedModel, Snapshot
from discreet.service.storage import Store

LIAR_SHARES = (1, 5)  # percent
FEWEST = 100  # reports before anything is fitted
GROWTH = 0.02  # fitted again when the collection has grown by this share, so that no two fits differ by one report
_TWO_SIDED = NormalDist().inv_cdf(0.975)
PILOT = (
    "The first of two rounds: its reports fit no model. They estimate means and scales, from which `discreet local "
    "task second` makes the task for everybody else."
)


class Results:
    """Snapshots of one collection; post-processing only, so they cost no privacy, however many are
    asked for.
    """

    def __init__(self, task: Task, store: Store, *, models: Sequence[str] = ()) -> None:
        self._task, self._store = task, store
        if models and task.statistic.kind == "pilot":
            raise ValueError(
                "a pilot's reports fit no model: they estimate means and scales for the task that continues it"
            )
        self.models = tuple(models) or default_models(task)
        self._lock = asyncio.Lock()
        self._published = Published(store)
        self._expected = lru_cache(maxsize=512)(self._forecast)

    async def snapshot(self) -> Snapshot:
        """The state now, with models at most ``GROWTH`` behind."""
        async with self._lock:  # one fit at a time, however many requests there are
            return await asyncio.to_thread(self._snapshot)

    def _snapshot(self) -> Snapshot:
        counts, open_batch = self._store.counts(), self._store.open_batch()
        shown, closed = _shown(counts, open_batch, self._task, datetime.now(UTC).date())
        counted, goal = dict(counts).get(shown, 0), self._task.goal
        self._published.read()
        if self._due(shown, counted, closed):
            total = self._store.total(shown)
            self._published.add(Fit(shown, total.count, self._fit(total)))
        last = self._published.fit
        current = last if last is not None and last.batch == shown and self._same_models(last) else None
        here: dict[str, Any] = {
            "batch": shown,
            "closed": closed,
            "counted": max(counted, current.reports if current else 0),  # some reports arrived between the two queries
            "goal": goal,
            "next_batch": sum(count for batch, count in counts if batch > shown),
            "fitted": current.reports if current else 0,
        }
        if not self.models:
            return Snapshot(**here, models=(), width_now=None, width_at_goal=None, advice=PILOT)
        half_width = self._half_width(current)
        effects = current.models[0].effects if current else []
        return Snapshot(
            **here,
            models=current.models if current else (),
            width_now=half_width(counted) if counted >= FEWEST else None,
            width_at_goal=half_width(goal),
            advice=advice(effects, half_width, goal=goal, counted=counted, closed=closed),
            widths=self._published.widths if current else (),
            forecast=tuple((n, half_width(n)) for n in (current.reports if current else goal // 10 or 1, goal)),
        )

    def _due(self, shown: int, counted: int, closed: bool) -> bool:
        last = self._published.fit
        if counted < FEWEST or not self.models:
            return False
        if last is None or last.batch != shown or not self._same_models(last):
            return True
        if closed:  # the final result is of all reports, however few came last
            return counted != last.reports
        return counted - last.reports >= max(FEWEST, GROWTH * last.reports)

    def _same_models(self, last: Fit) -> bool:
        return tuple(model.name for model in last.models) == self.models

    def _fit(self, total: Total) -> tuple[FittedModel, ...]:
        collection = Collection(self._task)
        collection.add_sum(total.values, total.count)
        return tuple(self._fit_one(collection, name) for name in self.models)

    def _fit_one(self, collection: Collection, name: str) -> FittedModel:
        try:
            (result,) = fit(self._task, collection, [name])
            moves = {share: influence(self._task, collection, result, share / 100) for share in LIAR_SHARES}
        except (ValueError, ArithmeticError) as error:  # such as no root: a fact about the public sum
            return FittedModel(name, failure=f"No model yet: {error}")
        spans, shown = feature_spans(self._task), result.results_
        unknown = [[math.nan, math.nan]] * len(result.names)  # NLDP gives no standard errors for its second round
        ends = unknown if shown.covariance is None else shown.intervals().tolist()
        coefficients = [
            Coefficient(part, value, low, high, {share: moves[share][part] for share in moves}, spans.get(part))
            for part, value, (low, high) in zip(result.names, result.estimates.tolist(), ends, strict=True)
        ]
        usable = float(result.usable) if self._task.statistic.flagged else None
        spread = float(result.usable_std)
        return FittedModel(name, tuple(coefficients), usable=usable, usable_std=spread, assumption=result.assumption)

    def _half_width(self, last: Fit | None) -> Callable[[int], float]:
        """The typical half-width of the first model's effects by number of reports: the newest
        fit's, and from there on as forecasts grow narrower.
        """
        found = last.models[0].typical_half_width if last else None
        if last is None or found is None:
            return self._expected
        ratio = found / self._expected(last.reports)
        return lambda n: ratio * self._expected(n)

    def _forecast(self, n: int) -> float:
        facts = forecast(self._task, max(n, 1), self.models[0])
        spans = feature_spans(self._task)
        errors = dict(zip(facts["names"], facts["std_errors"], strict=True))
        width = median(_TWO_SIDED * span * errors[name] for name, span in spans.items())
        return width if math.isfinite(width) else math.inf


def feature_spans(task: Task) -> dict[str, float]:
    """Half the declared range of every feature; 1 for a category's indicator."""
    return {
        name: column.half_width if isinstance(column, Numeric) else 1.0
        for column in task.columns
        for name in column.names
    }


def default_models(task: Task) -> tuple[str, ...]:
    """Both models for a label of 0 and 1, one for any other label, and none for a pilot."""
    if task.statistic.kind == "pilot":
        return ()
    return ("logistic", "identity") if task.target.two_valued else ("identity",)


def _shown(counts: Sequence[tuple[int, int]], open_batch: int, task: Task, today: date) -> tuple[int, bool]:
    """The newest closed batch that has reports, whose result is final; before there is one, the
    open batch.
    """
    at_goal = task.closes == "goal"
    over = not at_goal and today > date.fromisoformat(
        task.closes
    )  # the date closes the first batch; the next report opens another
    closed = [
        batch
        for batch, count in counts
        if batch < open_batch or (at_goal and count >= task.goal) or (over and batch == 0)
    ]
    return (closed[-1], True) if closed else (open_batch, False)
