"""The repository: packages, commands, links, version and license say the same everywhere."""

import re
import subprocess
import tomllib
from functools import partial

import pytest
import yaml
from packaging.requirements import Requirement

import d2l_attention
from tests.conftest import ROOT
from tests.this_book import BOOK

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PINS = dict(
    line.lower().split("==")
    for line in (ROOT / "constraints.txt").read_text().splitlines()
    if not line.startswith("#")
)
TARGETS = re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE)
EXTRAS = PROJECT["optional-dependencies"]
REQUIREMENTS = [*PROJECT["dependencies"], *(line for extra in EXTRAS.values() for line in extra)]
README = (ROOT / "README.md").read_text(encoding="utf-8")
RUNS = [
    step["run"]
    for path in sorted((ROOT / ".github/workflows").glob("*.yml"))
    for job in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].values()
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
    ".ci/run": (ROOT / ".ci/run").read_text(encoding="utf-8"),
    **{
        name: code_of((ROOT / name).read_text(encoding="utf-8"))
        for name in ("README.md", "CONTRIBUTING.md", "TEACHING.md")
    },
}


@pytest.mark.parametrize("requirement", [r for r in REQUIREMENTS if ">=" in r])
def test_every_dependency_is_pinned_to_a_version_that_fits(requirement):
    needed = Requirement(requirement)
    assert needed.specifier.contains(PINS[needed.name.lower()])


def test_pins_are_exact_and_name_no_local_build():
    assert all(re.fullmatch(r"[\d.]+(post\d+)?", pin) for pin in PINS.values()), PINS


@pytest.mark.parametrize(
    ("workflow", "job"), [("test", "pinned"), ("weekly", "oldest"), ("weekly", "newest")]
)
def test_every_edition_is_tested_on_github(workflow, job):
    path = ROOT / f".github/workflows/{workflow}.yml"
    jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
    matrix = jobs[job]["strategy"]["matrix"]
    more = [entry["framework"] for entry in matrix.get("include", [])]
    assert [*matrix["framework"], *more] == [edition.framework for edition in BOOK.editions]


def test_conda_installs_what_make_setup_installs_but_the_tools_of_the_tests():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    *conda, pip = environment["dependencies"]
    makefile = (ROOT / "Makefile").read_text()
    (constraint,) = re.findall(r"install --quiet (--constraint \S+)\n", makefile)
    extra, peer = re.findall(r"\$\(INSTALL\) (.*?)(?:  #.*)?\n", makefile)[:2]
    assert pip["pip"] == [
        constraint,
        extra.replace('"', "").replace("$*", BOOK.editions[0].framework),
    ]
    assert "d2l-attention[book]" in EXTRAS["test"]
    script = ROOT / "postBuild"
    assert script.read_text().endswith(f"pip install {constraint} {peer}\n")
    assert script.stat().st_mode & 0o100  # repo2docker calls it as a program
    assert environment["name"] == PROJECT["name"]
    least = PROJECT["requires-python"].removeprefix(">=")
    assert f"python={least}" in conda


@pytest.mark.parametrize("file", NAMING)
def test_every_make_that_is_named_is_a_target(file):
    named = targets_in(NAMING[file])
    assert named
    assert set(named) <= set(TARGETS)


def test_systems_without_make_run_the_lines_that_the_readme_gives():
    (lines,) = re.findall(r"^py -m venv .*?(?=^```)", README, re.MULTILINE | re.DOTALL)
    run = [line for line in RUNS if line.startswith("python ")]
    assert run
    assert set(run) <= set(lines.replace(".venv\\Scripts\\python", "python").splitlines())


def test_make_alone_lists_every_command():
    command = ["make", "--no-print-directory"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
    *commands, _ = listing.splitlines()
    assert [line.split()[0] for line in commands] == TARGETS
    (phony,) = re.findall(r"^\.PHONY: help (.*)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert set(phony.split()) == set(TARGETS)  # a folder of that name stops none


def test_make_helps_where_there_is_no_python_and_sets_up_a_further_framework(tmp_path):
    for name in ("book.toml", "constraints.txt", "pyproject.toml", "Makefile"):
        (tmp_path / name).write_text((ROOT / name).read_text() + "[broken" * (name == "book.toml"))
    first, further, *_ = known = [edition.framework for edition in BOOK.editions]
    (tmp_path / ".venv").mkdir()
    for mark in (f"ready-{first}", "test-ready"):
        (tmp_path / ".venv" / mark).touch()
    make = partial(subprocess.run, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert " ".join(known) in make(["make", "PYTHON=none", "help"]).stdout
    assert f'".[book,{further}]"' in make(["make", "-n", "check", f"FRAMEWORK={further}"]).stdout


PAGES = {path.name: path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("*.md"))}
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def anchors_of(page):
    """Return the anchors that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", page, re.MULTILINE)
    return [re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings]


@pytest.mark.parametrize("name", PAGES)
def test_links_between_pages_lead_somewhere(name):
    for file, anchor in re.findall(r"\]\((?!https://)([^)#]*)#?([^)]*)\)", PAGES[name]):
        assert (ROOT / file).exists(), file
        assert not anchor or anchor in anchors_of(PAGES[file or name]), anchor


def test_citation_and_changelog_name_the_version_of_the_package():
    released = re.findall(r"^## (\d\S*)", PAGES["CHANGELOG.md"], re.MULTILINE)
    assert [CITATION["version"], released[0]] == [d2l_attention.__version__] * 2


def test_readme_and_citation_agree_on_whether_there_is_a_license():
    chosen = (ROOT / "LICENSE").exists()
    assert chosen == ("license" in CITATION)
    assert chosen != ("No license has been chosen yet" in PAGES["README.md"])
