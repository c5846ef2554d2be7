"""Kernels of tests that run at once: no port is given to two of them."""

import random
import socket

import kernel_ports
import pytest
from jupyter_client.connect import LocalPortCache
from kernel_ports import PORTS, keep_to, ports_of

LOCAL = "127.0.0.1"


@pytest.fixture
def cache(monkeypatch):
    """A cache of ports whose class is put back afterwards."""
    monkeypatch.setattr(LocalPortCache, "find_available_port", LocalPortCache.find_available_port)
    return LocalPortCache()


@pytest.mark.parametrize("count", [1, 2, 3])
def test_each_process_has_ports_of_its_own(count):
    owned = [set(ports_of(worker, count)) for worker in range(count)]
    assert set.union(*owned) == set(PORTS)
    assert sum(map(len, owned)) == len(PORTS)


def test_a_kernel_gets_a_port_that_nobody_listens_on_or_was_promised(cache):
    with socket.socket() as listening:
        listening.bind((LOCAL, 0))
        taken = listening.getsockname()[1]
        others = [port for port in range(20_000, 30_000) if kernel_ports.free(LOCAL, port)][:2]
        keep_to([taken, *others])
        got = {cache.find_available_port(LOCAL) for _ in range(2)}
    assert got == set(others)
    assert cache.currently_used_ports == got


def test_only_a_worker_keeps_to_ports_of_its_own(cache, monkeypatch):
    before = LocalPortCache.find_available_port
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    kernel_ports.pytest_configure()
    assert LocalPortCache.find_available_port is before
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw1")
    monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", "2")
    kernel_ports.pytest_configure()
    random.seed(0)
    first = cache.find_available_port(LOCAL)
    random.seed(0)  # as a test does
    assert cache.find_available_port(LOCAL) != first
    assert cache.currently_used_ports <= set(ports_of(1, 2))
