# SPDX-License-Identifier: Apache-2.0
"""What an author of an accelerator gets wrong is one error with its place and a remedy."""

import re
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from atoll.cli import main

ROOT = Path(__file__).parents[2]


class Mistake(NamedTuple):
    """A part of a file of the examples, what stands there instead, and what is said of it."""

    file: str
    right: str
    wrong: str
    code: str
    place: str
    everywhere: bool = False


IN_TEXT = {
    "register unknown in the sequence": Mistake(
        "11_systolic_array/loom.yaml", "{write: RESULT,", "{write: RESULTS,", "E161", "loom.yaml:79"
    ),
    "wait of an unknown register": Mistake(
        "11_systolic_array/loom.yaml", "{wait: STATUS,", "{wait: STATE,", "E161", "loom.yaml:87"
    ),
    "error reads unknown register": Mistake(
        "11_systolic_array/loom.yaml",
        "{read: STATUS, mask: 0x8",
        "{read: STATS, mask: 0x8",
        "E161",
        "loom.yaml:92",
    ),
    "identity of unknown register": Mistake(
        "11_systolic_array/loom.yaml", "identity: {ID:", "identity: {IDENT:", "E161", "loom.yaml:74"
    ),
    "unknown buffer": Mistake(
        "11_systolic_array/loom.yaml",
        "value: weights.address",
        "value: weight.address",
        "E161",
        "loom.yaml:77",
    ),
    "unknown name in formula": Mistake(
        "11_systolic_array/loom.yaml",
        "value: activation_min",
        "value: activation_minimum",
        "E161",
        "loom.yaml:84",
    ),
    "formula syntax": Mistake(
        "11_systolic_array/loom.yaml",
        "(8 * depth + 45))",
        "(8 * depth + 45)",
        "E012",
        "loom.yaml:39",
    ),
    "unknown operator": Mistake(
        "11_systolic_array/loom.yaml",
        "  FULLY_CONNECTED:",
        "  FULLY_CONECTED:",
        "E116",
        "loom.yaml:51",
    ),
    "unknown key": Mistake(
        "11_systolic_array/loom.yaml", "  clear: [", "  cleer: [", "E011", "loom.yaml:88"
    ),
    "protocol unknown": Mistake(
        "11_systolic_array/loom.yaml", "control: obi", "control: ahb", "E012", "loom.yaml:8"
    ),
    "data protocol unknown": Mistake(
        "11_systolic_array/loom.yaml",
        "{protocol: obi, bytes: 8}",
        "{protocol: axi5, bytes: 8}",
        "E012",
        "loom.yaml:9",
    ),
    "two registers one offset": Mistake(
        "11_systolic_array/loom.yaml", "LOW: 0x030", "LOW: 0x02C", "E031", "loom.yaml:26"
    ),
    "register misaligned": Mistake(
        "11_systolic_array/loom.yaml", "LOW: 0x030", "LOW: 0x031", "E038", "loom.yaml:26"
    ),
    "register outside": Mistake(
        "11_systolic_array/loom.yaml", "HIGH: 0x034", "HIGH: 0x1034", "E038", "loom.yaml:27"
    ),
    "layout order": Mistake(
        "11_systolic_array/loom.yaml",
        "output: {order: CNHWc, block: 8}",
        "output: {order: CNHWW, block: 8}",
        "E012",
        "loom.yaml:42",
    ),
    "layout block missing": Mistake(
        "11_systolic_array/loom.yaml",
        "output: {order: CNHWc, block: 8}",
        "output: {order: CNHWc}",
        "E155",
        "loom.yaml:42",
    ),
    "limit without number": Mistake(
        "11_systolic_array/loom.yaml",
        "depth: {max: 128}",
        "depth: {max: many}",
        "E012",
        "loom.yaml:33",
    ),
    "limit unknown feature": Mistake(
        "11_systolic_array/loom.yaml",
        "positions: {max: 65535}",
        "place: {max: 65535}",
        "E117",
        "loom.yaml:34",
    ),
    "limit min over max": Mistake(
        "11_systolic_array/loom.yaml",
        "depth: {max: 128}",
        "depth: {min: 129, max: 128}",
        "E045",
        "loom.yaml:33",
    ),
    "pack no file": Mistake(
        "11_systolic_array/loom.yaml",
        "pack: ./loom.py:weights",
        "pack: ./lom.py:weights",
        "E041",
        "loom.yaml:44",
    ),
    "pack no function": Mistake(
        "11_systolic_array/loom.yaml",
        "pack: ./loom.py:weights",
        "pack: ./loom.py:weight",
        "E041",
        "loom.yaml:44",
    ),
    "reference no function": Mistake(
        "11_systolic_array/loom.yaml",
        "reference: ./loom.py:product",
        "reference: ./loom.py:prod",
        "E041",
        "loom.yaml:30",
    ),
    "python syntax": Mistake(
        "11_systolic_array/loom.py", "def weights(", "def weights((", "E041", "loom.yaml:44"
    ),
    "python import": Mistake(
        "11_systolic_array/loom.py", "import numpy", "import numpyy", "E041", "loom.yaml:44"
    ),
    "interrupt said, none in RTL": Mistake(
        "10_vector_engine/plover.yaml", "interrupt: none", "interrupt: level", "E010", "chip.yaml:8"
    ),
    "data port said, none in RTL": Mistake(
        "10_vector_engine/plover.yaml",
        "data: {}",
        "data: {m: {protocol: axi4}}",
        "E160",
        "plover.yaml:222",
    ),
    "negative repeat name": Mistake(
        "10_vector_engine/plover.yaml",
        "times: ceil(elements, 32)\n        do:\n          - {push: A, buffer: input, offset",
        "time: ceil(elements, 32)\n        do:\n          - {push: A, buffer: input, offset",
        "E011",
        "plover.yaml:64",
    ),
    "push of unknown buffer": Mistake(
        "10_vector_engine/plover.yaml",
        "{push: B, buffer: input2, offset: 32 * block,",
        "{push: B, buffer: input3, offset: 32 * block,",
        "E161",
        "plover.yaml:223",
    ),
    "pattern of unknown step": Mistake(
        "10_vector_engine/plover.yaml",
        "sum_input1_multiplier",
        "sums_input1_multiplier",
        "E161",
        "plover.yaml:165",
    ),
    "version": Mistake(
        "11_systolic_array/loom.yaml", "version: 1", "version: 9", "E015", "loom.yaml:4"
    ),
    "tab in yaml": Mistake(
        "11_systolic_array/loom.yaml", "  control: obi", "\tcontrol: obi", "E003", "loom.yaml:8"
    ),
    "mask too wide": Mistake(
        "11_systolic_array/loom.yaml",
        "{wait: STATUS, mask: 0x1, equals: 0}",
        "{wait: STATUS, mask: 0x1FFFFFFFF, equals: 0}",
        "E012",
        "loom.yaml:87",
    ),
    "constant unused name": Mistake(
        "11_systolic_array/loom.yaml",
        "{write: CHANNELS, value: channels.address}",
        "{write: CHANNELS, value: chanels.address}",
        "E161",
        "loom.yaml:78",
    ),
    "input not taken": Mistake(
        "10_vector_engine/plover.yaml",
        "times: out_width",
        "times: out_wide",
        "E161",
        "plover.yaml:90",
    ),
}
"""Found without a tool."""

