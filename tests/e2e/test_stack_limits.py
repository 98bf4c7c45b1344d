# SPDX-License-Identifier: Apache-2.0
"""C6, K1, K2, K5: no limit changes a byte, and watermark <= binary bound <= limit in every run.

A limit is tried as both of K1: as `max_stack_alloca_size`, where every value gives a program, and
as `max_stack_size`, where a value that no program can keep to is refused.
"""

import re
from pathlib import Path

import numpy as np
import pytest
from tests.effort import in_gate
from tests.passes import specialized

from atoll.artifacts.build_tree import build
from atoll.diagnostics.errors import AtollError, PlanError
from atoll.driver.pipeline import Compiled, compile_file, compile_graph
from atoll.ir.builder import FunctionBuilder
from atoll.ir.read_module import parse_module
from atoll.ir.tir import Allocate, Direction, Entry, Expr, IRModule, KernelCall, Step, Type
from atoll.ir.verify import verify
from atoll.lower import passes
from atoll.lower.to_tir import lower_graph
from atoll.memory.build_problem import build_problem
from atoll.memory.solve import plan_memory
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll.stack.stack_bound import stack_bounds
from atoll_sim.accelerator_test.accelerator_kit import NOWHERE
from atoll_sim.core_calibration.random_layers import random_network
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, Outcome, run_models

LIMITS = (0, 256, 1024, 4096, 65536)
ENOUGH = LIMITS[2:]
NETWORKS = ("kws_ref_model", "pretrainedResnet_quant", "vww_96_int8", "ad01_int8")
DEEP = Path(__file__).parents[1] / "data" / "deep.yaml"
DIGITS = Path(__file__).parents[2] / "examples" / "01_digits"


def compiled(model: Path, limit: int) -> Compiled:
    return compile_file(
        load_soc(DEEP, (f"devices.cpu.limits.max_stack_alloca_size={limit}",)), model
    )


def within(model: Path, total: int) -> Compiled:
    """Compile with `max_stack_size`; nothing is kept for interrupts, so that 1,024 B can do."""
    overrides = ("devices.cpu.stack.interrupts=0", f"devices.cpu.limits.max_stack_size={total}")
    return compile_file(load_soc(DEEP, overrides), model)


def run(network: Compiled, sample: np.ndarray, cpu: CpuKind) -> Outcome:
    name = network.graph.inputs[0]
    data = {name: sample.reshape(network.graph.tensor(name).shape)}
    kind = AcceleratorKind.RTL if cpu is CpuKind.RTL else AcceleratorKind.MODEL
    return run_models((network,), ([data],), cpu=cpu, accelerator=kind)[0]


def check_run(network: Compiled, outcome: Outcome, cpu: CpuKind) -> bytes:
    """Return the output of a run that must be flawless and within its stack."""
    report = outcome.report
    assert report.violations == ()
    assert report.mismatches == ()
    assert report.layers_equal == report.layers_compared > 0
    stack = report.stack["cpu"]
    (planned,) = stack_bounds(network.module, network.soc)
    assert 0 < planned.bound <= stack.limit == network.soc.host_cpu.max_stack_size.value
    if cpu is CpuKind.RTL:
        assert stack.watermark is not None
        assert stack.bound is not None
        assert 0 < stack.watermark <= stack.bound <= stack.limit
    return outcome.outputs[0][network.graph.outputs[0]].tobytes()


@pytest.mark.parametrize("network", in_gate(NETWORKS, 0, 3))
def test_c6_every_limit_gives_the_same_bytes_natively(shared_models: Path, network: str) -> None:
    golden = np.load(shared_models / "golden" / f"{network}.npz")
    outputs = set()
    for limit in LIMITS:
        program = compiled(shared_models / f"{network}.tflite", limit)
        outcome = run(program, golden["inputs"][0], CpuKind.NATIVE)
        outputs.add(check_run(program, outcome, CpuKind.NATIVE))
    assert outputs == {golden["outputs_tflm"][0].tobytes()}


@pytest.mark.rtl
@pytest.mark.slow
def test_c6_k5_every_limit_gives_the_same_bytes_in_rtl() -> None:
    sample = np.load(DIGITS / "digits_test.npz")["x"][0]
    outputs = set()
    for limit in LIMITS:
        program = compiled(DIGITS / "digits_int8.tflite", limit)
        outcome = run(program, sample, CpuKind.RTL)
        outputs.add(check_run(program, outcome, CpuKind.RTL))
    assert len(outputs) == 1


