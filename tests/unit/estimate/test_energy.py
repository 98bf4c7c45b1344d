# SPDX-License-Identifier: Apache-2.0
"""Energy and area: stated numbers times what is estimated, and nothing where one is missing."""

import json
import random
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from rich.console import Console
from tests.cached_chips import CORTEX_M7

import atoll
from atoll.cost.basis import weakest
from atoll.cost.data.picorv32 import CROSSING_CYCLES, CROSSING_ENGINE_CYCLES
from atoll.cost.energy import NetworkEnergy, Work, area_of, energy_of
from atoll.cost.spent import Spent
from atoll.cost.traffic import Traffic
from atoll.ir.busy import Bound, Busy
from atoll.ir.tir import AcceleratorWait
from atoll.report.estimate_text import microjoules
from atoll.resolve import load_soc
from atoll.resolve.soc import Device
from atoll.resolve.timeless import timeless

if TYPE_CHECKING:
    from atoll.cost.program import ProgramCost

DIGITS = "examples/01_digits/digits_int8.tflite"
CPU, NPU, FLASH, SRAM = (
    f"{key}.energy={{source: s, {numbers}}}"
    for key, numbers in (
        ("devices.cpu", "active_pj_per_cycle: 8, idle_pj_per_cycle: 0.5, leakage_mw: 0.05"),
        ("devices.npu", "active_pj_per_cycle: 12, idle_pj_per_cycle: 3, pj_per_mac: 0.25"),
        ("memories.flash", "read_pj_per_byte: 1.5"),
        ("memories.sram", "read_pj_per_byte: 2, write_pj_per_byte: 2.5, leakage_mw: 0.1"),
    )
)
ALL = (CPU, NPU, FLASH, SRAM)


def two_layers(*overrides: str, asleep: bool = True) -> NetworkEnergy | None:
    """Return the energy of a convolution on lagoon's reef, and of a softmax on its core.

    The convolution keeps reef busy for 1,000 of its cycles, which are 2,000 of the host at 50 MHz,
    and takes 2,300. The softmax takes 500, and 20 pass between them.
    """
    soc = load_soc("lagoon", ("devices.npu.clock=50 MHz", *overrides))
    if not asleep:
        npu = replace(soc.npus[0], irq=None)
        soc = replace(
            soc, devices=tuple(npu if each == soc.npus[0] else each for each in soc.devices)
        )
    steps = [
        SimpleNamespace(operator="conv", device="npu", action=None),
        SimpleNamespace(operator="softmax", device="cpu", action=None),
    ]
    busy = Busy(cycles=1000, parts={Bound.COMPUTE: 1000})
    cost = SimpleNamespace(
        soc=soc,
        lists=[[step] for step in steps],
        graph=SimpleNamespace(
            operators=[
                SimpleNamespace(name=each.operator, devices=(each.device,)) for each in steps
            ]
        ),
        spent={
            "conv": Spent(cycles=2300, bound=Bound.COMPUTE, busy=busy),
            "softmax": Spent(cycles=500, bound=Bound.CORE),
        },
        sequential=2820,
        length=2820,
    )
    works = {
        "conv": Work(4096, (moved("flash", 512), moved("sram", 256, 128)), "measured"),
        "softmax": Work(0, (moved("flash", 100), moved("sram", 10, 10)), "picorv32"),
    }
    return energy_of(cast("ProgramCost", cost), works, "picorv32")


def moved(memory: str, read: int, written: int = 0) -> Traffic:
    return Traffic(memory=memory, read=read, written=written, cycles=0)


def test_energy_of_two_layers_is_what_a_hand_computes() -> None:
    found = two_layers(*ALL)
    assert found
    conv, softmax = found.layers
    assert conv.devices == {"npu": 1000 * 12 + 1024, "cpu": 300 * 8}
    assert conv.memories == {"flash": 768, "sram": 512 + 320}
    assert conv.total == 17_024
    assert softmax.devices == {"cpu": 4000}
    assert softmax.memories == {"flash": 150, "sram": 20 + 25}
    assert softmax.total == 4195
    parts = {each.name: each for each in (*found.devices, *found.memories)}
    assert (parts["cpu"].between, parts["cpu"].idle) == (160, 1000)
    assert (parts["npu"].between, parts["npu"].idle) == (0, 1230)
    assert (parts["cpu"].leakage, parts["sram"].leakage) == (1410, 2820)
    assert (found.operators, found.outside, found.total) == (21_219, 6620, 27_839)
    assert found.lacks == ()
    assert found.without == (
        "devices.npu.energy.leakage_mw",
        "memories.flash.energy.leakage_mw",
    )
    assert (conv.basis, softmax.basis) == ("told", "told, picorv32")
    assert (found.basis, weakest(found.basis)) == ("told, picorv32", "stand-in")


