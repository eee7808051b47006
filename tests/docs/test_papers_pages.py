"""The pages about papers: every file that they name is there, and every call is one of the product's."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from functools import cache
from pathlib import Path

import pytest

from discreet.audit.catalogue import estimators, solvers

ROOT = Path(__file__).resolve().parents[2]
PAPERS = ROOT / "docs" / "papers"
PAGES = sorted(PAPERS.glob("*.md"))
PLACES = ("", "audit", "estimators", "glm", "local", "local.stein", "parties", "planning", "privacy")
# Where a path on these pages may begin.
FOLDERS = (ROOT, ROOT / "src" / "discreet", ROOT / "src" / "discreet" / "algorithms", PAPERS)
ENDINGS = "py|md|svg|toml|json"


def codes(page: Path) -> list[str]:
    """What stands in backticks, outside of blocks."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.findall(r"`([^`]+)`", text)


@cache
def names_of_files() -> frozenset[str]:
    """Of tests, code and results: a later file of one folder is named without it."""
    found = (
        path for folder in ("src", "tests", "experiments", "benchmarks", "docs") for path in (ROOT / folder).rglob("*")
    )
    return frozenset(path.name for path in found)


@cache
def product() -> dict[str, object]:
    found: dict[str, object] = {}
    for place in reversed(PLACES):
        module = importlib.import_module(f"discreet.{place}".rstrip("."))
        names = getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]
        found |= {name: getattr(module, name) for name in names}
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert target.startswith("http") or (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_that_is_named_is_there(page):
    for code in codes(page):
        for path in re.findall(rf"[\w./*-]+\.(?:{ENDINGS})\b", code):
            if "*" in path:
                assert any(list(folder.glob(path)) for folder in FOLDERS), path
            elif "/" in path:
                assert any((folder / path).exists() for folder in FOLDERS), path
            else:
                assert path in names_of_files(), path


def parsed(code: str) -> ast.Call | None:
    """The call that stands there, ``...`` included."""
    try:
        tree = ast.parse(code.replace("=...", "=None"), mode="eval").body
    except SyntaxError:
        return None
    return tree if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) else None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_call_has_names_and_options_of_the_product(page):
    for code in codes(page):
        call = parsed(code)
        # `fit(..., job="name")` is an estimator's method, whose data is left out.
        left_out = call is not None and bool(call.args) and ast.unparse(call.args[0]) == "..."
        if call is None or left_out or call.func.id not in product():
            continue
        known = inspect.signature(product()[call.func.id]).parameters
        for keyword in call.keywords:
            assert keyword.arg in known, code


@cache
def known_solvers() -> frozenset[str]:
    kinds = estimators().values()
    return frozenset(one for kind in kinds for calibration in ("tight", "paper") for one in solvers(kind, calibration))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_solver_is_one_of_the_product(page):
    for code in codes(page):
        for solver in re.findall(r'solver="(\w+)"', code):
            assert solver in known_solvers(), code


def test_every_call_of_the_list_is_one_that_can_be_made():
    """The third column of the list of pieces: each word of code there is a name of the product, an
    option, a fitted attribute or a command.
    """
    options = {name for kind in estimators().values() for name in inspect.signature(kind).parameters}
    options |= {"path_", "privacy_", "public"}
    for line in (PAPERS / "README.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if not line.startswith("| ") or len(cells) != 4 or cells[0] == "piece":
            continue
        for code in re.findall(r"`([^`]+)`", cells[2]):
            word = re.match(r"[\w.]+", code)
            call = parsed(code)
            known = (
                (call is not None and call.func.id in product())
                or (word is not None and (word.group() in product() or word.group() in options))
                or re.match(r"python -m experiments|discreet |fit --|moments_\.|mixes|method|calibration|\"", code)
            )
            assert known, code


# What each paper numbers: all of it stands in the list.
NUMBERED = {
    "PMT": {"Alg.": range(1, 6), "figures": range(1, 11)},
    "COST": {"Alg.": range(1, 6), "Thm": range(1, 7), "figures": range(1, 4)},
    "RELU": {"Alg.": range(1, 4), "figures": (1, 2), "Table": range(1, 5)},
    "NLDP": {"Alg.": range(1, 6), "Thm": (7, 8, 11, 12, 15, 16, 17, 18, 19, 22, 23, 25), "figures": range(1, 19)},
    "MPR": {"Alg.": (1, 2), "Thm": (1, 2), "figures": range(1, 4), "Table": (1,)},
}


@pytest.mark.parametrize("paper", NUMBERED)
def test_the_list_has_every_algorithm_theorem_figure_and_table(paper):
    text = (PAPERS / "README.md").read_text(encoding="utf-8")
    section = re.split(r"^## ", text, flags=re.MULTILINE)
    (own,) = [part for part in section if part.startswith(f"{paper}:")]
    pieces = "\n".join(line.split(" | ")[0] for line in own.splitlines() if line.startswith("| "))
    for kind, numbers in NUMBERED[paper].items():
        found: set[int] = set()
        stem = kind.rstrip(".s")
        listed = r"\d+(?: \([^)]*\))?(?:(?:, | and | to )\d+(?: \([^)]*\))?)*"
        for run in re.findall(rf"(?i:{stem})s?\.? ({listed})", pieces):
            plain = re.sub(r"\([^)]*\)", "", run)
            found |= {int(number) for number in re.findall(r"\d+", plain)}
            for low, high in re.findall(r"(\d+) *to (\d+)", plain):
                found |= set(range(int(low), int(high) + 1))
        assert set(numbers) <= found, (kind, sorted(set(numbers) - found))