@pytest.mark.rtl
@pytest.mark.slow
@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("network", NETWORKS)
def test_c6_k5_every_network_in_rtl(shared_models: Path, network: str, limit: int) -> None:
    golden = np.load(shared_models / "golden" / f"{network}.npz")
    program = compiled(shared_models / f"{network}.tflite", limit)
    outcome = run(program, golden["inputs"][0], CpuKind.RTL)
    output = check_run(program, outcome, CpuKind.RTL)
    assert output == golden["outputs_tflm"][0].tobytes()


@pytest.mark.rtl
@pytest.mark.slow
@pytest.mark.parametrize("total", ENOUGH)
@pytest.mark.parametrize("network", NETWORKS)
def test_k1_k5_every_network_keeps_to_its_total_in_rtl(
    shared_models: Path, network: str, total: int
) -> None:
    golden = np.load(shared_models / "golden" / f"{network}.npz")
    program = within(shared_models / f"{network}.tflite", total)
    output = check_run(program, run(program, golden["inputs"][0], CpuKind.RTL), CpuKind.RTL)
    assert output == golden["outputs_tflm"][0].tobytes()


@pytest.mark.rtl
def test_k1_k5_every_total_that_is_enough_gives_the_same_bytes_in_rtl() -> None:
    sample = np.load(DIGITS / "digits_test.npz")["x"][0]
    outputs = set()
    for total in ENOUGH:
        program = within(DIGITS / "digits_int8.tflite", total)
        outputs.add(check_run(program, run(program, sample, CpuKind.RTL), CpuKind.RTL))
    assert len(outputs) == 1


def test_k1_no_total_at_all_is_refused() -> None:
    with pytest.raises(AtollError) as caught:
        within(DIGITS / "digits_int8.tflite", 0)
    assert [fault.code for fault in caught.value.faults] == ["E069"]


def test_k1_k2_a_total_that_is_too_small_is_refused_with_one_that_will_do(tmp_path: Path) -> None:
    """What is linked decides, and the remedy is exact: a byte less is refused as well."""
    model = DIGITS / "digits_int8.tflite"
    with pytest.raises(PlanError) as caught:
        build((within(model, 16),), tmp_path)
    (fault,) = caught.value.faults
    assert (fault.code, fault.remedy is None) == ("E066", False)
    least = re.fullmatch(r"set 'devices.cpu.limits.max_stack_size' to (\d+) B", fault.remedy or "")
    assert least is not None
    build((within(model, int(least[1])),), tmp_path)
    with pytest.raises(PlanError):
        build((within(model, int(least[1]) - 1),), tmp_path)


def test_k1_limit_zero_leaves_no_kernel_buffer_on_the_stack() -> None:
    none = compiled(DIGITS / "digits_int8.tflite", 0)
    assert "global.stack" not in str(none.module)
    assert "softmax_9_powers" in none.plan.placements
    assert "global.stack" in str(compiled(DIGITS / "digits_int8.tflite", 256).module)


def sixty_four_live_buffers(size: int = 1023) -> IRModule:
    """Make a kernel whose 64 buffers are all live at its end."""
    builder = FunctionBuilder("hoard")
    x = builder.buffer("x", Type.I8, 4, Direction.READ)
    y = builder.buffer("y", Type.I8, 4, Direction.WRITE)
    with builder.loop("i", 0, 4) as i:
        value: Expr = x[i]
        for number in range(64):
            scratch = builder.allocate(f"t{number}", Type.I8, size, scope="global")
            scratch[i] = value
            value = scratch[i]
        y[i] = value
    names = ("image", "result")
    buffers = tuple(
        Allocate(
            buffer=name,
            type=Type.I8,
            elements=4,
            align=16,
            scope="global.workspace",
            pools=("private",),
        )
        for name in names
    )
    step = Step(
        operator="hoard_0",
        number=0,
        device="cpu",
        reads=("image",),
        writes=("result",),
        action=KernelCall("hoard", names),
    )
    entry = Entry(
        inputs=names[:1], outputs=names[1:], allocations=buffers, constants=(), steps=(step,)
    )
    module = IRModule("m", (builder.kernel(),), entry)
    verify(module)
    return module


def chip(*overrides: str) -> ResolvedSoc:
    """Return a chip whose reef has no unit for SOFTMAX, which is the core's then."""
    limited = ("devices.cpu.limits.max_stack_size=4096", "devices.npu.params.vector=1")
    return load_soc("lagoon", (*limited, *overrides))


