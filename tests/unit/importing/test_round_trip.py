# SPDX-License-Identifier: Apache-2.0
"""What `atoll bsp` exports is imported again: the same chip, as far as the format carries it."""

import json
import re
import sys
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from tests.unit.board.trees import blob, parsed, written
from tests.unit.importing.reading import asked, chip, imported

from atoll.description.accelerator_files import known_accelerators
from atoll.description.devices import CodeTarget
from atoll.diagnostics.errors import ToolchainError, UsageError
from atoll.diagnostics.units import parse_frequency, parse_size
from atoll.resolve import load_soc
from atoll.resolve.memory_views import as_seen_by
from atoll.resolve.soc import Cpu, Dma, Engine, Npu, Region, ResolvedSoc
from atoll_board.package import Board, package_files

DATA = Path(__file__).parents[2] / "data"
SOCS = Path(__file__).parents[3] / "socs"
CHIPS = sorted(map(str, (*SOCS.glob("*.yaml"), DATA / "shore.yaml", DATA / "bay.yaml")))


def exported(soc: ResolvedSoc, emitter: str, suffix: str) -> str:
    """Return the text of the file with `suffix` that an emitter writes."""
    (files,) = package_files(Board(soc=soc), [emitter]).values()
    (text,) = (entry.data.decode() for path, entry in files.items() if path.endswith(suffix))
    return text


def described(soc: ResolvedSoc) -> dict[str, dict[str, Any]]:
    """Return the devices as a description has them, with the addresses that the host sees."""
    found: dict[str, dict[str, Any]] = {}
    for each in as_seen_by(soc, soc.host).devices:
        data: dict[str, Any] = {"kind": each.kind}
        match each:
            case Cpu():
                data |= {"core": each.spec.name, "isa": each.isa, "clock": each.clock}
                data |= {"loader": each.loader}
                if each.mailbox:
                    data |= {"mailbox": each.mailbox.origin, "irq": each.irq}
                if each.shared_mailbox:
                    data |= {"mailbox": each.shared_mailbox.memory}
            case Npu():
                data |= {"accelerator": each.spec.name, "registers": each.registers.origin}
            case Dma():
                data |= {"engine": each.spec.name, "registers": each.registers.origin}
                data["moves"] = [list(pair) for pair in each.moves]
        if isinstance(each, Engine) and each.irq is not None:
            data["irq"] = each.irq
        found[each.name] = data
    return found


@pytest.mark.parametrize("path", CHIPS, ids=lambda path: Path(path).stem)
@pytest.mark.parametrize("emitter", ["svd", "ipxact", "systemrdl"])
def test_d2_devices_memories_and_interrupts_come_back(
    emitter: str, path: str, tmp_path: Path
) -> None:
    """All of them, by the format's own words or in its place for extensions."""
    soc = load_soc(path)
    suffix = {"svd": ".svd", "ipxact": ".xml", "systemrdl": ".rdl"}[emitter]
    data = chip(imported(tmp_path, {f"chip{suffix}": exported(soc, emitter, suffix)}))
    assert (data["soc"], data["console"], data["host"]) == (soc.name, soc.console.origin, soc.host)
    devices = {
        name: {key: value for key, value in each.items() if key not in WORDS}
        for name, each in data["devices"].items()
    }
    for each in devices.values():
        if "clock" in each:
            each["clock"] = parse_frequency(each["clock"])
        if each.get("irq") == "undecided":
            del each["irq"]  # an Ethos-U on a chip without its line
    expected = described(soc)
    shipped = set(known_accelerators())
    assert devices == {
        name: each
        for name, each in expected.items()
        if {each.get("accelerator", "reef"), each.get("engine", "reef")} <= shipped
    }
    seen = as_seen_by(soc, soc.host)
    assert {
        name: (each["origin"], parse_size(each["size"]), each["kind"])
        for name, each in data["memories"].items()
        if each.get("alias_of", "none") in ("none", "undecided")
    } == {each.name: (each.origin, each.size, each.kind) for each in seen.memories}


WORDS = ("code", "data", "stack", "limits", "targets")
TARGETS = "{a: {isa: rv32i, optimise: size}, b: {generator: c}, c: {isa: rv32im}}"


