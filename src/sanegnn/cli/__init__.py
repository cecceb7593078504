"""The command line: one thin command for every function of the API, and the only room that prints.

Progress goes to stderr, results to stdout. Exit codes: 0 done, 2 an error that the user can mend (one line,
no traceback), 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import sys


def main() -> None:
    """The entry point of `sanegnn`; also an early Ctrl-C finds it ready."""
    try:
        from sanegnn.memory import keep_freed_memory, let_threads_sleep

        keep_freed_memory()
        let_threads_sleep()
        from sanegnn.cli.app import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)
