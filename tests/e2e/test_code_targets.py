# SPDX-License-Identifier: Apache-2.0
"""D1: one core has two targets: code of each operator is made for the one that it asks for."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile

from atoll.cli import main
from atoll.codegen.llvm import emit_object
from atoll.description.build import Words, node_of, requests_from
from atoll.diagnostics.errors import AtollError
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file
from atoll.ir.read_module import parse_module
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc

ROOT = Path(__file__).parents[2]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
BITS, PLAIN = "rv32imc_zba_zbb_zbs", "rv32imc"
VECTORS = "armv8.1-m.main+mve"
ASKED = ("conv_2d_*=plain", "fully_connected_8=plain", "softmax_9=plain")
ON_PLAIN = {"conv_2d_0", "conv_2d_2", "conv_2d_5", "fully_connected_8", "softmax_9"}
OBJDUMP = "arm-none-eabi-objdump"


def chip(folder: Path, core: str, isa: str, targets: str) -> Path:
    """Write lagoon with a core that has targets."""
    text = (ROOT / "socs" / "lagoon.yaml").read_text().replace("core: picorv32", f"core: {core}")
    path = folder / "lagoon.yaml"
    path.write_text(text.replace("isa: rv32imc", f"isa: {isa}\n    targets: {{{targets}}}"))
    return path


def ibex(folder: Path) -> Path:
    return chip(folder, "ibex", BITS, f"plain: {{isa: {PLAIN}}}, less: {{isa: rv32im}}")


def options(*asked: str, **more: Any) -> BuildOptions:
    requests = requests_from(node_of({}), Words(target=asked, **more))
    return BuildOptions(accelerators=False, requests=requests)


def code_of(compiled: Compiled) -> bytes:
    return emit_object(compiled.module, compiled.plan, compiled.soc, compiled.commands)


def section(code: bytes, function: str) -> bytes:
    found = ELFFile(BytesIO(code)).get_section_by_name(f".text.{function}")
    assert found is not None, function
    data: bytes = found.data()
    return data


def instructions(code: bytes) -> Iterator[int]:
    """Yield RISC-V instructions of 16 and 32 bits."""
    at = 0
    while at < len(code):
        size = 4 if code[at] & 3 == 3 else 2
        yield int.from_bytes(code[at : at + size], "little")
        at += size


def is_zb(word: int) -> bool:
    """Tell what Zba, Zbb and Zbs alone have, of what compilers make of loops over int8."""
    opcode, funct3, funct7 = word & 0x7F, word >> 12 & 7, word >> 25
    if word & 3 != 3 or opcode not in (0x13, 0x33):
        return False
    if opcode == 0x13:
        return funct3 in (1, 5) and funct7 not in (0, 0x20)
    return (funct7, funct3) not in {
        *((0, any3) for any3 in range(8)),
        *((1, any3) for any3 in range(8)),
        *((0x20, 0), (0x20, 5)),
    }


def test_d1_one_core_has_two_targets(tmp_path: Path) -> None:
    """Each operator's function has instructions of its target alone."""
    soc = load_soc(ibex(tmp_path))
    code = code_of(compile_file(soc, DIGITS, options(*ASKED)))
    usual = code_of(compile_file(soc, DIGITS, options()))
    names = [op.name for op in compile_file(soc, DIGITS, options()).graph.operators]
    assert set(names) >= ON_PLAIN
    for name in names:
        has = any(map(is_zb, instructions(section(code, name))))
        assert any(map(is_zb, instructions(section(usual, name)))), name
        assert has == (name not in ON_PLAIN), name


@pytest.mark.skipif(shutil.which(OBJDUMP) is None, reason=f"needs {OBJDUMP}")
def test_d1_scalar_and_vector_code_of_a_cortex_m(tmp_path: Path) -> None:
    path = chip(tmp_path, "cortex_m55", VECTORS, "scalar: {isa: armv8.1-m.main}")
    code = code_of(compile_file(load_soc(path), DIGITS, options("conv_2d_*=scalar")))
    (tmp_path / "o.o").write_bytes(code)
    for name, vectors in (("conv_2d_0", False), ("conv_2d_2", False), ("fully_connected_8", True)):
        words = [OBJDUMP, "-d", "-j", f".text.{name}", "-marmv8.1-m.main", "o.o"]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert f"<{name}>" in done.stdout
        assert bool(re.search(r"\tv(ldr|mla|add|str)\w*\.", done.stdout)) == vectors, name


