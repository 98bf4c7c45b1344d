# SPDX-License-Identifier: Apache-2.0
"""Every rule of the shadow memory: one wrong access in a right run, and the message that it makes.

The program is in ``shadow_bench.py``. A right run has no finding; each test changes one thing.
"""

from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from atoll.resolve import load_soc
from atoll_sim.protocol.records import AccessKind
from atoll_sim.shadow.table import shadow_table
from atoll_sim.trace.findings import name_findings

READ, WRITE, FETCH = AccessKind


def test_a_right_program_has_no_finding_run_after_run(shadow: ModuleType) -> None:
    bench = shadow.Bench()
    for _ in range(3):
        bench.up_to(6)
        bench.event(shadow.RUN_ENDED)
        bench.read(shadow.CPU, "out")
    assert bench.found() == ()


def test_m2_outside_any_live_buffer(shadow: ModuleType) -> None:
    bench = shadow.Bench()
    bench.up_to(0)
    bench.event(shadow.BEGUN, 0)
    free = shadow.CHIP.pool("only_a").region.origin + 4096
    bench.at(shadow.NPU_A, WRITE, free, 8)
    found = bench.only("outside any live buffer")
    assert (found.number, found.device, found.operator) == ("M2", "npu_a", "op_0")
    assert (found.buffer, found.pool, found.address, found.size) == ("", "only_a", free, 8)
    assert found.cycle == bench.cycle


def test_m2_bytes_of_a_buffer_that_does_not_live_yet(shadow: ModuleType) -> None:
    bench = shadow.Bench()
    bench.up_to(1)
    bench.event(shadow.BEGUN, 1)
    bench.at(shadow.DMA, WRITE, bench.spans["z"].address, 8)
    assert bench.only("outside any live buffer").buffer == "z"


@pytest.mark.parametrize("refused", [False, True])
def test_c3_a_device_without_reach(shadow: ModuleType, refused: bool) -> None:
    bench = shadow.Bench()
    bench.up_to(2)
    bench.event(shadow.BEGUN, 2)
    address = bench.spans["x"].address + 0x20
    access = bench.refuse if refused else bench.at
    access(shadow.NPU_B, READ, address, 8)
    found = bench.only("device without reach")
    assert (found.number, found.device, found.where) == ("C3", "npu_b", "x+0x20")
    assert found.key == "pools.only_a.reach.npu_b"
    line = shadow.ISLANDS.read_text().splitlines()[int(found.at.split(":")[-2]) - 1]
    assert line.strip().startswith("only_a:")
    assert "npu_b: none" in line
    assert ("firewall" in found.detail) is refused


def test_c3_the_plan_cannot_give_what_the_description_denies(shadow: ModuleType) -> None:
    place = replace(shadow.span("x"), pool="only_b", address=shadow.span("y").address + 2048)
    bench = shadow.Bench(shadow.contract(x=place))
    bench.up_to(0)
    bench.event(shadow.BEGUN, 0)
    bench.write(shadow.NPU_A, "x", 0, 8)
    assert bench.only("device without reach").buffer == "x"


def test_c3_nor_can_it_give_a_read(shadow: ModuleType) -> None:
    place = replace(shadow.span("y"), pool="only_a", address=shadow.span("x").address + 2048)
    bench = shadow.Bench(shadow.contract(y=place))
    bench.up_to(2)
    bench.event(shadow.BEGUN, 2)
    bench.read(shadow.NPU_B, "y", 0, 8)
    assert bench.only("device without reach").device == "npu_b"


def test_m2_read_before_write(shadow: ModuleType) -> None:
    bench = shadow.Bench()
    bench.start()
    bench.event(shadow.BEGUN, 0)
    bench.write(shadow.NPU_A, "x", 0, 100)
    bench.event(shadow.ENDED, 0)
    bench.operator(1)
    found = bench.only("read before write")
    assert (found.number, found.device, found.operator) == ("M2", "dma", "op_1")
    assert (found.where, found.count) == ("x+0x64", 4)


def test_m2_values_of_the_last_run_do_not_count(shadow: ModuleType) -> None:
    bench = shadow.Bench()
    bench.up_to(6)
    bench.event(shadow.RUN_ENDED)
    bench.up_to(0)
    bench.operator(0, skip="x")
    bench.operator(1)
    assert bench.only("read before write").buffer == "x"


def test_m2_a_copy_that_never_ran(shadow: ModuleType) -> None:
    bench = shadow.Bench()
    bench.up_to(1)
    bench.operator(2)
    assert bench.only("read before write").buffer == "y"


