# SPDX-License-Identifier: Apache-2.0
"""Registers that maintain a data cache, and that let a core begin: right, and each step needed."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.requests import load_requests

from atoll.artifacts.build_tree import part_of
from atoll.artifacts.samples import random_samples
from atoll.bsp.firmware import link_unchecked
from atoll.cli import main
from atoll.diagnostics.errors import AtollError
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file
from atoll.resolve import load_soc
from atoll.resolve.register_steps import Steps
from atoll.resolve.soc import Cpu, ResolvedSoc
from atoll_sim.check.layers import check_layers
from atoll_sim.iss.engines import make_models
from atoll_sim.iss.iss_run import simulate
from atoll_sim.mutate.caches import plant_cache_omissions
from atoll_sim.simulate.rtl_run import requests_for
from atoll_sim.trace.findings import violations
from atoll_sim.trace.simulation import Stop

pytest.importorskip("unicorn")

ROOT = Path(__file__).parents[2]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
CHIP = ROOT / "tests" / "data" / "caches" / "by_registers.yaml"
ON_BOTH = ("add_3=dsp", "softmax_9=dsp")
CACHE = "devices.cpu.cache.maintenance"
LINES = "[{write: 0x4003_1440, value: line}, {wait: 0x4003_1444, value: 0}]"
FORGETS = "[{write: 0x4003_1448, value: line}]"
RANGE = "[{{write: 0x4003_1428, value: first}}, {{write: 0x4003_142C, value: {}}}]"
OTHERS = "[{{write: 0x4003_1430, value: first}}, {{write: 0x4003_1434, value: {}}}]"


def compiled(*settings: str) -> Compiled:
    return compile_file(
        load_soc(CHIP, settings), DIGITS, BuildOptions(requests=load_requests(None, ON_BOTH))
    )


@pytest.fixture(scope="module")
def right() -> Compiled:
    return compiled()


def wrong_with(part: Compiled, soc: ResolvedSoc, folder: Path) -> str:
    """Run firmware with the board support of `soc` on the chip of `part`; say what is wrong."""
    samples = random_samples(part.graph, 2)
    elves = link_unchecked(soc, (part_of(part),), folder)
    request = requests_for((part,), elves, (samples,), Path(), folder / "run", beats=False)
    request = replace(request, stall_cycles=2_000_000)
    result = simulate(request, lambda memory: make_models(part.soc, memory, (part,)))
    if found := violations(result):
        return found[0].rule
    if result.stop is not Stop.EXIT:
        return str(result.stop)
    return "bytes" if check_layers(part.graph, samples, result, part.soc).mismatches else ""


def without_each(steps: Steps) -> Iterator[Steps]:
    """Yield the steps without each of them; one that writes an address does so elsewhere."""
    for at, step in enumerate(steps):
        elsewhere = steps[at - 1].address
        other = (replace(step, address=elsewhere),) if isinstance(step.value, str) else ()
        yield steps[:at] + other + steps[at + 1 :]


def with_core(soc: ResolvedSoc, core: Cpu) -> ResolvedSoc:
    devices = (core if each.name == core.name else each for each in soc.devices)
    return replace(soc, devices=tuple(devices))


SETTINGS = {
    "first and last": (),
    "line": (f"{CACHE}.clean={LINES}", f"{CACHE}.invalidate={FORGETS}"),
    "end and size": (
        f"{CACHE}.clean={RANGE.format('end')}",
        f"{CACHE}.invalidate={OTHERS.format('size')}",
    ),
    "write through": ("devices.cpu.cache.write_back=false", "devices.cpu.protection=false"),
    "loaded": ("devices.dsp.loader=host", "devices.dsp.code={memory: sram, size: 64 KiB}"),
    "seen elsewhere": ("memories.sram.views={dsp: 0x3000_0000}",),
}


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param(each, id=name, marks=() if name == "line" else pytest.mark.slow)
        for name, each in SETTINGS.items()
    ],
)
def test_each_operation_on_the_cache_is_needed(settings: tuple[str, ...]) -> None:
    part = compiled(*settings)
    assert {step.device for step in part.module.entry.steps} == {"dsp", "npu"}
    campaign = plant_cache_omissions(part, seed=1)
    assert campaign.passed, campaign.text(verbose=True)
    assert len(campaign.trials) == (1 if "devices.cpu.cache.write_back=false" in settings else 5)


def test_each_step_on_the_cache_is_needed(right: Compiled, tmp_path: Path) -> None:
    host = right.soc.host_cpu
    assert host.cache
    assert host.cache.maintenance
    found = {}
    for name in ("clean", "invalidate"):
        for number, steps in enumerate(without_each(getattr(host.cache.maintenance, name))):
            maintenance = replace(host.cache.maintenance, **{name: steps})
            cache = replace(host.cache, maintenance=maintenance)
            soc = with_core(right.soc, replace(host, cache=cache))
            found[name, number] = wrong_with(right, soc, tmp_path / f"{name}{number}")
    assert wrong_with(right, right.soc, tmp_path / "right") == ""
    assert not [key for key, wrong in found.items() if not wrong]


def test_a_core_begins_after_each_step_of_its_release(right: Compiled, tmp_path: Path) -> None:
    core = right.soc.device("dsp")
    assert isinstance(core, Cpu)
    for number, steps in enumerate(without_each(core.release)):
        soc = with_core(right.soc, replace(core, release=steps))
        assert wrong_with(right, soc, tmp_path / str(number)) == "stall"


def test_a_step_may_write_the_register_at_address_zero() -> None:
    lines = f"{CACHE}.clean=[{{write: 0x0, value: line}}]"
    assert load_soc(CHIP, [lines]).host_cpu.cache
    none = f"{CACHE}.clean=[{{wait: 0x0, value: 0}}]"
    with pytest.raises(AtollError, match="tell of no lines"):
        load_soc(CHIP, [none])


def test_a_bit_of_a_register_at_address_zero_that_two_cores_write_is_refused() -> None:
    to_core = "{line: 4, send: [{write: 0x0, mask: 1, value: 1}], clear: [{write: 0x4, value: 1}]}"
    to_host = "{send: [{write: 0x0, value: 2}], clear: [{write: 0x8, value: 1}]}"
    told = ["devices.dsp.irq=5", f"devices.dsp.signals={{core: {to_core}, host: {to_host}}}"]
    with pytest.raises(AtollError, match="'cpu' changes bits of the register at 0x0, which 'dsp'"):
        load_soc(CHIP, told)


def test_what_runs_such_a_chip(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(CHIP), str(DIGITS), "--cpu", "qemu"]) == 1
    said = capsys.readouterr().err
    assert "no machine of QEMU has the registers that maintain the data cache of 'cpu'" in said
    core = "devices.{}.core=picorv32", "devices.{}.isa=rv32imc"
    words = [each.format(name) for name in ("cpu", "dsp") for each in core]
    words += ["devices.cpu.protection=false"]
    settings = [word for each in words for word in ("--set", each)]
    assert main(["run", str(CHIP), str(DIGITS), "--cpu", "iss", *settings]) == 0
    assert main(["run", str(CHIP), str(DIGITS), "--cpu", "rtl", *settings]) == 1
    said = capsys.readouterr().err
    assert "error[E259]: device 'cpu': no RTL has the registers of its 'cache.maintenance'" in said
    assert "error[E259]: device 'dsp': no RTL has the registers of its 'release'" in said
