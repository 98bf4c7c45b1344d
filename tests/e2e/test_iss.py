# SPDX-License-Identifier: Apache-2.0
"""Instruction-set simulation: RTL's firmware, with the same bytes and the same findings."""

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks.instructions import counts_of
from tests.cores import ON_ISS
from tests.effort import in_gate
from tests.requests import load_requests

from atoll.artifacts.build_tree import build
from atoll.artifacts.samples import random_sample
from atoll.cli import main
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file, with_plan
from atoll.memory.problem import Placement
from atoll.ops.registry import kind_of
from atoll.report.result import RunReport
from atoll.resolve import load_soc
from atoll.resolve.soc import Access, Pool, ResolvedSoc
from atoll_sim.build.model import build_model
from atoll_sim.chip.memory_map import windows_of
from atoll_sim.iss.engines import make_models
from atoll_sim.iss.iss_run import simulate as simulate_iss
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models
from atoll_sim.simulate.rtl_run import request_for
from atoll_sim.simulate.session import simulate
from atoll_sim.trace.findings import violations
from atoll_sim.trace.simulation import SimResult, Stop

pytest.importorskip("unicorn")

ROOT = Path(__file__).parents[2]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
NETWORKS = ("kws_ref_model", "pretrainedResnet_quant", "vww_96_int8", "ad01_int8")
VIOLATION = -9
SLOW = pytest.mark.slow
SAMPLES = 2


CORE_ADDS = "devices.npu.params.vector=0"
CORE_SOFTMAX = "devices.npu.params.vector=1"
"""Other tests that build RTL leave the softmax to the core as well."""
"""Reef has no unit for elements."""


def settings(core: str) -> tuple[str, ...]:
    """Return what makes lagoon a chip with `core`."""
    return (f"devices.cpu.core={core}", f"devices.cpu.isa={ON_ISS[core]}")


