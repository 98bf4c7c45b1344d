# SPDX-License-Identifier: Apache-2.0
"""A TFLite network in the making: its tensors, operators, and what the next operator may read."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import exp, log, prod
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.tflite_builder import Model, Operator, Tensor

Quantized = dict[str, Any]
"""Fields of a tensor that is quantised as a whole: one scale, one zero point."""

TINY_SCALES = (1e-30, 1e-14, 1e-9)
"""Of weights that hardly count, for one channel of several."""
EXTREME_SCALES = (1e-40, 2.0**-126, 1e-20, 1e-6, 2.0**-20, 37.5, 4096.0, 1e20, 3e38)
EDGE_POINTS = (-128, -127, -1, 0, 1, 126, 127)
WIDE_SCALES = {"int16": (1e-5, 1e-3), "int32": (4e-10, 2.5e-8)}
MULTIPLIED = ("int8", "int16")
MOVED = (*MULTIPLIED, "int32", "bool")
GREATEST_TENSOR = 1500
LEAST_CLAMPED = 1e-8
SHARES: Quantized = {"scales": (1 / 256,), "zero_points": (-128,)}


def float32(value: float) -> float:
    """Round to what a file can hold."""
    return float(np.float32(value))


@dataclass
class Network:
    """A network that grows.

    Attributes:
        extreme: how likely a scale is absurdly small or large.
        values: numbers of the tensors that are known when the next operator runs.
        results: those of them that operators write, and others that none reads.
        palette: quantisations that many tensors of a type have, so that they can be joined.
        assigned: handles of the variables, and a tensor that is like them.
        firsts: variables by name, and what they hold before the first run.
        subgraphs: bodies so far, of this network and of those in it.
        depth: 0 of a network, 1 of a body in it, 2 of one in that.
    """

    chance: Random
    extreme: float
    tensors: list[Tensor] = field(default_factory=list)
    operators: list[Operator] = field(default_factory=list)
    inputs: list[int] = field(default_factory=list)
    values: list[int] = field(default_factory=list)
    results: list[int] = field(default_factory=list)
    palette: dict[str, list[Quantized]] = field(default_factory=dict)
    assigned: list[tuple[int, int]] = field(default_factory=list)
    firsts: dict[str, Tensor] = field(default_factory=dict)
    subgraphs: list[Model] = field(default_factory=list)
    depth: int = 0

    def __post_init__(self) -> None:
        for dtype in MULTIPLIED:
            self.palette[dtype] = [self.fresh_quantization(dtype) for _ in range(2)]

    def likely(self, probability: float) -> bool:
        """Throw a biased coin."""
        return self.chance.random() < probability

    def shape(self, number: int) -> tuple[int, ...]:
        """Return the shape of a tensor."""
        return self.tensors[number].shape

    def scale(self, number: int) -> float:
        """Return the scale of a tensor that is quantised as a whole."""
        return self.tensors[number].scales[0]

    def dtype(self, number: int) -> str:
        """Return the type of a tensor."""
        return self.tensors[number].dtype

    def like(self, number: int) -> Quantized:
        """Return type and quantisation of a tensor."""
        tensor = self.tensors[number]
        quantization = {"scales": tensor.scales, "zero_points": tensor.zero_points}
        return {"dtype": tensor.dtype, **quantization}

    def fresh_quantization(self, dtype: str = "int8") -> Quantized:
        """Draw a scale, now and then an absurd one, and a zero point, often one at an edge.

        Those of wider types are usual, and their zero point is 0.
        """
        if dtype != "int8":
            low, high = map(log, WIDE_SCALES[dtype])
            scale = float32(exp(self.chance.uniform(low, high)))
            return {"dtype": dtype, "scales": (scale,), "zero_points": (0,)}
        low, high = log(0.002), log(0.5)
        scale = exp(self.chance.uniform(low, high))
        if self.likely(self.extreme):
            scale = self.chance.choice(EXTREME_SCALES)
        edge = self.likely(0.3)
        point = self.chance.choice(EDGE_POINTS) if edge else self.chance.randint(-128, 127)
        return {"dtype": dtype, "scales": (float32(scale),), "zero_points": (point,)}

    def quantization(self, dtype: str = "int8") -> Quantized:
        """Draw a quantisation, often one that other tensors have."""
        if dtype in self.palette and self.likely(0.6):
            return self.chance.choice(self.palette[dtype])
        return self.fresh_quantization(dtype)

    def plain_or_quantized(self, dtype: str) -> Quantized:
        """Draw a quantisation, or none where the type stands for plain numbers or truth values."""
        return self.quantization(dtype) if dtype in MULTIPLIED else {"dtype": dtype}

    def add(self, tensor: Tensor) -> int:
        """Add a tensor and return its number."""
        self.tensors.append(replace(tensor, name=f"t{len(self.tensors)}"))
        return len(self.tensors) - 1

    def few_inputs(self, most: int) -> bool:
        """Tell whether an operator may read a new input; a body has those that it begins with."""
        return self.depth == 0 and len(self.inputs) <= most

    def input(self, shape: tuple[int, ...], quantization: Quantized | None = None) -> int:
        """Add an input, int8 unless `quantization` says otherwise."""
        number = self.add(Tensor(shape=shape, **(quantization or self.quantization())))
        self.inputs.append(number)
        self.values.append(number)
        return number

    def apply(
        self,
        code: str,
        inputs: tuple[int, ...],
        shape: tuple[int, ...],
        quantization: Quantized,
        table: str = "",
        **options: float,
    ) -> int:
        """Add an operator and its result; return the number of the result.

        TFLM does not represent the bounds of an activation in units of a tiny scale: most of its
        operators then refuse, its poolings go on with arbitrary bounds. There is none then.
        """
        if "FusedActivationFunction" in options and quantization["scales"][0] < LEAST_CLAMPED:
            options["FusedActivationFunction"] = 0
        (result,) = self.apply_to_several(code, inputs, (shape,), quantization, table, **options)
        return result

    def apply_to_several(
        self,
        code: str,
        inputs: tuple[int, ...],
        shapes: Sequence[tuple[int, ...]],
        quantization: Quantized,
        table: str = "",
        **options: float,
    ) -> tuple[int, ...]:
        """Add an operator and its results; return the numbers of the results."""
        results = tuple(self.add(Tensor(shape=shape, **quantization)) for shape in shapes)
        self.operators.append(
            Operator(code=code, inputs=inputs, outputs=results, table=table, options=options)
        )
        self.values += results
        self.results += results
        return results

    def known(self, *types: str) -> list[int]:
        """Return the values of these types."""
        return [number for number in self.values if self.dtype(number) in types]

    def pick(self, rank: int | None = None, types: Sequence[str] = ("int8",)) -> int | None:
        """Choose a value, later ones more often; None if there is none of that rank and type."""
        values = self.known(*types)
        fitting = [n for n in values if rank is None or len(self.shape(n)) == rank]
        if not fitting:
            return None
        return fitting[-1] if self.likely(0.6) else self.chance.choice(fitting)

    def random_values(self, shape: tuple[int, ...], dtype: str = "int8") -> NDArray[Any]:
        """Draw any values of a type."""
        rng = np.random.default_rng(self.chance.randrange(2**32))
        if dtype == "bool":
            return rng.integers(0, 2, shape).astype(np.bool_)
        span = np.iinfo(dtype)
        return rng.integers(span.min, span.max, shape, dtype=dtype, endpoint=True)

    def constant(self, shape: tuple[int, ...], quantization: Quantized) -> int:
        """Add a constant, int8 unless `quantization` says otherwise, or return a known one."""
        same = [
            number
            for number, tensor in enumerate(self.tensors)
            if tensor.data is not None and tensor.shape == shape and _has(tensor, quantization)
        ]
        if same and self.likely(0.3):
            return self.chance.choice(same)
        values = self.random_values(shape, quantization.get("dtype", "int8"))
        return self.add(Tensor(shape=shape, data=values, **quantization))

    def table(self, rank: int | None = None) -> int | None:
        """Choose an int8 constant with one scale, such as weights; None if there is none."""
        fitting = [
            number
            for number, tensor in enumerate(self.tensors)
            if tensor.data is not None
            and (tensor.dtype, len(tensor.scales)) == ("int8", 1)
            and len(tensor.shape) in (range(1, 5) if rank is None else (rank,))
        ]
        return self.chance.choice(fitting) if fitting else None

    def weights(
        self, shape: tuple[int, ...], axis: int, *, channelwise: bool, small: bool = False
    ) -> int:
        """Add weights with one scale, or with one for each channel along `axis`.

        Args:
            small: they have 4 bits, two in a byte.
        """
        count = shape[axis] if channelwise else 1
        scales = tuple(float32(self.chance.uniform(0.001, 0.02)) for _ in range(count))
        if count > 1 and not self.extreme and self.likely(0.1):
            scales = (float32(self.chance.choice(TINY_SCALES)), *scales[1:])
        fields: Quantized = {"scales": scales, "zero_points": (0,) * count, "axis": axis}
        if small:
            return self.add(Tensor(shape=shape, data=self._packed(prod(shape)), **int4(fields)))
        values = np.maximum(self.random_values(shape), self.chance.choice((-127, -128)))
        return self.add(Tensor(shape=shape, data=values, **fields))

    def _packed(self, count: int) -> NDArray[np.int8]:
        """Draw so many values of 4 bits; of an odd number the last half byte is 0."""
        data = self.random_values((-(-count // 2),))
        if count % 2:
            data[-1] &= 15
        return data

    def bias(
        self,
        x: int,
        weights: int,
        channels: int,
        *,
        absent: bool,
        types: Sequence[str] = ("int32", "int64"),
    ) -> tuple[int, ...]:
        """Add a bias whose scale is that of the sums, or return what stands for none.

        Args:
            absent: the operator may say by -1 that it has none. TFLM crashes on a depthwise
                convolution that does, so there the operand is left out.
            types: those that it may have where the input is int16; else it is int32.
        """
        if self.likely(0.25):
            return (-1,) if absent and self.likely(0.5) else ()
        scales = tuple(float32(self.scale(x) * scale) for scale in self.tensors[weights].scales)
        reach = self.chance.choice((0, 9000, 9000, 2**24))
        rng = np.random.default_rng(self.chance.randrange(2**32))
        dtype = self.chance.choice(types) if self.dtype(x) == "int16" else "int32"
        data = rng.integers(-reach, reach + 1, channels).astype(dtype)
        points = (0,) * len(scales)
        tensor = Tensor(
            shape=(channels,), dtype=dtype, data=data, scales=scales, zero_points=points
        )
        return (self.add(tensor),)

    def numbers(self, values: Any, dtype: str = "int32") -> int:
        """Add a constant that is no activation, such as a shape or axes."""
        data = np.array(values, dtype)
        return self.add(Tensor(shape=data.shape, dtype=dtype, data=data))

    def function(self, body: "Network", outputs: list[int]) -> int:
        """Add a body that returns some of its values; return its number."""
        self.subgraphs.append(body.model(outputs))
        return len(self.subgraphs)

    def model(self, outputs: list[int]) -> Model:
        """Return the network as it is."""
        return Model(
            tensors=tuple(self.tensors),
            operators=tuple(self.operators),
            inputs=tuple(self.inputs),
            outputs=tuple(outputs),
            others=() if self.depth else tuple(self.subgraphs),
        )


def int4(fields: Quantized) -> Quantized:
    """Return how weights are quantised that have 4 bits instead of 8."""
    scales = tuple(float32(scale * 16) for scale in fields["scales"])
    return {**fields, "dtype": "int4", "scales": scales}


def _has(tensor: Tensor, quantization: Quantized) -> bool:
    """Tell whether a tensor has this type, int8 if none is named, and is quantised so."""
    wanted = {"dtype": "int8", **quantization}
    return all(getattr(tensor, key) == value for key, value in wanted.items())
