# SPDX-License-Identifier: Apache-2.0
"""Wherever devices see memories, an address and its byte belong together, and digits are exact."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.effort import cases

from atoll.artifacts.samples import random_sample
from atoll.diagnostics.errors import DescriptionError
from atoll.driver.pipeline import compile_file
from atoll.resolve import load_soc
from atoll.resolve.memory_views import STEP, as_seen_by, device_address, on_bus
from atoll.resolve.soc import Access, ResolvedSoc
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models

ROOT = Path(__file__).parents[2]
SHORE = ROOT / "tests" / "data" / "shore.yaml"
MODEL = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
DEVICES = ("cpu", "npu", "dma")
PAIRS = [(f"memories.{name}", device) for name in ("flash", "dtcm", "sram") for device in DEVICES]
PAIRS += [("devices.npu", "cpu"), ("devices.dma", "cpu")]

PAGES = st.integers(0, 0x400).map(lambda page: page * STEP) | st.integers(0, 0xFFFF).map(
    lambda block: block << 16
)


@st.composite
def chips(draw: st.DrawFn) -> ResolvedSoc | None:
    """Draw views of memories and registers; None where two of them would be at one address."""
    chosen = draw(st.lists(st.sampled_from(PAIRS), min_size=1, unique=True))
    views = [f"{part}.views={{{device}: {draw(PAGES):#x}}}" for part, device in chosen]
    try:
        return load_soc(SHORE, views)
    except DescriptionError as error:
        if all(fault.code in ("E109", "E118", "E119") for fault in error.faults):
            return None
        raise


@settings(max_examples=cases(100), deadline=None)
@given(chips(), st.data())
def test_an_address_and_its_byte_belong_together(
    soc: ResolvedSoc | None, data: st.DataObject
) -> None:
    if soc is None:
        return
    for device in soc.devices:
        reached = [p.region for p in soc.pools if p.reach[device.name] is not Access.NONE]
        seen = sorted(
            {
                soc.memory(region.memory).device_range(device.name).start: region
                for region in reached
            }
        )
        assert len(seen) == len({region.memory for region in reached})
        for region in reached:
            byte = data.draw(st.integers(region.origin, region.end - 1))
            address = device_address(soc, device.name, byte)
            assert address in soc.memory(region.memory).device_range(device.name)
            assert on_bus(soc, device.name, address) == byte
            assert (address - byte) % STEP == 0
    for block in soc.register_blocks.values():
        byte = data.draw(st.integers(block.origin, block.end - 1))
        address = device_address(soc, soc.host, byte)
        assert address - byte == block.views.get(soc.host, block.origin) - block.origin
        assert on_bus(soc, soc.host, address) == byte


@settings(max_examples=cases(100), deadline=None)
@given(chips(), st.permutations(DEVICES))
def test_a_chip_is_seen_alike_by_whatever_way(soc: ResolvedSoc | None, ways: list[str]) -> None:
    """Pools lie where the last viewer sees them, and all see each part where they did."""
    if soc is None:
        return
    seen = soc
    for device in ways:
        seen = as_seen_by(seen, device)
        for before, after in zip(soc.address_blocks(), seen.address_blocks(), strict=True):
            assert after.origin == before.device_range(device).start
            assert [after.device_range(d) for d in DEVICES] == [
                before.device_range(d) for d in DEVICES
            ]
        for pool in soc.pools:
            assert seen.pool(pool.name).region.origin == device_address(
                soc, device, pool.region.origin
            )
        stack, host = soc.host_cpu.run_stack, seen.host_cpu
        assert host.run_stack.end == device_address(soc, device, stack.end - 1) + 1
        assert as_seen_by(seen, device) is seen


@settings(max_examples=cases(12), deadline=None)
@given(chips())
def test_digits_are_bit_exact_through_any_views(soc: ResolvedSoc | None) -> None:
    if soc is None:
        return
    compiled = compile_file(soc, MODEL)
    samples = random_sample(compiled.graph, 1)
    kinds: Any = {"cpu": CpuKind.NATIVE, "accelerator": AcceleratorKind.MODEL}
    (outcome,) = run_models((compiled,), (samples,), **kinds)
    assert outcome.report.passed


@pytest.mark.parametrize("key", ["sram.views.npu=0x800", "flash.views.dma=0xFFFF_F000"])
def test_views_that_cannot_be_built(key: str) -> None:
    with pytest.raises(DescriptionError, match="E119"):
        load_soc(SHORE, [f"memories.{key}"])
