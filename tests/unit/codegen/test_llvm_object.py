# SPDX-License-Identifier: Apache-2.0
"""The object file of a model: its form, its symbols, and the bytes of its pools."""

from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile
from llvmlite import ir
from tests.llvm_text import dump

from atoll.codegen import llvm_machine
from atoll.codegen.llvm import emit_object
from atoll.codegen.llvm_machine import core_machine, machine_code, new_module, optimize
from atoll.ir.builder import FunctionBuilder
from atoll.ir.expressions import add, multiply
from atoll.ir.tir import (
    AcceleratorRun,
    Allocate,
    Constant,
    Direction,
    Entry,
    IRModule,
    KernelCall,
    PrimFunc,
    Step,
    Type,
)
from atoll.ir.verify import verify
from atoll.isa.find import instruction_set
from atoll.isa.instruction_set import LlvmTarget
from atoll.memory.build_problem import build_problem
from atoll.memory.problem import MemoryPlan
from atoll.memory.solve import plan_memory
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc

SIZE = 40
TABLE = bytes(range(1, SIZE + 1))
COMMANDS = bytes(range(64))


def scaled() -> PrimFunc:
    builder = FunctionBuilder("scaled")
    x = builder.buffer("x", Type.I8, SIZE, Direction.READ)
    table = builder.buffer("table", Type.I8, SIZE, Direction.READ)
    y = builder.buffer("y", Type.I8, SIZE, Direction.WRITE)
    with builder.loop("i", 0, SIZE) as i:
        y[i] = add(multiply(x.wide(i), table.wide(i)), 3)
    return builder.kernel()


def activation(name: str) -> Allocate:
    return Allocate(
        buffer=name,
        type=Type.I8,
        elements=SIZE,
        align=16,
        scope="global.workspace",
        pools=("shared",),
    )


def model() -> IRModule:
    entry = Entry(
        inputs=("a",),
        outputs=("c",),
        allocations=(activation("a"), activation("b"), activation("c")),
        constants=(
            Constant(name="table", size=SIZE, align=16, pools=("weights",), data=TABLE),
            Constant(name="commands", size=64, align=64, pools=("weights",)),
        ),
        steps=(
            Step(
                operator="first",
                number=0,
                device="cpu",
                reads=("a", "table"),
                writes=("b",),
                action=KernelCall("scaled", ("a", "table", "b")),
            ),
            Step(
                operator="second",
                number=1,
                device="npu",
                reads=("b", "commands"),
                writes=("c",),
                action=AcceleratorRun("npu", "commands", 1),
            ),
        ),
    )
    module = IRModule("tiny", (scaled(),), entry)
    verify(module)
    return module


@pytest.fixture(scope="module")
def soc() -> ResolvedSoc:
    return load_soc("lagoon")


@pytest.fixture(scope="module")
def plan(soc: ResolvedSoc) -> MemoryPlan:
    return plan_memory(build_problem(model(), soc))


@pytest.fixture(scope="module")
def code(soc: ResolvedSoc, plan: MemoryPlan) -> bytes:
    return emit_object(model(), plan, soc, {"commands": COMMANDS})


@pytest.fixture(scope="module")
def elf(code: bytes) -> ELFFile:
    return ELFFile(BytesIO(code))


def section_of(elf: ELFFile, name: str) -> Any:
    section = elf.get_section_by_name(name)
    assert section is not None
    return section


def symbols(elf: ELFFile) -> dict[str, Any]:
    return {symbol.name: symbol for symbol in section_of(elf, ".symtab").iter_symbols()}


def test_architecture(elf: ELFFile) -> None:
    """Relocatable RV32 with compressed instructions and soft floating point."""
    header = elf.header
    assert (elf.elfclass, elf.little_endian) == (32, True)
    assert (header["e_type"], header["e_machine"]) == ("ET_REL", "EM_RISCV")
    assert header["e_flags"] == 0x1
    attributes = section_of(elf, ".riscv.attributes").data()
    assert b"rv32i2p1_m2p0_c2p0" in attributes


def test_symbols(elf: ELFFile) -> None:
    found = symbols(elf)
    run, kernel = found["tiny_run"], found["scaled"]
    assert (run["st_info"]["bind"], run["st_info"]["type"]) == ("STB_GLOBAL", "STT_FUNC")
    assert (kernel["st_info"]["bind"], kernel["st_info"]["type"]) == ("STB_LOCAL", "STT_FUNC")
    assert elf.get_section(run["st_shndx"]).name == ".text.tiny_run"
    assert elf.get_section(kernel["st_shndx"]).name == ".text.scaled"
    needed = {name for name, s in found.items() if name and s["st_shndx"] == "SHN_UNDEF"}
    assert needed <= {
        "atoll_guard_check",
        "atoll_npu_run",
        "atoll_pool_shared",
        "atoll_trace_begin",
        "atoll_trace_end",
        "memcpy",
        "memset",
    }


