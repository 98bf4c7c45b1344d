# SPDX-License-Identifier: Apache-2.0
"""Another implementation in a process of its own: a crash there is an answer, and ends nothing.

TFLM trusts its files: a kernel may read or write past a tensor, and end the process it is in.
So may onnxruntime: it is as large, and written in C++.
"""

import pickle
import signal
import sys
from typing import Any

from atoll.utils.children import run
from atoll.utils.scratch import temporary_folder

QUESTION, ANSWER = "question", "answer"
_CHILD = "atoll_sim.oracle.answers"


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
        (folder / QUESTION).write_bytes(pickle.dumps((function, given)))
        done = run([sys.executable, "-m", _CHILD, str(folder)])
        answer = folder / ANSWER
        if done.returncode or not answer.is_file():
            raise NoAnswerError(f"it ended its process with {_status(done.returncode)}")
        value = pickle.loads(answer.read_bytes())
    if isinstance(value, NoAnswerError):
        raise value
    return value


def _status(code: int) -> str:
    names = {-each.value: each.name for each in signal.Signals}
    return names.get(code, f"status {code}")
