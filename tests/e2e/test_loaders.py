# SPDX-License-Identifier: Apache-2.0
"""Start-up code copies a core's code, or its host writes it: what runs, and what is noticed."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from atoll.artifacts.build_tree import part_of
from atoll.artifacts.samples import random_samples
from atoll.bsp import headers
from atoll.bsp.firmware import link_unchecked
from atoll.driver.pipeline import Compiled, compile_file
from atoll.resolve import load_soc
from atoll_image.check import disagreements
from atoll_image.elf import read_image
from atoll_sim.check.layers import check_layers
from atoll_sim.iss.engines import make_models
from atoll_sim.iss.run import simulate
from atoll_sim.simulate.firmware import code_brought, load_images
from atoll_sim.simulate.run import requests_for
from atoll_sim.trace.findings import violations
from atoll_sim.trace.simulation import SimResult, Stop

ROOT = Path(__file__).parents[2]
MODEL = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
LOADERS = ROOT / "tests" / "data" / "loaders"

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


def test_d1_start_up_code_copies_a_core_to_where_it_runs(copied: Compiled, tmp_path: Path) -> None:
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


def test_d1_the_host_writes_the_code_of_another_core(hosted: Compiled, tmp_path: Path) -> None:
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
def test_m1_m6_a_wrong_copy_of_code_is_noticed(name: str, copied: Compiled, tmp_path: Path) -> None:
    edit, rule = COPIES[name]
    assert rule in noticed(copied, link(copied, tmp_path, edit), tmp_path)


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
def test_m1_m6_a_host_that_loads_wrongly_is_noticed(
    name: str, hosted: Compiled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit, *found = LOADS[name]
    right = headers.device_source
    monkeypatch.setattr(headers, "device_source", lambda soc: edit(right(soc)))
    assert tuple(found) in noticed(hosted, link(hosted, tmp_path), tmp_path)
