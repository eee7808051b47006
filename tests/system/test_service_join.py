"""A person takes part: in a real browser, on a telephone and at a desk, also when things go wrong."""

from __future__ import annotations

import base64
import os
import re
import signal
import sqlite3
import subprocess
import sys
import urllib.request

import pytest
from tests.browser import browsing, program
from tests.service_tools import free_port, made_store, serving
from tests.system.test_service_page import CONTRAST, DESK, PHONE, TAB

from discreet.domain import Categorical, Domain, Numeric
from discreet.local import new_task
from discreet.service.storage import open_store
from discreet.service.tokens import Keys, Role

pytestmark = pytest.mark.skipif(program() is None, reason="Chromium is not installed")

REGIONS = ("north", "south", "east", "west", "north east", "south west", "abroad")
TASK = new_task(
    "Who feels rested in the morning?",
    domain=Domain((Numeric("age", 18, 90), Categorical("region", REGIONS), Categorical("phone", ("no", "yes")))),
    target=Categorical("rested", ("no", "yes")),
    epsilon=2.0,
    goal=1000,
)
FORM = """
about = "For a test."
[columns.age]
label = "How old are you?"
unit = "years"
[columns.rested]
label = "Did you feel rested this morning?"
choices = { yes = "Yes, I did", no = "No, I did not" }
"""
SHOWN = "(id => !document.getElementById(id).hidden)"


@pytest.fixture(scope="module")
def browser():
    with browsing() as browser:
        browser.call("Network.enable")
        yield browser


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    folder = tmp_path_factory.mktemp("join")
    (folder / "task.toml").write_text(TASK.to_toml())
    (folder / "form.toml").write_text(FORM)
    keys = made_store(TASK, str(folder / "reports.db"), folder / "reports.db.key")
    with serving(folder / "task.toml", str(folder / "reports.db"), "--form", str(folder / "form.toml")) as server:
        yield server, keys, folder


@pytest.fixture
def collector(running, browser):
    """The collector, and a browser that has never been there."""
    server, _, _ = running
    visit(browser, f"{server.address}/join")
    browser.evaluate("sessionStorage.clear()")
    browser.call("Page.navigate", url="about:blank")
    browser.call("Storage.clearDataForOrigin", origin=server.address, storageTypes="all")
    return running


def link(server, keys):
    return f"{server.address}/join#{keys.issue(Role.DEVICE)}"


def visit(browser, address, width=PHONE):
    browser.call("Page.navigate", url="about:blank")  # another fragment alone would not load the page again
    browser.open(address, width=width)
    states = " || ".join(f"{SHOWN}({place!r})" for place in ("problem", "done", "review"))
    browser.wait(f"{states} || !document.getElementById('make').disabled")


def fill(browser, age="44"):
    browser.evaluate("document.querySelector('[data-name=age] input').focus()")
    browser.type(age)
    browser.evaluate("document.querySelector('[data-name=region] select').value = 'south west'")
    browser.evaluate("document.querySelector('[data-name=phone] input[value=no]').click()")
    browser.evaluate("document.querySelector('[data-name=rested] input[value=yes]').click()")


def make(browser):
    browser.evaluate("document.getElementById('make').click()")
    browser.wait(f"{SHOWN}('review') || {SHOWN}('invalid')")


def send(browser):
    browser.evaluate("document.getElementById('send').click()")
    browser.wait(f"{SHOWN}('done') || {SHOWN}('problem')")


def text(browser, place):
    return browser.evaluate(f"document.getElementById({place!r}).textContent")


def shown_report(browser, place="report"):
    return bytes.fromhex(text(browser, place).replace(" ", ""))


def sent(browser):
    """Every request since the page was opened: its address, and the bytes of its body."""
    requests = [e["params"]["request"] for e in browser.events if e.get("method") == "Network.requestWillBeSent"]
    return [
        (r["url"], b"".join(base64.b64decode(entry.get("bytes", "")) for entry in r.get("postDataEntries", [])), r)
        for r in requests
    ]


def stored(folder):
    keys = Keys.open(folder / "reports.db.key")
    store = open_store(str(folder / "reports.db"), TASK, keys)
    try:
        return sum(count for _, count in store.counts())
    finally:
        store.close()


def test_a_person_takes_part_and_only_the_report_leaves(browser, collector):
    server, keys, folder = collector
    before = stored(folder)
    visit(browser, link(server, keys))
    assert browser.evaluate("location.href") == f"{server.address}/join"  # the token is gone from the address bar
    fill(browser)
    browser.screenshot(folder / "form.png")
    make(browser)
    browser.screenshot(folder / "review.png")
    answers = text(browser, "answers")
    assert all(part in answers for part in ("How old are you?44 years", "South west", "Yes, I did"))
    report = shown_report(browser)
    assert len(report) == TASK.body_size
    assert not any(body for _, body, _ in sent(browser))  # nothing has left yet
    send(browser)
    browser.screenshot(folder / "done.png")
    assert text(browser, "receipt") == "Your report was counted."
    assert shown_report(browser, "sent-report") == report
    requests = sent(browser)
    posts = [(url, body) for url, body, request in requests if request["method"] == "POST"]
    assert [url for url, _ in posts] == [f"{server.address}/v1/reports"]
    assert posts[0][1] == report
    for url, _, request in requests:
        assert url.startswith(server.address) or url.startswith("data:")
        # The port is any number, and may hold the answer's digits.
        assert not re.search(r"44|south west|device-", url.removeprefix(server.address))
        assert "device-" not in str(request["headers"]) or url.endswith("/v1/reports")
    assert stored(folder) == before + 1
    with sqlite3.connect(folder / "reports.db") as connection:
        assert (report,) in connection.execute("SELECT body FROM reports").fetchall()
    assert browser.complaints() == []


