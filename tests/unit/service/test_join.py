"""The participant's page as it is served: forms from tasks, other origins, personal links."""

from __future__ import annotations

import re

import pytest
from starlette.testclient import TestClient
from tests.service_tools import small_task

from discreet.domain import Categorical, Domain, Numeric
from discreet.errors import DomainError
from discreet.local import new_task
from discreet.service.app import create_app
from discreet.service.cross_origin import checked_origin
from discreet.service.form import Form, joinable
from discreet.service.storage import create_store
from discreet.service.tokens import Keys, Role

TASK = new_task(
    "A <b>task</b>",
    domain=Domain((Numeric("hours_of_sleep", 3, 11), Categorical("region", ("north", "south", "far_away")))),
    target=Numeric("ill", 0, 1),
    epsilon=1.0,
    goal=100,
)
SLEEP = {"label": "How long did you sleep?", "unit": "hours", "help": "Last night."}
WORDS = {
    "about": "By <i>us</i>.",
    "contact": "Write to us.",
    "columns": {
        "hours_of_sleep": SLEEP,
        "region": {"choices": {"far_away": "Abroad"}},
        "ill": {"choices": {"0": "No", "1": "Yes"}},
    },
}


def served(tmp_path, **options):
    keys = Keys.create(tmp_path / "key")
    store = create_store(str(tmp_path / "reports.db"), TASK, keys)
    return keys, TestClient(create_app(TASK, store, keys, **options))


def test_a_form_needs_no_words_and_takes_those_it_is_given():
    sleep, region, ill = Form.of(TASK, {}).questions
    assert (sleep.label, sleep.range) == ("Hours of sleep", "From 3 to 11; a value outside counts as the nearer end.")
    assert region.choices == (("north", "North"), ("south", "South"), ("far_away", "Far away"))
    assert not ill.choices
    sleep, region, ill = Form.of(TASK, WORDS).questions
    assert (sleep.label, sleep.help) == ("How long did you sleep?", "Last night.")
    assert sleep.range.startswith("From 3 to 11 hours;")
    assert region.choices[2] == ("far_away", "Abroad")
    assert ill.choices == (("0", "No"), ("1", "Yes"))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"colums": {}}, "unknown fields"),
        ({"columns": {"sleep": {}}}, "'sleep'"),
        ({"columns": {"region": {"unit": "km"}}}, "no unit"),
        ({"columns": {"region": {"choices": {"east": "East"}}}}, "'east'"),
        ({"columns": {"ill": {"choices": {"2": "Very"}}}}, "from 0 to 1"),
        ({"columns": {"ill": {"choices": ["no", "yes"]}}}, "texts by value"),
        ({"columns": {"ill": {"label": 3}}}, "must be text"),
        ({"columns": {"ill": "Are you ill?"}}, "must be a table"),
        ({"columns": ["ill"]}, "must be tables"),
    ],
)
def test_a_wrong_form_is_refused_by_name(content, said):
    with pytest.raises(DomainError, match=re.escape(said)):
        Form.of(TASK, content)


def test_a_form_is_read_from_a_file(tmp_path):
    (tmp_path / "form.toml").write_text('about = "Hello"\n[columns.ill.choices]\n0 = "No"\n1 = "Yes"\n')
    form = Form.load(TASK, tmp_path / "form.toml")
    assert (form.about, form.questions[2].choices) == ("Hello", (("0", "No"), ("1", "Yes")))


def test_the_page_asks_explains_and_escapes(tmp_path):
    _, client = served(tmp_path, form=Form.of(TASK, WORDS))
    with client:
        response = client.get("/join")
    text = " ".join(response.text.split())
    assert "script-src 'self'" in response.headers["content-security-policy"]
    for expected in ("By &lt;i&gt;us&lt;/i&gt;.", "A &lt;b&gt;task&lt;/b&gt;", "How long did you sleep?", TASK.digest):
        assert expected in text
    assert "<b>task" not in text
    assert "at most 73.2&nbsp;%." in text  # e / (1 + e), rounded up
    assert "A probability of 1&nbsp;% can become at most 2.7&nbsp;%." in text


def test_without_a_form_there_is_no_page(tmp_path):
    _, client = served(tmp_path)
    with client:
        assert client.get("/join").status_code == 404
    assert joinable(TASK)
    assert not joinable(small_task(randomizer="gaussian"))


def test_other_origins_reach_two_addresses_and_only_if_they_are_named(tmp_path):
    keys, client = served(tmp_path, origins=["https://survey.example"])
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,content-type"}
    with client:
        for origin, expected in [("https://survey.example", "https://survey.example"), ("https://other.example", None)]:
            headers = {"Origin": origin}
            name = "access-control-allow-origin"
            assert client.get("/v1/task", headers=headers).headers.get(name) == expected
            assert client.options("/v1/reports", headers=headers | asked).headers.get(name) == expected
            assert (
                client.post("/v1/reports", headers=headers).headers.get(name) == expected
            )  # refusals can be read, too
            bearer = {"Authorization": f"Bearer {keys.issue(Role.ANALYST)}"}
            for path in ("/v1/models", "/metrics", "/", "/results.csv", "/join"):
                assert name not in client.get(path, headers=headers | bearer).headers


@pytest.mark.parametrize(
    "origin", ["survey.example", "https://survey.example/", "https://a.example/join", "ftp://x", ""]
)
def test_an_origin_is_what_browsers_send(origin):
    with pytest.raises(DomainError, match=r"https://survey\.example"):
        checked_origin(origin)
    assert checked_origin("https://survey.example:8443") == "https://survey.example:8443"
