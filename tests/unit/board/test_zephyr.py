# SPDX-License-Identifier: Apache-2.0
"""The Zephyr module, read by Zephyr's parsers of devicetrees and of Kconfig."""

import logging
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from elftools.elf.elffile import ELFFile
from tests.unit.board.zephyr_tree import SYMBOLS, bindings

from atoll.resolve import load_soc
from atoll.resolve.memory_views import as_seen_by
from atoll.resolve.soc import Cpu, ResolvedSoc
from atoll_board.package import Board, package_files

edtlib = pytest.importorskip("devicetree.edtlib")
kconfiglib = pytest.importorskip("kconfiglib")

IBEX = ("devices.cpu.core=ibex",)
M33 = ("devices.cpu.core=cortex_m33", "devices.cpu.isa=armv8-m.main+dsp")
TWIN = (*IBEX, "devices.dsp.core=cv32e40p")
RP2040 = tuple(f"devices.{core}.data.size=16KiB" for core in ("core0", "core1"))
CHIPS: dict[str, tuple[str, tuple[str, ...], set[str]]] = {
    "ibex": ("lagoon", IBEX, {"cpu"}),
    "m33": ("lagoon", M33, {"cpu"}),
    "mixed": ("twin", (*TWIN[1:], M33[0], M33[1]), {"cpu", "dsp"}),
    "h747": ("stm32h747", (), {"cm4", "cm7"}),
    "rp2040": ("rp2040", RP2040, {"core0", "core1"}),
    "corstone300": ("corstone300", (), {"cpu"}),
    "rt1176": ("imxrt1176", (), {"cm4", "cm7"}),
    "x_heep": ("x_heep", (), {"cpu"}),
    "esp32c6": ("esp32c6", (), {"hp"}),
    "pulp": ("pulp", (), {"fc"}),
}


