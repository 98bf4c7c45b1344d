# SPDX-License-Identifier: Apache-2.0
"""D1: one core has two targets: code of each operator is made for the one that it asks for."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile
from tests.effort import in_gate

from atoll.artifacts.build_tree import build
from atoll.bsp.float_convention import adapt_float_convention
from atoll.bsp.model_source import compile_model
from atoll.cli import main
from atoll.codegen.llvm import emit_object
from atoll.cost.measured_targets import MEASURED_TARGETS
from atoll.description.build import Words, node_of, requests_from
from atoll.diagnostics.errors import AtollError
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file
from atoll.ir.read_module import parse_module
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll.stack.elf_stack import Program
from atoll.stack.target_stacks import target_stacks

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


@pytest.mark.parametrize("asked", ["plain-1.x", "plain_1_x"])
def test_d1_a_target_may_have_dashes_and_dots(
    asked: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = chip(tmp_path, "ibex", BITS, f"plain-1.x: {{isa: {PLAIN}}}")
    words = ["--target", f"fully_connected_8={asked}", "--no-accelerators"]
    assert main(["explain", str(path), str(DIGITS), *words, "--json"]) == 0
    told = {each["operator"]: each for each in json.loads(capsys.readouterr().out)["targets"]}
    assert told["fully_connected_8"]["target"] == "plain_1_x"
    assert main(["explain", str(path), "--set", "devices.cpu.targets.plain-1.x.optimise=size"]) == 0
    assert "plain-1.x" in capsys.readouterr().out


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
    assert text.count(f' for "llvm -isa={PLAIN}" {{') == len(ON_PLAIN)
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
        ("conv_2d_0=plan", "target 'plan' of 'conv_2d_0', which no core has"),
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


def test_e217_a_target_that_the_asked_core_lacks_is_told_before_placement(tmp_path: Path) -> None:
    """Placement of these requests fails too: what the core lacks is said first."""
    soc = load_soc(ibex(tmp_path))
    twins = replace(soc.host_cpu, targets=(), name="other", ordinal=9)
    soc = replace(soc, devices=(*soc.devices, twins))
    for more in ({"place": ("conv_2d_0=other",)}, {"on_device": ("conv_2d_0=other",)}):
        with pytest.raises(AtollError) as caught:
            compile_file(soc, DIGITS, options("conv_2d_0=plain", **more))
        (fault,) = caught.value.faults
        assert fault.code == "E217"
        assert "is asked to run on 'other', without such a target" in fault.message
        assert fault.remedy == "run it on 'cpu', or write 'own'"


def accelerated(_: ResolvedSoc, target: str, **more: Any) -> BuildOptions:
    return BuildOptions(requests=requests_from(node_of({}), Words(target=(target,), **more)))


def test_e217_two_say_what_the_target_is(tmp_path: Path) -> None:
    said = (f"conv_2d_0=target:llvm -isa={BITS}",)
    with pytest.raises(AtollError, match="both ask for a target of 'conv_2d_0'"):
        compile_file(load_soc(ibex(tmp_path)), DIGITS, options("conv_2d_0=plain", on_device=said))


ALL_WAYS = (
    "small: {optimise: size}, c: {generator: c}, plain: {isa: rv32im}, both: {generator: c, "
    "optimise: size}, llvm: {generator: llvm}"
)
EACH = (
    *("*=own", "conv_2d_0=c", "depthwise_conv_2d_1=small", "conv_2d_2=both", "add_3=plain"),
    *("softmax_9=c", "fully_connected_8=small"),
)


def ways(folder: Path, **more: str) -> Path:
    return chip(
        folder, "picorv32", PLAIN, ALL_WAYS + "".join(f", {k}: {v}" for k, v in more.items())
    )


def asked(*targets: str) -> list[str]:
    return [word for each in targets for word in ("--target", each)]


@pytest.mark.slow
def test_d1_size_and_another_generator_in_one_object(tmp_path: Path, capsys: Any) -> None:
    """Each target's kernels are its own; C and LLVM are in one object of the core."""
    sizes = {}
    for target in ("own", "small", "c", "both"):
        out = tmp_path / target
        words = ["build", str(ways(tmp_path)), str(DIGITS), "--objects", "-o", str(out), "--json"]
        assert main([*words, "--no-accelerators", *asked(f"*={target}")]) == 0
        (described,) = json.loads(capsys.readouterr().out)["objects"]
        if target == "own":
            assert described["targets"] == []
            code = (out / "digits_int8.o").read_bytes()
            sizes["own"] = sum(len(section(code, op)) for op in KERNELS)
            continue
        (found,) = described["targets"]
        assert found["target"] == target
        assert found["made_by"] == WORDS[target]
        assert found["abi"] == "ilp32"
        assert len(found["kernels"]) == len(KERNELS)
        sizes[target] = found["size_bytes"]
        assert len(list(out.glob("*model.c"))) == (target in ("c", "both"))
    assert sizes["small"] < 0.7 * sizes["own"]
    assert sizes["both"] < 0.7 * sizes["c"]


