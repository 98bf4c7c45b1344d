# SPDX-License-Identifier: Apache-2.0
"""Networks of random layers, to which no estimate was fitted."""

from dataclasses import field
from math import prod
from random import Random

import numpy as np

from atoll.ir.graph import Attribute, Graph, Operator, Quantization, Tensor
from atoll.records import dataclass

LAYERS = 10
MOST_BYTES, MOST_WEIGHTS = 24_000, 60_000
"""Of an activation and of a layer's weights, so that simulations are short."""


def random_network(seed: int) -> Graph:
    """Make a chain of convolutions, depthwise ones and means, then a layer that is dense."""
    chance = Random(seed)
    shape = (chance.randint(6, 40), chance.randint(6, 40), chance.choice((1, 3, 8, 12, 16, 24)))
    chain = Chain(chance, f"random_{seed}", [activation("t0", (1, *shape))])
    for _ in range(LAYERS - 1):
        kind = chance.choice(("conv_2d", "conv_2d", "depthwise_conv_2d", "average_pool_2d"))
        chain.window(kind)
    chain.dense(chance.randint(2, 100))
    return chain.network()


@dataclass
class Chain:
    """A network that is made layer by layer."""

    chance: Random
    name: str
    tensors: list[Tensor]
    operators: list[Operator] = field(default_factory=list)
    most_made: int = 160

    def begin(self, shape: tuple[int, ...]) -> None:
        """Begin a chain that shares nothing with those before."""
        self.tensors.append(activation(f"x{len(self.tensors)}", shape))

    def window(self, kind: str) -> None:
        """Add an operator with a window, padded so that every row and column is used."""
        _, height, width, depth = self.tensors[-1].shape
        mean = kind == "average_pool_2d"
        size = 2 if mean else self.chance.choice((1, 1, 3, 3, 5))
        if mean and (min(height, width) < 4 or depth < 2):
            kind, mean, size = "conv_2d", False, 1
        size = min(size, height, width)
        stride = size if mean else self.chance.choice((1, 1, 1, 2)) if size > 1 else 1
        pad = 0 if mean else (size - 1) // 2
        rows, columns = ((n + 2 * pad - size) // stride + 1 for n in (height, width))
        most = min(
            self.most_made, MOST_BYTES // (rows * columns), MOST_WEIGHTS // (size * size * depth)
        )
        made = self.chance.randint(1, max(1, most)) if kind == "conv_2d" else depth
        attributes: dict[str, Attribute] = {"stride_h": stride, "stride_w": stride}
        attributes |= dict.fromkeys(("pad_top", "pad_left"), pad)
        attributes |= {
            "pad_bottom": max(0, (rows - 1) * stride + size - pad - height),
            "pad_right": max(0, (columns - 1) * stride + size - pad - width),
            "activation": "none",
        }
        if mean:
            attributes |= {"filter_h": size, "filter_w": size}
        else:
            attributes |= {"dilation_h": 1, "dilation_w": 1}
        if kind == "depthwise_conv_2d":
            attributes["depth_multiplier"] = 1
        weights = {"conv_2d": (made, size, size, depth), "depthwise_conv_2d": (1, size, size, made)}
        self._add(kind, (1, rows, columns, made), weights.get(kind), attributes)

    def dense(self, made: int) -> None:
        """Add a fully connected layer."""
        depth = prod(self.tensors[-1].shape)
        made = max(1, min(made, MOST_WEIGHTS // depth))
        attributes: dict[str, Attribute] = {"activation": "none", "keep_num_dims": 0}
        self._add("fully_connected", (1, made), (made, depth), attributes)

    def network(self) -> Graph:
        """Return the network."""
        read = {name for op in self.operators for name in op.inputs}
        made = [name for op in self.operators for name in op.outputs]
        variable = (each.name for each in self.tensors if each.data is None)
        return Graph(
            name=self.name,
            tensors=tuple(self.tensors),
            operators=tuple(self.operators),
            inputs=tuple(name for name in variable if name not in made),
            outputs=tuple(name for name in made if name not in read),
        )

    def _add(
        self,
        kind: str,
        shape: tuple[int, ...],
        weights: tuple[int, ...] | None,
        attributes: dict[str, Attribute],
    ) -> None:
        number, source = len(self.operators), self.tensors[-1].name
        inputs: tuple[str, ...] = (source,)
        if weights:
            made = np.random.default_rng(number).integers(-127, 128, weights).astype(np.int8)
            scale = Quantization(scales=(0.01,), zero_points=(0,))
            self.tensors.append(
                Tensor(
                    name=f"w{number}",
                    shape=weights,
                    dtype="int8",
                    quantization=scale,
                    data=made.tobytes(),
                )
            )
            inputs = (source, f"w{number}", "")
        self.tensors.append(activation(f"t{number + 1}", shape))
        self.operators.append(
            Operator(
                name=f"{kind}_{number}",
                kind=kind,
                inputs=inputs,
                outputs=(f"t{number + 1}",),
                attributes=attributes,
            )
        )


def activation(name: str, shape: tuple[int, ...]) -> Tensor:
    """Make a tensor that layers read or write."""
    scale = Quantization(scales=(0.5,), zero_points=(0,))
    return Tensor(name=name, shape=shape, dtype="int8", quantization=scale)
