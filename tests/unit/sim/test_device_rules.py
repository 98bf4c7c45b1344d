# SPDX-License-Identifier: Apache-2.0
"""Each rule of an accelerator's ports: what keeps it is not found, what breaks it is."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.sim.device_bench import Ports
from tests.unit.sim.shadow_bench import CHIP as SHADOW_CHIP

from atoll.resolve import load_soc
from atoll_sim.shadow.access_kinds import Barred, barred_accesses, tells_errors, unanswerable
from atoll_sim.shadow.device_rows import device_rows, register_rows
from atoll_sim.shadow.records import DEVICE, REGISTER, Action

CHIP = Path(__file__).parents[3] / "examples" / "11_systolic_array" / "chip.yaml"
BUSY, DONE = 1, 2
CHIP_ENGINE = next(each for each in SHADOW_CHIP.engines if each.name == "npu_a")


def opened(ports: Ports) -> Ports:
    """Let the driver open the device, as before every operator."""
    ports.read("STATUS", 0)
    ports.write("IRQ_STATUS", 1)
    ports.write("IRQ_ENABLE", 1)
    return ports


def started(ports: Ports | None = None) -> Ports:
    """Let it start a list of three commands."""
    ports = ports or opened(Ports())
    ports.write("LIST_COUNT", 3)
    assert ports.write("CONTROL", 1)
    return ports


def taken_back(ports: Ports) -> Ports:
    """Let the driver see that it is done, and take the interrupt back."""
    ports.read("STATUS", DONE)
    ports.write("IRQ_STATUS", 1)
    return ports


def test_a1_a2_a3_a4_a6_two_lists_that_keep_all_rules() -> None:
    ports = opened(Ports())
    for _ in range(2):
        started(ports)
        ports.read("STATUS", BUSY)
        assert not ports.line(1)
        taken_back(ports)
        ports.line(0)
        ports.wait(1000)
    ports.call("end")
    assert ports.found == []


@pytest.mark.parametrize(("clock", "patience"), [("2.5 MHz", 2560), ("400 MHz", 64)])
def test_a3_a_slow_accelerator_has_cycles_of_its_own_to_lower_its_line(
    clock: str, patience: int
) -> None:
    soc = load_soc("lagoon", (f"devices.npu.clock={clock}",))
    (engine,) = soc.engines
    (row,) = device_rows(engine, {"npu": 1})
    assert dict(zip(DEVICE.fields, row, strict=True))["patience"] == patience


def test_a1_the_interrupt_comes_before_an_answer() -> None:
    ports = started()
    ports.line(1, unanswered=2)
    assert ports.found == [("A1", "done too early")]
    assert "2 of its requests are not answered" in ports.said
    assert "device npu_a, operator op_0, at cycle" in ports.said


def test_a1_a_register_says_done_while_a_request_is_held() -> None:
    ports = started()
    ports.read("STATUS", DONE, held=1)
    assert ports.found == [("A1", "done too early")]
    assert "a request of it is not accepted" in ports.said


def test_a2_the_host_finds_out_by_reading() -> None:
    ports = started()
    ports.wait(65_536)
    taken_back(ports)
    assert ports.found == [("A2", "no interrupt")]
    assert "65,5" in ports.said


def test_a2_an_interrupt_may_come_a_moment_after_the_register_says_done() -> None:
    ports = started()
    ports.read("STATUS", DONE)
    ports.line(1)
    ports.write("IRQ_STATUS", 1)
    ports.line(0)
    assert ports.found == []


def test_a2_what_is_not_enabled_need_not_come() -> None:
    ports = Ports()
    ports.read("STATUS", 0)
    started(ports)
    taken_back(ports)
    assert ports.found == []


def test_a3_the_line_stays_high() -> None:
    ports = started()
    ports.line(1)
    taken_back(ports)
    ports.wait(40)
    assert ports.found == []
    ports.wait(40)
    assert ports.found == [("A3", "interrupt not cleared")]


def test_a3_the_line_falls_by_itself() -> None:
    ports = started()
    ports.line(1)
    ports.line(0)
    assert ports.found == [("A3", "interrupt dropped")]


def test_a3_starting_takes_the_interrupt_back_too() -> None:
    ports = started()
    ports.line(1)
    started(ports)
    ports.line(0)
    assert ports.found == []


def test_a4_nothing_was_started() -> None:
    ports = Ports()
    ports.line(1)
    assert ports.found == [("A4", "spurious interrupt")]


def test_a4_one_start_gives_one_interrupt() -> None:
    ports = started()
    ports.line(1)
    taken_back(ports)
    ports.line(0)
    ports.line(1)
    assert ports.found == [("A4", "spurious interrupt")]


def test_a4_what_is_not_enabled_may_not_rise() -> None:
    ports = Ports()
    ports.read("STATUS", 0)
    started(ports)
    ports.line(1)
    assert ports.found == [("A4", "interrupt not enabled")]


def test_a1_a_register_says_that_it_works_and_is_done() -> None:
    ports = started()
    ports.read("STATUS", BUSY)
    assert ports.found == []
    ports.read("STATUS", BUSY | DONE)
    assert ports.found == [("A1", "busy and done")]
    assert "STATUS of npu_a reads 0x3" in ports.said


def test_a5_what_the_driver_only_reads_takes_no_writes() -> None:
    ports = Ports()
    ports.write("STATUS", 0xFFFF_FFFF, failed=True)
    assert ports.found == []
    ports.write("COMPLETED", 0xFFFF_FFFF)
    assert ports.found == [("A5", "register takes")]
    assert "answers a write of COMPLETED without an error" in ports.said


def test_a5_offsets_without_a_register_answer_with_an_error() -> None:
    ports = Ports()
    offset = barred_accesses(CHIP_ENGINE)[-1].offset
    assert offset not in ports.registers.values()
    for write in (0, 1):
        ports.call("answered", write, offset, 0, 1, 0, 0)
    assert ports.found == []
    ports.call("answered", 0, offset, 0, 0, 0, 0)
    assert ports.found == [("A5", "register takes")]
    assert f"answers a read of register {offset:#05x} without an error" in ports.said


def test_a5_status_begins_with_zeros() -> None:
    ports = Ports()
    ports.read("STATUS", BUSY)
    assert ports.found == [("A5", "wrong value after reset")]
    assert "STATUS of npu_a reads 0x1" in ports.said


def test_a5_after_another_reset_too() -> None:
    ports = started()
    ports.call("reset")
    ports.read("STATUS", DONE)
    assert ports.found == [("A5", "wrong value after reset")]


def test_a5_what_tells_the_instance_never_changes() -> None:
    ports = Ports()
    ports.read("ID", 1)
    assert ports.found == [("A5", "wrong identity")]


@pytest.mark.parametrize("write", [True, False])
def test_a5_what_the_driver_does_is_answered(write: bool) -> None:
    ports = Ports()
    if write:
        ports.write("IRQ_ENABLE", 1, failed=True)
    else:
        ports.read("STATUS", 0, failed=True)
    assert ports.found == [("A5", "register refuses")]
    assert ("a write of IRQ_ENABLE" if write else "a read of STATUS") in ports.said


def test_a6_without_work_it_asks_for_nothing() -> None:
    ports = Ports()
    ports.call("asks")
    assert ports.found == [("A6", "request without work")]


def test_a7_a_request_holds() -> None:
    ports = started()
    ports.call("wavers", 1)
    assert ports.found == [("A7", "unstable request")]
    assert "at m_axi_awvalid" in ports.said


def test_a8_no_more_commands_end_than_were_given() -> None:
    ports = started(opened(Ports(master=3, name="dma")))
    ports.read("COMPLETED", 3)
    assert ports.found == []
    ports.read("COMPLETED", 4)
    assert ports.found == [("A8", "more ends than commands")]


def test_a9_what_is_aborted_has_not_ended() -> None:
    ports = started()
    ports.wait(5000)
    ports.write("CONTROL", 2)
    assert ports.found == [("A9", "never done")]
    assert "5,0" in ports.said


def test_a9_what_works_when_all_is_over_has_not_ended() -> None:
    ports = started()
    ports.call("end")
    assert ports.found == [("A9", "never done")]


def test_any_register_that_a_program_writes_may_start_it() -> None:
    (loom,) = (each for each in load_soc(CHIP).engines if each.name == "loom")
    rows = [
        dict(zip(REGISTER.fields, row, strict=True)) for row in register_rows(loom, {"loom": 1})
    ]
    names: dict[object, str] = {at: name for name, at in loom.spec.registers.items()}
    meanings = {
        action: {names.get(each["offset"], "") for each in rows if each["action"] == action}
        for action in Action
    }
    assert meanings[Action.START] == set(names.values()) - {"ID", "STATUS", "IRQ_STATUS"}
    assert meanings[Action.DONE] == {"STATUS"}
    assert meanings[Action.CLEAR] == {"IRQ_STATUS"}
    assert meanings[Action.ABORT] == {"CONTROL"}
    assert meanings[Action.FIXED] == {"ID"}
    assert meanings[Action.NO_WRITE] == {"ID", "STATUS", ""}
    assert meanings[Action.NO_READ] == {""}


def test_a5_a_program_tells_what_no_register_allows() -> None:
    (loom,) = (each for each in load_soc(CHIP).engines if each.spec.name == "loom")
    at = loom.spec.registers
    barred = barred_accesses(loom)
    assert {each.offset for each in barred if each.write} >= {at["ID"], at["STATUS"]}
    assert not {each.offset for each in barred} & {at["CONTROL"], at["IRQ_STATUS"], at["IMAGE"]}
    assert {each for each in barred if each.offset == 0x38} == {
        Barred(0x38, write=write) for write in (False, True)
    }
    assert max(each.offset for each in barred) == 0x3C  # an address of 6 bits tells all apart


def test_a5_a_module_without_a_port_of_errors_is_not_asked_for_one() -> None:
    (loom,) = (each for each in load_soc(CHIP).engines if each.spec.name == "loom")
    silent = replace(loom, spec=replace(loom.spec, rtl_ports={"s_obi_err_o": None}))
    assert unanswerable(loom.spec) == ""
    assert tells_errors(loom.spec, write=True)
    assert unanswerable(silent.spec) == "reads and writes"
    assert barred_accesses(silent) == ()
