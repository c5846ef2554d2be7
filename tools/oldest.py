"""Prints the oldest versions that pyproject.toml allows to who tests the book, for pip."""

import os
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"


def oldest_versions(project: dict, framework: str) -> list[str]:
    """Return `name==version` for every lower bound of package, framework, book and tests.

    A framework may need a newer version of what the package needs, too.
    """
    extras = project["optional-dependencies"]
    groups = [extras[framework], extras["book"], extras["test"]]
    requirements = [*project["dependencies"], *(line for group in groups for line in group)]
    bounds = dict(line.split(">=") for line in requirements if ">=" in line)  # the last one counts
    return [f"{name}=={version}" for name, version in bounds.items()]


if __name__ == "__main__":
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    print(*oldest_versions(project, os.environ["D2L_FRAMEWORK"]), sep="\n")
