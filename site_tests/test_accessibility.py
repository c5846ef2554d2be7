"""axe-core finds nothing serious or critical on any page, in light and in dark."""

from importlib import resources

import pytest
from conftest import open_page

GRAVE = ("serious", "critical")
# Thousands of parts that are alike on all pages and take half of the time: looked at on one.
ALIKE = ["mjx-container", ".highlight"]
WHOLE = "04_masked_softmax.html"


@pytest.fixture(scope="session")
def axe():
    package = pytest.importorskip("axe_playwright_python", reason="axe-core is not installed")
    return resources.files(package).joinpath("axe.min.js").read_text(encoding="utf-8")


def test_no_serious_violation(browser, addresses, axe, name):
    context = browser.new_context()
    page = open_page(context, f"{addresses['file']}/{name}")
    page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true })")
    page.wait_for_timeout(200)  # what has opened becomes reachable
    page.add_style_tag(content="* { transition: none !important }")  # colors change at once
    page.evaluate(axe)
    where = "document" if name == WHOLE else f"{{exclude: {ALIKE}}}"
    found = []
    for theme, rules in (("light", ""), ("dark", ", runOnly: ['color-contrast']")):
        page.evaluate("(theme) => { document.documentElement.dataset.theme = theme }", theme)
        result = page.evaluate(f"axe.run({where}, {{resultTypes: ['violations']{rules}}})")
        found += [(theme, violation) for violation in result["violations"]]
    context.close()
    grave = [
        f"{theme}: {v['id']}: {node['html'][:150]}: {node['failureSummary'][:250]}"
        for theme, v in found
        if v["impact"] in GRAVE
        for node in v["nodes"][:3]
    ]
    assert not grave, "\n".join(grave)
