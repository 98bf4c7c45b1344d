# SPDX-License-Identifier: Apache-2.0
"""K2: a limit is refused if, and only if, the linked image may exceed it."""

import random
from pathlib import Path

import pytest

from atoll.artifacts.build_tree import build, part_of
from atoll.bsp.firmware import link_unchecked
from atoll.diagnostics.errors import AtollError, Fault
from atoll.driver.pipeline import Compiled, compile_file
from atoll.resolve import load_soc
from atoll.stack.elf_stack import Program

DIGITS = Path(__file__).parents[2] / "examples" / "01_digits" / "digits_int8.tflite"
CORES = {
    "picorv32": (),
    "ibex": ("devices.cpu.core=ibex",),
    "cv32e40p": ("devices.cpu.core=cv32e40p",),
    "m33": ("devices.cpu.core=cortex_m33", "devices.cpu.isa=armv8-m.main+dsp"),
    "m0plus": ("devices.cpu.core=cortex_m0plus", "devices.cpu.isa=armv6-m"),
}
RESERVE = 1024
MANY = 100
THREAD = (
    "devices.cpu.stack.threads={net: 3 KiB}",
    "devices.cpu.stack.runs=net",
    "devices.npu.params.vector=1",
)
LIMIT = "devices.cpu.limits.threads={net: {max_stack_size: %d}}"


def compiled(core: str, *more: str) -> Compiled:
    return compile_file(load_soc("lagoon", (*CORES[core], *THREAD, *more)), DIGITS)


def need(network: Compiled, folder: Path) -> int:
    """Return what a run takes of its stack by the machine code, whatever the limits are."""
    folder.mkdir()
    (elf,) = link_unchecked(network.soc, (part_of(network),), folder)
    return Program.read(elf).bound("digits_int8_run").bytes + RESERVE


def faults_of(network: Compiled, folder: Path) -> tuple[Fault, ...]:
    try:
        build((network,), folder)
    except AtollError as error:
        return error.faults
    return ()


def hold(core: str, limits: list[int], least: int, folder: Path) -> tuple[int, int]:
    """Hold `atoll build` against the machine code; return how many limits it took and refused."""
    taken = 0
    for limit in limits:
        network = compiled(core, LIMIT % limit)
        faults = faults_of(network, folder / "built")
        if not faults:
            taken += 1
            assert need(network, folder / f"unchecked{limit}") <= limit
            continue
        assert limit < least, f"{limit} B is refused, and {least} B do"
        assert {fault.code for fault in faults} == {"E066"}
        ((key, _),) = {want for fault in faults for want in fault.wants}
        assert key == "devices.cpu.limits.threads.net.max_stack_size"
    return taken, len(limits) - taken


@pytest.mark.parametrize(
    ("core", "count"),
    [
        ("picorv32", 2),
        *(pytest.param(core, MANY, marks=pytest.mark.slow) for core in CORES),
    ],
)
def test_k2_limits_are_exact(core: str, count: int, tmp_path: Path) -> None:
    """Around the least that a program of the network takes: no false alarm, and no miss."""
    least = need(compiled(core, "devices.cpu.limits.max_stack_alloca_size=0"), tmp_path / "least")
    chosen = random.Random(44)
    limits = {least - 1, least, least + 1}
    while len(limits) < count + 3:
        limits.add(chosen.randint(max(RESERVE + 1, least - 200), least + 900))
    taken, refused = hold(core, sorted(limits), least, tmp_path)
    assert taken > 1
    assert refused >= 1
