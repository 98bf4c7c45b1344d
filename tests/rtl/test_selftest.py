# SPDX-License-Identifier: Apache-2.0
"""The self-test of a chip in RTL: a right chip passes, and planted faults are named."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.small_program import request
from tests.e2e.test_board_packages import cmake

from atoll.bsp.core_images import image_cores
from atoll.cli import main
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll_selftest.log import Log, read_log
from atoll_selftest.verdict import findings
from atoll_sim.build import model
from atoll_sim.chip.chip_parts import Chip
from atoll_sim.chip.generate import sources
from atoll_sim.chip.memory_map import windows_of
from atoll_sim.chip.sources import RTL
from atoll_sim.simulate.session import simulate

pytestmark = pytest.mark.rtl

DIGITS = str(Path(__file__).parents[2] / "examples" / "01_digits" / "digits_int8.tflite")
IBEX = ("devices.cpu.core=ibex",)
PROTECTED = (*IBEX, "devices.cpu.protection=true")
CHIPS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "lagoon": ("lagoon", ()),
    "atoll2": ("atoll2", ()),
    "twin": ("twin", ()),
    "ibex": ("lagoon", IBEX),
    "ibex protected": ("lagoon", PROTECTED),
}
VIEWED: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "viewed twin": (str(Path(__file__).parent / "data" / "viewed_twin.yaml"), ())
}
STEP = 61
"""Words from one that a march touches to the next; a march over each word takes a minute."""

slow = pytest.mark.slow


def images(chip: str, folder: Path, step: int = STEP) -> tuple[ResolvedSoc, tuple[Path, ...]]:
    """Make a package with a self-test and build its images."""
    name, overrides = {**CHIPS, **VIEWED}[chip]
    settings = [word for each in overrides for word in ("--set", each)]
    assert main(["bsp", name, DIGITS, "--selftest", "-o", str(folder), *settings]) == 0
    cmake(folder, "zig", f"-DATOLL_SELFTEST_STEP={step}")
    soc = load_soc(name, overrides)
    built = folder / "build" / "zig"
    others = (built / f"{core.name}.selftest.elf" for core in image_cores(soc)[1:])
    return soc, (built / "firmware.selftest.elf", *others)


def printed(
    soc: ResolvedSoc,
    elves: Sequence[Path],
    windows: Mapping[tuple[str, int], tuple[int, int]] | None = None,
) -> str:
    """Run the images in RTL and return what they print."""
    asked = replace(
        request(soc, elves[0]),
        elves=tuple(elves),
        executable=model.build_model(soc),
        windows=windows or {},
        max_cycles=10**9,
        stall_cycles=10**9,
    )
    return simulate(asked).text


def said(log: Log) -> list[str]:
    """Return the findings' sentences."""
    return [finding.what for finding in findings(log)]


@pytest.mark.parametrize(
    "chip",
    ["lagoon", *(pytest.param(chip, marks=slow) for chip in (*CHIPS, *VIEWED)[1:])],
)
def test_a_right_chip_passes(chip: str, tmp_path: Path) -> None:
    soc, elves = images(chip, tmp_path)
    log = read_log(printed(soc, elves), "the run")
    assert said(log) == []
    assert log.missing == ()
    assert all(result.passed for result in log.results.values())
    refused = {r.device for r in log.results.values() if r.found == "refused"}
    assert refused == {device.name for device in soc.devices}, "each is kept from something"


@slow
def test_a_march_over_every_word_passes(tmp_path: Path) -> None:
    soc, elves = images("lagoon", tmp_path, step=1)
    log = read_log(printed(soc, elves), "the run")
    assert (said(log), log.missing) == ([], ())


@pytest.mark.parametrize(
    ("chip", "wrong", "device", "places"),
    [
        (
            "lagoon",
            ("pools.shared.reach.npu=none", "pools.private.reach.npu=rw"),
            "npu",
            ("shared", "private"),
        ),
        *(
            pytest.param(*each, marks=slow)
            for each in (
                (
                    "atoll2",
                    (
                        "pools.conv_private.reach.npu_conv=none",
                        "pools.dw_private.reach.npu_conv=rw",
                    ),
                    "npu_conv",
                    ("conv_private", "dw_private"),
                ),
                (
                    "twin",
                    ("pools.shared.reach.dsp=none", "pools.large_local.reach.dsp=rw"),
                    "dsp",
                    ("shared", "large_local"),
                ),
                (
                    "twin",
                    (
                        "pools.large_local.reach.npu_large=none",
                        "pools.small_local.reach.npu_large=rw",
                    ),
                    "npu_large",
                    ("large_local", "small_local"),
                ),
                (
                    "ibex",
                    ("pools.shared.reach.npu=none", "pools.private.reach.npu=rw"),
                    "npu",
                    ("shared", "private"),
                ),
            )
        ),
    ],
)
def test_swapped_windows_are_named(
    chip: str, wrong: tuple[str, ...], device: str, places: tuple[str, str], tmp_path: Path
) -> None:
    soc, elves = images(chip, tmp_path)
    name, overrides = CHIPS[chip]
    windows = {
        key: window
        for key, window in windows_of(load_soc(name, (*overrides, *wrong))).items()
        if key[0].startswith(f"dev_{device}_")
    }
    log = read_log(printed(soc, elves, windows), "the run")
    first, second = places
    named = f"the windows of '{device}' at '{first}' and '{second}' are swapped: "
    assert any(what.startswith(named) for what in said(log)), said(log)


MEMORY = "atoll_memory.sv"
PLANTS: Mapping[str, tuple[str, str, str]] = {
    "a stuck address line": (
        ".row_i   (bank_row)",
        ".row_i   (WordBytes == 8 && NumBanks == 4 ? bank_row & ~RowBits'(32) : bank_row)",
        "memory 'sram': address line 10 is stuck or open: words 0x400 bytes apart are one; ",
    ),
    "a dead bank": (
        "assign rdata[b] = delayed[ReadLatency-1];",
        "assign rdata[b] = WordBytes == 8 && NumBanks == 4 && b == 2 ? '0"
        " : delayed[ReadLatency-1];",
        "memory 'sram': bank 2 is dead, of 4: all wrong words lie there; ",
    ),
    "a stuck data line": (
        "assign rdata[b] = delayed[ReadLatency-1];",
        "assign rdata[b] = delayed[ReadLatency-1]"
        " | (WordBytes == 8 && NumBanks == 4 ? (8*WordBytes)'('h4000_0000_4000) : '0);",
        "memory 'sram': data line 14 is stuck or open; ",
    ),
}
"""What is written in `atoll_memory.sv` in the place of what, and what the self-test says of it."""


def planted(old: str, new: str, folder: Path) -> Callable[[Chip], tuple[Path, ...]]:
    """Return what lists the sources of a chip whose memories have a fault."""
    wrong = folder / MEMORY
    text = (RTL / MEMORY).read_text()
    assert text.count(old) == 1
    wrong.write_text(text.replace(old, new))

    def listed(chip: Chip) -> tuple[Path, ...]:
        return tuple(wrong if path.name == MEMORY else path for path in sources(chip))

    return listed


@slow
@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("plant", PLANTS)
def test_faults_of_memories_are_named(
    chip: str, plant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new, named = PLANTS[plant]
    soc, elves = images(chip, tmp_path / "bsp")
    monkeypatch.setattr(model, "sources", planted(old, new, tmp_path))
    log = read_log(printed(soc, elves), "the run")
    assert any(what.startswith(named) for what in said(log)), said(log)
