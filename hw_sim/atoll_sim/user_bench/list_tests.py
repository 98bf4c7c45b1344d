# SPDX-License-Identifier: Apache-2.0
"""Say which cocotb tests a module has: ``python -m ... MODULE``, one JSON text as output.

It runs in a process of its own, because a bench may do anything when it is imported.
"""

import contextlib
import io
import json
import sys
import traceback
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from cocotb._decorators import Test, TestGenerator


def main() -> None:
    """Print the tests of a module, or why it has none."""
    name = sys.argv[1]
    with contextlib.redirect_stdout(io.StringIO()):
        answer = _look(name)
    print(json.dumps(answer))


def _look(name: str) -> dict[str, Any]:
    try:
        found = find_spec(name)
    except (ImportError, ValueError):
        found = None
    if found is None:
        return {"missing": True}
    try:
        module = import_module(name)
    except BaseException as fault:  # noqa: BLE001
        return {
            "file": found.origin,
            "fault": _last_line(fault),
            "line": _line(fault, found.origin),
        }
    tests = [[test.name, test.fullname, bool(test.skip)] for test in _tests(module)]
    return {"file": found.origin, "tests": tests}


def _tests(module: ModuleType) -> Iterator[Test]:
    for each in vars(module).values():
        if isinstance(each, Test):
            yield each
        elif isinstance(each, TestGenerator):
            yield from each.generate_tests()


def _last_line(fault: BaseException) -> str:
    return "".join(traceback.format_exception_only(fault)).strip().splitlines()[-1]


def _line(fault: BaseException, file: str | None) -> int:
    """Return the last line of the module itself that was under way."""
    if isinstance(fault, SyntaxError) and fault.filename == file:
        return fault.lineno or 1
    lines = [
        frame.lineno or 1
        for frame in traceback.extract_tb(fault.__traceback__)
        if frame.filename == file
    ]
    return lines[-1] if lines else 1


if __name__ == "__main__":
    main()
