"""Every bound on a connection, against a real server with small limits."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket
import threading
import time
from dataclasses import replace

import pytest
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route

from discreet.service.connection import Admission
from discreet.service.limits import Limits
from discreet.service.metrics import REFUSALS, Metrics
from discreet.service.serving import make_server, with_room_for_files

LIMITS = Limits(
    connections=40,
    connections_per_address=20,
    head_bytes=4096,
    head_fields=30,
    request_bytes=20_000,
    head_seconds=0.4,
    idle_seconds=0.4,
    request_seconds=1.0,
    shutdown_seconds=1.0,
)
REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


async def home(request):
    return PlainTextResponse("hello")


async def echo(request):
    with contextlib.suppress(ClientDisconnect):
        return PlainTextResponse(str(len(await request.body())))
    return PlainTextResponse("gone")


async def endless(request):
    async def pieces():
        while True:
            yield b"x" * 65_536
            await asyncio.sleep(0)

    return StreamingResponse(pieces())


@contextlib.contextmanager
def running(limits=LIMITS, proxies=frozenset()):
    """A server in a thread; gives its port and its metrics."""
    app = Starlette(routes=[Route("/", home), Route("/echo", echo, methods=["POST"]), Route("/endless", endless)])
    app.state.metrics = Metrics()
    server = make_server(app, host="127.0.0.1", port=0, limits=limits, proxies=proxies)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        until(lambda: server.started)
        yield server.servers[0].sockets[0].getsockname()[1], app.state.metrics
    finally:
        server.should_exit = True
        thread.join(20)


@pytest.fixture
def port():
    with running() as (port, _):
        yield port


def until(condition, seconds=5.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "did not happen in time"
        time.sleep(0.01)


def connect(port, source="127.0.0.1"):
    return socket.create_connection(("127.0.0.1", port), timeout=5, source_address=(source, 0))


def everything(connection):
    """What the server sends until it ends the connection."""
    received = b""
    with contextlib.suppress(ConnectionResetError):
        while chunk := connection.recv(65_536):
            received += chunk
    connection.close()
    return received


def exchange(port, sent, source="127.0.0.1"):
    connection = connect(port, source)
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        connection.sendall(sent)
    return everything(connection)


def status_and_code(answer):
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)["error"]


TOO_LONG = {
    "many fields": b"GET / HTTP/1.1\r\n" + b"".join(b"X-%d: %s\r\n" % (n, b"a" * 20) for n in range(100_000)),
    "one endless field": b"GET / HTTP/1.1\r\nX: " + b"a" * 1_000_000,
    "one endless name": b"GET / HTTP/1.1\r\n" + b"a" * 1_000_000,
    "one long field": b"GET / HTTP/1.1\r\nX: " + b"a" * 5000 + b"\r\n\r\n",
    "a few fields too many": b"GET / HTTP/1.1\r\n" + b"a:\r\n" * 31 + b"\r\n",
    "a long address": b"GET /" + b"a" * 5000 + b" HTTP/1.1\r\n\r\n",
    "an endless address": b"GET /" + b"a" * 1_000_000,
}


@pytest.mark.parametrize("sent", TOO_LONG.values(), ids=TOO_LONG)
def test_a_head_is_bounded(sent):
    with running() as (port, metrics):
        assert status_and_code(exchange(port, sent)) == (431, "head_too_long")
        assert metrics.refusals == {"head_too_long": 1}
        assert b"hello" in exchange(port, REQUEST)


def test_a_head_within_its_bound_is_read_in_any_pieces(port):
    head = b"GET / HTTP/1.1\r\nX: " + b"a" * 3900 + b"\r\nConnection: close\r\n\r\n"
    connection = connect(port)
    for start in range(0, len(head), 700):
        connection.sendall(head[start : start + 700])
        time.sleep(0.005)
    assert everything(connection).endswith(b"hello")


def test_what_follows_a_head_is_bounded_too(port):
    chunked = b"POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n"
    assert exchange(port, chunked + b"X: " + b"a" * 2_000_000) == b""  # cut: its request was being answered
    few = exchange(port, chunked + b"X: 1\r\n\r\nGET / HTTP/1.1\r\nConnection: close\r\n\r\n")
    assert b"\r\n\r\n3HTTP/1.1 200 OK" in few  # trailers change nothing


def test_sent_ahead_requests_are_answered_in_order_and_bounded(port):
    last = b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n"
    assert exchange(port, REQUEST * 10 + last).count(b"hello") == 11
    assert exchange(port, REQUEST * 10_000).count(b"hello") < 100


@pytest.mark.parametrize("sent", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\n"])
def test_silence_ends_a_connection(port, sent):
    started = time.monotonic()
    assert exchange(port, sent) == b""
    assert 0.3 < time.monotonic() - started < 2


@pytest.mark.parametrize("begun", [b"", REQUEST, b"POST /echo HTTP/1.1\r\nContent-Length: 100000\r\n\r\n"])
def test_a_byte_now_and_then_keeps_nothing_open(port, begun):
    connection = connect(port)
    connection.sendall(begun)
    started = time.monotonic()
    with contextlib.suppress(OSError):
        while time.monotonic() - started < 10:
            connection.sendall(b"a")
            time.sleep(0.05)
    assert time.monotonic() - started < 4


def test_a_kept_connection_may_wait_and_ask_again(port):
    connection = connect(port)
    for _ in range(3):
        connection.sendall(REQUEST)
        assert connection.recv(4096).endswith(b"hello")
        time.sleep(0.2)
    started = time.monotonic()
    assert everything(connection) == b""
    assert time.monotonic() - started < 2


def test_whoever_does_not_read_is_cut_off():
    with running() as (port, metrics):
        connection = connect(port)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(b"GET /endless HTTP/1.1\r\nHost: x\r\n\r\n")
        until(lambda: metrics.refusals["too_slow"] == 1)
        connection.close()


def test_one_address_cannot_take_every_connection():
    with running() as (port, metrics):
        silent = [connect(port) for _ in range(20)]
        answer = exchange(port, REQUEST)
        assert status_and_code(answer) == (503, "too_many_from_address")
        assert b"retry-after: " in answer
        assert b"hello" in exchange(port, REQUEST, source="127.0.0.2")
        assert metrics.refusals["too_many_from_address"] == 1
        silent[0].close()
        until(lambda: b"hello" in exchange(port, REQUEST))
        for connection in silent[1:]:
            connection.close()


def test_many_addresses_cannot_keep_the_collector_shut():
    with running() as (port, metrics):
        silent = [connect(port, f"127.0.0.{2 + number // 10}") for number in range(40)]
        answer = exchange(port, REQUEST)
        assert status_and_code(answer) == (503, "too_many_connections")
        assert b"retry-after: " in answer
        until(lambda: b"hello" in exchange(port, REQUEST), seconds=3)  # the silent ones have had their time
        assert metrics.refusals["too_slow_head"] > 0
        for connection in silent:
            connection.close()


def test_a_flood_is_cut_without_an_answer():
    with running(replace(LIMITS, head_seconds=5.0, connections_per_address=1000)) as (port, metrics):
        flood = [connect(port) for _ in range(400)]
        until(lambda: metrics.refusals["too_many_connections"] >= 360)
        for connection in flood:
            connection.close()
        until(lambda: b"hello" in exchange(port, REQUEST))


def test_a_proxy_has_no_limit_of_its_own():
    with running(proxies=frozenset({"127.0.0.1"})) as (port, _):
        silent = [connect(port) for _ in range(25)]
        assert b"hello" in exchange(port, REQUEST)
        for connection in silent:
            connection.close()


def test_what_counts_as_one_address():
    admission = Admission(replace(LIMITS, connections_per_address=1), Metrics().refusals)
    for first, second, same in [
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8::1", "2001:db8::2", True),
        ("2001:db8:0:1::1", "2001:db8:0:2::1", False),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2", False),
        (None, None, False),
    ]:
        assert admission.enter(first) is None
        assert (admission.enter(second) is not None) is same
        admission.leave(first, admitted=True), admission.leave(second, admitted=not same)


@pytest.mark.parametrize("sent", [b"\x16\x03\x01\x02\x00\x01", b"hello\r\n\r\n", b"GET  HTTP/9\r\n\r\n"])
def test_what_is_not_http_is_told_so(port, sent):
    assert status_and_code(exchange(port, sent)) == (400, "not_http")


def test_an_upgrade_is_answered_as_if_it_had_not_been_asked_for(port):
    asked = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    assert exchange(port, asked).endswith(b"hello")


def test_refusals_write_nothing_to_the_log(caplog):
    with caplog.at_level(logging.INFO), running() as (port, metrics):
        caplog.clear()
        asked = b"GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
        for sent in [b"rubbish\r\n\r\n", asked, TOO_LONG["one long field"], REQUEST * 1000]:
            for _ in range(10):
                exchange(port, sent)
        silent = [connect(port) for _ in range(50)]
        until(lambda: metrics.refusals["too_many_from_address"] >= 30)
        for connection in silent:
            connection.close()
        assert [record.getMessage() for record in caplog.records] == []
        assert set(metrics.refusals) <= set(REFUSALS)


def test_connections_and_open_files_fit_together(monkeypatch):
    asked = []
    monkeypatch.setattr("resource.setrlimit", lambda what, values: asked.append(values))
    monkeypatch.setattr("resource.getrlimit", lambda what: (1024, 100_000))
    assert with_room_for_files(Limits()).connections == 2048
    assert asked[-1][0] >= 2048
    monkeypatch.setattr("resource.getrlimit", lambda what: (1024, 1024))
    assert 500 < with_room_for_files(Limits()).connections < 1024
