# SPDX-License-Identifier: Apache-2.0
"""What can go wrong around a simulation: the image, the model's process, the firmware's end."""

import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from atoll.diagnostics.errors import SimulationError
from atoll.resolve import load_soc
from atoll_sim.simulate.firmware import Segment, load_segments, write_image
from atoll_sim.simulate.session import simulate
from atoll_sim.trace.simulation import SimRequest

CODE = b"\x13\x00\x00\x00" * 4


def elf(address: int) -> bytes:
    """Return an ELF file for RISC-V with one loadable segment at `address`."""
    ident = b"\x7fELF\x01\x01\x01".ljust(16, b"\0")
    header = ident + struct.pack(
        "<HHIIIIIHHHHHH", 2, 243, 1, address, 52, 0, 0, 52, 32, 1, 40, 0, 0
    )
    segment = struct.pack("<8I", 1, 84, address, address, len(CODE), len(CODE), 5, 4)
    return header + segment + CODE


def refused(act: Callable[[], object]) -> tuple[str, str]:
    """Return code and text of the fault with which `act` must end."""
    with pytest.raises(SimulationError) as caught:
        act()
    assert all(fault.remedy for fault in caught.value.faults)
    return caught.value.faults[0].code, str(caught.value)


def test_an_image_inside_the_memories(tmp_path: Path) -> None:
    (tmp_path / "a.elf").write_bytes(elf(0x100))
    assert load_segments(tmp_path / "a.elf") == (Segment(tmp_path / "a.elf", 0x100, CODE),)
    write_image((tmp_path / "a.elf",), load_soc("lagoon"), tmp_path / "image")
    assert (tmp_path / "image").read_bytes() == struct.pack("<II", 0x100, len(CODE)) + CODE


@pytest.mark.parametrize("address", [0x0010_0000, 0x000F_FFF4, 0x5000_0000])
def test_an_image_past_the_memories(address: int, tmp_path: Path) -> None:
    (tmp_path / "a.elf").write_bytes(elf(address))
    code, text = refused(
        lambda: write_image((tmp_path / "a.elf",), load_soc("lagoon"), tmp_path / "image")
    )
    assert code == "E084"
    assert f"16 bytes for {address:#010x}, where 'lagoon' has no memory" in text
    assert not (tmp_path / "image").exists()


def test_images_of_two_cores(tmp_path: Path) -> None:
    twin = load_soc("twin")
    cpu, dsp = twin.cpus
    files = tuple(tmp_path / f"{core.name}.elf" for core in twin.cpus)
    for core, path in zip(twin.cpus, files, strict=True):
        path.write_bytes(elf(core.code.origin))
    assert write_image(files, twin, tmp_path / "image") == (cpu, dsp)
    head = struct.pack("<II", dsp.code.origin, len(CODE))
    assert (tmp_path / "image").read_bytes()[8 + len(CODE) :] == head + CODE


def test_a_core_without_firmware_sleeps(tmp_path: Path) -> None:
    twin = load_soc("twin")
    cpu, dsp = twin.cpus
    (tmp_path / "a.elf").write_bytes(elf(cpu.code.origin))
    assert write_image((tmp_path / "a.elf",), twin, tmp_path / "image") == (cpu,)
    asleep = bytes.fromhex("0b400008 6ff0dfff")
    head = struct.pack("<II", dsp.code.origin, len(asleep))
    assert (tmp_path / "image").read_bytes()[8 + len(CODE) :] == head + asleep


def test_a_core_that_begins_behind_its_vectors_sleeps_there(tmp_path: Path) -> None:
    chip = load_soc("twin", ("devices.dsp.core=ibex", "devices.dsp.isa=rv32imc"))
    cpu, dsp = chip.cpus
    (tmp_path / "a.elf").write_bytes(elf(cpu.code.origin))
    assert write_image((tmp_path / "a.elf",), chip, tmp_path / "image") == (cpu,)
    asleep = bytes.fromhex("73005010 6ff0dfff")
    head = struct.pack("<II", dsp.code.origin + 0x80, len(asleep))
    assert (tmp_path / "image").read_bytes()[8 + len(CODE) :] == head + asleep


