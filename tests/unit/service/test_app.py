"""The collector's routes: who may use them, and what every odd request gets."""

from __future__ import annotations

import hashlib
import re
import struct
import threading
import time
import zlib

import numpy as np
import pytest
from starlette.testclient import TestClient
from tests.service_tools import payload, report, small_task

from discreet.errors import StoreError, StoreFull
from discreet.local import wire
from discreet.local.task import Task
from discreet.service.access import COOKIE
from discreet.service.app import create_app
from discreet.service.limits import Limits
from discreet.service.storage import create_store
from discreet.service.tokens import Keys, Role

TASK = small_task()


class Wrapped:
    """A store that can be made to fail or to wait."""

    def __init__(self, store):
        self._store, self.failure, self.gate = store, None, threading.Event()
        self.gate.set()

    def write(self, entries):
        self._fail()
        return self._store.write(entries)

    def probe(self, size):
        self._fail()
        self._store.probe(size)

    def _fail(self):
        self.gate.wait(30)
        if self.failure is not None:
            raise self.failure

    def __getattr__(self, name):
        return getattr(self._store, name)


@pytest.fixture
def rng():
    return np.random.default_rng(5)


@pytest.fixture
def keys(tmp_path):
    return Keys.create(tmp_path / "key")


@pytest.fixture
def store(tmp_path, keys):
    return Wrapped(create_store(str(tmp_path / "reports.db"), TASK, keys))


@pytest.fixture
def client(store, keys):
    app = create_app(TASK, store, keys, limits=Limits(queue_size=4, batch_size=2, patience=0.001))
    with TestClient(app, follow_redirects=False) as client:
        yield client


def bearer(keys, role=Role.DEVICE):
    return {"Authorization": f"Bearer {keys.issue(role)}"}


def send(client, keys, body, headers=None):
    return client.post("/v1/reports", content=body, headers=headers or bearer(keys))


def eventually(condition):
    until = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


def code(response):
    return response.status_code, response.json().get("error") or response.json()["status"]


# What each role gets on each route; every route of the application must be in here.
MATRIX = {
    ("POST", "/v1/reports"): {"anyone": 401, "device": 400, "analyst": 403},  # 400: let in, but sent nothing
    ("GET", "/v1/task"): {"anyone": 200, "device": 200, "analyst": 200},
    ("GET", "/v1/models"): {"anyone": 401, "device": 403, "analyst": 200},
    ("POST", "/v1/close"): {"anyone": 401, "device": 403, "analyst": 200},
    ("GET", "/metrics"): {"anyone": 401, "device": 403, "analyst": 200},
    ("GET", "/health/live"): {"anyone": 200, "device": 200, "analyst": 200},
    ("GET", "/health/ready"): {"anyone": 200, "device": 200, "analyst": 200},
    ("GET", "/"): {"anyone": 303, "device": 403, "analyst": 200},
    ("GET", "/results.csv"): {"anyone": 303, "device": 403, "analyst": 200},
    ("GET", "/results.json"): {"anyone": 303, "device": 403, "analyst": 200},
    ("GET", "/static/{name}"): {"anyone": 404, "device": 404, "analyst": 404},  # no file of this name
    ("GET", "/login"): {"anyone": 200, "device": 200, "analyst": 200},
    ("POST", "/login"): {"anyone": 401, "device": 401, "analyst": 401},  # no token in the form
    ("POST", "/logout"): {"anyone": 303, "device": 303, "analyst": 303},
}


def test_the_matrix_knows_every_route(client):
    routes = {(method, route.path) for route in client.app.routes for method in route.methods - {"HEAD"}}
    assert routes == set(MATRIX)


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("route", list(MATRIX))
def test_every_role_gets_what_the_matrix_says_on_every_route(client, keys, route, role):
    headers = {} if role is Role.ANYONE else bearer(keys, role)
    assert client.request(*route, headers=headers).status_code == MATRIX[route][role]


@pytest.mark.parametrize("path", ["/v1/reports", "/v1/reports/1", "/reports.db", "/v1/sums", "/docs", "/../key"])
def test_no_route_gives_a_report(client, keys, path):
    assert client.get(path, headers=bearer(keys, Role.ANALYST)).status_code in (404, 405)


