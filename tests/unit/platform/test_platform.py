# SPDX-License-Identifier: Apache-2.0
"""What is built follows from the description alone."""

import dataclasses
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.picorv32 import PICORV32

from atoll.diagnostics.errors import AtollError, SimulationError
from atoll.isa.find import instruction_set
from atoll.resolve import load_soc
from atoll.resolve.mailbox import LINE
from atoll.resolve.soc import Access, Cpu, Device, Memory, ResolvedSoc
from atoll_sim.chip.checks import check_cores
from atoll_sim.chip.chip_parts import DataPort
from atoll_sim.chip.generate import generate, sources
from atoll_sim.chip.memory_map import write_map
from atoll_sim.chip.plan import check_chip, merge_spans, plan_chip
from atoll_sim.chip.ports import data_signals


@pytest.fixture(scope="module")
def lagoon() -> ResolvedSoc:
    return load_soc("lagoon")


def reachable(soc: ResolvedSoc, device: Device, *allowed: Access) -> set[int]:
    """Return every eighth reachable address; all windows are multiples of 8."""
    return {
        address
        for window, access in soc.windows(device)
        if access in allowed
        for address in range(window.origin, window.origin + window.size, 8)
    }


@pytest.mark.parametrize("name", ["lagoon", "atoll2", "twin"])
def test_windows_are_those_of_the_description(name: str) -> None:
    soc = load_soc(name)
    for master in plan_chip(soc).masters:
        device = soc.device(master.name)
        for spans, allowed in (
            (master.readable, (Access.READ, Access.WRITE)),
            (master.writable, (Access.WRITE,)),
        ):
            assert {at for span in spans for at in span[::8]} == reachable(soc, device, *allowed)


def test_targets_are_the_reached_memories_and_for_the_host_all_registers(
    lagoon: ResolvedSoc,
) -> None:
    cpu, npu = plan_chip(lagoon).masters
    assert [t.signal + t.index for t in cpu.targets] == [
        *("mem_flash[0]", "mem_dtcm[0]", "mem_sram[0]", "reg_npu", "reg_console"),
        "reg_guard",
    ]
    assert [t.signal + t.index for t in npu.targets if t.span] == ["mem_flash[1]", "mem_sram[1]"]
    assert cpu.parameters["ResetAddress"] == f"32'h{lagoon.host_cpu.code.origin:08x}"
    assert npu.parameters["InputLanes"] == str(lagoon.npus[0].params["input_lanes"])


def test_text_is_deterministic_and_complete(lagoon: ResolvedSoc) -> None:
    chip = plan_chip(lagoon)
    texts = generate(chip)
    assert texts == generate(plan_chip(load_soc("lagoon")))
    instances = set(re.findall(r"\) (u_\w+) \(", texts["atoll_chip.sv"]))
    assert instances >= {"u_cpu", "u_npu", "u_sram_memory", "u_cpu_firewall", "u_npu_firewall"}
    assert '"u_dtcm_memory"' in texts["chip.h"]
    assert all(path.is_file() for path in sources(chip))
    assert "host_toggle_i" not in texts["atoll_chip.sv"]


def test_an_external_host_takes_the_place_of_the_core(lagoon: ResolvedSoc) -> None:
    chip = plan_chip(lagoon, external_host=True)
    text = generate(chip)["atoll_chip.sv"]
    assert "atoll_external_host" in text
    assert "atoll_picorv32" not in text
    assert [m.name for m in chip.masters] == [m.name for m in plan_chip(lagoon).masters]
    assert not any(path.name == "picorv32.v" for path in sources(chip))


def test_a_core_with_a_mailbox_reaches_it_and_the_host_reaches_all() -> None:
    soc = load_soc("twin")
    chip = plan_chip(soc)
    cpu, dsp, *engines = chip.masters
    assert [t.signal for t in cpu.targets if t.signal.startswith(("reg", "box"))] == [
        *("reg_dsp", "reg_npu_large", "reg_npu_small", "reg_dma", "reg_console", "reg_guard")
    ]
    box = soc.cpus[1].mailbox
    assert box is not None
    last = dsp.targets[-1]
    assert (last.signal, last.span) == ("box_dsp", range(box.origin, box.origin + box.size))
    assert not any(t.signal.startswith(("reg", "box")) for e in engines for t in e.targets)
    assert (cpu.interrupts, dsp.interrupts) == ("irq", f"32'(dev_dsp_ring) << {LINE}")
    assert chip.lines == {
        2: "guard_irq",
        3: "dev_npu_large_irq",
        4: "dev_npu_small_irq",
        5: "dev_dma_irq",
        6: "dev_dsp_irq",
    }
    instances = set(re.findall(r"\) (u_\w+) \(", generate(chip)["atoll_chip.sv"]))
    assert instances >= {"u_cpu", "u_dsp", "u_dsp_mailbox", "u_dsp_firewall"}


