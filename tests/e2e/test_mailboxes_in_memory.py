# SPDX-License-Identifier: Apache-2.0
"""Cores that leave each other word in memory: runs, resets, and what is noticed."""

import json
import shutil
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path

import pytest
from tests.requests import load_requests
from tests.watchdog import restart_once

from atoll.artifacts.build_tree import part_of
from atoll.artifacts.samples import random_samples
from atoll.bsp import application, drivers
from atoll.bsp.firmware import link_unchecked
from atoll.bsp.render import FOLDER
from atoll.cli import main
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file
from atoll.resolve import load_soc
from atoll.resolve.soc import Cpu, ResolvedSoc
from atoll_sim.check.layers import check_layers
from atoll_sim.iss import chip
from atoll_sim.iss.engines import make_models
from atoll_sim.iss.iss_run import simulate as on_iss
from atoll_sim.simulate.rtl_run import requests_for
from atoll_sim.trace.findings import violations
from atoll_sim.trace.simulation import SimResult, Stop

ROOT = Path(__file__).parents[2]
MODEL = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
CHIP = ROOT / "tests" / "data" / "neighbours.yaml"
ASKED = "conv_2d_2"

IN_A_RUN = 60_000
"""A cycle at which both cores compute parts of the first run."""


def compiled_for(soc: ResolvedSoc, core: str = "") -> Compiled:
    """Compile digits, with a convolution on `core`; else spread over equal cores."""
    requests = load_requests(None, [f"{ASKED}={core}"] if core else [])
    return compile_file(soc, MODEL, BuildOptions(requests=requests))


def simulated(
    compiled: Compiled, folder: Path, stall: int = 2_000_000, built_for: ResolvedSoc | None = None
) -> SimResult:
    """Run two samples on the instruction-set simulator, perhaps with another chip's firmware."""
    pytest.importorskip("unicorn")
    elves = link_unchecked(built_for or compiled.soc, (part_of(compiled),), folder)
    samples = random_samples(compiled.graph, 2)
    request = requests_for((compiled,), elves, (samples,), Path(), folder / "run", beats=False)
    request = replace(request, stall_cycles=stall)
    return on_iss(request, lambda memory: make_models(compiled.soc, memory, (compiled,)))


def assert_exact(compiled: Compiled, result: SimResult) -> None:
    assert violations(result) == ()
    assert result.stop is Stop.EXIT
    samples = random_samples(compiled.graph, 2)
    assert not check_layers(compiled.graph, samples, result, compiled.soc).mismatches


@pytest.mark.parametrize("chip", [str(CHIP), "rp2040"])
def test_m9_equal_cores_compute_parts(chip: str, tmp_path: Path) -> None:
    compiled = compiled_for(load_soc(chip))
    other = next(iter(compiled.soc.remote_cpus))
    parts = [step for step in compiled.module.entry.steps if len(step.calls) > 1]
    assert {call.device for step in parts for call in step.calls} == {
        compiled.soc.host,
        other.name,
    }
    assert_exact(compiled, simulated(compiled, tmp_path))


def test_m9_the_application_lets_a_core_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = compiled_for(load_soc(CHIP))
    right = application._main
    released = 'void atoll_release_second(void) {\n  atoll_print("released\\n");\n}\n'
    monkeypatch.setattr(application, "_main", lambda *given: right(*given) + released)
    result = simulated(compiled, tmp_path)
    assert result.text.startswith("released\n")
    assert_exact(compiled, result)


@pytest.mark.parametrize("chip", ["stm32h747", "imxrt1176"])
def test_m9_caches_are_maintained(chip: str, tmp_path: Path) -> None:
    """The M7's data cache keeps lines of both halves."""
    compiled = compiled_for(load_soc(chip), "cm4")
    assert any(step.device == "cm4" for step in compiled.module.entry.steps)
    assert_exact(compiled, simulated(compiled, tmp_path))


LEFT_OUT = {
    "clean": ("  atoll_cache_clean((void *)", "  (void)sizeof((void *)"),
    "invalidate": ("  atoll_cache_invalidate((void *)", "  (void)sizeof((void *)"),
}