@pytest.mark.parametrize(
    ("core", "isa"),
    [
        *(pytest.param(*each, marks=[SLOW] * (each[0] == "cortex_m23")) for each in ON_ISS.items()),
        ("riscv", "rv64imac"),
    ],
)
def test_digits_on_each_core(core: str, isa: str, capsys: pytest.CaptureFixture[str]) -> None:
    chosen = (f"devices.cpu.core={core}", f"devices.cpu.isa={isa}", CORE_ADDS)
    words = [word for setting in chosen for word in ("--set", setting)]
    options = ["--cpu", "iss", "--accelerator", "model", "--json", *words]
    assert main(["run", "lagoon", str(DIGITS), *options]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["bit_exact"] is True
    assert report["layers_compared"] == report["layers_equal"] == 10
    assert report["placement"]["violations"] == []
    assert report["placement"]["accesses"] > 8_000
    stack = report["stack"]["cpu"]
    assert 0 < stack["watermark_bytes"] <= stack["bound_bytes"] <= stack["limit_bytes"]
    layers = {layer["operator"]: layer for layer in report["cycles"]["by_layer"]}
    assert layers["add_3"]["instructions"] > 8_000
    assert layers["conv_2d_0"]["instructions"] < 1_000, "the host sleeps meanwhile"
    assert layers["conv_2d_0"]["worked"] > 800


@pytest.mark.parametrize("network", in_gate(NETWORKS, 0, 3))
@pytest.mark.parametrize(
    "core",
    ["picorv32", *(pytest.param(f"cortex_m{n}", marks=SLOW) for n in ("0plus", 4, 33))],
)
def test_networks_with_everything_on_the_core(shared_models: Path, network: str, core: str) -> None:
    compiled = compile_file(
        load_soc("lagoon", settings(core)),
        shared_models / f"{network}.tflite",
        BuildOptions(accelerators=False),
    )
    golden = np.load(shared_models / "golden" / f"{network}.npz")
    name = compiled.graph.inputs[0]
    sample = {name: golden["inputs"][0].reshape(compiled.graph.tensor(name).shape)}
    (outcome,) = run_models((compiled,), ([sample],), cpu=CpuKind.ISS)
    assert outcome.report.passed
    (result,) = outcome.outputs[0].values()
    assert result.tobytes() == golden["outputs_tflm"][0].tobytes()


@pytest.mark.parametrize(
    ("core", "isa"), in_gate([("picorv32", "rv32imc"), ("cortex_m33", "armv8-m.main+dsp")], 0)
)
def test_kernels_run_fewer_instructions_than_a_plain_loop_nest(core: str, isa: str) -> None:
    """What `make bench` counts; the digits network has small layers."""
    soc = load_soc("lagoon", (f"devices.cpu.core={core}", f"devices.cpu.isa={isa}"))
    counts = list(counts_of(DIGITS, soc))
    assert [count.kind for count in counts] == [
        "conv_2d",
        "depthwise_conv_2d",
        "conv_2d 1x1",
        "depthwise_conv_2d",
        "conv_2d 1x1",
        "fully_connected",
    ]
    assert all(0 < count.macs < count.ours < 0.75 * count.plain for count in counts), counts


MOST = {
    "picorv32": {"conv_2d_2": 3.4, "depthwise_conv_2d_1": 4.8, "add_3": 9.9},
    "cortex_m0plus": {"conv_2d_2": 6.7, "depthwise_conv_2d_1": 11.8, "add_3": 15.1},
    "cortex_m3": {"conv_2d_2": 3.0, "depthwise_conv_2d_1": 3.8, "add_3": 6.3},
}
"""Instructions of layers for each multiply-accumulate or element. More of them: sums are in memory,
or limits cost jumps."""


@pytest.mark.parametrize("core", in_gate(MOST, 0, 1))
def test_registers_hold_the_sums(core: str) -> None:
    compiled = compile_file(
        load_soc("lagoon", settings(core)), DIGITS, BuildOptions(accelerators=False)
    )
    (outcome,) = run_models((compiled,), (random_sample(compiled.graph),), cpu=CpuKind.ISS)
    layers = {layer.operator: layer for layer in outcome.report.by_layer}
    for op in compiled.graph.operators:
        if op.name in MOST[core]:
            macs = kind_of(op).features(op, compiled.graph)["macs"]
            units = macs or compiled.graph.results(op)[0].elements
            assert (layers[op.name].instructions or 0) / units < MOST[core][op.name], op.name


@pytest.mark.slow
def test_cores_of_64_bits_beside_reef_and_ripple(shared_models: Path) -> None:
    """Two of them, with mailboxes, two accelerators and a DMA engine."""
    chosen = [f"devices.{d}.{k}" for d in ("cpu", "dsp") for k in ("core=riscv", "isa=rv64gc")]
    compiled = compile_file(load_soc("twin", chosen), shared_models / "kws_ref_model.tflite")
    (outcome,) = run_models((compiled,), (random_sample(compiled.graph),), cpu=CpuKind.ISS)
    assert outcome.report.passed
    assert {layer.device for layer in outcome.report.by_layer} >= {"cpu", "npu_large", "npu_small"}


def ran(soc: ResolvedSoc, *wishes: str) -> RunReport:
    """Return the report of digits, which passed."""
    options = BuildOptions(requests=load_requests(None, wishes))
    compiled = compile_file(soc, DIGITS, options)
    samples = random_sample(compiled.graph) * SAMPLES
    (outcome,) = run_models(
        (compiled,), (samples,), cpu=CpuKind.ISS, accelerator=AcceleratorKind.MODEL
    )
    report = outcome.report
    assert (report.mismatches, report.violations, report.notes) == ((), (), ())
    return report


def test_cores_and_engines_of_twin_have_their_own_clocks() -> None:
    """Two cores, two accelerators and a DMA engine: mailboxes, jobs beside other work.

    The slower core takes its cycles in time, while the host wakes again and again to ask for it.
    """
    reports = [
        ran(load_soc("twin", [f"devices.dsp.clock={clock}"]), "add_3=dsp")
        for clock in ("100 MHz", "31.3 MHz")
    ]
    for report in reports:
        assert {layer.device for layer in report.by_layer} >= {"cpu", "dsp", "npu_large"}
    same, slower = (
        next(layer for layer in report.by_layer if layer.operator == "add_3") for report in reports
    )
    assert (slower.clock, slower.host_clock) == (31_300_000, 100_000_000)
    # The slower one has not quite left its start-up code when it is asked.
    assert slower.device_cycles == pytest.approx(same.device_cycles, rel=0.1)
    assert slower.worked == pytest.approx(same.worked * 100 / 31.3, rel=0.1)


def test_three_clocks() -> None:
    """Cycles of engines become cycles of the host by their clocks."""
    shore = str(ROOT / "tests" / "data" / "shore.yaml")
    layers = ran(load_soc(shore, ("devices.npu.params.vector=1",))).by_layer
    clocks = {layer.device: layer.clock for layer in layers}
    assert clocks == {"cpu": 160_000_000, "npu": 4 * 10**8, "dma": 2 * 10**8}


OWN_CODE_MEMORY = """\
extends: lagoon
devices:
  cpu: {code: {memory: itcm, size: 64 KiB}}
memories:
  itcm: {origin: 0x0800_0000, size: 64 KiB, kind: ram, width: 4}
"""
"""The core waits for no flash that the accelerator reads at the same time."""


@pytest.mark.rtl
@pytest.mark.slow
def test_accelerators_in_rtl_take_the_cycles_that_they_take_on_the_chip(tmp_path: Path) -> None:
    (tmp_path / "chip.yaml").write_text(OWN_CODE_MEMORY)
    compiled = compile_file(load_soc(tmp_path / "chip.yaml"), DIGITS)
    samples = random_sample(compiled.graph)
    reports = {
        cpu: run_models((compiled,), (samples,), cpu=cpu, accelerator=AcceleratorKind.RTL)[0].report
        for cpu in (CpuKind.ISS, CpuKind.RTL)
    }
    assert all(report.passed for report in reports.values())
    by_layer = {
        cpu: {layer.operator: layer for layer in report.by_layer if layer.device == "npu"}
        for cpu, report in reports.items()
    }
    assert len(by_layer[CpuKind.RTL]) == 9
    # Before the first one the driver starts the engine, which then goes from one to the next.
    ahead = {
        name: layer.worked - by_layer[CpuKind.ISS][name].worked
        for name, layer in by_layer[CpuKind.RTL].items()
    }
    first, *others = ahead.values()
    assert first > 100
    assert all(abs(each) <= 20 for each in others), ahead


def with_reach(
    compiled: Compiled, reach: Mapping[str, Access], name: str = "shared"
) -> ResolvedSoc:
    """Return a chip whose firewalls give less of a pool."""

    def less(pool: Pool) -> Pool:
        return replace(pool, reach={**pool.reach, **reach}) if pool.name == name else pool

    return replace(compiled.soc, pools=tuple(map(less, compiled.soc.pools)))


def on_hardware(compiled: Compiled, hardware: ResolvedSoc, folder: Path) -> SimResult:
    """Run the firmware of `compiled` on another chip."""
    tree = build((compiled,), folder / "build")
    samples = random_sample(compiled.graph) * SAMPLES
    request = request_for(compiled, tree.firmware.elves, samples, Path(), folder / "run")
    return simulate_iss(
        request,
        lambda memory: make_models(hardware, memory, (compiled,)),
        hardware=hardware,
    )


@pytest.mark.parametrize("device", ["cpu", "npu"])
def test_c3_a_write_that_is_kept_back_ends_the_run(device: str, tmp_path: Path) -> None:
    compiled = compile_file(load_soc("lagoon", (CORE_ADDS,)), DIGITS)
    hardware = with_reach(compiled, {device: Access.READ})
    result = on_hardware(compiled, hardware, tmp_path)
    guilty = next(s for s in compiled.module.entry.steps if s.device == device)
    assert (result.stop, result.exit_status) == (Stop.EXIT, 0)
    assert result.results == (VIOLATION,) * SAMPLES
    found = violations(result)[0]
    assert (found.rule, found.operator) == ("blocked by the firewall", guilty.operator)
    assert found.buffer in guilty.writes
    said = f"firewall: {device} may not write 0x{found.address:08X}"
    assert result.text.count(said) == SAMPLES


def test_a_core_that_traps_stands_still(tmp_path: Path) -> None:
    compiled = compile_file(load_soc("lagoon", (*settings("ibex"), CORE_ADDS)), DIGITS)
    result = on_hardware(compiled, with_reach(compiled, {"cpu": Access.READ}), tmp_path)
    assert (result.stop, result.trapped) == (Stop.TRAP, "cpu")
    assert violations(result)[0].rule == "blocked by the firewall"


@pytest.mark.rtl
def test_a_buffer_in_the_wrong_place_is_found_as_in_rtl(tmp_path: Path) -> None:
    """The firmware has one tensor elsewhere than the contract; all bytes are right."""
    compiled = compile_file(load_soc("lagoon", (CORE_SOFTMAX,)), DIGITS)
    target = next(s for s in compiled.module.entry.steps if s.device == "cpu").reads[0]
    pool = compiled.plan.placements[target].pool
    place = Placement(buffer=target, pool=pool, offset=65_536)
    placements = {**compiled.plan.placements, target: place}
    moved = with_plan(compiled, replace(compiled.plan, placements=placements))
    tree = build((moved,), tmp_path / "build")
    samples, chip = random_sample(moved.graph), build_model(compiled.soc)
    request = request_for(compiled, tree.firmware.elves, samples, chip, tmp_path / "run")
    in_rtl = simulate(replace(request, windows=windows_of(compiled.soc)))
    on_iss = simulate_iss(request, lambda memory: make_models(moved.soc, memory, (moved,)))
    assert on_iss.outputs == in_rtl.outputs
    found = [{(v.rule, v.device, v.operator) for v in violations(r)} for r in (on_iss, in_rtl)]
    assert found[0] == found[1]
    assert {device for _, device, _ in found[0]} == {"cpu", "npu"}


ABYSS = ROOT / "tests" / "data" / "abyss.yaml"
SMALL = ("memories.dram.size=256 MiB", "pools.arena.size=64 MiB")
SIZES = ("16 MiB", "1 GiB")
PEAK = """
import resource, sys
from atoll.cli import main
assert main(sys.argv[1:]) == 0
print("peak", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
def test_memories_take_room_for_what_is_touched() -> None:
    less, more = (peak("litex", "iss", f"memories.main_ram.size={size}") for size in SIZES)
    assert more - less < 300_000, "kilobytes"


@pytest.mark.parametrize("cpu", ["iss", "native"])
def test_16_gibibytes_of_dram_take_no_more_room_than_256_mebibytes(cpu: str) -> None:
    """A core of 64 bits has them from 0x8000_0000 on, with a pool of a gibibyte."""
    assert load_soc(ABYSS).memory("dram").size == 16 * 2**30
    assert peak(str(ABYSS), cpu) - peak(str(ABYSS), cpu, *SMALL) < 300_000, "kilobytes"


TRENCH = ROOT / "tests" / "data" / "trench.yaml"
SHARED = (
    "devices.npu={kind: npu, accelerator: reef, registers: 0x1001_0000, irq: 3}",
    "pools.arena.reach={cpu: rw, npu: rw}",
    "pools.weights.reach={cpu: rw, npu: ro}",
)
TWO = (
    "devices.dsp={kind: dsp, core: riscv, isa: rv64gc, loader: external, mailbox: dram,"
    " code: {memory: dram, size: 256 KiB}, stack: {memory: dram, size: 16 KiB}}",
    "pools.arena.reach={cpu: rw, dsp: rw}",
    "pools.weights.reach={cpu: rw, dsp: ro}",
    "memories.high.views={cpu: 0x1_0000_0000, dsp: 0xFFFF_0000_0000}",
)


@pytest.mark.parametrize("cpu", [CpuKind.ISS, CpuKind.NATIVE])
@pytest.mark.parametrize("changes", [(), SHARED, TWO], ids=["alone", "engine", "two cores"])
def test_a_core_sees_its_workspace_past_4_gibibytes(changes: tuple[str, ...], cpu: CpuKind) -> None:
    """An engine sees it below, where the bus has it; another core somewhere else."""
    soc = load_soc(TRENCH, changes)
    place = ("conv_2d_2=dsp", "add_3=dsp") if changes is TWO else ()
    compiled = compile_file(soc, DIGITS, BuildOptions(requests=load_requests(None, place)))
    samples = (random_sample(compiled.graph, SAMPLES),)
    (outcome,) = run_models((compiled,), samples, cpu=cpu, accelerator=AcceleratorKind.MODEL)
    assert outcome.report.passed


def test_a_write_past_4_gibibytes_is_kept_back_as_others(tmp_path: Path) -> None:
    """The finding says where the bus has the byte."""
    compiled = compile_file(load_soc(TRENCH), DIGITS)
    hardware = with_reach(compiled, {"cpu": Access.READ}, "arena")
    result = on_hardware(compiled, hardware, tmp_path)
    assert (result.stop, result.trapped) == (Stop.TRAP, "cpu")
    found, pool = violations(result)[0], compiled.soc.pool("arena").region
    assert found.rule == "blocked by the firewall"
    assert pool.origin <= found.address < pool.end


@pytest.mark.parametrize("emit", ["object", "c"])
def test_addresses_past_4_gibibytes_are_numbers(
    emit: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No symbol of a pool is as far from code as its relocations reach."""
    made = ["build", str(TRENCH), str(DIGITS), "--emit", emit, "-o", str(tmp_path / "build")]
    assert main(made) == 0
    assert main(["simulate", str(tmp_path / "build"), "--cpu", "iss", "--brief"]) == 0
    assert "10 of 10 layers bit-exact" in capsys.readouterr().out


def peak(soc: str, cpu: str, *changes: str) -> int:
    """Return the most memory that a run of the digits takes, in kilobytes."""
    command = ["run", soc, str(DIGITS), "--cpu", cpu, "--brief"]
    command += [word for change in changes for word in ("--set", change)]
    made = subprocess.run(
        [sys.executable, "-c", PEAK, *command], check=True, capture_output=True, text=True
    )
    assert "10 of 10 layers bit-exact" in made.stdout
    return int(made.stdout.rpartition("peak ")[2])
