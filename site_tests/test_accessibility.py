"""axe-core finds nothing serious or critical on any page, in light and in dark."""

from importlib import resources

import pytest
from conftest import open_page

GRAVE = ("serious", "critical")


@pytest.fixture(scope="session")
def axe():
    package = pytest.importorskip("axe_playwright_python", reason="axe-core is not installed")
    return resources.files(package).joinpath("axe.min.js").read_text(encoding="utf-8")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_serious_violation(browser, addresses, axe, name, theme):
    context = browser.new_context()
    context.add_init_script(
        f"localStorage.setItem('mode', '{theme}'); localStorage.setItem('theme', '{theme}')"
    )
    page = open_page(context, f"{addresses['file']}/{name}")
    page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true })")
    page.wait_for_timeout(200)  # what has opened becomes reachable
    page.evaluate(axe)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    context.close()
    grave = [
        f"{v['id']}: {node['html'][:150]}: {node['failureSummary'][:250]}"
        for v in found["violations"]
        if v["impact"] in GRAVE
        for node in v["nodes"][:3]
    ]
    assert not grave, "\n".join(grave)
