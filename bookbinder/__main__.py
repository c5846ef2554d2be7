"""The command line: python -m bookbinder --help."""

import sys

from bookbinder.book import BookError

sys.version_info >= (3, 11) or sys.exit("Python 3.11 or newer is needed: make PYTHON=python3.11")


def main(arguments: list[str] | None = None) -> int:
    try:
        from bookbinder.commands import run  # loads for a second: Ctrl-C is answered then, too

        run(arguments)
    except BookError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except OSError as error:  # a full disk or a read-only folder, where nothing better is known
        print(f"error: {error.filename or ''}: {error.strerror or error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted: every file is whole, old or new; run again to go on", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
