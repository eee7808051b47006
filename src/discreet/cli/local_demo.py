"""``discreet local demo``: a collector with both of its pages, and simulated people who report."""

from __future__ import annotations

import asyncio
import shutil
import socket
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli.printing import clean_errors

if TYPE_CHECKING:
    from discreet.local import Task
    from discreet.service.tokens import Keys

_GROUP = 100  # reports at a time, so that the page can be watched


@click.command()
@click.option("--people", type=click.IntRange(100, 1_000_000), default=20_000, show_default=True, help="Made up.")
@click.option("--epsilon", type=click.FloatRange(0.1, 10), default=4.0, show_default=True)
@click.option("--host", default="127.0.0.1", show_default=True, help="0.0.0.0 lets a phone on your network in.")
@click.option("--port", type=click.IntRange(1, 65535), default=8000, show_default=True)
@click.option("--rate", type=click.FloatRange(1), default=200.0, show_default=True, help="Made-up reports a second.")
def demo(people: int, epsilon: float, host: str, port: int, rate: float) -> None:
    """Collect from simulated people, and from you, on this machine; all files are removed at the
    end.
    """
    with clean_errors():
        from discreet.cli.local_demo_data import FORM, NAME, demo_task
        from discreet.service.app import create_app
        from discreet.service.form import Form
        from discreet.service.limits import Limits
        from discreet.service.serving import serve
        from discreet.service.storage import create_store
        from discreet.service.tokens import Keys, Role

        folder = Path(tempfile.mkdtemp(prefix="discreet-demo-"))
        try:
            task, keys = demo_task(people, epsilon), Keys.create(folder / "key")
            store = create_store(str(folder / "reports.db"), task, keys)
            limits = Limits(publish_seconds=2.0)  # to be watched
            app = create_app(task, store, keys, limits=limits, form=Form.of(task, FORM))
            shown = f"http://{_reached_at(host)}:{port}"
            click.echo(f"task       {NAME} epsilon {epsilon:g}, {people:,} reports planned")
            click.echo(f"take part  {shown}/join#{keys.issue(Role.DEVICE)}")
            click.echo(f"results    {shown}/ with the token {keys.issue(Role.ANALYST)}")
            click.echo(
                f"           {people:,} simulated people report meanwhile; Ctrl-C ends it and removes everything"
            )
            if host not in ("127.0.0.1", "localhost", "::1"):
                click.echo("           open to your network without encryption: for trying only")
            arguments = (task, keys, people, rate, f"http://{_this_machine(host)}:{port}")
            threading.Thread(target=_report, args=arguments, daemon=True).start()
            serve(app, host=host, port=port, limits=limits)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _report(task: Task, keys: Keys, people: int, rate: float, address: str) -> None:
    """Every simulated device makes its own report and posts it with its own token."""
    import numpy as np

    from discreet.cli.local_demo_data import made_up
    from discreet.local.client import fresh_reports
    from discreet.service.load import Delivery, deliver
    from discreet.service.tokens import Role

    rng = np.random.default_rng()
    _wait_for(address)
    for start in range(0, people, _GROUP):
        began = time.monotonic()
        count = min(_GROUP, people - start)
        columns = made_up(count, rng)
        records: list[dict[str, Any]] = [
            {name: values[place].item() for name, values in columns.items()} for place in range(count)
        ]
        bodies = fresh_reports(task, records)
        deliveries = [Delivery(body, keys.issue(Role.DEVICE)) for body in bodies]
        asyncio.run(deliver(address, deliveries, connections=4))
        time.sleep(max(0.0, count / rate - (time.monotonic() - began)))


def _wait_for(address: str) -> None:
    for _ in range(200):
        try:
            urllib.request.urlopen(f"{address}/health/ready", timeout=5).close()
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)


def _this_machine(host: str) -> str:
    return "127.0.0.1" if host == "0.0.0.0" else host


def _reached_at(host: str) -> str:
    """The address under which a phone finds this machine."""
    if host != "0.0.0.0":
        return host
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address reserved for documentation; nothing is sent
            return str(probe.getsockname()[0])
        except OSError:
            return socket.gethostname()
