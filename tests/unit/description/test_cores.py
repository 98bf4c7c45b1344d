# SPDX-License-Identifier: Apache-2.0
"""Descriptions of cores are found by name or path and checked in themselves and in a chip."""

from pathlib import Path

import pytest
from tests.picorv32 import PICORV32

from atoll.bsp.linker import linker_script
from atoll.description.core_files import find_core, load_core
from atoll.diagnostics.errors import AtollError
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll.soc_checks import check_soc

TEXT = find_core("picorv32", "cpu", Path(), None).read_text()
TWIN = (Path(__file__).parents[3] / "socs" / "twin.yaml").read_text()


@pytest.mark.parametrize(
    ("old", "new", "start"),
    [
        ("[rv32im, ", "[rv32x, ", "E040 no back end generates code for 'rv32x', an instruction"),
        ("first: 3", "first: 240", "E012 'interrupts.first' must be a whole number"),
        ("last: 31", "last: 32", "E044 core 'picorv32' has no line 32: only an NVIC without RTL"),
        ("last: 31", "last: 2", "E044 core 'picorv32' has no line from 3 to 2 for devices"),
        ("bus_error: 2", "bus_error: 3", "E044 core 'picorv32' has line 3 for bus errors and"),
        ("asleep: [0x0", "asleep: [-1, 0x0", "E012 'asleep.0' must be a whole number"),
        ("HasM: has_m", "HasM: has_d", "E012 'rtl.parameters.HasM' must be a whole number or one"),
        ("HasM: has_m", "HasM: true", "E012 'rtl.parameters.HasM' must be a whole number or one"),
        ("HasM:", "Has M:", "E014 'Has M' in 'rtl.parameters'"),
        ("u_core.reg_pc:", "u_core..reg_pc:", "E014 'u_core..reg_pc' in 'rtl.waves'"),
    ],
)
def test_contradictions(old: str, new: str, start: str, tmp_path: Path) -> None:
    assert old in TEXT
    path = tmp_path / "mine.yaml"
    path.write_text(TEXT.replace(old, new, 1))
    with pytest.raises(AtollError) as caught:
        load_core(path, None)
    (fault,) = caught.value.faults
    assert fault.remedy
    assert f"{fault.code} {fault.message}".startswith(start)


def twin(folder: Path, core: str, device: str = "dsp") -> ResolvedSoc:
    """Resolve twin with a core of one's own."""
    (folder / "mine.yaml").write_text(core)
    head = f"  {device}:\n    kind: {device}\n"
    assert head in TWIN
    (folder / "twin.yaml").write_text(TWIN.replace(head, f"{head}    core: ./mine.yaml\n", 1))
    return load_soc(folder / "twin.yaml")


def refused(folder: Path, core: str, device: str = "dsp") -> str:
    """Return the fault of twin with a core that it cannot have."""
    with pytest.raises(AtollError) as caught:
        check_soc(twin(folder, core, device))
    (fault,) = caught.value.faults
    assert fault.remedy
    return f"{fault.code} {fault.message}"


def test_two_kinds_of_core_in_one_chip(tmp_path: Path) -> None:
    soc = twin(tmp_path, TEXT.replace("core: picorv32", "core: mine"))
    assert [cpu.spec.name for cpu in soc.cpus] == ["picorv32", "mine"]
    assert soc.cpus[0].spec == PICORV32
    check_soc(soc)


def test_a_core_with_a_mailbox_needs_its_line(tmp_path: Path) -> None:
    core = TEXT.replace("first: 3", "first: 4")
    assert refused(tmp_path, core).startswith("E044 core 'picorv32' of 'dsp' has no interrupt line")


def test_start_up_code_that_is_not_there(tmp_path: Path) -> None:
    core = TEXT.replace("startup: picorv32.S", "startup: ibex.S")
    assert refused(tmp_path, core) == "E071 no start-up code 'ibex.S' for core 'picorv32' of 'dsp'"


def test_two_kinds_of_one_name(tmp_path: Path) -> None:
    (tmp_path / "mine.S").write_text("# mine\n")
    core = TEXT.replace("startup: picorv32.S", "startup: ./mine.S")
    found = "E075 'dsp' and another core are of two kinds called 'picorv32'"
    assert refused(tmp_path, core) == found


def test_an_adapter_that_is_not_there(tmp_path: Path) -> None:
    core = TEXT.replace("[atoll_picorv32.sv]", "[atoll_picorv23.sv]").replace("core: ", "core: my")
    assert refused(tmp_path, core).startswith("E113 RTL source of core 'mypicorv32' cannot be")


def test_code_lies_as_the_core_needs_it() -> None:
    low = ("pools.weights.offset=0", "pools.weights.size=64")
    assert load_soc("lagoon", low).host_cpu.code.origin == 64
    soc = load_soc("lagoon", (*low, "devices.cpu.core=ibex"))
    assert soc.host_cpu.code.origin == 256
    script = linker_script(soc)
    assert "atoll_core_local = 0x02000000;" in script
    assert "ASSERT(atoll_reset == ORIGIN(code) + 0x00000080" in script
    assert "atoll_core_local" not in linker_script(load_soc("lagoon"))
