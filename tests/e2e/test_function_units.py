# SPDX-License-Identifier: Apache-2.0
"""A custom instruction beside VexRiscv: exact on every kind of core, and faster where it counts."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from atoll.cli import main

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "09_custom_instruction"
DIGITS = str(ROOT / "examples" / "01_digits" / "digits_int8.tflite")
VWW = ROOT.parent / "shared" / "models" / "vww_96_int8.tflite"
WITHOUT = "devices.cpu.function_unit=null"
OWN = "devices.cpu.function_unit=./own_kernels.yaml"
NONZERO = ("devices.cpu.function_unit=./nonzero_kernels.yaml", "pools.scratch.heap=1KiB")

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the example whose modules can be imported."""
    copy = Path(shutil.copytree(EXAMPLE, tmp_path / "example"))
    monkeypatch.syspath_prepend(copy)
    for name in ("dot4", "kernels", "nonzero_kernels"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return copy


def cycles(capsys: Capture, folder: Path, network: str, cpu: str, *sets: str) -> int:
    """Run a network, which must be exact, and return its cycles."""
    options = [word for each in sets for word in ("--set", each)]
    assert main(["run", str(folder / "chip.yaml"), network, "--json", "--cpu", cpu, *options]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["bit_exact"]
    assert report["placement"]["violations"] == []
    total: int = report["cycles"]["total"]
    return total


def changed(folder: Path, name: str, old: str, new: str) -> None:
    path = folder / name
    assert path.read_text().count(old) == 1
    path.write_text(path.read_text().replace(old, new))


def test_native_and_simulated_cores_are_exact(folder: Path, capsys: Capture) -> None:
    cycles(capsys, folder, DIGITS, "native")
    assert cycles(capsys, folder, DIGITS, "iss") < cycles(capsys, folder, DIGITS, "iss", WITHOUT)


def test_a_latency_counts_on_the_simulator(folder: Path, capsys: Capture) -> None:
    fast = cycles(capsys, folder, DIGITS, "iss")
    changed(folder, "dot4.yaml", "latency: 1", "latency: 3")
    assert cycles(capsys, folder, DIGITS, "iss") > fast


def test_kernels_of_ones_own_are_exact(folder: Path, capsys: Capture) -> None:
    for cpu in ("native", "iss"):
        cycles(capsys, folder, DIGITS, cpu, OWN)
    chip, target = str(folder / "chip.yaml"), folder / "build"
    command = ["build", chip, DIGITS, "--set", OWN, "--emit", "c", "-o", str(target)]
    assert main(command) == 0
    assert "$dot4(word(x[(i * 4)]), word(" in (target / "module.tir").read_text()
    assert '".insn r 0xb, 0, 0, %0, %1, %2"' in (target / "model.c").read_text()


@pytest.mark.parametrize(
    "cpu", ["native", "iss", pytest.param("rtl", marks=(pytest.mark.rtl, pytest.mark.slow))]
)
def test_w1_w2_a_shipped_kernel_takes_what_only_the_run_knows(
    folder: Path, capsys: Capture, cpu: str
) -> None:
    cycles(capsys, folder, DIGITS, cpu, *NONZERO)
    options = [word for each in NONZERO for word in ("--set", each)]
    where = ["--buffer", "fully_connected_8.places", "--json"]
    assert main(["explain", str(folder / "chip.yaml"), DIGITS, *options, *where]) == 0
    assert '"size_bytes": null' in capsys.readouterr().out


def test_w1_a_shipped_kernel_needs_a_heap(folder: Path, capsys: Capture) -> None:
    words = ["plan", str(folder / "chip.yaml"), DIGITS, "--set", NONZERO[0]]
    assert main(words) == 1
    assert "E067" in capsys.readouterr().err


def test_c99_uses_the_unit_too(folder: Path, capsys: Capture) -> None:
    target = folder / "build"
    assert main(["build", str(folder / "chip.yaml"), DIGITS, "--emit", "c", "-o", str(target)]) == 0
    assert "atoll_execute_dot4_of(sum0[0], &patches[at]" in (target / "model.c").read_text()
    assert main(["simulate", str(target), "--cpu", "iss"]) == 0
    assert "10 of 10 layers bit-exact" in capsys.readouterr().out


@pytest.mark.parametrize("cpu", ["iss", "native"])
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("& WORD", "", "error[E112]: model 'dot4:Dot4' of a function unit: 'dot4' returned -"),
        ("return sum", "raise sum", "error[E111]: model 'dot4:Dot4' of a function unit failed in"),
        ("def dot4(self, a: int, b: int)", "def dot4(self, a: int)", "cannot be called as"),
        ("def dot4(", "def dot8(", "lacks 'dot4(a, b)'"),
    ],
)
def test_a_model_that_fails_is_one_error(
    old: str, new: str, said: str, cpu: str, folder: Path, capsys: Capture
) -> None:
    changed(folder, "dot4.py", old, new)
    chip = str(folder / "chip.yaml")
    assert main(["run", chip, DIGITS, "--cpu", cpu, "--set", OWN]) == 1
    error = capsys.readouterr().err
    assert said in error
    assert error.count("error[") == 1


