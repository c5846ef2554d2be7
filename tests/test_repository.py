"""The repository's own pages: their links, the version that they name, and the license."""

import re

import pytest
import yaml

import d2l_attention
from tests.conftest import ROOT

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
