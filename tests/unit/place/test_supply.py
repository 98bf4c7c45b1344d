# SPDX-License-Identifier: Apache-2.0
"""Devices that cannot be fed are left out; tensors take several copies where one does not reach."""

from pathlib import Path

import pytest
from tests.requests import load_requests

from atoll.diagnostics.errors import PlacementError
from atoll.frontend.registry import load_network
from atoll.ops.registry import COPY
from atoll.place.plan_devices import plan_devices
from atoll.resolve import load_soc

DIGITS = Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite"
CROSSED = """
soc: crossed
version: 1
host: cpu
devices:
  cpu: {kind: cpu, isa: rv32imc, core: picorv32, stack: {memory: dtcm, size: 4 KiB}}
  conv: {kind: npu, accelerator: reef, runs: [CONV_2D, DEPTHWISE_CONV_2D],
         registers: 0x4000_0000, irq: 3}
  rest: {kind: npu, accelerator: reef, runs: [FULLY_CONNECTED, ADD, AVERAGE_POOL_2D],
         registers: 0x4001_0000, irq: 5}
memories:
  flash: {origin: 0x0, size: 1 MiB, kind: rom}
  dtcm: {origin: 0x1000_0000, size: 64 KiB, kind: ram}
  left: {origin: 0x2000_0000, size: 128 KiB, kind: ram, width: 8}
  right: {origin: 0x2100_0000, size: 128 KiB, kind: ram, width: 8}
pools:
  w: {memory: flash, role: constants, others: ro}
  lp: {memory: left, role: workspace, reach: {cpu: rw, conv: rw, rest: none}}
  rp: {memory: right, role: workspace, reach: {cpu: none, rest: rw, conv: none}}
"""


def test_p1_a_device_that_cannot_be_fed_is_left_out(tmp_path: Path) -> None:
    """Nobody asks for `rest`, whose memory the host does not touch."""
    path = tmp_path / "chip.yaml"
    path.write_text(CROSSED)
    plan = plan_devices(load_network(DIGITS), load_soc(path, ()))
    devices = {each.operator: each.device for each in plan.decisions}
    assert set(devices.values()) == {"cpu", "conv"}
    assert devices["conv_2d_0"] == "conv"
    (decision,) = (each for each in plan.decisions if each.operator == "add_3")
    assert "'rest' cannot be fed" in decision.reason
    assert "no copy brings its tensors" in dict(decision.rejected)["rest"]


def test_p1_an_engine_that_moves_one_way_feeds_nobody(tmp_path: Path) -> None:
    path = tmp_path / "chip.yaml"
    registers = "registers: 0x4002_0000, irq: 4"
    dma = f"dma: {{kind: dma, engine: ripple, moves: [[left, right]], {registers}}}"
    text = CROSSED.replace("memories:", f"  {dma}\nmemories:")
    path.write_text(text.replace("reach: {cpu:", "reach: {dma: rw, cpu:"))
    plan = plan_devices(load_network(DIGITS), load_soc(path, ()))
    assert {each.device for each in plan.decisions} == {"cpu", "conv"}


def test_c4_copies_in_a_row(tmp_path: Path) -> None:
    """The host takes a result out of its pool, and an engine takes it from there to its reader."""
    path = tmp_path / "chip.yaml"
    registers = "registers: 0x4002_0000, irq: 4"
    moves = "[[dtcm, right], [right, dtcm]]"
    dma = f"dma: {{kind: dma, engine: ripple, moves: {moves}, {registers}}}"
    text = CROSSED.replace("memories:", f"  {dma}\nmemories:")
    text = text.replace("cpu: none, rest: rw", "dma: rw, cpu: none, rest: rw")
    text = text.replace("rest: none}", "rest: none, dma: none}")
    reach = "reach: {cpu: rw, dma: rw}, others: none"
    text += f"  tp: {{memory: dtcm, role: workspace, size: 8 KiB, {reach}}}\n"
    path.write_text(text)
    asked = load_requests(None, ["conv_2d_2=conv", "add_3=rest", "depthwise_conv_2d_4=conv"])
    plan = plan_devices(load_network(DIGITS), load_soc(path, ()), asked).graph
    makers = {name: op for op in plan.operators for name in op.outputs}
    (add,) = (op for op in plan.operators if op.name == "add_3")
    way = [makers[add.inputs[1]]]
    while way[-1].kind == COPY:
        way.append(makers[way[-1].inputs[0]])
    assert [op.device for op in way] == ["dma", "cpu", "conv"]


def test_c4_the_edit_of_an_error_was_tried(tmp_path: Path) -> None:
    path = tmp_path / "chip.yaml"
    path.write_text(CROSSED)
    network = load_network(DIGITS)
    with pytest.raises(PlacementError) as caught:
        plan_devices(network, load_soc(path, ()), load_requests(None, ["add_3=rest"]))
    remedies = {fault.remedy for fault in caught.value.faults}
    assert remedies == {"set 'pools.lp.reach.rest' to rw"}
    mended = load_soc(path, ["pools.lp.reach.rest=rw"])
    assert plan_devices(network, mended, load_requests(None, ["add_3=rest"])).graph
