# SPDX-License-Identifier: Apache-2.0
"""Devicetree sources: includes and definitions, what dtc and the preprocessor refuse, mutants."""

import random
import shutil
from pathlib import Path

import pytest
from tests.unit.importing.reading import TARGET, asked, chip, imported
from tests.unit.importing.test_cases import CASES
from tests.unit.importing.test_mutated import ALL_MUTANTS, MUTANTS, MUTATIONS, judge

from atoll.diagnostics.errors import ToolchainError, UsageError
from atoll_import.imported import import_files

TREE = """/dts-v1/;
#include "gannet.dtsi"
#include <dt-bindings/gannet.h>
/ {
    memory@80000000 { device_type = "memory"; reg = <0x80000000 GANNET_RAM>; };
};
&sram { status = "okay"; };
"""
INCLUDED = """/ {
    #address-cells = <1>;
    #size-cells = <1>;
    model = "Gannet";
    cpus {
        #address-cells = <1>;
        #size-cells = <0>;
        cpu@0 { device_type = "cpu"; compatible = "sifive,rocket0", "riscv"; reg = <0>;
                riscv,isa = "rv32imac"; };
    };
    soc {
        #address-cells = <1>;
        #size-cells = <1>;
        ranges;
        sram: sram@20000 { compatible = "mmio-sram"; reg = <0x20000 0x8000>; status = "disabled"; };
        dtim@40000 { compatible = "sifive,dtim0"; reg = <0x40000 0x4000>; };
    };
};
"""
HEADER = "#define GANNET_RAM 0x100000 /* bytes */\n"

needs_dtc = pytest.mark.skipif(not shutil.which("dtc"), reason="dtc is not installed")


def project(folder: Path) -> None:
    """Write the files that the tree includes, in folders as Linux has them."""
    bindings = folder / "include" / "dt-bindings"
    bindings.mkdir(parents=True)
    (bindings / "gannet.h").write_text(HEADER)
    (folder / "gannet.dtsi").write_text(INCLUDED)


@needs_dtc
def test_a_source_is_read_with_what_it_includes(tmp_path: Path) -> None:
    project(tmp_path)
    found = imported(tmp_path, {"board.dts": TREE})
    data = chip(found)
    assert {name: (each["origin"], each["size"]) for name, each in data["memories"].items()} == {
        "memory": (0x8000_0000, "1 MiB"),
        "sram": (0x2_0000, "32 KiB"),
        "dtim": (0x4_0000, "16 KiB"),
    }
    assert data["devices"]["cpu_0"]["isa"] == "rv32imac"
    assert "devices.cpu_0.stack.memory" in asked(found)


@needs_dtc
@pytest.mark.parametrize("bindings", ["include/dt-bindings", "include/zephyr/dt-bindings"])
def test_a_board_in_the_tree_of_zephyr(bindings: str, tmp_path: Path) -> None:
    tree, module = tmp_path / "zephyr", tmp_path / "modules" / "hal" / "gannet" / "dts"
    files = {
        tree / bindings / "gannet.h": HEADER,
        tree / "dts" / "arm" / "gannet" / "soc.dtsi": INCLUDED,
        tree / "dts" / "common" / "mem.h": "#define DT_SIZE_M(x) ((x) * 1024 * 1024)\n",
        module / "gannet" / "pins.dtsi": "/ { pins { }; };\n",
        tree / "boards" / "arm" / "gannet" / "gannet.dts": (
            "/dts-v1/;\n#include <gannet/soc.dtsi>\n#include <gannet/pins.dtsi>\n"
            "#include <mem.h>\n#include <dt-bindings/gannet.h>\n"
            '/ { memory@80000000 { device_type = "memory"; reg = <0x80000000 DT_SIZE_M(1)>; }; };\n'
        ),
    }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found = import_files([path], TARGET, "", "")
    assert chip(found)["memories"]["memory"]["size"] == "1 MiB"


@needs_dtc
def test_a_source_that_lacks_what_it_includes_is_told_where_to_put_it(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        imported(tmp_path, {"board.dts": "/dts-v1/;\n#include <gannet/soc.dtsi>\n"})
    assert "put 'gannet/soc.dtsi' beside the file" in (caught.value.faults[0].remedy or "")


@needs_dtc
def test_a_source_needs_no_version_line_where_it_includes_one(tmp_path: Path) -> None:
    (tmp_path / "whole.dts").write_text("/dts-v1/;\n" + INCLUDED)
    data = chip(imported(tmp_path, {"board.dts": '#include "whole.dts"\n'}))
    assert list(data["memories"]) == ["dtim"]


@needs_dtc
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/dts-v1/;\n/ { a = <1;\n};\n", r"board\.dts:2:1: error\[E138\]: syntax error"),
        (
            '/dts-v1/;\n#include "no.dtsi"\n',
            r"board\.dts:2:1: error\[E138\]: .*'no\.dtsi' file not",
        ),
        ('/dts-v1/;\n/include/ "no.dtsi"\n', r"E138\]: .*board\.dts': .*open \"no\.dtsi\""),
        ("/dts-v1/;\n/ { a = <&nobody>; };\n", r"E138\]: .*[Rr]eference to non-existent"),
        ("/dts-v1/;\n", r"board\.dts:\d:1: error\[E138\]: syntax error"),
    ],
)
def test_damage_is_named(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=said):
        imported(tmp_path, {"board.dts": text})


def test_a_missing_dtc_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolchainError, match=r"E070\]: dtc, which reads .*, is not installed"):
        imported(tmp_path, {"board.dts": TREE})


def campaign(path: Path, count: int) -> None:
    """Import mutants; some are refused and some are not, or the mutations say nothing."""
    dice = random.Random("dts 14")
    bases = ["/dts-v1/;\n" + INCLUDED, *(CASES[each] for each in CASES if each.endswith(".dts"))]
    became = 0
    for _ in range(count):
        text = dice.choice(bases)
        for _ in range(dice.choice((1, 1, 2, 3))):
            text = dice.choice(MUTATIONS)(dice, text)
        became += judge(path, text.encode(errors="surrogateescape"))
    assert 0 < became < count


@needs_dtc
def test_mutants(tmp_path: Path) -> None:
    campaign(tmp_path / "board.dts", MUTANTS)


@needs_dtc
@pytest.mark.slow
def test_many_mutants(tmp_path: Path) -> None:
    campaign(tmp_path / "board.dts", ALL_MUTANTS)
