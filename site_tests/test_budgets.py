"""What the site may weigh, and how wide it may be."""

from urllib.parse import unquote, urlsplit

import pytest
from conftest import FURTHER

MOST_BYTES = 16_500_000
MOST_BYTES_OF_A_PAGE = 1_250_000  # its equations and their faces among them


def test_an_edition_of_the_site_weighs_at_most_16_and_a_half_megabytes(site):
    weights = dict.fromkeys(["", *FURTHER], 0)
    for path in site.rglob("*"):
        name = path.relative_to(site).as_posix()
        edition = next((folder for folder in FURTHER if name.startswith(folder)), "")
        weights[edition] += path.stat().st_size if path.is_file() else 0
    assert max(weights.values()) <= MOST_BYTES, weights


def test_a_page_weighs_at_most_five_quarters_of_a_megabyte_on_first_view(visited, site, name):
    paths = {unquote(urlsplit(url).path) for url in visited(name, "file").first_view}
    paths = {path for path in paths if path.startswith(str(site))}
    weights = {path: (site / path).stat().st_size for path in paths}
    assert len(weights) > 5
    assert sum(weights.values()) <= MOST_BYTES_OF_A_PAGE, weights


@pytest.mark.parametrize("width", [360, 768])
def test_no_page_scrolls_sideways_on_a_narrow_screen(visited, name, width):
    assert visited(name, "file").closed[width]["width"] <= width
