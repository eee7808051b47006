"""A real Chromium without a window, driven over its debugging pipe: no driver program, no open
port.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
]


def program() -> str | None:
    """Where Chromium is, None where it is not installed."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    """One tab."""

    def __init__(self, read_end: int, write_end: int) -> None:
        self._read_end, self._write_end = read_end, write_end
        self._pending, self._number, self._session = b"", 0, ""
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Accessibility"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command of the debugging protocol."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write_end, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                return answer["result"]
            self.events.append(answer)

    def open(self, address: str, *, width: int, height: int = 900) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self.events.clear()
        self.call("Page.navigate", url=address)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def evaluate(self, script: str) -> Any:
        """The value of an expression on the page."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def wait(self, condition: str, seconds: float = 20.0) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                if self.evaluate(condition):
                    return
            except AssertionError:
                pass  # between two pages
            time.sleep(0.1)
        raise AssertionError(f"never true on the page: {condition}")

    def press(self, key: str, code: int) -> None:
        for kind in ("keyDown", "keyUp"):
            text = {"text": "\r"} if key == "Enter" and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **text)

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def screenshot(self, path: Path) -> None:
        """The whole page, however long."""
        picture = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=self._whole())
        path.write_bytes(base64.b64decode(picture["data"]))

    def complaints(self) -> list[str]:
        """What the browser wrote to its console: errors, refused assets."""
        self.evaluate("1")
        entries = [e["params"]["entry"] for e in self.events if e.get("method") == "Log.entryAdded"]
        failures = [json.dumps(e["params"]) for e in self.events if e.get("method") == "Runtime.exceptionThrown"]
        return [f"{entry['text']} {entry.get('url', '')}" for entry in entries] + failures

    def _whole(self) -> dict[str, float]:
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        return {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._pending:
            chunk = os.read(self._read_end, 1 << 20)
            assert chunk, "the browser ended"
            self._pending += chunk
        message, _, self._pending = self._pending.partition(b"\0")
        return json.loads(message)


@contextmanager
def browsing() -> Iterator[Browser]:
    found = program()
    assert found is not None
    to_browser, our_write = os.pipe()
    our_read, from_browser = os.pipe()

    def connect() -> None:  # the browser reads commands from 3 and answers on 4
        spare = os.dup(from_browser), os.dup(to_browser)
        os.dup2(spare[1], 3)
        os.dup2(spare[0], 4)

    with tempfile.TemporaryDirectory(prefix="discreet-browser-", ignore_cleanup_errors=True) as folder:
        process = subprocess.Popen(
            [found, *_FLAGS, f"--user-data-dir={folder}"],
            preexec_fn=connect,
            pass_fds=(3, 4),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser), os.close(from_browser)
        try:
            yield Browser(our_read, our_write)
        finally:
            os.close(our_write)
            process.terminate()
            process.wait(timeout=20)
            os.close(our_read)
