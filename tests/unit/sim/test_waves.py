# SPDX-License-Identifier: Apache-2.0
"""Save files as text, marks as numbers, and what the format needs."""

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from atoll.diagnostics.errors import UsageError
from atoll.resolve import load_soc
from atoll_sim.build.wave_formats import WaveFormat, can_write_fst, format_of
from atoll_sim.chip.chip_parts import Chip
from atoll_sim.chip.generate import generate, sources
from atoll_sim.chip.plan import plan_chip
from atoll_sim.trace.simulation import Phase
from atoll_sim.waves.gtkwave import gtkwave_text
from atoll_sim.waves.marks import Mark, operator_marks, time_of
from atoll_sim.waves.request import request_waves
from atoll_sim.waves.signals import Group, Shown, Signal
from atoll_sim.waves.surfer import letters, surfer_text

GROUPS = (
    Group("device cpu", (Signal("top.name", 16, Shown.TEXT, "cpu runs"), Signal("top.addr", 32))),
    Group("memory ram", (Signal("top.valid", None, Shown.BIT),)),
)
MARKS = tuple(Mark(f"op_{number}", 100 * number) for number in range(30))


@pytest.fixture(scope="module")
def chip() -> Chip:
    return plan_chip(load_soc("lagoon"))


def test_a_save_file_of_gtkwave() -> None:
    text = gtkwave_text(Path("far/a.vcd"), GROUPS, MARKS[:2], (5000, 5000 + 4096 * 1000))
    assert text == (
        "[*] Written by Atoll\n"
        '[dumpfile] "a.vcd"\n'
        "[timestart] 5000\n"
        f"*-12.000000 -1 0 100{' -1' * 24}\n"
        "[markername] Aop_0\n"
        "[markername] Bop_1\n"
        "[signals_width] 240\n"
        "@800200\n-device cpu\n"
        "@820\n+{cpu runs} top.name[15:0]\n"
        "@22\ntop.addr[31:0]\n"
        "@1000200\n-device cpu\n"
        "@800200\n-memory ram\n"
        "@28\ntop.valid\n"
        "@1000200\n-memory ram\n"
    )


def test_gtkwave_has_26_markers() -> None:
    lines = gtkwave_text(Path("a.vcd"), (), MARKS, (0, 1)).splitlines()
    assert lines[3].split()[2:] == [str(100 * number) for number in range(26)]
    assert lines[-2] == "[markername] Zop_25"


def test_a_command_file_of_surfer() -> None:
    assert surfer_text(GROUPS, MARKS[:1]) == (
        "# Written by Atoll\n"
        "divider_add device_cpu\n"
        "variable_add top.name\n"
        "item_focus b_top.name\n"
        "item_set_format ASCII\n"
        "item_unfocus\n"
        "variable_add top.addr\n"
        "divider_add memory_ram\n"
        "variable_add top.valid\n"
        "marker_set op_0 0\n"
        "zoom_fit\n"
    )


@pytest.mark.parametrize(
    ("index", "count", "expected"),
    [(0, 1, "a"), (14, 15, "o"), (15, 16, "ap"), (19, 30, "bd"), (255, 256, "app")],
)
def test_surfer_numbers_items_in_letters(index: int, count: int, expected: str) -> None:
    assert letters(index, count) == expected


def test_rising_edges_are_half_a_period_late(chip: Chip) -> None:
    assert [time_of(chip, cycle) for cycle in (0, 1, 2)] == [0, 5000, 15000]


def test_marks_are_where_operators_begin(chip: Chip) -> None:
    plan: list[tuple[int | None, tuple[int, ...]]] = [
        *((None, ()), (0, (0,)), (0, (0, 1)), (0, (1,)), (0, ()), (0, (0,)), (1, (0,)), (None, ()))
    ]
    phases = tuple(
        Phase(sample=sample, operators=under_way, begin=10 * at, end=10 * at + 10, touched=())
        for at, (sample, under_way) in enumerate(plan)
    )
    names = ({0: "a", 1: "b"}, {0: "other"})
    assert [
        (mark.name, mark.time) for mark in operator_marks(chip, phases, names, range(1000))
    ] == [*(("a", 95_000), ("b", 195_000), ("a", 495_000), ("other", 595_000))]
    assert [mark.name for mark in operator_marks(chip, phases, names, range(20, 50))] == ["b"]


def test_only_models_that_record_have_names_of_operators(chip: Chip) -> None:
    plain, recording = chip, replace(chip, waves=True)
    assert "atoll_operator_name" not in generate(plain)["atoll_chip.sv"]
    assert generate(recording)["atoll_chip.sv"].count("  atoll_operator_name #(") == 2
    extra = set(sources(recording)) - set(sources(plain))
    assert [path.name for path in extra] == ["atoll_operator_name.sv"]


def test_without_waves_nothing_is_asked() -> None:
    assert request_waves(None) is None


def test_defaults_record_the_run_up_to_a_size(tmp_path: Path) -> None:
    waves = request_waves(tmp_path / "a.VCD")
    assert waves is not None
    assert (waves.format, waves.first, waves.last, waves.operator) == (
        WaveFormat.VCD,
        0,
        None,
        None,
    )
    assert waves.limit == 2**30
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("status", [0, 1])
def test_fst_needs_its_libraries(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def compile_probe(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        assert {"-llz4", "-lz"} < set(command)
        return subprocess.CompletedProcess(command, status)

    monkeypatch.setattr("atoll_sim.build.wave_formats.run", compile_probe)
    can_write_fst.cache_clear()
    try:
        if status == 0:
            assert format_of(Path("a.fst")) is WaveFormat.FST
            return
        with pytest.raises(UsageError, match="cannot write FST") as caught:
            format_of(Path("a.fst"))
        assert caught.value.faults[0].code == "E089"
        assert "or write a.vcd" in (caught.value.faults[0].remedy or "")
    finally:
        can_write_fst.cache_clear()