def test_m6_pool_of_constants(elf: ELFFile, plan: MemoryPlan) -> None:
    """Constants lie at their offsets, gaps are zero, nothing may be written."""
    section = section_of(elf, ".atoll.pool.weights")
    expected = bytearray(plan.use["weights"].used)
    for name, data in (("table", TABLE), ("commands", COMMANDS)):
        offset = plan.placements[name].offset
        expected[offset : offset + len(data)] = data
    assert section.data() == bytes(expected)
    assert section["sh_flags"] == 0x2
    assert section["sh_addralign"] == 64
    symbol = symbols(elf)["atoll_pool_weights"]
    assert (symbol["st_value"], symbol["st_size"]) == (0, len(expected))


def test_constants_in_ram_are_writable(soc: ResolvedSoc, plan: MemoryPlan) -> None:
    """A pool of a RAM that holds constants and workspace is one writable object for both."""
    memories = tuple(replace(memory, kind="ram") for memory in soc.memories)
    code = emit_object(model(), plan, replace(soc, memories=memories), {"commands": COMMANDS})
    section = section_of(ELFFile(BytesIO(code)), ".atoll.pool.weights")
    assert section["sh_flags"] == 0x3


def test_same_input_same_bytes(code: bytes, soc: ResolvedSoc, plan: MemoryPlan) -> None:
    assert emit_object(model(), plan, soc, {"commands": COMMANDS}) == code


def test_command_list_of_wrong_size_is_our_bug(soc: ResolvedSoc, plan: MemoryPlan) -> None:
    with pytest.raises(AssertionError, match="commands: 3 of 64 bytes"):
        emit_object(model(), plan, soc, {"commands": b"abc"})


@pytest.mark.parametrize(
    ("isa", "attributes"),
    [
        ("rv32i", b"rv32i2p1\0"),
        ("rv32im", b"rv32i2p1_m2p0"),
        ("rv32imac", b"rv32i2p1_m2p0_a2p1_c2p0"),
        ("rv32imc_zba", b"zba1p0"),
        ("rv32imafc", b"f2p2_c2p0"),
        ("rv64imac", b"rv64i2p1_m2p0_a2p1_c2p0"),
        ("rv64gc", b"d2p2_c2p0"),
        ("rv32em", b"rv32e2p0_m2p0"),
    ],
)
def test_code_is_made_for_the_isa(isa: str, attributes: bytes) -> None:
    machine = core_machine(instruction_set(isa).llvm)
    target = new_module("empty", machine)
    elf = ELFFile(BytesIO(machine.emit_object(optimize(target, machine, 3))))
    assert attributes in section_of(elf, ".riscv.attributes").data()


def test_dump_is_llvm_ir_of_the_kernels() -> None:
    text = dump(model(), "rv32imc", level=0)
    assert 'target triple = "riscv32-unknown-none-elf"' in text
    assert "@scaled(" in text


def test_code_is_made_once_for_each_module_and_isa_whatever_the_constants(
    soc: ResolvedSoc, plan: MemoryPlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATOLL_CACHE", str(tmp_path))
    made: list[str] = []

    def counted(module: ir.Module, target: LlvmTarget, level: int) -> bytes:
        made.append(target.features)
        return machine_code(module, target, level)

    def emitted(chip: ResolvedSoc, commands: bytes = COMMANDS) -> bytes:
        return emit_object(model(), plan, chip, {"commands": commands})

    monkeypatch.setattr(llvm_machine, "machine_code", counted)
    host = soc.host_cpu
    other = replace(host, instructions=instruction_set("rv32im"))
    devices = (other, *(each for each in soc.devices if each != host))
    first = emitted(soc)
    assert emitted(soc) == first
    assert made == ["+m,+c"]
    assert emitted(replace(soc, devices=devices)) != first
    assert emitted(soc, COMMANDS[::-1]) != first
    assert made == ["+m,+c", "+m"]
    for each in (tmp_path / "machine_code").iterdir():
        each.write_bytes(each.read_bytes()[:-1])
    assert emitted(soc) == first
    assert len(made) == 3
