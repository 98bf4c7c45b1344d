# SPDX-License-Identifier: Apache-2.0
"""Another implementation in a process of its own: a crash there is an answer, and ends nothing.

TFLM trusts its files: a kernel may read or write past a tensor, and end the process it is in.
"""

import pickle
import signal
import sys
from pathlib import Path
from typing import Any

from atoll.plugins.parts import load
from atoll.utils.children import run
from atoll.utils.scratch import temporary_folder

_QUESTION, _ANSWER = "question", "answer"


class NoAnswerError(RuntimeError):
    """The implementation refuses what it is given, or its process ended; the text says which."""


def ask(function: str, *given: object) -> Any:
    """Return what a function returns, called in a new process.

    Args:
        function: its module and name, such as ``package.module:name``.
        given: its arguments.

    Raises:
        NoAnswerError: it raised one, or the process ended without an answer.
        ToolchainError: E100, it takes too long.
    """
    with temporary_folder() as folder:
        (folder / _QUESTION).write_bytes(pickle.dumps((function, given)))
        done = run([sys.executable, "-m", __name__, str(folder)])
        answer = folder / _ANSWER
        if done.returncode or not answer.is_file():
            raise NoAnswerError(f"it ended its process with {_status(done.returncode)}")
        value = pickle.loads(answer.read_bytes())
    if isinstance(value, NoAnswerError):
        raise value
    return value


def _status(code: int) -> str:
    names = {-each.value: each.name for each in signal.Signals}
    return names.get(code, f"status {code}")


def main(folder: Path) -> None:
    """Answer the question in a folder."""
    function, given = pickle.loads((folder / _QUESTION).read_bytes())
    try:
        value = load(function)(*given)
    except NoAnswerError as fault:
        value = NoAnswerError(str(fault))
    made = folder / f"{_ANSWER}.part"
    made.write_bytes(pickle.dumps(value))
    made.rename(folder / _ANSWER)


if __name__ == "__main__":
    from atoll_sim.oracle import apart  # its classes are those of the module that asks

    apart.main(Path(sys.argv[1]))
