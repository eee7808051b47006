"""``discreet plan`` in the terminal and on its page, in a real browser."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
import xml.etree.ElementTree as ET

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from tests.browser import browsing, program
from tests.system.test_service_page import CONTRAST, DESK, PHONE, TAB

from discreet.cli import main
from discreet.planning import plan
from discreet.planning.web import PlanServer


def run(*arguments):
    return CliRunner().invoke(main, ["plan", *arguments])


def test_patients_to_an_epsilon_and_a_standard_error():
    told = run("--family", "logistic", "--n", "20000", "--d", "12", "--error", "0.022")
    assert told.exit_code == 0, told.output
    forecast = plan("logistic", n=20_000, d=12, error=0.022)
    assert f"needed     epsilon {forecast.epsilon:.3g}" in told.output
    assert f"{forecast.standard_error:.3g}" in told.output
    assert "What an attacker could learn" in told.output
    assert "no private data was read" in " ".join(told.output.split())


def test_every_option_of_a_study(tmp_path):
    told = run(
        *("--family", "linear", "--n", "50000", "--d", "20", "--epsilon", "1", "--delta", "1e-6", "--public", "500"),
        *("--neighbours", "add_or_remove_one", "--plot", str(tmp_path / "plan.svg")),
    )
    assert told.exit_code == 0, told.output
    assert "R^2" in told.output
    picture = ET.parse(tmp_path / "plan.svg").getroot()
    texts = " ".join("".join(node.itertext()) for node in picture.iter() if node.tag.endswith("text"))
    assert "no private method is below" in texts
    assert "epsilon" in texts


DOMAIN = """
[columns.age]
low = 20
high = 90

[columns.smoker]
values = ["no", "yes"]

