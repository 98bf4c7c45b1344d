#!/usr/bin/env bash
# Unicorn makes an access to a device twice where the device stopped the emulation in it.
#
# Package: unicorn 2.1.4.
# Expected: emu_stop() in a read or write callback of mmio_map, as a device calls it that lets
#   another core run, ends the emulation behind the load or store whose callback has returned.
# Seen: PC still names that load or store, and its register has not changed. Going on from PC, as
#   one has to, calls the callback a second time: a FIFO gives two words for one load, and takes one
#   word twice for one store. Both on RISC-V and on Thumb.
# So: let what the first call did hold for the second one, or stop before the next instruction by a
#   code hook instead.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check unicorn==2.1.4
venv/bin/python - <<'PY'
from unicorn import UC_ARCH_ARM, UC_ARCH_RISCV, UC_MODE_RISCV32, UC_MODE_THUMB, Uc
from unicorn.arm_const import UC_ARM_REG_PC, UC_ARM_REG_R1
from unicorn.riscv_const import UC_RISCV_REG_A1, UC_RISCV_REG_PC

CODE, DEVICE = 0x1000, 0x4000_0000
RISCV = UC_ARCH_RISCV, UC_MODE_RISCV32, UC_RISCV_REG_PC, UC_RISCV_REG_A1, 0
THUMB = UC_ARCH_ARM, UC_MODE_THUMB, UC_ARM_REG_PC, UC_ARM_REG_R1, 1
PROGRAMS = {
    # The address of the device, then one access, then nothing.
    ("riscv", "load"): (RISCV, "37050040 83250500 13000000"),
    ("riscv", "store"): (RISCV, "37050040 2320b500 13000000"),
    ("thumb", "load"): (THUMB, "4ff08040 0168 00bf"),
    ("thumb", "store"): (THUMB, "4ff08040 0160 00bf"),
}

changed = False
for (name, kind), ((arch, mode, pc, register, bit), text) in PROGRAMS.items():
    program, calls = bytes.fromhex(text), []
    machine = Uc(arch, mode)
    machine.mem_map(CODE, 0x1000)
    machine.mem_write(CODE, program)

    def call(machine):
        calls.append(kind)
        if len(calls) == 1:
            machine.emu_stop()
        return len(calls)

    machine.mmio_map(
        DEVICE, 0x1000, lambda uc, *_: call(uc), None, lambda uc, *_: call(uc), None
    )
    end = CODE + len(program)
    machine.emu_start(CODE | bit, end)
    at, before = machine.reg_read(pc), machine.reg_read(register)
    machine.emu_start(at | bit, end)
    print(f"{name} {kind}: stopped at {at:#x}, the access itself, register {before};"
          f" going on: {len(calls)} calls, register {machine.reg_read(register)}")
    after = 2 if kind == "load" else 0
    changed |= (at, before, len(calls), machine.reg_read(register)) != (CODE + 4, 0, 2, after)
raise SystemExit("CHANGED" if changed else 0)
PY