def test_beside_an_external_host_no_core_is_built() -> None:
    chip = plan_chip(load_soc("twin"), external_host=True)
    text = generate(chip)["atoll_chip.sv"]
    assert "atoll_picorv32" not in text
    assert "assign dev_dsp_valid = 1'b0;" in text
    assert "u_dsp_mailbox" in text
    assert not any(path.name == "picorv32.v" for path in sources(chip))


def test_only_chips_with_a_mailbox_need_its_sources(lagoon: ResolvedSoc) -> None:
    def has(soc: ResolvedSoc) -> bool:
        return "atoll_mailbox.sv" in {path.name for path in sources(plan_chip(soc))}

    assert (has(lagoon), has(load_soc("twin"))) == (False, True)


NEIGHBOURS = Path(__file__).parents[2] / "data" / "neighbours.yaml"


def neighbours(core: str, host: str, *more: str) -> ResolvedSoc:
    """Return two cores that interrupt each other by software at two addresses."""
    ends = {
        end: f"{{line: software, send: [{{write: {at}, value: 1}}],"
        f" clear: [{{write: {at}, value: 0}}]}}"
        for end, at in (("core", core), ("host", host))
    }
    signals = f"devices.second.signals={{core: {ends['core']}, host: {ends['host']}}}"
    return load_soc(NEIGHBOURS, ["devices.second.hart=2", signals, *more])


def test_cores_reach_the_words_of_the_software_interrupts_that_they_write() -> None:
    soc = neighbours("0x0200_0008", "0x0200_0000")
    chip = plan_chip(soc)
    assert chip.software
    assert (chip.software.span, chip.software.harts) == (
        range(0x0200_0000, 0x0200_000C),
        {"cpu": 0, "second": 2},
    )
    words = (range(0x0200_0000, 0x0200_0004), range(0x0200_0008, 0x0200_000C))
    for number, master in enumerate(chip.masters):
        assert [span for span in master.readable if span.start >> 16 == 0x0200] == [*words]
        assert [span for span in master.writable if span.start >> 16 == 0x0200] == [*words]
        assert (master.targets[-1].signal, master.targets[-1].index) == ("msip", f"[{number}]")
    cpu, second = chip.masters
    assert (chip.lines[1], second.interrupts) == ("dev_cpu_ring", "32'(dev_second_ring) << 1")
    assert (cpu.parameters["Hart"], second.parameters["Hart"]) == ("0", "2")
    check_cores(soc)
    assert "atoll_msip.sv" in {path.name for path in sources(chip)}
    assert plan_chip(load_soc(NEIGHBOURS)).software is None


@pytest.mark.parametrize(
    ("core", "host", "has_harts", "keys"),
    [
        ("0x4000_0008", "0x0200_0000", True, ["signals"]),
        ("0x0200_0008", "0x4000_0000", True, ["signals"]),
        ("0x0200_0008", "0x0200_0000", False, ["hart", "signals"]),
    ],
)
def test_other_registers_have_no_rtl(
    core: str, host: str, has_harts: bool, keys: Sequence[str]
) -> None:
    made = neighbours(core, host)
    if not has_harts:
        second = made.device("second")
        assert isinstance(second, Cpu)
        told = {name: text for name, text in second.spec.rtl_parameters.items() if name != "Hart"}
        spec = dataclasses.replace(second.spec, rtl_parameters=told)
        made = device("second", spec=spec)(made)
    with pytest.raises(SimulationError) as caught:
        check_cores(made)
    assert [(fault.code, fault.message) for fault in caught.value.faults] == [
        ("E259", f"device 'second': no RTL has the registers of its '{key}'") for key in keys
    ]
    assert plan_chip(made).software is None


def test_a_mailbox_shares_its_line_with_nobody() -> None:
    wrong = device("dsp", irq=3)(load_soc("twin"))
    with pytest.raises(AtollError) as caught:
        plan_chip(wrong)
    assert [fault.message for fault in caught.value.faults] == [
        f"device '{name}' cannot use interrupt line 3 of 'cpu': it is shared"
        for name in ("dsp", "npu_large")
    ]