@pytest.fixture(scope="module", params=CHIPS)
def module(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return a chip, the cores that have a board, and the folder of the module."""
    name, overrides, cores = CHIPS[request.param]
    soc = load_soc(name, overrides)
    return soc, cores, written(soc, tmp_path_factory.mktemp("module"))


def written(soc: ResolvedSoc, folder: Path) -> Path:
    for path, entry in package_files(Board(soc=soc), ["zephyr"])["zephyr"].items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(entry.data)
    return folder / "zephyr"


def board(soc: ResolvedSoc, folder: Path) -> Path:
    return folder / "boards" / "atoll" / f"atoll_{soc.name}"


def tree(soc: ResolvedSoc, core: str, folder: Path, own: Path) -> Any:
    """Read the devicetree of a core as Zephyr's build does; a warning is an error."""
    chip = f"atoll_{soc.name}"
    own.mkdir()
    prefixes = (folder / "dts" / "bindings" / "vendor-prefixes.txt").read_text().splitlines()
    named = dict(line.split("\t") for line in prefixes if not line.startswith("#"))
    vendors = {**dict.fromkeys(("arm", "riscv", "zephyr", "mmio"), ""), **named}
    return edtlib.EDT(
        str(board(soc, folder) / f"{chip}_{chip}_{core}.dts"),
        [*bindings(own), str(folder / "dts" / "bindings")],
        vendor_prefixes=vendors,
        werror=True,
    )


def test_edtlib_reads_what_each_core_reaches(
    module: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    soc, cores, folder = module
    for core in cores:
        with caplog.at_level(logging.WARNING):
            found = tree(soc, core, folder, tmp_path / core)
        assert not caplog.records
        seen = as_seen_by(soc, core)
        check_memories(seen, core, found)
        check_devices(seen, core, found)


def check_memories(soc: ResolvedSoc, core: str, found: Any) -> None:
    """Hold Zephyr's memories against the core's own regions, and pools against the chip's."""
    cpu = soc.device(core)
    assert isinstance(cpu, Cpu)
    flash, ram = (found.chosen_node(f"zephyr,{name}") for name in ("flash", "sram"))
    assert (flash.regs[0].addr, flash.regs[0].size) == (cpu.code.origin, cpu.code.size)
    own = {byte for each in (cpu.data, *cpu.stacks) for byte in range(each.origin, each.end)}
    assert {*range(ram.regs[0].addr, ram.regs[0].addr + ram.regs[0].size)} <= own
    pools = found.compat2nodes["zephyr,memory-region"]
    assert {
        (node.props["zephyr,memory-region"].val, node.regs[0].addr, node.regs[0].size)
        for node in pools
    } == {(f"POOL_{p.name.upper()}", p.region.origin, p.region.size) for p in soc.pools}
    assert {node.regs[0].addr for node in pools if node.props["atoll,no-access"].val} == {
        pool.region.origin for pool in soc.pools if pool.reach[core] == "none"
    }


def check_devices(soc: ResolvedSoc, core: str, found: Any) -> None:
    """Hold registers and interrupts against the chip; a RISC-V core counts lines from bit 14."""
    shift = 0 if "cortex" in soc.device(core).spec.name else 14  # type: ignore[attr-defined]
    for engine in soc.engines:
        if core != soc.host:
            assert f"device_{engine.name}" not in found.label2node
            continue
        node = found.label2node[f"device_{engine.name}"]
        assert node.regs[0].addr == engine.registers.origin
        assert engine.irq is not None
        assert node.interrupts[0].data["irq"] == engine.irq + shift
        reached = [pool for pool in soc.pools if pool.reach[engine.name] != "none"]
        assert [each.regs[0].addr for each in node.props["memory-region"].val] == [
            pool.region.origin for pool in reached
        ]
    timers = found.compat2nodes["riscv,machine-timer"]
    assert len(timers) == (shift > 0)
    for timer in timers:
        assert [(each.name, each.addr) for each in timer.regs] == [
            ("mtime", 0x0200_BFF8),
            ("mtimecmp", 0x0200_4000),
        ]
        assert timer.interrupts[0].data["irq"] == 7
    if (box := soc.device(core).mailbox) is not None:  # type: ignore[attr-defined]
        assert found.label2node[f"mailbox_{core}"].regs[0].addr == box.origin


def test_kconfiglib_selects_the_soc_of_a_board(module: Any, tmp_path: Path) -> None:
    soc, cores, folder = module
    chip = f"atoll_{soc.name}"
    for core in cores:
        target = f"{chip}_{chip}_{core}".upper()
        lines = [f"config {name}\n\tbool\n" for name in sorted(SYMBOLS)]
        lines += [
            f"config {name}\n\tdef_bool y\n"
            for name in (f"BOARD_{chip.upper()}", f"BOARD_{target}")
        ]
        lines += ["config SOC\n\tstring\n", "config ROM_START_OFFSET\n\thex\n"]
        lines += [
            f"config {name}\n\tint\n"
            for name in ("SYS_CLOCK_HW_CYCLES_PER_SEC", "NUM_IRQS", "MAIN_STACK_SIZE")
        ]
        parts = (
            board(soc, folder) / f"Kconfig.{chip}",
            *(folder / "soc/atoll" / chip / f"Kconfig{end}" for end in ("", ".soc", ".defconfig")),
            folder / "Kconfig",
        )
        lines += [f'source "{part}"\n' for part in parts]
        (tmp_path / "Kconfig").write_text("".join(lines))
        found = kconfiglib.Kconfig(str(tmp_path / "Kconfig"), warn_to_stderr=False)
        assert not found.warnings
        known = {symbol.name for symbol in found.unique_defined_syms}
        named = {f"BOARD_{chip}_{chip}_{other}".upper() for other in cores}
        used = {
            item.name
            for symbol in found.unique_defined_syms
            for item in kconfiglib.expr_items(symbol.direct_dep)
            | {each[0] for each in symbol.selects}
            if isinstance(item, kconfiglib.Symbol) and not item.is_constant
        }
        assert used <= known | named
        assert found.syms["SOC"].str_value == chip
        assert found.syms[f"SOC_{chip}_{core}".upper()].str_value == "y"
        is_arm = "cortex" in soc.device(core).spec.name
        reset = 0 if is_arm else soc.device(core).reset_address - soc.device(core).code.origin
        assert int(found.syms["ROM_START_OFFSET"].str_value or "0", 16) == reset
        assert int(found.syms["SYS_CLOCK_HW_CYCLES_PER_SEC"].str_value) == soc.device(core).clock
        for line in (
            (board(soc, folder) / f"{chip}_{chip}_{core}_defconfig").read_text().splitlines()
        ):
            assert line.startswith("#") or line.partition("=")[0].removeprefix("CONFIG_") in SYMBOLS


def test_metadata_name_what_is_there(module: Any) -> None:
    soc, cores, folder = module
    chip = f"atoll_{soc.name}"
    found = yaml.safe_load((folder / "module.yml").read_text())
    assert {*found["build"]["settings"].values()} == {"zephyr"}
    assert (folder.parent / found["build"]["kconfig"]).is_file()
    about = yaml.safe_load((board(soc, folder) / "board.yml").read_text())["board"]
    socs = yaml.safe_load((folder / "soc/atoll" / chip / "soc.yml").read_text())["socs"]
    full = f"The chip {soc.name}"
    assert about == {"name": chip, "full_name": full, "vendor": "atoll", "socs": [{"name": chip}]}
    assert [each["name"] for each in socs] == [chip]
    assert {each["name"] for each in socs[0]["cpuclusters"]} == cores
    for core in cores:
        path = board(soc, folder) / f"{chip}_{chip}_{core}.yaml"
        told = yaml.safe_load(path.read_text())
        assert told["identifier"] == f"{chip}/{chip}/{core}"
        assert told["flash"] == soc.device(core).code.size // 1024


@pytest.mark.parametrize(
    ("chip", "reason"),
    [
        ("lagoon", "Zephyr has no driver for the interrupt controller 'picorv32'"),
        ("litex", "Zephyr has no driver for the interrupt controller 'vexriscv'"),
        ("zynqmp", "boards are written for RV32 and Cortex-M, and 'apu' is aarch64"),
        ("rp2040", "4096 bytes are the most that data and stacks of 'core0' have"),
    ],
)
def test_a_chip_without_a_core_for_zephyr_says_why(chip: str, reason: str) -> None:
    files = package_files(Board(soc=load_soc(chip)), ["zephyr"])["zephyr"]
    assert {*files} == {"zephyr/README.md"}
    assert reason in files["zephyr/README.md"].data.decode()


def test_boards_have_no_vector_registers() -> None:
    soc = load_soc("lagoon", ("devices.cpu.core=riscv", "devices.cpu.isa=rv32imc_zve32x"))
    files = package_files(Board(soc=soc), ["zephyr"])["zephyr"]
    reason = "boards are written for RV32 without vector registers, and 'cpu' has some"
    assert reason in " ".join(files["zephyr/README.md"].data.decode().split())


def test_the_snippet_lays_the_pools_where_they_were_planned(tmp_path: Path) -> None:
    """Link it as Zephyr's script includes it: regions of the devicetree, ROMABLE_REGION a macro."""
    soc = load_soc("twin", TWIN)
    folder = written(soc, tmp_path)
    regions = "".join(
        f"  POOL_{pool.name.upper()} : ORIGIN = {pool.region.origin}, LENGTH = {pool.region.size}\n"
        for pool in soc.pools
    )
    snippet = (folder / "atoll_pools.ld").read_text().replace("ROMABLE_REGION", "ROM")
    script = tmp_path / "pools.ld"
    script.write_text(
        f"MEMORY {{\n  ROM : ORIGIN = 0, LENGTH = 1M\n{regions}}}\n"
        f"SECTIONS {{\n.text : {{ *(.text) }} > ROM\n{snippet}}}\n"
    )
    names = [f"atoll_pool_{pool.name}" for pool in soc.pools]
    source = tmp_path / "pools.c"
    source.write_text(
        "".join(f"extern char {name}[];\n" for name in names)
        + f"char *all[] = {{{', '.join(names)}}};\nvoid _start(void) {{}}\n"
    )
    image = tmp_path / "pools.elf"
    words = ["cc", "-target", "riscv32-freestanding-none", "-nostdlib", f"-Wl,-T,{script}"]
    command = [sys.executable, "-m", "ziglang", *words, str(source), "-o", str(image)]
    subprocess.run(command, check=True, capture_output=True)
    with image.open("rb") as file:
        table: Any = ELFFile(file).get_section_by_name(".symtab")
        found = {each.name: each["st_value"] for each in table.iter_symbols()}
    assert {name: found[name] for name in names} == {
        f"atoll_pool_{pool.name}": pool.region.origin for pool in soc.pools
    }


def test_interrupts_of_the_library_are_those_of_the_tree(module: Any) -> None:
    soc, _, folder = module
    text = (folder / "src" / "atoll_zephyr.c").read_text()
    shift = 0 if "cortex" in soc.host_cpu.spec.name else 14
    rows = re.findall(r"\{\.number = (\d+), \.irq = (\d+)\}, /\* (\w+) \*/", text)
    assert {(name, int(line), int(irq)) for line, irq, name in rows} == {
        (name, line, line + shift) for name, line in soc.irqs.items()
    }
