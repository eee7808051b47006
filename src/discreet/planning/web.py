"""The planner as a local web page: no other host, no data."""

from __future__ import annotations

import json
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from discreet.errors import DiscreetError
from discreet.planning.asking import plan
from discreet.planning.forecast import Levels
from discreet.planning.question import MOST_CELLS
from discreet.planning.remedy import NoForecast, Remedy
from discreet.planning.words import attacker_sentences, error_rows, headline, model_sentences

_HOSTS = {"127.0.0.1", "localhost"}
_CURVE_POINTS = 13
# Nothing may be loaded from elsewhere, and no other page may embed this one.
_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
_NUMBERS = {
    "n": int,
    "d": int,
    "epsilon": float,
    "delta": float,
    "error": float,
    "public": int,
    "effect": float,
    "rate": float,
    "simulate": int,
}
_TEXTS = {"family", "trust", "neighbours"}
_FILES = {
    "/": ("page.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/page.js": ("page.js", "text/javascript"),
}
_MOST_COLUMNS = 500


class PlanServer(ThreadingHTTPServer):
    """Listens on this computer only; with ``port`` 0 on any free port."""

    daemon_threads = True

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/"

    def address_of(self, asked: dict[str, Any]) -> str:
        """The address of the page with these settings, named as in ``plan``; None is left out."""
        told = {name: value for name, value in asked.items() if value is not None}
        return self.address + (f"?{urlencode(told)}" if told else "")


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        asked = urlsplit(self.path)
        # DNS rebinding: another page's host name could resolve to this computer,
        # so the host is checked.
        if self.headers.get("Host", "").rsplit(":", 1)[0] not in _HOSTS:
            self._send(403, "text/plain", "this planner answers to localhost only")
        elif asked.path in _FILES:
            name, kind = _FILES[asked.path]
            self._send(200, kind, _file(name))
        elif asked.path == "/forecast":
            self._forecast(asked.query)
        else:
            self._send(404, "text/plain", "not found")

    def _forecast(self, query: str) -> None:
        try:
            self._send(200, "application/json", answer(query))
        except (DiscreetError, ValueError, OverflowError) as error:
            remedies = [vars(remedy) for remedy in getattr(error, "remedies", ())]
            problem = {"problem": " ".join(str(error).split()), "remedies": remedies}
            self._send(400, "application/json", json.dumps(problem))

    def _send(self, status: int, kind: str, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        for name, value in (
            ("Content-Type", f"{kind}; charset=utf-8"),
            ("Content-Length", str(len(body))),
            ("Content-Security-Policy", _POLICY),
            ("X-Content-Type-Options", "nosniff"),
            ("Cache-Control", "no-store"),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing: a line per slider move would not help."""


@lru_cache(maxsize=len(_FILES))
def _file(name: str) -> str:
    return (files("discreet.planning") / name).read_text(encoding="utf-8")


@lru_cache(maxsize=512)
def answer(query: str) -> str:
    """The forecast that a query asks for, with its texts and curves, as JSON."""
    asked: dict[str, Any] = {}
    for name, value in parse_qsl(query):
        if name in _NUMBERS:
            asked[name] = _NUMBERS[name](value)
        elif name in _TEXTS:
            asked[name] = value
        else:
            raise ValueError(f"unknown setting {name!r}")
    if asked.get("d", 1) > _MOST_COLUMNS:
        raise NoForecast(
            f"d must be at most {_MOST_COLUMNS} on this page, got {asked['d']}",
            Remedy(f"Take {_MOST_COLUMNS:,} columns", {"d": _MOST_COLUMNS}),
        )
    family = asked.pop("family", "linear")
    # The page answers at once; a simulation runs only on request.
    forecast = plan(family, simulate=bool(asked.pop("simulate", 0)), **asked)
    attacker = forecast.attacker
    return json.dumps(
        {
            "headline": headline(forecast),
            "solved": forecast.solved,
            "n": forecast.n,
            "epsilon": forecast.epsilon,
            "error": forecast.standard_error,
            "plain": forecast.plain_standard_error,
            "bound": forecast.bound,
            "method": forecast.method,
            "sharp": forecast.sharp,
            "simulable": forecast.trust == "central" and forecast.n * forecast.d <= MOST_CELLS,
            "drowned": forecast.drowned,
            "kept": max(0.0, 1 - forecast.excess_risk / forecast.constant_risk),
            "rows": error_rows(forecast),
            "model": model_sentences(forecast),
            "right": attacker.right,
            "belief": attacker.from_half,
            "attacker": attacker_sentences(forecast),
            "curves": {axis: _curve(forecast.along(axis, _CURVE_POINTS)) for axis in ("epsilon", "n")},
        }
    )


def _curve(levels: Levels) -> dict[str, tuple[float, ...]]:
    return vars(levels)
