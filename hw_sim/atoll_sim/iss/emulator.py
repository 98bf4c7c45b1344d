# SPDX-License-Identifier: Apache-2.0
"""Unicorn as a core needs it: memory by pointer, registers by callback, hooks in C.

Unicorn (GPL-2.0) is an optional package; nothing outside of this folder imports it.
"""

import ctypes
from collections.abc import Callable, Iterable
from enum import Enum, auto
from typing import Any

import unicorn
from unicorn import arm_const, riscv_const
from unicorn.unicorn_py3.unicorn import uclib

from atoll.isa.instruction_set import Family
from atoll.records import dataclass
from atoll.resolve.soc import Cpu
from atoll_sim.iss.supported import unicorn_core

_unicorn: Any = unicorn
_library: Any = uclib

READ, WRITE, RUN = unicorn.UC_PROT_READ, unicorn.UC_PROT_WRITE, unicorn.UC_PROT_EXEC

FUNCTIONS = tuple(
    int(ctypes.cast(function, ctypes.c_void_p).value or 0)
    for function in (_library.uc_emu_stop, _library.uc_reg_read, _library.uc_reg_write)
)
"""Addresses of the C functions that stop an engine, and read and write a register of it."""

NOWHERE = 0xFFFF_FFFE
"""No instruction is there: a run ends when it is stopped."""

EVERYWHERE = (1, 0)
DATA_ABORT = 4
"""Unicorn's exception of a load that it wants to be aligned: LDREX and its kind."""

FLOATS_ON = 0x6000
"""Bits of mstatus; whether a core's floats are on is a matter of `rules`."""

FETCHES = (unicorn.UC_ERR_FETCH_UNMAPPED, unicorn.UC_ERR_FETCH_PROT)


class End(Enum):
    """Why a run ended."""

    STOPPED = auto()
    FETCH = auto()
    """Nothing can be fetched from where the core is."""
    ACCESS = auto()
    """A load or store of the instruction there could not be made."""


@dataclass(frozen=True, slots=True)
class Machine:
    """A kind of core that Unicorn has.

    Attributes:
        architecture, mode: in its numbers.
        registers: those of integers, by number; of a Cortex-M also xPSR, 16.
        pc: the program counter.
        model: of the core; None for the usual one.
        flag: is set in an address that is gone to.
        bits: of a register.
        zero: register 0 is always 0.
    """

    architecture: int
    mode: int
    registers: tuple[int, ...]
    pc: int
    model: int | None = None
    flag: int = 0
    bits: int = 32
    zero: bool = False


def riscv(bits: int) -> Machine:
    """Return a RISC-V core of 32 or 64 bits."""
    return Machine(
        architecture=unicorn.UC_ARCH_RISCV,
        mode=unicorn.UC_MODE_RISCV64 if bits == 64 else unicorn.UC_MODE_RISCV32,
        registers=tuple(getattr(riscv_const, f"UC_RISCV_REG_X{number}") for number in range(32)),
        pc=riscv_const.UC_RISCV_REG_PC,
        bits=bits,
        zero=True,
    )


def thumb(core: str) -> Machine:
    """Return a Cortex-M core such as ``M33``."""
    return Machine(
        architecture=unicorn.UC_ARCH_ARM,
        mode=unicorn.UC_MODE_THUMB,
        registers=(
            *(getattr(arm_const, f"UC_ARM_REG_R{number}") for number in range(16)),
            arm_const.UC_ARM_REG_XPSR,
        ),
        pc=arm_const.UC_ARM_REG_PC,
        model=getattr(arm_const, f"UC_CPU_ARM_CORTEX_{core}"),
        flag=1,
    )


def machine_of(cpu: Cpu) -> Machine:
    """Return what runs a core that `supported` does not refuse."""
    if cpu.instructions.family is Family.THUMB:
        return thumb(unicorn_core(cpu))
    return riscv(cpu.instructions.bits)