def test_a_host_that_asks_an_engine_works_until_it_has_ended() -> None:
    asking = two_layers(*ALL, asleep=False)
    assert asking
    assert asking.layers[0].devices == {"npu": 13_024, "cpu": 2300 * 8}
    (cpu,) = (each for each in asking.devices if each.name == "cpu")
    assert cpu.idle == 0


@pytest.mark.parametrize(
    ("change", "lacks", "layers"),
    [
        ("devices.npu.energy.active_pj_per_cycle", 1, (False, True)),
        ("devices.npu.energy.idle_pj_per_cycle", 1, (True, True)),
        ("devices.cpu.energy.active_pj_per_cycle", 1, (False, False)),
        ("memories.flash.energy.read_pj_per_byte", 1, (False, False)),
        ("memories.sram.energy.write_pj_per_byte", 1, (False, False)),
        ("devices.npu.energy", 2, (False, True)),
        ("memories.sram.energy", 2, (False, False)),
    ],
)
def test_what_is_not_stated_is_neither_zero_nor_left_out(
    change: str, lacks: int, layers: tuple[bool, bool]
) -> None:
    found = two_layers(*ALL, f"{change}=null")
    assert found
    assert len(found.lacks) == lacks
    assert all(each.startswith(change) for each in found.lacks)
    assert found.total is None
    assert tuple(each.total is not None for each in found.layers) == layers
    assert found.as_json()["total_pj"] is None


def test_products_that_cycles_have_need_no_number_of_their_own() -> None:
    found = two_layers(*ALL, "devices.npu.energy.pj_per_mac=null")
    assert found
    assert found.layers[0].devices["npu"] == 12_000


def test_nothing_stated_is_nothing_known() -> None:
    assert two_layers() is None
    assert area_of(load_soc("lagoon")) is None


AREAS = {
    **{"devices.cpu.area": 30_000, "devices.npu.area": 250_000.4},
    **{f"memories.{name}.area": 1000 for name in ("flash", "sram", "dtcm")},
}


def with_areas(without: str = "") -> tuple[str, ...]:
    return tuple(
        f"{key}={{source: s, basis: published, um2: {um2}}}"
        for key, um2 in AREAS.items()
        if key != without
    )


def test_the_area_is_that_of_all_parts_or_not_known() -> None:
    found = area_of(load_soc("lagoon", with_areas()))
    assert found
    assert (found.total, found.basis, found.lacks) == (283_000, "published", ())
    assert weakest(found.basis) == "published"
    for key in AREAS:
        part = area_of(load_soc("lagoon", with_areas(key)))
        assert part
        assert (part.total, part.lacks) == (None, (key,))


def test_a_master_has_area_and_no_energy() -> None:
    camera = "devices.camera={kind: master, area: {source: s, um2: 500}}"
    found = area_of(
        load_soc(
            "lagoon",
            (
                *with_areas(),
                "pools.shared.others=none",
                camera,
                "pools.private.others=none",
                "pools.weights.others=none",
            ),
        )
    )
    assert found
    assert found.total == 283_500


@cache
def compiled(chip: str) -> atoll.Compilation:
    return atoll.compile(chip, DIGITS)


NUMBERS = {
    "devices": ("active_pj_per_cycle", "idle_pj_per_cycle", "pj_per_mac", "leakage_mw"),
    "memories": ("read_pj_per_byte", "write_pj_per_byte", "leakage_mw"),
}


def drawn(chip: str, seed: int, share: float) -> atoll.Soc:
    """Return a chip that states each number with some probability."""
    draw, soc = random.Random(seed), atoll.load_soc(chip)
    told = soc.to_json()
    changes: dict[str, Any] = {}
    for table, key in (("devices", "device"), ("memories", "memory")):
        for each in told[table]:
            stated = {
                name: draw.choice((0.001, 0.37, 2, 19.5))
                for name in NUMBERS[table]
                if draw.random() < share
            }
            changes[f"{table}.{each[key]}.energy"] = {"source": "drawn", **stated}
    return soc.with_(changes)