def test_m2_stale_read_after_the_lifetime(shadow: ModuleType) -> None:
    bench = shadow.Bench()
    bench.up_to(5)
    bench.event(shadow.BEGUN, 5)
    bench.read(shadow.NPU_A, "x", 8, 16)
    found = bench.only("stale read")
    assert (found.number, found.device, found.where) == ("M2", "npu_a", "x+0x8")


def test_m3_a_write_into_what_is_live(shadow: ModuleType) -> None:
    bench = shadow.Bench()
    bench.up_to(0)
    bench.event(shadow.BEGUN, 0)
    bench.write(shadow.NPU_A, "image", 16, 24)
    found = bench.only("overlap clobber")
    assert (found.number, found.operator, found.where) == ("M3", "op_0", "image+0x10")


def test_m3_two_live_buffers_on_the_same_bytes(shadow: ModuleType) -> None:
    on_top = replace(shadow.span("x"), address=shadow.span("image").address + 64)
    bench = shadow.Bench(shadow.contract(x=on_top))
    bench.up_to(0)
    bench.operator(0)
    found = bench.only("overlap clobber")
    assert (found.buffer, found.offset) == ("image", 64)
    assert "'x'" in found.detail


def test_m6_constants_are_not_written(shadow: ModuleType) -> None:
    bench = shadow.Bench()
    bench.up_to(0)
    bench.event(shadow.BEGUN, 0)
    bench.write(shadow.NPU_A, "weights", 4, 8)
    found = bench.only("write to read-only")
    assert (found.number, found.where) == ("M6", "weights+0x4")
    assert found.key == "pools.weights.reach.npu_a"


def test_m6_code_is_not_written(shadow: ModuleType) -> None:
    bench = shadow.Bench()
    bench.up_to(0)
    bench.at(shadow.CPU, WRITE, shadow.CHIP.host_cpu.code.origin + 64, 4)
    assert bench.only("write to read-only").pool == "cpu.code"


def test_m3_a_write_past_the_end_of_a_buffer(shadow: ModuleType) -> None:
    bench = shadow.Bench()
    bench.up_to(0)
    bench.event(shadow.BEGUN, 0)
    bench.at(shadow.NPU_A, WRITE, bench.spans["x"].address, 128 + 16)
    found = bench.only("past the end of a buffer")
    assert (found.number, found.where, found.size, found.count) == ("M3", "x+0x80", 8, 2)


def test_m3_a_write_across_the_end_of_a_buffer(shadow: ModuleType) -> None:
    bench = shadow.Bench()
    bench.up_to(2)
    bench.event(shadow.BEGUN, 2)
    bench.at(shadow.NPU_B, WRITE, bench.spans["z"].address + 56, 8)
    found = bench.only("past the end of a buffer")
    assert (found.where, found.size) == ("z+0x3c", 4)


@pytest.mark.parametrize(("beats", "size", "offset"), [(True, 112, 104), (False, 101, 100)])
def test_m3_a_read_past_the_end_of_a_buffer(
    shadow: ModuleType, beats: bool, size: int, offset: int
) -> None:
    """Whole beats of a bus without read enables show up to the end of the beat, and no more."""
    bench = shadow.Bench(beats=beats)
    bench.up_to(0)
    bench.event(shadow.BEGUN, 0)
    image = bench.spans["image"].address
    bench.at(shadow.NPU_A, READ, image, offset)
    assert bench.found() == ()
    bench.at(shadow.NPU_A, READ, image, size)
    found = bench.only("past the end of a buffer")
    assert (found.buffer, found.offset) == ("image", offset)


@pytest.mark.parametrize("beats", [True, False])
def test_m2_a_wide_beat_shows_the_result_beside_what_is_read(
    shadow: ModuleType, beats: bool
) -> None:
    """Bytes 64 to 128 are the end of `image` and the begin of `x`, its operator's result."""
    bench = shadow.Bench(beats=beats)
    bench.up_to(0)
    bench.event(shadow.BEGUN, 0)
    bench.at(shadow.NPU_A, READ, bench.spans["image"].address + 64, 64, beat=64)
    rules = {each.rule for each in bench.found()}
    assert rules == (set() if beats else {"past the end of a buffer", "read before write"})


@pytest.mark.parametrize("written", [0, 32])
def test_m2_a_wide_beat_of_the_result_alone_is_read_before_write(
    shadow: ModuleType, written: int
) -> None:
    bench = shadow.Bench()
    bench.up_to(0)
    bench.event(shadow.BEGUN, 0)
    bench.write(shadow.NPU_A, "x", 0, written)
    bench.at(shadow.NPU_A, READ, bench.spans["image"].address + 128, 64, beat=64)
    found = bench.only("read before write")
    assert (found.offset, found.size) == (16 + max(0, written - 16), 64 - max(0, written - 16))


