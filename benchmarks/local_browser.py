"""How long a report takes in a browser: ``python -m benchmarks.local_browser [--write]``; needs
Chromium.

The client that participants' pages are served, in Chromium without a window, system randomness
included. Median and 99th percentile of 200 reports after ten that warm it up.
"""

from __future__ import annotations

import argparse
import datetime
import functools
import http.server
import json
import os
import platform
import shutil
import sys
import tempfile
import threading
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from discreet.domain import Domain, Numeric, Public
from discreet.local import Task, new_task

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.browser import Browser, browsing, program  # noqa: E402

RESULTS = Path(__file__).parent / "results" / "local_browser.md"
CLIENT = ROOT / "src" / "discreet" / "service" / "static" / "discreet-client.js"
FEATURES = 20
SCRIPT = """
(async () => {
  const { readTask, freshReport } = await import("/discreet-client.js");
  const task = readTask(await (await fetch("/%s")).text());
  const random = (count) => crypto.getRandomValues(new Uint8Array(count));
  const record = Object.fromEntries([...task.columns, task.target].map(({ name }) => [name, Math.random()]));
  const times = [];
  for (let i = 0; i < 210; i++) {
    const started = performance.now();
    freshReport(task, record, random);
    if (i >= 10) times.push(performance.now() - started);
  }
  return times.sort((a, b) => a - b);
})()
"""


def make_task(epsilon: float, public: bool) -> Task:
    rows = np.random.default_rng(0).normal(size=(2000, FEATURES)).clip(-3, 3)
    return new_task(
        "browser",
        domain=Domain(tuple(Numeric(f"x{j}", -3.0, 3.0) for j in range(FEATURES))),
        target=Numeric("y", 0.0, 1.0),
        epsilon=epsilon,
        goal=100_000,
        public=Public(rows=rows) if public else None,
        reports="cross" if public else "both",
    )


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


def row(browser: Browser, address: str, folder: Path, epsilon: float, public: bool) -> str:
    task = make_task(epsilon, public)
    (folder / "task.json").write_bytes(task.document)
    browser.open(f"{address}/index.html", width=400)
    times = browser.evaluate(SCRIPT % "task.json")
    kind = "x y" if public else "x x^T and x y"
    size = task.randomizer.to_dict()
    found = f"{times[100]:.1f} ms | {times[197]:.1f} ms"
    return f"| {kind} | {epsilon:g} | {size['dimension']} | {size['candidates']} | {found} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/local_browser.md")
    options = parser.parse_args()
    if program() is None:
        raise SystemExit("Chromium is not installed")
    lines = ["| reports | epsilon | numbers | candidates | median | 99 % |", "|---|---:|---:|---:|---:|---:|"]
    with tempfile.TemporaryDirectory() as name, browsing() as browser:
        folder = Path(name)
        shutil.copy(CLIENT, folder)
        (folder / "index.html").write_text("<!doctype html><title>speed</title>")
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=name))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for public in (True, False):
            for epsilon in (1.0, 4.0, 8.0):
                lines.append(row(browser, f"http://127.0.0.1:{server.server_port}", folder, epsilon, public))
                print(lines[-1], flush=True)
        agent = json.dumps(browser.call("Browser.getVersion")["product"])
        server.shutdown()
    about = (
        f"`python -m benchmarks.local_browser --write`, {datetime.date.today()}; {agent}, {os.cpu_count()} cores (load "
        f"average over 5 minutes {os.getloadavg()[1]:.1f}), {platform.system()}. {FEATURES} features."
    )
    if options.write:
        RESULTS.write_text("\n".join(["# A report in a browser", "", fill(about, 100), "", *lines]) + "\n")


if __name__ == "__main__":
    main()
