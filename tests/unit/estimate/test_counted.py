# SPDX-License-Identifier: Apache-2.0
"""Instructions of kernels that were counted, and what they take on a core whose timing is known."""

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest
from pydantic import ValidationError
from tests.effort import in_gate
from tests.requests import load_requests

from atoll.artifacts.samples import random_sample
from atoll.cost import counted
from atoll.cost.basis import basis_of, source_of, stands_in
from atoll.cost.core_costs import CoreCost, drive_cycles
from atoll.cost.counted import (
    CLASSES,
    DRIVER,
    EACH,
    INSTRUCTIONS,
    SAME,
    cached_fetches,
    counted_accesses,
    counted_cycles,
    counted_instructions,
    fetched_bytes,
    further_latency,
    is_counted,
    latency_in_core_cycles,
    read_counts,
    repeated_share,
)
from atoll.cost.executed import Executed, Nest, UncountableError, count_executed
from atoll.description.core import Timing as TimingText
from atoll.driver.pipeline import BuildOptions, compile_file
from atoll.ir.statements import PrimFunc
from atoll.ops.loops.fixed_point_loops import LIBRARY
from atoll.ops.loops.parallel_loops import parallel_loop, part_of
from atoll.ops.registry import kind_of
from atoll.report.estimates import estimates_of
from atoll.resolve import load_soc
from atoll.resolve.soc import Cpu, ResolvedSoc
from atoll.resolve.specs import BesideCode, InstructionCache, Timing
from atoll.utils.remember import forget
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models

ROOT = Path(__file__).parents[3]
STRAIT = ROOT / "tests" / "data" / "strait.yaml"
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
SAMPLER = ROOT / "examples" / "03_two_networks" / "sampler.tflite"
ISAS = [each.name.removesuffix(".json") for each in (files("atoll.cost.data") / "counts").iterdir()]
ONE_EACH = Timing(
    basis="published",
    cycles=dict(zip(CLASSES, INSTRUCTIONS, strict=True)),
    waits=dict.fromkeys(CLASSES, 0.0),
)
UNSHIFTED = CLASSES[:-1]
"""What sets have that were counted before bits of shifts were."""

M4 = ("devices.cpu.core=cortex_m4", "devices.cpu.isa=armv7e-m")
M0_PLUS = ("devices.cpu.core=cortex_m0plus", "devices.cpu.isa=armv6-m")
M3 = ("devices.cpu.core=cortex_m3", "devices.cpu.isa=armv7-m")
RV64 = ("devices.cpu.core=riscv", "devices.cpu.isa=rv64imac")
ALONE = BuildOptions(accelerators=False)
CORES = {"armv7e-m": "cortex_m4", "armv8-m.main+dsp": "cortex_m33"}


def timed(soc: ResolvedSoc, timing: Timing | None) -> ResolvedSoc:
    """Return a chip whose host takes what a timing says."""
    host = replace(soc.host_cpu, spec=replace(soc.host_cpu.spec, timing=timing))
    devices = tuple(host if each.name == host.name else each for each in soc.devices)
    return replace(soc, devices=devices)


@pytest.mark.parametrize("isa", ISAS)
def test_counts_are_of_each_class_of_instructions(isa: str) -> None:
    counts = json.loads((files("atoll.cost.data") / "counts" / f"{isa}.json").read_text())
    assert {EACH, "rounds", "load_8", "store_8", "multiplies"} <= counts.keys()
    assert {len(row) for row in counts.values()} in ({len(CLASSES)}, {len(UNSHIFTED)})
    assert all(0 <= count < 1000 for row in counts.values() for count in row)
    assert 0.05 < sum(counts[DRIVER]) < 1, "a cycle of drivers has less than an instruction"
    load, store = (CLASSES.index(name) for name in ("load", "store"))
    if isa == "aarch64":  # LLVM makes vectors of some loops
        return
    least, most = (0.1, 0.5) if "mve" in isa else (0.93, 1.07)
    assert least < counts["load_8"][load] < most, "vectors load and store several bytes at once"
    assert least < counts["store_8"][store] < most


