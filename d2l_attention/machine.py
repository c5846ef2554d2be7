"""Facts about the reader's machine, for a bug report; written by hand, for every framework."""

import os
import platform
from importlib import metadata

from d2l_attention.frameworks import current, load


def environment_report(device: object) -> str:
    """Return versions, a device of try_gpu and free memory as text for a bug report.

    It holds no names of users, machines or folders.
    """
    framework = load(current())
    model, free = framework.facts(device)
    if free is None and "SC_AVPHYS_PAGES" in getattr(os, "sysconf_names", ()):  # Linux has it
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    facts = {
        "book": version_of("d2l-attention"),
        "Python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        **{package: version_of(package) for package in ("matplotlib", *framework.PACKAGES)},
        "device": f"{device} ({model})",
        "free memory": "unknown" if free is None else f"{free / 2**30:.1f} GiB",
    }
    return "\n".join(f"{name:12} {fact}" for name, fact in facts.items())


def version_of(package: str) -> str:
    """Return the version of a package, also where it was installed under another name."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        others = metadata.packages_distributions().get(package, ())
        return next(map(metadata.version, others), "not installed")
