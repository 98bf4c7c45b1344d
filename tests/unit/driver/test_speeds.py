# SPDX-License-Identifier: Apache-2.0
"""Points that differ in one thing: nothing that is kept is stale, and costs follow the speeds."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benchmarks.freeze import facts

from atoll.api.chips import load_soc as load_chip
from atoll.api.compilation import compile as compile_networks
from atoll.api.estimates import estimate
from atoll.description.build import Build, BuildRequests
from atoll.diagnostics.errors import AtollError
from atoll.driver.compiled import Compiled, placed_graph
from atoll.driver.pipeline import BuildOptions, compile_file, compile_graph
from atoll.driver.speeds import at_speeds_of, stays
from atoll.frontend.registry import load_network, read_source
from atoll.ir.graph import Graph
from atoll.place.partition import decide
from atoll.place.passes import DEVICE_PASSES, STORAGE_PASSES, Placing, ignore_result, run_passes
from atoll.report.estimates import estimates_of
from atoll.resolve import load_soc
from atoll.resolve.timeless import timeless
from atoll.utils.remember import forget

DIGITS = Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite"
ISLANDS = Path(__file__).parents[2] / "data" / "islands_dma.yaml"
CHIPS = ("lagoon", pytest.param("twin", marks=pytest.mark.slow))
SPEEDS = ("clock", "width", "banks", "read_latency")
CHANGES = (
    "devices.dma.moves=[[tcm, sram_a], [sram_a, tcm]]",
    "devices.npu_a.clock=100 kHz",
    "devices.npu_a.params.line_columns=16",
    "devices.npu_a.runs=[CONV_2D, ADD]",
    "devices.npu_b.params.input_lanes=8",
    "interface.map_inputs=true",
    "pools.only_a.alignment=64",
    "pools.only_a.preference=3",
    "pools.only_a.reach.cpu=rw",
    "pools.only_a.size=2 KiB",
    "pools.only_b.reach.cpu=ro",
    "pools.only_b.reach.npu_a=rw",
    "pools.only_cpu.reach.npu_a=ro",
)
WISHES: tuple[Mapping[str, Any], ...] = (
    {"place": {"conv_2d_2": "cpu"}},
    {"place": {"conv_2d_5": "cpu"}},
    {"pin": {"image": "only_a"}},
    {"pin": {"conv_2d_0_out": "only_b"}},
    {"pin": {"add_3_out": "only_cpu, only_a"}},
    {"overlap": "all"},
    {"overlap": "none"},
    {"robust": True},
    {"rewrite": False},
    {"tile": "never"},
)
Point = tuple[tuple[str, ...], Graph, BuildOptions]


def _changes(chip: str) -> Iterator[str]:
    """Yield a set of each key that is a number, to one that the chip can have."""
    source = load_soc(chip).source
    assert source is not None
    for key, value in source.values():
        if isinstance(value, int) and not isinstance(value, bool):
            for changed in (value * 2, value // 2, value + 16):
                override = f"{'.'.join(key)}={changed}"
                try:
                    load_soc(chip, (override,))
                except AtollError:
                    continue
                yield override
                break


def _compiled(chip: str, override: str) -> Compiled | None:
    try:
        return compile_file(load_soc(chip, (override,)), DIGITS)
    except AtollError:
        return None


def _found(made: Compiled | None) -> object:
    return made and {name: each for name, each in facts(made).items() if name != "seconds"}


def _said(made: Compiled | None) -> object:
    """Return all that is said of a network on a chip: its plan, why it is so, and what it takes."""
    return made and (_found(made), made.decisions, made.contract, estimates_of((made,)))


@pytest.mark.parametrize("chip", CHIPS)
def test_each_key_gives_what_a_fresh_process_finds(chip: str) -> None:
    changes = tuple(_changes(chip))
    assert len(changes) > 20
    kept = {each: _said(_compiled(chip, each)) for each in changes}
    for each in reversed(changes):
        forget()
        assert _said(_compiled(chip, each)) == kept[each], each


BOOT = (
    "memories.boot={origin: 0x0A00_0000, size: 128 KiB, kind: rom}",
    "devices.cpu.code.memory=boot",
)
"""The code of a core, as its stack, in a memory that has no pool."""


@pytest.mark.parametrize(
    ("chip", "sets", "keys"),
    [
        ("atoll2", BOOT, ("memories.boot.read_latency=3", "memories.tcm.read_latency=3")),
        ("twin", (), ("devices.cpu.clock=25 MHz", "devices.dsp.clock=25 MHz")),
        ("stm32h747", (), ("memories.flash1.width=4", "memories.dtcm.width=4")),
        (
            "lagoon",
            ("pools.private.size=1 KiB", "devices.npu.runs=[ADD]"),
            ("memories.sram.read_latency=4", "devices.cpu.isa=rv32im", "pools.weights.size=64 KiB"),
        ),
        (
            "lagoon",
            (),
            ("pools.shared.offset=8 KiB", "pools.private.offset=12 KiB", "devices.npu.irq=4"),
        ),
        (
            "lagoon",
            ("pools.shared.size=3 KiB",),
            ("pools.private.size=1 KiB", "pools.private.size=4 KiB", "devices.npu.runs=[CONV_2D]"),
        ),
    ],
)
def test_what_cores_take_is_as_in_a_fresh_process(
    chip: str, sets: tuple[str, ...], keys: tuple[str, ...]
) -> None:
    def said(*changes: str) -> object:
        return _said(compile_file(load_soc(chip, (*sets, *changes)), DIGITS))

    points = ((), *((each,) for each in keys))
    kept = [said(*each) for each in points]
    for each, found in zip(points, kept, strict=True):
        forget()
        assert said(*each) == found, each


def test_a_graph_on_another_plan_has_its_pools() -> None:
    made = compile_file(load_soc("lagoon"), DIGITS)
    assert "shared" in {each.pool for each in placed_graph(made).tensors}
    places = {name: replace(each, pool="private") for name, each in made.plan.placements.items()}
    other = replace(made, plan=replace(made.plan, placements=places))
    assert "shared" not in {each.pool for each in placed_graph(other).tensors}


@pytest.mark.parametrize("most", [14, pytest.param(None, marks=pytest.mark.slow)])
def test_pools_of_any_size_give_what_a_fresh_process_finds(most: int | None) -> None:
    """Sizes at which a tensor has just room, or just none, and such as make stripes."""
    sizes = {each.size for each in load_network(DIGITS).tensors if each.data is None}
    rooms = sorted({size - size % 16 + more for size in sizes for more in (0, 16)})
    changes = [f"pools.{pool}.size={room}" for room in rooms for pool in ("shared", "private")]
    random.Random(1).shuffle(changes)
    changes = changes[:most]
    kept = {each: _said(_compiled("lagoon", each)) for each in changes}
    assert len({str(each) for each in kept.values()}) > len(changes) // 4
    for each in changes:
        forget()
        assert _said(_compiled("lagoon", each)) == kept[each], each


@pytest.mark.parametrize("pool", ["only_a", "only_b"])
def test_pools_of_any_size_give_what_a_fresh_process_finds_with_copies(pool: str) -> None:
    network, options = load_network(DIGITS), BuildOptions()
    changes = [f"pools.{pool}.size={room}" for room in (1024, 1040, 2048, 4096, 6144, 16384)]
    points = [((each,), network, options) for each in changes]
    kept = [_chosen(each) for each in points]
    for each, found in zip(points, kept, strict=True):
        forget()
        assert _chosen(each) == found, each[0]


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_changes_in_any_order_give_what_a_fresh_process_finds(seed: int) -> None:
    drawn = random.Random(seed)
    choices = (
        [f"devices.npu.clock={each} MHz" for each in (40, 100)],
        [f"memories.flash.read_latency={each}" for each in (1, 5)],
        [f"pools.shared.size={each} KiB" for each in (5, 64, 96)],
        [f"devices.npu.params.input_lanes={each}" for each in (4, 8)],
        [f"devices.npu.params.vector={each}" for each in (0, 2)],
        ["devices.npu.runs=[CONV_2D]", "devices.npu.label=other"],
        ["devices.cpu.label=one", "devices.cpu.label=two"],
    )
    asked = [
        tuple(drawn.choice(each) for each in drawn.sample(choices, drawn.randint(1, 4)))
        for _ in range(15)
    ]
    points = [*asked, *drawn.sample(asked, 5)]
    kept = [_point(each) for each in points]
    fresh: dict[tuple[str, ...], object] = {}
    for each, found in zip(points, kept, strict=True):
        if each not in fresh:
            forget()
            fresh[each] = _point(each)
        assert found == fresh[each], each


def _points() -> Iterator[Point]:
    """Yield a point, and others that differ from it in one thing."""
    network, options = load_network(DIGITS), BuildOptions()
    yield (), network, options
    for change in CHANGES:
        yield (change,), network, options
    for wish in WISHES:
        asked = BuildRequests(model=Build.model_validate(wish))
        yield (), network, replace(options, requests=asked)
    yield (), network, replace(options, accelerators=False)
    yield (), network, replace(options, algorithm="greedy-by-size")
    for other in _changed_networks(network):
        yield (), other, options


def _changed_networks(network: Graph) -> Iterator[Graph]:
    """Yield networks of the same name: one ends earlier, one has another weight."""
    *operators, last = network.operators
    yield replace(network, operators=tuple(operators), outputs=last.inputs)
    weights = network.tensor("conv_2d_2_filter")
    assert weights.data is not None
    changed = replace(weights, data=bytes([weights.data[0] ^ 1]) + weights.data[1:])
    tensors = (changed if each is weights else each for each in network.tensors)
    yield replace(network, tensors=tuple(tensors))


def _chosen(point: Point) -> object:
    """Return what a network becomes, or why it cannot."""
    overrides, network, options = point
    soc = load_soc(ISLANDS, overrides)
    try:
        made = compile_graph(soc, network, read_source(DIGITS), options)
    except AtollError as error:
        return str(error)
    return _found(made), made.decisions


def test_what_differs_in_one_thing_is_found_as_in_a_fresh_process() -> None:
    points = tuple(_points())
    kept = [_chosen(each) for each in points]
    assert len({str(each) for each in kept}) > len(points) // 2
    for each, found in zip(points, kept, strict=True):
        forget()
        assert _chosen(each) == found, each[::2]


@pytest.mark.parametrize("chip", ["lagoon", "atoll2", "twin", "pulp", "zynqmp"])
def test_placed_graphs_depend_on_no_speed(chip: str) -> None:
    """That is why those of other speeds are kept."""
    network, soc = load_network(DIGITS), load_soc(chip)
    decisions = decide(network, soc)
    placed = []
    for each in (soc, timeless(soc)):
        forget()
        placing = Placing(graph=network, soc=each, decisions=decisions)
        for passes in (DEVICE_PASSES, STORAGE_PASSES):
            placing = run_passes(placing, passes, ignore_result)
        placed.append(placing)
    assert placed[0].graph == placed[1].graph
    assert placed[0].log == placed[1].log


def _point(overrides: tuple[str, ...]) -> object:
    """Return all that is said of a chip with a network on it."""
    soc = load_soc("lagoon", overrides)
    assert soc.source is not None
    told = soc, dict(soc.layers), soc.source.soc, soc.source.where
    try:
        made = compile_file(soc, DIGITS)
    except AtollError as error:
        return told, str(error)
    return told, _said(made)


@pytest.mark.parametrize("chip", CHIPS)
def test_costs_follow_speeds_or_say_that_the_program_changes(chip: str) -> None:
    usual = compile_file(load_soc(chip), DIGITS)
    followed = set()
    for each in _changes(chip):
        other = load_soc(chip, (each,))
        again, made = at_speeds_of(usual, other), _compiled(chip, each)
        if again is None:
            assert not stays(usual, other)
        elif stays(usual, other):
            assert made is not None
            assert estimates_of((again,)) == estimates_of((made,)), each
            followed.add(each.partition("=")[0].rpartition(".")[2])
        else:
            assert made is None or made.module != usual.module or made.plan != usual.plan, each
    assert followed.issuperset(SPEEDS)


def test_an_engine_so_slow_that_others_run_its_operators_is_noticed() -> None:
    usual = compile_file(load_soc("lagoon"), DIGITS)
    slow = load_soc("lagoon", ("devices.npu.clock=1 MHz",))
    assert at_speeds_of(usual, slow) is not None
    assert not stays(usual, slow)


def test_a_pool_of_another_size_is_no_other_speed() -> None:
    made = compile_networks("lagoon", DIGITS)
    with pytest.raises(ValueError, match="in more than speed"):
        estimate(made, soc=load_chip("lagoon").with_({"pools.shared.size": "100 KiB"}))


def test_an_estimate_says_that_the_program_would_change() -> None:
    made = compile_networks("lagoon", DIGITS)
    slow = estimate(made, soc=load_chip("lagoon").with_({"devices.npu.clock": "1 MHz"}))
    assert slow.network.total_cycles > estimate(made).network.total_cycles
    assert "becomes another program" in slow.network.notes[-1]
