"""Prints the oldest versions that pyproject.toml allows to who tests the book, for pip."""

import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"


def oldest_versions(project: dict) -> list[str]:
    """Return `name==version` for every lower bound of the package, the book and its tests."""
    extras = project["optional-dependencies"]
    requirements = [*project["dependencies"], *extras["book"], *extras["test"]]
    return [line.replace(">=", "==") for line in requirements if ">=" in line]


if __name__ == "__main__":
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    print(*oldest_versions(project), sep="\n")
