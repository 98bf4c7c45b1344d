# SPDX-License-Identifier: Apache-2.0
"""Waveforms of a small chip: every signal of the save files is there, operators by name."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from atoll.diagnostics.errors import SimulationError
from atoll.resolve.soc import ResolvedSoc
from atoll_sim.build.model import build_model
from atoll_sim.build.wave_formats import WaveFormat
from atoll_sim.chip.plan import plan_chip
from atoll_sim.protocol.records import HEAT_BYTES, AccessKind
from atoll_sim.simulate.session import simulate
from atoll_sim.trace.simulation import Buffer, Phase, SimRequest
from atoll_sim.waves.marks import time_of
from atoll_sim.waves.recording import record
from atoll_sim.waves.request import Waves, request_waves

NAMES = {0: "triple_0", 1: "copy_1"}
RUNS = 2
IDLE = "-"

pytestmark = pytest.mark.rtl


@pytest.fixture
def request_of(
    tiny: ResolvedSoc, firmware: Callable[[str], Path], tmp_path: Path
) -> Callable[[str], SimRequest]:
    def ask(ending: str) -> SimRequest:
        return SimRequest(
            executable=build_model(tiny, waves=WaveFormat.VCD),
            elves=(firmware(ending),),
            soc=tiny,
            run_dir=tmp_path / "run",
            samples=({"input": bytes(64)},) * RUNS,
            inputs=(Buffer("input", 0x2000_0000, 64),),
            outputs=(Buffer("output", 0x2000_2000, 64),),
        )

    return ask


def asked(path: Path, **options: object) -> Waves:
    waves = request_waves(path, **options)  # type: ignore[arg-type]
    assert waves is not None
    return waves


def spans(phases: tuple[Phase, ...], number: int) -> list[tuple[int, int]]:
    """Return the cycles in which an operator was under way."""
    return [(phase.begin, phase.end) for phase in phases if number in phase.operators]


def shown_by_gtkwave(path: Path) -> set[str]:
    lines = path.read_text().splitlines()
    paths = [re.sub(r"^\+\{.*\} ", "", line) for line in lines if "atoll_chip." in line]
    assert all(line[0] in "[*@-+a" for line in lines)
    return set(paths)


def shown_by_surfer(path: Path) -> set[str]:
    return set(re.findall(r"^variable_add (\S+)$", path.read_text(), re.M))


def test_names_begin_and_end_with_the_operators(
    request_of: Callable[[str], SimRequest],
    tiny: ResolvedSoc,
    tmp_path: Path,
    vcd_reader: ModuleType,
) -> None:
    waves = asked(tmp_path / "a.vcd")
    result = record(waves, request_of("GOOD"), (NAMES,), simulate)
    chip, vcd = plan_chip(tiny), vcd_reader.read_vcd(waves.path)
    for number, device in enumerate(("cpu", "npu")):
        texts = vcd.texts(f"atoll_chip.u_{device}_operator.name[383:0]")
        expected = [(0, IDLE)]
        for begin, end in spans(result.phases, number):
            expected += [(time_of(chip, begin), NAMES[number]), (time_of(chip, end), IDLE)]
        assert texts == expected
        assert len(texts) == 1 + 2 * RUNS
    cycles = vcd.of("atoll_chip.cycle_q[63:0]")
    assert cycles[1:] == [(time_of(chip, cycle), cycle) for cycle in range(1, len(cycles))]
    assert (result.recorded and result.recorded.last) == cycles[-1][1]


def test_interrupts_are_those_of_the_waveform(
    request_of: Callable[[str], SimRequest],
    tiny: ResolvedSoc,
    tmp_path: Path,
    vcd_reader: ModuleType,
) -> None:
    """The edge of the clock at which a line is seen high is the one after it has risen."""
    waves = asked(tmp_path / "a.vcd")
    result = record(waves, request_of("GOOD"), (NAMES,), simulate)
    chip, vcd = plan_chip(tiny), vcd_reader.read_vcd(waves.path)
    changes = vcd.of("atoll_chip.irq[31:0]")
    assert result.lines
    assert {each.source for each in result.lines} == {"guard", "npu"}
    for each in result.lines:
        levels = [(at, value >> each.number & 1) for at, value in changes]
        seen = [at for (at, now), (_, before) in pairwise_back(levels) if now != before]
        told = [cycle for pulse in each.pulses for cycle in pulse if cycle is not None]
        assert [time_of(chip, cycle - 1) for cycle in told] == seen
        assert len(each.pulses) == (RUNS if each.source == "npu" else 0)


def test_bytes_are_counted_where_and_when_the_first_run_moved_them(
    request_of: Callable[[str], SimRequest], tmp_path: Path
) -> None:
    result = record(asked(tmp_path / "a.vcd", last=100), request_of("GOOD"), (NAMES,), simulate)
    touches = [each for phase in result.phases if phase.sample == 0 for each in phase.touched]
    (heat,) = result.heat
    for number, kind in enumerate((AccessKind.READ, AccessKind.WRITE)):
        told = sum(each.transferred for each in touches if each.kind is kind)
        assert sum(moved[number] for moved in heat.values()) == told > 0
        bytes_ = {at for each in touches if each.kind is kind for span in each.spans for at in span}
        places = {at // HEAT_BYTES * HEAT_BYTES for at in bytes_}
        assert places == {at for at, moved in heat.items() if moved[number]}


def pairwise_back(levels: list[tuple[int, int]]) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return each level with the one before it; all are low at first."""
    return list(zip(levels, [(0, 0), *levels[:-1]], strict=True))