@pytest.mark.parametrize("network", [DIGITS, SAMPLER], ids=["digits", "sampler"])
@pytest.mark.parametrize("core", [(), M4, M3, RV64], ids=["rv32imc", "armv7e-m", "armv7-m", "rv64"])
def test_counts_are_near_those_of_a_simulator(core: tuple[str, ...], network: Path) -> None:
    """Neither network is one that the counts come from."""
    soc = timed(load_soc("lagoon", core), ONE_EACH)
    compiled = compile_file(soc, network, ALONE)
    (outcome,) = run_models(
        (compiled,),
        (random_sample(compiled.graph),),
        cpu=CpuKind.ISS,
        accelerator=AcceleratorKind.NONE,
    )
    operators = {op.name: op for op in compiled.graph.operators}
    found = {
        layer.operator: (
            layer.instructions or 0,
            counted_instructions(operators[layer.operator], compiled.graph, soc.host_cpu),
        )
        for layer in outcome.report.by_layer
    }
    assert all(told is not None for _, told in found.values())
    ran, told = (sum(each or 0 for each in part) for part in zip(*found.values(), strict=True))
    assert told == pytest.approx(ran, rel=0.1)


@pytest.mark.parametrize("core", [M4, M0_PLUS], ids=["armv7e-m", "armv6-m"])
def test_start_up_code_in_thumb_is_that_of_a_simulator(core: tuple[str, ...]) -> None:
    """An instruction takes a cycle there; most of them paint the stack."""
    soc = timed(load_soc("lagoon", core), ONE_EACH)
    compiled = compile_file(soc, SAMPLER, ALONE)
    (outcome,) = run_models(
        (compiled,),
        (random_sample(compiled.graph),),
        cpu=CpuKind.ISS,
        accelerator=AcceleratorKind.NONE,
    )
    ran = outcome.report.by_layer[0].begin
    assert estimates_of((compiled,))[0].before == pytest.approx(ran, rel=0.05)


@pytest.mark.parametrize("isa", in_gate(SAME, 0))
def test_what_counts_the_same_runs_the_same(isa: str) -> None:
    """On the simulator, every layer runs as many instructions as in the other instruction set."""
    ran, like = (instructions(name) for name in (isa, SAME[isa]))
    assert ran == like
    assert all(ran.values())


def instructions(isa: str) -> dict[str, int]:
    """Return what each layer of a network runs of an instruction set, on the simulator."""
    core = (f"devices.cpu.core={CORES.get(isa, 'riscv')}", f"devices.cpu.isa={isa}")
    compiled = compile_file(load_soc("lagoon", core), SAMPLER, ALONE)
    (outcome,) = run_models(
        (compiled,),
        (random_sample(compiled.graph),),
        cpu=CpuKind.ISS,
        accelerator=AcceleratorKind.NONE,
    )
    return {layer.operator: layer.instructions or 0 for layer in outcome.report.by_layer}


def test_cycles_are_instructions_times_what_they_take() -> None:
    soc = load_soc("lagoon", ("memories.flash.read_latency=3",))
    taking = dict.fromkeys(CLASSES, 2.0)
    compiled = compile_file(soc, DIGITS, ALONE)
    (op, *_) = compiled.graph.operators
    told = {}
    for waits in (0.0, 0.5):
        timing = Timing(basis="published", cycles=taking, waits=dict.fromkeys(CLASSES, waits))
        chip = timed(soc, timing)
        told[waits] = counted_cycles(op, compiled.graph, chip.host_cpu, chip)
    assert told[0.0] is not None
    assert told[0.5] is not None
    assert told[0.5] / told[0.0] == pytest.approx((2 + 2 * 0.5) / 2, rel=1e-3)
    one = timed(load_soc("lagoon", ("memories.flash.read_latency=1",)), ONE_EACH)
    assert counted_cycles(op, compiled.graph, one.host_cpu, one) == counted_instructions(
        op, compiled.graph, one.host_cpu
    )


