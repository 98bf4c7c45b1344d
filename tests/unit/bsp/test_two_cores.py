# SPDX-License-Identifier: Apache-2.0
"""A host and a second core, both machines in Python: a network runs on both, image by image."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.requests import load_requests

from atoll.artifacts.build_tree import BuildTree, build, part_of
from atoll.bsp.firmware import link_firmware
from atoll.bsp.interface import Firmware
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file, compile_models
from atoll.frontend.tflite.load import load_tflite
from atoll.ir.tir import CallStart
from atoll.ops import reference
from atoll.resolve.soc import Device, ResolvedSoc

Duo = Callable[..., ResolvedSoc]
Alternate = Callable[..., Compiled]
Values = Mapping[str, NDArray[Any]]


def sample_of(program: Compiled) -> Values:
    rng = np.random.default_rng(5)
    tensors = map(program.graph.tensor, program.graph.inputs)
    return {each.name: rng.integers(-128, 128, each.shape).astype(np.int8) for each in tensors}


@dataclass
class Pair:
    """Both cores with a firmware, ready to run."""

    platform: ModuleType
    soc: ResolvedSoc
    host: Any
    core: Any
    console: Any
    box: Any

    def run(self) -> None:
        self.platform.run_both(self.host, self.core)

    def put(self, address: int, data: bytes) -> None:
        for offset, byte in enumerate(data):
            self.host.memory.write(address + offset, byte, 1)

    def get(self, address: int, size: int) -> bytes:
        return bytes(self.host.memory.read(address + offset, 1) for offset in range(size))


@pytest.fixture
def pair(platform: ModuleType) -> Callable[..., Pair]:
    def make(soc: ResolvedSoc, firmware: Firmware, requests: tuple[int, ...] = (1, 2)) -> Pair:
        host, console = platform.power_on(soc, firmware, requests, {3: platform.Reef()})
        box = platform.Mailbox()
        return Pair(platform, soc, host, platform.add_core(soc, firmware, host, box), console, box)

    return make


@pytest.mark.parametrize("first", [0, 1])
def test_d3_k5_two_cores_run_a_network_bit_exactly(
    duo: Duo,
    alternate: Alternate,
    program: Compiled,
    tree: BuildTree,
    pair: Callable[..., Pair],
    tmp_path: Path,
    first: int,
) -> None:
    """Operators alternate between the cores; each core's watermark stays below its bound."""
    if first:
        program = alternate(duo(), first)
        tree = build((program,), tmp_path / "build")
    firmware = tree.firmware
    cores = pair(program.soc, firmware)
    sample = sample_of(program)
    for name, values in sample.items():
        cores.put(program.plan.address(name), values.tobytes())
    cores.run()
    assert (cores.console.results, cores.console.status, cores.console.text) == ([0], 0, "")
    expected = reference.run(program.graph, sample)
    for name in program.graph.outputs:
        size = program.graph.tensor(name).size
        assert cores.get(program.plan.address(name), size) == expected[name].tobytes()
    steps = [s for s in program.graph.operators if s.device == "dsp"]
    assert len(cores.box.commands) == len(steps) > 4
    assert {device for event, device, _ in cores.console.trace if event == 1} == {0, 1}
    for cpu in program.soc.cpus:
        used = cores.platform.watermark(program.soc, cores.host, cpu.name)
        bound = firmware.stacks[cpu.name].bytes
        assert 0 < used <= bound <= cpu.max_stack_size.value - cpu.interrupt_reserve


def test_p6_the_second_core_works_beside_the_host(
    program: Compiled, tree: BuildTree, pair: Callable[..., Pair]
) -> None:
    """Two independent pools of one value run at the same time: begin, begin, end, end."""
    begun = [s.number for s in program.module.entry.steps if isinstance(s.action, CallStart)]
    assert begun
    cores = pair(program.soc, tree.firmware)
    cores.run()
    trace = [(event, number) for event, _, number in cores.console.trace if event in (1, 2)]
    place = trace.index((1, begun[0]))
    assert trace[place + 1][0] == 1
    assert trace[place + 1][1] != begun[0]


