"""What the user reads when firmware cannot be made for a chip."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from atoll.bsp.firmware import Part, link_firmware
from atoll.bsp.interface import ModelInterface, Port
from atoll.bsp.toolchain import find_toolchain
from atoll.diagnostics.errors import AtollError
from atoll.resolve import load_soc

ROOT = Path(__file__).parents[3]
MESSAGES = Path(__file__).parent / "messages"

NOTHING = "int tiny_run(const void *i, const void *o) { (void)i; (void)o; return 0; }\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A chip, a model and a toolchain that do not go together."""

    overrides: tuple[str, ...] = ()
    source: str = NOTHING
    inputs: tuple[Port, ...] = ()
    toolchain: str | None = None


ZIG = f"{sys.executable} -m ziglang"
HARD = f"{ZIG} cc -target riscv32-freestanding-none -mcpu=generic_rv32+m+c+f+d -mabi=ilp32d"
COMPILE = f'compile: "{HARD} {{flags}} -c {{source}} -o {{object}}"'


def own(link: str) -> tuple[str, ...]:
    """Return command lines that compile for another calling convention."""
    return (f'devices.cpu.commands={{{COMPILE}, link: "{link} {{script}} {{elf}} {{objects}}"}}',)


CASES = {
    "code_too_small": Case(overrides=("devices.cpu.code.size=1 KiB",)),
    "data_too_small": Case(
        source="static int big[2048] = {1};\n"
        "int tiny_run(int i, int o) { return big[i & 2047] += o; }\n",
    ),
    "no_such_program": Case(overrides=own("no_such_linker")),
    "other_convention": Case(overrides=own(f"{ZIG} ld.lld")),
    "recursion": Case(
        source="__attribute__((noinline)) int even(int);\n"
        "__attribute__((noinline)) int odd(int x) { return x ? even(x - 1) * 3 : x; }\n"
        "__attribute__((noinline)) int even(int x) { return x ? odd(x - 1) * 5 : 1; }\n"
        "int tiny_run(int i, int o) { return odd(i) + o; }\n",
    ),
    "stack_too_small": Case(
        overrides=("devices.cpu.stack.size=2 KiB",),
        source="int tiny_run(int i, int o) { volatile char a[1200]; a[i] = 1; return a[o]; }\n",
    ),
    "name_clash": Case(
        inputs=(Port(name="x:0", size=1, address=0), Port(name="x/0", size=1, address=0)),
    ),
    "undefined_symbol": Case(
        source="int nowhere(int);\nint tiny_run(int i, int o) { return nowhere(i) + o; }\n",
    ),
    "unknown_toolchain": Case(toolchain="icc"),
}


@pytest.mark.parametrize("name", CASES)
def test_message(
    name: str,
    golden: Callable[[Path, str], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(ROOT)
    case = CASES[name]
    soc = load_soc(Path("socs/lagoon.yaml"), case.overrides)
    (tmp_path / "tiny.c").write_text(case.source)
    find_toolchain(soc.host_cpu).compile("tiny.c", tmp_path / "tiny.o", folder=tmp_path)
    codes = {soc.host: (tmp_path / "tiny.o").read_bytes()}
    model = ModelInterface(name="tiny", inputs=case.inputs, outputs=())
    part = Part(interface=model, codes=lambda: codes)
    with pytest.raises(AtollError) as caught:
        link_firmware(soc, (part,), tmp_path, case.toolchain)
    golden(MESSAGES / f"{name}.txt", f"{caught.value}\n")
    assert all(fault.code and fault.remedy for fault in caught.value.faults)