[columns.cost]
low = -5
high = 40
"""


@pytest.fixture
def sample(tmp_path):
    rng = np.random.default_rng(0)
    age, smoker = rng.uniform(20, 90, 400), rng.choice(["no", "yes"], 400)
    cost = age / 10 + 3 * (smoker == "yes") + rng.standard_t(3, 400)
    pq.write_table(pa.table({"age": age, "smoker": smoker, "cost": cost}), tmp_path / "old.parquet")
    (tmp_path / "domain.toml").write_text(DOMAIN)
    return tmp_path


def test_a_sample_of_public_rows_with_its_domain(sample):
    asked = ("--n", "5000", "--epsilon", "1", "--sample", str(sample / "old.parquet"), "--target", "cost")
    told = run(*asked, "--domain", str(sample / "domain.toml"))
    assert told.exit_code == 0, told.output
    assert "on 2 columns of 5,000 people" in " ".join(told.output.split())
    assert "distance to the fit without privacy" in told.output
    assert "people like those of the sample" in told.output
    assert "declare them in a --domain" in " ".join(run(*asked).output.split())
    logistic = run(*asked[:-1], "smoker", "--family", "logistic")
    assert logistic.exit_code == 0, logistic.output


def test_rows_with_missing_cells_are_told_and_not_counted(sample):
    """A fifth of the ages is missing: the fit has four fifths of the rows."""
    table = pq.read_table(sample / "old.parquet").to_pandas()
    table.loc[::5, "age"] = np.nan
    pq.write_table(pa.Table.from_pandas(table), sample / "gaps.parquet")
    asked = ("--n", "5000", "--epsilon", "1", "--target", "cost", "--domain", str(sample / "domain.toml"))
    told = run(*asked, "--sample", str(sample / "gaps.parquet"))
    assert told.exit_code == 0, told.output
    assert "like a sample of 320 rows, and 20% of rows incomplete" in " ".join(told.output.split())
    whole, some = (
        plan("linear", n=n, epsilon=1.0, sample=(rows[["age"]], rows["cost"]), simulate=False)
        for n, rows in ((4000, table.dropna()), (5000, table))
    )
    assert (some.n, some.standard_error, some.plain_standard_error, some.excess_risk) == (
        5000,
        whole.standard_error,
        whole.plain_standard_error,
        whole.excess_risk,
    )


def test_a_wrong_question_is_one_line():
    told = run("--n", "1000", "--d", "5")
    assert told.exit_code == 1
    assert told.output.startswith("Error: give two of n, epsilon and error")
    assert "Traceback" not in told.output


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("--n 20000 --d 12 --error 0.0001", "0.00501 even without privacy"),
        ("--n 60 --d 12 --error 0.0925", "no epsilon up to 50"),
        (
            "--family logistic --d 12 --epsilon 0.01 --error 0.0001 --trust local --public 500",
            "no number of people up to",
        ),
        ("--n 20000 --epsilon 1 --delta 1", "delta must be > 0 and far below 1"),
        ("--n 20000 --epsilon 1 --error 0.1", "give one of n and epsilon"),
        ("--n 20000 --epsilon 1 --target cost", "--sample and --target belong together"),
        ("--n 20000 --epsilon 1 --sample no-such-file.parquet --target cost", "cannot read the sample"),
        ("--n 20000 --epsilon 0", "epsilon must be a number > 0"),
        ("--n 0 --epsilon 1", "n must be between"),
        ("--n 20000 --epsilon 1 --plot no-such-folder/plan.svg", "there is no folder"),
        ("--trust parties --family logistic --n 20000 --epsilon 1", "family='linear' only"),
        ("--trust local --n 20000 --epsilon 1", "a forecast for devices needs more than"),
    ],
)
def test_bad_input_is_named(asked, said):
    told = run(*asked.split())
    assert told.exit_code != 0
    assert said in told.output
    assert "Traceback" not in told.output


def test_a_delta_that_promises_little_is_said():
    assert "not below 1 in 20,000,000 people" in run("--n", "20000000", "--d", "3", "--epsilon", "1").output
    assert "not below" not in run("--n", "20000", "--d", "3", "--epsilon", "1").output


@pytest.fixture(scope="module")
def address():
    with PlanServer(0) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.address
        server.shutdown()
        thread.join()


def test_the_page_answers_to_this_computer_only(address):
    stranger = urllib.request.Request(address, headers={"Host": "elsewhere.example"})
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(stranger)
    with urllib.request.urlopen(address) as reply:
        assert "default-src 'none'" in reply.headers["Content-Security-Policy"]
        page = reply.read().decode()
    assert "http://" not in page
    assert "https://" not in page


def test_the_page_and_the_function_say_the_same(address):
    with urllib.request.urlopen(f"{address}forecast?family=poisson&n=30000&d=7&epsilon=0.5") as reply:
        told = json.load(reply)
    forecast = plan("poisson", n=30_000, d=7, epsilon=0.5)
    assert told["error"] == forecast.standard_error
    assert told["right"] == forecast.attacker.right
    assert len(told["curves"]["n"]["private"]) == len(told["curves"]["n"]["values"])
    for wrong in (
        "n=x",
        "family=cubic&n=1000&d=3&epsilon=1",
        "n=1000&d=3&epsilon=-1",
        "seed=3",
        "n=1000&d=9999&epsilon=1",
    ):
        with pytest.raises(urllib.error.HTTPError, match="400"):
            urllib.request.urlopen(f"{address}forecast?{wrong}")


@pytest.fixture(scope="module")
def browser():
    if program() is None:
        pytest.skip("Chromium is not installed")
    with browsing() as browser:
        yield browser


def open_page(browser, address, width=DESK):
    browser.open(address, width=width)
    browser.wait("document.body.dataset.shown !== undefined", seconds=60)


def setting(browser, name, value, *, event="input"):
    """Type a number, move a slider or choose, and wait for the page's answer."""
    before = browser.evaluate("document.body.dataset.shown")
    found = f"document.getElementById('{name}')"
    browser.evaluate(f"{found}.value = {value!r}; {found}.dispatchEvent(new Event('{event}'))")
    browser.wait(f"document.body.dataset.shown !== '{before}'", seconds=60)


