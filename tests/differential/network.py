"""A TFLite network in the making: its tensors, operators, and what the next operator may read."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.tflite_builder import Model, Operator, Tensor

Quantized = dict[str, Any]
"""Fields of a tensor that is quantised as a whole: one scale, one zero point."""

EXTREME_SCALES = (1e-40, 2.0**-126, 1e-20, 1e-6, 2.0**-20, 37.5, 4096.0, 1e20, 3e38)
EDGE_POINTS = (-128, -127, -1, 0, 1, 126, 127)
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
        values: numbers of the int8 tensors that are known when the next operator runs.
        results: those of them that operators write.
        palette: quantisations that many tensors have, so that they can be joined.
    """

    chance: Random
    extreme: float
    tensors: list[Tensor] = field(default_factory=list)
    operators: list[Operator] = field(default_factory=list)
    inputs: list[int] = field(default_factory=list)
    values: list[int] = field(default_factory=list)
    results: list[int] = field(default_factory=list)
    palette: list[Quantized] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.palette += [self.fresh_quantization() for _ in range(2)]

    def likely(self, probability: float) -> bool:
        """Throw a biased coin."""
        return self.chance.random() < probability

    def shape(self, number: int) -> tuple[int, ...]:
        """Return the shape of a tensor."""
        return self.tensors[number].shape

    def scale(self, number: int) -> float:
        """Return the scale of a tensor that is quantised as a whole."""
        return self.tensors[number].scales[0]

    def like(self, number: int) -> Quantized:
        """Return the quantisation of a tensor."""
        tensor = self.tensors[number]
        return {"scales": tensor.scales, "zero_points": tensor.zero_points}

    def fresh_quantization(self) -> Quantized:
        """Draw a scale, now and then an absurd one, and a zero point, often one at an edge."""
        low, high = math.log(0.002), math.log(0.5)
        scale = math.exp(self.chance.uniform(low, high))
        if self.likely(self.extreme):
            scale = self.chance.choice(EXTREME_SCALES)
        edge = self.likely(0.3)
        point = self.chance.choice(EDGE_POINTS) if edge else self.chance.randint(-128, 127)
        return {"scales": (float32(scale),), "zero_points": (point,)}

    def quantization(self) -> Quantized:
        """Draw a quantisation, often one that other tensors have."""
        return self.chance.choice(self.palette) if self.likely(0.6) else self.fresh_quantization()

    def add(self, tensor: Tensor) -> int:
        """Add a tensor and return its number."""
        self.tensors.append(replace(tensor, name=f"t{len(self.tensors)}"))
        return len(self.tensors) - 1

    def input(self, shape: tuple[int, ...], quantization: Quantized | None = None) -> int:
        """Add an int8 input."""
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
        """Add an operator and its int8 result; return the number of the result.

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
        """Add an operator and its int8 results; return the numbers of the results."""
        results = tuple(self.add(Tensor(shape=shape, **quantization)) for shape in shapes)
        self.operators.append(
            Operator(code=code, inputs=inputs, outputs=results, table=table, options=options)
        )
        self.values += results
        self.results += results
        return results

    def pick(self, rank: int | None = None) -> int | None:
        """Choose a value, later ones more often; None if there is none of that rank."""
        fitting = [n for n in self.values if rank is None or len(self.shape(n)) == rank]
        if not fitting:
            return None
        return fitting[-1] if self.likely(0.6) else self.chance.choice(fitting)

    def random_values(self, shape: tuple[int, ...], least: int = -128) -> NDArray[np.int8]:
        """Draw int8 values from `least` up."""
        rng = np.random.default_rng(self.chance.randrange(2**32))
        return rng.integers(least, 128, shape).astype(np.int8)

    def constant(self, shape: tuple[int, ...], quantization: Quantized) -> int:
        """Add an int8 constant, or return one that is there already."""
        same = [
            number
            for number, tensor in enumerate(self.tensors)
            if tensor.data is not None and tensor.shape == shape and _has(tensor, quantization)
        ]
        if same and self.likely(0.3):
            return self.chance.choice(same)
        return self.add(Tensor(shape=shape, data=self.random_values(shape), **quantization))

    def weights(self, shape: tuple[int, ...], axis: int, *, channelwise: bool) -> int:
        """Add weights with one scale, or with one for each channel along `axis`."""
        count = shape[axis] if channelwise else 1
        scales = tuple(float32(self.chance.uniform(0.001, 0.02)) for _ in range(count))
        fields: Quantized = {"scales": scales, "zero_points": (0,) * count, "axis": axis}
        least = self.chance.choice((-127, -128))
        return self.add(Tensor(shape=shape, data=self.random_values(shape, least), **fields))

    def bias(self, x: int, weights: int, channels: int, *, absent: bool) -> tuple[int, ...]:
        """Add an int32 bias whose scale is that of the sums, or return what stands for none.

        Args:
            absent: the operator may say by -1 that it has none. TFLM crashes on a depthwise
                convolution that does, so there the operand is left out.
        """
        if self.likely(0.25):
            return (-1,) if absent and self.likely(0.5) else ()
        scales = tuple(float32(self.scale(x) * scale) for scale in self.tensors[weights].scales)
        reach = self.chance.choice((0, 9000, 9000, 2**24))
        rng = np.random.default_rng(self.chance.randrange(2**32))
        data = rng.integers(-reach, reach + 1, channels).astype(np.int32)
        points = (0,) * len(scales)
        tensor = Tensor(
            shape=(channels,), dtype="int32", data=data, scales=scales, zero_points=points
        )
        return (self.add(tensor),)

    def numbers(self, values: Any, dtype: str = "int32") -> int:
        """Add a constant that is no activation, such as a shape or axes."""
        data = np.array(values, dtype)
        return self.add(Tensor(shape=data.shape, dtype=dtype, data=data))

    def model(self, outputs: list[int]) -> Model:
        """Return the network as it is."""
        return Model(
            tensors=tuple(self.tensors),
            operators=tuple(self.operators),
            inputs=tuple(self.inputs),
            outputs=tuple(outputs),
        )


def _has(tensor: Tensor, quantization: Quantized) -> bool:
    """Tell whether a tensor is int8 and quantised so."""
    return tensor.dtype == "int8" and all(
        getattr(tensor, key) == value for key, value in quantization.items()
    )
