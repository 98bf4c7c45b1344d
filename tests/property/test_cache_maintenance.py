# SPDX-License-Identifier: Apache-2.0
"""Any chip of cached cores, any devices for operators: maintenance is enough, and none too much."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from tests.cached_chips import (
    CORTEX_M7,
    IN_RAM,
    NOT_OF_THE_HOST,
    NPU,
    SHARED_BY_INSTRUCTIONS,
    cached_twin,
)
from tests.effort import cases
from tests.requests import load_requests

from atoll.contract.maintenance_check import maintenance_faults
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file
from atoll.ir.maintenance import Operation
from atoll.memory.problem import Buffer
from atoll.resolve import load_soc
from atoll_sim.mutate.caches import cache_omissions

DIGITS = Path(__file__).parents[2] / "examples" / "01_digits" / "digits_int8.tflite"
OPERATORS = ("conv_2d_0", "depthwise_conv_2d_1", "conv_2d_2", "add_3", "softmax_9")


def random_build(seed: int) -> Compiled:
    random = Random(seed)
    lines = random.choice([(8, 0), (0, 32), (32, 16), (64, 64), (256, 8), (16, 128)])
    through = [n for n, line in zip(("cpu", "dsp"), lines, strict=True) if line]
    settings = [
        f"devices.{name}.cache.write_back=false" for name in through if random.random() < 0.25
    ]
    wishes = [f"{name}={random.choice(('cpu', 'dsp'))}" for name in OPERATORS]
    chosen = tuple(random.sample(wishes, random.randrange(len(wishes))))
    options = BuildOptions(requests=load_requests(None, chosen))
    return compile_file(cached_twin(*lines, *settings), DIGITS, options)


@pytest.mark.parametrize("seed", range(cases(20)))
def test_maintenance_is_enough_and_none_of_it_too_much(seed: int) -> None:
    compiled = random_build(seed)
    module, plan, soc = compiled.module, compiled.plan, compiled.soc
    assert not list(maintenance_faults(module, plan, soc))
    for each in cache_omissions(compiled):
        assert list(maintenance_faults(each.built.module, plan, soc)), str(each)


def random_shared_build(seed: int) -> Compiled:
    """Place operators on two cores of one cache, which the host has or not, and on a third."""
    random = Random(seed)
    settings = list(random.choice([(), NOT_OF_THE_HOST]))
    settings += [
        f"devices.{name}.cache.{key}={value}"
        for name in ("cpu", "dsp")
        for key, value in (
            ("line", random.choice((8, 16, 64))),
            ("write_back", random.choice(("true", "true", "false"))),
        )
    ]
    settings += random.choice([[], ["devices.npu=null"], ["devices.dsp.cache=null"]])
    wishes = [f"{name}={random.choice(('cpu_0', 'cpu_1', 'dsp'))}" for name in OPERATORS]
    chosen = tuple(random.sample(wishes, random.randrange(len(wishes))))
    options = BuildOptions(requests=load_requests(None, chosen))
    return compile_file(load_soc(SHARED_BY_INSTRUCTIONS, settings), DIGITS, options)


@pytest.mark.parametrize("seed", range(cases(20)))
def test_maintenance_of_a_shared_cache_is_enough_and_little_of_it_too_much(seed: int) -> None:
    """A core other than the host cleans what it wrote though nobody else may ever look."""
    compiled = random_shared_build(seed)
    module, plan, soc = compiled.module, compiled.plan, compiled.soc
    assert not list(maintenance_faults(module, plan, soc))
    for each in cache_omissions(compiled):
        operation = each.operation
        if operation.device == soc.host or operation.operation is Operation.INVALIDATE:
            assert list(maintenance_faults(each.built.module, plan, soc)), str(each)
        assert operation.device == soc.host or soc.host not in soc.sharing(operation.device)


def random_npu_build(seed: int) -> Compiled:
    """Place operators on an accelerator with a data cache, and on a core with one or without."""
    random = Random(seed)
    settings = [
        f"devices.npu.cache.line={random.choice((8, 16, 32, 64, 128))}",
        f"devices.npu.cache.write_back={random.choice(('true', 'true', 'false'))}",
        *random.choice([(), CORTEX_M7[:4]]),
        *random.choice([(), IN_RAM]),
        *random.choice([(), ("devices.npu.cache.memories=[sram]",)]),
        f"devices.npu.params.vector={random.choice((0, 1))}",
    ]
    chosen = tuple(f"{name}=cpu" for name in OPERATORS if random.random() < 0.3)
    options = BuildOptions(requests=load_requests(None, chosen))
    return compile_file(load_soc(NPU, settings), DIGITS, options)


def random_two_npus_build(seed: int) -> Compiled:
    """Place operators on two accelerators with caches beside a DMA engine, and on two cores."""
    random = Random(seed)
    settings = [
        f"devices.{name}.cache={{line: {random.choice((8, 32, 128))}, maintenance:"
        f" {{clean: [{{write: {at:#x}, value: line}}], invalidate: [{{write: {at + 4:#x},"
        " value: line}]}}"
        for name, at in (("npu_large", 0x4008_0000), ("npu_small", 0x4009_0000))
    ]
    settings += random.choice([(), ("memories.large_sram.cached=false",)])
    chosen = tuple(
        f"{name}={random.choice(('cpu', 'dsp'))}" for name in OPERATORS[3:] if random.random() < 0.5
    )
    options = BuildOptions(requests=load_requests(None, chosen))
    return compile_file(load_soc("twin", settings), DIGITS, options)


@pytest.mark.parametrize("build", [random_npu_build, random_two_npus_build])
@pytest.mark.parametrize("seed", range(cases(20)))
def test_maintenance_of_an_accelerator_s_cache_is_enough_and_none_of_it_too_much(
    build: Callable[[int], Compiled], seed: int
) -> None:
    compiled = build(seed)
    module, plan, soc = compiled.module, compiled.plan, compiled.soc
    assert not list(maintenance_faults(module, plan, soc))
    for each in cache_omissions(compiled):
        assert list(maintenance_faults(each.built.module, plan, soc)), str(each)


@pytest.mark.parametrize("build", [random_build, random_npu_build])
@pytest.mark.parametrize("seed", range(cases(20)))
def test_no_line_has_two_owners(build: Callable[[int], Compiled], seed: int) -> None:
    compiled = build(seed)
    entry, soc, plan = compiled.module.entry, compiled.soc, compiled.plan
    line = max(each.cache.line for each in soc.cached_devices if each.cache)
    owners: dict[str, set[str]] = {name: {soc.host} for name in (*entry.inputs, *entry.outputs)}
    for step in entry.steps:
        for name in (*step.reads, *step.writes):
            owners.setdefault(name, set()).add(step.device)
    constants = {constant.name for constant in entry.constants}
    cached = {pool.name for pool in soc.pools if pool.name == "shared"}
    placed = [
        buffer
        for buffer in plan.problem.buffers
        if plan.placements[buffer.name].pool in cached and buffer.name not in constants
    ]

    def lines_of(buffer: Buffer) -> set[int]:
        begin, size = plan.address(buffer.name), entry.sizes[buffer.name]
        return set(range(begin // line, -(-(begin + size) // line)))

    for number, one in enumerate(placed):
        for other in placed[:number]:
            live = one.live[0][0] < other.live[0][1] and other.live[0][0] < one.live[0][1]
            alike = owners[one.name] == owners[other.name] and len(owners[one.name]) == 1
            may = {(each.later, each.earlier) for each in plan.problem.overlaps}
            over = (one.name, other.name) in may or (other.name, one.name) in may
            if live and not alike and not over:
                assert not lines_of(one) & lines_of(other), (one, other)
