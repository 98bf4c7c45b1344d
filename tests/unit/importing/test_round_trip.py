# SPDX-License-Identifier: Apache-2.0
"""What `atoll bsp` exports is imported again: the same chip, as far as the format carries it."""

from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from tests.unit.board.trees import blob, parsed, written
from tests.unit.importing.reading import asked, chip, imported

from atoll.board.package import Board, package_files
from atoll.resolve import load_soc
from atoll.resolve.memory_views import as_seen_by
from atoll.resolve.soc import Region, ResolvedSoc
from atoll.units import parse_frequency, parse_size

DATA = Path(__file__).parents[2] / "data"
SOCS = Path(__file__).parents[3] / "socs"
CHIPS = sorted(map(str, (*SOCS.glob("*.yaml"), DATA / "shore.yaml", DATA / "bay.yaml")))


def exported(soc: ResolvedSoc, emitter: str, suffix: str) -> str:
    """Return the text of the file with `suffix` that an emitter writes."""
    (files,) = package_files(Board(soc=soc), [emitter]).values()
    (text,) = (entry.data.decode() for path, entry in files.items() if path.endswith(suffix))
    return text


def engines_of(soc: ResolvedSoc) -> dict[str, dict[str, Any]]:
    """Return the accelerators and DMA engines as a description has them, as the host sees them.

    Arm's Ethos-U is left out: an export has one register of it, by which nobody could tell it.
    """
    seen = as_seen_by(soc, soc.host)
    return {
        each.name: {
            "kind": "dma" if each.spec.name == "ripple" else "npu",
            ("engine" if each.spec.name == "ripple" else "accelerator"): each.spec.name,
            "registers": each.registers.origin,
            "irq": each.irq,
        }
        for each in seen.engines
        if each.spec.driver != "ethos_u"
    }


@pytest.mark.parametrize("path", CHIPS, ids=lambda path: Path(path).stem)
def test_svd(path: str, tmp_path: Path) -> None:
    soc = load_soc(path)
    found = imported(tmp_path, {"chip.svd": exported(soc, "svd", ".svd")})
    data = chip(found)
    assert (data["soc"], data["console"]) == (soc.name, soc.console.origin)
    kept = ("kind", "engine", "accelerator", "registers", "irq")
    engines = {
        name: {key: device[key] for key in kept if key in device}
        for name, device in data["devices"].items()
        if device["kind"] != "cpu"
    }
    assert engines == engines_of(soc)
    boxes = {
        name: (device["mailbox"], device["irq"])
        for name, device in data["devices"].items()
        if "mailbox" in device
    }
    cores = as_seen_by(soc, soc.host).cpus
    assert boxes == {
        core.name: (core.mailbox.origin, core.irq) for core in cores if core.mailbox is not None
    }


@pytest.mark.parametrize("path", CHIPS, ids=lambda path: Path(path).stem)
@pytest.mark.parametrize("emitter", ["devicetree", "system-devicetree"])
def test_devicetree(emitter: str, path: str, tmp_path: Path) -> None:
    """The host's tree has what the host reaches, the system's all; no tree has pools or stacks."""
    whole = load_soc(path)
    is_system = emitter == "system-devicetree"
    seen = whole if is_system else as_seen_by(whole, whole.host)
    (source,) = (written(whole, emitter, tmp_path) / "devicetree").glob("*.dts")
    found = imported(tmp_path, {"chip.dtb": blob(parsed(source))})
    data = chip(found)
    assert (data["soc"], data["console"]) == (seen.name, seen.console.origin)
    windows = [each for each, _ in seen.windows(seen.host_cpu) if isinstance(each, Region)]
    reached = {each.name for each in seen.memories} if is_system else {w.memory for w in windows}
    assert {name: (each["origin"], each["kind"]) for name, each in data["memories"].items()} == {
        each.name: (each.origin, each.kind) for each in seen.memories if each.name in reached
    }
    for name, each in data["memories"].items():
        assert parse_size(each["size"]) == seen.memory(name).size
    for core in seen.cpus if is_system else [seen.host_cpu]:
        described = data["devices"][core.name]
        assert (described["core"], described["isa"]) == (core.spec.name, core.isa)
    for core in seen.remote_cpus:
        described = data["devices"][core.name]
        assert core.mailbox is not None
        assert (described["mailbox"], described["irq"]) == (core.mailbox.origin, core.irq)
    for engine in seen.engines:
        described = data["devices"][engine.name]
        assert (described["registers"], described["irq"]) == (engine.registers.origin, engine.irq)
        key = "engine" if described["kind"] == "dma" else "accelerator"
        assert described[key] == engine.spec.name


