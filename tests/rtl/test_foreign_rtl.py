# SPDX-License-Identifier: Apache-2.0
"""RTL as others keep it: lists of files, includes, macros, ports of other names; its mistakes."""

import re
from pathlib import Path

import pytest

from atoll.cli import main

pytestmark = pytest.mark.rtl

ROOT = Path(__file__).parents[2]
PLOVER = ROOT / "examples" / "10_vector_engine"
DIGITS = str(ROOT / "examples" / "01_digits" / "digits_int8.tflite")
INPUTS = ("psel", "penable", "paddr", "pwrite", "pwdata", "pstrb")
OUTPUTS = ("pready", "prdata", "pslverr")
PORTS = {
    **{"clk_i": "clock", "rst_ni": "'!reset'"},
    **{f"s_apb_{name}_i": name for name in INPUTS},
    **{f"s_apb_{name}_o": name for name in OUTPUTS},
}
LIST = """// what the engine is made of
+incdir+include
+define+LANES=8  # words
-f $ENGINE/inner.f
"""


@pytest.fixture
def foreign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the vector engine as somebody else would have written it."""
    text = (PLOVER / "plover.sv").read_text()
    text = re.sub(r"\bclk_i\b", "clock", text)
    text = text.replace("or negedge rst_ni", "or posedge reset").replace("!rst_ni", "reset")
    text = re.sub(r"\brst_ni\b", "reset", text)
    text = re.sub(r"\bs_apb_(\w+)_[io]\b", r"\1", text)
    text = text.replace("Depth    = 8", "Depth    = `WORDS").replace(
        "module plover #", "module far #"
    )
    assert "`WORDS" in text
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "far.svh").write_text("`define WORDS `LANES\n")
    (tmp_path / "far.sv").write_text(f'`include "far.svh"\n{text}')
    (tmp_path / "far.f").write_text(LIST)
    (tmp_path / "far.vhd").write_text("entity far is end;\n")
    (tmp_path / "inner.f").write_text("-sverilog -Wno-WIDTH +libext+.v\n-y include\nfar.sv\n")
    yaml = (PLOVER / "plover.yaml").read_text()
    ports = ", ".join(f"{port}: {name}" for port, name in PORTS.items())
    rtl = "rtl:\n  module: far\n  sources: [./far.f]\n  parameters: {Channels: 4 * 64}\n"
    before, found, _ = yaml.partition("rtl: {module")
    assert found
    (tmp_path / "plover.yaml").write_text(f"{before}{rtl}  ports: {{{ports}}}\n")
    chip = (PLOVER / "chip.yaml").read_text()
    lagoon = str(ROOT / "socs" / "lagoon.yaml")
    (tmp_path / "chip.yaml").write_text(chip.replace("../../socs/lagoon.yaml", lagoon))
    monkeypatch.setenv("ENGINE", str(tmp_path))
    return tmp_path


def test_it_runs(foreign: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["run", str(foreign / "chip.yaml"), DIGITS, "--cpu", "native"]
    assert main([*arguments, "--accelerator", "rtl"]) == 0
    assert "10 of 10 layers bit-exact" in capsys.readouterr().out
    (foreign / "include" / "far.svh").write_text("`define WORDS nothing\n")
    assert main([*arguments, "--accelerator", "rtl"]) == 1, "what is included is part of the RTL"
    assert "error[E114]" in capsys.readouterr().err


MISTAKES = {
    "no module": ("far.sv", "module far", "module near", "E114", "plover.yaml"),
    "a port of another name": ("far.sv", "penable", "enable", "E114", "plover.yaml"),
    "a port of another width": ("far.sv", "[11:0] paddr", "[4:0] paddr", "E114", "plover.yaml"),
    "a statement that is none": ("far.sv", "assign access", "assing access", "E114", "far.sv"),
    "a signal that is not there": ("far.sv", "psel && penable", "psel && nable", "E114", "far.sv"),
    "a parameter of another name": ("far.sv", "Channels = 256", "Width = 256", "E114", "far.sv"),
    "an include that is not there": ("far.sv", "far.svh", "near.svh", "E114", "far.sv"),
    "a macro that is not there": ("far.f", "LANES", "LINES", "E114", "far.sv"),
    "a source that is not there": ("inner.f", "far.sv", "near.sv", "E113", "inner.f"),
    "a list that is not there": ("plover.yaml", "far.f", "near.f", "E146", "plover.yaml"),
    "an inner list that is not there": ("far.f", "inner.f", "outer.f", "E146", "far.f"),
    "an option that begins as another": ("far.f", "+incdir+include", "-full64", "E146", "far.f"),
    "a variable that is not set": ("far.f", "$ENGINE", "$MOTOR", "E146", "far.f"),
    "an option of another tool": ("far.f", "+incdir+include", "-gui include", "E146", "far.f"),
    "lists that name each other": ("inner.f", "far.sv", "-f far.f", "E146", "far.f"),
    "a port that no accelerator has": ("plover.yaml", "clk_i:", "clock_i:", "E147", "plover.yaml"),
    "an output inverted": ("plover.yaml", ": pready", ": '!pready'", "E147", "plover.yaml"),
    "an unknown package": (
        "plover.yaml", "  ports:", "  packages: {nobodys: [far.sv]}\n  ports:", "E080",
        "plover.yaml",
    ),
    "a formula of nothing": ("plover.yaml", "4 * 64", "lanes * 64", "E161", "plover.yaml"),
    "a mistake in what is included": (
        "include/far.svh", "`LANES", "`LANES\nwire;", "E114", "include/far.svh",
    ),
    "VHDL": ("plover.yaml", "[./far.f]", "[./far.f, ./far.vhd]", "E113", "plover.yaml"),
    "a port that nothing stands in for": (
        "plover.yaml", ": prdata", ": null", "E147", "plover.yaml",
    ),
    "a memory's file that is not there": (
        "far.sv", "  assign access",
        "  reg t_q[2];\n  initial $readmemh(\"t.hex\", t_q);\n  assign access", "E255", "far.sv",
    ),
    "a port that nobody ties": (
        "far.sv", "  input  logic        psel,",
        "  input  logic        psel,\n  input  logic        test_mode,", "E114", "plover.yaml",
    ),
}  # fmt: skip
"""File, what stands there, what is written instead, and the code and the file of the message."""


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_error(
    name: str, foreign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, right, wrong, code, place = MISTAKES[name]
    text = (foreign / file).read_text()
    assert right in text
    (foreign / file).write_text(text.replace(right, wrong))
    assert main(["check", str(foreign / "chip.yaml"), "--simulate"]) == 1
    said = capsys.readouterr().err
    assert re.findall(r"error\[(E\d+)\]", said) == [code], said
    assert re.search(rf"{re.escape(place)}:\d+:\d+: error", said), said
    assert "\n  help: " in said
    assert "Traceback" not in said
    if code == "E114" and place != "plover.yaml":
        assert "accelerator 'plover' is described here" in said


def edit(path: Path, *pairs: tuple[str, str]) -> None:
    text = path.read_text()
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new, 1)
    path.write_text(text)


ROM = """module far_rom #(parameter TABLE = "unnamed.hex");
  reg [7:0] t_q[2];
  if (TABLE == "unnamed.hex") begin : gen_unnamed
    initial $readmemh("unread.hex", t_q);
  end
  initial if (TABLE != "") $readmemh({TABLE}, t_q);
