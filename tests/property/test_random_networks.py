# SPDX-License-Identifier: Apache-2.0
"""Random networks either run bit-exactly as planned or are refused for lack of memory.

They run on the host's own CPU with the accelerators' software models.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.effort import cases, in_gate
from tests.requests import load_requests

from atoll.artifacts.samples import random_sample
from atoll.diagnostics.errors import AtollError
from atoll.driver.pipeline import BuildOptions, compile_file, with_plan
from atoll.frontend.tflite.load import load_tflite
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models

ISLANDS = Path(__file__).parents[1] / "data" / "islands.yaml"
CHIPS = ("lagoon", "atoll2", "twin", str(ISLANDS))
GROUPS = cases(6)
PER_GROUP = 12

EXTENTS = (1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 32, 96)
CHANNELS = (1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 31, 32, 65, 128)
KERNELS = (1, 1, 2, 3, 3, 5)
GREATEST_WEIGHTS = 200_000
GREATEST_TENSOR = 40_000


@dataclass
class Network:
    """A chain of operators, each of which fits what is before it."""

    builder: ModuleType
    chance: random.Random
    tensors: list[Any] = field(default_factory=list)
    operators: list[Any] = field(default_factory=list)

    def begin(self) -> None:
        pick = self.chance.choice
        self.activation((1, pick(EXTENTS), pick(EXTENTS), pick(CHANNELS)))

    @property
    def shape(self) -> tuple[int, ...]:
        shape: tuple[int, ...] = self.tensors[self.last].shape
        return shape

    def activation(self, shape: tuple[int, ...], like: Any = None) -> int:
        scales = like.scales if like else (self.chance.choice((0.05, 0.1, 0.001, 3.0)),)
        points = like.zero_points if like else (self.chance.randint(-128, 127),)
        tensor = self.builder.Tensor(shape=shape, scales=scales, zero_points=points)
        self.last = self.add(tensor)
        return self.last

    def constant(self, shape: tuple[int, ...], axis: int = 0, scales: int = 1) -> int:
        """Add weights with one scale, or with one for every channel along `axis`."""
        data = np.random.default_rng(self.chance.randrange(2**32)).integers(-127, 128, shape)
        quantization = {"scales": (0.01,) * scales, "zero_points": (0,) * scales, "axis": axis}
        return self.add(self.builder.Tensor(shape=shape, data=data.astype(np.int8), **quantization))

    def numbers(self, values: Any) -> int:
        data = np.array(values, np.int32)
        return self.add(self.builder.Tensor(shape=data.shape, dtype="int32", data=data))

    def add(self, tensor: Any) -> int:
        self.tensors.append(tensor)
        return len(self.tensors) - 1

    def operator(self, code: str, inputs: tuple[int, ...], table: str = "", **options: int) -> None:
        """Add an operator that writes the newest activation."""
        self.operators.append(
            self.builder.Operator(
                code=code, inputs=inputs, outputs=(self.last,), table=table, options=options
            )
        )

    def window(self) -> tuple[int, int, int, int, dict[str, int]]:
        """Choose a window that fits; return its extents, those of the output, and the options."""
        _, height, width, _ = self.shape
        rows, columns = (min(self.chance.choice(KERNELS), extent) for extent in (height, width))
        down, right = self.chance.choice((1, 1, 2, 3)), self.chance.choice((1, 1, 2, 3))
        valid = self.chance.randrange(2)
        out = (
            -(-(height - valid * (rows - 1)) // down),
            -(-(width - valid * (columns - 1)) // right),
        )
        activation = self.chance.choice((0, 1, 3))
        options = {"StrideH": down, "StrideW": right, "Padding": valid}
        return rows, columns, *out, options | {"FusedActivationFunction": activation}

    def convolution(self) -> None:
        x, (*_, channels) = self.last, self.shape
        rows, columns, height, width, options = self.window()
        count = self.chance.choice(CHANNELS)
        if rows * columns * channels * count <= GREATEST_WEIGHTS:
            scales = self.chance.choice((1, count))
            weights = self.constant((count, rows, columns, channels), scales=scales)
            bias = self.numbers(range(-count, count, 2))
            self.activation((1, height, width, count))
            self.operator("CONV_2D", (x, weights, bias), "Conv2DOptions", **options)

    def depthwise(self) -> None:
        x, (*_, channels) = self.last, self.shape
        rows, columns, height, width, options = self.window()
        multiplier = self.chance.choice((1, 1, 2))
        count = channels * multiplier
        scales = self.chance.choice((1, count))
        weights = self.constant((1, rows, columns, count), axis=3, scales=scales)
        self.activation((1, height, width, count))
        options |= {"DepthMultiplier": multiplier}
        self.operator("DEPTHWISE_CONV_2D", (x, weights), "DepthwiseConv2DOptions", **options)

    def pool(self) -> None:
        x, (*_, channels) = self.last, self.shape
        rows, columns, height, width, options = self.window()
        self.activation((1, height, width, channels), like=self.tensors[x])
        code = self.chance.choice(("MAX_POOL_2D", "AVERAGE_POOL_2D"))
        options |= {"FilterHeight": rows, "FilterWidth": columns}
        self.operator(code, (x,), "Pool2DOptions", **options)

    def arithmetic(self) -> None:
        x, shape = self.last, self.shape
        other = self.chance.choice((x, self.constant(shape[3:]), self.constant((*shape[:3], 1))))
        self.activation(shape)
        code, table = self.chance.choice((("ADD", "AddOptions"), ("MUL", "MulOptions")))
        self.operator(code, (x, other), table)

    def pad(self) -> None:
        x, (_, height, width, channels) = self.last, self.shape
        (top, bottom), (left, right) = ((self.chance.randrange(3), 1) for _ in range(2))
        paddings = self.numbers(((0, 0), (top, bottom), (left, right), (0, 0)))
        shape = (1, height + top + bottom, width + left + right, channels)
        self.activation(shape, like=self.tensors[x])
        self.operator("PAD", (x, paddings))

    def concatenation(self) -> None:
        x, (_, height, width, channels) = self.last, self.shape
        self.activation((1, height, width, 2 * channels), like=self.tensors[x])
        self.operator("CONCATENATION", (x, x), "ConcatenationOptions", Axis=3)

    def dense(self) -> None:
        x, depth = self.last, int(np.prod(self.shape))
        flat = self.activation((1, depth), like=self.tensors[x])
        self.operator("RESHAPE", (x,))
        weights, bias = self.constant((10, depth)), self.numbers(range(10))
        self.activation((1, 10))
        self.operator("FULLY_CONNECTED", (flat, weights, bias), "FullyConnectedOptions")

    def written(self) -> bytes:
        """Return the file."""
        model = self.builder.Model(
            tensors=tuple(self.tensors),
            operators=tuple(self.operators),
            inputs=(0,),
            outputs=(self.last,),
        )
        data: bytes = self.builder.write(model)
        return data


STEPS: tuple[Callable[[Network], None], ...] = (
    Network.convolution,
    Network.convolution,
    Network.depthwise,
    Network.depthwise,
    Network.pool,
    Network.arithmetic,
    Network.pad,
    Network.concatenation,
)


def random_network(builder: ModuleType, chance: random.Random) -> bytes:
    """Return a TFLite file of 2 to 8 operators."""
    network = Network(builder, chance)
    network.begin()
    network.arithmetic()
    for _ in range(chance.randrange(1, 6)):
        if np.prod(network.shape) < GREATEST_TENSOR:
            chance.choice(STEPS)(network)
    if np.prod(network.shape) * 10 < GREATEST_WEIGHTS and chance.random() < 0.5:
        network.dense()
    return network.written()


def runs_as_planned(
    path: Path,
    soc: ResolvedSoc,
    *,
    accelerators: bool = True,
    cpu: CpuKind = CpuKind.NATIVE,
    wishes: Sequence[str] = (),
) -> bool:
    """Tell whether a network ran; the only other end is that the chip has too little memory."""
    options = BuildOptions(accelerators=accelerators, requests=load_requests(None, wishes))
    try:
        compiled = compile_file(soc, path, options)
    except AtollError as error:
        faults = error.faults
    else:
        kind = AcceleratorKind.MODEL if cpu is CpuKind.NATIVE else AcceleratorKind.RTL
        kind = kind if accelerators else AcceleratorKind.NONE
        samples = random_sample(compiled.graph)
        report = run_models((compiled,), (samples,), cpu=cpu, accelerator=kind)[0].report
        assert report.passed, (report.mismatches, report.violations)
        return True
    assert all(fault.code in ("E061", "E062") and fault.remedy for fault in faults), faults
    return False


@pytest.mark.parametrize("group", range(GROUPS))
def test_random_networks(group: int, tmp_path: Path, tflite_builder: ModuleType) -> None:
    chance = random.Random(f"networks {group}")
    path = tmp_path / "network.tflite"
    ran = 0
    for _ in range(PER_GROUP):
        path.write_bytes(random_network(tflite_builder, chance))
        soc = load_soc(chance.choice(CHIPS))
        ran += runs_as_planned(path, soc, accelerators=chance.random() < 0.8)
    assert ran > PER_GROUP // 2


def on_either_core(path: Path, chance: random.Random) -> list[str]:
    """Ask for the second core for about half of a network's operators."""
    return [f"{op.name}=dsp" for op in load_tflite(path).operators if chance.random() < 0.5]


