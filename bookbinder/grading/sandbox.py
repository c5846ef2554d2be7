"""A process for a student's code: no network, nobody's files, no solutions, limits of everything.

bubblewrap makes it out of this machine's Python.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
import uuid
from pathlib import Path
from sysconfig import get_path
from threading import Timer

import d2l_attention
from bookbinder.book import BookError
from bookbinder.grading import inside
from d2l_attention.frameworks import load

ROOT = Path(__file__).parents[2]
PACKAGE = Path(d2l_attention.__file__).parent
RUNNER = Path(inside.__file__)
PACKAGES = sorted({get_path("purelib"), get_path("platlib")})
HOME, SCRATCH = "/student", 100 * 2**20  # bytes that a student's code may write
MEMORY = 8 * 2**30  # bytes of addresses, of which frameworks reserve more than they use
LONGEST = 50_000_000  # characters of a reply
SECRET = [*(PACKAGE / "practice").glob("chapter_*.py"), PACKAGE / "practice" / "numerics.py"]
CACHE = PACKAGE / "practice" / "__pycache__"  # holds the solutions, too
START, CELL, ALL = 120, 30, 240  # seconds
NO_START = "the sandbox for students' code does not start"
LATE = ("no answer after", "this notebook has taken more than", NO_START)  # so mistakes begin
MISSING = "bubblewrap, which keeps a student's code apart, does not work here: see TEACHING.md"


class NoAnswerError(Exception):
    """The student's code raises an error, ends, or does not answer in time."""


class Sandbox:
    """A process for a notebook, which is started where it is needed and again when it died."""

    def __init__(self, framework: str) -> None:
        self.framework, self.process = framework, None
        self.until = time.monotonic() + ALL
        self.ran: list[str] = []
        self.failed: list[tuple[str, str]] = []  # cells, and what they raised

    def start(self) -> None:
        """Start the process, and run in it what has been run."""
        if not bubblewrap_works():
            raise BookError(MISSING)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        alone = {"PATH": os.environ["PATH"]}  # nothing else of the teacher's can be read in it
        command = bubblewrap(self.framework)
        self.process = subprocess.Popen(command, **pipes, text=True, errors="replace", env=alone)
        try:
            self.said({"cell": ""}, START)
        except NoAnswerError as died:
            self.close()
            another = "Set the book up with another Python: make PYTHON=..."
            raise BookError(f"{NO_START}: {died}. {another}") from None
        for source in self.ran:
            self.said({"cell": source}, CELL)

    def run(self, source: str) -> None:
        """Run a cell; an error keeps what stands above it."""
        try:
            self.ask({"cell": source}, CELL)
        except NoAnswerError as error:
            self.failed.append((source, str(error)))
        if self.process:
            self.ran.append(source)

    def ask(self, request: dict, seconds: float) -> dict:
        """Return the reply; after a trap that an earlier answer has left, that of a new process."""
        if time.monotonic() > self.until:
            raise NoAnswerError(f"this notebook has taken more than {ALL} s")
        fresh = self.process is None
        try:
            if fresh:
                self.start()
            reply = self.said(request, seconds)
        except NoAnswerError as died:
            self.close()
            if fresh or str(died).startswith(LATE):
                raise
            return self.ask(request, seconds)
        if error := reply.get("error"):
            raise NoAnswerError(str(error)[: inside.LONGEST])
        return reply

    def said(self, request: dict, seconds: float) -> dict:
        """Return the reply to a request, or raise NoAnswerError: then close it."""
        process = self.process
        late = Timer(seconds, process.kill)
        late.start()
        token = uuid.uuid4().hex  # nobody can write the reply to a request that is still to come
        try:
            print(json.dumps({**request, "token": token}), file=process.stdin, flush=True)
            reply = json.loads(process.stdout.readline(LONGEST) or "null")
        except (OSError, ValueError, RecursionError):
            reply = "no reply"
        finally:
            in_time = late.is_alive()
            late.cancel()
        if isinstance(reply, dict) and reply.get("token") == token:
            return reply
        what = "it ends Python" if reply is None else "it writes where answers belong"
        raise NoAnswerError(what if in_time else f"no answer after {seconds:.0f} s")

    def close(self) -> None:
        process, self.process = self.process, None
        if process:
            process.kill()
            process.wait()  # whatever reads from it in another thread reads to the end
            for stream in (process.stdin, process.stdout):
                with contextlib.suppress(OSError, ValueError):
                    stream.close()


def variables(framework: str, cache: Path) -> dict[str, str]:
    ours = {
        "D2L_DEVICE": "cpu",
        "D2L_FRAMEWORK": framework,
        "HOME": HOME,
        "MPLBACKEND": "agg",
        "OMP_NUM_THREADS": "1",
        "PATH": "/usr/bin:/bin",
        "PIP_NO_INDEX": "1",  # so that it says at once that there is no network
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": ":".join([str(PACKAGE.parent), *PACKAGES]),
        **{name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ},
    }
    return load(framework).environment("cpu", cache) | load(framework).VARIABLES | ours


def bubblewrap_works() -> bool:
    """Say whether this machine lets bubblewrap make a sandbox; some systems restrict it."""
    if not shutil.which("bwrap"):
        return False
    trial = ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"]
    return subprocess.run(trial, capture_output=True).returncode == 0


def bubblewrap(framework: str) -> list[str]:
    """Return the command of a process that sees Python, its packages, and ours without answers."""
    cache = ROOT / "_build" / f"{framework}-cache"  # of compiled programs, in some frameworks
    libraries = os.environ.get("LD_LIBRARY_PATH", "").split(":")  # where Python is a module's
    system = ["/usr", "/bin", "/lib", "/lib64", sys.base_prefix, sys.prefix]
    system += [x for x in libraries if x[:1] == "/" and any(Path(x).glob("*.so*"))]
    python = Path(sys.executable).resolve()  # not by links, which may lead through other folders
    system += [get_path("stdlib"), python, *PACKAGES, PACKAGE, RUNNER, cache]
    command = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--clearenv"]
    command += ["--cap-drop", "ALL", "--proc", "/proc", "--dev", "/dev"]
    for folder in ("/tmp", "/dev/shm", HOME):
        command += ["--size", SCRATCH, "--tmpfs", folder]
    for path in filter(lambda path: Path(path).exists(), system):
        command += ["--ro-bind", path, path]
    for path in SECRET:
        command += ["--ro-bind", "/dev/null", path]
    if CACHE.exists():
        command += ["--tmpfs", CACHE]
    for name, value in variables(framework, cache).items():
        command += ["--setenv", name, value]
    command += ["--remount-ro", "/", "--chdir", HOME]
    limits = [f"--as={MEMORY}", "--nproc=500", f"--fsize={SCRATCH}", "--core=0"]
    command += ["prlimit", *limits, "--", python, RUNNER]
    return list(map(str, command))
