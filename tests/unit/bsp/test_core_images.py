# SPDX-License-Identifier: Apache-2.0
"""The image of each core: whose code it is, what it holds, and whose limits bound it."""

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from atoll.artifacts.build_tree import BuildTree, build, part_of, sources_of
from atoll.bsp.firmware import link_firmware
from atoll.codegen.llvm import emit_objects
from atoll.diagnostics.errors import PlanError, ToolchainError
from atoll.diagnostics.units import format_size
from atoll.driver.pipeline import Compiled
from atoll.resolve.soc import Cpu, Device, ResolvedSoc
from atoll.utils.checksums import find_altered

PROGRAM = "riscv64-unknown-elf-gcc"
Duo = Callable[..., ResolvedSoc]
Alternate = Callable[..., Compiled]


def test_d3_every_object_carries_its_own_cores_cpu(tree: BuildTree) -> None:
    for folder, isa, count in (("obj", "_c2p0", 12), ("obj/dsp", "", 5)):
        objects = sorted((tree.folder / folder).glob("*.o"))
        assert len(objects) == count
        for path in (*objects, tree.folder / f"{'dsp' if not isa else 'firmware'}.elf"):
            with path.open("rb") as file:
                section = ELFFile(file).get_section_by_name(".riscv.attributes")
                assert section is not None, path
                text = section.data().decode("latin-1")
            assert "rv32i2p1_m2p0" in text, path
            assert ("_c2p0" in text) == bool(isa), path


@pytest.mark.skipif(shutil.which(PROGRAM) is None, reason=f"needs {PROGRAM}")
def test_d3_each_core_has_a_toolchain_of_its_own(
    duo: Duo, alternate: Alternate, tmp_path: Path
) -> None:
    firmware = build((alternate(duo("devices.dsp.toolchain=gcc")),), tmp_path / "build").firmware
    host, core = (image.toolchain for image in firmware.images)
    assert host.startswith("zig ")
    assert core.startswith("gcc ")


@pytest.mark.parametrize(("compiler", "standard"), [("cc", "c99"), ("c++", "c++11")])
def test_m8_headers_of_a_chip_with_two_cores_compile_together(
    tree: BuildTree, compiler: str, standard: str
) -> None:
    found = shutil.which(compiler)
    if found is None:
        pytest.skip(f"needs {compiler} for this machine")
    bsp = tree.folder / "bsp"
    assert (bsp / "mailbox.h").exists()
    includes = "".join(f'#include "{path.name}"\n' for path in sorted(bsp.glob("*.h")))
    language = "c" if compiler == "cc" else "c++"
    strict = ("-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only")
    command = (found, f"-std={standard}", *strict, f"-I{bsp}", "-x", language, "-")
    subprocess.run(command, input=2 * includes, text=True, check=True)


def test_m6_only_the_hosts_image_holds_constants(tree: BuildTree) -> None:
    host, core = ({use.region for use in image.use} for image in tree.firmware.images)
    assert {"weights", "cpu.code"} <= host
    assert core == {"dsp.code"}


def test_m6_equal_input_makes_equal_images(
    duo: Duo, alternate: Alternate, tree: BuildTree, tmp_path: Path
) -> None:
    trees = (tree, build((alternate(duo()),), tmp_path / "again"))
    first, second = (
        {p.relative_to(t.folder): p.read_bytes() for p in t.folder.rglob("*") if p.is_file()}
        for t in trees
    )
    assert first == second
    assert Path("obj/dsp/main_dsp_c.o") in first


def test_the_build_folder_lists_every_image(program: Compiled, tmp_path: Path) -> None:
    tree = build((program,), tmp_path / "build")
    assert [path.name for path in tree.firmware.elves] == ["firmware.elf", "dsp.elf"]
    names = sources_of(["every"], ("firmware.elf", "dsp.elf"))
    assert tuple(find_altered(tree.folder, names)) == ()
    (tree.folder / "dsp.elf").write_bytes(b"other")
    assert tuple(find_altered(tree.folder, names)) == ("dsp.elf",)
    host, core = tree.firmware.summary().split("; ")
    assert host.startswith("firmware.elf: weights ")
    assert core.startswith("dsp.elf: dsp.code ")
    assert f"stack {tree.firmware.stacks['dsp'].bytes} B" in core


def _limited(soc: ResolvedSoc, most: int) -> ResolvedSoc:
    def changed(device: Device) -> Device:
        if not isinstance(device, Cpu) or device.name != "dsp":
            return device
        return replace(device, max_stack_size=replace(device.max_stack_size, value=most))

    return replace(soc, devices=tuple(map(changed, soc.devices)))


def test_k2_the_stack_of_each_image_is_held_against_its_own_cores_limit(
    program: Compiled, tree: BuildTree, tmp_path: Path
) -> None:
    part = part_of(program)
    reserve = next(cpu for cpu in program.soc.cpus if cpu.name == "dsp").interrupt_reserve
    work = dict(tree.firmware.stacks["dsp"].path)
    need = work["every_dsp_step"] + max(work.values()) + reserve
    for most in (need, need - 1):
        out = tmp_path / str(most)
        out.mkdir()
        if most == need:
            link_firmware(_limited(program.soc, most), (part,), out)
            continue
        with pytest.raises(PlanError) as caught:
            link_firmware(_limited(program.soc, most), (part,), out)
        (fault,) = caught.value.faults
        assert fault.code == "E066"
        assert "every_dsp_step" in fault.message
        assert fault.remedy == f"set 'devices.dsp.limits.max_stack_size' to {format_size(need)}"


def test_an_object_that_is_missing_is_named(program: Compiled, tmp_path: Path) -> None:
    part = part_of(program)
    codes = {**part.codes(), "dsp": _empty(program)}
    with pytest.raises(ToolchainError, match="undefined: every_dsp_step"):
        link_firmware(program.soc, (replace(part, codes=lambda: codes),), tmp_path)


def _empty(program: Compiled) -> bytes:
    renamed = replace(program.module, name="else")
    return emit_objects(renamed, program.plan, program.soc, program.commands)["dsp"]
