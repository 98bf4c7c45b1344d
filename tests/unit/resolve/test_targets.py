# SPDX-License-Identifier: Apache-2.0
"""Annex B: target configuration, and D1 to D3: devices are their names."""

from typing import Any

import pytest
from tests.picorv32 import PICORV32

from atoll.resolve.export import from_json, to_json
from atoll.resolve.se_scope import target_of
from atoll.resolve.soc import Access, Cpu, Npu

CPU2 = {"kind": "cpu", "isa": "rv32im", "stack": {"memory": "sram", "size": "1 KiB"}}
NPU2 = {"kind": "npu", "accelerator": "reef", "registers": 0x4000_1000, "irq": 4}
DMA = {"kind": "dma", "engine": "ripple", "registers": 0x4001_0000, "irq": 5}
DMA |= {"moves": [["flash", "sram"]]}


def with_device(name: str, device: dict[str, Any]) -> dict[str, Any]:
    """Return the changes that add a device which reaches everything."""
    reach = {f"pools.weights.reach.{name}": "ro", f"pools.shared.reach.{name}": "rw"}
    return {f"devices.{name}": device, **reach}


def test_d2_devices_are_numbered_once(chip: Any) -> None:
    changes = with_device("npu10", NPU2) | with_device("aux", CPU2) | with_device("dma", DMA)
    changes |= with_device("camera", {"kind": "master"})
    soc = chip({**changes, "host": "cpu"})
    assert [(d.name, d.device_type, d.device_id, d.ordinal) for d in soc.devices] == [
        ("aux", 1, 0, 0),
        ("cpu", 1, 1, 1),
        ("npu", 12, 0, 2),
        ("npu10", 12, 1, 3),
        ("dma", 12, 2, 4),
        ("camera", 12, 3, 5),
    ]


def test_d3_two_cores_of_one_kind_have_targets_of_their_own(chip: Any) -> None:
    soc = chip({**with_device("aux", CPU2), "devices.aux.isa": "rv32im", "host": "cpu"})
    assert {cpu.name: (cpu.kind, cpu.isa) for cpu in soc.cpus} == {
        "aux": ("cpu", "rv32im"),
        "cpu": ("cpu", "rv32imc"),
    }
    spans = [region for cpu in soc.cpus for region in (cpu.code, cpu.data, cpu.stack)]
    assert len({region.origin for region in spans}) == 6
    first, second = (target_of(cpu) for cpu in soc.cpus)
    assert first is not None
    assert first != second


def test_a_master_has_its_reach_and_runs_nothing(chip: Any) -> None:
    soc = chip(with_device("camera", {"kind": "master", "clock": "25 MHz"}))
    camera = soc.device("camera")
    assert (camera.clock, target_of(camera)) == (25_000_000, None)
    assert {pool.name: pool.reach["camera"] for pool in soc.pools} == {
        "shared": Access.WRITE,
        "weights": Access.READ,
    }
    assert [region.name for region, _ in soc.windows(camera)] == ["shared", "weights"]
    assert from_json(to_json(soc)) == soc


def test_s5_host_and_default_device(chip: Any) -> None:
    two = with_device("aux", CPU2)
    assert (chip(two).host, chip(two).default_device) == ("aux", "aux")
    assert chip({**two, "host": "cpu"}).default_device == "cpu"
    assert chip({"default_device": "npu"}).default_device == "npu"


def test_s5_the_only_device_is_the_default(chip: Any) -> None:
    alone = {
        "devices.npu": None,
        "pools.weights.reach": {"cpu": "ro"},
        "pools.shared.reach": {"cpu": "rw"},
    }
    assert chip(alone).default_device == "cpu"


def test_s5_resolution_is_idempotent(chip: Any) -> None:
    first = chip()
    assert chip({"host": first.host, "default_device": first.default_device}).devices
    assert chip() == first


@pytest.mark.parametrize("isa", PICORV32.isas)
def test_d1_a_core_keeps_what_was_written(chip: Any, isa: str) -> None:
    soc = chip({"devices.cpu.isa": isa, "devices.cpu.toolchain": "gcc"})
    cpu = soc.host_cpu
    assert isinstance(cpu, Cpu)
    assert (cpu.isa, cpu.spec.name, cpu.toolchain, cpu.clock) == (isa, "picorv32", "gcc", 10**8)
    assert cpu.code.origin == 0


def test_d1_two_instances_differ_in_parameters_only(chip: Any) -> None:
    small = {**NPU2, "params": {"input_lanes": 4, "output_lanes": 4}, "runs": ["depthwise_conv_2d"]}
    first, second = chip(with_device("npu2", small)).npus
    assert isinstance(first, Npu)
    assert first.spec == second.spec
    assert (first.params["input_lanes"], second.params["input_lanes"]) == (8, 4)
    kinds = (
        "abs add average_pool_2d concatenation conv_2d depthwise_conv_2d elu exp "
        "fully_connected gelu hard_swish leaky_relu log logistic lookup max_pool_2d mean mul "
        "pad quantize relu relu6 reshape rsqrt softmax sum tanh"
    )
    assert first.runs == tuple(kinds.split())
    assert second.runs == ("depthwise_conv_2d",)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"devices.cpu.isa": "rv32imf"}, "E040"),
        ({"devices.cpu.core": "cortex_m34"}, "E042"),
        ({"host": "npu"}, "E043"),
        ({"devices.npu.irq": 2}, "E044"),
        ({"devices.npu.irq": 32}, "E044"),
        (with_device("npu2", {**NPU2, "irq": 3}), "E044"),
        ({"devices.npu.params": {"input_lanes": 5}}, "E045"),
        ({"devices.npu.params": {"output_lanes": 16}}, "E045"),
        ({"devices.npu.params": {"weight_rows": 24}}, "E045"),
        ({"devices.npu.params": {"weight_rows": 2048}}, "E045"),
        ({"devices.npu.params": {"lanes": 8}}, "E024"),
        ({"devices.npu.runs": ["CONV_3D"]}, "E023"),
        ({**with_device("dma", DMA), "default_device": "dma"}, "E046"),
        ({"default_device": "gpu"}, "E021"),
        ({"host": "gpu"}, "E021"),
        ({"pools.shared.reach.gpu": "rw"}, "E021"),
        ({"devices.cpu.code": {"memory": "rom"}}, "E020"),
        (with_device("dma", {**DMA, "moves": [["flash", "ram"]]}), "E020"),
    ],
)
def test_s5_one_wrong_choice_is_one_fault(refused: Any, changes: dict[str, Any], code: str) -> None:
    (fault,) = refused(changes)
    assert fault.startswith(code)


@pytest.mark.parametrize("irq", [3, 31])
def test_interrupt_lines_of_the_core(chip: Any, irq: int) -> None:
    assert chip({"devices.npu.irq": irq}).npus[0].irq == irq
