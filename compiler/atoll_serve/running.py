# SPDX-License-Identifier: Apache-2.0
"""Runs beside the server, each in a process of its own that ends with it."""

import base64
import json
import pickle
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Literal, cast

import atoll
from atoll.diagnostics.errors import AtollError
from atoll.diagnostics.progress import line, report_to
from atoll.diagnostics.shown import json_text
from atoll.records import dataclass
from atoll.utils.children import LONGEST, start
from atoll.utils.files import write_text
from atoll.utils.scratch import temporary_folder
from atoll_serve.drawing import Asked

CPUS = ("native", "iss", "rtl")
MAIN = "from atoll_serve.running import main; main()"


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended: with a file of results, or why there is none."""

    result: Path | None
    why: str = ""


def run_apart(asked: Asked, cpu: str, kept: ExitStack, tell: Callable[[str], None]) -> Ended:
    """Run the networks that were asked for in a process of its own.

    Args:
        asked: what to run.
        cpu: who plays the cores; one of `CPUS`.
        kept: keeps the file with the result.
        tell: is told each line of progress.
    """
    result = kept.enter_context(temporary_folder()) / "run.json"
    words = base64.b64encode(pickle.dumps((asked, cpu, result))).decode()
    with start((sys.executable, "-c", MAIN, words), seconds=LONGEST) as child:
        for line in child.stdout:
            tell(line.strip())
        status = child.wait()
    if not result.exists():
        return Ended(None, f"the run broke off with status {status}")
    found = json.loads(result.read_text(encoding="utf-8"))
    if isinstance(found, dict) and "faults" in found:
        return Ended(None, "\n".join(each["message"] for each in found["faults"]))
    return Ended(result)


def main() -> None:
    """Run what the last argument says: print progress, write the result into a file."""
    words: tuple[Asked, str, Path] = pickle.loads(base64.b64decode(sys.argv[-1]))
    asked, cpu, result = words
    with report_to(lambda what, /, *, left=None: print(line(what, left), flush=True)):
        try:
            made = asked.compile()
            assert isinstance(made, atoll.Compilation)
            kind = cast("Literal['native', 'iss', 'rtl']", cpu)
            found = atoll.run(made, cpu=kind, accelerator="model" if cpu == "native" else None)
        except AtollError as error:
            write_text(result, json_text(error.to_json()))
        else:
            write_text(result, json_text(found.to_json()))