IN_RTL = {
    "bytes too few against RTL": Mistake(
        "11_systolic_array/loom.yaml",
        "{protocol: obi, bytes: 8}",
        "{protocol: obi, bytes: 16}",
        "E114",
        "loom.yaml:96",
    ),
    "no such source": Mistake(
        "11_systolic_array/loom.yaml", "./loom_scale.sv", "./loom_scaler.sv", "E113", "loom.yaml:97"
    ),
    "module missing": Mistake(
        "11_systolic_array/loom.yaml", "module: loom\n", "module: looom\n", "E114", "loom.yaml:96"
    ),
    "submodule not listed": Mistake(
        "11_systolic_array/loom.yaml", " ./loom_scale.sv,", "", "E114", "loom_engine.sv:321"
    ),
    "port renamed": Mistake(
        "10_vector_engine/plover.sv",
        "s_apb_penable_i",
        "s_apb_enable_i",
        "E114",
        "plover.yaml:230",
        everywhere=True,
    ),
    "port width": Mistake(
        "10_vector_engine/plover.sv",
        "[11:0] s_apb_paddr_i",
        "[7:0] s_apb_paddr_i",
        "E114",
        "plover.yaml:230",
    ),
    "port direction": Mistake(
        "10_vector_engine/plover.sv",
        "output logic        s_apb_pready_o",
        "input  logic        s_apb_pready_o",
        "E114",
        "plover.sv:92",
    ),
    "sv syntax": Mistake(
        "10_vector_engine/plover.sv", "endmodule", "endmodul", "E114", "plover.sv:421"
    ),
    "undeclared signal": Mistake(
        "10_vector_engine/plover.sv", "kept_q < 0", "keptt_q < 0", "E114", "plover.sv:367"
    ),
}
"""Found by elaborating the RTL in the chip."""


@pytest.mark.parametrize("name", IN_TEXT)
def test_a_mistake_is_one_error(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expect(IN_TEXT[name], tmp_path, capsys)


@pytest.mark.slow
@pytest.mark.rtl
@pytest.mark.parametrize("name", IN_RTL)
def test_a_mistake_of_the_rtl_is_one_error(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expect(IN_RTL[name], tmp_path, capsys, "--simulate")


def expect(
    mistake: Mistake, folder: Path, capsys: pytest.CaptureFixture[str], *options: str
) -> None:
    for name in ("10_vector_engine", "11_systolic_array"):
        shutil.copytree(ROOT / "examples" / name, folder / "examples" / name)
    shutil.copytree(ROOT / "socs", folder / "socs")
    path = folder / "examples" / mistake.file
    text = path.read_text()
    assert mistake.right in text
    often = text.count(mistake.right) if mistake.everywhere else 1
    path.write_text(text.replace(mistake.right, mistake.wrong, often))
    assert main(["check", str(path.parent / "chip.yaml"), *options]) == 1
    said = capsys.readouterr().err
    assert re.findall(r"error\[(E[0-9]+)\]", said) == [mistake.code]
    assert f"{mistake.place}:" in said
    assert "help: " in said
