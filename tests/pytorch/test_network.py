"""Machines that are threads say what went wrong, and leave nothing running."""

import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest
import torch

from d2l_attention.network import on_machines

TASKS = Path("/proc/self/task")  # of Linux: threads that Python did not start, too


def all_receive(rank, net):
    net.recv([torch.empty(1)], (rank - 1) % 4, 0).wait()


def one_fails(rank, net):
    if rank == 2:
        raise ValueError("machine 2 is out of order")
    all_receive(rank, net)


def test_the_error_of_one_machine_comes_out_although_the_others_wait():
    begun = time.monotonic()
    with pytest.raises(ValueError, match="machine 2 is out of order"):
        on_machines(4, one_fails, seconds=60)
    assert time.monotonic() - begun < 30


def threads() -> int:
    return len([*TASKS.iterdir()]) if TASKS.exists() else threading.active_count()


def test_nothing_is_left_running():
    def fail():
        for program in (all_receive, one_fails):
            with suppress(RuntimeError, ValueError):
                on_machines(4, program, seconds=0.3)

    fail()  # what PyTorch starts once, and keeps
    before, end = threads(), time.monotonic() + 10
    fail()
    while threads() > before and time.monotonic() < end:  # the last ones may just be ending
        time.sleep(0.05)
    assert threads() <= before
