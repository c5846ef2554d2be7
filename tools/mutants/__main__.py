"""Plants one fault after the other in the generated module and sees whether the tests notice.

    python -m tools.mutants                  unit tests on all faults, notebooks on a sample
    python -m tools.mutants --checks         the faults of the checks of arguments, checks.py
    python -m tools.mutants --function NAME  the faults of one function or class only
    python -m tools.mutants --sample 100     a sample of the faults only

D2L_FRAMEWORK says whose module it is.

Written for this book because the known tools do not fit a generated module that notebooks
import: mutmut puts a switch into every function, which compilers and the notebooks' kernels would
have to follow, and cosmic-ray knows no notebooks.
"""

import argparse
import ast
import os
import random
import re
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

from bookbinder.config import read_book
from bookbinder.execution import kernel_environment
from tools.mutants import notebooks
from tools.mutants.faults import Fault, faults, known_equivalents

os.environ.update(kernel_environment())
ROOT = Path(__file__).resolve().parent.parent.parent
BOOK = read_book(ROOT)
EDITION = BOOK.edition(os.environ["D2L_FRAMEWORK"])
CHECKS = EDITION.module.with_name("checks.py")
EQUIVALENT = f"equivalent_{EDITION.framework}.toml"
TESTS = [
    path
    for folder in ("contract", EDITION.framework)
    for path in sorted((ROOT / "tests" / folder).glob("test_*.py"))
]
# Pictures and the report on the machine: it is the notebooks that compare these.
NOT_ATTENTION = ("00_start_here", "01_queries_keys_values")


def main() -> int:
    options = arguments()
    module = CHECKS if options.checks else EDITION.module
    edition = SimpleNamespace(module=module, notebooks=EDITION.notebooks)
    source = module.read_text(encoding="utf-8")
    equivalent = known_equivalents(EQUIVALENT)
    every = list(faults(source, saved_by(source, NOT_ATTENTION)))
    chosen = [f for f in every if options.function in (None, f.function)]
    if not chosen:
        sys.exit(f"there is no fault to plant in {options.function!r}: it is not in the module")
    planted = [f for f in chosen if str(f) not in equivalent]
    known = len(chosen) - len(planted)
    planted = random.Random(0).sample(planted, min(options.sample or len(planted), len(planted)))
    print(f"{len(planted)} faults planted, {known} equivalent ones left out")
    of_checks = faults(CHECKS.read_text(encoding="utf-8"))
    if not options.checks and (stale := equivalent - {str(f) for f in [*every, *of_checks]}):
        print(f"{EQUIVALENT} has faults that are none (any more):", *sorted(stale), sep="\n   ")
    sound = Fault("", "", source)
    missed = score("unit tests", sound, planted, lambda fault: notebooks.is_caught(
        fault, edition, ROOT, notebooks.named_first(fault, TESTS)), options.jobs)  # fmt: skip
    seen = [f for f in planted if notebooks.notebooks_that_use(f.function, edition)]
    sample = random.Random(0).sample(seen, min(options.notebooks, len(seen)))
    if sample:
        sound = Fault(sample[0].function, "", source)
        score("notebooks", sound, sample, lambda fault: notebooks.is_caught(
            fault, edition, ROOT, [[path] for path in notebooks.notebooks_that_use(
                fault.function, edition)]), options.jobs)  # fmt: skip
    return bool(missed)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.mutants")
    parser.add_argument("--checks", action="store_true", help="of checks.py, not of the module")
    parser.add_argument("--function", help="a function or class of the module")
    parser.add_argument("--sample", type=int, default=0, help="how many faults (default: all)")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--notebooks", type=int, default=40, help="how many faults they get")
    return parser.parse_args()


def saved_by(source: str, chapters: tuple[str, ...]) -> set[str]:
    """Names of the definitions whose comment says that they come from these chapters."""
    names = set()
    for block in re.split(r"^# From ", source, flags=re.MULTILINE)[1:]:
        origin, code = block.split("\n", 1)
        if any(f"/{chapter}.md" in origin for chapter in chapters):
            names |= {getattr(part, "name", "") for part in ast.parse(code).body}
    return names


def score(title: str, sound: Fault, planted: list[Fault], is_caught, jobs: int) -> list[Fault]:
    """Print the faults that are not caught, and the score."""
    begun = time.monotonic()
    with ThreadPoolExecutor(jobs) as pool:
        failed, *caught = pool.map(is_caught, [sound, *planted])
    if failed:
        sys.exit(f"the {title} fail without any fault: run `make test` first")
    missed = [fault for fault, seen in zip(planted, caught, strict=True) if not seen]
    for fault in missed:
        print(f"   missed: {fault}")
    for function, number in Counter(fault.function for fault in missed).most_common():
        print(f"   {number} in {function}")
    seconds = time.monotonic() - begun
    print(f"{title}: {len(planted) - len(missed)} of {len(planted)} caught in {seconds:.0f} s",
          flush=True)  # fmt: skip
    return missed


if __name__ == "__main__":
    sys.exit(main())
