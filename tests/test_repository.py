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
from bookbinder.page import slug
from tests.conftest import ROOT
from tests.this_book import BOOK

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = re.findall(r"^([a-z-]+):.*##", MAKEFILE, re.MULTILINE)
PAGES = {path.name: path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("*.md"))}
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def test_every_dependency_is_pinned_exactly_to_a_version_that_fits():
    text = (ROOT / "constraints.txt").read_text()
    lines = re.findall(r"^([^#\s]+)==([\d.]+(?:post\d+)?)$", text, re.M)
    pins = {name.lower(): pin for name, pin in lines}
    for line in (*PROJECT["dependencies"], *(line for extra in EXTRAS.values() for line in extra)):
        needed = Requirement(line)
        assert ">=" not in line or needed.specifier.contains(pins[needed.name.lower()]), needed


def test_pages_name_targets_of_make_extras_and_what_windows_runs():
    for name in ("README.md", "CONTRIBUTING.md", "TEACHING.md"):
        code = "\n".join(re.findall(r"```.*?```|`[^`\n]+`", PAGES[name], re.DOTALL))
        calls = re.findall(r"\bmake((?: +[\w./=-]+)+)", re.sub(r"(?m)(^|\s)#.*$", "", code))
        named = re.findall(r"(?<!\S)[a-z][a-z-]*(?!\S)", " ".join(calls))
        assert named
        assert {*named} <= {*TARGETS}, name
    assert {*",".join(re.findall(r'"\.\[([^]]+)\]"', PAGES["TEACHING.md"])).split(",")} <= {*EXTRAS}
    (lines,) = re.findall(r"^py -m venv .*?(?=^```)", PAGES["README.md"], re.M | re.S)
    workflows = [path.read_text("utf-8") for path in (ROOT / ".github/workflows").glob("*.yml")]
    run = re.findall(r"- run: (python .*)", "\n".join(workflows))
    assert run
    assert {*run} <= {*lines.replace(".venv\\Scripts\\python", "python").splitlines()}


def test_make_lists_its_commands_where_nothing_is_set_up_and_names_mistakes(tmp_path):
    plain = {key: value for key, value in os.environ.items() if "MAKE" not in key}
    make = partial(subprocess.run, capture_output=True, text=True, env=plain)
    error = make(["make", "-n", "check", "FRAMEWORK=a b"], cwd=ROOT).stderr
    assert f"no framework 'a b' in book.toml; known: {BOOK.editions[0].framework} " in error
    (tmp_path / "Makefile").write_text(MAKEFILE)
    commands = make(["make", "-s", "PYTHON=none"], cwd=tmp_path).stdout.splitlines()[:-1]
    assert [line.split()[0] for line in commands] == TARGETS
    assert f".PHONY: help {' '.join(TARGETS)}\n" in MAKEFILE  # a folder of that name stops none


@pytest.mark.parametrize("name", PAGES)
def test_links_between_pages_lead_somewhere_and_no_merge_is_unresolved(name):
    refuse_conflicts(PAGES[name], name)
    for file, anchor in re.findall(r"\]\((?!https://)([^)#]*)#?([^)]*)\)", PAGES[name]):
        assert (ROOT / file).exists(), file
        titles = re.findall(r"^#+ (.*)$", PAGES[file or name], re.M) if anchor else []
        assert not anchor or anchor in map(slug, titles), anchor


def test_version_and_licenses_are_the_same_wherever_they_are_named():
    released = re.findall(r"^## (\d\S*)", PAGES["CHANGELOG.md"], re.MULTILINE)
    assert [CITATION["version"], released[0]] == [d2l_attention.__version__] * 2
    assert PROJECT["license"] == " AND ".join(CITATION["license"])
    for file, name in zip(PROJECT["license-files"], ("MIT", "CC BY-SA 4.0"), strict=True):
        text = (ROOT / file).read_text(encoding="utf-8")
        assert all(part in text for part in (name, CITATION["authors"][0]["name"])), file
        assert re.search(rf"\[{name}[\w ]*\]\({file}\)", PAGES["README.md"].rpartition("\n## ")[2])