def text_of(browser, name):
    return browser.evaluate(f"document.getElementById('{name}').textContent")


def value_of(browser, name):
    return browser.evaluate(f"document.getElementById('{name}').value")


def greyed(browser):
    return browser.evaluate("+getComputedStyle(document.getElementById('answers')).opacity < .5")


def press_button(browser, words):
    before = browser.evaluate("document.body.dataset.shown")
    found = f"[...document.querySelectorAll('#remedies button')].find(b => b.textContent === {words!r})"
    browser.evaluate(f"{found}.click()")
    browser.wait(f"document.body.dataset.shown !== '{before}'", seconds=60)


def test_sliding_epsilon_down_hides_more_and_blurs_more(browser, address):
    open_page(browser, address)
    assert value_of(browser, "n") == "20,000"
    error, right = float(text_of(browser, "error-found")), text_of(browser, "right")
    assert right == "55 %"
    setting(browser, "epsilon-slide", "-1")
    assert value_of(browser, "epsilon") == "0.1"
    assert float(text_of(browser, "error-found")) > error
    assert text_of(browser, "right") == "51 %"
    setting(browser, "family", "logistic")
    assert "Logistic regression on 12 columns" in text_of(browser, "headline")


def test_typed_numbers_are_in_the_address_and_in_what_is_copied(browser, address):
    """A page opened at the address, the copied command and the copied Python all give the same
    forecast.
    """
    open_page(browser, address)
    for name, value in (("family", "logistic"), ("find", "n"), ("d", "7"), ("delta", "1e-8"), ("rate", "10 %")):
        setting(browser, name, value)
    setting(browser, "error", ".02")
    forecast = plan("logistic", d=7, epsilon=1.0, error=0.02, delta=1e-8, rate=0.1)
    assert value_of(browser, "n") == f"{forecast.n:,}"
    where = browser.evaluate("location.href")
    assert where.endswith("?family=logistic&d=7&epsilon=1&error=0.02&delta=1e-8&rate=0.1")
    open_page(browser, where)
    assert (value_of(browser, "n"), value_of(browser, "find")) == (f"{forecast.n:,}", "n")

    browser.call(
        "Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"], origin=address[:-1]
    )
    copied = {}
    for kind in ("command", "python"):
        browser.evaluate(f"document.getElementById('copy-{kind}').click()")
        browser.wait(f"document.getElementById('copy-{kind}').textContent === 'Copied'")
        copied[kind] = browser.evaluate("navigator.clipboard.readText()")
    command = copied["command"].split()
    assert command[:2] == ["discreet", "plan"]
    told = run(*command[2:])
    assert told.exit_code == 0, told.output
    assert f"needed     {forecast.n:,} people" in told.output
    shown = []
    exec(copied["python"], {"print": shown.append})
    assert shown == [forecast]


def test_what_cannot_be_forecast_is_greyed_and_has_a_remedy(browser, address):
    open_page(browser, address)
    assert not greyed(browser)
    setting(browser, "trust", "local")
    browser.wait("+getComputedStyle(document.getElementById('answers')).opacity < .5")
    assert "public rows" in text_of(browser, "problem-text")
    press_button(browser, "Suppose 500 public rows")
    browser.wait("+getComputedStyle(document.getElementById('answers')).opacity === 1")
    assert value_of(browser, "public") == "500"
    assert "devices that add noise" in text_of(browser, "headline")


