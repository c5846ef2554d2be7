"""The repository: packages, commands, links, version and license say the same everywhere."""

import os
import re
import subprocess
import tomllib
from functools import partial

import pytest
import yaml
from packaging.requirements import Requirement

import d2l_attention
from bookbinder.chapters import refuse_conflicts
from tests.conftest import ROOT
from tests.this_book import BOOK

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PINS = dict(
    line.lower().split("==")
    for line in (ROOT / "constraints.txt").read_text().splitlines()
    if not line.startswith("#")
)
MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = re.findall(r"^([a-z-]+):.*##", MAKEFILE, re.MULTILINE)
EXTRAS = PROJECT["optional-dependencies"]
REQUIREMENTS = [*PROJECT["dependencies"], *(line for extra in EXTRAS.values() for line in extra)]
PAGES = {path.name: path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("*.md"))}
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
WORKFLOWS = "\n".join(
    path.read_text(encoding="utf-8") for path in (ROOT / ".github/workflows").glob("*.yml")
)


def test_every_dependency_is_pinned_exactly_to_a_version_that_fits():
    for needed in (Requirement(line) for line in REQUIREMENTS if ">=" in line):
        assert needed.specifier.contains(PINS[needed.name.lower()]), needed
    assert all(re.fullmatch(r"[\d.]+(post\d+)?", pin) for pin in PINS.values()), PINS


def test_all_editions_are_tested_on_github_with_pinned_and_with_oldest_packages():
    names = ", ".join(edition.framework for edition in BOOK.editions)
    assert WORKFLOWS.count(f"framework: [{names}]") == 2


def test_conda_and_binder_install_what_make_setup_installs():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    *conda, pip = environment["dependencies"]
    (constraint,) = re.findall(r"pip install (--constraint \S+)\n", MAKEFILE)
    book, peer = re.findall(r"\$\(INSTALL\) (.*)\n", MAKEFILE)[:2]
    book = book.replace('"', "").replace("$*", BOOK.editions[0].framework)
    assert pip["pip"] == [constraint, book]
    script = ROOT / "postBuild"
    assert script.read_text().endswith(f"pip install {constraint} {peer}\n")
    assert script.stat().st_mode & 0o100  # repo2docker calls it as a program
    assert f"python={PROJECT['requires-python'].removeprefix('>=')}" in conda


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "TEACHING.md"])
def test_every_make_that_a_page_names_is_a_target(name):
    code = "\n".join(re.findall(r"```.*?```|`[^`\n]+`", PAGES[name], re.DOTALL))
    calls = re.findall(r"\bmake((?: +[\w./=-]+)+)", re.sub(r"(?m)(^|\s)#.*$", "", code))
    named = re.findall(r"(?<!\S)[a-z][a-z-]*(?!\S)", " ".join(calls))
    assert named
    assert set(named) <= set(TARGETS)


def test_systems_without_make_run_the_lines_that_the_readme_gives():
    (lines,) = re.findall(r"^py -m venv .*?(?=^```)", PAGES["README.md"], re.M | re.S)
    run = re.findall(r"- run: (python .*)", WORKFLOWS)
    assert run
    assert set(run) <= set(lines.replace(".venv\\Scripts\\python", "python").splitlines())


def test_make_helps_where_nothing_is_set_up_names_mistakes_and_adds_a_further_framework(tmp_path):
    for name in ("book.toml", "constraints.txt", "pyproject.toml", "Makefile"):
        (tmp_path / name).write_text((ROOT / name).read_text())
    first, further, *_ = known = [edition.framework for edition in BOOK.editions]
    (tmp_path / ".venv").mkdir()
    for mark in (f"ready-{first}", "test-ready"):
        (tmp_path / ".venv" / mark).touch()
    in_korean = {k: v for k, v in os.environ.items() if "MAKE" not in k} | {"LANGUAGE": "ko"}
    make = partial(subprocess.run, cwd=tmp_path, capture_output=True, text=True, env=in_korean)
    lab = make(["make", "-n", "lab"]).stdout.splitlines()
    assert [line.endswith("make lab LANGUAGE=ko") for line in lab] == [True, False]
    assert "LANGUAGE" not in make(["make", "-n", "lab", "LANGUAGE=en"]).stdout
    setup = make(["make", "-n", "check", f"FRAMEWORK={further}"]).stdout
    assert f'pip install --constraint constraints.txt --editable ".[book,{further}]"' in setup
    error = make(["make", "check", f"FRAMEWORK={first} {further}"]).stderr
    assert f"no framework '{first} {further}' in book.toml; known: {' '.join(known)}." in error
    *commands, about = make(["make", "-s", "PYTHON=none"]).stdout.splitlines()
    assert [line.split()[0] for line in commands] == TARGETS
    assert " ".join(known) in about
    assert "ARGS=" in commands[TARGETS.index("lab")]
    (tmp_path / "book.toml").unlink()
    assert make(["make", "help"]).stdout.splitlines()[:-1] == commands
    assert f".PHONY: help {' '.join(TARGETS)}\n" in MAKEFILE  # a folder of that name stops none


def anchors_of(page):
    """Return the anchors that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", page, re.MULTILINE)
    return [re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings]


@pytest.mark.parametrize("name", PAGES)
def test_links_between_pages_lead_somewhere(name):
    for file, anchor in re.findall(r"\]\((?!https://)([^)#]*)#?([^)]*)\)", PAGES[name]):
        assert (ROOT / file).exists(), file
        assert not anchor or anchor in anchors_of(PAGES[file or name]), anchor


def test_no_file_that_is_shown_has_a_conflict_of_a_merge():
    for path in [*ROOT.glob("*.md"), *ROOT.glob("[bd]*/**/*.[mtcj][sd2]*")]:
        refuse_conflicts(path.read_text(encoding="utf-8"), str(path))


def test_citation_and_changelog_name_the_version():
    released = re.findall(r"^## (\d\S*)", PAGES["CHANGELOG.md"], re.MULTILINE)
    assert [CITATION["version"], released[0]] == [d2l_attention.__version__] * 2


def test_code_and_text_have_their_licenses_wherever_they_are_named():
    assert PROJECT["license"] == " AND ".join(CITATION["license"])
    for file, name in zip(PROJECT["license-files"], ("MIT", "CC BY-SA 4.0"), strict=True):
        text = (ROOT / file).read_text(encoding="utf-8")
        assert all(part in text for part in (name, CITATION["authors"][0]["name"])), file
        assert re.search(rf"\[{name}[\w ]*\]\({file}\)", PAGES["README.md"].rpartition("\n## ")[2])
