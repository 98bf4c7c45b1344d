# SPDX-License-Identifier: Apache-2.0
"""A chip follows the files that it names when they change, also within one process."""

import os
from pathlib import Path

import pytest

from atoll.api.written import new_accelerator
from atoll.description.accelerator_files import load_accelerator
from atoll.resolve import load_soc


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Return the package of a new accelerator."""
    new_accelerator("spark", tmp_path / "spark")
    return tmp_path / "spark"


def test_a_file_of_the_same_size_and_time_is_read_again(package: Path) -> None:
    description = package / "spark" / "spark.yaml"
    cost = load_soc(package / "chip.yaml").engines[0].spec.operators[0].cost
    before, text = description.stat(), description.read_text()
    description.write_text(text.replace("cost: 40 +", "cost: 90 +"))
    os.utime(description, ns=(before.st_atime_ns, before.st_mtime_ns))
    changed = load_soc(package / "chip.yaml").engines[0].spec.operators[0].cost
    assert (cost[:2], changed[:2]) == ("40", "90")


def test_registers_in_systemrdl_are_read_again(package: Path) -> None:
    description = package / "spark" / "spark.yaml"
    registers = load_accelerator(description, None).model.registers

    def written(shift: int) -> str:
        lines = []
        for name, offset in registers.map.items():
            bits = registers.fields.get(name) or {"VALUE": (0, 31)}
            fields = "".join(f"field {{}} {each}[{hi}:{lo}]; " for each, (lo, hi) in bits.items())
            lines.append(f"  reg {{ {fields}}} {name} @ {offset + shift:#x};\n")
        return f"addrmap spark_registers {{\n{''.join(lines)}}};\n"

    text = description.read_text()
    begin, end = text.index("registers:\n"), text.index("operators:\n")
    description.write_text(f"{text[:begin]}systemrdl: ./spark.rdl\n{text[end:]}")
    for shift in (0, 0x40):
        description.with_suffix(".rdl").write_text(written(shift))
        made = load_soc(package / "chip.yaml").engines[0].spec.registers
        assert made["HIGH"] == registers.map["HIGH"] + shift
