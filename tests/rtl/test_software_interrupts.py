# SPDX-License-Identifier: Apache-2.0
"""Two cores with mailboxes in memory that interrupt each other by software, in RTL."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.requests import load_requests

from atoll.artifacts.build_tree import part_of
from atoll.artifacts.samples import random_samples
from atoll.bsp.firmware import link_unchecked
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file
from atoll.resolve import load_soc
from atoll.resolve.soc import Cpu, ResolvedSoc
from atoll_sim.build.model import build_model
from atoll_sim.check.layers import check_layers
from atoll_sim.simulate.rtl_run import requests_for
from atoll_sim.simulate.session import simulate
from atoll_sim.trace.findings import violations
from atoll_sim.trace.simulation import SimResult, Stop

pytestmark = [pytest.mark.rtl, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
MODEL = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
CHIP = ROOT / "tests" / "data" / "neighbours.yaml"
APART = [f"{name}=second" for name in ("conv_2d_0", "conv_2d_2", "depthwise_conv_2d_4", "add_3")]
SEND = (
    "{{line: software, send: [{{write: {0:#x}, value: 1}}], clear: [{{write: {0:#x}, value: 0}}]}}"
)


def told(host: int, second: int, *more: str) -> ResolvedSoc:
    """Return the chip whose cores, with these numbers, interrupt each other by software."""
    words = [SEND.format(0x0200_0000 + 4 * hart) for hart in (second, host)]
    return load_soc(
        CHIP,
        (
            f"devices.cpu.hart={host}",
            f"devices.second.hart={second}",
            f"devices.second.signals={{core: {words[0]}, host: {words[1]}}}",
            *more,
        ),
    )


def run(compiled: Compiled, folder: Path, firmware_of: ResolvedSoc | None = None) -> SimResult:
    """Run two samples, perhaps with the firmware of another chip."""
    elves = link_unchecked(firmware_of or compiled.soc, (part_of(compiled),), folder)
    samples = random_samples(compiled.graph, 2)
    model = build_model(compiled.soc)
    request = requests_for((compiled,), elves, (samples,), model, folder / "run")
    return simulate(replace(request, stall_cycles=2_000_000))


def assert_right(compiled: Compiled, result: SimResult) -> None:
    assert violations(result) == ()
    assert result.stop is Stop.EXIT
    samples = random_samples(compiled.graph, 2)
    assert not check_layers(compiled.graph, samples, result, compiled.soc).mismatches


def without(soc: ResolvedSoc, *ends: str) -> ResolvedSoc:
    """Return a chip in which some interrupts are not sent."""
    core = soc.device("second")
    assert isinstance(core, Cpu)
    assert core.signals
    silent = {end: replace(getattr(core.signals, end), send=()) for end in ends}
    deaf = replace(core, signals=replace(core.signals, **silent))
    return replace(soc, devices=tuple(deaf if each is core else each for each in soc.devices))


@pytest.mark.parametrize(
    ("host", "second", "asked", "more"),
    [
        (0, 1, (), ()),
        (3, 0, APART, ("devices.second.clock=70 MHz", "devices.cpu.protection=true")),
        (1, 2, APART, ("devices.second.core=cv32e40p",)),
        (2, 1, APART, ("devices.cpu.core=cv32e40x", "devices.second.core=cv32e40p")),
    ],
)
def test_cores_wake_each_other(
    host: int, second: int, asked: Sequence[str], more: Sequence[str], tmp_path: Path
) -> None:
    """An interrupt that is not sent is noticed: cores look by themselves only now and then."""
    soc = told(host, second, *more)
    compiled = compile_file(soc, MODEL, BuildOptions(requests=load_requests(None, asked)))
    told_steps = sum(
        any(call.device == "second" for call in step.calls) for step in compiled.module.entry.steps
    )
    assert told_steps
    result = run(compiled, tmp_path / "right")
    assert_right(compiled, result)
    rung = {(line.source, line.core): len(line.pulses) for line in result.lines or ()}
    assert rung[("cpu", "second")] >= told_steps
    for end in ("core", "host"):
        late = run(compiled, tmp_path / end, without(soc, end))
        assert_right(compiled, late)
        assert late.cycles > result.cycles + 2 * told_steps * 100
