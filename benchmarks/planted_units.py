# SPDX-License-Identifier: Apache-2.0
"""Bugs planted in a function unit and in a core's adapter, and what their kits say of them."""

import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from atoll.description.core_files import find_core
from atoll.diagnostics.errors import AtollError
from atoll.diagnostics.progress import silent
from atoll.utils.scratch import temporary_folder
from atoll_sim.accelerator_test.unit_kit import run_unit_test
from atoll_sim.chip.sources import RTL
from atoll_sim.core_test.core_kit import run_core_test

EXAMPLE = Path(__file__).parents[1] / "examples" / "09_custom_instruction"
ADAPTER = "atoll_picorv32.sv"


@dataclass(frozen=True, slots=True)
class UnitBug:
    """A change of RTL; `right` occurs once in its file."""

    kind: str
    name: str
    right: str
    wrong: str


UNIT = (
    UnitBug("never answers", "takes nothing", "= !rvalid_q || rready_i;", "= 1'b0;"),
    UnitBug("never answers", "answers nothing", "rvalid_q <= valid_i;", "rvalid_q <= 1'b0;"),
    UnitBug("handshake", "answer withdrawn", "else if (ready_o) begin", "else begin"),
    UnitBug("handshake", "answer overwritten", "= !rvalid_q || rready_i;", "= 1'b1;"),
    UnitBug("handshake", "result moves", "= result_q;", "= rready_i ? result_q : ~result_q;"),
    UnitBug("lost or repeated", "answers twice", "<= valid_i;", "<= valid_i || rvalid_q;"),
    UnitBug("spurious answer", "answers unasked", "rvalid_q <= valid_i;", "rvalid_q <= 1'b1;"),
    UnitBug("wrong reset value", "valid at reset", "rvalid_q <= 1'b0;", "rvalid_q <= 1'b1;"),
    UnitBug("length", "three products", "i < 4", "i < 3"),
    UnitBug("wrong element", "second unsigned", "16'($signed(b_i[8*i+:8]))", "16'(b_i[8*i+:8])"),
)
CORE = (
    UnitBug("length", "loads name all bytes", "mem_instr ? 4'hf", "1'b1 ? 4'hf"),
    UnitBug("interrupt missing", "lines moved", "(irq_i)", "({irq_i[30:0], 1'b0})"),
    UnitBug("interrupt missing", "handler elsewhere", "ResetAddress + 32'h10", "ResetAddress"),
    UnitBug("handshake", "asks until answered", "= mem_valid && !issued_q;", "= mem_valid;"),
    UnitBug("completion", "ends when taken", "= issued_q && rvalid_i;", "= issued_q;"),
    UnitBug("lost write", "writes are reads", "= mem_wstrb != '0;", "= 1'b0;"),
    UnitBug("wrong element", "lane of answers", "(rdata_i[32*lane+:32])", "(rdata_i[31:0])"),
    UnitBug(
        "wrong element", "lane of bytes", "<< (4 * lane);\n  assign instr", ";\n  assign instr"
    ),
)


def change(text: str, bug: UnitBug) -> str:
    """Return RTL with a bug; raise ValueError if its text is not there just once."""
    if text.count(bug.right) != 1:
        raise ValueError(f"{bug.name}: its text is there {text.count(bug.right)} times")
    return text.replace(bug.right, bug.wrong)


def find_reason(error: AtollError) -> str:
    """Return the sentence of an error that says most: an assertion that failed, or its first."""
    lines = str(error).splitlines()
    return next((each for each in lines if "Assertion failed" in each), lines[0])


def judge_unit(bug: UnitBug | None) -> Iterator[str]:
    """Yield what `atoll accelerator test` says of dot4 with a bug, or without."""
    with temporary_folder() as folder:
        path = folder / "unit" / "dot4.yaml"
        shutil.copytree(EXAMPLE, path.parent)
        source = path.with_suffix(".sv")
        if bug:
            source.write_text(change(source.read_text(), bug))
        sys.modules.pop("dot4", None)
        sys.path.insert(0, str(path.parent))
        try:
            done = run_unit_test(path, operands=4, seed=1, progress=silent)
        except AtollError as error:
            yield find_reason(error)
            return
        finally:
            sys.path.remove(str(path.parent))
    for trial in done.trials:
        yield from (f"dot4, {trial.name}: {fault}" for fault in trial.faults)


def judge_core(bug: UnitBug | None) -> Iterator[str]:
    """Yield what `atoll core test` says of PicoRV32 whose adapter has a bug, or none."""
    with temporary_folder() as folder:
        description = find_core("picorv32", "", folder, None).read_text()
        (folder / "core.yaml").write_text(
            description.replace("sources: [atoll_", "sources: [./atoll_")
        )
        text = (RTL / ADAPTER).read_text()
        (folder / ADAPTER).write_text(change(text, bug) if bug else text)
        try:
            done = run_core_test(str(folder / "core.yaml"), "rv32imc")
        except AtollError as error:
            yield find_reason(error)
            return
    for trial, faults in done.trials:
        yield from (f"picorv32, {trial.name}: {fault}" for fault in faults)


def main() -> None:
    """Print a row for each bug, and how many were found."""
    found = 0
    print("| RTL | bug | kind | message |\n|---|---|---|---|", flush=True)
    for name, bugs, judge in (("dot4", UNIT, judge_unit), ("picorv32", CORE, judge_core)):
        for each in (None, *bugs):
            said = next(judge(each), "")
            if each is None:
                if said:
                    raise ValueError(f"{name} without a bug: {said}")
                continue
            found += bool(said)
            row = (name, each.name, each.kind, said or "**nothing**")
            print(f"| {' | '.join(row)} |", flush=True)
    print(f"\n{found} of {len(UNIT) + len(CORE)} found")


if __name__ == "__main__":
    main()
