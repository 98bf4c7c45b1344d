# SPDX-License-Identifier: Apache-2.0
"""What of Zephyr's tree its tools ask for, for tests that have none: bindings and symbols.

The bindings here are ours and have no more than our trees use. ``ZEPHYR_BASE`` names a tree whose
own bindings count instead.
"""

import os
from pathlib import Path

TREE = os.environ.get("ZEPHYR_BASE", "")

_PROPERTIES = {
    "base": {
        "compatible": "string-array",
        "reg": "array",
        "reg-names": "string-array",
        "interrupts": "array",
        "interrupts-extended": "compound",
        "label": "string",
        "status": "string",
    },
    "riscv,cpus": {"clock-frequency": "int", "riscv,isa": "string"},
    "zephyr,memory-common": {
        "zephyr,memory-region": "string",
        "zephyr,memory-region-flags": "string",
    },
}
_OWN = {
    "mmio-sram": {},
    "soc-nv-flash": {},
    "riscv,machine-timer": {},
    **{f"arm,{kind}m-systick": {} for kind in ("armv6", "armv7", "armv8", "armv8.1")},
    **{
        f"arm,cortex-{kind}": {"clock-frequency": "int"}
        for kind in ("m0plus", "m3", "m4", "m7", "m33", "m55", "m85")
    },
}
_CELLS = {
    "riscv,cpu-intc": ("irq",),
    **{f"arm,{kind}m-nvic": ("irq", "priority") for kind in ("v6", "v7", "v8", "v8.1")},
}

SYMBOLS = frozenset(
    (
        *("ARM", "RISCV", "RISCV_PRIVILEGED", "RISCV_VECTORED_MODE", "GEN_IRQ_VECTOR_TABLE"),
        *("INCLUDE_RESET_VECTOR", "ATOMIC_OPERATIONS_C", "RISCV_ISA_RV32I", "RISCV_ISA_EXT_M"),
        *("RISCV_ISA_EXT_A", "RISCV_ISA_EXT_C", "RISCV_ISA_EXT_ZICSR", "RISCV_ISA_EXT_ZIFENCEI"),
        *("RISCV_ISA_EXT_ZBA", "RISCV_ISA_EXT_ZBB", "RISCV_ISA_EXT_ZBS", "CPU_CORTEX_M0PLUS"),
        *("CPU_CORTEX_M3", "CPU_CORTEX_M4", "CPU_CORTEX_M7", "CPU_CORTEX_M33", "CPU_CORTEX_M55"),
        "CPU_CORTEX_M85",
        *("CPU_CORTEX_M_HAS_SYSTICK", "CPU_CORTEX_M_HAS_VTOR", "CPU_HAS_FPU", "ARMV8_M_DSP"),
        *("CPU_HAS_FPU_DOUBLE_PRECISION", "ARMV8_1_M_MVEI", "MULTITHREADING", "XIP", "FPU"),
        *("FPU_SHARING", "FP_HARDABI", "FP_SOFTABI", "BUILD_OUTPUT_BIN", "PRINTK"),
    )
)
"""Symbols of Zephyr 4.1 of the type bool."""


def bindings(folder: Path) -> list[str]:
    """Return the folders with the bindings of Zephyr, or with those of this file."""
    if TREE:
        return [str(Path(TREE) / "dts" / "bindings")]
    for name, properties in _PROPERTIES.items():
        include = "" if name == "base" else "include: base.yaml\n"
        (folder / f"{name}.yaml").write_text(include + _declared(properties))
    for name, properties in _OWN.items():
        head = f'description: of Zephyr\ncompatible: "{name}"\ninclude: base.yaml\n'
        (folder / f"{name}.yaml").write_text(head + (_declared(properties) if properties else ""))
    for name, cells in _CELLS.items():
        head = f'description: of Zephyr\ncompatible: "{name}"\ninclude: base.yaml\n'
        own = {"arm,num-irq-priority-bits": "int"} if "arm" in name else {}
        names = f"interrupt-cells: [{', '.join(cells)}]\n"
        (folder / f"{name}.yaml").write_text(head + (_declared(own) if own else "") + names)
    return [str(folder)]


def _declared(properties: dict[str, str]) -> str:
    rows = (f'  "{name}":\n    type: {kind}\n' for name, kind in properties.items())
    return "properties:\n" + "".join(rows)
