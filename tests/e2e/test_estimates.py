# SPDX-License-Identifier: Apache-2.0
"""P1: what placement and scheduling assume of cores and engines, held against RTL.

The figures are those of the report: `estimate` beside `cycles`. Cycle counts of the simulator are
deterministic; nothing here measures time.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from benchmarks.estimate import LARGE, NOWHERE, UNSEEN, compare
from benchmarks.estimate_layers import branched_network
from tests.recurrent_samples import recurrent
from tests.requests import load_requests

from atoll.api.driver import kernels_of, with_kernels
from atoll.artifacts.samples import random_sample
from atoll.cost.data.picorv32 import FINISH_CYCLES
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file, compile_graph
from atoll.ops.registry import OPERATORS
from atoll.report.estimates import estimates_of
from atoll.report.result import LayerCycles, RunReport
from atoll.resolve import load_soc
from atoll_sim.core_calibration.measure import with_host
from atoll_sim.core_calibration.random_layers import LAYERS, random_network
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models
from atoll_sim.runs.kernel_runs import run_kernels

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
CLOSE = 0.25
COUNTED_CLOSE, COUNTED_FROM = 0.12, 1000
"""How near estimates are whose instructions the simulator counted, and from how many cycles on."""

ENTERED = 128
"""Cycles by which any kernel may be off: what is before and after its loops, which is most of a
kernel of a few hundred."""

ENGINES_CLOSE = {"twin": 0.17, "islands_dma": 0.12}
"""Where not 0.1: copies of DMA engines go on beside what computes in the same memories."""

CHIPS: dict[str, tuple[str, tuple[str, ...]]] = {
    "lagoon": ("lagoon", ()),
    "atoll2": ("atoll2", ()),
    "twin": ("twin", ()),
    "islands": (str(DATA / "islands.yaml"), ()),
    "islands_dma": (str(DATA / "islands_dma.yaml"), ()),
    "narrow": ("lagoon", ("memories.sram.width=4",)),
    "far_code": ("lagoon", ("memories.flash.read_latency=6",)),
}

SHIPPED = ("lagoon",)
"""Their models are built for other tests as well; the others are for `make test-all`."""

pytestmark = pytest.mark.rtl


UNMADE = (
    *("copy", "relayout", "reshape", "ethos_u", "rows", "join_rows"),
    *("layer_normalization", "pack", "split", "split_v", "unpack"),
)
"""Kinds that these networks do not run as such."""

UNMEASURED = (
    *("abs", "add_n", "arg_max", "arg_min", "batch_matmul", "cast", "cumsum", "elu", "equal"),
    *("expand_dims", "greater", "greater_equal", "hard_swish", "l2_normalization"),
    *("leaky_relu", "less", "less_equal", "log_softmax", "logical_and", "logical_not"),
    *("logical_or", "logistic", "lookup", "maximum", "minimum", "not_equal", "prelu", "reduce_max"),
    *("reduce_min", "relu6", "resize_bilinear", "rsqrt", "select_v2", "slice"),
    *("squared_difference", "squeeze", "strided_slice", "sub", "sum", "tanh", "transpose"),
    *(
        "transpose_conv",
        "batch_to_space_nd",
        "broadcast_to",
        "depth_to_space",
        "mirror_pad",
        "padv2",
    ),
    *("broadcast_args", "div", "fill", "gather", "gather_nd", "shape", "zeros_like"),
    *("resize_nearest_neighbor", "reverse_v2", "space_to_batch_nd", "space_to_depth"),
    *("exp", "gelu", "log", "tile", "dynamic_update_slice", "embedding_lookup", "reduce_all"),
)
"""Kinds whose estimates no test holds against RTL yet; a new kind is measured or stands here."""


def measured(
    soc: str, overrides: tuple[str, ...], model: Path, overlap: str | None, *, accelerators: bool
) -> tuple[Compiled, RunReport]:
    requests = load_requests(None, (), (), (), overlap)
    whole = requests.model.model_copy(update={"rewrite": False})
    requests = replace(requests, model=whole)
    options = BuildOptions(accelerators=accelerators, requests=requests)
    compiled = compile_file(load_soc(soc, overrides), model, options)
    kind = AcceleratorKind.RTL if accelerators else AcceleratorKind.NONE
    sample = random_sample(compiled.graph)
    report = run_models((compiled,), (sample,), cpu=CpuKind.RTL, accelerator=kind)[0].report
    assert report.passed
    return compiled, report


def errors(report: RunReport) -> dict[tuple[str, str, str], float]:
    """Return estimate / measured - 1 by operator, kind and device, of all."""
    return {
        (layer.operator, layer.kind, layer.device): layer.estimate / own_cycles(layer, report) - 1
        for layer in report.by_layer
    }


def errors_where_counted(
    compiled: Compiled, report: RunReport
) -> dict[tuple[str, str, str], float]:
    """Return the same with the instructions that a simulator counts, of what takes long enough."""
    kernels = kernels_of((compiled,), run_kernels((compiled,)))
    (estimate,) = estimates_of((with_kernels(compiled, kernels),))
    assert {each.basis for each in estimate.layers} == {"simulated x measured"}
    took = {each.operator: own_cycles(each, report) for each in report.by_layer}
    return {
        (each.operator, each.kind, each.devices[0]): each.cycles / took[each.operator] - 1
        for each in estimate.layers
        if took[each.operator] >= COUNTED_FROM
    }


def own_cycles(layer: LayerCycles, report: RunReport) -> int:
    """Return the cycles of a layer; where another one begins before its end, without waiting."""
    beside = any(layer.begin < other.begin < layer.end for other in report.by_layer)
    return min(layer.cycles, layer.worked + FINISH_CYCLES) if beside else layer.cycles


def far(found: dict[tuple[str, str, str], float], most: float) -> dict[Any, float]:
    return {key: error for key, error in found.items() if abs(error) > most}


def test_p1_cycles_of_a_core_are_near_the_estimate(
    tflite_builder: ModuleType, every_operator: Any, tmp_path: Path
) -> None:
    path, states = tmp_path / "every_operator.tflite", tmp_path / "recurrent.tflite"
    path.write_bytes(tflite_builder.write(every_operator))
    states.write_bytes(tflite_builder.write(recurrent(tflite_builder)))
    found: dict[tuple[str, str, str], float] = {}
    counted: dict[tuple[str, str, str], float] = {}
    entered = set()
    for model in (DIGITS, path, states):
        compiled, report = measured("lagoon", (), model, None, accelerators=False)
        found |= errors(report)
        counted |= errors_where_counted(compiled, report)
        entered |= {
            layer.operator
            for layer in report.by_layer
            if abs(layer.estimate - own_cycles(layer, report)) <= ENTERED
        }
    assert {key: e for key, e in far(found, CLOSE).items() if key[0] not in entered} == {}
    assert far(counted, COUNTED_CLOSE) == {}
    assert far({key: found[key] for key in counted}, COUNTED_CLOSE), "the loop nest says less"
    assert {kind for _, kind, _ in found} >= set(OPERATORS) - {*UNMADE, *UNMEASURED}
    assert {kind for _, kind, _ in found}.isdisjoint(UNMEASURED)


@pytest.mark.parametrize("core", ["ibex", "cv32e40p"])
def test_p1_a_core_that_fetches_ahead_waits_less_for_data_beside_its_code(core: str) -> None:
    """Lagoon has both in one flash; without `beside_code`, layers are a fifth too high."""
    settings = (f"devices.cpu.core={core}", "devices.cpu.isa=rv32imc")
    compiled, report = measured("lagoon", settings, DIGITS, None, accelerators=False)
    timing = compiled.soc.host_cpu.spec.timing
    assert timing
    apart = with_host(compiled.soc, timing=replace(timing, beside_code=None))
    assert far(errors_where_counted(compiled, report), COUNTED_CLOSE) == {}
    assert far(errors_where_counted(replace(compiled, soc=apart), report), 0.18)
    assert far(errors(report), CLOSE) == {}


def test_p1_an_addition_takes_sixty_cycles_an_element() -> None:
    """On PicoRV32 with instructions of two bytes, where loops and jumps begin with a word."""
    compiled, report = measured("lagoon", (), DIGITS, None, accelerators=False)
    (layer,) = (layer for layer in report.by_layer if layer.kind == "add")
    assert layer.cycles <= 60 * compiled.graph.tensor("add_3_out").elements


@pytest.mark.parametrize(
    "chip",
    [pytest.param(chip, marks=() if chip in SHIPPED else pytest.mark.slow) for chip in CHIPS],
)
def test_p1_cycles_of_engines_are_near_the_estimate(chip: str) -> None:
    compiled, report = measured(*CHIPS[chip], DIGITS, None, accelerators=True)
    engines = {engine.name for engine in compiled.soc.engines}
    found = errors(report)
    on_engines = {key: error for key, error in found.items() if key[2] in engines}
    assert far(on_engines, ENGINES_CLOSE.get(chip, 0.1)) == {}
    assert far(found, CLOSE) == {}
    assert {device for _, _, device in on_engines} == engines


def test_p1_commands_for_the_sake_of_memory_are_in_the_estimate() -> None:
    compiled, report = measured("lagoon", (), DIGITS, "all", accelerators=True)
    counts = dict(strips(compiled))
    assert max(counts.values()) == 64
    several = {operator for operator, count in counts.items() if count > 1}
    assert far({key: e for key, e in errors(report).items() if key[0] in several}, 0.05) == {}


def strips(compiled: Compiled) -> Iterator[tuple[str, int]]:
    for step in compiled.module.entry.steps:
        if hasattr(step.action, "count"):
            yield step.operator, step.action.count


def test_p1_the_report_shows_what_is_compared() -> None:
    _, report = measured("lagoon", (), DIGITS, None, accelerators=True)
    rows = report.as_json()["cycles"]["by_layer"]
    assert all(row["estimate"] > 0 and row["worked"] <= row["cycles"] for row in rows)


def test_p1_the_estimate_of_a_network_is_what_a_run_takes() -> None:
    """Digits on lagoon: the network within 10 %, each layer within 15 %, and its bytes."""
    compiled, report = measured("lagoon", (), DIGITS, None, accelerators=True)
    (estimate,) = estimates_of((compiled,))
    layers = {layer.operator: layer for layer in estimate.layers}
    for layer in report.by_layer:
        assert layers[layer.operator].cycles == layer.estimate
        assert layer.estimate == pytest.approx(layer.cycles, rel=0.15)
    first, last = report.by_layer[0], report.by_layer[-1]
    assert estimate.network == pytest.approx(last.end - first.begin, rel=0.1)
    assert estimate.before == pytest.approx(first.begin, rel=0.03)
    assert estimate.after == pytest.approx(report.total_cycles - last.end, rel=0.1)
    assert estimate.total == pytest.approx(report.total_cycles, rel=0.1)


def test_p1_bytes_of_engines_are_those_that_they_move() -> None:
    """Whole beats that are read, and bytes that are written, of each layer on lagoon's reef."""
    compiled, report = measured("lagoon", (), DIGITS, None, accelerators=True)
    (estimate,) = estimates_of((compiled,))
    found = {
        layer.operator: {each.memory: (each.read, each.written) for each in layer.traffic}
        for layer in estimate.layers
        if layer.devices == ("npu",)
    }
    assert len(found) == 9
    assert {each.operator: each.moved for each in report.by_layer} == found


