# SPDX-License-Identifier: Apache-2.0
"""Chips whose accelerators have faults planted in their RTL, each instance another one."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

from atoll.artifacts.samples import random_sample
from atoll.description.build import Build, BuildRequests
from atoll.driver.pipeline import BuildOptions, compile_graph
from atoll.report.result import RunReport
from atoll.resolve import load_soc
from atoll_sim.accelerator_test.accelerator_kit import NOWHERE
from atoll_sim.accelerator_test.draw import draw
from atoll_sim.accelerator_test.joined import join
from atoll_sim.backends.session import CpuKind
from atoll_sim.runs.checked_run import run_models
from atoll_sim.trace.simulation import USUAL, Conditions

RIGHT = "right"
"""The instance without a fault, whose parameter `plant` is 0."""

CHIP = """
soc: planted
version: 1
devices:
  cpu: {{kind: cpu, isa: rv32imc, stack: {{memory: dtcm, size: 8 KiB}}}}
{devices}
memories:
  flash: {{origin: 0x0000_0000, size: 1 MiB, kind: rom, read_latency: 2, width: 4}}
  dtcm: {{origin: 0x1000_0000, size: 64 KiB, kind: ram, width: 4}}
  sram: {{origin: 0x2000_0000, size: 256 KiB, kind: ram, read_latency: 3, width: 4}}
pools:
  weights: {{memory: flash, role: constants, reach: {{cpu: ro, {reads}}}}}
  shared: {{memory: sram, role: workspace, reach: {{cpu: rw, {writes}}}}}
host: cpu
"""


def plant(text: str, edits: Mapping[str, str], plants: Sequence[str]) -> str:
    """Return RTL with parts that are others, in which ``@name`` is whether that plant is there."""
    for right, wrong in edits.items():
        assert text.count(right) == 1, right
        chosen = re.sub(r"@(\w+)", lambda name: f"(Plant == {1 + plants.index(name[1])})", wrong)
        text = text.replace(right, chosen)
    return text


def write_chip(folder: Path, accelerator: str, plants: Sequence[str]) -> Path:
    """Write a chip with an instance of an accelerator without plant, and one with each."""
    devices = [RIGHT, *plants]
    lines = [
        f"  {name}: {{kind: npu, accelerator: ./{accelerator}, params: {{plant: {number}}},"
        f" registers: {0x4000_0000 + 0x1000 * number:#x}, irq: {3 + number}}}"
        for number, name in enumerate(devices)
    ]
    path = folder / "chip.yaml"
    path.write_text(
        CHIP.format(
            devices="\n".join(lines),
            reads=", ".join(f"{name}: ro" for name in devices),
            writes=", ".join(f"{name}: rw" for name in devices),
        )
    )
    return path


def run_on(
    chip: Path, *devices: str, cpu: CpuKind = CpuKind.RTL, conditions: Conditions = USUAL
) -> RunReport:
    """Have accelerators of a chip run an operator each, in RTL."""
    soc = load_soc(chip)
    engine, random = soc.engines[0], Random(1)
    support = engine.spec.operators[0]
    drawn = [draw(support, engine, soc, random) for _ in devices]
    network = join([each for each in drawn if each is not None])
    place = {op.name: name for op, name in zip(network.operators, devices, strict=True)}
    requests = BuildRequests(model=Build(place=place))
    compiled = compile_graph(soc, network, NOWHERE, BuildOptions(requests=requests))
    samples = [random_sample(compiled.graph)]
    (outcome,) = run_models([compiled], samples, cpu=cpu, conditions=conditions)
    return outcome.report


def found(report: RunReport, device: str) -> set[tuple[str, str]]:
    """Return number and name of each rule that a device broke."""
    return {(each.number, each.rule) for each in report.violations if each.device == device}