def test_the_bus_is_as_wide_as_the_widest_accelerator() -> None:
    assert plan_chip(load_soc("lagoon")).data_bytes == 8
    wide = load_soc("lagoon", ["devices.npu.params.data_bytes=16"])
    chip = plan_chip(wide)
    assert chip.data_bytes == 16
    port = DataPort(name="m", protocol="axi4", bytes=16)
    assert {each.name: each.width for each in data_signals(port)}["wstrb"] == 16
    assert [m.word_bytes for m in chip.memories] == [min(m.width, 16) for m in wide.memories]


@pytest.mark.parametrize(
    ("spans", "merged"),
    [
        ([], []),
        ([range(0, 4), range(4, 8)], [range(0, 8)]),
        ([range(0, 4), range(5, 8)], [range(0, 4), range(5, 8)]),
        ([range(4, 8), range(0, 6), range(1, 2)], [range(0, 8)]),
    ],
)
def test_merge_spans(spans: list[range], merged: list[range]) -> None:
    assert merge_spans(spans) == tuple(merged)


def test_the_map_counts_the_last_byte_in_and_closes_what_is_left(
    lagoon: ResolvedSoc, tmp_path: Path
) -> None:
    command = write_map(lagoon, tmp_path, {("dev_npu_writable", 1): (0, 0xFFFF_FFFF)})
    assert command == ("--map", str(tmp_path / "map.txt"))
    clock, *lines = (tmp_path / "map.txt").read_text().splitlines()
    assert clock == f"clk {10**12 // (2 * lagoon.host_cpu.clock)}"
    flash, dtcm, sram = lagoon.memories
    assert lines[:3] == [
        f"map {number} {memory.origin:x} {memory.end - 1:x}"
        for number, memory in enumerate((flash, dtcm, sram))
    ]
    assert [line for line in lines if line.startswith("dev_npu_targets")] == [
        f"dev_npu_targets 0 {flash.origin:x} {flash.end - 1:x}",
        "dev_npu_targets 1 1 0",
        f"dev_npu_targets 2 {sram.origin:x} {sram.end - 1:x}",
    ]
    writable = [line for line in lines if line.startswith("dev_npu_writable")]
    assert writable[1:] == [
        "dev_npu_writable 1 0 ffffffff",
        *(f"dev_npu_writable {number} 1 0" for number in (2, 3)),
    ]


def test_each_device_with_a_clock_of_its_own_crosses_to_the_host(tmp_path: Path) -> None:
    clocks = ["devices.dsp.clock=80 MHz", "devices.dma.clock=333 MHz"]
    chip = plan_chip(load_soc("twin", clocks))
    names = [path.name for path in sources(chip)]
    assert "atoll_bus_crossing.sv" in names
    top = generate(chip)["atoll_chip.sv"]
    crossings = re.findall(r"\) u_(\w+)_crossing \(", top)
    assert crossings == ["dsp", "dma", "dma_control"]
    write_map(chip.soc, tmp_path)
    lines = (tmp_path / "map.txt").read_text().splitlines()
    assert lines[:3] == ["clk 5000", "clk_dsp 6250", "clk_dma 1501"]
    assert generate(plan_chip(load_soc("twin", [*clocks[:1], "devices.dma.clock=7 MHz"]))) == (
        generate(chip)
    )


def test_a_chip_of_one_clock_has_no_crossing() -> None:
    chip = plan_chip(load_soc("twin"))
    assert not [path for path in sources(chip) if "cross" in path.name or "async" in path.name]
    assert "crossing" not in generate(chip)["atoll_chip.sv"]


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        (["pools.shared.size=128 KiB"], True),
        (["pools.weights.size=512 KiB"], True),
        (["pools.private.reach.npu=rw"], True),
        (["memories.sram.size=200 KiB"], True),
        (["memories.sram.origin=0x3000_0000"], True),
        (["devices.npu.registers=0x5000_0000"], True),
        (["devices.cpu.clock=50 MHz", "devices.npu.clock=50 MHz"], True),
        (["memories.sram.size=512 KiB"], True),
        (["memories.sram.size=2 MiB"], False),
        (["memories.sram.banks=2"], False),
        (["devices.npu.params.output_lanes=4"], False),
    ],
)
def test_one_model_serves_all_pools_of_the_same_parts(changes: list[str], same: bool) -> None:
    chips = [plan_chip(load_soc("lagoon", each)) for each in ([], changes)]
    first, second = (generate(chip) for chip in chips)
    assert (first == second) is same


