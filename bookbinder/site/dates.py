"""When the chapters last changed, as git knows it."""

import re
import subprocess
from pathlib import Path

DAY = re.compile(r"\d{4}-\d\d-\d\d")


def last_changes(folder: Path) -> dict[str, str]:
    """Return the day of the last commit of each file in a folder, by the file's name.

    Without git, or outside of a repository, nothing is known and the result is empty.
    """
    command = ["git", "-C", str(folder), "log", "--format=%cs", "--name-only", "--", "."]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return {}
    days: dict[str, str] = {}
    day = ""
    for line in filter(None, done.stdout.splitlines()):  # newest first: a day, then its files
        if DAY.fullmatch(line):
            day = line
        else:
            days.setdefault(Path(line).name, day)
    return days