@pytest.mark.parametrize("chip", ["lagoon", "twin", "quad"])
@pytest.mark.parametrize("seed", range(4))
def test_layers_and_what_is_outside_are_the_total(chip: str, seed: int) -> None:
    share = 1 if seed % 2 else 0.93
    found = atoll.estimate(compiled(chip), soc=drawn(chip, seed, share)).network
    assert found.notes == atoll.estimate(compiled(chip)).network.notes
    energy = found.to_json()["energy"]
    told = [each["total_pj"] for each in energy["by_layer"]]
    assert told == [each.energy_pj for each in found.operators]
    parts = [each["total_pj"] for each in (*energy["by_device"], *energy["by_memory"])]
    assert found.energy_pj == energy["total_pj"]
    assert (found.energy_pj is None) == bool(found.energy_lacks)
    if share == 1:
        assert energy["lacks"] == []
    if found.energy_pj is None:
        assert None in parts
        return
    assert sum(told) == energy["operators_pj"]
    assert energy["operators_pj"] + energy["outside_pj"] == energy["total_pj"] == sum(parts)
    for each in energy["by_layer"]:
        assert each["total_pj"] == sum(
            (*each["devices_pj"].values(), *each["memories_pj"].values())
        )


@pytest.mark.parametrize(
    ("chip", "slower"), [("lagoon", ""), ("lagoon", "npu"), ("twin", ""), ("quad", "")]
)
def test_devices_that_work_one_after_the_other_work_as_long_as_a_layer_takes(
    chip: str, slower: str
) -> None:
    """With a picojoule for each cycle of the host, a layer has as many as it has cycles."""
    soc = atoll.load_soc(chip)
    if slower:
        soc = soc.with_({f"devices.{slower}.clock": "50 MHz"})
    one = {}
    for device in soc.to_json()["devices"]:
        each = dict.fromkeys(
            ("active_pj_per_cycle", "idle_pj_per_cycle"), 10**8 // device["clock_hz"]
        )
        one[f"devices.{device['device']}.energy"] = {"source": "s", **each}
    network = atoll.estimate(compiled(chip), soc=soc.with_(one)).network.to_json()
    cycles = {each["operator"]: each for each in network["cycles"]["by_layer"]}
    for each in network["energy"]["by_layer"]:
        layer = cycles[each["operator"]]
        assert sum(each["devices_pj"].values()) == layer["cycles"] * (1 + len(layer["helpers"]))
    for each in network["energy"]["by_device"]:
        assert (
            each["operators_pj"] + each["between_pj"] + each["idle_pj"]
            == network["cycles"]["network"]
        ), each["part"]


def test_a_host_crosses_to_the_clock_of_the_engine_that_it_starts() -> None:
    """It starts the first operator of a list and hears of the end of the last one."""
    soc = atoll.load_soc("lagoon").with_(
        {"devices.cpu.energy": {"source": "s", "active_pj_per_cycle": 1}}
    )
    slow = soc.with_({"devices.npu.clock": "50 MHz"})
    usual, crossing = (
        atoll.estimate(compiled("lagoon"), soc=each).network.to_json()["energy"]["by_layer"]
        for each in (soc, slow)
    )
    more = crossing[0]["devices_pj"]["cpu"] - usual[0]["devices_pj"]["cpu"]
    assert more == CROSSING_CYCLES + 2 * CROSSING_ENGINE_CYCLES
    assert crossing[-1]["devices_pj"]["cpu"] == usual[-1]["devices_pj"]["cpu"]
    assert all(each["devices_pj"].keys() == {"npu"} for each in usual[1:-1])


def test_bytes_are_those_of_the_traffic() -> None:
    memory = {"source": "s", "read_pj_per_byte": 2, "write_pj_per_byte": 3}
    soc = atoll.load_soc("lagoon").with_(
        {f"memories.{m}.energy": memory for m in ("flash", "sram")}
    )
    network = atoll.estimate(compiled("lagoon"), soc=soc).network
    assert network.energy_pj is None
    for each, layer in zip(network.to_json()["energy"]["by_layer"], network.operators, strict=True):
        assert each["memories_pj"] == {
            port.memory: 2 * port.read_bytes + 3 * port.written_bytes for port in layer.traffic
        }


def test_hits_in_a_data_cache_of_no_known_size_are_not_known() -> None:
    """A Cortex-M7 keeps what is in flash, and nothing of its tightly coupled memory."""
    memory = {"source": "s", "read_pj_per_byte": 2, "write_pj_per_byte": 3}
    usual = {key: value for each in CORTEX_M7 for key, value in [each.split("=")]}
    soc = atoll.load_soc("lagoon").with_(
        usual | {f"memories.{m}.energy": memory for m in ("flash", "dtcm")}
    )
    network = atoll.estimate(atoll.compile(soc, DIGITS, accelerators=False)).network
    assert "hits in the data cache of cpu" in network.energy_lacks
    for each in network.to_json()["energy"]["by_layer"]:
        assert each["memories_pj"]["flash"] is None
        assert each["memories_pj"].get("dtcm", 1) > 0