Change = Callable[[ResolvedSoc], ResolvedSoc]


def device(name: str, **values: Any) -> Change:
    def change(soc: ResolvedSoc) -> ResolvedSoc:
        changed = [dataclasses.replace(d, **values) if d.name == name else d for d in soc.devices]
        return dataclasses.replace(soc, devices=tuple(changed))

    return change


def memory(name: str, **values: Any) -> Change:
    def replaced(old: Memory) -> Memory:
        return dataclasses.replace(old, **values) if old.name == name else old

    return lambda soc: dataclasses.replace(soc, memories=tuple(map(replaced, soc.memories)))


def judged(soc: ResolvedSoc) -> None:
    check_chip(soc)


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        (
            device(
                "cpu", spec=dataclasses.replace(PICORV32, rtl_packages={"no-core": ("core.v",)})
            ),
            "E080",
            "comes with the Python package 'no-core', which is not installed",
        ),
        (
            device("cpu", instructions=instruction_set("rv64gc")),
            "E080",
            "core 'picorv32' cannot run 'rv64gc'",
        ),
        (memory("sram", width=6), "E081", "'width' 6 is not a power of two"),
        (memory("sram", banks=3), "E081", "'banks' 3 is not a power of two"),
        (memory("sram", size=1000), "E081", "its size of 1000 B is not a multiple of 32"),
        (memory("sram", size=2**29), "E253", "has 512 MiB, and RTL simulates at most 256 MiB"),
        (memory("sram", origin=2**32), "E253", "'sram' is at 0x100000000, and RTL has 32-bit"),
        (memory("sram", views={"cpu": 2**36}), "E253", "'sram' is at 0x1000000000, and RTL has"),
        (memory("sram", origin=0x2000_0004), "E081", "is not a multiple of 8 bytes"),
        (device("npu", clock=1_562_499), "E082", "less than 1/64 of the host's 100000000 Hz"),
        (device("npu", irq=2), "E083", "cannot use interrupt line 2"),
        (device("npu", irq=40), "E083", "the core has no such line"),
    ],
)
def test_what_cannot_be_simulated_is_refused(
    lagoon: ResolvedSoc, change: Change, code: str, words: str
) -> None:
    with pytest.raises(AtollError, match=re.escape(words)) as caught:
        judged(change(lagoon))
    assert [fault.code for fault in caught.value.faults] == [code]
    assert all(fault.remedy for fault in caught.value.faults)


def test_all_faults_are_reported_together(lagoon: ResolvedSoc) -> None:
    wrong = device("npu", irq=1, clock=1)(memory("flash", banks=5)(lagoon))
    with pytest.raises(AtollError) as caught:
        plan_chip(wrong)
    assert {fault.code for fault in caught.value.faults} == {"E081", "E082", "E083"}


def test_sources_lie_where_the_package_is(lagoon: ResolvedSoc) -> None:
    names = [path.name for path in sources(plan_chip(lagoon))]
    assert names.index("atoll_bus_pkg.sv") < names.index("atoll_firewall.sv")
    assert len(names) == len(set(names))
    assert Path(sources(plan_chip(lagoon))[0]).name == "picorv32.v"


def test_waivers_of_a_core_come_first(lagoon: ResolvedSoc) -> None:
    core = dataclasses.replace(PICORV32, rtl_sources=("atoll_picorv32.sv", "lint.vlt"))
    names = [path.name for path in sources(plan_chip(device("cpu", spec=core)(lagoon)))]
    assert names[0] == "lint.vlt"
    assert names.index("atoll_bus_pkg.sv") < names.index("atoll_picorv32.sv")


@pytest.mark.parametrize(("isa", "bits"), [("rv32im", "100"), ("rv32ec", "011")])
def test_parameters_of_a_core_are_numbers_or_facts(
    lagoon: ResolvedSoc, isa: str, bits: str
) -> None:
    values = {"Start": "reset_address", "M": "has_m", "C": "has_c", "E": "has_e", "Depth": "4"}
    core = dataclasses.replace(PICORV32, isas=(isa,), rtl_parameters=values)
    found = (
        plan_chip(device("cpu", spec=core, instructions=instruction_set(isa))(lagoon))
        .masters[0]
        .parameters
    )
    has = {name: f"1'b{bit}" for name, bit in zip("MCE", bits, strict=True)}
    assert found == {"Start": "32'h00000000", **has, "Depth": "4"}
