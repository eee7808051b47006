"""The collector's page in a real browser: on a desk, on a phone, by keyboard, for a screen reader."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.browser import browsing, program
from tests.service_tools import made_store, serving

from discreet.domain import Domain, Numeric, Public
from discreet.local import new_task
from discreet.service.devices import device_reports
from discreet.service.entries import Entry
from discreet.service.storage import open_store
from discreet.service.tokens import Role

pytestmark = pytest.mark.skipif(program() is None, reason="Chromium is not installed")

NAMES = ["age", "income", "hours_of_sleep", "resting_pulse", "distance_to_work", "<b>children</b>"]
DESK, PHONE = 1280, 360
VISIBLE = "(s => [...document.querySelectorAll(s)].filter(e => e.checkVisibility()))"
TAB, ENTER = ("Tab", 9), ("Enter", 13)

# The contrast of every piece of text with what is behind it, by the formula of WCAG 2.
CONTRAST = """
(() => {
  const parse = c => c.match(/[\\d.]+/g).map(Number);
  const light = c => { const [r, g, b] = parse(c).map(v => v / 255)
    .map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b };
  const behind = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
    if (parse(c)[3] !== 0) return c } return 'rgb(255,255,255)' };
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || !e.checkVisibility() || ['SCRIPT', 'STYLE'].includes(e.tagName)) continue;
    const style = getComputedStyle(e), ink = e.closest('svg') ? style.fill : style.color;
    const [a, b] = [light(ink), light(behind(e))].sort((x, y) => y - x);
    found.push([(a + .05) / (b + .05), walk.currentNode.data.trim()]);
  }
  return found.sort((x, y) => x[0] - y[0])[0];
})()
"""


@pytest.fixture(scope="module")
def collector(tmp_path_factory):
    """A collector with 6,000 real reports, and its analyst's token."""
    folder = tmp_path_factory.mktemp("page")
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(6000, len(NAMES))).clip(-3, 3)
    labels = (rng.random(6000) < 1 / (1 + np.exp(-rows @ [1.0, -0.8, 0.6, 0, 0, 0.3]))).astype(float)
    task = new_task(
        "Who feels rested in the morning?",
        domain=Domain(tuple(Numeric(name, -3.0, 3.0) for name in NAMES)),
        target=Numeric("rested", 0.0, 1.0),
        epsilon=6.0,
        delta=1e-6,
        goal=10_000,
        closes="2999-12-31",
        public=Public(rows=rows[:1000]),
    )
    (folder / "task.toml").write_text(task.to_toml())
    keys = made_store(task, str(folder / "reports.db"), folder / "reports.db.key")
    store = open_store(str(folder / "reports.db"), task, keys)
    entries = [Entry.of(task, body, rng.bytes(16)) for body in device_reports(task, rows, labels)]
    store.write(entries[:5900])
    with serving(folder / "task.toml", str(folder / "reports.db")) as server:
        yield server.address, keys.issue(Role.ANALYST), lambda: store.write(entries[5900:]), folder
    store.close()


@pytest.fixture(scope="module")
def browser():
    with browsing() as browser:
        yield browser


def sign_in(browser, address, token, width=DESK):
    """By keyboard alone."""
    browser.open(f"{address}/login", width=width)
    for _ in range(4):
        browser.press(*TAB)
        if browser.evaluate("document.activeElement.id") == "token":
            break
    browser.type(token)
    browser.press(*ENTER)
    browser.wait("document.getElementById('models') !== null")


def test_signing_in_needs_a_token_and_no_mouse(browser, collector):
    address, token, _, _ = collector
    browser.open(f"{address}/", width=DESK)
    assert browser.evaluate("location.pathname") == "/login"
    browser.evaluate("document.getElementById('token').focus()")
    browser.type("analyst-wrong")
    browser.press(*ENTER)
    browser.wait("document.querySelector('[role=alert]') !== null")
    sign_in(browser, address, token)
    assert browser.evaluate("location.pathname") == "/"


@pytest.mark.parametrize("width", [DESK, PHONE, 320])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_the_screen_and_can_be_read(browser, collector, width, scheme):
    address, token, _, folder = collector
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    sign_in(browser, address, token, width)
    browser.screenshot(folder / f"page-{width}-{scheme}.png")
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert browser.evaluate("document.querySelectorAll('svg.plot').length") == 6
    assert browser.evaluate(f"{VISIBLE}('svg.plot').length") == 2
    cut = browser.evaluate(
        "[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth + 1).length"
    )
    assert cut == 0 or width < PHONE
    outside = browser.evaluate(
        f"{VISIBLE}('svg text').filter(t => {{const a = t.getBoundingClientRect(), "
        "b = t.ownerSVGElement.getBoundingClientRect(); return a.left < b.left - 1 || a.right > b.right + 1})"
        ".map(t => t.textContent)"
    )
    assert outside == []
    ratio, text = browser.evaluate(CONTRAST)
    assert ratio >= 4.5, text
    assert browser.complaints() == []