def test_p1_estimates_hold_for_layers_that_nothing_was_fitted_to() -> None:
    found = compare("lagoon", UNSEEN)
    assert len(found.layers) == LAYERS
    assert abs(found.error) < 0.1
    assert abs(found.worst.error) < 0.15


@pytest.mark.slow
def test_p1_estimates_hold_for_an_engine_eight_times_as_fast_as_its_memories() -> None:
    found = compare("800MHz", DIGITS)
    assert found.network_estimate == pytest.approx(found.network, rel=0.05)
    assert abs(found.worst.error) <= 0.1


@pytest.mark.slow
def test_p1_estimates_hold_for_networks_whose_activations_are_far_away() -> None:
    """Most layers have theirs in two memories, one of which answers after 16 cycles."""
    found = compare("shoal", UNSEEN)
    assert abs(found.error) < 0.05
    assert sum(abs(layer.error) < 0.15 for layer in found.layers) >= 0.9 * LAYERS


@pytest.mark.slow
def test_p1_estimates_hold_for_masters_that_take_turns_at_one_bank() -> None:
    """Three engines at work at once, which without turns would take a fifth less."""
    found = compare("narrows", branched_network(2))
    assert abs(found.error) < 0.1
    assert (found.network_estimate - found.waiting) / found.network < 0.85


@pytest.mark.slow
def test_p1_estimates_hold_for_constants_that_are_far_from_activations() -> None:
    """What the array writes meanwhile turns the port between any two beats of constants."""
    found = compare("picorv32 reef apart", UNSEEN + 6)
    assert abs(found.error) < 0.05
    assert all(abs(layer.error) < 0.15 for layer in found.layers if layer.measured >= LARGE)


@pytest.mark.slow
def test_p1_weights_that_do_not_fit_are_read_from_the_first_tap_of_a_row() -> None:
    """Also where that lies left of the image; those right of it are not read."""
    soc = load_soc("lagoon", ("devices.npu.params.weight_rows=16",))
    compiled = compile_graph(soc, random_network(UNSEEN + 10), NOWHERE, BuildOptions())
    (outcome,) = run_models((compiled,), (random_sample(compiled.graph),))
    (estimate,) = estimates_of((compiled,))
    layer = next(each for each in estimate.layers if each.operator == "conv_2d_4")
    read = next(each.read for each in layer.traffic if each.memory == "flash")
    found = next(each for each in outcome.report.by_layer if each.operator == "conv_2d_4")
    assert found.moved
    assert read == pytest.approx(found.moved["flash"][0], rel=0.01)
