"""axe-core finds nothing serious or critical on any page, in light and in dark."""


def test_no_serious_violation(visited, axe, name):
    grave = [
        f"{theme}: {v['id']}: {node['html'][:150]}: {node['failureSummary'][:250]}"
        for theme, v in visited(name, "file").axe
        for node in v["nodes"][:3]
    ]
    assert not grave, "\n".join(grave)
