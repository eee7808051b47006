"""Build wheel and sdist, look into them, and run README's first example from the wheel in new
environments.

Run by `make dist`. One environment has the bare install, the other the extras that README names.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXTRAS = "fast,arrow,report"
# Files other than Python that the packages must contain.
CARRIED = (
    "py.typed",
    "__init__.pyi",
    "planning/page.html",
    "service/static/join.js",
    "service/templates/dashboard.html",
)
PACKED = ("LICENSE", "README.md", "pyproject.toml", "src/discreet/py.typed", "tests/packages/check.py")
LOCAL = re.compile(r"(^|/)(\.venv|build|demo|\.git|__pycache__)(/|$)|\.ledger$")


def main() -> None:
    """Build into dist/ and check; anything wrong ends with an error."""
    dist = ROOT / "dist"
    for old in (*dist.glob("discreet-*.whl"), *dist.glob("discreet-*.tar.gz")):
        old.unlink()
    # hatchling is the build backend, pinned in constraints.txt.
    run(sys.executable, "-m", "hatchling", "build", "-d", str(dist), cwd=ROOT)
    (wheel,), (sdist,) = dist.glob("discreet-*.whl"), dist.glob("discreet-*.tar.gz")
    look_into(wheel, sdist)
    example = first_example()
    for extras in ("", EXTRAS):
        in_new_environment(wheel, extras, example)
    print(f"{wheel.name} and {sdist.name} are fine")


def look_into(wheel: Path, sdist: Path) -> None:
    """The wheel has its data files, the sdist tests and licence; neither has files of one machine."""
    inside = set(zipfile.ZipFile(wheel).namelist())
    missing = [name for name in CARRIED if f"discreet/{name}" not in inside]
    with tarfile.open(sdist) as archive:
        packed = {name.split("/", 1)[-1] for name in archive.getnames()}
    missing += [name for name in PACKED if name not in packed]
    local = [name for name in inside | packed if LOCAL.search(name)]
    if missing or local:
        raise SystemExit(f"missing: {missing}; not to be packed: {local}")


def first_example() -> str:
    """README's first block of Python."""
    return re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)[0]


def in_new_environment(wheel: Path, extras: str, example: str) -> None:
    """Install the wheel alone, run the example away from the repository, and ask the terminal
    command for help.
    """
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        venv.create(home / "env", with_pip=True)
        python = str(home / "env" / "bin" / "python")
        wanted = f"{wheel}[{extras}]" if extras else str(wheel)
        run(python, "-m", "pip", "install", "--quiet", "--constraint", str(ROOT / "constraints.txt"), wanted)
        (home / "example.py").write_text(example, encoding="utf-8")
        said = run(python, "-I", "example.py", cwd=home)
        if "Guarantee" not in said:
            raise SystemExit(f"README's example printed no summary with extras {extras!r}:\n{said}")
        run(str(home / "env" / "bin" / "discreet"), "--help", cwd=home)
        print(f"README's example runs from the wheel, {f'with {extras}' if extras else 'bare'}")


def run(*command: str, cwd: Path | None = None) -> str:
    """What the command prints; its own words if it fails."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
