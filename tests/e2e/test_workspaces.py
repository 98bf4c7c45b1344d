# SPDX-License-Identifier: Apache-2.0
"""W1: what is sized at compile time has an offset in a pool, and the image no allocator call.

What is sized at run time comes from the heap of a pool. No TFLite operator that Atoll knows needs
that, so these tests change a kernel of the digits network and take it all the way to the RTL.
"""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection
from tests.effort import in_gate

from atoll.artifacts.build_tree import build
from atoll.diagnostics.errors import PlanError
from atoll.driver.pipeline import Compiled, compile_file
from atoll.ir.read_module import parse_module
from atoll.ir.tir import IRModule
from atoll.lower import passes
from atoll.lower.to_tir import lower_graph
from atoll.report.explanation import explanation
from atoll.resolve import load_soc
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, Outcome, run_models

DEEP = Path(__file__).parents[1] / "data" / "deep.yaml"
DIGITS = Path(__file__).parents[2] / "examples" / "01_digits" / "digits_int8.tflite"
CORE_SOFTMAX = "devices.npu.params.vector=1"
"""reef has no unit for SOFTMAX, whose kernel has a buffer of its own."""


def symbols_of(elf: Path) -> dict[str, int]:
    with elf.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        return {symbol.name: symbol["st_value"] for symbol in table.iter_symbols()}


def test_w1_static_workspace_is_an_offset_and_the_image_has_no_allocator(tmp_path: Path) -> None:
    """With no buffer allowed on the stack, the kernel's scratch is workspace."""
    soc = load_soc("lagoon", ("devices.cpu.limits.max_stack_alloca_size=0", CORE_SOFTMAX))
    compiled = compile_file(soc, DIGITS)
    scratch = compiled.plan.placements["softmax_9_powers"]
    assert scratch.offset + 40 <= soc.pool(scratch.pool).region.size
    tree = build((compiled,), tmp_path / "built")
    names = symbols_of(tree.firmware.elf)
    assert f"{compiled.graph.name}_run" in names
    assert not [name for name in names if "alloc" in name]


def test_k1_the_image_names_the_stack_of_every_thread(tmp_path: Path) -> None:
    soc = load_soc(DEEP)
    tree = build((compile_file(soc, DIGITS),), tmp_path / "built")
    values = symbols_of(tree.firmware.elf)
    ends = [values[f"atoll_io_stack_{end}"] for end in ("limit", "top")]
    (stack,) = soc.host_cpu.threads
    assert ends == [stack.origin, stack.end]


HEAP = "pools.private.heap=2KiB"
QEMU_CHIP = DIGITS.parents[1] / "08_qemu_machines" / "mps2_an385.yaml"
QEMU_HEAP = "pools.arena.heap=2KiB"
CPUS = [
    pytest.param(
        kind,
        marks=pytest.mark.skipif(
            kind is CpuKind.QEMU and shutil.which("qemu-system-arm") is None,
            reason="qemu-system-arm is not installed",
        ),
    )
    for kind in CpuKind
]
COUNT = "(10 + (sext.i32(x[0]) & 63))"


def run_time_sized(program: IRModule, count: str) -> IRModule:
    """Let the softmax of the digits network ask at run time for the buffer of its powers."""
    text, changes = re.subn(
        r"allocate powers: i32\[10\]", f"allocate powers: i32[{count}]", str(program)
    )
    assert changes == 1
    return parse_module(text)


def compiled_with(
    monkeypatch: pytest.MonkeyPatch, count: str, *overrides: str, chip: str | Path = "lagoon"
) -> Compiled:
    def lower(*arguments: object) -> IRModule:
        return run_time_sized(lower_graph(*arguments), count)  # type: ignore[arg-type]

    on_core = (CORE_SOFTMAX,) if chip == "lagoon" else ()
    with monkeypatch.context() as patch:
        patch.setattr(passes, "lower_graph", lower)
        return compile_file(load_soc(chip, (*on_core, *overrides)), DIGITS)


def compiled_for(monkeypatch: pytest.MonkeyPatch, count: str, cpu: CpuKind) -> Compiled:
    """QEMU runs a chip of one core; every other kind of cores runs lagoon."""
    if cpu is CpuKind.QEMU:
        return compiled_with(monkeypatch, count, QEMU_HEAP, chip=QEMU_CHIP)
    return compiled_with(monkeypatch, count, HEAP)