@pytest.mark.parametrize("emitter", ["svd", "ipxact", "systemrdl", "system-devicetree"])
@pytest.mark.parametrize("name", ["crab", "dashed", "targets"])
def test_d1_d2_a_dsp_comes_back_with_its_targets_and_threads(
    emitter: str, name: str, tmp_path: Path
) -> None:
    edits = (f"devices.audio-dsp.targets={TARGETS}",) if name == "crab" else ()
    soc = load_soc(DATA / f"{name}.yaml", edits)
    if emitter == "system-devicetree":
        (source,) = (written(soc, emitter, tmp_path) / "devicetree").glob("*.dts")
        files: dict[str, Any] = {"chip.dtb": blob(parsed(source))}
    else:
        suffix = {"svd": ".svd", "ipxact": ".xml", "systemrdl": ".rdl"}[emitter]
        files = {f"chip{suffix}": exported(soc, emitter, suffix)}
    devices = chip(imported(tmp_path, files))["devices"]
    for core in soc.cpus:
        found = devices[core.name]
        assert (found["kind"], found["isa"], found["loader"]) == (core.kind, core.isa, core.loader)
        for region in (core.code, core.data):
            span = found[region.name.rpartition(".")[2]]
            assert (span["memory"], parse_size(span["size"])) == (region.memory, region.size)
        stack, main = found["stack"], core.stack
        threads = {name: parse_size(size) for name, size in stack.get("threads", {}).items()}
        assert (stack["memory"], parse_size(stack["size"])) == (main.memory, main.size)
        assert parse_size(stack["interrupts"]) == core.interrupt_reserve
        assert stack.get("runs", "") == core.run_thread
        assert threads == {each.name.split(".")[1]: each.size for each in core.threads}
        targets = {
            name: CodeTarget.model_validate(each) for name, each in found.get("targets", {}).items()
        }
        assert {
            name: (each.isa, each.abi, each.optimise, each.generator, each.function_unit)
            for name, each in targets.items()
        } == {
            each.name: (
                each.instructions.name,
                each.instructions.abi,
                each.optimise,
                each.generator,
                each.unit,
            )
            for each in core.targets
        }


@pytest.mark.parametrize(
    "emitter", ["svd", "ipxact", "systemrdl", "devicetree", "system-devicetree"]
)
@pytest.mark.parametrize(
    ("name", "limits"),
    [
        ("crab", "{max_stack_alloca_size: 600, threads: {net: {max_stack_size: 2 KiB}}}"),
        ("crab", "{use_backend_alloc_workspace: true, threads: {ui: {max_stack_alloca_size: 8}}}"),
        ("dashed", "{max_stack_size: 2 KiB, threads: {net-0: {max_stack_alloca_size: 0}}}"),
        ("targets", "{}"),
    ],
)
def test_d1_d2_k4_limits_of_stacks_come_back(
    emitter: str, name: str, limits: str, tmp_path: Path
) -> None:
    soc = load_soc(DATA / f"{name}.yaml")
    soc = load_soc(DATA / f"{name}.yaml", [f"devices.{soc.host}.limits={limits}"])
    if emitter.endswith("devicetree"):
        (source,) = (written(soc, emitter, tmp_path) / "devicetree").glob("*.dts")
        files: dict[str, Any] = {"chip.dtb": blob(parsed(source))}
    else:
        suffix = {"svd": ".svd", "ipxact": ".xml", "systemrdl": ".rdl"}[emitter]
        files = {f"chip{suffix}": exported(soc, emitter, suffix)}
    devices = chip(imported(tmp_path, files))["devices"]
    for core in soc.cpus if emitter != "devicetree" else [soc.host_cpu]:
        key = f"devices.{core.name}.limits"
        said = json.dumps(devices[core.name].get("limits", {}))
        again = load_soc(DATA / f"{name}.yaml", ["limits=null", f"{key}=null", f"{key}={said}"])
        assert limits_of(again, core.name) == limits_of(soc, core.name)


def limits_of(soc: ResolvedSoc, name: str) -> list[tuple[str, int, int]]:
    core = soc.device(name)
    assert isinstance(core, Cpu)
    return [(each.thread, each.alloca.value, each.total.value) for each in core.thread_limits]


