"""Facts about the reader's machine, for a bug report; written by hand, for every framework."""

import os
import platform
from importlib import metadata


def environment_report(device: object) -> str:
    """Return versions, device and free memory as text for a bug report.

    `device` is one of the framework's, as try_gpu returns it. The report holds no names of users,
    machines or folders.
    """
    of_torch = type(device).__module__.partition(".")[0] == "torch"
    facts = {
        "book": version_of("d2l-attention"),
        "Python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "matplotlib": version_of("matplotlib"),
        **(facts_of_torch(device) if of_torch else facts_of_jax(device)),
    }
    return "\n".join(f"{name:12} {fact}" for name, fact in facts.items())


def facts_of_torch(device) -> dict[str, str]:
    """Return what PyTorch knows of itself and of a `torch.device`."""
    import torch

    threads = torch.get_num_threads()
    model = f"{torch.backends.cpu.get_cpu_capability()}, {threads} threads"
    free = free_main_memory()
    if device.type == "cuda":
        model = torch.cuda.get_device_name(device)
        free = in_gib(torch.cuda.mem_get_info(device)[0])
    return {"torch": torch.__version__, "device": f"{device} ({model})", "free memory": free}


def facts_of_jax(device) -> dict[str, str]:
    """Return what JAX knows of itself and of a `jax.Device`."""
    memory = device.memory_stats() or {}  # None on the CPU
    free = free_main_memory()
    if "bytes_limit" in memory:
        free = in_gib(memory["bytes_limit"] - memory["bytes_in_use"])
    return {
        "jax": version_of("jax"),
        "flax": version_of("flax"),
        "device": f"{device} ({device.device_kind})",
        "free memory": free,
    }


def version_of(package: str) -> str:
    """Return the version of an installed package."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def free_main_memory() -> str:
    """Say how much main memory is free, where that can be known."""
    if "SC_AVPHYS_PAGES" not in getattr(os, "sysconf_names", ()):  # Linux has it
        return "unknown"
    return in_gib(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))


def in_gib(size: int) -> str:
    return f"{size / 2**30:.1f} GiB"
