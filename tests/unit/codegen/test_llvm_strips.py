# SPDX-License-Identifier: Apache-2.0
"""Vectorized loops become strips of RISC-V's vectors, of any length and without a spill."""

import random
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from tests.effort import cases
from tests.property.test_random_networks import Network

from atoll.codegen.llvm_kernels import emit_functions
from atoll.codegen.llvm_machine import core_machine, new_module, optimize
from atoll.diagnostics.errors import AtollError
from atoll.driver.pipeline import BuildOptions, compile_file
from atoll.ir.builder import FunctionBuilder
from atoll.ir.expressions import add, clamp, multiply
from atoll.ir.tir import Direction, Expr, PrimFunc, Type
from atoll.isa.find import instruction_set
from atoll.lower.to_tir import with_callees
from atoll.ops.loops.fixed_point_loops import rdbp, sdhm, srdhm
from atoll.resolve import load_soc

CHIPS = Path(__file__).parents[3] / "examples" / "08_qemu_machines"
ISAS = ("rv32imafdc_zve32x", "rv32imc_zve32x_zvl256b", "rv64gcv", "rv64gcv_zvl512b")
CHANNELS, TAPS, PIXELS = 10, 36, 4
CHOICES = (Network.convolution, Network.depthwise, Network.pool, Network.arithmetic)


def convolution() -> PrimFunc:
    """Add products of inputs and of weights that lie across the channels, and scale the sums."""
    builder = FunctionBuilder("convolution")
    x = builder.buffer("x", Type.I8, PIXELS * TAPS, Direction.READ)
    w = builder.buffer("w", Type.I8, TAPS * CHANNELS, Direction.READ)
    shifts = builder.buffer("shifts", Type.I32, CHANNELS, Direction.READ)
    y = builder.buffer("y", Type.I8, PIXELS * CHANNELS, Direction.WRITE)
    with builder.loop("lane", 0, CHANNELS, vectorized=True) as lane:
        totals = [builder.allocate("total", Type.I32, 1) for _ in range(PIXELS)]
        for total in totals:
            total[0] = 0
        with builder.loop("i", 0, TAPS) as i:
            weight = builder.let("weight", w.wide(add(multiply(i, CHANNELS), lane)))
            for pixel, total in enumerate(totals):
                value = builder.let("value", x.wide(add(i, pixel * TAPS)))
                total[0] = add(total[0], builder.let("product", multiply(value, weight)))
        for pixel, total in enumerate(totals):
            scaled: Expr = rdbp(srdhm(total[0], 2**30), shifts[lane])
            y[add(lane, pixel * CHANNELS)] = clamp(scaled, -128, 127)
    return builder.kernel()


def copy() -> PrimFunc:
    builder = FunctionBuilder("copied")
    x = builder.buffer("x", Type.I8, 100, Direction.READ)
    y = builder.buffer("y", Type.I8, 100, Direction.WRITE)
    with builder.loop("i", 0, 100, vectorized=True) as i:
        y[i] = x[i]
    return builder.kernel()


def high_halves() -> PrimFunc:
    builder = FunctionBuilder("halves")
    x = builder.buffer("x", Type.I32, 8, Direction.READ)
    y = builder.buffer("y", Type.I32, 8, Direction.WRITE)
    with builder.loop("i", 0, 8, vectorized=True) as i:
        y[i] = add(srdhm(x[i], 2**30 + 1), sdhm(x[i], 2**30 + 3))
    return builder.kernel()


def assembly(function: PrimFunc, isa: str) -> str:
    kind = instruction_set(isa)
    machine = core_machine(kind.llvm)
    module = new_module("m", machine)
    emit_functions(module, with_callees([function]), "", vectors=kind.vectors)
    return str(machine.emit_assembly(optimize(module, machine, 3)))


@pytest.mark.parametrize("isa", ISAS)
def test_a_weight_serves_all_pixels_and_sums_stay_in_registers(isa: str) -> None:
    text = assembly(convolution(), isa)
    counts = [text.count(f"\t{name}\t") for name in ("vle8.v", "vsext.vf2", "vwmacc.vx")]
    assert counts[0] == counts[1] > 0
    assert counts[2] == PIXELS * counts[0]
    assert "vlenb" not in text
    assert [text.count(f"\t{name}") for name in ("vsmul.v", "vssra.v")] == [PIXELS, PIXELS]
    lengths = re.findall(r"vsetvli\t(\w+), (\w+), e32, m4", text)
    asked = [each for each in lengths if each[0] != "zero"]
    assert len(asked) == 1, "one strip has one length, whatever the widths of its elements"


def test_bytes_that_are_only_moved_fill_eight_registers() -> None:
    text = assembly(copy(), ISAS[0])
    assert re.search(r"vsetvli\t\w+, \w+, e8, m8", text)
    assert text.count("vle8.v") == text.count("vse8.v") == 1


def test_high_halves_are_rounded_as_the_scalar_functions_do() -> None:
    """Modes of vxrm: 0 is to nearest with halves up, 2 is down."""
    text = assembly(high_halves(), ISAS[0])
    parts = text.split("vsmul.v")[:-1]
    assert [re.findall(r"csrwi\tvxrm, (\d)", part)[-1] for part in parts] == ["0", "2"]


def kernels(network: Path, isa: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the assembly of each kernel of a network."""
    soc = load_soc(str(CHIPS / f"virt_{isa[:4]}.yaml"), (f"devices.cpu.isa={isa}",))
    compiled = compile_file(soc, network, BuildOptions(accelerators=False))
    kind = soc.host_cpu.instructions
    machine = core_machine(kind.llvm)
    module = new_module("m", machine)
    emit_functions(module, compiled.module.functions, "", vectors=kind.vectors)
    text = str(machine.emit_assembly(optimize(module, machine, 3)))
    for part in text.split("\t.section\t.text.")[1:]:
        yield part.partition(",")[0], part


@pytest.mark.slow
@pytest.mark.parametrize("isa", ["rv32imafdc_zve32x", "rv64gcv"])
def test_no_kernel_spills_a_vector(isa: str, tflite_builder: ModuleType, tmp_path: Path) -> None:
    """A frame of so many vectors has no size that is known before the code runs."""
    made = 0
    path = tmp_path / "network.tflite"
    for seed in range(cases(200, least=40)):
        network = Network(tflite_builder, random.Random(f"spills {seed}"))
        network.begin()
        for _ in range(4):
            network.chance.choice(CHOICES)(network)
        network.dense()
        path.write_bytes(network.written())
        try:
            found = [*kernels(path, isa)]
        except AtollError:
            continue
        made += sum("vsetvli" in text for _, text in found)
        assert not [name for name, text in found if "vlenb" in text], f"seed {seed}"
    assert made > 100
