# SPDX-License-Identifier: Apache-2.0
"""P1: what `atoll estimate` says is what placement used, and adds up."""

from collections.abc import Iterator
from functools import cache
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from tests.requests import load_requests

from atoll.cost.around import before_cycles
from atoll.cost.basis import driver_source
from atoll.cost.data.picorv32 import BETWEEN_CYCLES, FINISH_CYCLES, OTHER_BAND, START_CYCLES
from atoll.cost.estimate import NetworkEstimate
from atoll.cost.lists import joint_saving
from atoll.cost.network import cycles_of
from atoll.cost.program import command_counts
from atoll.cost.timeline import timeline_of
from atoll.driver.compiled import cost_of
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file
from atoll.ir.busy import Bound, Busy
from atoll.ir.tir import AcceleratorStart, AcceleratorWait, Step
from atoll.lower.joined_lists import join_lists
from atoll.report.estimate_text import render_estimate
from atoll.report.estimates import estimates_of
from atoll.resolve import load_soc

ROOT = Path(__file__).parents[3]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
CHIPS = ("lagoon", "atoll2", "twin", "quad")
STRAIT = str(ROOT / "tests" / "data" / "strait.yaml")


@cache
def compiled(chip: str, *overrides: str, accelerators: bool = True) -> Compiled:
    options = BuildOptions(accelerators=accelerators)
    return compile_file(load_soc(chip, overrides), DIGITS, options)


def estimate(chip: str, *overrides: str, accelerators: bool = True) -> NetworkEstimate:
    return estimates_of((compiled(chip, *overrides, accelerators=accelerators),))[0]


@pytest.mark.parametrize("chip", CHIPS)
def test_p1_cycles_of_layers_are_those_that_placement_weighs(chip: str) -> None:
    model = compiled(chip)
    weighed = cycles_of(model.graph, model.soc, command_counts(model.module.entry.steps))
    found = {layer.operator: layer.cycles for layer in estimate(chip).layers}
    if chip == "atoll2":
        found |= {name: weighed[name] for name in found if pools_of(name, model) != {"shared"}}
    if chip == "lagoon":
        (listed,) = (
            each for each in join_lists(model.module.entry.steps, model.soc) if len(each) > 1
        )
        names = [step.operator for step in listed]
        less = sum(weighed[name] - found[name] for name in names)
        saving = joint_saving(model.soc.npus[0], model.soc) - BETWEEN_CYCLES
        assert saving > 900
        assert less == saving * (len(names) - 1)
        found |= {name: weighed[name] for name in names}
    assert found == weighed


def pools_of(operator: str, model: Compiled) -> set[str]:
    op = next(op for op in model.graph.operators if op.name == operator)
    names = map(model.graph.storage, (op.inputs[0], *op.outputs))
    return {model.plan.placements[name].pool for name in names}


def test_p1_a_plan_says_which_memories_an_engine_works_in() -> None:
    """Of atoll2's reefs: one memory is wider than another, and between two an engine changes."""
    model = compiled("atoll2")
    weighed = cycles_of(model.graph, model.soc, command_counts(model.module.entry.steps))
    found = {layer.operator: layer.cycles for layer in estimate("atoll2").layers}
    assert pools_of("conv_2d_0", model) == {"conv_private", "shared"}
    assert found["conv_2d_0"] != weighed["conv_2d_0"]


@pytest.mark.parametrize("chip", CHIPS)
def test_p1_totals_are_the_sums_of_layers(chip: str) -> None:
    found = estimate(chip)
    assert found.total == found.before + found.network + found.after
    assert found.network == max(layer.end for layer in found.layers)
    own = sum(layer.cycles for layer in found.layers)
    lists = sum(1 for _ in join_lists(compiled(chip).module.entry.steps, compiled(chip).soc))
    waits = sum(
        isinstance(step.action, AcceleratorWait) for step in compiled(chip).module.entry.steps
    )
    between = lists - waits - 1
    assert (found.sequential - own) % between == 0 if between else found.sequential == own
    assert between <= found.sequential - own <= 100 * between
    for memory in found.traffic:
        parts = [e for layer in found.layers for e in layer.traffic if e.memory == memory.memory]
        assert (memory.read, memory.written, memory.cycles) == (
            sum(part.read for part in parts),
            sum(part.written for part in parts),
            sum(part.cycles for part in parts),
        )