@pytest.mark.parametrize(
    ("memory", "kind"), [("store", "load"), ("sram", "load"), ("sram", "store")]
)
def test_data_of_each_memory_are_waited_for(memory: str, kind: str) -> None:
    """A fully connected layer reads each weight once at least, and writes each result once."""
    took = {}
    for latency in (1, 3, 5):
        setting = f"memories.{memory}.read_latency={latency}"
        timing = replace(ONE_EACH, data_waits={kind: 1.0})
        soc = timed(load_soc(STRAIT, ("devices.cpu.core=ibex", setting)), timing)
        (estimate,) = estimates_of((compile_file(soc, DIGITS, ALONE),))
        (took[latency],) = (e.cycles for e in estimate.layers if e.kind == "fully_connected")
    assert took[5] - took[3] == pytest.approx(took[3] - took[1], abs=2)
    known = {("store", "load"): 1930, ("sram", "load"): 960, ("sram", "store"): 10}
    assert (took[3] - took[1]) / 2 == pytest.approx(known[memory, kind], rel=0.05)


def test_loads_beside_code_take_less_by_the_loop_nest() -> None:
    """A fully connected layer reads each weight once at least."""
    timing = replace(ONE_EACH, beside_code=BesideCode(cycles=0.5, waits=0.25))
    took = {}
    for home in ("store", "flash"):
        speeds = (f"memories.{each}.read_latency=3" for each in ("flash", "store"))
        settings = ("devices.cpu.core=ibex", *speeds, f"pools.weights.memory={home}")
        soc = timed(load_soc(STRAIT, settings), timing)
        (estimate,) = estimates_of((compile_file(soc, DIGITS, ALONE),))
        (took[home],) = (e.cycles for e in estimate.layers if e.kind == "fully_connected")
    assert took["store"] - took["flash"] == pytest.approx(1930 * (0.5 + 0.25 * 2), rel=0.05)


M7 = ("devices.cpu.core=cortex_m7", "devices.cpu.isa=armv7e-m")
CACHE = "devices.cpu.cache.line=32"


def uncached(*memories: str) -> tuple[str, ...]:
    return tuple(f"memories.{each}.cached=false" for each in memories)


@pytest.mark.parametrize(
    ("settings", "waits"),
    [((), True), ((CACHE,), False), ((CACHE, *uncached("sram")), True)],
    ids=["no cache", "a cache", "a memory without"],
)
def test_what_a_data_cache_keeps_is_not_waited_for(settings: tuple[str, ...], waits: bool) -> None:
    """The memory of activations is as slow as it is only where no data cache works on it."""
    took = []
    for latency in (1, 5):
        chip = load_soc(STRAIT, (*M7, *settings, f"memories.sram.read_latency={latency}"))
        (estimate,) = estimates_of((compile_file(chip, DIGITS, ALONE),))
        took.append(estimate.network)
    assert (took[1] > took[0]) is waits


@pytest.mark.parametrize(
    ("settings", "basis"),
    [
        ((), "counted x published"),
        ((CACHE,), "counted x published, assumed"),
        ((CACHE, *uncached("sram", "store", "dtcm")), "counted x published"),
        ((CACHE, *uncached("sram", "store")), "counted x published, assumed"),
    ],
)
def test_a_data_cache_that_may_keep_something_is_assumed_to_have_it(
    settings: tuple[str, ...], basis: str
) -> None:
    soc = load_soc(STRAIT, (*M7, *settings, "memories.flash.read_latency=1"))
    assert basis_of(soc, ("cpu",)) == basis
    known = timed(soc, replace(ONE_EACH, band=(0.1, 0.2)))
    assert bool(source_of(known.host_cpu, known).band) is (basis == "counted x published")