def run(network: Compiled, cpu: CpuKind, samples: int = 2) -> Outcome:
    images = np.load(DIGITS.parent / "digits_test.npz")["x"][:samples]
    (name,) = network.graph.inputs
    batch = [{name: image.reshape(network.graph.tensor(name).shape)} for image in images]
    kind = AcceleratorKind.RTL if cpu is CpuKind.RTL else AcceleratorKind.MODEL
    return run_models((network,), (batch,), cpu=cpu, accelerator=kind)[0]


@pytest.mark.rtl
@pytest.mark.parametrize("cpu", CPUS)
def test_w1_a_buffer_sized_at_run_time_is_a_block_of_the_pool_that_its_core_reaches(
    monkeypatch: pytest.MonkeyPatch, cpu: CpuKind
) -> None:
    """Two samples need blocks of different size; every layer of both is exact."""
    network = compiled_for(monkeypatch, COUNT, cpu)
    pool = "arena" if cpu is CpuKind.QEMU else "private"
    assert f"powers: i32[{COUNT}] align 4 in global.workspace [{pool}]" in str(network.module)
    assert "softmax_9_powers" not in network.plan.placements
    report = run(network, cpu).report
    assert report.violations == ()
    assert report.passed
    if cpu is CpuKind.RTL:
        stack = report.stack["cpu"]
        assert stack.watermark is not None
        assert stack.bound is not None
        assert 0 < stack.watermark <= stack.bound <= stack.limit


def test_w1_the_image_calls_the_allocator_where_a_kernel_needs_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    network = compiled_with(monkeypatch, COUNT, HEAP)
    names = symbols_of(build((network,), tmp_path / "built").firmware.elf)
    assert {"atoll_workspace_allocate", "atoll_workspace_free", "atoll_heap_private"} <= set(names)
    pool = network.soc.pool("private")
    assert pool.heap_origin + pool.heap == pool.region.end
    assert network.plan.problem.pools[0].name == "private"
    assert network.plan.problem.pools[0].size == pool.region.size - 2048


@pytest.mark.rtl
@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize(
    ("count", "status"),
    in_gate(
        [
            ("select((sext.i32(x[0]) < 127), 512, 10)", -7),
            ("select((sext.i32(x[0]) < 127), 0, 10)", -6),
            ("select((sext.i32(x[0]) < 127), 4294967306:i64, 10:i64)", -7),
        ],
        2,
    ),
    ids=("more than the heap", "nothing", "2^32 + 10"),
)
def test_w1_k7_a_run_returns_what_the_allocator_refused(
    monkeypatch: pytest.MonkeyPatch, count: str, status: int, cpu: CpuKind
) -> None:
    """2^32 + 10 elements do not wrap to 10. Nothing after the refused block runs."""
    outcome = run(compiled_for(monkeypatch, count, cpu), cpu, samples=1)
    assert f"sample 0: the run function returned {status}" in outcome.report.notes
    assert outcome.report.violations == ()
    assert not outcome.report.passed
    changed = {mismatch.tensor for mismatch in outcome.report.mismatches}
    assert changed == {"softmax_9_out"}


def test_w1_c5_explain_says_where_a_buffer_that_is_sized_at_run_time_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = explanation(compiled_with(monkeypatch, COUNT, HEAP))
    text = told.text("softmax_9.powers")
    assert "softmax_9.powers: local, sized at run time, steps 8..8" in text
    assert "scope global.private" in text
    assert "W1: only the run knows its size" in text
    assert "cpu.stack: only constant sizes are on a stack" in text
    assert "shared: no heap that 'cpu' writes" in text
    assert "softmax_9.powers" in told.text(None)
    assert '"size_bytes": null' in json.dumps(told.as_json("softmax_9.powers"))


def test_w1_a_buffer_sized_at_run_time_needs_a_heap(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PlanError, match="buffer 'powers' of kernel 'softmax_9'") as caught:
        compiled_with(monkeypatch, COUNT)
    (fault,) = caught.value.faults
    assert fault.code == "E067"
    assert fault.remedy is not None
    assert "heap: 4 KiB" in fault.remedy
    compiled_with(monkeypatch, COUNT, "pools.shared.heap=4 KiB")
