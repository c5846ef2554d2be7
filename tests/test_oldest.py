"""The oldest versions that `make test-oldest` installs: pyproject.toml alone says them."""

import re
import tomllib

from conftest import ROOT

from tools.oldest import oldest_versions

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_oldest_versions_are_the_lower_bounds_of_who_tests_the_book():
    extras = {
        "book": ["ruff>=0.8"],
        "test": ["d2l-attention[book]", "pytest>=8.3"],
        "site": ["sphinx>=9.0"],
        "pytorch": ["torch>=2.7"],
        "jax": ["jax>=0.10", "numpy>=2.0"],
    }
    project = {"dependencies": ["numpy>=1.26"], "optional-dependencies": extras}
    known = ["ruff==0.8", "pytest==8.3"]
    assert sorted(oldest_versions(project, "pytorch")) == sorted(
        [*known, "numpy==1.26", "torch==2.7"]
    )
    assert sorted(oldest_versions(project, "jax")) == sorted([*known, "numpy==2.0", "jax==0.10"])


def test_every_requirement_has_a_lower_bound_and_nothing_else():
    for requirements in (PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()):
        for requirement in requirements:
            own_extra = requirement.startswith(f"{PROJECT['name']}[")
            assert own_extra or re.fullmatch(r"[a-z0-9-]+>=\d+(\.\d+)*", requirement), requirement
