"""Networks for tests that have each operator that `tests/tflite_samples.py` has not."""

from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

SCALE: dict[str, Any] = {"scales": (0.05,), "zero_points": (-3,)}


@dataclass
class Tree:
    """A network that grows from one image; what nothing reads becomes an output."""

    builder: ModuleType
    tensors: list[Any] = field(default_factory=list)
    operators: list[Any] = field(default_factory=list)

    def add(self, shape: tuple[int, ...], **fields: Any) -> int:
        """Add a tensor."""
        name = f"t{len(self.tensors)}"
        self.tensors.append(self.builder.Tensor(shape=shape, name=name, **fields))
        return len(self.tensors) - 1

    def numbers(self, *values: int) -> int:
        """Add a constant such as axes."""
        data = np.array(values, np.int32)
        return self.add(data.shape, dtype="int32", data=data)

    def apply(
        self, code: str, inputs: tuple[int, ...], result: int, table: str = "", **options: float
    ) -> int:
        """Add an operator and return its result."""
        self.operators.append(
            self.builder.Operator(
                code=code, inputs=inputs, outputs=(result,), table=table, options=options
            )
        )
        return result

    def model(self) -> Any:
        """Return the network; its first tensor is the input."""
        read = {number for op in self.operators for number in op.inputs}
        outputs = [op.outputs[0] for op in self.operators if op.outputs[0] not in read]
        return self.builder.Model(
            tensors=tuple(self.tensors),
            operators=tuple(self.operators),
            inputs=(0,),
            outputs=tuple(outputs),
        )


def windows_and_reductions(builder: ModuleType) -> Any:
    """Make a network of operators with windows, and of such that reduce."""
    tree = Tree(builder)
    x = tree.add((1, 6, 6, 8), **SCALE)
    for code in ("SUM", "REDUCE_MAX", "REDUCE_MIN"):
        axes, result = tree.numbers(1, -1), tree.add((1, 6), **SCALE)
        x_of = tree.apply(code, (x, axes), result, "ReducerOptions", KeepDims=False)
        axis, place = tree.numbers(1), tree.add((1,), dtype="int32")
        tree.apply("ARG_MIN" if code == "SUM" else "ARG_MAX", (x_of, axis), place)
    return tree.model()