def test_k2_sixty_four_live_buffers_spill_into_the_workspace() -> None:
    """1,023 B each with max_stack_size 4,096: what does not fit becomes planned workspace."""
    soc = chip()
    module = specialized(sixty_four_live_buffers(), soc)
    (bound,) = stack_bounds(module, soc)
    assert bound.bound <= 4096 < 64 * 1023
    plan = plan_memory(build_problem(module, soc))
    moved = [name for name in plan.placements if name.startswith("hoard_0_t")]
    stayed = str(module).count("in global.stack")
    assert len(moved) + stayed == 64
    assert stayed == (4096 - 1024 - 512 - 192) // 1024
    assert {plan.placements[name].pool for name in moved} <= {"private", "shared"}


def test_k2_sixty_four_live_buffers_that_fit_nowhere_are_refused_with_a_remedy() -> None:
    soc = chip("pools.private.size=16 KiB", "memories.sram.size=32 KiB")
    module = specialized(sixty_four_live_buffers(), soc)
    with pytest.raises(PlanError) as caught:
        plan_memory(build_problem(module, soc), ["hoard_0"])
    fault = caught.value.faults[0]
    assert fault.code == "E062"
    assert "at step 0 (hoard_0)" in fault.message
    assert fault.remedy is not None
    remedy = re.fullmatch(r"set 'pools.private.size' to (\d+) B or more", fault.remedy)
    assert remedy is not None
    enough = chip(f"pools.private.size={remedy[1]}", "memories.sram.size=32 KiB")
    plan_memory(build_problem(specialized(sixty_four_live_buffers(), enough), enough))


def hoarding(program: IRModule) -> IRModule:
    """Pass what the last kernel of the digits network reads through 64 buffers live at once."""
    head, function, body = re.split(r"(function @softmax_9\(x: i8\[10\] read,.*\n)", str(program))
    kernel, entry = body.split("\n}\n", 1)
    hoard = "".join(f"allocate t{n}: i8[1023] align 1 in global\n" for n in range(64))
    moves = ["t0[n] = x[n]", *(f"t{n}[n] = t{n - 1}[n]" for n in range(1, 64))]
    # The second pass reads all 64 once more: each is live while the others are written.
    again = "".join(
        f"t63[n] = trunc.i8(max(sext.i32(t63[n]), sext.i32(t{n}[n])))\n" for n in range(63)
    )
    loops = f"for n in 0 .. 10 {{\n{chr(10).join(moves)}\n}}\nfor n in 0 .. 10 {{\n{again}}}\n"
    kernel = kernel.replace("x[i", "t63[i")
    return parse_module(f"{head}{function}{hoard}{loops}{kernel}\n}}\n{entry}")


def hoarding_digits(monkeypatch: pytest.MonkeyPatch, *overrides: str) -> Compiled:
    monkeypatch.setattr(passes, "lower_graph", lambda *rest: hoarding(lower_graph(*rest)))
    network = compile_file(chip(*overrides), DIGITS / "digits_int8.tflite")
    monkeypatch.undo()
    return network


@pytest.mark.rtl
def test_k2_a_network_with_sixty_four_live_buffers_runs_within_its_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The whole way: what the stack cannot take is in a pool, and the linked image says so too."""
    network = hoarding_digits(monkeypatch)
    spilled = [name for name in network.plan.placements if re.fullmatch(r"softmax_9_t\d+", name)]
    assert len(spilled) == 64 - (4096 - 1024 - 512 - 192) // 1024
    outcome = run(network, np.load(DIGITS / "digits_test.npz")["x"][0], CpuKind.RTL)
    check_run(network, outcome, CpuKind.RTL)
    assert outcome.report.stack["cpu"].limit == 4096


@pytest.mark.slow
def test_k2_a_network_whose_live_buffers_fit_nowhere_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    small = ("pools.private.size=16 KiB", "memories.sram.size=32 KiB")
    with pytest.raises(PlanError, match="softmax_9") as caught:
        hoarding_digits(monkeypatch, *small)
    (fault,) = caught.value.faults
    assert fault.code == "E062"
    assert fault.remedy is not None
    enough = re.fullmatch(r"set 'memories.sram.size' to (\d+ KiB)", fault.remedy)
    assert enough is not None
    hoarding_digits(monkeypatch, small[0], f"memories.sram.size={enough[1]}")


@pytest.mark.slow
def test_a_loop_that_writes_above_a_kernels_stack_in_no_turn_is_bounded(tmp_path: Path) -> None:
    """Its first turn would, in a branch that this turn does not take."""
    compiled = compile_graph(load_soc("litex"), random_network(3885), NOWHERE)
    assert build([compiled], tmp_path / "build").firmware.elf.is_file()