def test_a_second_visit_draws_nothing_again(browser, collector):
    server, keys, folder = collector
    before = stored(folder)
    visit(browser, link(server, keys))
    fill(browser)
    make(browser)
    report = shown_report(browser)
    visit(browser, link(server, keys))  # closed before it was sent, and invited again
    assert browser.evaluate(f"{SHOWN}('review') && !{SHOWN}('questions')")
    assert "were forgotten" in text(browser, "answers")
    assert shown_report(browser) == report
    send(browser)
    visit(browser, link(server, keys))
    assert text(browser, "receipt") == "This browser has taken part already."
    assert shown_report(browser, "sent-report") == report
    assert stored(folder) == before + 1


def test_a_broken_connection_sends_the_same_report_later(browser, collector):
    server, keys, folder = collector
    before = stored(folder)
    visit(browser, link(server, keys))
    fill(browser)
    make(browser)
    report = shown_report(browser)
    server.kill()
    send(browser)
    assert "no connection" in text(browser, "problem")
    server.start()
    server.wait_until_healthy()
    send(browser)
    browser.wait(f"{SHOWN}('done')")
    assert shown_report(browser, "sent-report") == report
    assert stored(folder) == before + 1


def test_a_wrong_link_is_explained_and_a_new_one_sends_the_kept_report(browser, collector):
    server, keys, folder = collector
    before = stored(folder)
    visit(browser, f"{server.address}/join")
    assert "personal link" in text(browser, "problem")
    assert browser.evaluate("document.getElementById('make').disabled")
    visit(browser, f"{server.address}/join#device-wrong")
    fill(browser)
    make(browser)
    report = shown_report(browser)
    send(browser)
    assert "not valid" in text(browser, "problem")
    visit(browser, link(server, keys))
    send(browser)
    assert shown_report(browser, "sent-report") == report
    assert stored(folder) == before + 1


def test_what_is_not_a_number_is_told_here_and_what_is_left_empty_is_allowed(browser, collector):
    server, keys, _ = collector
    visit(browser, link(server, keys))
    browser.evaluate("document.querySelector('[data-name=age] input').focus()")
    browser.type("4e")
    make(browser)
    assert text(browser, "invalid") == "“How old are you?” must be a number, or empty."
    assert browser.evaluate("document.activeElement.type") == "number"
    browser.evaluate("document.activeElement.value = ''")
    make(browser)
    assert text(browser, "answers").count("–") == 4
    assert len(shown_report(browser)) == TASK.body_size


def test_the_page_fits_can_be_read_and_is_named(browser, collector):
    server, keys, folder = collector
    visit(browser, link(server, keys))
    browser.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    steps = {"form": lambda: None, "review": lambda: (fill(browser), make(browser)), "done": lambda: send(browser)}
    for name, step in steps.items():
        step()
        for width in (DESK, PHONE, 320):
            browser.call(
                "Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=width < 600
            )
            assert browser.evaluate("document.documentElement.scrollWidth") <= width
            for scheme in ("light", "dark"):
                feature = {"name": "prefers-color-scheme", "value": scheme}
                browser.call("Emulation.setEmulatedMedia", features=[feature])
                ratio, words = browser.evaluate(CONTRAST)
                assert ratio >= 4.5, (name, words)
                browser.screenshot(folder / f"{name}-{width}-{scheme}.png")
        nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
        seen = [(n["role"]["value"], n.get("name", {}).get("value", "")) for n in nodes if not n.get("ignored")]
        named = {"button", "link", "radio", "spinbutton", "combobox", "region", "form"}
        assert all(label for role, label in seen if role in named)
        assert name != "form" or ("group", "Did you feel rested this morning?") in seen


def test_everything_is_reached_by_keyboard(browser, collector):
    server, keys, _ = collector
    visit(browser, link(server, keys), DESK)
    reached = []
    for _ in range(14):
        browser.press(*TAB)
        reached.append(browser.evaluate("document.activeElement.id || document.activeElement.type"))
    assert {"q-0", "q-1", "radio", "make"} <= set(reached)


def test_the_demo_gives_a_link_to_take_part_and_removes_everything(browser, tmp_path):
    port = free_port()
    command = [sys.executable, "-c", "from discreet.cli import main; main()", "local", "demo", "--port", str(port)]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "TMPDIR": str(tmp_path)}
    process = subprocess.Popen([*command, "--people", "300"], stdout=subprocess.PIPE, text=True, env=environment)
    try:
        said = "".join(process.stdout.readline() for _ in range(4))
        for _ in range(100):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health/ready", timeout=5).close()
                break
            except OSError:
                browser.evaluate("new Promise(done => setTimeout(done, 100))")
        visit(browser, re.search(r"http://\S+/join#\S+", said)[0])
        make(browser)
        send(browser)
        assert text(browser, "receipt") == "Your report was counted."
        token = re.search(r"analyst-\S+", said)[0]
        request = urllib.request.Request(f"http://127.0.0.1:{port}/", headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            assert b"Who feels rested" in answer.read()
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=40) == 0
    assert list(tmp_path.iterdir()) == []
