"""Several machines on this one: threads that send each other messages; written by hand."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from traceback import clear_frames

from torch import distributed


def on_machines(count: int, program: Callable, seconds: float = 10) -> list:
    """Return what program(rank, net) returns on each machine, for rank = 0, …, count - 1.

    A machine is a thread here, and `net` its process group of PyTorch: messages travel through
    sockets of this computer, by gloo, and no port is fixed. After the call nothing is left running.

    Args:
        count: Number of machines.
        program: Takes a machine's number and its process group.
        seconds: How long a machine waits for a message.

    Raises:
        Exception: The first that a program raises. What the others wait for fails at once.
    """
    store, raised = distributed.HashStore(), []  # who is where; what went wrong

    def run(rank: int, net: distributed.ProcessGroupGloo) -> object:
        result = program(rank, net)
        net.barrier().wait()  # nobody hangs up before all are done
        return result

    def start(rank: int) -> object:
        try:
            return run(rank, connected(store, rank, count, seconds))
        except Exception as error:
            raised.append(error)
            clear_frames(error.__traceback__)  # they hold `net`, which hangs up when it goes

    with ThreadPoolExecutor(count) as machines:
        results = list(machines.map(start, range(count)))
    if raised:  # where a machine fails, the others hear a hang-up, perhaps before it is noted here
        raise next((error for error in raised if "by peer" not in str(error)), raised[0])
    return results


def connected(store, rank: int, count: int, seconds: float) -> distributed.ProcessGroupGloo:
    """Return the process group of one machine, as soon as all have come."""
    Gloo = distributed.ProcessGroupGloo
    options = Gloo._Options()  # no public way leads to the loopback device
    options._devices = [Gloo.create_device(hostname="127.0.0.1")]
    options._timeout = timedelta(seconds=seconds)
    return Gloo(store, rank, count, options)
