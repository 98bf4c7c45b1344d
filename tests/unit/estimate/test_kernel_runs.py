# SPDX-License-Identifier: Apache-2.0
"""What kernels run on the instruction-set simulator, and estimates that rest on it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from atoll.api.driver import kernels_of, with_kernels
from atoll.artifacts.samples import random_sample
from atoll.cost.bands import Band
from atoll.cost.core_costs import asking_cycles
from atoll.cost.counted import CLASSES, INSTRUCTIONS, WORDS
from atoll.cost.data.picorv32 import PART_CYCLES
from atoll.cost.estimate import NetworkEstimate
from atoll.cost.kernel_runs import runs_of
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file
from atoll.driver.speeds import at_speeds_of, stays
from atoll.ops.registry import kind_of
from atoll.report.estimates import estimates_of
from atoll.resolve import load_soc
from atoll.resolve.specs import BesideCode, KernelRun, Timing
from atoll_sim.core_calibration.measure import with_host
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models
from atoll_sim.runs.kernel_runs import run_kernels

ROOT = Path(__file__).parents[3]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
STRAIT = ROOT / "tests" / "data" / "strait.yaml"
ALONE = BuildOptions(accelerators=False)
VEXRISCV = ("devices.cpu.core=vexriscv", "devices.cpu.isa=rv32im")
SOME = KernelRun(
    classes=(1000, 300, 200, 100, 50, 40, 10, 90, 500),
    accesses={("load", "conv_2d_0_filter"): 200, ("load", ""): 100, ("store", ""): 200},
    lines=1400,
    instructions=1700,
)


def digits(*overrides: str, chip: str | Path = STRAIT, options: BuildOptions = ALONE) -> Compiled:
    return compile_file(load_soc(chip, overrides), DIGITS, options)


def with_runs(compiled: Compiled, *runs: KernelRun) -> Compiled:
    """Return the network as if its first operator had run so."""
    return with_kernels(compiled, kernels_of((compiled,), {(0, 0): runs}))


def estimate(compiled: Compiled) -> NetworkEstimate:
    return estimates_of((compiled,))[0]


def cycles(compiled: Compiled) -> int:
    return estimate(compiled).layers[0].cycles


def by_class(table: Mapping[str, float]) -> float:
    """Return what SOME takes by a table."""
    return sum(n * table.get(name, 0) for name, n in zip(CLASSES, SOME.classes, strict=True))


def words_take(timing: Timing, further: int) -> float:
    """Return what the words of SOME take: the next one comes while a core multiplies or divides."""
    assert timing.cache is not None
    assert timing.cache.cycles is not None
    longer = {name: timing.cycles[name] - timing.cycles["other"] for name in ("multiply", "divide")}
    hidden = by_class({name: min(each, further) for name, each in longer.items()})
    return SOME.lines * (timing.cache.cycles + further) - WORDS * hidden


def test_a_kernel_takes_what_its_instructions_take() -> None:
    compiled = digits()
    host = compiled.soc.host_cpu
    timing = host.spec.timing
    assert timing is not None
    far = compiled.soc.memory(host.code.memory).read_latency - 1
    expected = int(by_class(timing.cycles) + words_take(timing, far))
    counted = with_runs(compiled, SOME)
    assert cycles(counted) == expected
    assert cycles(counted) < cycles(compiled) / 10, "the loop nest is left aside"
    found, before = estimate(counted), estimate(compiled)
    assert found.layers[0].basis == "simulated x measured"
    assert [(each.cycles, each.basis) for each in found.layers[1:]] == [
        (each.cycles, each.basis) for each in before.layers[1:]
    ]
    assert found.basis == "simulated x measured, counted x measured"
    (code,) = (each for each in found.layers[0].traffic if each.memory == host.code.memory)
    assert (code.read, code.basis) == (4 * SOME.lines, "simulated x measured")


def test_a_band_is_that_of_kernels_that_ran() -> None:
    compiled = digits()
    host = compiled.soc.host_cpu
    timing = host.spec.timing
    assert timing is not None

    def bands(measured: tuple[float, float] | None) -> list[Band | None]:
        spec = replace(host.spec, timing=replace(timing, simulated_band=measured))
        others = (each for each in compiled.soc.devices if each.name != host.name)
        soc = replace(compiled.soc, devices=(replace(host, spec=spec), *others))
        layers = estimate(with_runs(replace(compiled, soc=soc), SOME)).layers
        return [each.band for each in layers[:2]]

    usual = estimate(compiled).layers[1].band
    assert bands((0.03, 0.05)) == [Band(0.03, 0.05), usual]
    assert bands(None) == [None, usual], "nobody measured how far it is off"


@pytest.mark.parametrize(
    ("memory", "waits"),
    [("store", 200), ("dtcm", 0), ("flash", 0)],
    ids=["constants", "others", "code"],
)
def test_counts_serve_other_latencies(memory: str, waits: int) -> None:
    """A load waits for the memory of its buffer, instructions wait for that of the code."""
    counted = with_runs(digits(), SOME)
    soc = counted.soc
    latency = soc.memory(memory).read_latency
    slower = load_soc(STRAIT, (f"memories.{memory}.read_latency={latency + 4}",))
    found = at_speeds_of(counted, slower)
    assert found is not None
    timing = soc.host_cpu.spec.timing
    assert timing is not None
    code = words_take(timing, latency + 3) - words_take(timing, latency - 1)
    code *= memory == soc.host_cpu.code.memory
    load, store = timing.data_waits["load"], timing.data_waits["store"]
    stack = load * SOME.accesses["load", ""] + store * SOME.accesses["store", ""]
    data = waits * load + (stack if memory == soc.host_cpu.stack.memory else 0)
    assert cycles(found) - cycles(counted) == pytest.approx(4 * data + code, abs=2)


@pytest.mark.parametrize("latency", [1, 6])
@pytest.mark.parametrize(
    ("beside", "less"),
    [
        ((1.5, 1.25), lambda further: 1.5 + 1.25 * further),
        ((90, 9), lambda further: 3 + 2 * further),
    ],
    ids=["measured", "no more than they take"],
)
def test_loads_beside_code_take_less(
    latency: int, beside: tuple[float, float], less: Callable[[int], float]
) -> None:
    """Of 200 loads of weights, with the latency of code; 100 loads of the stack take as long."""
    timing = Timing(
        basis="measured",
        cycles={**dict.fromkeys(CLASSES, 1.0), "load": 3.0},
        waits={"load": 1.0},
        beside_code=BesideCode(cycles=beside[0], waits=beside[1]),
    )

    def took(home: str, timing: Timing) -> int:
        speeds = (f"memories.{each}.read_latency={latency}" for each in ("flash", "store"))
        soc = load_soc(STRAIT, (*speeds, f"pools.weights.memory={home}"))
        return cycles(with_runs(compile_file(with_host(soc, timing=timing), DIGITS, ALONE), SOME))

    apart, beside_code = (took(home, timing) for home in ("store", "flash"))
    assert apart - beside_code == pytest.approx(200 * less(latency - 1), abs=1)
    assert apart == took("store", replace(timing, beside_code=None))
    assert apart == took("flash", replace(timing, beside_code=None)), "as before it was measured"


def test_counts_change_nothing_but_costs() -> None:
    counted = with_runs(digits(), SOME)
    slower = load_soc(STRAIT, ("memories.flash.read_latency=3",))
    assert stays(counted, slower) == stays(digits(), slower)
    assert counted.soc != digits().soc, "what is remembered of a chip is not that of another one"


def test_counts_serve_the_same_kernel_in_another_pool_and_no_other() -> None:
    compiled = digits()
    runs = kernels_of((compiled,), {(0, 0): (SOME,)})
    other = digits("pools.private.size=32 KiB", "pools.private.preference=0")
    assert other.plan.placements != compiled.plan.placements
    found = estimate(with_kernels(other, runs))
    assert found.layers[0].basis == "simulated x measured"
    faster = with_kernels(digits("devices.cpu.core=ibex"), runs)
    assert estimate(faster).layers[0].basis == "counted x measured", "another core"
    (op, *_) = compiled.graph.operators
    core = with_kernels(compiled, runs).soc.host_cpu
    changed = replace(op, attributes={**op.attributes, "stride_h": 2})
    assert runs_of(op, compiled.graph, core) == (SOME,)
    assert not runs_of(changed, compiled.graph, core)
    less = replace(core, instructions=load_soc("lagoon", VEXRISCV).host_cpu.instructions)
    assert not runs_of(op, compiled.graph, less), "another instruction set"


def test_lines_of_an_instruction_cache_take_their_time() -> None:
    compiled = digits(*VEXRISCV)
    timing = compiled.soc.host_cpu.spec.timing
    assert timing is not None
    assert timing.cache is not None
    assert timing.cache.cycles is not None
    lines = with_runs(compiled, SOME)
    more = with_runs(compiled, replace(SOME, lines=SOME.lines + 1000))
    far = compiled.soc.memory(compiled.soc.host_cpu.code.memory).read_latency - 1
    line = timing.cache.cycles + far * timing.cache.waits
    assert cycles(more) - cycles(lines) == pytest.approx(1000 * line, abs=1)
    (code,) = (each for each in estimate(lines).layers[0].traffic if each.memory == "flash")
    assert code.read == SOME.lines * timing.cache.line


def test_an_operator_on_several_cores_takes_what_its_longest_part_takes() -> None:
    compiled = digits(chip="quad", options=BuildOptions())
    number, op = next((n, o) for n, o in enumerate(compiled.graph.operators) if o.helpers)
    short = replace(SOME, accesses={})
    twice = tuple(2 * each for each in SOME.classes)
    longest = replace(short, classes=twice, lines=2 * SOME.lines, instructions=3400)
    runs = (short, longest, *(short for _ in op.devices[2:]))

    def counted(parts: tuple[KernelRun, ...]) -> Compiled:
        return with_kernels(compiled, kernels_of((compiled,), {(0, number): parts}))

    found = [
        next(each for each in estimate(counted(parts)).layers if each.operator == op.name)
        for parts in (runs, (longest, *runs[:1], *runs[2:]), (short,) * len(runs))
    ]
    asking = asking_cycles(compiled.soc) * len(op.helpers)
    assert asking > PART_CYCLES // 2
    assert found[0].cycles - asking == pytest.approx(2 * (found[2].cycles - asking), abs=2)
    assert found[0].cycles - asking == found[1].cycles, "the host's part has what it asks"


def test_what_cores_run_is_counted_in_one_run() -> None:
    """It is what the simulator's report has, and each load and store is of one buffer."""
    compiled = digits(chip="lagoon")
    found = run_kernels((compiled,))
    (outcome,) = run_models(
        (compiled,),
        (random_sample(compiled.graph),),
        cpu=CpuKind.ISS,
        accelerator=AcceleratorKind.NONE,
    )
    ran = {each.operator: each.instructions for each in outcome.report.by_layer}
    operators = compiled.graph.operators
    assert {operators[number].name for _, number in found} == ran.keys()
    for (_, number), (run,) in found.items():
        op = operators[number]
        assert run.instructions == ran[op.name]
        counted = sum(map(int.__mul__, run.classes, map(int, INSTRUCTIONS)))
        assert counted == run.instructions
        for name in ("load", "store"):
            told = sum(n for (access, _), n in run.accesses.items() if access == name)
            assert told == pytest.approx(run.classes[CLASSES.index(name)], abs=8)
        macs = kind_of(op).features(op, compiled.graph)["macs"]
        if op.kind == "conv_2d":
            assert run.classes[CLASSES.index("multiply")] > macs
            assert 4 * run.accesses["load", op.inputs[1]] == macs, "four pixels share a weight"


def test_every_core_is_counted_that_makes_a_part() -> None:
    compiled = digits(chip="quad", options=BuildOptions())
    found = run_kernels((compiled,))
    alone = run_kernels((digits(chip="lagoon"),))
    for (_, number), runs in found.items():
        op = compiled.graph.operators[number]
        assert len(runs) == len(op.devices)
        assert all(run.instructions > 50 for run in runs)
    spread = {compiled.graph.operators[n].name: runs for (_, n), runs in found.items()}
    whole = {compiled.graph.operators[n].name: runs[0] for (_, n), runs in alone.items()}
    for name in ("conv_2d_0", "conv_2d_2", "conv_2d_5"):
        together = sum(run.instructions for run in spread[name])
        assert 0.95 < together / whole[name].instructions < 1.2
        others = [run.instructions for run in spread[name][1:]]
        assert max(others) < 1.1 * whole[name].instructions / len(spread[name]), "no start-up code"
