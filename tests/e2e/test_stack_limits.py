"""C6, K1, K2, K5: no limit changes a byte, and watermark <= binary bound <= limit in every run."""

import re
from pathlib import Path

import numpy as np
import pytest

from atoll.errors import PlanError
from atoll.ir.builder import FunctionBuilder
from atoll.ir.tir import Allocate, Direction, Entry, Expr, IRModule, KernelCall, Step, Type
from atoll.ir.verify import verify
from atoll.memory.build_problem import build_problem
from atoll.memory.solve import plan_memory
from atoll.memory.stack_bound import check_stack
from atoll.pipeline import Compiled, compile_file, specialized
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll_sim.run import AcceleratorKind, CpuKind, Outcome, run_compiled

LIMITS = (0, 256, 1024, 4096, 65536)
NETWORKS = ("kws_ref_model", "pretrainedResnet_quant", "vww_96_int8", "ad01_int8")
DEEP = Path(__file__).parents[1] / "data" / "deep.yaml"
DIGITS = Path(__file__).parents[2] / "examples" / "01_digits"


def compiled(model: Path, limit: int) -> Compiled:
    return compile_file(
        load_soc(DEEP, (f"devices.cpu.limits.max_stack_alloca_size={limit}",)), model
    )


def run(network: Compiled, sample: np.ndarray, cpu: CpuKind) -> Outcome:
    name = network.graph.inputs[0]
    data = {name: sample.reshape(network.graph.tensor(name).shape)}
    kind = AcceleratorKind.RTL if cpu is CpuKind.RTL else AcceleratorKind.MODEL
    return run_compiled(network, [data], cpu=cpu, accelerator=kind)


def check_run(network: Compiled, outcome: Outcome, cpu: CpuKind, limit: int) -> bytes:
    """Return the output of a run that must be flawless."""
    report = outcome.report
    assert report.violations == ()
    assert report.mismatches == ()
    assert report.layers_equal == report.layers_compared > 0
    assert network.soc.host_cpu.max_stack_alloca_size.value == limit
    stack = report.stack["cpu"]
    if cpu is CpuKind.RTL:
        assert stack.watermark is not None
        assert stack.bound is not None
        assert 0 < stack.watermark <= stack.bound <= stack.limit
    return outcome.outputs[0][network.graph.outputs[0]].tobytes()


@pytest.mark.parametrize("network", NETWORKS)
def test_c6_every_limit_gives_the_same_bytes_natively(shared_models: Path, network: str) -> None:
    golden = np.load(shared_models / "golden" / f"{network}.npz")
    outputs = set()
    for limit in LIMITS:
        program = compiled(shared_models / f"{network}.tflite", limit)
        outcome = run(program, golden["inputs"][0], CpuKind.NATIVE)
        outputs.add(check_run(program, outcome, CpuKind.NATIVE, limit))
    assert outputs == {golden["outputs_tflm"][0].tobytes()}


@pytest.mark.rtl
def test_c6_k5_every_limit_gives_the_same_bytes_in_rtl() -> None:
    sample = np.load(DIGITS / "digits_test.npz")["x"][0]
    outputs = set()
    for limit in LIMITS:
        program = compiled(DIGITS / "digits_int8.tflite", limit)
        outcome = run(program, sample, CpuKind.RTL)
        outputs.add(check_run(program, outcome, CpuKind.RTL, limit))
    assert len(outputs) == 1


@pytest.mark.rtl
@pytest.mark.slow
@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("network", NETWORKS)
def test_c6_k5_every_network_in_rtl(shared_models: Path, network: str, limit: int) -> None:
    golden = np.load(shared_models / "golden" / f"{network}.npz")
    program = compiled(shared_models / f"{network}.tflite", limit)
    outcome = run(program, golden["inputs"][0], CpuKind.RTL)
    output = check_run(program, outcome, CpuKind.RTL, limit)
    assert output == golden["outputs_tflm"][0].tobytes()


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
    return load_soc("lagoon", ("devices.cpu.limits.max_stack_size=4096", *overrides))


def test_k2_sixty_four_live_buffers_spill_into_the_workspace() -> None:
    """1,023 B each with max_stack_size 4,096: what does not fit becomes planned workspace."""
    soc = chip()
    module = specialized(sixty_four_live_buffers(), soc)
    (bound,) = check_stack(module, soc)
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
    remedy = re.fullmatch(r"set the size of pool 'private' to (\d+) B or more", fault.remedy)
    assert remedy is not None
    enough = chip(f"pools.private.size={remedy[1]}", "memories.sram.size=32 KiB")
    plan_memory(build_problem(specialized(sixty_four_live_buffers(), enough), enough))
