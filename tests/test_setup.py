"""The set-up: one list of packages in all places, and commands that exist."""

import os
import re
import shutil
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
REQUIREMENTS = [*PROJECT["dependencies"], *(line for extra in EXTRAS.values() for line in extra)]
CI = ROOT / ".ci/run"
README = (ROOT / "README.md").read_text(encoding="utf-8")
WORKFLOWS = {
    path.name: yaml.safe_load(path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / ".github/workflows").glob("*.yml"))
}
RUNS = [
    step["run"]
    for workflow in WORKFLOWS.values()
    for job in workflow["jobs"].values()
    for step in job["steps"]
    if "run" in step
]


def code_of(page):
    """Return the code of a Markdown page: its blocks and its spans."""
    return "\n".join(re.findall(r"```.*?```|`[^`\n]+`", page, re.DOTALL))


def targets_in(shell):
    """Return the targets of every `make` in some lines of shell, without comments."""
    calls = re.findall(r"\bmake((?: +[\w./=-]+)+)", re.sub(r"(?m)(^|\s)#.*$", "", shell))
    return re.findall(r"(?<!\S)[a-z][a-z-]*(?!\S)", " ".join(calls))


NAMING = {
    ".github/workflows": "\n".join(RUNS),
    ".ci/run": CI.read_text(encoding="utf-8"),
    **{
        name: code_of((ROOT / name).read_text(encoding="utf-8"))
        for name in ("README.md", "CONTRIBUTING.md", "TEACHING.md")
    },
}


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
    wanted = extra.replace('"', "").replace("test", "book").replace("$*", "pytorch")
    assert pip["pip"] == [constraint, wanted]
    assert "d2l-attention[book]" in EXTRAS["test"]
    (peer,) = re.findall(r"--quiet (--constraint \S+ --no-deps d2l)\b", makefile)
    script = ROOT / "postBuild"
    assert script.read_text().endswith(f"pip install {peer}\n")
    assert script.stat().st_mode & 0o100  # repo2docker calls it as a program
    assert environment["name"] == PROJECT["name"]
    least = PROJECT["requires-python"].removeprefix(">=")
    assert f"python={least}" in conda


@pytest.mark.parametrize("file", NAMING)
def test_every_make_that_is_named_is_a_target(file):
    named = targets_in(NAMING[file])
    assert named
    assert set(named) <= set(TARGETS)


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_change_runs_a_workflow_once(name):
    events = WORKFLOWS[name][True]  # YAML reads the key `on` as true
    if "push" in events and "pull_request" in events:
        assert events["push"] == {"branches": ["main"]}
    if "pull_request" in events:
        superseded = WORKFLOWS[name]["concurrency"]
        assert "pull_request" in str(superseded["cancel-in-progress"])
        assert "pull_request.number" in superseded["group"]


def test_no_two_jobs_make_the_same():
    made = [target for run in RUNS for target in targets_in(run)]
    assert sorted(made) == sorted(set(made))


def test_systems_without_make_run_the_lines_that_the_readme_gives():
    (lines,) = re.findall(r"^py -m venv .*?(?=^```)", README, re.MULTILINE | re.DOTALL)
    run = [line for line in RUNS if line.startswith("python ")]
    assert run
    assert set(run) <= set(lines.replace(".venv\\Scripts\\python", "python").splitlines())


def run_ci(folder, failing="nothing"):
    """Return the exit status of .ci/run where `make` fails on one target and else does nothing."""
    programs = {"make": f'case " $* " in *" {failing} "*) exit 3;; esac', "chromium": ""}
    for name, body in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{body}\n")
        (folder / name).chmod(0o755)
    (folder / ".ci").mkdir()
    script = shutil.copy(CI, folder / ".ci")  # it changes to the folder above its own
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(["bash", script], env=os.environ | {"PATH": path}).returncode


def test_ci_is_green_when_every_target_is(tmp_path):
    assert run_ci(tmp_path) == 0


@pytest.mark.parametrize("target", targets_in(CI.read_text(encoding="utf-8")))
def test_ci_fails_with_each_of_its_targets(target, tmp_path):
    assert run_ci(tmp_path, failing=target) == 3


def test_make_alone_lists_every_command():
    command = ["make", "--no-print-directory"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
    assert [line.split()[0] for line in listing.splitlines()] == TARGETS