def test_a_core_is_counted_only_where_all_of_it_is_known() -> None:
    """Without timing, or with instructions that nobody counted, it is not."""
    usual = load_soc("lagoon", ("devices.cpu.core=ibex",))
    for soc, known in (
        (timed(usual, ONE_EACH), True),
        (timed(usual, None), False),
        (
            timed(
                load_soc("lagoon", ("devices.cpu.core=ibex", "devices.cpu.isa=rv32im")), ONE_EACH
            ),
            "rv32im" in ISAS,
        ),
    ):
        assert is_counted(soc.host_cpu) is known
        assert stands_in(soc.host_cpu) is not known


def test_bits_of_shifts_are_known_where_they_were_counted() -> None:
    slow = replace(ONE_EACH, cycles={**ONE_EACH.cycles, "shifted": 1.0})
    assert is_counted(timed(load_soc("lagoon"), slow).host_cpu)
    assert not is_counted(timed(load_soc("lagoon", M4), slow).host_cpu)
    assert is_counted(timed(load_soc("lagoon", M4), ONE_EACH).host_cpu)


def loop(code: float, *inner: Nest, entered: float = 1, rounds: float = 1) -> Nest:
    """Return a loop with so many bytes of its own."""
    return Nest(entered, rounds, code=defaultdict(float, code=code), inner=[*inner])


@pytest.mark.parametrize(
    ("nest", "fetched"),
    [
        (loop(100, loop(900, rounds=50)), 1000),
        (loop(0, loop(1200, rounds=100)), 1200 * (1 + 99 / 3)),
        (loop(0, loop(2000, rounds=100)), 2000 * 100),
        (
            loop(0, loop(600, loop(600, entered=10, rounds=5000), rounds=10)),
            600 * (1 + 9 / 3) + 600 * (1 + 9 / 3),
        ),
        (loop(1200), 1200),
    ],
    ids=["fits", "a third goes", "all of it goes", "an inner loop fits", "runs once"],
)
def test_instructions_are_fetched_again_where_they_do_not_fit(nest: Nest, fetched: float) -> None:
    assert fetched_bytes(nest, 1000, {"code": 1.0}) == pytest.approx(fetched)


def test_with_a_cache_only_its_lines_wait_for_instructions() -> None:
    """A line takes 10 cycles, and 8 more for each further one of latency."""
    cache = InstructionCache(size=2**20, line=32, cycles=10.0, waits=8.0)
    took: dict[tuple[int, bool], int] = {}
    for latency in (1, 3, 9):
        soc = load_soc("lagoon", (f"memories.flash.read_latency={latency}",))
        compiled = compile_file(soc, DIGITS, ALONE)
        (op, *_) = compiled.graph.operators
        for cached in (True, False):
            chip = timed(soc, replace(ONE_EACH, cache=cache if cached else None))
            cycles = counted_cycles(op, compiled.graph, chip.host_cpu, chip)
            assert cycles is not None
            took[latency, cached] = cycles
    lines = (took[1, True] - took[1, False]) / 10
    assert 10 < lines < 100
    assert took[3, True] - took[1, True] == pytest.approx(16 * lines, rel=0.01)
    assert took[9, True] - took[1, True] == pytest.approx(64 * lines, rel=0.01)


@pytest.mark.parametrize(
    ("clock", "latency", "seen"),
    [
        (100, 2, 2),
        (200, 2, 2 * 2 + 3.5 * 3),
        (50, 2, 2 / 2 + 3.5 * 1.5),
        (50, 8, 8 / 2 + 3.5 * 1.5),
    ],
)
def test_a_core_with_another_clock_waits_for_both(clock: int, latency: int, seen: float) -> None:
    """What crosses from clock to clock takes cycles of each, beside those of the memory."""
    soc = load_soc(
        "twin", (f"devices.dsp.clock={clock} MHz", f"memories.flash.read_latency={latency}")
    )
    core = soc.device("dsp")
    assert isinstance(core, Cpu)
    assert core.code.memory == "flash"
    assert latency_in_core_cycles(core, "flash", soc) == seen
    assert further_latency(core, soc) == seen - 1


