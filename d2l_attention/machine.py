"""Facts about the reader's machine, for a bug report; written by hand, for every framework."""

import os
import platform
from importlib import metadata

from d2l_attention.frameworks import current, load


def environment_report(device: object) -> str:
    """Return versions, device and free memory as text for a bug report.

    `device` is one of the framework's, as try_gpu returns it. The report holds no names of users,
    machines or folders.
    """
    framework = load(current())
    facts = {
        "book": version_of("d2l-attention"),
        "Python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "matplotlib": version_of("matplotlib"),
        **{package: version_of(package) for package in framework.PACKAGES},
        **framework.facts(device),
    }
    return "\n".join(f"{name:12} {fact}" for name, fact in facts.items())


def version_of(package: str) -> str:
    """Return the version of a package, also where it was installed under another name."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        others = metadata.packages_distributions().get(package, ())
        return next(map(metadata.version, others), "not installed")


def free_main_memory() -> str:
    """Say how much main memory is free, where that can be known."""
    if "SC_AVPHYS_PAGES" not in getattr(os, "sysconf_names", ()):  # Linux has it
        return "unknown"
    return in_gib(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))


def in_gib(size: int) -> str:
    return f"{size / 2**30:.1f} GiB"