KERNELS = (
    *("conv_2d_0", "depthwise_conv_2d_1", "conv_2d_2", "add_3", "depthwise_conv_2d_4"),
    *("conv_2d_5", "average_pool_2d_6", "fully_connected_8", "softmax_9"),
)
WORDS = {
    "small": "llvm -isa=rv32imc -optimise=size",
    "c": "c -isa=rv32imc",
    "both": "c -isa=rv32imc -optimise=size",
}


@pytest.mark.parametrize("cpu", ["iss", "native", pytest.param("rtl", marks=pytest.mark.rtl)])
def test_d1_every_way_to_make_code_gives_the_same_bytes(
    cpu: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--cpu", cpu, *(() if cpu == "rtl" else ("--accelerator", "model")), *ON_CORE]
    run = ["run", str(ways(tmp_path)), str(DIGITS), "--json", *words, *asked(*EACH)]
    assert main(run) == 0
    said = json.loads(capsys.readouterr().out)
    if cpu == "native":
        assert said["bit_exact"] is True
        assert said["layers_compared"] == said["layers_equal"] == 10
    else:
        exact(said)


def test_d1_k2_the_image_has_a_stack_bound_for_each_target(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "out")
    words = ["build", str(ways(tmp_path)), str(DIGITS), "-o", out, "--json", "--no-accelerators"]
    assert main([*words, *asked(*EACH)]) == 0
    (image,) = json.loads(capsys.readouterr().out)["images"]
    bounds = {name: each["stack_bytes"] for name, each in image["targets"].items()}
    assert set(bounds) == {"small", "c", "plain", "both"}
    assert all(0 <= each <= image["stack_bytes"] for each in bounds.values())
    program = Program.read(tmp_path / "out" / "firmware.elf")
    conv = program.bound("atoll_kernel_digits_int8_conv_2d_0").bytes
    assert bounds["c"] == max(conv, program.bound("atoll_kernel_digits_int8_softmax_9").bytes)
    assert bounds["plain"] == program.bound("add_3").bytes


def test_d1_targets_in_a_build_as_c(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each target has a file of its own, and flags of its own; who asks for LLVM is refused."""
    path, out = ways(tmp_path), tmp_path / "out"
    words = ["build", str(path), str(DIGITS), "-o", str(out), "--emit", "c", "--no-accelerators"]
    assert main([*words, *asked("*=own", "add_3=plain", "conv_2d_*=small")]) == 0
    names = {each.name for each in out.glob("*model.c")}
    assert names == {"model.c", "cpu_plain_model.c", "cpu_small_model.c"}
    capsys.readouterr()
    assert main(["simulate", str(out), "--cpu", "iss", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["bit_exact"] is True
    assert main([*words, *asked("add_3=llvm")]) == 1
    assert "E217" in capsys.readouterr().err
    path.write_text(path.read_text().replace("llvm: {generator: llvm}", "llvm: {isa: rv32imc}"))
    assert main([*words, *asked("add_3=llvm")]) == 0


def choices(path: Path, capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    explain = ["explain", str(path), str(DIGITS), "--json", "--no-accelerators", *words]
    assert main(explain) == 0
    return {each["operator"]: each for each in json.loads(capsys.readouterr().out)["targets"]}


def test_d1_what_was_measured_decides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A target is chosen where it was clearly faster in what was measured."""
    found = choices(ways(tmp_path), capsys)
    rows = MEASURED_TARGETS["picorv32"]["llvm -isa=rv32im"]
    kinds = {name: re.sub(r"_\d+$", "", name) for name in found}
    clear = {k for k, t in rows.items() if t.greatest < 1.02 and t.least + t.greatest < 1.96}
    faster = {name for name, kind in kinds.items() if kind in clear}
    assert {name for name, each in found.items() if each["target"] == "plain"} == faster
    assert "depthwise_conv_2d_1" in faster
    assert all(each["target"] in ("own", "plain") for each in found.values())
    assert "measured to be clearly faster" in found["conv_2d_0"]["reason"]
    asked_for = choices(ways(tmp_path), capsys, *asked("*=own", "conv_2d_*=c"))
    assert {each["target"] for each in asked_for.values()} == {"own", "c"}
    assert asked_for["conv_2d_0"]["reason"] == (
        "'targets' asks for it with 'conv_2d_*' (command line)"
    )


@pytest.mark.parametrize(
    "change",
    [
        ("core: picorv32", "core: riscv"),
        ("read_latency: 2", "read_latency: 3"),
        ("    clock: 100 MHz", "    clock: 50 MHz"),
    ],
)
def test_d1_what_nobody_measured_decides_nothing(
    change: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = ways(tmp_path)
    text = path.read_text()
    assert change[0] in text
    path.write_text(text.replace(*change))
    found = choices(path, capsys)
    known = "clock" in change[1]
    assert (found["depthwise_conv_2d_1"]["target"] == "plain") == known
    assert bool(found["depthwise_conv_2d_1"]["measured"]) == known
    assert ("nobody measured" in found["depthwise_conv_2d_1"]["reason"]) != known


def test_d1_estimates_of_a_target_rest_on_what_was_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def layers(*words: str) -> Any:
        estimate = ["estimate", str(ways(tmp_path)), str(DIGITS), "--json", "--no-accelerators"]
        assert main([*estimate, *words]) == 0
        layers = json.loads(capsys.readouterr().out)["cycles"]["by_layer"]
        return {each["operator"]: each for each in layers}

    own, made = layers(*asked("*=own")), layers(*asked("conv_2d_0=small", "conv_2d_2=both"))
    assert own["conv_2d_0"]["basis"] == made["conv_2d_0"]["basis"] == "counted x measured"
    assert made["conv_2d_0"]["cycles"] > own["conv_2d_0"]["cycles"]
    assert made["conv_2d_2"]["basis"] == "counted x measured, own code"
    assert made["conv_2d_2"]["cycles"] == own["conv_2d_2"]["cycles"]


@pytest.mark.slow
@pytest.mark.rtl
def test_d1_p1_what_was_measured_holds_in_rtl(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Digits is one of the networks that were measured: each operator lies within its row."""

    def cycles(target: str) -> Any:
        words = ["--json", *ON_CORE, *asked(f"*={target}")]
        assert main(["run", str(ways(tmp_path)), str(DIGITS), *words]) == 0
        by_layer = json.loads(capsys.readouterr().out)["cycles"]["by_layer"]
        return {each["operator"]: (each["kind"], each["cycles"]) for each in by_layer}

    own, rows = cycles("own"), MEASURED_TARGETS["picorv32"]["llvm -isa=rv32im"]
    for name, (kind, taken) in cycles("plain").items():
        if own[name][1] >= 3000 and kind in rows:
            row = rows[kind]
            assert row.least - 0.001 <= taken / own[name][1] <= row.greatest + 0.001, name


FLOATS = "rv32imafc"


def hard(folder: Path) -> Path:
    path = chip(
        folder, "riscv", FLOATS, "soft: {isa: rv32imac}, softly: {abi: ilp32, generator: c}"
    )
    path.write_text(path.read_text().replace(f"isa: {FLOATS}", f"isa: {FLOATS}\n    abi: ilp32f"))
    return path


def test_d1_soft_and_hard_floats_in_one_image(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No floats cross between them, so one image has both; the whole says what it is."""
    out = tmp_path / "out"
    words = ["build", str(hard(tmp_path)), str(DIGITS), "-o", str(out), "--no-accelerators"]
    assert main([*words, *asked("conv_2d_*=soft", "add_3=softly")]) == 0
    elf = ELFFile(BytesIO((out / "firmware.elf").read_bytes()))
    assert elf["e_flags"] & 6 == 2
    capsys.readouterr()
    assert main(["check-image", str(tmp_path / "lagoon.yaml"), str(out / "firmware.elf")]) == 0
    assert main(["simulate", str(out), "--cpu", "iss", "--json", "--accelerator", "model"]) == 0
    said = json.loads(capsys.readouterr().out.partition("{")[2].join(("{", "")))
    assert said["bit_exact"] is True


def test_e196_floats_do_not_cross_between_conventions(tmp_path: Path) -> None:
    core = load_soc(hard(tmp_path)).host_cpu
    (target,) = (each for each in core.targets if each.name == "softly")
    aimed = core.for_target("softly")
    source = "int scaled(int x); int scaled(int x) { return x; }\n"
    assert adapt_float_convention(compile_model(source, aimed), "a.c", target, aimed, core)
    crossing = "float f(float); int g(int x); int g(int x) { return (int)f((float)x); }\n"
    code = compile_model(crossing, aimed)
    with pytest.raises(AtollError, match="E196") as caught:
        adapt_float_convention(code, "a.c", target, aimed, core)
    assert "calls 'f', which may pass floats" in str(caught.value)
    assert "set 'devices.cpu.targets.softly.abi' to ilp32f" in str(caught.value)
    followed = replace(target, instructions=core.instructions)
    code = compile_model(crossing, core)
    assert adapt_float_convention(code, "a.c", followed, core, core) == code


def test_e124_an_object_of_a_target_has_its_convention(tmp_path: Path) -> None:
    core = load_soc(hard(tmp_path)).host_cpu
    (target,) = (each for each in core.targets if each.name == "softly")
    aimed = core.for_target("softly")
    code = compile_model("int g(int x); int g(int x) { return x; }\n", core)
    with pytest.raises(AtollError, match="E124"):
        adapt_float_convention(code, "a.c", target, aimed, core)


@pytest.mark.parametrize("abi", in_gate(["aapcs", "aapcs-vfp"], -1))
def test_d1_floats_of_arm_in_either_registers(abi: str, tmp_path: Path) -> None:
    """The object of C says by itself that it is of one kind; the image may be of the other."""
    other = {"aapcs": "aapcs-vfp", "aapcs-vfp": "aapcs"}[abi]
    path = chip(tmp_path, "cortex_m4", "armv7e-m+fp", f"other: {{abi: {other}, generator: c}}")
    path.write_text(
        path.read_text().replace("isa: armv7e-m+fp\n", f"isa: armv7e-m+fp\n    abi: {abi}\n")
    )
    out = tmp_path / "out"
    words = ["build", str(path), str(DIGITS), "-o", str(out), "--no-accelerators"]
    assert main([*words, *asked("conv_2d_*=other")]) == 0
    assert main(["check-image", str(path), str(out / "firmware.elf")]) == 0


def test_e203_a_compiler_of_the_users_makes_code_for_the_core(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = chip(tmp_path, "picorv32", PLAIN, "c: {generator: c}, wide: {generator: c, isa: rv32im}")
    compiler = "riscv64-unknown-elf-gcc -march=rv32imc_zicsr -mabi=ilp32 {flags}"
    link = "true {flags} {script} {map} {elf} {objects}"
    commands = f"compile: '{compiler} -c {{source}} -o {{object}}', link: '{link}'"
    text = path.read_text().replace(
        "isa: rv32imc\n", f"isa: rv32imc\n    commands: {{{commands}}}\n", 1
    )
    path.write_text(text)
    words = ["build", str(path), str(DIGITS), "--objects", "-o", str(tmp_path / "out")]
    words += ["--no-accelerators"]
    assert main([*words, *asked("add_3=wide")]) == 1
    assert "E203" in capsys.readouterr().err
    path.write_text(path.read_text().replace("generator: c, isa: rv32im}", "generator: c}"))
    assert main([*words, *asked("add_3=wide")]) == 0
    path.write_text(text)
    firmware = [word for word in words if word != "--objects"]
    assert main([*firmware, *asked("add_3=wide"), "--toolchain", "zig"]) == 0


def test_d1_scalar_code_beside_a_function_unit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Custom instructions are in the kernels of own code alone, whatever makes the others."""
    unit = ROOT / "examples" / "09_custom_instruction"
    monkeypatch.syspath_prepend(unit)
    monkeypatch.delitem(sys.modules, "dot4", raising=False)
    path = tmp_path / "chip.yaml"
    rows = "scalar: {function_unit: false}, c: {function_unit: false, generator: c}"
    text = (unit / "chip.yaml").read_text().replace("./dot4.yaml", str(unit / "dot4.yaml"))
    path.write_text(text.replace("isa: rv32im", f"isa: rv32im\n    targets: {{{rows}}}"))
    targets = ("*=own", "conv_2d_0=scalar", "conv_2d_2=c")
    run = ["run", str(path), str(DIGITS), "--json", "--cpu", "iss", *asked(*targets)]
    assert main(run) == 0
    exact(json.loads(capsys.readouterr().out))
    out = tmp_path / "out"
    build = ["build", str(path), str(DIGITS), "--objects", "-o", str(out), *asked(*targets)]
    assert main(build) == 0
    code = (out / "digits_int8.o").read_bytes()
    names = ("conv_2d_5", "conv_2d_0", "atoll_kernel_digits_int8_conv_2d_2")
    custom = [
        any(word & 0x7F == 0x0B for word in instructions(section(code, name))) for name in names
    ]
    assert custom == [True, False, False]


def test_k2_a_kernel_that_the_compiler_left_out_takes_no_stack(tmp_path: Path) -> None:
    """LLVM removes a kernel that changes nothing."""
    soc = load_soc(ways(tmp_path))
    compiled = compile_file(soc, DIGITS, options("add_3=plain", "softmax_9=small"))
    elf = build([compiled], tmp_path / "out").firmware.elf
    add = Program.read(elf).bound("add_3").bytes
    assert target_stacks(elf, [{"plain": ("add_3", "gone_7")}]) == {"plain": add}
    assert target_stacks(elf, [{"plain": ("gone_7",)}]) == {}
    assert target_stacks(elf, [{}]) == {}


def test_d1_a_chip_tells_its_targets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(hard(tmp_path)), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["targets"]
    assert [tuple(row.values()) for row in rows] == [
        ("cpu", "own", "llvm -isa=rv32imafc", "ilp32f"),
        ("cpu", "soft", "llvm -abi=ilp32 -isa=rv32imac", "ilp32"),
        ("cpu", "softly", "c -abi=ilp32 -isa=rv32imafc", "ilp32"),
    ]
