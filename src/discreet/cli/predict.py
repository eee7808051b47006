"""``discreet predict``: a saved model's predictions for new rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from discreet.cli.printing import clean_errors, needs

_ENDINGS = (".parquet", ".csv")


@click.command()
@click.argument("model_path", metavar="MODEL", type=click.Path(exists=True, dir_okay=False))
@click.argument("data", type=click.Path(exists=True, dir_okay=False))
@click.option("--out", required=True, type=click.Path(dir_okay=False), help="Write scores here: .parquet or .csv.")
@click.option("--keep", multiple=True, metavar="COLUMN", help="Copy this column of DATA beside the scores.")
@click.option("--exposure", metavar="COLUMN", help="How long each row is observed (log link).  [default: 1]")
@click.option("--extrapolate", is_flag=True, help="Leave values beyond the declared bounds as they are.")
def predict(
    model_path: str, data: str, out: str, keep: tuple[str, ...], exposure: str | None, extrapolate: bool
) -> None:
    """Score the rows of DATA, a .parquet or .csv file, with the saved MODEL.

    This costs no budget: the model is already released. The scores of private rows are private
    data. A row with a missing or undeclared value has an empty score.
    """
    with clean_errors():
        needs("pyarrow", "arrow")
        from discreet.loading import load

        if Path(out).suffix not in _ENDINGS:
            raise click.UsageError(f"--out must end with {' or '.join(_ENDINGS)}")
        if not Path(out).resolve().parent.is_dir():
            raise ValueError(f"there is no folder {Path(out).parent} to write {Path(out).name} to")
        model = load(model_path)
        scorer = _Scorer(model, exposure, keep, extrapolate)
        rows = _write(out, (scorer.scored(batch) for batch in _batches(data)))
        click.echo(f"scores     of {rows:,} rows written to {out}")


class _Scorer:
    """The columns that a model reads, and its prediction function."""

    def __init__(self, model: Any, exposure: str | None, keep: tuple[str, ...], extrapolate: bool) -> None:
        self._model, self._exposure, self._keep = model, exposure, keep
        self._local = model.results_.trust == "local"
        if exposure is not None and model.results_.link != "log":
            raise ValueError("exposure multiplies the mean, so it needs a model with the log link")
        if self._local and (exposure is not None or extrapolate):
            raise ValueError("a local model has neither exposure nor extrapolation")
        self._more = {"extrapolate": True} if extrapolate else {}
        if self._local:
            self._names = [column.name for column in model.task.columns]
        elif hasattr(model, "feature_names_in_"):
            self._names = [str(name) for name in model.feature_names_in_]
        else:
            self._names = [f"x{i}" for i in range(model.n_features_in_)]

    def scored(self, batch: Any) -> Any:
        """A table of scores for the rows of one."""
        import numpy as np
        import pyarrow as pa

        wanted = [*self._names, *self._keep, *([self._exposure] if self._exposure else [])]
        for name in wanted:
            if name not in batch.column_names:
                raise ValueError(f"DATA has no column {name!r}, which the model or an option names")
        table = batch.select(self._names)
        columns: dict[str, Any] = {name: batch[name] for name in self._keep}
        if not self._local and hasattr(self._model, "predict_proba"):
            chances = self._model.predict_proba(table, **self._more)
            known = ~np.isnan(chances).any(axis=1)
            best = self._model.classes_[np.argmax(np.where(known[:, np.newaxis], chances, 0.0), axis=1)]
            columns["prediction"] = pa.array(best.tolist(), mask=~known)
            for place, value in enumerate(self._model.classes_.tolist()):
                columns[f"probability of {value}"] = pa.array(chances[:, place], mask=~known)
        else:
            more = dict(self._more)
            if self._exposure is not None:
                more["exposure"] = batch[self._exposure].to_numpy(zero_copy_only=False)
            means = self._model.predict(table, **more)
            columns["prediction"] = pa.array(means, mask=np.isnan(means))
        return pa.table(columns)


def _batches(path: str) -> Iterator[Any]:
    """The rows of a file, some at a time; one empty table if there is none."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    from discreet.errors import ReadError

    ending = "csv" if path.endswith((".csv", ".csv.gz")) else "parquet"
    try:
        source, empty = ds.dataset(path, format=ending), True
        for batch in source.to_batches(batch_size=100_000):
            if batch.num_rows:
                empty = False
                yield pa.Table.from_batches([batch])
        if empty:
            yield source.schema.empty_table()
    except (OSError, pa.ArrowException) as error:
        raise ReadError(f"cannot read {path} as {ending}: {type(error).__name__}") from None


def _write(out: str, tables: Iterator[Any]) -> int:
    """Write all tables to one file, completely or not at all."""
    from pyarrow import csv, parquet

    part, rows, writer = Path(f"{out}.part"), 0, None
    try:
        for table in tables:
            if writer is None:
                kind = csv.CSVWriter if out.endswith(".csv") else parquet.ParquetWriter
                writer = kind(str(part), table.schema)
            writer.write_table(table.cast(writer.schema) if hasattr(writer, "schema") else table)
            rows += table.num_rows
        if writer is not None:
            writer.close()
        part.replace(out)
    finally:
        part.unlink(missing_ok=True)
    return rows