def test_m3_the_last_bytes_of_a_wide_beat(shadow: ModuleType) -> None:
    bench = shadow.Bench()
    bench.up_to(0)
    bench.event(shadow.BEGUN, 0)
    bench.at(shadow.NPU_A, WRITE, bench.spans["image"].address + 192, 64, beat=64)
    found = bench.only("past the end of a buffer")
    assert (found.where, found.size) == ("x+0x80", 16)


def test_m2_the_wrong_operator(shadow: ModuleType) -> None:
    bench = shadow.Bench()
    bench.up_to(1)
    bench.event(shadow.BEGUN, 1)
    bench.read(shadow.NPU_A, "x", 0, 8)
    found = bench.only("wrong operator")
    assert (found.number, found.device, found.operator, found.buffer) == (
        "M2",
        "npu_a",
        "op_1",
        "x",
    )
    assert found.key == "devices.npu_a.kind"


def test_m2_between_operators_the_host_has_inputs_and_outputs_only(shadow: ModuleType) -> None:
    bench = shadow.Bench()
    bench.up_to(4)
    bench.write(shadow.CPU, "out")
    assert bench.found() == ()
    bench.read(shadow.CPU, "score", 0, 4)
    found = bench.only("wrong operator")
    assert (found.operator, found.buffer) == ("none", "score")


def test_m2_a_constant_that_the_operator_does_not_name(shadow: ModuleType) -> None:
    bench = shadow.Bench()
    bench.up_to(4)
    bench.event(shadow.BEGUN, 4)
    bench.read(shadow.CPU, "weights", 0, 4)
    assert bench.only("wrong operator").buffer == "weights"


def test_k1_below_what_the_stack_may_use(shadow: ModuleType) -> None:
    chip = load_soc(shadow.ISLANDS, ("devices.cpu.limits.max_stack_size=2048",))
    stack = chip.host_cpu.stack
    bench = shadow.Bench(chip=chip)
    bench.at(shadow.CPU, WRITE, stack.origin, stack.size)
    bench.event(shadow.READY)
    bench.at(shadow.CPU, WRITE, stack.end - 2048, 2048)
    assert bench.found() == (), "painting at start, and the last 2048 bytes"
    bench.at(shadow.CPU, WRITE, stack.end - 2052, 4)
    found = bench.only("stack below its limit")
    assert (found.number, found.pool) == ("K1", "cpu.stack")
    assert found.key == "devices.cpu.limits.max_stack_size"


def test_k1_another_core_paints_its_stack_until_its_first_operator(
    shadow: ModuleType, tmp_path: Path
) -> None:
    (tmp_path / "two.yaml").write_text(
        f"extends: {shadow.ISLANDS}\nsoc: two\ndevices:\n  dsp:\n"
        "    {kind: cpu, isa: rv32imc, stack: {memory: dtcm, size: 2 KiB},"
        " limits: {max_stack_size: 1040}}\npools:\n"
        + "".join(f"  {pool.name}: {{reach: {{dsp: ro}}}}\n" for pool in shadow.CHIP.pools)
    )
    chip = load_soc(tmp_path / "two.yaml")
    stack = next(cpu.stack for cpu in chip.cpus if cpu.name == "dsp")
    held = shadow.contract()
    on_dsp = replace(held.phases[4], device="dsp", writes=())
    bench = shadow.Bench(replace(held, phases={**held.phases, 4: on_dsp}), chip=chip)
    dsp = bench.table.masters.index("dsp")
    bench.start()
    bench.at(dsp, WRITE, stack.origin, stack.size)
    bench.event(shadow.BEGUN, 4)
    bench.at(dsp, WRITE, stack.end - 1040, 1040)
    assert bench.found() == ()
    bench.at(dsp, WRITE, stack.end - 1044, 4)
    assert bench.only("stack below its limit").device == "dsp"


def test_k1_just_under_the_stack(shadow: ModuleType) -> None:
    cpu = shadow.CHIP.host_cpu
    short = replace(cpu, stack=replace(cpu.stack, origin=cpu.stack.origin + 64, size=2048))
    devices = tuple(short if each is cpu else each for each in shadow.CHIP.devices)
    bench = shadow.Bench(chip=replace(shadow.CHIP, devices=devices))
    bench.at(shadow.CPU, WRITE, short.stack.origin - 4, 4)
    assert bench.only("stack below its limit").pool == "cpu.stack"