endmodule
module far #"""


def test_a_memory_s_file_that_a_parameter_names_is_asked_for(
    foreign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The name that an instance gives counts, not the default, nor one that is never read."""
    instances = '  far_rom #("t.hex") u_rom ();\n  far_rom #("") u_empty ();\n'
    edit(
        foreign / "far.sv",
        ("module far #", ROM),
        ("  assign access", f"{instances}  assign access"),
    )
    arguments = ["check", str(foreign / "chip.yaml"), "--simulate"]
    assert main(arguments) == 1
    said = capsys.readouterr().err
    assert re.findall(r"error\[(E\d+)\].* reads '(.*)' into a memory", said) == [("E255", "t.hex")]
    assert re.search(r"far.sv:11:\d+: error", said), said
    (foreign / "t.hex").write_text("a3 5c\n")
    assert main(arguments) == 0, capsys.readouterr().err


TRAITS = """
  // What others write: names, further ports, memory files, prints, widths that do not match.
  reg [7:0] table_q[2];
  reg [3:0] narrow;
  initial begin
    $readmemh(TABLE, table_q);
    $display("Far begins with %h", table_q[1]);
    narrow = table_q[0];
    if (narrow != 4'h3) $warning("Far has no table");
  end
  Old u_old (.clk(clock), .out(debug[0]));
  assign debug[2:1] = {test_mode, 1'b0};
endmodule
"""


OLD = """
module Old (clk, out);
  input clk;
  output out;
  reg int;
  assign out = int;
  always @(posedge clk) int <= 1'b1;
endmodule
"""


def test_what_others_write_runs_as_it_is(foreign: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A module in capitals, more ports and fewer, a memory file, prints, warnings of a linter."""
    edit(
        foreign / "far.sv",
        ("module far #(", 'module Far #(\n  parameter TABLE = "table.hex",'),
        ("output logic        pslverr", "output logic [ 2:0] debug"),
        (
            "input  logic        clock",
            "input  logic        test_mode,\n  input  logic        clock",
        ),
        ("  localparam logic [31:0] Id", "  logic pslverr;\n  localparam logic [31:0] Id"),
        ("endmodule", TRAITS),
    )
    edit(
        foreign / "plover.yaml",
        ("module: far", "module: Far"),
        ("s_apb_pslverr_o: pslverr", "s_apb_pslverr_o: null"),
        ("  ports:", "  ties: {test_mode: 0, debug: open}\n  ports:"),
    )
    (foreign / "old.v").write_text(OLD)
    edit(
        foreign / "plover.yaml",
        ("[./far.f]", "[./old.v, ./far.f]\n  language: verilog-2001"),
    )
    (foreign / "table.hex").write_text("a3 5c\n")
    arguments = ["run", str(foreign / "chip.yaml"), DIGITS, "--cpu", "native"]
    assert main([*arguments, "--accelerator", "rtl"]) == 0
    said = capsys.readouterr().out
    assert "10 of 10 layers bit-exact" in said
    assert "Verilator warns of the RTL of accelerator 'plover', WIDTHTRUNC once: far.sv:" in said
    assert "the RTL printed: Far begins with 5c" in said
    assert "Far has no table" not in said
    (foreign / "table.hex").write_text("a4 5c\n")
    assert main([*arguments, "--accelerator", "rtl"]) == 0, "read at each run, not when built"
    assert "Far has no table" in capsys.readouterr().out
    (foreign / "include" / "table.hex").write_text("a5 5c\n")
    assert main([*arguments, "--accelerator", "rtl"]) == 1
    assert "is another file than" in capsys.readouterr().err
    for folder in (foreign, foreign / "include"):
        (folder / "table.hex").unlink()
    assert main([*arguments, "--accelerator", "rtl"]) == 1
    said = capsys.readouterr().err
    assert re.search(
        r"plover.yaml:\d+:\d+: error\[E255\]: the RTL of accelerator 'plover' reads", said
    )
    assert "'table.hex' into a memory, and there is no such file" in said
