"""The wheel: the package with its data and types, and nothing of the tool that binds the book."""

import shutil
import subprocess
import sys
import zipfile

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.slow
# A wheel is built from a copy: setuptools takes along whatever an old build has left in build/.
NOT_COPIED = shutil.ignore_patterns(".*", "_build", "build", "*.egg-info", "my-notebooks*")


def test_the_wheel_holds_the_package_and_nothing_else(tmp_path):
    shutil.copytree(ROOT, tmp_path / "source", ignore=NOT_COPIED)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-index", "--no-deps"]
    command += ["--no-build-isolation", "--wheel-dir", str(tmp_path), str(tmp_path / "source")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (file,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(file) as wheel:
        held = {name for name in wheel.namelist() if ".dist-info/" not in name}
    package = [path for path in (ROOT / "d2l_attention").rglob("*") if path.is_file()]
    files = {path.relative_to(ROOT).as_posix() for path in package}
    assert held == {name for name in files if "__pycache__" not in name}
    assert {"d2l_attention/py.typed", "d2l_attention/practice/explorer.js"} <= held
