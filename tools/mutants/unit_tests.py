"""Runs the unit tests on one faulty module after the other, in forks of one collected session.

Importing torch and collecting the tests takes longer than most verdicts; so both happen once.
A fork puts the faulty code into the functions that the tests have imported already. It begins
with the tests that caught the last faults in the same function.
"""

import importlib
import inspect
import os
import signal
import sys
import time
import types
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bookbinder.config import Edition
from tools.mutants.faults import Fault

SECONDS = 120  # a fork that takes longer hangs: that is a catch, too


@dataclass
class Fork:
    fault: Fault
    reader: int
    begun: float = field(default_factory=time.monotonic)


class UnitTests:
    """A pytest plugin: it runs the collected tests once for every fault, not once."""

    def __init__(self, faults: list[Fault], jobs: int, module: str):
        self.module = module
        self.waiting, self.jobs = list(reversed(faults)), jobs
        self.running: dict[int, Fork] = {}
        self.killers: dict[str, list[int]] = {}
        self.caught: dict[Fault, bool] = {}

    def pytest_runtestloop(self, session):
        module = importlib.import_module(self.module)
        while self.waiting or self.running:
            while self.waiting and len(self.running) < self.jobs:
                self.start(self.waiting.pop(), session, module)
            self.collect_verdicts()
            time.sleep(0.005)
        return True

    def start(self, fault: Fault, session, module) -> None:
        reader, writer = os.pipe()
        child = os.fork()
        if child:
            os.close(writer)
            self.running[child] = Fork(fault, reader)
            return
        failed = "error"  # in the module itself
        try:
            session.config.pluginmanager.unregister(name="terminalreporter")
            put_code(module, fault.source)
            failed = first_failure(session, self.killers.get(fault.function, []))
        finally:
            os.write(writer, failed.encode())
            os._exit(0)

    def collect_verdicts(self) -> None:
        for child, fork in list(self.running.items()):
            if time.monotonic() - fork.begun > SECONDS:
                os.kill(child, signal.SIGKILL)
            if not os.waitpid(child, os.WNOHANG)[0]:
                continue
            failed = os.read(fork.reader, 100).decode()
            os.close(fork.reader)
            del self.running[child]
            self.caught[fork.fault] = failed != "nothing"
            if sys.stderr.isatty():
                print(f"{len(self.waiting)} left  ", end="\r", file=sys.stderr, flush=True)
            if failed.isdecimal():
                killers = self.killers.setdefault(fork.fault.function, [])
                killers[:] = [int(failed), *(k for k in killers if k != int(failed))]


def put_code(module: types.ModuleType, source: str) -> None:
    """Put the code of a faulty module into the functions and classes of the sound one."""
    faulty: dict = {"__name__": module.__name__}
    exec(compile(source, module.__file__, "exec"), faulty)
    # A default that the module defines is the one that the tests know, and that pickle finds.
    known = {id(new): vars(module)[name] for name, new in faulty.items() if name in vars(module)}
    for name, old in list(vars(module).items()):
        function = own_function(old)
        if isinstance(function, types.FunctionType) and function.__module__ == module.__name__:
            put_function(function, own_function(faulty[name]), known)
        elif isinstance(old, type) and old.__module__ == module.__name__:
            for key, method in vars(old).items():
                if isinstance(function := own_function(method), types.FunctionType):
                    put_function(function, own_function(vars(faulty[name])[key]), known)


def own_function(method: object) -> object:
    """Return what a property, or a function that the framework has wrapped, was written as."""
    method = method.fget if isinstance(method, property) else method
    return inspect.unwrap(method) if callable(method) else method


def put_function(old: types.FunctionType, new: types.FunctionType, known: dict) -> None:
    """Give `old` the code of `new`; an error, and so a catch, where a `super()` got lost."""
    old.__code__, old.__defaults__, old.__kwdefaults__ = (
        new.__code__,
        new.__defaults__ and tuple(known.get(id(value), value) for value in new.__defaults__),
        new.__kwdefaults__ and {k: known.get(id(v), v) for k, v in new.__kwdefaults__.items()},
    )


def first_failure(session, killers: list[int]) -> str:
    """Return the number of the first test that fails, or "nothing"."""
    order = killers + [i for i in range(len(session.items)) if i not in set(killers)]
    for i in order:
        item = session.items[i]
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        if session.testsfailed:
            return str(i)
    return "nothing"


def run(
    faults: list[Fault], jobs: int, edition: Edition, root: Path, tests: list[Path]
) -> dict[Fault, bool]:
    """Return for each fault whether the tests catch it."""
    import torch

    torch.set_num_threads(1)  # threads do not survive a fork
    os.environ["D2L_TEST_PROFILE"] = "mutants"  # the first failing example is enough
    plugin = UnitTests(faults, jobs, f"d2l_attention.{edition.module.stem}")
    imported = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    pytest.main(["-q", "-q", "--rootdir", str(root), *imported, *map(str, tests)], [plugin])
    return plugin.caught
