"""Facts about the reader's machine, for a bug report; written by hand."""

import os
import platform
from importlib import metadata

import torch


def environment_report(device: torch.device) -> str:
    """Return versions, device and free memory as text for a bug report.

    It holds no names of users, machines or folders.
    """
    threads = torch.get_num_threads()
    model = f"{torch.backends.cpu.get_cpu_capability()}, {threads} threads"
    if device.type == "cuda":
        model = torch.cuda.get_device_name(device)
    facts = {
        "book": version_of("d2l-attention"),
        "Python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "torch": torch.__version__,
        "matplotlib": version_of("matplotlib"),
        "device": f"{device} ({model})",
        "free memory": free_memory(device),
    }
    return "\n".join(f"{name:12} {fact}" for name, fact in facts.items())


def version_of(package: str) -> str:
    """Return the version of an installed package."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def free_memory(device: torch.device) -> str:
    """Say how much memory is free on a device, where that can be known."""
    if device.type == "cuda":
        free = torch.cuda.mem_get_info(device)[0]
    elif "SC_AVPHYS_PAGES" in getattr(os, "sysconf_names", ()):  # Linux
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    else:
        return "unknown"
    return f"{free / 2**30:.1f} GiB"