@pytest.mark.parametrize("clock", [100, 200])
def test_other_memory_is_asked_behind_fetches_across_clocks(clock: int) -> None:
    """Behind the crossing alone do the answers of one memory come before another is asked."""
    soc = load_soc("twin", (f"devices.dsp.clock={clock} MHz",))
    made = compile_file(soc, DIGITS, ALONE)
    op, core = made.graph.operators[0], soc.device("dsp")
    assert isinstance(core, Cpu)

    def took(beside: BesideCode | None) -> int:
        timing = replace(ONE_EACH, waits={}, data_waits={"load": 3, "store": 2}, beside_code=beside)
        return CoreCost(replace(core, spec=replace(core.spec, timing=timing)), soc).alone(
            op, made.graph
        )

    crossing = 3.5 * 3 if clock == 200 else 0
    loads = CoreCost(core, soc).loads_beside_code(op, made.graph)
    accesses = sum((counted_accesses(op, made.graph, core) or {}).values())
    further = further_latency(core, soc)
    less = took(None) - took(BesideCode(cycles=0, waits=0.5))
    expected = 0.5 * (further * loads + crossing * (accesses - loads))
    assert less == pytest.approx(expected * 100 / clock, abs=3)
    assert loads < accesses / 2


def test_a_basis_says_what_was_counted_and_what_that_takes() -> None:
    soc = timed(load_soc("lagoon", ("devices.cpu.core=ibex",)), ONE_EACH)
    assert basis_of(soc, ("cpu",)) == "counted x published"
    assert basis_of(soc, ("npu",)) == "driver counted x published"
    assert basis_of(soc, ("cpu", "npu")) == "counted x published"
    (estimate,) = estimates_of((compile_file(soc, DIGITS),))
    assert estimate.basis == "counted x published"
    assert not estimate.notes


def test_cycles_of_a_kernel_that_rests_on_data_are_assumed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def uncountable(function: PrimFunc, library: Iterable[PrimFunc]) -> Executed:
        if function.name.startswith("conv_2d"):
            raise UncountableError
        return count_executed(function, library)

    soc = timed(load_soc("lagoon", ("devices.cpu.core=ibex",)), ONE_EACH)
    compiled = compile_file(soc, DIGITS, ALONE)
    monkeypatch.setattr(counted, "count_executed", uncountable)
    forget()
    (estimate,) = estimates_of((compiled,))
    bases = {layer.kind: layer.basis for layer in estimate.layers}
    assert bases["conv_2d"] == "assumed"
    assert bases["softmax"] == "counted x published"
    assert estimate.basis == "counted x published, assumed"


def test_drivers_are_counted_too() -> None:
    soc = load_soc("lagoon", ("devices.cpu.core=ibex",))
    counted = timed(soc, ONE_EACH)
    assert drive_cycles(1000, counted.host_cpu, counted) < 500
    alone = timed(soc, None)
    assert drive_cycles(1000, alone.host_cpu, alone) == 1000


def test_a_core_of_ones_own_says_its_timing(tmp_path: Path) -> None:
    text = (ROOT / "socs" / "cores" / "ibex.yaml").read_text()
    text = text.replace("core: ibex", "core: tide")
    head = text.split("timing:")[0] if "timing:" in text else text
    tail = text[text.index("\nrtl:") :]
    own = "timing: {basis: published, source: our manual, cycles: {load: 2.5, taken: 1}}"
    (tmp_path / "tide.yaml").write_text(head.split("\nrtl:")[0] + f"\n{own}\n" + tail)
    chip = (ROOT / "socs" / "lagoon.yaml").read_text().replace("picorv32", "./tide.yaml")
    (tmp_path / "chip.yaml").write_text(chip)
    host = load_soc(tmp_path / "chip.yaml").host_cpu
    assert host.spec.timing is not None
    assert host.spec.timing.cycles["load"] == 2.5
    assert host.spec.timing.cycles["multiply"] == 1