def test_a_model_that_computes_something_else_is_found(folder: Path, capsys: Capture) -> None:
    changed(folder, "dot4.py", "& WORD", "+ 1 & WORD")
    assert main(["run", str(folder / "chip.yaml"), DIGITS, "--cpu", "iss"]) == 1
    assert "conv_2d_0_out of conv_2d_0 on cpu differs" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("return builder.lowered()", "return 7", "error[E112]: 'kernels:lower' of function unit"),
        ('op.kind != "fully_connected"', "op.colour", "error[E111]: 'kernels:lower' of function"),
    ],
)
def test_kernels_that_fail_are_one_error(
    old: str, new: str, said: str, folder: Path, capsys: Capture
) -> None:
    changed(folder, "kernels.py", old, new)
    assert main(["plan", str(folder / "chip.yaml"), DIGITS, "--set", OWN]) == 1
    assert said in capsys.readouterr().err


def test_qemu_has_no_such_unit(folder: Path, capsys: Capture) -> None:
    assert main(["run", str(folder / "chip.yaml"), DIGITS, "--cpu", "qemu"]) == 1
    assert "error[E103]: no machine of QEMU has the function unit 'dot4'" in capsys.readouterr().err


@pytest.mark.rtl
@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("dot4.yaml", "module: dot4,", "module: dot5,", "dot4.yaml:11:15: error[E114]: the RTL of"),
        ("dot4.yaml", "./dot4.sv", "./dot5.sv", "dot4.yaml:11:31: error[E113]: RTL source of"),
        ("dot4.sv", "rready_i,", "rready,", "dot4.sv:22:41: error[E114]: the RTL of"),
        ("dot4.sv", "sum, result_q;", "sum result_q;", "dot4.sv:19:23: error[E114]: the RTL"),
        ("dot4.yaml", "rtl: {", "# {", "error[E080]: device 'cpu': its function unit 'dot4' has"),
    ],
)
def test_rtl_that_does_not_fit_is_one_error(
    name: str, old: str, new: str, said: str, folder: Path, capsys: Capture
) -> None:
    changed(folder, name, old, new)
    assert main(["check", str(folder / "chip.yaml"), "--simulate"]) == 1
    error = capsys.readouterr().err
    assert said in error
    assert error.count("error[") == 1


@pytest.mark.rtl
@pytest.mark.slow
def test_rtl_is_exact_and_a_wrong_one_is_found(folder: Path, capsys: Capture) -> None:
    cycles(capsys, folder, DIGITS, "rtl")
    changed(folder, "dot4.sv", "i < 4;", "i < 3;")
    assert main(["run", str(folder / "chip.yaml"), DIGITS]) == 1
    assert "conv_2d_0_out of conv_2d_0 on cpu differs" in capsys.readouterr().out


SLOW_UNIT = """\
// dot4 behind a unit that takes an instruction now and then, and answers later.
module slow (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        valid_i,
  output logic        ready_o,
  input  logic [11:0] function_i,
  input  logic [31:0] a_i,
  input  logic [31:0] b_i,
  output logic        rvalid_o,
  input  logic        rready_i,
  output logic [31:0] result_o
);

  logic [2:0] count_q;
  logic open, ready, rvalid;

  assign open     = count_q == 3'd0;
  assign ready_o  = ready && open;
  assign rvalid_o = rvalid && open;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) count_q <= '0;
    else count_q <= count_q == 3'd4 ? '0 : count_q + 3'd1;
  end

  dot4 u_dot4 (
    .clk_i,
    .rst_ni,
    .valid_i (valid_i && open),
    .ready_o (ready),
    .function_i,
    .a_i,
    .b_i,
    .rvalid_o(rvalid),
    .rready_i(rready_i && open),
    .result_o
  );

endmodule
"""


@pytest.mark.rtl
@pytest.mark.slow
def test_cv_x_if_is_exact(folder: Path, capsys: Capture) -> None:
    """The same unit answers the eXtension interface of CV32E40X, at once and late."""
    for name in ("dot4.yaml", "own_kernels.yaml"):
        changed(folder, name, "style: cfu", "style: cvxif")
    changed(folder, "chip.yaml", "core: vexriscv_cfu", "core: cv32e40x")
    quick = cycles(capsys, folder, DIGITS, "rtl")
    assert quick < cycles(capsys, folder, DIGITS, "rtl", WITHOUT)
    (folder / "slow.sv").write_text(SLOW_UNIT)
    changed(
        folder,
        "dot4.yaml",
        "module: dot4, sources: [./dot4.sv]",
        "module: slow, sources: [./dot4.sv, ./slow.sv]",
    )
    assert cycles(capsys, folder, DIGITS, "rtl") > quick


@pytest.mark.rtl
@pytest.mark.slow
@pytest.mark.skipif(not VWW.exists(), reason="the network is not there")
def test_vww_in_rtl_is_twice_as_fast(folder: Path, capsys: Capture) -> None:
    quick = cycles(capsys, folder, str(VWW), "rtl")
    assert cycles(capsys, folder, str(VWW), "rtl", WITHOUT) >= 2 * quick
