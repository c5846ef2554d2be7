"""The set-up: one list of packages in all places, and commands that exist."""

import re
import subprocess
import tomllib

import pytest
import yaml
from conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PINS = dict(
    line.lower().split("==")
    for line in (ROOT / "constraints.txt").read_text().splitlines()
    if not line.startswith("#")
)
TARGETS = re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE)
EXTRAS = PROJECT["optional-dependencies"]
REQUIREMENTS = [*PROJECT["dependencies"], *EXTRAS["book"], *EXTRAS["test"], *EXTRAS["site"]]


def parts(version):
    return tuple(int(part) for part in version.split("."))


@pytest.mark.parametrize("requirement", [r for r in REQUIREMENTS if ">=" in r])
def test_every_dependency_is_pinned_to_a_version_that_fits(requirement):
    name, _, least = requirement.partition(">=")
    assert parts(PINS[name.lower()]) >= parts(least)


def test_pins_are_exact_and_name_no_local_build():
    assert all(re.fullmatch(r"[\d.]+(post\d+)?", pin) for pin in PINS.values()), PINS


def test_conda_installs_what_make_setup_installs_but_the_tools_of_the_tests():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    *conda, pip = environment["dependencies"]
    makefile = (ROOT / "Makefile").read_text()
    constraint, extra = re.search(
        r"--quiet (--constraint \S+) (--editable .*)\n", makefile
    ).groups()
    assert pip["pip"] == [constraint, extra.replace('"', "").replace("[test]", "[book]")]
    assert "d2l-attention[book]" in EXTRAS["test"]
    (peer,) = re.findall(r"--quiet (--constraint \S+ --no-deps d2l)\b", makefile)
    script = ROOT / "postBuild"
    assert script.read_text().endswith(f"pip install {peer}\n")
    assert script.stat().st_mode & 0o100  # repo2docker calls it as a program
    assert environment["name"] == PROJECT["name"]
    least = PROJECT["requires-python"].removeprefix(">=")
    assert f"python={least}" in conda


def test_ci_and_workflows_call_make_targets_only():
    workflow = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text())
    runs = [
        step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step
    ]
    assert sorted(runs) == ["make test", "make test-newest", "make test-site"]
    assert {run.removeprefix("make ") for run in runs} <= set(TARGETS)
    lines = (ROOT / ".ci/run").read_text().splitlines()
    called = [line.removeprefix("exec ") for line in lines if re.match(r"(exec )?make ", line)]
    assert called == ["make test", "make site test-site"]
    assert lines[-1].startswith("exec ")  # its exit status is that of the last command


def test_make_alone_lists_every_command():
    command = ["make", "--no-print-directory"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
    assert [line.split()[0] for line in listing.splitlines()] == TARGETS
