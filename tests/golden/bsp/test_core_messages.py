"""What the user reads when the image of another core than the host cannot be made."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from atoll.bsp.firmware import Part, link_firmware
from atoll.bsp.interface import ModelInterface
from atoll.bsp.toolchain import find_toolchain
from atoll.diagnostics.errors import AtollError
from atoll.resolve.soc import Device, ResolvedSoc

ROOT = Path(__file__).parents[3]
MESSAGES = Path(__file__).parent / "messages"
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"

HOST = "int tiny_run(const void *i, const void *o) { (void)i; (void)o; return 0; }\n"
STEP = "int tiny_{core}_step(int number) {{ return number; }}\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A chip and what its second core is to run."""

    overrides: tuple[str, ...] = ()
    source: str = STEP
    core: str = "dsp"


CASES = {
    "core_code_too_small": Case(overrides=("devices.dsp.code.size=256",)),
    "core_stack_too_small": Case(
        overrides=("devices.dsp.stack.size=512", "devices.dsp.limits.max_stack_size=400"),
        source="int tiny_dsp_step(int i) {{ volatile char a[480]; a[i] = 1; return a[i]; }}\n",
    ),
    "core_recursion": Case(
        source="__attribute__((noinline)) int even(int);\n"
        "__attribute__((noinline)) int odd(int x) {{ return x ? even(x - 1) * 3 : x; }}\n"
        "__attribute__((noinline)) int even(int x) {{ return x ? odd(x - 1) * 5 : 1; }}\n"
        "int tiny_dsp_step(int i) {{ return odd(i); }}\n",
    ),
    "core_undefined_symbol": Case(source=STEP.replace("_step", "_other")),
    "core_named_as_the_image": Case(core="firmware"),
}


def shown(error: AtollError) -> str:
    return f"{error}\n".replace(f"{ROOT}/", "")


def renamed(soc: ResolvedSoc, name: str) -> ResolvedSoc:
    def changed(device: Device) -> Device:
        return replace(device, name=name) if device.name == "dsp" else device

    return replace(soc, devices=tuple(map(changed, soc.devices)))


@pytest.mark.parametrize("name", CASES)
def test_message(
    name: str,
    duo: Callable[..., ResolvedSoc],
    golden: Callable[[Path, str], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(ROOT)
    case = CASES[name]
    soc = renamed(duo(*case.overrides), case.core)
    codes = {}
    for core, text in ((soc.host_cpu, HOST), (soc.remote_cpus[0], case.source)):
        (tmp_path / "tiny.c").write_text(text.format(core=case.core) if core.mailbox else text)
        find_toolchain(core).compile("tiny.c", tmp_path / "tiny.o", folder=tmp_path)
        codes[core.name] = (tmp_path / "tiny.o").read_bytes()
    model = ModelInterface(name="tiny", inputs=(), outputs=())
    part = Part(interface=model, codes=lambda: codes)
    with pytest.raises(AtollError) as caught:
        link_firmware(soc, (part,), tmp_path)
    golden(MESSAGES / f"{name}.txt", shown(caught.value))
    assert all(fault.code and fault.remedy for fault in caught.value.faults)