def test_no_answer_to_an_analyst_holds_a_report(client, keys, rng):
    bodies = [report(TASK, rng) for _ in range(150)]
    for body in bodies:
        assert send(client, keys, body).status_code == 201
    for method, path in MATRIX:
        text = client.request(method, path, headers=bearer(keys, Role.ANALYST)).content
        assert all(body[12:] not in text and wire.report_id(body).hex().encode() not in text for body in bodies)
        values = wire.decode(TASK, bodies[0]).tolist()
        assert not any(str(value).encode() in text for value in values if abs(value) > 10_000)


@pytest.mark.parametrize("forged", ["", "Bearer", "Bearer device-AAAA", "Basic abc", "Bearer analyst-", "bearer  x"])
def test_a_forged_token_is_nobody(client, keys, forged):
    assert code(send(client, keys, b"", {"Authorization": forged})) == (401, "token_needed")


def test_a_cookie_opens_the_page_and_changes_nothing(client, keys):
    client.cookies.set(COOKIE, keys.issue(Role.ANALYST))
    assert client.get("/").status_code == 200
    assert client.post("/v1/close").status_code == 401
    assert client.get("/v1/models").status_code == 401


def test_login_takes_analysts_only(client, keys):
    assert client.post("/login", data={"token": keys.issue(Role.DEVICE)}).status_code == 401
    assert client.post("/login", data={"token": "x" * 5000}).status_code == 413
    response = client.post("/login", data={"token": keys.issue(Role.ANALYST)})
    assert (response.status_code, response.headers["location"]) == (303, "/")
    cookie = response.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert client.get("/").status_code == 200


def test_a_report_is_accepted_once_and_its_retry_is_told_so(client, keys, rng):
    body, headers = report(TASK, rng), bearer(keys)
    assert code(send(client, keys, body, headers)) == (201, "accepted")
    assert code(send(client, keys, body, headers)) == (200, "repeated")
    assert code(send(client, keys, report(TASK, rng), headers)) == (403, "token_used")


def test_another_body_under_the_same_id_is_a_conflict(client, keys, rng):
    body = report(TASK, rng)
    other = wire.encode(TASK, payload(TASK, rng), wire.report_id(body))
    assert code(send(client, keys, body)) == (201, "accepted")
    assert code(send(client, keys, other)) == (409, "conflict")


def test_a_refused_report_does_not_use_up_the_token(client, keys, rng):
    headers, body = bearer(keys), report(TASK, rng)
    assert code(send(client, keys, b"\0" * len(body), headers)) == (400, "malformed")
    assert code(send(client, keys, body, headers)) == (201, "accepted")


def malformed(body):
    """A report with one thing wrong, of the right length."""
    packed = b"\xff\xff"  # no candidate has this number
    head = body[: wire.HEADER_BYTES]
    yield "outside of the support", head + packed + struct.pack("<I", zlib.crc32(head + packed))
    for name, place in [
        ("magic", 0),
        ("version", 2),
        ("randomizer", 3),
        ("task", 4),
        ("value", 28),
        ("check", len(body) - 1),
    ]:
        broken = bytearray(body)
        broken[place] ^= 0x40
        yield name, bytes(broken)
    yield "zeros", bytes(len(body))
    yield "text", b"N" * len(body)


def test_malformed_reports_are_refused_with_one_word(client, keys, rng, store):
    body = report(TASK, rng)
    for name, broken in malformed(body):
        assert code(send(client, keys, broken)) == (400, "malformed"), name
    assert store.totals() == []


@pytest.mark.parametrize(
    ("resized", "expected"),
    [
        (lambda body: b"", (400, "too_short")),
        (lambda body: body[:-1], (400, "too_short")),
        (lambda body: body + b"x", (413, "too_long")),
        (lambda body: body * 100_000, (413, "too_long")),
    ],
    ids=["empty", "one less", "one more", "huge"],
)
def test_every_other_length_is_refused(client, keys, rng, resized, expected):
    assert code(send(client, keys, resized(report(TASK, rng)))) == expected


def test_an_undeclared_length_is_cut_off_while_streaming(client, keys):
    chunks = (b"x" * 1000 for _ in range(1000))
    response = client.post("/v1/reports", content=chunks, headers=bearer(keys))
    assert code(response) == (413, "too_long")


def test_random_bodies_never_pass_and_never_fail(client, keys, rng, store):
    headers = bearer(keys)
    for _ in range(500):
        body = rng.bytes(int(rng.integers(0, 3 * TASK.body_size)))
        assert send(client, keys, body, headers).status_code in (400, 413)
    assert store.totals() == []


