# SPDX-License-Identifier: Apache-2.0
"""Layouts hold every element once, rows lead there and back, and networks stay exact in them."""

import random
from contextlib import suppress
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from tests.effort import cases
from tests.property.test_random_networks import random_network, runs_as_planned

from atoll.diagnostics.errors import AtollError
from atoll.driver.pipeline import compile_file
from atoll.ir.layout_moves import fillings, moves
from atoll.ir.layouts import Layout, Patches
from atoll.ops.registry import RELAYOUT
from atoll.resolve import load_soc

FILL = -7
LAYOUTS = cases(400)
CHIPS = cases(6)
PER_CHIP = 6
AGREEING = cases(4)
MOST_DRAWN, WANTED = 400, 2
MOVERS = ("cpu", "dma", "npu")
"""Who changes layouts on the chips that are drawn."""
LAGOON = (Path(__file__).parents[2] / "socs" / "lagoon.yaml").read_text()
DMA = """  dma: {kind: dma, engine: ripple, registers: 0x4001_0000, irq: 4, moves: [[sram, sram]]}
"""


def drawn(chance: random.Random) -> Layout:
    """Return a layout of a small image."""

    def pair(low: int, high: int) -> tuple[int, int]:
        return chance.randint(low, high), chance.randint(low, high)

    count, channels = chance.choice((1, 1, 2)), chance.randint(1, 19)
    block = chance.choice((1, 1, 2, 4, 8))
    order = "".join(chance.sample("NHWC", 4)) + ("c" if block > 1 else "")
    patches = Patches(
        kernel=pair(1, 4), stride=pair(1, 3), dilation=pair(1, 2), before=pair(0, 2),
        places=pair(1, 5),
    )  # fmt: skip
    return Layout(
        image=(count, *pair(1, 7), channels),
        order=order,
        block=block,
        row=chance.choice((1, 1, 4, 16)),
        patches=patches if chance.random() < 0.5 else None,
        fill=FILL,
    )


def test_rows_make_a_layout_and_unmake_it() -> None:
    chance = random.Random(1)
    for _ in range(LAYOUTS):
        layout = drawn(chance)
        image = np.random.default_rng(chance.getrandbits(32)).integers(-128, 128, layout.image)
        values = image.astype(np.int8)
        laid, plain = layout.store(values), values.reshape(-1)
        made = np.full(layout.elements, FILL, np.int8)
        back = np.full(plain.size, FILL, np.int8)
        moved = np.zeros(layout.elements, np.int64)
        for rows in moves(layout):
            for plane in range(rows.planes):
                for row in range(rows.rows):
                    steps = [row * rows.row[side] + plane * rows.plane[side] for side in (0, 1)]
                    one = slice(rows.plain + steps[0], rows.plain + steps[0] + rows.run)
                    other = slice(rows.laid + steps[1], rows.laid + steps[1] + rows.run)
                    made[other], back[one] = plain[one], laid[other]
                    moved[other] += 1
        assert np.array_equal(made, laid), layout
        assert moved.max() <= 1, layout
        assert np.array_equal(np.flatnonzero(layout.sources() < 0), np.flatnonzero(moved == 0))
        assert np.array_equal(back, layout.load(laid).reshape(-1)), layout
        if layout.patches is None:
            assert np.array_equal(back, plain)
        empty = np.flatnonzero(layout.sources() < 0)
        assert set(empty) <= set(fillings(layout))
        assert bool(fillings(layout)) is bool(empty.size)


def test_known_layouts() -> None:
    image = (1, 2, 3, 5)
    values = np.arange(30, dtype=np.int8).reshape(image)
    planes = Layout(image, "NCHW").store(values)
    assert planes.tolist() == values.transpose(0, 3, 1, 2).reshape(-1).tolist()
    blocks = Layout(image, "NCHWc", 4, fill=FILL).store(values).reshape(2, 2, 3, 4)
    assert blocks[0, 1, 2].tolist() == values[0, 1, 2, :4].tolist()
    assert blocks[1, 1, 2].tolist() == [values[0, 1, 2, 4], FILL, FILL, FILL]
    rows = Layout(image, row=16, fill=FILL).store(values).reshape(2, 16)
    assert rows[1].tolist() == [*range(15, 30), FILL]
    assert Layout(image).is_plain()
    assert Layout((1, 1, 1, 8), "CNHWc", 8).is_plain()
    assert not Layout((1, 1, 1, 9), "CNHWc", 8).is_plain()