class Emulator:
    """One core."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._mask = (1 << machine.bits) - 1
        self._uc: Any = _unicorn.Uc(machine.architecture, machine.mode)
        if machine.model is not None:
            self._uc.ctl_set_cpu_model(machine.model)
        if machine.zero:
            self._uc.reg_write(riscv_const.UC_RISCV_REG_MSTATUS, FLOATS_ON)
        self._kept: list[object] = []

    @property
    def pc(self) -> int:
        """Where the core goes on."""
        return int(self._uc.reg_read(self._machine.pc)) & ~self._machine.flag

    @pc.setter
    def pc(self, address: int) -> None:
        self._uc.reg_write(self._machine.pc, address | self._machine.flag)

    def get(self, number: int) -> int:
        """Return register `number`."""
        return int(self._uc.reg_read(self._machine.registers[number])) & self._mask

    def set(self, number: int, value: int) -> None:
        """Set register `number`; x0 of RISC-V stays."""
        if number or not self._machine.zero:
            self._uc.reg_write(self._machine.registers[number], value & self._mask)

    @property
    def handle(self) -> object:
        """What functions of C know this core by."""
        return self._uc._uch

    def run(self, address: int, until: int = 0) -> End:
        """Run from `address` on until something stops the core, or up to `until` if it is not 0."""
        try:
            self._uc.emu_start(address | self._machine.flag, until or NOWHERE)
        except _unicorn.UcError as error:
            return End.FETCH if error.errno in FETCHES else End.ACCESS
        return End.STOPPED

    def stop(self) -> None:
        """Have `run` return before the next instruction."""
        self._uc.emu_stop()

    def map_memory(self, span: range, rights: int, pointer: int) -> None:
        """Let the core see bytes of the host; `span` is of whole pages."""
        self._uc.mem_map_ptr(span.start, len(span), rights, pointer)

    def map_registers(
        self,
        span: range,
        read: Callable[[int, int], int],
        write: Callable[[int, int, int], None],
    ) -> None:
        """Have loads and stores of a span of whole pages call Python.

        Args:
            span: of addresses.
            read: given address and size of a load, returns its value.
            write: given address, size and value of a store.
        """

        def load(_uc: object, offset: int, size: int, _data: object) -> int:
            return read(span.start + offset, size)

        def store(_uc: object, offset: int, size: int, value: int, _data: object) -> None:
            write(span.start + offset, size, value)

        self._uc.mmio_map(span.start, len(span), load, None, store, None)

    def watch(self, block: Any, access: Any, invalid: Any, user: Any) -> None:
        """Have C functions called, without Python in between.

        Args:
            block: for each block of instructions.
            access: for each load and store.
            invalid: for each of them that cannot be made.
            user: their last argument.
        """
        accesses = unicorn.UC_HOOK_MEM_READ | unicorn.UC_HOOK_MEM_WRITE
        others = unicorn.UC_HOOK_MEM_READ_INVALID | unicorn.UC_HOOK_MEM_WRITE_INVALID
        hooks = ((unicorn.UC_HOOK_BLOCK, block), (accesses, access), (others, invalid))
        for kinds, function in hooks:
            self._hook(kinds, function, user, EVERYWHERE)

    def _hook(self, kinds: int, function: Any, user: Any, span: tuple[int, int]) -> None:
        handle = ctypes.c_size_t()
        limits = map(ctypes.c_uint64, span)
        status = _library.uc_hook_add(
            self._uc._uch, ctypes.byref(handle), kinds, function, user, *limits
        )
        assert status == unicorn.UC_ERR_OK, f"uc_hook_add failed with {status}"
        self._kept.append(handle)

    def watch_instructions(self, addresses: Iterable[int], see: Callable[[int], None]) -> None:
        """Call `see` with the address before each instruction at `addresses`."""

        def hook(_uc: object, address: int, _size: int, _data: object) -> None:
            see(address)

        for address in addresses:
            self._uc.hook_add(unicorn.UC_HOOK_CODE, hook, None, address, address)

    @property
    def numbers(self) -> tuple[int, ...]:
        """Unicorn's numbers of the registers of integers."""
        return self._machine.registers

    @property
    def kept(self) -> tuple[int, ...]:
        """Its numbers of the registers that an exception leaves, the program counter last.

        Those of RISC-V need no care: it stops at each access that is refused.
        """
        if self._machine.zero:
            return (self._machine.pc,)
        *others, _, status = self._machine.registers
        return (*others, status, self._machine.pc)

    @property
    def pc_number(self) -> int:
        """Unicorn's number of the program counter."""
        return self._machine.pc

    def execute_elsewhere(self, address: int, what: ctypes.Structure, execute: Any) -> None:
        """Have a C function execute the instruction at `address` and set the program counter.

        It is given engine, address, size and `what`.
        """
        self._hook(unicorn.UC_HOOK_CODE, execute, ctypes.byref(what), (address, address))
        self._kept.append(what)

    def watch_exceptions(self, see: Callable[[bool], None]) -> None:
        """Call `see` at each exception that is no failed access.

        It is told whether the core is at an access of its own that has to be aligned.
        """
        aligned = self._machine.architecture == unicorn.UC_ARCH_ARM

        def hook(_uc: object, cause: int, _data: object) -> None:
            see(aligned and cause == DATA_ABORT)

        self._uc.hook_add(unicorn.UC_HOOK_INTR, hook)