def test_a_core_without_operators_waits_for_none(
    duo: Duo, network: Path, pair: Callable[..., Pair], tmp_path: Path
) -> None:
    program = compile_file(duo(), network, BuildOptions(accelerators=False))
    cores = pair(program.soc, build((program,), tmp_path / "build").firmware)
    cores.run()
    assert cores.console.results == [0]
    assert cores.box.commands == []


def _paced(soc: ResolvedSoc, clock: int) -> ResolvedSoc:
    def changed(device: Device) -> Device:
        return replace(device, clock=clock)

    return replace(soc, devices=tuple(map(changed, soc.devices)))


def test_a_core_that_does_not_answer_times_out_and_stays_busy(
    duo: Duo, alternate: Alternate, pair: Callable[..., Pair], tmp_path: Path
) -> None:
    program = alternate(_paced(duo(), 100))
    cores = pair(program.soc, build((program,), tmp_path / "build").firmware, (1, 1, 2))
    cores.box.asleep = True
    cores.run()
    assert cores.console.results == [-4, -3]
    assert cores.console.text == "dsp: no answer\n"


def test_a_step_that_is_not_the_cores_is_refused(
    program: Compiled, tree: BuildTree, pair: Callable[..., Pair]
) -> None:
    cores = pair(program.soc, tree.firmware)
    for wrong in (1, 0x1_0000, 0x7FFF_FFFF):
        cores.box.busy, cores.box.command = True, wrong
        while cores.box.busy:
            cores.core.step()
        assert cores.box.result == 2**32 - 6


def test_m9_what_a_core_fails_with_ends_the_run(
    program: Compiled, network: Path, pair: Callable[..., Pair], tmp_path: Path
) -> None:
    """The image of the core is one that knows no step."""
    idle = compile_file(program.soc, network, BuildOptions(accelerators=False))
    part = part_of(program)
    codes = {**part.codes(), "dsp": part_of(idle).codes()["dsp"]}
    part = replace(part, codes=lambda: codes)
    (tmp_path / "build").mkdir()
    cores = pair(program.soc, link_firmware(program.soc, (part,), tmp_path / "build"))
    cores.run()
    assert cores.console.results == [-6]
    assert cores.console.text == "dsp: error -6 (an argument is out of range)\n"


def test_another_device_at_the_place_of_the_mailbox_is_refused_at_start(
    program: Compiled, tree: BuildTree, pair: Callable[..., Pair]
) -> None:
    cores = pair(program.soc, tree.firmware, ())
    cores.box.identity = 0x1234
    cores.run()
    assert cores.console.status == 1
    assert cores.console.text == (
        "dsp: no mailbox, found 0x00001234\ncannot start: the registers belong to another device\n"
    )


def test_m7_u2_two_models_take_turns_on_both_cores(
    duo: Duo, network: Path, pair: Callable[..., Pair], tmp_path: Path
) -> None:
    """The second model's steps carry its position in the firmware."""
    other = tmp_path / "again.tflite"
    other.write_bytes(network.read_bytes())
    names = [op.name for op in load_tflite(network).operators]
    wishes = load_requests(None, [f"{name}=dsp" for name in names[::3]])
    options = BuildOptions(accelerators=False, requests=wishes)
    models = compile_models(duo(), (network, other), [options] * 2)
    cores = pair(models[0].soc, build(models, tmp_path / "build").firmware, (1, 1, 2))
    sample = sample_of(models[0])
    for name, values in sample.items():
        cores.put(models[0].plan.address(name), values.tobytes())
    cores.run()
    assert cores.console.results == [0, 0]
    first, second = ({c & 0xFFFF for c in cores.box.commands if c >> 16 == m} for m in (0, 1))
    placed = {number for number, op in enumerate(models[0].graph.operators) if op.device == "dsp"}
    assert first == second == placed
    assert len(placed) == len(names[::3])
