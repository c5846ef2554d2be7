"""The report for a bug report, of a device of JAX."""

import subprocess
import sys

from d2l_attention import jax as d2l

WITHOUT_TORCH = """
import sys
sys.modules["torch"] = None  # importing it now raises an error
import jax
from d2l_attention.machine import environment_report
print(environment_report(jax.devices("cpu")[0]))
"""


def test_the_report_names_the_versions_and_the_device():
    report = d2l.environment_report(d2l.try_gpu())
    names = [line.split("  ")[0] for line in report.splitlines()]
    assert {"Python", "jax", "flax", "device", "free memory"} <= set(names)
    assert "torch" not in names


def test_the_report_needs_no_other_framework():
    done = subprocess.run([sys.executable, "-c", WITHOUT_TORCH], capture_output=True, text=True)
    assert "cpu:0" in done.stdout, done.stderr
