"""The generated files of chips with engines, and the firmware that they make together."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from atoll.bsp.emitters import bsp_files
from atoll.bsp.firmware import Part, link_firmware
from atoll.bsp.interface import ModelInterface, PoolShare, Port
from atoll.bsp.toolchain import find_toolchain
from atoll.resolve import load_soc
from atoll.resolve.soc import Cpu, ResolvedSoc

ROOT = Path(__file__).parents[3]
GOLDEN = Path(__file__).parent
CHIPS = ["atoll2", "lagoon", "quad", "twin"]
CONSTANTS = 96


def model_for(soc: ResolvedSoc) -> ModelInterface:
    """Return a small model whose tensors lie in the chip's last workspace and constants pools."""
    work = next(pool for pool in reversed(soc.pools) if pool.role != "constants")
    fixed = next(pool for pool in reversed(soc.pools) if pool.role != "workspace")
    origin = work.region.origin
    return ModelInterface(
        name="tiny",
        inputs=(
            Port(
                name="image",
                size=64,
                address=origin,
                shape=(1, 8, 8, 1),
                scale=float(np.float32(0.1)),
                zero_point=-128,
            ),
        ),
        outputs=(
            Port(name="scores", size=10, address=origin + 64),
            Port(name="boxes", size=16, address=origin + 80, dtype="int32", shape=(4,)),
        ),
        shares=(
            PoolShare(pool=work.name, workspace=96, constants=0),
            PoolShare(pool=fixed.name, workspace=0, constants=CONSTANTS),
        ),
    )


def generated(soc: ResolvedSoc) -> dict[str, str]:
    files = bsp_files(soc, model_for(soc))
    return {name: text for name, text in files.items() if "Made from" in text.split("\n", 1)[0]}


@pytest.mark.parametrize("chip", CHIPS)
def test_generated_files(chip: str, golden: Callable[[Path, str], None]) -> None:
    soc = load_soc(ROOT / "socs" / f"{chip}.yaml")
    files = generated(soc)
    assert len(files) == 7 + 3 * len(soc.remote_cpus)
    assert {path.name for path in (GOLDEN / chip).iterdir()} <= set(files), "stale golden files"
    for name, text in files.items():
        golden(GOLDEN / chip / name, text)


MODEL = """
#include "tiny.h"
const uint8_t atoll_pool_{pool}[{size}] __attribute__((section(".atoll.pool.{pool}"))) = {{1}};
int32_t tiny_run(const struct tiny_inputs *inputs, const struct tiny_outputs *outputs) {{
  outputs->scores[0] = (int8_t)(inputs->image[0] + atoll_pool_{pool}[0]);
  return 0;
}}
"""


STEP = "int tiny_{core}_step(int number) {{ return number; }}\n"


def symbols(elf: Path) -> dict[str, int]:
    """Return the value of each symbol of an image."""
    with elf.open("rb") as stream:
        table = ELFFile(stream).get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        return {each.name: each["st_value"] for each in table.iter_symbols()}


def compiled(source: str, core: Cpu, folder: Path) -> bytes:
    find_toolchain(core).compile(source, folder / "made.o", folder=folder)
    return (folder / "made.o").read_bytes()


@pytest.mark.parametrize("chip", CHIPS)
def test_the_files_make_firmware(chip: str, tmp_path: Path) -> None:
    """Every generated file is compiled or parsed; warnings are errors."""
    soc = load_soc(ROOT / "socs" / f"{chip}.yaml")
    model, pool = model_for(soc), model_for(soc).shares[-1].pool
    for name, text in bsp_files(soc, model).items():
        (tmp_path / name).write_text(text)
    (tmp_path / "tiny.c").write_text(MODEL.format(pool=pool, size=CONSTANTS))
    codes = {soc.host: compiled("tiny.c", soc.host_cpu, tmp_path)}
    for core in soc.remote_cpus:
        (tmp_path / "step.c").write_text(STEP.format(core=core.name))
        codes[core.name] = compiled("step.c", core, tmp_path)
    out = tmp_path / "build"
    out.mkdir()
    firmware = link_firmware(soc, (Part(interface=model, codes=lambda: codes),), out)
    used = {use.region: use.used for use in firmware.use}
    assert used[pool] == CONSTANTS
    own = {f"{soc.host}.code", f"{soc.host}.data"}
    assert set(used) == {pool, *own, *(f"{name}.code" for name in codes if name != soc.host)}
    unused = symbols(out / firmware.elves[0])
    host = soc.host_cpu
    assert unused["atoll_unused_code"] == host.code.size - used[host.code.name]
    assert unused["atoll_unused_data"] == host.data.size - used[host.data.name]
    assert unused[f"atoll_unused_pool_{pool}"] == soc.pool(pool).region.size - CONSTANTS
    for cpu in (soc.host_cpu, *soc.remote_cpus):
        assert 0 < firmware.stacks[cpu.name].bytes < cpu.max_stack_size.value


@pytest.mark.parametrize("chip", CHIPS)
def test_the_source_is_named_first(chip: str) -> None:
    files = generated(load_soc(ROOT / "socs" / f"{chip}.yaml"))
    for name, text in files.items():
        first = text.split("\n", 1)[0]
        assert f"Made from {chip}.yaml" in first, name
        assert "`atoll build`" in first, name
