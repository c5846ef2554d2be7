"""The wheel: the package with its data and types, and nothing of the tool that binds the book."""

import shutil
import subprocess
import sys
import zipfile
from email import message_from_bytes

import pytest

import d2l_attention
from tests.conftest import ROOT

pytestmark = pytest.mark.slow
# A wheel is built from a copy: setuptools takes along whatever an old build has left in build/.
NOT_COPIED = shutil.ignore_patterns(".*", "_build", "build", "*.egg-info", "my-notebooks*")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("a wheel")
    shutil.copytree(ROOT, folder / "source", ignore=NOT_COPIED)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-index", "--no-deps"]
    command += ["--no-build-isolation", "--wheel-dir", str(folder), str(folder / "source")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (file,) = folder.glob("*.whl")
    with zipfile.ZipFile(file) as opened:
        yield opened


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    about = f"d2l_attention-{d2l_attention.__version__}.dist-info/"
    held = sorted(name for name in wheel.namelist() if not name.startswith(about))
    package = [path for path in (ROOT / "d2l_attention").rglob("*") if path.is_file()]
    files = [path.relative_to(ROOT).as_posix() for path in package]
    assert held == sorted(name for name in files if "__pycache__" not in name)
    assert {"d2l_attention/py.typed", "d2l_attention/practice/explorer.js"} <= set(held)


def test_the_wheel_needs_only_what_the_package_imports(wheel):
    (metadata,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    needed = message_from_bytes(wheel.read(metadata)).get_all("Requires-Dist")
    names = sorted(line.partition(">=")[0] for line in needed if "extra ==" not in line)
    assert names == ["contourpy", "matplotlib", "numpy"]
