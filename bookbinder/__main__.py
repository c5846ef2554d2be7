"""The command line: python -m bookbinder --help."""

import sys

from bookbinder.book import BookError


def main(arguments: list[str] | None = None) -> int:
    try:
        from bookbinder.commands import run  # loads for a second: Ctrl-C is answered then, too

        run(arguments)
        return 0
    except KeyboardInterrupt:
        print("interrupted: every file is whole, old or new; run again to go on", file=sys.stderr)
        return 130
    except BookError as error:
        reason = str(error)
    except OSError as error:  # a full disk or a read-only folder, where nothing better is known
        reason = f"{error.filename or ''}: {error.strerror or error}"
    print(f"error: {reason}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
