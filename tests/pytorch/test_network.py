"""Machines that are threads exchange messages, and leave nothing behind."""

import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest
import torch

from d2l_attention.network import on_machines

DESCRIPTORS = Path("/proc/self/fd")  # Linux only
TASKS = Path("/proc/self/task")  # threads that Python did not start, too


def sum_of_ranks(rank, net):
    number = torch.tensor([float(rank)])
    net.allreduce([number]).wait()
    return number.item()


def neighbor(rank, net):
    mine, other = torch.tensor([rank]), torch.empty(1, dtype=torch.int64)
    away = net.send([mine], (rank + 1) % 4, 0)
    net.recv([other], (rank - 1) % 4, 0).wait()
    away.wait()
    return other.item()


def all_receive(rank, net):
    net.recv([torch.empty(1)], (rank - 1) % 4, 0).wait()


def one_fails(rank, net):
    if rank == 2:
        raise ValueError("machine 2 is out of order")
    all_receive(rank, net)


def test_every_machine_gets_what_the_others_send():
    assert on_machines(4, sum_of_ranks) == [6.0] * 4
    assert on_machines(4, neighbor) == [3, 0, 1, 2]
    assert on_machines(1, lambda rank, net: rank) == [0]


def test_who_waits_for_a_message_that_nobody_sends_is_told_so():
    begun = time.monotonic()
    with pytest.raises(RuntimeError, match="Timed out waiting 300ms for recv"):
        on_machines(4, all_receive, seconds=0.3)
    assert time.monotonic() - begun < 10


def test_the_error_of_one_machine_comes_out_although_the_others_wait():
    begun = time.monotonic()
    with pytest.raises(ValueError, match="machine 2 is out of order"):
        on_machines(4, one_fails, seconds=60)
    assert time.monotonic() - begun < 30


def entries(folder):
    return len(list(folder.iterdir())) if folder.exists() else 0


def test_nothing_is_left_running():
    def call(program):
        with suppress(RuntimeError, ValueError):
            on_machines(4, program, seconds=0.3)

    programs = (sum_of_ranks, neighbor, one_fails, all_receive)
    for program in programs:  # what PyTorch starts once, and keeps
        call(program)
    before = threading.active_count(), entries(DESCRIPTORS), entries(TASKS)
    for program in programs:
        call(program)
    end = time.monotonic() + 10
    while time.monotonic() < end:  # a thread that has ended may be listed a moment longer
        after = threading.active_count(), entries(DESCRIPTORS), entries(TASKS)
        if all(a <= b for a, b in zip(after, before, strict=True)):
            return
        time.sleep(0.05)
    assert after <= before
