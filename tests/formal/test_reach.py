# SPDX-License-Identifier: Apache-2.0
"""Who reaches what on a chip is proven, and no wrong interconnect is."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from atoll.cli.app import app
from atoll.diagnostics.errors import SimulationError, UsageError
from atoll.resolve import load_soc
from atoll.resolve.soc import Access, ResolvedSoc
from atoll_sim.chip.memory_map import Windows, windows_of
from atoll_sim.formal import reach
from atoll_sim.formal.prove import Verdict, decide
from atoll_sim.formal.reach import design_of, plan_proof, prove_all, reach_of, write_chip

ROOT = Path(__file__).parents[2]
CHIPS = [
    *sorted(path.stem for path in (ROOT / "socs").glob("*.yaml")),
    *sorted(f"tests/data/chips/{path.name}" for path in (ROOT / "tests/data/chips").glob("*.yaml")),
]
ALL = (0, 0xFFFFFFFF)
NONE = (1, 0)
ONLY, WHOLE, READS = (
    "reaches_only_what_it_may",
    "reaches_all_that_it_may",
    "reads_only_what_it_may",
)


def found_at(name: str) -> str:
    """Return a chip that ships, or the path of another."""
    return str(ROOT / name) if name.endswith(".yaml") else name


def decide_one(
    soc: ResolvedSoc,
    name: str,
    folder: Path,
    edit: Callable[[str], str] | None = None,
    wrong: Windows | None = None,
) -> Verdict:
    """Return what comes out for a device if the generated chip or its windows are changed."""
    chip = plan_proof(soc)
    files = write_chip(chip, folder)
    index = next(master.index for master in chip.masters if master.name == name)
    design = design_of(chip, reach_of(soc, index, name), folder, files, wrong)
    if edit:
        path = folder / "atoll_chip.sv"
        changed = edit(path.read_text())
        assert changed != path.read_text()
        path.write_text(changed)
    return decide(design)


def one_of(name: str, kinds: Sequence[Any], nth: int = 0) -> Any:
    """Return one kind of fault for a chip; others have the others, and each chip has one."""
    return kinds[(CHIPS.index(name) + nth) % len(kinds)]


def some_devices(soc: ResolvedSoc) -> list[str]:
    """Return the host, and one of the devices that reach memory beside it, if there are any."""
    masters = [each.name for each in plan_proof(soc).masters if each.name != soc.host]
    windows = windows_of(soc)
    return [soc.host, *[name for name in masters if (f"dev_{name}_writable", 0) in windows][-1:]]


def wire(module: str, port: str, to: str) -> Callable[[str], str]:
    """Return what connects a port of an instance to something else."""
    pattern = re.compile(rf"(\) u_{module} \(.*?\.{port} *)\([^\n]*\)(,?\n)", re.S)
    return lambda text: pattern.sub(rf"\1({to})\2", text, count=1)


def swap_in(port: str, device: str, one: str, other: str) -> Callable[[str], str]:
    """Return what exchanges two targets of a demultiplexer at one of its ports."""
    pattern = re.compile(rf"u_{device}_demux \(.*?\.{port} *\(\{{\n(.*?)\}}\)", re.S)

    def swap(text: str) -> str:
        found = pattern.search(text)
        assert found
        names = {one: other, other: one}
        swapped = re.sub(rf"\b({one}|{other})_", lambda name: f"{names[name[1]]}_", found[1])
        return text[: found.start(1)] + swapped + text[found.end(1) :]

    return swap


def two_targets(soc: ResolvedSoc, device: str) -> tuple[str, str] | None:
    """Return two memories that a device reaches, or the registers of the bench at the host."""
    if device == soc.host:
        return "reg_console", "reg_guard"
    pools = [pool for pool in soc.pools if pool.reach[device] is not Access.NONE]
    memories = [*dict.fromkeys(f"mem_{pool.region.memory}" for pool in pools)]
    return (memories[0], memories[1]) if len(memories) > 1 else None


def test_a_chip_is_proven_and_printed() -> None:
    shown = CliRunner().invoke(app, ["prove", "litex", "--json"])
    assert shown.exit_code == 0, shown.output
    found = json.loads(shown.stdout)
    (cpu,) = found["devices"]
    assert found["passed"]
    assert cpu["proven"]
    grants = {each["name"]: each for each in cpu["grants"]}
    constants = next(pool for pool in load_soc("litex").pools if pool.holds_constants)
    assert grants[constants.name]["first_address"] == constants.region.origin
    assert grants[constants.name]["last_address"] == constants.region.end - 1
    writes = constants.reach["cpu"] is Access.WRITE
    assert grants[constants.name]["access"] == ("rw" if writes else "ro")


def test_a_window_too_large_is_refuted_with_the_access(tmp_path: Path) -> None:
    soc = load_soc("litex")
    found = prove_all(soc, wrong={("dev_cpu_writable", 0): ALL})
    (cpu,) = found.devices
    assert not found.passed
    assert cpu.proven is False
    assert cpu.broken is not None
    assert cpu.broken.rule == ONLY.replace("_", " ")
    assert cpu.broken.write
    last = cpu.broken.address + cpu.broken.size - 1
    assert not any(
        each.write and each.first <= cpu.broken.address and last <= each.last for each in cpu.grants
    )


def test_a_view_past_4_gib_is_not_called_proven() -> None:
    with pytest.raises(SimulationError, match="'high' is at 0x800000000, and RTL has 32-bit"):
        prove_all(load_soc(ROOT / "tests" / "data" / "trench.yaml"))


def test_without_the_tools_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reach, "available", lambda: False)
    with pytest.raises(UsageError) as raised:
        prove_all(load_soc("lagoon"))
    assert "E252" in str(raised.value)


@pytest.mark.slow
@pytest.mark.parametrize("name", CHIPS)
def test_each_chip_is_proven(name: str) -> None:
    found = prove_all(load_soc(found_at(name)))
    assert {device.name: device.proven for device in found.devices} == {
        device.name: True for device in found.devices
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", CHIPS)
def test_wrong_windows_of_each_chip_are_refuted(name: str, tmp_path: Path) -> None:
    soc = load_soc(found_at(name))
    windows = windows_of(soc)
    for nth, device in enumerate(some_devices(soc)):
        kinds = []
        for strap, window, rule in (
            (f"dev_{device}_writable", ALL, ONLY),
            (f"dev_{device}_readable", NONE, WHOLE),
            (f"dev_{device}_targets", NONE, WHOLE),
        ):
            used = [n for n in range(99) if windows.get((strap, n), NONE) != NONE]
            if used:  # else the device reads or writes nothing
                kinds.append(((strap, used[0]), window, rule))
        place, window, rule = one_of(name, kinds, nth)
        verdict = decide_one(soc, device, tmp_path, wrong={place: window})
        assert rule in verdict.refuted, (name, place)


@pytest.mark.slow
@pytest.mark.parametrize("name", CHIPS)
def test_places_exchanged_in_a_memory_or_block_of_each_chip_are_refuted(
    name: str, tmp_path: Path
) -> None:
    soc = load_soc(found_at(name))
    chip = plan_proof(soc)
    used = {pool.region.memory for pool in soc.pools if pool.reach[soc.host] is not Access.NONE}
    memory = max((soc.memory(each) for each in used), key=lambda each: each.size)
    blocks = [
        "reg_console",
        "reg_guard",
        *(f"reg_{each}" for each in list(soc.register_blocks)[:1]),
    ]
    places = [(f"mem_{memory.name}", memory.size // 2), *((each, 8) for each in blocks)]
    signal, half = one_of(name, places)
    place = chip.places[signal]
    first, last = windows_of(soc)["map", place]
    verdict = decide_one(soc, soc.host, tmp_path, wrong={("map", place): (first + half, last)})
    assert ONLY in verdict.refuted, (name, signal)


@pytest.mark.slow
@pytest.mark.parametrize("name", CHIPS)
def test_wrong_wires_of_each_chip_are_refuted(name: str, tmp_path: Path) -> None:
    soc = load_soc(found_at(name))
    host = soc.host
    around = re.compile(rf"(u_{host}_demux \(.*?\.mst_valid_i *\(dev_{host}_)bus_valid", re.S)
    kinds: list[tuple[str, Callable[[str], str], str]] = [
        (host, lambda text: around.sub(r"\1valid", text, count=1), ONLY)
    ]
    for device in some_devices(soc):
        if two := two_targets(soc, device):
            kinds.append((device, swap_in("tgt_valid_o", device, *two), ONLY))
            kinds.append((device, swap_in("tgt_rdata_i", device, *two), READS))
    device, edit, rule = one_of(name, kinds)
    verdict = decide_one(soc, device, tmp_path, edit)
    assert len(verdict.properties) == 4
    assert rule in verdict.refuted, (name, device, verdict)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["lagoon", "twin"])
def test_wrong_wires_of_registers_are_refuted(name: str, tmp_path: Path) -> None:
    soc = load_soc(name)
    modules = {"console": "", "guard": ""}
    modules |= {f"{each.name}_registers": "" for each in soc.engines}
    modules |= {f"{each.name}_mailbox": "host_" for each in soc.cpus if each.mailbox}
    other = next(each.name for each in soc.engines)
    for module, side in modules.items():
        for port in ("we", "wdata", "be"):
            to = f"dev_{other}_{port}"
            verdict = decide_one(soc, soc.host, tmp_path, wire(module, f"{side}{port}_i", to))
            assert verdict.refuted == (ONLY,), (module, port)


def test_a_memory_built_so_that_it_takes_no_writes_is_refuted(tmp_path: Path) -> None:
    verdict = decide_one(
        load_soc("litex"),
        "cpu",
        tmp_path,
        lambda text: text.replace(".Writable   (1'b1)", ".Writable   (1'b0)"),
    )
    assert ONLY in verdict.refuted


@pytest.mark.parametrize("name", [name for name in CHIPS if "/" not in name])
def test_the_document_lists_each_shipped_chip(name: str) -> None:
    soc = load_soc(name)
    devices = len(plan_proof(soc).masters)
    row = re.compile(rf"^\| {name} \| {devices} \| [0-9]+ \|$", re.M)
    assert row.search((ROOT / "docs" / "formal.md").read_text())