def test_d1_targets_are_read_back_and_shown(tmp_path: Path) -> None:
    compiled = compile_file(load_soc(ibex(tmp_path)), DIGITS, options(*ASKED))
    assert {op.name for op in compiled.graph.operators if op.target} == ON_PLAIN
    text = str(compiled.module)
    assert text.count(f' for "{PLAIN}" {{') == len(ON_PLAIN)
    assert parse_module(text) == compiled.module
    assert not any(op.kind == "copy" for op in compiled.graph.operators)


def report(path: Path, capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    asked = [word for each in ASKED for word in ("--target", each)]
    assert main(["run", str(path), str(DIGITS), "--json", *words, *asked]) == 0
    return json.loads(capsys.readouterr().out)


ON_CORE = ("--on-device", "*=cpu")


def exact(said: Any) -> None:
    assert said["bit_exact"] is True
    assert said["layers_compared"] == said["layers_equal"] == 10
    assert said["placement"]["violations"] == []
    stack = said["stack"]["cpu"]
    assert 0 < stack["watermark_bytes"] <= stack["bound_bytes"] <= stack["limit_bytes"]


def test_d1_two_targets_of_a_core_give_the_same_bytes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The ISS has no Zb: one target lacks compressed instructions."""
    path = chip(tmp_path, "ibex", PLAIN, "plain: {isa: rv32im}")
    exact(report(path, capsys, "--cpu", "iss", "--accelerator", "model", *ON_CORE))


@pytest.mark.slow
@pytest.mark.rtl
def test_d1_two_targets_of_a_core_run_in_rtl(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    exact(report(ibex(tmp_path), capsys, *ON_CORE))


def test_d1_scopes_show_the_target(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--target", "conv_2d_0=less", *ON_CORE, "--scopes", "--json")
    assert main(["explain", str(ibex(tmp_path)), str(DIGITS), *words]) == 0
    stories = json.loads(capsys.readouterr().out)["scopes"]["operators"]
    shown = {each["name"]: each["default"]["target"] for each in stories}
    assert shown["conv_2d_0"] == "llvm -isa=rv32im"
    assert shown["conv_2d_2"] == f"llvm -isa={BITS}"
    (story,) = (each for each in stories if each["name"] == "conv_2d_0")
    assert "'targets' asks for 'less' of 'cpu'" in [each["source"] for each in story["asked"]]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("conv_2d_9=plain", "'targets' names operator 'conv_2d_9', which does not exist"),
        ("conv_2d_0=plan", "target 'plan' of 'conv_2d_0', which runs on 'cpu'"),
        ("nothing_*=plain", "'targets' names operator 'nothing_*', which does not exist"),
    ],
)
def test_e217_what_is_not_there(asked: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(AtollError, match="E217") as caught:
        compile_file(load_soc(ibex(tmp_path)), DIGITS, options(asked))
    assert said in str(caught.value)


def test_e217_an_operator_of_an_accelerator_has_no_target_of_a_core(tmp_path: Path) -> None:
    """The remedy works when it is followed; a pattern is about the core's operators alone."""
    soc = load_soc(ibex(tmp_path))
    with pytest.raises(AtollError, match="'conv_2d_0=cpu' too") as caught:
        compile_file(soc, DIGITS, accelerated(soc, "conv_2d_0=plain"))
    assert "runs on 'npu'" in str(caught.value)
    followed = accelerated(soc, "conv_2d_*=plain", on_device=("conv_2d_0=cpu",))
    graph = compile_file(soc, DIGITS, followed).graph
    assert [op.name for op in graph.operators if op.target] == ["conv_2d_0"]


def accelerated(_: ResolvedSoc, target: str, **more: Any) -> BuildOptions:
    return BuildOptions(requests=requests_from(node_of({}), Words(target=(target,), **more)))


def test_e217_two_say_what_the_target_is(tmp_path: Path) -> None:
    said = (f"conv_2d_0=target:llvm -isa={BITS}",)
    with pytest.raises(AtollError, match="both ask for a target of 'conv_2d_0'"):
        compile_file(load_soc(ibex(tmp_path)), DIGITS, options("conv_2d_0=plain", on_device=said))


def test_e217_c_has_one_target(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [str(ibex(tmp_path)), str(DIGITS), "-o", str(tmp_path / "out"), "--emit", "c"]
    assert main(["build", *words, "--no-accelerators", "--target", "add_3=plain"]) == 1
    assert "E217" in capsys.readouterr().err