def test_c6_the_stack_of_another_device(shadow: ModuleType) -> None:
    bench = shadow.Bench()
    bench.up_to(0)
    bench.event(shadow.BEGUN, 0)
    bench.at(shadow.NPU_A, READ, shadow.CHIP.host_cpu.stack.end - 8, 8)
    found = bench.only("stack of another device")
    assert (found.number, found.device, found.pool) == ("C6", "npu_a", "cpu.stack")


def test_m3_a_misaligned_buffer(shadow: ModuleType) -> None:
    odd = replace(shadow.span("z"), address=shadow.span("z").address + 2)
    bench = shadow.Bench(shadow.contract(z=odd))
    bench.up_to(2)
    bench.event(shadow.BEGUN, 2)
    bench.write(shadow.NPU_B, "z")
    found = bench.only("misaligned buffer")
    assert (found.number, found.where) == ("M3", "z+0x0")


@pytest.mark.parametrize("times", [0, 2])
def test_p5_a_copy_of_too_few_or_too_many_bytes(shadow: ModuleType, times: int) -> None:
    bench = shadow.Bench()
    bench.up_to(1)
    bench.event(shadow.BEGUN, 1)
    for _ in range(times):
        bench.write(shadow.DMA, "y")
    bench.event(shadow.ENDED, 1)
    found = bench.only("copy moved other bytes")
    assert (found.number, found.buffer, found.size) == ("P5", "y", 128 * times)
    assert "'x'" in found.detail


def test_p5_a_copy_with_other_contents(shadow: ModuleType) -> None:
    bench = shadow.Bench()
    bench.up_to(1)
    bench.memory[bench.spans["y"].address + 5] = 7
    bench.operator(1)
    found = bench.only("copy moved other bytes")
    assert (found.where, found.size) == ("y+0x5", 1)


def test_p6_the_destination_of_a_copy_under_way(shadow: ModuleType) -> None:
    bench = shadow.Bench()
    bench.up_to(1)
    bench.event(shadow.BEGUN, 1)
    bench.body(1)
    bench.event(shadow.BEGUN, 2)
    bench.read(shadow.NPU_B, "y", 0, 8)
    found = bench.only("touched while under way")
    assert (found.number, found.device, found.operator) == ("P6", "npu_b", "op_2")
    bench.event(shadow.ENDED, 1)
    bench.body(2)
    assert len(bench.found()) == 1


def test_p6_a_write_to_the_destination_of_a_copy_under_way(shadow: ModuleType) -> None:
    bench = shadow.Bench()
    bench.up_to(1)
    bench.event(shadow.BEGUN, 1)
    bench.write(shadow.NPU_B, "y", 0, 8)
    assert bench.only("touched while under way").buffer == "y"


def test_p6_a_write_to_the_source_of_a_copy_under_way(shadow: ModuleType) -> None:
    bench = shadow.Bench()
    bench.up_to(1)
    bench.event(shadow.BEGUN, 1)
    bench.event(shadow.BEGUN, 5)
    bench.write(shadow.NPU_A, "x", 0, 8)
    assert bench.only("touched while under way").buffer == "x"


def test_p6_an_operator_that_may_write_what_another_one_is_reading(shadow: ModuleType) -> None:
    bench = shadow.Bench()
    bench.up_to(1)
    for number in (1, 0):
        bench.event(shadow.BEGUN, number)
    bench.write(shadow.NPU_A, "x", 0, 8)
    found = bench.only("touched while under way")
    assert (found.device, found.operator, found.buffer) == ("npu_a", "op_0", "x")


def test_p6_operators_on_several_devices_at_once(shadow: ModuleType) -> None:
    bench = shadow.Bench()
    bench.up_to(1)
    for number in (1, 5):
        bench.event(shadow.BEGUN, number)
    for number in (5, 1):
        bench.body(number)
    for number in (5, 1):
        bench.event(shadow.ENDED, number)
    bench.operator(2)
    assert bench.found() == ()


def test_m1_instructions_come_from_code(shadow: ModuleType) -> None:
    bench = shadow.Bench()
    bench.fetch(shadow.CPU, shadow.CHIP.host_cpu.code.origin)
    assert bench.found() == ()
    bench.fetch(shadow.CPU, shadow.CHIP.host_cpu.data.origin)
    found = bench.only("fetch outside code")
    assert (found.number, found.pool) == ("M1", "cpu.data")


def test_c3_a_firewall_that_is_narrower_than_the_contract(shadow: ModuleType) -> None:
    bench = shadow.Bench()
    bench.up_to(0)
    bench.event(shadow.BEGUN, 0)
    bench.refuse(shadow.NPU_A, WRITE, bench.spans["x"].address + 64, 8)
    found = bench.only("blocked by the firewall")
    assert (found.number, found.where, found.operator) == ("C3", "x+0x40", "op_0")