def test_a_full_queue_says_when_to_come_again(client, keys, rng, store):
    store.gate.clear()
    answers = []

    def device(body):
        answers.append(send(client, keys, body))

    devices = [threading.Thread(target=device, args=(report(TASK, rng),)) for _ in range(12)]
    for thread in devices:
        thread.start()
    for _ in range(200):
        if len(answers) >= 4:
            break
        threading.Event().wait(0.02)
    while_full = list(answers)
    store.gate.set()
    for thread in devices:
        thread.join()
    # How many more come too late to be refused depends on the threads; that none is lost or counted
    # twice does not.
    refused = [answer for answer in answers if answer.status_code == 503]
    assert while_full
    assert all(answer in refused for answer in while_full)
    assert all(code(answer) == (503, "busy") and answer.headers["retry-after"] == "1" for answer in refused)
    accepted = [answer for answer in answers if answer.status_code == 201]
    assert len(accepted) + len(refused) == 12
    assert store.verified_totals()[0].count == len(accepted)


@pytest.mark.parametrize(("failure", "expected"), [(StoreFull("full"), 507), (StoreError("gone"), 503)])
def test_what_could_not_be_stored_is_not_acknowledged(client, keys, rng, store, failure, expected):
    body, headers = report(TASK, rng), bearer(keys)
    store.failure = failure
    response = send(client, keys, body, headers)
    assert response.status_code == expected
    assert "retry-after" in response.headers
    assert client.get("/health/ready").status_code == 503
    store.failure = None
    assert send(client, keys, body, headers).status_code == 201
    assert client.get("/health/ready").status_code == 200


def test_readiness_comes_back_without_a_single_report(store, keys):
    """A balancer sends nothing to a collector that is not ready, so nothing but the collector
    itself can notice.
    """
    limits = Limits(probe_seconds=0.05, retry_seconds=0.05)
    with TestClient(create_app(TASK, store, keys, limits=limits)) as client:
        for failure in (StoreError("gone"), StoreFull("full"), RuntimeError("odd")):
            store.failure = failure
            eventually(lambda: client.get("/health/ready").status_code == 503)
            assert client.get("/health/ready").headers["retry-after"] == "1"
            assert client.get("/health/live").status_code == 200
            store.failure = None
            eventually(lambda: client.get("/health/ready").status_code == 200)


def test_a_store_that_hangs_does_not_hang_the_shutdown(store, keys, caplog):
    limits = Limits(shutdown_seconds=0.3, probe_seconds=0.05)
    with TestClient(create_app(TASK, store, keys, limits=limits)):
        store.gate.clear()
        time.sleep(0.3)  # for the writer to ask the store
        started = time.monotonic()
    assert time.monotonic() - started < 5
    assert "did not answer in time" in caplog.text
    store.gate.set()


@pytest.mark.parametrize("path", ["/", "/v1/models", "/metrics"])
def test_a_store_that_cannot_be_read_is_503_for_analysts_too(client, keys, store, monkeypatch, caplog, path):
    def gone():
        raise StoreError("gone")

    monkeypatch.setattr(store._store, "counts", gone)
    assert code(client.get(path, headers=bearer(keys, Role.ANALYST))) == (503, "store_failed")
    assert "gone" in caplog.text


def test_failing_is_logged_once_when_it_begins_and_once_when_it_ends(client, keys, rng, store, caplog):
    store.failure = StoreFull("full")
    for _ in range(5):
        send(client, keys, report(TASK, rng))
    store.failure = None
    for _ in range(5):
        send(client, keys, report(TASK, rng))
    messages = [record.getMessage() for record in caplog.records if record.name == "discreet.service"]
    assert messages == ["reports are refused: full", "reports are stored again"]


def test_a_surprise_in_the_store_does_not_end_the_collector(client, keys, rng, store):
    store.failure = RuntimeError("marker 42")
    response = send(client, keys, report(TASK, rng))
    assert code(response) == (503, "store_failed")
    assert "42" not in response.text
    store.failure = None
    assert send(client, keys, report(TASK, rng)).status_code == 201


