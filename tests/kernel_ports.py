"""Ports for kernels that are started in several processes at once: each process has its own.

jupyter_client asks the system for free ports, gives them back, and the kernel opens them a second
later. Within one process no port is promised twice; between two it happens, and one kernel dies.
"""

import os
import random
import socket

from jupyter_client.connect import LocalPortCache

# No system's own range for passing connections begins below (Linux has 32768 to 60999).
PORTS = range(10_000, 32_768)
CHANCE = random.SystemRandom()  # the tests seed the common one


def pytest_configure():
    worker = os.environ.get("PYTEST_XDIST_WORKER")  # "gw0", "gw1", ...; none without pytest -n
    if not worker:
        return
    count = int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
    ports = PORTS[int(worker.removeprefix("gw")) % count :: count]

    def find_available_port(cache: LocalPortCache, ip: str) -> int:
        while (port := CHANCE.choice(ports)) in cache.currently_used_ports or not free(ip, port):
            pass
        cache.currently_used_ports.add(port)
        return port

    LocalPortCache.find_available_port = find_available_port


def free(ip: str, port: int) -> bool:
    with socket.socket() as trial:
        try:
            trial.bind((ip, port))
        except OSError:
            return False
    return True
