"""axe-core finds nothing serious or critical on any page, in light and in dark."""

import pytest


def test_no_serious_violation(visited, axe, name):
    if axe is None:
        pytest.skip("axe-core is not installed")
    grave = [
        f"{theme}: {v['id']}: {node['html'][:150]}: {node['failureSummary'][:250]}"
        for theme, v in visited(name, "file").axe
        for node in v["nodes"][:3]
    ]
    assert not grave, "\n".join(grave)
