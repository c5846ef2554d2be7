"""Print versions of packages for pip.

`python -m tools.versions oldest`: the oldest that pyproject.toml allows to who tests the book;
`newest`: none; `pinned`: constraints.txt with the newest that fit each other, all but those that
stand above the last comment.
"""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT, CONSTRAINTS = ROOT / "pyproject.toml", ROOT / "constraints.txt"
OF_A_GPU = ("cuda-", "nvidia-", "triton==")  # a build for it pins them itself
TRY = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed"]
TRY += ["--report", "-"]


def oldest_versions(project: dict, framework: str) -> list[str]:
    """Return `name==version` for every lower bound of package, framework, book and tests.

    A framework may need a newer version of what the package needs, too.
    """
    extras = project["optional-dependencies"]
    groups = [extras[framework], extras["book"], extras["test"]]
    requirements = [*project["dependencies"], *(line for group in groups for line in group)]
    bounds = dict(line.split(">=") for line in requirements if ">=" in line)  # the last one counts
    return [f"{name}=={version}" for name, version in bounds.items()]


def pinned_versions(project: dict, by_hand: list[str]) -> list[str]:
    """Return pins of what pip chooses now for all extras beside the pins that are `by_hand`."""
    wanted = [f"{ROOT}[{','.join(project['optional-dependencies'])}]", *by_hand]
    report = subprocess.run([*TRY, *wanted], stdout=subprocess.PIPE, check=True).stdout
    chosen = [entry["metadata"] for entry in json.loads(report)["install"]]
    pins = {f"{m['name'].lower()}=={m['version'].partition('+')[0]}" for m in chosen}
    names = {project["name"], *(pin.partition("==")[0] for pin in by_hand)}
    return sorted(
        pin for pin in pins if pin.partition("==")[0] not in names and not pin.startswith(OF_A_GPU)
    )


def main(kind: str) -> None:
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    if kind == "oldest":
        print(*oldest_versions(project, os.environ["D2L_FRAMEWORK"]), sep="\n")
    elif kind == "pinned":
        lines = CONSTRAINTS.read_text(encoding="utf-8").splitlines()
        last = max(at for at, line in enumerate(lines) if line.startswith("#"))
        head = lines[: last + 1]
        by_hand = [line for line in head if line[0] != "#" and not line.startswith("d2l==")]
        print(*head, *pinned_versions(project, by_hand), sep="\n")
    elif kind != "newest":
        sys.exit(f"which versions? oldest, newest or pinned, got {kind!r}")


if __name__ == "__main__":
    main(*sys.argv[1:] or [""])