def test_metrics_hold_counts_only(client, keys, rng):
    body = report(TASK, rng)
    send(client, keys, body)
    send(client, keys, body)
    send(client, keys, b"")
    text = client.get("/metrics", headers=bearer(keys, Role.ANALYST)).text
    assert 'discreet_reports_total{outcome="accepted"} 1' in text
    assert 'discreet_reports_total{outcome="repeated"} 1' in text
    assert 'discreet_refused_total{reason="too_short"} 1' in text
    assert "discreet_counted 1" in text
    series = [line.split("{")[0].split()[0] for line in text.splitlines() if not line.startswith("#")]
    for family in {re.sub("_(bucket|sum|count)$", "", name) for name in series}:
        assert re.search(rf"^# HELP {family} \S.*\.$\n# TYPE {family} (counter|gauge|histogram)$", text, re.MULTILINE)
    assert wire.report_id(body).hex() not in text


def test_models_wait_for_enough_reports_and_are_not_refitted_for_one_more(client, keys, rng):
    headers = bearer(keys, Role.ANALYST)
    for _ in range(99):
        send(client, keys, report(TASK, rng))
    assert client.get("/v1/models", headers=headers).json()["models"] == []
    send(client, keys, report(TASK, rng))
    first = client.get("/v1/models", headers=headers).json()
    assert first["fitted"] == first["counted"] == 100
    send(client, keys, report(TASK, rng))
    second = client.get("/v1/models", headers=headers).json()
    assert (second["counted"], second["fitted"], second["models"]) == (101, 100, first["models"])


def test_a_published_fit_outlives_the_process_and_is_shared(client, store, keys, rng):
    """Otherwise a restart would show a fit that differs from the last one by a single report."""
    headers = bearer(keys, Role.ANALYST)
    for _ in range(150):
        send(client, keys, report(TASK, rng))
    first = client.get("/v1/models", headers=headers).json()
    send(client, keys, report(TASK, rng))
    with TestClient(create_app(TASK, store, keys)) as again:
        second = again.get("/v1/models", headers=headers).json()
        assert (second["counted"], second["fitted"], second["models"]) == (151, 150, first["models"])
        for _ in range(100):
            send(again, keys, report(TASK, rng))
        third = again.get("/v1/models", headers=headers).json()
    assert third["fitted"] == 251
    assert [point["reports"] for point in third["widths"]] == [150, 251]
    assert client.get("/v1/models", headers=headers).json()["fitted"] == 251  # by the other process
    with TestClient(create_app(TASK, store, keys, models=["poisson"])) as other:
        assert [m["name"] for m in other.get("/v1/models", headers=headers).json()["models"]] == ["poisson"]


def test_the_pages_files_are_served_and_no_others(client):
    text = client.get("/login").text
    (address,) = re.findall(r'href="(/static/[^"]+)"', text)
    found = client.get(address)
    assert found.headers["content-type"].startswith("text/css")
    assert "immutable" in found.headers["cache-control"]
    assert client.get(address.partition("?")[0]).headers["cache-control"] == "no-cache"
    for name in ("nothing.css", "..%2fapp.py", "%2e%2e/tokens.py", "__init__.py"):
        assert client.get(f"/static/{name}").status_code == 404


def test_a_closed_batch_is_fitted_to_the_last_report(client, keys, rng):
    headers = bearer(keys, Role.ANALYST)
    for count in (100, 1):
        for _ in range(count):
            send(client, keys, report(TASK, rng))
        client.get("/v1/models", headers=headers)
    client.post("/v1/close", headers=headers)
    final = client.get("/v1/models", headers=headers).json()
    assert (final["closed"], final["counted"], final["fitted"]) == (True, 101, 101)


def test_closing_starts_the_next_batch(client, keys, rng, store):
    send(client, keys, report(TASK, rng))
    response = client.post("/v1/close", headers=bearer(keys, Role.ANALYST))
    assert response.json() == {"batch": 0, "closed": True}
    send(client, keys, report(TASK, rng))
    assert [(total.batch, total.count) for total in store.totals()] == [(0, 1), (1, 1)]


def test_the_page_allows_nothing_from_outside(client, keys):
    response = client.get("/", headers=bearer(keys, Role.ANALYST))
    assert "default-src 'none'" in response.headers["content-security-policy"]
    assert "http://" not in response.text
    assert "https://" not in response.text


def test_a_public_page_shows_itself_to_everybody_and_nothing_else(store, keys):
    with TestClient(create_app(TASK, store, keys, public_page=True)) as client:
        assert client.get("/").status_code == 200
        assert client.get("/v1/models").status_code == 401


def test_the_task_is_served_as_it_was_written(client):
    served = client.get("/v1/task")
    assert hashlib.sha256(served.content).hexdigest() == TASK.digest
    assert Task.from_dict(served.json()).digest == TASK.digest
