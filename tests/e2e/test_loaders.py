# SPDX-License-Identifier: Apache-2.0
"""Start-up code copies a core's code, or its host writes it: what runs, and what is noticed."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.effort import in_gate
from tests.watchdog import restart_once

from atoll.artifacts.build_tree import part_of
from atoll.artifacts.samples import random_samples
from atoll.bsp import headers
from atoll.bsp.firmware import link_unchecked
from atoll.cli import main
from atoll.driver.pipeline import Compiled, compile_file
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll.utils.scratch import temporary_folder
from atoll_image.check import disagreements
from atoll_image.elf import read_image
from atoll_sim.build.model import build_model
from atoll_sim.check.layers import check_layers
from atoll_sim.iss.engines import make_models
from atoll_sim.iss.iss_run import simulate
from atoll_sim.mutate.campaign import run_right, try_mutant
from atoll_sim.mutate.kinds import KINDS, draw_mutants
from atoll_sim.qemu.supported import program_of
from atoll_sim.simulate.firmware import code_brought, load_images
from atoll_sim.simulate.rtl_run import requests_for
from atoll_sim.simulate.session import simulate as in_rtl
from atoll_sim.trace.findings import violations
from atoll_sim.trace.simulation import SimResult, Stop

ROOT = Path(__file__).parents[2]
MODEL = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
LOADERS = ROOT / "tests" / "data" / "loaders"
IN_A_RUN = 8_000
"""A cycle of the first run, when start-up code has copied what it copies."""

Edit = Callable[[str], str]

pytest.importorskip("unicorn")


@pytest.fixture(scope="module")
def copied() -> Compiled:
    return compile_file(load_soc(LOADERS / "copied.yaml"), MODEL)


@pytest.fixture(scope="module")
def hosted() -> Compiled:
    return compile_file(load_soc(LOADERS / "hosted.yaml"), MODEL)


def same(text: str) -> str:
    return text


def instead(old: str, new: str) -> Edit:
    """Return an edit of a file that has `old` once."""

    def edit(text: str) -> str:
        assert text.count(old) == 1, old
        return text.replace(old, new)

    return edit


def run(compiled: Compiled, elves: tuple[Path, ...], folder: Path) -> SimResult:
    samples = random_samples(compiled.graph, 1)
    request = requests_for((compiled,), elves, (samples,), Path(), folder / "run", beats=False)
    request = replace(request, stall_cycles=2_000_000)
    soc = compiled.soc
    return simulate(request, lambda memory: make_models(soc, memory, (compiled,)))


def noticed(compiled: Compiled, elves: tuple[Path, ...], folder: Path) -> set[tuple[str, str]]:
    """Return rule and device of all that the shadow memory finds, and who trapped."""
    result = run(compiled, elves, folder)
    found = {(each.rule, each.device) for each in violations(result)}
    return found | ({("trapped", result.trapped)} if result.trapped else set())


def link(compiled: Compiled, folder: Path, edit: Edit = same) -> tuple[Path, ...]:
    return link_unchecked(compiled.soc, (part_of(compiled),), folder, edit=edit)


def assert_exact(compiled: Compiled, elves: tuple[Path, ...], folder: Path) -> None:
    result = run(compiled, elves, folder)
    assert violations(result) == ()
    samples = random_samples(compiled.graph, 1)
    assert not check_layers(compiled.graph, samples, result, compiled.soc).mismatches
    assert result.stop is Stop.EXIT


def test_d5_start_up_code_copies_a_core_to_where_it_runs(copied: Compiled, tmp_path: Path) -> None:
    elves = link(copied, tmp_path)
    cpu = copied.soc.host_cpu
    assert cpu.load is not None
    assert cpu.reset_address == cpu.load.origin
    (code,) = code_brought(elves, copied.soc).values()
    inside = [each for each in load_images(elves, copied.soc) if each.address < cpu.load.end]
    assert any(code in each.data for each in inside), "it is loaded into flash as a whole"
    assert all(not cpu.code.origin <= s.address < cpu.code.end for s in inside)
    assert not disagreements(copied.soc, "cpu", read_image(elves[0]))
    assert_exact(copied, elves, tmp_path)


def test_d5_the_host_writes_the_code_of_another_core(hosted: Compiled, tmp_path: Path) -> None:
    elves = link(hosted, tmp_path)
    own = hosted.soc.device("dsp")
    (code,) = code_brought(elves, hosted.soc).values()
    segments = load_images(elves, hosted.soc)
    assert {each.elf for each in segments} == {elves[0]}, "the simulator loads the host's alone"
    assert any(code in each.data for each in segments)
    image = read_image(elves[0])
    assert image.symbols["atoll_image_dsp"] in range(
        hosted.soc.host_cpu.code.origin, hosted.soc.host_cpu.code.end
    )
    for name, elf in zip(("cpu", "dsp"), elves, strict=True):
        assert not disagreements(hosted.soc, name, read_image(elf))
    assert any(step.device == own.name for step in hosted.module.entry.steps)
    assert_exact(hosted, elves, tmp_path)


COPIES = {
    "a word short": (
        instead("    atoll_code_end = .;\n", "    atoll_code_end = . - 4;\n"),
        ("constant differs", "cpu"),
    ),
    "from a wrong address": (
        instead("atoll_code_load = LOADADDR(.text);", "atoll_code_load = LOADADDR(.text) + 4;"),
        ("trapped", "cpu"),
    ),
    "over a pool": (
        instead("code (rx) : ORIGIN = 0x08000000", "code (rx) : ORIGIN = 0x20000000"),
        ("fetch outside code", "cpu"),
    ),
}


@pytest.mark.parametrize("name", COPIES)
def test_d5_m6_a_wrong_copy_of_code_is_noticed(name: str, copied: Compiled, tmp_path: Path) -> None:
    edit, rule = COPIES[name]
    assert rule in noticed(copied, link(copied, tmp_path, edit), tmp_path)


@pytest.mark.parametrize("chip", ["copied", "hosted"])
def test_d5_m6_code_is_copied_again_after_a_restart(
    chip: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The watchdog restarts the chip once, in its first run; the copy is no finding."""
    compiled: Compiled = request.getfixturevalue(chip)
    ends = restart_once(monkeypatch, IN_A_RUN)
    result = run(compiled, link(compiled, tmp_path), tmp_path)
    assert ends
    assert "watchdog" in result.text
    assert violations(result) == ()
    assert result.stop is Stop.EXIT