@pytest.mark.parametrize(
    "said", ["{memory: &a b, size: 1}", "{size: 1}", "{memory: dtcm, size: -1}", "[", "{" * 900]
)
def test_words_of_a_core_that_are_none_are_a_question(said: str, tmp_path: Path) -> None:
    text = exported(load_soc(DATA / "crab.yaml"), "svd", ".svd")
    broken = re.sub('stack="[^"]*"', f'stack="{said}"'.replace("&", "&amp;"), text)
    broken = re.sub('targets="[^"]*"', f'targets="{said}"'.replace("&", "&amp;"), broken)
    devices = chip(imported(tmp_path, {"chip.svd": broken}))["devices"]
    assert devices["audio_dsp"]["stack"] == {"memory": "undecided", "size": "undecided"}
    assert "targets" not in devices["audio_dsp"]


def test_what_renode_cannot_say(tmp_path: Path) -> None:
    """Cores with instruction sets and memories come back; kinds, engines and lines do not."""
    soc = load_soc("twin")
    data = chip(imported(tmp_path, {"twin.repl": exported(soc, "renode", ".repl")}))
    assert {name: (each["kind"], each["isa"]) for name, each in data["devices"].items()} == {
        core.name: ("cpu", core.isa) for core in soc.cpus
    }
    assert {*data["memories"]} == {each.name for each in soc.memories}


def test_systemrdl_of_others(tmp_path: Path) -> None:
    """Memories are native to the language; a map of maps is gone through."""
    text = """
mem ram_t { mementries = 1024; memwidth = 32; sw = rw; };
mem rom_t { mementries = 2048; memwidth = 64; sw = r; };
addrmap uart { reg { field {} d[32]; } data @ 0x0; };
addrmap system { external ram_t sram[2] @ 0x2000_0000; uart dma0 @ 0x0; };
addrmap chip {
  external rom_t boot @ 0x0;
  system sys @ 0x4000_0000;
  uart serial @ 0x5000_0000;
};
"""
    found = imported(tmp_path, {"chip.rdl": text.replace("0x4000_0000", "0x1000_0000")})
    data = chip(found)
    assert {
        name: (each["origin"], parse_size(each["size"]), each["kind"])
        for name, each in data["memories"].items()
    } == {
        "boot": (0, 16384, "rom"),
        "sram_0": (0x3000_0000, 4096, "ram"),
        "sram_1": (0x3000_1000, 4096, "ram"),
    }
    assert data["devices"]["dma0"] == {"kind": "master"}
    assert [each.what for each in found.left_out] == ["1 other peripheral"]


def test_systemrdl_that_is_wrong_or_has_no_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="nothing") as caught:
        imported(tmp_path, {"chip.rdl": "addrmap chip {\n  nothing n;\n};\n"})
    (fault,) = caught.value.faults
    assert fault.code == "E138"
    assert fault.at is not None
    assert fault.at.line == 2
    monkeypatch.setitem(sys.modules, "systemrdl.compiler", None)
    with pytest.raises(ToolchainError) as missing:
        imported(tmp_path, {"chip.rdl": "addrmap chip {};\n"})
    (fault,) = missing.value.faults
    assert fault.code == "E070"
    assert "pip install 'atoll[systemrdl]'" in (fault.remedy or "")


@pytest.mark.parametrize("path", CHIPS, ids=lambda path: Path(path).stem)
@pytest.mark.parametrize("emitter", ["devicetree", "system-devicetree"])
def test_devicetree(emitter: str, path: str, tmp_path: Path) -> None:
    """The host's tree has what the host reaches, the system's all; pools come back from none."""
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
        if core.shared_mailbox:
            assert described["mailbox"] == core.shared_mailbox.memory
            continue
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


@pytest.mark.parametrize("emitter", ["devicetree", "system-devicetree"])
def test_a_dsp_comes_back_from_a_devicetree(emitter: str, tmp_path: Path) -> None:
    soc = load_soc("twin")
    (source,) = (written(soc, emitter, tmp_path) / "devicetree").glob("*.dts")
    data = chip(imported(tmp_path, {"chip.dtb": blob(parsed(source))}))
    assert {name: each["kind"] for name, each in data["devices"].items()} == {
        each.name: each.kind for each in soc.devices
    }


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
