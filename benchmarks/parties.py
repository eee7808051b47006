"""How fast a party mixes, on one core.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.parties [--streamed 30000000]

Keys are hashed apart, at their own rate. ``--streamed`` writes a Parquet file of that many rows and
releases from it, to show that memory does not grow with the rows.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from discreet.domain import Domain, Encoder, Numeric
from discreet.engines.memory import MemoryEngine
from discreet.parties.people import KeyedBlock, check_keys, open_people, spelled_keys
from discreet.parties.queries import Mixes
from discreet.parties.signs import Words, plan_state
from discreet.parties.slots import Rows, SlotCurator
from discreet.privacy import GDP
from discreet.rows import compile_kernels, product_parts

MIXES, COLUMNS = 400, 11
RESULT = Path(__file__).parent / "results" / "parties.md"


class StatedBlock:
    """A block whose people's states are known already."""

    def __init__(self, block: object, states: Words) -> None:
        self.write_x = block.write_x  # type: ignore[attr-defined]
        self.records = block.records  # type: ignore[attr-defined]
        self.states = states


def mixing_seconds(rows: int, *, compiled: bool) -> float:
    rng = np.random.default_rng(0)
    table = rng.uniform(-1, 1, (rows, COLUMNS))
    states = rng.integers(0, 2**63, (rows, 2), dtype=np.uint64)
    encoder = Encoder(Domain(tuple(Numeric(f"x{i}", -1.0, 1.0) for i in range(COLUMNS))))
    if compiled:
        compile_kernels()
    indexed = np.arange(rows)

    def encode(some: np.ndarray, _: object) -> StatedBlock:
        chosen = slice(int(some[0]), int(some[-1]) + 1)
        return StatedBlock(encoder.encode(table[chosen]), states[chosen])

    query = Mixes(MIXES, np.zeros(COLUMNS), np.ones(COLUMNS), np.sqrt(COLUMNS))
    engine = MemoryEngine(encode, indexed[: 1 << 16], workers=1)
    engine.sum_rows(partial(product_parts, query))  # warm up, and compile
    engine = MemoryEngine(encode, indexed, workers=1)
    started = time.process_time()
    engine.sum_rows(partial(product_parts, query))
    return time.process_time() - started


def slot_seconds(rows: int) -> float:
    """The same people and columns, one slot each in the place of mixes, with noise."""
    rng = np.random.default_rng(0)
    table = rng.uniform(-1, 1, (rows, COLUMNS))
    states = rng.integers(0, 2**63, (rows, 2), dtype=np.uint64)
    encoder = Encoder(Domain(tuple(Numeric(f"x{i}", -1.0, 1.0) for i in range(COLUMNS))))

    def encode(some: np.ndarray, _: object) -> StatedBlock:
        chosen = slice(int(some[0]), int(some[-1]) + 1)
        return StatedBlock(encoder.encode(table[chosen]), states[chosen])

    curator = SlotCurator(MemoryEngine(encode, np.arange(rows), workers=1))
    query = Rows(rows, np.zeros(COLUMNS), np.ones(COLUMNS), np.sqrt(COLUMNS))
    started = time.process_time()
    curator.scatter(query, GDP(1.0))
    return time.process_time() - started


def hashes_per_second() -> float:
    keys = list(range(1_000_000))
    state = plan_state("benchmark")
    started = time.process_time()
    states = KeyedBlock(None, spelled_keys(keys), state).states  # type: ignore[arg-type]
    return len(states) / (time.process_time() - started)


def streamed(rows: int) -> tuple[float, float]:
    """Seconds of a full pass (keys checked, then mixed) over a file, and the memory it took beyond
    the start.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    domain = Domain(tuple(Numeric(f"x{i}", -1.0, 1.0) for i in range(3)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.parquet"
        schema = pa.schema([("id", pa.int64()), *((f"x{i}", pa.float64()) for i in range(3))])
        rng = np.random.default_rng(0)
        with pq.ParquetWriter(path, schema) as writer:
            for start in range(0, rows, 500_000):
                size = min(500_000, rows - start)
                columns = [np.arange(start, start + size), *rng.uniform(-1, 1, (3, size))]
                writer.write_table(pa.table(columns, schema=schema))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        started = time.perf_counter()
        engine = open_people(path, domain, "id", plan_state("benchmark"), workers=1)
        check_keys(engine)
        engine.sum_rows(partial(product_parts, Mixes(64, np.zeros(3), np.ones(3), 2.0)))
        seconds = time.perf_counter() - started
    return seconds, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=3_000_000)
    parser.add_argument("--streamed", type=int, nargs="*", default=[])
    settings = parser.parse_args()
    lines = [f"# Parties: mixing k = {MIXES}, n = {settings.rows:,}, d = {COLUMNS}, one core", ""]
    lines += ["| what | measured | target |", "|---|---|---|"]
    # Each in a process of its own: the most memory ever used only grows, and long files compile the
    # kernels.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
        passes = [(rows, *pool.submit(streamed, rows).result()) for rows in settings.streamed]
    plain = mixing_seconds(settings.rows, compiled=False)
    lines.append(f"| mixing, numpy alone | {plain:.2f} s | 12 s |")
    fast = mixing_seconds(settings.rows, compiled=True)
    lines.append(f"| mixing, with numba | {fast:.2f} s | 3 s |")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    lines.append(f"| memory, table included | {memory:.0f} MB | 1,024 MB |")
    lines.append(f"| keys hashed | {hashes_per_second() / 1e6:.2f} M/s | 1 M/s |")
    some = settings.rows // 3
    lines.append(f"| a slot for each of {some:,} people, noise included (`dgm`) | {slot_seconds(some):.2f} s | |")
    for rows, seconds, more in passes:
        lines.append(
            f"| Parquet, {rows:,} rows: keys checked and mixed (k = 64) | {seconds:.0f} s, {more:.0f} MB more | |"
        )
    print("\n".join(lines))
    RESULT.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
