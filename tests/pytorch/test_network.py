"""Machines that are threads say what went wrong, and leave nothing running."""

import threading
import time
from pathlib import Path

import pytest
import torch

from d2l_attention.network import on_machines

TASKS = Path("/proc/self/task")  # of Linux: threads that Python did not start, too


def one_fails(rank, net):
    if rank == 2:
        raise ValueError("machine 2 is out of order")
    net.recv([torch.empty(1)], (rank - 1) % 4, 0).wait()


def fail():
    with pytest.raises(ValueError, match="machine 2 is out of order"):
        on_machines(4, one_fails, seconds=60)


def threads() -> int:
    return len([*TASKS.iterdir()]) if TASKS.exists() else threading.active_count()


def test_an_error_of_one_machine_comes_out_at_once_and_nothing_is_left_running():
    fail()  # what PyTorch starts once, and keeps
    before, end = threads(), time.monotonic() + 30  # sooner than the others would give up
    fail()
    while threads() > before and time.monotonic() < end:  # the last ones may just be ending
        time.sleep(0.05)
    assert threads() <= before
    assert time.monotonic() < end