@pytest.mark.parametrize("group", range(cases(2)))
def test_d3_random_networks_on_two_cores(
    group: int, tmp_path: Path, tflite_builder: ModuleType, duo: Callable[..., ResolvedSoc]
) -> None:
    """Whatever runs where, and under whichever stack limit: the bytes are the reference's."""
    chance = random.Random(f"cores {group}")
    path = tmp_path / "network.tflite"
    ran = 0
    for _ in range(PER_GROUP):
        path.write_bytes(random_network(tflite_builder, chance))
        limits = (chance.choice((0, 64, 4096)) for _ in range(2))
        keys = (f"devices.{core}.limits.max_stack_alloca_size" for core in ("cpu", "dsp"))
        soc = duo(*(f"{key}={limit}" for key, limit in zip(keys, limits, strict=True)))
        wishes = on_either_core(path, chance)
        ran += runs_as_planned(path, soc, accelerators=chance.random() < 0.5, wishes=wishes)
    assert ran > PER_GROUP // 2


@pytest.mark.rtl
@pytest.mark.parametrize(
    "chip",
    in_gate([*CHIPS[::2], *CHIPS[1::2]], 0),
    ids=lambda chip: Path(chip).stem,
)
@pytest.mark.parametrize(
    "count", [3, pytest.param(40, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_random_networks_in_full_rtl(
    chip: str, count: int, tmp_path: Path, tflite_builder: ModuleType
) -> None:
    path = tmp_path / "network.tflite"
    ran = 0
    for seed in range(count):
        path.write_bytes(
            random_network(tflite_builder, random.Random(f"{Path(chip).stem}{seed}{count}"))
        )
        ran += runs_as_planned(path, load_soc(chip), cpu=CpuKind.RTL)
    assert ran > count // 2


def runs_overlapping(path: Path, chip: str, planner: ModuleType, cpu: CpuKind) -> int:
    """Run a network whose results lie over their operands; count those, 0 if it does not fit."""
    options = BuildOptions(requests=load_requests(None, overlap="all"))
    try:
        compiled = compile_file(load_soc(chip), path, options)
    except AtollError:
        return 0
    moved = with_plan(compiled, planner.overlapping(compiled.plan))
    kind = AcceleratorKind.MODEL if cpu is CpuKind.NATIVE else AcceleratorKind.RTL
    report = run_models((moved,), (random_sample(moved.graph),), cpu=cpu, accelerator=kind)[
        0
    ].report
    assert report.passed, (report.mismatches, report.violations)
    return int(planner.overlapping_pairs(moved.plan))


@pytest.mark.parametrize("group", range(GROUPS))
def test_m2_results_over_operands(
    group: int, tmp_path: Path, tflite_builder: ModuleType, overlap_planner: ModuleType
) -> None:
    chance = random.Random(f"overlaps {group}")
    path = tmp_path / "network.tflite"
    overlaps = 0
    for _ in range(PER_GROUP):
        path.write_bytes(random_network(tflite_builder, chance))
        chip = chance.choice(CHIPS)
        overlaps += runs_overlapping(path, chip, overlap_planner, CpuKind.NATIVE)
    assert overlaps > PER_GROUP // 2


@pytest.mark.rtl
@pytest.mark.parametrize(
    "count", [3, pytest.param(40, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_m2_results_over_operands_in_full_rtl(
    count: int, tmp_path: Path, tflite_builder: ModuleType, overlap_planner: ModuleType
) -> None:
    """40 networks have 40 pairs, fewer than when reef moved and added nothing: it starts afresh."""
    path = tmp_path / "network.tflite"
    overlaps = 0
    for seed in range(count):
        path.write_bytes(random_network(tflite_builder, random.Random(f"overlaps {seed}")))
        overlaps += runs_overlapping(path, "lagoon", overlap_planner, CpuKind.RTL)
    assert overlaps > count // 2
