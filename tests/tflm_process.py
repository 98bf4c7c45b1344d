# SPDX-License-Identifier: Apache-2.0
"""TFLM in a process of its own, so that a crash there is an answer and no end of the tests.

TFLM trusts its files: a kernel that reads or writes past a tensor may change what is in memory for
later networks, and end the process with one of these. A network on which the process ends is
therefore asked again, in a new process that has seen no other one.
"""

import atexit
import pickle
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

ARENA_BYTES = 2**20
Array = NDArray[Any]


class RefusedError(RuntimeError):
    """TFLM does not accept a network."""


class TflmProcess:
    """Answers one network after the other; starts with the first one."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def run(
        self,
        network: bytes,
        samples: Sequence[Sequence[Array]],
        outputs: Sequence[int],
        arena_bytes: int = ARENA_BYTES,
    ) -> list[list[Array]]:
        """Return some outputs for each sample, which are run in turn by one interpreter.

        Raises:
            RefusedError: TFLM does not accept the network.
            RuntimeError: it gives a run up, or ends its process on this network alone.
        """
        question = network, [[*sample] for sample in samples], [*outputs], arena_bytes
        answer = self._asked(question) or self._asked(question)
        if answer is None:
            raise RuntimeError("TFLM ends its process on this network")
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        """End the process."""
        if self._process:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _asked(self, question: tuple[object, ...]) -> list[list[Array]] | Exception | None:
        """Return the answer, None if the process ended instead."""
        self._process = self._process or _started()
        assert self._process.stdin
        assert self._process.stdout
        try:
            pickle.dump(question, self._process.stdin)
            self._process.stdin.flush()
            answer: list[list[Array]] | Exception = pickle.load(self._process.stdout)
        except (EOFError, BrokenPipeError, pickle.UnpicklingError):
            self.close()
            return None
        return answer


def _started() -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", "from tests.tflm_process import main; main()"]
    root, pipe = Path(__file__).parents[1], subprocess.PIPE
    return subprocess.Popen(command, cwd=root, stdin=pipe, stdout=pipe)


TFLM = TflmProcess()
"""Shared by all tests of a process."""
atexit.register(TFLM.close)


def allocations(network: bytes, arena_bytes: int) -> str:
    """Return what TFLM prints of what it allocates for a network."""
    code = f"from tests.tflm_process import print_allocations; print_allocations({arena_bytes})"
    command, root = [sys.executable, "-c", code], Path(__file__).parents[1]
    done = subprocess.run(command, cwd=root, input=network, capture_output=True, check=True)
    return (done.stdout + done.stderr).decode()


def print_allocations(arena_bytes: int) -> None:
    """Do so for the network on the standard input."""
    from tflite_micro import runtime

    network = sys.stdin.buffer.read()
    runtime.Interpreter.from_bytes(network, arena_size=arena_bytes).print_allocations()


def _answer(
    network: bytes, samples: Sequence[Sequence[Array]], outputs: Sequence[int], arena_bytes: int
) -> list[list[Array]] | Exception:
    from tflite_micro import runtime

    try:
        interpreter = runtime.Interpreter.from_bytes(network, arena_size=arena_bytes)
    except RuntimeError as fault:
        return RefusedError(str(fault))
    answers = []
    try:
        for sample in samples:
            for index, values in enumerate(sample):
                interpreter.set_input(values, index)
            interpreter.invoke()
            answers.append([np.array(interpreter.get_output(at)) for at in outputs])
    except (RuntimeError, ValueError, IndexError) as fault:
        return fault
    return answers


def _serve(questions: IO[bytes], answers: IO[bytes]) -> None:
    while True:
        try:
            question = pickle.load(questions)
        except EOFError:
            return
        pickle.dump(_answer(*question), answers)
        answers.flush()


def main() -> None:
    """Answer until nobody asks any more."""
    _serve(sys.stdin.buffer, sys.stdout.buffer)