@pytest.mark.parametrize("what", LEFT_OUT)
def test_m9_m6_maintenance_that_is_left_out_is_noticed(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = compiled_for(load_soc("stm32h747"), "cm4")
    edit_driver(monkeypatch, tmp_path, *LEFT_OUT[what])
    assert simulated(compiled, tmp_path, stall=300_000).stop is not Stop.EXIT


def edit_driver(monkeypatch: pytest.MonkeyPatch, folder: Path, old: str, new: str) -> None:
    """Have firmware built with another text in the driver's header."""
    copied = shutil.copytree(FOLDER, folder / "sources")
    header = copied / "drivers" / "shared_mailbox.h"
    text = header.read_text()
    assert old in text
    header.write_text(text.replace(old, new))
    monkeypatch.setattr(drivers, "FOLDER", copied)


def test_m9_m6_the_other_half_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = compiled_for(load_soc(CHIP))
    edit_driver(
        monkeypatch,
        tmp_path,
        "  halves->host.command = command;",
        "  halves->core.result = command;",
    )
    first, *_ = violations(simulated(compiled, tmp_path))
    assert (first.rule, first.device) == ("device without reach", "cpu")
    assert "second.mailbox" in str(first)


def test_m9_a_restart_of_the_chip_runs_no_old_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The watchdog restarts the chip while both cores compute; memory keeps what was sent."""
    compiled = compiled_for(load_soc(CHIP))
    ends = restart_once(monkeypatch, IN_A_RUN)
    result = simulated(compiled, tmp_path)
    assert ends
    assert "watchdog" in result.text
    assert violations(result) == ()
    assert result.stop is Stop.EXIT


SIGNALS = "devices.core1.signals"
DOORBELL = "send: [{write: 0xD000_0180, value: 0x1}], clear: [{write: 0xD000_0188, value: 0x1}]"
TOLD = {
    "events": (),
    "interrupts": (
        "devices.core1.irq=26",
        f"{SIGNALS}={{core: {{line: 30, {DOORBELL}}}, host: {{{DOORBELL}}}}}",
        f"{SIGNALS}.event=false",
    ),
    "one way": (f"{SIGNALS}.event=false", f"{SIGNALS}.core={{line: 30, {DOORBELL}}}"),
    "protected": (
        f"{SIGNALS}.event=false",
        f"{SIGNALS}.core={{line: 30, {DOORBELL}}}",
        *(f"devices.{core}.protection=true" for core in ("core0", "core1")),
        *(f"devices.{core}.stack.size=2 KiB" for core in ("core0", "core1")),
    ),
}


@pytest.mark.parametrize("told", [*TOLD, "software interrupts"])
def test_m9_signals_save_looks(told: str, tmp_path: Path) -> None:
    name = "rp2350" if told in TOLD else "fu740"
    soc = load_soc(name, TOLD.get(told, ()))
    compiled = compiled_for(soc)
    result = simulated(compiled, tmp_path / "told")
    assert_exact(compiled, result)
    none = [f"devices.{core.name}.signals=null" for core in soc.remote_cpus]
    looks = simulated(compiled_for(load_soc(name, none)), tmp_path / "looks")
    assert accesses(result) < accesses(looks) or told in ("one way", "protected")


def test_m9_the_software_interrupt_wakes_a_core_long_before_it_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    soc = load_soc("fu740")
    compiled = compiled_for(soc, "u74_2")
    in_time = simulated(compiled, tmp_path / "in_time").cycles
    deaf = [f"devices.{core.name}.signals=null" for core in soc.remote_cpus]
    edit_driver(monkeypatch, tmp_path, "PERIOD 64u", "PERIOD 20000u")
    late = simulated(compiled_for(load_soc("fu740", deaf), "u74_2"), tmp_path / "late").cycles
    assert simulated(compiled, tmp_path / "woken").cycles < in_time + 1000 < late


def accesses(result: SimResult) -> int:
    return sum(each.accesses for phase in result.phases for each in phase.touched)


def without_sends(soc: ResolvedSoc, end: str) -> ResolvedSoc:
    core = soc.device("core1")
    assert isinstance(core, Cpu)
    assert core.signals
    silent = replace(getattr(core.signals, end), send=())
    silent_core = replace(core, signals=replace(core.signals, **{end: silent}))
    devices = (silent_core if each is core else each for each in soc.devices)
    return replace(soc, devices=tuple(devices))


@pytest.mark.parametrize(
    ("end", "said"), [("core", "core1: no answer"), ("host", "core1: no signal")]
)
def test_m9_a_signal_that_is_not_sent_is_noticed(end: str, said: str, tmp_path: Path) -> None:
    compiled = compiled_for(load_soc("rp2350", TOLD["interrupts"]))
    silent = without_sends(compiled.soc, end)
    result = simulated(compiled, tmp_path, stall=4_000_000_000, built_for=silent)
    assert said in result.text


def test_m9_many_looks_without_an_event_are_no_stall(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chip, "MOST_TURNS", 200)
    compiled = compiled_for(load_soc("rp2350", [f"{SIGNALS}=null"]), "core1")
    assert_exact(compiled, simulated(compiled, tmp_path))


def test_m9_rtl_has_no_signals(capsys: pytest.CaptureFixture[str]) -> None:
    steps = (
        "{line: 3, send: [{write: 0x5000_0000, value: 1}], clear: [{write: 0x5000_0004, value: 1}]}"
    )
    told = f"devices.second.signals.core={steps}"
    assert main(["run", str(CHIP), str(MODEL), "--cpu", "rtl", "--set", told]) == 1
    said = capsys.readouterr().err
    assert "error[E259]: device 'second': no RTL has the registers of its 'signals'" in said


@pytest.mark.slow
def test_m9_two_cores_in_rtl_are_nearly_twice_as_fast(tmp_path: Path) -> None:
    def cycles(*more: str) -> int:
        out = tmp_path / "out.json"
        with out.open("w") as file, redirect_stdout(file):
            assert main(["run", str(CHIP), str(MODEL), "--json", *more]) == 0
        told = json.loads(out.read_text())
        assert told["bit_exact"]
        assert not told["placement"]["violations"]
        return int(told["cycles"]["working"])

    assert cycles("--overlap", "none", "--on-device", "*=cpu") > 1.8 * cycles()
