"""The command `python -m bench`: the comparisons, or with `profile` the shares of a search epoch."""

from __future__ import annotations

import argparse
import sys
from fnmatch import fnmatch
from pathlib import Path

import torch

from bench import machine, page, shares
from bench.cases import Case, cases
from bench.pairs import Absent
from bench.rows import Row, markdown, write_json
from bench.timing import FULL, QUICK, Plan, out_of_memory
from sanegnn.memory import keep_freed_memory


def options() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser("python -m bench", description=sys.modules["bench"].__doc__)
    parser.add_argument("what", nargs="?", choices=("run", "profile"), default="run")
    parser.add_argument("--quick", action="store_true", help="a part of the cases, in under two minutes")
    parser.add_argument("--only", metavar="PATTERN", help="cases whose name matches, as in 'train/*' or cora")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the rows as a list")
    parser.add_argument("--write", action="store_true", help="write the tables of docs/performance.md anew")
    parser.add_argument("--data", default="cora", help="the dataset that is profiled")
    return parser


def chosen(pattern: str | None, quick: bool) -> list[Case]:
    """The cases to run; a name that is asked for in full is run even if it is not a quick one."""
    known = list(cases())
    if pattern is None:
        return [case for case in known if case.quick or not quick]
    exact = [case for case in known if case.name == pattern]
    return exact or [
        case for case in known if fnmatch(case.name, f"*{pattern}*") and (case.quick or not quick)
    ]


def tried(case: Case, plan: Plan) -> Row | None:
    """The row of a case, or None and a word on why there is none."""
    try:
        row = case.measure(plan)
    except Absent as absent:
        print(f"{case.name:28}skipped: {absent}", flush=True)
        return None
    except (MemoryError, RuntimeError) as error:
        if not out_of_memory(error):
            raise
        print(f"{case.name:28}skipped: it does not fit in the memory that is free", flush=True)
        return None
    print(row.line(), flush=True)
    return row


def main(arguments: list[str] | None = None) -> int:
    """Run the cases one after the other; every row is written as soon as it is there."""
    asked = options().parse_args(arguments)
    torch.set_num_threads(1)
    keep_freed_memory()  # as the command line does; both sides gain
    print(machine.described(), flush=True)
    if asked.what == "profile":
        text = shares.profiled(asked.data)
        print(text)
        if asked.write:
            page.replace("profile", f"{machine.described()}\n\n{text}")
        return 0
    if asked.write and (asked.quick or asked.only):
        options().error("--write needs a whole run: leave out --quick and --only")
    taken = chosen(asked.only, asked.quick)
    if not taken:
        known = ", ".join(case.name for case in cases())
        options().error(
            f"no case matches {asked.only!r}{' among the quick ones' * asked.quick}; known: {known}"
        )
    rows: list[Row] = []
    for case in taken:
        row = tried(case, QUICK if asked.quick else FULL)
        rows += [row] if row else []
        if asked.json:
            write_json(rows, asked.json)
    if asked.write:
        page.replace("results", f"{machine.described()}\n\n{markdown(rows)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
