# SPDX-License-Identifier: Apache-2.0
"""Find the tests of a user's bench before anything is built."""

import json
import os
import sys
from pathlib import Path

from atoll.diagnostics.errors import SourceLoc, UsageError
from atoll.records import dataclass
from atoll.utils.children import run

LISTER = "atoll_sim.user_bench.list_tests"


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchTest:
    """A cocotb test.

    Attributes:
        name: in its module.
        full_name: with the module's, as cocotb filters it.
        skipped: its author wants it skipped.
    """

    name: str
    full_name: str
    skipped: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchModule:
    """A module with cocotb tests.

    Attributes:
        name: as Python imports it.
        path: the search path of Python, on which it is.
        tests: in the order in which they run; at least one.
    """

    name: str
    path: str
    tests: tuple[BenchTest, ...]


def find_tests(module: str) -> BenchModule:
    """Import a module in a process of its own and return its tests.

    Args:
        module: its name, found from the working folder or on Python's path, or a file ``x.py``.

    Raises:
        UsageError: E257, it is not there, cannot be imported, or has no test.
    """
    file = Path(module)
    named = file.suffix == ".py"
    folder = file.absolute().parent if named else Path.cwd()
    name = file.stem if named else module
    path = os.pathsep.join([str(folder), *filter(None, sys.path)])
    done = run((sys.executable, "-m", LISTER, name), environment={**os.environ, "PYTHONPATH": path})
    try:
        found = json.loads(done.stdout)
    except ValueError:
        said = [f": {line}" for line in done.stderr.strip().splitlines()[-1:]]
        raise _unusable(module, "".join(("ends Python when it is imported", *said))) from None
    if found.get("missing") or (named and not file.is_file()):
        raise UsageError(
            "E257",
            f"there is no bench '{module}'",
            remedy="name a module on Python's path, or a file such as my_bench.py",
        )
    at = SourceLoc(Path(found["file"]), found.get("line", 1), 1) if found["file"] else None
    if fault := found.get("fault"):
        raise _unusable(module, f"cannot be imported: {fault}", at)
    if not found["tests"]:
        raise UsageError(
            "E257",
            f"bench '{module}' has no test",
            at=at,
            remedy="write '@cocotb.test()' above a coroutine 'async def my_test(dut)'",
        )
    tests = (BenchTest(name=n, full_name=f, skipped=s) for n, f, s in found["tests"])
    return BenchModule(name=name, path=path, tests=tuple(tests))


def _unusable(module: str, what: str, at: SourceLoc | None = None) -> UsageError:
    return UsageError(
        "E257",
        f"bench '{module}' {what}",
        at=at,
        remedy="correct it, or install what it imports into Atoll's environment",
    )
