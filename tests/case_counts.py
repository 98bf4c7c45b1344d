# SPDX-License-Identifier: Apache-2.0
"""Count the cases in which each operator is held against TFLM: ``python -m tests.case_counts``.

What TFLM has no kernel of is held against numpy or real numbers. Cases are drawn, not tried.
"""

import argparse
import contextlib
import io
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.effort import COUNTS

from atoll.ops.registry import COPY, ETHOS_U, JOIN, RELAYOUT, ROWS

MADE = (COPY, RELAYOUT, ROWS, JOIN, ETHOS_U)
"""Kinds that no file has, which are held against networks without them."""

_HERE = Path(__file__).parent
_FOLDERS = (_HERE / "unit" / "ops", _HERE / "unit" / "frontend" / "test_tflite_islands.py")


class _Counting:
    """Makes pytest count, and leave out tests that have no cases."""

    def __init__(self) -> None:
        self.counts = Counter[str]()

    @pytest.hookimpl
    def pytest_configure(self, config: pytest.Config) -> None:
        config.stash[COUNTS] = self.counts

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [each for each in items if "counted" in getattr(each, "fixturenames", ())]


def case_counts(*, full: bool) -> Counter[str]:
    """Return how many cases operators have in `make test-all`, or else in `make test`."""
    counting = _Counting()
    paths = map(str, _FOLDERS)
    arguments = ["-q", "-p", "no:cacheprovider", *([] if full else ["-m", "not slow"]), *paths]
    with contextlib.redirect_stdout(io.StringIO()) as said:
        status = pytest.main(arguments, plugins=[counting])
    if status != pytest.ExitCode.OK:
        raise RuntimeError(said.getvalue())
    return counting.counts


def main(arguments: Sequence[str] | None = None) -> None:
    """Print how many cases each operator has in `make test`, and in `make test-all`."""
    parser = argparse.ArgumentParser(prog="python -m tests.case_counts", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    chosen = parser.parse_args(arguments)
    normal, full = (case_counts(full=each) for each in (False, True))
    if chosen.json:
        print(json.dumps({"test": normal, "test-all": full}))
        return
    for code in sorted(full):
        print(f"{normal[code]:>7,} {full[code]:>7,} {code}")


if __name__ == "__main__":
    main()
