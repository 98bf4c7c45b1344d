# SPDX-License-Identifier: Apache-2.0
"""Users' own cocotb benches on simulated chips, beside the firmware."""

import json
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import numpy as np
import pytest

import atoll
from atoll.cli import main
from atoll.report.schema_files import schema_text

pytestmark = [pytest.mark.rtl, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
DIGITS = str(ROOT / "examples" / "01_digits" / "digits_int8.tflite")
EXAMPLE = str(ROOT / "examples" / "15_bench" / "handshakes.py")
ALONE = str(ROOT / "examples" / "15_bench" / "operators_alone.py")
WEAVER = str(ROOT / "examples" / "11_systolic_array" / "chip.yaml")
ENGINES = ROOT / "hw_sim" / "atoll_sim" / "engines"

ALL_OF_IT = '''
import cocotb
import numpy as np
from cocotb.triggers import FallingEdge, ReadOnly, RisingEdge

from atoll_sim.bench import Chip, FirmwareEndedError
from atoll_sim.extend import with_check


async def written(device, writes):
    """Collect the registers that the host writes, by their bus addresses."""
    port, address = device.control, None
    while True:
        await RisingEdge(device.clock)
        if port.awvalid.value == 1 and port.awready.value == 1:
            address = int(port.awaddr.value)
        if port.wvalid.value == 1 and port.wready.value == 1:
            writes.append((address, int(port.wdata.value)))


@cocotb.test()
async def registers_are_those_of_the_first_operator(dut):
    chip, writes = Chip(dut), []
    npu = chip.devices["npu"]
    cocotb.start_soon(written(npu, writes))
    await chip.start()
    begun = await chip.operator_begin()
    rose = await chip.interrupt("npu")
    assert begun.cycle < rose
    steps = {each.register: each for each in begun.operator.registers[:4]}
    assert {each.do for each in steps.values()} == {"write"}
    assert steps["CONTROL"].address == npu.registers["CONTROL"]
    for register in ("LIST_ADDRESS", "IRQ_ENABLE", "CONTROL"):
        step = steps[register]
        assert (step.address & 0xFFF, step.value) in writes, (step, writes)


@cocotb.test()
async def events_are_in_order(dut):
    chip, told = Chip(dut), []
    await chip.start()
    async for each in chip.events():
        told.append((each.event, each.operator.name if each.operator else "", each.sample))
    names = [each.name for each in chip.operators]
    for sample in range(chip.samples):
        own = [each for each in told if each[2] == sample and each[1]]
        assert [each[1] for each in own if each[0] == "operator_end"] == names
        assert [each[1] for each in own if each[0] == "operator_begin"] == names
    assert await chip.firmware_end() == "exit"


@cocotb.test()
async def named_operators_are_awaited_one_by_one(dut):
    chip = Chip(dut)
    await chip.start()
    for operator in chip.operators:
        begun = await chip.operator_begin(operator.name)
        ended = await chip.operator_end(operator.name)
        assert begun.operator == ended.operator == operator
        assert begun.cycle < ended.cycle
        (name,) = operator.outputs
        assert np.array_equal(chip.read(name), chip.reference(name))


@cocotb.test()
async def handles_show_what_was_before_the_edge(dut):
    chip = Chip(dut)
    port = chip.devices["npu"].ports["m"]
    await chip.start()
    await chip.operator_begin()
    settled, changes = None, 0
    for _ in range(2000):
        await RisingEdge(dut.clk_i)
        before = int(port.arvalid.value), int(port.araddr.value)
        assert settled in (None, before)
        await ReadOnly()
        settled = int(port.arvalid.value), int(port.araddr.value)
        changes += settled != before
    assert changes > 100


@cocotb.test()
async def pressure_costs_cycles(dut):
    chip = Chip(dut)
    chip.devices["npu"].hold_up(cycles=20)
    await chip.start()
    begun = await chip.operator_begin()
    ended = await chip.run_end()
    (chip.folder / "cycles.txt").write_text(str(ended.cycle - begun.cycle))


@cocotb.test()
async def without_pressure(dut):
    chip = Chip(dut)
    await chip.start()
    begun = await chip.operator_begin()
    ended = await chip.run_end()
    (chip.folder / "cycles.txt").write_text(str(ended.cycle - begun.cycle))


@cocotb.test()
async def a_wrong_constant_is_found(dut):
    chip = Chip(dut)
    await chip.start()
    await chip.operator_begin()
    at = chip.operators[-1].registers[0].value
    command = bytearray(chip.peek(at, 64))
    source = command.index(b"\x20", 4) - 3  # an address of the shared memory
    command[source + 1] ^= 0x40
    chip.poke(at, with_check(command))
    found = await chip.finding()
    assert (found.device, found.rule) == ("npu", "M2"), found


@cocotb.test()
async def a_written_tensor_is_used(dut):
    chip = Chip(dut)
    await chip.start()
    await chip.operator_begin()
    image = chip.read("image")
    chip.write("image", np.roll(image, 1))
    assert np.array_equal(chip.read("image"), np.roll(image, 1))


@cocotb.test()
async def waits_for_nothing(dut):
    chip = Chip(dut)
    await chip.start()
    try:
        await chip.finding()
    except FirmwareEndedError as error:
        assert "before a rule was broken" in str(error)
    else:
        raise AssertionError("nothing was found")


@cocotb.test(skip=True)
async def left_out(dut):
    raise AssertionError


@cocotb.test()
async def fails(dut):
    await Chip(dut).start()
    assert 1 + 1 == 3


@cocotb.test()
async def waits_for_ever(dut):
    await Chip(dut).start()
    await FallingEdge(dut.clk_i)
    await cocotb.triggers.Event().wait()
'''
WRONG = {"a_wrong_constant_is_found", "a_written_tensor_is_used"}
"""Tests that pass, and in which the chip computes what it must not."""

FAILED = {"fails", "waits_for_ever"}


def build(chip: str, folder: Path) -> str:
    assert main(["build", chip, DIGITS, "-o", str(folder)]) == 0
    return str(folder)


@pytest.fixture(scope="module")
def lagoon(tmp_path_factory: pytest.TempPathFactory) -> str:
    return build("lagoon", tmp_path_factory.mktemp("built") / "lagoon")


@pytest.mark.parametrize("chip", ["lagoon", WEAVER], ids=["lagoon", "weaver"])
def test_the_example_covers_ports_of_any_accelerator(
    chip: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = build(chip, tmp_path / "built")
    options = ["--bench", EXAMPLE, "--bench-output", str(tmp_path / "left")]
    assert main(["simulate", folder, *options]) == 0
    assert "handshakes: 2 tests passed" in capsys.readouterr().out
    seen = json.loads((tmp_path / "left/every_channel_shakes_hands/coverage.json").read_text())
    ports = {"lagoon": ["dev_npu"], WEAVER: ["dev_reef", "dev_loom", "dev_dma", "dev_vector"]}
    assert {"_".join(name.split("_")[:2]) for name in seen} == {*ports[chip]}


@pytest.mark.parametrize("chip", ["lagoon", WEAVER], ids=["lagoon", "weaver"])
def test_the_example_runs_each_operator_by_its_registers(
    chip: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """reef and ripple have lists, loom a program, plover pushes and pops."""
    folder = build(chip, tmp_path / "built")
    assert main(["simulate", folder, "--bench", ALONE, "--no-firmware"]) == 0
    assert "operators_alone: 1 test passed" in capsys.readouterr().out


AS_HOST = """
import cocotb

from atoll_sim.bench import Chip


@cocotb.test()
async def an_empty_list_ends_in_an_error(dut):
    chip = Chip(dut)
    await chip.start()
    chip.poke(0x2000_0000, bytes(64))
    await chip.write_register("npu", "LIST_ADDRESS", 0x2000_0000)
    await chip.write_register("npu", "LIST_COUNT", 1)
    await chip.write_register("npu", "IRQ_ENABLE", 1)
    assert await chip.read_register("npu", "LIST_ADDRESS") == 0x2000_0000
    await chip.write_register("npu", "CONTROL", 1)
    await chip.interrupt("npu")
    assert await chip.read_register("npu", "ERROR") != 0


@cocotb.test()
async def resets_to_0(dut):
    chip = Chip(dut)
    await chip.start()
    for register in ("CONTROL", "STATUS", "IRQ_ENABLE", "IRQ_STATUS", "COMPLETED"):
        assert await chip.read_register("npu", register) == {expected}, register
"""


@pytest.mark.parametrize("expected", [0, 1])
def test_a_bench_is_the_host_of_a_chip(
    expected: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench, junit = tmp_path / "as_host.py", tmp_path / "as_host.xml"
    bench.write_text(AS_HOST.replace("{expected}", str(expected)))
    options = ["--bench", str(bench), "--junit", str(junit), "--json"]
    assert main(["check", "lagoon", *options]) == expected
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, json.loads(schema_text("check-output")))
    assert [each["passed"] for each in found["tests"]] == [True, not expected]
    cases = ElementTree.parse(junit).getroot().findall("testsuite/testcase")
    assert [each.find("failure") is not None for each in cases] == [False, bool(expected)]


def test_a_planted_bug_that_computes_rightly_is_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Bursts of one beat: no byte is wrong and no rule broken, but reads are slower."""
    copy = tmp_path / "reef"
    shutil.copytree(ENGINES / "reef", copy)
    for path in (ENGINES / "common").glob("*.sv"):
        shutil.copy(path, copy)
    reader = copy / "engine_reader.sv"
    text = reader.read_text()
    assert text.count("BurstBeats = 5'd16") == 1
    reader.write_text(text.replace("BurstBeats = 5'd16", "BurstBeats = 5'd1"))
    names = r"(?<![\w./])((?:reef|engine)\w*\.sv)"
    yaml = copy / "reef.yaml"
    yaml.write_text(re.sub(names, r"./\1", yaml.read_text()))
    chip = tmp_path / "chip.yaml"
    chip.write_text(
        "extends: lagoon\nsoc: planted\ndevices: {npu: {accelerator: ./reef/reef.yaml}}\n"
    )
    folder = build(str(chip), tmp_path / "built")
    assert main(["simulate", folder]) == 0
    assert main(["simulate", folder, "--bench", f"{EXAMPLE}:every_channel_shakes_hands"]) == 1
    shown = capsys.readouterr().out
    assert "every_channel_shakes_hands: FAILED" in shown
    assert "never seen: dev_npu_m_axi ar: bursts of several beats" in shown


def test_what_a_bench_can_do(
    lagoon: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench, junit, left = tmp_path / "all.py", tmp_path / "all.xml", tmp_path / "left"
    bench.write_text(ALL_OF_IT)
    options = ["--bench", str(bench), "--junit", str(junit), "--bench-output", str(left)]
    capsys.readouterr()
    assert main(["simulate", lagoon, *options, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, json.loads(schema_text("simulate-output")))
    tests = {each["test"]: each for each in found["tests"]}
    messages = {name: each["message"] for name, each in tests.items() if each["message"]}
    assert messages.keys() == FAILED, messages
    assert messages["fails"].startswith("assert (1 + 1) == 3")
    assert "1,000,000 cycles later" in messages["waits_for_ever"]
    assert {name for name, each in tests.items() if not each["passed"]} == FAILED | WRONG
    assert tests["left_out"]["skipped"]
    (wrong,) = tests["a_wrong_constant_is_found"]["networks"]
    assert wrong["violations"]
    slow, fast = (
        int((left / name / "cycles.txt").read_text())
        for name in ("pressure_costs_cycles", "without_pressure")
    )
    assert slow > 2 * fast
    assert "running all.fails" in (left / "fails" / "simulation.log").read_text()
    cases = ElementTree.parse(junit).getroot().findall("testsuite/testcase")
    broken = {each.get("name") for each in cases if each.find("failure") is not None}
    assert broken == FAILED | {f"{name} (checks of Atoll)" for name in WRONG}


def test_references_are_files_and_samples_are_given(lagoon: str, tmp_path: Path) -> None:
    bench, left = tmp_path / "two.py", tmp_path / "left"
    bench.write_text(ALL_OF_IT)
    images = np.random.default_rng(3).integers(-128, 128, (2, 8, 8, 1)).astype(np.int8)
    tested = atoll.run_bench(lagoon, f"{bench}:events_are_in_order", images, output=left)
    assert tested.passed
    assert tested.rows()[0]["test"] == "events_are_in_order"
    run = tested.tests[0].run
    assert run
    for number, outputs in enumerate(run.network.outputs):
        path = left / "references" / "digits_int8" / str(number) / "softmax_9_out.npy"
        assert np.array_equal(np.load(path), outputs["softmax_9_out"])


def test_waveforms_of_one_test(lagoon: str, tmp_path: Path) -> None:
    bench, waves = tmp_path / "waved.py", tmp_path / "out.vcd"
    bench.write_text(ALL_OF_IT)
    options = ["--bench", f"{bench}:without_pressure", "--waves", str(waves)]
    assert main(["simulate", lagoon, *options]) == 0
    assert "dev_npu_m_axi_arvalid" in waves.read_text()
