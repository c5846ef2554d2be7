"""Every module has the public names and arguments of PyTorch's: programs read the same in all."""

import ast
import inspect
from pathlib import Path

from tests.contract.framework import framework, ours

OWN_NAMES = {"LiveBytes", "temporary_bytes"}  # of one or two of the modules
OWN_ARGUMENTS = {"self", "tensor", "tensors", "array", "arrays", "device", "dtype", "param_dtype"}
OWN_ARGUMENTS |= {"rngs", "deterministic", "seed", "training", "options", "keys_mask", "shared"}
OWN_ARGUMENTS |= {"query_size", "key_size", "value_size", "block"}  # where a first call knows them
OTHERWISE = {"KeyValueCache", "fused_attention"}  # each with arguments of its own
CALL = next(name for name in ("forward", "call", "__call__") if name in vars(ours.Attention))


def test_names_and_arguments_are_those_of_pytorch_and_documented():
    body = ast.parse(Path(ours.__file__).with_name("torch.py").read_text(encoding="utf-8")).body
    names = set(ast.literal_eval(next(node.value for node in body if isinstance(node, ast.Assign))))
    assert set(ours.__all__) ^ names <= OWN_NAMES
    assert all(getattr(ours, name).__doc__ for name in ours.__all__)
    owners = (node for node in body if getattr(node, "name", "") in names - OWN_NAMES - OTHERWISE)
    for owner in owners:
        public, parts = getattr(ours, owner.name), [owner]
        if isinstance(owner, ast.ClassDef):
            parts = [x for x in owner.body if getattr(x, "name", "") in ("__init__", "forward")]
        for part in parts:
            called = {"__init__": "__init__", "forward": CALL}.get(part.name)
            got = inspect.signature(getattr(public, called) if called else public).parameters
            want = [x.arg for x in (*part.args.args, *part.args.kwonlyargs)]
            got, want = ([x for x in names if x not in OWN_ARGUMENTS] for names in (got, want))
            assert got == want, owner.name


def test_the_report_names_versions_and_the_device():
    report = ours.environment_report(ours.try_gpu())
    assert {"Python", "device", "free memory", *framework.PACKAGES} <= {
        line.split("  ")[0] for line in report.splitlines()
    }
    assert "not installed" not in report
