# SPDX-License-Identifier: Apache-2.0
"""The files through which a campaign and `fault_main.cpp` talk.

A task is lines of words: ``image FILE``, ``limit CYCLES``, ``input ADDRESS HEX``,
``output ADDRESS SIZE`` and ``fault ACTION OFFSET WHERE WHAT``. Each fault has an ``answer``:
whether it befell the chip; how the run ended, and its status; its cycles, and at most how many
there were between two trace events; outputs in hex; then end, status and outputs of a run after it,
or the same again if the first one returned 0 and no bit was flipped. Before the run after a flip
the image is written again.
"""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from atoll.artifacts.samples import Sample
from atoll.driver.pipeline import Compiled
from atoll.records import dataclass
from atoll_sim.faults.kinds import Fault

IMAGE, TASK = "image.bin", "task.txt"
NO_FAULT = "fault none 0 0 0"
ANSWER = "answer"


class End(StrEnum):
    """How a run ended."""

    RETURNED = "returned"
    RESTARTED = "restarted"
    LEFT = "left"
    HUNG = "hung"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What `fault_main.cpp` saw.

    Attributes:
        befell: the fault took place; an error may have met no access.
        status: of the run function, if that returned.
        cycles: of the run.
        longest: cycles between two trace events of it at most.
        outputs: bytes of all output buffers, one after another.
        again: how the last run after it ended, in a chip that was reset or restarted itself.
        again_status, again_outputs: likewise.
    """

    befell: bool
    end: End
    status: int
    cycles: int
    longest: int
    outputs: bytes
    again: End
    again_status: int
    again_outputs: bytes


def write_task(
    folder: Path, compiled: Compiled, sample: Sample, faults: Sequence[Fault], limit: int
) -> None:
    """Write the task of running `faults`, or one run without any, `limit` cycles each at most."""
    lines = [f"image {IMAGE}", f"limit {limit}"]
    for name, values in sample.items():
        lines.append(f"input {compiled.plan.address(name)} {values.tobytes().hex()}")
    for name in compiled.graph.outputs:
        size = compiled.graph.tensor(name).size
        lines.append(f"output {compiled.plan.address(name)} {size}")
    lines += map(_line, faults) if faults else [NO_FAULT]
    (folder / TASK).write_text("".join(f"{line}\n" for line in lines))


def _line(fault: Fault) -> str:
    return f"fault {fault.action} {fault.offset} {fault.where} {fault.what}"


def read_answer(line: str) -> Answer | None:
    """Return the answer that a line of the model has, None if it says something else."""
    first, _, rest = line.partition(" ")
    if first != ANSWER:
        return None
    befell, end, status, cycles, longest, outputs, again, again_status, again_outputs = rest.split()
    return Answer(
        befell=befell == "1",
        end=End(end),
        status=int(status),
        cycles=int(cycles),
        longest=int(longest),
        outputs=bytes.fromhex(outputs),
        again=End(again),
        again_status=int(again_status),
        again_outputs=bytes.fromhex(again_outputs),
    )
