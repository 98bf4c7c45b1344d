"""A network for tests that has each elementwise kind that `tests/tflite_samples.py` has not."""

from types import ModuleType
from typing import Any

from tests.operator_samples import SCALE, Tree

SHAPE = (1, 6, 6, 8)
LOGISTIC: dict[str, Any] = {"scales": (1 / 256,), "zero_points": (-128,)}
TANH: dict[str, Any] = {"scales": (1 / 128,), "zero_points": (0,)}


def elements(builder: ModuleType) -> Any:
    """Make a network of elementwise kinds."""
    tree = Tree(builder)
    x = tree.add(SHAPE, **SCALE)
    _curves(tree, x)
    return tree.model()


def _curves(tree: Tree, x: int) -> None:
    """Add each kind of one operand."""
    for code in ("ABS", "ELU", "HARD_SWISH", "RELU", "RELU6", "RSQRT"):
        tree.apply(code, (x,), tree.add(SHAPE, **SCALE))
    tree.apply("LEAKY_RELU", (x,), tree.add(SHAPE, **SCALE), "LeakyReluOptions", Alpha=0.25)
    tree.apply("LOGISTIC", (x,), tree.add(SHAPE, **LOGISTIC))
    tree.apply("TANH", (x,), tree.add(SHAPE, **TANH))