def _released_early(text: str) -> str:
    start = text.index("  for (uint32_t word = 0;")
    line = next(each for each in text[start:].splitlines() if "_RELEASE" in each) + "\n"
    return text[:start] + line + text[start:].replace(line, "", 1)


LOADS = {
    "a word short": (instead("word < atoll", "word + 1u < atoll"), "constant differs", "cpu"),
    "to a wrong address": (instead("code[word] =", "code[word + 1u] ="), "constant differs", "cpu"),
    "after its release": (_released_early, "trapped", "dsp"),
    "over a pool": (
        instead("(uintptr_t)UINT32_C(0x20000000);", "(uintptr_t)UINT32_C(0x20008000);"),
        "past the end of a buffer",
        "cpu",
    ),
}


@pytest.mark.parametrize("name", LOADS)
def test_d5_m6_a_host_that_loads_wrongly_is_noticed(
    name: str, hosted: Compiled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit, *found = LOADS[name]
    right = headers.device_source
    monkeypatch.setattr(headers, "device_source", lambda soc: edit(right(soc)))
    assert tuple(found) in noticed(hosted, link(hosted, tmp_path), tmp_path)


CACHED = (
    *("devices.cpu.core=cortex_m7", "devices.cpu.isa=armv7e-m", "devices.cpu.cache={line: 32}"),
    *("devices.dsp.core=cortex_m4", "devices.dsp.isa=armv7e-m"),
)


def test_d5_a_host_with_a_data_cache_cleans_what_it_loads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = compile_file(load_soc(LOADERS / "hosted.yaml", CACHED), MODEL)
    (tmp_path / "right").mkdir()
    assert_exact(compiled, link(compiled, tmp_path / "right"), tmp_path)
    right, clean = headers.device_source, r"  atoll_cache_clean\(.*\);\n"

    def without(soc: ResolvedSoc) -> str:
        text, count = re.subn(clean, "", right(soc))
        assert count == 1
        return text

    monkeypatch.setattr(headers, "device_source", without)
    (tmp_path / "wrong").mkdir()
    result = run(compiled, link(compiled, tmp_path / "wrong"), tmp_path)
    assert (result.stop, result.results) == (Stop.STALL, ()), "the core runs what is in memory"


@pytest.mark.slow
@pytest.mark.rtl
@pytest.mark.parametrize("name", in_gate(["copied", "hosted"], 1))
def test_d5_both_loaders_run_in_rtl(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(LOADERS / f"{name}.yaml"), str(MODEL), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["bit_exact"] is True
    assert report["layers_compared"] == report["layers_equal"] == 10
    assert report["placement"]["violations"] == []


@pytest.mark.rtl
def test_d5_m6_a_release_before_the_copy_is_noticed_in_rtl(
    hosted: Compiled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In RTL every fetch is seen: the first one finds nothing there."""
    right = headers.device_source
    monkeypatch.setattr(headers, "device_source", lambda soc: _released_early(right(soc)))
    elves = link(hosted, tmp_path)
    model, samples = build_model(hosted.soc), random_samples(hosted.graph, 1)
    request = requests_for((hosted,), elves, (samples,), model, tmp_path / "run")
    result = in_rtl(replace(request, stall_cycles=2_000_000))
    first = violations(result)[0]
    assert (first.rule, first.device, first.pool) == ("read before write", "dsp", "dsp.code")
    assert first.address == hosted.soc.remote_cpus[0].reset_address


@pytest.mark.rtl
@pytest.mark.slow
def test_d5_m6_mutants_of_the_copy_are_noticed(copied: Compiled) -> None:
    kind = "code copied wrongly"
    with temporary_folder() as folder:
        right, report = run_right(copied, build_model(copied.soc), folder)
        assert report.passed
        mutants = draw_mutants(right, 8, 1, kinds={kind: KINDS[kind]})
        assert len(mutants) == 8
        trials = [try_mutant(right, mutant) for mutant in mutants]
    assert [str(trial) for trial in trials if not trial.result.caught] == []


@pytest.mark.parametrize(
    ("chip", "memory"),
    [
        ("mps2_an386", "psram"),
        ("virt_rv32", "work"),
        pytest.param("mps2_an505", "ssram3", marks=pytest.mark.slow),
        pytest.param("mps3_an547", "sram", marks=pytest.mark.slow),
        pytest.param("virt_rv64", "work", marks=pytest.mark.slow),
    ],
)
def test_d5_machines_of_qemu_copy_their_code(
    chip: str, memory: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = ROOT / "examples" / "08_qemu_machines" / f"{chip}.yaml"
    where = {"loader": "copy", "code.memory": memory, "code.size": "64KiB"}
    layers = [f"--set=devices.cpu.{key}={value}" for key, value in where.items()]
    soc = load_soc(path, tuple(each.removeprefix("--set=") for each in layers))
    if shutil.which(program_of(soc)) is None:
        pytest.skip("QEMU is not installed")
    assert main(["run", str(path), str(MODEL), "--cpu", "qemu", "--json", *layers]) == 0
    assert json.loads(capsys.readouterr().out)["layers_equal"] == 10


def test_d5_cmake_brings_one_image_into_another(tmp_path: Path) -> None:
    """A script of CMake reads the ELF file; here it is held against what the build embeds."""
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not installed")
    chip, folder = str(LOADERS / "hosted.yaml"), tmp_path / "bsp"
    assert main(["bsp", chip, str(MODEL), "-o", str(folder)]) == 0
    assert main(["build", chip, str(MODEL), "-o", str(tmp_path / "build")]) == 0
    words = {"ELF": str(tmp_path / "build" / "dsp.elf"), "CORE": "dsp", "ORIGIN": "0x20000000"}
    given = [f"-D{name}={value}" for name, value in words.items()]
    script = str(folder / "cmake" / "atoll_image_source.cmake")
    made = tmp_path / "image.c"
    subprocess.run(["cmake", *given, f"-DC={made}", "-P", script], check=True)
    embedded = (tmp_path / "build" / "bsp" / "image_dsp.c").read_text()
    assert _words(made.read_text()) == _words(embedded)
    assert len(_words(embedded)) > 1000


def _words(source: str) -> list[int]:
    body = source[source.index("= {") :]
    return [int(word, 16) for word in re.findall(r"0x([0-9A-Fa-f]{8})u", body)]


def test_d5_explain_tells_the_loader_of_each_core(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(LOADERS / "hosted.yaml"), "--json"]) == 0
    tables = json.loads(capsys.readouterr().out)
    text = json.dumps(tables)
    assert '"loader": "host"' in text
    assert '"loader": "xip"' in text
    assert main(["explain", str(LOADERS / "copied.yaml")]) == 0
    assert re.search(r"cpu +cpu +.* copy ", capsys.readouterr().out)
