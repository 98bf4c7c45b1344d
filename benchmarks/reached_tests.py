# SPDX-License-Identifier: Apache-2.0
"""Which tests reach a fault: they run once in a copy that has a probe where each fault goes.

A probe is a statement that notes the test of which the environment tells, so children are probed
too. A line that runs at import has probes in all functions of its module. Files of other languages
are watched: the kernel says which of them somebody opened during a test, or during one that runs
at the same time. This module is the plugin of pytest that asks it, and that notes how long tests
take.
"""

import ast
import ctypes
import os
import re
import struct
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from atoll.utils.children import run
from benchmarks.planted_edits import PACKAGES, Edit

LOG, FILES = "ATOLL_REACHED", "ATOLL_WATCHED"
ENDLESS = 36000.0
_OPENED, _EVENT = 0x20, struct.Struct("iIII")
_PROBE = f"""import os
noted = set()
def note(fault):
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    if test and (fault, test) not in noted and "{LOG}" in os.environ:
        noted.add((fault, test))
        log = os.open(os.environ["{LOG}"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(log, f"{{fault}} {{test}}\\n".encode())
        os.close(log)
"""
WATCH = pytest.StashKey["_Watch"]()
PARENT = "{parent}"
"""Where the checkout lies, in the names of tests."""
Reached = dict[str, dict[str, float]]
"""Of each fault, the tests that reach it and their seconds, the shortest first."""


def record(edits: Sequence[Edit], root: Path, *words: str) -> Reached:
    """Run the tests that `words` tell pytest, in a copy at `root` that is of no use afterwards."""
    log = root / "reached.log"
    (root / PACKAGES[0].parts[0] / "fault_probe.py").write_text(_PROBE, encoding="utf-8")
    for path in {edit.path for edit in edits if edit.path.suffix == ".py"}:
        lines = {number: each.line for number, each in enumerate(edits) if each.path == path}
        text = (root / path).read_text(encoding="utf-8")
        (root / path).write_text(with_probes(text, lines), encoding="utf-8")
    watched = [f"{number}={edit.path}" for number, edit in enumerate(edits)]
    more = {LOG: str(log), FILES: "\n".join(each for each in watched if each[-3:] != ".py")}
    command = ("-m", "pytest", "-q", "--tb=no", "-p", "benchmarks.reached_tests", *words)
    variables = environment(root) | more
    run([sys.executable, *command], folder=root, environment=variables, seconds=ENDLESS)
    said = log.read_text(encoding="utf-8").replace(str(root.parent), PARENT)
    return read_log(said.splitlines(), edits)


def environment(root: Path) -> dict[str, str]:
    """Return variables for tests of the checkout at `root`."""
    folders = dict.fromkeys(str(root / folder.parts[0]) for folder in PACKAGES)
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return {**own, "PYTHONPATH": os.pathsep.join(folders)}


def read_log(log: Sequence[str], edits: Sequence[Edit]) -> Reached:
    """Return what a log says, without tests that failed."""
    seconds, failed, numbers = dict[str, float](), set[str](), dict[str, set[int]]()
    for line in log:
        what, _, test = line.partition(" ")
        if what == "failed":
            failed.add(test)
        elif "." in what:
            seconds[test] = seconds.get(test, 0.0) + float(what)
        else:
            numbers.setdefault(test, set()).add(int(what))
    reached: Reached = {str(edit): {} for edit in edits}
    for test in sorted(seconds.keys() - failed, key=lambda each: (seconds[each], each)):
        for number in numbers.get(test, ()):
            reached[str(edits[number])][test] = round(seconds[test], 3)
    return reached


def with_probes(text: str, lines: Mapping[int, int]) -> str:
    """Return source with probes in front of what stands on `lines`, by the numbers to note."""
    tree, source = ast.parse(text), text.splitlines(keepends=True)
    places = [(at, number) for number, line in lines.items() for at in _places(tree, source, line)]
    for at, number in sorted(places, reverse=True):
        indent = re.match(" *", source[at - 1])[0]  # type: ignore[index]
        probe = f'__import__("fault_probe").note({number})'
        source.insert(at - 1, f"{indent}{probe}\n")
    return "".join(source)


def _places(tree: ast.Module, source: Sequence[str], line: int) -> set[int]:
    """Return the line of the innermost statement around one, or of the first of each function."""
    functions = [
        node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    within = [
        node
        for each in functions
        if each.body[0].lineno <= line <= (each.end_lineno or 0)
        for node in ast.walk(each)
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    told = (each.body[ast.get_docstring(each) is not None :] for each in functions)
    begins = [*map(_begin, within)] or [_begin(body[0]) for body in told if body]
    free = {at for at, column in begins if _may_precede(source[at - 1], column)}
    return {max(free)} if within else free


def _begin(node: ast.stmt) -> tuple[int, int]:
    decorators = getattr(node, "decorator_list", ())
    return min(each.lineno for each in (node, *decorators)), node.col_offset


def _may_precede(line: str, column: int) -> bool:
    return not line[:column].strip() and not line[column:].startswith("elif ")


class _Watch:
    """Files that somebody may open."""

    def __init__(self, files: Sequence[str]) -> None:
        system = ctypes.CDLL(None)
        self._queue = system.inotify_init1(os.O_NONBLOCK)
        self._numbers: dict[int, set[str]] = {}
        for number, _, path in (file.partition("=") for file in files):
            mark = system.inotify_add_watch(self._queue, path.encode(), _OPENED)
            self._numbers.setdefault(mark, set()).add(number)

    def read_opened(self) -> set[str]:
        """Return the numbers of files that were opened since this was asked."""
        found = set[str]()
        with suppress(BlockingIOError):
            while events := os.read(self._queue, 1 << 16):
                for mark, *_ in _EVENT.iter_unpack(events):
                    found |= self._numbers.get(mark, set())
        return found


def _note(*lines: str) -> None:
    with Path(os.environ[LOG]).open("a", encoding="utf-8") as log:
        log.writelines(f"{line}\n" for line in lines)


def pytest_configure(config: pytest.Config) -> None:
    """Begin to watch."""
    config.stash[WATCH] = _Watch(os.environ[FILES].splitlines())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Note which files are opened during a test."""
    watch = item.config.stash[WATCH]
    watch.read_opened()
    done = yield
    _note(*(f"{number} {item.nodeid}" for number in watch.read_opened()))
    return done


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note how long a test took, and whether it failed."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        _note(f"{report.duration:f} {report.nodeid}")
        if report.failed:
            _note(f"failed {report.nodeid}")