@pytest.mark.parametrize("hidden", ["\x1b[2J", "\x85", "\u202e", "\u2066", "\u2028"])
def test_a_source_has_no_characters_that_hide_others(hidden: str) -> None:
    named = {"basis": "published", "cycles": {"load": 2}}
    assert TimingText(**named, source="Arm 100166, table 3-1 \xb5s").source.endswith("\xb5s")
    with pytest.raises(ValidationError):
        TimingText(**named, source=f"a manual{hidden}")


def test_what_no_count_knows_is_not_counted_as_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    soc = timed(load_soc("lagoon"), ONE_EACH)
    compiled = compile_file(soc, DIGITS, ALONE)
    (op, *_) = compiled.graph.operators
    assert counted_instructions(op, compiled.graph, soc.host_cpu) is not None
    less = {name: each for name, each in read_counts("rv32imc").items() if name != "multiplies"}
    monkeypatch.setattr(counted, "read_counts", lambda isa: less)
    assert counted_instructions(op, compiled.graph, soc.host_cpu) is None


def test_cores_that_share_a_loop_repeat_what_is_around_it() -> None:
    """Each part of a kernel whose channels are shared out copies the same windows."""
    soc = load_soc("quad")
    compiled = compile_file(soc, DIGITS)
    shares = []
    for op in (each for each in compiled.graph.operators if each.helpers):
        kernel = kind_of(op).lower_for(op, compiled.graph, soc.host_cpu.arithmetic).function
        parts = len(op.devices)
        loop = parallel_loop(kernel, kind_of(op).parallel, parts)
        assert loop is not None
        again = repeated_share(op, compiled.graph, soc.host_cpu, loop)
        last = part_of(kernel, loop, parts - 1, parts)
        part, whole = (instructions_of(each) for each in (last, kernel))
        expected = again + (1 - again) * float(loop.share(parts))
        assert part / whole == pytest.approx(expected, rel=0.03)
        shares.append(again)
    assert max(shares) > 0.03


def instructions_of(kernel: PrimFunc) -> float:
    """Return how many instructions of rv32imc a kernel runs."""
    counts = read_counts("rv32imc")
    things = count_executed(kernel, LIBRARY).things
    run = [at for at, name in enumerate(CLASSES) if name not in ("taken", "shifted")]
    return sum(number * sum(counts[name][at] for at in run) for name, number in things.items())


def test_an_instruction_cache_takes_lines_from_memory_and_not_each_instruction() -> None:
    """A kernel that fits is in the cache from the first round of its loops on."""
    soc = load_soc("lagoon", ("devices.cpu.core=vexriscv", "devices.cpu.isa=rv32im"))
    made = compile_file(soc, DIGITS, BuildOptions(accelerators=False))
    (found,) = estimates_of((made,))
    assert found.basis == "counted x measured"
    assert found.band is not None
    conv = next(op for op in made.graph.operators if op.name == "conv_2d_2")
    lines = cached_fetches(conv, made.graph, soc.host_cpu)
    instructions = counted_instructions(conv, made.graph, soc.host_cpu)
    assert lines is not None
    assert instructions is not None
    assert lines < instructions / 20
    layer = next(each for each in found.layers if each.operator == "conv_2d_2")
    read = next(each.read for each in layer.traffic if each.memory == "flash")
    results = 8 * 8 * 24
    weights, starts_multipliers_shifts = 24 * results, 3 * 4 * results
    assert read == weights + starts_multipliers_shifts + -(-lines // 4) * 4


def test_cores_that_share_an_operator_fetch_its_instructions_once() -> None:
    chip = ("devices.cpu0.core=ibex", *(f"devices.cpu{n}.core=ibex" for n in (1, 2, 3)))
    spread, alone = (
        estimates_of((compile_file(load_soc("quad", chip), DIGITS, options),))[0]
        for options in (BuildOptions(), BuildOptions(requests=load_requests(None, spread=False)))
    )
    fetched = [
        next(each.read for each in found.traffic if each.memory == "flash")
        for found in (spread, alone)
    ]
    assert fetched[0] == pytest.approx(fetched[1], rel=0.1)