@pytest.mark.parametrize("address", [0x100, 0x104, 0x10C])
def test_images_that_overlap(address: int, tmp_path: Path) -> None:
    for name, begin in (("a", 0x100), ("b", address), ("c", 0x800)):
        (tmp_path / f"{name}.elf").write_bytes(elf(begin))
    files = tuple(tmp_path / f"{name}.elf" for name in "cab")
    code, text = refused(lambda: write_image(files, load_soc("lagoon"), tmp_path / "image"))
    assert code == "E084"
    assert f"a.elf' and '{tmp_path}/b.elf' both have bytes for {address:#010x}" in text
    assert not (tmp_path / "image").exists()


@pytest.mark.parametrize("content", [None, b"", b"no ELF file at all", elf(0)[:40]])
def test_what_is_no_image(content: bytes | None, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "a.elf").write_bytes(content)
    code, text = refused(lambda: load_segments(tmp_path / "a.elf"))
    assert (code, "cannot read the firmware" in text) == ("E084", True)


def process(script: str, folder: Path) -> SimRequest:
    """Ask for a run of a model that is a shell script."""
    model = folder / "model"
    model.write_text(f"#!/bin/sh\n{script}\n")
    model.chmod(0o755)
    (folder / "a.elf").write_bytes(elf(0))
    return SimRequest(
        executable=model,
        elves=(folder / "a.elf",),
        soc=load_soc("lagoon"),
        run_dir=folder / "run",
        samples=(),
        inputs=(),
        outputs=(),
        max_seconds=0.5,
    )


@pytest.mark.parametrize(
    ("script", "status"), [("echo assertion of atoll_bus failed; exit 3", 3), ("exit 0", 0)]
)
def test_a_model_that_breaks_off(script: str, status: int, tmp_path: Path) -> None:
    code, text = refused(lambda: simulate(process(script, tmp_path)))
    assert (code, f"broke off with status {status}" in text) == ("E087", True)
    assert ("atoll_bus" in script) == ("atoll_bus failed" in text)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "[915000] %Error: mine.sv:7: Assertion failed in atoll_chip.u_npu.u_port.held: held it",
            "device 'npu' breaks an assertion of its RTL (A10), at 915 ns:"
            " atoll_chip.u_npu.u_port.held: held it",
        ),
        (
            "%Error: bus.sv:7: Assertion failed in atoll_chip.u_npu_bus.Legal: Legal failed in"
            " atoll_chip.u_npu_bus.Legal",
            "device 'npu' breaks what its adapter relies on (A10): Legal failed in"
            " atoll_chip.u_npu_bus.Legal",
        ),
        (
            "[28220000] %Error: m.sv:6: Assertion failed in atoll_picorv32.NamesBytes: it failed",
            "core picorv32 breaks an assertion of its RTL (A10), at 28,220 ns: it failed",
        ),
        (
            "%Error: mine.sv:6: Assertion failed in atoll_chip.u_cpu.u_deep.NamesBytes: it failed",
            "core picorv32 breaks an assertion of its RTL (A10): it failed",
        ),
        (
            "%Error: mine.sv:6: Assertion failed in other_top.NamesBytes: it failed",
            "the simulator broke off with status 1",
        ),
        (
            "%Error: bus.sv:7: Assertion failed in atoll_chip.u_npu_demux.Legal: Legal failed",
            "the simulator broke off with status 1",
        ),
        (
            "%Error: bus.sv:7: Assertion failed in atoll_chip.u_npuless.Legal: Legal failed",
            "the simulator broke off with status 1",
        ),
    ],
)
def test_a10_an_assertion_that_fails_names_its_device(line: str, said: str, tmp_path: Path) -> None:
    code, text = refused(lambda: simulate(process(f'echo "{line}"; exit 1', tmp_path)))
    assert (code, said in text) == ("E087", True), text


def test_a_model_that_never_ends(tmp_path: Path) -> None:
    code, text = refused(lambda: simulate(process("exec sleep 60", tmp_path)))
    assert (code, "more than 0.5 s" in text) == ("E088", True)
