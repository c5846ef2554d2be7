"""The names that every module has, and their arguments: programs read the same in all of them."""

import inspect

import pytest

from d2l_attention.frameworks import known, load
from tests.contract.framework import adapter, framework, ours

SHARED = {"use_svg_display", "environment_report", "show_heatmaps"}  # one file for all
ARGUMENTS = {  # of functions; of the making of layers
    "try_gpu": "i",
    "check_shape": "shape",
    **dict.fromkeys(("gaussian", "boxcar", "triangular", "epanechnikov", "constant"), "r"),
    "pairwise_distances": "queries keys",
    "nadaraya_watson": "x_train y_train x_val kernel",
    "attention_mask": "shape valid_lens mask",
    "masked_softmax": "X valid_lens mask",
    "zero_padding": "keep",
    "fused_attention": "queries keys values keep scale",
    "additive_scores": "q k w_v block",
    "rotate": "x positions base",
    "Attention": "dropout",
    "DotProductAttention": "dropout",
    "DistanceAttention": "dropout",
    "AdditiveAttention": "num_hiddens dropout query_size key_size",
    "BilinearAttention": "rank dropout query_size key_size",
    "CosineAttention": "dropout temperature learnable",
    "KeyValueCache": "",
    "MultiHeadAttention": "num_hiddens num_heads dropout bias num_kv_heads attention",
}
CALLED = {  # of their calling
    **dict.fromkeys(
        [name for name in ARGUMENTS if name.endswith("Attention")],
        "queries keys values valid_lens mask need_weights",
    ),
    "MultiHeadAttention": "queries keys values valid_lens mask causal cache need_weights",
}


MISSING = getattr(adapter, "MISSING_NAMES", set())  # of chapters that the edition leaves out
ARGUMENTS = {name: known for name, known in ARGUMENTS.items() if name not in MISSING}


def arguments(function) -> list[str]:
    known = inspect.signature(function).parameters
    return [name for name in known if name not in ("self", *adapter.OWN_ARGUMENTS)]


def test_public_names_are_the_same_and_documented():
    assert set(ours.__all__) - adapter.OWN_NAMES == set(ARGUMENTS) | SHARED
    for name in ours.__all__:
        assert getattr(ours, name).__doc__, name


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments_have_the_same_names_and_order(name):
    public = getattr(ours, name)
    fewer = {*adapter.OWN_ARGUMENTS, *getattr(adapter, "FEWER_ARGUMENTS_OF", {}).get(name, ())}
    want = [x for x in ARGUMENTS[name].split() if x not in fewer]
    left_out = adapter.OWN_ARGUMENTS_OF.get(name, ())
    made = public.__init__ if inspect.isclass(public) else public
    assert [x for x in arguments(made) if x not in left_out] == want
    if name in CALLED:
        assert arguments(getattr(public, adapter.CALL)) == CALLED[name].split()


def test_the_report_names_versions_and_device_and_no_other_framework():
    report = ours.environment_report(ours.try_gpu())
    names = {line.split("  ")[0] for line in report.splitlines()}
    assert {"Python", "device", "free memory", *framework.PACKAGES} <= names
    others = {load(name).PACKAGE for name in known()} - {framework.PACKAGE}
    assert not names & others
    assert "not installed" not in report