@pytest.mark.parametrize("name", ["rp2040", "stm32h747", "corstone300"])
def test_pdsc(name: str, tmp_path: Path) -> None:
    """Cores with instruction set and clock, and the memories that one of them reaches."""
    soc = load_soc(name)
    data = chip(imported(tmp_path, {"chip.pdsc": exported(soc, "cmsis-pack", ".pdsc")}))
    assert {
        each: (device["core"], device["isa"], parse_frequency(device["clock"]))
        for each, device in data["devices"].items()
    } == {core.name: (core.spec.name, core.isa, core.clock) for core in soc.cpus}
    regions = [region for core in soc.cpus for region in (core.code, core.data, *core.stacks)]
    pools = [p for p in soc.pools if any(p.reach[core.name] != "none" for core in soc.cpus)]
    reached = {region.memory for region in (*regions, *(pool.region for pool in pools))}
    assert {
        each: (memory["origin"], parse_size(memory["size"]), memory["kind"])
        for each, memory in data["memories"].items()
    } == {
        each.name: (each.origin, each.size, each.kind)
        for each in soc.memories
        if each.name in reached
    }


@pytest.mark.parametrize("path", CHIPS, ids=lambda path: Path(path).stem)
def test_ipxact(path: str, tmp_path: Path) -> None:
    """Memories and engines of the host's map; the format has no interrupts here."""
    soc = load_soc(path)
    seen = as_seen_by(soc, soc.host)
    data = chip(imported(tmp_path, {"chip.xml": exported(soc, "ipxact", ".xml")}))
    assert {
        name: (each["origin"], parse_size(each["size"]), each["kind"])
        for name, each in data["memories"].items()
    } == {each.name: (each.origin, each.size, each.kind) for each in seen.memories}
    kept = ("kind", "engine", "accelerator", "registers")
    engines = {
        name: {key: device[key] for key in kept if key in device}
        for name, device in data["devices"].items()
        if device["kind"] != "cpu"
    }
    assert engines == {
        name: {key: each[key] for key in kept if key in each}
        for name, each in engines_of(soc).items()
    }


@pytest.mark.parametrize("emitter", ["svd", "system-devicetree"])
def test_a_remote_core_may_be_a_dsp(emitter: str, tmp_path: Path) -> None:
    """No format of ours says which kind a core with a mailbox is, and the description says so."""
    soc = load_soc("twin")
    if emitter == "svd":
        files: dict[str, str | bytes] = {"chip.svd": exported(soc, "svd", ".svd")}
    else:
        (source,) = (written(soc, emitter, tmp_path) / "devicetree").glob("*.dts")
        files = {"chip.dtb": blob(parsed(source))}
    text = imported(tmp_path, files).text
    assert text.count("kind: cpu  # or dsp: no file says") == len(soc.remote_cpus) == 1


@pytest.mark.parametrize("name", ["lagoon", "twin", "stm32h747"])
def test_the_order_of_files_does_not_matter(name: str, tmp_path: Path) -> None:
    """The same is asked, and the same is known, whichever file is first."""
    soc = load_soc(name)
    files = {
        "chip.xml": exported(soc, "ipxact", ".xml"),
        "chip.svd": exported(soc, "svd", ".svd"),
        "chip.pdsc": exported(soc, "cmsis-pack", ".pdsc") if name == "stm32h747" else "",
    }
    found = [
        imported(tmp_path, {each: files[each] for each in order})
        for order in permutations(each for each in files if files[each])
    ]
    kept = ("kind", "core", "isa", "mailbox", "registers", "irq", "accelerator", "engine")
    known = [
        sorted(str([device.get(key) for key in kept]) for device in chip(each)["devices"].values())
        for each in found
    ]
    assert all(each == known[0] for each in known)
    assert len({len(each.questions) for each in found}) == 1
    assert not [key for each in found for key in asked(each) if key.endswith(".irq")]