def test_p1_devices_at_once_take_less_than_one_after_the_other() -> None:
    assert estimate("twin").network < estimate("twin").sequential
    assert estimate("lagoon").network == estimate("lagoon").sequential
    alone = estimate("twin", accelerators=False)
    assert alone.network == alone.sequential


def test_p1_another_overlap_is_another_count_of_commands() -> None:
    requests = load_requests(None, (), (), (), "all")
    model = compile_file(load_soc("lagoon"), DIGITS, BuildOptions(requests=requests))
    usual = {layer.operator: layer.cycles for layer in estimate("lagoon").layers}
    more = {layer.operator: layer.cycles for layer in estimates_of((model,))[0].layers}
    several = {
        name for name, count in command_counts(model.module.entry.steps).items() if count > 1
    }
    assert several
    assert all((more[name] > usual[name]) == (name in several) for name in usual)


def test_p1_every_layer_says_what_decides() -> None:
    bounds = {layer.operator: layer.bound for layer in estimate("lagoon").layers}
    assert bounds["softmax_9"] == Bound.START
    core = {layer.operator: layer.bound for layer in estimate("atoll2").layers}
    assert core["softmax_9"] == Bound.CORE
    assert bounds["average_pool_2d_6"] == Bound.WEIGHTS
    alone = {layer.operator: layer.bound for layer in estimate("twin").layers}
    assert alone["conv_2d_0"] == Bound.START
    narrow = {
        layer.operator: layer.bound for layer in estimate("lagoon", "memories.sram.width=4").layers
    }
    assert narrow["conv_2d_0"] == Bound.READ
    slow = estimate("lagoon", "memories.flash.read_latency=3", "pools.weights.read_bandwidth=1")
    assert {layer.operator: layer.bound for layer in slow.layers}["fully_connected_8"] == "weights"


def test_p1_cores_that_were_not_measured_are_named() -> None:
    assert estimate("lagoon").notes == ()
    found = estimate("lagoon", "devices.cpu.core=riscv", "devices.cpu.isa=rv32im")
    assert found.notes == ("cpu: riscv is not measured; it counts as picorv32",)
    assert "note: cpu: riscv is not measured" in text_of(found)
    found = estimate("lagoon", "devices.cpu.core=riscv", "devices.cpu.isa=rv32imafdc_zve32x")
    assert found.notes == ("cpu: riscv is not measured; it counts as picorv32, without vectors",)
    assert estimate("pulp").notes == ()
    assert estimate("pulp").basis == "counted x measured"


def text_of(found: NetworkEstimate) -> str:
    console = Console(file=StringIO(), width=200)
    console.print(render_estimate(found))
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize(
    ("parts", "bound"),
    [
        ({Bound.COMPUTE: 9, Bound.READ: 5, Bound.WRITE: 4, Bound.WEIGHTS: 9}, Bound.COMPUTE),
        ({Bound.COMPUTE: 8, Bound.READ: 5, Bound.WRITE: 4}, Bound.READ),
        ({Bound.COMPUTE: 8, Bound.READ: 4, Bound.WRITE: 5, Bound.WEIGHTS: 9}, Bound.WRITE),
        ({Bound.COMPUTE: 8, Bound.READ: 4, Bound.WRITE: 5, Bound.WEIGHTS: 10}, Bound.WEIGHTS),
    ],
)
def test_p1_the_longest_part_decides(parts: dict[Bound, int], bound: Bound) -> None:
    assert Busy(cycles=20, parts=parts).bound is bound


def test_p1_bytes_are_those_of_buffers_in_their_memories() -> None:
    layers = {layer.operator: layer for layer in estimate("lagoon").layers}
    moved = {each.memory: each for each in layers["depthwise_conv_2d_1"].traffic}
    commands, table, weights = 2 * 64, 24 * 16, 3 * 128
    assert (moved["flash"].read, moved["flash"].written) == (commands + table + weights, 0)
    assert (moved["sram"].read, moved["sram"].written) == (8 * 8 * 24, 8 * 8 * 24)
    latencies, beats = 2, 2 * 8 * 8 * 24 // 8
    assert moved["sram"].cycles == beats + latencies
    (narrow,) = (
        each
        for layer in estimate("lagoon", "memories.sram.width=4").layers
        for each in layer.traffic
        if (layer.operator, each.memory) == ("depthwise_conv_2d_1", "sram")
    )
    assert narrow.cycles == 2 * beats + latencies