def test_c3_a_refused_access_where_no_memory_is(shadow: ModuleType) -> None:
    bench = shadow.Bench()
    bench.refuse(shadow.NPU_A, FETCH, 0xF000_0000, 4)
    assert bench.only("device without reach").pool == ""


def test_m6_a_constant_that_is_not_what_was_compiled(shadow: ModuleType) -> None:
    bench = shadow.Bench()
    data = bytes(range(64))
    table = shadow_table(shadow.CHIP, [bench.contract], [{"weights": data}])
    assert bench.shadow.load(table.words)
    place = bench.spans["weights"].address
    bench.memory = {place + at: byte for at, byte in enumerate(data)}
    bench.start()
    assert bench.found() == ()
    bench.event(shadow.RUN_ENDED)
    bench.memory[place + 63] ^= 1
    bench.start()
    found = bench.only("constant differs")
    assert (found.number, found.where, found.operator) == ("M6", "weights+0x0", "none")


def test_k1_data_that_the_image_does_not_take_is_nobodys(shadow: ModuleType) -> None:
    data = shadow.CHIP.host_cpu.data
    bench = shadow.Bench()
    table = shadow_table(shadow.CHIP, [bench.contract], data={"cpu": 16})
    assert bench.shadow.load(table.words)
    bench.start()
    bench.at(shadow.CPU, WRITE, data.origin + 8, 8)
    assert bench.found() == ()
    bench.at(shadow.CPU, WRITE, data.end - 8, 8)
    assert bench.only("outside any live buffer").pool == "cpu.data"


def test_m7_u2_models_that_run_in_turn_have_contracts_of_their_own(shadow: ModuleType) -> None:
    elsewhere = replace(shadow.span("x"), address=shadow.span("x").address + 2048)
    bench = shadow.Bench()
    table = shadow_table(shadow.CHIP, [shadow.contract(), shadow.contract(x=elsewhere)])
    assert bench.shadow.load(table.words)
    for place in (shadow.span("x"), elsewhere, shadow.span("x")):
        bench.start()
        bench.event(shadow.BEGUN, 0)
        bench.at(shadow.NPU_A, WRITE, place.address, place.size)
        bench.event(shadow.ENDED, 0)
        bench.event(shadow.RUN_ENDED)
    records, total = bench.shadow.findings()
    assert total == 0
    bench.start()
    bench.event(shadow.BEGUN, 0)
    bench.at(shadow.NPU_A, WRITE, shadow.span("x").address, 8)
    records, _ = bench.shadow.findings()
    (found,) = name_findings(records, table, shadow.CHIP)
    assert (found.model, found.violation.rule) == (1, "outside any live buffer")


def test_one_finding_for_each_rule_buffer_and_operator(shadow: ModuleType) -> None:
    bench = shadow.Bench()
    bench.up_to(0)
    for number in (0, 5):
        bench.event(shadow.BEGUN, number)
        for at in (8, 16, 24):
            bench.write(shadow.NPU_A, "weights", at, at + 4)
        bench.event(shadow.ENDED, number)
    found = [(each.operator, each.where, each.count) for each in bench.found()]
    assert found == [("op_0", "weights+0x8", 3), ("op_5", "weights+0x8", 3)]
    assert bench.shadow.findings()[1] == 6


def test_a_message_leads_to_the_line(shadow: ModuleType) -> None:
    bench = shadow.Bench()
    bench.up_to(0)
    bench.event(shadow.BEGUN, 0)
    bench.write(shadow.NPU_A, "weights", 4, 8)
    (found,) = bench.found()
    first, place, remedy = str(found).splitlines()
    assert first == (
        "write to read-only (M6): device npu_a, operator op_0, weights+0x4 in weights, "
        f"address {found.address:#010x} (4 B) at cycle {bench.cycle:,}: npu_a may only read here"
    )
    assert place.strip() == f"{found.at}: pools.weights.reach.npu_a"
    assert remedy == "  help: let npu_a write to a workspace pool"
    assert found.as_json()["at"] == found.at


@pytest.mark.parametrize("change", ["short", "long", "magic", "reference"])
def test_a_damaged_table_is_refused(shadow: ModuleType, change: str) -> None:
    bench = shadow.Bench()
    words = bench.table.words
    damaged = {
        "short": words[:-4],
        "long": words + bytes(4),
        "magic": bytes(4) + words[4:],
        "reference": words[:-4] + b"\xff\xff\x00\x00",
    }[change]
    assert not bench.shadow.load(damaged)
    assert bench.shadow.load(words)
