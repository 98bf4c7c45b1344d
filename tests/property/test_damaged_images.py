# SPDX-License-Identifier: Apache-2.0
"""Damaged images are refused or judged: no traceback, no hang, and a status that says which."""

from pathlib import Path

import pytest
from tests.effort import cases
from tests.elf_mutants import damaged, noted, parts_of
from tests.foreign_images import Compiler
from tests.limits import within_limits

from atoll.cli import main

CHIP = """
soc: bare
version: 1
devices: {cpu: {kind: cpu, ISA, stack: {memory: ram, size: 8 KiB}}}
memories:
  flash: {origin: 0x10000, size: 192 KiB, kind: rom, width: 4}
  ram: {origin: 0x40000, size: 128 KiB, kind: ram, width: 4}
pools:
  weights: {memory: flash, role: constants, reach: {cpu: ro}}
  work: {memory: ram, role: workspace, reach: {cpu: rw}}
host: cpu
"""
ISAS = {
    "rv32": "core: riscv, isa: rv32imac",
    "thumb": "core: cortex_m4, isa: armv7e-m",
    "a64": "core: cortex_a53",
}
KIND = "SWITCH"
COUNTS = [cases(20), pytest.param(250, marks=pytest.mark.slow)]


def image(name: str, folder: Path) -> bytes:
    return noted(Compiler("zig", name, "-Os").link(KIND, folder).read_bytes(), ".debug_str")


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("name", ISAS)
@pytest.mark.parametrize("alone", [False, True], ids=["chip", "stack-only"])
def test_damaged_images(
    alone: bool, name: str, count: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    original, path = image(name, tmp_path), tmp_path / "mutant.elf"
    names = {part.name for part in parts_of(original)}
    assert {"header", "programs", "sections", "symbols", ".debug_str"} <= names
    assert name == "a64" or any(part.endswith(".attributes") for part in names)
    chip = tmp_path / "chip.yaml"
    chip.write_text(CHIP.replace("ISA", ISAS[name]))
    words = ["check-image", *(["--stack-only"] if alone else [str(chip)]), str(path)]
    statuses, wrong = set(), []
    for seed in range(count):
        path.write_bytes(damaged(original, seed))
        try:
            with within_limits():
                status = main(words)
        except Exception as fault:  # noqa: BLE001
            wrong.append(f"seed {seed}: {type(fault).__name__}: {fault}")
            continue
        said = capsys.readouterr()
        statuses.add(status)
        if status not in (0, 1) or (status == 0) != ("error[" not in said.err):
            wrong.append(f"seed {seed}: status {status}, {said.err[-300:]}")
        if "E001" in said.err or "Traceback" in said.err:
            wrong.append(f"seed {seed}: {said.err[-400:]}")
    assert not wrong, "\n".join(wrong)
    assert 1 in statuses