def test_a_screen_reader_finds_its_way(browser, collector):
    address, token, _, _ = collector
    sign_in(browser, address, token)
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    seen = [(n["role"]["value"], n.get("name", {}).get("value", "")) for n in nodes if not n.get("ignored")]
    roles = [role for role, _ in seen]
    assert {"banner", "main", "contentinfo", "progressbar", "table", "columnheader", "rowheader"} <= set(roles)
    assert {"tablist", "tab", "tabpanel", "radio", "status"} <= set(roles)
    assert [name for role, name in seen if role == "heading"][:2] == ["Who feels rested in the morning?", "Reports"]
    named = {"tab", "tabpanel", "radio", "image", "progressbar", "checkbox", "button", "link", "region", "table"}
    assert all(name for role, name in seen if role in named)
    assert any(role == "image" and "95 % intervals" in name for role, name in seen)
    assert browser.evaluate("document.documentElement.lang") == "en"


def test_everything_is_reached_by_keyboard_and_shows_it(browser, collector):
    address, token, _, _ = collector
    sign_in(browser, address, token)
    reached = []
    for _ in range(20):
        browser.press(*TAB)
        style = "getComputedStyle(document.activeElement).outlineStyle"
        reached.append(browser.evaluate(f"[document.activeElement.textContent.trim().slice(0, 16), {style}]"))
    texts = [text for text, _ in reached]
    assert {"Skip to the resu", "Logistic", "Copy Python", "CSV", "Refresh now", "The task", "Sign out"} <= set(texts)
    assert all(outline != "none" for text, outline in reached if text in ("Refresh now", "The task", "Sign out"))


def test_tabs_turn_by_keyboard_and_stay_chosen(browser, collector):
    address, token, _, folder = collector
    sign_in(browser, address, token)
    assert browser.evaluate(f"{VISIBLE}('.panel').map(p => p.id)") == ["panel-0"]
    browser.evaluate("document.getElementById('tab-0').focus()")
    browser.press("ArrowRight", 39)
    assert browser.evaluate("[document.activeElement.id, location.hash]") == ["tab-1", "#identity"]
    assert browser.evaluate(f"{VISIBLE}('.panel').map(p => p.id)") == ["panel-1"]
    browser.screenshot(folder / "second-tab.png")
    browser.call("Page.reload")
    browser.wait("document.readyState === 'complete' && document.getElementById('tab-1')?.ariaSelected === 'true'")


def test_plot_and_table_are_in_the_same_unit_whichever_is_chosen(browser, collector):
    address, token, _, _ = collector
    sign_in(browser, address, token)
    shown = (
        f"[{VISIBLE}('.pair .value').map(t => t.textContent), "
        f"{VISIBLE}('.pair tbody tr').slice(1).map(r => r.cells[1].firstChild.data)]"
    )
    halves = browser.evaluate(shown)
    browser.evaluate("document.querySelector('input[value=one]').click()")
    units = browser.evaluate(shown)
    assert halves[0] == halves[1] != units[0] == units[1]
    assert len(halves[0]) == len(NAMES)


def test_results_can_be_taken_away(browser, collector):
    address, token, _, _ = collector
    sign_in(browser, address, token)
    text = browser.evaluate("fetch('/results.csv').then(r => r.text())")
    assert text.startswith("model,name,estimate")
    document = json.loads(browser.evaluate("fetch('/results.json').then(r => r.text())"))
    assert document["fitted"] >= 5900
    browser.call("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    browser.evaluate("document.querySelector('[data-copy=code-0]').click()")
    browser.wait("document.getElementById('copied').textContent !== ''")
    said = browser.evaluate("document.getElementById('copied').textContent + getSelection().toString()")
    assert said.startswith("Copied.") or "def predict(record)" in said
    space = {}
    exec(browser.evaluate("document.getElementById('code-0').textContent"), space)
    assert 0 < space["predict"](dict.fromkeys(NAMES, 0.0)) < 1


def test_without_its_script_the_page_shows_everything(browser, collector):
    address, token, _, _ = collector
    sign_in(browser, address, token)
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(f"{address}/", width=DESK)
        assert browser.evaluate(f"{VISIBLE}('.panel').length") == 2
        assert browser.evaluate(f"{VISIBLE}('[role=tab]').length") == 0
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)


def test_a_feature_name_cannot_smuggle_markup_in(browser, collector):
    address, token, _, _ = collector
    sign_in(browser, address, token)
    assert browser.evaluate("document.querySelectorAll('main b').length") == 0
    assert browser.evaluate("document.body.textContent.includes('<b>children</b>')")


def test_the_count_refreshes_itself_and_the_focus_stays(browser, collector):
    address, token, send_more, _ = collector
    sign_in(browser, address, token)
    assert browser.evaluate("document.querySelector('#progress-live .big').textContent") == "5,900"
    browser.evaluate("document.getElementById('auto').focus()")
    send_more()
    browser.wait("document.querySelector('#progress-live .big').textContent === '6,000'", seconds=25)
    assert browser.evaluate("document.activeElement.id") == "auto"


def test_signing_out_ends_it(browser, collector):
    address, token, _, _ = collector
    sign_in(browser, address, token)
    browser.evaluate("document.querySelector('form[action=\"/logout\"] button').click()")
    browser.wait("location.pathname === '/login'")
    browser.open(f"{address}/", width=DESK)
    assert browser.evaluate("location.pathname") == "/login"