@pytest.mark.parametrize(
    ("where", "said", "button", "then"),
    [
        (
            "n=20000&d=12&error=0.0001",
            "even without privacy",
            "See how many people it takes at epsilon 1",
            ("find", "n"),
        ),
        ("n=20000&d=12&error=0.0001", "even without privacy", "Ask for an error of 0.0064", ("error", "0.0064")),
        ("n=9&d=12&epsilon=1", "n must be between", "Take 14 people", ("n", "14")),
        ("n=2000&d=12&epsilon=1&delta=0.5", "delta must be", "Take delta 1e-6", ("delta", "1e-6")),
        ("family=logistic&n=2000&d=2&epsilon=1&rate=3", "rate is the share", "Take the usual rate", ("rate", "")),
        ("family=poisson&n=2000&d=2&epsilon=1&trust=parties", "linear", "Trust one curator", ("trust", "central")),
    ],
)
def test_every_refusal_has_a_button_that_helps(browser, address, where, said, button, then):
    open_page(browser, f"{address}?{where}")
    assert said in text_of(browser, "problem-text")
    assert browser.evaluate("document.getElementById('answers').hidden"), "nothing was answered yet"
    press_button(browser, button)
    assert browser.evaluate("document.getElementById('problem').hidden"), text_of(browser, "problem-text")
    assert value_of(browser, then[0]) == then[1]


def test_what_is_no_number_is_named_and_can_be_taken_back(browser, address):
    open_page(browser, address)
    setting(browser, "epsilon", "one")
    assert text_of(browser, "problem-text") == "Epsilon: a number is needed, such as 1."
    browser.wait("+getComputedStyle(document.getElementById('answers')).opacity < .5")
    press_button(browser, "Back to the last answer")
    assert value_of(browser, "epsilon") == "1"
    assert browser.evaluate("document.getElementById('problem').hidden")


def test_axes_have_ticks_at_1_2_and_5(browser, address):
    open_page(browser, address)
    ticks = browser.evaluate("[...document.querySelectorAll('#plot-n text')].map(t => t.textContent)")
    assert [tick for tick in ticks if tick in ("1k", "2k", "5k", "10k", "20k")] == ["1k", "2k", "5k", "10k", "20k"]
    assert browser.evaluate("document.querySelectorAll('#n-ticks option').length") == 16


def test_few_people_can_be_simulated_from_the_page(browser, address):
    open_page(browser, f"{address}?n=60&d=3&epsilon=0.5")
    assert not browser.evaluate("document.getElementById('doubt').hidden")
    before = browser.evaluate("document.body.dataset.shown")
    browser.evaluate("document.getElementById('simulate').click()")
    browser.wait(f"document.body.dataset.shown !== '{before}'", seconds=60)
    assert "by simulation" in text_of(browser, "headline")
    assert browser.evaluate("document.getElementById('doubt').hidden")


@pytest.mark.parametrize("width", [DESK, PHONE])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_the_screen_and_can_be_read(browser, address, width, scheme):
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    open_page(browser, address, width)
    assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert browser.evaluate("document.querySelectorAll('.plots svg').length") == 2
    ratio, text = browser.evaluate(CONTRAST)
    assert ratio >= 4.5, text
    assert browser.complaints() == []


def test_everything_is_reached_by_keyboard(browser, address):
    open_page(browser, address)
    reached = []
    for _ in range(18):
        browser.press(*TAB)
        reached.append(browser.evaluate("document.activeElement.id"))
    fields = {"family", "find", "n", "d", "epsilon", "delta", "public", "effect", "trust", "neighbours"}
    assert fields | {"n-slide", "epsilon-slide", "copy-command", "copy-python"} <= set(reached)
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    for role, count in (("slider", 5), ("textbox", 6)):
        found = [n for n in nodes if not n.get("ignored") and n["role"]["value"] == role]
        assert len(found) == count
        assert all(node["name"]["value"] for node in found)


def test_the_terminal_opens_the_page_with_its_numbers(address):
    with PlanServer(0) as server:
        told = server.address_of({"family": "logistic", "n": 500, "rate": None})
    assert told == f"{server.address}?family=logistic&n=500"
