# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace
from pathlib import Path

import pytest

from atoll.artifacts.samples import Sample, random_sample
from atoll.driver.pipeline import Compiled, compile_file
from atoll.report.result import StackUse
from atoll.resolve import load_soc
from atoll_sim.check.layers import check_layers
from atoll_sim.check.stack_use import PAINT, overruns, watermark
from atoll_sim.host.native_run import run_native
from atoll_sim.trace.simulation import SimResult

DIGITS = Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite"


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    return compile_file(load_soc("lagoon"), DIGITS)


@pytest.fixture(scope="module")
def samples(compiled: Compiled) -> tuple[Sample, ...]:
    return random_sample(compiled.graph) * 2


@pytest.fixture(scope="module")
def good(compiled: Compiled, samples: tuple[Sample, ...]) -> SimResult:
    return run_native((compiled,), (samples,))


def test_a_good_run_compares_every_result_and_every_output(
    compiled: Compiled, samples: tuple[Sample, ...], good: SimResult
) -> None:
    found = check_layers(compiled.graph, samples, good)
    results = sum(len(op.outputs) for op in compiled.graph.operators)
    assert found.compared == 2 * (results + len(compiled.graph.outputs))
    assert found.mismatches == ()


def test_one_wrong_byte_is_found(
    compiled: Compiled, samples: tuple[Sample, ...], good: SimResult
) -> None:
    op = compiled.graph.operators[3]
    data = bytearray(good.layers[1][3][op.outputs[0]])
    expected = int.from_bytes(data[7:8], signed=True)
    data[7] ^= 1
    layers = (good.layers[0], {**good.layers[1], 3: {op.outputs[0]: bytes(data)}})
    (found,) = check_layers(compiled.graph, samples, replace(good, layers=layers)).mismatches
    assert str(found) == (
        f"sample 1: {op.outputs[0]} of {op.name} on {op.device} differs in 1 elements, first at "
        f"element 7: expected {expected}, got {int.from_bytes(data[7:8], signed=True)}"
    )


def test_a12_what_an_accelerator_computed_wrongly_has_its_number(
    compiled: Compiled, samples: tuple[Sample, ...], good: SimResult
) -> None:
    index, op = next(
        (index, op)
        for index, op in enumerate(compiled.graph.operators)
        if op.device in {engine.name for engine in compiled.soc.engines}
    )
    data = bytearray(good.layers[0][index][op.outputs[0]])
    data[0] ^= 1
    layers = ({**good.layers[0], index: {op.outputs[0]: bytes(data)}}, good.layers[1])
    wrong = replace(good, layers=layers)
    (found,) = check_layers(compiled.graph, samples, wrong, compiled.soc).mismatches
    assert found.number == "A12"
    assert str(found).endswith("(A12)")
    assert found.as_json()["number"] == "A12"


def test_what_a_broken_off_run_never_wrote_is_missed(
    compiled: Compiled, samples: tuple[Sample, ...], good: SimResult
) -> None:
    short = replace(good, layers=good.layers[:1], outputs=good.outputs[:1])
    found = check_layers(compiled.graph, samples, short)
    assert len(found.mismatches) == found.compared // 2
    assert all("never written" in str(mismatch) for mismatch in found.mismatches)


@pytest.mark.parametrize("used", [0, 4, 8, 4096])
def test_the_watermark_is_where_the_paint_ends(used: int) -> None:
    paint = PAINT.to_bytes(4, "little")
    stack = paint * ((4096 - used) // 4) + bytes(used)
    assert watermark(stack) == used


def test_paint_above_the_deepest_word_does_not_count() -> None:
    paint = PAINT.to_bytes(4, "little")
    assert watermark(paint * 10 + bytes(4) + paint * 5) == 24


@pytest.mark.parametrize(("watermark_", "count"), [(300, 0), (304, 1), (None, 0), (0, 0)])
def test_k5_a_run_that_used_more_than_the_bound_is_a_violation(
    watermark_: int | None, count: int
) -> None:
    soc = load_soc("lagoon")
    use = StackUse(bound=300, watermark=watermark_, limit=400, layer="built-in")
    found = tuple(overruns(soc, {"cpu": use}))
    assert len(found) == count
    for violation in found:
        assert violation.rule == "deeper than the bound"
        assert violation.pool == "cpu.stack"
        assert violation.address == soc.host_cpu.stack.end - 304
        assert violation.size == 4
