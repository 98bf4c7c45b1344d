# SPDX-License-Identifier: Apache-2.0
"""A remedy for a word that is no core never names another core."""

from pathlib import Path

import pytest

from atoll.description.core_files import known_cores, load_core
from atoll.description.core_names import core_remedy, core_spelled, is_other_core
from atoll.description.faults import nearest_part
from atoll.diagnostics.errors import DescriptionError


@pytest.mark.parametrize(
    ("word", "core"),
    [
        *(("Cortex-M33", "cortex_m33"), ("CM4", "cortex_m4"), ("arm cortex m4f", "cortex_m4")),
        *(("CM0+", "cortex_m0plus"), ("cortexa53", "cortex_a53"), ("Pico RV32", "picorv32")),
        *(("cotex_m33", "cortex_m33"), ("cortxe_m4", "cortex_m4"), ("ibx", "ibex")),
        *(("vexrisc", "vexriscv"), ("picorv23", "picorv32"), ("hexagonn", "hexagon")),
    ],
)
def test_a_core_that_is_spelled_otherwise_is_named(word: str, core: str) -> None:
    assert core_remedy(word, known_cores()).startswith(f"did you mean '{core}'?")
    assert not is_other_core(word, known_cores())


@pytest.mark.parametrize(
    "word",
    [
        *("cortex_m1", "cortex_m35p", "Cortex-R5", "cortex-a5", "cortex_a55", "CR52"),
        *("cortex_a35", "neorv32", "vexiiriscv", "cv32e40s", "cva6"),
    ],
)
def test_another_core_gets_no_suggestion(word: str) -> None:
    assert is_other_core(word, known_cores())
    remedy = core_remedy(word, known_cores())
    assert remedy.startswith("Atoll has no model of it: describe it in a file")
    assert not any(f"'{core}'" in remedy for core in known_cores())


@pytest.mark.parametrize("word", ["cotex_m35", "picorv64", "hexagonv"])
def test_other_digits_are_another_core(word: str) -> None:
    remedy = core_remedy(word, known_cores())
    alike = word == "hexagonv"
    assert remedy.startswith("did you mean 'hexagon'?") is alike
    assert (remedy == "give the path of your own core's YAML") is not alike


def test_own_names_mean_themselves() -> None:
    assert [core_spelled(name, known_cores()) for name in known_cores()] == [*known_cores()]


@pytest.mark.parametrize(
    ("word", "meant"),
    [("ethosu55", "ethos_u55"), ("ethos_u75", ""), ("ethos_u55_128", ""), ("ref", "reef")],
)
def test_other_digits_are_another_accelerator(word: str, meant: str) -> None:
    remedy = nearest_part(word, ("ethos_u55", "ethos_u65", "reef"), "delete it")
    assert remedy.startswith(f"did you mean '{meant}'?" if meant else "use one of ethos_u55, ")


@pytest.mark.parametrize(
    ("isa", "remedy"),
    [
        ("rv64gch", "write 'rv64gc', or delete it"),
        ("armv8m.base+fp", "delete it: docs/cores.md"),
        ("armv7em+fp", "write 'armv7e-m+fp', or delete it"),
        *((name, "delete it: docs/cores.md") for name in ("armv7-a", "armv7-r", "hexagonv99")),
    ],
)
def test_another_architecture_is_no_remedy(isa: str, remedy: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(f"core: mine\nversion: 1\nisas: [{isa}]\n")
    with pytest.raises(DescriptionError) as caught:
        load_core(path, None)
    (fault,) = caught.value.faults
    assert (fault.remedy or "").startswith(remedy)