def described(folder: Path, device: str, **keys: Any) -> Device:
    path = folder / "chip.yaml"
    chip = {"extends": "lagoon", "soc": "own", "devices": {device: keys}}
    path.write_text(json.dumps(chip))
    return load_soc(path).device(device)


def test_a_part_states_for_its_instances_and_an_instance_for_itself(tmp_path: Path) -> None:
    core = Path("socs/cores/picorv32.yaml").read_text()
    stated = "energy: {source: part, active_pj_per_cycle: 4}\narea: {source: part, um2: 7}\n"
    (tmp_path / "mine.yaml").write_text(core + stated)
    cpu = described(tmp_path, "cpu", core="./mine.yaml")
    assert cpu.energy
    assert cpu.area
    assert (cpu.energy.active_pj_per_cycle, cpu.area.um2) == (4, 7)
    energy = {"source": "chip", "idle_pj_per_cycle": 1}
    cpu = described(tmp_path, "cpu", core="./mine.yaml", energy=energy)
    assert cpu.energy
    assert cpu.area
    assert (cpu.energy.source, cpu.energy.active_pj_per_cycle) == ("chip", None)


@pytest.mark.parametrize(
    ("params", "stated"),
    [
        ({}, False),
        ({"vector": 2}, True),
        ({"vector": 2, "input_lanes": 8}, True),
        ({"vector": 2, "input_lanes": 4}, False),
    ],
)
def test_an_accelerator_states_for_some_parameters(
    params: Mapping[str, int], stated: bool, tmp_path: Path
) -> None:
    """Lagoon's reef has defaults, but for its vector unit."""
    reef = Path("hw_sim/atoll_sim/engines/reef/reef.yaml").read_text()
    of = json.dumps(dict(params))
    text = f"energy: {{source: part, params: {of}}}\narea: {{source: part, um2: 7, params: {of}}}\n"
    (tmp_path / "mine.yaml").write_text(reef + text)
    npu = described(tmp_path, "npu", accelerator="./mine.yaml")
    assert (npu.energy is not None, npu.area is not None) == (stated, stated)


def test_chips_that_differ_in_energy_alone_become_one_program() -> None:
    plain, stated = load_soc("lagoon"), load_soc("lagoon", (*ALL, *with_areas()))
    assert plain != stated
    assert timeless(plain) == timeless(stated)


@pytest.mark.parametrize(
    ("picojoules", "text"),
    [
        (None, "not known"),
        (0, "0 µJ"),
        (1, "0.000001 µJ"),
        (209_712, "0.2097 µJ"),
        (12_345_678, "12.35 µJ"),
        (1_234_567_890, "1,235 µJ"),
    ],
)
def test_picojoules_are_shown_as_microjoules(picojoules: int | None, text: str) -> None:
    assert microjoules(picojoules) == text


def text_of(*overrides: str) -> str:
    soc = atoll.load_soc("lagoon", overrides=overrides)
    out = Console(file=StringIO(), width=400)
    out.print(atoll.estimate(compiled("lagoon"), soc=soc).network.rich())
    return cast("StringIO", out.file).getvalue()


def test_text_says_what_is_in_the_sum_and_what_is_not() -> None:
    assert "energy" not in text_of()
    assert "area" not in text_of()
    told = text_of(*ALL, *with_areas())
    soc = atoll.load_soc("lagoon", overrides=ALL)
    total = microjoules(atoll.estimate(compiled("lagoon"), soc=soc).network.energy_pj)
    assert f"energy of the network, without accesses of drivers and stacks: {total}, " in told
    assert " outside of them (basis: told)\n" in told
    assert (
        "static energy that is not in it: nothing states devices.npu.energy.leakage_mw, "
        "memories.flash.energy.leakage_mw" in told
    )
    assert "area of devices and memories: 283,000 µm² (basis: published)" in told
    lost = text_of(*ALL[1:], *with_areas("devices.cpu.area"))
    assert (
        "not known; nothing states devices.cpu.energy.active_pj_per_cycle, "
        "devices.cpu.energy.idle_pj_per_cycle" in lost
    )
    assert "area of devices and memories: not known; nothing states devices.cpu.area" in lost


def test_waits_are_no_layers() -> None:
    """Twin works at once: its waits have no energy of their own."""
    (model,) = compiled("twin")._compiled
    waits = sum(isinstance(each.action, AcceleratorWait) for each in model.module.entry.steps)
    assert waits
    found = atoll.estimate(compiled("twin"), soc=drawn("twin", 1, 1)).network
    told = [each["operator"] for each in found.to_json()["energy"]["by_layer"]]
    assert sorted(told) == sorted(each.operator for each in found.operators)
