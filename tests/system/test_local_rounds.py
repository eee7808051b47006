"""Two rounds through the collector: a pilot is collected, its page fits no model, and the second
task is made of it.
"""

from __future__ import annotations

import urllib.request

from click.testing import CliRunner
from tests.service_tools import made_store, serving

from discreet.cli import main
from discreet.domain import Domain, Numeric
from discreet.local import Task, pilot_task
from discreet.service.tokens import Role

PILOT = pilot_task(
    "rounds",
    domain=Domain.from_bounds(["a", "b"], (-1.0, 4.0)),
    target=Numeric("y", 0.0, 1.0),
    epsilon=6.0,
    goal=3000,
)


def local(*arguments, code=0):
    result = CliRunner().invoke(main, ["local", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result.output


def test_both_rounds_of_algorithm_5_are_in_the_guarantee_of_its_model(tmp_path):
    """The guarantee was that of the second report alone, and the influence of lying devices was nan."""
    people = [f"p{place},{place % 7 / 7:.3f},{place % 2}" for place in range(40)]
    (tmp_path / "people.csv").write_text("\n".join(["id,a,y", *people]) + "\n")
    (tmp_path / "domain.toml").write_text("[columns.a]\nlow = -1\nhigh = 1\n[columns.y]\nlow = 0\nhigh = 1\n")
    first, second = tmp_path / "first.toml", tmp_path / "second.toml"
    asked = ["--epsilon", 8, "--goal", 40, "--calibration", "paper", "--rounds", 2, "--covariance-norm", 1]
    local("task", "new", "x", "--domain", tmp_path / "domain.toml", "--target", "y", *asked, "--out", first)
    given = ["--records", tmp_path / "people.csv", "--id", "id", "--state", tmp_path / "state", "--cap", 20, 1e-4]
    local("report", first, *given, "--new", "--out", tmp_path / "one")
    local("task", "second", first, tmp_path / "one", "--out", second)
    local("report", second, *given, "--out", tmp_path / "two")
    shown = local("fit", second, tmp_path / "two", "--model", "identity")
    assert "both rounds" in " ".join(shown.split())
    assert "nan" not in shown


def test_a_pilot_is_collected_and_continued(tmp_path):
    task, store = tmp_path / "pilot.toml", str(tmp_path / "pilot.db")
    task.write_text(PILOT.to_toml())
    keys = made_store(PILOT, store, tmp_path / "pilot.db.key")
    (tmp_path / "tokens").write_text("\n".join(keys.issue(Role.DEVICE) for _ in range(300)))
    with serving(task, store) as server:
        local("simulate", "--task", task, "--n", 300, "--http", server.address, "--tokens", tmp_path / "tokens")
        asked = urllib.request.Request(server.address, headers={"Authorization": f"Bearer {keys.issue(Role.ANALYST)}"})
        page = urllib.request.urlopen(asked, timeout=30).read().decode()
    assert "first of two rounds" in page
    assert "cannot be detected" not in page  # an advice about effects, of which a pilot has none
    local("task", "second", task, "--store", store, "--out", tmp_path / "second.toml")
    second = Task.load(tmp_path / "second.toml")
    assert (second.parent, second.goal) == (PILOT.digest, 2700)
    assert "scales only" in local("simulate", "--task", task, "--n", 300, code=1)
    assert "fit no model" in local("serve", "--task", task, "--store", store, "--model", "logistic", code=1)