def test_save_files_name_signals_that_are_there(
    request_of: Callable[[str], SimRequest],
    tiny: ResolvedSoc,
    tmp_path: Path,
    vcd_reader: ModuleType,
) -> None:
    waves = asked(tmp_path / "a.vcd", last=100)
    record(waves, request_of("GOOD"), (NAMES,), simulate)
    vcd = vcd_reader.read_vcd(waves.path)
    gtkwave, surfer = waves.views()
    assert len(shown_by_gtkwave(gtkwave)) > 40
    assert shown_by_gtkwave(gtkwave) <= set(vcd.codes)
    assert shown_by_surfer(surfer) == {path.split("[")[0] for path in shown_by_gtkwave(gtkwave)}
    for title in ("operators", "device cpu", "device npu", "memory sram", "firewalls", "console"):
        assert gtkwave.read_text().count(f"\n-{title}\n") == 2
        assert surfer.read_text().count(f"\ndivider_add {title.replace(' ', '_')}\n") == 1


def test_a_second_run_gives_the_same_bytes(
    request_of: Callable[[str], SimRequest], tmp_path: Path
) -> None:
    contents = []
    for _ in range(2):
        waves = asked(tmp_path / "a.vcd", last=3000)
        record(waves, request_of("GOOD"), (NAMES,), simulate)
        contents.append([path.read_bytes() for path in (waves.path, *waves.views())])
    assert contents[0] == contents[1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.gtkw", "a.sucl", "a.vcd", "run"]


def test_an_operator_alone_is_its_first_run(
    request_of: Callable[[str], SimRequest],
    tiny: ResolvedSoc,
    tmp_path: Path,
    vcd_reader: ModuleType,
) -> None:
    waves = asked(tmp_path / "a.vcd", operator="copy_1")
    result = record(waves, request_of("GOOD"), (NAMES,), simulate)
    chip, vcd = plan_chip(tiny), vcd_reader.read_vcd(waves.path)
    (begin, end), _ = spans(result.phases, 1)
    assert vcd.times == (time_of(chip, begin), time_of(chip, end))
    assert vcd.texts("atoll_chip.u_npu_operator.name[383:0]") == [
        (time_of(chip, begin), "copy_1"),
        (time_of(chip, end), IDLE),
    ]
    assert f"\nmarker_set copy_1 {time_of(chip, begin)}\n" in waves.views()[1].read_text()
    assert "triple_0" not in waves.views()[0].read_text()


def test_cycles_bound_the_file(
    request_of: Callable[[str], SimRequest],
    tiny: ResolvedSoc,
    tmp_path: Path,
    vcd_reader: ModuleType,
) -> None:
    waves = asked(tmp_path / "a.vcd", first=50, last=60)
    result = record(waves, request_of("GOOD"), (NAMES,), simulate)
    chip = plan_chip(tiny)
    first, last = vcd_reader.read_vcd(waves.path).times
    assert (first, last) == (time_of(chip, 50), time_of(chip, 60) + chip.clocks[0].half_period)
    assert str(result.recorded).endswith("cycles 50 to 60")


def test_cycles_after_the_end_leave_an_empty_waveform(
    request_of: Callable[[str], SimRequest], tmp_path: Path
) -> None:
    waves = asked(tmp_path / "a.vcd", first=10**9)
    result = record(waves, request_of("GOOD"), (NAMES,), simulate)
    assert str(result.recorded).endswith("no cycle: the run has none of those asked for")


def test_the_limit_ends_recording(
    request_of: Callable[[str], SimRequest], tmp_path: Path, vcd_reader: ModuleType
) -> None:
    waves = asked(tmp_path / "a.vcd", limit="1 MiB")
    result = record(waves, request_of("GOOD"), (NAMES,), simulate)
    assert result.recorded is not None
    assert str(result.recorded).endswith("; stopped at the limit of its size")
    assert 2**20 <= result.recorded.size < 2**21
    assert result.recorded.last < result.cycles
    vcd_reader.read_vcd(waves.path)


def test_a_failed_assertion_leaves_the_waveform_up_to_it(
    request_of: Callable[[str], SimRequest], tmp_path: Path, vcd_reader: ModuleType
) -> None:
    waves = asked(tmp_path / "a.vcd")
    with pytest.raises(SimulationError, match="crosses a boundary of 4 KiB") as caught:
        record(waves, request_of("ILLEGAL"), (NAMES,), simulate)
    assert f"; waves: {waves.path}, " in (caught.value.faults[0].remedy or "")
    assert vcd_reader.read_vcd(waves.path).texts("atoll_chip.u_cpu_operator.name[383:0]")[1:]


def test_a_simulation_without_result_leaves_nothing(
    request_of: Callable[[str], SimRequest], tmp_path: Path
) -> None:
    (tmp_path / "model").write_text("#!/bin/sh\nexit 3\n")
    (tmp_path / "model").chmod(0o755)
    before = request_of("GOOD")
    files = sorted(tmp_path.iterdir())
    with pytest.raises(SimulationError, match="broke off with status 3"):
        record(
            asked(tmp_path / "a.vcd"),
            replace(before, executable=tmp_path / "model"),
            (NAMES,),
            simulate,
        )
    assert sorted(set(tmp_path.iterdir()) - {tmp_path / "run"}) == files