def test_p1_a_core_reads_for_each_tap() -> None:
    layers = estimate("lagoon", accelerators=False).layers
    (conv,) = (layer for layer in layers if layer.operator == "conv_2d_2")
    moved = {each.memory: each for each in conv.traffic}
    assert moved["dtcm"].read == 8 * 8 * 24 * 24
    assert moved["dtcm"].written == 8 * 8 * 24


@pytest.mark.parametrize(("chip", "at_once"), [("corstone300", 8), ("stm32h747", 1)])
def test_p1_vectors_fill_the_port(chip: str, at_once: int) -> None:
    """A Cortex-M55 loads vectors of MVE, a Cortex-M7 an element at a time."""
    (conv,) = (layer for layer in estimate(chip).layers if layer.operator == "conv_2d_2")
    moved = {each.memory: each for each in conv.traffic}
    (data,) = moved.keys() & {"sram", "dtcm"}
    assert moved[data].cycles == (8 * 8 * 24 * 24 + 8 * 8 * 24) // at_once


def steps() -> Iterator[Step]:
    for name, action in (
        ("a", AcceleratorStart("npu", "a_commands", 1)),
        ("b", compiled("lagoon").module.entry.steps[3].action),
        ("a", AcceleratorWait("npu")),
    ):
        yield Step(operator=name, number=0, device="", reads=(), writes=(), action=action)


@pytest.mark.parametrize(
    ("engine", "core", "length"),
    [
        (9000, 2000, 9000),
        (2000, 9000, START_CYCLES + BETWEEN_CYCLES + 9000 + BETWEEN_CYCLES + FINISH_CYCLES),
    ],
)
def test_p1_the_host_goes_on_beside_what_it_starts(engine: int, core: int, length: int) -> None:
    line = timeline_of(
        [(step,) for step in steps()], {"a": engine, "b": core}, compiled("lagoon").soc
    )
    assert line.begins == {"a": 0, "b": START_CYCLES + BETWEEN_CYCLES}
    assert line.length == line.ends["a"] == length


@pytest.mark.parametrize(
    ("core", "isa", "latency", "measured"),
    [
        ("vexriscv", "rv32im", 1, 9_663),
        ("vexriscv", "rv32im", 8, 13_030),
        ("ibex", "rv32imc", 1, 7_871),
    ],
)
def test_p1_start_up_of_other_cores_is_within_a_third(
    core: str, isa: str, latency: int, measured: int
) -> None:
    """Measured in RTL: digits alone, from reset to the first layer and after the last one."""
    host = (f"devices.cpu.core={core}", f"devices.cpu.isa={isa}")
    memories = (f"memories.{name}.read_latency={latency}" for name in ("flash", "store"))
    near = "memories.sram.read_latency=1"
    made = compiled(STRAIT, *host, *memories, near, accelerators=False)
    (found,) = estimates_of((made,))
    assert found.total - found.network == pytest.approx(measured, rel=0.33)
    assert driver_source(made.soc).band == OTHER_BAND


def test_p1_an_instruction_cache_of_the_chip_brings_far_code_near() -> None:
    """All loops of digits are in 32 KiB, so that each line of its code comes once; not in 256 B."""
    cache = "devices.cm7.instruction_cache"
    far, near, small = (
        estimate("imxrt1176", each)
        for each in (f"{cache}=null", "memories.flash.read_latency=1", f"{cache}.size=256 B")
    )
    found = estimate("imxrt1176")
    assert far.network > 10 * found.network
    assert found.network == pytest.approx(near.network, rel=0.1)
    assert found.network < small.network < far.network
    assert "assumed" in far.layers[0].basis
    assert found.layers[0].basis == "counted x published"


def test_p1_start_up_paints_stacks_and_copies_constants() -> None:
    usual = before_cycles(compiled("lagoon").soc, (cost_of(compiled("lagoon")),))
    half = compiled("lagoon", "devices.cpu.stack.size=4 KiB")
    assert usual - before_cycles(half.soc, (cost_of(half),)) == 4096 // 16 * 45
    in_ram = compiled(
        "lagoon",
        "pools.weights.memory=sram",
        "pools.weights.size=64 KiB",
        "pools.weights.offset=192 KiB",
        "pools.shared.size=128 KiB",
        "pools.weights.reach.cpu=rw",
    )
    assert before_cycles(in_ram.soc, (cost_of(in_ram),)) > usual + in_ram.plan.use["weights"].used