def accelerator(chance: random.Random, *, moves: bool) -> str:
    """Return the description of an accelerator whose operands lie anyhow; it may move them too."""

    def rule(*, windows: bool) -> str:
        block = chance.choice((1, 4, 8))
        order = "".join(chance.sample("NHWC", 4)) + ("c" if block > 1 else "")
        patches = ", patches: true" if windows and chance.random() < 0.5 else ""
        row = chance.choice((1, 1, 16))
        blocks = f", block: {block}" if block > 1 else ""
        return f"{{order: {order}{blocks}, row: {row}{patches}}}"

    lines = ["accelerator: laid", "version: 1", "operators:"]
    kinds = {
        "CONV_2D": ("input",), "DEPTHWISE_CONV_2D": ("input",), "ADD": ("input1", "input2"),
        "AVERAGE_POOL_2D": ("input",), "FULLY_CONNECTED": ("input",), "PAD": ("input",),
    }  # fmt: skip
    for kind, operands in kinds.items():
        lines += [f"  {kind}:", "    cost: 10", "    layouts:"]
        windows = kind in ("CONV_2D", "DEPTHWISE_CONV_2D", "AVERAGE_POOL_2D")
        lines += [f"      {name}: {rule(windows=windows)}" for name in operands]
        lines.append(f"      output: {rule(windows=False)}")
    return "\n".join([*lines, *["  RELAYOUT: {cost: 5}"] * moves]) + "\n"


def agreeing(chance: random.Random) -> str:
    """Return the description of one whose convolutions all want the same; it does not add."""
    block = chance.choice((1, 4, 8))
    order = chance.choice(("NCHW", "CNHW", "WCHN")) + ("c" if block > 1 else "")
    blocks = f", block: {block}" if block > 1 else ""
    layouts = ", ".join(f"{name}: {{order: {order}{blocks}}}" for name in ("input", "output"))
    kinds = ("CONV_2D", "DEPTHWISE_CONV_2D", "MAX_POOL_2D", "AVERAGE_POOL_2D")
    operators = "".join(f"  {kind}: {{cost: 10, layouts: {{{layouts}}}}}\n" for kind in kinds)
    return f"accelerator: laid\nversion: 1\noperators:\n{operators}"


@pytest.mark.parametrize("seed", range(AGREEING))
def test_cores_compute_in_the_layouts_of_accelerators(
    seed: int, tmp_path: Path, tflite_builder: ModuleType
) -> None:
    """ADD, MUL and QUANTIZE on a core take what accelerators around them make, as it lies."""
    chance = random.Random(f"agreeing {seed}")
    soc = load_soc(str(chip_with(tmp_path, agreeing(chance), "")))
    path = tmp_path / "network.tflite"
    taken = 0
    for _ in range(MOST_DRAWN):
        path.write_bytes(random_network(tflite_builder, chance))
        with suppress(AtollError):
            graph = compile_file(soc, path).graph
            own = [op for op in graph.operators if op.device == "cpu" and op.kind != RELAYOUT]
            if any(graph.results(op)[0].layout for op in own):
                assert runs_as_planned(path, soc)
                taken += 1
        if taken == WANTED:
            return
    raise AssertionError(f"only {taken}")


def test_a_residual_network_keeps_its_layout(shared_models: Path, tmp_path: Path) -> None:
    """Its sums are computed as convolutions leave their terms: two changes are enough."""
    layouts = "layouts: {input: {order: NCHWc, block: 8}, output: {order: NCHWc, block: 8}}"
    text = f"accelerator: laid\nversion: 1\noperators:\n  CONV_2D: {{cost: 10, {layouts}}}\n"
    soc = load_soc(str(chip_with(tmp_path, text, "")))
    path = shared_models / "pretrainedResnet_quant.tflite"
    assert runs_as_planned(path, soc)
    graph = compile_file(soc, path).graph
    changed = [op for op in graph.operators if op.kind == RELAYOUT]
    assert len(changed) == 3
    sums = [op for op in graph.operators if op.kind == "add"]
    assert [graph.results(op)[0].layout is not None for op in sums] == [True, True, False]


def chip_with(folder: Path, description: str, dma: str) -> Path:
    """Write lagoon with another accelerator, and with a DMA engine if one is given."""
    (folder / "laid.yaml").write_text(description)
    params = "    params: {input_lanes: 8, output_lanes: 8, vector: 2}\n"
    text = LAGOON.replace(params, "").replace("accelerator: reef", "accelerator: ./laid.yaml")
    if dma:
        text = text.replace("\nmemories:", f"{dma}\nmemories:").replace(
            "npu: ro}", "npu: ro, dma: ro}"
        )
        for reach in ("rw", "none"):
            text = text.replace(f"npu: {reach}}}", f"npu: {reach}, dma: {reach}}}")
    (folder / "chip.yaml").write_text(text)
    return folder / "chip.yaml"


@pytest.mark.parametrize("seed", range(CHIPS))
def test_networks_stay_exact(seed: int, tmp_path: Path, tflite_builder: ModuleType) -> None:
    chance = random.Random(f"layouts {seed}")
    mover = MOVERS[seed % len(MOVERS)]
    text = accelerator(chance, moves=mover == "npu")
    soc = load_soc(str(chip_with(tmp_path, text, DMA if mover == "dma" else "")))
    path = tmp_path / "network.tflite"
    ran, changed = 0, set[str]()
    for _ in range(PER_CHIP):
        path.write_bytes(random_network(tflite_builder, chance))
        if runs_as_planned(path, soc):
            ran += 1
            operators = compile_file(soc, path).graph.operators
            changed |= {op.device for op in operators if op.kind == RELAYOUT}
    assert ran > PER_CHIP // 2
    assert mover in changed
