# SPDX-License-Identifier: Apache-2.0
"""Engines that see memories at other addresses than the core: digits, and engines misled."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.misled import misled

from atoll.artifacts.samples import random_sample
from atoll.cli import main
from atoll.driver.pipeline import Compiled, compile_file
from atoll.resolve import load_soc
from atoll.resolve.memory_views import device_address, on_bus
from atoll.resolve.soc import Engine
from atoll.utils.scratch import temporary_folder
from atoll_sim.build.model import build_model
from atoll_sim.chip.plan import plan_chip
from atoll_sim.engines.calls import model_of, run_model
from atoll_sim.engines.interface import BusFault
from atoll_sim.host.memory import DeviceBus, HostMemory
from atoll_sim.mutate.campaign import run_right, try_mutant
from atoll_sim.mutate.commands import WORD, address_words, command_lists, commands_elsewhere
from atoll_sim.mutate.kinds import KINDS, draw_mutants
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models

ROOT = Path(__file__).parents[2]
SHORE = str(ROOT / "tests" / "data" / "shore.yaml")
MODEL = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
KIND = "other view"
ADDS = "devices.npu.params.vector={}"
"""1 where the reef adds, 0 where the core does, to and from which more is copied then."""


@pytest.fixture(scope="module", params=[0, 1], ids=["core-adds", "reef-adds"])
def compiled(request: pytest.FixtureRequest) -> Compiled:
    return compile_file(load_soc(SHORE, (ADDS.format(request.param),)), MODEL)


def engine_of(compiled: Compiled, name: str) -> Engine:
    found = compiled.soc.device(name)
    assert isinstance(found, Engine)
    return found


def report_of(capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    where = ["--set", ADDS.format(0)]
    assert main(["run", SHORE, str(MODEL), "--json", *where, *options]) == 0
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert report["bit_exact"] is True
    assert report["layers_compared"] == report["layers_equal"] == 15
    assert report["placement"]["violations"] == []
    devices = {layer["device"] for layer in report["cycles"]["by_layer"]}
    assert devices <= {"cpu", "npu", "dma"}
    return report


def test_commands_hold_addresses_of_their_engine(compiled: Compiled) -> None:
    """Each lies in a view where there is one; on the bus it is a byte of a buffer of the job."""
    soc, plan = compiled.soc, compiled.plan
    jobs = {job.commands: job for job in compiled.jobs.values()}
    sizes = compiled.module.entry.sizes
    checked = 0
    for commands in command_lists(compiled):
        job = jobs[commands.name]
        names = {*job.reads, *job.writes, *(each.name for each in job.constants)}
        stored = {compiled.graph.storage(n) if n in compiled.graph.by_name else n for n in names}
        buffers = [compiled.copies.get(name, name) for name in stored]
        spans = [range(a := plan.address(name), a + sizes[name]) for name in buffers]
        for at in address_words(commands, commands_elsewhere(compiled)):
            told = commands.get(at, WORD)
            byte = on_bus(soc, job.device, told)
            assert any(byte in span for span in spans), (commands.name, at, hex(told))
            assert device_address(soc, job.device, byte) == told
            checked += told != byte
    assert checked >= 2 * len(compiled.jobs) - 7, "the engines see little elsewhere"


def test_models_of_the_engines(compiled: Compiled) -> None:
    samples = random_sample(compiled.graph, 3)
    kinds: Any = {"cpu": CpuKind.NATIVE, "accelerator": AcceleratorKind.MODEL}
    assert run_models((compiled,), (samples,), **kinds)[0].report.passed


def test_an_engine_sees_nothing_where_the_bus_has_what_it_sees_elsewhere(
    compiled: Compiled,
) -> None:
    soc, memory = compiled.soc, HostMemory(compiled.soc)
    npu = engine_of(compiled, "npu")
    bus = DeviceBus(memory, soc, npu)
    memory.write(0x2000_0100, b"here")
    assert bus.read(0x3000_0100, 4) == b"here"
    bus.write(0x3000_0102, b"--")
    assert memory.read(0x2000_0100, 4) == b"he--"
    for address in (0x2000_0100, 0x3004_0000, 0x2FFF_FFFF):
        with pytest.raises(BusFault):
            bus.read(address, 4)
    spans = [span for touch in bus.take_touched() for span in touch.spans]
    assert spans == [range(0x2000_0100, 0x2000_0104), range(0x2000_0102, 0x2000_0104)]
    outcome = run_model(model_of(npu), bus, 0x0002_0040, 1)
    assert outcome.error
    assert outcome.fault_address == 0x0002_0040


def test_the_chip_translates_for_engines_alone(compiled: Compiled) -> None:
    masters = {each.name: each for each in plan_chip(compiled.soc).masters}
    assert not masters["cpu"].views
    seen = {view.signal: view.span.start for view in masters["dma"].views}
    assert seen == {"mem_flash": 0x0800_0000, "mem_dtcm": 0x5000_0000, "mem_sram": 0x2000_0000}
    assert masters["npu"].writable == (range(0x2000_0000, 0x2004_0000),)


def test_headers_and_driver_have_the_viewers_addresses(compiled: Compiled, tmp_path: Path) -> None:
    assert main(["build", SHORE, str(MODEL), "-o", str(tmp_path / "build")]) == 0
    texts = {path.name: path.read_text() for path in (tmp_path / "build").rglob("atoll_*.[ch]")}
    header = texts["atoll_pools.h"]
    assert "#define ATOLL_POOL_SHARED_ORIGIN UINT32_C(0x20000000)" in header
    assert "#define ATOLL_POOL_SHARED_ORIGIN_AT_NPU UINT32_C(0x30000000)" in header
    private = compiled.soc.pool("private").region.origin - 0x1000_0000 + 0x5000_0000
    assert f"#define ATOLL_POOL_PRIVATE_ORIGIN_AT_DMA UINT32_C({private:#010x})" in header
    driver = texts["atoll_devices.c"]
    assert "(&context_npu, seen_by_npu(commands), count)" in driver
    assert "UINT32_C(0x80000000)" in driver


def test_the_instruction_set_simulator(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("unicorn")
    report_of(capsys, "--cpu", "iss", "--accelerator", "model")


def test_no_model_reaches_a_buffer_at_the_address_of_another_device(compiled: Compiled) -> None:
    samples = random_sample(compiled.graph, 3)
    kinds: Any = {"cpu": CpuKind.NATIVE, "accelerator": AcceleratorKind.MODEL}
    builds = misled(compiled, 12, seed=5)
    assert len(builds) == 12
    for built in builds:
        assert not run_models((built,), (samples,), **kinds)[0].report.passed


@pytest.mark.slow
@pytest.mark.rtl
def test_the_whole_chip_in_rtl(capsys: pytest.CaptureFixture[str]) -> None:
    report = report_of(capsys)
    assert report["placement"]["accesses"] > 30_000
    assert {"npu", "dma"} <= report["cycles"]["by_device"].keys()


@pytest.mark.rtl
def test_the_shadow_and_the_firewalls_notice_addresses_of_another_device() -> None:
    compiled = compile_file(load_soc(SHORE), MODEL)
    with temporary_folder() as folder:
        right, report = run_right(compiled, build_model(compiled.soc), folder)
        assert report.passed, report.violations
        mutants = draw_mutants(right, 3, 4, kinds={KIND: KINDS[KIND]})
        trials = [try_mutant(right, mutant) for mutant in mutants]
    assert len(trials) == 3
    assert all(each.result.caught and each.result.shadow for each in trials)
